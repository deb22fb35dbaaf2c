//! `task list`: which rows, in which order, and what there is to say about each.

use super::Index;
use super::line::Line;
use super::query::is_over;
use super::refresh::{Known, each_line};
use super::rows::unpacked;
use crate::error::Result;
use orange_core::id::{Key, stored_reference};
use orange_core::machine::Linked;
use orange_core::task::{Priority, Status};
use rusqlite::Connection;
use std::collections::HashMap;

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

/// What is said of tasks because of others.
struct Links {
    /// For every pending task, by its folder, with blockers that are not over: those blockers.
    waiting: HashMap<String, Vec<Linked>>,
    /// Keys of parents of which a child was cancelled, with their projects.
    bereft: HashMap<u32, Vec<String>>,
}

impl Index {
    /// The tasks a filter lets through, in the order a person wants to see them. `deleted` knows the status
    /// of tasks that are over and in the trash.
    pub fn list(
        &self,
        filter: &Filter,
        deleted: &dyn Fn(&str, Key) -> Option<Status>,
    ) -> Result<Vec<Listed>> {
        let (_, rows) = self.ask(|connection| scan(connection, filter))?;
        self.arranged(rows, filter, deleted)
    }

    /// The same after a look at every TASK.md, unless that was done a moment ago.
    pub fn fresh_list(
        &self,
        filter: &Filter,
        deleted: &dyn Fn(&str, Key) -> Option<Status>,
    ) -> Result<Vec<Listed>> {
        if self.is_fresh() {
            return self.list(filter, deleted);
        }
        let rows = self.refreshed(|connection| scan(connection, filter))?;
        self.arranged(rows, filter, deleted)
    }

    fn arranged(
        &self,
        mut rows: Vec<Listed>,
        filter: &Filter,
        deleted: &dyn Fn(&str, Key) -> Option<Status>,
    ) -> Result<Vec<Listed>> {
        let links = Links {
            waiting: self.ask(|connection| open_blockers(connection, deleted))?,
            bereft: self.ask(parents_of_cancelled)?,
        };
        for row in &mut rows {
            links.note(row);
        }
        if filter.ready {
            rows.retain(|row| {
                row.status == Status::Pending.as_str()
                    && row.waits_for.is_empty()
                    && row.damaged.is_none()
            });
        }
        sort(&mut rows);
        if let Some(limit) = filter.limit {
            rows.truncate(limit);
        }
        Ok(rows)
    }
}

/// One pass over all tasks: what a refresh has to know of each, and those the filter lets through.
fn scan(connection: &Connection, filter: &Filter) -> rusqlite::Result<(Known, Vec<Listed>)> {
    let (mut known, mut kept) = (Known::default(), Vec::new());
    let filter = Filter {
        search: filter.search.as_ref().map(|text| text.to_lowercase()),
        ..filter.clone()
    };
    each_line(connection, filter.with_fields, |line, fields| {
        known.push(&line);
        if keeps(&filter, &line) {
            kept.push(Listed {
                fields: fields.map(unpacked).unwrap_or_default(),
                ..listed(&line)
            });
        }
    })?;
    Ok((known, kept))
}

fn sort(rows: &mut [Listed]) {
    let mut projects: Vec<String> = Vec::new();
    for row in rows.iter() {
        if !projects.contains(&row.project) {
            projects.push(row.project.clone());
        }
    }
    projects.sort();
    // One number, because thousands of comparisons are made with it.
    let rank = |row: &Listed| {
        let project = projects.partition_point(|name| *name < row.project) as u64;
        let key = row.key.map_or(u32::MAX, |key| key.0);
        project << 48
            | attention_order(&row.status) << 40
            | (row.priority as u64) << 32
            | u64::from(key)
    };
    rows.sort_by_cached_key(rank);
    // Without a key, or with that of another: copied folders.
    let alike = |one: &Listed, next: &Listed| one.key == next.key && rank(one) == rank(next);
    for run in rows.chunk_by_mut(alike) {
        run.sort_by(|one, other| (&one.id, &one.folder).cmp(&(&other.id, &other.folder)));
    }
}

impl Links {
    fn note(&self, row: &mut Listed) {
        if row.status == Status::Pending.as_str()
            && let Some(open) = self.waiting.get(&row.folder)
        {
            note_blockers(row, open);
        }
        let is_bereft = row
            .key
            .and_then(|key| self.bereft.get(&key.0))
            .is_some_and(|projects| projects.contains(&row.project));
        if is_bereft && !is_over(&row.status) {
            row.attention
                .get_or_insert_with(|| "a child was cancelled".to_owned());
        }
    }
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

fn parents_of_cancelled(connection: &Connection) -> rusqlite::Result<HashMap<u32, Vec<String>>> {
    let mut bereft: HashMap<u32, Vec<String>> = HashMap::new();
    let mut query = connection.prepare_cached(
        "SELECT DISTINCT parent_project, parent_key FROM tasks INDEXED BY idx_tasks_cancelled
         WHERE parent_key IS NOT NULL AND status = 'cancelled'",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        bereft.entry(row.get(1)?).or_default().push(row.get(0)?);
    }
    Ok(bereft)
}

fn open_blockers(
    connection: &Connection,
    deleted: &dyn Fn(&str, Key) -> Option<Status>,
) -> rusqlite::Result<HashMap<String, Vec<Linked>>> {
    let mut waiting: HashMap<String, Vec<Linked>> = HashMap::new();
    let mut query = connection.prepare_cached(
        "SELECT own.folder, target_project, target_key, blocker.status, own.project
         FROM links INDEXED BY idx_links_blockers
         CROSS JOIN tasks AS own ON own.number = links.task AND own.status = 'pending'
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

fn listed(line: &Line<'_>) -> Listed {
    Listed {
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
