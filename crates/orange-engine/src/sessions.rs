//! Agents and their windows, read only: which are alive, where they are shown, what may start in them. Starting and ending them is
//! in `effects/`. Everything above this module may call it.

pub mod adopted;
pub mod lost_workspace;
pub mod permissions;
pub mod programs;

use crate::call::Call;
use crate::error::Result;
use crate::index::list::ListedTask;
use crate::runs::{Doing, RunFolder};
use crate::sessions::adopted::AdoptedSessions;
use crate::tmux::{self, Pane, PaneInfo, Server, Tmux};
use crate::{home_record, settings, versions};
use orange_core::history::History;
use orange_core::runs::{self, Run};
use orange_core::task::{Status, Task};
use orange_core::usage::Usage;
use orange_core::workflow::{Role, WaitsFor};
use orange_sys::programs::located;
use std::collections::HashMap;

orange_core::choice! {
    /// Whether a task's agents are there.
    pub enum SessionState ("state of a session") {
        /// An agent process is alive.
        Alive = "alive",
        /// One should be and is not.
        Gone = "gone",
        /// None is expected.
        None = "none",
    }
}

impl SessionState {
    /// What is alive, where the task stands, and whether it was ever given a session.
    pub fn of(alive: bool, status: Option<Status>, has_session: bool) -> SessionState {
        let expected = status.is_some_and(|status| {
            let waits = match status.info().waits_for {
                WaitsFor::Agent => true,
                // A worker waits in its window; an executor has ended.
                WaitsFor::Person => {
                    let task = Task::standing_at(status, None);
                    !task.has_plan()
                }
                WaitsFor::Engine | WaitsFor::Nobody => false,
            };
            status.is_active() && waits
        });
        match (alive, expected && has_session) {
            (true, _) => SessionState::Alive,
            (false, true) => SessionState::Gone,
            (false, false) => SessionState::None,
        }
    }
}

/// The live agents of all tasks.
#[derive(Debug, Clone, Default)]
pub struct LiveAgents {
    by_folder: HashMap<String, Vec<LiveAgent>>,
    /// Agents that another program started, where these are looked for.
    adopted: Option<AdoptedSessions>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveAgent {
    pub run: RunFolder,
    pub role: Role,
    pub harness: String,
    /// What it is doing, whatever its task stands at.
    pub doing: Option<Doing>,
}

impl LiveAgents {
    pub(crate) fn add(&mut self, folder: &str, agent: LiveAgent) {
        let agents = self.by_folder.entry(folder.to_owned()).or_default();
        agents.push(agent);
    }

    pub fn of(&self, folder: &str) -> &[LiveAgent] {
        self.by_folder.get(folder).map_or(&[], Vec::as_slice)
    }

    /// What a run of a task has used so far, if it is alive.
    pub fn usage(&self, folder: &str, run: &str) -> Option<Usage> {
        let mut agents = self.of(folder).iter();
        agents.find(|agent| agent.run.id() == run)?.run.usage()
    }

    /// How many there are, of one project or of all.
    pub fn count(&self, project: Option<&str>) -> usize {
        let of_project =
            |folder: &str| project.is_none_or(|project| folder.split('/').next() == Some(project));
        let counted = self.by_folder.iter();
        let counted = counted.filter(|(folder, _)| of_project(folder));
        counted.map(|(_, agents)| agents.len()).sum()
    }

    /// Is the agent gone that a listed task waits for?
    pub fn is_left(&self, row: &ListedTask) -> bool {
        let status = row.status.parse().ok();
        self.session(&row.folder, status, row.has_session) == SessionState::Gone
    }

