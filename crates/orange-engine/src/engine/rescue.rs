//! Rescues of a task: finding them, looking inside, and bringing back what they hold.

use super::{Caller, Engine};
use crate::error::{Code, Error, Result};
use crate::git;
use crate::rescue::{self, Rescue, Restored, Save, Shown};
use crate::store::Place;
use orange_core::history::payload;
use orange_core::history::{Event, Payload};
use orange_core::task::Task;
use orange_core::{Action, text};
use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// The folder beside TASK.md for copies of what git cannot hold.
pub(crate) const RAW: &str = "rescued";

/// The task whose rescues are meant; it may be deleted, or gone altogether.
#[derive(Debug, Clone)]
pub struct RescueOwner {
    pub task_id: String,
    /// Its key if it is known, else its id.
    pub label: String,
    pub repository: PathBuf,
    /// None unless the task is there.
    place: Option<Place>,
    raw_folder: PathBuf,
}

/// What was done with a rescue.
#[derive(Debug, Clone, Serialize)]
pub struct RescueRestored {
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

impl Engine {
    /// From what a person typed to a task's rescues: a task, a deleted one, or the id of one that is gone.
    pub fn rescue_owner(&self, text: &str, current: Option<&str>) -> Result<RescueOwner> {
        let missing = match self.find(text, current) {
            Ok(place) => return self.rescue_owner_at(place),
            Err(error) if error.code == Code::NotFound => error,
            Err(error) => return Err(error),
        };
        match self.find_in_trash(text, current) {
            Ok((place, task)) => {
                let folder = self.store.trash().join(&place.project).join(&place.name);
                let repository = self.repository_of(&task, &place.project)?;
                return Ok(owner(&task, repository, None, &folder));
            }
            Err(error) if error.code == Code::NotFound => {}
            Err(error) => return Err(error),
        }
        self.rescue_owner_gone(text)?.ok_or(missing)
    }

    /// The task at a place, as the owner of its rescues.
    pub fn rescue_owner_at(&self, place: Place) -> Result<RescueOwner> {
        let task = match self.view(place.clone()) {
            Ok(view) => view.task,
            // The folder's name is the id; that is all it takes to find what was saved.
            Err(error) if error.code == Code::Damaged => Task {
                id: place.name.clone(),
                project: place.project.clone(),
                ..Task::default()
            },
            Err(error) => return Err(error),
        };
        let repository = self.repository_of(&task, &place.project)?;
        let folder = place.path.clone();
        Ok(owner(&task, repository, Some(place), &folder))
    }

    /// A task of which nothing is left but its rescues.
    fn rescue_owner_gone(&self, text: &str) -> Result<Option<RescueOwner>> {
        let mut found: Vec<RescueOwner> = Vec::new();
        for project in self.projects()? {
            let Ok(rescues) = rescue::list(&project.path, None) else {
                continue;
            };
            for rescue in rescues {
                let known = found.iter().any(|owner| owner.task_id == rescue.task_id);
                if !text.is_empty() && rescue.task_id.starts_with(text) && !known {
                    let folder = self.store.tasks().join(&project.name).join(&rescue.task_id);
                    // Of a slot that nobody had, or of a task that is not there.
                    let stray = self
                        .store
                        .workspaces()
                        .join(rescue::STRAYS)
                        .join(&rescue.task_id);
                    found.push(RescueOwner {
                        label: rescue.task_id.clone(),
                        task_id: rescue.task_id,
                        repository: project.path.clone(),
                        place: None,
                        raw_folder: match stray.is_dir() {
                            true => stray,
                            false => folder.join(RAW),
                        },
                    });
                }
            }
        }
        match (found.pop(), found.last()) {
            (only, None) => Ok(only),
            (last, Some(_)) => {
                let ids: Vec<String> = found.into_iter().chain(last).map(|o| o.task_id).collect();
                Err(Error::new(
                    Code::Ambiguous,
                    format!("{text:?} begins the ids of several tasks with rescues"),
                )
                .hint(format!("say which one: {}", ids.join(", "))))
            }
        }
    }

    pub(crate) fn repository_of(&self, task: &Task, project: &str) -> Result<PathBuf> {
        if let Some(known) = self.project_of(project) {
            return match known.path.is_dir() {
                true => Ok(known.path),
                false => Err(Error::new(
                    Code::NotFound,
                    format!(
                        "the repository of project {project} is not at {}",
                        known.path.display()
                    ),
                )
                .hint(text!("say where it is: {}", Action::move_project(project)))),
            };
        }
        // A workspace of it may still be there, and knows where it comes from.
        if let Ok(slot) = self.workspace_of(task)
            && let Some(repository) = git::repository_of(&slot)?
        {
            return Ok(repository);
        }
        Err(Error::new(
            Code::NotFound,
            format!("project {project} is not registered, so its repository is not known"),
        )
        .hint(text!(
            "register it again: {}",
            Action::add_project(None, project.to_owned())
        )))
    }

    /// The oldest first.
    pub fn rescues(&self, owner: &RescueOwner) -> Result<Vec<Rescue>> {
        rescue::list(&owner.repository, Some(&owner.task_id))
    }

