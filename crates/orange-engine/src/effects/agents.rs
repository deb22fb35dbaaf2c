//! The hooks about agents: starting, telling and ending them.

use crate::call::{self, Call};
use crate::effects::messages::{self, Whose, undelivered};
use crate::effects::start_agent::{self, Begin, Begun};
use crate::effects::{skipped, slots, spoken, stop_agent};
use crate::error::{Code, Error, Result};
use crate::prompt::{self, PromptExtra};
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

pub(crate) fn spawn(tx: &mut TaskTx<'_>, prompt: Prompt) -> Vec<Event> {
    let call = tx.call;
    match PromptName::for_hook(prompt, tx.task.status) {
        Some(name) => {
            let message = Some(extra(tx).message).filter(|text| !text.is_empty());
            begin(tx, Role::Worker, name, message)
        }
        None => vec![skipped(call, "no agent is expected where the task is")],
    }
}

pub(crate) fn spawn_reviewer(tx: &mut TaskTx<'_>) -> Vec<Event> {
    begin(tx, Role::Reviewer, PromptName::Reviewer, None)
}

/// A live worker is told; otherwise an agent is started that knows what it is about.
pub(crate) fn ensure_fixer(tx: &mut TaskTx<'_>) -> Vec<Event> {
    let call = tx.call;
    match sessions::live_run(call, tx.history(), Role::Worker) {
        Some(run) if sessions::is_one_shot(call, &run) => {
            let opening = tx.history().last_transition();
            if opening.is_some_and(|state| state.opening.by.as_deref() == Some("agent")) {
                let why = "its worker takes no messages, and works on to its end";
                return vec![skipped(call, why)];
            }
            if let Err(error) = end_worker(tx) {
                return vec![failed(call, &spoken(call, &error))];
            }
        }
        Some(_) => return tell(tx, PromptName::ToldStuck),
        None => {}
    }
    if tx.task.workspace.is_none() {
        return vec![skipped(call, "it has no workspace")];
    }
    let output = returned_by(tx.history()).map(|told| told.result.report());
    begin(tx, Role::Worker, PromptName::StuckFix, output)
}

pub(crate) fn kill_reviewer(tx: &mut TaskTx<'_>) -> Vec<Event> {
    let call = tx.call;
    if !has_had_agents(tx) {
        return vec![completed(call)];
    }
    match stop_agent::stop_runs(call, tx, &[Role::Reviewer]) {
        Ok(stopped) => {
            let closed = stop_agent::close_windows(call, tx, Role::Reviewer);
            after(call, stopped, closed)
        }
        Err(error) => vec![failed(call, &spoken(call, &error))],
    }
}

pub(crate) fn kill_session(tx: &mut TaskTx<'_>) -> Vec<Event> {
    let call = tx.call;
    adopted::note_adopted_session(call, &tx.task, tx.history());
    if !has_had_agents(tx) {
        return vec![completed(call)];
    }
    let roles = [Role::Worker, Role::Reviewer, Role::Executor];
    let mut events = match stop_agent::stop_runs(call, tx, &roles) {
        Ok(stopped) => {
            let closed = stop_agent::close_session(call, &tx.task);
            after(call, stopped, closed)
        }
        Err(error) => vec![failed(call, &spoken(call, &error))],
    };
    let named = tx.task.tmux_session.is_some();
    if let Some(last) = events
        .last_mut()
        .filter(|last| named && last.kind == EventType::HookCompleted)
    {
        last.fields
            .insert(Field::TmuxSession.name().into(), Value::Null);
        *last = machine::number(last.clone(), &tx.task);
    }
    events
}

/// A live worker is told what happened; one that is gone, or that takes no messages, is started again with it.
pub(crate) fn notify_worker(tx: &mut TaskTx<'_>) -> Vec<Event> {
    let call = tx.call;
    let from = tx
        .history()
        .last_transition()
        .and_then(|transition| transition.opening.from.as_deref()?.parse().ok());
    let by_check = returned_by(tx.history()).is_some();
    let name = from.and_then(|from| PromptName::for_notice(from, by_check));
    let Some(name) = name else {
        return vec![skipped(call, "there is nothing to tell")];
    };
    let mut events = Vec::new();
    if let Some(run) = sessions::live_run(call, tx.history(), Role::Worker) {
        if !sessions::is_one_shot(call, &run) {
            return tell(tx, name);
        }
        // It has handed over what it did.
        if let Err(error) = end_worker(tx) {
            return vec![failed(call, &spoken(call, &error))];
        }
    }
    if is_wanted(tx)
        && let Err(error) = ensure_workspace(call, tx)
    {
        return vec![failed(call, &spoken(call, &error))];
    }
    let Some(respawn) = PromptName::for_hook(Prompt::Respawn, tx.task.status) else {
        return vec![skipped(call, "no agent is expected where the task is")];
    };
    // A prompt asks git; where nobody is started there is nobody to read it.
    let told = if is_wanted(tx) {
        notice(tx, name)
    } else {
        Ok(String::new())
    };
    match told {
        Ok(text) => events.extend(begin(tx, Role::Worker, respawn, Some(text))),
        Err(error) => events.push(failed(call, &spoken(call, &error))),
    }
    events
}

