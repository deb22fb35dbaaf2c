//! How many tasks there are of each kind, counted whenever a row changes: `orange status` stands in shell prompts and
//! must not look at every task.

use super::query::is_over;
use super::rows::IndexRow;
use super::{Index, IndexEntry, answers};
use orange_core::task::Status;
use orange_core::workflow::{WaitsFor, info_for};
use orange_sys::error::Result;
use rusqlite::{Connection, Transaction, params};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A pending task that starts as soon as it can.
pub const QUEUED: &str = "queued";
pub const DAMAGED: &str = "damaged";

/// Numbers of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// By status, or [`QUEUED`] or [`DAMAGED`]; then how many of these need a person.
    pub kinds: BTreeMap<String, TaskCount>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskCount {
    pub tasks: usize,
    pub need_me: usize,
}

/// A task at which an agent should be, and that does not need a person otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attended {
    number: i64,
    pub folder: String,
    pub status: String,
}

pub(super) fn counts_as(entry: &IndexEntry) -> &str {
    let status = entry.task.status;
    if entry.damaged.is_some() {
        DAMAGED
    } else if entry.task.is_queued() {
        QUEUED
    } else {
        status.as_str()
    }
}

/// As far as the task itself tells.
pub(super) fn needs_me(entry: &IndexEntry) -> bool {
    let task = &entry.task;
    let open = !task.status.is_terminal();
    let waits = || info_for(task.status, task.blocked_reason).waits_for == WaitsFor::Person;
    entry.damaged.is_some() || open && (entry.noted.attention.is_some() || waits())
}

/// What a transaction changes in the counts.
#[derive(Default)]
pub(super) struct Tally {
    changes: HashMap<(String, String, bool), i64>,
}

impl Tally {
    pub(super) fn add(&mut self, (project, counts_as, needs_me): (&str, &str, bool), by: i64) {
        let kind = (project.to_owned(), counts_as.to_owned(), needs_me);
        *self.changes.entry(kind).or_default() += by;
    }

    pub(super) fn write(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut change = transaction.prepare_cached(
            "INSERT INTO counts VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks",
        )?;
        let changed = self.changes.into_iter().filter(|(_, by)| *by != 0);
        for ((project, counts_as, needs_me), by) in changed {
            change.execute(params![project, counts_as, needs_me, by])?;
        }
        Ok(())
    }
}

/// Whether it waits for a cancelled task; and, if it is one, who waits for it.
pub(super) fn note_cancelled(
    transaction: &Transaction<'_>,
    number: i64,
    row: &IndexRow,
) -> rusqlite::Result<()> {
    // Preparing a question costs more than asking it, and most tasks wait for none.
    if row.has_blockers() {
        let own = format!("{NOTE} AND links.task = ?1");
        transaction.prepare_cached(&own)?.execute([number])?;
    }
    let (project, counts_as, _) = row.counted();
    if counts_as.parse().is_ok_and(Status::is_given_up) {
        mark(transaction, project, row.key.map(|key| key.number), true)?;
    }
    Ok(())
}

/// The same for all tasks at once.
pub(super) fn note_all_cancelled(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute(NOTE, []).map(drop)
}

const NOTE: &str = "UPDATE links SET is_cancelled = 1 WHERE kind = 'blocked_by' AND EXISTS (
    SELECT 1 FROM tasks INDEXED BY idx_tasks_project
    WHERE project = target_project AND key_number = target_key AND status_kind = 'over' AND NOT success)";

/// Clears the note "a blocker was cancelled" on tasks that waited for a cancelled task whose row is removed.
pub(super) fn forget_cancelled(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    let mut find = transaction.prepare_cached(
        "SELECT project, key_number FROM tasks WHERE number = ?1 AND status_kind = 'over' AND NOT success",
    )?;
    let mut rows = find.query([number])?;
    match rows.next()? {
        Some(row) => mark(transaction, row.get_ref(0)?.as_str()?, row.get(1)?, false),
        None => Ok(()),
    }
}

fn mark(
    transaction: &Transaction<'_>,
    project: &str,
    key: Option<u32>,
    cancelled: bool,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE links SET is_cancelled = ?3
             WHERE target_project = ?1 AND target_key = ?2 AND kind = 'blocked_by'",
        )?
        .execute(params![project, key, cancelled])
        .map(drop)
}

impl Index {
    /// The index as it is: no file is looked at. `is_left` says of a task at which an agent should be whether it is
    /// without one.
    pub fn counts(
        &self,
        project: Option<&str>,
        is_left: &dyn Fn(&Attended) -> bool,
    ) -> Result<Counts> {
        self.ask(|connection| {
            let mut counts = own_counts(connection, project)?;
            let mut more = needed_for_others(connection, project)?;
            for task in attended(connection, project)? {
                if is_left(&task) {
                    more.insert((task.number, task.status));
                }
            }
            for (_, kind) in more {
                counts.kinds.entry(kind).or_default().need_me += 1;
            }
            Ok(counts)
        })
    }

