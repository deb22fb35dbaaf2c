//! A plan and an executor for tests: it does what the next step asks for, with the answers that a test has.

use super::*;
use crate::task::Weight;
use crate::work::answer::AnswerStatus;
use crate::work::plan::Plan;

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_768_000_000 + second).unwrap()
}

pub(super) fn plan(weight: Weight) -> Plan {
    Plan {
        task_id: "TASK-001".into(),
        weight,
        generated_at: at(0),
        phases: Plan::built_in(weight),
    }
}

/// No gate is closed, so that a test closes those that it is about.
pub(super) fn rules(plan: &Plan) -> ExecutionRules {
    let phases = plan.phases.iter();
    ExecutionRules {
        gates: phases
            .map(|phase| (phase.name.clone(), PhaseGateKind::Auto))
            .collect(),
        ..ExecutionRules::default()
    }
}

pub(super) fn says(status: AnswerStatus) -> Answer {
    Answer {
        status,
        summary: format!("{status}, says the agent"),
        ..Answer::default()
    }
}

/// An executor with a clock of its own.
pub(super) struct Executor {
    pub(super) plan: Plan,
    pub(super) rules: ExecutionRules,
    pub(super) execution: Execution,
    pub(super) clock: i64,
}

impl Executor {
    pub(super) fn new(weight: Weight) -> Executor {
        let plan = plan(weight);
        Executor {
            rules: rules(&plan),
            plan,
            execution: Execution::default(),
            clock: 0,
        }
    }

    pub(super) fn now(&mut self) -> Timestamp {
        self.clock += 10;
        at(self.clock)
    }

    /// As after a crash: from what was stored.
    pub(super) fn killed(&mut self) {
        let stored = serde_json::to_string(&self.execution).unwrap();
        self.execution = serde_json::from_str(&stored).unwrap();
    }

    pub(super) fn step(&self) -> Step {
        next_step(&self.plan, &self.execution, &self.rules)
    }

    pub(super) fn wanted(&self) -> WantedTurn {
        match self.step() {
            Step::Turn(wanted) => wanted,
            other => panic!("no turn is wanted: {other:?}"),
        }
    }

    /// What the prompt of the turn that is wanted has besides.
    pub(super) fn told(&self) -> Option<String> {
        let wanted = self.wanted();
        self.execution.told(&wanted.phase, wanted.resume.as_deref())
    }

    /// What the prompt of the turn that is wanted has of people's words, besides what it is told.
    pub(super) fn asked(&self) -> String {
        let wanted = self.wanted();
        let execution = &self.execution;
        execution.asked_of_others(&wanted.phase, wanted.resume.as_deref())
    }

    /// Begins the turn that is wanted; its place.
    pub(super) fn open(&mut self) -> usize {
        let wanted = self.wanted();
        let session = wanted.resume.clone();
        let session = session.unwrap_or_else(|| format!("{}-{}", wanted.phase, wanted.iteration));
        let started_at = self.now();
        let iteration = Iteration {
            phase: wanted.phase,
            iteration: wanted.iteration,
            attempt: wanted.attempt,
            run: "run".into(),
            harness: "agent".into(),
            session: Some(session),
            started_at,
            ..Iteration::default()
        };
        assert!(self.execution.open(&self.plan, iteration));
        self.execution.iterations.len() - 1
    }

    pub(super) fn wanted_judge(&self) -> WantedJudge {
        match self.step() {
            Step::Judge(wanted) => wanted,
            other => panic!("no judge is wanted: {other:?}"),
        }
    }

    /// Begins the run of the judge that is wanted; its place.
    pub(super) fn open_judge(&mut self) -> usize {
        let wanted = self.wanted_judge();
        let iteration = Iteration {
            session: Some(format!("judge-{}-{}", wanted.phase, wanted.iteration)),
            phase: wanted.phase,
            iteration: wanted.iteration,
            attempt: wanted.attempt,
            kind: IterationKind::Judge,
            run: "run".into(),
            harness: "agent".into(),
            started_at: self.now(),
            ..Iteration::default()
        };
        assert!(self.execution.open(&self.plan, iteration));
        self.execution.iterations.len() - 1
    }

    /// Carries out what the run of a judge came to.
    pub(super) fn decide(&mut self) -> Judged {
        let Step::Decide { iteration } = self.step() else {
            panic!("nothing is to be decided: {:?}", self.step());
        };
        let at = self.now();
        let (plan, rules) = (self.plan.clone(), self.rules.clone());
        self.execution.judged(&plan, &rules, iteration, at)
    }

    /// Ends the newest turn.
    pub(super) fn spend(&mut self, outcome: IterationOutcome, answer: Option<Answer>) {
        let ended_at = self.now();
        let last = self.execution.iterations.last_mut().unwrap();
        last.outcome = Some(outcome);
        last.ended_at = Some(ended_at);
        last.answer = answer;
        last.head = Some(format!("head-{}-{}", last.phase, last.iteration));
        last.usage = Usage {
            input: 100,
            output: 10,
            cost: Some(0.5),
            ..Usage::default()
        };
    }

    /// A person has the execution changed so.
    pub(super) fn person(&mut self, change: impl FnOnce(Execution, &Plan) -> Execution) {
        self.execution = change(self.execution.clone(), &self.plan);
    }

    pub(super) fn check(&mut self, passed: Option<bool>) {
        let last = self.execution.iterations.last_mut().unwrap();
        let phase = self.plan.phase(&last.phase).unwrap();
        let criteria = phase.completion_criteria.iter();
        let results = criteria.map(|criterion| {
            let passed = if *criterion == Criterion::AgentConfirms {
                Some(true)
            } else {
                passed
            };
            CriterionResult::new(criterion, passed, "3 tests failed")
        });
        last.checks = results
            .filter(|result| result.passed != Some(true) || passed == Some(true))
            .collect();
        last.checked = true;
    }

    pub(super) fn advance(&mut self) -> Advance {
        let Step::Advance { iteration } = self.step() else {
            panic!("nothing is to be carried out: {:?}", self.step());
        };
        let at = self.now();
        advance(&self.plan, &mut self.execution, &self.rules, iteration, at)
    }

    /// A whole turn whose agent says this, and whose checks come to that.
    pub(super) fn turn(&mut self, answer: Answer, passed: Option<bool>) -> Advance {
        self.open();
        self.spend(IterationOutcome::of_answer(answer.status), Some(answer));
        if let Step::Check { .. } = self.step() {
            self.check(passed);
        }
        self.advance()
    }

    pub(super) fn complete(&mut self) -> Advance {
        self.turn(says(AnswerStatus::Complete), Some(true))
    }

    pub(super) fn go_on(&mut self) -> Advance {
        self.turn(says(AnswerStatus::Continue), Some(true))
    }

    /// A turn that came to nothing.
    pub(super) fn broken_turn(&mut self, outcome: IterationOutcome) -> Advance {
        self.open();
        self.spend(outcome, None);
        if let Step::Check { .. } = self.step() {
            self.check(None);
        }
        self.advance()
    }

    /// Has the phase that is executed fail by using up its iterations.
    pub(super) fn fail_phase(&mut self) -> Advance {
        for _ in 0..1000 {
            let outcome = self.go_on();
            if outcome != Advance::NextIteration {
                return outcome;
            }
        }
        panic!("it never fails");
    }

    pub(super) fn statuses(&self) -> String {
        let phases = self.plan.phases.iter();
        let words: Vec<&str> = phases
            .map(|phase| self.execution.status(&phase.name).as_str())
            .collect();
        words.join(" ")
    }
}
