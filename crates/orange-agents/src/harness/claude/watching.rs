//! What is watched beside a claude: its record of the conversation, and its file about what it does.

use super::status::ClaudeStatus;
use super::transcript::Transcript;
use crate::harness::watch::{Queue, Watch, Watched, Window};
use std::time::Instant;

pub(super) struct Watching {
    transcript: Transcript,
    status: ClaudeStatus,
}

impl Watching {
    pub(super) fn new(run: &Watched<'_>) -> Watching {
        Watching {
            transcript: Transcript::new(run.folder.clone()),
            status: ClaudeStatus::new(run.folder.clone(), run.pid, run.environment),
        }
    }
}

impl Watch for Watching {
    fn look(&mut self, _now: Instant, transcript: Option<&str>, _window: Window<'_>) {
        self.transcript.follow(transcript);
        self.status.look();
    }

    fn queue(&self) -> &Queue {
        self.transcript.queue()
    }

    /// What it cost is written at the very end.
    fn end(&mut self, transcript: Option<&str>) {
        self.transcript.follow(transcript);
    }
}
