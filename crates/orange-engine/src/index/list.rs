//! `task list`: which rows, in which order, and what there is to say about each.

use super::Index;
use super::query::is_over;
use crate::error::Result;
use orange_core::id::{Key, stored_reference};
use orange_core::machine::Linked;
use orange_core::task::{Priority, Status};
use rusqlite::{Connection, Row};
use std::collections::{HashMap, HashSet};

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
    /// The tasks a filter lets through, in the order a person wants to see them. `deleted` knows the status
    /// of tasks that are over and in the trash.
    pub fn list(
        &self,
        filter: &Filter,
        deleted: &dyn Fn(&str, Key) -> Option<Status>,
    ) -> Result<Vec<Listed>> {
        let waiting = self.ask(|connection| open_blockers(connection, deleted))?;
        let childless = self.ask(parents_of_cancelled)?;
        let mut rows = self.ask(|connection| selected(connection, filter))?;
        for row in &mut rows {
            if let Some(open) = waiting.get(&row.folder) {
                note_blockers(row, open);
            }
            let parent = row.key.map(|key| (row.project.clone(), key.0));
            if !is_over(&row.status) && parent.is_some_and(|parent| childless.contains(&parent)) {
                row.attention
                    .get_or_insert_with(|| "a child was cancelled".to_owned());
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
}

fn selected(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Listed>> {
    let fields = if filter.with_fields { "fields" } else { "''" };
    let mut query = connection.prepare_cached(&format!(
        "SELECT folder, id, key_number, project, branch, status, summary, priority,
                updated_second, damaged, attention, queue, category, tags, {fields}
         FROM tasks"
    ))?;
    let mut rows = query.query([])?;
    let mut kept = Vec::new();
    while let Some(row) = rows.next()? {
        if keeps(filter, row)? {
            kept.push(listed(row)?);
        }
    }
    Ok(kept)
}

fn note_blockers(row: &mut Listed, open: &[Linked]) {
    row.waits_for = open
        .iter()
        .map(|link| match link.status {
            Some(status) => format!("{} ({status})", link.reference),
            None => format!("{} (no such task)", link.reference),
        })
        .collect();
    let cancelled = open
        .iter()
        .find(|link| link.status == Some(Status::Cancelled));
    if let Some(link) = cancelled {
        row.attention
            .get_or_insert_with(|| format!("{} was cancelled", link.reference));
    }
}

/// Parents, as (project, key), of which a child was cancelled.
fn parents_of_cancelled(connection: &Connection) -> rusqlite::Result<HashSet<(String, u32)>> {
    connection
        .prepare_cached(
            "SELECT parent_project, parent_key FROM tasks
             WHERE parent_key IS NOT NULL AND status = 'cancelled'",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// For every pending task with blockers that are not over: those blockers.
fn open_blockers(
    connection: &Connection,
    deleted: &dyn Fn(&str, Key) -> Option<Status>,
) -> rusqlite::Result<HashMap<String, Vec<Linked>>> {
    let mut waiting: HashMap<String, Vec<Linked>> = HashMap::new();
    let mut query = connection.prepare_cached(
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
        let status: Option<String> = row.get(3)?;
        if status.is_none() && deleted(&target, Key(key)).is_some() {
            continue;
        }
        let reference = match key {
            0 => target,
            key => stored_reference(&own, &target, Key(key)),
        };
        waiting.entry(row.get(0)?).or_default().push(Linked {
            reference,
            status: status.and_then(|word| word.parse().ok()),
        });
    }
    Ok(waiting)
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
