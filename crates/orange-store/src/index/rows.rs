//! The tables of index.db, and a task as their rows.

use super::counts::{self, Tally};
use super::{IndexEntry, answers, costs, line, user_version};
use crate::locks::{self, Rank};
use orange_core::cost::RunCost;
use orange_core::id::{Key, Prefix, StoredReference, read_stored};
use orange_core::task::{Field, Task};
use orange_core::workflow::{Role, StatusInfo, Workflow};
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params, params_from_iter};
use std::fmt::Write;

/// Raised whenever the tables below change.
const LAYOUT: u32 = 20;

/// The version of the file; another number means: rebuild. A hash (FNV-1a) of the layout, of the number of fields, because
/// [`packed`] knows them by their order only, and of the workflows' columns from which columns of `tasks` are derived.
pub(super) fn version() -> i64 {
    version_of(Workflow::all().iter().flat_map(|table| table.statuses))
}

fn version_of<'i>(statuses: impl Iterator<Item = &'i StatusInfo>) -> i64 {
    let mut text = format!("{LAYOUT} {}", Field::ALL.len());
    for info in statuses {
        let (kind, expects, waits_for) = (info.kind, info.expects, info.waits_for);
        let _ = write!(
            text,
            " {} {:?} {kind} {} {expects:?} {waits_for}",
            info.status, info.reason, info.success
        );
    }
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = text.bytes().fold(0x811c_9dc5, mix);
    // SQLite keeps a number of 32 bits with a sign, and 0 is the version of an empty file.
    i64::from(hash >> 1 | 1)
}

