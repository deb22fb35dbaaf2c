//! What an executor tells its front end while it works, as it happens: nothing of it is stored, and nobody has to listen.

pub use crate::headless::AgentOutput;
use orange_core::Timestamp;
use orange_core::work::criterion::Criterion;
use orange_core::work::execution::{CriterionResult, Iteration};

/// Something that an executor does, or that the agent of its turn says.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// An agent begins to work.
    Began(&'a Iteration),
    /// The agent says or does something.
    Said(AgentOutput<'a>),
    /// A criterion is being checked: in the slot, or once more in a clean worktree.
    Checking {
        criterion: &'a Criterion,
        clean: bool,
    },
    Checked(&'a CriterionResult),
    /// Whether the iteration completed its phase, in words.
    Over(&'a str),
    /// The service failed, and is left alone until then.
    Waiting {
        until: Timestamp,
        why: &'a str,
    },
    /// What is not as it should be, and keeps nobody from working.
    Note(&'a str),
    /// The executor ends; why. Whoever shows this has shown all of it when the call returns, if that is possible.
    Ends(&'a str),
}

/// Whoever is told. It must not wait for long: the agent waits meanwhile.
pub type Show<'a> = dyn Fn(Progress<'_>) + 'a;
