//! Checks of handed-over commits by the repository's own `verify.command`: asked for by a hook, carried out by an
//! errand beside the reviewer, journalled as evidence. Whoever comes after a process that was killed goes on with it.

mod check;
mod request;

pub(crate) use request::folder;

use crate::effects::spoken;
use crate::engine::Engine;
use crate::errand;
use crate::error::{Code, Error, Result};
use crate::git::short;
use crate::person_environment;
use crate::projects::Project;
use crate::store::Place;
use crate::store::locks::{Rank, about_to_wait};
use crate::tx::TaskTx;
use crate::workspaces::rules::Rules;
use check::Check;
use orange_core::config::OnFailure;
use orange_core::evidence::Evidence;
use orange_core::history::payload::VerifyStarted;
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::task::Task;
use orange_core::verification::{CheckResult, Verified, newly_failed, running, unanswered};
use orange_core::workflow::Intent;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use request::Request;
use std::time::Duration;

/// How often a check that another process carries out is asked for.
const NAP: Duration = Duration::from_millis(50);
/// How often an errand asks for the right to carry a check out: the one that has it may be about to end.
const TRIES: usize = 20;

/// How often a person's check may fail to be carried out at all.
const MOST_FAILURES: usize = 3;

/// The repository and what it says about checks.
struct Plan {
    project: Project,
    rules: Rules,
}

/// The hook: has the commit that was handed over checked, if its repository says how and its user agreed.
pub(crate) fn begin(engine: &Engine, tx: &mut TaskTx<'_>) -> Vec<Event> {
    let completed = Event::new(EventType::HookCompleted, engine.now());
    if !tx.task.status.is_in_review() {
        return vec![completed];
    }
    // What was handed over, whatever has been committed since.
    let testimony = engine.testimony(&tx.task.id, tx.history());
    let handoff = Evidence::of(&testimony.trusted(tx.history())).handoff;
    let head = handoff
        .and_then(|handoff| handoff.head)
        .or_else(|| engine.head_of(&tx.task));
    let refused = |engine: &Engine, why: String| {
        let result = CheckResult::not_run(why);
        Verified::event(head.as_deref(), &result, engine.now())
    };
    let plan = match engine.plan_of_check(&tx.task) {
        Ok(Some(plan)) => plan,
        Ok(None) => return vec![completed],
        Err(error) => return vec![refused(engine, spoken(&error)), completed],
    };
    let Some(head) = &head else {
        let why = format!("there is no commit on {}", tx.task.branch);
        return vec![refused(engine, why), completed];
    };
    let request = Request {
        folder: tx.place.folder(),
        head: head.clone(),
        by_hand: false,
        again: false,
    };
    match engine.ask_for_check(&request) {
        Ok(()) => vec![started(engine, head, &plan.rules), completed],
        Err(error) => vec![Event::new(EventType::HookFailed, engine.now()).because(spoken(&error))],
    }
}

fn started(engine: &Engine, head: &str, rules: &Rules) -> Event {
    let command = rules.verify.last().map_or("", String::as_str);
    let check = VerifyStarted {
        head: Some(head),
        command: Some(command),
    };
    Event::of(Payload::VerifyStarted(check), engine.now()).by("engine")
}

impl Engine {
    /// None: the repository has no check. An error is why one that it has cannot run.
    fn plan_of_check(&self, task: &Task) -> Result<Option<Plan>> {
        let project = self.registered(&task.project)?;
        let commit = self.rules_commit(&project, task)?;
        let rules = self.repository_rules(&project, &commit)?;
        if rules.verify.is_empty() {
            return Ok(None);
        }
        match self.untrusted(&project, &rules)? {
            Some(refusal) => Err(refusal),
            None => Ok(Some(Plan { project, rules })),
        }
    }

    /// Whether the user has agreed to a check of the task's repository, or nobody can tell whether there is one.
    pub(crate) fn should_be_checked(&self, task: &Task) -> bool {
        match self.plan_of_check(task) {
            Ok(plan) => plan.is_some(),
            Err(error) => error.code != Code::ConditionUnmet,
        }
    }

    fn ask_for_check(&self, request: &Request) -> Result<()> {
        request.write(&self.store)?;
        crash_point("verify.requested");
        // One that cannot be started is made up for by the next command.
        if let Err(error) = self.send_checker(&request.folder) {
            tracing::warn!(%error, "a check is not begun yet");
        }
        Ok(())
    }

