//! Iterations: one row for each, whatever happens. What a turn came to and what it cost is written once and stays; later
//! writes only add to it.

use super::marks::{self, MarkKind};
use super::{change, in_text, parsed, parsed_if_any, to_json, unreadable};
use crate::database::Database;
use orange_core::usage::Usage;
use orange_core::work::execution::{Iteration, IterationKind, IterationOutcome};
use orange_sys::error::Result;
use rusqlite::{OptionalExtension, Row, Transaction, params};

const COLUMNS: &str = "phase, iteration, attempt, kind, run, harness, session, started_at, ended_at, outcome,
     input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens, cost, cost_partial,
     head, answer, checked, checks, error, advanced, transcript, again_at, base, rescue, model";

impl Database {
    /// What an iteration came to and what it used. False: it had ended before; what it used is kept if that was not
    /// known, and nothing else is changed of how it ended.
    pub fn spend(&mut self, task: &str, iteration: &Iteration) -> Result<bool> {
        self.in_transaction(|rows| put(rows, task, iteration))
    }

    /// What the last turn left cannot be committed, so nobody can check it, and it is done again. Nothing changes once it has
    /// a commit.
    pub fn not_committed(&mut self, task: &str, why: &str) -> Result<()> {
        self.in_transaction(|rows| {
            let mut turns = of_task(rows, task)?.into_iter();
            let last = turns.rfind(|turn| turn.kind == IterationKind::Turn);
            let Some(turn) = last.filter(Iteration::is_uncommitted) else {
                return Ok(());
            };
            let failed = Iteration {
                outcome: Some(IterationOutcome::Failed),
                error: Some(why.to_owned()),
                ..turn
            };
            write(rows, task, &failed)?;
            marks::mark(
                rows,
                task,
                MarkKind::Ended,
                &failed.phase,
                i64::from(failed.iteration),
            )
        })
    }

    /// What became of the criteria.
    pub fn checked(&mut self, task: &str, iteration: &Iteration) -> Result<()> {
        self.in_transaction(|rows| put(rows, task, iteration).map(drop))
    }
}

/// Writes an iteration. False: it had ended before, and what is new was added.
pub(super) fn put(rows: &Transaction<'_>, task: &str, given: &Iteration) -> rusqlite::Result<bool> {
    let known = of_number(rows, task, &given.phase, i64::from(given.iteration))?;
    let was_open = known.as_ref().is_none_or(Iteration::is_open);
    let merged = match &known {
        Some(known) => merged(known, given),
        None => given.clone(),
    };
    if known.as_ref() == Some(&merged) {
        return Ok(was_open);
    }
    write(rows, task, &merged)?;
    let number = i64::from(merged.iteration);
    if known.is_none() {
        marks::mark(rows, task, MarkKind::Opened, &merged.phase, number)?;
    }
    if !merged.is_open() && known.as_ref().map(told) != Some(told(&merged)) {
        marks::mark(rows, task, MarkKind::Ended, &merged.phase, number)?;
    }
    Ok(was_open)
}

/// What the journal tells of the end of an iteration.
fn told(iteration: &Iteration) -> impl PartialEq + use<'_> {
    (
        iteration.outcome,
        iteration.usage,
        &iteration.head,
        iteration.summary(),
        &iteration.error,
        iteration.ended_at,
        &iteration.rescue,
    )
}

/// A row, and what somebody has who read it earlier or knows more.
fn merged(known: &Iteration, given: &Iteration) -> Iteration {
    if known.is_open() {
        return Iteration {
            usage: if given.usage.is_empty() {
                known.usage
            } else {
                given.usage
            },
            ..given.clone()
        };
    }
    // Whoever took it for interrupted did not know how it ended.
    let is_news = !given.is_open()
        && (given.outcome != Some(IterationOutcome::Interrupted) || known.outcome == given.outcome);
    if !is_news {
        return known.clone();
    }
    let outcome = match (known.outcome, given.outcome) {
        // Its agent said complete, and a criterion did not pass.
        (Some(IterationOutcome::Completed), Some(IterationOutcome::Continue)) => given.outcome,
        (outcome, _) => outcome,
    };
    // Nobody waits for one any more that was taken for interrupted.
    let is_same =
        known.outcome != Some(IterationOutcome::Interrupted) || known.outcome == given.outcome;
    let later = |known: &Option<String>, given: &Option<String>| {
        let given = given.clone().filter(|_| is_same);
        given.or_else(|| known.clone())
    };
    Iteration {
        outcome,
        usage: if known.usage.is_empty() {
            given.usage
        } else {
            known.usage
        },
        model: later(&known.model, &given.model),
        session: later(&known.session, &given.session),
        head: later(&known.head, &given.head),
        error: later(&known.error, &given.error),
        transcript: later(&known.transcript, &given.transcript),
        rescue: given.rescue.clone().or_else(|| known.rescue.clone()),
        answer: known
            .answer
            .clone()
            .or_else(|| given.answer.clone().filter(|_| is_same)),
        checked: known.checked || (is_same && given.checked),
        checks: if is_same && given.checked {
            given.checks.clone()
        } else {
            known.checks.clone()
        },
        advanced: known.advanced || (is_same && given.advanced),
        ..known.clone()
    }
}

