//! A task's agents: the newest run of each role and what it is doing.

use crate::engine::Engine;
use crate::runs::Doing;
use crate::tmux::Pane;
use orange_core::exit::is_expected;
use orange_core::history::History;
use orange_core::runs::{Run, last_run};
use orange_core::task::Task;
use orange_core::usage::{self, Usage};
use orange_core::workflow::Role;

/// An agent as `task show` tells of it.
#[derive(Debug, Clone)]
pub struct AgentView {
    pub run: Run,
    pub alive: bool,
    /// What it is doing.
    pub doing: Option<Doing>,
    /// What its conversation has used so far.
    pub usage: Option<Usage>,
    pub pane: Option<Pane>,
    /// Messages that it has not taken yet.
    pub waiting: Vec<String>,
}

impl Engine {
    /// The newest run of each role.
    pub fn agents(&self, task: &Task, history: &History) -> Vec<AgentView> {
        let expected = |role: Role| is_expected(task.status, role);
        let newest = [Role::Worker, Role::Reviewer, Role::Executor]
            .into_iter()
            .filter_map(|role| last_run(history, role));
        newest
            .map(|run| {
                let folder = self.run_folder(&run.id);
                let alive = run.end.is_none() && folder.is_alive();
                AgentView {
                    doing: folder
                        .state()
                        .filter(|_| alive)
                        .map(|doing| doing.expected(expected(run.role))),
                    usage: run.usage.or_else(|| folder.usage()),
                    pane: folder.pane(),
                    waiting: match alive {
                        true => folder.waiting().into_iter().map(|told| told.text).collect(),
                        false => Vec::new(),
                    },
                    alive,
                    run,
                }
            })
            .collect()
    }

    /// What all agents of a task have used of their models; None where no harness tells.
    pub fn usage(&self, history: &History) -> Option<Usage> {
        usage::total(history, |run| self.run_folder(run).usage())
    }
}
