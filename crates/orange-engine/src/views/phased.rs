//! How far a phased task is, as it is shown: its plan with the state of each phase, what was decided about them, who executes it,
//! and what it used.

use crate::budget;
use crate::call::Call;
use crate::database::Claim;
use crate::error::Result;
use crate::execution::rules::UncheckedCriterion;
use crate::execution::{self, rules};
use crate::index::list::{ListedTask, PhaseProgress};
use crate::settings;
use crate::views::row_note::MOST_LOOKS;
use crate::views::spec::{self, SpecView};
use crate::views::test_results::{self, TestResultsView};
use orange_core::Timestamp;
use orange_core::task::{Task, Weight};
use orange_core::usage::Usage;
use orange_core::work::budget::Budget;
use orange_core::work::execution::{
    CriterionResult, Execution, ExecutionEnd, Iteration, IterationKind, PhaseState, PhaseStatus,
};
use orange_core::work::phase_gate::{GateDecision, GateSource, PhaseGateKind};
use orange_core::work::plan::{PhaseKind, Plan, PlannedPhase};
use orange_core::work::prices::Prices;
use orange_core::work::state_json;
use orange_core::workflow::{BlockedReason, StatusKind};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// The execution of a task's plan.
#[derive(Debug, Clone, Default)]
pub struct PhasedDetail {
    pub weight: Option<Weight>,
    /// Why the plan cannot be shown.
    pub problem: Option<String>,
    /// In the order of the plan.
    pub phases: Vec<PhaseView>,
    /// The phase that is executed, or that everything waits for.
    pub current: Option<String>,
    /// What the agent of that phase asks.
    pub question: Option<String>,
    /// Whether somebody decides about that phase.
    pub is_at_gate: bool,
    /// What there is to say of its specification in a line.
    pub spec: Option<SpecView>,
    /// The oldest first.
    pub decisions: Vec<GateDecision>,
    /// Who says that they execute it.
    pub executor: Option<ExecutorView>,
    /// What it used in all.
    pub usage: Usage,
    /// What it may cost, if the settings say so.
    pub budget: Option<Budget>,
    /// What its tests came to, where a report was imported.
    pub test_results: Option<TestResultsView>,
    /// For programs: the state of the execution in the form of its export.
    pub state: Value,
}

/// One phase of a plan and how far it is.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseView {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: PhaseKind,
    pub status: PhaseStatus,
    /// Who decides whether it counts, and who says so.
    pub gate: PhaseGateKind,
    pub gate_source: GateSource,
    pub attempt: u32,
    pub retries: u32,
    /// How many of the iterations that it may have its attempt has used, with the one that runs.
    pub used: u32,
    pub max_iterations: u32,
    /// In all its attempts.
    #[serde(skip)]
    pub usage: Usage,
    #[serde(skip)]
    pub commit: Option<String>,
    #[serde(skip)]
    pub started_at: Option<Timestamp>,
    #[serde(skip)]
    pub completed_at: Option<Timestamp>,
    /// Why it failed, or was skipped.
    #[serde(skip)]
    pub error: Option<String>,
    /// The last that its agent said of it.
    pub summary: Option<String>,
    /// Its criteria, as they were looked at last.
    pub checks: Vec<CriterionResult>,
    /// What was decided about it last, in its attempt.
    #[serde(skip)]
    pub decision: Option<GateDecision>,
    /// The file of its newest iteration.
    pub transcript: Option<String>,
    /// What its judge does, or why it left the decision to a person.
    pub judge: Option<String>,
    /// What its agent waits to be told.
    #[serde(skip)]
    pub question: Option<String>,
}

/// Who says in orange.db that they execute a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExecutorView {
    #[serde(rename = "executor_pid")]
    pub pid: u32,
    #[serde(rename = "executor_hostname")]
    pub hostname: String,
    #[serde(rename = "executor_started_at")]
    pub started_at: Timestamp,
    #[serde(rename = "last_heartbeat")]
    pub heartbeat_at: Timestamp,
}

impl Serialize for PhasedDetail {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        self.state.serialize(to)
    }
}

