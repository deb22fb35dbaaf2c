//! What speaks against the merge of a phased task: phases that are not over, a review that was left out, commits that no phase
//! made. Commits of phases behind the review are their work, and no concern.

use super::{Concern, newest};
use crate::call::Call;
use crate::error::Result;
use crate::execution;
use crate::git;
use crate::projects::Project;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::work::execution::{Execution, PhaseStatus};
use orange_core::work::plan::PhaseKind;

pub(super) fn phased_concerns(
    call: &Call,
    task: &Task,
    project: &Project,
    head: Option<&str>,
) -> Result<Vec<Concern>> {
    let Some(plan) = execution::plan(call, task)? else {
        let status = task.status;
        let what = if execution::had_plan(task) {
            format!("it is {status}, and orange.db does not have its plan any more")
        } else {
            format!("it is {status}, and has no plan yet")
        };
        return Ok(vec![Concern::plain(what)]);
    };
    let execution = execution::execution(call, task)?;
    let mut concerns = Vec::new();
    let open = plan.executed();
    let open = open.filter(|phase| !execution.status(&phase.name).is_over());
    let open: Vec<&str> = open.map(|phase| phase.name.as_str()).collect();
    if !open.is_empty() {
        let what = format!("not every phase of its plan is over: {}", open.join(", "));
        concerns.push(Concern::plain(what));
    }
    let reviews = plan.phases.iter();
    let reviews = reviews.filter(|phase| phase.kind == PhaseKind::Review);
    for review in reviews {
        let state = execution.phase(&review.name);
        if let Some(state) = state.filter(|state| state.status == PhaseStatus::Skipped) {
            let why = state.error.as_deref().unwrap_or_default();
            let what = format!("its phase {} was left out: {why}", review.name);
            concerns.push(Concern::plain(what));
        }
    }
    let turns = execution.iterations.iter();
    let after_turns = turns.filter_map(|turn| turn.head.as_deref());
    // Where it went back to is a commit of its phases too.
    let phases = execution.phases.iter();
    let is_of_phase = |head: &str| {
        let mut commits = phases.filter_map(|phase| phase.commit_sha.as_deref());
        after_turns.clone().any(|commit| commit == head) || commits.any(|commit| commit == head)
    };
    if let (Some(made), Some(head)) = (after_turns.clone().next_back(), head)
        && !is_of_phase(head)
    {
        concerns.extend(commits_of_others(project, task, made, head)?);
    } else if let Some(head) = head {
        concerns.extend(lost_phases(project, &execution, head)?);
    }
    Ok(concerns)
}

/// Phases whose commits somebody took off the branch before later phases went on there.
fn lost_phases(project: &Project, execution: &Execution, head: &str) -> Result<Option<Concern>> {
    let mut lost = Vec::new();
    for phase in &execution.phases {
        let completed = phase.status == PhaseStatus::Completed;
        let Some(commit) = phase.commit_sha.as_deref().filter(|_| completed) else {
            continue;
        };
        if commit != head
            && (git::commit_of(&project.path, commit)?.is_none()
                || !git::is_ancestor(&project.path, commit, head)?)
        {
            lost.push(format!("{} ({})", phase.name, git::short(commit)));
        }
    }
    let what = format!(
        "its branch was moved, and does not hold the work of {} any more",
        lost.join(", ")
    );
    Ok((!lost.is_empty()).then(|| Concern::plain(what)))
}

/// What is on the branch behind the last commit of its phases.
fn commits_of_others(
    project: &Project,
    task: &Task,
    made: &str,
    head: &str,
) -> Result<Option<Concern>> {
    if git::commit_of(&project.path, made)?.is_none()
        || !git::is_ancestor(&project.path, made, head)?
    {
        return Ok(Some(Concern::plain(format!(
            "its branch was moved since its last phase: that left it at {}, now it is at {}",
            git::short(made),
            git::short(head)
        ))));
    }
    let (count, details) = newest(project, task, made, head)?;
    let what = format!("{} that no phase made", counted(count, "commit"));
    Ok((count > 0).then(|| Concern {
        details,
        ..Concern::plain(what)
    }))
}
