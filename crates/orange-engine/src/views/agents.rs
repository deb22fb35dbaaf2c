//! A task's agents: the newest run of each role and what it is doing.

use crate::call::Call;
use crate::runs::{Doing, State, StateSource};
use crate::{costs, sessions};
use orange_core::Timestamp;
use orange_core::exit::is_expected;
use orange_core::history::History;
use orange_core::runs::{RunEnd, last_run};
use orange_core::task::Task;
use orange_core::usage::{self, Usage};
use orange_core::workflow::Role;
use serde::{Serialize, Serializer};

/// An agent as `task show` tells of it.
#[derive(Debug, Clone, Serialize)]
pub struct AgentView {
    /// The id of its run.
    pub run: String,
    pub role: Role,
    pub harness: String,
    pub alive: bool,
    #[serde(flatten, serialize_with = "activity")]
    pub doing: Option<Doing>,
    /// The failure or the question that it told of.
    pub said: Option<String>,
    /// What its conversation has used so far.
    pub usage: Option<Usage>,
    pub started: Timestamp,
    pub ended: Option<RunEnd>,
    /// Its window, as tmux calls it.
    pub pane: Option<String>,
    /// Messages that it has not taken yet.
    pub waiting: Vec<String>,
}

/// What an agent is doing; null where that is not known.
pub(crate) fn activity<S: Serializer>(doing: &Option<Doing>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct AgentStateKeys {
        state: Option<State>,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        again: Option<Timestamp>,
        source: Option<StateSource>,
    }
    let doing = doing.as_ref();
    let keys = AgentStateKeys {
        state: doing.map(|doing| doing.state),
        since: doing.map(|doing| doing.since),
        until: doing.and_then(|doing| doing.until),
        again: doing.and_then(|doing| doing.again),
        source: doing.map(|doing| doing.source),
    };
    keys.serialize(to)
}

/// The newest run of each role.
pub fn agents(call: &Call, task: &Task, history: &History) -> Vec<AgentView> {
    let expected = |role: Role| is_expected(task.status, role);
    let newest = [Role::Worker, Role::Reviewer, Role::Executor]
        .into_iter()
        .filter_map(|role| last_run(history, role));
    newest
        .map(|run| {
            let folder = sessions::run_folder(call, &run.id);
            let alive = run.end.is_none() && folder.is_alive();
            let doing = folder
                .state()
                .filter(|_| alive)
                .map(|doing| doing.expected(expected(run.role)));
            let said = doing.as_ref().map(|doing| doing.text.clone());
            AgentView {
                doing,
                said: said.filter(|text| !text.is_empty()),
                usage: run.usage.or_else(|| folder.usage()),
                pane: folder.pane().map(|pane| pane.pane),
                waiting: if alive {
                    folder.waiting().into_iter().map(|told| told.text).collect()
                } else {
                    Vec::new()
                },
                alive,
                run: run.id,
                role: run.role,
                harness: run.harness,
                started: run.started,
                ended: run.end,
            }
        })
        .collect()
}

/// What all agents of a task have used of their models, with the cost that `cost` shows; None where no harness tells.
pub fn usage(call: &Call, task: &Task, history: &History) -> Option<Usage> {
    let cost = match costs::of_task(call, task, history) {
        Ok(cost) => cost.known(),
        // Settings or a database that cannot be read hide no tokens.
        Err(_) => usage::total(history, |run| sessions::run_folder(call, run).usage())?,
    };
    Some(cost).filter(|usage| !usage.is_empty())
}
