//! What iterations cost, of all tasks or of one: the columns that sums are made of, and no more.

use super::{parsed_if_any, unreadable};
use crate::database::{Database, explain};
use orange_core::Timestamp;
use orange_core::usage::Usage;
use orange_core::work::execution::IterationOutcome;
use orange_sys::error::Result;
use rusqlite::Row;

const COLUMNS: &str =
    "task_id, phase, harness, model, coalesce(ended_at, started_at), outcome, input_tokens,
     output_tokens, cache_creation_input_tokens, cache_read_input_tokens, cost, cost_partial";

/// What is known of the cost of one iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct IterationCost {
    /// The task's id.
    pub task: String,
    pub phase: String,
    pub harness: String,
    pub model: Option<String>,
    /// When it ended; of one that has not, when it began.
    pub at: Timestamp,
    pub outcome: Option<IterationOutcome>,
    pub usage: Usage,
}

impl IterationCost {
    /// Whether it came to an end and nobody told what it used.
    pub fn is_silent(&self) -> bool {
        let has_ended = self
            .outcome
            .is_some_and(|outcome| outcome != IterationOutcome::Service);
        has_ended && self.usage.is_empty()
    }
}

impl Database {
    /// Hands over every iteration that ended at that moment or later; None: all of them. An open one counts by its beginning.
    pub fn each_cost(
        &mut self,
        since: Option<Timestamp>,
        take: impl FnMut(IterationCost),
    ) -> Result<()> {
        let condition = "coalesce(ended_at, started_at) >= ?1";
        // Texts of the same second compare by what comes after it: a fraction, or the letter of UTC.
        let since = since.map_or(String::new(), |since| {
            since.to_string().trim_end_matches('Z').to_owned()
        });
        self.each_cost_where(condition, &since, take)
    }

    /// Hands over every iteration of a task, in the order in which they began.
    pub fn each_cost_of(&mut self, task: &str, take: impl FnMut(IterationCost)) -> Result<()> {
        self.each_cost_where("task_id = ?1 ORDER BY id", task, take)
    }

    fn each_cost_where(
        &mut self,
        condition: &str,
        parameter: &str,
        mut take: impl FnMut(IterationCost),
    ) -> Result<()> {
        let sql = format!("SELECT {COLUMNS} FROM iterations WHERE {condition}");
        let mut read = || {
            let mut question = self.connection.prepare_cached(&sql)?;
            let mut rows = question.query([parameter])?;
            while let Some(row) = rows.next()? {
                take(cost(row)?);
            }
            Ok(())
        };
        read().map_err(|error| explain(&self.path, error))
    }
}

fn cost(row: &Row<'_>) -> rusqlite::Result<IterationCost> {
    let tokens = |column: usize| -> rusqlite::Result<u64> {
        let count: i64 = row.get(column)?;
        Ok(u64::try_from(count).unwrap_or_default())
    };
    let at = row.get_ref(4)?.as_str()?.parse();
    Ok(IterationCost {
        task: row.get(0)?,
        phase: row.get(1)?,
        harness: row.get(2)?,
        model: row.get(3)?,
        at: at.map_err(|error| unreadable(4, error))?,
        outcome: parsed_if_any(row, 5)?,
        usage: Usage {
            input: tokens(6)?,
            output: tokens(7)?,
            cache_write: tokens(8)?,
            cache_read: tokens(9)?,
            cost: row.get(10)?,
            cost_partial: row.get(11)?,
        },
    })
}
