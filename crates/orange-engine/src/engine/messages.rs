//! Telling agents something: journalled first, then handed to the run, whose `run-agent` types it. What could not
//! be delivered stays in the journal and goes into the prompt of the next run.

use super::Engine;
use crate::error::{Code, Error, Result};
use crate::prompt::PromptExtra;
use crate::runs::{Message, RunFolder, Signal, SignalKind, Source, State};
use crate::store::Place;
use crate::tx::TaskTx;
use orange_core::exit::is_expected;
use orange_core::history::payload::{AgentNudged, AttentionNote, MessageNote};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::prompt::{PromptName, missing};
use orange_core::runs::{Run, open_runs};
use orange_core::task::Task;
use orange_core::verification::deferred;
use orange_core::workflow::Role;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use std::time::{Duration, Instant};

/// The longest message that is handed on.
const LONGEST: usize = 256 * 1024;

/// What became of a message, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    Delivered(String),
    /// It is kept, and typed as soon as the agent takes it; why not now.
    Queued(String),
    Failed(String),
}

impl Engine {
    /// Tells a task's agent something, and waits a moment for what becomes of it.
    pub fn send(
        &self,
        place: Place,
        role: Role,
        text: &str,
        interrupt: bool,
        patience: Duration,
    ) -> Result<(Task, Sent)> {
        self.people_only("send messages")?;
        if text.trim().is_empty() {
            return Err(
                Error::new(Code::Usage, "an empty message tells nobody anything")
                    .hint("give it as an argument, or with - on standard input"),
            );
        }
        if text.len() > LONGEST {
            return Err(Error::new(
                Code::Usage,
                format!(
                    "the message has {} KB, at most 256 KB fit",
                    text.len() / 1024
                ),
            )
            .hint("put it into a file of the worktree and name the file"));
        }
        let mut tx = self.lock_task(place)?;
        let label = tx.task.label();
        let Some(run) = self.live_run(tx.history(), role) else {
            return Err(Error::new(
                Code::ConditionUnmet,
                format!("no {role} of {label} is running"),
            )
            .hint(match tx.task.status {
                status if !status.has_started() => {
                    text!("start it first: {}", Action::spawn(label, false))
                }
                status if status.is_terminal() => text!(
                    "{label} is {status}; a new task starts again from it: {}",
                    Action::create_from(label, false, None)
                ),
                _ => text!(
                    "start one with the message: {}",
                    Action::respawn(label, true)
                ),
            }));
        };
        self.refuse_deleted_workspace(&tx, role)?;
        let folder = self.run_folder(&run.id);
        if self.is_one_shot(&run) {
            return Err(Error::new(
                Code::ConditionUnmet,
                format!(
                    "harness {} works once through and takes no messages",
                    run.harness
                ),
            )
            .hint("wait for its end, or cancel it"));
        }
        let by = self.caller_name();
        let mut message = self.message(text);
        message.interrupt = interrupt;
        let id = message.id.clone();
        self.tell(&mut tx, &run, &by, message)?;
        let task = tx.commit(Vec::new())?.task;
        Ok((task, wait_for(&folder, &id, patience)))
    }

    /// An agent whose folder was deleted cannot do anything about a message.
    fn refuse_deleted_workspace(&self, tx: &TaskTx<'_>, role: Role) -> Result<()> {
        let lost = self.lost_workspace(&tx.task, tx.history());
        if lost.is_none() && !self.runs_in_deleted_folder(tx.history(), role) {
            return Ok(());
        }
        let label = tx.task.label();
        Err(Error::new(
            Code::ConditionUnmet,
            format!(
                "the message was not sent: the {role} of {label} runs in a workspace that was deleted"
            ),
        )
        .hint(text!(
            "{} checks the branch out again; then quit the {role} ({}) and start it with the message: {}",
            Action::repair(),
            Action::attach(&label),
            Action::respawn(&label, true)
        )))
    }

    /// A message with an id of its own.
    pub(crate) fn message(&self, text: &str) -> Message {
        Message {
            id: nanoid::nanoid!(12, &orange_core::id::ID_ALPHABET),
            at: self.now(),
            text: typeable(text),
            interrupt: false,
        }
    }

    /// Journals a message and hands it to a run. The same id again changes nothing.
    pub(crate) fn tell(
        &self,
        tx: &mut TaskTx<'_>,
        run: &Run,
        by: &str,
        message: Message,
    ) -> Result<()> {
        let known = tx.history().events.iter().any(|event| {
            event.kind == EventType::MessageSent && event.message() == Some(&message.id)
        });
        if !known {
            let event = self.message_event(run, by, &message);
            tx.note(vec![event])?;
        }
        self.hand_to(run, &message)
    }

