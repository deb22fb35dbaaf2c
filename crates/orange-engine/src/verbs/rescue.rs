//! Rescues of a task: finding them, looking inside, and bringing back what they hold.

use crate::call::Call;
use crate::error::{Code, Result, err};
use crate::find;
use crate::rescue::restore::{self, Restored, ShownRescue};
use crate::rescue::{self, RAW, Rescue, Save};
use crate::store::Place;
use crate::views::task;
use crate::workspaces::{self, no_workspace};
use crate::{access, trash, tx};
use orange_core::history::{Event, Payload, payload};
use orange_core::task::Task;
use orange_core::{Action, TaskName, text};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The task whose rescues are meant; it may be deleted, or gone altogether.
#[derive(Debug, Clone)]
pub struct RescueOwner {
    pub task_id: String,
    /// Its key if it is known, else its id.
    pub label: String,
    name: TaskName,
    pub repository: PathBuf,
    /// None unless the task is there.
    place: Option<Place>,
    raw_folder: PathBuf,
}

/// What was done with a rescue.
#[derive(Debug, Clone, Serialize)]
pub struct RestoredRescue {
    pub rescue: Rescue,
    #[serde(flatten)]
    pub to: RestoredTo,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum RestoredTo {
    Workspace {
        #[serde(rename = "workspace")]
        name: String,
        #[serde(flatten)]
        restored: Restored,
    },
    Branch {
        branch: String,
    },
}

/// From what a person typed to a task's rescues: a task, a deleted one, or the id of one that is gone.
pub fn rescue_owner(call: &Call, text: &str, current: Option<&str>) -> Result<RescueOwner> {
    let missing = match find::find(call, text, current) {
        Ok(place) => return rescue_owner_at(call, place),
        Err(error) if error.code == Code::NotFound => error,
        Err(error) => return Err(error),
    };
    match trash::find_in_trash(call, text, current) {
        Ok((place, task)) => {
            let folder = call.store.trash().join(&place.project).join(&place.name);
            let repository = workspaces::repository_of(call, &task, &place.project)?;
            return Ok(owner(&task, repository, None, &folder));
        }
        Err(error) if error.code == Code::NotFound => {}
        Err(error) => return Err(error),
    }
    rescue_owner_gone(call, text)?.ok_or(missing)
}

/// The task at a place, as the owner of its rescues.
pub fn rescue_owner_at(call: &Call, place: Place) -> Result<RescueOwner> {
    let task = match task::view(call, place.clone()) {
        Ok(view) => view.task,
        // The folder's name is the id; that is all it takes to find what was saved.
        Err(error) if error.code == Code::Damaged => Task {
            id: place.name.clone(),
            project: place.project.clone(),
            ..Task::default()
        },
        Err(error) => return Err(error),
    };
    let repository = workspaces::repository_of(call, &task, &place.project)?;
    let folder = place.path.clone();
    Ok(owner(&task, repository, Some(place), &folder))
}

/// A task of which nothing is left but its rescues.
fn rescue_owner_gone(call: &Call, text: &str) -> Result<Option<RescueOwner>> {
    let mut found: Vec<RescueOwner> = Vec::new();
    for project in call.projects()? {
        let Ok(rescues) = rescue::list(&project.path, None) else {
            continue;
        };
        for rescue in rescues {
            let known = found.iter().any(|owner| owner.task_id == rescue.task_id);
            if !text.is_empty() && rescue.task_id.starts_with(text) && !known {
                let folder = call.store.tasks().join(&project.name).join(&rescue.task_id);
                // Of a slot that nobody had, or of a task that is not there.
                let strays = call.store.workspaces().join(rescue::STRAYS);
                let stray = strays.join(&rescue.task_id);
                found.push(RescueOwner {
                    label: rescue.task_id.clone(),
                    name: TaskName::new("", None, &rescue.task_id),
                    task_id: rescue.task_id,
                    repository: project.path.clone(),
                    place: None,
                    raw_folder: if stray.is_dir() {
                        stray
                    } else {
                        folder.join(RAW)
                    },
                });
            }
        }
    }
    match (found.pop(), found.last()) {
        (only, None) => Ok(only),
        (last, Some(_)) => {
            let ids: Vec<String> = found.into_iter().chain(last).map(|o| o.task_id).collect();
            Err(err!(
                Ambiguous,
                "{text:?} begins the ids of several tasks with rescues"
            )
            .hint(format!("say which one: {}", ids.join(", "))))
        }
    }
}

/// The oldest first.
pub fn rescues(owner: &RescueOwner) -> Result<Vec<Rescue>> {
    rescue::list(&owner.repository, Some(&owner.task_id))
}

/// One rescue by its name, the beginning of it, or `latest`.
pub fn rescue_named(owner: &RescueOwner, name: &str) -> Result<Rescue> {
    let mut all = rescues(owner)?;
    let see = text!("{} shows them", Action::list_rescues(owner.name.clone()));
    if name == "latest" {
        return rescue::latest(&all).cloned().ok_or_else(|| {
            err!(NotFound, "{} has no rescues", owner.label)
                .hint("one is made before anything that could destroy work")
        });
    }
    if let Some(exact) = all.iter().find(|rescue| rescue.name == name) {
        return Ok(exact.clone());
    }
    all.retain(|rescue| !name.is_empty() && rescue.name.starts_with(name));
    match (all.pop(), all.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(err!(NotFound, "{} has no rescue {name:?}", owner.label).hint(see)),
        (Some(_), more) => Err(err!(
            Ambiguous,
            "{name:?} begins {} rescues of {}",
            more + 1,
            owner.label
        )
        .hint(see)),
    }
}

pub fn show_rescue(owner: &RescueOwner, rescue: &Rescue) -> Result<ShownRescue> {
    restore::show(&owner.repository, rescue, &owner.raw_folder)
}

/// Brings a rescue back: into the task's workspace, or as a new branch.
pub fn restore_rescue(
    call: &Call,
    owner: &RescueOwner,
    name: &str,
    to_branch: Option<&str>,
) -> Result<RestoredRescue> {
    let rescue = rescue_named(owner, name)?;
    let Some(place) = owner.place.clone() else {
        return restore_without_task(call, owner, rescue, to_branch);
    };
    let tx = tx::lock_task(call, place)?;
    let task = tx.task.clone();
    access::own_task_only(call, &task, "restore a rescue of")?;
    let to = match to_branch {
        Some(branch) => {
            restore::to_branch(&call.site(&owner.repository), &rescue, branch)?;
            RestoredTo::Branch {
                branch: branch.to_owned(),
            }
        }
        None => {
            let slot = workspaces::workspace_of(call, &task)?;
            let name = task.workspace.as_deref().unwrap_or_default();
            if workspaces::pool(call)?.is_anothers(name, &task) {
                let why = format!("had {name}, which is another task's by now");
                return Err(no_workspace(&task.label(), &why));
            }
            let save = Save {
                slot: &call.site(slot),
                task_id: &task.id,
                raw_folder: &owner.raw_folder,
                branch: Some(&task.branch),
                reason: &format!("before {} was restored", rescue.name),
                now: call.now(),
            };
            RestoredTo::Workspace {
                name: task.workspace.clone().unwrap_or_default(),
                restored: restore::restore(&owner.repository, &rescue, &owner.raw_folder, &save)?,
            }
        }
    };
    let (branch, workspace) = match &to {
        RestoredTo::Branch { branch } => (Some(branch.as_str()), None),
        RestoredTo::Workspace { name, .. } => (None, Some(name.as_str())),
    };
    let restored = payload::RescueRestored {
        rescue: Some(&rescue.name),
        branch,
        workspace,
    };
    let event = Event::of(Payload::RescueRestored(restored), call.now());
    let _ = tx.commit(vec![event.by(&call.caller_name())])?;
    Ok(RestoredRescue { rescue, to })
}

fn restore_without_task(
    call: &Call,
    owner: &RescueOwner,
    rescue: Rescue,
    to_branch: Option<&str>,
) -> Result<RestoredRescue> {
    access::people_only(call, "restore a rescue of a deleted task")?;
    let Some(branch) = to_branch else {
        return Err(no_workspace(&owner.label, "is deleted"));
    };
    restore::to_branch(&call.site(&owner.repository), &rescue, branch)?;
    Ok(RestoredRescue {
        rescue,
        to: RestoredTo::Branch {
            branch: branch.to_owned(),
        },
    })
}

fn owner(task: &Task, repository: PathBuf, place: Option<Place>, folder: &Path) -> RescueOwner {
    RescueOwner {
        task_id: task.id.clone(),
        label: task.label(),
        name: task.name(),
        repository,
        place,
        raw_folder: folder.join(RAW),
    }
}
