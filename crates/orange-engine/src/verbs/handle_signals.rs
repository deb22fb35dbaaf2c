//! What agents signalled: turns that are over, messages that arrived, states to note. Called by run-agent's background command.

use crate::call::Call;
use crate::effects::messages::{self, one_line};
use crate::effects::{budget, failures};
use crate::error::Result;
use crate::prompt;
use crate::runs::{RunSpec, Signal, SignalKind};
use crate::tx::TaskTx;
use crate::verbs::answer;
use crate::{sessions, settings, started_by};
use orange_core::exit::is_expected;
use orange_core::history::payload::AgentNudged;
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::prompt::{PromptName, missing};
use orange_core::runs::{Run, open_runs};
use orange_core::verification::deferred;

/// Sees to a live run: what became of its messages, and a turn that ended without what is owed. The last
/// signal is one from before TASK.md was read: what an agent wrote in the turn that it ends must be seen.
fn handle_signals_of(tx: &mut TaskTx<'_>, run: &Run, last: Option<&Signal>) -> Result<()> {
    let call = tx.call;
    messages::note_outcomes(tx, run)?;
    if answer::journal_questions(tx, run)? {
        // It goes on, and nobody was asked.
        return Ok(());
    }
    let folder = sessions::run_folder(call, &run.id);
    // Another one since: it goes on, or somebody else is on the way to see to that.
    if folder.signals().last() != last {
        return Ok(());
    }
    let Some(last) = last.filter(|last| last.signal != SignalKind::SessionStarted) else {
        return failures::check_start(tx, run);
    };
    if last.signal != SignalKind::TurnFailed {
        folder.forget_due();
    }
    failures::note_state(tx, run, last)?;
    let turn = last.at.to_string();
    let is_failure = last.signal == SignalKind::TurnFailed;
    if !folder.waiting().is_empty() || !is_failure && messages::is_handled(tx, &turn) {
        return Ok(());
    }
    match last.signal {
        SignalKind::TurnFailed => failures::turn_failed(tx, run, last),
        SignalKind::TurnDone => turn_done(tx, run, &turn, &one_line(&last.text)),
        // What is asked is told of above.
        _ => Ok(()),
    }
}

/// One nudge, then a person.
fn turn_done(tx: &mut TaskTx<'_>, run: &Run, turn: &str, said: &str) -> Result<()> {
    let call = tx.call;
    if !is_expected(tx.task.status, run.role) {
        return Ok(());
    }
    if deferred(tx.history()).is_some() {
        // It has said what it had to say; the check is waited for.
        return Ok(());
    }
    let max_rounds = settings::max_rounds(call, &tx.task)?;
    let Some(owed) = missing(&tx.task, &tx.body, max_rounds) else {
        return Ok(());
    };
    if nudges(tx.history(), run) == 0 {
        let owed = owed.for_agent();
        let text = prompt::prompt_for(call, &tx.task, PromptName::Nudge, "", &owed)?;
        let nudge = AgentNudged {
            run: Some(&run.id),
            role: Some(run.role),
            turn: Some(turn),
        };
        let event = Event::of(Payload::AgentNudged(nudge), call.now())
            .by("engine")
            .because(owed);
        let message = messages::message(call, &text);
        // Both at once: a nudge that is counted is one that is sent.
        let sent = messages::message_event(call, run, "engine", &message);
        tx.note(vec![event, sent])?;
        return messages::put_in_inbox(call, run, &message);
    }
    let owed = owed.for_person();
    let words = match said {
        "" => String::new(),
        said => format!("; its last output: {said}"),
    };
    messages::raise_attention(
        tx,
        run,
        turn,
        format!("its {} has stopped: {owed}{words}", run.role),
    )
}

/// An errand of a run's `run-agent`: sees to what has happened to the run, in a process that does nothing else.
pub fn tend(call: &Call, run: &str) -> Result<()> {
    match sessions::run_folder(call, run).spec() {
        Some(spec) => see_to(&started_by::inherit_here(call, &spec.task), run, &spec),
        None => Ok(()),
    }
}

/// The same in a process that does other things too.
pub(crate) fn handle_signals(call: &Call, run: &str) -> Result<()> {
    let Some(spec) = sessions::run_folder(call, run).spec() else {
        return Ok(());
    };
    let (this, _given) = started_by::inherit_in_thread(call, &spec.task);
    see_to(&this, run, &spec)
}

fn see_to(this: &Call, run: &str, spec: &RunSpec) -> Result<()> {
    let folder = sessions::run_folder(this, run);
    let place = this.store.place(&spec.folder);
    let signals = folder.signals();
    // Opening it judges the runs that are gone.
    let mut tx = messages::lock_with_retry(this, place)?;
    let open = open_runs(tx.history());
    if let Some(open) = open.iter().find(|open| open.id == run) {
        handle_signals_of(&mut tx, open, signals.last())?;
    }
    budget::tell_of_runs(this, &tx.task, tx.history());
    let forgotten = tx.forget_run(run);
    tx.commit(Vec::new()).and(forgotten)
}

/// Nudges of a run since the task entered its status.
fn nudges(history: &History, run: &Run) -> usize {
    let newest_first = history.events.iter().rev();
    let here = newest_first.take_while(|event| !event.is_move());
    here.filter(|event| event.kind == EventType::AgentNudged && event.run() == Some(&run.id))
        .count()
}