    pub(super) fn message_event(&self, run: &Run, by: &str, message: &Message) -> Event {
        let sent = MessageNote {
            message: Some(&message.id),
            run: Some(&run.id),
            role: Some(run.role),
            text: Some(&message.text),
            ..MessageNote::default()
        };
        Event::of(Payload::MessageSent(sent), self.now()).by(by)
    }

    pub(super) fn hand_to(&self, run: &Run, message: &Message) -> Result<()> {
        crash_point("message.journalled");
        let folder = self.run_folder(&run.id);
        folder.post(message)?;
        folder.wake();
        Ok(())
    }

    /// Hands over what was journalled by a process that died before it could.
    pub(crate) fn post_again(&self, tx: &TaskTx<'_>, run: &Run) -> Result<()> {
        let folder = self.run_folder(&run.id);
        for (id, text) in undelivered(tx.history(), Whose::Run(&run.id)) {
            if !folder.has_message(&id) {
                let message = Message {
                    id,
                    ..self.message(&text)
                };
                self.hand_to(run, &message)?;
            }
        }
        Ok(())
    }

    /// Journals what became of a run's messages. Those of a run that is gone were not delivered.
    pub(crate) fn note_outcomes(&self, tx: &mut TaskTx<'_>, run: &Run) -> Result<()> {
        let events = self.outcomes(tx.history(), run);
        tx.note(events)
    }

