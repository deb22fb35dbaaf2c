//! `orange search`: which tasks have the words, which of them first, and where they stand in each.

mod fill;

use super::query::{is_over, key_at};
use super::{BUSY_TIMEOUT, Index, answers, failed};
use orange_core::id::Key;
use orange_core::search::passage::{Passage, best_event, best_line};
use orange_core::search::{CLOSE, NEXT_EVENT, OPEN, Query};
use orange_core::{Timestamp, choice};
use orange_sys::error::Result;
use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// A summary says what a task is about; a word of its history is one of many.
const RANK: &str = "bm25(search, 10.0, 6.0, 2.0, 1.0, 0.5, 1.5)";

/// Ranks within one of so many steps count as equal.
const STEPS: f64 = 20.0;

/// The tasks that were found, best first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Matches {
    pub matches: Vec<Match>,
    /// Also those beyond the limit.
    pub total: usize,
    /// There was no task at all to look at.
    #[serde(skip)]
    pub no_tasks: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Match {
    pub id: String,
    pub key: Option<Key>,
    pub project: String,
    pub branch: String,
    pub status: String,
    pub summary: Passage,
    pub updated_at: Option<Timestamp>,
    pub found: Vec<SearchHit>,
}

#[derive(Debug, Clone, Serialize)]
pub struct SearchHit {
    #[serde(rename = "in")]
    pub place: Whereabouts,
    #[serde(rename = "text")]
    pub passage: Passage,
    #[serde(flatten)]
    pub event: Option<FoundEvent>,
    /// The transcript that it was found in, by its file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

/// The event of the history that something was found in.
#[derive(Debug, Clone, Serialize)]
pub struct FoundEvent {
    #[serde(rename = "event")]
    pub kind: String,
    pub timestamp: Option<Timestamp>,
}

choice! {
    /// Where in a task something was found.
    pub enum Whereabouts ("place") {
        Summary = "summary", Branch = "branch", Key = "key", Id = "id", Tag = "tags",
        Body = "body", Message = "message", History = "history", Spec = "spec", Transcript = "transcript",
    }
}

impl SearchHit {
    fn new(place: Whereabouts, passage: Passage) -> SearchHit {
        SearchHit {
            place,
            passage,
            event: None,
            transcript: None,
        }
    }
}

/// A task that has the words, before it is known whether it is among those shown.
struct Hit {
    number: i64,
    folder: String,
    rank: f64,
    project: String,
    status: String,
    updated_at: String,
}

impl Index {
    /// Tasks of these projects, or of all; at most so many.
    pub fn search(&self, query: &Query, projects: &[String], limit: usize) -> Result<Matches> {
        self.filled(|connection| {
            let mut hits = hits(connection, query)?;
            hits.retain(|hit| projects.is_empty() || projects.contains(&hit.project));
            arrange(&mut hits);
            let total = hits.len();
            let no_tasks = total == 0 && !has_tasks(connection, projects)?;
            hits.truncate(limit);
            let mut marked = marked(connection, query, &hits)?;
            let shown = hits.iter();
            let matches = shown.filter_map(|hit| {
                let marked = marked.remove(&hit.number);
                told(connection, hit, marked).transpose()
            });
            Ok(Matches {
                matches: matches.collect::<rusqlite::Result<_>>()?,
                total,
                no_tasks,
            })
        })
    }

    /// The folders of all tasks that have the words.
    pub fn search_folders(&self, query: &Query) -> Result<HashSet<String>> {
        self.filled(|connection| {
            let hits = hits(connection, query)?;
            Ok(hits.into_iter().map(|hit| hit.folder).collect())
        })
    }

