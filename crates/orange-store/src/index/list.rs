//! `task list`: which rows, in which order, and the columns of each.

use super::line::PackedLine;
use super::query::{is_over, prefix_at};
use super::refresh::{KnownRows, each_line};
use super::rows::{NOT_OVER, unpacked};
use super::{DiffStat, Index, answers, counts, open_as_it_is};
use crate::Store;
use orange_core::TaskName;
use orange_core::id::{Key, StoredReference};
use orange_core::machine::Linked;
use orange_core::task::{Priority, Status};
use orange_core::usage::{Spending, Usage};
use orange_core::verification::LastCheck;
use orange_core::workflow::{BlockedReason, StatusInfo, StatusKind, info_for};
use orange_sys::error::Result;
use rusqlite::{Connection, OptionalExtension};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

/// A line of `task list`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTask {
    /// The index's own number of the task.
    number: i64,
    pub folder: String,
    pub id: String,
    pub key: Option<Key>,
    pub project: String,
    pub branch: String,
    pub status: String,
    pub summary: String,
    pub priority: i64,
    pub updated_second: i64,
    pub damaged: Option<String>,
    pub attention: Option<String>,
    /// It waits for a person: by its status, because something is to be looked at, or because its agent is gone.
    pub needs_me: bool,
    /// Its last check, as long as it is not over.
    pub check: Option<LastCheck>,
    /// The commit that a review passed, as long as the task waits for a decision about it.
    pub reviewed: Option<String>,
    /// What its agents used.
    pub spending: Spending,
    /// It has a tmux session, so an agent is expected while it is active.
    pub has_session: bool,
    /// The branch it goes into, where that is not the project's own.
    pub target: Option<String>,
    /// How much its branch changes; none unless asked for, and none where that is not known.
    pub diff: Option<Box<DiffStat>>,
    /// References that are not over, with their status.
    pub waits_for: Vec<AwaitedTask>,
    /// Why it is blocked.
    pub reason: Option<BlockedReason>,
    /// The phase of its plan that it is in.
    pub phase: Option<String>,
    /// How far that is; filled in by the engine.
    pub progress: Option<PhaseProgress>,
    /// What prices make of what its turns and runs used, if its agents did not tell all of the cost; filled in by the engine.
    pub cost: Option<Usage>,
    /// The task as one JSON object; empty unless asked for.
    pub fields: String,
}

/// How many iterations a phase has used of those that it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PhaseProgress {
    pub iteration: u32,
    pub max_iterations: u32,
}

/// A task that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaitedTask {
    /// As the waiting task names it.
    pub reference: String,
    /// None: there is no such task.
    pub status: Option<Status>,
}

impl fmt::Display for AwaitedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{} ({status})", self.reference),
            None => write!(f, "{} (no such task)", self.reference),
        }
    }
}

impl Serialize for AwaitedTask {
    fn serialize<S: Serializer>(&self, out: S) -> std::result::Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl ListedTask {
    pub fn name(&self) -> TaskName {
        TaskName::new(&self.project, self.key, &self.id)
    }

    /// The columns of where it stands; None for a word that this program does not know.
    pub fn info(&self) -> Option<&'static StatusInfo> {
        Some(info_for(self.status.parse().ok()?, self.reason))
    }

    /// `implement 2/10`: the phase that it is in, and how far that is.
    pub fn phase_in_words(&self) -> Option<String> {
        let phase = self.phase.as_deref()?;
        Some(match self.progress {
            Some(PhaseProgress {
                iteration,
                max_iterations,
            }) => format!("{phase} {iteration}/{max_iterations}"),
            None => phase.to_owned(),
        })
    }

    fn is_waiting(&self) -> bool {
        self.info()
            .is_some_and(|info| info.kind == StatusKind::Waiting)
    }
}

/// What is listed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    pub rows: Vec<ListedTask>,
    /// Terminal tasks that are left out only because they have been over for long.
    pub older: usize,
    /// Those that the limit leaves out.
    pub more: usize,
}

/// Which tasks to list. Empty lists mean: all.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    pub projects: Vec<String>,
    pub statuses: Vec<String>,
    pub queues: Vec<String>,
    pub categories: Vec<String>,
    pub priorities: Vec<Priority>,
    pub tags: Vec<String>,
    /// Terminal tasks too.
    pub all: bool,
    /// Terminal tasks that changed since then too: a second since 1970.
    pub over_since: Option<i64>,
    /// Only tasks that could be started now.
    pub ready: bool,
    /// Only tasks that wait for a person.
    pub needs_me: bool,
    pub search: Option<String>,
    /// Folders in whose bodies or histories the searched words stand; filled in by the engine.
    pub found: HashSet<String>,
    /// Nothing but those: the search says what is not wanted.
    pub only_found: bool,
    pub limit: Option<usize>,
    /// Fill in [`ListedTask::fields`].
    pub with_fields: bool,
    /// Fill in [`ListedTask::diff`] of active tasks.
    pub with_diff: bool,
}

