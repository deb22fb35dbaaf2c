//! `send`: a message to a task's agent.

use crate::access;
use crate::call::Call;
use crate::effects::messages::{self, ENDED_BEFORE, LONGEST};
use crate::error::{Result, err};
use crate::execution;
use crate::field_checks::check_words;
use crate::runs::{RunFolder, State, StateSource};
use crate::sessions::{self, lost_workspace};
use crate::store::Place;
use crate::tx::{self, TaskTx};
use orange_core::task::Task;
use orange_core::workflow::Role;
use orange_core::{Action, text};
use std::time::{Duration, Instant};

/// What became of a message, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    Delivered(String),
    /// It is kept, and typed as soon as the agent takes it; why not now.
    Queued(String),
    Failed(String),
}

/// Tells a task's agent something, and waits a moment for what becomes of it.
pub fn send(
    call: &Call,
    place: Place,
    role: Role,
    text: &str,
    interrupt: bool,
    timeout: Duration,
) -> Result<(Task, Sent)> {
    access::people_only(call, "send messages")?;
    if text.trim().is_empty() {
        return Err(err!(Usage, "an empty message tells nobody anything")
            .hint("give it as an argument, or with - on standard input"));
    }
    check_words("the message", text)?;
    if text.len() > LONGEST {
        return Err(err!(
            Usage,
            "the message has {} KB, at most 256 KB fit",
            text.len() / 1024
        )
        .hint("put it into a file of the worktree and name the file"));
    }
    let mut tx = tx::lock_task(call, place)?;
    let label = tx.task.label();
    if tx.task.has_plan() && tx.task.has_started() && !tx.task.status.is_terminal() {
        let name = || tx.task.name();
        return Err(err!(
            ConditionUnmet,
            "{label} is executed by a plan, and its agents take no messages"
        )
        .hint(text!(
            "{} says what it waits for; {} asks for changes once its phases are over",
            Action::explain(name()),
            Action::request_changes(name(), None)
        )));
    }
    let Some(run) = sessions::live_run(call, tx.history(), role) else {
        return Err(
            err!(ConditionUnmet, "no {role} of {label} is running").hint(match tx.task.status {
                status if !status.has_started() => {
                    text!("start it first: {}", execution::how_to_start(&tx.task))
                }
                status if status.is_terminal() => text!(
                    "{label} is {status}; a new task starts again from it: {}",
                    Action::create_from(tx.task.name(), false, None)
                ),
                _ => text!(
                    "start one with the message: {}",
                    Action::respawn(tx.task.name(), true)
                ),
            }),
        );
    };
    refuse_deleted_workspace(&tx, role)?;
    let folder = sessions::run_folder(call, &run.id);
    if sessions::is_one_shot(call, &run) {
        return Err(err!(
            ConditionUnmet,
            "harness {} works once through and takes no messages",
            run.harness
        )
        .hint("wait for its end, or cancel it"));
    }
    let by = call.caller_name();
    let mut message = messages::message(call, text);
    message.interrupt = interrupt;
    let id = message.id.clone();
    messages::tell(&mut tx, &run, &by, message)?;
    let task = tx.commit(Vec::new())?.task;
    Ok((task, wait_for(&folder, &id, timeout)))
}

/// An agent whose folder was deleted cannot do anything about a message.
fn refuse_deleted_workspace(tx: &TaskTx<'_>, role: Role) -> Result<()> {
    let lost = lost_workspace::lost_workspace(tx.call, &tx.task, tx.history());
    if lost.is_none() && !lost_workspace::runs_in_deleted_folder(tx.call, tx.history(), role) {
        return Ok(());
    }
    let label = tx.task.label();
    Err(err!(ConditionUnmet, "the message was not sent: the {role} of {label} runs in a workspace that was deleted")
        .hint(text!(
            "{} checks the branch out again; then quit the {role} ({}) and start it with the message: {}",
            Action::repair(),
            Action::attach(tx.task.name()),
            Action::respawn(tx.task.name(), true)
        )))
}

fn wait_for(folder: &RunFolder, id: &str, timeout: Duration) -> Sent {
    let deadline = Instant::now() + timeout;
    loop {
        match folder.outcome(id) {
            Some(outcome) if outcome.delivered => return Sent::Delivered(outcome.detail),
            Some(outcome) => return Sent::Failed(outcome.detail),
            None if !folder.is_alive() => {
                return Sent::Failed(ENDED_BEFORE.into());
            }
            None if Instant::now() >= deadline => {
                let doing = folder
                    .state()
                    .filter(|doing| doing.source == StateSource::Signals);
                return Sent::Queued(match doing.map(|doing| doing.state) {
                    Some(state @ (State::AsksPermission | State::WaitsForInput)) => {
                        format!("the agent {state}")
                    }
                    Some(state) => format!("the agent is {state}"),
                    None => "the agent has not taken it yet".to_owned(),
                });
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