    /// The sign of a task in a list.
    pub fn session(&self, folder: &str, status: Option<Status>, has_session: bool) -> SessionState {
        let state = SessionState::of(!self.of(folder).is_empty(), status, has_session);
        let adopted = self.adopted.as_ref();
        if state == SessionState::Gone && adopted.is_some_and(|adopted| adopted.is_alive(folder)) {
            SessionState::Alive
        } else {
            state
        }
    }
}

/// Every agent that is alive now, those in sessions of other programs too.
pub fn live_and_adopted_agents(call: &Call) -> LiveAgents {
    let mut live = live_agents(call);
    live.adopted = adopted::adopted_sessions(call);
    live
}

/// Every agent that is alive now; costs a look at each run, none at tasks.
pub fn live_agents(call: &Call) -> LiveAgents {
    let mut live = LiveAgents::default();
    for folder in crate::runs::all(call.store.home()) {
        if folder.is_alive()
            && let Some(spec) = folder.spec()
        {
            let agent = LiveAgent {
                role: spec.role,
                harness: spec.harness,
                doing: folder.state(),
                run: folder,
            };
            live.add(&spec.folder, agent);
        }
    }
    live
}

/// The server that sessions are made on.
pub(crate) fn tmux(call: &Call) -> Result<Tmux> {
    let setting = settings::config(call)?
        .tmux
        .server
        .clone()
        .unwrap_or_default();
    Ok(Tmux::new(Server::from_setting(&setting)))
}

/// The same, when there is a tmux that will do.
pub(crate) fn usable_tmux(call: &Call) -> Result<Tmux> {
    let tmux = tmux(call)?;
    match located(tmux::PROGRAM, call.search_path.as_deref()) {
        Some(program) => {
            versions::remembered(call.store.home(), &program, || tmux.version())?;
        }
        // It says what is missing.
        None => drop(tmux.version()?),
    }
    Ok(tmux)
}

pub(crate) fn run_folder(call: &Call, run: &str) -> RunFolder {
    RunFolder::new(call.store.home(), run)
}

/// The live run of a role.
pub(crate) fn live_run(call: &Call, history: &History, role: Role) -> Option<Run> {
    let mut open = runs::open_runs(history).into_iter().rev();
    open.find(|run| run.role == role && run_folder(call, &run.id).is_alive())
}

/// Does it work once through, without taking messages?
pub(crate) fn is_one_shot(call: &Call, run: &Run) -> bool {
    let spec = run_folder(call, &run.id).spec();
    spec.is_some_and(|spec| spec.one_shot)
}

/// Where a run is shown; asked of tmux when nobody noted it.
pub(crate) fn pane_of(call: &Call, run: &str) -> Result<Option<Pane>> {
    if let Some(pane) = run_folder(call, run).pane() {
        return Ok(Some(pane));
    }
    let tagged = |info: &PaneInfo| info.run_id.as_deref() == Some(run);
    let panes = own_panes(call)?;
    Ok(panes.into_iter().find(tagged).map(|info| info.pane))
}

/// The session of a task whose branch has another name now gets that name too. It is found by its tag, so
/// nothing is lost when the name is taken.
pub(crate) fn rename_session(call: &Call, task: &Task) -> Result<Option<String>> {
    if task.tmux_session.is_none() {
        return Ok(None);
    }
    let tmux = tmux(call)?;
    let home = home_record::home_paths(call);
    let is_ours = |tag: Option<&str>| home.has_tagged(tag);
    let Some(session) = tmux.session_of(&task.id, is_ours)? else {
        return Ok(None);
    };
    tmux.rename_session(session, &format!("{}/{}", task.project, task.branch))?;
    Ok(tmux
        .session_of(&task.id, is_ours)?
        .map(|session| session.session_name))
}

/// All panes but those of another home.
fn own_panes(call: &Call) -> Result<Vec<PaneInfo>> {
    let home = home_record::home_paths(call);
    let mut panes = tmux(call)?.panes()?;
    panes.retain(|info| home.has_tagged(info.home_tag.as_deref()));
    Ok(panes)
}

/// The windows of a task, whatever is left in them.
pub(crate) fn windows_of(call: &Call, task: &Task) -> Result<Vec<PaneInfo>> {
    let mut panes = own_panes(call)?;
    panes.retain(|info| info.task_id.as_deref() == Some(task.id.as_str()));
    Ok(panes)
}
