//! The full-text index brought up to date, when somebody searches and at no other time: only tasks whose files
//! changed since are read, so nothing else gets slower by it.

use super::Index;
use crate::index::line::Line;
use crate::index::refresh::{self, each_line, is_settled, open_folder};
use crate::index::{Stamp, answers};
use crate::locks::{self, Rank};
use crate::{Place, Store, journal, nanoseconds, stamp_at};
use orange_core::Timestamp;
use orange_core::history::History;
use orange_core::search::{NEXT_EVENT, prepared, spoken};
use orange_core::task_file::{MAX_BYTES, salvage_body};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// So much is written at once: other commands wait for as long as that takes.
const BATCH_TASKS: usize = 100;
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// A task as it is searched.
#[derive(Default)]
struct Document {
    folder: String,
    stamps: String,
    read_at: i64,
    summary: String,
    names: String,
    body: String,
    history: String,
    /// When and what each event of the history was, a line each.
    events: String,
}

impl Index {
    pub(super) fn fill(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let (stale, gone) = difference(connection, &self.store)?;
        if !gone.is_empty() {
            write(connection, &[], &gone)?;
        }
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for mut document in stale {
            document.read(&self.store);
            bytes += document.body.len() + document.history.len();
            batch.push(document);
            if batch.len() >= BATCH_TASKS || bytes >= BATCH_BYTES {
                write(connection, &batch, &[])?;
                batch.clear();
                bytes = 0;
            }
        }
        if !batch.is_empty() {
            write(connection, &batch, &[])?;
        }
        Ok(())
    }
}

/// What has to be read because its files are not as they were, and what is not there any more.
fn difference(
    connection: &Connection,
    store: &Store,
) -> rusqlite::Result<(Vec<Document>, Vec<String>)> {
    let sql = "SELECT folder, stamps, read_at FROM searched";
    let taken = answers(connection, sql, [], |row| {
        Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
    })?;
    // The stamps of each folder, and when it was read.
    let mut taken: HashMap<String, (String, i64)> = taken.into_iter().collect();
    let tasks = open_folder(store.tasks()).ok();
    let stamp = |path: String| refresh::stamp_at(tasks.as_ref()?, path);
    let mut stale = Vec::new();
    each_line(connection, None, |_, line| {
        let file = line
            .stamp
            .or_else(|| stamp(format!("{}/TASK.md", line.folder)));
        let journal = stamp(format!("{}/history.jsonl", line.folder));
        let kept = taken.remove(line.folder);
        let is_same = kept.is_some_and(|(stamps, read_at)| {
            let settled = |stamp: Option<Stamp>| stamp.is_none_or(|one| is_settled(one, read_at));
            stamps == in_words(file, journal) && settled(file) && settled(journal)
        });
        if !is_same {
            stale.push(Document::of(&line));
        }
    })?;
    Ok((stale, taken.into_keys().collect()))
}

/// Both stamps as one text that is compared.
fn in_words(file: Option<Stamp>, journal: Option<Stamp>) -> String {
    let word = |stamp: Option<Stamp>| match stamp {
        Some(Stamp { mtime, size, inode }) => format!("{mtime} {size} {inode}"),
        None => "-".to_owned(),
    };
    format!("{} {}", word(file), word(journal))
}

impl Document {
    /// As far as the index knows it.
    fn of(line: &Line<'_>) -> Document {
        let key = line.key.map(|key| key.to_string()).unwrap_or_default();
        Document {
            folder: line.folder.to_owned(),
            summary: prepared(line.summary),
            names: prepared(&[line.branch, &key, line.id, line.tags].join("\n")),
            ..Document::default()
        }
    }

    /// Never fails: what cannot be read has no words.
    fn read(&mut self, store: &Store) {
        let place = store.place(&self.folder);
        self.read_at = nanoseconds(Timestamp::now());
        self.stamps = in_words(stamp_at(&place.task_file()), stamp_at(&place.journal()));
        (self.history, self.events) = said(&place);
        self.body = prepared(&salvage_body(&beginning_of(&place.task_file())));
    }
}

/// A file's first megabytes; nothing if it is none, or a pipe that nobody writes to.
fn beginning_of(path: &Path) -> Vec<u8> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut bytes = Vec::new();
    if let Ok(file) = file
        && file.metadata().is_ok_and(|data| data.is_file())
    {
        let _ = file.take(MAX_BYTES as u64).read_to_end(&mut bytes);
    }
    bytes
}

/// What its events say, and which events these are.
fn said(place: &Place) -> (String, String) {
    let (mut history, mut events) = (String::new(), String::new());
    let text = journal::read(&place.journal()).unwrap_or_default().text;
    for event in History::parse(&text).events {
        let words = spoken(&event);
        if words.is_empty() {
            continue;
        }
        if !events.is_empty() {
            history.push(NEXT_EVENT);
        }
        history.push_str(&prepared(&words));
        let kind = event.kind.as_str().replace(char::is_whitespace, " ");
        events.push_str(&format!("{} {kind}\n", event.timestamp));
    }
    (history, events)
}

fn write(
    connection: &mut Connection,
    documents: &[Document],
    gone: &[String],
) -> rusqlite::Result<()> {
    let _held = locks::enter(Rank::Index);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let forgotten = gone.iter().map(String::as_str);
    for folder in forgotten.chain(documents.iter().map(|document| document.folder.as_str())) {
        forget(&transaction, folder)?;
    }
    for document in documents {
        let number = transaction
            .prepare_cached("INSERT INTO searched VALUES (NULL, ?1, ?2, ?3, ?4)")?
            .insert(params![
                document.folder,
                document.stamps,
                document.read_at,
                document.events
            ])?;
        transaction
            .prepare_cached(
                "INSERT INTO search (rowid, summary, names, body, history) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                number,
                document.summary,
                document.names,
                document.body,
                document.history
            ])?;
    }
    transaction.commit()
}

fn forget(transaction: &Transaction<'_>, folder: &str) -> rusqlite::Result<()> {
    let number: Option<i64> = transaction
        .prepare_cached("SELECT number FROM searched WHERE folder = ?1")?
        .query_row([folder], |row| row.get(0))
        .optional()?;
    if let Some(number) = number {
        for sql in [
            "DELETE FROM search WHERE rowid = ?1",
            "DELETE FROM searched WHERE number = ?1",
        ] {
            transaction.prepare_cached(sql)?.execute([number])?;
        }
    }
    Ok(())
}
