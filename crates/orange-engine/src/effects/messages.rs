//! Telling agents something: journalled first, then handed to the run, whose `run-agent` types it. What could not
//! be delivered stays in the journal and goes into the prompt of the next run.

use crate::call::Call;
use crate::error::{Code, Result};
use crate::runs::Message;
use crate::sessions;
use crate::store::Place;
use crate::tx::{self, TaskTx};
use orange_core::Text;
use orange_core::history::payload::{AttentionNote, MessageNote};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::runs::Run;
use orange_core::workflow::Role;
use orange_sys::crash_points::crash_point;

/// The longest message that is handed on.
pub(crate) const LONGEST: usize = 256 * 1024;

/// Why a message was not delivered to an agent that is gone.
pub(crate) const ENDED_BEFORE: &str = "the agent ended before it took it";

/// A message with an id of its own.
pub(crate) fn message(call: &Call, text: &str) -> Message {
    Message {
        id: nanoid::nanoid!(12, &orange_core::id::ID_ALPHABET),
        at: call.now(),
        text: typeable(text),
        interrupt: false,
    }
}

/// Journals a message and hands it to a run. The same id again changes nothing.
pub(crate) fn tell(tx: &mut TaskTx<'_>, run: &Run, by: &str, message: Message) -> Result<()> {
    let known = tx
        .history()
        .events
        .iter()
        .any(|event| event.kind.is_message() && event.message() == Some(&message.id));
    if !known {
        let event = message_event(tx.call, run, by, &message);
        tx.note(vec![event])?;
    }
    put_in_inbox(tx.call, run, &message)
}

pub(crate) fn message_event(call: &Call, run: &Run, by: &str, message: &Message) -> Event {
    let sent = MessageNote {
        message: Some(&message.id),
        run: Some(&run.id),
        role: Some(run.role),
        content: Some(&message.text),
        ..MessageNote::default()
    };
    Event::of(Payload::Message(sent), call.now()).by(by)
}

pub(crate) fn put_in_inbox(call: &Call, run: &Run, message: &Message) -> Result<()> {
    crash_point("message.journalled");
    let folder = sessions::run_folder(call, &run.id);
    folder.post(message)?;
    folder.wake();
    Ok(())
}

/// Hands over what was journalled by a process that died before it could.
pub(crate) fn resend(tx: &TaskTx<'_>, run: &Run) -> Result<()> {
    let folder = sessions::run_folder(tx.call, &run.id);
    for (id, text) in undelivered(tx.history(), Whose::Run(&run.id)) {
        if !folder.has_message(&id) {
            let message = Message {
                id,
                ..message(tx.call, &text)
            };
            put_in_inbox(tx.call, run, &message)?;
        }
    }
    Ok(())
}

/// Journals what became of a run's messages. Those of a run that is gone were not delivered.
pub(crate) fn note_outcomes(tx: &mut TaskTx<'_>, run: &Run) -> Result<()> {
    let events = outcomes(tx.call, tx.history(), run);
    tx.note(events)
}

/// What there is to journal of a run's messages.
pub(crate) fn outcomes(call: &Call, history: &History, run: &Run) -> Vec<Event> {
    let folder = sessions::run_folder(call, &run.id);
    let alive = folder.is_alive();
    let mut events = Vec::new();
    for (id, _) in undelivered(history, Whose::Run(&run.id)) {
        let (kind, detail) = match folder.outcome(&id) {
            Some(outcome) if outcome.delivered => (EventType::MessageDelivered, outcome.detail),
            Some(outcome) => (EventType::MessageFailed, outcome.detail),
            None if alive => continue,
            None => (EventType::MessageFailed, ENDED_BEFORE.to_owned()),
        };
        let note = MessageNote {
            message: Some(&id),
            run: Some(&run.id),
            ..MessageNote::default()
        };
        let event = Event::new(kind, call.now()).because(detail);
        let event = event.by("engine").with(note);
        let mut known = history.events.iter();
        if !known.any(|known| known.kind == event.kind && known.message() == event.message()) {
            events.push(event);
        }
    }
    events
}

pub(crate) fn is_handled(tx: &TaskTx<'_>, turn: &str) -> bool {
    let mut events = tx.history().events.iter().rev();
    events.any(|event| event.turn() == Some(turn))
}

pub(crate) fn raise_attention(
    tx: &mut TaskTx<'_>,
    run: &Run,
    turn: &str,
    what: impl Into<Text>,
) -> Result<()> {
    let what = (tx.call.spell)(&what.into());
    let note = AttentionNote {
        run: Some(&run.id),
        role: Some(run.role),
        turn: Some(turn),
        ..AttentionNote::default()
    };
    tx.note(vec![attention_event(tx.call, note, what)])
}

/// Asks a person to look at something.
pub(crate) fn attention_event(call: &Call, note: AttentionNote<'_>, what: String) -> Event {
    Event::of(Payload::AttentionRaised(note), call.now())
        .by("engine")
        .because(what)
}

/// Nobody else may come to see to it, so a task that is busy is waited for, as long as its owner may take.
pub(crate) fn lock_with_retry(call: &Call, place: Place) -> Result<TaskTx<'_>> {
    const MOST_TRIES: usize = 20;
    for _ in 1..MOST_TRIES {
        match tx::lock_task(call, place.clone()) {
            Err(error) if error.code == Code::Busy => {}
            outcome => return outcome,
        }
    }
    tx::lock_task(call, place)
}

/// Whose messages are meant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whose<'a> {
    /// All that were handed to one run.
    Run(&'a str),
    /// Those of people to any run of a role.
    Role(Role),
}

/// Messages that nobody knows to have arrived; id and text.
pub(crate) fn undelivered(history: &History, whose: Whose<'_>) -> Vec<(String, String)> {
    let delivered = |id: &str| {
        let is_delivery = |event: &Event| event.kind == EventType::MessageDelivered;
        let mut events = history.events.iter();
        events.any(|event| is_delivery(event) && event.message() == Some(id))
    };
    let told = history
        .events
        .iter()
        .filter(|event| event.kind.is_message());
    let open = told.filter_map(|event| {
        let sent = MessageNote::of(event)?;
        let is_meant = match whose {
            Whose::Run(run) => sent.run == Some(run),
            Whose::Role(role) => {
                let to = sent.role.unwrap_or(Role::Worker);
                event.by.as_deref() == Some("human") && to == role
            }
        };
        let (id, text) = (sent.message?, sent.words()?);
        (is_meant && !delivered(id)).then(|| (id.to_owned(), text.to_owned()))
    });
    open.collect()
}

/// Without anything that a terminal would take for a key: pasted text could end its own brackets.
fn typeable(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_text = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(is_text).collect()
}

/// All of it in one line, or its beginning: of what somebody is to allow, the last line alone says the wrong thing.
pub(crate) fn in_one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let whole = lines.collect::<Vec<_>>().join(" ⏎ ");
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", whole.get(..end).unwrap_or_default()),
        None => whole,
    }
}

pub(crate) fn one_line(text: &str) -> String {
    const LONGEST_LINE: usize = 200;
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let line = last.unwrap_or_default().trim();
    line.chars().take(LONGEST_LINE).collect()
}
