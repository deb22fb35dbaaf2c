//! What speaks for a task's work, and for which commit: handoff, verdict, the repository's own check.

use crate::call::Call;
use crate::views::task::TaskView;
use crate::{checks, facts, seal_checks};
use orange_core::evidence::Evidence;
use serde::Serialize;

/// The evidence, and the commit that the branch is at now.
#[derive(Debug, Serialize)]
pub struct EvidenceView {
    #[serde(flatten)]
    pub evidence: Evidence,
    /// The check that runs now, in words.
    pub verifying: Option<String>,
    /// What the journal says without Orange having written it.
    pub unconfirmed: Vec<String>,
    /// Lines that Orange wrote are missing from the journal.
    pub incomplete: bool,
    /// Why nothing can be confirmed.
    #[serde(skip)]
    pub unreadable: Option<String>,
    pub head: Option<String>,
    /// Whether the branch has moved since the review; None where nobody has reviewed it, or a commit is not known.
    pub moved_since_review: Option<bool>,
}

pub(crate) fn evidence_view(call: &Call, view: &TaskView) -> EvidenceView {
    let sealed = seal_checks::check_seals(call, &view.task.id, &view.history);
    let evidence = sealed.evidence(&view.history);
    let head = facts::branch_head(call, &view.task);
    EvidenceView {
        verifying: checks::check_under_way(call, &view.place, &view.history),
        unconfirmed: sealed.unconfirmed(&view.history),
        incomplete: sealed.incomplete,
        unreadable: sealed.unreadable,
        moved_since_review: moved(&evidence, head.as_deref()),
        evidence,
        head,
    }
}

fn moved(evidence: &Evidence, head: Option<&str>) -> Option<bool> {
    let verdict = evidence.verdict.as_ref().map(|verdict| &verdict.said);
    let said = evidence.review.as_ref().or(verdict)?;
    Some(said.head.as_deref()? != head?)
}
