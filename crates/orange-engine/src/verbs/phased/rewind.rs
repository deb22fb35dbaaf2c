//! `rewind`: a phase and what follows it begin anew, from a commit of before. What the branch held since is kept as a rescue.

use crate::access;
use crate::call::{self, Call};
use crate::error::{Result, err};
use crate::git::{checkpoint, is_ancestor, merge_base};
use crate::projects::Project;
use crate::store::Place;
use crate::tx::commit::Committed;
use crate::tx::{self, TaskTx};
use crate::verbs::phased::{is_phased, not_while_executed};
use crate::{effects, execution, facts};
use orange_core::history::Event;
use orange_core::machine::Move;
use orange_core::task::Task;
use orange_core::work::execution::Execution;
use orange_core::work::plan::Plan;
use orange_core::workflow::{Actor, Trigger};
use orange_sys::crash_points::crash_point;

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
        return Err(not_while_executed(call, &tx.task, "rewind"));
    }
    let plan = execution::required_plan(call, &tx.task)?;
    let execution = execution::execution(call, &tx.task)?;
    let label = tx.task.label();
    let after = execution.clone().rewound(&plan, &wish.phase);
    let mut after =
        after.map_err(|why| err!(Usage, "{label} cannot go back to {}: {why}", wish.phase))?;
    let project = call::registered(call, &tx.task.project)?;
    let tip = facts::branch_commit(call, &tx.task)?;
    let mut commit = None;
    if let Some(tip) = tip {
        let target = target(&tx.task, &project, &tip, (&plan, &execution), wish)?;
        if tip != target {
            let places = (tip.as_str(), target.as_str());
            after.rewinding = Some(effects::rewind::save(
                call,
                &tx.task,
                &project,
                places,
                &wish.phase,
            )?);
        }
        commit = Some(target);
    }
    // The phase can be gone back to once more.
    after.note_commit(&wish.phase, commit.as_deref());
    tx.mark()?;
    execution::store(call, &tx.task, &after)?;
    crash_point("rewind.stored");
    let rewinding = after.rewinding.take();
    if let Some(rewinding) = &rewinding
        && let Err(error) = effects::rewind::move_branch(call, &tx.task, rewinding)
    {
        execution::store(call, &tx.task, &execution)?;
        tx.journal_execution()?;
        return Err(error);
    }
    let rescue = rewinding.map(|rewinding| rewinding.rescue);
    tx.journal_execution()?;
    let event = effects::rewind::event(call, &wish.phase, commit.as_deref(), rescue.as_deref());
    tx.note(vec![event.by(&call.caller_name())])?;
    crash_point("rewind.told");
    execution::store(call, &tx.task, &after)?;
    let events = events(&tx)?;
    Ok(Rewound {
        done: tx.commit(events)?,
        commit,
        rescue,
    })
}

/// The commit to go back to: the last checkpoint of the phase that the branch has, or else where the phase before it ended, or
/// else where the work began.
fn target(
    task: &Task,
    project: &Project,
    tip: &str,
    (plan, execution): (&Plan, &Execution),
    wish: &RewindWish,
) -> Result<String> {
    if !wish.before {
        for commit in checkpoint::below(&project.path, &task.id, &wish.phase)? {
            if is_ancestor(&project.path, &commit, tip)? {
                return Ok(commit);
            }
        }
    }
    let position = plan.position(&wish.phase).unwrap_or_default();
    let mut newest_first = plan.phases.iter().take(position).rev();
    let saved = newest_first.find_map(|phase| execution.phase(&phase.name)?.commit_sha.clone());
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

/// The move, where it stands at one; and that it starts by itself no more.
fn events(tx: &TaskTx<'_>) -> Result<Vec<Event>> {
    let (call, task) = (tx.call, &tx.task);
    let mut events = Vec::new();
    match Move::on(task, Trigger::REWIND) {
        Some(wish) => events.push(tx.decide_as(Actor::Human, wish)?),
        None => events.extend(effects::rewind::withdrawn(call, task)?),
    }
    Ok(events)
}
