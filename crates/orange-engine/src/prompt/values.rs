//! What stands for a prompt's variables, as far as git and the pool have to be asked.

use crate::call::{self, Call};
use crate::error::Result;
use crate::projects::Project;
use crate::rules::rules_commit;
use crate::workspaces::link::name_at;
use crate::{git, settings, workspaces};
use orange_core::prompt::Values;
use orange_core::task::Task;

pub(crate) fn prompt_values(call: &Call, task: &Task) -> Result<Values> {
    let project = call::registered(call, &task.project)?;
    let max_rounds = settings::config_for(call, task)?.review.max_rounds;
    Ok(Values {
        base_branch: base_for_git(call, &project, task)?,
        target_branch: task.target(&project.default_branch).to_owned(),
        task_file: task_file_name(call, &project, task)?,
        ..Values::of(task, max_rounds)
    })
}

/// What the task's file is called where its agent works.
fn task_file_name(call: &Call, project: &Project, task: &Task) -> Result<String> {
    let pool = workspaces::pool(call)?;
    let slot = pool
        .lease_of(task)
        .and_then(|lease| pool.workspaces.get(&lease.slot));
    if let Some(name) = slot.and_then(|slot| slot.link.clone()) {
        return Ok(name);
    }
    let commit = rules_commit::rules_commit(call, project, task)?;
    Ok(name_at(&project.path, &commit)?.to_owned())
}

/// What the task's work is compared with. Agents put it into a command line, so it names the same commit in
/// every worktree and holds nothing that means something to a shell; where no name does, it is the commit.
fn base_for_git(call: &Call, project: &Project, task: &Task) -> Result<String> {
    let target = task.target(&project.default_branch);
    let mut names = vec![
        (
            format!("origin/{target}"),
            format!("refs/remotes/origin/{target}"),
        ),
        (target.to_owned(), format!("refs/heads/{target}")),
    ];
    if let Some(base) = &task.base {
        let full = |kind: &str| (base.clone(), format!("refs/{kind}/{base}"));
        // HEAD and its like mean something else in every worktree: never by name.
        let relative = (String::new(), base.clone());
        names.splice(
            0..0,
            [full("heads"), full("remotes"), full("tags"), relative],
        );
    }
    let revisions: Vec<String> = names.iter().map(|(_, revision)| revision.clone()).collect();
    let commits = git::commits_of(&project.path, &revisions)?;
    for ((name, _), commit) in names.into_iter().zip(commits) {
        match commit {
            Some(_) if is_plain(&name) => return Ok(name),
            Some(commit) => return Ok(commit),
            None => {}
        }
    }
    rules_commit::rules_commit(call, project, task)
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-+=@".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(plain)
}
