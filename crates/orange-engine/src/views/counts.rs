//! How things stand, in numbers: for a prompt, so neither git nor tmux is asked and no task's file is read.

use crate::call::Call;
use crate::error::Result;
use crate::index::counts::{Attended, Counts, DAMAGED, QUEUED, TaskCount};
use crate::sessions::lost_workspace::lost_workspaces;
use crate::sessions::{self, SessionState};
use crate::views::list;
use orange_core::task::Status;
use orange_core::workflow::{StatusKind, WaitsFor, Workflow};
use serde::Serialize;
use serde_json::{Map, Value};
use std::cell::OnceCell;

/// Numbers for one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    pub counts: Counts,
    /// Agent processes that are alive.
    pub agents: usize,
}

/// What a task can count as, with the name of its number. What has not been started can be queued as well.
pub fn kinds() -> impl Iterator<Item = (String, &'static str)> {
    let statuses = Workflow::statuses_in_use().into_iter();
    let kinds = statuses.flat_map(|info| {
        let queued = (info.kind == StatusKind::Waiting).then_some(QUEUED);
        std::iter::once(info.status.as_str()).chain(queued)
    });
    let named = |kind: &'static str| (kind.replace('-', "_"), kind);
    kinds.chain([DAMAGED]).map(named)
}

impl Standing {
    /// The tasks of a kind: a status, or [`QUEUED`].
    pub fn count(&self, kind: &str) -> TaskCount {
        self.counts.kinds.get(kind).copied().unwrap_or_default()
    }

    /// The tasks that wait for a person.
    pub fn needs_me(&self) -> usize {
        self.counts.kinds.values().map(|count| count.need_me).sum()
    }

    /// Every number under its name.
    pub fn numbers(&self) -> Vec<(String, usize)> {
        let is = |kind: &str, wanted: fn(Status) -> bool| kind.parse().is_ok_and(wanted);
        let all = self.counts.kinds.iter();
        let open = all.filter(|(kind, _)| !is(kind, Status::is_terminal));
        let mut named = vec![
            ("needs_me".to_owned(), self.needs_me()),
            ("open".to_owned(), open.map(|(_, count)| count.tasks).sum()),
            ("agents".to_owned(), self.agents),
        ];
        named.extend(kinds().map(|(name, kind)| {
            let queued = if is(kind, Status::has_started) || kind.parse::<Status>().is_err() {
                0
            } else {
                self.count(QUEUED).tasks
            };
            (name, self.count(kind).tasks + queued)
        }));
        named
    }
}

/// The numbers under their names, and the line that tells of those that are not 0.
#[derive(Debug, Serialize)]
pub struct StandingView {
    #[serde(flatten)]
    pub named: Map<String, Value>,
    pub line: String,
}

/// Of which the line tells, besides those that need a person.
fn told_of() -> impl Iterator<Item = &'static str> {
    let statuses = Workflow::statuses_in_use()
        .into_iter()
        .filter(|info| info.kind == StatusKind::Active && info.waits_for != WaitsFor::Person);
    statuses.map(|info| info.status.as_str()).chain([QUEUED])
}

impl StandingView {
    pub fn of(standing: &Standing) -> StandingView {
        let needs_me = standing.needs_me();
        let mut parts = Vec::new();
        match needs_me {
            0 => {}
            1 => parts.push("1 needs you".to_owned()),
            many => parts.push(format!("{many} need you")),
        }
        for kind in told_of() {
            let count = standing.count(kind);
            let others = count.tasks.saturating_sub(count.need_me);
            if others > 0 {
                parts.push(format!("{others} {kind}"));
            }
        }
        let numbers = standing.numbers().into_iter();
        StandingView {
            named: numbers
                .map(|(name, number)| (name, number.into()))
                .collect(),
            line: parts.join(" · "),
        }
    }
}

/// Of one project, or of all. A home that is not there has nothing in it, and is not made.
pub fn counts(call: &Call, project: Option<&str>) -> Result<Standing> {
    if !call.store.home().is_dir() {
        return Ok(Standing::default());
    }
    let live = OnceCell::new();
    let live = || live.get_or_init(|| sessions::live_agents(call));
    let lost = lost_workspaces(call);
    let is_left = |task: &Attended| {
        let status = task.status.parse().ok();
        let is_lost = lost
            .keys()
            .any(|id| task.folder.rsplit('/').next() == Some(id));
        is_lost || live().session(&task.folder, status, true) == SessionState::Gone
    };
    let counts = call.index()?.counts(project, &is_left)?;
    let agents = live().count(project);
    Ok(Standing { counts, agents })
}

/// Has anybody heard of it?
pub fn knows_project(call: &Call, project: &str) -> Result<()> {
    list::refuse_unknown(call, &[project.to_owned()])
}
