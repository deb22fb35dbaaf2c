//! Test results of tasks: what the newest import came to, a row for each task. The report itself is a file.

use super::marks::{self, MarkKind};
use super::{change, from_json, parsed, to_json, unreadable};
use crate::database::Database;
use orange_core::Timestamp;
use orange_core::work::test_results::Figures;
use orange_sys::error::Result;
use rusqlite::{OptionalExtension, Row, Transaction, params};
use std::collections::BTreeSet;

/// The newest import of a task, and what became of the newest report that could not be imported.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredResults {
    /// The name of the import, or of the attempt.
    pub import: String,
    pub at: Timestamp,
    pub by: String,
    /// Where the report was, or `found`.
    pub source: String,
    /// The digest of the task's own report as it was looked at last.
    pub seen: String,
    /// None: nothing has been imported yet.
    pub figures: Option<Figures>,
    /// Files that the import brought: `screenshots/login.png`. The next one may replace them.
    pub owned: BTreeSet<String>,
    /// Why the newest report was not imported.
    pub problem: Option<String>,
}

impl Database {
    /// Stores what came of an import; the task's journal does not tell of it yet.
    pub fn store_results(&mut self, task: &str, results: &StoredResults) -> Result<()> {
        self.in_transaction(|rows| {
            let sql = "INSERT OR REPLACE INTO test_results
                 (task_id, import, imported_at, imported_by, source, seen, figures, owned, problem)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            let figures = results.figures.as_ref().map(to_json).transpose()?;
            let values = params![
                task,
                results.import,
                results.at.to_string(),
                results.by,
                results.source,
                results.seen,
                figures,
                to_json(&results.owned)?,
                results.problem,
            ];
            change(rows, sql, values)?;
            marks::mark(rows, task, MarkKind::TestResults, "", 0)
        })
    }

    pub fn results(&mut self, task: &str) -> Result<Option<StoredResults>> {
        self.read(|rows| of_task(rows, task))
    }
}

pub(super) fn of_task(
    rows: &Transaction<'_>,
    task: &str,
) -> rusqlite::Result<Option<StoredResults>> {
    let sql = "SELECT import, imported_at, imported_by, source, seen, figures, owned, problem
         FROM test_results WHERE task_id = ?1";
    let mut question = rows.prepare_cached(sql)?;
    question.query_row([task], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredResults> {
    let figures: Option<String> = row.get(5)?;
    let figures = figures.map(|text| serde_json::from_str(&text)).transpose();
    Ok(StoredResults {
        import: row.get(0)?,
        at: parsed(row, 1)?,
        by: row.get(2)?,
        source: row.get(3)?,
        seen: row.get(4)?,
        figures: figures.map_err(|error| unreadable(5, error))?,
        owned: from_json(row, 6)?,
        problem: row.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Unjournalled;
    use orange_core::work::test_results::Summary;

    fn results(import: &str, passed: u64) -> StoredResults {
        let summary = Summary {
            total: 10,
            passed,
            ..Summary::default()
        };
        StoredResults {
            import: import.to_owned(),
            by: "engine".to_owned(),
            source: "found".to_owned(),
            seen: "digest".to_owned(),
            figures: Some(Figures {
                summary,
                ..Figures::default()
            }),
            owned: BTreeSet::from(["screenshots/a.png".to_owned()]),
            ..StoredResults::default()
        }
    }

    #[test]
    fn the_newest_results_of_a_task_are_read_and_marked_once() {
        let home = tempfile::tempdir().unwrap();
        let mut database = Database::open(home.path()).unwrap();
        assert_eq!(database.results("t1").unwrap(), None);
        let refused = StoredResults {
            problem: Some("cut short".to_owned()),
            ..results("b", 9)
        };
        for stored in [results("a", 10), refused.clone()] {
            database.store_results("t1", &stored).unwrap();
            assert_eq!(database.results("t1").unwrap(), Some(stored));
        }
        let marked = database.unjournalled("t1").unwrap();
        let [Unjournalled::TestResults { results, .. }] = &marked[..] else {
            panic!("{marked:?}");
        };
        assert_eq!(*results, refused);
        database
            .note_journalled("t1", &[marked[0].mark()], None)
            .unwrap();
        assert_eq!(database.unjournalled("t1").unwrap(), []);
        database.forget_phased("t1").unwrap();
        assert_eq!(database.results("t1").unwrap(), None);
    }
}
