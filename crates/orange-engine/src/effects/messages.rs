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
pub(crate) fn tell(
    call: &Call,
    tx: &mut TaskTx<'_>,
    run: &Run,
    by: &str,
    message: Message,
) -> Result<()> {
    let known =
        tx.history().events.iter().any(|event| {
            event.kind == EventType::MessageSent && event.message() == Some(&message.id)
        });
    if !known {
        let event = message_event(call, run, by, &message);
        tx.note(vec![event])?;
    }
    put_in_inbox(call, run, &message)
}

pub(crate) fn message_event(call: &Call, run: &Run, by: &str, message: &Message) -> Event {
    let sent = MessageNote {
        message: Some(&message.id),
        run: Some(&run.id),
        role: Some(run.role),
        text: Some(&message.text),
        ..MessageNote::default()
    };
    Event::of(Payload::MessageSent(sent), call.now()).by(by)
}

pub(crate) fn put_in_inbox(call: &Call, run: &Run, message: &Message) -> Result<()> {
    crash_point("message.journalled");
    let folder = sessions::run_folder(call, &run.id);
    folder.post(message)?;
    folder.wake();
    Ok(())
}

/// Hands over what was journalled by a process that died before it could.
pub(crate) fn resend(call: &Call, tx: &TaskTx<'_>, run: &Run) -> Result<()> {
    let folder = sessions::run_folder(call, &run.id);
    for (id, text) in undelivered(tx.history(), Whose::Run(&run.id)) {
        if !folder.has_message(&id) {
            let message = Message {
                id,
                ..message(call, &text)
            };
            put_in_inbox(call, run, &message)?;
        }
    }
    Ok(())
}

/// Journals what became of a run's messages. Those of a run that is gone were not delivered.
pub(crate) fn note_outcomes(call: &Call, tx: &mut TaskTx<'_>, run: &Run) -> Result<()> {
    let events = outcomes(call, tx.history(), run);
    tx.note(events)
}

/// What there is to journal of a run's messages.
pub(crate) fn outcomes(call: &Call, history: &History, run: &Run) -> Vec<Event> {
    let folder = sessions::run_folder(call, &run.id);
    let alive = folder.is_alive();
    let mut events = Vec::new();
    for (id, _) in undelivered(history, Whose::Run(&run.id)) {
        let outcome = folder.outcome(&id);
        let event = match outcome {
            Some(outcome) if outcome.delivered => {
                Event::new(EventType::MessageDelivered, call.now()).because(outcome.detail)
            }
            Some(outcome) => {
                Event::new(EventType::MessageFailed, call.now()).because(outcome.detail)
            }
            None if alive => continue,
            None => Event::new(EventType::MessageFailed, call.now())
                .because("the agent ended before it took it"),
        };
        let note = MessageNote {
            message: Some(&id),
            run: Some(&run.id),
            ..MessageNote::default()
        };
        let event = event.by("engine").with(note);
        if !is_journalled(history, &event) {
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
    call: &Call,
    tx: &mut TaskTx<'_>,
    run: &Run,
    turn: &str,
    what: impl Into<Text>,
) -> Result<()> {
    let what = (call.spell)(&what.into());
    let note = AttentionNote {
        run: Some(&run.id),
        role: Some(run.role),
        turn: Some(turn),
        ..AttentionNote::default()
    };
    tx.note(vec![attention_event(call, note, what)])
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
        history
            .events
            .iter()
            .any(|event| event.kind == EventType::MessageDelivered && event.message() == Some(id))
    };
    history
        .events
        .iter()
        .filter(|event| event.kind == EventType::MessageSent)
        .filter_map(|event| {
            let sent = MessageNote::of(event)?;
            let is_meant = match whose {
                Whose::Run(run) => sent.run == Some(run),
                Whose::Role(role) => {
                    let to = sent.role.unwrap_or(Role::Worker);
                    event.by.as_deref() == Some("human") && to == role
                }
            };
            let (id, text) = (sent.message?, sent.text?);
            (is_meant && !delivered(id)).then(|| (id.to_owned(), text.to_owned()))
        })
        .collect()
}

fn is_journalled(history: &History, wanted: &Event) -> bool {
    history
        .events
        .iter()
        .any(|event| event.kind == wanted.kind && event.message() == wanted.message())
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
    let line: String = last
        .unwrap_or_default()
        .trim()
        .chars()
        .take(LONGEST_LINE)
        .collect();
    line
}
