//! Who runs this command. A process below `run-agent` is that run, whatever its environment says; elsewhere the
//! environment tells. This stops accidents and simple tricks, not malice: an agent runs as the same user.

use orange_core::choice::NotAllowed;
use orange_core::workflow::Role;
use orange_engine::runs::{Ancestors, Unattended};
use orange_engine::workspaces::CHECK_MARK;
use orange_engine::{Caller, Result, err};
use std::path::{Path, PathBuf};

pub(crate) fn find(home: &Path) -> Result<Caller> {
    let ancestors = Ancestors::of_this_process();
    match ancestors.errand() {
        Some(Unattended::Check) => return Ok(check("a repository")),
        Some(Unattended::Classification) => {
            return Ok(of_no_task("classification of a task".into()));
        }
        None => {}
    }
    if let Some(above) = ancestors.run(home) {
        agrees("ORANGE_TASK_ID", Some(&above.task))?;
        agrees("ORANGE_ROLE", Some(above.role.as_str()))?;
        agrees("ORANGE_RUN_ID", above.run.as_deref())?;
        return Ok(Caller::Agent {
            task: above.task,
            role: above.role,
            run: above.run,
        });
    }
    if let Some(check) = check_of(home, variable(CHECK_MARK)) {
        return Ok(check);
    }
    let Some(task) = variable("ORANGE_TASK_ID") else {
        return Ok(Caller::Human);
    };
    let role = role("unset ORANGE_TASK_ID and ORANGE_ROLE if you are not an agent")?;
    let run = variable("ORANGE_RUN_ID");
    Ok(Caller::Agent { task, role, run })
}

/// A variable may be missing below `run-agent`, but it may not name another run, task or role than that does.
fn agrees(name: &str, known: Option<&str>) -> Result<()> {
    let Some((said, known)) = variable(name).zip(known) else {
        return Ok(());
    };
    if said == known {
        return Ok(());
    }
    Err(err!(
        NotAllowed,
        "{name} is {said:?}, but this process runs below the agent whose {name} is {known:?}"
    )
    .hint(format!(
        "an agent speaks only for itself; leave {name} as it was"
    )))
}

/// A check runs what an agent wrote, with nobody watching: it may read, and moves no task of this home.
fn check_of(home: &Path, folder: Option<String>) -> Option<Caller> {
    let folder = PathBuf::from(folder?);
    let ours = folder.parent() == Some(&home.join("workspaces"));
    ours.then(|| check(&folder.file_name().unwrap_or_default().to_string_lossy()))
}

fn check(of: &str) -> Caller {
    of_no_task(format!("check of {of}"))
}

/// An agent of no task: no id has blanks.
fn of_no_task(task: String) -> Caller {
    Caller::Agent {
        task,
        role: Role::Executor,
        run: None,
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The role that the environment names; a worker unless it does.
pub(crate) fn role(hint: &str) -> Result<Role> {
    let word = variable("ORANGE_ROLE").unwrap_or_else(|| Role::Worker.to_string());
    word.parse()
        .map_err(|error: NotAllowed| err!(Usage, "ORANGE_ROLE: {error}").hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_known_in_the_home_it_belongs_to() {
        let home = Path::new("/home/you/orange");
        let check = |folder: &str| check_of(home, Some(folder.to_owned()));
        let found = check("/home/you/orange/workspaces/shop--verify");
        assert!(
            matches!(found, Some(Caller::Agent { task, .. }) if task == "check of shop--verify")
        );
        assert_eq!(check("/tmp/other/workspaces/shop--verify"), None);
        assert_eq!(check_of(home, None), None);
    }
}
