//! How far the execution of a plan is: the state of each phase, and every iteration. This file says what is stored, `facts.rs`
//! what follows from it alone, `step.rs` what comes next, `changes.rs` how iterations begin and break off, `told.rs` what
//! agents are told besides their prompts, `advance.rs` what an iteration means for its phase, `judge.rs` what a judge's run means
//! for it, `verbs.rs` what people change.

mod advance;
mod changes;
mod facts;
#[cfg(test)]
mod fixture;
mod judge;
#[cfg(test)]
mod properties;
mod step;
#[cfg(test)]
mod tests;
mod told;
mod verbs;

use crate::Timestamp;
use crate::choice;
use crate::usage::Usage;
use crate::work::answer::Answer;
use crate::work::criterion::Criterion;
use crate::work::phase_gate::PhaseGateKind;
use crate::work::plan::PlannedPhase;
use crate::work::verdict::Judgement;
pub use crate::workflow::{IterationOutcome, PhaseStatus};
pub use advance::{Advance, advance, in_short};
pub use judge::Judged;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
pub use step::{ExecutionEnd, Step, WantedJudge, WantedTurn, next_step};

choice! {
    /// What an iteration was for.
    #[derive(Default)]
    pub enum IterationKind ("kind of iteration") {
        #[default]
        Turn = "turn",
        /// A run that decides about a phase at an ai gate.
        Judge = "judge",
        Classify = "classify",
        Conflict = "conflict",
        Fix = "fix",
    }
}

impl IterationKind {
    /// What an iteration of this kind came to, in words.
    pub fn words_of(self, outcome: IterationOutcome) -> &'static str {
        match (self, outcome) {
            (IterationKind::Judge, IterationOutcome::Completed) => "approved",
            (IterationKind::Judge, IterationOutcome::Continue) => "rejected",
            (IterationKind::Judge, IterationOutcome::Blocked) => "left to a person",
            _ => outcome.as_str(),
        }
    }
}

/// What is stored of the execution of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Execution {
    /// In the order of the plan. A phase without a state has not begun.
    pub phases: Vec<PhaseState>,
    /// Every iteration that there ever was, in the order in which they began.
    pub iterations: Vec<Iteration>,
    /// The phase that a person wants to be executed alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_phase: Option<String>,
    /// It has been: the task is to be paused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_phase_over: bool,
    /// A person lets it go on although a budget is spent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub over_budget: bool,
    /// What agents are told besides their prompts, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retry_context: Vec<RetryContext>,
    /// Why the last phase that failed did so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A rewind whose branch is to be moved yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewinding: Option<Rewinding>,
}

/// A rewind that has begun: whoever locks the task next moves the branch and journals it, should its process be gone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rewinding {
    pub phase: String,
    /// The commit that the branch was at, which is saved.
    pub from: String,
    pub to: String,
    /// The rescue that has what the branch held.
    pub rescue: String,
    /// The person whose word it was.
    pub by: String,
}

/// The state of one phase. What it used is the sum over its iterations: [`Execution::usage_of`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseState {
    pub name: String,
    pub status: PhaseStatus,
    /// Counts how often it became pending, from 1.
    pub attempt: u32,
    /// How often it failed and was tried again, since a person last acted on it.
    #[serde(default)]
    pub retries: u32,
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    #[serde(default)]
    pub completed_at: Option<Timestamp>,
    /// The commit it ended at, or that of its last iteration.
    #[serde(default)]
    pub commit_sha: Option<String>,
    /// The harness's conversation of its last turn.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Why it failed, or was skipped.
    #[serde(default)]
    pub error: Option<String>,
    /// The last summary that its agent gave.
    #[serde(default)]
    pub summary: Option<String>,
}

/// One run of an agent for a phase. Its stages: open (no outcome), ended (outcome, usage, answer, head), checked, advanced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Iteration {
    pub phase: String,
    /// Unique in its task and phase.
    pub iteration: u32,
    /// Of the phase.
    pub attempt: u32,
    pub kind: IterationKind,
    /// The executor's run.
    pub run: String,
    pub harness: String,
    /// That answered last; else the one that was asked for.
    pub model: Option<String>,
    /// The harness's conversation.
    pub session: Option<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub outcome: Option<IterationOutcome>,
    /// Of this turn alone.
    pub usage: Usage,
    /// The commit after it.
    pub head: Option<String>,
    pub answer: Option<Answer>,
    /// The criteria of its phase were looked at; `checks` has what came of it.
    pub checked: bool,
    pub checks: Vec<CriterionResult>,
    pub error: Option<String>,
    /// When the service that failed it is tried again.
    pub again_at: Option<Timestamp>,
    /// What it means for its phase has been carried out.
    pub advanced: bool,
    /// The name of its transcript.
    pub transcript: Option<String>,
    /// The commit that it began at, where what it changes is taken back.
    pub base: Option<String>,
    /// The rescue that holds what it changed, taken back.
    pub rescue: Option<String>,
}

