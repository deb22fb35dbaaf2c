//! What can be done with a task now, and what its keys are called for it: the footer shows it, and no other key acts.

use crate::verbs::Verb;
use orange_core::keys::KeyAction;
use orange_core::machine::Move;
use orange_core::task::Task;
use orange_core::workflow::{Intent, Role, StatusKind, Trigger};
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
    if row.info()?.kind == StatusKind::Waiting {
        return Some(Go::Start);
    }
    match row.session {
        SessionState::Alive => Some(Go::Attach),
        // Whoever looks at the task next sees to an executor that is gone.
        SessionState::Gone if is_executed(row) => None,
        SessionState::Gone => Some(Go::Respawn),
        SessionState::None => None,
    }
}

/// Whether an executor is at it.
fn is_executed(row: &OverviewRow) -> bool {
    row.info()
        .is_some_and(|info| info.expects == Some(Role::Executor))
}

/// A task that stands where the row says; None: it is damaged.
fn standing(row: &OverviewRow) -> Option<Task> {
    Some(Task::standing_at(row.status?, row.reason))
}

/// Whether a person decides about a phase.
pub fn is_at_gate(row: &OverviewRow, focus: &Focus) -> bool {
    let execution = focus.execution.as_ref();
    standing(row).is_some_and(|task| task.is_at_phase_gate())
        && execution.is_some_and(|execution| execution.is_at_gate)
}

/// What the key that stops an execution and has it go on does with a task, and the word for it.
pub fn pause(row: &OverviewRow) -> Option<(Verb, &'static str)> {
    let task = standing(row)?;
    let can = |trigger| Move::on(&task, trigger).is_some();
    if can(Trigger::PAUSE) {
        Some((Verb::Pause, "pause"))
    } else if can(Trigger::RESUME) {
        Some((Verb::GoOn, "go on"))
    } else {
        None
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
            None if is_at_gate(row, focus) => {
                offered.push((KeyAction::Yes, "approve"));
                offered.push((KeyAction::No, "reject"));
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
    if let Some((_, word)) = pause(row) {
        offered.push((KeyAction::Pause, word));
    }
    if row.session == SessionState::Alive && !is_executed(row) {
        offered.push((KeyAction::Message, "message"));
    }
    match go(row) {
        Some(Go::Start) => offered.push((KeyAction::Enter, "start")),
        Some(Go::Attach) => offered.push((KeyAction::Enter, "attach")),
        Some(Go::Respawn) => offered.push((KeyAction::Enter, "start again")),
        None => {}
    }
    offered.push((KeyAction::View, "view"));
    let execution = focus.and_then(|focus| focus.execution.as_ref());
    if execution.is_some_and(|execution| !execution.phases.is_empty())
        && let Some(task) = standing(row)
    {
        if task.may_change_plan() {
            offered.push((KeyAction::Skip, "skip"));
        }
        if task.may_rewind() {
            offered.push((KeyAction::Rewind, "rewind"));
        }
    }
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
        if go(row) == Some(Go::Start) {
            offered.push((KeyAction::Delete, "delete"));
        }
    }
    offered
}