    /// One rescue by its name, the beginning of it, or `latest`.
    pub fn rescue_named(&self, owner: &RescueOwner, name: &str) -> Result<Rescue> {
        let mut all = self.rescues(owner)?;
        let see = text!("{} shows them", Action::list_rescues(&owner.label));
        if name == "latest" {
            return rescue::latest(&all).cloned().ok_or_else(|| {
                Error::new(Code::NotFound, format!("{} has no rescues", owner.label))
                    .hint("one is made before anything that could destroy work")
            });
        }
        if let Some(exact) = all.iter().find(|rescue| rescue.name == name) {
            return Ok(exact.clone());
        }
        all.retain(|rescue| !name.is_empty() && rescue.name.starts_with(name));
        match (all.pop(), all.len()) {
            (Some(only), 0) => Ok(only),
            (None, _) => Err(Error::new(
                Code::NotFound,
                format!("{} has no rescue {name:?}", owner.label),
            )
            .hint(see)),
            (Some(_), more) => Err(Error::new(
                Code::Ambiguous,
                format!("{name:?} begins {} rescues of {}", more + 1, owner.label),
            )
            .hint(see)),
        }
    }

    pub fn show_rescue(&self, owner: &RescueOwner, rescue: &Rescue) -> Result<Shown> {
        rescue::show(&owner.repository, rescue, &owner.raw_folder)
    }

    /// Brings a rescue back: into the task's workspace, or as a new branch.
    pub fn restore_rescue(
        &self,
        owner: &RescueOwner,
        name: &str,
        to_branch: Option<&str>,
    ) -> Result<RescueRestored> {
        let rescue = self.rescue_named(owner, name)?;
        let Some(place) = owner.place.clone() else {
            return self.restore_without_task(owner, rescue, to_branch);
        };
        let tx = self.lock_task(place)?;
        let task = tx.task.clone();
        self.own_task_only(&task, "restore a rescue of")?;
        let to = match to_branch {
            Some(branch) => {
                rescue::to_branch(&owner.repository, &rescue, branch)?;
                RestoredTo::Branch {
                    branch: branch.to_owned(),
                }
            }
            None => {
                let slot = self.workspace_of(&task)?;
                let name = task.workspace.as_deref().unwrap_or_default();
                if self.pool()?.is_anothers(name, &task) {
                    let why = format!("had {name}, which is another task's by now");
                    return Err(no_workspace(&task.label(), &why));
                }
                let save = Save {
                    slot: &slot,
                    task_id: &task.id,
                    raw_folder: &owner.raw_folder,
                    branch: Some(&task.branch),
                    reason: &format!("before {} was restored", rescue.name),
                    now: self.now(),
                };
                RestoredTo::Workspace {
                    name: task.workspace.clone().unwrap_or_default(),
                    restored: rescue::restore(&owner.repository, &rescue, &save)?,
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
        let event = Event::of(Payload::RescueRestored(restored), self.now());
        let event = event.by(&self.caller_name());
        tx.commit(vec![event]).map(drop)?;
        Ok(RescueRestored { rescue, to })
    }

    fn restore_without_task(
        &self,
        owner: &RescueOwner,
        rescue: Rescue,
        to_branch: Option<&str>,
    ) -> Result<RescueRestored> {
        if let Caller::Agent { .. } = self.caller {
            self.people_only("restore a rescue of a deleted task")?;
        }
        let Some(branch) = to_branch else {
            return Err(no_workspace(&owner.label, "is deleted"));
        };
        rescue::to_branch(&owner.repository, &rescue, branch)?;
        Ok(RescueRestored {
            rescue,
            to: RestoredTo::Branch {
                branch: branch.to_owned(),
            },
        })
    }

    /// The task's slot. Only a folder that really lies in the pool.
    fn workspace_of(&self, task: &Task) -> Result<PathBuf> {
        let label = task.label();
        let Some(name) = task.workspace.as_deref().filter(|name| !name.is_empty()) else {
            return Err(no_workspace(&label, "has no workspace"));
        };
        let mut parts = Path::new(name).components();
        let plain = matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(_)), None)
        );
        let pool = self.store.workspaces();
        let slot = pool.join(name);
        let inside = match (slot.canonicalize(), pool.canonicalize()) {
            (Ok(slot), Ok(pool)) => slot.parent() == Some(&pool) && slot.is_dir(),
            (Ok(_) | Err(_), _) => false,
        };
        match plain && inside {
            true => Ok(slot),
            false => Err(no_workspace(
                &label,
                &format!("has the workspace {name:?}, which is not there"),
            )),
        }
    }
}

fn no_workspace(label: &str, why: &str) -> Error {
    Error::new(
        Code::ConditionUnmet,
        format!("{label} {why}, so files cannot be put back"),
    )
    .hint("add --to-branch NAME to get it as a branch")
}

fn owner(task: &Task, repository: PathBuf, place: Option<Place>, folder: &Path) -> RescueOwner {
    RescueOwner {
        task_id: task.id.clone(),
        label: task.label(),
        repository,
        place,
        raw_folder: folder.join(RAW),
    }
}
