//! Plans, as the text that they are written and edited in.

use super::marks::{self, MarkKind};
use super::{change, execution};
use crate::database::Database;
use orange_core::work::execution::Execution;
use orange_core::work::plan::{BadPlan, ParsedPlan, Plan};
use orange_sys::error::Result;
use rusqlite::{OptionalExtension, Transaction, params};

/// A plan as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPlan {
    pub yaml: String,
    /// A person changed it.
    pub edited: bool,
}

impl StoredPlan {
    pub fn parse(&self) -> std::result::Result<ParsedPlan, BadPlan> {
        Plan::parse(&self.yaml)
    }
}

impl Database {
    pub fn plan(&mut self, task: &str) -> Result<Option<StoredPlan>> {
        self.read(|rows| of_task(rows, task))
    }

    /// The plan, and what becomes of the execution under it.
    pub fn replace_plan(
        &mut self,
        task: &str,
        plan: &Plan,
        edited: bool,
        execution: &Execution,
    ) -> Result<()> {
        self.in_transaction(|rows| {
            write(rows, task, plan, edited)?;
            execution::store(rows, task, execution)
        })
    }
}

pub(super) fn of_task(rows: &Transaction<'_>, task: &str) -> rusqlite::Result<Option<StoredPlan>> {
    let sql = "SELECT yaml, edited FROM plans WHERE task_id = ?1";
    let mut question = rows.prepare_cached(sql)?;
    let stored = |row: &rusqlite::Row<'_>| {
        let (yaml, edited) = (row.get(0)?, row.get(1)?);
        Ok(StoredPlan { yaml, edited })
    };
    question.query_row([task], stored).optional()
}

fn write(rows: &Transaction<'_>, task: &str, plan: &Plan, edited: bool) -> rusqlite::Result<()> {
    let sql = "INSERT INTO plans VALUES (?1, ?2, ?3)
         ON CONFLICT (task_id) DO UPDATE SET yaml = excluded.yaml, edited = excluded.edited";
    change(rows, sql, params![task, plan.to_yaml(), edited])?;
    marks::mark(rows, task, MarkKind::Plan, "", 0)
}
