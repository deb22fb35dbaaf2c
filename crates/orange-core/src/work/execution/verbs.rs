//! What people change about an execution: decisions at gates, answers, phases that are skipped, begun anew or executed alone.

#[cfg(test)]
mod tests;

use super::told::{said_answered, said_changes, said_rejected};
use super::{Execution, ExecutionEnd, ExecutionRules};
use crate::Timestamp;
use crate::work::plan::{PhaseKind, Plan};
use crate::workflow::PhaseStatus;

/// Why a phase that would write the specification is left out.
const SPEC_GIVEN: &str = "the spec was given";

impl Execution {
    /// The phase at whose gate it stands counts. Without one, nothing changes.
    #[must_use]
    pub fn approved(mut self, plan: &Plan, at: Timestamp) -> Execution {
        if let Some(phase) = self.gate(plan).map(|state| state.name.clone()) {
            self.finish_phase(&phase, at);
        }
        self
    }

    /// The phase at whose gate it stands failed, for this reason.
    #[must_use]
    pub fn rejected(mut self, plan: &Plan, reason: &str, rules: &ExecutionRules) -> Execution {
        if let Some(phase) = self.gate(plan).map(|state| state.name.clone()) {
            let (why, said) = match reason.trim() {
                "" => ("rejected".to_owned(), None),
                reason => {
                    let said = said_rejected(&phase, reason);
                    (format!("rejected: {reason}"), Some(said))
                }
            };
            self.fail(plan, &phase, rules, why, said);
        }
        self
    }

    /// The agent's question is answered: its next turn goes on with the answer. Without a question, nothing changes.
    #[must_use]
    pub fn answered(mut self, plan: &Plan, text: &str) -> Execution {
        let asked = self
            .question(plan)
            .map(|(state, question)| (state.name.clone(), question));
        if let Some((phase, question)) = asked {
            self.change(&phase, |state| state.status = PhaseStatus::Paused);
            let answer = text.trim();
            let said = said_answered(&phase, &question, answer);
            let text = format!("You asked: {question}\nThe answer: {answer}");
            self.tell(&phase, text, Some(said));
        }
        self
    }

    /// Leaves a phase out.
    pub fn skipped(mut self, plan: &Plan, phase: &str, reason: &str) -> Result<Execution, String> {
        required(plan, phase)?;
        self.complete(plan);
        match self.status(phase) {
            PhaseStatus::Completed => return Err("it is completed".to_owned()),
            PhaseStatus::Skipped => return Err("it is skipped already".to_owned()),
            _ if self.gate(plan).is_some_and(|state| state.name == phase) => {
                return Err("it stands at its gate".to_owned());
            }
            _ => {}
        }
        self.change(phase, |state| {
            state.status = PhaseStatus::Skipped;
            state.error = Some(reason.to_owned());
        });
        self.leave_out_told(phase);
        self.note_only_phase(phase);
        self.error = None;
        Ok(self)
    }

    /// Leaves out the phases that would write the specification: there is one. Those that are over stay as they are.
    #[must_use]
    pub fn with_given_spec(self, plan: &Plan) -> Execution {
        self.without_spec_phases(plan, |_| true)
    }

    /// The same for those alone that nobody has begun, or begun anew: under a plan that was just written.
    #[must_use]
    pub fn with_spec_known_before(self, plan: &Plan) -> Execution {
        let has_begun: Vec<String> = self
            .phases
            .iter()
            .filter(|state| state.status != PhaseStatus::Pending || state.attempt > 1)
            .map(|state| state.name.clone())
            .collect();
        self.without_spec_phases(plan, |name| !has_begun.iter().any(|begun| begun == name))
    }

    fn without_spec_phases(self, plan: &Plan, is_meant: impl Fn(&str) -> bool) -> Execution {
        let of_spec = plan
            .phases
            .iter()
            .filter(|phase| phase.kind == PhaseKind::Spec);
        let mut execution = self;
        for phase in of_spec.filter(|phase| is_meant(&phase.name)) {
            let skipped = execution.clone().skipped(plan, &phase.name, SPEC_GIVEN);
            execution = skipped.unwrap_or(execution);
        }
        execution
    }

