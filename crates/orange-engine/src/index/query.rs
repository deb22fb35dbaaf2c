//! Questions to the index: one task by any of its names, lists, links, who holds a slot.

use super::line::Line;
use super::refresh::Known;
use super::{Index, failed, unpacked};
use crate::error::Result;
use crate::store::Store;
use orange_core::id::{ID_LENGTH, Key};
use orange_core::machine::Linked;
use orange_core::task::{Priority, Status, is_active};
use rusqlite::{OptionalExtension, Row, params};
use std::collections::HashMap;

/// Enough of a task to name it and find its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub folder: String,
    pub id: String,
    pub project: String,
    pub key: Option<Key>,
    pub branch: String,
    pub status: String,
    pub summary: String,
}

const FOUND: &str = "folder, id, project, key_number, branch, status, summary";

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        folder: row.get(0)?,
        id: row.get(1)?,
        project: row.get(2)?,
        key: row.get::<_, Option<u32>>(3)?.map(Key),
        branch: row.get(4)?,
        status: row.get(5)?,
        summary: row.get(6)?,
    })
}

/// A line of `task list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
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
    /// References that are not over, with their status.
    pub waits_for: Vec<String>,
    /// The task as one JSON object; empty unless asked for.
    pub fields: String,
}

/// Which tasks to list. Empty lists mean: all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub projects: Vec<String>,
    pub statuses: Vec<String>,
    pub queues: Vec<String>,
    pub categories: Vec<String>,
    pub priorities: Vec<Priority>,
    pub tags: Vec<String>,
    /// Terminal tasks too.
    pub all: bool,
    /// Only tasks that could be started now.
    pub ready: bool,
    pub search: Option<String>,
    pub limit: Option<usize>,
    /// Fill in [`Listed::fields`].
    pub with_fields: bool,
}

impl Index {
    pub fn by_key(&self, project: &str, key: Key) -> Result<Option<Found>> {
        self.connection
            .prepare_cached(&format!(
                "SELECT {FOUND} FROM tasks WHERE project = ?1 AND key_number = ?2"
            ))
            .and_then(|mut query| query.query_row(params![project, key.0], found).optional())
            .map_err(|error| failed(&error))
    }

    /// Tasks whose id begins so; an exact match stands alone.
    pub fn by_id_prefix(&self, prefix: &str) -> Result<Vec<Found>> {
        let rows = self.many(
            &format!("SELECT {FOUND} FROM tasks WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 20"),
            params![prefix, format!("{prefix}\u{10FFFF}")],
        )?;
        let exact: Vec<Found> = rows
            .iter()
            .filter(|row| row.id == prefix)
            .cloned()
            .collect();
        Ok(if exact.is_empty() { rows } else { exact })
    }

    /// Every task of that branch, live ones first.
    pub fn by_branch(&self, project: &str, branch: &str) -> Result<Vec<Found>> {
        let mut rows = self.many(
            &format!("SELECT {FOUND} FROM tasks WHERE project = ?1 AND branch = ?2"),
            params![project, branch],
        )?;
        rows.sort_by_key(|row| is_over(&row.status));
        Ok(rows)
    }

    pub fn by_workspace(&self, project: &str, workspace: &str) -> Result<Option<Found>> {
        let rows = self.many(
            &format!("SELECT {FOUND} FROM tasks WHERE project = ?1 AND workspace = ?2"),
            params![project, workspace],
        )?;
        Ok(rows.into_iter().find(|row| !is_over(&row.status)))
    }

    /// Tasks that hold a slot of the project.
    pub fn slot_holders(&self, project: &str) -> Result<Vec<Found>> {
        let rows = self.many(
            &format!(
                "SELECT {FOUND} FROM tasks INDEXED BY idx_tasks_workspace
                 WHERE project = ?1 AND workspace IS NOT NULL ORDER BY key_number"
            ),
            params![project],
        )?;
        Ok(rows
            .into_iter()
            .filter(|row| row.status.parse().is_ok_and(is_active))
            .collect())
    }

    pub fn children_of(&self, project: &str, key: Key) -> Result<Vec<Found>> {
        self.many(
            &format!(
                "SELECT {FOUND} FROM tasks WHERE parent_project = ?1 AND parent_key = ?2
                 ORDER BY key_number"
            ),
            params![project, key.0],
        )
    }

    /// Tasks that name this one: `blocked_by`, `related_to` or `mentions`.
    pub fn linked_to(&self, kind: &str, project: &str, key: Key) -> Result<Vec<Found>> {
        self.many(
            &format!(
                "SELECT {FOUND} FROM links JOIN tasks ON tasks.number = links.task
                 WHERE kind = ?1 AND target_project = ?2 AND target_key = ?3 ORDER BY key_number"
            ),
            params![kind, project, key.0],
        )
    }

