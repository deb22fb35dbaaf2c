//! The executor's process from its start to its end: it asks what comes next, does it, and moves the task at the end.

use crate::call::{self, Call};
use crate::database::Claim;
use crate::effects::executor::hostname;
use crate::effects::{spoken, stop_agent};
use crate::error::{Result, err};
use crate::execution::rules::{self, PhaseRules};
use crate::executor_run::ExecutorRun;
use crate::phases::progress::{Progress, Show};
use crate::phases::{after_turn, budget, judge, transcripts, turn};
use crate::prompt::phase::PromptOf;
use crate::rules::rules_commit;
use crate::settings;
use crate::store::Place;
use crate::store::lock::TaskLock;
use crate::tx::{self, TaskTx, explain_lock};
use crate::{execution, git, started_by};
use orange_core::task::Task;
use orange_core::work::execution::{Execution, IterationKind, Step, next_step};
use orange_core::work::plan::{Plan, PlannedPhase};
use orange_core::workflow::{Role, Trigger};
use orange_sys::crash_points::crash_point;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often an executor says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Between two looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What an executor works with.
pub(super) struct Executor<'a> {
    pub(super) call: &'a Call,
    pub(super) run: &'a ExecutorRun,
    pub(super) show: &'a Show<'a>,
    pub(super) place: Place,
    pub(super) task: Task,
    pub(super) slot: PathBuf,
    pub(super) rules: PhaseRules,
    pub(super) plan: Plan,
    /// How long a service that failed is left alone.
    pub(super) retry_delay: Duration,
    /// Where the branch was before the first iteration.
    pub(super) base: Option<String>,
}

/// Why an executor ends.
pub(super) enum ExecutorEnd {
    /// What its rows say: everything is done, a person is asked, a phase has failed.
    Rows,
    /// Orange asked for it, and moves the task itself.
    Stopped,
    /// Something else; what, and why.
    Because(Trigger, String),
}

/// The process of an executor, to its end; `show` is told what it does.
pub fn run_phases(call: &Call, run: &str, show: &Show<'_>) -> Result<()> {
    let run = ExecutorRun::begin(call.store.home(), run)?;
    let outcome = live(call, &run, show);
    let (how, code) = match &outcome {
        Ok(()) => ("its part is done".to_owned(), 0),
        Err(error) => (error.to_string(), 1),
    };
    run.end(&how, code);
    outcome
}

fn live(call: &Call, run: &ExecutorRun, show: &Show<'_>) -> Result<()> {
    let mut call = started_by::inherit_here(call, &run.spec.task).as_engine();
    // A window of tmux has the environment of the server; this is that of whoever started the executor.
    call.settings.environment.clone_from(&run.environment);
    let call = call;
    let place = call.store.place(&run.spec.folder);
    // Whoever started this still has the task, until the start is journalled.
    let Some(tx) = lock(&call, run, &place)? else {
        return Ok(());
    };
    let task = tx.commit(Vec::new())?.task;
    if task.status_info().expects != Some(Role::Executor) {
        return Ok(());
    }
    let over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        // A panic ends the heartbeat too: this thread is waited for.
        let _ended = HeartbeatGuard(&over);
        let claimed = claim(&call, run, &task);
        scope.spawn(|| keep_alive(&call, run, &task, &over));
        claimed.and_then(|()| execute(&call, run, show, &place, task.clone()))
    });
    if let Err(error) =
        call.with_database(|database| database.release_claim(&task.id, &run.spec.run))
    {
        tracing::warn!(%error, "the claim of an executor is left");
    }
    budget::warn_at_end(&call, &task);
    let end = outcome.unwrap_or_else(|error| {
        tracing::error!(%error, "the executor cannot go on");
        ExecutorEnd::Because(Trigger::START_FAILED, spoken(&call, &error))
    });
    finish(&call, run, show, &place, end)
}

/// Ends the heartbeat when it is dropped.
struct HeartbeatGuard<'a>(&'a AtomicBool);

