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

/// Declares the prompts: the name in `.orange/prompts`, and when it is used.
macro_rules! prompts {
    ($($prompt:ident = $name:literal, $when:literal;)+) => {
        choice! {
            /// The prompts, by the names they have in `.orange/prompts`.
            pub enum PromptName ("prompt") { $($prompt = $name),+ }
        }

        impl PromptName {
            /// When it is used, for lists and the docs.
            pub fn when(self) -> &'static str {
                match self { $(PromptName::$prompt => $when),+ }
            }

            /// The text that comes with Orange.
            pub fn built_in(self) -> &'static str {
                match self { $(PromptName::$prompt => include_str!(concat!("prompt/", $name, ".md"))),+ }
            }
        }
    };
}

prompts! {
    Worker = "worker", "a task with a summary starts";
    WorkerWait = "worker-wait", "a task is made for a branch that is to be reviewed";
    Clarify = "clarify", "a task without a summary starts";
    Reviewer = "reviewer", "a review round starts";
    StuckFix = "stuck-fix", "a task got stuck and its worker is gone";
    ReviewFailed = "review-failed", "told to the worker: the review failed";
    CheckFailed = "check-failed", "told to the worker: a check of its work newly failed";
    ChangesRequested = "changes-requested", "told to the worker: a person asks for changes";
    Answered = "answered", "told to the worker: a person answered, or lets a stuck task go on";
    ToldStuck = "told-stuck", "told to the worker: its task is stuck";
    Nudge = "nudge", "told to an agent whose turn ended without the artifact";
    RespawnPlanning = "respawn-planning", "a worker is started again in planning";
    RespawnClarification = "respawn-clarification", "a worker is started again in clarification";
    RespawnWorking = "respawn-working", "a worker is started again in working";
    RespawnAgentReview = "respawn-agent-review", "a worker is started again in agent-review";
    RespawnReviewing = "respawn-reviewing", "a worker is started again in reviewing";
    RespawnStuck = "respawn-stuck", "an agent is started again in stuck";
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

    /// Where a repository may put its own text.
    pub fn path(self) -> String {
        format!("{FOLDER}/{self}.md")
    }
}

/// The folder of a repository's own prompts.
pub const FOLDER: &str = ".orange/prompts";
