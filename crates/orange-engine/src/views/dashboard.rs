//! What a dashboard shows: all tasks at once, and everything about the one that is selected. Values that own what they
//! hold, because another thread draws them.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::index::DiffStat;
use crate::index::counts::QUEUED;
use crate::index::list::{ListedTask, Listing, TaskFilter};
use crate::sessions::{self, SessionState};
use crate::views::agents::{self, AgentView};
use crate::views::cost;
use crate::views::counts;
use crate::views::detail::{self, TimelineEntry};
use crate::views::list::{self, Checks, TaskRow};
use crate::views::phased::{self, PhasedDetail};
use crate::views::questions::{open_questions, questions_in_file};
use crate::views::results::OpenQuestion;
use crate::views::why::{self, Explanation};
use crate::views::{inbox, row_note, task};
use crate::{settings, workspaces};
use orange_core::task::{Status, Task};
use orange_core::usage::Usage;
use orange_core::workflow::{BlockedReason, BoardColumn, StatusInfo, info_for};
use orange_core::{TaskName, Text, Timestamp};
use std::collections::HashMap;

/// All tasks that are not over for long, and how things stand.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    pub rows: Vec<OverviewRow>,
    /// The names of all projects, whatever is shown.
    pub projects: Vec<String>,
    /// Tasks that are over and not among the rows.
    pub older: usize,
    pub needs_me: usize,
    /// What needs the person in projects that are not shown.
    pub need_elsewhere: usize,
    /// Agents that are alive, in all projects: so is the limit.
    pub agents: usize,
    pub agent_limit: usize,
    /// Workspaces that a task has, and how many there can be.
    pub slots_held: usize,
    pub slots: usize,
    pub queued: usize,
    /// What all agents have cost today, as far as that is known.
    pub today: Option<Usage>,
}

/// One task in it.
#[derive(Debug, Clone)]
pub struct OverviewRow {
    pub folder: String,
    pub name: TaskName,
    /// Its key, or the beginning of its id.
    pub label: String,
    pub project: String,
    /// Its project is not among those that are shown: it stands in the inbox alone.
    pub is_elsewhere: bool,
    pub branch: String,
    /// None for a damaged task, or a word that this program does not know.
    pub status: Option<Status>,
    /// Why it is blocked.
    pub reason: Option<BlockedReason>,
    /// The phase that it is in and how far that is: `implement 2/10`.
    pub phase: Option<String>,
    /// The status as it is written.
    pub word: String,
    pub summary: String,
    pub session: SessionState,
    /// The number of its workspace.
    pub slot: Option<u32>,
    /// Why it needs a person, or what keeps it from going on.
    pub note: Option<Text>,
    pub is_damaged: bool,
    pub needs_me: bool,
    pub column: BoardColumn,
    /// The tasks that it waits for, as it names them.
    pub waits_for: Vec<String>,
    pub checks: Option<Checks>,
    pub diff: Option<DiffStat>,
    pub usage: Option<Usage>,
    pub updated: Timestamp,
    /// Since when it waits for a person; where it does not, the last change.
    pub since: Timestamp,
}

impl OverviewRow {
    /// The columns of where it stands.
    pub fn info(&self) -> Option<&'static StatusInfo> {
        Some(info_for(self.status?, self.reason))
    }

    /// Where it stands in a list: what needs a person first, the longest wait first; then by status, what changed last first.
    pub fn order(&self) -> impl Ord + use<> {
        let rank = self.info().map_or(0, |info| info.rank);
        if self.needs_me {
            return (false, 0, self.since.as_second());
        }
        (true, rank, -self.updated.as_second())
    }
}

/// Tasks of these projects; of all, if none is named. Those of the others come too, for the inbox.
pub fn overview(call: &Call, projects: &[String], with_older: bool) -> Result<Overview> {
    let config = settings::config(call)?;
    // Something changed, or nobody would ask; a look of a moment ago may not have seen it.
    call.index()?.look_again();
    let known = call.projects()?;
    let is_shown = |name: &str| projects.is_empty() || projects.iter().any(|one| one == name);
    let live = sessions::live_and_adopted_agents(call);
    let slots = held_slots(call);
    let mut looks = ReadsLeft::default();
    let mut rows = Vec::new();
    let mut list = |filter: &TaskFilter| {
        let listing = list::list_as(call, filter, |listing: Listing| listing)?;
        rows.extend(listing.rows.iter().map(|listed| {
            let shown = TaskRow::of(listed, &live);
            let slot = slots.get(&listed.id).copied();
            let mut row = row(listed, &shown, slot, !is_shown(&listed.project));
            looks.complete(call, listed, &shown, &mut row);
            row
        }));
        Ok::<usize, Error>(listing.older)
    };
    let filter = TaskFilter {
        projects: projects.to_vec(),
        all: with_older,
        with_diff: true,
        over_since: Some(list::over_since(call)?),
        ..TaskFilter::default()
    };
    let older = list(&filter)?;
    let names: Vec<String> = known.iter().map(|project| project.name.clone()).collect();
    let others: Vec<String> = (names.iter().filter(|name| !is_shown(name)))
        .cloned()
        .collect();
    if !others.is_empty() {
        list(&TaskFilter {
            projects: others,
            all: false,
            ..filter
        })?;
    }
    let project = match projects {
        [one] => Some(one.as_str()),
        _ => None,
    };
    let standing = counts::counts(call, project)?;
    let needing = |is_elsewhere: bool| {
        let rows = rows.iter().filter(|row| row.needs_me);
        rows.filter(|row| row.is_elsewhere == is_elsewhere).count()
    };
    let held = |row: &&OverviewRow| row.slot.is_some() && !row.is_elsewhere;
    Ok(Overview {
        needs_me: needing(false),
        need_elsewhere: needing(true),
        slots_held: rows.iter().filter(held).count(),
        slots: (known.iter().filter(|project| is_shown(&project.name)))
            .map(|project| project.pool_size as usize)
            .sum(),
        agents: live.count(None),
        agent_limit: config.agents.limit as usize,
        queued: standing.count(QUEUED).tasks,
        today: cost::today(call)?,
        older,
        projects: names,
        rows,
    })
}

