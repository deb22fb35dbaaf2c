//! Merging a task: the concerns to confirm first, the merge itself, and the end of one that was cut short.
//! What is about to happen is journalled before any branch moves; so whoever comes after a process that died finds
//! out whether it happened, and finishes it.

pub mod allowed;

use crate::call::{self, Call};
use crate::effects::merge::landing::{self, Landing, MergeWork};
use crate::effects::merge::{self, moving, open_merge, recorded, recover_checkout};
use crate::error::{Error, Result, err};
use crate::facts;
use crate::git::worktree;
use crate::projects::Project;
use crate::store::Place;
use crate::store::locks::{Lock, LockFile};
use crate::tx::{self, TaskTx};
use crate::verbs::merge::allowed::{has_a_target, has_use_for_message, has_work, mergeable};
use crate::views::concerns::{self, Concern, slot};
use crate::views::{Merged, task};
use crate::workspaces::ready_slot;
use crate::{access, settings};
use orange_core::history::payload::{MergeAttempt, TaskMerged};
use orange_core::history::{Event, EventType};
use orange_core::merge::Strategy;
use orange_core::task::Task;
use orange_core::{Action, Parameter, text};
use orange_sys::environment::carried;
use std::panic::resume_unwind;
use std::time::Duration;

/// How long a merge waits for another one of its project: long enough for a push.
const TURN: Duration = Duration::from_secs(900);

/// So long nobody wonders what is going on.
const QUIET: Duration = Duration::from_secs(1);

/// What a person wants of a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeWish {
    /// None: as the settings say.
    pub strategy: Option<Strategy>,
    /// The commit's message, instead of one made from the task.
    pub message: Option<String>,
    /// None: as the settings say.
    pub push: Option<bool>,
    /// Whatever speaks against it, apart from git.
    pub force: bool,
    /// The head that a person has seen; another one is not merged.
    pub expected: Option<String>,
    /// The head for which a person has heard what speaks against it, and agreed.
    pub agreed: Option<String>,
}

/// What a merge would be, and what a person should know before it.
#[derive(Debug, Clone)]
pub struct MergePlan {
    pub task: Task,
    pub target: String,
    pub strategy: Strategy,
    pub head: Option<String>,
    /// The target is pushed to `origin` too.
    pub push: bool,
    pub concerns: Vec<Concern>,
}

/// What a merge would be, without doing anything.
pub fn merge_plan(call: &Call, place: Place, wish: &MergeWish) -> Result<MergePlan> {
    access::people_only(call, "merge a task")?;
    allowed::refuse_damaged(call, &place)?;
    let view = task::view(call, place)?;
    allowed::decided(&view.task)?;
    let project = call::registered(call, &view.task.project)?;
    ready_slot::ensure_exclude_lines(&project)?;
    let head = facts::head_of(call, &view.task);
    let concerns = if view.task.status.is_terminal() {
        Vec::new()
    } else {
        let beside = slot::work_beside_branch(call, &view.task, &project)?;
        let (task, history) = (&view.task, &view.history);
        has_work(task, history, &project, head.as_deref(), beside.as_deref())?;
        concerns::merge_concerns(call, &view.task, &view.history, &project, head.as_deref())?
    };
    let settings = settings::config_for(call, &view.task)?.merge;
    Ok(MergePlan {
        push: wish.push.unwrap_or(settings.push) && worktree::has_remote(&project.path)?,
        target: view.task.target(&project.default_branch).to_owned(),
        strategy: wish.strategy.unwrap_or(settings.strategy),
        head,
        concerns,
        task: view.task,
    })
}

