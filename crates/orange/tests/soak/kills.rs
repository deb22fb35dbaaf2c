//! Killing what the plan says, and counting it.

use crate::plan::Target;
use crate::state::State;
use crate::world::{World, kill};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

#[derive(Default)]
pub(crate) struct Tally {
    counts: Mutex<BTreeMap<String, usize>>,
}

impl Tally {
    pub(crate) fn add(&self, what: impl Into<String>) {
        *self.counts.lock().unwrap().entry(what.into()).or_default() += 1;
    }

    /// Commands that were run: those that came to an end and those that were killed.
    pub(crate) fn operations(&self) -> usize {
        let counts = self.counts.lock().unwrap();
        let is_command =
            |what: &str| what.starts_with("command: ") || what.starts_with("command died");
        counts
            .iter()
            .filter(|(what, _)| is_command(what))
            .map(|(_, count)| count)
            .sum()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let counts = self.counts.lock().unwrap();
        counts
            .iter()
            .map(|(what, count)| format!("{count:>6}  {what}"))
            .collect()
    }
}

/// Kills; false when there was nothing to kill.
pub(crate) fn strike(world: &World, state: &State, event: &str, target: Target) -> bool {
    let role = event.strip_prefix("spawned:");
    let runs = state.runs(&world.home());
    let run = runs
        .iter()
        .rfind(|run| !run.ended && role.is_none_or(|role| role == run.role));
    match target {
        Target::Agent => {
            let agent = run.and_then(|run| child_of(run.run_agent()?));
            agent.map(kill).is_some()
        }
        Target::RunAgent => run.and_then(|run| run.run_agent()).map(kill).is_some(),
        Target::Window | Target::Session => {
            let Some(pane) = run.and_then(|run| run.pane()) else {
                return false;
            };
            let verb = match target {
                Target::Window => "kill-window",
                _ => "kill-session",
            };
            world.tmux(&[verb, "-t", &pane]).code == Some(0)
        }
        Target::Errands => kill_all(world, |line| line.contains("orange errand ")),
        Target::Monitor => kill_all(world, |line| line.ends_with("orange watch ")),
        Target::Server => kill_server(world),
        Target::Everything => {
            kill_server(world);
            kill_all(world, |_| true);
            true
        }
    }
}

fn kill_all(world: &World, meant: impl Fn(&str) -> bool) -> bool {
    let found: Vec<u32> = world
        .processes()
        .into_iter()
        .filter(|(_, line)| meant(line))
        .map(|(pid, _)| pid)
        .collect();
    found.iter().copied().for_each(kill);
    !found.is_empty()
}

fn kill_server(world: &World) -> bool {
    let said = world.tmux(&["display-message", "-p", "#{pid}"]);
    let pid = said.stdout.trim().parse();
    pid.map(kill).is_ok()
}

/// A process's first child: of a `run-agent` the agent.
fn child_of(parent: u32) -> Option<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = fs::read_to_string(path).ok()?;
    text.split_whitespace().next()?.parse().ok()
}
