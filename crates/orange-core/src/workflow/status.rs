//! A status and everything that depends on it: one row of columns per status, keyed by the reason where a task is blocked.

use super::interactive::prompt::PromptName;
use super::{Intent, Role, Workflow, interactive, phased};
use crate::choice;
use crate::gate::Gate;
use crate::task::Task;

choice! {
    /// Where a task stands. Both workflows' words, because files, lists and dependencies share them.
    #[derive(Default)]
    pub enum Status ("status") {
        #[default]
        Pending = "pending",
        Planning = "planning",
        Clarification = "clarification",
        Working = "working",
        AgentReview = "agent-review",
        Reviewing = "reviewing",
        Stuck = "stuck",
        Delegated = "delegated",
        Done = "done",
        Cancelled = "cancelled",
        Created = "created",
        Classifying = "classifying",
        Planned = "planned",
        Running = "running",
        Paused = "paused",
        Blocked = "blocked",
        Completed = "completed",
        Finalizing = "finalizing",
        Finished = "finished",
        Failed = "failed",
    }
}

choice! {
    /// Why a phased task is `blocked`; only the matching answer leads out.
    pub enum BlockedReason ("reason for being blocked") {
        Dependencies = "dependencies", Gate = "gate", Input = "input", Merge = "merge",
    }
}

choice! {
    /// Whether work on a task has begun, and whether it has ended.
    pub enum StatusKind ("kind of status") { Waiting = "waiting", Active = "active", Over = "over" }
}

choice! {
    /// Whose turn it is.
    pub enum WaitsFor ("party") {
        Agent = "agent", Person = "person", Engine = "engine", Nobody = "nobody",
    }
}

/// How a front end colours a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Progress,
    Work,
    Question,
    Decision,
    Trouble,
    Success,
    Faded,
}

/// The columns of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusInfo {
    pub status: Status,
    /// Set for `blocked`, which has a row per reason.
    pub reason: Option<BlockedReason>,
    pub meaning: &'static str,
    pub kind: StatusKind,
    /// The work is in. Only of a status that is over.
    pub success: bool,
    /// The role that is expected to run, so that its end is a crash.
    pub expects: Option<Role>,
    pub waits_for: WaitsFor,
    /// The order in lists: what needs a person comes first, what is over last.
    pub rank: u8,
    /// Readable without colours.
    pub icon: &'static str,
    pub tone: Tone,
    /// How a sentence goes on after the task's name, where that is not "is STATUS".
    pub phrase: Option<&'static str>,
    /// What a person is told when a task comes here without that person's doing.
    pub notifies: Option<&'static str>,
    /// The artifact that its agent has to write before the task moves on.
    pub owes: Option<Gate>,
    /// The prompt of a worker that is started again here.
    pub respawn: Option<PromptName>,
    /// What a live worker is told when its task leaves and the table says to notify it.
    pub told_on_leaving: Option<PromptName>,
}

impl StatusInfo {
    /// A status that is not blocked, with the columns that most rows leave empty.
    pub(super) const fn new(
        status: Status,
        meaning: &'static str,
        (kind, waits_for): (StatusKind, WaitsFor),
        (rank, icon, tone): (u8, &'static str, Tone),
    ) -> StatusInfo {
        StatusInfo {
            status,
            reason: None,
            meaning,
            kind,
            success: false,
            expects: None,
            waits_for,
            rank,
            icon,
            tone,
            phrase: None,
            notifies: None,
            owes: None,
            respawn: None,
            told_on_leaving: None,
        }
    }
}

impl StatusInfo {
    /// Where a task of this row stands, as a sentence goes on after its name.
    pub(crate) fn phrase_of(&self, status: Status) -> String {
        let phrase = self.phrase.map(str::to_owned);
        phrase.unwrap_or_else(|| format!("is {status}"))
    }
}

/// In both tables, with the same columns.
pub(super) const CANCELLED: StatusInfo = StatusInfo::new(
    Status::Cancelled,
    "given up",
    (StatusKind::Over, WaitsFor::Nobody),
    (9, "–", Tone::Faded),
);

/// The first row of every status, in the order of [`Status::ALL`]. A status without a row does not compile.
static FIRST_ROWS: [&StatusInfo; Status::ALL.len()] = {
    let mut rows = [&CANCELLED; Status::ALL.len()];
    let mut at = 0;
    while at < rows.len() {
        rows[at] = match first_row(interactive::STATUSES, Status::ALL[at]) {
            Some(row) => row,
            None => match first_row(phased::STATUSES, Status::ALL[at]) {
                Some(row) => row,
                None => panic!("a status is in no table"),
            },
        };
        at += 1;
    }
    rows
};

const fn first_row(rows: &'static [StatusInfo], status: Status) -> Option<&'static StatusInfo> {
    let mut at = 0;
    while at < rows.len() {
        if rows[at].status as usize == status as usize {
            return Some(&rows[at]);
        }
        at += 1;
    }
    None
}

impl Status {
    /// Its columns. For `blocked` those of its first reason, so only those that all reasons share: see [`info_for`].
    pub fn info(self) -> &'static StatusInfo {
        FIRST_ROWS[self as usize]
    }

    /// The work is in: what waits for this task may start.
    pub fn is_over(self) -> bool {
        self.info().success
    }

    /// An agent, a reviewer or a person has, or had, the task.
    pub fn has_started(self) -> bool {
        self.info().kind != StatusKind::Waiting
    }

    /// Nothing moves the task from here.
    pub fn is_terminal(self) -> bool {
        self.info().kind == StatusKind::Over
    }

    /// Over, and its work is not in: what waits for this task waits in vain.
    pub fn is_given_up(self) -> bool {
        self.is_terminal() && !self.is_over()
    }

    /// Neither over nor waiting to be started: an agent, a reviewer or a person has it.
    pub fn is_active(self) -> bool {
        self.info().kind == StatusKind::Active
    }

    /// A reviewer has the work.
    pub fn is_in_review(self) -> bool {
        self.info().expects == Some(Role::Reviewer)
    }
}

choice! {
    /// A column of a board: whose turn it is.
    pub enum BoardColumn ("column of the board") {
        Queue = "queue", Working = "working", NeedsYou = "needs you", Review = "review", Done = "done",
    }
}

impl BoardColumn {
    /// The column of a task; without a status it is damaged. `needs_me`: it waits for a person.
    pub fn of(place: Option<(Status, Option<BlockedReason>)>, needs_me: bool) -> BoardColumn {
        let Some((status, blocked_reason)) = place else {
            return BoardColumn::NeedsYou;
        };
        let task = Task::standing_at(status, blocked_reason);
        match info_for(status, blocked_reason).kind {
            StatusKind::Over => BoardColumn::Done,
            _ if task.offers(Intent::Merge) => BoardColumn::Review,
            _ if needs_me => BoardColumn::NeedsYou,
            StatusKind::Waiting => BoardColumn::Queue,
            StatusKind::Active => BoardColumn::Working,
        }
    }
}

/// The columns of a status and, where a task is blocked, of its reason.
pub fn info_for(status: Status, reason: Option<BlockedReason>) -> &'static StatusInfo {
    let mut rows = Workflow::all().into_iter().flat_map(|table| table.statuses);
    let is_it = |row: &&StatusInfo| row.status == status && row.reason == reason;
    rows.find(is_it).unwrap_or_else(|| status.info())
}
