//! What came since something: since a person looked, since the agent's last turn began, since the review.

use super::diff::{Comparison, LAST_SEEN, LAST_TURN, all_work, head};
use super::task::TaskView;
use crate::call::Call;
use crate::error::{Result, err};
use crate::git::diff::Sides;
use crate::git::reflog::{BranchAt, branch_at};
use crate::git::{self, short};
use crate::runs::{RunFolder, SignalKind};
use crate::store::seen::BranchLook;
use orange_core::evidence::{Evidence, Statement};
use orange_core::turns;
use orange_core::{Action, Text, Timestamp, text};
use std::path::Path;

/// What came since a person looked at all of it. Where that cannot be told it is all of the work, and a note says so.
pub(super) fn since_seen(
    call: &Call,
    repository: &Path,
    view: &TaskView,
    look: Option<&BranchLook>,
) -> Result<Comparison> {
    let Some(look) = look else {
        let note = "you have not looked at its changes before; this is all of them".to_owned();
        return all_instead(call, repository, view, note);
    };
    let Some(from) = git::commit_of(repository, &look.head)? else {
        let note = format!(
            "the commit that you saw last, {}, is not in {} any more; this is all of its work",
            short(&look.head),
            repository.display()
        );
        return all_instead(call, repository, view, note);
    };
    let since = SinceCommit {
        from,
        against: LAST_SEEN,
        what: "the commit that you saw last,",
        nothing: "nothing came since you looked at it, at",
    };
    let found = since.compared(repository, view)?;
    Ok(Comparison {
        is_rest: true,
        ..found
    })
}

/// What came since the agent that does the work was last told what to do.
pub(super) fn last_turn(call: &Call, repository: &Path, view: &TaskView) -> Result<Comparison> {
    let task = &view.task;
    let prompts = |run: &str| {
        let signals = RunFolder::new(call.store.home(), run).signals();
        let taken = signals.into_iter();
        let taken = taken.filter(|signal| signal.signal == SignalKind::PromptTaken);
        taken.map(|signal| signal.at).collect::<Vec<Timestamp>>()
    };
    let Some(began) = turns::last_turn(&view.history, prompts) else {
        return Err(
            err!(ConditionUnmet, "{} has had no agent yet", task.label()).hint(all_of_it(view)),
        );
    };
    let from = match branch_at(repository, &task.branch, began)? {
        BranchAt::Commit(from) => git::commit_of(repository, &from)?,
        BranchAt::NotYet => return all_work(call, repository, view),
        BranchAt::Unknown => None,
    };
    let Some(from) = from else {
        let note = format!(
            "git does not know any more where {} was when the last turn began; this is all of its work",
            task.branch
        );
        return all_instead(call, repository, view, note);
    };
    let since = SinceCommit {
        from,
        against: LAST_TURN,
        what: "the commit at which the last turn began,",
        nothing: "nothing was committed since the last turn began at",
    };
    since.compared(repository, view)
}

pub(super) fn since_review(
    repository: &Path,
    view: &TaskView,
    evidence: Evidence,
) -> Result<Comparison> {
    let label = view.task.label();
    let verdict = evidence.verdict.map(|verdict| verdict.said);
    let said = |said: Option<Statement>| said.and_then(|said| said.head);
    let Some(reviewed) = said(evidence.review).or_else(|| said(verdict)) else {
        return Err(err!(ConditionUnmet, "{label} has not been reviewed yet").hint(all_of_it(view)));
    };
    let Some(from) = git::commit_of(repository, &reviewed)? else {
        return Err(err!(
            NotFound,
            "the commit that was reviewed, {}, is not in {} any more",
            short(&reviewed),
            repository.display()
        )
        .hint(all_of_it(view)));
    };
    let since = SinceCommit {
        from,
        against: "the review",
        what: "the reviewed commit",
        nothing: "nothing came after the review of",
    };
    since.compared(repository, view)
}

fn all_of_it(view: &TaskView) -> Text {
    text!("{} shows all of its work", Action::diff(view.task.name()))
}

fn all_instead(
    call: &Call,
    repository: &Path,
    view: &TaskView,
    note: String,
) -> Result<Comparison> {
    let mut all = all_work(call, repository, view)?;
    all.notes.insert(0, note);
    Ok(all)
}

/// A commit that the branch was at, and how it is called.
struct SinceCommit {
    from: String,
    against: &'static str,
    /// Followed by the commit.
    what: &'static str,
    /// Followed by the commit.
    nothing: &'static str,
}

impl SinceCommit {
    fn compared(self, repository: &Path, view: &TaskView) -> Result<Comparison> {
        let from = self.from;
        let (head, mut notes) = head(repository, view)?;
        let commits = git::commits_ahead(repository, &head, &from)?;
        if !git::is_ancestor(repository, &from, &head)? {
            notes.push(format!(
                "{} {} is not part of {} any more (rebased or amended): this is how the two differ",
                self.what,
                short(&from),
                view.task.branch
            ));
        }
        let nothing = (from == head).then(|| format!("{} {}", self.nothing, short(&from)).into());
        Ok(Comparison {
            sides: Sides::Commits {
                repository: repository.to_owned(),
                from: from.clone(),
                to: head.clone(),
            },
            base: Some(from),
            head: Some(head),
            against: self.against.to_owned(),
            commits,
            is_rest: false,
            notes,
            nothing,
        })
    }
}
