//! The hooks about agents: starting, telling and ending them.

use crate::effects::messages::{self, Whose, undelivered};
use crate::effects::start_agent::{self, Begin, Begun};
use crate::effects::{completed, executor, failed, skipped, slots, stop_agent};
use crate::error::{Code, Error, Result, err};
use crate::prompt;
use crate::runs::Message;
use crate::sessions::{self, adopted};
use crate::settings::harness;
use crate::tx::TaskTx;
use crate::workspaces::acquire;
use orange_core::history::payload::MessageNote;
use orange_core::history::{Event, EventType, Payload};
use orange_core::machine;
use orange_core::prompt::PromptName;
use orange_core::runs::letter;
use orange_core::task::Field;
use orange_core::verification::returned_by;
use orange_core::workflow::{Hook, Prompt, Role};
use serde_json::Value;

/// Why no agent is started.
const NOT_EXPECTED: &str = "no agent is expected where the task is";

pub(crate) fn spawn(tx: &mut TaskTx<'_>, prompt: Prompt) -> Result<Vec<Event>> {
    match PromptName::for_hook(prompt, tx.task.status) {
        Some(name) => {
            let message = Some(message_of(tx)).filter(|text| !text.is_empty());
            begin(tx, Role::Worker, name, message)
        }
        None => Ok(vec![skipped(tx.call, NOT_EXPECTED)]),
    }
}

/// A live worker is told; otherwise an agent is started that knows what it is about.
pub(crate) fn ensure_fixer(tx: &mut TaskTx<'_>) -> Result<Vec<Event>> {
    let call = tx.call;
    match sessions::live_run(call, tx.history(), Role::Worker) {
        Some(run) if sessions::is_one_shot(call, &run) => {
            let opening = tx.history().last_transition();
            if opening.is_some_and(|state| state.opening.by.as_deref() == Some("agent")) {
                let why = "its worker takes no messages, and works on to its end";
                return Ok(vec![skipped(call, why)]);
            }
            end_worker(tx)?;
        }
        Some(_) => return tell(tx, PromptName::ToldStuck),
        None => {}
    }
    if tx.task.workspace.is_none() {
        return Ok(vec![skipped(call, "it has no workspace")]);
    }
    let output = returned_by(tx.history()).map(|told| told.result.report());
    begin(tx, Role::Worker, PromptName::StuckFix, output)
}

pub(crate) fn kill_reviewer(tx: &mut TaskTx<'_>) -> Result<Vec<Event>> {
    end(tx, &[Role::Reviewer], |tx| {
        stop_agent::close_windows(tx, Role::Reviewer)
    })
}

