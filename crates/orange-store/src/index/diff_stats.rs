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
    /// The files in which it conflicts with its target; None where that is not known.
    pub conflicts: Option<Vec<String>>,
    /// The commit of the target that it conflicts with.
    #[serde(skip)]
    pub conflicts_with: Option<String>,
    /// How many of its commits the review has not seen; None where nobody reviewed it.
    pub since_review: Option<u32>,
}

/// What is remembered of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptStat {
    pub project: String,
    pub branch: String,
    /// The commits it was compared with: those its target was at.
    pub targets: Vec<String>,
    /// The commit that a review passed.
    pub reviewed: Option<String>,
    /// Git was asked about conflicts, whatever came of it.
    pub tried: bool,
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
        "SELECT targets, base, head, commits, files, added, deleted,
                reviewed, since_review, conflicts, conflicts_with, tried
         FROM diff_stats WHERE project = ?1 AND branch = ?2",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        let targets: String = row.get(0)?;
        let conflicts: Option<String> = row.get(9)?;
        Ok(KeptStat {
            project: project.to_owned(),
            branch: branch.to_owned(),
            targets: targets.split_whitespace().map(str::to_owned).collect(),
            reviewed: row.get(7)?,
            tried: row.get(11)?,
            stat: DiffStat {
                base: row.get(1)?,
                head: row.get(2)?,
                commits: row.get(3)?,
                files: row.get(4)?,
                added: row.get(5)?,
                deleted: row.get(6)?,
                since_review: row.get(8)?,
                // A path cannot hold a NUL.
                conflicts: conflicts.map(|paths| {
                    let paths = paths.split('\0').filter(|path| !path.is_empty());
                    paths.map(str::to_owned).collect()
                }),
                conflicts_with: row.get(10)?,
            },
        })
    };
    query.query_row([project, branch], read).optional()
}

fn put(connection: &mut Connection, stats: &[KeptStat]) -> rusqlite::Result<()> {
    let _held = locks::enter(Rank::Index);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO diff_stats VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
    )?;
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
            kept.reviewed,
            stat.since_review,
            stat.conflicts.as_ref().map(|paths| paths.join("\0")),
            stat.conflicts_with,
            kept.tried,
        ])?;
    }
    drop(insert);
    transaction.commit()
}
