//! The interactive workflow: a worker agent in tmux, an agent reviewer, a human merge. `table.rs` is the table; the
//! other modules say what depends on it alone. Read `table.rs` first.

pub mod evidence;
pub mod exit;
pub mod prompt;
pub mod reason;
mod table;
pub mod why;

use crate::task::Status;
pub use table::{INTERACTIVE, NAME, STATUSES};

/// Two statuses that the program before this one called differently in TASK.md.
pub fn former_status(word: &str) -> Option<Status> {
    match word {
        "needs_human" => Some(Status::Reviewing),
        "failed" => Some(Status::Stuck),
        _ => None,
    }
}
