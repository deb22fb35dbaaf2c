//! What the run of a judge means for the phase that it looked at: approved, rejected, or left to a person.

use super::{Advance, Execution, ExecutionRules, Iteration, IterationKind};
use crate::Timestamp;
use crate::work::phase_gate::{GateDecision, PhaseGateKind};
use crate::work::plan::{Plan, PlannedPhase};
use crate::work::verdict::JudgeDecision;
use crate::workflow::{IterationOutcome, PhaseStatus};

/// What became of a phase by its judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub advance: Advance,
    /// What is to be stored as decided; None: nothing was.
    pub decision: Option<GateDecision>,
}

impl Execution {
    /// Whether a phase meets its criteria, and nobody has decided whether it counts.
    pub fn awaits_decision(&self, phase: &str) -> bool {
        let status = self.status(phase);
        let is_under_way =
            !status.is_over() && !matches!(status, PhaseStatus::Blocked | PhaseStatus::Failed);
        let mut newest_first = self.turns_of_attempt(phase).rev();
        let last = newest_first.find(|turn| turn.outcome.is_some_and(IterationOutcome::has_result));
        is_under_way
            && last.is_some_and(|turn| {
                turn.advanced && turn.outcome == Some(IterationOutcome::Completed)
            })
    }

    /// Why the judge of a phase's attempt left it to a person; None: it did not.
    pub fn undecided(&self, phase: &str) -> Option<String> {
        let last = self.judge_of_attempt(phase)?;
        let words = |why: Option<&str>| why.unwrap_or("it gave no decision").to_owned();
        match (last.judgement(), last.outcome?) {
            (Some(judgement), _) => {
                (judgement.decision == JudgeDecision::Blocked).then_some(judgement.reason)
            }
            (None, outcome) => outcome.has_result().then(|| words(last.error.as_deref())),
        }
    }

    /// Whether the judge of a phase is at work.
    pub fn is_judged_now(&self, phase: &str) -> bool {
        self.judge_of_attempt(phase).is_some_and(Iteration::is_open)
    }

    /// The newest run of a judge in a phase's attempt.
    pub fn judge_of_attempt(&self, phase: &str) -> Option<&Iteration> {
        let attempt = self.attempt(phase);
        let mut newest_first = self.iterations_of(phase).rev();
        newest_first.find(|known| known.attempt == attempt && known.kind == IterationKind::Judge)
    }

    /// Carries out what the run of a judge came to. Doing it again changes nothing.
    pub fn judged(
        &mut self,
        plan: &Plan,
        rules: &ExecutionRules,
        iteration: usize,
        at: Timestamp,
    ) -> Judged {
        self.complete(plan);
        let nothing = Judged {
            advance: Advance::NotCounted,
            decision: None,
        };
        let known = self.iterations.get_mut(iteration);
        let Some(run) = known.filter(|known| {
            known.kind == IterationKind::Judge && !known.advanced && !known.is_open()
        }) else {
            return nothing;
        };
        run.advanced = true;
        let run = run.clone();
        let is_current =
            self.attempt(&run.phase) == run.attempt && self.awaits_decision(&run.phase);
        let Some(phase) = plan.phase(&run.phase).filter(|_| is_current) else {
            return nothing;
        };
        if !run.outcome.is_some_and(IterationOutcome::has_result) {
            self.stop_running(&run.phase, PhaseStatus::Interrupted);
            return nothing;
        }
        if rules.gate(phase) != PhaseGateKind::Ai {
            return Judged {
                advance: self.settle_gate(plan, rules, &run.phase, at),
                decision: None,
            };
        }
        self.carry_out(plan, rules, phase, &run, at)
    }

