//! Finds the run that this process is part of, by `run-agent` or `run-phases` among its ancestors. A cleaned or changed environment does
//! not hide it.

use super::{ProcessId, RunFolder};
use crate::occupants::{command_line, own_line};
use orange_core::workflow::Role;
use std::path::Path;

/// The commands that stay beside agents: that of a window with an agent in it, and that of an executor.
pub const RUN_AGENT: &str = "run-agent";
pub const RUN_PHASES: &str = "run-phases";

/// The run that a process is part of, as the command line of its `run-agent` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAbove {
    pub task: String,
    pub role: Role,
    /// None for a process that only looks like `run-agent`.
    pub run: Option<String>,
}

/// An errand that runs what others wrote, without a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unattended {
    /// `errand verify`: the commands of a check.
    Check,
    /// `errand classify`: an agent that says how large a task is.
    Classification,
}

/// The processes that this one descends from, the nearest first, each with the words it was started with.
pub struct Ancestors(Vec<(u32, Vec<String>)>);

impl Ancestors {
    pub fn of_this_process() -> Ancestors {
        let line = own_line().into_iter().skip(1);
        Ancestors(line.map(|pid| (pid, command_line(pid))).collect())
    }

    /// The errand of this program that runs this process, if it is nearer than any `run-agent`.
    pub fn errand(&self) -> Option<Unattended> {
        for (_, words) in &self.0 {
            let is_orange =
                words.first().and_then(|word| word.rsplit('/').next()) == Some("orange");
            let verb = |place: usize| words.get(place).map(String::as_str);
            if is_orange && verb(1) == Some("errand") {
                match verb(2) {
                    Some("verify") => return Some(Unattended::Check),
                    Some("classify") => return Some(Unattended::Classification),
                    _ => {}
                }
            }
            if arguments_of(words).is_some() {
                return None;
            }
        }
        None
    }

    /// The nearest one that is the recorded `run-agent` of a run of this home. Without one, the outermost one that
    /// looks like a `run-agent`: an agent can start such a process below its own, and never above.
    pub fn run(&self, home: &Path) -> Option<RunAbove> {
        let mut outermost = None;
        for (pid, words) in &self.0 {
            if let Some(run) = recorded(words, home, *pid) {
                return Some(run);
            }
            outermost = look_alike(words).or(outermost);
        }
        outermost
    }
}

/// The run whose `started.json` names this very process. The command line is believed, not `run.json`: an agent can
/// write the file, and cannot change the other.
fn recorded(words: &[String], home: &Path, pid: u32) -> Option<RunAbove> {
    let above = arguments_of(words)?;
    let named = Path::new(value_of(words, "--home")?);
    if named != home && named.canonicalize().ok()? != home.canonicalize().ok()? {
        return None;
    }
    let folder = RunFolder::new(home, above.run.as_deref()?);
    let is_it = ProcessId::of(pid)? == folder.started()?.process && folder.is_locked_by(pid);
    is_it.then_some(above)
}

fn look_alike(words: &[String]) -> Option<RunAbove> {
    let program = words.first()?.rsplit('/').next()?;
    let above = arguments_of(words).filter(|_| program == "orange")?;
    Some(RunAbove { run: None, ..above })
}

fn arguments_of(words: &[String]) -> Option<RunAbove> {
    let verb = words.get(1).map(String::as_str);
    if !verb.is_some_and(|verb| [RUN_AGENT, RUN_PHASES].contains(&verb)) {
        return None;
    }
    let role = value_of(words, "--role").and_then(|word| word.parse().ok());
    Some(RunAbove {
        task: value_of(words, "--task")?.to_owned(),
        role: role.unwrap_or(Role::Worker),
        run: value_of(words, "--run").map(str::to_owned),
    })
}

fn value_of<'w>(words: &'w [String], flag: &str) -> Option<&'w str> {
    let position = words.iter().position(|word| word == flag)?;
    words.get(position + 1).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::Started;
    use orange_core::Timestamp;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_look_alike_is_recognised_and_nothing_else() {
        assert_eq!(
            look_alike(&words(
                "/usr/bin/orange run-agent --task abc --role reviewer --run abc-r1"
            )),
            Some(RunAbove {
                task: "abc".into(),
                role: Role::Reviewer,
                run: None
            })
        );
        assert_eq!(look_alike(&words("orange task list")), None);
        assert_eq!(look_alike(&words("vim run-agent --task abc")), None);
        assert_eq!(look_alike(&words("orange run-agent --role worker")), None);
    }

    #[test]
    fn the_nearest_errand_with_foreign_commands_is_told() {
        let errand = |lines: &[&str]| {
            let lines = lines.iter().map(|line| (1, words(line)));
            Ancestors(lines.collect()).errand()
        };
        let agent = "/usr/bin/orange run-agent --task abc --role worker --run abc-w1";
        let classify = "/usr/bin/orange errand classify shop/abc";
        assert_eq!(errand(&["sh", classify]), Some(Unattended::Classification));
        assert_eq!(
            errand(&["orange errand verify abc", agent]),
            Some(Unattended::Check)
        );
        assert_eq!(errand(&["sh", agent, classify]), None);
        assert_eq!(errand(&["sh -c orange errand classify"]), None);
        assert_eq!(errand(&["orange errand queue"]), None);
    }

    #[test]
    fn only_the_recorded_process_of_this_home_is_a_run() {
        let home = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(home.path(), "abc-w1");
        std::fs::create_dir_all(folder.path()).unwrap();
        let own = std::process::id();
        let line = words(&format!(
            "/usr/bin/orange run-agent --home {} --task abc --role worker --run abc-w1",
            home.path().display()
        ));
        assert_eq!(recorded(&line, home.path(), own), None);
        folder
            .note_started(&Started {
                process: ProcessId::of(own).unwrap(),
                at: Timestamp::UNIX_EPOCH,
            })
            .unwrap();
        // Whoever does not hold the run's lock has only written the file.
        assert_eq!(recorded(&line, home.path(), own), None);
        let _lock = folder.lock().unwrap().unwrap();
        let found = recorded(&line, home.path(), own).unwrap();
        assert_eq!(found.run.as_deref(), Some("abc-w1"));
        assert_eq!(recorded(&line, other.path(), own), None);
        // Another process with the same command line.
        let parent = own_line()[1];
        assert_eq!(recorded(&line, home.path(), parent), None);
    }
}
