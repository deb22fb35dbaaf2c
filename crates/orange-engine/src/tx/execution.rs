//! The execution of a phased task beside its journal: rows that the journal does not name yet are journalled, and moves that
//! the rows imply are made by whoever locks the task, should the executor or the verb have died before.

use crate::call::Call;
use crate::database::{Mark, Unjournalled};
use crate::effects::executor;
use crate::error::Result;
use crate::execution::{self, PlanProgress, journal};
use crate::sessions;
use crate::test_results;
use crate::tx::TaskTx;
use crate::tx::commit::Committed;
use crate::tx::decide::{KnownFacts, decided};
use orange_core::history::{Event, HookOutcome, HookState};
use orange_core::machine::Move;
use orange_core::task::Task;
use orange_core::work::execution::{Execution, ExecutionEnd};
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::work::plan::Plan;
use orange_core::workflow::{Actor, Condition, Intent, Role, Transition, Trigger};
use orange_sys::crash_points::crash_point;
use std::fs;

/// What orange.db alone knows of an execution.
#[derive(Default)]
struct Untold {
    events: Vec<Event>,
    /// Of the rows that the journal tells of together with these events.
    marks: Vec<Mark>,
    /// The current phase by these rows.
    phase: Option<String>,
}

impl TaskTx<'_> {
    /// Journals what orange.db alone knows of the execution: a process died in between, or leaves it to whoever comes next.
    pub(crate) fn journal_execution(&mut self) -> Result<()> {
        let Untold {
            mut events,
            marks,
            phase,
        } = self.untold_rows(None)?;
        if events.is_empty() {
            // Whoever died journalled them and did not say so.
            return self.forget_marks(&marks);
        }
        let first = events.remove(0);
        let first = journal::with_current_phase(&self.task, first, phase.as_deref());
        events.insert(0, first);
        self.told_rows = marks;
        self.note(events)?;
        crash_point("execution.journalled");
        Ok(())
    }

    /// Removes what a killed import staged and no row names.
    pub(super) fn drop_staged_imports(&self) {
        match test_results::leftovers_of(self.call, &self.task.id, &self.place.path) {
            Ok(left) if left.is_empty() => {}
            Ok(left) => left.iter().for_each(|folder| {
                if let Err(error) = fs::remove_dir_all(folder) {
                    tracing::warn!(%error, folder = %folder.display(), "cannot be removed");
                }
            }),
            Err(error) => tracing::warn!(%error, "nobody knows which imports are finished"),
        }
    }

    /// Commits a move together with what its verb wrote into orange.db just now: one change for the journal and the disk.
    pub(crate) fn commit_with_rows(
        mut self,
        event: Event,
        progress: Option<PlanProgress<'_>>,
    ) -> Result<Committed> {
        let Untold {
            mut events,
            marks,
            phase,
        } = self.untold_rows(progress)?;
        events.push(journal::with_current_phase(
            &self.task,
            event,
            phase.as_deref(),
        ));
        self.told_rows = marks;
        self.write(events)?;
        self.finish(true)
    }

    /// The events that are missing in the journal.
    fn untold_rows(&self, progress: Option<PlanProgress<'_>>) -> Result<Untold> {
        let mut untold = Untold {
            phase: self.task.current_phase.clone(),
            ..Untold::default()
        };
        // A task without a plan has rows of its test results only.
        if !self.task.has_plan() && !test_results::has_results(&self.place.path) {
            return Ok(untold);
        }
        let pending = journal::pending(self.call, &self.task);
        if pending.is_empty() {
            return Ok(untold);
        }
        untold.phase = match progress {
            Some(progress) => progress.current_phase(),
            None => execution::current_phase(self.call, &self.task)?,
        };
        for pending in pending {
            if let Unjournalled::TestResults { results, .. } = &pending.row {
                if let Err(error) = test_results::place(&self.place.path, &results.import) {
                    // Whoever locks the task next tries again.
                    tracing::error!(%error, task = self.task.id, "an import is not finished");
                    continue;
                }
                crash_point("results.placed");
            }
            untold.marks.push(pending.row.mark());
            if !journal::is_journalled(self.history(), &pending) {
                untold.events.push(pending.event);
            }
        }
        Ok(untold)
    }

    fn forget_marks(&self, marks: &[Mark]) -> Result<()> {
        if marks.is_empty() {
            return Ok(());
        }
        journal::note_journalled(self.call, &self.task, marks)
    }

    /// Makes the move that an executor did not live to make, or that a decision which is stored implies.
    pub(crate) fn follow_execution(&mut self) -> Result<()> {
        self.follow_rows(false)
    }

    /// The same for a verb that has just changed the rows: a person says that they count.
    pub(crate) fn follow_person(&mut self) -> Result<()> {
        self.follow_rows(true)
    }

    fn follow_rows(&mut self, said: bool) -> Result<()> {
        if !self.task.has_plan() {
            return Ok(());
        }
        if self.task.status_info().expects == Some(Role::Executor) {
            return self.take_orphan();
        }
        self.finish_rewind()?;
        self.follow_weight()?;
        self.take_decision(said)?;
        self.take_change()
    }

    /// Takes a task back whose executor did not start, and with it the slot: nobody would look after it before the next command.
    /// Gives the hooks of the start that failed.
    pub(crate) fn end_failed_start(&mut self) -> Result<Vec<HookState>> {
        let expects = self.task.status_info().expects == Some(Role::Executor);
        let mut failed = Vec::new();
        if expects && self.task.has_plan() {
            failed = self.hooks_of_last_transition();
            failed.retain(|hook| matches!(hook.outcome, HookOutcome::Failed(_)));
        }
        if !failed.is_empty() {
            crash_point("start.failed");
            self.take_orphan()?;
        }
        let stays = self.task.status_info().expects == Some(Role::Executor);
        // What it still has to do is told with the rest.
        Ok(if stays { Vec::new() } else { failed })
    }

    /// A task that should have an executor and has none.
    fn take_orphan(&mut self) -> Result<()> {
        let call = self.call;
        if sessions::live_run(call, self.history(), Role::Executor).is_some()
            || executor::is_at_work_elsewhere(call, &self.task)?
        {
            return Ok(());
        }
        let why = self.failed_hooks().into_iter().next();
        let (trigger, why) = match why {
            Some(hook) => (Trigger::START_FAILED, hook.failure.why),
            None => (Trigger::ORPHAN, "its executor is gone".to_owned()),
        };
        execution::interrupt_open(call, &self.task)?;
        self.journal_execution()?;
        let event = self.decide_end(trigger, &why)?;
        self.write(vec![event])?;
        crash_point("orphan.moved");
        self.finish_hooks()
    }

    /// The move with which an executor ends: what its rows say, or else what stopped it.
    pub(crate) fn decide_end(&self, otherwise: Trigger, why: &str) -> Result<Event> {
        let (call, task) = (self.call, &self.task);
        let execution = execution::execution(call, task)?;
        let plan = execution::readable_plan(call, task)?;
        let end = plan.as_ref().and_then(|plan| execution.end(plan));
        let (trigger, why) = match end.zip(plan.as_ref()) {
            Some((ExecutionEnd::Completed, _)) => {
                let mut rows = task.rows();
                let completed = rows.find(|row| {
                    row.conditions.contains(&Condition::PhasesOver)
                        && row.entries_for(Actor::Engine).any(|by| by.when.is_none())
                });
                if let Some(row) = completed {
                    return self.decide_as_engine(Move::to(row.to));
                }
                (otherwise, why.to_owned())
            }
            Some((ExecutionEnd::Gate, plan)) => self.gate_reached(&execution, plan)?,
            Some((ExecutionEnd::Question(question), _)) => (Trigger::NEEDS_ANSWER, question),
            Some((ExecutionEnd::Failed(why), _)) => (Trigger::PHASE_FAILED, why),
            None => (otherwise, why.to_owned()),
        };
        let wish = Move::on(task, trigger);
        let wish = wish.ok_or_else(|| crate::error::err!(Failed, "no move on {}", trigger.0))?;
        Ok(self.decide_as_engine(wish)?.because(why))
    }

    /// Who is to decide about the phase that is done, in words.
    fn gate_reached(&self, execution: &Execution, plan: &Plan) -> Result<(Trigger, String)> {
        let gate = execution.gate(plan);
        let phase = gate.and_then(|state| plan.phase(&state.name));
        // Whichever it is, the task waits for a person: settings that cannot be read change only the words.
        let rules = execution::rules::of(self.call, &self.task, plan).ok();
        let kind = phase
            .zip(rules)
            .map(|(phase, rules)| rules.core.gate(phase));
        let name = gate.map_or("a phase", |state| state.name.as_str());
        let said = gate.and_then(|state| state.summary.as_deref());
        let said = said.map_or(String::new(), |said| format!(": {said}"));
        Ok(match (kind, execution.undecided(name)) {
            (Some(PhaseGateKind::Ai), Some(why)) => (
                Trigger::UNDECIDED_GATE,
                format!("phase {name} is done, and its judge leaves it to a person: {why}"),
            ),
            (Some(PhaseGateKind::Ai), None) => (
                Trigger::UNDECIDED_GATE,
                format!("phase {name} is done, and a person decides whether it counts{said}"),
            ),
            _ => (
                Trigger::HUMAN_GATE,
                format!("phase {name} is done, and a person decides whether it counts{said}"),
            ),
        })
    }

    /// Somebody gave a task that has not started another weight in its file: it gets the plan of that weight.
    fn follow_weight(&mut self) -> Result<()> {
        let (call, task) = (self.call, &self.task);
        let Some(weight) = task.weight.filter(|_| !task.has_started()) else {
            return Ok(());
        };
        let plan = execution::readable_plan(call, task)?;
        if plan.is_none_or(|plan| plan.weight == weight) {
            return Ok(());
        }
        if let Err(error) = execution::write_plan(call, &self.place, task, weight) {
            // Its repository cannot be read; that must not keep anybody from the task.
            tracing::warn!(%error, "the plan of another weight is not written");
            return Ok(());
        }
        self.journal_execution()
    }

    /// A decision or an answer of a person is stored, and the task has not moved.
    fn take_decision(&mut self, said: bool) -> Result<()> {
        let (call, task) = (self.call, &self.task);
        let of_gate = |row: &Transition| row.conditions.contains(&Condition::DecisionStored);
        let waits = |row: &Transition| of_gate(row) || row.intent == Some(Intent::Answer);
        if !task.rows().any(waits) {
            return Ok(());
        }
        // Rows that are older than its journal imply what nobody has decided.
        if !said && task.rows().any(of_gate) && !self.was_decided_here()? {
            return Ok(());
        }
        let execution = execution::execution(call, task)?;
        let Some(plan) = execution::readable_plan(call, task)? else {
            return Ok(());
        };
        if matches!(
            execution.end(&plan),
            Some(ExecutionEnd::Gate | ExecutionEnd::Question(_))
        ) {
            return Ok(());
        }
        let wishes = stored_wishes(task, was_approved(call, task)?).into_iter();
        let known = KnownFacts {
            progress: Some(PlanProgress {
                plan: Some(&plan),
                execution: &execution,
            }),
            ..KnownFacts::default()
        };
        let mut decided =
            wishes.map(|wish| decided(call, Actor::Human, task, &self.body, wish, known));
        let event = decided.find_map(|decided| decided.ok()?.ok());
        drop(decided);
        let Some(event) = event else {
            return Ok(());
        };
        self.write(vec![event])?;
        crash_point("decision.moved");
        self.finish_hooks()
    }

    /// Whether the last decision came after the move that brought the task where it stands.
    fn was_decided_here(&self) -> Result<bool> {
        let came = self.history().last_transition();
        let came = came.map(|transition| transition.opening.timestamp);
        let task = self.task.id.as_str();
        let stored = self
            .call
            .with_existing_database(|database| database.decisions(task))?;
        let last = stored.and_then(|all| all.last().map(|last| last.at));
        Ok(last.zip(came).is_some_and(|(last, came)| last >= came))
    }

    /// A task whose phases were all over, and one of them is to be tried again: it waits to be executed.
    fn take_change(&mut self) -> Result<()> {
        let (call, task) = (self.call, &self.task);
        if !execution::is_completed(task) {
            return Ok(());
        }
        let execution = execution::execution(call, task)?;
        let plan = execution::readable_plan(call, task)?;
        if plan.is_none_or(|plan| execution.is_completed(&plan)) {
            return Ok(());
        }
        // Who asks for changes means that it goes on by itself.
        let wish = match execution.has_untold_wish() {
            true => Move::for_intent(task, Intent::RequestChanges),
            false => Move::on(task, Trigger::REWIND),
        };
        let Some(wish) = wish else {
            return Ok(());
        };
        let event = self.decide_as(Actor::Human, wish)?;
        self.write(vec![event])?;
        crash_point("change.moved");
        self.finish_hooks()
    }
}

/// What the last decision about a phase was.
fn was_approved(call: &Call, task: &Task) -> Result<Option<bool>> {
    let stored = call.with_existing_database(|database| database.decisions(&task.id))?;
    Ok(stored.and_then(|all| all.last().map(|last| last.approved)))
}

/// The moves that a stored decision may mean, the likeliest first.
fn stored_wishes(task: &Task, approved: Option<bool>) -> Vec<Move> {
    let trigger = match approved {
        Some(false) => Trigger::REJECT,
        Some(true) | None => Trigger::APPROVE,
    };
    let rows = task.rows().filter(|row| {
        row.who.iter().any(|by| by.when == Some(trigger)) || row.intent == Some(Intent::Answer)
    });
    rows.map(|row| Move {
        trigger: Some(trigger),
        intent: row.intent,
        ..Move::to(row.to)
    })
    .collect()
}
