//! What an agent says of itself: `orange signal` appends it to the run's folder, and its state follows from it.

use super::RunFolder;
use crate::error::Result;
use orange_core::Timestamp;
use orange_core::choice;
use orange_core::usage::Usage;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};

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
    /// When a usage limit ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
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
            until: None,
        }
    }
}

choice! {
    /// What an agent is doing, by its own account.
    pub enum State ("state of an agent") {
        Starting = "starting",
        Working = "working",
        AsksPermission = "asks permission",
        WaitsForInput = "waits for input",
        Idle = "idle",
        Failed = "failed",
    }
}

const USAGE: &str = "usage.json";

/// Longer texts are of no use to anybody who reads signals.
const LONGEST_TEXT: usize = 512 * 1024;

impl RunFolder {
    /// Adds a signal with one write, so that two at once stay two lines.
    pub fn signal(&self, signal: &Signal) -> io::Result<()> {
        let mut signal = signal.clone();
        if signal.signal == SignalKind::Working && self.is_working() {
            return Ok(());
        }
        if signal.text.len() > LONGEST_TEXT {
            let is_end = |at: &usize| signal.text.is_char_boundary(*at);
            let cut = (0..=LONGEST_TEXT).rev().find(is_end).unwrap_or_default();
            signal.text.truncate(cut);
        }
        let mut line = serde_json::to_vec(&signal).unwrap_or_default();
        line.push(b'\n');
        let file = File::options()
            .create(true)
            .append(true)
            .open(self.path.join("signals.jsonl"));
        file?.write_all(&line)
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

    /// What the agent is doing, and since when; None where it gives no signals.
    pub fn state(&self) -> Option<(State, Timestamp)> {
        let spec = self.spec()?;
        if !spec.adapter.gives_signals() {
            return None;
        }
        match self.signals().last() {
            Some(last) => Some((state_after(last.signal), last.at)),
            None => Some((State::Starting, self.started()?.at)),
        }
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

    /// A tool that runs is no news to somebody who knows that the agent is at work.
    fn is_working(&self) -> bool {
        let signals = self.signals();
        let last = signals.last().map(|last| state_after(last.signal));
        last == Some(State::Working)
    }
}

pub(crate) fn state_after(signal: SignalKind) -> State {
    match signal {
        SignalKind::SessionStarted => State::Starting,
        SignalKind::PromptTaken | SignalKind::Working => State::Working,
        SignalKind::PermissionAsked => State::AsksPermission,
        SignalKind::InputAsked | SignalKind::Interrupted => State::WaitsForInput,
        SignalKind::TurnDone => State::Idle,
        SignalKind::TurnFailed => State::Failed,
    }
}
