//! The pool as people see it: every slot, who has it and what is in it.

use crate::call::Call;
use crate::error::Result;
use crate::git::state::{self, Head, Operation};
use crate::git::status::{self, AheadBehind, Dirt};
use crate::occupants::{self, Occupant};
use crate::projects::Project;
use crate::runs::{self, RunSpec};
use crate::views::or_nulls;
use crate::workspaces::pool_file::{Slot, SlotStatus};
use crate::workspaces::{self, slot_name, slot_number, verify_slot};
use crate::{disk, facts, git};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// One slot, looked at.
#[derive(Debug, Clone, Serialize)]
pub struct WorkspaceRow {
    #[serde(rename = "slot")]
    pub name: String,
    pub project: String,
    #[serde(rename = "path")]
    pub folder: PathBuf,
    pub status: SlotStatus,
    /// Who has it, as people call it.
    #[serde(rename = "task")]
    pub holder: Option<String>,
    pub task_id: Option<String>,
    /// The number of the last lease.
    pub epoch: u64,
    /// None: there is no folder yet.
    #[serde(flatten, serialize_with = "checked_out")]
    pub head: Option<Head>,
    #[serde(flatten, serialize_with = "or_nulls")]
    pub distance: Option<AheadBehind>,
    #[serde(flatten, serialize_with = "or_nulls")]
    pub dirt: Option<Dirt>,
    pub operation: Option<Operation>,
    /// Processes that live in it.
    #[serde(rename = "processes", serialize_with = "pids")]
    pub occupants: Vec<Occupant>,
    /// Bytes; only if asked for.
    #[serde(rename = "disk_bytes")]
    pub disk: Option<u64>,
    #[serde(skip)]
    pub is_retired: bool,
    /// No task gets it: commits are checked there.
    #[serde(skip)]
    pub is_for_checks: bool,
}

fn checked_out<S: Serializer>(head: &Option<Head>, to: S) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct BranchKeys<'a> {
        branch: Option<&'a str>,
        made: bool,
    }
    let branch = head.as_ref().and_then(Head::branch);
    let made = head.is_some();
    BranchKeys { branch, made }.serialize(to)
}

fn pids<S: Serializer>(occupants: &[Occupant], to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_seq(occupants.iter().map(|process| process.pid))
}

/// Slots of one project, or of all, in order.
pub fn slots_of(call: &Call, project: Option<&str>, with_disk: bool) -> Result<Vec<WorkspaceRow>> {
    let pool = workspaces::pool(call)?;
    let mut all = Vec::new();
    for registered in call.projects()? {
        if project.is_some_and(|wanted| wanted != registered.name) {
            continue;
        }
        let mut numbers: Vec<u32> = (1..=registered.pool_size)
            .chain(
                pool.workspaces
                    .keys()
                    .filter_map(|name| slot_number(&registered.name, name)),
            )
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            let name = slot_name(&registered.name, number);
            let slot = pool.workspaces.get(&name).cloned().unwrap_or_default();
            all.push(slot_view(call, &registered, name, slot, with_disk)?);
        }
        if let Some(name) = verify_slot::verify_folder(call, &registered.name) {
            let slot = Slot::default();
            all.push(slot_view(call, &registered, name, slot, with_disk)?);
        }
    }
    Ok(all)
}

fn slot_view(
    call: &Call,
    project: &Project,
    name: String,
    slot: Slot,
    with_disk: bool,
) -> Result<WorkspaceRow> {
    let folder = workspaces::slot_folder(call, &name);
    let there = folder.is_dir();
    let head = there.then(|| state::head(&folder));
    let branch = head.as_ref().and_then(Head::branch);
    let remote = format!("origin/{}", project.default_branch);
    let target = match git::commit_of(&project.path, &remote) {
        Ok(Some(_)) => &remote,
        Ok(None) | Err(_) => &project.default_branch,
    };
    let status = if there {
        status::status(&folder, branch, target)
    } else {
        None
    };
    Ok(WorkspaceRow {
        holder: if slot.is_free() || slot.is_retired() {
            None
        } else {
            Some(facts::holder_name(call, &name, &slot)?)
        },
        operation: state::operation(&folder).filter(|_| there),
        occupants: if there {
            strangers(call, &folder, &slot)
        } else {
            Vec::new()
        },
        disk: (there && with_disk).then(|| disk::used(&folder)),
        project: project.name.clone(),
        distance: status.as_ref().and_then(|status| status.distance),
        dirt: status.map(|status| status.dirt),
        is_retired: slot.is_retired(),
        is_for_checks: name == verify_slot(&project.name),
        status: slot.status,
        task_id: slot.task_id,
        epoch: slot.epoch,
        head,
        name,
        folder,
    })
}

/// Who lives in a slot and is not at work there: the agents of the task that has it are.
fn strangers(call: &Call, folder: &Path, slot: &Slot) -> Vec<Occupant> {
    let mut ours = occupants::own_line();
    let of_task = |spec: &RunSpec| Some(&spec.task) == slot.task_id.as_ref();
    for run in runs::all(call.store.home()) {
        if run.spec().as_ref().is_some_and(of_task)
            && let Some(started) = run.started().filter(|_| run.is_alive())
        {
            let family = runs::descendants(started.process.pid);
            ours.extend(family.into_iter().map(|process| process.pid));
            ours.push(started.process.pid);
        }
    }
    occupants::others_in_folder(folder, &ours)
}
