//! What an agent says of itself: `orange signal` appends it to the run's folder, and its state follows from it.

use super::{RunFolder, open_asks};
use crate::error::{IoContext, Result};
use crate::store::private;
use orange_core::choice;
pub use orange_core::runs::State;
use orange_core::usage::Usage;
use orange_core::{Text, Timestamp, text};
use serde::{Deserialize, Serialize};
use std::fs::{self, TryLockError};
use std::io::{self, Write};
use std::time::{Duration, Instant};

choice! {
    /// The signals that every harness gives in one way or another.
    pub enum SignalKind ("signal") {
        /// It is there, and its conversation has a name.
        SessionStarted = "session-started",
        PromptTaken = "prompt-taken",
        /// It goes on: a question was answered, a tool runs.
        Working = "working",
        TurnDone = "turn-done",
        /// The model's service said no.
        TurnFailed = "turn-failed",
        /// Somebody stopped the turn.
        Interrupted = "interrupted",
        PermissionAsked = "permission-asked",
        /// It wants an answer before it goes on.
        InputAsked = "input-asked",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    pub at: Timestamp,
    pub signal: SignalKind,
    /// The prompt that was taken, the last line of a turn, what permission is asked for, what failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The message of ours that was taken, where the harness knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The harness's name for the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Where it keeps the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// What kind of failure it was, in the harness's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The question that is asked, or that is over now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// When a usage limit ends.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "sensible"
    )]
    pub until: Option<Timestamp>,
    /// The mark of the Review section when a turn was over; what differs from it was written later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
}

/// A time that is none, or years away, must not take the signal with it.
fn sensible<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Timestamp>, D::Error> {
    const LONGEST: Duration = Duration::from_secs(400 * 24 * 60 * 60);
    let said = serde_json::Value::deserialize(from)?;
    let until = said
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    Ok(until.filter(|until| *until <= Timestamp::now() + LONGEST))
}

impl Signal {
    pub fn now(signal: SignalKind) -> Signal {
        Signal {
            at: Timestamp::now(),
            signal,
            text: String::new(),
            message: None,
            conversation: None,
            transcript: None,
            error: None,
            question: None,
            until: None,
            review: None,
        }
    }
}

choice! {
    /// How a state is known.
    pub enum StateSource ("source of a state") {
        Signals = "signals",
        /// Nothing but its window tells of it.
        Screen = "screen",
    }
}

/// What an agent is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doing {
    pub state: State,
    pub since: Timestamp,
    /// When a usage limit ends.
    pub until: Option<Timestamp>,
    /// When it is told to go on after a failure.
    pub again: Option<Timestamp>,
    pub source: StateSource,
    /// What it said of it: the failure, the question.
    pub text: String,
}

impl Doing {
    /// The same of an agent of which something, or nothing, is expected where its task stands.
    #[must_use]
    pub fn expected(mut self, expected: bool) -> Doing {
        if self.state == State::Idle && !expected {
            self.state = State::Finished;
        }
        self
    }

    /// In a few words: `waiting until 14:05 (usage limit)`.
    pub fn words(&self) -> Text {
        match (self.state, self.until, self.again) {
            (State::Waiting, Some(until), _) => text!("waiting until {} (usage limit)", until),
            (State::Failed, _, Some(again)) => text!("failed, goes on at {}", again),
            (state, _, _) => state.as_str().into(),
        }
    }
}

/// When a run is to be looked at again, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    pub at: Timestamp,
    pub reason: DueFor,
}

choice! {
    pub enum DueFor ("reason to look") {
        /// It should have begun by then.
        Start = "start",
        /// It is told to go on.
        GoOn = "go on",
    }
}

const DUE: &str = "due.json";
const USAGE: &str = "usage.json";

/// How long others may take to add a signal.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer texts are of no use to anybody who reads signals.
const LONGEST_TEXT: usize = 512 * 1024;

impl RunFolder {
    /// Adds a signal, and wakes `run-agent` to look at it.
    pub fn give_signal(&self, signal: &Signal) -> Result<()> {
        self.signal(signal).doing("write", self.path())?;
        self.wake();
        Ok(())
    }

