//! Messages for a run: put into its folder by whoever has something to say, typed into the agent's window by its
//! `run-agent`, and told apart by an id, so that none arrives twice.

use super::RunFolder;
use crate::error::Result;
use orange_core::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: String,
    pub at: Timestamp,
    pub text: String,
    /// The agent's turn is interrupted for it.
    #[serde(default)]
    pub interrupt: bool,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub delivered: bool,
    /// How it is known, or why it failed.
    pub detail: String,
}

impl RunFolder {
    /// Hands a message over; the same one again changes nothing.
    pub fn post(&self, message: &Message) -> Result<()> {
        if self.has_message(&message.id) {
            Ok(())
        } else {
            self.put(&message_name(&message.id), message)
        }
    }

    pub fn has_message(&self, message: &str) -> bool {
        self.path.join(message_name(message)).exists()
    }

    /// The messages, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        let entries = fs::read_dir(self.path.join("inbox"));
        let mut found: Vec<Message> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".json"))
            .filter_map(|entry| serde_json::from_slice(&fs::read(entry.path()).ok()?).ok())
            .collect();
        found.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        found
    }

    /// Messages of which nobody knows yet what became.
    pub fn waiting(&self) -> Vec<Message> {
        let mut messages = self.messages();
        messages.retain(|message| self.outcome(&message.id).is_none());
        messages
    }

    pub fn outcome(&self, message: &str) -> Option<Delivery> {
        self.get(&outcome_name(message))
    }

    pub fn note_outcome(&self, message: &str, outcome: &Delivery) -> Result<()> {
        self.put(&outcome_name(message), outcome)
    }
}

fn message_name(message: &str) -> String {
    format!("inbox/{message}.json")
}

fn outcome_name(message: &str) -> String {
    format!("inbox/{message}.outcome")
}