fn write(rows: &Transaction<'_>, task: &str, iteration: &Iteration) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO iterations (task_id, {COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)
         ON CONFLICT (task_id, phase, iteration) DO UPDATE SET attempt = ?4, kind = ?5, run = ?6, harness = ?7, session = ?8,
         started_at = ?9, ended_at = ?10, outcome = ?11, input_tokens = ?12, output_tokens = ?13,
         cache_creation_input_tokens = ?14, cache_read_input_tokens = ?15, cost = ?16, cost_partial = ?17, head = ?18,
         answer = ?19, checked = ?20, checks = ?21, error = ?22, advanced = ?23, transcript = ?24, again_at = ?25,
         base = ?26, rescue = ?27, model = ?28"
    );
    let usage = &iteration.usage;
    let answer = iteration.answer.as_ref().map(to_json).transpose()?;
    let values = params![
        task,
        iteration.phase,
        iteration.iteration,
        iteration.attempt,
        iteration.kind.as_str(),
        iteration.run,
        iteration.harness,
        iteration.session,
        iteration.started_at.to_string(),
        in_text(iteration.ended_at),
        iteration.outcome.map(IterationOutcome::as_str),
        count(usage.input),
        count(usage.output),
        count(usage.cache_write),
        count(usage.cache_read),
        usage.cost,
        usage.cost_partial,
        iteration.head,
        answer,
        iteration.checked,
        to_json(&iteration.checks)?,
        iteration.error,
        iteration.advanced,
        iteration.transcript,
        in_text(iteration.again_at),
        iteration.base,
        iteration.rescue,
        iteration.model,
    ];
    change(rows, &sql, values).map(drop)
}

/// SQLite has no larger number, and no turn has so many tokens.
fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// The iterations of a task, in the order in which they began.
pub(super) fn of_task(rows: &Transaction<'_>, task: &str) -> rusqlite::Result<Vec<Iteration>> {
    let sql = format!("SELECT {COLUMNS} FROM iterations WHERE task_id = ?1 ORDER BY id");
    let mut question = rows.prepare_cached(&sql)?;
    question.query_map([task], read)?.collect()
}

pub(super) fn of_number(
    rows: &Transaction<'_>,
    task: &str,
    phase: &str,
    number: i64,
) -> rusqlite::Result<Option<Iteration>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM iterations WHERE task_id = ?1 AND phase = ?2 AND iteration = ?3"
    );
    let mut question = rows.prepare_cached(&sql)?;
    let found = question.query_row(params![task, phase, number], read);
    found.optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Iteration> {
    let tokens = |column: usize| -> rusqlite::Result<u64> {
        let count: i64 = row.get(column)?;
        Ok(u64::try_from(count).unwrap_or_default())
    };
    let answer: Option<String> = row.get(17)?;
    let answer = answer.map(|text| serde_json::from_str(&text)).transpose();
    Ok(Iteration {
        phase: row.get(0)?,
        iteration: row.get(1)?,
        attempt: row.get(2)?,
        kind: parsed(row, 3)?,
        run: row.get(4)?,
        harness: row.get(5)?,
        session: row.get(6)?,
        started_at: parsed(row, 7)?,
        ended_at: parsed_if_any(row, 8)?,
        outcome: parsed_if_any(row, 9)?,
        usage: Usage {
            input: tokens(10)?,
            output: tokens(11)?,
            cache_write: tokens(12)?,
            cache_read: tokens(13)?,
            cost: row.get(14)?,
            cost_partial: row.get(15)?,
        },
        head: row.get(16)?,
        answer: answer.map_err(|error| unreadable(17, error))?,
        checked: row.get(18)?,
        checks: super::from_json(row, 19)?,
        error: row.get(20)?,
        advanced: row.get(21)?,
        transcript: row.get(22)?,
        again_at: parsed_if_any(row, 23)?,
        base: row.get(24)?,
        rescue: row.get(25)?,
        model: row.get(26)?,
    })
}
