//! The hooks of transitions, a file per kind. `tx` carries them out and journals what became of each; verbs use the same functions
//! where they do by hand what a hook does. Each finds out what of it was done before, so that it can be carried out again after a
//! kill. Read `agents.rs` and `slots.rs` first.

pub(crate) mod agents;
pub(crate) mod budget;
pub(crate) mod delegation;
pub(crate) mod executor;
pub(crate) mod failures;
mod local_branch;
pub(crate) mod merge;
pub(crate) mod messages;
pub(crate) mod notify;
pub(crate) mod remote_branch;
pub(crate) mod rewind;
pub(crate) mod slots;
pub(crate) mod start_agent;
pub(crate) mod stop_agent;
pub(crate) mod take_back;
pub(crate) mod ui_testing;
pub(crate) mod verify;

use crate::call::Call;
use crate::error::{Error, Result};
use crate::tx::TaskTx;
use orange_core::history::payload::HookEnded;
use orange_core::history::{Event, EventType, Payload};
use orange_core::prompt::PromptName;
use orange_core::workflow::{Hook, Role};
use orange_core::{Text, text};

/// Why a hook of a step that is not built yet is left alone.
const NOT_YET: &str = "this version of orange does not finalize";

/// Why a hook is not carried out any more.
const SUPERSEDED: &str = "the journal lost its end; the task may have moved on since";

/// Carries out one hook of a transition and says what became of it; the last event is about the hook itself.
pub(crate) fn carry_out(tx: &mut TaskTx<'_>, hook: &str) -> Vec<Event> {
    let outcome = match Hook::from_name(hook) {
        Some(known) => effect(tx, known),
        None => Ok(vec![skipped(
            tx.call,
            "this version of orange does not know it",
        )]),
    };
    let mut events = outcome.unwrap_or_else(|error| vec![failed(tx.call, &error)]);
    if let Some(last) = events.last_mut() {
        last.hook = Some(hook.to_owned());
    }
    events
}

/// An error is why the hook failed.
fn effect(tx: &mut TaskTx<'_>, hook: Hook) -> Result<Vec<Event>> {
    let call = tx.call;
    Ok(match hook {
        Hook::AcquireWorkspace => vec![slots::acquire(tx)],
        Hook::ReleaseWorkspace => vec![slots::release(tx)?],
        Hook::SpawnAgent(prompt) => agents::spawn(tx, prompt)?,
        Hook::SpawnReviewer => agents::begin(tx, Role::Reviewer, PromptName::Reviewer, None)?,
        Hook::EnsureFixer => agents::ensure_fixer(tx)?,
        Hook::KillReviewer => agents::kill_reviewer(tx)?,
        Hook::KillSession => agents::kill_session(tx)?,
        Hook::NotifyWorker => agents::notify_worker(tx)?,
        Hook::SpawnNext => {
            tx.ask_for_queue();
            vec![completed(call)]
        }
        Hook::DeleteRemoteBranch => {
            vec![completed(call).because(remote_branch::delete_branches(tx)?)]
        }
        Hook::Verify => verify::begin(tx)?,
        Hook::IncrementReviewRound
        | Hook::ResetReviewRound
        | Hook::ArchiveReview
        | Hook::ArchiveHandoff => vec![completed(call)],
        Hook::Classify => executor::classify(tx)?,
        Hook::WritePlan => executor::write_plan(tx)?,
        Hook::StartExecutor => executor::start(tx)?,
        Hook::StopExecutor => executor::stop(tx)?,
        Hook::CommitWip => executor::commit_wip(tx)?,
        Hook::StartFinalize => vec![skipped(call, NOT_YET)],
    })
}

/// Did it reach beyond the task's own files? Then what became of it is journalled at once.
pub(crate) fn acted(hook: &str, events: &[Event]) -> bool {
    let slots = [Hook::AcquireWorkspace.name(), Hook::ReleaseWorkspace.name()];
    let tells = |event: &Event| event.revision.is_some() || event.kind == EventType::HookFailed;
    events.len() > 1 || slots.contains(&hook) || events.iter().any(tells)
}

pub(crate) fn superseded(call: &Call, hook: &str) -> Vec<Event> {
    let mut event = skipped(call, SUPERSEDED);
    event.hook = Some(hook.to_owned());
    vec![event]
}

pub(crate) fn completed(call: &Call) -> Event {
    Event::new(EventType::HookCompleted, call.now())
}

pub(crate) fn failed(call: &Call, error: &Error) -> Event {
    let ended = HookEnded {
        obstacle: error.obstacle(),
        ..HookEnded::default()
    };
    Event::of(Payload::HookFailed(ended), call.now()).because(spoken(call, error))
}

pub(crate) fn skipped(call: &Call, why: &str) -> Event {
    Event::new(EventType::HookSkipped, call.now()).because(why)
}

/// What went wrong, and what helps.
pub(crate) fn with_hint(error: &Error) -> Text {
    match &error.hint {
        Some(hint) => text!("{error} ({})", hint.clone()),
        None => error.message.clone().into(),
    }
}

/// The same for a journal, in which only words stand.
pub(crate) fn spoken(call: &Call, error: &Error) -> String {
    (call.spell)(&with_hint(error))
}
