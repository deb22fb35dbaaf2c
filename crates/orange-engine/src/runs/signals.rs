//! What an agent says of itself: `orange signal` appends it to the run's folder, and its state follows from it.

use super::RunFolder;
use orange_core::Timestamp;
use orange_core::choice;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};

choice! {
    /// The signals that every harness gives in one way or another.
    pub enum SignalKind ("signal") {
        PromptTaken = "prompt-taken",
        TurnDone = "turn-done",
        PermissionAsked = "permission-asked",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    pub at: Timestamp,
    pub signal: SignalKind,
    /// The prompt that was taken, the last line of a turn, what permission is asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

choice! {
    /// What an agent is doing, by its own account.
    pub enum State ("state of an agent") {
        Starting = "starting",
        Working = "working",
        AsksPermission = "asks permission",
        Idle = "idle",
    }
}

/// Longer texts are of no use to anybody who reads signals.
const LONGEST_TEXT: usize = 512 * 1024;

impl RunFolder {
    /// Adds a signal with one write, so that two at once stay two lines.
    pub fn signal(&self, signal: &Signal) -> io::Result<()> {
        let mut signal = signal.clone();
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
        if !spec.signals {
            return None;
        }
        match self.signals().last() {
            Some(last) => Some((state_after(last.signal), last.at)),
            None => Some((State::Starting, self.started()?.at)),
        }
    }
}

fn state_after(signal: SignalKind) -> State {
    match signal {
        SignalKind::PromptTaken => State::Working,
        SignalKind::PermissionAsked => State::AsksPermission,
        SignalKind::TurnDone => State::Idle,
    }
}
