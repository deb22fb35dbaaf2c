//! The branch that a task is merged into, as it is here and on the remote: what a merge is made on top of.

use crate::effects::merge::landing::Task;
use crate::error::{Result, err};
use crate::git::{self, landing};
use orange_core::naming::counted;
use orange_core::{Action, text};

/// The target as it is here and on the remote.
pub(crate) struct Target {
    /// What a merge is made on top of.
    pub(crate) onto: String,
    pub(crate) local: Option<String>,
    pub(crate) remote: Option<String>,
    /// Commits that the remote has not.
    pub(crate) unpushed: u64,
}

/// What a merge is made on top of.
pub(crate) fn target(of: &orange_core::task::Task, task: &Task) -> Result<Target> {
    let repository = &task.repository;
    let name = &task.target;
    let local = git::commit_of(repository, &task.local())?;
    let remote = if task.push {
        git::commit_of(repository, &task.remote())?
    } else {
        None
    };
    let ahead = |of: &str, than: &str| git::commits_ahead(repository, of, than);
    match (local, remote) {
        (None, None) => Err(err!(
            NotFound,
            "there is no branch {name} to merge into, in {}",
            repository.display()
        )
        .hint(text!(
            "create it, or choose another one: {}",
            Action::set_target(of.label())
        ))),
        (Some(local), None) => Ok(Target {
            onto: local.clone(),
            local: Some(local),
            remote: None,
            unpushed: 0,
        }),
        (None, Some(remote)) => Ok(Target {
            onto: remote.clone(),
            local: None,
            remote: Some(remote),
            unpushed: 0,
        }),
        (Some(local), Some(remote)) if local == remote => Ok(Target {
            onto: remote.clone(),
            local: Some(local),
            remote: Some(remote),
            unpushed: 0,
        }),
        (Some(local), Some(remote)) => {
            let unpushed = ahead(&local, &remote)?.unwrap_or(0);
            let missing = ahead(&remote, &local)?.unwrap_or(0);
            if unpushed > 0 && missing > 0 {
                return Err(err!(Conflict, "{name} here and {name} on origin have gone different ways: {} only here, {} only there", counted(unpushed.try_into().unwrap_or(usize::MAX), "commit"), counted(missing.try_into().unwrap_or(usize::MAX), "commit"))
                .hint(format!(
                    "bring them together first (`git pull --rebase` on {name}), or merge here alone with --no-push"
                )));
            }
            if unpushed > 0
                && let Some(commit) = landing::taken_back(repository, name, &remote, &local)?
            {
                return Err(err!(Conflict, "{name} on origin was set back: it had {} and has it no more, but {name} here still has it", git::short(&commit))
                .hint(format!(
                    "decide which is right: `git reset --keep origin/{name}` on {name} follows origin; or merge here alone with --no-push"
                )));
            }
            Ok(Target {
                onto: if unpushed > 0 {
                    local.clone()
                } else {
                    remote.clone()
                },
                local: Some(local),
                remote: Some(remote),
                unpushed,
            })
        }
    }
}
