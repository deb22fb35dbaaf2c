//! Claude's own record of a conversation, read as it grows: what it used, and that somebody interrupted a turn, of which
//! no hook tells.

use crate::harness::watch::MessageQueue;
use crate::headless::{count_of, text_of};
use crate::runs::{RunFolder, Signal, SignalKind};
use orange_core::Timestamp;
use orange_core::usage::Usage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const INTERRUPTED: &str = "[Request interrupted by user";

pub(super) struct ClaudeTranscript {
    folder: RunFolder,
    began: Timestamp,
    path: Option<PathBuf>,
    /// How far each file was read.
    read: BTreeMap<PathBuf, u64>,
    /// What each answer of the model used. One answer may take several lines.
    answers: BTreeMap<String, Usage>,
    cost: Option<f64>,
    /// The model has answered since that cost was told: a conversation that was resumed has the cost of its earlier runs.
    answered_since: bool,
    queue: MessageQueue,
}

impl ClaudeTranscript {
    pub(super) fn new(folder: RunFolder) -> ClaudeTranscript {
        ClaudeTranscript {
            folder,
            began: Timestamp::now(),
            path: None,
            read: BTreeMap::new(),
            answers: BTreeMap::new(),
            cost: None,
            answered_since: false,
            queue: MessageQueue::default(),
        }
    }

    pub(super) fn queue(&self) -> &MessageQueue {
        &self.queue
    }

    /// Reads what is new in the file at that path, and in those of the agents that this one has started.
    pub(super) fn follow(&mut self, path: Option<&str>) {
        let path = path.map(PathBuf::from);
        if path.is_some() && path != self.path {
            // A person began another conversation in the window; each has its own record.
            self.path = path;
            self.read.clear();
            self.answers.clear();
            self.cost = None;
            self.answered_since = false;
        }
        let Some(path) = self.path.clone() else {
            return;
        };
        let mut news = false;
        for (file, own) in records(&path) {
            let text = self.news(&file).unwrap_or_default();
            news |= !text.is_empty();
            let lines = text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            for line in lines.collect::<Vec<Value>>() {
                self.take(&line, own);
            }
        }
        if !news {
            return;
        }
        let mut usage = self
            .answers
            .values()
            .copied()
            .fold(Usage::default(), Usage::plus);
        usage.cost = self.cost;
        usage.cost_partial = self.cost.is_some() && self.answered_since;
        if let Err(error) = self.folder.note_usage(&usage) {
            tracing::warn!(%error, "what the agent used is not noted");
        }
    }