    /// What there is to journal of a run's messages.
    pub(crate) fn outcomes(&self, history: &History, run: &Run) -> Vec<Event> {
        let folder = self.run_folder(&run.id);
        let alive = folder.is_alive();
        let mut events = Vec::new();
        for (id, _) in undelivered(history, Whose::Run(&run.id)) {
            let outcome = folder.outcome(&id);
            let event = match outcome {
                Some(outcome) if outcome.delivered => {
                    Event::new(EventType::MessageDelivered, self.now()).because(outcome.detail)
                }
                Some(outcome) => {
                    Event::new(EventType::MessageFailed, self.now()).because(outcome.detail)
                }
                None if alive => continue,
                None => Event::new(EventType::MessageFailed, self.now())
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

    /// Sees to a live run: what became of its messages, and a turn that ended without what is owed. The last
    /// signal is one from before TASK.md was read: what an agent wrote in the turn that it ends must be seen.
    fn see_to(&self, tx: &mut TaskTx<'_>, run: &Run, last: Option<&Signal>) -> Result<()> {
        self.note_outcomes(tx, run)?;
        self.see_to_questions(tx, run)?;
        let folder = self.run_folder(&run.id);
        // Another one since: it goes on, or somebody else is on the way to see to that.
        if folder.signals().last() != last {
            return Ok(());
        }
        let Some(last) = last.filter(|last| last.signal != SignalKind::SessionStarted) else {
            return self.see_to_start(tx, run);
        };
        if last.signal != SignalKind::TurnFailed {
            folder.forget_due();
        }
        self.note_state(tx, run, last)?;
        let turn = last.at.to_string();
        if !folder.waiting().is_empty() || self.was_seen_to(tx, &turn) {
            return Ok(());
        }
        match last.signal {
            SignalKind::SessionStarted
            | SignalKind::PromptTaken
            | SignalKind::Working
            | SignalKind::Interrupted
            // Told of with all that is asked.
            | SignalKind::InputAsked
            | SignalKind::PermissionAsked => Ok(()),
            SignalKind::TurnFailed => self.turn_failed(tx, run, last),
            SignalKind::TurnDone => self.turn_done(tx, run, &turn, &one_line(&last.text)),
        }
    }

    pub(super) fn was_seen_to(&self, tx: &TaskTx<'_>, turn: &str) -> bool {
        let mut events = tx.history().events.iter().rev();
        events.any(|event| event.turn() == Some(turn))
    }

    /// One nudge, then a person.
    fn turn_done(&self, tx: &mut TaskTx<'_>, run: &Run, turn: &str, said: &str) -> Result<()> {
        if !is_expected(tx.task.status, run.role) {
            return Ok(());
        }
        if deferred(tx.history()).is_some() {
            // It has said what it had to say; the check is waited for.
            return Ok(());
        }
        let max_rounds = self.max_rounds(&tx.task)?;
        let Some(owed) = missing(&tx.task, &tx.body, max_rounds) else {
            return Ok(());
        };
        if nudges(tx.history(), run) == 0 {
            let extra = PromptExtra {
                missing: owed.clone(),
                ..PromptExtra::default()
            };
            let text = self.prompt_for(&tx.task, PromptName::Nudge, &extra)?;
            let nudge = AgentNudged {
                run: Some(&run.id),
                role: Some(run.role),
                turn: Some(turn),
            };
            let event = Event::of(Payload::AgentNudged(nudge), self.now())
                .by("engine")
                .because(owed);
            let message = self.message(&text);
            // Both at once: a nudge that is counted is one that is sent.
            let sent = self.message_event(run, "engine", &message);
            tx.note(vec![event, sent])?;
            return self.hand_to(run, &message);
        }
        let owed = owed.lines().next().unwrap_or_default();
        let owed = owed.strip_prefix("What is missing: ").unwrap_or(owed);
        let owed = owed.trim_end_matches('.');
        let words = match said {
            "" => String::new(),
            said => format!("; its last output: {said}"),
        };
        self.raise(
            tx,
            run,
            turn,
            format!("its {} has stopped: {owed}{words}", run.role),
        )
    }

    pub(super) fn raise(
        &self,
        tx: &mut TaskTx<'_>,
        run: &Run,
        turn: &str,
        what: String,
    ) -> Result<()> {
        let note = AttentionNote {
            run: Some(&run.id),
            role: Some(run.role),
            turn: Some(turn),
            ..AttentionNote::default()
        };
        tx.note(vec![self.attention_event(note, what)])
    }

    /// Asks a person to look at something.
    pub(crate) fn attention_event(&self, note: AttentionNote<'_>, what: String) -> Event {
        Event::of(Payload::AttentionRaised(note), self.now())
            .by("engine")
            .because(what)
    }

    /// Nobody else may come to see to it, so a task that is busy is waited for, as long as its owner may take.
    pub(crate) fn lock_patiently(&self, place: Place) -> Result<TaskTx<'_>> {
        const MOST_TRIES: usize = 20;
        for _ in 1..MOST_TRIES {
            match self.lock_task(place.clone()) {
                Err(error) if error.code == Code::Busy => {}
                outcome => return outcome,
            }
        }
        self.lock_task(place)
    }

    /// An errand of a run's `run-agent`: sees to what has happened to the run.
    pub fn tend(&self, run: &str) -> Result<()> {
        let folder = self.run_folder(run);
        let Some(spec) = folder.spec() else {
            return Ok(());
        };
        let this = &self.as_started(&spec.task);
        let place = this.store.place(&spec.folder);
        let signals = folder.signals();
        // Opening it judges the runs that are gone.
        let mut tx = this.lock_patiently(place)?;
        let open = open_runs(tx.history());
        if let Some(open) = open.iter().find(|open| open.id == run) {
            this.see_to(&mut tx, open, signals.last())?;
        }
        let forgotten = tx.forget_run(run);
        tx.commit(Vec::new()).and(forgotten)
    }
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

/// Nudges of a run since the task entered its status.
fn nudges(history: &History, run: &Run) -> usize {
    let since = history
        .events
        .iter()
        .rposition(|event| event.kind == EventType::StatusChanged)
        .unwrap_or(0);
    let later = history.events.iter().skip(since);
    later
        .filter(|event| event.kind == EventType::AgentNudged)
        .filter(|event| event.run() == Some(&run.id))
        .count()
}

fn wait_for(folder: &RunFolder, id: &str, patience: Duration) -> Sent {
    let deadline = Instant::now() + patience;
    loop {
        match folder.outcome(id) {
            Some(outcome) if outcome.delivered => return Sent::Delivered(outcome.detail),
            Some(outcome) => return Sent::Failed(outcome.detail),
            None if !folder.is_alive() => {
                return Sent::Failed("the agent ended before it took it".into());
            }
            None if Instant::now() >= deadline => {
                let doing = folder
                    .state()
                    .filter(|doing| doing.source == Source::Signals);
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

/// Without anything that a terminal would take for a key: pasted text could end its own brackets.
fn typeable(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_text = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(is_text).collect()
}

/// All of it in one line, or its beginning: of what somebody is to allow, the last line alone says the wrong thing.
pub(super) fn in_one_line(text: &str) -> String {
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
