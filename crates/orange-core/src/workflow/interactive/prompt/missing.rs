//! What an agent still owes when its turn ended: the artifact that a gate asks for, and the command after it.

use super::values::next_status_on_fail;
use crate::gate::{Gate, GateProblem, Verdict};
use crate::task::Task;

const PLANNED: &str = "`orange task update --status working`";
const HANDED_OVER: &str = "`orange task complete`";
const PASSED: &str = "`orange task update --status reviewing`";

/// For [`Variable::Missing`](super::Variable): what is missing before the task can leave its status, and how to go on.
/// None where no agent owes anything.
pub fn missing(task: &Task, body: &str, max_rounds: u32) -> Option<String> {
    Some(match task.status.info().owes? {
        Gate::Plan => artifact(Gate::Plan, body, PLANNED),
        Gate::Handoff => artifact(Gate::Handoff, body, HANDED_OVER),
        Gate::ReviewPass | Gate::ReviewFail => {
            let failed = next_status_on_fail(task, max_rounds);
            review(body, &format!("`orange task update --status {failed}`"))
        }
    })
}

fn artifact(gate: Gate, body: &str, command: &str) -> String {
    match gate.check(body) {
        Ok(()) => written(gate, command),
        Err(problem) => format!("{}\nThen run {command}.", told(&problem)),
    }
}

fn review(body: &str, failed: &str) -> String {
    match Gate::ReviewPass.check(body) {
        Ok(()) => written(Gate::ReviewPass, PASSED),
        Err(GateProblem::WrongVerdict {
            found: Verdict::Fail,
            ..
        }) => written(Gate::ReviewFail, failed),
        Err(problem) => format!(
            "{}\nThen run {PASSED} for PASS, or {failed} for FAIL.",
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
