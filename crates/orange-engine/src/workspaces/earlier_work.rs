//! The work of an earlier task, brought into the slot of the one that goes on with it: commits as the start of its
//! branch, and what was not committed as files.

use crate::call::{self, Call};
use crate::error::{Result, err};
use crate::git::{self, short};
use crate::projects::Project;
use crate::rescue::{self, restore};
use crate::rules::Start;
use crate::store::Place;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::{self, Lease, base, release};
use orange_core::history::payload::EarlierWork;
use orange_core::task::Task;
use orange_core::{Parameter, text};
use orange_sys::crash_points::crash_point;

/// Where the branch of a task starts, or started; that of an earlier task's work comes before the base.
pub(crate) fn start_for(
    call: &Call,
    project: &Project,
    task: &Task,
    place: &Place,
) -> Result<Start> {
    let start = base::start_of(call, project, task, true)?;
    if start.existing {
        return Ok(start);
    }
    if let Some(commit) = last_commit(call, project, task)? {
        call.notice(format!(
            "{}: its branch {} was gone; it goes on at {}, the last commit of its phases",
            task.label(),
            task.branch,
            short(&commit)
        ));
        return Ok(Start {
            reference: "the last commit of its phases".to_owned(),
            commit: Some(commit),
            ..start
        });
    }
    match EarlierWork::of(&place.history()?) {
        Some(work) => start_at(project, &work),
        None => Ok(start),
    }
}

/// The last commit that the phases of a task came to, if it is still there: its branch may have been deleted, but not its work.
fn last_commit(call: &Call, project: &Project, task: &Task) -> Result<Option<String>> {
    if !task.has_plan() {
        return Ok(None);
    }
    let known = call.with_existing_database(|database| database.execution(&task.id))?;
    let Some(execution) = known.flatten() else {
        return Ok(None);
    };
    match execution.last_commit() {
        Some(commit) => git::commit_of(&project.path, commit),
        None => Ok(None),
    }
}

/// Puts the files into the slot that the earlier task had not committed; once in the task's life. Gives the
/// rescue that they come from.
pub(crate) fn bring_work(
    call: &Call,
    task: &Task,
    place: &Place,
    lease: &Lease,
) -> Result<Option<String>> {
    let history = place.history()?;
    let work = EarlierWork::of(&history);
    let Some((work, wanted)) = work.and_then(|work| Some((work.clone(), work.rescue?))) else {
        return Ok(None);
    };
    if work.is_brought(&history) {
        return Ok(None);
    }
    let project = call::registered(call, &task.project)?;
    let all = rescue::list(&project.path, Some(&work.task_id))?;
    let Some(rescue) = all.into_iter().find(|rescue| rescue.reference == wanted) else {
        call.notice(format!(
                "{}: what was not committed cannot be put back: {wanted} is gone; rescues are kept for `rescue.keep_days`",
                task.label()
            ));
        return Ok(None);
    };
    let lock = SlotLock::take(&call.store, &lease.slot)?;
    let folder = workspaces::slot_folder(call, &lease.slot);
    let copies = release::raw_folder(call, &work.task_id);
    let save = rescue::Save {
        slot: &call.site(folder),
        task_id: &task.id,
        raw_folder: &release::raw_folder(call, &task.id),
        branch: Some(&task.branch),
        reason: &format!("before {} was put back", rescue.name),
        now: call.now(),
    };
    let restored = lock.handed_on(|| restore(&project.path, &rescue, &copies, &save))?;
    crash_point("acquire.brought");
    for path in restored.not_copied {
        call.notice(format!(
            "{} is not copied back: its place is not free; the copy stays in {}",
            path.display(),
            copies.display()
        ));
    }
    Ok(Some(rescue.reference))
}

fn start_at(project: &Project, work: &EarlierWork) -> Result<Start> {
    if git::commit_of(&project.path, &work.head)?.is_some() {
        return Ok(Start::going_on(work));
    }
    Err(err!(
        NotFound,
        "the work that it goes on with is gone: there is no commit {} (branch {}) any more",
        short(&work.head),
        work.branch
    )
    .hint(text!(
        "cancel it, and create a task without {}",
        Parameter::WithWork
    )))
}
