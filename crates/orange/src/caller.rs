//! Who runs this command: an agent is known by its environment, or by run-agent among its ancestors.
//! This keeps agents from accidents. It is no wall against malice: an agent runs as the same user.

use crate::error::{CommandError, Result};
use orange_core::workflow::Role;
use orange_engine::Caller;
use orange_engine::workspaces::CHECK_MARK;
use std::path::{Path, PathBuf};

pub(crate) fn find(home: &Path) -> Result<Caller> {
    if let Some(check) = check_of(home, variable(CHECK_MARK)) {
        return Ok(check);
    }
    if let Some(task) = variable("ORANGE_TASK_ID") {
        let role = match variable("ORANGE_ROLE") {
            Some(word) => parse_role(&word)?,
            None => Role::Worker,
        };
        return Ok(Caller::Agent { task, role });
    }
    Ok(from_ancestors())
}

/// A check runs what an agent wrote, with nobody watching: it may read, and moves no task of this home.
fn check_of(home: &Path, folder: Option<String>) -> Option<Caller> {
    let folder = PathBuf::from(folder?);
    let ours = folder.parent() == Some(&home.join("workspaces"));
    ours.then(|| Caller::Agent {
        task: folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        role: Role::Executor,
    })
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn parse_role(word: &str) -> Result<Role> {
    word.parse()
        .map_err(|error: orange_core::choice::NotAllowed| {
            CommandError::usage(
                format!("ORANGE_ROLE: {error}"),
                "unset ORANGE_TASK_ID and ORANGE_ROLE if you are not an agent",
            )
        })
}

/// Walks up to `orange run-agent --task ID --role ROLE`, which outlives a cleaned environment.
pub(crate) fn from_ancestors() -> Caller {
    run_agent_above().unwrap_or(Caller::Human)
}

fn run_agent_above() -> Option<Caller> {
    const HIGHEST: usize = 64;
    let mut pid = std::process::id();
    for _ in 0..HIGHEST {
        pid = parent_of(pid)?;
        if pid <= 1 {
            return None;
        }
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<String> = command
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        if let Some(caller) = as_run_agent(&words) {
            return Some(caller);
        }
    }
    None
}

fn as_run_agent(words: &[String]) -> Option<Caller> {
    let program = words.first()?.rsplit('/').next()?;
    if program != "orange" || words.get(1).map(String::as_str) != Some("run-agent") {
        return None;
    }
    let value_of = |flag: &str| {
        let position = words.iter().position(|word| word == flag)?;
        words.get(position + 1).cloned()
    };
    Some(Caller::Agent {
        task: value_of("--task")?,
        role: value_of("--role")
            .and_then(|word| word.parse().ok())
            .unwrap_or(Role::Worker),
    })
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may contain anything, so count from its end.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn run_agent_is_recognised_and_nothing_else() {
        assert_eq!(
            as_run_agent(&words(
                "/usr/bin/orange run-agent --task abc --role reviewer -- claude"
            )),
            Some(Caller::Agent {
                task: "abc".into(),
                role: Role::Reviewer
            })
        );
        assert_eq!(as_run_agent(&words("orange task list")), None);
        assert_eq!(as_run_agent(&words("vim run-agent --task abc")), None);
        assert_eq!(as_run_agent(&words("orange run-agent --role worker")), None);
    }

    #[test]
    fn a_check_is_known_in_the_home_it_belongs_to() {
        let home = Path::new("/home/you/orange");
        let check = |folder: &str| check_of(home, Some(folder.to_owned()));
        let found = check("/home/you/orange/workspaces/shop--verify");
        assert!(matches!(found, Some(Caller::Agent { task, .. }) if task == "shop--verify"));
        assert_eq!(check("/tmp/other/workspaces/shop--verify"), None);
        assert_eq!(check_of(home, None), None);
    }

    #[test]
    fn our_own_parent_can_be_found() {
        assert!(parent_of(std::process::id()).is_some_and(|pid| pid > 0));
    }
}