impl From<Claim> for ExecutorView {
    fn from(claim: Claim) -> ExecutorView {
        ExecutorView {
            pid: claim.pid,
            hostname: claim.hostname,
            started_at: claim.started_at,
            heartbeat_at: claim.heartbeat_at,
        }
    }
}

impl PhasedDetail {
    /// The phase that is executed, or that everything waits for.
    pub fn current_phase(&self) -> Option<&PhaseView> {
        let current = self.current.as_deref()?;
        self.phases.iter().find(|phase| phase.name == current)
    }
}

impl PhaseView {
    /// Where it stands, readable without colours.
    pub fn sign(&self) -> &'static str {
        match self.status {
            PhaseStatus::Pending => "·",
            PhaseStatus::Running => "▶",
            PhaseStatus::Completed => "✓",
            PhaseStatus::Failed => "!",
            PhaseStatus::Paused | PhaseStatus::Interrupted => "∥",
            PhaseStatus::Skipped => "–",
            PhaseStatus::Blocked if self.question.is_some() => "?",
            PhaseStatus::Blocked => "★",
        }
    }

    /// What keeps it from being over, or what let it be: in a few words for one line.
    pub fn words(&self) -> String {
        match (&self.status, &self.question) {
            (PhaseStatus::Blocked, Some(question)) => return format!("asks: {question}"),
            (PhaseStatus::Blocked, None) => {
                let said = self.judge.as_deref().or(self.summary.as_deref());
                let said = said.map(|said| format!(": {said}"));
                return format!("{} gate waits{}", self.gate, said.unwrap_or_default());
            }
            (PhaseStatus::Failed | PhaseStatus::Skipped, _) => {
                let why = self.error.as_deref().map(|why| format!(": {why}"));
                return format!("{}{}", self.status, why.unwrap_or_default());
            }
            (PhaseStatus::Interrupted, _) => return "interrupted".to_owned(),
            (PhaseStatus::Running, _) if self.judge.is_some() => {
                return self.judge.clone().unwrap_or_default();
            }
            _ => {}
        }
        let gate = match &self.decision {
            Some(decision) if decision.approved => Some(format!("{} gate approved", self.gate)),
            Some(_) => Some(format!("{} gate rejected", self.gate)),
            None if self.gate.is_open() => None,
            None => Some(format!("{} gate", self.gate)),
        };
        let checks = self.checks.iter().map(in_words);
        gate.into_iter()
            .chain(checks)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// `all_tests_pass ✓`; a criterion that nobody can check says why, one that nobody has looked at yet nothing.
fn in_words(check: &CriterionResult) -> String {
    let criterion = &check.criterion;
    match (check.passed, check.detail.trim()) {
        (Some(true), _) => format!("{criterion} ✓"),
        (Some(false), _) => format!("{criterion} ✗"),
        (None, "") => criterion.clone(),
        (None, why) => format!("{criterion} not checked: {why}"),
    }
}

/// How far a task is; None for one that has no phases by its workflow.
pub fn phased(call: &Call, task: &Task) -> Result<Option<PhasedDetail>> {
    if !task.has_plan() {
        return Ok(None);
    }
    let (plan, problem) = match execution::plan(call, task) {
        Ok(plan) => (plan, None),
        // Whoever wants to know what is wrong must be able to look.
        Err(error) => (None, Some(error.message)),
    };
    let execution = execution::execution(call, task)?;
    let prices = &settings::config(call)?.prices;
    let stored = call.with_existing_database(|database| {
        Ok((database.decisions(&task.id)?, database.claim_of(&task.id)?))
    })?;
    let (decisions, claim) = stored.unwrap_or_default();
    let mut detail = PhasedDetail {
        weight: task.weight,
        problem,
        phases: Vec::new(),
        current: None,
        question: None,
        is_at_gate: false,
        spec: spec::spec_view(call, task),
        decisions,
        executor: claim.map(ExecutorView::from),
        usage: execution.cost(prices).known(),
        budget: budget::of_execution(call, &execution)?,
        test_results: test_results::of_task(call, task)?,
        state: Value::Null,
    };
    if let Some(plan) = &plan {
        detail.weight = Some(plan.weight);
        detail.phases = phases(call, task, plan, &execution, &detail.decisions, prices);
        detail.current = execution.current_phase(plan).map(str::to_owned);
        match execution.end(plan) {
            Some(ExecutionEnd::Question(question)) => detail.question = Some(question),
            Some(ExecutionEnd::Gate) => detail.is_at_gate = true,
            _ => {}
        }
    }
    detail.state = state(&detail, plan.as_ref(), &execution, prices);
    Ok(Some(detail))
}

fn phases(
    call: &Call,
    task: &Task,
    plan: &Plan,
    execution: &Execution,
    decisions: &[GateDecision],
    prices: &Prices,
) -> Vec<PhaseView> {
    // Without settings, or with a repository that is away, the plan's own gates are shown.
    let rules = rules::of(call, task, plan).ok();
    let unchecked = rules::unchecked(call, task, plan).unwrap_or_default();
    let of_phase = |phase: &PlannedPhase| {
        let new = PhaseState::new(&phase.name);
        let state = execution.phase(&phase.name).unwrap_or(&new);
        let gate = rules
            .as_ref()
            .map(|rules| rules.gate(task, plan.weight, phase));
        let (gate, gate_source) = gate.unwrap_or((phase.gate.kind, GateSource::Plan));
        let is_of_attempt =
            |one: &&GateDecision| one.phase == phase.name && one.attempt == state.attempt;
        let turns = execution.iterations_of(&phase.name).rev();
        let mut turns = turns.filter(|turn| turn.kind == IterationKind::Turn);
        let newest = turns.next();
        PhaseView {
            name: phase.name.clone(),
            kind: phase.kind,
            status: state.status,
            gate,
            gate_source,
            attempt: state.attempt,
            retries: state.retries,
            used: used(execution, &phase.name),
            max_iterations: phase.max_iterations,
            usage: execution.cost_of(&phase.name, prices).known(),
            commit: state.commit_sha.clone(),
            started_at: state.started_at,
            completed_at: state.completed_at,
            error: state.error.clone(),
            summary: state.summary.clone(),
            checks: checks(phase, state, execution, &unchecked),
            decision: decisions.iter().rfind(is_of_attempt).cloned(),
            transcript: newest.and_then(|turn| turn.transcript.clone()),
            judge: judge(execution, &phase.name),
            question: execution
                .question(plan)
                .filter(|(asking, _)| asking.name == phase.name)
                .map(|(_, question)| question),
        }
    };
    plan.phases.iter().map(of_phase).collect()
}

/// What is to be said of the judge of a phase as it stands.
fn judge(execution: &Execution, phase: &str) -> Option<String> {
    if execution.is_judged_now(phase) {
        return Some("the judge looks at it".to_owned());
    }
    let is_blocked = execution.status(phase) == PhaseStatus::Blocked;
    let why = execution.undecided(phase).filter(|_| is_blocked)?;
    Some(format!("the judge leaves it to you: {why}"))
}

/// The criteria of a phase: what came of them in its attempt, or that nobody has looked yet, or can.
fn checks(
    phase: &PlannedPhase,
    state: &PhaseState,
    execution: &Execution,
    unchecked: &[UncheckedCriterion],
) -> Vec<CriterionResult> {
    let is_checked = |turn: &&Iteration| turn.checked && turn.attempt == state.attempt;
    let last = execution.iterations_of(&phase.name).rev().find(is_checked);
    let known = last.map_or(&[][..], |turn| turn.checks.as_slice());
    let of_criterion = |criterion: &orange_core::work::criterion::Criterion| {
        let words = criterion.to_string();
        let found = known.iter().find(|check| check.criterion == words);
        found.cloned().unwrap_or_else(|| {
            let mut impossible = unchecked.iter();
            let why = impossible.find(|one| one.phase == phase.name && one.criterion == words);
            let why = why.map(|one| one.why.clone());
            CriterionResult::new(criterion, None, why.unwrap_or_default())
        })
    };
    let of_plan: Vec<CriterionResult> =
        phase.completion_criteria.iter().map(of_criterion).collect();
    // What its gate asks for before anybody decides.
    let of_gate = known.iter().filter(|check| {
        let mut named = of_plan.iter();
        !named.any(|one| one.criterion == check.criterion)
    });
    of_plan.iter().chain(of_gate).cloned().collect()
}

/// How many iterations the attempt of a phase has used, with the one that runs.
fn used(execution: &Execution, phase: &str) -> u32 {
    let runs = execution
        .iterations_of(phase)
        .any(|turn| turn.kind == IterationKind::Turn && turn.is_open());
    execution
        .used_of_attempt(phase)
        .saturating_add(u32::from(runs))
}

/// What programs get: the export's form of an execution, with more about its phases and who executes it.
fn state(
    detail: &PhasedDetail,
    plan: Option<&Plan>,
    execution: &Execution,
    prices: &Prices,
) -> Value {
    let mut state = match plan {
        Some(plan) => state_json::execution_state(plan, execution, &detail.decisions, prices),
        None => json!({}),
    };
    let Some(fields) = state.as_object_mut() else {
        return state;
    };
    if let Some(phases) = fields.get_mut("phases").and_then(Value::as_object_mut) {
        for (position, phase) in detail.phases.iter().enumerate() {
            let known = phases.get_mut(&phase.name).and_then(Value::as_object_mut);
            if let (Some(known), Ok(Value::Object(more))) = (known, serde_json::to_value(phase)) {
                known.extend(more);
                known.insert("position".to_owned(), (position + 1).into());
            }
        }
    }
    let executor = match &detail.executor {
        Some(executor) => serde_json::to_value(executor).unwrap_or_default(),
        None => json!({
            "executor_pid": null,
            "executor_hostname": null,
            "executor_started_at": null,
            "last_heartbeat": null,
        }),
    };
    let more = json!({
        "weight": detail.weight,
        "problem": detail.problem,
        "question": detail.question,
        "spec": detail.spec,
        "at_gate": detail.is_at_gate.then_some(detail.current.as_deref()).flatten(),
        "budget": detail.budget,
    });
    for found in [executor, more] {
        if let Value::Object(found) = found {
            fields.extend(Map::from_iter(found));
        }
    }
    state
}

/// Fills in how far the phases of listed tasks are; of a few, because each is read by itself.
pub(crate) fn note_progress(call: &Call, rows: &mut [ListedTask]) {
    let is_under_way = |row: &&mut ListedTask| {
        row.phase.is_some()
            && row
                .info()
                .is_some_and(|info| info.kind == StatusKind::Active)
    };
    for row in rows.iter_mut().filter(is_under_way).take(MOST_LOOKS) {
        let task = task_of(row);
        row.progress = match progress(call, &task) {
            Ok(progress) => progress,
            Err(error) => {
                tracing::debug!(%error, task = row.id, "nobody knows how far a phase is");
                None
            }
        };
    }
}

fn progress(call: &Call, task: &Task) -> Result<Option<PhaseProgress>> {
    let Some(plan) = execution::plan(call, task)? else {
        return Ok(None);
    };
    let execution = execution::execution(call, task)?;
    let phase = execution
        .current_phase(&plan)
        .and_then(|name| plan.phase(name));
    Ok(phase.map(|phase| PhaseProgress {
        iteration: used(&execution, &phase.name),
        max_iterations: phase.max_iterations,
    }))
}

/// As much of a listed task as its rows in orange.db are found by.
pub(crate) fn task_of(row: &ListedTask) -> Task {
    let status = row.status.parse().unwrap_or_default();
    Task {
        id: row.id.clone(),
        key: row.key,
        project: row.project.clone(),
        ..Task::standing_at(status, row.reason)
    }
}

/// What a listed task at a phase gate asks a person to decide about: `review: 2 minor findings`.
pub(crate) fn asked_at_gate(call: &Call, row: &ListedTask) -> Option<String> {
    if row.reason != Some(BlockedReason::Gate) {
        return None;
    }
    let task = task_of(row);
    let plan = execution::plan(call, &task).ok().flatten()?;
    let execution = execution::execution(call, &task).ok()?;
    let phase = execution.gate(&plan)?;
    let judge = judge(&execution, &phase.name);
    let said = judge.or_else(|| phase.summary.clone());
    let said = said.as_deref().unwrap_or("waits for your decision");
    Some(format!("{}: {said}", phase.name))
}