    /// Adds a signal with one write, so that two at once stay two lines.
    pub fn signal(&self, signal: &Signal) -> io::Result<()> {
        self.add_signal(|_| Some(signal.clone()))
    }

    /// Adds the signal that follows from those so far, if one does; no other signal comes in between.
    pub fn add_signal(&self, follows: impl Fn(&[Signal]) -> Option<Signal>) -> io::Result<()> {
        if follows(&self.signals()).is_none() {
            return Ok(());
        }
        let mut file = private::options()
            .create(true)
            .append(true)
            .open(self.path.join("signals.jsonl"))?;
        // A signal that is lost is worse than two that cross, where files cannot be locked or somebody keeps the lock.
        let deadline = Instant::now() + LOCK_TIMEOUT;
        while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        let signals = self.signals();
        let Some(mut signal) = follows(&signals) else {
            return Ok(());
        };
        let goes_on = signal.signal == SignalKind::Working && signal.question.is_none();
        if goes_on && !is_news_that_it_works(&signals) {
            return Ok(());
        }
        if signal.text.len() > LONGEST_TEXT {
            let is_end = |at: &usize| signal.text.is_char_boundary(*at);
            let cut = (0..=LONGEST_TEXT).rev().find(is_end).unwrap_or_default();
            signal.text.truncate(cut);
        }
        if signal.signal == SignalKind::TurnDone {
            signal.review = self.spec().and_then(|spec| self.review_now(&spec));
        }
        let mut line = serde_json::to_vec(&signal).unwrap_or_default();
        line.push(b'\n');
        file.write_all(&line)
    }

    /// Wakes its `run-agent`, which would look by itself a little later.
    pub fn wake(&self) {
        // After its end the number is that of the user's shell.
        if let Some(started) = self.started().filter(|_| self.is_alive()) {
            started.process.signal(rustix::process::Signal::USR1);
        }
    }

