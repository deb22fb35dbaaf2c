//! The branch that a task is merged into, as it is here and on the remote: what a merge is made on top of.

use crate::effects::merge::landing::MergeWork;
use crate::error::{Result, err};
use crate::git::{self, landing};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, Parameter, text};

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
pub(crate) fn target(of: &Task, task: &MergeWork) -> Result<Target> {
    let repository = &task.repository;
    let name = &task.target;
    let local = git::commit_of(repository, &task.local())?;
    let remote = if task.push {
        git::commit_of(repository, &task.remote())?
    } else {
        None
    };
    let mut unpushed = 0;
    if let (Some(local), Some(remote)) = (&local, &remote)
        && local != remote
    {
        let ahead = |of, than| git::commits_ahead(repository, of, than);
        unpushed = ahead(local, remote)?.unwrap_or(0);
        let missing = ahead(remote, local)?.unwrap_or(0);
        if unpushed > 0 && missing > 0 {
            let count = |commits: u64| counted(commits.try_into().unwrap_or(usize::MAX), "commit");
            let (here, there) = (count(unpushed), count(missing));
            return Err(err!(Conflict, "{name} here and {name} on origin have gone different ways: {here} only here, {there} only there")
                .hint(text!(
                    "bring them together first (rebase {name} onto that of origin), or merge here alone with {}",
                    Parameter::NoPush
                )));
        }
        if unpushed > 0
            && let Some(commit) = landing::taken_back(repository, name, remote, local)?
        {
            return Err(err!(Conflict, "{name} on origin was set back: it had {} and has it no more, but {name} here still has it", git::short(&commit))
                .hint(text!(
                    "decide which is right: to follow origin, reset {name} to origin/{name}; or merge here alone with {}",
                    Parameter::NoPush
                )));
        }
    }
    let newest = if unpushed > 0 { &local } else { &remote };
    let onto = newest.clone().or_else(|| local.clone()).ok_or_else(|| {
        err!(
            NotFound,
            "there is no branch {name} to merge into, in {}",
            repository.display()
        )
        .hint(text!(
            "create it, or choose another one: {}",
            Action::set_target(of.name())
        ))
    })?;
    Ok(Target {
        onto,
        local,
        remote,
        unpushed,
    })
}
