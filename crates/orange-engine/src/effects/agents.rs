//! The hooks about agents: starting, telling and ending them.

use super::{skipped, spoken};
use crate::engine::{Engine, Whose, undelivered};
use crate::error::Result;
use crate::locked::LockedTask;
use crate::prompt::PromptExtra;
use crate::runs::Message;
use crate::sessions::{Begin, Begun};
use orange_core::history::{Event, EventType};
use orange_core::machine;
use orange_core::prompt::PromptName;
use orange_core::runs::letter;
use orange_core::task::Field;
use orange_core::verification::returned_by;
use orange_core::workflow::{Hook, Prompt, Role};
use serde_json::Value;

pub(super) fn spawn(engine: &Engine, locked: &mut LockedTask, prompt: Prompt) -> Vec<Event> {
    match PromptName::for_hook(prompt, locked.task.status) {
        Some(name) => {
            let message = Some(extra(locked).message).filter(|text| !text.is_empty());
            begin(engine, locked, Role::Worker, name, message)
        }
        None => vec![skipped(engine, "no agent is expected where the task is")],
    }
}

pub(super) fn spawn_reviewer(engine: &Engine, locked: &mut LockedTask) -> Vec<Event> {
    begin(engine, locked, Role::Reviewer, PromptName::Reviewer, None)
}

/// A live worker is told; otherwise an agent is started that knows what it is about.
pub(super) fn ensure_fixer(engine: &Engine, locked: &mut LockedTask) -> Vec<Event> {
    match engine.live_run(locked.history(), Role::Worker) {
        Some(run) if engine.is_one_shot(&run) => {
            let opening = locked.history().last_transition();
            if opening.is_some_and(|state| state.opening.by.as_deref() == Some("agent")) {
                let why = "its worker takes no messages, and works on to its end";
                return vec![skipped(engine, why)];
            }
            if let Err(error) = end_worker(engine, locked) {
                return vec![failed(engine, &spoken(&error))];
            }
        }
        Some(_) => return tell(engine, locked, PromptName::ToldStuck),
        None => {}
    }
    if locked.task.workspace.is_none() {
        return vec![skipped(engine, "it has no workspace")];
    }
    let output = returned_by(locked.history()).map(|told| told.result.report());
    begin(engine, locked, Role::Worker, PromptName::StuckFix, output)
}

pub(super) fn kill_reviewer(engine: &Engine, locked: &mut LockedTask) -> Vec<Event> {
    if !has_had_agents(locked) {
        return vec![completed(engine)];
    }
    match engine.stop_runs(locked, &[Role::Reviewer]) {
        Ok(stopped) => {
            let closed = engine.close_windows(locked, Role::Reviewer);
            after(engine, stopped, closed)
        }
        Err(error) => vec![failed(engine, &spoken(&error))],
    }
}

pub(super) fn kill_session(engine: &Engine, locked: &mut LockedTask) -> Vec<Event> {
    engine.mention_adopted_session(&locked.task, locked.history());
    if !has_had_agents(locked) {
        return vec![completed(engine)];
    }
    let roles = [Role::Worker, Role::Reviewer, Role::Executor];
    let mut events = match engine.stop_runs(locked, &roles) {
        Ok(stopped) => {
            let closed = engine.close_session(&locked.task);
            after(engine, stopped, closed)
        }
        Err(error) => vec![failed(engine, &spoken(&error))],
    };
    let named = locked.task.tmux_session.is_some();
    if let Some(last) = events
        .last_mut()
        .filter(|last| named && last.kind == EventType::HookCompleted)
    {
        last.fields
            .insert(Field::TmuxSession.name().into(), Value::Null);
        *last = machine::number(last.clone(), &locked.task);
    }
    events
}

/// A live worker is told what happened; one that is gone, or that takes no messages, is started again with it.
pub(super) fn notify_worker(engine: &Engine, locked: &mut LockedTask) -> Vec<Event> {
    let from = locked
        .history()
        .last_transition()
        .and_then(|transition| transition.opening.from.as_deref()?.parse().ok());
    let by_check = returned_by(locked.history()).is_some();
    let name = from.and_then(|from| PromptName::for_notice(from, by_check));
    let Some(name) = name else {
        return vec![skipped(engine, "there is nothing to tell")];
    };
    let mut events = Vec::new();
    if let Some(run) = engine.live_run(locked.history(), Role::Worker) {
        if !engine.is_one_shot(&run) {
            return tell(engine, locked, name);
        }
        // It has handed over what it did.
        if let Err(error) = end_worker(engine, locked) {
            return vec![failed(engine, &spoken(&error))];
        }
    }
    if is_wanted(engine, locked)
        && let Err(error) = engine.ensure_workspace(locked)
    {
        return vec![failed(engine, &spoken(&error))];
    }
    let Some(respawn) = PromptName::for_hook(Prompt::Respawn, locked.task.status) else {
        return vec![skipped(engine, "no agent is expected where the task is")];
    };
    // A prompt asks git; where nobody is started there is nobody to read it.
    let told = match is_wanted(engine, locked) {
        true => notice(engine, locked, name),
        false => Ok(String::new()),
    };
    match told {
        Ok(text) => events.extend(begin(engine, locked, Role::Worker, respawn, Some(text))),
        Err(error) => events.push(failed(engine, &spoken(&error))),
    }
    events
}