    /// Asks what needs the full-text index to be up to date.
    fn filled<T>(&self, question: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        // Another one may be filling it: that takes longer than anything else here.
        const LONG: Duration = Duration::from_secs(10);
        self.freshen()?;
        let attempt = || {
            self.write(|connection| {
                connection.busy_timeout(LONG)?;
                let filled = self.fill(connection);
                connection.busy_timeout(BUSY_TIMEOUT)?;
                filled
            })?;
            self.connections.with(|connection| question(connection))
        };
        attempt().or_else(|error| {
            self.recover(&error)?;
            attempt().map_err(failed)
        })
    }
}

fn has_tasks(connection: &Connection, projects: &[String]) -> rusqlite::Result<bool> {
    let sql = "SELECT DISTINCT project FROM tasks";
    let found: Vec<String> = answers(connection, sql, [], |row| row.get(0))?;
    Ok(found
        .iter()
        .any(|project| projects.is_empty() || projects.contains(project)))
}

fn hits(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Hit>> {
    let (rank, rest, expression) = match (query.expression(), query.unwanted_expression()) {
        (Some(expression), _) => (
            RANK,
            "JOIN search ON search.rowid = searched.number WHERE search MATCH ?1",
            expression,
        ),
        // All but some.
        (None, Some(unwanted)) => (
            "0.0",
            "WHERE searched.number NOT IN (SELECT rowid FROM search WHERE search MATCH ?1)",
            unwanted,
        ),
        (None, None) => return Ok(Vec::new()),
    };
    let sql = format!(
        "SELECT searched.number, tasks.folder, {rank}, project, status, updated_at
         FROM searched JOIN tasks ON tasks.folder = searched.folder {rest}"
    );
    answers(connection, &sql, [expression], |row| {
        Ok(Hit {
            number: row.get(0)?,
            folder: row.get(1)?,
            rank: row.get(2)?,
            project: row.get(3)?,
            status: row.get(4)?,
            updated_at: row.get(5)?,
        })
    })
}

/// Best first; of those that are about as good the open ones, then the newer ones.
fn arrange(hits: &mut [Hit]) {
    // The better, the more it is below zero.
    let best = hits.iter().fold(0.0, |best: f64, hit| best.min(hit.rank));
    let step = |hit: &Hit| {
        if best < 0.0 {
            (hit.rank / best * STEPS).round() as i64
        } else {
            0
        }
    };
    hits.sort_by_cached_key(|hit| {
        (
            Reverse(step(hit)),
            is_over(&hit.status),
            Reverse(hit.updated_at.clone()),
            hit.number,
        )
    });
}

/// Summary, names, body, history, transcripts and specification of a task with the words marked.
type Marked = [String; 6];

/// Of all that are shown, in one go: a word's beginning stands for many words, which are looked up each time.
fn marked(
    connection: &Connection,
    query: &Query,
    shown: &[Hit],
) -> rusqlite::Result<HashMap<i64, Marked>> {
    let Some(expression) = query.expression() else {
        return Ok(HashMap::new());
    };
    let numbers: Vec<String> = shown.iter().map(|hit| hit.number.to_string()).collect();
    let numbers = numbers.join(",");
    // Marking costs more than finding, and is only done for these.
    let marks = |column: usize| {
        format!(
            ", CASE WHEN rowid IN ({numbers}) THEN highlight(search, {column}, '{OPEN}', '{CLOSE}') END"
        )
    };
    let marks: String = (0..6).map(marks).collect();
    let sql = format!("SELECT rowid {marks} FROM search WHERE search MATCH ?1");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([expression])?;
    let mut found = HashMap::new();
    while let Some(row) = rows.next()? {
        if let Some(summary) = row.get::<_, Option<String>>(1)? {
            let text = |column| row.get::<_, String>(column);
            found.insert(
                row.get(0)?,
                [summary, text(2)?, text(3)?, text(4)?, text(5)?, text(6)?],
            );
        }
    }
    Ok(found)
}

/// None: another process has taken it away meanwhile.
fn told(
    connection: &Connection,
    hit: &Hit,
    marked: Option<Marked>,
) -> rusqlite::Result<Option<Match>> {
    let mut query_task = connection.prepare_cached(
        "SELECT id, key_number, key_prefix, branch, summary, events FROM tasks
         JOIN searched ON searched.folder = tasks.folder WHERE searched.number = ?1",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        let summary: String = row.get(4)?;
        let found = Match {
            id: row.get(0)?,
            key: key_at(row, 1)?,
            project: hit.project.clone(),
            branch: row.get(3)?,
            status: hit.status.clone(),
            updated_at: hit.updated_at.parse().ok(),
            summary: Passage::plain(summary),
            found: Vec::new(),
        };
        Ok((found, row.get::<_, String>(5)?))
    };
    let Some((mut found, events)) = query_task.query_row([hit.number], read).optional()? else {
        return Ok(None);
    };
    if let Some([summary, names, body, history, transcripts, spec]) = marked {
        found.found = findings(&names, &body, &history, &events);
        let in_spec = best_line(&spec);
        let in_spec = in_spec.map(|(_, passage)| SearchHit::new(Whereabouts::Spec, passage));
        found.found.extend(in_spec);
        found.found.extend(in_transcripts(&transcripts));
        if summary.contains(OPEN) {
            found.summary = Passage::of(&summary);
            // Most branches are named after the summary: that says nothing more.
            (found.found).retain(|finding| finding.place != Whereabouts::Branch);
            let summary = found.summary.clone();
            (found.found).insert(0, SearchHit::new(Whereabouts::Summary, summary));
        }
    }
    Ok(Some(found))
}

fn findings(names: &str, body: &str, history: &str, events: &str) -> Vec<SearchHit> {
    let name = best_line(names).map(|(line, passage)| {
        let place = match line {
            0 => Whereabouts::Branch,
            1 => Whereabouts::Key,
            2 => Whereabouts::Id,
            _ => Whereabouts::Tag,
        };
        SearchHit::new(place, passage)
    });
    let body = best_line(body).map(|(_, passage)| SearchHit::new(Whereabouts::Body, passage));
    let event = best_event(history).map(|(number, passage)| {
        let line = events
            .lines()
            .nth(number)
            .and_then(|line| line.split_once(' '));
        let (at, kind) = line.unwrap_or_default();
        let place = match kind {
            "message" | "message.sent" => Whereabouts::Message,
            _ => Whereabouts::History,
        };
        SearchHit {
            event: Some(FoundEvent {
                kind: kind.to_owned(),
                timestamp: at.parse().ok(),
            }),
            ..SearchHit::new(place, passage)
        }
    });
    [name, body, event].into_iter().flatten().collect()
}

/// The best line of all transcripts. Before each stands its name: see `fill.rs`.
fn in_transcripts(marked: &str) -> Option<SearchHit> {
    let (number, passage) = best_line(marked)?;
    let heads = marked
        .lines()
        .take(number + 1)
        .filter_map(|line| line.strip_prefix(NEXT_EVENT));
    let name = heads.last().map(|name| name.replace([OPEN, CLOSE], ""));
    Some(SearchHit {
        transcript: name,
        ..SearchHit::new(Whereabouts::Transcript, passage)
    })
}
