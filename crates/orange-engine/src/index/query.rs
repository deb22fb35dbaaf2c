//! Questions to the index: one task by any of its names, lists, links, who holds a slot.

use super::{Index, failed};
use crate::error::Result;
use orange_core::id::Key;
use orange_core::machine::Linked;
use orange_core::task::{Priority, Status, is_active};
use rusqlite::{OptionalExtension, Row, params};

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
                "SELECT {FOUND} FROM tasks WHERE project = ?1 AND workspace IS NOT NULL
                 ORDER BY key_number"
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
        let columns = FOUND.replace("folder", "tasks.folder");
        self.many(
            &format!(
                "SELECT {columns} FROM links JOIN tasks ON tasks.folder = links.folder
                 WHERE kind = ?1 AND target_project = ?2 AND target_key = ?3 ORDER BY key_number"
            ),
            params![kind, project, key.0],
        )
    }

    /// The `blocked_by` of a task, as (project, key).
    pub fn blockers_of(&self, project: &str, key: Key) -> Result<Vec<(String, Key)>> {
        self.connection
            .prepare_cached(
                "SELECT target_project, target_key FROM links JOIN tasks USING (folder)
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
                    "project || ':TASK-' || printf('%03d', key_number)"
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
        let waiting = self.open_blockers().map_err(|error| failed(&error))?;
        let fields = if filter.with_fields { "fields" } else { "''" };
        let mut rows = self
            .connection
            .prepare_cached(&format!(
                "SELECT folder, id, key_number, project, branch, status, summary, priority,
                        updated_second, damaged, attention, queue, category, tags, {fields}
                 FROM tasks"
            ))
            .and_then(|mut query| {
                let mut rows = query.query([])?;
                let mut kept = Vec::new();
                while let Some(row) = rows.next()? {
                    if keeps(filter, row)? {
                        kept.push(listed(row)?);
                    }
                }
                Ok(kept)
            })
            .map_err(|error| failed(&error))?;
        for row in &mut rows {
            if row.status == Status::Pending.as_str()
                && let Some(open) = waiting.get(&row.folder)
            {
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
        rows.sort_by_cached_key(|row| {
            (
                row.project.clone(),
                attention_order(&row.status),
                row.priority,
                row.key.map_or(u32::MAX, |key| key.0),
                row.id.clone(),
            )
        });
        if let Some(limit) = filter.limit {
            rows.truncate(limit);
        }
        Ok(rows)
    }

    /// For every folder with blockers that are not over: those blockers.
    fn open_blockers(&self) -> rusqlite::Result<std::collections::HashMap<String, Vec<Linked>>> {
        let mut waiting: std::collections::HashMap<String, Vec<Linked>> = Default::default();
        let mut query = self.connection.prepare_cached(
            "SELECT links.folder, target_project, target_key, blocker.status, own.project
             FROM links
             JOIN tasks AS own ON own.folder = links.folder AND own.status = 'pending'
             LEFT JOIN tasks AS blocker
               ON blocker.project = target_project AND blocker.key_number = target_key
             WHERE kind = 'blocked_by'
               AND (blocker.status IS NULL OR blocker.status NOT IN ('done', 'finished'))",
        )?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (target, key): (String, u32) = (row.get(1)?, row.get(2)?);
            let own: String = row.get(4)?;
            let reference = match key {
                0 => target,
                key => orange_core::id::stored_reference(&own, &target, Key(key)),
            };
            let status: Option<String> = row.get(3)?;
            waiting.entry(row.get(0)?).or_default().push(Linked {
                reference,
                status: status.and_then(|word| word.parse().ok()),
            });
        }
        Ok(waiting)
    }
}

fn is_over(status: &str) -> bool {
    status.parse().is_ok_and(Status::is_terminal)
}

/// What needs a person comes first, what is over last.
fn attention_order(status: &str) -> usize {
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
        .unwrap_or(ORDER.len())
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    row.get_ref(column)?.as_str().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}

fn keeps(filter: &Filter, row: &Row<'_>) -> rusqlite::Result<bool> {
    let among = |column: usize, wanted: &[String]| -> rusqlite::Result<bool> {
        let value = text(row, column)?;
        Ok(wanted.is_empty() || wanted.iter().any(|word| word == value))
    };
    if !among(3, &filter.projects)?
        || !among(5, &filter.statuses)?
        || !among(11, &filter.queues)?
        || !among(12, &filter.categories)?
    {
        return Ok(false);
    }
    let damaged = row
        .get_ref(9)?
        .as_str_or_null()
        .is_ok_and(|damage| damage.is_some());
    if !filter.all && filter.statuses.is_empty() && !damaged && is_over(text(row, 5)?) {
        return Ok(false);
    }
    if !filter.priorities.is_empty() {
        let priority: i64 = row.get(7)?;
        if !filter
            .priorities
            .iter()
            .any(|wanted| *wanted as i64 == priority)
        {
            return Ok(false);
        }
    }
    if !filter.tags.is_empty() {
        let tags = text(row, 13)?;
        if !filter
            .tags
            .iter()
            .all(|wanted| tags.lines().any(|tag| tag == wanted))
        {
            return Ok(false);
        }
    }
    match &filter.search {
        None => Ok(true),
        Some(wanted) => matches_search(row, &wanted.to_lowercase()),
    }
}

fn matches_search(row: &Row<'_>, wanted: &str) -> rusqlite::Result<bool> {
    let key = row
        .get::<_, Option<u32>>(2)?
        .map(|number| Key(number).to_string());
    let mut texts = vec![text(row, 6)?, text(row, 4)?, text(row, 1)?, text(row, 13)?];
    texts.extend(key.as_deref());
    Ok(texts
        .iter()
        .any(|text| text.to_lowercase().contains(wanted)))
}

fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    Ok(Listed {
        folder: row.get(0)?,
        id: row.get(1)?,
        key: row.get::<_, Option<u32>>(2)?.map(Key),
        project: row.get(3)?,
        branch: row.get(4)?,
        status: row.get(5)?,
        summary: row.get(6)?,
        priority: row.get(7)?,
        updated_second: row.get(8)?,
        damaged: row.get(9)?,
        attention: row.get(10)?,
        waits_for: Vec::new(),
        fields: row.get(14)?,
    })
}