/// How many tasks may still be read for what their rows say.
struct ReadsLeft {
    notes: usize,
    waits: usize,
}

impl Default for ReadsLeft {
    fn default() -> ReadsLeft {
        ReadsLeft {
            notes: row_note::MOST_LOOKS,
            waits: row_note::MOST_LOOKS,
        }
    }
}

impl ReadsLeft {
    /// Adds why the task needs a person, and since when.
    fn complete(
        &mut self,
        call: &Call,
        listed: &ListedTask,
        shown: &TaskRow<'_>,
        row: &mut OverviewRow,
    ) {
        row.note = row_note::below_row(call, shown, &mut self.notes);
        if row.needs_me && self.waits > 0 {
            self.waits -= 1;
            row.since = inbox::waits_since(call, listed).unwrap_or(row.since);
        }
    }
}

fn row(
    listed: &ListedTask,
    shown: &TaskRow<'_>,
    slot: Option<u32>,
    is_elsewhere: bool,
) -> OverviewRow {
    let is_damaged = listed.damaged.is_some();
    let status = shown.status.filter(|_| !is_damaged);
    OverviewRow {
        folder: listed.folder.clone(),
        name: listed.name(),
        label: match listed.key {
            Some(key) => key.to_string(),
            None => listed.id.chars().take(8).collect(),
        },
        project: listed.project.clone(),
        is_elsewhere,
        branch: listed.branch.clone(),
        status,
        reason: listed.reason,
        phase: listed.phase_in_words(),
        word: if is_damaged {
            "damaged".to_owned()
        } else {
            listed.status.clone()
        },
        summary: listed.summary.clone(),
        session: shown.session,
        slot,
        note: None,
        is_damaged,
        needs_me: listed.needs_me,
        column: BoardColumn::of(
            status.map(|status| (status, listed.reason)),
            listed.needs_me,
        ),
        waits_for: listed
            .waits_for
            .iter()
            .map(|waits| waits.reference.clone())
            .collect(),
        checks: shown.checks,
        diff: listed.diff.as_deref().cloned(),
        usage: shown.usage,
        updated: Timestamp::from_second(listed.updated_second).unwrap_or_default(),
        since: Timestamp::from_second(listed.updated_second).unwrap_or_default(),
    }
}

/// The workspace numbers of tasks, by their ids.
fn held_slots(call: &Call) -> HashMap<String, u32> {
    let Ok(pool) = workspaces::pool(call) else {
        return HashMap::new();
    };
    let names = call.projects().unwrap_or_default().into_iter();
    names
        .flat_map(|project| {
            let held = pool.held(&project.name);
            let number = |slot: &str| workspaces::slot_number(&project.name, slot);
            let held = held.filter_map(|(name, slot)| Some((slot.task_id.clone()?, number(name)?)));
            held.collect::<Vec<_>>()
        })
        .collect()
}

/// Everything about one task that a dashboard shows.
#[derive(Debug)]
pub struct Focus {
    pub folder: String,
    pub task: Task,
    pub body: String,
    pub why: Explanation,
    /// What is asked in an agent's window and can be answered from here.
    pub questions: Vec<OpenQuestion>,
    /// What stands in TASK.md for the person.
    pub asked_in_file: Option<String>,
    pub timeline: Vec<TimelineEntry>,
    pub agents: Vec<AgentView>,
    pub usage: Option<Usage>,
    /// How far its plan is; none for a task that has no phases.
    pub execution: Option<PhasedDetail>,
}

pub fn focus(call: &Call, folder: &str) -> Result<Focus> {
    let place = call.store.place(folder);
    let view = task::view(call, place)?;
    let why = why::explanation(call, &view)?;
    let questions = open_questions(call, &view.history);
    Ok(Focus {
        folder: folder.to_owned(),
        why,
        asked_in_file: questions_in_file(&view).filter(|_| questions.is_empty()),
        questions,
        timeline: detail::timeline(&view.history),
        agents: agents::agents(call, &view.task, &view.history),
        usage: agents::usage(call, &view.task, &view.history),
        execution: phased::phased(call, &view.task)?,
        body: view.body,
        task: view.task,
    })
}
