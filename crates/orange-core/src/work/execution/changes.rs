//! How iterations begin and break off, and how phases change with them.

use super::{Execution, Iteration, IterationKind, PhaseState};
use crate::Timestamp;
use crate::work::plan::Plan;
use crate::workflow::{IterationOutcome, PhaseStatus};

impl Execution {
    /// Begins an iteration: its phase runs, and what its prompt tells is noted as told. False if there is one of that number.
    pub fn open(&mut self, plan: &Plan, iteration: Iteration) -> bool {
        if self
            .iterations
            .iter()
            .any(|known| known.is_same(&iteration))
        {
            return false;
        }
        self.complete(plan);
        if iteration.kind == IterationKind::Turn {
            self.note_told();
            self.change(&iteration.phase, |state| {
                state.status = PhaseStatus::Running;
                state.started_at = state.started_at.or(Some(iteration.started_at));
                state.session_id = iteration.session.clone().or(state.session_id.take());
            });
        }
        if iteration.kind == IterationKind::Judge {
            self.change(&iteration.phase, |state| {
                state.status = PhaseStatus::Running
            });
        }
        self.iterations.push(iteration);
        true
    }

    /// Ends an open iteration that nobody runs. It uses up nothing, and what it was told will be told again.
    pub fn interrupt(&mut self, iteration: usize, at: Timestamp) {
        let Some(found) = self
            .iterations
            .get_mut(iteration)
            .filter(|found| found.is_open())
        else {
            return;
        };
        found.outcome = Some(IterationOutcome::Interrupted);
        found.ended_at = found.ended_at.or(Some(at.max(found.started_at)));
        found.advanced = true;
        let (phase, kind) = (found.phase.clone(), found.kind);
        if kind == IterationKind::Turn {
            self.stop_running(&phase, PhaseStatus::Interrupted);
        }
    }

    /// Ends whatever is open, as the executor is gone; the phase that it was in is interrupted.
    pub fn orphaned(&mut self, at: Timestamp) {
        self.stopped(at, PhaseStatus::Interrupted);
    }

    /// The same for an executor that was asked to stop: the phase is paused.
    pub fn paused(&mut self, at: Timestamp) {
        self.stopped(at, PhaseStatus::Paused);
    }

    fn stopped(&mut self, at: Timestamp, status: PhaseStatus) {
        for iteration in 0..self.iterations.len() {
            self.interrupt(iteration, at);
        }
        for state in &mut self.phases {
            if matches!(
                state.status,
                PhaseStatus::Running | PhaseStatus::Interrupted
            ) {
                state.status = status;
            }
        }
    }

    /// Gives every phase of the plan a state, in the plan's order.
    pub(super) fn complete(&mut self, plan: &Plan) {
        let is_complete = self.phases.len() == plan.phases.len()
            && self
                .phases
                .iter()
                .zip(&plan.phases)
                .all(|(state, phase)| state.name == phase.name);
        if is_complete {
            return;
        }
        let states = plan.phases.iter().map(|phase| {
            let known = self.phase(&phase.name).cloned();
            known.unwrap_or_else(|| PhaseState::new(&phase.name))
        });
        self.phases = states.collect();
    }

    /// Notes where the branch is for a phase that begins anew there.
    pub fn note_commit(&mut self, phase: &str, commit: Option<&str>) {
        self.change(phase, |state| state.commit_sha = commit.map(str::to_owned));
    }

    pub(super) fn change(&mut self, name: &str, change: impl FnOnce(&mut PhaseState)) {
        if let Some(state) = self.phases.iter_mut().find(|state| state.name == name) {
            change(state);
        }
    }

    pub(super) fn stop_running(&mut self, phase: &str, status: PhaseStatus) {
        self.change(phase, |state| {
            if state.status == PhaseStatus::Running {
                state.status = status;
            }
        });
    }
}