/// What ended is journalled as ended, whether or not its window could be closed.
pub(crate) fn end(
    tx: &TaskTx<'_>,
    roles: &[Role],
    close: impl FnOnce(&TaskTx<'_>) -> Result<()>,
) -> Result<Vec<Event>> {
    if !has_had_agents(tx) {
        return Ok(vec![completed(tx.call)]);
    }
    let mut events = stop_agent::stop_runs(tx, roles)?;
    events.push(match close(tx) {
        Ok(()) => completed(tx.call),
        Err(error) => failed(tx.call, &error),
    });
    Ok(events)
}

pub(crate) fn kill_session(tx: &mut TaskTx<'_>) -> Result<Vec<Event>> {
    let call = tx.call;
    adopted::note_adopted_session(call, &tx.task, tx.history());
    let roles = [Role::Worker, Role::Reviewer, Role::Executor];
    let mut events = end(tx, &roles, |tx| stop_agent::close_session(call, &tx.task))?;
    if let Err(error) = executor::close_rows(tx) {
        // A task that cannot be ended would be worse; doctor --repair takes a claim back that was left.
        tracing::warn!(%error, "the rows of an executor are left open");
    }
    let named = tx.task.tmux_session.is_some() && has_had_agents(tx);
    if let Some(last) = events
        .last_mut()
        .filter(|last| named && last.kind == EventType::HookCompleted)
    {
        last.fields
            .insert(Field::TmuxSession.name().into(), Value::Null);
        *last = machine::number(last.clone(), &tx.task);
    }
    Ok(events)
}

/// A live worker is told what happened; one that is gone, or that takes no messages, is started again with it.
pub(crate) fn notify_worker(tx: &mut TaskTx<'_>) -> Result<Vec<Event>> {
    let call = tx.call;
    let from = tx
        .history()
        .last_transition()
        .and_then(|transition| transition.opening.from.as_deref()?.parse().ok());
    let by_check = returned_by(tx.history()).is_some();
    let name = from.and_then(|from| PromptName::for_notice(from, by_check));
    let Some(name) = name else {
        return Ok(vec![skipped(call, "there is nothing to tell")]);
    };
    if let Some(run) = sessions::live_run(call, tx.history(), Role::Worker) {
        if !sessions::is_one_shot(call, &run) {
            return tell(tx, name);
        }
        // It has handed over what it did.
        end_worker(tx)?;
    }
    let is_wanted = !matches!(harness::harness_for(call, &tx.task, Role::Worker), Ok(None));
    if is_wanted {
        ensure_workspace(tx)?;
    }
    let Some(respawn) = PromptName::for_hook(Prompt::Respawn, tx.task.status) else {
        return Ok(vec![skipped(call, NOT_EXPECTED)]);
    };
    // A prompt asks git; where nobody is started there is nobody to read it.
    let text = if is_wanted {
        notice(tx, name)?
    } else {
        String::new()
    };
    begin(tx, Role::Worker, respawn, Some(text))
}

/// Ends a worker that takes no messages: what it still does would meet the work of the one that follows.
fn end_worker(tx: &mut TaskTx<'_>) -> Result<()> {
    let stopped = stop_agent::stop_runs(tx, &[Role::Worker])?;
    tx.note(stopped)
}

fn tell(tx: &mut TaskTx<'_>, name: PromptName) -> Result<Vec<Event>> {
    let text = notice(tx, name)?;
    if let Some(run) = sessions::live_run(tx.call, tx.history(), Role::Worker) {
        // The same hook again is the same message, whoever carries it out.
        let message = Message {
            id: transition_id(tx),
            ..messages::message(tx.call, &text)
        };
        messages::tell(tx, &run, "engine", message)?;
    }
    Ok(vec![completed(tx.call)])
}

/// What a worker is told, with the words that came with the transition even where the prompt has no place for them.
fn notice(tx: &TaskTx<'_>, name: PromptName) -> Result<String> {
    prompt::prompt_with_message(tx.call, &tx.task, name, &message_of(tx))
}

pub(crate) fn begin(
    tx: &mut TaskTx<'_>,
    role: Role,
    prompt: PromptName,
    message: Option<String>,
) -> Result<Vec<Event>> {
    let call = tx.call;
    let mut failed = tx.failed_hooks().into_iter();
    if failed.any(|hook| hook.name == Hook::AcquireWorkspace.name()) {
        let why = "its workspace is not ready, so no agent is started in it";
        return Err(err!(Failed, "{why}"));
    }
    let begin = Begin {
        role,
        prompt,
        run: format!("{}-{}", transition_id(tx), letter(role)),
        message: with_undelivered(tx, role, message),
    };
    Ok(match start_agent::begin(tx, &begin)? {
        Begun::Started(event) => {
            let mut events = heard(tx, role);
            events.extend([*event, completed(call)]);
            events
        }
        Begun::Running => vec![completed(call)],
        Begun::Nobody(why) => vec![skipped(call, &why)],
    })
}

/// The words of people that went into a prompt have arrived.
pub(crate) fn heard(tx: &TaskTx<'_>, role: Role) -> Vec<Event> {
    let lost = undelivered(tx.history(), Whose::Role(role)).into_iter();
    lost.map(|(id, _)| {
        let delivered = MessageNote {
            message: Some(&id),
            ..MessageNote::default()
        };
        Event::of(Payload::MessageDelivered(delivered), tx.call.now())
            .by("engine")
            .because("in the prompt of the next run")
    })
    .collect()
}

/// What an agent did not live to hear goes to the next one.
pub(crate) fn with_undelivered(
    tx: &TaskTx<'_>,
    role: Role,
    message: Option<String>,
) -> Option<String> {
    let lost = undelivered(tx.history(), Whose::Role(role));
    let mut parts: Vec<String> = lost.into_iter().map(|(_, text)| text).collect();
    parts.extend(message);
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// A person's words that came with the transition, or what the check printed that caused it.
fn message_of(tx: &TaskTx<'_>) -> String {
    let transition = tx.history().last_transition();
    let message = transition.and_then(|transition| transition.opening.message().map(str::to_owned));
    let output = || returned_by(tx.history()).map(|told| told.result.report());
    message.or_else(output).unwrap_or_default()
}

pub(crate) fn transition_id(tx: &TaskTx<'_>) -> String {
    let id = tx.last_transition_id();
    id.unwrap_or_else(|| tx.task.id.clone())
}

fn has_had_agents(tx: &TaskTx<'_>) -> bool {
    !orange_core::runs::runs(tx.history()).is_empty()
}

/// A slot for a task that has none, as a task has that began as `reviewing`.
pub(crate) fn ensure_workspace(tx: &mut TaskTx<'_>) -> Result<()> {
    if tx.task.workspace.is_some() && acquire::unprepared_slot(tx.call, &tx.task)?.is_none() {
        return Ok(());
    }
    let mut event = slots::acquire(tx);
    let failed = event.kind == EventType::HookFailed;
    let reason = event.reason.clone().unwrap_or_default();
    if event.revision.is_some() {
        // No hook of a transition, and journalled at once: the agent starts in it. A slot whose setup failed is
        // still the task's.
        event.kind = EventType::TaskUpdated;
        tx.note(vec![event])?;
    }
    if failed {
        Err(Error::new(Code::ConditionUnmet, reason))
    } else {
        Ok(())
    }
}
