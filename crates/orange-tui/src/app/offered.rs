//! What can be done with a task now, and what its keys are called for it: the footer shows it, and no other key acts.

use orange_core::keys::KeyAction;
use orange_core::workflow::Intent;
use orange_engine::sessions::SessionState;
use orange_engine::views::dashboard::{Focus, OverviewRow};
use orange_engine::views::questions::is_help_wanted;

/// What Enter does with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    Start,
    Attach,
    Respawn,
}

pub fn go(row: &OverviewRow) -> Option<Go> {
    let status = row.status?;
    if !status.has_started() {
        return Some(Go::Start);
    }
    match row.session {
        SessionState::Alive => Some(Go::Attach),
        SessionState::Gone => Some(Go::Respawn),
        SessionState::None => None,
    }
}

/// Actions on a task with the words for its footer, the most urgent first.
pub fn offered(row: &OverviewRow, focus: Option<&Focus>) -> Vec<(KeyAction, &'static str)> {
    let mut offered = Vec::new();
    let status = row.status;
    if let Some(focus) = focus {
        match focus.questions.first().map(|open| &open.question) {
            Some(question) if question.asked.is_empty() => {
                offered.push((KeyAction::Yes, "allow"));
                if !question.tool.is_empty() {
                    offered.push((KeyAction::Always, "always"));
                }
                offered.push((KeyAction::No, "deny"));
            }
            Some(_) => {
                offered.push((KeyAction::Yes, "answer"));
                offered.push((KeyAction::No, "deny"));
            }
            None if focus.asked_in_file.is_some() => {
                offered.push((KeyAction::Yes, "answer"));
                if is_help_wanted(&focus.task) {
                    offered.push((KeyAction::No, "what to do"));
                }
            }
            None => {
                if focus.task.offers(Intent::Merge) {
                    offered.push((KeyAction::Merge, "merge"));
                }
                if focus.task.offers(Intent::RequestChanges) {
                    offered.push((KeyAction::No, "changes"));
                } else if focus.task.offers(Intent::TakeBack) {
                    offered.push((KeyAction::No, "take back"));
                }
            }
        }
    }
    if row.session == SessionState::Alive {
        offered.push((KeyAction::Message, "message"));
    }
    match go(row) {
        Some(Go::Start) => offered.push((KeyAction::Enter, "start")),
        Some(Go::Attach) => offered.push((KeyAction::Enter, "attach")),
        Some(Go::Respawn) => offered.push((KeyAction::Enter, "start again")),
        None => {}
    }
    offered.push((KeyAction::View, "view"));
    if row.diff.as_ref().is_some_and(|diff| diff.commits > 0) {
        offered.push((KeyAction::Diff, "diff"));
    }
    if row.slot.is_some() {
        offered.push((KeyAction::Editor, "editor"));
        offered.push((KeyAction::Shell, "shell"));
    }
    if let Some(status) = status {
        if status.is_terminal() {
            offered.push((KeyAction::Delete, "delete"));
        } else {
            offered.push((KeyAction::Cancel, "cancel"));
        }
        if !status.has_started() {
            offered.push((KeyAction::Delete, "delete"));
        }
    }
    offered
}
