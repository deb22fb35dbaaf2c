//! A task as its files show it, read without asking Orange: journal, frontmatter, runs.

use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

pub(crate) struct State {
    pub(crate) status: String,
    pub(crate) queued: bool,
    pub(crate) blocked_reason: Option<String>,
    pub(crate) events: Vec<Value>,
}

/// An agent process, as the journal knows it.
pub(crate) struct Run {
    pub(crate) role: String,
    pub(crate) folder: PathBuf,
    pub(crate) ended: bool,
}

/// The frontmatter's value for a field, as it is written.
pub(crate) fn field(text: &str, name: &str) -> Option<String> {
    let front = text.strip_prefix("---\n")?.split("\n---").next()?;
    let line = front
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
    let line = line.trim().trim_matches('"');
    (!line.is_empty() && line != "null").then(|| line.to_owned())
}

/// The whole lines of a journal.
pub(crate) fn events(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("history.jsonl")).unwrap_or_default();
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| line.ends_with('\n'))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

impl State {
    pub(crate) fn read(folder: &Path) -> State {
        let text = fs::read_to_string(folder.join("TASK.md")).unwrap_or_default();
        State {
            status: field(&text, "status").unwrap_or_default(),
            queued: field(&text, "queued_at").is_some(),
            blocked_reason: field(&text, "blocked_reason"),
            events: events(folder),
        }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.status.as_str(), "done" | "cancelled" | "finished")
    }

    /// How often the journal has an event, in the words of a plan.
    pub(crate) fn count(&self, event: &str) -> usize {
        let is_it = |entry: &&Value| {
            if let Some(role) = event.strip_prefix("spawned:") {
                return entry["type"] == "agent.spawned" && entry["role"] == role;
            }
            match event.split_once('>') {
                Some((from, to)) => entry["from"] == from && entry["to"] == to,
                None => entry["type"] == event,
            }
        };
        self.events.iter().filter(is_it).count()
    }

    pub(crate) fn runs(&self, home: &Path) -> Vec<Run> {
        let mut runs: Vec<(String, Run)> = Vec::new();
        for event in &self.events {
            let Some(id) = event["run"].as_str() else {
                continue;
            };
            match event["type"].as_str() {
                Some("agent.spawned") => runs.push((
                    id.to_owned(),
                    Run {
                        role: event["role"].as_str().unwrap_or_default().to_owned(),
                        folder: home.join("runs").join(id),
                        ended: false,
                    },
                )),
                Some("agent.exited" | "agent.crashed" | "agent.stopped") => {
                    for (_, run) in runs.iter_mut().filter(|(known, _)| known == id) {
                        run.ended = true;
                    }
                }
                _ => {}
            }
        }
        runs.into_iter().map(|(_, run)| run).collect()
    }

    /// Hooks of the last status change that failed and were not carried out since.
    pub(crate) fn failed_hooks(&self) -> bool {
        let since = self
            .events
            .iter()
            .rposition(|event| {
                let kinds = ["status.changed", "auto.advanced", "task.created"];
                kinds.iter().any(|kind| event["type"] == *kind)
            })
            .unwrap_or(0);
        let mut failed: Vec<&Value> = Vec::new();
        for event in self.events.iter().skip(since) {
            match event["type"].as_str() {
                Some("hook.failed") => failed.push(&event["hook"]),
                Some("hook.completed" | "hook.skipped") => {
                    failed.retain(|hook| **hook != event["hook"]);
                }
                _ => {}
            }
        }
        !failed.is_empty()
    }
}

impl Run {
    pub(crate) fn is_alive(&self) -> bool {
        match File::open(self.folder.join("lock")) {
            Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            Err(_) => false,
        }
    }

    fn json(&self, name: &str) -> Value {
        let bytes = fs::read(self.folder.join(name)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(crate) fn run_agent(&self) -> Option<u32> {
        let pid = self.json("started.json")["process"]["pid"].as_u64()?;
        u32::try_from(pid).ok()
    }

    pub(crate) fn pane(&self) -> Option<String> {
        Some(self.json("pane.json")["pane"].as_str()?.to_owned())
    }

    /// Has its last turn ended, with nothing on the way to it?
    pub(crate) fn is_idle(&self) -> bool {
        let text = fs::read_to_string(self.folder.join("signals.jsonl")).unwrap_or_default();
        let last = text.lines().last().unwrap_or_default().to_owned();
        last.contains("\"turn-done\"")
    }
}
