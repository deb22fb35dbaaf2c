//! What agents are told: which prompt when, the texts that come with Orange, and how variables are filled in.

#![warn(clippy::wildcard_enum_match_arm)]

mod missing;
mod template;
#[cfg(test)]
mod tests;
mod values;

use crate::choice;
use crate::task::Status;
use crate::workflow::Prompt;
pub use missing::missing;
pub use template::{Problem, PromptError, Template};
pub use values::{Values, Variable};

choice! {
    /// The prompts, by the names they have in `.orange/prompts`.
    pub enum PromptName ("prompt") {
        Worker = "worker",
        WorkerWait = "worker-wait",
        Clarify = "clarify",
        Reviewer = "reviewer",
        StuckFix = "stuck-fix",
        ReviewFailed = "review-failed",
        CheckFailed = "check-failed",
        ChangesRequested = "changes-requested",
        Answered = "answered",
        ToldStuck = "told-stuck",
        Nudge = "nudge",
        RespawnPlanning = "respawn-planning",
        RespawnClarification = "respawn-clarification",
        RespawnWorking = "respawn-working",
        RespawnAgentReview = "respawn-agent-review",
        RespawnReviewing = "respawn-reviewing",
        RespawnStuck = "respawn-stuck",
    }
}

impl PromptName {
    /// The prompt that a hook of the table asks for. A respawn depends on where the task is; none where no agent
    /// is expected.
    pub fn for_hook(prompt: Prompt, status: Status) -> Option<PromptName> {
        match prompt {
            Prompt::Worker => Some(PromptName::Worker),
            Prompt::Clarify => Some(PromptName::Clarify),
            Prompt::WorkerWait => Some(PromptName::WorkerWait),
            Prompt::Respawn => status.info().respawn,
        }
    }

    /// What a live worker is told when its task leaves this status and the table says to notify it. A review can end by
    /// its verdict or by a check that failed.
    pub fn for_notice(from: Status, by_check: bool) -> Option<PromptName> {
        let told = from.info().told_on_leaving;
        if by_check && from.is_in_review() {
            Some(PromptName::CheckFailed)
        } else {
            told
        }
    }

    /// When it is used, for lists and the docs.
    pub fn when(self) -> &'static str {
        match self {
            PromptName::Worker => "a task with a summary starts",
            PromptName::WorkerWait => "a task is made for a branch that is to be reviewed",
            PromptName::Clarify => "a task without a summary starts",
            PromptName::Reviewer => "a review round starts",
            PromptName::StuckFix => "a task got stuck and its worker is gone",
            PromptName::ReviewFailed => "told to the worker: the review failed",
            PromptName::CheckFailed => "told to the worker: a check of its work newly failed",
            PromptName::ChangesRequested => "told to the worker: a person asks for changes",
            PromptName::Answered => {
                "told to the worker: a person answered, or lets a stuck task go on"
            }
            PromptName::ToldStuck => "told to the worker: its task is stuck",
            PromptName::Nudge => "told to an agent whose turn ended without the artifact",
            PromptName::RespawnPlanning => "a worker is started again in planning",
            PromptName::RespawnClarification => "a worker is started again in clarification",
            PromptName::RespawnWorking => "a worker is started again in working",
            PromptName::RespawnAgentReview => "a worker is started again in agent-review",
            PromptName::RespawnReviewing => "a worker is started again in reviewing",
            PromptName::RespawnStuck => "an agent is started again in stuck",
        }
    }

    /// The text that comes with Orange.
    pub fn built_in(self) -> &'static str {
        match self {
            PromptName::Worker => include_str!("prompt/worker.md"),
            PromptName::WorkerWait => include_str!("prompt/worker-wait.md"),
            PromptName::Clarify => include_str!("prompt/clarify.md"),
            PromptName::Reviewer => include_str!("prompt/reviewer.md"),
            PromptName::StuckFix => include_str!("prompt/stuck-fix.md"),
            PromptName::ReviewFailed => include_str!("prompt/review-failed.md"),
            PromptName::CheckFailed => include_str!("prompt/check-failed.md"),
            PromptName::ChangesRequested => include_str!("prompt/changes-requested.md"),
            PromptName::Answered => include_str!("prompt/answered.md"),
            PromptName::ToldStuck => include_str!("prompt/told-stuck.md"),
            PromptName::Nudge => include_str!("prompt/nudge.md"),
            PromptName::RespawnPlanning => include_str!("prompt/respawn-planning.md"),
            PromptName::RespawnClarification => include_str!("prompt/respawn-clarification.md"),
            PromptName::RespawnWorking => include_str!("prompt/respawn-working.md"),
            PromptName::RespawnAgentReview => include_str!("prompt/respawn-agent-review.md"),
            PromptName::RespawnReviewing => include_str!("prompt/respawn-reviewing.md"),
            PromptName::RespawnStuck => include_str!("prompt/respawn-stuck.md"),
        }
    }

    /// Where a repository may put its own text.
    pub fn path(self) -> String {
        format!("{FOLDER}/{self}.md")
    }
}

/// The folder of a repository's own prompts.
pub const FOLDER: &str = ".orange/prompts";
