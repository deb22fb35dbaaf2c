//! How things stand, in numbers: for a prompt, so neither git nor tmux is asked and no task's file is read.

use crate::engine::Engine;
use crate::error::Result;
use crate::index::counts::{Attended, Counts};
use crate::sessions::SessionState;
use std::cell::OnceCell;

/// Numbers for one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    pub counts: Counts,
    /// Agent processes that are alive.
    pub agents: usize,
}

impl Engine {
    /// Of one project, or of all. A home that is not there has nothing in it, and is not made.
    pub fn standing(&self, project: Option<&str>) -> Result<Standing> {
        if !self.store.home().is_dir() {
            return Ok(Standing::default());
        }
        let live = OnceCell::new();
        let live = || live.get_or_init(|| self.live_agents());
        let is_left = |task: &Attended| {
            let status = task.status.parse().ok();
            live().session(&task.folder, status, true) == SessionState::Gone
        };
        let counts = self.index()?.counts(project, &is_left)?;
        let agents = live().count(project);
        Ok(Standing { counts, agents })
    }

    /// Has anybody heard of it?
    pub fn knows_project(&self, project: &str) -> Result<()> {
        self.refuse_unknown(&[project.to_owned()])
    }
}
