//! Claude's own record of a conversation, read as it grows: what it used, and that somebody interrupted a turn, of which
//! no hook tells.

use crate::runs::{RunFolder, Signal, SignalKind};
use orange_core::Timestamp;
use orange_core::usage::Usage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

const INTERRUPTED: &str = "[Request interrupted by user";

pub(super) struct Transcript {
    folder: RunFolder,
    began: Timestamp,
    path: Option<PathBuf>,
    read: u64,
    /// What each answer of the model used. One answer may take several lines.
    answers: BTreeMap<String, Usage>,
    cost: Option<f64>,
}

impl Transcript {
    pub(super) fn new(folder: RunFolder) -> Transcript {
        Transcript {
            folder,
            began: Timestamp::now(),
            path: None,
            read: 0,
            answers: BTreeMap::new(),
            cost: None,
        }
    }

    /// Reads what is new in the file at that path.
    pub(super) fn follow(&mut self, path: Option<&str>) {
        let path = path.map(PathBuf::from);
        if path.is_some() && path != self.path {
            // A person began another conversation in the window; each has its own record.
            self.path = path;
            self.read = 0;
            self.answers.clear();
            self.cost = None;
        }
        let Some(text) = self.news() else {
            return;
        };
        for line in text.lines() {
            if let Ok(line) = serde_json::from_str(line) {
                self.take(&line);
            }
        }
        let mut usage = self
            .answers
            .values()
            .copied()
            .fold(Usage::default(), Usage::plus);
        usage.cost = self.cost;
        if let Err(error) = self.folder.note_usage(&usage) {
            tracing::warn!(%error, "what the agent used is not noted");
        }
    }

    /// The whole lines that were written since the last look.
    fn news(&mut self) -> Option<String> {
        let mut file = File::open(self.path.as_ref()?).ok()?;
        if file.metadata().ok()?.len() <= self.read {
            return None;
        }
        file.seek(SeekFrom::Start(self.read)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
        bytes.truncate(whole);
        self.read += whole as u64;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take(&mut self, line: &Value) {
        match line.get("type").and_then(Value::as_str) {
            Some("assistant") => {
                let message = line.get("message").unwrap_or(&Value::Null);
                let id = message.get("id").and_then(Value::as_str);
                if let (Some(id), Some(usage)) = (id, message.get("usage")) {
                    self.answers.insert(id.to_owned(), usage_of(usage));
                }
            }
            Some("cost-state") => {
                let cost = line.get("totalCostUSD").and_then(Value::as_f64);
                self.cost = cost.or(self.cost);
            }
            Some("user") if is_interruption(line) => {
                let at = line.get("timestamp").and_then(Value::as_str);
                let at = at.and_then(|at| at.parse::<Timestamp>().ok());
                // A conversation that was resumed has those of earlier days.
                if at.is_some_and(|at| at > self.began) {
                    let _ = self.folder.signal(&Signal::now(SignalKind::Interrupted));
                }
            }
            Some(_) | None => {}
        }
    }
}

fn usage_of(usage: &Value) -> Usage {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        cost: None,
    }
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
