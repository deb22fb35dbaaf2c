//! What follows from what is stored of an execution: numbers and sums.

use super::{Execution, ExecutionRules, Iteration, IterationKind, PhaseState};
use crate::cost::Cost;
use crate::usage::Usage;
use crate::work::answer::Findings;
use crate::work::plan::PlannedPhase;
use crate::work::prices::Prices;
use crate::workflow::{IterationOutcome, PhaseStatus};
use std::time::Duration;

impl Execution {
    /// The state of a phase; None: it has not begun.
    pub fn phase(&self, name: &str) -> Option<&PhaseState> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// The status of a phase.
    pub fn status(&self, name: &str) -> PhaseStatus {
        self.phase(name)
            .map(|phase| phase.status)
            .unwrap_or_default()
    }

    pub(super) fn attempt(&self, name: &str) -> u32 {
        self.phase(name).map_or(1, |phase| phase.attempt)
    }

    /// The iterations of a phase, the oldest first.
    pub fn iterations_of(&self, phase: &str) -> impl DoubleEndedIterator<Item = &Iteration> {
        self.iterations
            .iter()
            .filter(move |known| known.phase == phase)
    }

    /// The turns of the attempt that a phase is in.
    pub(super) fn turns_of_attempt(
        &self,
        phase: &str,
    ) -> impl DoubleEndedIterator<Item = &Iteration> {
        let attempt = self.attempt(phase);
        let turns = self.iterations_of(phase);
        turns.filter(move |turn| turn.attempt == attempt && turn.kind == IterationKind::Turn)
    }

    /// What the turns of an attempt of a phase found together: one that continues is not over with what it found.
    pub fn findings_of(&self, phase: &str, attempt: u32) -> Findings {
        let turns = self.iterations_of(phase);
        let turns =
            turns.filter(|turn| turn.attempt == attempt && turn.kind == IterationKind::Turn);
        Findings::of_answers(turns.filter_map(|turn| turn.answer.as_ref()))
    }

    /// How many turns a phase had, without those that the service failed.
    pub fn count_of(&self, phase: &str) -> u32 {
        let turns = self.iterations_of(phase).filter(|turn| {
            turn.kind == IterationKind::Turn && turn.outcome != Some(IterationOutcome::Service)
        });
        count(turns)
    }

    /// How many of the iterations that a phase may have are used up in its attempt.
    pub fn used_of_attempt(&self, phase: &str) -> u32 {
        count(self.turns_of_attempt(phase).filter(|turn| turn.counts()))
    }

    /// How long the turns of a phase's attempt took together. No turn runs longer than it may: more on the clock was a computer
    /// that slept, or a clock that was set.
    pub fn time_of_attempt(&self, phase: &PlannedPhase, rules: &ExecutionRules) -> Duration {
        let turns = self.turns_of_attempt(&phase.name);
        let counting = turns.filter(|turn| turn.counts());
        let longest = rules.timeout_of_turn(phase);
        let times = counting
            .filter_map(Iteration::duration)
            .map(|time| time.min(longest));
        times.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// What a phase used, in all its attempts.
    pub fn usage_of(&self, phase: &str) -> Usage {
        sum(self.iterations_of(phase))
    }

    /// What the task used.
    pub fn usage(&self) -> Usage {
        sum(self.iterations.iter())
    }

    /// What the task cost, with the prices of models whose harness tells none.
    pub fn cost(&self, prices: &Prices) -> Cost {
        cost_of(self.iterations.iter(), prices)
    }

    /// What a phase cost, in all its attempts.
    pub fn cost_of(&self, phase: &str, prices: &Prices) -> Cost {
        cost_of(self.iterations_of(phase), prices)
    }

    /// The number of the next iteration of a phase. Numbers go on after a retry and a rewind.
    pub fn next_number(&self, phase: &str) -> u32 {
        let numbers = self.iterations_of(phase).map(|known| known.iteration);
        numbers.max().unwrap_or_default().saturating_add(1)
    }

    /// The newest iteration.
    pub fn last(&self) -> Option<&Iteration> {
        self.iterations.last()
    }

    /// The commit at which the branch of the task was left: that of the last turn that counts still, or else of the last phase that
    /// is over.
    pub fn last_commit(&self) -> Option<&str> {
        let mut newest_first = self.iterations.iter().rev();
        let of_turn = newest_first.find_map(|turn| {
            let is_current = self.attempt(&turn.phase) == turn.attempt;
            turn.head.as_deref().filter(|_| is_current)
        });
        of_turn.or_else(|| {
            let over = self.phases.iter().filter(|phase| phase.status.is_over());
            over.rev().find_map(|phase| phase.commit_sha.as_deref())
        })
    }

    /// The newest turn of an agent that works.
    pub fn last_turn(&self) -> Option<&Iteration> {
        let mut newest_first = self.iterations.iter().rev();
        newest_first.find(|known| known.kind == IterationKind::Turn)
    }
}

impl Iteration {
    /// Adds what it used to a sum. One that is open, or that the service failed, has used nothing else.
    pub fn add_to(&self, cost: &mut Cost, prices: &Prices) {
        let model = self.model.as_deref();
        if !self.usage.is_empty() {
            let priced = prices.priced(model, self.usage);
            cost.add(Some(priced), model, &self.harness);
        } else if !self.is_open() && self.outcome != Some(IterationOutcome::Service) {
            cost.add(None, model, &self.harness);
        }
    }
}

fn count<'a>(iterations: impl Iterator<Item = &'a Iteration>) -> u32 {
    u32::try_from(iterations.count()).unwrap_or(u32::MAX)
}

fn cost_of<'a>(iterations: impl Iterator<Item = &'a Iteration>, prices: &Prices) -> Cost {
    let mut cost = Cost::default();
    for iteration in iterations {
        iteration.add_to(&mut cost, prices);
    }
    cost
}

fn sum<'a>(iterations: impl Iterator<Item = &'a Iteration>) -> Usage {
    iterations.fold(Usage::default(), |sum, iteration| sum.plus(iteration.usage))
}