/// Ends a worker that takes no messages: what it still does would meet the work of the one that follows.
fn end_worker(tx: &mut TaskTx<'_>) -> Result<()> {
    let call = tx.call;
    let stopped = stop_agent::stop_runs(call, tx, &[Role::Worker])?;
    tx.note(stopped)
}

/// The queue is looked at when this task is let go of.
pub(crate) fn spawn_next(call: &Call) -> Vec<Event> {
    match call::request_queue_run(call) {
        Ok(()) => vec![completed(call)],
        Err(error) => vec![failed(call, &spoken(call, &error))],
    }
}

fn tell(tx: &mut TaskTx<'_>, name: PromptName) -> Vec<Event> {
    let call = tx.call;
    let told = told(tx, name);
    match told {
        Ok(()) => vec![completed(call)],
        Err(error) => vec![failed(call, &spoken(call, &error))],
    }
}

fn told(tx: &mut TaskTx<'_>, name: PromptName) -> Result<()> {
    let call = tx.call;
    let text = notice(tx, name)?;
    let Some(run) = sessions::live_run(call, tx.history(), Role::Worker) else {
        return Ok(());
    };
    // The same hook again is the same message, whoever carries it out.
    let message = Message {
        id: transition_id(tx),
        ..messages::message(call, &text)
    };
    messages::tell(call, tx, &run, "engine", message)
}

/// What a worker is told, with the words that came with the transition even where the prompt has no place for them.
fn notice(tx: &TaskTx<'_>, name: PromptName) -> Result<String> {
    let call = tx.call;
    let extra = extra(tx);
    let text = prompt::prompt_for(call, &tx.task, name, &extra)?;
    Ok(if text.contains(extra.message.trim()) {
        text
    } else {
        format!("{text}\n\nA message from a person:\n\n{}\n", extra.message)
    })
}

fn begin(
    tx: &mut TaskTx<'_>,
    role: Role,
    prompt: PromptName,
    message: Option<String>,
) -> Vec<Event> {
    let call = tx.call;
    if let Some(why) = unready(tx) {
        return vec![failed(call, &why)];
    }
    let begin = Begin {
        role,
        prompt,
        run: format!("{}-{}", transition_id(tx), letter(role)),
        message: with_undelivered(tx, role, message),
    };
    match start_agent::begin(call, tx, &begin) {
        Ok(Begun::Started(event)) => {
            tx.given.spawned.push((*event).clone());
            let mut events = heard(tx, role);
            events.extend([*event, completed(call)]);
            events
        }
        Ok(Begun::Running) => vec![completed(call)],
        Ok(Begun::Nobody(why)) => vec![skipped(call, &why)],
        Err(error) => vec![failed(call, &spoken(call, &error))],
    }
}

/// Why no agent may start in the workspace that this transition was to get: it could not be made ready.
fn unready(tx: &TaskTx<'_>) -> Option<String> {
    let mut failed = tx.failed_hooks().into_iter();
    failed.find(|(hook, _)| hook == Hook::AcquireWorkspace.name())?;
    Some("its workspace is not ready, so no agent is started in it".to_owned())
}

/// The words of people that went into a prompt have arrived.
pub(crate) fn heard(tx: &TaskTx<'_>, role: Role) -> Vec<Event> {
    let call = tx.call;
    let lost = undelivered(tx.history(), Whose::Role(role)).into_iter();
    lost.map(|(id, _)| {
        let delivered = MessageNote {
            message: Some(&id),
            ..MessageNote::default()
        };
        Event::of(Payload::MessageDelivered(delivered), call.now())
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
fn extra(tx: &TaskTx<'_>) -> PromptExtra {
    let transition = tx.history().last_transition();
    let message = transition.and_then(|transition| transition.opening.message().map(str::to_owned));
    let output = || returned_by(tx.history()).map(|told| told.result.report());
    PromptExtra {
        message: message.or_else(output).unwrap_or_default(),
        ..PromptExtra::default()
    }
}

fn transition_id(tx: &TaskTx<'_>) -> String {
    let transition = tx.history().last_transition();
    let id = transition.and_then(|transition| transition.opening.transition.clone());
    id.unwrap_or_else(|| tx.task.id.clone())
}

fn has_had_agents(tx: &TaskTx<'_>) -> bool {
    !orange_core::runs::runs(tx.history()).is_empty()
}

fn is_wanted(tx: &TaskTx<'_>) -> bool {
    let call = tx.call;
    let harness = harness::harness_for(call, &tx.task, Role::Worker);
    !matches!(harness, Ok(None))
}

/// What ended is journalled as ended, whether or not its window could be closed.
fn after(call: &Call, mut stopped: Vec<Event>, closed: Result<()>) -> Vec<Event> {
    stopped.push(match closed {
        Ok(()) => completed(call),
        Err(error) => failed(call, &spoken(call, &error)),
    });
    stopped
}

fn completed(call: &Call) -> Event {
    Event::new(EventType::HookCompleted, call.now())
}

fn failed(call: &Call, why: &str) -> Event {
    Event::new(EventType::HookFailed, call.now()).because(why)
}

/// A slot for a task that has none, as a task has that began as `reviewing`.
pub(crate) fn ensure_workspace(call: &Call, tx: &mut TaskTx<'_>) -> Result<()> {
    if tx.task.workspace.is_some() && acquire::unprepared_slot(call, &tx.task)?.is_none() {
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