/// What a list is made of, read in one transaction: the numbers of tasks change when they are written.
struct Selected {
    rows: Vec<ListedTask>,
    older: usize,
    /// For every task with blockers that are not over, by its number: those blockers.
    waiting: HashMap<i64, Vec<Blocker>>,
    /// Projects and keys of parents of which a child was cancelled.
    bereft: HashSet<(String, u32)>,
}

/// A task that another one waits for, with the key that it has, if there is one.
struct Blocker {
    task: StoredReference,
    status: Option<Status>,
}

/// What the index does not know by itself and a list has to.
pub struct ListFacts<'a> {
    /// The status of a task that is over and in the trash.
    pub deleted: &'a dyn Fn(&str, u32) -> Option<Status>,
    /// Whether the agent that a task waits for is gone.
    pub is_left: &'a dyn Fn(&ListedTask) -> bool,
    /// What is to be said of tasks whose workspaces were deleted, by their ids.
    pub lost: &'a BTreeMap<String, String>,
}

impl Index {
    /// The tasks a filter lets through, in the order a person wants to see them.
    pub fn list(&self, filter: &TaskFilter, outside: &ListFacts<'_>) -> Result<Listing> {
        let list =
            |connection: &Connection| known_list(connection, filter, filter.since(), outside);
        let (_, listing) = self.ask(list)?;
        Ok(listing)
    }

    /// The same after a look at every TASK.md that matters, unless that was done a moment ago. What is made of the rows is
    /// made during that look, and once more should it find something.
    pub fn fresh_list<T>(
        &self,
        filter: &TaskFilter,
        outside: &ListFacts<'_>,
        show: impl Fn(Listing) -> T,
    ) -> Result<T> {
        if self.is_fresh() {
            return self.list(filter, outside).map(show);
        }
        self.refreshed(filter.since(), |connection, since| {
            let (known, listing) = known_list(connection, filter, since, outside)?;
            Ok((known, show(listing)))
        })
    }
}

static NONE_LOST: BTreeMap<String, String> = BTreeMap::new();

impl ListFacts<'static> {
    /// Nothing is known but what the index knows.
    pub fn nothing() -> ListFacts<'static> {
        ListFacts {
            deleted: &|_, _| None,
            is_left: &|_| false,
            lost: &NONE_LOST,
        }
    }
}

/// The tasks as index.db has them, without a look at the disk: nothing is written, repaired or waited for, and
/// where it cannot be read there are none.
pub fn as_it_is(store: &Store, filter: &TaskFilter) -> Vec<ListedTask> {
    let listing = open_as_it_is(store).and_then(|connection| {
        known_list(&connection, filter, filter.since(), &ListFacts::nothing()).ok()
    });
    listing.map(|(_, listing)| listing.rows).unwrap_or_default()
}

impl TaskFilter {
    /// Of tasks that are over only those matter that changed since then. None: each of them does, because it is listed, or
    /// counted by more than its project.
    fn since(&self) -> Option<i64> {
        let chosen = !self.queues.is_empty()
            || !self.categories.is_empty()
            || !self.priorities.is_empty()
            || !self.tags.is_empty()
            || self.search.is_some();
        if self.all || self.statuses.iter().any(|status| is_over(status)) {
            None
        } else if self.ready || self.needs_me || !self.statuses.is_empty() {
            Some(NOT_OVER)
        } else {
            (!chosen).then(|| self.over_since.unwrap_or(NOT_OVER))
        }
    }
}

/// One pass over all tasks that are not over or were later than `since`: what a refresh has to know of each, and those the
/// filter lets through. In one go: the disk is looked at meanwhile.
fn known_list(
    connection: &Connection,
    filter: &TaskFilter,
    since: Option<i64>,
    outside: &ListFacts<'_>,
) -> rusqlite::Result<(KnownRows, Listing)> {
    let transaction = connection.unchecked_transaction()?;
    let (mut known, mut rows, mut older) = (KnownRows::default(), Vec::new(), 0);
    let filter = TaskFilter {
        search: filter.search.as_ref().map(|text| text.to_lowercase()),
        ..filter.clone()
    };
    known.complete = each_line(&transaction, since, |number, line| {
        known.push(&line);
        if keeps(&filter, &line) {
            if is_older(&filter, &line) {
                older += 1
            } else {
                rows.push(listed(number, &line))
            }
        }
    })?;
    if since.is_some() && filter.statuses.is_empty() && !filter.ready && !filter.needs_me {
        let over = |row: &&ListedTask| row.damaged.is_none() && is_over(&row.status);
        older = counts::over(&transaction, &filter.projects)?
            .saturating_sub(rows.iter().filter(over).count());
    }
    if filter.with_fields {
        let mut query = transaction.prepare_cached("SELECT fields FROM tasks WHERE number = ?1")?;
        for row in &mut rows {
            let fields =
                query.query_row([row.number], |row| Ok(unpacked(row.get_ref(0)?.as_str()?)));
            row.fields = fields.optional()?.ok_or_else(torn)?;
        }
    }
    let selected = Selected {
        older,
        waiting: open_blockers(&transaction, &rows)?,
        bereft: parents_of_cancelled(&transaction)?,
        rows,
    };
    transaction.commit()?;
    Ok((known, selected.arranged(&filter, outside)))
}

