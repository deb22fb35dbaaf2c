//! The branch of a rewind: what it held is saved, and it is moved back; also for a rewind whose process is gone.

use crate::call::{self, Call};
use crate::effects::merge::moving::landing_lock;
use crate::error::{Result, err};
use crate::git::landing::{self, BranchMove, BranchSwap, Checkout};
use crate::git::{commits_ahead, short};
use crate::projects::Project;
use crate::rescue::branch::{OldBranch, save_branch};
use crate::tx::TaskTx;
use crate::{execution, facts, field_checks};
use orange_core::history::payload::TaskRewound;
use orange_core::history::{Event, Payload};
use orange_core::machine;
use orange_core::task::{Field, FieldMap, Task};
use orange_core::work::execution::Rewinding;
use orange_core::workflow::Actor;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use serde_json::Value;

/// Saves what the branch holds, so that it can be moved. Refused where a person has it checked out.
pub(crate) fn save(
    call: &Call,
    task: &Task,
    project: &Project,
    (from, to): (&str, &str),
    phase: &str,
) -> Result<Rewinding> {
    let branch = &task.branch;
    must_be_movable(project, branch)?;
    let commits = commits_ahead(&project.path, from, to)?.unwrap_or_default();
    let saved = save_branch(&OldBranch {
        repository: &call.site(&project.path),
        task_id: &task.id,
        name: branch,
        at: from,
        commits: usize::try_from(commits).unwrap_or(usize::MAX),
        reason: &format!("before a rewind to {}", short(to)),
        now: call.now(),
    })?;
    crash_point("rewind.saved");
    Ok(Rewinding {
        phase: phase.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        rescue: saved.name,
        by: call.caller_name(),
    })
}

/// Refuses a branch that somebody has checked out: its files would not be those of the branch any more.
fn must_be_movable(project: &Project, branch: &str) -> Result<()> {
    match landing::checkout_of(&project.path, branch)? {
        Checkout::Nowhere => Ok(()),
        Checkout::At(place) => Err(err!(
            ConditionUnmet,
            "{branch} is checked out at {}, so it is not moved",
            place.display()
        )
        .hint("switch that worktree to another branch first")),
        Checkout::Busy(why) => Err(err!(ConditionUnmet, "{branch} is not moved: {why}")),
    }
}

/// Moves the branch back, if it is where it was saved.
pub(crate) fn move_branch(call: &Call, task: &Task, rewinding: &Rewinding) -> Result<()> {
    let branch = &task.branch;
    let project = call::registered(call, &task.project)?;
    let alive = landing_lock(call, &project.name)?;
    // After a kill a person may have looked at it meanwhile.
    must_be_movable(&project, branch)?;
    let swap = BranchSwap {
        branch,
        from: &rewinding.from,
        to: &rewinding.to,
        why: "orange: rewind",
    };
    match swap.make_backwards(&call.site(&project.path), &alive)? {
        BranchMove::Yes => {}
        BranchMove::Overtaken => {
            return Err(err!(Conflict, "{branch} has moved meanwhile")
                .hint("look at what is new there, then try again"));
        }
        BranchMove::Refused(why) | BranchMove::Failed(why) => {
            return Err(err!(Failed, "{branch} was not moved: {why}").hint(text!(
                "nothing is lost: it is where it was, and {} lists what was saved",
                Action::list_rescues(task.name())
            )));
        }
    }
    crash_point("rewind.moved");
    Ok(())
}

/// That a task went back: to which phase, where its branch is, and what has what it held.
pub(crate) fn event(call: &Call, phase: &str, head: Option<&str>, rescue: Option<&str>) -> Event {
    let rewound = TaskRewound {
        phase: Some(phase),
        head,
        rescue,
    };
    Event::of(Payload::TaskRewound(rewound), call.now())
}

/// That a task which is not started goes on by itself no more.
pub(crate) fn withdrawn(call: &Call, task: &Task) -> Result<Option<Event>> {
    let withdrawn = (Field::QueuedAt.name().to_owned(), Value::Null);
    let change = FieldMap::from_iter([withdrawn]);
    let event = machine::update(task, change, Actor::Engine, call.now());
    let event = event.map_err(field_checks::bad_value)?;
    Ok(event.map(|event| event.because("rewound: it starts by itself no more")))
}

impl TaskTx<'_> {
    /// Finishes a rewind whose process died after it had stored what it does.
    pub(crate) fn finish_rewind(&mut self) -> Result<()> {
        let call = self.call;
        let mut execution = execution::execution(call, &self.task)?;
        let Some(rewinding) = execution.rewinding.take() else {
            return Ok(());
        };
        let mut head = facts::branch_commit(call, &self.task)?;
        if head.as_ref() == Some(&rewinding.from) {
            // Where it cannot be moved any more, a person has begun something else with it: the phases begin anew from there.
            match move_branch(call, &self.task, &rewinding) {
                Ok(()) => head = Some(rewinding.to.clone()),
                Err(error) => tracing::warn!(%error, "the branch of a rewind stays where it is"),
            }
        }
        let is_told = self.history().events.iter().any(|event| {
            matches!(event.payload(), Payload::TaskRewound(told) if told.rescue == Some(&rewinding.rescue))
        });
        if !is_told {
            let (phase, rescue) = (&rewinding.phase, Some(rewinding.rescue.as_str()));
            let event = event(call, phase, head.as_deref(), rescue);
            self.note(vec![event.by(&rewinding.by)])?;
        }
        if self.task.queued_at.is_some() {
            let withdrawn = withdrawn(call, &self.task)?;
            self.note(withdrawn.into_iter().collect())?;
        }
        execution::store(call, &self.task, &execution)
    }
}
