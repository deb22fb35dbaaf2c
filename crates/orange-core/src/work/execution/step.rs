//! What comes next in an execution. It follows from what is stored alone, so that whoever takes over after a killed executor
//! goes on exactly where that one was.

use super::{Execution, ExecutionRules, Iteration, IterationKind, PhaseState, in_short};
use crate::naming::{counted, time_limit};
use crate::work::phase_gate::PhaseGateKind;
use crate::work::plan::{Plan, PlannedPhase};
use crate::workflow::{AnswerStatus, IterationOutcome, PhaseStatus};
use std::time::Duration;

/// What an executor does next. The numbers are places in [`Execution::iterations`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// This iteration is open, and nobody runs it: [`Execution::interrupt`].
    Interrupted(usize),
    /// The criteria of this iteration's phase are to be looked at, on the commit after it.
    Check { iteration: usize },
    /// What this iteration means for its phase is to be carried out: [`super::advance`].
    Advance { iteration: usize },
    /// An agent is to be run.
    Turn(WantedTurn),
    /// The phase meets its criteria, and a judge is to be asked whether it counts.
    Judge(WantedJudge),
    /// What this iteration of a judge means for its phase is to be carried out: [`Execution::judged`].
    Decide { iteration: usize },
    /// The phase meets its criteria, and its gate has changed before a judge decided: [`Execution::settle_gate`].
    Settle { phase: String },
    /// The phase has used up what it may, although no iteration of it says so: [`Execution::used_up`].
    UsedUp { phase: String, why: String },
    /// Somebody decides whether the phase counts.
    Gate { phase: String },
    /// The agent of the phase waits for an answer.
    Ask { phase: String, question: String },
    /// The phase failed as often as it may.
    Failed { phase: String, why: String },
    /// The phase was to be executed alone, and has been.
    PausedAfterPhase(String),
    /// Every phase but finalize is completed or skipped.
    Done,
}

impl Step {
    /// Whether it asks a model: a budget that is spent is looked at before.
    pub fn costs(&self) -> bool {
        matches!(self, Step::Turn(_) | Step::Judge(_))
    }
}

/// A turn that is to be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedTurn {
    pub phase: String,
    /// Its number.
    pub iteration: u32,
    pub attempt: u32,
    /// Which of `max_iterations` it is, from 1.
    pub iteration_of_attempt: u32,
    /// The session to go on with; None: a new one.
    pub resume: Option<String>,
    /// What is left of `phases.timeout`.
    pub time_left: Duration,
}

/// A run of a judge that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedJudge {
    pub phase: String,
    /// Its number among the iterations of the phase.
    pub iteration: u32,
    pub attempt: u32,
}

/// At what an execution stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutionEnd {
    Completed,
    /// [`Execution::gate`] says which phase.
    Gate,
    Question(String),
    /// Why.
    Failed(String),
}

/// The next step.
pub fn next_step(plan: &Plan, execution: &Execution, rules: &ExecutionRules) -> Step {
    if let Some(step) = execution.unfinished(plan) {
        return step;
    }
    // A question or a gate of another phase stays where it is.
    let is_over = execution.only_phase_over && execution.end(plan).is_none();
    if let Some(phase) = execution.only_phase.as_ref().filter(|_| is_over) {
        return Step::PausedAfterPhase(phase.clone());
    }
    let Some(phase) = execution.current(plan) else {
        return Step::Done;
    };
    let name = phase.name.clone();
    match execution.status(&phase.name) {
        PhaseStatus::Blocked => match execution.question_of(&phase.name) {
            Some(question) => Step::Ask {
                phase: name,
                question,
            },
            None => Step::Gate { phase: name },
        },
        PhaseStatus::Failed => Step::Failed {
            why: execution.why_failed(&phase.name),
            phase: name,
        },
        // Only those that are over are not here.
        PhaseStatus::Pending
        | PhaseStatus::Running
        | PhaseStatus::Paused
        | PhaseStatus::Interrupted
        | PhaseStatus::Completed
        | PhaseStatus::Skipped
            if execution.awaits_decision(&phase.name) =>
        {
            match rules.gate(phase) {
                PhaseGateKind::Ai => Step::Judge(WantedJudge {
                    iteration: execution.next_number(&name),
                    attempt: execution.attempt(&name),
                    phase: name,
                }),
                PhaseGateKind::Skip | PhaseGateKind::Auto | PhaseGateKind::Human => {
                    Step::Settle { phase: name }
                }
            }
        }
        PhaseStatus::Pending
        | PhaseStatus::Running
        | PhaseStatus::Paused
        | PhaseStatus::Interrupted
        | PhaseStatus::Completed
        | PhaseStatus::Skipped => match execution.limit_reached(phase, rules) {
            Some(why) => Step::UsedUp { phase: name, why },
            None => Step::Turn(execution.wanted(phase, rules)),
        },
    }
}

impl Execution {
    /// The iteration that is not at its end, and what is to be done about it.
    fn unfinished(&self, plan: &Plan) -> Option<Step> {
        if let Some(open) = self.iterations.iter().position(Iteration::is_open) {
            return Some(Step::Interrupted(open));
        }
        let mut iterations = self.iterations.iter();
        let iteration = iterations.position(|known| {
            matches!(known.kind, IterationKind::Turn | IterationKind::Judge) && !known.advanced
        })?;
        let turn = self.iterations.get(iteration)?;
        if turn.kind == IterationKind::Judge {
            return Some(Step::Decide { iteration });
        }
        let has_result = turn.outcome.is_some_and(IterationOutcome::has_result);
        let asks = turn
            .answer
            .as_ref()
            .is_some_and(|answer| answer.status == AnswerStatus::Blocked);
        // A phase that a person has left out meanwhile is over, whatever its turn came to.
        let is_current = plan.phase(&turn.phase).is_some()
            && self.attempt(&turn.phase) == turn.attempt
            && !self.status(&turn.phase).is_over();
        Some(if has_result && !asks && is_current && !turn.checked {
            Step::Check { iteration }
        } else {
            Step::Advance { iteration }
        })
    }

