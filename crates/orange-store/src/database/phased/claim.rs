//! Claims: who executes a task. On one machine the lock of a run tells whether it lives; to others its heartbeat does.

use super::{change, parsed};
use crate::database::Database;
use orange_core::Timestamp;
use orange_sys::error::Result;
use rusqlite::{OptionalExtension, Row, Transaction, params};
use std::time::Duration;

/// An executor that was not heard of for so long is gone.
const SILENCE: Duration = Duration::from_secs(15 * 60);

/// An executor that says that it has a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub run: String,
    pub pid: u32,
    pub hostname: String,
    pub started_at: Timestamp,
    pub heartbeat_at: Timestamp,
}

impl Claim {
    /// Whether whoever made it was not heard of for too long. One whose clock goes ahead of ours is not silent.
    pub fn is_silent(&self, now: Timestamp) -> bool {
        let since = Duration::try_from(now.duration_since(self.heartbeat_at));
        since.is_ok_and(|since| since > SILENCE)
    }
}

impl Database {
    /// Takes the task for a run: where nobody has it, or the run itself, or the one that it comes `instead_of`. Of two
    /// that try at once one gets true.
    pub fn claim(&mut self, task: &str, claim: &Claim, instead_of: Option<&str>) -> Result<bool> {
        self.in_transaction(|rows| {
            let holder = of_task(rows, task)?.map(|claim| claim.run);
            let is_free = holder.is_none_or(|holder| {
                holder == claim.run || instead_of.is_some_and(|other| other == holder)
            });
            if !is_free {
                return Ok(false);
            }
            let sql = "INSERT OR REPLACE INTO claims
                 (task_id, run, pid, hostname, started_at, heartbeat_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let values = params![
                task,
                claim.run,
                claim.pid,
                claim.hostname,
                claim.started_at.to_string(),
                claim.heartbeat_at.to_string(),
            ];
            change(rows, sql, values)?;
            Ok(true)
        })
    }

    /// False: the run does not have the task any more. A power cut may take a heartbeat back, and ends the executor too.
    pub fn heartbeat(&mut self, task: &str, run: &str, at: Timestamp) -> Result<bool> {
        let sql = "UPDATE claims SET heartbeat_at = ?3 WHERE task_id = ?1 AND run = ?2";
        let values = params![task, run, at.to_string()];
        let changed = self.unsynced(|database| database.execute(sql, values))?;
        Ok(changed > 0)
    }

    pub fn claim_of(&mut self, task: &str) -> Result<Option<Claim>> {
        self.read(|rows| of_task(rows, task))
    }

    /// False: the run did not have the task.
    pub fn release_claim(&mut self, task: &str, run: &str) -> Result<bool> {
        let sql = "DELETE FROM claims WHERE task_id = ?1 AND run = ?2";
        Ok(self.execute(sql, [task, run])? > 0)
    }
}

pub(super) fn of_task(rows: &Transaction<'_>, task: &str) -> rusqlite::Result<Option<Claim>> {
    let sql = "SELECT run, pid, hostname, started_at, heartbeat_at FROM claims WHERE task_id = ?1";
    let mut question = rows.prepare_cached(sql)?;
    question.query_row([task], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Claim> {
    Ok(Claim {
        run: row.get(0)?,
        pid: row.get(1)?,
        hostname: row.get(2)?,
        started_at: parsed(row, 3)?,
        heartbeat_at: parsed(row, 4)?,
    })
}