    /// All signals so far; a line that is cut short is left out.
    pub fn signals(&self) -> Vec<Signal> {
        let text = fs::read(self.path.join("signals.jsonl")).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    /// What the agent is doing; None before it is started.
    pub fn state(&self) -> Option<Doing> {
        let spec = self.spec()?;
        let began = self.started()?.at;
        if !spec.adapter.gives_signals() {
            return Some(plainly(State::Running, began, StateSource::Screen));
        }
        let signals = self.signals();
        if let Some(ask) = open_asks(&signals).last() {
            return Some(self.doing(ask));
        }
        let had_prompt = |signal: &Signal| signal.signal == SignalKind::PromptTaken;
        Some(match signals.last() {
            // A person began another conversation in the window: it waits for its first prompt.
            Some(last)
                if last.signal == SignalKind::SessionStarted && signals.iter().any(had_prompt) =>
            {
                plainly(State::WaitsForInput, last.at, StateSource::Signals)
            }
            Some(last) => self.doing(last),
            None => plainly(State::Starting, began, StateSource::Signals),
        })
    }

    /// Whether the agent has done nothing since a time, and wrote no review with this mark before: its turn was over by
    /// then, or what it left at the end of its turn is not that review.
    pub fn was_quiet_since(&self, time: Timestamp, mark: Option<&str>) -> bool {
        let quiet = [State::Idle, State::Finished, State::Failed, State::Waiting];
        let Some(doing) = self.state().filter(|doing| quiet.contains(&doing.state)) else {
            return false;
        };
        let last = self.signals().pop();
        let left = last.filter(|last| last.signal == SignalKind::TurnDone);
        doing.since <= time || left.is_some_and(|left| left.review.as_deref() != mark)
    }

    /// What an agent does that signalled this last.
    pub fn doing(&self, last: &Signal) -> Doing {
        let state = match (state_after(last.signal), last.until) {
            (State::Failed, Some(until)) if until > last.at => State::Waiting,
            (state, _) => state,
        };
        let due = self.due().filter(|due| due.reason == DueFor::GoOn);
        Doing {
            until: last.until.filter(|_| state == State::Waiting),
            again: due.filter(|_| state == State::Failed).map(|due| due.at),
            text: last.text.clone(),
            ..plainly(state, last.at, StateSource::Signals)
        }
    }

    /// Its `run-agent` has somebody look at it then.
    pub fn note_due(&self, due: Due) -> Result<()> {
        self.put(DUE, &due)
    }

    pub fn due(&self) -> Option<Due> {
        self.get(DUE)
    }

    pub fn forget_due(&self) {
        let _ = fs::remove_file(self.path.join(DUE));
    }

    /// The conversation as the agent last named it, and where it is kept.
    pub fn conversation(&self) -> (Option<String>, Option<String>) {
        let signals = self.signals();
        let started = signals
            .into_iter()
            .rfind(|signal| signal.signal == SignalKind::SessionStarted);
        match started {
            Some(started) => (started.conversation, started.transcript),
            None => (None, None),
        }
    }

    /// What the conversation has used so far.
    pub fn usage(&self) -> Option<Usage> {
        self.get(USAGE)
    }

    pub fn note_usage(&self, usage: &Usage) -> Result<()> {
        self.put(USAGE, usage)
    }
}

/// A tool that runs is no news to somebody who knows that the agent is at work. And while it asks for one tool, another may
/// run.
fn is_news_that_it_works(signals: &[Signal]) -> bool {
    let last = signals.last().map(|last| state_after(last.signal));
    let mut asks = open_asks(signals).into_iter();
    last != Some(State::Working) && asks.all(|ask| ask.question.is_none())
}

fn plainly(state: State, since: Timestamp, source: StateSource) -> Doing {
    Doing {
        state,
        since,
        until: None,
        again: None,
        source,
        text: String::new(),
    }
}

pub fn state_after(signal: SignalKind) -> State {
    match signal {
        SignalKind::SessionStarted => State::Starting,
        SignalKind::PromptTaken | SignalKind::Working => State::Working,
        SignalKind::PermissionAsked => State::AsksPermission,
        SignalKind::InputAsked | SignalKind::Interrupted => State::WaitsForInput,
        SignalKind::TurnDone => State::Idle,
        SignalKind::TurnFailed => State::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hook reports that a turn failed while `run-agent`, which has not seen that yet, takes the turn for interrupted: the
    /// failure must not be followed by that, because it would be passed over.
    #[test]
    fn no_signal_comes_between_another_one_and_those_it_follows_from() {
        const ROUNDS: usize = 100;
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(place.path(), "run");
        fs::create_dir_all(folder.path()).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let failed = Signal::now(SignalKind::TurnFailed);
                    folder.signal(&failed).unwrap();
                    let taken = Signal::now(SignalKind::PromptTaken);
                    folder.signal(&taken).unwrap();
                }
            });
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let works = |last: &&Signal| state_after(last.signal) == State::Working;
                    let interrupted = |_: &Signal| Signal::now(SignalKind::Interrupted);
                    folder
                        .add_signal(|signals| signals.last().filter(works).map(interrupted))
                        .unwrap();
                }
            });
        });
        let signals = folder.signals();
        let follows = |two: &&[Signal]| {
            two[0].signal == SignalKind::TurnFailed && two[1].signal == SignalKind::Interrupted
        };
        assert_eq!(signals.windows(2).filter(follows).count(), 0);
        let failed = |signal: &&Signal| signal.signal == SignalKind::TurnFailed;
        assert_eq!(signals.iter().filter(failed).count(), ROUNDS);
    }

    #[test]
    fn a_nonsense_time_does_not_take_the_signal_with_it() {
        let read = |until: &str| -> Signal {
            let line = format!(
                r#"{{"at":"2026-01-01T12:00:00Z","signal":"turn-failed","until":{until}}}"#
            );
            serde_json::from_str(&line).unwrap()
        };
        for nonsense in [
            r#""9999-12-31T23:59:59.000Z""#,
            r#""9999-12-30T22:00:00.999Z""#,
            r#""+160000-01-01T00:00:00.000Z""#,
            r#""soon""#,
            "17",
            "null",
        ] {
            assert_eq!(read(nonsense).until, None, "{nonsense}");
        }
        let soon = read(r#""2026-01-01T14:00:00Z""#);
        assert_eq!(soon.until.unwrap().to_string(), "2026-01-01T14:00:00Z");
    }
}