    /// The phase and all behind it begin anew. Phases behind it that were skipped stay so.
    pub fn rewound(mut self, plan: &Plan, phase: &str) -> Result<Execution, String> {
        let position = required(plan, phase)?;
        self.complete(plan);
        // What people said of it is about work that is gone.
        self.begin_again_from(plan, position, false);
        Ok(self)
    }

    /// Implementing begins anew with what a person wants to be changed, and so does all behind it.
    #[must_use]
    pub fn request_changes(mut self, plan: &Plan, text: &str) -> Execution {
        self.complete(plan);
        let is_target = |kind: PhaseKind| kind == PhaseKind::Implement;
        let mut phases = plan.phases.iter();
        let implement = phases.position(|phase| is_target(phase.kind));
        let position = implement.unwrap_or_default();
        // The work stays, and so does what people have said of it.
        self.begin_again_from(plan, position, true);
        if let Some(phase) = plan.phases.get(position) {
            let (text, said) = (text.trim(), said_changes(text.trim()));
            let text = format!("A person asks for changes: {text}");
            self.tell(&phase.name, text, Some(said));
        }
        self
    }

    /// A person has the execution go on: a phase that failed as often as it may is tried once more.
    #[must_use]
    pub fn retry_by_person(mut self, plan: &Plan) -> Execution {
        self.complete(plan);
        let failed = plan.executed().map(|phase| phase.name.as_str());
        let failed: Vec<&str> = failed
            .filter(|name| self.status(name) == PhaseStatus::Failed)
            .collect();
        for phase in failed {
            let why = self.phase(phase).and_then(|state| state.error.clone());
            let why = why.unwrap_or_else(|| "it failed".to_owned());
            self.try_again(plan, phase, &why, None);
        }
        self
    }

    /// A person has this phase alone executed next, or again the whole plan.
    pub fn with_only_phase(
        mut self,
        plan: &Plan,
        phase: Option<&str>,
    ) -> Result<Execution, String> {
        self.complete(plan);
        if let Some(name) = phase {
            required(plan, name)?;
            if plan.phase(name).is_some_and(|phase| !phase.is_executed()) {
                return Err("finalize is no phase that an executor executes".to_owned());
            }
            if self.status(name).is_over() {
                self.change(name, |state| state.retries = 0);
                self.begin_anew_even_if_skipped(name);
            }
        }
        self.only_phase = phase.map(str::to_owned);
        self.only_phase_over = false;
        Ok(self)
    }

    /// The same execution under another plan: completed and skipped phases that it has stay so, all others begin anew.
    #[must_use]
    pub fn with_plan(mut self, plan: &Plan) -> Execution {
        self.complete(plan);
        for phase in &plan.phases {
            if !self.status(&phase.name).is_over() {
                self.begin_anew(&phase.name);
                self.change(&phase.name, |state| state.retries = 0);
            }
        }
        let gone = |name: &str| plan.phase(name).is_none();
        self.forget_told_of_gone(plan);
        if self.only_phase.as_deref().is_some_and(gone) {
            self.only_phase = None;
            self.only_phase_over = false;
        }
        self.error = None;
        self
    }

    fn begin_again_from(&mut self, plan: &Plan, position: usize, keep_words: bool) {
        let names = plan.names();
        let behind = names.get(position..).unwrap_or_default();
        for (place, name) in behind.iter().enumerate() {
            self.change(name, |state| {
                state.retries = 0;
                state.commit_sha = None;
                state.summary = None;
            });
            if place == 0 {
                self.begin_anew_even_if_skipped(name);
            } else {
                self.begin_anew(name);
            }
        }
        self.forget_told(behind, keep_words);
        self.only_phase = None;
        self.only_phase_over = false;
        self.error = None;
    }

    fn begin_anew_even_if_skipped(&mut self, phase: &str) {
        self.change(phase, |state| {
            if state.status == PhaseStatus::Skipped {
                state.status = PhaseStatus::Interrupted;
            }
        });
        self.begin_anew(phase);
    }

    /// Whether every phase but finalize is completed or skipped.
    pub fn is_completed(&self, plan: &Plan) -> bool {
        self.end(plan) == Some(ExecutionEnd::Completed)
    }
}

/// Where a phase stands in the plan; an error names those that the plan has.
fn required(plan: &Plan, phase: &str) -> Result<usize, String> {
    plan.position(phase).ok_or_else(|| {
        format!(
            "the plan has no phase {phase}; it has {}",
            plan.names().join(", ")
        )
    })
}