    /// The phase that is executed, or that everything waits for; None: all are over.
    pub(super) fn current<'p>(&self, plan: &'p Plan) -> Option<&'p PlannedPhase> {
        let wanted = self.only_phase.as_deref().filter(|_| !self.only_phase_over);
        let wanted = wanted.and_then(|name| plan.phase(name));
        let wanted =
            wanted.filter(|phase| phase.is_executed() && !self.status(&phase.name).is_over());
        let mut phases = plan.executed();
        wanted.or_else(|| phases.find(|phase| !self.status(&phase.name).is_over()))
    }

    /// The phase that is executed, or that everything waits for, by its name.
    pub fn current_phase<'p>(&self, plan: &'p Plan) -> Option<&'p str> {
        self.current(plan).map(|phase| phase.name.as_str())
    }

    /// At what the execution stands still; None: it can go on.
    pub fn end(&self, plan: &Plan) -> Option<ExecutionEnd> {
        if self.unfinished(plan).is_some() {
            return None;
        }
        let Some(phase) = self.current(plan) else {
            return Some(ExecutionEnd::Completed);
        };
        match self.status(&phase.name) {
            PhaseStatus::Blocked => Some(match self.question_of(&phase.name) {
                Some(question) => ExecutionEnd::Question(question),
                None => ExecutionEnd::Gate,
            }),
            PhaseStatus::Failed => Some(ExecutionEnd::Failed(self.why_failed(&phase.name))),
            _ => None,
        }
    }

    /// The phase at whose gate somebody decides.
    pub fn gate(&self, plan: &Plan) -> Option<&PhaseState> {
        let phase = self.current_phase(plan)?;
        let is_there = self.end(plan) == Some(ExecutionEnd::Gate);
        self.phase(phase).filter(|_| is_there)
    }

    /// The phase whose agent waits for an answer, and its question.
    pub fn question(&self, plan: &Plan) -> Option<(&PhaseState, String)> {
        let phase = self.current_phase(plan)?;
        match self.end(plan) {
            Some(ExecutionEnd::Question(question)) => Some((self.phase(phase)?, question)),
            _ => None,
        }
    }

    /// What the agent of a blocked phase asked; None: it stands at its gate.
    pub(super) fn question_of(&self, phase: &str) -> Option<String> {
        let mut newest_first = self.turns_of_attempt(phase).rev();
        let last =
            newest_first.find(|turn| turn.outcome.is_some_and(IterationOutcome::has_result))?;
        let answer = last
            .answer
            .as_ref()
            .filter(|_| last.outcome == Some(IterationOutcome::Blocked))?;
        Some(answer.question_in_words())
    }

    fn why_failed(&self, phase: &str) -> String {
        let why = self.phase(phase).and_then(|state| state.error.clone());
        why.map_or_else(|| format!("phase {phase} failed"), |why| in_short(&why))
    }

    /// Why a phase may have no more turns in its attempt, if it may not.
    pub(super) fn limit_reached(
        &self,
        phase: &PlannedPhase,
        rules: &ExecutionRules,
    ) -> Option<String> {
        let (used, time) = (
            self.used_of_attempt(&phase.name),
            self.time_of_attempt(phase, rules),
        );
        if used >= phase.max_iterations {
            let used = counted(used as usize, "iteration");
            return Some(format!(
                "it is not complete after {used}, all that its plan allows"
            ));
        }
        (time >= rules.phase_timeout).then(|| {
            let limit = time_limit(rules.phase_timeout);
            format!("it is not complete after {limit}, the limit of phases.timeout")
        })
    }

    fn wanted(&self, phase: &PlannedPhase, rules: &ExecutionRules) -> WantedTurn {
        let used = self.used_of_attempt(&phase.name);
        let time = self.time_of_attempt(phase, rules);
        WantedTurn {
            phase: phase.name.clone(),
            iteration: self.next_number(&phase.name),
            attempt: self.attempt(&phase.name),
            iteration_of_attempt: used.saturating_add(1),
            resume: self.session(&phase.name, rules).map(str::to_owned),
            time_left: rules.phase_timeout.saturating_sub(time),
        }
    }

    /// The session that the next turn of a phase goes on with: that of its last one, if an agent is known to have worked in
    /// it, it did not end with an error, and it is not too large.
    fn session(&self, phase: &str, rules: &ExecutionRules) -> Option<&str> {
        let last = self.turns_of_attempt(phase).next_back()?;
        let session = last.session.as_deref()?;
        let of_session = || {
            let turns = self.turns_of_attempt(phase);
            turns.filter(|turn| turn.session.as_deref() == Some(session))
        };
        let has_worked = of_session().any(|turn| turn.answer.is_some() || !turn.usage.is_empty());
        let tokens = of_session().map(|turn| turn.usage.input.saturating_add(turn.usage.output));
        let tokens = tokens.fold(0, u64::saturating_add);
        let is_usable = has_worked && last.outcome != Some(IterationOutcome::Failed);
        (is_usable && tokens < rules.max_tokens).then_some(session)
    }
}
