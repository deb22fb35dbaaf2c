//! What became of several tasks with which somebody did the same: those that were changed, and beside them what was refused.

use orange_core::task::Task;
use serde::Serialize;

/// What became of one of them.
#[derive(Debug, Serialize)]
pub struct ChangedTask {
    pub task: Task,
    pub message: String,
    /// Those that went the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<Task>>,
}

/// All of them; an error as the front end tells it.
#[derive(Debug, Serialize)]
pub struct Outcomes<'a, E> {
    pub tasks: Vec<&'a ChangedTask>,
    pub errors: Vec<E>,
}
