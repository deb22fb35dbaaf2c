//! The options that `task create` and `task update` have in common: what can be said about a task.

use crate::completion::{branches, gates, harnesses, words};
use clap::Args;
use orange_core::choice::NotAllowed;
use orange_core::config::{Effort, Permissions};
use orange_core::task::{Category, Field, Priority, Queue, Weight};
use orange_core::work::phase_gate::PhaseGateKind;
use std::str::FromStr;

#[derive(Debug, Args)]
pub(crate) struct FieldArgs {
    /// Where the work goes (default: the project's default branch)
    #[arg(long, value_name = "BRANCH", add = branches())]
    pub(super) target_branch: Option<String>,
    /// critical, high, normal or low
    #[arg(long, value_parser = word_or_nothing::<Priority>, add = words(Priority::WORDS))]
    pub(super) priority: Option<String>,
    /// active or backlog
    #[arg(long, value_parser = word_or_nothing::<Queue>, add = words(Queue::WORDS))]
    pub(super) queue: Option<String>,
    /// feature, bug, refactor, chore, docs or test
    #[arg(long, value_parser = word_or_nothing::<Category>, add = words(Category::WORDS))]
    pub(super) category: Option<String>,
    /// How large it is: trivial, small, medium, large or greenfield; a phased task's plan depends on it
    #[arg(long, value_parser = word_or_nothing::<Weight>, add = words(Weight::WORDS))]
    pub(super) weight: Option<String>,
    /// Who decides about a phase of a phased task: auto, ai, human or skip; may be given more than once
    #[arg(long = "gate", value_name = "PHASE=TYPE", value_parser = gate, add = gates())]
    pub(super) gates: Vec<(String, Option<PhaseGateKind>)>,
    /// The agent CLI that works on it
    #[arg(long, value_name = "NAME", add = harnesses())]
    pub(super) harness: Option<String>,
    /// The agent CLI that reviews it
    #[arg(long, value_name = "NAME", add = harnesses())]
    pub(super) review_harness: Option<String>,
    /// What its agents may do without asking, from their next start on: full, edits or ask
    #[arg(long, value_name = "MODE", value_parser = word_or_nothing::<Permissions>, add = words(Permissions::WORDS))]
    pub(super) permissions: Option<String>,
    /// The model that works on it from its next start on, as its harness calls it
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// The model that reviews it
    #[arg(long, value_name = "MODEL")]
    pub(super) review_model: Option<String>,
    /// How hard the worker should think, from its next start on: low, medium, high …; `orange harness list` says what each accepts
    #[arg(long, value_name = "LEVEL", add = words(Effort::WORDS))]
    pub(super) effort: Option<String>,
    /// How hard the reviewer should think
    #[arg(long, value_name = "LEVEL", add = words(Effort::WORDS))]
    pub(super) review_effort: Option<String>,
    /// Whether it needs UI tests (default: detected from the words)
    #[arg(long, value_name = "BOOL")]
    pub(super) ui_testing: Option<bool>,
}

impl FieldArgs {
    /// Every field that takes a text, with the text that was given.
    pub(super) fn texts(&self) -> [(Field, &Option<String>); 12] {
        [
            (Field::Priority, &self.priority),
            (Field::Queue, &self.queue),
            (Field::Category, &self.category),
            (Field::Weight, &self.weight),
            (Field::TargetBranch, &self.target_branch),
            (Field::Harness, &self.harness),
            (Field::ReviewHarness, &self.review_harness),
            (Field::Permissions, &self.permissions),
            (Field::Model, &self.model),
            (Field::ReviewModel, &self.review_model),
            (Field::Effort, &self.effort),
            (Field::ReviewEffort, &self.review_effort),
        ]
    }
}

/// A word of a closed set; or an empty one, which clears the field.
fn word_or_nothing<T: FromStr<Err = NotAllowed>>(text: &str) -> Result<String, String> {
    if !text.is_empty() {
        super::word::<T>(text)?;
    }
    Ok(text.to_owned())
}

/// `review=human`; without a type the settings and the plan decide again.
fn gate(text: &str) -> Result<(String, Option<PhaseGateKind>), String> {
    let Some((phase, kind)) = text.split_once('=') else {
        return Err(format!(
            "{text:?} names no type: write PHASE=TYPE, such as review=human"
        ));
    };
    let kind = match kind {
        "" => None,
        kind => Some(super::word(kind)?),
    };
    Ok((phase.to_owned(), kind))
}

/// The word that was given; None for an empty one.
pub(super) fn given<T: FromStr>(text: Option<String>) -> Option<T> {
    text?.parse().ok()
}
