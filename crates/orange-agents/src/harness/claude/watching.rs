//! What is watched beside a claude: its record of the conversation, and its file about what it does.

use super::status::ClaudeStatus;
use super::transcript::ClaudeTranscript;
use crate::harness::watch::{HarnessWatch, MessageQueue, Watched, WindowLookup};
use std::time::Instant;

pub(super) struct Watching {
    transcript: ClaudeTranscript,
    status: ClaudeStatus,
}

impl Watching {
    pub(super) fn new(run: &Watched<'_>) -> Watching {
        Watching {
            transcript: ClaudeTranscript::new(run.folder.clone()),
            status: ClaudeStatus::new(run.folder.clone(), run.pid, run.environment),
        }
    }
}

impl HarnessWatch for Watching {
    fn look(&mut self, _now: Instant, transcript: Option<&str>, _window: WindowLookup<'_>) {
        self.transcript.follow(transcript);
        self.status.look();
    }

    fn queue(&self) -> &MessageQueue {
        self.transcript.queue()
    }

    /// What it cost is written at the very end.
    fn end(&mut self, transcript: Option<&str>) {
        self.transcript.follow(transcript);
    }
}
