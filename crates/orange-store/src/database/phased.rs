//! How far phased tasks are: plans, executions with their phases and iterations, decisions at gates, specifications, claims
//! of executors. Every change is one transaction, and marks the row until the task's journal has its event; whoever locks the task
//! journals what is still marked. `execution.rs` has phases and the whole, `iteration.rs` the rows that money stands in,
//! `marks.rs` what is not journalled.

mod claim;
mod costs;
mod execution;
mod iteration;
mod marks;
mod plan;
mod spec;
mod test_results;
#[cfg(test)]
mod tests;

use super::{Database, explain};
use crate::locks::{self, Rank};
pub use claim::Claim;
pub use costs::IterationCost;
pub use marks::{Mark, Unjournalled};
use orange_core::Timestamp;
use orange_core::work::execution::{Execution, Iteration, PhaseState};
use orange_core::work::phase_gate::GateDecision;
use orange_sys::error::Result;
pub use plan::StoredPlan;
use rusqlite::types::Type;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use serde::de::DeserializeOwned;
pub use spec::SpecHead;
pub(crate) use spec::SpecTexts;
use std::error::Error as StdError;
use std::str::FromStr;
pub use test_results::StoredResults;

/// The tables.
pub(super) const SCHEMA: &str = include_str!("phased/schema.sql");

/// Their names, with all that they hold of a task under its id.
pub(super) const TABLES: [&str; 9] = [
    "plans",
    "executions",
    "phases",
    "iterations",
    "gate_decisions",
    "specs",
    "claims",
    "test_results",
    "unjournalled",
];

impl Database {
    /// Stores a decision, and what it changes.
    pub fn decide(
        &mut self,
        task: &str,
        decision: &GateDecision,
        execution: &Execution,
    ) -> Result<()> {
        self.in_transaction(|rows| {
            put_decision(rows, task, decision)?;
            execution::store(rows, task, execution)
        })
    }

    /// What the run of a judge meant for its phase has been carried out: the run, what it decided, if it did, and what that
    /// changed, all at once.
    pub fn judged(
        &mut self,
        task: &str,
        run: &Iteration,
        decision: Option<&GateDecision>,
        execution: &Execution,
    ) -> Result<()> {
        self.in_transaction(|rows| {
            iteration::put(rows, task, run)?;
            if let Some(decision) = decision {
                put_decision(rows, task, decision)?;
            }
            execution::store_state(rows, task, execution)
        })
    }

    /// Whether a turn is missing here, or has not ended, that a journal tells of. A row is there before its event.
    pub(super) fn lacks_turns(&mut self, journal: &Journal) -> Result<bool> {
        let known = self.read(|rows| iteration::of_task(rows, &journal.task))?;
        Ok(journal.turns.iter().any(|told| {
            let mut rows = known.iter();
            let row = rows.find(|row| (&row.phase, row.iteration) == (&told.phase, told.iteration));
            row.is_none_or(|row| row.is_open() && !told.is_open())
        }))
    }

    /// Forgets how far a task is, which nobody knows: its plan is to be written anew, and each phase begins another attempt.
    /// What its turns cost stays, as its journal tells it. A task that is over keeps its plan.
    pub(super) fn drop_progress(&mut self, journal: &Journal) -> Result<()> {
        let task = journal.task.as_str();
        self.in_transaction(|rows| {
            for turn in &journal.turns {
                iteration::put(rows, task, turn)?;
            }
            if !journal.is_over {
                for table in ["plans", "executions", "phases", "claims"] {
                    rows.execute(&format!("DELETE FROM {table} WHERE task_id = ?1"), [task])?;
                }
                let saved = journal.spec.map(|at| at.to_string()).unwrap_or_default();
                let older = "DELETE FROM specs WHERE task_id = ?1 AND updated_at < ?2";
                rows.execute(older, [task, &saved])?;
                let turns = iteration::of_task(rows, task)?;
                execution::store_state(rows, task, &before_anew(&turns))?;
            }
            // All that is here was journalled.
            let sql = "DELETE FROM unjournalled WHERE task_id = ?1";
            rows.execute(sql, [task]).map(drop)
        })
    }

