//! Finishing what a dead process began. Every command comes by here first; with nothing to do it costs
//! one look at an empty folder.

use crate::engine::Engine;
use crate::error::{Code, Result};
use crate::store::Place;
use crate::store::lock::TaskLock;

impl Engine {
    /// Looks at the tasks that are listed as changing. Those of live processes are left alone.
    pub fn recover(&mut self) {
        for place in self.store.marked() {
            if let Err(error) = self.recover_one(&place) {
                tracing::warn!(%error, folder = place.folder(), "could not be finished");
                if error.code == Code::NotFound || error.code == Code::Damaged {
                    // Gone meanwhile, or only a repair helps, and the list shows it as damaged.
                    self.store.unmark(&place);
                }
            }
        }
    }

    fn recover_one(&mut self, place: &Place) -> Result<()> {
        // Where the folder lies now; a move to or from the trash may have been cut short.
        let trashed = self.trash_place(place);
        let path = [&place.path, &trashed]
            .into_iter()
            .find(|path| path.is_dir());
        let Some(path) = path else {
            return self.recover_unborn(place);
        };
        match TaskLock::try_acquire(path) {
            Ok(Some(lock)) => {
                self.finish_move(place)?;
                drop(lock);
            }
            Ok(None) => return Ok(()),
            Err(error) => return Err(crate::locked::explain_lock(place, error)),
        }
        if !place.path.is_dir() {
            self.store.unmark(place);
            return Ok(());
        }
        if let Some(mut locked) = self.try_lock_task(place.clone())? {
            // The index may be all that is missing.
            locked.index(self)?;
            tracing::info!(
                task = locked.task.id,
                "finished what an earlier process began"
            );
            self.store.unmark(place);
        }
        Ok(())
    }

    /// A task that was being made, by a process that lives (it has the project's lock) or died.
    fn recover_unborn(&mut self, place: &Place) -> Result<()> {
        let lock = format!("tasks/{}/.lock", place.project);
        let Some(_project) = self.store.try_lock_file(&lock)? else {
            return Ok(());
        };
        if !place.path.is_dir() {
            let hidden = self
                .store
                .tasks()
                .join(&place.project)
                .join(format!(".new-{}", place.name));
            let _ = std::fs::remove_dir_all(hidden);
            self.store.unmark(place);
        }
        Ok(())
    }
}