    /// The folders of tasks that wait in the queue, in all projects. No other task is looked at, however many are pending.
    pub fn queued(&self) -> Result<Vec<String>> {
        self.ask(|connection| {
            let counts = own_counts(connection, None)?.kinds;
            if counts.get(QUEUED).is_none_or(|count| count.tasks == 0) {
                return Ok(Vec::new());
            }
            let sql = "SELECT folder FROM tasks WHERE status_kind = 'waiting' AND counts_as = ?1";
            answers(connection, sql, [QUEUED], |row| row.get(0))
        })
    }
}

/// How many tasks there are.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<usize> {
    let sql = "SELECT COALESCE(SUM(tasks), 0) FROM counts";
    let number: i64 = connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?;
    Ok(usize::try_from(number).unwrap_or(0))
}

/// How many tasks are over in these projects; in all, if none is named.
pub(super) fn over(connection: &Connection, projects: &[String]) -> rusqlite::Result<usize> {
    let mut query = connection.prepare_cached("SELECT project, counts_as, tasks FROM counts")?;
    let mut rows = query.query([])?;
    let mut over = 0;
    while let Some(row) = rows.next()? {
        let project = row.get_ref(0)?.as_str()?;
        let among = projects.is_empty() || projects.iter().any(|name| name == project);
        if among && is_over(row.get_ref(1)?.as_str()?) {
            over += usize::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
        }
    }
    Ok(over)
}

fn own_counts(connection: &Connection, project: Option<&str>) -> rusqlite::Result<Counts> {
    let mut counts = Counts::default();
    let mut query = connection.prepare_cached(
        "SELECT counts_as, needs_me, tasks FROM counts WHERE ?1 IS NULL OR project = ?1",
    )?;
    let mut rows = query.query([project])?;
    while let Some(row) = rows.next()? {
        let tasks = usize::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
        let count = counts.kinds.entry(row.get(0)?).or_default();
        count.tasks += tasks;
        if row.get(1)? {
            count.need_me += tasks;
        }
    }
    Ok(counts)
}

/// Cancelled tasks are few and those that wait for them fewer: CROSS JOIN, so that these come first and not every
/// task that is open.
const WAITING: &str = "SELECT number, counts_as FROM links INDEXED BY idx_links_cancelled
     CROSS JOIN tasks ON number = links.task
     WHERE kind = 'blocked_by' AND is_cancelled AND status_kind = 'waiting' AND NOT needs_me
       AND (?1 IS NULL OR project = ?1)";
const BEREFT: &str = "SELECT parent.number, parent.counts_as
     FROM tasks AS child INDEXED BY idx_tasks_cancelled
     CROSS JOIN tasks AS parent
       ON parent.project = child.parent_project AND parent.key_number = child.parent_key
     WHERE child.parent_key IS NOT NULL AND child.status_kind = 'over' AND NOT child.success
       AND parent.status_kind <> 'over' AND NOT parent.needs_me
       AND (?1 IS NULL OR parent.project = ?1)";
const ATTENDED: &str = "SELECT number, folder, status FROM tasks INDEXED BY idx_tasks_with_agents
     WHERE tmux_session IS NOT NULL AND expects IS NOT NULL
       AND NOT needs_me AND (?1 IS NULL OR project = ?1)";

/// Tasks that need a person because one they wait for, or a child, was cancelled; with what they count as.
fn needed_for_others(
    connection: &Connection,
    project: Option<&str>,
) -> rusqlite::Result<HashSet<(i64, String)>> {
    let mut found = HashSet::new();
    for sql in [WAITING, BEREFT] {
        found.extend(answers(connection, sql, [project], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?);
    }
    Ok(found)
}

fn attended(connection: &Connection, project: Option<&str>) -> rusqlite::Result<Vec<Attended>> {
    answers(connection, ATTENDED, [project], |row| {
        Ok(Attended {
            number: row.get(0)?,
            folder: row.get(1)?,
            status: row.get(2)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    /// A prompt is drawn with these: whatever they begin with must be few, however many tasks there are.
    #[test]
    fn what_is_counted_anew_begins_with_an_index_of_few() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        store.ensure_home().unwrap();
        let index = Index::open(&store).unwrap();
        for (sql, few) in [
            (WAITING, "idx_links_cancelled"),
            (BEREFT, "idx_tasks_cancelled"),
            (ATTENDED, "idx_tasks_with_agents"),
        ] {
            let plan = format!("EXPLAIN QUERY PLAN {sql}");
            let first: String = index
                .connections
                .with(|connection| {
                    connection.query_row(&plan, [None::<&str>], |row| row.get("detail"))
                })
                .unwrap();
            assert!(first.contains(few), "{first}: {sql}");
        }
        let plan = format!("EXPLAIN QUERY PLAN {}", crate::index::list::OPEN_BLOCKERS);
        let steps: Vec<String> = index
            .connections
            .with(|connection| {
                let mut query = connection.prepare(&plan)?;
                query.query_map([], |row| row.get("detail"))?.collect()
            })
            .unwrap();
        let covered = steps
            .iter()
            .filter(|step| step.contains("COVERING INDEX idx_tasks_project"));
        assert_eq!(covered.count(), 1, "{steps:?}");
    }
}
