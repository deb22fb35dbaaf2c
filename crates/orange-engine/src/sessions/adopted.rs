//! Sessions of tasks that were adopted: the program that made them started agents in tmux sessions that have a name and no tag. Such
//! a session is shown as alive, is never doubled by an agent of Orange, and the exit rules apply when it is gone.

use crate::call::Call;
use crate::error::{Result, err};
use crate::sessions;
use crate::store::{Store, journal};
use crate::tmux::{PaneInfo, Server, Tmux, session_name};
use orange_core::history::payload::AgentSpawned;
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::task::{Field, Task};
use orange_core::workflow::Role;
use orange_core::{Action, runs, text};
use std::collections::HashSet;
use std::sync::OnceLock;

/// The windows of reviewers begin so.
const REVIEW: &str = "review-";

/// The session that the task had when it was adopted.
pub(crate) fn session_when_adopted(history: &History) -> Option<&str> {
    let adopted = history.own().first()?;
    let is_adoption = adopted.kind == EventType::TaskAdopted;
    let session = adopted.fields.get(Field::TmuxSession.name());
    session.filter(|_| is_adoption)?.as_str()
}

/// Whether a run was started by another program.
pub(crate) fn is_adopted_run(history: &History, run: &str) -> bool {
    let mut starts = history.events.iter().filter_map(AgentSpawned::of);
    starts.any(|start| start.run == Some(run) && start.adopted == Some(true))
}

/// The panes of a session that another program made, by its name. An error is no answer: whoever decides by this must not
/// take it for "none".
fn panes_of_stranger(call: &Call, session: &str) -> Result<Vec<PaneInfo>> {
    let name = session_name(session);
    let mut panes = panes_without_tag(&servers_of_strangers(call)?)?;
    panes.retain(|info| info.pane.session_name == name);
    Ok(panes)
}

/// The server of the settings and the user's own, which the older program used.
fn servers_of_strangers(call: &Call) -> Result<Vec<Tmux>> {
    let configured = sessions::tmux(call)?;
    let default = (!configured.is_default()).then(|| Tmux::new(Server::Default));
    Ok(std::iter::once(configured).chain(default).collect())
}

/// The live session of another program in which this role of an adopted task is at work. Once a run of that role is
/// journalled, agents of that role are Orange's own.
pub fn adopted_session(
    call: &Call,
    history: &History,
    role: Role,
) -> Result<Option<Vec<PaneInfo>>> {
    let Some(session) = session_when_adopted(history) else {
        return Ok(None);
    };
    if runs::runs(history).iter().any(|run| run.role == role) {
        return Ok(None);
    }
    let mut panes = panes_of_stranger(call, session)?;
    if role == Role::Reviewer {
        panes.retain(|info| info.window_name.starts_with(REVIEW));
    }
    Ok((!panes.is_empty()).then_some(panes))
}

/// Whether such a session lives, for whoever only shows it.
pub fn has_adopted_session(call: &Call, history: &History) -> bool {
    let found = adopted_session(call, history, Role::Worker);
    found.is_ok_and(|found| found.is_some())
}

/// Refuses to start a second agent beside one that another program started.
pub(crate) fn refuse_second_agent(
    call: &Call,
    task: &Task,
    history: &History,
    role: Role,
) -> Result<()> {
    let Some(panes) = adopted_session(call, history, role)? else {
        return Ok(());
    };
    let name = panes
        .first()
        .map(|info| info.pane.session_name.clone())
        .unwrap_or_default();
    let label = task.label();
    Err(err!(Conflict, "the {role} of {label} runs in tmux session {name}, which another program started; a second one would work in the same files")
        .hint(text!(
            "go to it: {}; to have Orange start one instead, end it first: {}",
            Action::attach(task.name()),
            Action::kill_session(name)
        )))
}

/// Tells a person of a session of another program whose task is over: Orange ends only what it started.
pub(crate) fn note_adopted_session(call: &Call, task: &Task, history: &History) {
    if !has_adopted_session(call, history) {
        return;
    }
    if let Some(name) = session_when_adopted(history).map(session_name) {
        call.notice(text!(
                "{}: tmux session {name}, which another program started for it, is still there; {} ends it",
                task.label(),
                Action::kill_session(name)
            ));
    }
}

/// The start of a run that another program made, so that its end can be journalled and judged.
pub(crate) fn adopted_start(
    call: &Call,
    task: &Task,
    run: &str,
    role: Role,
    session: &str,
) -> Event {
    let start = AgentSpawned {
        run: Some(run),
        role: Some(role),
        harness: Some(task.harness.as_deref().unwrap_or_default()),
        tmux_session: Some(session),
        adopted: Some(true),
        ..AgentSpawned::default()
    };
    Event::of(Payload::AgentSpawned(start), call.now())
        .by("engine")
        .because("another program had started it before the task was adopted")
}

/// What a list needs to show the sessions of other programs as alive.
pub(crate) fn adopted_sessions(call: &Call) -> Option<AdoptedSessions> {
    Some(AdoptedSessions {
        store: call.store.clone(),
        servers: servers_of_strangers(call).ok()?,
        names: OnceLock::new(),
    })
}

/// The sessions of other programs, asked for when a list has a task whose agent seems to be gone.
#[derive(Debug, Clone)]
pub(crate) struct AdoptedSessions {
    store: Store,
    servers: Vec<Tmux>,
    names: OnceLock<HashSet<String>>,
}

impl AdoptedSessions {
    /// Whether a task came from another program, Orange has not started or judged a worker of it, and its session lives.
    pub(super) fn is_alive(&self, folder: &str) -> bool {
        let Some(session) = self.store.survey(folder).task.tmux_session else {
            return false;
        };
        self.is_strangers(folder) && self.names().contains(&session_name(&session))
    }

    fn is_strangers(&self, folder: &str) -> bool {
        let Ok(bytes) = journal::read(&self.store.place(folder).journal()) else {
            return false;
        };
        let history = History::parse(&bytes.text);
        let first = history.own().first().map(|event| &event.kind);
        let runs = runs::runs(&history);
        first.is_none_or(|kind| *kind == EventType::TaskAdopted)
            && !runs.iter().any(|run| run.role == Role::Worker)
    }

    fn names(&self) -> &HashSet<String> {
        self.names.get_or_init(|| {
            let panes = panes_without_tag(&self.servers).unwrap_or_default();
            let names = panes.into_iter().map(|info| info.pane.session_name);
            names.collect()
        })
    }
}

/// All panes that Orange did not make.
fn panes_without_tag(servers: &[Tmux]) -> Result<Vec<PaneInfo>> {
    let mut panes = Vec::new();
    for server in servers {
        panes.extend(server.panes()?);
    }
    panes.retain(|info| info.task_id.is_none() && info.run_id.is_none() && !info.dead);
    Ok(panes)
}
