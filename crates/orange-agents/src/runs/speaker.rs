//! Who gives a signal: the run's own agent, or one that it has started in turn. Both have the run's variables.

use super::{RunFolder, RunSpec};
use crate::harness;
use crate::occupants::{command_line, own_line};
use std::path::Path;

impl RunFolder {
    /// Does this process speak for the run's own agent? An agent within it is found on the way up to `run-agent`.
    pub fn is_its_agents(&self, spec: &RunSpec) -> bool {
        let Some(started) = self.started() else {
            return true;
        };
        let line = own_line();
        let Some(top) = line.iter().position(|pid| *pid == started.process.pid) else {
            // A program that lets go of its parent keeps its word.
            return true;
        };
        let own = line.get(1..top).unwrap_or_default();
        let commands: Vec<Vec<String>> = own.iter().map(|pid| command_line(*pid)).collect();
        let programs = programs(spec);
        agents_in(&commands, &programs) <= 1
    }
}

/// What agents are started as, the run's own first.
fn programs(spec: &RunSpec) -> Vec<&str> {
    let own = spec.command.first().map(String::as_str).and_then(file_name);
    let others = harness::programs().map(|program| -> &str { program });
    own.into_iter().chain(others).collect()
}

/// How many agents there are in a line of processes. A program and the wrapper that started it are one.
fn agents_in(commands: &[Vec<String>], programs: &[&str]) -> usize {
    let is_agent = |command: &Vec<String>| {
        let mut words = command.iter().take(2).filter_map(|word| file_name(word));
        match words.any(|word| programs.contains(&word)) {
            // Everything else that this program does is no agent.
            true if command.first().and_then(|word| file_name(word)) == Some("orange") => {
                harness::is_own_agent(command)
            }
            is_one => is_one,
        }
    };
    let groups = commands.chunk_by(|one, next| is_agent(one) == is_agent(next));
    groups.filter(|group| is_agent(&group[0])).count()
}

fn file_name(word: &str) -> Option<&str> {
    Path::new(word).file_name()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_counted_with_their_wrappers() {
        let count = |lines: &[&str]| {
            let commands: Vec<Vec<String>> = lines
                .iter()
                .map(|line| line.split(' ').map(str::to_owned).collect())
                .collect();
            agents_in(&commands, &["claude", "mine", "orange", "pi"])
        };
        assert_eq!(count(&["/bin/claude --x"]), 1);
        assert_eq!(count(&["sh -c x", "/bin/claude --x"]), 1);
        assert_eq!(count(&["/opt/native/claude", "node /bin/claude"]), 1);
        assert_eq!(count(&["claude -p", "bash -c x", "node /x/pi"]), 2);
        assert_eq!(count(&["orange sim", "sh -c x", "orange sim"]), 2);
        assert_eq!(count(&["orange task", "sh -c x", "mine"]), 1);
        assert_eq!(count(&["sh -c x"]), 0);
    }
}
