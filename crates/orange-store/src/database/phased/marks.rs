//! What the journals of tasks do not tell yet. A mark is set in the transaction that changes its row, and is taken away
//! only if the row has not changed since it was read.

use super::test_results::StoredResults;
use super::{change, decision, execution, iteration, plan, spec, test_results};
use crate::database::seals::{self, JournalSeal};
use crate::database::{Database, explain};
use orange_core::work::execution::{Iteration, PhaseState};
use orange_core::work::phase_gate::GateDecision;
use orange_core::work::plan::Plan;
use orange_core::work::spec::Spec;
use orange_sys::error::Result;
use rusqlite::{OptionalExtension, Transaction, params};

/// A row at one of its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(i64);

/// A row that its task's journal does not tell of as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Unjournalled {
    Plan {
        plan: Plan,
        edited: bool,
        mark: Mark,
    },
    Phase {
        phase: PhaseState,
        mark: Mark,
    },
    /// It may have ended meanwhile.
    Opened {
        iteration: Iteration,
        mark: Mark,
    },
    /// Told again where something of it came later: the commit, what its criteria made of its outcome, a late cost.
    Ended {
        iteration: Iteration,
        mark: Mark,
    },
    Decision {
        decision: GateDecision,
        mark: Mark,
    },
    Spec {
        spec: Spec,
        mark: Mark,
    },
    /// Whether a person lets it go on although a budget is spent.
    Forced {
        forced: bool,
        mark: Mark,
    },
    TestResults {
        results: StoredResults,
        mark: Mark,
    },
}

orange_core::choice! {
    /// What a mark is about.
    pub(super) enum MarkKind ("kind of mark") {
        Plan = "plan",
        Phase = "phase",
        Opened = "opened",
        Ended = "ended",
        Decision = "decision",
        Spec = "spec",
        Forced = "forced",
        TestResults = "test_results",
    }
}

impl Unjournalled {
    pub fn mark(&self) -> Mark {
        match self {
            Unjournalled::Plan { mark, .. }
            | Unjournalled::Phase { mark, .. }
            | Unjournalled::Opened { mark, .. }
            | Unjournalled::Ended { mark, .. }
            | Unjournalled::Decision { mark, .. }
            | Unjournalled::Spec { mark, .. }
            | Unjournalled::Forced { mark, .. }
            | Unjournalled::TestResults { mark, .. } => *mark,
        }
    }
}

impl Database {
    /// What a task's journal does not tell, in the order in which it changed.
    pub fn unjournalled(&mut self, task: &str) -> Result<Vec<Unjournalled>> {
        self.read(|rows| {
            let sql = "SELECT mark, kind, phase, number FROM unjournalled WHERE task_id = ?1
                 ORDER BY mark";
            let mut question = rows.prepare_cached(sql)?;
            let marks = question.query_map([task], |row| {
                let kind: String = row.get(1)?;
                Ok((Mark(row.get(0)?), kind, row.get(2)?, row.get(3)?))
            })?;
            let mut found = Vec::new();
            for mark in marks {
                let (mark, kind, phase, number): (Mark, String, String, i64) = mark?;
                let row = match kind.parse() {
                    Ok(kind) => row_of(rows, task, kind, &phase, number, mark)?,
                    Err(_) => None,
                };
                match row {
                    Some(row) => found.push(row),
                    None => tracing::debug!(task, kind, phase, number, "a mark has no row"),
                }
            }
            Ok(found)
        })
    }

    /// The journal tells of these rows as they were read, and ends with this seal. A row that has changed since stays marked. It
    /// does not wait for the disk: whoever finds a mark looks into the journal first, and so does whoever finds an older seal.
    pub fn note_journalled(
        &mut self,
        task: &str,
        marks: &[Mark],
        seal: Option<&JournalSeal>,
    ) -> Result<()> {
        let sql = "DELETE FROM unjournalled WHERE mark = ?1 AND task_id = ?2";
        let with_marks = |rows: &Transaction<'_>| {
            for mark in marks {
                change(rows, sql, params![mark.0, task])?;
            }
            seal.map_or(Ok(()), |seal| seals::put(rows, task, seal))
        };
        let note = |database: &mut Database| match seal {
            Some(seal) if marks.is_empty() => {
                let noted = seals::put(&database.connection, task, seal);
                noted.map_err(|error| explain(&database.path, error))
            }
            Some(_) | None => database.in_transaction(with_marks),
        };
        match seal {
            Some(seal) if seal.incomplete => note(self),
            Some(_) | None => self.unsynced(note),
        }
    }
}

/// The row has changed.
pub(super) fn mark(
    rows: &Transaction<'_>,
    task: &str,
    kind: MarkKind,
    phase: &str,
    number: i64,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO unjournalled (task_id, kind, phase, number)
         VALUES (?1, ?2, ?3, ?4)";
    change(rows, sql, params![task, kind.as_str(), phase, number]).map(drop)
}

/// It is not there any more, and nothing is to be told of it.
pub(super) fn forget_phase(
    rows: &Transaction<'_>,
    task: &str,
    phase: &str,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM unjournalled WHERE task_id = ?1 AND kind = ?2 AND phase = ?3";
    change(rows, sql, params![task, MarkKind::Phase.as_str(), phase]).map(drop)
}

fn row_of(
    rows: &Transaction<'_>,
    task: &str,
    kind: MarkKind,
    phase: &str,
    number: i64,
    mark: Mark,
) -> rusqlite::Result<Option<Unjournalled>> {
    let iteration = || iteration::of_number(rows, task, phase, number);
    Ok(match kind {
        MarkKind::Plan => plan::of_task(rows, task)?.and_then(|stored| {
            let plan = stored.parse().ok()?.plan;
            let edited = stored.edited;
            Some(Unjournalled::Plan { plan, edited, mark })
        }),
        MarkKind::Spec => spec::of_task(rows, task)?.map(|spec| Unjournalled::Spec { spec, mark }),
        MarkKind::Phase => {
            execution::phase(rows, task, phase)?.map(|phase| Unjournalled::Phase { phase, mark })
        }
        MarkKind::Opened => iteration()?.map(|iteration| Unjournalled::Opened { iteration, mark }),
        MarkKind::Ended => iteration()?.map(|iteration| Unjournalled::Ended { iteration, mark }),
        MarkKind::Forced => Some(Unjournalled::Forced {
            forced: execution::over_budget(rows, task)?,
            mark,
        }),
        MarkKind::Decision => {
            let sql = "SELECT phase, gate_type, attempt, approved, reason, decided_by, decided_at
                 FROM gate_decisions WHERE id = ?1 AND task_id = ?2";
            let mut question = rows.prepare_cached(sql)?;
            let found = question.query_row(params![number, task], decision);
            found
                .optional()?
                .map(|decision| Unjournalled::Decision { decision, mark })
        }
        MarkKind::TestResults => test_results::of_task(rows, task)?
            .map(|results| Unjournalled::TestResults { results, mark }),
    })
}