/// Two tables that do not fit together: the index has to be rebuilt.
fn torn() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, Some("a line without its task".into()))
}

impl Selected {
    fn arranged(mut self, filter: &TaskFilter, outside: &ListFacts<'_>) -> Listing {
        let mut rows = std::mem::take(&mut self.rows);
        for row in &mut rows {
            self.note(row, outside);
        }
        if filter.ready {
            rows.retain(|row| {
                row.is_waiting() && row.waits_for.is_empty() && row.damaged.is_none()
            });
        }
        if filter.needs_me {
            rows.retain(|row| row.needs_me);
        }
        sort(&mut rows);
        let found = rows.len();
        if let Some(limit) = filter.limit {
            rows.truncate(limit);
        }
        Listing {
            more: found - rows.len(),
            rows,
            older: if filter.ready || filter.needs_me {
                0
            } else {
                self.older
            },
        }
    }

    /// What is to be said of a task because of others.
    fn note(&self, row: &mut ListedTask, outside: &ListFacts<'_>) {
        if row.is_waiting()
            && let Some(open) = self.waiting.get(&row.number)
        {
            let over = |link: &&Blocker| {
                let (project, number) = (&link.task.project, link.task.number);
                link.status.is_none() && (outside.deleted)(project, number).is_some()
            };
            let open: Vec<Linked> = open
                .iter()
                .filter(|link| !over(link))
                .map(|link| link.seen_from(&row.project))
                .collect();
            note_blockers(row, &open);
        }
        let is_bereft = |key: Key| self.bereft.contains(&(row.project.clone(), key.number));
        let has_children = !self.bereft.is_empty() && !is_over(&row.status);
        if has_children && row.key.is_some_and(is_bereft) {
            row.attention
                .get_or_insert_with(|| "a child was cancelled".to_owned());
        }
        if let Some(lost) = outside.lost.get(&row.id) {
            row.attention = Some(match row.attention.take() {
                Some(before) => format!("{lost}; {before}"),
                None => lost.clone(),
            });
        }
        let attention = row.attention.is_some() && !is_over(&row.status);
        row.needs_me = row.needs_me || attention || (outside.is_left)(row);
    }
}

impl Blocker {
    fn seen_from(&self, project: &str) -> Linked {
        Linked {
            reference: self.task.written_in(project),
            status: self.status,
        }
    }
}

fn sort(rows: &mut [ListedTask]) {
    let projects: BTreeSet<&String> = rows.iter().map(|row| &row.project).collect();
    let projects: Vec<String> = projects.into_iter().cloned().collect();
    // One number, because thousands of comparisons are made with it.
    let rank = |row: &ListedTask| {
        let project = projects.partition_point(|name| *name < row.project) as u64;
        let key = row.key.map_or(u32::MAX, |key| key.number);
        u64::from(!row.needs_me) << 63
            | project << 48
            | attention_order(row) << 40
            | (row.priority as u64) << 32
            | u64::from(key)
    };
    rows.sort_by_cached_key(rank);
    // Without a key, or with that of another: copied folders.
    let alike =
        |one: &ListedTask, next: &ListedTask| one.key == next.key && rank(one) == rank(next);
    for run in rows.chunk_by_mut(alike) {
        run.sort_by(|one, other| (&one.id, &one.folder).cmp(&(&other.id, &other.folder)));
    }
}

fn note_blockers(row: &mut ListedTask, open: &[Linked]) {
    row.waits_for = open
        .iter()
        .map(|link| AwaitedTask {
            reference: link.reference.clone(),
            status: link.status,
        })
        .collect();
    let cancelled = open
        .iter()
        .find(|link| link.status.is_some_and(Status::is_given_up));
    if let Some(link) = cancelled {
        row.attention
            .get_or_insert_with(|| format!("{} was cancelled", link.reference));
    }
}