    /// The whole lines that were written since the last look.
    fn news(&mut self, path: &Path) -> Option<String> {
        let mut file = File::open(path).ok()?;
        let read = self.read.entry(path.to_owned()).or_default();
        if file.metadata().ok()?.len() <= *read {
            return None;
        }
        file.seek(SeekFrom::Start(*read)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
        bytes.truncate(whole);
        *read += whole as u64;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take(&mut self, line: &Value, own: bool) {
        match line.get("type").and_then(Value::as_str) {
            Some("assistant") => {
                let message = line.get("message").unwrap_or(&Value::Null);
                let id = message.get("id").and_then(Value::as_str);
                if let (Some(id), Some(usage)) = (id, message.get("usage")) {
                    self.answers.insert(id.to_owned(), usage_of(usage));
                    // Those of agents that it started are read later than they were written.
                    self.answered_since |= own;
                }
            }
            Some("cost-state") => {
                let cost = line.get("totalCostUSD").and_then(Value::as_f64);
                if cost.is_some() {
                    self.cost = cost;
                    self.answered_since = false;
                }
            }
            Some("queue-operation") if own => self.take_queue(line),
            Some("user") if own => {
                if let Some(Value::String(text)) = line.pointer("/message/content") {
                    self.queue.note(text);
                }
                self.take_interruption(line);
            }
            Some(_) | None => {}
        }
    }

    fn take_queue(&mut self, line: &Value) {
        match (text_of(line, "operation"), text_of(line, "content")) {
            (Some("enqueue"), Some(text)) => {
                self.queue.waiting.push(text.to_owned());
                self.queue.note(text);
            }
            (Some("dequeue"), _) if !self.queue.is_empty() => drop(self.queue.waiting.remove(0)),
            (Some("remove"), Some(text)) => self.queue.waiting.retain(|waiting| waiting != text),
            _ => self.queue.waiting.clear(),
        }
    }

    /// A turn that was interrupted, and one that a waiting message began then. What a hook has told since counts more.
    fn take_interruption(&self, line: &Value) {
        let at = line.get("timestamp").and_then(Value::as_str);
        let at = at.and_then(|at| at.parse::<Timestamp>().ok());
        // A conversation that was resumed has those of earlier days.
        let Some(at) = at.filter(|at| *at > self.began) else {
            return;
        };
        let _ = self.folder.add_signal(|signals| {
            let last = signals.last();
            let signal = if is_interruption(line) {
                let later = last.is_some_and(|last| last.at > at);
                (!later).then_some(SignalKind::Interrupted)
            } else {
                let interrupted = last.is_some_and(|last| last.signal == SignalKind::Interrupted);
                (interrupted && is_prompt(line)).then_some(SignalKind::Working)
            };
            signal.map(Signal::now)
        });
    }
}

/// A conversation's own record, and those of the agents that it started.
fn records(path: &Path) -> Vec<(PathBuf, bool)> {
    let started = std::fs::read_dir(path.with_extension("").join("subagents"));
    let is_record = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl");
    let started = started.into_iter().flatten().flatten();
    let started = started.map(|entry| entry.path()).filter(is_record);
    std::iter::once((path.to_owned(), true))
        .chain(started.map(|path| (path, false)))
        .collect()
}

fn usage_of(usage: &Value) -> Usage {
    let count = |name: &str| count_of(usage, name);
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        ..Usage::default()
    }
}

/// Results of tools are lines of the user's, too.
fn is_prompt(line: &Value) -> bool {
    line.pointer("/message/content")
        .is_some_and(Value::is_string)
}

fn is_interruption(line: &Value) -> bool {
    let content = line.pointer("/message/content");
    let says = |text: &str| text.starts_with(INTERRUPTED);
    match content {
        Some(Value::String(text)) => says(text),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .any(says),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(id: &str, input: u64) -> String {
        let usage = json!({"input_tokens": input, "output_tokens": 1});
        let message = json!({"id": id, "usage": usage});
        json!({"type": "assistant", "message": message}).to_string() + "\n"
    }

    #[test]
    fn answers_count_once_those_of_started_agents_too_and_the_cost_comes_last() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(place.path(), "run");
        let started = place.path().join("talk/subagents");
        for path in [folder.path(), &started] {
            std::fs::create_dir_all(path).unwrap();
        }
        let talk = place.path().join("talk.jsonl");
        let mut text = answer("a", 100) + &answer("a", 100);
        std::fs::write(&talk, &text).unwrap();
        std::fs::write(started.join("agent-1.jsonl"), answer("b", 20)).unwrap();
        let mut transcript = ClaudeTranscript::new(folder.clone());
        transcript.follow(talk.to_str());
        let usage = folder.usage().unwrap();
        assert_eq!((usage.input, usage.output, usage.cost), (120, 2, None));

        text += &(answer("c", 3) + "{\"type\":\"cost-state\",\"totalCostUSD\":0.5}\n");
        std::fs::write(&talk, format!("{text}{{\"cut")).unwrap();
        transcript.follow(None);
        let usage = folder.usage().unwrap();
        assert_eq!((usage.input, usage.cost), (123, Some(0.5)));
        assert!(!usage.cost_partial);

        // Resumed: what it told at its end was not all.
        text += &answer("d", 1);
        std::fs::write(&talk, &text).unwrap();
        transcript.follow(None);
        let usage = folder.usage().unwrap();
        assert_eq!((usage.input, usage.cost), (124, Some(0.5)));
        assert!(usage.cost_partial);
    }
}
