//! The full-text index brought up to date, when somebody searches and at no other time: only tasks whose files
//! changed since are read, so nothing else gets slower by it.

use super::Index;
use crate::database::SpecTexts;
use crate::index::line::PackedLine;
use crate::index::refresh::{self, each_line, is_settled, open_folder};
use crate::index::{Stamp, answers};
use crate::locks::{self, Rank};
use crate::{Place, SPEC, Store, TRANSCRIPTS, journal, nanoseconds, stamp_at};
use orange_core::Timestamp;
use orange_core::history::History;
use orange_core::search::{NEXT_EVENT, prepared, spoken};
use orange_core::task::{Status, Task, WorkflowName};
use orange_core::task_file::{MAX_BYTES, salvage_body};
use orange_sys::listing;
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

/// So much of one transcript is searched, and of all transcripts of a task, the newest first: a transcript may hold what an agent
/// printed, whatever that was.
const TRANSCRIPT_BYTES: usize = 256 * 1024;
const TRANSCRIPTS_BYTES: usize = 4 * 1024 * 1024;

/// So much of a specification is searched.
const SPEC_BYTES: usize = 1024 * 1024;

/// A task as it is searched.
#[derive(Default)]
struct Document {
    folder: String,
    id: String,
    /// Whether it may have a specification and transcripts.
    is_phased: bool,
    stamps: String,
    read_at: i64,
    summary: String,
    names: String,
    body: String,
    history: String,
    /// When and what each event of the history was, a line each.
    events: String,
    /// Each behind a line with its name, which begins with [`NEXT_EVENT`].
    transcripts: String,
    spec: String,
}

impl Index {
    pub(super) fn fill(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let (stale, gone) = difference(connection, &self.store)?;
        if !gone.is_empty() {
            write(connection, &[], &gone)?;
        }
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let specs = match stale.is_empty() {
            true => SpecTexts::default(),
            false => SpecTexts::of_home(self.store.home()),
        };
        for mut document in stale {
            document.read(&self.store, &specs);
            bytes += document.bytes();
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
        let has_transcripts = line.status.parse().is_ok_and(may_be_phased);
        let transcripts = has_transcripts
            .then(|| stamp(format!("{}/{TRANSCRIPTS}", line.folder)))
            .flatten();
        let files = [file, journal, transcripts];
        let kept = taken.remove(line.folder);
        let is_same = kept.is_some_and(|(stamps, read_at)| {
            let settled = |stamp: &Option<Stamp>| stamp.is_none_or(|one| is_settled(one, read_at));
            stamps == in_words(files) && files.iter().all(settled)
        });
        if !is_same {
            stale.push(Document::of(&line));
        }
    })?;
    Ok((stale, taken.into_keys().collect()))
}

/// Whether a task in that status may have a specification, and agents whose turns were written down.
fn may_be_phased(status: Status) -> bool {
    let workflow = Task::standing_at(status, None).workflow;
    workflow == WorkflowName::Phased || status.is_given_up()
}

/// The stamps of TASK.md, the journal and the folder of transcripts as one text that is compared.
fn in_words(files: [Option<Stamp>; 3]) -> String {
    let word = |stamp: Option<Stamp>| match stamp {
        Some(Stamp { mtime, size, inode }) => format!("{mtime} {size} {inode}"),
        None => "-".to_owned(),
    };
    files.map(word).join(" ")
}

impl Document {
    /// As far as the index knows it.
    fn of(line: &PackedLine<'_>) -> Document {
        let key = line.key.map(|key| key.to_string()).unwrap_or_default();
        Document {
            folder: line.folder.to_owned(),
            id: line.id.to_owned(),
            is_phased: line.status.parse().is_ok_and(may_be_phased),
            summary: prepared(line.summary),
            names: prepared(&[line.branch, &key, line.id, line.tags].join("\n")),
            ..Document::default()
        }
    }

    fn bytes(&self) -> usize {
        let texts = [&self.body, &self.history, &self.transcripts, &self.spec];
        texts.into_iter().map(String::len).sum()
    }

    /// Never fails: what cannot be read has no words.
    fn read(&mut self, store: &Store, specs: &SpecTexts) {
        let place = store.place(&self.folder);
        self.read_at = nanoseconds(Timestamp::now());
        let transcripts = place.path.join(TRANSCRIPTS);
        let files = [place.task_file(), place.journal(), transcripts.clone()];
        self.stamps = in_words(files.map(|path| stamp_at(&path)));
        (self.history, self.events) = said(&place);
        self.body = prepared(&salvage_body(&beginning_of(&place.task_file(), MAX_BYTES)));
        self.transcripts = transcribed(&transcripts);
        if self.is_phased {
            self.spec = prepared(&specified(&place, &self.id, specs));
        }
    }
}

/// The beginning of the specification of a task: a row in orange.db, or a file of an older home.
fn specified(place: &Place, id: &str, specs: &SpecTexts) -> String {
    specs.beginning(id, SPEC_BYTES).unwrap_or_else(|| {
        let bytes = beginning_of(&place.path.join(SPEC), SPEC_BYTES);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The beginnings of the transcripts in a folder, the newest first.
fn transcribed(folder: &Path) -> String {
    let mut files: Vec<_> = listing::files(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .filter_map(|path| Some((stamp_at(&path)?.mtime, path)))
        .collect();
    files.sort_by(|one, other| other.cmp(one));
    let mut text = String::new();
    for (_, path) in files {
        if text.len() >= TRANSCRIPTS_BYTES {
            break;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let said = beginning_of(&path, TRANSCRIPT_BYTES);
        text.push(NEXT_EVENT);
        text.push_str(&prepared(&name));
        text.push('\n');
        text.push_str(&prepared(&String::from_utf8_lossy(&said)));
        text.push('\n');
    }
    text
}

/// So much of a file; nothing if it is none, or a pipe that nobody writes to.
fn beginning_of(path: &Path, bytes: usize) -> Vec<u8> {
    let most = bytes as u64;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut bytes = Vec::new();
    if let Ok(file) = file
        && file.metadata().is_ok_and(|data| data.is_file())
    {
        let _ = file.take(most).read_to_end(&mut bytes);
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
                "INSERT INTO search (rowid, summary, names, body, history, transcripts, spec)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                number,
                document.summary,
                document.names,
                document.body,
                document.history,
                document.transcripts,
                document.spec
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
