//! The work of an earlier task, brought into the slot of the one that goes on with it: commits as the start of its
//! branch, and what was not committed as files.

use super::Lease;
use super::slot_lock::SlotLock;
use crate::engine::{Engine, Start, Work};
use crate::error::{Code, Error, Result};
use crate::git::{self, short};
use crate::projects::Project;
use crate::rescue;
use crate::store::Place;
use orange_core::task::Task;
use orange_sys::crash_points::crash_point;

impl Engine {
    /// Where the branch of a task starts, or started; that of an earlier task's work comes before the base.
    pub(super) fn start_for(&self, project: &Project, task: &Task, place: &Place) -> Result<Start> {
        let start = self.start_of(project, task, true)?;
        match Work::of(&self.history_at(&place.path)?) {
            Some(work) if !start.existing => start_at(project, &work),
            Some(_) | None => Ok(start),
        }
    }

    /// Puts the files into the slot that the earlier task had not committed; once in the task's life. Gives the
    /// rescue that they come from.
    pub(crate) fn bring_work(
        &self,
        task: &Task,
        place: &Place,
        lease: &Lease,
    ) -> Result<Option<String>> {
        let history = self.history_at(&place.path)?;
        let work = Work::of(&history);
        let Some((work, wanted)) = work.and_then(|work| Some((work.clone(), work.rescue?))) else {
            return Ok(None);
        };
        if work.is_brought(&history) {
            return Ok(None);
        }
        let project = self.registered(&task.project)?;
        let all = rescue::list(&project.path, Some(&work.task_id))?;
        let Some(rescue) = all.into_iter().find(|rescue| rescue.reference == wanted) else {
            self.notice(format!(
                "{}: what was not committed cannot be put back: {wanted} is gone; rescues are kept for `rescue.keep_days`",
                task.label()
            ));
            return Ok(None);
        };
        let lock = SlotLock::take(&self.store, &lease.slot)?;
        let folder = self.slot_folder(&lease.slot);
        let copies = self.raw_folder(&work.task_id);
        let own_copies = self.raw_folder(&task.id);
        let save = rescue::Save {
            slot: &folder,
            task_id: &task.id,
            raw_folder: &own_copies,
            branch: Some(&task.branch),
            reason: &format!("before {} was put back", rescue.name),
            now: self.now(),
        };
        let restored =
            lock.handed_on(|| rescue::restore_from(&project.path, &rescue, &copies, &save))?;
        crash_point("acquire.brought");
        for path in restored.not_copied {
            self.notice(format!(
                "{} is not copied back: its place is not free; the copy stays in {}",
                path.display(),
                copies.display()
            ));
        }
        Ok(Some(rescue.reference))
    }
}

fn start_at(project: &Project, work: &Work) -> Result<Start> {
    if git::commit_of(&project.path, &work.head)?.is_some() {
        return Ok(Start::going_on(work));
    }
    Err(Error::new(
        Code::NotFound,
        format!(
            "the work that it goes on with is gone: there is no commit {} (branch {}) any more",
            short(&work.head),
            work.branch
        ),
    )
    .hint("cancel it, and create a task without --with-work"))
}
