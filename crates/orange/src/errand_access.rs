//! Who may run `orange errand …`: Orange itself, and a person. Not an agent, nor anything that an agent started.

use crate::caller;
use orange_engine::errand::pass;
use orange_engine::runs::own_session;
use orange_engine::{Caller, Result, err};
use std::path::Path;

/// Refuses an agent that calls an errand by itself.
pub(crate) fn check(home: &Path, words: &[&str]) -> Result<()> {
    if pass::present(words) || is_from_older_run_agent(words) {
        return Ok(());
    }
    match caller::find(home)? {
        Caller::Agent { .. } => Err(err!(
            NotAllowed,
            "an agent may not run errands: orange starts them itself"
        )
        .hint("leave it out; orange does this when it is due")),
        Caller::Human | Caller::Engine => Ok(()),
    }
}

/// An agent lives through an upgrade, and the `run-agent` beside it then starts errands as older versions did: without
/// a pass, as its own child, in a session of its own, and only to see to its own run.
fn is_from_older_run_agent(words: &[&str]) -> bool {
    let ["tend", run] = words else {
        return false;
    };
    let leads_session = own_session().cast_unsigned() == std::process::id();
    let is_tagged = ["ORANGE_TASK_ID", "ORANGE_RUN_ID"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let Some(parent) = rustix::process::getppid().filter(|_| leads_session && !is_tagged) else {
        return false;
    };
    std::fs::read(format!("/proc/{parent}/cmdline"))
        .is_ok_and(|command| is_run_agent_of(&command, run))
}

fn is_run_agent_of(command: &[u8], run: &str) -> bool {
    let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
    let is_run_agent = words.first().is_some_and(|word| word.ends_with(b"orange"))
        && words.get(1) == Some(&b"run-agent".as_slice());
    let names_run = |pair: &[&[u8]]| pair == [b"--run".as_slice(), run.as_bytes()];
    is_run_agent && words.windows(2).any(names_run)
}

#[cfg(test)]
mod tests {
    use super::is_run_agent_of;

    #[test]
    fn only_the_run_agent_of_that_run_counts() {
        let command =
            b"/usr/bin/orange\0run-agent\0--home\0/h\0--task\0t\0--role\0worker\0--run\0r1\0";
        assert!(is_run_agent_of(command, "r1"));
        assert!(!is_run_agent_of(command, "r"));
        assert!(!is_run_agent_of(command, "worker"));
        assert!(!is_run_agent_of(b"/bin/sh\0run-agent\0--run\0r1\0", "r1"));
        assert!(!is_run_agent_of(b"orange\0task\0--run\0r1\0", "r1"));
    }
}
