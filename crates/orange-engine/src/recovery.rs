//! Finishing what a dead process began. Every command comes by here first; with nothing to do it costs
//! one look at an empty folder.

use crate::engine::Engine;
use crate::error::Code;

impl Engine {
    /// Looks at the tasks that are listed as changing. Those of live processes are left alone.
    pub fn recover(&mut self) {
        for place in self.store.marked() {
            if let Err(error) = self.finish_move(&place) {
                tracing::warn!(%error, "a move to or from the trash was not finished");
                continue;
            }
            if !place.path.is_dir() {
                // Made or deleted by a process that died before or after; there is nothing to finish.
                self.store.unmark(&place);
                continue;
            }
            match self.try_lock_task(place.clone()) {
                Ok(Some(locked)) => {
                    tracing::info!(
                        task = locked.task.id,
                        "finished what an earlier process began"
                    );
                    self.store.unmark(&place);
                }
                Ok(None) => {}
                Err(error) if error.code == Code::NotFound => self.store.unmark(&place),
                Err(error) => {
                    tracing::warn!(%error, folder = place.folder(), "could not be finished");
                    if error.code == Code::Damaged {
                        // Nothing but a repair helps, and the list shows it as damaged.
                        self.store.unmark(&place);
                    }
                }
            }
        }
    }
}
