//! Checks of handed-over commits by the repository's own `verify.command`: asked for by a hook, carried out by an
//! errand beside the reviewer, journalled as evidence. Whoever comes after a process that was killed goes on with it.

pub mod request;

use crate::call::{self, Call};
use crate::checks::request::CheckRequest;
use crate::error::{Code, Result};
use crate::projects::Project;
use crate::rules::{Rules, rules_commit};
use crate::store::Place;
use crate::workspaces::consents;
use crate::{errand, seal_checks, settings};
use orange_core::config::OnFailure;
use orange_core::history::History;
use orange_core::task::Task;
use orange_core::verification::{RunningCheck, Verified, newly_failed, running, unanswered};
use orange_sys::crash_points::crash_point;

/// The repository and what it says about checks.
pub(crate) struct CheckPlan {
    pub(crate) project: Project,
    pub(crate) rules: Rules,
}

/// None: the repository has no check. An error is why one that it has cannot run.
pub(crate) fn plan_of_check(call: &Call, task: &Task) -> Result<Option<CheckPlan>> {
    let project = call::registered(call, &task.project)?;
    let commit = rules_commit::rules_commit(call, &project, task)?;
    let rules = consents::repository_rules(call, &project, &commit)?;
    if rules.verify.is_empty() {
        return Ok(None);
    }
    match consents::untrusted(call, &project, &rules)? {
        Some(refusal) => Err(refusal),
        None => Ok(Some(CheckPlan { project, rules })),
    }
}

/// Whether the user has agreed to a check of the task's repository, or nobody can tell whether there is one.
pub(crate) fn should_be_checked(call: &Call, task: &Task) -> bool {
    match plan_of_check(call, task) {
        Ok(plan) => plan.is_some(),
        Err(error) => error.code != Code::ConditionUnmet,
    }
}

pub(crate) fn ask_for_check(call: &Call, request: &CheckRequest) -> Result<()> {
    request.write(&call.store)?;
    crash_point("verify.requested");
    // One that cannot be started is made up for by the next command.
    if let Err(error) = send_checker(call, &request.folder) {
        tracing::warn!(%error, "a check is not begun yet");
    }
    Ok(())
}

fn send_checker(call: &Call, folder: &str) -> Result<()> {
    let words = ["verify", folder];
    errand::start(&call.orange, call.store.home(), &words).map(drop)
}

/// Checks that nobody is at, though they were asked for: whoever was is gone.
pub(crate) fn resume_checks(call: &Call) {
    for request in request::all(&call.store) {
        if !call.store.place(&request.folder).path.is_dir() {
            request.remove(&call.store);
            continue;
        }
        let free = request::try_lock(&call.store, &request.folder);
        if matches!(free, Ok(Some(_)))
            && let Err(error) = send_checker(call, &request.folder)
        {
            tracing::warn!(%error, folder = request.folder, "a check is not taken up");
        }
    }
}

/// The check that a task's review waits for, in words. One whose request was lost is waited for no longer.
pub(crate) fn verifying(call: &Call, place: &Place, history: &History) -> Option<String> {
    in_words(call, place, &running(history)?)
}

fn in_words(call: &Call, place: &Place, begun: &RunningCheck) -> Option<String> {
    CheckRequest::of(&call.store, &place.folder())?;
    Some(begun.words(call.now()))
}

/// Whether the settings send a task back whose check newly failed.
pub(crate) fn check_returns(call: &Call, task: &Task) -> Result<bool> {
    Ok(settings::config_for(call, task)?.verify.on_failure == OnFailure::Return)
}

/// The result that sends the task back to its worker. Only a result that Orange itself journalled counts.
pub(crate) fn check_that_returns(
    call: &Call,
    task: &Task,
    history: &History,
) -> Result<Option<Verified>> {
    if !task.status.is_in_review() || newly_failed(history).is_none() {
        return Ok(None);
    }
    let sealed = seal_checks::check_seals(call, &task.id, history);
    if sealed.unreadable.is_some() {
        return Ok(None);
    }
    let told = newly_failed(&sealed.without_forged(history));
    if told.is_some() && check_returns(call, task)? {
        Ok(told)
    } else {
        Ok(None)
    }
}

/// Why a review that passed does not move its task yet: the check still runs, or it has newly failed and the task is
/// about to go back.
pub(crate) fn check_to_wait_for(
    call: &Call,
    task: &Task,
    place: &Place,
    history: &History,
) -> Result<Option<String>> {
    if let Some(running) = verifying(call, place, history) {
        return Ok(Some(running));
    }
    let told = check_that_returns(call, task, history)?;
    Ok(told.map(|told| format!("{}; the task goes back to its worker", told.words())))
}

/// The check that is under way, wherever the task has gone since it was asked for, in words.
pub fn check_under_way(call: &Call, place: &Place, history: &History) -> Option<String> {
    in_words(call, place, &unanswered(history)?)
}
