//! `.pool.json`: which task has which slot. Written whole, under the pool's lock; what other programs keep in
//! it stays.

use crate::error::{IoContext, Result};
use crate::projects::Project;
use crate::store::private::unless_gone;
use crate::store::{Store, make_folder, replace};
use crate::workspaces::{self, Lease};
use orange_core::task::Task;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    #[serde(default)]
    pub workspaces: BTreeMap<String, Slot>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotStatus {
    Bound,
    #[default]
    Available,
    Retired,
    /// A word that this program does not know: hands off.
    #[serde(untagged)]
    Other(String),
}

/// One slot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    pub status: SlotStatus,
    /// `project/branch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The number of the last lease.
    #[serde(default)]
    pub epoch: u64,
    /// The id of the task that had the slot before; it would find its own way about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_task: Option<String>,
    /// The number of the lease for which the slot was made ready to the end.
    #[serde(default)]
    pub prepared: u64,
    /// The number of the lease for which the teardown commands were run: they are not run twice.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torn_down: u64,
    /// Why a retired slot could not be cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_retired: Option<String>,
    /// What the link to the task's file is called in the slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Names the lockfiles that were there when the slot was given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lockfiles: Option<String>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Slot {
    pub(crate) fn bound_to(task: &Task, epoch: u64) -> Slot {
        let mut slot = Slot::default();
        slot.bind(task, epoch);
        slot
    }

    fn bind(&mut self, task: &Task, epoch: u64) {
        self.status = SlotStatus::Bound;
        self.why_retired = None;
        self.task = Some(format!("{}/{}", task.project, task.branch));
        self.task_id = Some(task.id.clone());
        self.epoch = epoch.max(self.epoch.saturating_add(1));
    }

    pub fn is_free(&self) -> bool {
        self.status == SlotStatus::Available
    }

    /// Is it out of use because it could not be cleaned?
    pub fn is_retired(&self) -> bool {
        self.status == SlotStatus::Retired
    }

    /// Takes it from its task: free for others, or out of use, if there is a reason why it could not be cleaned.
    pub(crate) fn give_back(&mut self, why_retired: Option<&str>) {
        self.status = match why_retired {
            None => SlotStatus::Available,
            Some(_) => SlotStatus::Retired,
        };
        self.why_retired = why_retired.map(str::to_owned);
        self.task_id = None;
        self.task = None;
    }

    /// Notes that it is not ready for work any more, before anything in it changes. Returns what the link to the task's
    /// file is called: the next command would put it into a slot that is not on its branch.
    pub(crate) fn begin_cleaning(&mut self) -> Option<String> {
        self.prepared = 0;
        self.link.take()
    }

    /// An older program's entry has no id: then the task's own word is needed too.
    fn is_of(&self, name: &str, task: &Task) -> bool {
        !self.is_free()
            && !self.is_retired()
            && match &self.task_id {
                Some(id) => *id == task.id,
                None => {
                    self.task.as_deref() == Some(&format!("{}/{}", task.project, task.branch))
                        && task.workspace.as_deref() == Some(name)
                }
            }
    }
}

fn path_in(store: &Store) -> PathBuf {
    store.workspaces().join(".pool.json")
}

impl Pool {
    /// None: there is no file, or none that can be read.
    pub(crate) fn read(store: &Store) -> Result<Option<Pool>> {
        let path = path_in(store);
        let text = unless_gone(std::fs::read(&path)).doing("read", &path)?;
        let read = text.map(|text| serde_json::from_slice(&text)).transpose();
        Ok(read.unwrap_or_else(|error| {
            tracing::warn!(%error, "workspaces/.pool.json cannot be read");
            None
        }))
    }

    /// Why the file cannot be read, for `doctor`.
    pub(crate) fn damage(store: &Store) -> Option<String> {
        let text = std::fs::read(path_in(store)).ok()?;
        let read: std::result::Result<Pool, _> = serde_json::from_slice(&text);
        read.err().map(|error| error.to_string())
    }

    /// Keeps a file that cannot be read under another name.
    pub(crate) fn set_aside(store: &Store, stamp: &str) -> Result<Option<String>> {
        let path = path_in(store);
        let name = format!(".pool.json.damaged-{stamp}");
        let renamed = std::fs::rename(&path, path.with_file_name(&name));
        let renamed = unless_gone(renamed).doing("set aside", &path)?;
        Ok(renamed.map(|()| name))
    }

