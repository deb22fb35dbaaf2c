//! What each run of an interactive task used, from its journal: so that sums over months read no journal.

use super::query::key_at;
use super::{Index, answers};
use orange_core::Timestamp;
use orange_core::cost::RunCost;
use orange_core::id::Key;
use orange_core::usage::Usage;
use orange_sys::error::Result;
use rusqlite::{Row, Transaction, params};

/// The cost of a run, and whose run it is.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownRunCost {
    /// The task's id.
    pub task: String,
    pub cost: RunCost,
}

/// What a task is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTitle {
    pub id: String,
    pub project: String,
    pub key: Option<Key>,
    pub summary: String,
}

impl Index {
    /// The runs that ended at that moment or later, and those whose end is not journalled; None: all of them.
    pub fn run_costs(&self, since: Option<Timestamp>) -> Result<Vec<KnownRunCost>> {
        let sql = "SELECT tasks.id, run, harness, model, at, is_open, is_told, input, output, cache_read, cache_write, cost,
                 cost_partial
             FROM run_costs JOIN tasks ON tasks.number = run_costs.task WHERE at >= ?1
             UNION ALL
             SELECT tasks.id, run, harness, model, at, is_open, is_told, input, output, cache_read, cache_write, cost,
                 cost_partial
             FROM run_costs JOIN tasks ON tasks.number = run_costs.task WHERE at < ?1 AND is_open";
        let since = since.map_or(i64::MIN, Timestamp::as_second);
        self.ask(|connection| answers(connection, sql, [since], read))
    }

    /// The runs of the task in that folder, in the order of its journal.
    pub fn run_costs_of(&self, folder: &str) -> Result<Vec<RunCost>> {
        let sql = "SELECT tasks.id, run, harness, model, at, is_open, is_told, input, output, cache_read, cache_write, cost,
                 cost_partial
             FROM tasks JOIN run_costs ON run_costs.task = tasks.number WHERE tasks.folder = ?1
             ORDER BY run_costs.rowid";
        let cost = |row: &Row<'_>| read(row).map(|known| known.cost);
        self.ask(|connection| answers(connection, sql, [folder], cost))
    }

    /// What all tasks are called.
    pub fn titles(&self) -> Result<Vec<TaskTitle>> {
        let sql = "SELECT id, project, key_number, key_prefix, summary FROM tasks";
        let title = |row: &Row<'_>| {
            Ok(TaskTitle {
                id: row.get(0)?,
                project: row.get(1)?,
                key: key_at(row, 2)?,
                summary: row.get(4)?,
            })
        };
        self.ask(|connection| answers(connection, sql, [], title))
    }
}

pub(super) fn put(
    transaction: &Transaction<'_>,
    task: i64,
    costs: &[RunCost],
) -> rusqlite::Result<()> {
    if costs.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO run_costs VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)";
    let mut insert = transaction.prepare_cached(sql)?;
    for cost in costs {
        let usage = cost.usage.unwrap_or_default();
        insert.execute(params![
            task,
            cost.run,
            cost.harness,
            cost.model,
            cost.at.as_second(),
            cost.is_open,
            cost.usage.is_some(),
            count(usage.input),
            count(usage.output),
            count(usage.cache_read),
            count(usage.cache_write),
            usage.cost,
            usage.cost_partial,
        ])?;
    }
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<KnownRunCost> {
    let tokens = |column: usize| -> rusqlite::Result<u64> {
        let count: i64 = row.get(column)?;
        Ok(u64::try_from(count).unwrap_or_default())
    };
    let usage = Usage {
        input: tokens(7)?,
        output: tokens(8)?,
        cache_read: tokens(9)?,
        cache_write: tokens(10)?,
        cost: row.get(11)?,
        cost_partial: row.get(12)?,
    };
    let is_told: bool = row.get(6)?;
    Ok(KnownRunCost {
        task: row.get(0)?,
        cost: RunCost {
            run: row.get(1)?,
            harness: row.get(2)?,
            model: row.get(3)?,
            at: Timestamp::from_second(row.get(4)?).unwrap_or_default(),
            is_open: row.get(5)?,
            usage: is_told.then_some(usage),
        },
    })
}

/// SQLite has no larger number, and no run has so many tokens.
fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