    /// What was decided at a task's gates, the oldest first.
    pub fn decisions(&mut self, task: &str) -> Result<Vec<GateDecision>> {
        let sql = "SELECT phase, gate_type, attempt, approved, reason, decided_by, decided_at
             FROM gate_decisions WHERE task_id = ?1 ORDER BY id";
        self.read(|rows| {
            let mut question = rows.prepare_cached(sql)?;
            question.query_map([task], decision)?.collect()
        })
    }

    /// Forgets everything about a task that is gone for good.
    pub fn forget_phased(&mut self, task: &str) -> Result<()> {
        self.in_transaction(|rows| {
            for table in TABLES {
                rows.execute(&format!("DELETE FROM {table} WHERE task_id = ?1"), [task])?;
            }
            Ok(())
        })
    }

    /// All of it or nothing, with nobody else writing in between.
    pub(super) fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let _held = locks::enter(Rank::Database);
        let immediate = TransactionBehavior::Immediate;
        let done = || {
            let transaction = self.connection.transaction_with_behavior(immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        done().map_err(|error| explain(&self.path, error))
    }

    /// Several questions about one moment.
    fn read<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        let ask = || work(&self.connection.transaction()?);
        ask().map_err(|error| explain(&self.path, error))
    }
}

/// What the journal of a phased task says, for a database that is older.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// The task's id.
    pub task: String,
    pub is_over: bool,
    /// When its last event happened; None: nobody can read it.
    pub last: Option<Timestamp>,
    /// When the specification was saved that it tells of last.
    pub spec: Option<Timestamp>,
    /// The seal that is remembered of it.
    pub moved: Option<String>,
    pub turns: Vec<Iteration>,
}

/// Every phase that had turns, before its next attempt.
fn before_anew(turns: &[Iteration]) -> Execution {
    let mut execution = Execution::default();
    for turn in turns {
        let mut known = execution.phases.iter_mut();
        match known.find(|state| state.name == turn.phase) {
            Some(state) => state.attempt = state.attempt.max(turn.attempt + 1),
            None => execution.phases.push(PhaseState {
                attempt: turn.attempt + 1,
                ..PhaseState::new(&turn.phase)
            }),
        }
    }
    execution
}

fn put_decision(
    rows: &Transaction<'_>,
    task: &str,
    decision: &GateDecision,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO gate_decisions
         (task_id, phase, gate_type, attempt, approved, reason, decided_by, decided_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = params![
        task,
        decision.phase,
        decision.gate_type.as_str(),
        decision.attempt,
        decision.approved,
        decision.reason,
        decision.by,
        decision.at.to_string(),
    ];
    change(rows, sql, values)?;
    let id = rows.last_insert_rowid();
    marks::mark(rows, task, marks::MarkKind::Decision, "", id)
}

fn decision(row: &Row<'_>) -> rusqlite::Result<GateDecision> {
    Ok(GateDecision {
        phase: row.get(0)?,
        gate_type: parsed(row, 1)?,
        attempt: row.get(2)?,
        approved: row.get(3)?,
        reason: row.get(4)?,
        by: row.get(5)?,
        at: parsed(row, 6)?,
    })
}

/// A word or a time.
fn parsed<T: FromStr<Err: StdError + Send + Sync + 'static>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(column, error))
}

fn parsed_if_any<T: FromStr<Err: StdError + Send + Sync + 'static>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    let value = text.map(|text| text.parse()).transpose();
    value.map_err(|error| unreadable(column, error))
}

fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, error))
}

fn from_json_if_any<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    let value = text.map(|text| serde_json::from_str(&text)).transpose();
    value.map_err(|error| unreadable(column, error))
}

fn to_json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn unreadable(column: usize, error: impl StdError + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

fn in_text(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

/// How many rows a change was about.
pub(super) fn change(
    rows: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<usize> {
    rows.prepare_cached(sql)?.execute(values)
}
