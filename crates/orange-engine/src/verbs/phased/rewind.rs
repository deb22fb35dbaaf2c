//! `rewind`: a phase and what follows it begin anew, from a commit of before. What the branch held since is kept as a rescue.

use crate::access;
use crate::call::{self, Call};
use crate::effects::merge::moving::landing_lock;
use crate::error::{Result, err};
use crate::execution;
use crate::git::landing::{self, Checkout, Moved, Swap};
use crate::git::{commits_ahead, merge_base, short};
use crate::projects::Project;
use crate::rescue::branch::{OldBranch, save_branch};
use crate::store::Place;
use crate::tx::commit::Committed;
use crate::tx::{self, TaskTx};
use crate::verbs::phased::{is_phased, not_here};
use crate::{facts, field_checks};
use orange_core::history::payload::TaskRewound;
use orange_core::history::{Event, Payload};
use orange_core::machine::{self, Move};
use orange_core::task::{Field, FieldMap, Task};
use orange_core::work::execution::Execution;
use orange_core::work::plan::Plan;
use orange_core::workflow::{Actor, Trigger};
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use serde_json::Value;

/// Where a task is to go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindWish {
    pub phase: String,
    /// To where the phase began, not to its last checkpoint.
    pub before: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Rewound {
    pub done: Committed,
    /// Where the branch is now; None: it had no commit.
    pub commit: Option<String>,
    /// What it held since then.
    pub rescue: Option<String>,
}

/// Has a phase and all behind it begin anew.
pub fn rewind(call: &Call, place: Place, wish: &RewindWish) -> Result<Rewound> {
    access::people_only(call, "rewind tasks")?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    if !tx.task.may_rewind() {
        return Err(not_here(call, &tx.task, "rewind"));
    }
    let plan = execution::required_plan(call, &tx.task)?;
    let execution = execution::execution(call, &tx.task)?;
    let label = tx.task.label();
    let after = execution.clone().rewound(&plan, &wish.phase);
    let mut after =
        after.map_err(|why| err!(Usage, "{label} cannot go back to {}: {why}", wish.phase))?;
    let project = call::registered(call, &tx.task.project)?;
    let tip = facts::branch_commit(call, &tx.task)?;
    let mut rewound = (None, None);
    if let Some(tip) = tip {
        let target = target(&tx.task, &project, &tip, (&plan, &execution), wish)?;
        let rescue = move_back(call, &tx.task, &project, &tip, &target)?;
        rewound = (Some(target), rescue);
    }
    // The phase can be gone back to once more.
    after.note_commit(&wish.phase, rewound.0.as_deref());
    tx.mark()?;
    execution::store(call, &tx.task, &after)?;
    crash_point("rewind.stored");
    tx.journal_execution()?;
    let events = events(&tx, wish, &rewound)?;
    let (commit, rescue) = rewound;
    Ok(Rewound {
        done: tx.commit(events)?,
        commit,
        rescue,
    })
}

/// The commit to go back to: the last checkpoint of the phase, or else of what came before it, or else where the work began.
fn target(
    task: &Task,
    project: &Project,
    tip: &str,
    (plan, execution): (&Plan, &Execution),
    wish: &RewindWish,
) -> Result<String> {
    let position = plan.position(&wish.phase).unwrap_or_default();
    let upto = plan
        .phases
        .iter()
        .take(position + usize::from(!wish.before));
    let mut newest_first = upto.rev();
    let saved = newest_first.find_map(|phase| {
        let keeps = phase.checkpoint || phase.name != wish.phase;
        let state = execution.phase(&phase.name)?;
        state.commit_sha.clone().filter(|_| keeps)
    });
    if let Some(saved) = saved {
        return Ok(saved);
    }
    let base = merge_base(&project.path, tip, task.target(&project.default_branch))?;
    base.ok_or_else(|| {
        err!(
            ConditionUnmet,
            "{} has nothing in common with {}, so nobody knows where its work began",
            task.branch,
            task.target(&project.default_branch)
        )
    })
}

/// Moves the branch, after a rescue of where it is; its name, if there was anything to save.
fn move_back(
    call: &Call,
    task: &Task,
    project: &Project,
    tip: &str,
    target: &str,
) -> Result<Option<String>> {
    if tip == target {
        return Ok(None);
    }
    let branch = &task.branch;
    match landing::checkout_of(&project.path, branch)? {
        Checkout::Nowhere => {}
        Checkout::At(place) => {
            return Err(err!(
                ConditionUnmet,
                "{branch} is checked out at {}, so it is not moved",
                place.display()
            )
            .hint("switch that worktree to another branch first"));
        }
        Checkout::Busy(why) => return Err(err!(ConditionUnmet, "{branch} is not moved: {why}")),
    }
    let alive = landing_lock(call, &project.name)?;
    let commits = commits_ahead(&project.path, tip, target)?.unwrap_or_default();
    let saved = save_branch(&OldBranch {
        repository: &project.path,
        task_id: &task.id,
        name: branch,
        at: tip,
        commits: usize::try_from(commits).unwrap_or(usize::MAX),
        reason: &format!("before a rewind to {}", short(target)),
        now: call.now(),
    })?;
    crash_point("rewind.saved");
    let swap = Swap {
        branch,
        from: tip,
        to: target,
        why: "orange: rewind",
    };
    match swap.make(&project.path, &alive)? {
        Moved::Yes => {}
        Moved::Overtaken => {
            return Err(err!(Conflict, "{branch} has moved meanwhile")
                .hint("look at what is new there, then try again"));
        }
        Moved::Refused(why) | Moved::Failed(why) => {
            return Err(err!(Failed, "{branch} was not moved: {why}").hint(text!(
                "nothing is lost: it is where it was, and {} lists what was saved",
                Action::list_rescues(task.name())
            )));
        }
    }
    crash_point("rewind.moved");
    Ok(Some(saved.name))
}

/// That it went back; the move, where it stands at one; and that it starts by itself no more.
fn events(
    tx: &TaskTx<'_>,
    wish: &RewindWish,
    (commit, rescue): &(Option<String>, Option<String>),
) -> Result<Vec<Event>> {
    let (call, task) = (tx.call, &tx.task);
    let rewound = TaskRewound {
        phase: Some(&wish.phase),
        head: commit.as_deref(),
        rescue: rescue.as_deref(),
    };
    let mut events =
        vec![Event::of(Payload::TaskRewound(rewound), call.now()).by(&call.caller_name())];
    match Move::on(task, Trigger::REWIND) {
        Some(wish) => events.push(tx.decide_as(Actor::Human, wish)?),
        None => {
            let withdrawn = (Field::QueuedAt.name().to_owned(), Value::Null);
            let change = FieldMap::from_iter([withdrawn]);
            let event = machine::update(task, change, Actor::Engine, call.now());
            let event = event.map_err(field_checks::bad_value)?;
            events.extend(event.map(|event| event.because("rewound: it starts by itself no more")));
        }
    }
    Ok(events)
}