    fn send_checker(&self, folder: &str) -> Result<()> {
        let words = ["verify", folder];
        errand::start(&self.orange, self.store.home(), &words).map(drop)
    }

    /// Checks that nobody is at, though they were asked for: whoever was is gone.
    pub(crate) fn take_up_checks(&self) {
        for request in request::all(&self.store) {
            if !self.store.place(&request.folder).path.is_dir() {
                request.remove(&self.store);
                continue;
            }
            let free = request::try_lock(&self.store, &request.folder);
            if matches!(free, Ok(Some(_)))
                && let Err(error) = self.send_checker(&request.folder)
            {
                tracing::warn!(%error, folder = request.folder, "a check is not taken up");
            }
        }
    }

    /// The check that a task's review waits for, in words. One whose request was lost is waited for no longer.
    pub(crate) fn verifying(&self, place: &Place, history: &History) -> Option<String> {
        let running = running(history)?;
        Request::of(&self.store, &place.folder())?;
        Some(running.words(self.now()))
    }

    /// Whether the settings send a task back whose check newly failed.
    pub(crate) fn check_returns(&self, task: &Task) -> Result<bool> {
        Ok(self.config_for(task)?.verify.on_failure == OnFailure::Return)
    }

    /// The result that sends the task back to its worker. Only a result that Orange itself journalled counts.
    pub(crate) fn check_that_returns(
        &self,
        task: &Task,
        history: &History,
    ) -> Result<Option<Verified>> {
        if !task.status.is_in_review() || newly_failed(history).is_none() {
            return Ok(None);
        }
        let testimony = self.testimony(&task.id, history);
        if testimony.unreadable.is_some() {
            return Ok(None);
        }
        let told = newly_failed(&testimony.without_forged(history));
        match told.is_some() && self.check_returns(task)? {
            true => Ok(told),
            false => Ok(None),
        }
    }

    /// Why a review that passed does not move its task yet: the check still runs, or it has newly failed and the task is
    /// about to go back.
    pub(crate) fn check_to_wait_for(
        &self,
        task: &Task,
        place: &Place,
        history: &History,
    ) -> Result<Option<String>> {
        if let Some(running) = self.verifying(place, history) {
            return Ok(Some(running));
        }
        let told = self.check_that_returns(task, history)?;
        Ok(told.map(|told| format!("{}; the task goes back to its worker", told.words())))
    }

    /// The check that is under way, wherever the task has gone since it was asked for, in words.
    pub fn check_under_way(&self, place: &Place, history: &History) -> Option<String> {
        let begun = unanswered(history)?;
        Request::of(&self.store, &place.folder())?;
        Some(begun.words(self.now()))
    }

    /// An errand: carries out what is asked for of one task.
    pub fn verify(&self, folder: &str) -> Result<()> {
        let mut lock = None;
        about_to_wait(Rank::Check);
        for _ in 0..TRIES {
            lock = request::try_lock(&self.store, folder)?;
            if lock.is_some() || Request::of(&self.store, folder).is_none() {
                break;
            }
            std::thread::sleep(NAP);
        }
        if lock.is_none() {
            return Ok(());
        }
        while let Some(request) = Request::of(&self.store, folder) {
            let place = self.store.place(folder);
            if !place.path.is_dir() {
                request.remove(&self.store);
                break;
            }
            let outcome = self.carry_out_check(&request);
            self.report_check(place, &request, outcome)?;
        }
        request::forget_lock(&self.store, folder);
        Ok(())
    }

