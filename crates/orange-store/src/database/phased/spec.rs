//! Specifications: one text for each task.

use super::marks::{self, MarkKind};
use super::{change, execution, parsed};
use crate::database::Database;
use orange_core::Timestamp;
use orange_core::work::execution::Execution;
use orange_core::work::spec::{Spec, SpecSource};
use orange_sys::error::Result;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, params};
use std::path::Path;
use std::time::Duration;

/// A specification without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecHead {
    pub source: SpecSource,
    pub bytes: u64,
    pub updated_at: Timestamp,
}

impl Database {
    pub fn spec(&mut self, task: &str) -> Result<Option<Spec>> {
        self.read(|rows| of_task(rows, task))
    }

    /// The same without the text, which may be long.
    pub fn spec_head(&mut self, task: &str) -> Result<Option<SpecHead>> {
        let sql = "SELECT length(CAST(content AS BLOB)), source, updated_at FROM specs
             WHERE task_id = ?1";
        self.read(|rows| {
            let mut question = rows.prepare_cached(sql)?;
            let head = |row: &Row<'_>| {
                Ok(SpecHead {
                    bytes: row.get::<_, i64>(0)?.unsigned_abs(),
                    source: parsed(row, 1)?,
                    updated_at: parsed(row, 2)?,
                })
            };
            question.query_row([task], head).optional()
        })
    }

    /// Stores a specification, and what becomes of the execution with it. A text that is there already keeps its times.
    pub fn save_spec(
        &mut self,
        task: &str,
        content: &str,
        source: SpecSource,
        at: Timestamp,
        execution: Option<&Execution>,
    ) -> Result<()> {
        self.in_transaction(|rows| {
            let known = of_task(rows, task)?;
            if known.is_none_or(|known| (known.content.as_str(), known.source) != (content, source))
            {
                let sql = "INSERT INTO specs (task_id, content, source, created_at, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?4)
                     ON CONFLICT (task_id) DO UPDATE SET content = excluded.content,
                         source = excluded.source, updated_at = excluded.updated_at";
                let values = params![task, content, source.as_str(), at.to_string()];
                change(rows, sql, values)?;
                marks::mark(rows, task, MarkKind::Spec, "", 0)?;
            }
            match execution {
                Some(execution) => execution::store(rows, task, execution),
                None => Ok(()),
            }
        })
    }
}

pub(super) fn of_task(rows: &Transaction<'_>, task: &str) -> rusqlite::Result<Option<Spec>> {
    let sql = "SELECT content, source, created_at, updated_at FROM specs WHERE task_id = ?1";
    let spec = |row: &Row<'_>| {
        Ok(Spec {
            content: row.get(0)?,
            source: parsed(row, 1)?,
            created_at: parsed(row, 2)?,
            updated_at: parsed(row, 3)?,
        })
    };
    let mut question = rows.prepare_cached(sql)?;
    question.query_row([task], spec).optional()
}

/// The texts of specifications for a search, which changes nothing and does without what cannot be read.
#[derive(Default)]
pub(crate) struct SpecTexts(Option<Connection>);

impl SpecTexts {
    pub(crate) fn of_home(home: &Path) -> SpecTexts {
        let path = Database::path_in(home);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = path
            .exists()
            .then(|| Connection::open_with_flags(&path, flags).ok())
            .flatten();
        if let Some(connection) = &connection {
            let _ = connection.busy_timeout(Duration::from_secs(1));
        }
        SpecTexts(connection)
    }

    /// The beginning of the specification of a task, so many characters.
    pub(crate) fn beginning(&self, task: &str, characters: usize) -> Option<String> {
        let sql = "SELECT substr(content, 1, ?2) FROM specs WHERE task_id = ?1";
        let mut question = self.0.as_ref()?.prepare_cached(sql).ok()?;
        let most = i64::try_from(characters).unwrap_or(i64::MAX);
        question
            .query_row(params![task, most], |row| row.get(0))
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Unjournalled;

    const TASK: &str = "t1";

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    /// What of the specification the journal does not tell, which it then does.
    fn journalled(database: &mut Database) -> Vec<String> {
        let rows = database.unjournalled(TASK).unwrap();
        let specs = rows.iter().filter_map(|row| {
            database.note_journalled(TASK, &[row.mark()], None).unwrap();
            match row {
                Unjournalled::Spec { spec, .. } => Some(spec.content.clone()),
                _ => None,
            }
        });
        specs.collect()
    }

    #[test]
    fn a_specification_is_stored_marked_and_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let mut database = Database::open(home.path()).unwrap();
        assert_eq!(database.spec(TASK).unwrap(), None);
        assert_eq!(SpecTexts::of_home(home.path()).beginning(TASK, 9), None);
        let long = "é".repeat(500_000);
        let mut save = |text: &str, source: SpecSource, second: i64| {
            let saved = database.save_spec(TASK, text, source, at(second), None);
            saved.unwrap();
            journalled(&mut database)
        };
        assert_eq!(save("# One", SpecSource::Cli, 1), ["# One"]);
        // The same again is no change, and keeps its time.
        assert_eq!(save("# One", SpecSource::Cli, 2), [""; 0]);
        assert_eq!(
            save(&long, SpecSource::SpecPhase, 3),
            std::slice::from_ref(&long)
        );
        let found = database.spec(TASK).unwrap().unwrap();
        let spec = Spec {
            content: long,
            source: SpecSource::SpecPhase,
            created_at: at(1),
            updated_at: at(3),
        };
        assert_eq!(found, spec);
        let head = database.spec_head(TASK).unwrap().unwrap();
        assert_eq!((head.bytes, head.updated_at), (1_000_000, at(3)));
        let texts = SpecTexts::of_home(home.path());
        assert_eq!(texts.beginning(TASK, 3).as_deref(), Some("ééé"));
        assert_eq!(texts.beginning("t2", 3), None);
        database.forget_phased(TASK).unwrap();
        assert_eq!(database.spec(TASK).unwrap(), None);
    }
}
