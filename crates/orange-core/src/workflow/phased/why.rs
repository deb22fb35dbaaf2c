//! Why a phased task is where it is, and what moves it on.

use super::reason::{ExecutionProgress, PhasedReason};
use crate::machine::Situation;
use crate::task::{BlockedReason, Status};
use crate::why::{self, AgentPresence, Surroundings, Why};
use crate::work::budget::Budget;
use crate::{Action, reason::Reason};

/// What an explanation knows of an execution.
#[derive(Debug, Clone, Default)]
pub struct ExecutionFacts {
    /// The phase that it is in or stopped at.
    pub phase: Option<String>,
    pub progress: Option<ExecutionProgress>,
    /// What the agent asks.
    pub question: Option<String>,
    /// What the last turn of the phase at the gate came to.
    pub said: Option<String>,
    /// MCP servers that the agent of its last turn did without.
    pub without: Option<String>,
    /// An executor on another machine is at work.
    pub elsewhere: bool,
}

/// Explains a phased task.
pub(crate) fn why(situation: Situation<'_>, around: &Surroundings<'_>) -> Why {
    let task = situation.task;
    let execution = &around.execution;
    let phase = execution.phase.clone();
    let why = with_trouble(around.reason.map(str::to_owned), &execution.without);
    let name = task.name();
    let phased = Reason::Phased;
    match (task.status, task.blocked_reason) {
        (Status::Classifying, _) => Why::waits(
            phased(PhasedReason::Classifying),
            Action::choose_weight(name),
        ),
        (Status::Running, _) if is_alive(around) => {
            let progress = execution.progress.clone().unwrap_or_default();
            Why::waits(
                phased(PhasedReason::Executing(progress)),
                Action::attach(name),
            )
        }
        (Status::Running, _) => Why::needs_you(
            phased(PhasedReason::ExecutorGone),
            Action::resume(name, false),
        ),
        (Status::Blocked, Some(BlockedReason::Gate)) => {
            let phase = phase.unwrap_or_else(|| "a phase".to_owned());
            let said = with_trouble(execution.said.clone(), &execution.without);
            let reason = PhasedReason::Gate { phase, said };
            Why::needs_you(phased(reason), Action::approve(name))
        }
        (Status::Blocked, Some(BlockedReason::Input)) => {
            let phase = phase.unwrap_or_else(|| "a phase".to_owned());
            let question = execution.question.clone().or(why).unwrap_or_default();
            let reason = PhasedReason::Input { phase, question };
            Why::needs_you(phased(reason), Action::answer_in_words(name))
        }
        (Status::Blocked, Some(BlockedReason::Merge)) => {
            Why::needs_you(phased(PhasedReason::MergeGate), Action::approve(name))
        }
        (Status::Paused, _) if around.budget.is_some() => {
            let budget = around.budget.as_ref();
            let what = budget.map(Budget::in_words).unwrap_or_default();
            let reason = PhasedReason::OverBudget {
                phase,
                besides: why.filter(|why| *why != what),
                what,
                setting: budget.map_or("", Budget::setting),
            };
            Why::needs_you(phased(reason), Action::resume(name, true))
        }
        (Status::Paused | Status::Failed, _) if around.without_agent.is_some() => {
            let refused = around.without_agent.clone();
            let (what, next) = refused.map(|refused| (refused.why, refused.next)).unzip();
            let next = next.unwrap_or_else(|| Action::explain(name));
            Why::needs_you(Reason::NoAgent(what.unwrap_or_default()), next)
        }
        (Status::Paused, _) => {
            let next = Action::resume(name, false);
            Why::needs_you(phased(PhasedReason::Paused { phase, why }), next)
        }
        (Status::Failed, _) => {
            let next = Action::retry(name);
            Why::needs_you(phased(PhasedReason::Failed { phase, why }), next)
        }
        (Status::Completed, _) => why::decision(task, around),
        (Status::Finalizing, _) => {
            Why::waits(phased(PhasedReason::Finalizing), Action::explain(name))
        }
        (Status::Finished, _) => Why::over(Reason::Merged(why)),
        (Status::Cancelled, _) => Why::over(Reason::Cancelled),
        // Created, planned, or waiting for other tasks.
        _ => why::not_started(situation, around),
    }
}

/// What was said, and what its agent did without.
fn with_trouble(said: Option<String>, without: &Option<String>) -> Option<String> {
    match (said, without) {
        (Some(said), Some(without)) => Some(format!("{said}\n{without}")),
        (said, without) => said.or_else(|| without.clone()),
    }
}

fn is_alive(around: &Surroundings<'_>) -> bool {
    around.execution.elsewhere || matches!(around.agent, AgentPresence::Alive { .. })
}
