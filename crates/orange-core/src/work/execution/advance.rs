//! What an iteration that is at its end means for its phase: completed, another iteration, a question, a gate, or failed; and
//! where a task goes back to when a phase fails.

use super::told::{LONGEST_TOLD, in_words};
use super::{Execution, ExecutionRules, Iteration};
use crate::Timestamp;
use crate::naming::counted;
use crate::work::answer::{Answer, Findings, Severity, listed, shortened};
use crate::work::phase_gate::PhaseGateKind;
use crate::work::plan::{PhaseKind, Plan, PlannedPhase};
use crate::workflow::{AnswerStatus, IterationOutcome, PhaseStatus};

/// Of why a phase failed, where it is logged or journalled.
const LONGEST_REASON: usize = 4 * 1024;

/// What became of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advance {
    /// The iteration was none, or its phase has been changed meanwhile: nothing but that is noted. After a failure of the
    /// service the executor waits.
    NotCounted,
    NextIteration,
    PhaseCompleted,
    /// Its criteria are met, and somebody decides whether it counts.
    AtGate(PhaseGateKind),
    /// The agent's question.
    NeedsAnswer(String),
    /// The phase failed, and is tried again, beginning with that phase.
    Retried {
        from: String,
        why: String,
    },
    /// The phase failed as often as it may.
    PhaseFailed(String),
}

/// Carries out what an iteration means for its phase. Doing it again changes nothing.
pub fn advance(
    plan: &Plan,
    execution: &mut Execution,
    rules: &ExecutionRules,
    iteration: usize,
    at: Timestamp,
) -> Advance {
    execution.complete(plan);
    let Some(turn) = execution
        .iterations
        .get_mut(iteration)
        .filter(|turn| !turn.advanced && !turn.is_open())
    else {
        return Advance::NotCounted;
    };
    turn.advanced = true;
    if turn.outcome == Some(IterationOutcome::Completed) && turn.failing().next().is_some() {
        turn.outcome = Some(IterationOutcome::Continue);
    }
    let turn = turn.clone();
    let is_current = execution.phase(&turn.phase).is_some_and(|state| {
        state.attempt == turn.attempt
            && !state.status.is_over()
            && state.status != PhaseStatus::Failed
    });
    let Some(phase) = plan.phase(&turn.phase).filter(|_| is_current) else {
        return Advance::NotCounted;
    };
    execution.note(&turn);
    if !turn.outcome.is_some_and(IterationOutcome::has_result) {
        execution.stop_running(&turn.phase, PhaseStatus::Interrupted);
        return Advance::NotCounted;
    }
    execution.advance_phase(plan, phase, rules, &turn, at)
}

impl Execution {
    /// Puts into the state of the phase what its turn left.
    fn note(&mut self, turn: &Iteration) {
        self.change(&turn.phase, |state| {
            state.commit_sha = turn.head.clone().or(state.commit_sha.take());
            state.session_id = turn.session.clone().or(state.session_id.take());
            state.summary = turn.summary().map(str::to_owned).or(state.summary.take());
        });
    }

    fn advance_phase(
        &mut self,
        plan: &Plan,
        phase: &PlannedPhase,
        rules: &ExecutionRules,
        turn: &Iteration,
        at: Timestamp,
    ) -> Advance {
        let answer = turn.answer.clone().unwrap_or_default();
        if turn.outcome == Some(IterationOutcome::Blocked) {
            self.change(&phase.name, |state| state.status = PhaseStatus::Blocked);
            return Advance::NeedsAnswer(answer.question_in_words());
        }
        let said_complete = answer.status == AnswerStatus::Complete
            && turn.outcome == Some(IterationOutcome::Completed);
        if said_complete {
            if let Some(findings) = self.major_findings(phase, turn.attempt) {
                return self.fail(plan, &phase.name, rules, findings, None);
            }
            let gate = rules.gate(phase);
            if gate.is_open() {
                self.finish_phase(&phase.name, at);
                return Advance::PhaseCompleted;
            }
            // A judge is asked by the next step.
            if gate != PhaseGateKind::Ai {
                self.stand_at_gate(&phase.name);
            }
            return Advance::AtGate(gate);
        }
        match self.limit_reached(phase, rules) {
            Some(why) => {
                let why = self.with_details(&why, phase, turn, &answer);
                self.fail(plan, &phase.name, rules, why, None)
            }
            None => Advance::NextIteration,
        }
    }

    /// The phase counts, and the plan goes on.
    pub(super) fn finish_phase(&mut self, phase: &str, at: Timestamp) {
        self.change(phase, |state| {
            state.status = PhaseStatus::Completed;
            state.completed_at = Some(at);
            state.error = None;
        });
        self.settle_told(phase);
        self.note_only_phase(phase);
        self.error = None;
    }

    /// A person decides whether the phase counts; why it failed before is over.
    pub(super) fn stand_at_gate(&mut self, phase: &str) {
        self.change(phase, |state| {
            state.status = PhaseStatus::Blocked;
            state.error = None;
        });
    }

    pub(super) fn note_only_phase(&mut self, phase: &str) {
        if self.only_phase.as_deref() == Some(phase) {
            self.only_phase_over = true;
        }
    }

    /// What [`super::Step::UsedUp`] asks for: the phase failed.
    pub fn used_up(
        &mut self,
        plan: &Plan,
        rules: &ExecutionRules,
        phase: &str,
        why: &str,
    ) -> Advance {
        self.complete(plan);
        self.fail(plan, phase, rules, why.to_owned(), None)
    }