impl Drop for HeartbeatGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Says in orange.db who executes the task.
fn claim(call: &Call, run: &ExecutorRun, task: &Task) -> Result<()> {
    let claim = Claim {
        run: run.spec.run.clone(),
        pid: std::process::id(),
        hostname: hostname(),
        started_at: call.now(),
        heartbeat_at: call.now(),
    };
    // The lock of this run tells who executes; a claim that was left is nobody's.
    let left = call.with_database(|database| database.claim_of(&task.id))?;
    let left = left.map(|claim| claim.run);
    let taken = call.with_database(|database| database.claim(&task.id, &claim, left.as_deref()))?;
    if taken {
        Ok(())
    } else {
        Err(err!(Busy, "another executor has {}", task.label()))
    }
}

fn keep_alive(call: &Call, run: &ExecutorRun, task: &Task, over: &AtomicBool) {
    let mut since = std::time::Instant::now();
    while !over.load(Ordering::Acquire) {
        std::thread::sleep(LOOK);
        if since.elapsed() < HEARTBEAT {
            continue;
        }
        since = std::time::Instant::now();
        let beat = call.with_database(|database| {
            database.back_up();
            database.heartbeat(&task.id, &run.spec.run, call.now())
        });
        if let Err(error) = beat {
            tracing::warn!(%error, "a heartbeat is missing");
        }
    }
}

/// Locks the task; None once this process is to stop, because whoever has the lock may wait for its end.
pub(super) fn lock<'c>(
    call: &'c Call,
    run: &ExecutorRun,
    place: &Place,
) -> Result<Option<TaskTx<'c>>> {
    loop {
        if run.was_asked_to_stop() {
            return Ok(None);
        }
        match TaskLock::try_acquire(&place.path) {
            Ok(Some(lock)) => {
                return tx::opened(call, place.clone(), lock, false, false).map(Some);
            }
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(explain_lock(place, error)),
        }
    }
}

fn execute(
    call: &Call,
    run: &ExecutorRun,
    show: &Show<'_>,
    place: &Place,
    task: Task,
) -> Result<ExecutorEnd> {
    let plan = execution::required_plan(call, &task)?;
    let rules = rules::of(call, &task, &plan)?;
    let retry_delay = settings::config(call)?.agents.retry_delay;
    let mut this = Executor {
        call,
        run,
        show,
        place: place.clone(),
        slot: run.spec.worktree.clone(),
        rules,
        plan,
        task,
        retry_delay,
        base: None,
    };
    this.base = this.beginning()?;
    // Those of an executor that was killed.
    transcripts::complete_ended(&this);
    if !this.leave_out_given_spec()? {
        return Ok(this.interrupted());
    }
    let end = steps(&mut this);
    transcripts::complete_ended(&this);
    end
}

fn steps(this: &mut Executor<'_>) -> Result<ExecutorEnd> {
    loop {
        if this.run.is_to_stop() {
            return Ok(this.interrupted());
        }
        // After a repair of orange.db there may be none any more, or another one.
        if execution::required_plan(this.call, &this.task)? != this.plan {
            let why = "its plan was written anew".to_owned();
            return Ok(ExecutorEnd::Because(Trigger::SIGTERM, why));
        }
        let execution = execution::execution(this.call, &this.task)?;
        if !this.gates_are_current(&execution)? {
            return Ok(this.interrupted());
        }
        let step = next_step(&this.plan, &execution, &this.rules.core);
        tracing::debug!(?step, "next step of the execution");
        if step.costs()
            && let Some(end) = budget::look(this, &execution)?
        {
            return Ok(end);
        }
        let end = match step {
            Step::Interrupted(iteration) => {
                after_turn::interrupt(this, execution, iteration)?;
                None
            }
            Step::Turn(wanted) => turn::take(this, execution, &wanted)?,
            Step::Judge(wanted) => judge::ask(this, execution, &wanted)?,
            Step::Decide { iteration } => judge::decide(this, execution, iteration)?,
            Step::Settle { phase } => judge::settle(this, execution, &phase)?,
            Step::Check { iteration } => after_turn::check(this, &execution, iteration)?,
            Step::Advance { iteration } => after_turn::advance(this, execution, iteration)?,
            Step::UsedUp { phase, why } => after_turn::used_up(this, execution, &phase, &why)?,
            Step::PausedAfterPhase(phase) => {
                let why = format!("phase {phase} was to run alone, and is over");
                Some(ExecutorEnd::Because(Trigger::PHASE_ALONE, why))
            }
            Step::Gate { .. } | Step::Ask { .. } | Step::Failed { .. } | Step::Done => {
                Some(ExecutorEnd::Rows)
            }
        };
        if let Some(end) = end {
            return Ok(end);
        }
    }
}