/// What became of a criterion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CriterionResult {
    /// As the plan has it: `coverage_above: 80`.
    pub criterion: String,
    /// None: it was not checked.
    pub passed: Option<bool>,
    /// What failed, or why it was not checked.
    pub detail: String,
}

/// Something that the agent of a phase is told besides the prompt of the phase, once in each of its conversations until the phase
/// is completed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryContext {
    /// Whose agent is told.
    pub phase: String,
    /// The phase that failed or was rejected; None: a person said it.
    pub from: Option<String>,
    pub text: String,
    /// What everybody else is told of it; None: no person said it, or a version that did not keep this wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The place in [`Execution::iterations`] of the first turn that began after it was said; None: none has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_since: Option<usize>,
    /// Its phase was completed since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
}

/// What settings say of executions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionRules {
    /// `phases.retries`: so often a phase that failed is tried again.
    pub retries: u32,
    /// `phases.timeout`: so long may the turns of one attempt take together.
    pub phase_timeout: Duration,
    /// `phases.turn_timeout`: so long may a turn take of a phase whose plan does not say it.
    pub turn_timeout: Duration,
    /// `phases.max_tokens`: uncached input and output of a session that is still resumed.
    pub max_tokens: u64,
    /// The resolved gates by phase; where there is none the plan's counts.
    pub gates: BTreeMap<String, PhaseGateKind>,
}

impl Default for ExecutionRules {
    fn default() -> ExecutionRules {
        ExecutionRules {
            retries: 5,
            phase_timeout: Duration::from_secs(4 * 60 * 60),
            turn_timeout: Duration::from_secs(10 * 60),
            max_tokens: 100_000,
            gates: BTreeMap::new(),
        }
    }
}

impl ExecutionRules {
    /// How long one turn of a phase may take.
    pub fn timeout_of_turn(&self, phase: &PlannedPhase) -> Duration {
        phase.timeout.unwrap_or(self.turn_timeout)
    }

    pub fn gate(&self, phase: &PlannedPhase) -> PhaseGateKind {
        self.gates
            .get(&phase.name)
            .copied()
            .unwrap_or(phase.gate.kind)
    }
}

impl PhaseState {
    /// A phase that has not begun.
    pub fn new(name: &str) -> PhaseState {
        PhaseState {
            name: name.to_owned(),
            status: PhaseStatus::Pending,
            attempt: 1,
            retries: 0,
            started_at: None,
            completed_at: None,
            commit_sha: None,
            session_id: None,
            error: None,
            summary: None,
        }
    }
}

impl CriterionResult {
    pub fn new(
        criterion: &Criterion,
        passed: Option<bool>,
        detail: impl Into<String>,
    ) -> CriterionResult {
        CriterionResult {
            criterion: criterion.to_string(),
            passed,
            detail: detail.into(),
        }
    }
}

impl Iteration {
    pub fn is_open(&self) -> bool {
        self.outcome.is_none()
    }

    /// The criteria that were looked at and not met.
    pub fn failing(&self) -> impl Iterator<Item = &CriterionResult> {
        self.checks
            .iter()
            .filter(|check| check.passed == Some(false))
    }

    /// Whether it came to something, and no commit holds what it left yet.
    pub fn is_uncommitted(&self) -> bool {
        let has_result = self.outcome.is_some_and(IterationOutcome::has_result);
        has_result && self.head.is_none() && !self.advanced
    }

    /// What a judge decided; None for what is no judge, and for one that came to no end of its own.
    pub fn judgement(&self) -> Option<Judgement> {
        let answer = self.answer.as_ref();
        let answer = answer.filter(|_| self.kind == IterationKind::Judge);
        answer.map(Judgement::of_answer)
    }

    /// What its agent said it did.
    pub fn summary(&self) -> Option<&str> {
        let summary = self.answer.as_ref()?.summary.trim();
        (!summary.is_empty()).then_some(summary)
    }

    /// Whether it uses up one of the iterations that its phase may have.
    pub fn counts(&self) -> bool {
        self.kind == IterationKind::Turn && self.outcome.is_some_and(IterationOutcome::counts)
    }

    /// How long it took; None while it is open.
    pub fn duration(&self) -> Option<Duration> {
        let span = self.ended_at?.duration_since(self.started_at);
        Some(Duration::try_from(span).unwrap_or_default())
    }

    /// The same iteration of a phase, whatever has become of it.
    fn is_same(&self, other: &Iteration) -> bool {
        self.phase == other.phase && self.iteration == other.iteration
    }
}