const TABLES: &str = "
CREATE TABLE tasks (
    number       INTEGER PRIMARY KEY,
    folder       TEXT NOT NULL,
    id           TEXT NOT NULL,
    project      TEXT NOT NULL,
    branch       TEXT NOT NULL,
    status       TEXT NOT NULL,
    summary      TEXT NOT NULL,
    workspace    TEXT,
    tmux_session TEXT,
    parent_project TEXT,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    counts_as    TEXT NOT NULL,
    fields       TEXT NOT NULL,
    key_number   INTEGER,
    parent_key   INTEGER,
    needs_me     INTEGER NOT NULL,
    status_kind  TEXT NOT NULL,
    success      INTEGER NOT NULL,
    expects      TEXT,
    over_at      INTEGER NOT NULL,
    key_prefix   TEXT
);
CREATE TABLE lines (
    over_at  INTEGER NOT NULL,
    task     INTEGER NOT NULL,
    line     BLOB NOT NULL,
    PRIMARY KEY (over_at, task)
) WITHOUT ROWID;
CREATE TABLE folders (
    path     TEXT PRIMARY KEY,
    mtime    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE links (
    task           INTEGER NOT NULL,
    kind           TEXT NOT NULL,
    target_project TEXT NOT NULL,
    target_key     INTEGER NOT NULL,
    is_cancelled   INTEGER NOT NULL,
    target_prefix  TEXT
);
CREATE TABLE counts (
    project    TEXT NOT NULL,
    counts_as  TEXT NOT NULL,
    needs_me   INTEGER NOT NULL,
    tasks      INTEGER NOT NULL,
    PRIMARY KEY (project, counts_as, needs_me)
) WITHOUT ROWID;
CREATE TABLE diff_stats (
    project  TEXT NOT NULL,
    branch   TEXT NOT NULL,
    targets  TEXT NOT NULL,
    base     TEXT,
    head     TEXT NOT NULL,
    commits  INTEGER NOT NULL,
    files    INTEGER NOT NULL,
    added    INTEGER NOT NULL,
    deleted  INTEGER NOT NULL,
    reviewed TEXT,
    since_review INTEGER,
    conflicts TEXT,
    conflicts_with TEXT,
    tried    INTEGER NOT NULL,
    PRIMARY KEY (project, branch)
) WITHOUT ROWID;
CREATE TABLE run_costs (
    task     INTEGER NOT NULL,
    run      TEXT NOT NULL,
    harness  TEXT NOT NULL,
    model    TEXT,
    at       INTEGER NOT NULL,
    is_open  INTEGER NOT NULL,
    is_told  INTEGER NOT NULL,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost         REAL,
    cost_partial INTEGER NOT NULL
);
CREATE TABLE searched (
    number   INTEGER PRIMARY KEY,
    folder   TEXT NOT NULL UNIQUE,
    stamps   TEXT NOT NULL,
    read_at  INTEGER NOT NULL,
    events   TEXT NOT NULL
);
CREATE VIRTUAL TABLE search USING fts5(
    summary, names, body, history, transcripts, spec,
    tokenize = \"unicode61 remove_diacritics 2 categories 'L* N* Co S* M*'\"
);
";

/// Apart from the tables, because filling them first and sorting afterwards is much faster.
const INDEXES: &[(&str, &str)] = &[
    ("idx_tasks_folder", "tasks(folder)"),
    ("idx_tasks_status_kind", "tasks(status_kind)"),
    (
        "idx_tasks_project",
        "tasks(project, key_number, status, status_kind, success, key_prefix)",
    ),
    ("idx_tasks_id", "tasks(id)"),
    ("idx_tasks_branch", "tasks(project, branch)"),
    (
        "idx_tasks_parent",
        "tasks(parent_project, parent_key) WHERE parent_key IS NOT NULL",
    ),
    (
        "idx_tasks_cancelled",
        "tasks(parent_project, parent_key) WHERE parent_key IS NOT NULL AND status_kind = 'over' AND NOT success",
    ),
    (
        "idx_tasks_workspace",
        "tasks(project, workspace) WHERE workspace IS NOT NULL",
    ),
    (
        "idx_tasks_with_agents",
        "tasks(project) WHERE tmux_session IS NOT NULL AND expects IS NOT NULL",
    ),
    ("idx_run_costs_task", "run_costs(task)"),
    ("idx_run_costs_at", "run_costs(at)"),
    ("idx_run_costs_open", "run_costs(at) WHERE is_open"),
    ("idx_links_task", "links(task)"),
    (
        "idx_links_cancelled",
        "links(task) WHERE kind = 'blocked_by' AND is_cancelled",
    ),
    (
        "idx_links_target",
        "links(target_project, target_key, kind)",
    ),
    (
        "idx_links_blockers",
        "links(task, target_project, target_key, target_prefix) WHERE kind = 'blocked_by'",
    ),
];

/// From so many tasks on an empty index is filled without its indexes.
const WORTH_SORTING: usize = 1000;

/// What filling it may take of memory; about 100,000 tasks.
const CACHE_KIB: i64 = 128 * 1024;

/// One transaction: another process sees the old tables or the new ones, never none. False when another
/// process was quicker.
pub(super) fn create_tables(connection: &mut Connection) -> rusqlite::Result<bool> {
    let _held = locks::enter(Rank::Index);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if user_version(&transaction)? == version() {
        return Ok(false);
    }
    // A virtual table takes those it is made of along.
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
         ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'";
    let old: Vec<String> = answers(&transaction, sql, [], |row| row.get(0))?;
    for table in old {
        let table = table.replace('"', "\"\"");
        transaction.execute_batch(&format!("DROP TABLE IF EXISTS \"{table}\""))?;
    }
    transaction.execute_batch(TABLES)?;
    create_indexes(&transaction)?;
    transaction.pragma_update(None, "user_version", version())?;
    transaction.commit()?;
    Ok(true)
}

fn create_indexes(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    for (name, columns) in INDEXES {
        transaction.execute_batch(&format!("CREATE INDEX {name} ON {columns}"))?;
    }
    Ok(())
}

/// Writes rows and forgets folders, in one transaction.
pub(super) fn try_store(
    connection: &mut Connection,
    count: usize,
    rows: impl Iterator<Item = IndexRow>,
    gone: &[String],
) -> rusqlite::Result<()> {
    let _held = locks::enter(Rank::Index);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let empty: bool =
        transaction.query_row("SELECT NOT EXISTS (SELECT 1 FROM tasks)", [], |row| {
            row.get(0)
        })?;
    let sorts_later = empty && count >= WORTH_SORTING;
    if sorts_later {
        // Room for all of it: pages that do not fit are written and read again before the end.
        transaction.pragma_update(None, "cache_size", -CACHE_KIB)?;
        for (name, _) in INDEXES {
            transaction.execute_batch(&format!("DROP INDEX {name}"))?;
        }
    }
    let mut tally = Tally::default();
    forget(&transaction, gone.iter().map(String::as_str), &mut tally)?;
    for row in rows {
        if !empty {
            forget(&transaction, std::iter::once(row.folder()), &mut tally)?;
        }
        let number = put(&transaction, &row)?;
        tally.add(row.counted(), 1);
        if !sorts_later {
            counts::note_cancelled(&transaction, number, &row)?;
        }
    }
    if sorts_later {
        create_indexes(&transaction)?;
        counts::note_all_cancelled(&transaction)?;
    }
    tally.write(&transaction)?;
    transaction.commit()
}

fn forget<'f>(
    transaction: &Transaction<'_>,
    folders: impl Iterator<Item = &'f str>,
    tally: &mut Tally,
) -> rusqlite::Result<()> {
    let mut find = transaction.prepare_cached(
        "SELECT number, project, counts_as, needs_me, over_at, status_kind = 'over' AND NOT success
         FROM tasks WHERE folder = ?1",
    )?;
    for folder in folders {
        let mut numbers: Vec<(i64, i64, bool)> = Vec::new();
        let mut rows = find.query([folder])?;
        while let Some(row) = rows.next()? {
            numbers.push((row.get(0)?, row.get(4)?, row.get(5)?));
            let (project, counts_as) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
            tally.add((project, counts_as, row.get(3)?), -1);
        }
        drop(rows);
        for (number, over_at, was_cancelled) in numbers {
            if was_cancelled {
                counts::forget_cancelled(transaction, number)?;
            }
            for sql in [
                "DELETE FROM tasks WHERE number = ?1",
                "DELETE FROM links WHERE task = ?1",
                "DELETE FROM run_costs WHERE task = ?1",
            ] {
                transaction.prepare_cached(sql)?.execute([number])?;
            }
            let sql = "DELETE FROM lines WHERE over_at = ?1 AND task = ?2";
            transaction
                .prepare_cached(sql)?
                .execute([over_at, number])?;
        }
    }
    Ok(())
}