impl Executor<'_> {
    /// Has what was written into orange.db journalled; false once this process is to stop.
    pub(super) fn journal(&mut self) -> Result<bool> {
        let Some(tx) = lock(self.call, self.run, &self.place)? else {
            return Ok(false);
        };
        self.task = tx.commit(Vec::new())?.task;
        Ok(true)
    }

    /// Where the branch is, or was before the turns of earlier executors.
    fn beginning(&self) -> Result<Option<String>> {
        let rows = execution::execution(self.call, &self.task)?.iterations;
        if rows.iter().any(|row| row.kind == IterationKind::Turn) {
            let project = call::registered(self.call, &self.task.project)?;
            return rules_commit::rules_commit(self.call, &project, &self.task).map(Some);
        }
        git::commit_of(&self.slot, "HEAD")
    }

    /// Reads the gates again before a decision about a phase: a person may have made one stricter since the executor began. False
    /// once this process is to stop.
    fn gates_are_current(&mut self, execution: &Execution) -> Result<bool> {
        let step = next_step(&self.plan, execution, &self.rules.core);
        if !matches!(
            step,
            Step::Advance { .. } | Step::Judge(_) | Step::Decide { .. }
        ) {
            return Ok(true);
        }
        if !self.journal()? {
            return Ok(false);
        }
        self.rules.core.gates = rules::of(&self.call.anew(), &self.task, &self.plan)?
            .core
            .gates;
        Ok(true)
    }

    /// The file of an older home has no row, and may be there although the plan was written without it. False: it is to end.
    fn leave_out_given_spec(&mut self) -> Result<bool> {
        let (call, task) = (self.call, &self.task);
        let before = execution::execution(call, task)?;
        let (place, plan) = (&self.place, &self.plan);
        let after = execution::spec::with_given_spec(call, place, task, plan, before.clone())?;
        if after == before {
            return Ok(true);
        }
        self.store(&after)?;
        self.journal()
    }

    pub(super) fn store(&self, execution: &Execution) -> Result<()> {
        execution::store(self.call, &self.task, execution)
    }

    /// What the prompts of its turns are about.
    pub(super) fn about(&self) -> PromptOf<'_> {
        PromptOf {
            call: self.call,
            place: &self.place,
            task: &self.task,
            plan: &self.plan,
        }
    }

    /// A phase of the plan.
    pub(super) fn planned(&self, name: &str) -> Result<PlannedPhase> {
        let phase = self.plan.phase(name).cloned();
        phase.ok_or_else(|| err!(Failed, "the plan has no phase {name}"))
    }

    /// The slot that it works in, by its name.
    pub(super) fn slot_name(&self) -> &str {
        let name = self.slot.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }

    pub(super) fn interrupted(&self) -> ExecutorEnd {
        if self.run.was_asked_to_stop() {
            ExecutorEnd::Stopped
        } else {
            ExecutorEnd::Because(Trigger::SIGTERM, self.run.interruption().to_owned())
        }
    }
}

/// Moves the task on, and leaves the hooks, which end this process, to an errand.
fn finish(
    call: &Call,
    run: &ExecutorRun,
    show: &Show<'_>,
    place: &Place,
    end: ExecutorEnd,
) -> Result<()> {
    let (trigger, why) = match end {
        ExecutorEnd::Stopped => {
            show(Progress::Ends("it was asked to stop"));
            return Ok(());
        }
        ExecutorEnd::Rows => (Trigger::ORPHAN, "its plan has no more steps".to_owned()),
        ExecutorEnd::Because(trigger, why) => (trigger, why),
    };
    let Some(mut tx) = lock(call, run, place)? else {
        return Ok(());
    };
    if tx.task.status_info().expects != Some(Role::Executor) {
        return Ok(());
    }
    execution::pause_open(call, &tx.task)?;
    tx.journal_execution()?;
    let event = tx.decide_end(trigger, &why)?;
    show(Progress::Ends(
        event.reason.as_deref().unwrap_or("its part is done"),
    ));
    // The window goes with this process, maybe before the errand looks at it.
    stop_agent::keep_last_screen(&tx, Role::Executor);
    crash_point("executor.decided");
    tx.commit_for_errand(vec![event])
}