    fn carry_out(
        &mut self,
        plan: &Plan,
        rules: &ExecutionRules,
        phase: &PlannedPhase,
        run: &Iteration,
        at: Timestamp,
    ) -> Judged {
        let judgement = run.judgement();
        let judgement = judgement.filter(|judgement| judgement.decision != JudgeDecision::Blocked);
        let Some(judgement) = judgement else {
            self.stand_at_gate(&phase.name);
            return Judged {
                advance: Advance::AtGate(PhaseGateKind::Human),
                decision: None,
            };
        };
        let decision = GateDecision {
            phase: phase.name.clone(),
            gate_type: PhaseGateKind::Ai,
            attempt: run.attempt,
            approved: judgement.decision == JudgeDecision::Approved,
            reason: Some(judgement.reason.clone()),
            by: format!("judge ({})", run.harness),
            at,
        };
        let advance = if decision.approved {
            self.finish_phase(&phase.name, at);
            Advance::PhaseCompleted
        } else {
            let why = format!("rejected by the judge: {}", judgement.reason);
            self.fail(plan, &phase.name, rules, why, None)
        };
        Judged {
            advance,
            decision: Some(decision),
        }
    }

    /// Carries out what [`super::Step::Settle`] asks for: the phase meets its criteria, and no judge decides about it any more.
    pub fn settle_gate(
        &mut self,
        plan: &Plan,
        rules: &ExecutionRules,
        phase: &str,
        at: Timestamp,
    ) -> Advance {
        self.complete(plan);
        let Some(planned) = plan.phase(phase).filter(|_| self.awaits_decision(phase)) else {
            return Advance::NotCounted;
        };
        let gate = rules.gate(planned);
        if gate.is_open() {
            self.finish_phase(phase, at);
            return Advance::PhaseCompleted;
        }
        if gate == PhaseGateKind::Human {
            self.stand_at_gate(phase);
        }
        Advance::AtGate(gate)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Executor, at, says};
    use super::super::{ExecutionEnd, Step};
    use super::*;
    use crate::task::Weight;
    use crate::work::answer::{Answer, AnswerStatus};
    use crate::work::verdict::Judgement;

    /// A task of medium weight whose spec meets its criteria.
    fn at_judge() -> Executor {
        let mut executor = Executor::new(Weight::Medium);
        executor
            .rules
            .gates
            .insert("spec".into(), PhaseGateKind::Ai);
        assert_eq!(executor.complete(), Advance::AtGate(PhaseGateKind::Ai));
        executor
    }

    fn judged(
        executor: &mut Executor,
        outcome: IterationOutcome,
        answer: Option<Answer>,
    ) -> Judged {
        executor.open_judge();
        executor.spend(outcome, answer);
        executor.killed();
        executor.decide()
    }

    fn says_judge(decision: JudgeDecision) -> Option<Answer> {
        let reason = format!("{decision}, says the judge");
        Some(Judgement { decision, reason }.into())
    }

    #[test]
    fn a_judge_is_asked_and_its_word_counts() {
        let mut executor = at_judge();
        assert_eq!(executor.execution.status("spec"), PhaseStatus::Running);
        assert_eq!(executor.execution.end(&executor.plan), None);
        let done = judged(
            &mut executor,
            IterationOutcome::Completed,
            says_judge(JudgeDecision::Approved),
        );
        assert_eq!(done.advance, Advance::PhaseCompleted);
        let decision = done.decision.unwrap();
        assert!(decision.approved && decision.attempt == 1);
        assert_eq!(decision.by, "judge (agent)");
        assert_eq!(decision.reason.as_deref(), Some("approved, says the judge"));
        assert_eq!(executor.wanted().phase, "implement");
        // It costs, and uses up nothing.
        assert_eq!(executor.execution.usage_of("spec").cost, Some(1.0));
        assert_eq!(executor.execution.used_of_attempt("spec"), 1);
        assert_eq!(executor.execution.count_of("spec"), 1);
        let before = executor.execution.clone();
        let (plan, rules) = (executor.plan.clone(), executor.rules.clone());
        let again = executor.execution.judged(&plan, &rules, 1, at(5000));
        assert_eq!((again.decision, again.advance), (None, Advance::NotCounted));
        assert_eq!(executor.execution, before, "carried out twice");
    }

