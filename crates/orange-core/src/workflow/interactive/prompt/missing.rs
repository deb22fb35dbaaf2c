//! What an agent still owes when its turn ended: the artifact that a gate asks for, and the command after it.

use super::values::next_status_on_fail;
use crate::gate::{Gate, GateProblem, Verdict};
use crate::task::Task;
use crate::workflow::Intent;

/// For [`Variable::Missing`](super::Variable): what is missing before the task can leave its status, and how to go on.
/// None where no agent owes anything.
pub fn missing(task: &Task, body: &str, max_rounds: u32) -> Option<String> {
    let gate = task.status.info().owes?;
    let command = command(task, gate)?;
    if gate.verdict().is_some() {
        let failed = next_status_on_fail(task, max_rounds);
        let failed = format!("`orange task update --status {failed}`");
        return Some(review(body, &command, &failed));
    }
    Some(match gate.check(body) {
        Ok(()) => written(gate, &command),
        Err(problem) => format!("{}\nThen run {command}.", told(&problem)),
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

fn review(body: &str, passed: &str, failed: &str) -> String {
    match Gate::ReviewPass.check(body) {
        Ok(()) => written(Gate::ReviewPass, passed),
        Err(GateProblem::WrongVerdict {
            found: Verdict::Fail,
            ..
        }) => written(Gate::ReviewFail, failed),
        Err(problem) => format!(
            "{}\nThen run {passed} for PASS, or {failed} for FAIL.",
            told(&problem)
        ),
    }
}

/// The artifact is there, the step is not.
fn written(gate: Gate, command: &str) -> String {
    format!(
        "The \"## {}\" section is written; now run {command}.",
        gate.section()
    )
}

fn told(problem: &GateProblem) -> String {
    format!(
        "What is missing: {}.\nWhat to do: {}.",
        problem.message(),
        problem.hint()
    )
}