    /// A phase failed: it is tried again from where its kind goes back to, or has failed for good. `said`: what others are told
    /// of it, if it is the word of a person.
    pub(super) fn fail(
        &mut self,
        plan: &Plan,
        phase: &str,
        rules: &ExecutionRules,
        why: String,
        said: Option<String>,
    ) -> Advance {
        let why = shortened(&why, LONGEST_TOLD);
        let retries = self.phase(phase).map_or(0, |state| state.retries);
        self.error = Some(format!("{phase}: {why}"));
        if retries >= rules.retries {
            self.change(phase, |state| {
                state.status = PhaseStatus::Failed;
                state.error = Some(why.clone());
            });
            if said.is_some() {
                let target = self.target(plan, phase);
                self.tell_of_failure(&target, phase, &why, said);
            }
            return Advance::PhaseFailed(in_short(&why));
        }
        self.change(phase, |state| state.retries = retries.saturating_add(1));
        let from = self.try_again(plan, phase, &why, said);
        if from != phase {
            self.note_only_phase(phase);
        }
        Advance::Retried {
            from,
            why: in_short(&why),
        }
    }

    /// Has a failed phase and those before it that it goes back to begin anew, and the agent of the first be told why; that one.
    pub(super) fn try_again(
        &mut self,
        plan: &Plan,
        phase: &str,
        why: &str,
        said: Option<String>,
    ) -> String {
        let last = plan.position(phase).unwrap_or_default();
        let first = self.goes_back_to(plan, last);
        let names = plan.names();
        let (first, last) = (first.min(last), last);
        for name in names.iter().take(last + 1).skip(first) {
            self.begin_anew(name);
        }
        self.change(phase, |state| state.error = Some(why.to_owned()));
        let target = self.target(plan, phase);
        self.tell_of_failure(&target, phase, why, said);
        target
    }

    /// The phase that a failed one is tried again from.
    fn target(&self, plan: &Plan, phase: &str) -> String {
        let position = plan.position(phase).unwrap_or_default();
        let first = self.goes_back_to(plan, position).min(position);
        let found = plan.phases.get(first);
        found.map_or(phase, |found| found.name.as_str()).to_owned()
    }

    /// Where a failed phase goes back to: the nearest phase before it that made what it looks at, or itself.
    fn goes_back_to(&self, plan: &Plan, position: usize) -> usize {
        let Some(phase) = plan.phases.get(position) else {
            return position;
        };
        let wanted = match phase.kind {
            PhaseKind::Design => PhaseKind::Spec,
            PhaseKind::Review | PhaseKind::Test | PhaseKind::Validate => PhaseKind::Implement,
            PhaseKind::Research
            | PhaseKind::Spec
            | PhaseKind::Implement
            | PhaseKind::Docs
            | PhaseKind::Finalize => return position,
        };
        let before = plan.phases.get(..position).unwrap_or_default();
        let found = before.iter().rposition(|known| {
            known.kind == wanted && self.status(&known.name) != PhaseStatus::Skipped
        });
        found.unwrap_or(position)
    }

    /// A phase becomes pending again. One that was skipped stays so; what it waits to be told stays too.
    pub(super) fn begin_anew(&mut self, phase: &str) {
        let has_begun = self.turns_of_attempt(phase).next().is_some();
        self.change(phase, |state| {
            if state.status == PhaseStatus::Skipped {
                return;
            }
            if has_begun || state.status != PhaseStatus::Pending {
                state.attempt = state.attempt.saturating_add(1);
            }
            state.status = PhaseStatus::Pending;
            state.started_at = None;
            state.completed_at = None;
            state.session_id = None;
            state.error = None;
        });
    }

    /// What a review that is complete found wrong; None: nothing that has to be done again, or no review.
    fn major_findings(&self, phase: &PlannedPhase, attempt: u32) -> Option<String> {
        if phase.kind != PhaseKind::Review {
            return None;
        }
        let findings = self.findings_of(&phase.name, attempt);
        let count = match findings.count(Severity::Major) {
            0 => return None,
            count => counted(count, "major finding"),
        };
        let major = findings.of_severity(Severity::Major);
        let mut lines = vec![format!("the review has {count}:")];
        lines.extend(listed(
            major.map(|finding| finding.in_words()),
            "in review.md",
        ));
        lines.extend(findings.not_kept.in_words(Severity::Major));
        Some(lines.join("\n"))
    }

    /// Why a phase failed, with what its last turn left to be done.
    fn with_details(
        &self,
        why: &str,
        phase: &PlannedPhase,
        turn: &Iteration,
        answer: &Answer,
    ) -> String {
        let mut lines = vec![why.to_owned()];
        lines.extend(
            turn.error
                .as_ref()
                .map(|error| format!("its last turn: {error}")),
        );
        let said = [answer.reason.as_deref(), turn.summary()];
        lines.extend(
            said.into_iter()
                .flatten()
                .take(1)
                .map(|said| format!("its agent said: {said}")),
        );
        lines.extend(turn.failing().map(in_words));
        let findings = match phase.kind {
            PhaseKind::Review => self.findings_of(&phase.name, turn.attempt),
            _ => Findings::of_answers(std::iter::once(answer)),
        };
        let words = findings.kept.iter().map(|finding| finding.in_words());
        lines.extend(listed(words, "left out"));
        lines.extend(findings.not_kept.all_in_words());
        lines.join("\n")
    }
}

/// Why a phase failed, for a line of a log or an event.
pub fn in_short(why: &str) -> String {
    shortened(why, LONGEST_REASON)
}