    #[test]
    fn a_phase_that_is_rejected_is_tried_again_with_the_reason() {
        let mut executor = at_judge();
        let done = judged(
            &mut executor,
            IterationOutcome::Continue,
            says_judge(JudgeDecision::Rejected),
        );
        assert!(matches!(done.advance, Advance::Retried { .. }));
        assert!(!done.decision.unwrap().approved);
        let wanted = executor.wanted();
        assert_eq!(
            (wanted.phase.as_str(), wanted.iteration, wanted.attempt),
            ("spec", 3, 2)
        );
        assert_eq!(wanted.resume, None, "never the judge's conversation");
        let told = executor.execution.told("spec", None).unwrap();
        assert!(
            told.contains("rejected by the judge: rejected, says the judge"),
            "{told}"
        );
        // The second attempt is judged anew.
        executor.complete();
        assert_eq!(executor.execution.undecided("spec"), None);
        executor.rules.retries = 0;
        let done = judged(
            &mut executor,
            IterationOutcome::Continue,
            says_judge(JudgeDecision::Rejected),
        );
        assert!(matches!(done.advance, Advance::PhaseFailed(_)));
    }

    #[test]
    fn what_a_judge_cannot_decide_a_person_does() {
        for (outcome, answer) in [
            (
                IterationOutcome::Blocked,
                says_judge(JudgeDecision::Blocked),
            ),
            (IterationOutcome::Failed, None),
            (IterationOutcome::TimedOut, None),
        ] {
            let mut executor = at_judge();
            let done = judged(&mut executor, outcome, answer);
            assert_eq!(done.advance, Advance::AtGate(PhaseGateKind::Human));
            assert_eq!(done.decision, None);
            assert_eq!(
                executor.execution.end(&executor.plan),
                Some(ExecutionEnd::Gate)
            );
            assert!(executor.execution.undecided("spec").is_some(), "{outcome}");
            executor.execution = executor.execution.clone().approved(&executor.plan, at(90));
            assert_eq!(executor.wanted().phase, "implement");
        }
    }

    #[test]
    fn a_judge_that_never_came_to_an_end_is_asked_again() {
        let mut executor = at_judge();
        let open = executor.open_judge();
        executor.killed();
        assert_eq!(executor.step(), Step::Interrupted(open));
        executor.execution.orphaned(at(700));
        assert_eq!(executor.execution.status("spec"), PhaseStatus::Interrupted);
        assert_eq!(executor.wanted_judge().iteration, 3);
        let done = judged(&mut executor, IterationOutcome::Service, None);
        assert_eq!(done.advance, Advance::NotCounted);
        assert_eq!(executor.execution.undecided("spec"), None);
        assert_eq!(executor.wanted_judge().iteration, 4);
        executor.execution.paused(at(800));
        let done = judged(
            &mut executor,
            IterationOutcome::Completed,
            says_judge(JudgeDecision::Approved),
        );
        assert_eq!(done.advance, Advance::PhaseCompleted);
    }

    #[test]
    fn a_gate_that_changes_meanwhile_counts() {
        for (gate, status) in [
            (PhaseGateKind::Human, PhaseStatus::Blocked),
            (PhaseGateKind::Auto, PhaseStatus::Completed),
        ] {
            let mut executor = at_judge();
            executor.execution.paused(at(500));
            executor.rules.gates.insert("spec".into(), gate);
            assert_eq!(
                executor.step(),
                Step::Settle {
                    phase: "spec".into()
                }
            );
            let (plan, rules) = (executor.plan.clone(), executor.rules.clone());
            executor.execution.settle_gate(&plan, &rules, "spec", at(9));
            assert_eq!(executor.execution.status("spec"), status);

            let mut executor = at_judge();
            executor.open_judge();
            executor.spend(
                IterationOutcome::Completed,
                says_judge(JudgeDecision::Approved),
            );
            executor.rules.gates.insert("spec".into(), gate);
            assert_eq!(executor.decide().decision, None);
            assert_eq!(executor.execution.status("spec"), status);
        }
    }

    #[test]
    fn a_judge_has_no_turn_left_to_take() {
        let mut executor = Executor::new(Weight::Medium);
        executor
            .rules
            .gates
            .insert("spec".into(), PhaseGateKind::Ai);
        executor.go_on();
        executor.go_on();
        executor.turn(says(AnswerStatus::Complete), Some(true));
        assert_eq!(executor.wanted_judge().iteration, 4, "not used up");
    }
}