fn parents_of_cancelled(connection: &Connection) -> rusqlite::Result<HashSet<(String, u32)>> {
    let sql = "SELECT DISTINCT parent_project, parent_key FROM tasks INDEXED BY idx_tasks_cancelled
         WHERE parent_key IS NOT NULL AND status_kind = 'over' AND NOT success";
    let parents = answers(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(parents.into_iter().collect())
}

/// No task's row is read for it, only its index.
pub(super) const OPEN_BLOCKERS: &str =
    "SELECT task, target_project, target_key, status, coalesce(key_prefix, target_prefix)
     FROM links INDEXED BY idx_links_blockers
     LEFT JOIN tasks INDEXED BY idx_tasks_project
     ON project = target_project AND key_number = target_key
     WHERE kind = 'blocked_by' AND success IS NOT 1";

/// Of the tasks in a list, or of all where that is quicker.
fn open_blockers(
    connection: &Connection,
    rows: &[ListedTask],
) -> rusqlite::Result<HashMap<i64, Vec<Blocker>>> {
    const FEW: usize = 500;
    let mut waiting: HashMap<i64, Vec<Blocker>> = HashMap::new();
    let mut add = |row: &rusqlite::Row<'_>| -> rusqlite::Result<()> {
        let status: Option<String> = row.get(3)?;
        waiting.entry(row.get(0)?).or_default().push(Blocker {
            task: StoredReference {
                project: row.get(1)?,
                number: row.get(2)?,
                prefix: prefix_at(row, 4)?,
            },
            status: status.and_then(|word| word.parse().ok()),
        });
        Ok(())
    };
    if rows.len() > FEW {
        let mut query = connection.prepare_cached(OPEN_BLOCKERS)?;
        query
            .query_map([], &mut add)?
            .collect::<rusqlite::Result<()>>()?;
        return Ok(waiting);
    }
    let mut query = connection.prepare_cached(&format!("{OPEN_BLOCKERS} AND task = ?1"))?;
    for row in rows.iter().filter(|row| row.is_waiting()) {
        let found = query.query_map([row.number], &mut add)?;
        found.collect::<rusqlite::Result<()>>()?;
    }
    Ok(waiting)
}

/// What needs a person comes first, what is over last; a word that is no status comes after these.
fn attention_order(row: &ListedTask) -> u64 {
    row.info()
        .map_or(u64::from(u8::MAX), |info| info.rank.into())
}

/// Would it be listed if it were not over, or not for so long? Who names a status wants all tasks that have it.
fn is_older(filter: &TaskFilter, line: &PackedLine<'_>) -> bool {
    let recent = || (filter.over_since).is_some_and(|since| line.updated_second >= since);
    !filter.all
        && filter.statuses.is_empty()
        && line.damaged.is_none()
        && is_over(line.status)
        && !recent()
}

/// The filter's search is in lower case.
fn keeps(filter: &TaskFilter, line: &PackedLine<'_>) -> bool {
    let among = |wanted: &[String], value: &str| {
        wanted.is_empty() || wanted.iter().any(|word| word == value)
    };
    let urgent_enough = filter.priorities.is_empty()
        || (filter.priorities.iter()).any(|wanted| *wanted as i64 == line.priority);
    let tagged = (filter.tags.iter()).all(|wanted| line.tags.lines().any(|tag| tag == wanted));
    among(&filter.projects, line.project)
        && among(&filter.statuses, line.status)
        && among(&filter.queues, line.queue)
        && among(&filter.categories, line.category)
        && urgent_enough
        && tagged
        && (filter.search.as_ref()).is_none_or(|wanted| {
            filter.found.contains(line.folder) || !filter.only_found && says(line, wanted)
        })
}

/// Parts of words count as well.
fn says(line: &PackedLine<'_>, wanted: &str) -> bool {
    let key = line.key.map(|key| key.to_string()).unwrap_or_default();
    [line.summary, line.branch, line.id, line.tags, &key]
        .iter()
        .any(|text| text.to_lowercase().contains(wanted))
}

fn listed(number: i64, line: &PackedLine<'_>) -> ListedTask {
    ListedTask {
        number,
        folder: line.folder.to_owned(),
        id: line.id.to_owned(),
        key: line.key,
        project: line.project.to_owned(),
        branch: line.branch.to_owned(),
        status: line.status.to_owned(),
        summary: line.summary.to_owned(),
        priority: line.priority,
        updated_second: line.updated_second,
        damaged: line.damaged.map(str::to_owned),
        attention: line.attention.map(str::to_owned),
        needs_me: line.needs_me,
        check: line.check.map(|state| LastCheck {
            state,
            head: line.checked.map(str::to_owned),
        }),
        reviewed: line.reviewed.map(str::to_owned),
        // Without it nothing is said about the cost.
        spending: line
            .spending
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default(),
        has_session: line.session.is_some(),
        target: line.target.map(str::to_owned),
        diff: None,
        waits_for: Vec::new(),
        reason: line.reason,
        phase: line.phase.map(str::to_owned),
        progress: None,
        cost: None,
        fields: String::new(),
    }
}
