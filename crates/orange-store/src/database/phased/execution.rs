//! Executions and their phases. An execution that was read before somebody else wrote takes nothing away of what
//! iterations came to.

use super::marks::{self, MarkKind};
use super::{
    change, from_json, from_json_if_any, in_text, iteration, parsed, parsed_if_any, to_json,
};
use crate::database::Database;
use orange_core::work::execution::{Execution, Iteration, PhaseState};
use orange_sys::error::Result;
use rusqlite::{OptionalExtension, Row, Transaction, params};

const PHASE: &str = "name, status, attempt, retries, started_at, completed_at, commit_sha, session_id, error, summary";

impl Database {
    /// None: nothing has begun.
    pub fn execution(&mut self, task: &str) -> Result<Option<Execution>> {
        self.read(|rows| of_task(rows, task))
    }

    pub fn store_execution(&mut self, task: &str, execution: &Execution) -> Result<()> {
        self.in_transaction(|rows| store(rows, task, execution))
    }

    /// Begins an iteration. False, and nothing is changed: there is one of that number, or another run has the task.
    pub fn open_iteration(
        &mut self,
        task: &str,
        opened: &Iteration,
        execution: &Execution,
    ) -> Result<bool> {
        self.in_transaction(|rows| {
            let number = i64::from(opened.iteration);
            let is_there = iteration::of_number(rows, task, &opened.phase, number)?.is_some();
            let holder = super::claim::of_task(rows, task)?.map(|claim| claim.run);
            if is_there || holder.is_some_and(|holder| holder != opened.run) {
                return Ok(false);
            }
            iteration::put(rows, task, opened)?;
            store_state(rows, task, execution)?;
            Ok(true)
        })
    }

    /// What an iteration meant for its phase has been carried out: both at once.
    pub fn advanced(
        &mut self,
        task: &str,
        iteration: &Iteration,
        execution: &Execution,
    ) -> Result<()> {
        self.in_transaction(|rows| {
            iteration::put(rows, task, iteration)?;
            store_state(rows, task, execution)
        })
    }
}

pub(super) fn store(
    rows: &Transaction<'_>,
    task: &str,
    execution: &Execution,
) -> rusqlite::Result<()> {
    for iteration in &execution.iterations {
        iteration::put(rows, task, iteration)?;
    }
    store_state(rows, task, execution)
}

/// Everything but the iterations.
pub(super) fn store_state(
    rows: &Transaction<'_>,
    task: &str,
    execution: &Execution,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO executions
         (task_id, current_phase, current_iteration, only_phase, only_phase_over, retry_context, error,
          rewinding, over_budget)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let last = execution.last();
    let values = params![
        task,
        last.map(|last| last.phase.as_str()),
        last.map(|last| last.iteration),
        execution.only_phase,
        execution.only_phase_over,
        to_json(&execution.retry_context)?,
        execution.error,
        execution.rewinding.as_ref().map(to_json).transpose()?,
        execution.over_budget,
    ];
    if over_budget(rows, task)? != execution.over_budget {
        marks::mark(rows, task, MarkKind::Forced, "", 0)?;
    }
    change(rows, sql, values)?;
    let known = phases(rows, task)?;
    for phase in &known {
        if execution.phase(&phase.name).is_none() {
            let sql = "DELETE FROM phases WHERE task_id = ?1 AND name = ?2";
            change(rows, sql, params![task, phase.name])?;
            marks::forget_phase(rows, task, &phase.name)?;
        }
    }
    for (position, phase) in execution.phases.iter().enumerate() {
        let before = known.iter().find(|known| known.name == phase.name);
        put_phase(rows, task, position, phase, before)?;
    }
    Ok(())
}

fn put_phase(
    rows: &Transaction<'_>,
    task: &str,
    position: usize,
    phase: &PhaseState,
    before: Option<&PhaseState>,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO phases
         (task_id, position, name, status, attempt, retries, started_at, completed_at, commit_sha, session_id, error, summary)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let values = params![
        task,
        position as i64,
        phase.name,
        phase.status.as_str(),
        phase.attempt,
        phase.retries,
        in_text(phase.started_at),
        in_text(phase.completed_at),
        phase.commit_sha,
        phase.session_id,
        phase.error,
        phase.summary,
    ];
    change(rows, sql, values)?;
    // That a phase has not begun is said by the plan; the rest of a phase is said by its iterations.
    let fresh = PhaseState::new(&phase.name);
    let told = |phase: &PhaseState| (phase.status, phase.attempt, phase.error.clone());
    if told(before.unwrap_or(&fresh)) != told(phase) {
        marks::mark(rows, task, MarkKind::Phase, &phase.name, 0)?;
    }
    Ok(())
}

fn of_task(rows: &Transaction<'_>, task: &str) -> rusqlite::Result<Option<Execution>> {
    let sql = "SELECT only_phase, only_phase_over, retry_context, error, rewinding, over_budget
         FROM executions WHERE task_id = ?1";
    let mut question = rows.prepare_cached(sql)?;
    let found = question.query_row([task], |row| {
        Ok(Execution {
            only_phase: row.get(0)?,
            only_phase_over: row.get(1)?,
            retry_context: from_json(row, 2)?,
            error: row.get(3)?,
            rewinding: from_json_if_any(row, 4)?,
            over_budget: row.get(5)?,
            ..Execution::default()
        })
    });
    let row = found.optional()?;
    let has_row = row.is_some();
    let execution = Execution {
        phases: phases(rows, task)?,
        iterations: iteration::of_task(rows, task)?,
        ..row.unwrap_or_default()
    };
    // An iteration alone is one too: what it cost must not get out of sight.
    let has_begun = has_row || !execution.iterations.is_empty();
    Ok(has_begun.then_some(execution))
}

/// Whether a person lets the task go on although a budget is spent.
pub(super) fn over_budget(rows: &Transaction<'_>, task: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT over_budget FROM executions WHERE task_id = ?1";
    let mut question = rows.prepare_cached(sql)?;
    let found = question.query_row([task], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(false))
}

fn phases(rows: &Transaction<'_>, task: &str) -> rusqlite::Result<Vec<PhaseState>> {
    let sql = format!("SELECT {PHASE} FROM phases WHERE task_id = ?1 ORDER BY position");
    let mut question = rows.prepare_cached(&sql)?;
    question.query_map([task], read_phase)?.collect()
}

pub(super) fn phase(
    rows: &Transaction<'_>,
    task: &str,
    name: &str,
) -> rusqlite::Result<Option<PhaseState>> {
    let sql = format!("SELECT {PHASE} FROM phases WHERE task_id = ?1 AND name = ?2");
    let mut question = rows.prepare_cached(&sql)?;
    question.query_row([task, name], read_phase).optional()
}

fn read_phase(row: &Row<'_>) -> rusqlite::Result<PhaseState> {
    Ok(PhaseState {
        name: row.get(0)?,
        status: parsed(row, 1)?,
        attempt: row.get(2)?,
        retries: row.get(3)?,
        started_at: parsed_if_any(row, 4)?,
        completed_at: parsed_if_any(row, 5)?,
        commit_sha: row.get(6)?,
        session_id: row.get(7)?,
        error: row.get(8)?,
        summary: row.get(9)?,
    })
}
