//! What branches change, remembered for as long as neither they nor their targets move: a row for each, which counts
//! only for exactly the commits it was made for. Trouble here costs a process of git, never an answer.

use super::Index;
use crate::locks::{self, Rank};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;

/// How much a branch changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DiffStat {
    /// Where it left its target; None: it shares no history with it.
    pub base: Option<String>,
    pub head: String,
    pub commits: u32,
    pub files: u32,
    pub added: u32,
    pub deleted: u32,
}

/// What is remembered of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptStat {
    pub project: String,
    pub branch: String,
    /// The commits it was compared with: those its target was at.
    pub targets: Vec<String>,
    pub stat: DiffStat,
}

impl Index {
    /// None as well where the table cannot be read. It is asked while lists are made, so it repairs nothing.
    pub fn diff_stat(&self, project: &str, branch: &str) -> Option<KeptStat> {
        let found = self
            .connections
            .with(|connection| find(connection, project, branch));
        found.unwrap_or_else(|error| {
            tracing::debug!(%error, "what is remembered of a branch cannot be read");
            None
        })
    }

    pub fn keep_diff_stats(&self, stats: &[KeptStat]) {
        if let Err(error) = self.write(|connection| put(connection, stats)) {
            tracing::debug!(%error, "what branches change is not remembered");
        }
    }
}

fn find(
    connection: &Connection,
    project: &str,
    branch: &str,
) -> rusqlite::Result<Option<KeptStat>> {
    let mut query = connection.prepare_cached(
        "SELECT targets, base, head, commits, files, added, deleted
         FROM diff_stats WHERE project = ?1 AND branch = ?2",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        let targets: String = row.get(0)?;
        Ok(KeptStat {
            project: project.to_owned(),
            branch: branch.to_owned(),
            targets: targets.split_whitespace().map(str::to_owned).collect(),
            stat: DiffStat {
                base: row.get(1)?,
                head: row.get(2)?,
                commits: row.get(3)?,
                files: row.get(4)?,
                added: row.get(5)?,
                deleted: row.get(6)?,
            },
        })
    };
    query.query_row([project, branch], read).optional()
}

fn put(connection: &mut Connection, stats: &[KeptStat]) -> rusqlite::Result<()> {
    let _held = locks::enter(Rank::Index);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut insert = transaction
        .prepare_cached("INSERT OR REPLACE INTO diff_stats VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)")?;
    for kept in stats {
        let stat = &kept.stat;
        insert.execute(params![
            kept.project,
            kept.branch,
            kept.targets.join(" "),
            stat.base,
            stat.head,
            stat.commits,
            stat.files,
            stat.added,
            stat.deleted,
        ])?;
    }
    drop(insert);
    transaction.commit()
}