    /// The `blocked_by` of a task, as (project, key).
    pub fn blockers_of(&self, project: &str, key: Key) -> Result<Vec<(String, Key)>> {
        self.connection
            .prepare_cached(
                "SELECT target_project, target_key FROM tasks JOIN links ON links.task = tasks.number
                 WHERE tasks.project = ?1 AND tasks.key_number = ?2 AND kind = 'blocked_by'",
            )
            .and_then(|mut query| {
                query
                    .query_map(params![project, key.0], |row| {
                        Ok((row.get(0)?, Key(row.get(1)?)))
                    })?
                    .collect()
            })
            .map_err(|error| failed(&error))
    }

    /// Projects that have tasks, registered or not.
    pub fn project_names(&self) -> Result<Vec<String>> {
        self.connection
            .prepare_cached("SELECT DISTINCT project FROM tasks ORDER BY project")
            .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect())
            .map_err(|error| failed(&error))
    }

    /// Tasks without a key, oldest first.
    pub fn keyless(&self, project: &str) -> Result<Vec<Found>> {
        self.many(
            &format!(
                "SELECT {FOUND} FROM tasks WHERE project = ?1 AND key_number IS NULL
                 ORDER BY created_at, id"
            ),
            params![project],
        )
    }

    pub fn highest_key(&self, project: &str) -> Result<u32> {
        self.connection
            .query_row(
                "SELECT coalesce(max(key_number), 0) FROM tasks WHERE project = ?1",
                [project],
                |row| row.get(0),
            )
            .map_err(|error| failed(&error))
    }

    /// Ids and keys that more than one folder claims.
    pub fn doubles(&self) -> Result<Vec<(String, Vec<String>)>> {
        let mut all = Vec::new();
        for (what, group) in [("id", "id"), ("key", "project, key_number")] {
            let sql = format!(
                "SELECT group_concat(folder, char(10)), {} FROM tasks
                 WHERE {what} IS NOT NULL GROUP BY {group} HAVING count(*) > 1",
                if what == "id" {
                    "id"
                } else {
                    "project || ':TASK-' || key_number"
                },
                what = if what == "id" { "id" } else { "key_number" },
            );
            let rows: Vec<(String, String)> = self
                .connection
                .prepare(&sql)
                .and_then(|mut query| {
                    query
                        .query_map([], |row| Ok((row.get(1)?, row.get(0)?)))?
                        .collect()
                })
                .map_err(|error| failed(&error))?;
            all.extend(rows.into_iter().map(|(name, folders)| {
                (
                    format!("{what} {name}"),
                    folders.lines().map(str::to_owned).collect(),
                )
            }));
        }
        Ok(all)
    }

    fn many(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<Vec<Found>> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut query| query.query_map(parameters, found)?.collect())
            .map_err(|error| failed(&error))
    }

    /// The tasks a filter lets through, in the order a person wants to see them.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        let (_, rows) = self.known_list(filter).map_err(|error| failed(&error))?;
        Ok(rows)
    }

    /// The same after a look at every TASK.md.
    pub fn fresh_list(&mut self, store: &Store, filter: &Filter) -> Result<Vec<Listed>> {
        let (_, rows) = self.refreshed(store, |index| index.known_list(filter))?;
        Ok(rows)
    }

    fn known_list(&self, filter: &Filter) -> rusqlite::Result<(Known, Vec<Listed>)> {
        let (known, rows) = self.scan(filter)?;
        Ok((known, self.arranged(rows, filter)?))
    }

    /// One pass over all tasks: what a refresh has to know of each, and those the filter lets through.
    fn scan(&self, filter: &Filter) -> rusqlite::Result<(Known, Vec<Listed>)> {
        let (mut known, mut kept) = (Known::default(), Vec::new());
        let filter = Filter {
            search: filter.search.as_ref().map(|text| text.to_lowercase()),
            ..filter.clone()
        };
        self.each_line(|number, line| {
            known.push(&line);
            if keeps(&filter, &line) {
                kept.push(listed(number, &line));
            }
        })?;
        if filter.with_fields {
            let mut query = self
                .connection
                .prepare_cached("SELECT fields FROM tasks WHERE folder = ?1")?;
            for task in &mut kept {
                task.fields = query.query_row([&task.folder], |row| Ok(unpacked(text(row)?)))?;
            }
        }
        Ok((known, kept))
    }

    fn arranged(&self, mut rows: Vec<Listed>, filter: &Filter) -> rusqlite::Result<Vec<Listed>> {
        let waiting = self.open_blockers()?;
        for row in &mut rows {
            if row.status == Status::Pending.as_str()
                && let Some(open) = waiting.get(&row.number)
            {
                let open: Vec<Linked> = open
                    .iter()
                    .map(|link| link.seen_from(&row.project))
                    .collect();
                row.waits_for = open
                    .iter()
                    .map(|link| match link.status {
                        Some(status) => format!("{} ({status})", link.reference),
                        None => format!("{} (no such task)", link.reference),
                    })
                    .collect();
                if let Some(cancelled) = open
                    .iter()
                    .find(|link| link.status == Some(Status::Cancelled))
                {
                    row.attention
                        .get_or_insert_with(|| format!("{} was cancelled", cancelled.reference));
                }
            }
        }
        if filter.ready {
            rows.retain(|row| {
                row.status == Status::Pending.as_str()
                    && row.waits_for.is_empty()
                    && row.damaged.is_none()
            });
        }
        let mut projects: Vec<String> = Vec::new();
        for row in &rows {
            if !projects.contains(&row.project) {
                projects.push(row.project.clone());
            }
        }
        projects.sort();
        rows.sort_by_cached_key(|row| {
            let mut id = [0; ID_LENGTH];
            let shared = row.id.len().min(ID_LENGTH);
            id[..shared].copy_from_slice(&row.id.as_bytes()[..shared]);
            let project = projects.partition_point(|name| *name < row.project) as u64;
            let key = row.key.map_or(u32::MAX, |key| key.0);
            // One number, because thousands of comparisons are made with it.
            let rank = project << 16 | attention_order(&row.status) << 8 | row.priority as u64;
            (rank << 32 | u64::from(key), id)
        });
        if let Some(limit) = filter.limit {
            rows.truncate(limit);
        }
        Ok(rows)
    }

    /// For every task with blockers that are not over: those blockers. No task's row is read for it.
    fn open_blockers(&self) -> rusqlite::Result<HashMap<i64, Vec<Blocker>>> {
        let mut waiting: HashMap<i64, Vec<Blocker>> = HashMap::new();
        let mut query = self.connection.prepare_cached(
            "SELECT task, target_project, target_key, status
             FROM links INDEXED BY idx_links_blockers
             LEFT JOIN tasks INDEXED BY idx_tasks_project
               ON project = target_project AND key_number = target_key
             WHERE kind = 'blocked_by'
               AND (status IS NULL OR status NOT IN ('done', 'finished'))",
        )?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let status: Option<String> = row.get(3)?;
            waiting.entry(row.get(0)?).or_default().push(Blocker {
                project: row.get(1)?,
                key: Key(row.get(2)?),
                status: status.and_then(|word| word.parse().ok()),
            });
        }
        Ok(waiting)
    }
}