/// Merges a task and ends it.
pub fn merge(call: &Call, place: Place, wish: &MergeWish) -> Result<Merged> {
    access::people_only(call, "merge a task")?;
    allowed::refuse_damaged(call, &place)?;
    // Wider than the task's own lock, and taken before it.
    let _turn = merge_turn(call, &place.project)?;
    let mut tx = tx::lock_task(call, place)?;
    if tx.task.status.is_over()
        && let Some(before) = recorded(tx.history(), EventType::TaskMerged)
    {
        // What failed after that merge is tried again: its old error says nothing about now.
        tx.retry_hooks()?;
        let before = TaskMerged::of(&before).unwrap_or_default();
        return Ok(Merged {
            target: before.target.unwrap_or_default().to_owned(),
            strategy: before.strategy.unwrap_or(Strategy::Merge),
            commit: before.commit.unwrap_or_default().to_owned(),
            head: before.head.map(str::to_owned),
            commits: before.commits.unwrap_or(0),
            pushed: before.pushed == Some(true),
            fast_forwarded: None,
            already: true,
            done: tx.commit(Vec::new())?,
        });
    }
    mergeable(&tx.task)?;
    let project = call::registered(call, &tx.task.project)?;
    has_a_target(&tx.task, &project)?;
    ready_slot::ensure_exclude_lines(&project)?;
    let head = facts::branch_commit(call, &tx.task)?;
    let beside = slot::work_beside_branch(call, &tx.task, &project)?;
    let (task, history) = (&tx.task, tx.history());
    has_work(task, history, &project, head.as_deref(), beside.as_deref())?;
    if wish.expected.is_some() && wish.expected != head {
        let (label, branch) = (tx.task.label(), &tx.task.branch);
        return Err(err!(
            Conflict,
            "{branch} has moved since you looked at {label}; nothing was merged"
        )
        .hint(text!("look again: {}", Action::diff(tx.task.name()))));
    }
    let task = tx.task.clone();
    // At once: one looks into the branch, the other into the commit from which the rules are read.
    let (force, settings) = std::thread::scope(|scope| {
        let settings = scope.spawn(carried(|| settings::config_for(call, &task)));
        let force = agreed(&tx, &project, head.as_deref(), wish);
        (force, settings.join())
    });
    let force = force?;
    // Whether the table allows it is found out before anything moves.
    tx.decide_merge(force, Some("about to be merged"))?;
    let settings = settings.unwrap_or_else(|panic| resume_unwind(panic))?.merge;
    has_use_for_message(wish, settings.strategy)?;
    let has_remote = worktree::has_remote(&project.path)?;
    if wish.push == Some(true) && !has_remote {
        return Err(err!(
            ConditionUnmet,
            "{} has no remote called origin to push to",
            project.path.display()
        )
        .hint(text!("leave {} out to merge here alone", Parameter::Push)));
    }
    let work = MergeWork {
        repository: project.path.clone(),
        target: task.target(&project.default_branch).to_owned(),
        head,
        strategy: wish.strategy.unwrap_or(settings.strategy),
        message: wish.message.clone(),
        push: wish.push.unwrap_or(settings.push) && has_remote,
        force,
    };
    let landing = match landing::land(&mut tx, &work) {
        Ok(landing) => landing,
        Err(error) => match landed_despite_error(&tx, &work) {
            Ok(Some(landing)) => {
                call.notice(format!(
                    "{} has it, but git complains: {}",
                    work.target, error.message
                ));
                landing
            }
            Ok(None) => {
                stop_merge(tx, &error.message)?;
                return Err(error);
            }
            // It stays begun, and the next command finds out.
            Err(unknown) => return Err(left_open(&tx.task, &error, &unknown)),
        },
    };
    let events = merge::end_merged(&tx, &work, &landing)?;
    Ok(Merged {
        done: tx.commit(events)?,
        target: work.target,
        strategy: work.strategy,
        commit: landing.commit,
        head: work.head,
        commits: landing.commits,
        pushed: landing.pushed,
        fast_forwarded: landing.fast_forwarded,
        already: landing.already,
    })
}

/// Git may fail after it has moved the target, so the target is asked before a merge counts as stopped. None if
/// nothing of it is there.
fn landed_despite_error(tx: &TaskTx<'_>, work: &MergeWork) -> Result<Option<Landing>> {
    let Some(started) = open_merge(tx.history()).cloned() else {
        return Ok(None);
    };
    recover_checkout(tx.call, work, &tx.task)?;
    let attempt = MergeAttempt::of(&started).unwrap_or_default();
    let commit = attempt.commit.unwrap_or_default();
    if work.is_in_target(commit)? {
        moving::catch_up(tx.call, &tx.task, work, &attempt).map(Some)
    } else {
        Ok(None)
    }
}

/// One merge of a project at a time: the second then sees what the first one did, instead of losing a race.
fn merge_turn(call: &Call, project: &str) -> Result<LockFile> {
    let mut said = false;
    let waits = |since: Duration| {
        if !said && since > QUIET {
            (call.say)(&format!("waits until another merge of {project} is over"));
            said = true;
        }
    };
    let file = moving::lock_within(call, Lock::Merge(project), TURN, waits)?;
    file.ok_or_else(|| {
        err!(Busy, "another merge of project {project} has not ended yet")
            .hint("try again when it has")
    })
}

/// Whether a person has been heard about everything that speaks against it; an error says what they have not.
fn agreed(
    tx: &TaskTx<'_>,
    project: &Project,
    head: Option<&str>,
    wish: &MergeWish,
) -> Result<bool> {
    if wish.force {
        return Ok(true);
    }
    let concerns = concerns::merge_concerns(tx.call, &tx.task, tx.history(), project, head)?;
    if concerns.is_empty() {
        return Ok(false);
    }
    if wish.agreed.is_some() && wish.agreed.as_deref() == head {
        return Ok(true);
    }
    let strategy = wish.strategy.map(|strategy| strategy.to_string());
    let anyway = Action::merge(
        tx.task.name(),
        true,
        strategy,
        wish.push,
        wish.message.clone(),
    );
    Err(concerns::refusal(&tx.task, &concerns, anyway))
}

/// A merge that came to nothing is journalled as over.
fn stop_merge(mut tx: TaskTx<'_>, why: &str) -> Result<()> {
    if open_merge(tx.history()).is_some() {
        let event = Event::new(EventType::MergeStopped, tx.call.now())
            .because(why.lines().next().unwrap_or_default());
        tx.note(vec![event])?;
    }
    tx.commit(Vec::new()).map(drop)
}

/// Neither merged nor stopped, as far as anybody can tell now.
fn left_open(task: &Task, error: &Error, unknown: &Error) -> Error {
    let label = task.label();
    let mut message = format!("the merge of {label} was cut short: {error}");
    if error.message != unknown.message {
        message.push_str(&format!("; {unknown}"));
    }
    let finishes = text!(
        "the next command finds out what was done and finishes it, as {}",
        Action::show(task.name(), false)
    );
    Error::new(error.code, message).hint(unknown.hint.clone().unwrap_or(finishes))
}
