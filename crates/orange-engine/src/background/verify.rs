//! Running checks that were asked for, one at a time, and telling their tasks.

use crate::background::check::{self, Check};
use crate::call::Call;
use crate::checks::request::{self, CheckRequest};
use crate::checks::{self, CheckPlan};
use crate::effects::verify::started;
use crate::effects::{messages, spoken};
use crate::error::{Result, err};
use crate::git::short;
use crate::store::Place;
use crate::store::locks::{Rank, about_to_wait};
use crate::{access, errand, facts, person_environment, seal_checks, started_by, tx};
use orange_core::history::History;
use orange_core::history::payload::VerifyStarted;
use orange_core::task::Task;
use orange_core::verification::{CheckResult, Verified, unanswered};
use orange_core::workflow::Intent;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use std::time::Duration;

/// How often a check that another process carries out is asked for.
const NAP: Duration = Duration::from_millis(50);

/// How often an errand asks for the right to carry a check out: the one that has it may be about to end.
const TRIES: usize = 20;

/// How often a person's check may fail to be carried out at all.
const MOST_FAILURES: usize = 3;

/// An errand: carries out what is asked for of one task.
pub fn verify(call: &Call, folder: &str) -> Result<()> {
    let mut lock = None;
    about_to_wait(Rank::Check);
    for _ in 0..TRIES {
        lock = request::try_lock(&call.store, folder)?;
        if lock.is_some() || CheckRequest::of(&call.store, folder).is_none() {
            break;
        }
        std::thread::sleep(NAP);
    }
    if lock.is_none() {
        return Ok(());
    }
    while let Some(request) = CheckRequest::of(&call.store, folder) {
        let place = call.store.place(folder);
        if !place.path.is_dir() {
            request.remove(&call.store);
            break;
        }
        let outcome = carry_out_check(call, &request);
        report_check(call, place, &request, outcome)?;
    }
    request::forget_lock(&call.store, folder);
    Ok(())
}

/// None when nobody wants the result any more.
fn carry_out_check(call: &Call, request: &CheckRequest) -> Result<Option<CheckResult>> {
    let task = call.store.survey(&request.folder).task;
    let Some(CheckPlan { project, rules }) = checks::plan_of_check(call, &task)? else {
        return Ok(Some(CheckResult::not_run(
            "the repository has no verify.command any more",
        )));
    };
    let known = started_by::environment_of(call, &task.id);
    let minimal = known.is_none();
    let person = known.unwrap_or_else(|| person_environment::minimal(call.user_home.as_deref()));
    // Also the git that prepares the worktree.
    person.clone().give_to_children();
    let store = call.store.clone();
    let wanted = || {
        let task = store.survey(&request.folder).task;
        let here = task.status.is_in_review() || task.offers(Intent::Merge);
        (here || request.by_hand)
            && CheckRequest::of(&store, &request.folder).as_ref() == Some(request)
    };
    let check = Check {
        project: &project,
        rules: &rules,
        target: task.target(&project.default_branch),
        again: request.again,
        person: &person,
        minimal,
        wanted: &wanted,
    };
    check::check(call, &check, &request.head)
}

/// Journals what came of it, and moves the task if only that was waited for. Under the task's lock, like the
/// hook that asks: a request that is made meanwhile is never taken for this one.
fn report_check(
    call: &Call,
    place: Place,
    request: &CheckRequest,
    outcome: Result<Option<CheckResult>>,
) -> Result<()> {
    let result = match outcome {
        Ok(result) => result,
        Err(error) => Some(CheckResult::not_run(spoken(call, &error))),
    };
    let mut tx = messages::lock_with_retry(call, place)?;
    let asked = unanswered(tx.history());
    let asked = asked.is_some_and(|asked| asked.head.as_ref() == Some(&request.head));
    if let Some(result) = result.filter(|_| asked) {
        let event = Verified::event(Some(&request.head), &result, call.now());
        tx.note(vec![event])?;
        crash_point("verify.journalled");
        tx.take_failed_check()?;
        tx.make_deferred_move()?;
    }
    if CheckRequest::of(&call.store, &request.folder).as_ref() == Some(request) {
        request.remove(&call.store);
    }
    tx.commit(Vec::new()).map(drop)
}

/// For a person: checks the task's commit now, and waits for what comes of it.
pub fn verify_now(call: &Call, place: Place, again: bool) -> Result<(Task, Verified)> {
    access::people_only(call, "have a task's work checked")?;
    let mut tx = tx::lock_task(call, place.clone())?;
    let task = tx.task.clone();
    started_by::note_started_by(call, &task.id);
    let Some(plan) = checks::plan_of_check(call, &task)? else {
        return Err(err!(ConditionUnmet, "project {} has no verify.command", task.project)
            .hint("commit one to .orange/config.yaml on the branch that work starts from, such as `verify: {command: make test}`"));
    };
    let head = facts::head_of(call, &task).ok_or_else(|| {
        err!(
            ConditionUnmet,
            "{} has no commit on {}",
            task.label(),
            task.branch
        )
        .hint("there is nothing to check yet")
    })?;
    let folder = place.folder();
    let open = unanswered(tx.history()).filter(|open| open.head.as_ref() == Some(&head));
    let request = CheckRequest::of(&call.store, &folder).filter(|_| open.is_some() && !again);
    if request.is_none() {
        let request = CheckRequest {
            folder: folder.clone(),
            head: head.clone(),
            by_hand: true,
            again,
        };
        request.write(&call.store)?;
        tx.note(vec![started(call, &head, &plan.rules)])?;
    }
    tx.commit(Vec::new()).map(drop)?;
    let mut failures = 0;
    while CheckRequest::of(&call.store, &folder).is_some_and(|open| open.head == head) {
        let errand = ["verify", &folder];
        if !errand::carry_out(&call.orange, call.store.home(), &errand)? {
            // What cannot be done is not asked for without end.
            failures += 1;
            if failures == MOST_FAILURES {
                break;
            }
        }
        std::thread::sleep(NAP);
    }
    let history = place.history()?;
    let told = seal_checks::check_seals(call, &task.id, &history)
        .evidence(&history)
        .verify;
    if let Some(newer) = last_begun(&history).filter(|last| *last != head) {
        let label = task.label();
        return Err(err!(
            Conflict,
            "the check of {} was overtaken: {label} has a newer commit, and {} is checked instead",
            short(&head),
            short(&newer)
        )
        .hint(text!("{} waits for that one", Action::verify(task.name()))));
    }
    // An older result of the same commit is no answer.
    told.filter(|told| told.said.head.as_ref() == Some(&head))
        .filter(|_| unanswered(&history).is_none())
        .map(|told| (task, told))
        .ok_or_else(|| {
            err!(Failed, "the check came to no result").hint("orange.log says more; try again")
        })
}

/// The commit whose check was begun last.
fn last_begun(history: &History) -> Option<String> {
    let mut newest_first = history.events.iter().rev();
    let last = newest_first.find_map(VerifyStarted::of)?;
    last.head.map(str::to_owned)
}
