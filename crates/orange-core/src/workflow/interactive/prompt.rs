//! What agents are told: which prompt when, the texts that come with Orange, and how variables are filled in.

#![warn(clippy::wildcard_enum_match_arm)]

mod missing;
mod template;
#[cfg(test)]
mod tests;
mod values;

use crate::choice;
use crate::task::Status;
use crate::work::plan::PhaseKind;
use crate::workflow::Prompt;
pub use missing::{MissingStep, missing};
pub use template::{PromptError, Template, TemplateProblem};
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
    PhaseResearch = "phase-research", "an iteration of a phase of type research begins";
    PhaseSpec = "phase-spec", "an iteration of a phase of type spec begins";
    PhaseDesign = "phase-design", "an iteration of a phase of type design begins";
    PhaseImplement = "phase-implement", "an iteration of a phase of type implement begins";
    PhaseReview = "phase-review", "an iteration of a phase of type review begins";
    PhaseDocs = "phase-docs", "an iteration of a phase of type docs begins";
    PhaseTest = "phase-test", "an iteration of a phase of type test begins";
    PhaseValidate = "phase-validate", "an iteration of a phase of type validate begins";
    Classify = "classify", "a phased task without a weight is to run";
    Judge = "judge", "a judge is asked whether a phase counts";
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

    /// What an agent is told in a phase of this type; None for one that has no turns.
    pub fn for_phase(kind: PhaseKind) -> Option<PromptName> {
        match kind {
            PhaseKind::Research => Some(PromptName::PhaseResearch),
            PhaseKind::Spec => Some(PromptName::PhaseSpec),
            PhaseKind::Design => Some(PromptName::PhaseDesign),
            PhaseKind::Implement => Some(PromptName::PhaseImplement),
            PhaseKind::Review => Some(PromptName::PhaseReview),
            PhaseKind::Docs => Some(PromptName::PhaseDocs),
            PhaseKind::Test => Some(PromptName::PhaseTest),
            PhaseKind::Validate => Some(PromptName::PhaseValidate),
            PhaseKind::Finalize => None,
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

    /// Where a repository may have its own text: the first of these files that is there counts. `folder` is what
    /// `prompts.directory` says; `template` is the prompt that a plan names, such as `prompts/spec.md`.
    pub fn paths(self, folder: &str, template: Option<&str>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        // Only a name is taken from it: the folder is for the settings to say.
        let file = template.and_then(|path| path.rsplit('/').next());
        let wanted = file.and_then(|file| file.strip_suffix(".md"));
        if let Some(wanted) = wanted.filter(|name| is_plain(name)) {
            let short = wanted.strip_prefix(PHASE).unwrap_or(wanted);
            names.extend([format!("{PHASE}{short}"), short.to_owned()]);
        }
        names.push(self.to_string());
        names.extend(self.as_str().strip_prefix(PHASE).map(str::to_owned));
        let mut paths: Vec<String> = Vec::new();
        for folder in [folder, FOLDER] {
            for name in &names {
                let path = format!("{folder}/{name}.md");
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }
}

/// The names of phases' prompts begin so; a file may leave it out.
const PHASE: &str = "phase-";

fn is_plain(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ');
    !name.is_empty() && name.chars().all(is_letter)
}

/// The folder of a repository's own prompts.
pub const FOLDER: &str = ".orange/prompts";