/// A task that another one waits for; key 0 stands for a reference that is no key.
struct Blocker {
    project: String,
    key: Key,
    status: Option<Status>,
}

impl Blocker {
    fn seen_from(&self, project: &str) -> Linked {
        Linked {
            reference: match self.key {
                Key(0) => self.project.clone(),
                key => orange_core::id::stored_reference(project, &self.project, key),
            },
            status: self.status,
        }
    }
}

fn is_over(status: &str) -> bool {
    status.parse().is_ok_and(Status::is_terminal)
}

/// What needs a person comes first, what is over last.
fn attention_order(status: &str) -> u64 {
    const ORDER: &[Status] = &[
        Status::Stuck,
        Status::Clarification,
        Status::Reviewing,
        Status::AgentReview,
        Status::Working,
        Status::Planning,
        Status::Delegated,
        Status::Pending,
        Status::Done,
        Status::Cancelled,
    ];
    ORDER
        .iter()
        .position(|known| known.as_str() == status)
        .unwrap_or(ORDER.len()) as u64
}

fn text<'r>(row: &'r Row<'_>) -> rusqlite::Result<&'r str> {
    row.get_ref(0)?.as_str().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// The filter's search is in lower case.
fn keeps(filter: &Filter, line: &Line<'_>) -> bool {
    let among = |wanted: &[String], value: &str| {
        wanted.is_empty() || wanted.iter().any(|word| word == value)
    };
    let hidden =
        !filter.all && filter.statuses.is_empty() && line.damaged.is_none() && is_over(line.status);
    let urgent_enough = filter.priorities.is_empty()
        || (filter.priorities.iter()).any(|wanted| *wanted as i64 == line.priority);
    let tagged = (filter.tags.iter()).all(|wanted| line.tags.lines().any(|tag| tag == wanted));
    among(&filter.projects, line.project)
        && among(&filter.statuses, line.status)
        && among(&filter.queues, line.queue)
        && among(&filter.categories, line.category)
        && !hidden
        && urgent_enough
        && tagged
        && (filter.search.as_ref()).is_none_or(|wanted| matches_search(line, wanted))
}

fn matches_search(line: &Line<'_>, wanted: &str) -> bool {
    let key = line.key.map(|key| key.to_string()).unwrap_or_default();
    [line.summary, line.branch, line.id, line.tags, &key]
        .iter()
        .any(|text| text.to_lowercase().contains(wanted))
}

fn listed(number: i64, line: &Line<'_>) -> Listed {
    Listed {
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
        waits_for: Vec::new(),
        fields: String::new(),
    }
}