    pub(crate) fn write(&self, store: &Store) -> Result<()> {
        let path = path_in(store);
        let write = || -> io::Result<()> {
            make_folder(&store.workspaces())?;
            let mut text = serde_json::to_vec_pretty(self)?;
            text.push(b'\n');
            replace::write_atomic(&path, &text)
        };
        write().doing("write", &path)
    }

    /// What a task has, if anything.
    pub fn lease_of(&self, task: &Task) -> Option<Lease> {
        let mut slots = self.workspaces.iter();
        slots
            .find(|(name, slot)| slot.is_of(name, task))
            .map(|(name, slot)| Lease {
                slot: name.clone(),
                epoch: slot.epoch,
            })
    }

    /// Is the lease still the one that counts?
    pub fn holds(&self, task: &Task, lease: &Lease) -> bool {
        self.workspaces
            .get(&lease.slot)
            .is_some_and(|slot| slot.epoch == lease.epoch && slot.is_of(&lease.slot, task))
    }

    /// Was it the last lease of a slot that is free now?
    pub(crate) fn was_last(&self, task: &Task, lease: &Lease) -> bool {
        self.workspaces.get(&lease.slot).is_some_and(|slot| {
            slot.is_free()
                && slot.epoch == lease.epoch
                && slot.last_task.as_deref() == Some(&task.id)
        })
    }

    /// Slots of a project that somebody has.
    pub fn held(&self, project: &str) -> impl Iterator<Item = (&String, &Slot)> {
        self.workspaces.iter().filter(move |(name, slot)| {
            workspaces::slot_number(project, name).is_some()
                && !slot.is_free()
                && !slot.is_retired()
        })
    }

    /// Slots of a project that could not be cleaned.
    pub fn retired(&self, project: &str) -> impl Iterator<Item = (&String, &Slot)> {
        self.workspaces.iter().filter(move |(name, slot)| {
            workspaces::slot_number(project, name).is_some() && slot.is_retired()
        })
    }

    pub(crate) fn is_retired(&self, slot: &str) -> bool {
        self.workspaces.get(slot).is_some_and(Slot::is_retired)
    }

    /// The highest number that a slot of a project may have: each retired slot is replaced by a new one.
    pub(crate) fn last_number(&self, project: &Project) -> u32 {
        let retired = self.retired(&project.name).count();
        let retired = u32::try_from(retired).unwrap_or(u32::MAX);
        project.pool_size.saturating_add(retired)
    }

    pub(crate) fn is_free(&self, slot: &str) -> bool {
        self.workspaces.get(slot).is_none_or(Slot::is_free)
    }

    pub(crate) fn bind(&mut self, slot: &str, task: &Task, epoch: u64) -> Lease {
        let entry = self.workspaces.entry(slot.to_owned()).or_default();
        entry.bind(task, epoch);
        Lease {
            slot: slot.to_owned(),
            epoch: entry.epoch,
        }
    }

    /// Frees a task's slot. None when the lease is not the one that counts: then the slot is somebody else's.
    pub(crate) fn free(&mut self, task: &Task, lease: &Lease) -> Option<&mut Slot> {
        let is_held = self.holds(task, lease);
        let slot = self.workspaces.get_mut(&lease.slot).filter(|_| is_held)?;
        slot.give_back(None);
        Some(slot)
    }

    /// Under whose name what is in a slot is saved: the last task's, or else the slot's own.
    pub(crate) fn last_owner<'a>(&'a self, slot: &'a str) -> &'a str {
        let entry = self.workspaces.get(slot);
        entry
            .and_then(|entry| entry.last_task.as_deref())
            .unwrap_or(slot)
    }

    /// Is the slot somebody else's?
    pub(crate) fn is_anothers(&self, slot: &str, task: &Task) -> bool {
        let entry = self.workspaces.get(slot);
        entry.is_some_and(|entry| !entry.is_free() && !entry.is_of(slot, task))
    }

    /// The branch of a task gets another name.
    pub(crate) fn rename(&mut self, task: &Task, branch: &str) {
        let mut slots = self.workspaces.iter_mut();
        if let Some((_, slot)) = slots.find(|(name, slot)| slot.is_of(name, task)) {
            slot.task = Some(format!("{}/{branch}", task.project));
            // By its branch alone an older program's entry would not be known again.
            slot.task_id = Some(task.id.clone());
        }
    }
}