/// Ends a worker that takes no messages: what it still does would meet the work of the one that follows.
fn end_worker(engine: &Engine, locked: &mut LockedTask) -> Result<()> {
    let stopped = engine.stop_runs(locked, &[Role::Worker])?;
    locked.remark(engine, stopped)
}

/// The queue is looked at when this task is let go of.
pub(super) fn spawn_next(engine: &Engine) -> Vec<Event> {
    match engine.want_queue() {
        Ok(()) => vec![completed(engine)],
        Err(error) => vec![failed(engine, &spoken(&error))],
    }
}

fn tell(engine: &Engine, locked: &mut LockedTask, name: PromptName) -> Vec<Event> {
    let told = told(engine, locked, name);
    match told {
        Ok(()) => vec![completed(engine)],
        Err(error) => vec![failed(engine, &spoken(&error))],
    }
}

fn told(engine: &Engine, locked: &mut LockedTask, name: PromptName) -> Result<()> {
    let text = notice(engine, locked, name)?;
    let Some(run) = engine.live_run(locked.history(), Role::Worker) else {
        return Ok(());
    };
    // The same hook again is the same message, whoever carries it out.
    let message = Message {
        id: transition_id(locked),
        ..engine.message(&text)
    };
    engine.tell(locked, &run, "engine", message)
}

/// What a worker is told, with the words that came with the transition even where the prompt has no place for them.
fn notice(engine: &Engine, locked: &LockedTask, name: PromptName) -> Result<String> {
    let extra = extra(locked);
    let text = engine.prompt_for(&locked.task, name, &extra)?;
    Ok(match text.contains(extra.message.trim()) {
        true => text,
        false => format!("{text}\n\nA message from a person:\n\n{}\n", extra.message),
    })
}

fn begin(
    engine: &Engine,
    locked: &mut LockedTask,
    role: Role,
    prompt: PromptName,
    message: Option<String>,
) -> Vec<Event> {
    if let Some(why) = unready(locked) {
        return vec![failed(engine, &why)];
    }
    let begin = Begin {
        role,
        prompt,
        run: format!("{}-{}", transition_id(locked), letter(role)),
        message: with_undelivered(locked, role, message),
    };
    match engine.begin(locked, &begin) {
        Ok(Begun::Started(event)) => {
            engine.note_spawned(&event);
            let mut events = heard(engine, locked, role);
            events.extend([*event, completed(engine)]);
            events
        }
        Ok(Begun::Running) => vec![completed(engine)],
        Ok(Begun::Nobody(why)) => vec![skipped(engine, &why)],
        Err(error) => vec![failed(engine, &spoken(&error))],
    }
}

/// Why no agent may start in the workspace that this transition was to get: it could not be made ready.
fn unready(locked: &LockedTask) -> Option<String> {
    let mut failed = locked.failed_hooks().into_iter();
    failed.find(|(hook, _)| hook == Hook::AcquireWorkspace.name())?;
    Some("its workspace is not ready, so no agent is started in it".to_owned())
}

/// The words of people that went into a prompt have arrived.
pub(crate) fn heard(engine: &Engine, locked: &LockedTask, role: Role) -> Vec<Event> {
    let lost = undelivered(locked.history(), Whose::Role(role)).into_iter();
    lost.map(|(id, _)| {
        Event::new(EventType::MessageDelivered, engine.now())
            .by("engine")
            .because("in the prompt of the next run")
            .detail("message", id)
    })
    .collect()
}

/// What an agent did not live to hear goes to the next one.
pub(crate) fn with_undelivered(
    locked: &LockedTask,
    role: Role,
    message: Option<String>,
) -> Option<String> {
    let lost = undelivered(locked.history(), Whose::Role(role));
    let mut parts: Vec<String> = lost.into_iter().map(|(_, text)| text).collect();
    parts.extend(message);
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// A person's words that came with the transition, or what the check printed that caused it.
fn extra(locked: &LockedTask) -> PromptExtra {
    let transition = locked.history().last_transition();
    let message = transition.and_then(|transition| {
        let text = transition.opening.details.get("message")?.as_str()?;
        Some(text.to_owned())
    });
    let output = || returned_by(locked.history()).map(|told| told.result.report());
    PromptExtra {
        message: message.or_else(output).unwrap_or_default(),
        ..PromptExtra::default()
    }
}

fn transition_id(locked: &LockedTask) -> String {
    let transition = locked.history().last_transition();
    let id = transition.and_then(|transition| transition.opening.transition.clone());
    id.unwrap_or_else(|| locked.task.id.clone())
}

fn has_had_agents(locked: &LockedTask) -> bool {
    !orange_core::runs::runs(locked.history()).is_empty()
}

fn is_wanted(engine: &Engine, locked: &LockedTask) -> bool {
    let harness = engine.harness_for(&locked.task, Role::Worker);
    !matches!(harness, Ok(None))
}

/// What ended is journalled as ended, whether or not its window could be closed.
fn after(engine: &Engine, mut stopped: Vec<Event>, closed: Result<()>) -> Vec<Event> {
    stopped.push(match closed {
        Ok(()) => completed(engine),
        Err(error) => failed(engine, &spoken(&error)),
    });
    stopped
}

fn completed(engine: &Engine) -> Event {
    Event::new(EventType::HookCompleted, engine.now())
}

fn failed(engine: &Engine, why: &str) -> Event {
    Event::new(EventType::HookFailed, engine.now()).because(why)
}