/// An entry as it is written. Made by the threads that read; in few pieces, because memory that one thread
/// takes and another gives back makes both wait.
pub(super) struct IndexRow {
    /// What the texts below are parts of.
    text: String,
    /// Where each text ends.
    ends: [usize; TEXTS],
    pub(super) key: Option<Key>,
    parent_key: Option<u32>,
    needs_me: bool,
    info: &'static StatusInfo,
    /// The second of its last change; [`NOT_OVER`] for one that is not over, or that a person should look at.
    over_at: i64,
    line: Vec<u8>,
    links: Vec<Link>,
    costs: Vec<RunCost>,
}

/// Later than every change.
pub(super) const NOT_OVER: i64 = i64::MAX;

type Link = (&'static str, StoredReference);

/// The kind of a link to a task that is waited for.
const BLOCKED_BY: &str = "blocked_by";

/// Texts of a row, in the order of their columns.
const TEXTS: usize = 13;

impl IndexRow {
    pub(super) fn of(entry: &IndexEntry) -> IndexRow {
        let task = &entry.task;
        let parent = task.parent.as_deref();
        let parent = parent.and_then(|parent| read_stored(&task.project, parent));
        let parent = parent.map(|parent| (parent.project, parent.number));
        let (parent_project, parent_key) = parent.unzip();
        let mut text = String::with_capacity(1024);
        let mut ends = [0; TEXTS];
        let texts: [&dyn std::fmt::Display; TEXTS - 1] = [
            &entry.folder,
            &task.id,
            &task.project,
            &task.branch,
            &task.status,
            &task.summary,
            &task.workspace.as_deref().unwrap_or_default(),
            &task.tmux_session.as_deref().unwrap_or_default(),
            &parent_project.as_deref().unwrap_or_default(),
            &task.created_at,
            &task.updated_at,
            &counts::counts_as(entry),
        ];
        for (end, part) in ends.iter_mut().zip(texts) {
            // Writing to memory cannot fail.
            let _ = write!(text, "{part}");
            *end = text.len();
        }
        text.push_str(&packed(task));
        ends[TEXTS - 1] = text.len();
        IndexRow {
            text,
            ends,
            key: task.key,
            parent_key,
            needs_me: counts::needs_me(entry),
            info: task.status_info(),
            over_at: match &entry.damaged {
                None if task.status.is_terminal() => task.updated_at.as_second(),
                None | Some(_) => NOT_OVER,
            },
            line: line::write(entry),
            links: links_of(entry),
            costs: entry.noted.costs.clone(),
        }
    }

    fn texts(&self) -> [&str; TEXTS] {
        let mut start = 0;
        self.ends.map(|end| {
            let part = &self.text[start..end];
            start = end;
            part
        })
    }

    /// As what it is counted: project, state, and whether it needs a person.
    pub(super) fn counted(&self) -> (&str, &str, bool) {
        let texts = self.texts();
        (texts[2], texts[11], self.needs_me)
    }

    fn folder(&self) -> &str {
        &self.text[..self.ends[0]]
    }

    pub(super) fn has_blockers(&self) -> bool {
        self.links.iter().any(|(kind, _)| *kind == BLOCKED_BY)
    }
}

/// Adds a row that is not there yet.
fn put(transaction: &Transaction<'_>, row: &IndexRow) -> rusqlite::Result<i64> {
    let texts = row.texts();
    let others = params![
        row.key.map(|key| key.number),
        row.parent_key,
        row.needs_me,
        row.info.kind.as_str(),
        row.info.success,
        row.info.expects.map(Role::as_str),
        row.over_at,
        row.key.as_ref().map(|key| key.prefix.as_str()),
    ];
    let texts = texts.iter().map(|text| text as &dyn ToSql);
    let number = transaction
        .prepare_cached(
            "INSERT INTO tasks VALUES (NULL,?,?,?,?,?,?,nullif(?,''),nullif(?,''),nullif(?,''),?,?,?,?,?,?,?,?,?,?,?,?)",
        )?
        .insert(params_from_iter(texts.chain(others.iter().copied())))?;
    transaction
        .prepare_cached("INSERT INTO lines VALUES (?1,?2,?3)")?
        .execute(params![row.over_at, number, row.line])?;
    costs::put(transaction, number, &row.costs)?;
    if row.links.is_empty() {
        return Ok(number);
    }
    let mut insert = transaction.prepare_cached("INSERT INTO links VALUES (?1,?2,?3,?4,0,?5)")?;
    for (kind, target) in &row.links {
        let prefix = target.prefix.as_ref().map(Prefix::as_str);
        insert.execute(params![number, kind, target.project, target.number, prefix])?;
    }
    Ok(number)
}

fn links_of(entry: &IndexEntry) -> Vec<Link> {
    let task = &entry.task;
    // A reference that is no key at all still counts as open.
    let stored = |text: &String| {
        let read = read_stored(&task.project, text);
        read.unwrap_or_else(|| StoredReference::unreadable(text))
    };
    let mut links: Vec<Link> = Vec::new();
    for (kind, references) in [
        (BLOCKED_BY, &task.blocked_by),
        ("related_to", &task.related_to),
    ] {
        links.extend(references.iter().map(|text| (kind, stored(text))));
    }
    links.extend(
        entry
            .mentions
            .iter()
            .cloned()
            .map(|(project, key)| StoredReference {
                project,
                number: key.number,
                prefix: Some(key.prefix),
            })
            .map(|named| ("mentions", named)),
    );
    links.sort();
    links.dedup();
    links
}

/// The values of all fields as JSON, a line each, in the frontmatter's order; what is null is empty.
fn packed(task: &Task) -> String {
    let mut text = Vec::with_capacity(512);
    for field in Field::ALL {
        let start = text.len();
        // JSON has no line end outside of strings, and escapes it inside.
        task.write_json(*field, &mut text);
        if text.ends_with(b"null") && text.len() == start + 4 {
            text.truncate(start);
        }
        text.push(b'\n');
    }
    String::from_utf8(text).unwrap_or_default()
}

pub(super) fn unpacked(values: &str) -> String {
    let mut text = String::with_capacity(values.len() + 640);
    text.push('{');
    for (position, (field, value)) in Field::ALL.iter().zip(values.split('\n')).enumerate() {
        let comma = if position > 0 { "," } else { "" };
        let value = if value.is_empty() { "null" } else { value };
        let _ = write!(text, "{comma}\"{}\":{value}", field.name());
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::workflow::{StatusKind, WaitsFor};

    #[test]
    fn a_changed_column_that_is_stored_changes_the_version() {
        let known = *Workflow::all()[0].statuses.first().unwrap();
        let version = |info: StatusInfo| version_of([info].iter());
        let changed = [
            StatusInfo {
                kind: StatusKind::Over,
                ..known
            },
            StatusInfo {
                success: true,
                ..known
            },
            StatusInfo {
                expects: Some(Role::Worker),
                ..known
            },
            StatusInfo {
                waits_for: WaitsFor::Person,
                ..known
            },
        ];
        for info in changed {
            assert_ne!(version(info), version(known), "{info:?}");
        }
        // Ranks and texts are read from the table when something is listed.
        let moved = StatusInfo {
            rank: known.rank + 1,
            meaning: "another text",
            ..known
        };
        assert_eq!(version(moved), version(known));
        assert!((1..=i64::from(i32::MAX)).contains(&super::version()));
    }
}
