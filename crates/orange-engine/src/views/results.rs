//! What became of a task with which somebody did something.

use crate::engine::{Landing, OpenQuestion, Origin};
use crate::workspaces::Acquired;
use orange_core::history::Event;
use orange_core::task::Task;
use orange_core::verification::Verified;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// The task as it is now, what is to be said of it, and what else came of it.
#[derive(Debug, Serialize)]
pub struct TaskResult<'a> {
    pub task: &'a Task,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<&'a Verified>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<&'a OpenQuestion>,
    pub message: &'a str,
    /// The TASK.md of a new task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landing: Option<&'a Landing>,
    /// The check that its move waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<&'a Acquired>,
    /// Why it does not start yet; null for a new task that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<Option<&'a str>>,
    /// Those that were started.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "details")]
    pub agents: Option<&'a [Event]>,
    /// What became of a message or a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'a str>,
    /// Tasks that had been waiting and were started too.
    #[serde(skip_serializing_if = "<[Task]>::is_empty")]
    pub started: &'a [Task],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<&'a Origin>,
}

impl<'a> TaskResult<'a> {
    pub fn new(task: &'a Task, message: &'a str) -> TaskResult<'a> {
        TaskResult {
            task,
            verify: None,
            question: None,
            message,
            path: None,
            landing: None,
            waits_for: None,
            workspace: None,
            queued: None,
            agents: None,
            state: None,
            started: &[],
            from: None,
        }
    }
}

fn details<S: Serializer>(spawned: &Option<&[Event]>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(
        spawned
            .iter()
            .copied()
            .flatten()
            .map(|event| event.details()),
    )
}
