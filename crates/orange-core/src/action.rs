//! What a person can do next. Each front end spells an action in its own way: as a command, a key or a button.

use crate::task::Status;
use serde::Serialize;

/// One thing to do. Tasks are named as people name them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    AddProject {
        name: String,
    },
    AnswerQuestion {
        task: String,
    },
    Attach {
        task: String,
    },
    BranchAt {
        repository: String,
        branch: String,
    },
    CommitEmpty {
        repository: String,
    },
    Complete {
        task: String,
    },
    CreateFrom {
        task: String,
    },
    EditTaskFile {
        task: String,
    },
    EnlargePool {
        project: String,
        size: u32,
    },
    Explain {
        task: String,
    },
    ListDeleted,
    Merge {
        task: String,
    },
    MoveTo {
        task: String,
        status: Status,
    },
    RemoveBlocker {
        task: String,
        blocker: String,
    },
    Repair,
    /// None: the person writes what is to be changed.
    RequestChanges {
        task: String,
        text: Option<String>,
    },
    Resolve {
        task: String,
    },
    Respawn {
        task: String,
        with_message: bool,
    },
    RetryHooks {
        task: String,
    },
    Send {
        task: String,
    },
    Shell {
        task: String,
    },
    Spawn {
        task: String,
        force: bool,
    },
    StashFile {
        worktree: String,
        path: String,
    },
    Trust {
        project: String,
        at: Option<String>,
    },
    Verify {
        task: String,
    },
}