    /// None when nobody wants the result any more.
    fn carry_out_check(&self, request: &Request) -> Result<Option<CheckResult>> {
        let task = self.store.survey(&request.folder).task;
        let Some(Plan { project, rules }) = self.plan_of_check(&task)? else {
            return Ok(Some(CheckResult::not_run(
                "the repository has no verify.command any more",
            )));
        };
        let known = self.environment_of(&task.id);
        let minimal = known.is_none();
        let person =
            known.unwrap_or_else(|| person_environment::minimal(self.user_home.as_deref()));
        // Also the git that prepares the worktree.
        person.clone().give_to_children();
        let store = self.store.clone();
        let wanted = || {
            let task = store.survey(&request.folder).task;
            let here = task.status.is_in_review() || task.offers(Intent::Merge);
            (here || request.by_hand)
                && Request::of(&store, &request.folder).as_ref() == Some(request)
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
        self.check(&check, &request.head)
    }

    /// Journals what came of it, and moves the task if only that was waited for. Under the task's lock, like the
    /// hook that asks: a request that is made meanwhile is never taken for this one.
    fn report_check(
        &self,
        place: Place,
        request: &Request,
        outcome: Result<Option<CheckResult>>,
    ) -> Result<()> {
        let result = match outcome {
            Ok(result) => result,
            Err(error) => Some(CheckResult::not_run(spoken(&error))),
        };
        let mut tx = self.lock_patiently(place)?;
        let asked = unanswered(tx.history());
        let asked = asked.is_some_and(|asked| asked.head.as_ref() == Some(&request.head));
        if let Some(result) = result.filter(|_| asked) {
            let event = Verified::event(Some(&request.head), &result, self.now());
            tx.note(vec![event])?;
            crash_point("verify.journalled");
            tx.take_failed_check()?;
            tx.take_deferred()?;
        }
        if Request::of(&self.store, &request.folder).as_ref() == Some(request) {
            request.remove(&self.store);
        }
        tx.commit(Vec::new()).map(drop)
    }

    /// For a person: checks the task's commit now, and waits for what comes of it.
    pub fn verify_now(&self, place: Place, again: bool) -> Result<(Task, Verified)> {
        self.people_only("have a task's work checked")?;
        let mut tx = self.lock_task(place.clone())?;
        let task = tx.task.clone();
        self.note_started_by(&task.id);
        let Some(plan) = self.plan_of_check(&task)? else {
            return Err(Error::new(
                Code::ConditionUnmet,
                format!("project {} has no verify.command", task.project),
            )
            .hint("commit one to .orange/config.yaml on the branch that work starts from, such as `verify: {command: make test}`"));
        };
        let head = self.head_of(&task).ok_or_else(|| {
            Error::new(
                Code::ConditionUnmet,
                format!("{} has no commit on {}", task.label(), task.branch),
            )
            .hint("there is nothing to check yet")
        })?;
        let folder = place.folder();
        let open = unanswered(tx.history()).filter(|open| open.head.as_ref() == Some(&head));
        let request = Request::of(&self.store, &folder).filter(|_| open.is_some() && !again);
        if request.is_none() {
            let request = Request {
                folder: folder.clone(),
                head: head.clone(),
                by_hand: true,
                again,
            };
            request.write(&self.store)?;
            tx.note(vec![started(self, &head, &plan.rules)])?;
        }
        tx.commit(Vec::new()).map(drop)?;
        let mut failures = 0;
        while Request::of(&self.store, &folder).is_some_and(|open| open.head == head) {
            let errand = ["verify", &folder];
            if !errand::carry_out(&self.orange, self.store.home(), &errand)? {
                // What cannot be done is not asked for without end.
                failures += 1;
                if failures == MOST_FAILURES {
                    break;
                }
            }
            std::thread::sleep(NAP);
        }
        let history = self.history_at(&place.path)?;
        let told = self.testimony(&task.id, &history).evidence(&history).verify;
        if let Some(newer) = last_begun(&history).filter(|last| *last != head) {
            let label = task.label();
            return Err(Error::new(
                Code::Conflict,
                format!(
                    "the check of {} was overtaken: {label} has a newer commit, and {} is checked instead",
                    short(&head),
                    short(&newer)
                ),
            )
            .hint(text!("{} waits for that one", Action::verify(label))));
        }
        // An older result of the same commit is no answer.
        told.filter(|told| told.said.head.as_ref() == Some(&head))
            .filter(|_| unanswered(&history).is_none())
            .map(|told| (task, told))
            .ok_or_else(|| {
                Error::new(Code::Failed, "the check came to no result")
                    .hint("orange.log says more; try again")
            })
    }
}

/// The commit whose check was begun last.
fn last_begun(history: &History) -> Option<String> {
    let mut newest_first = history.events.iter().rev();
    let last = newest_first.find_map(VerifyStarted::of)?;
    last.head.map(str::to_owned)
}
