//! What an agent still owes when its turn ended: the artifact that a gate asks for, and the command after it.

use super::values::next_status_on_fail;
use crate::gate::{Gate, GateProblem, Verdict};
use crate::task::Task;
use crate::workflow::Intent;

/// What is missing before a task can leave its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingStep {
    /// The artifact is there, the step is not.
    Step { gate: Gate, command: String },
    Artifact {
        problem: GateProblem,
        /// What the agent runs afterwards.
        then: String,
    },
}

/// None where no agent owes anything.
pub fn missing(task: &Task, body: &str, max_rounds: u32) -> Option<MissingStep> {
    let gate = task.status.info().owes?;
    let command = command(task, gate)?;
    if gate.verdict().is_some() {
        let failed = next_status_on_fail(task, max_rounds);
        let failed = format!("`orange task update --status {failed}`");
        return Some(review(body, command, failed));
    }
    Some(match gate.check(body) {
        Ok(()) => MissingStep::Step { gate, command },
        Err(problem) => MissingStep::Artifact {
            problem,
            then: command,
        },
    })
}

/// What an agent runs once the artifact is written.
fn command(task: &Task, gate: Gate) -> Option<String> {
    let row = task.rows().find(|row| row.gate == Some(gate))?;
    Some(match row.intent {
        Some(Intent::Submit) => "`orange task complete`".to_owned(),
        Some(_) | None => format!("`orange task update --status {}`", row.to),
    })
}

fn review(body: &str, passed: String, failed: String) -> MissingStep {
    match Gate::ReviewPass.check(body) {
        Ok(()) => MissingStep::Step {
            gate: Gate::ReviewPass,
            command: passed,
        },
        Err(GateProblem::WrongVerdict {
            found: Verdict::Fail,
            ..
        }) => MissingStep::Step {
            gate: Gate::ReviewFail,
            command: failed,
        },
        Err(problem) => MissingStep::Artifact {
            problem,
            then: format!("{passed} for PASS, or {failed} for FAIL"),
        },
    }
}

impl MissingStep {
    /// For [`Variable::Missing`](super::Variable): what is missing, and how to go on.
    pub fn for_agent(&self) -> String {
        match self {
            MissingStep::Step { gate, command } => format!(
                "The \"## {}\" section is written; now run {command}.",
                gate.section()
            ),
            MissingStep::Artifact { problem, then } => format!(
                "What is missing: {}.\nWhat to do: {}.\nThen run {then}.",
                problem.message(),
                problem.hint()
            ),
        }
    }

    /// The same for a person: the command is the agent's to run.
    pub fn for_person(&self) -> String {
        match self {
            MissingStep::Step { gate, command } => format!(
                "the \"## {}\" section is written, but it has not run {command}",
                gate.section()
            ),
            MissingStep::Artifact { problem, .. } => problem.message(),
        }
    }
}
