//! Values of events that are more than a word, a number or a time.

use super::{HookEnded, TaskCreated};
use crate::history::History;
use serde::{Deserialize, Serialize};

/// The work of an earlier task that a new one goes on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierWork {
    /// The task whose work it is.
    pub task_id: String,
    /// The branch it was done on.
    pub branch: String,
    /// Where that ended, and the new branch starts.
    pub head: String,
    /// The ref of the rescue that holds what was not committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescue: Option<String>,
}

impl EarlierWork {
    /// What a task goes on with, as its first event says.
    pub fn of(history: &History) -> Option<EarlierWork> {
        let mut events = history.events.iter();
        events.find_map(TaskCreated::of)?.work
    }

    /// Whether the journal of the task that goes on with it says that it is in the task's slot.
    pub fn is_brought(&self, history: &History) -> bool {
        let mut hooks = history.events.iter().filter_map(HookEnded::of);
        match self.rescue.as_deref() {
            Some(rescue) => hooks.any(|hook| hook.brought == Some(rescue)),
            // Without files there is nothing to bring but the start of the branch.
            None => hooks.any(|hook| hook.base_commit.is_some()),
        }
    }
}

/// A file in which a merge conflicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictNote {
    pub path: String,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub hunks: Vec<HunkNote>,
}

/// A place in such a file: its line, and how many lines both sides have there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkNote {
    pub line: usize,
    pub lines: [usize; 2],
}
