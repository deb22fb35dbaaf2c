//! The work of a task that is over: where it ended, what was saved of the rest, and how a new task goes on with it.

use crate::call::Call;
use crate::error::{Result, err};
use crate::git::{is_ancestor, short};
use crate::projects::Project;
use crate::rescue::{self, Rescue};
use crate::rules::Start;
use crate::verbs::create_from::Earlier;
use crate::views::results::BranchLanding;
use crate::workspaces::base::existing_commit;
use orange_core::history::EventType;
use orange_core::history::payload::{EarlierWork, HookEnded};
use orange_core::workflow::Hook;
use orange_core::{Action, Parameter, text};

impl Start {
    /// Where a new branch starts that goes on with earlier work.
    pub(crate) fn going_on(work: &EarlierWork) -> Start {
        Start {
            reference: work.branch.clone(),
            commit: Some(work.head.clone()),
            local_ahead: 0,
            existing: false,
            fetched: false,
        }
    }

    /// The start of a branch that goes on with earlier work.
    pub(crate) fn going_on_with(self, work: &EarlierWork) -> Result<Start> {
        if !self.existing {
            return Ok(Start::going_on(work));
        }
        if self.commit.as_ref() == Some(&work.head) {
            Ok(self)
        } else {
            Err(err!(
                Conflict,
                "there is a branch {} already, and it is not where the work of {} ended",
                self.reference,
                work.branch
            )
            .hint(text!(
                "name a new branch, or leave {} out to go on with what is on this one",
                Parameter::WithWork
            )))
        }
    }
}

/// The last state of the earlier task. None: all of it is in the target, so that the base has it.
pub(crate) fn work_of(
    call: &Call,
    project: &Project,
    earlier: &Earlier,
    landing: &BranchLanding,
) -> Result<Option<EarlierWork>> {
    let old = &earlier.task;
    let label = old.label();
    if let Some(slot) = &old.workspace {
        return Err(err!(
            ConditionUnmet,
            "{label} still has {slot}, so its work is not saved yet"
        )
        .hint(text!(
            "{} gives the slot back; then try again",
            Action::retry_hooks(old.name())
        )));
    }
    let branch = existing_commit(&project.path, &old.branch)?;
    let saved = last_rescue(project, earlier)?;
    let saved_at = saved.as_ref().and_then(|saved| saved.note.head.as_ref());
    let fits = match (&branch, saved_at) {
        // Files of a rescue replace whole files: anywhere but where they were changed, they would take back
        // what others did there.
        (Some(branch), Some(head)) => is_ancestor(&project.path, branch, head)?,
        (None, Some(_)) => true,
        (_, None) => false,
    };
    let (fitting, left) = if fits { (saved, None) } else { (None, saved) };
    if let Some(left) = left {
        let (name, branch) = (&left.name, &old.branch);
        call.notice(text!(
                "{label}: rescue {name} was not made at the head of {branch}, so it is not put back; {} says what it holds",
                Action::show_rescue(old.name(), name)
            ));
    }
    let head = match &fitting {
        Some(rescue) => rescue.note.head.clone(),
        None => branch.clone().or_else(|| landing.head.clone()),
    };
    let Some(head) = head else {
        return Err(err!(
            NotFound,
            "{label} left no work: there is no branch {} and no rescue of it",
            old.branch
        )
        .hint(text!(
            "leave {} out to start from the base",
            Parameter::WithWork
        )));
    };
    if fitting.is_none() && landing.is_seen() {
        let target = &landing.target;
        call.notice(format!(
            "the work of {label} is in {target} already; nothing of it is left to go on with"
        ));
        return Ok(None);
    }
    if branch.is_none() {
        let (branch, at) = (&old.branch, short(&head));
        call.notice(format!(
            "branch {branch} is gone; its last known commit, {at}, is still there"
        ));
    }
    let fitting = fitting.filter(|rescue| rescue.note.files > 0);
    Ok(Some(EarlierWork {
        task_id: old.id.clone(),
        branch: old.branch.clone(),
        head,
        rescue: fitting.map(|rescue| rescue.reference),
    }))
}

/// What was saved when the task gave its slot back; or, if that was clean, what was found in it afterwards.
fn last_rescue(project: &Project, earlier: &Earlier) -> Result<Option<Rescue>> {
    let mut all = rescue::list(&project.path, Some(&earlier.task.id))?;
    let release = Hook::ReleaseWorkspace.name();
    let mut events = earlier.history.events.iter().rev();
    let released = events.find(|event| {
        event.kind == EventType::HookCompleted
            && event.hook.as_deref() == Some(release)
            && HookEnded::of(event).is_some_and(|hook| hook.slot.is_some())
    });
    let Some(released) = released else {
        return Ok(all.pop());
    };
    match HookEnded::of(released).and_then(|hook| hook.rescue) {
        Some(noted) => Ok(all.into_iter().find(|rescue| rescue.reference == noted)),
        // Older ones are of states that were left behind.
        None => Ok(all.pop().filter(|last| last.note.time > released.timestamp)),
    }
}
