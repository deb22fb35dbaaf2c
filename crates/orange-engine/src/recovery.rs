//! Finishing what a dead process began. Every command comes by here first; with nothing to do it costs
//! one look at a few small folders.

use crate::engine::Engine;
use crate::error::{Code, Result};
use crate::git::calls;
use crate::store::Place;

impl Engine {
    /// Looks at the tasks that are listed as changing. Those of live processes are left alone.
    pub fn recover(&self) {
        if self.copied_from().is_some() {
            return;
        }
        // First: whatever is finished here may need what a dead git has locked.
        calls::clear_up(calls::Need::Later);
        for place in self.store.marked() {
            match self.recover_one(&place) {
                Ok(true) => tracing::info!(
                    folder = place.folder(),
                    "finished what an earlier process began"
                ),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, folder = place.folder(), "could not be finished");
                    if error.code == Code::Damaged {
                        // Nothing but a repair helps, and the list shows it as damaged.
                        self.store.unmark(&place);
                    }
                }
            }
        }
        self.store.remove_abandoned();
        self.take_up_checks();
    }

    /// False when a live process is at it. A task's own lock tells that, and the project's while the task
    /// has no folder yet: taking a task off the list under a live process would hide it from everybody.
    fn recover_one(&self, place: &Place) -> Result<bool> {
        if place.path.is_dir() {
            return self.finish_marked(place);
        }
        let Some(_project) = self.try_lock_project(&place.project)? else {
            return Ok(false);
        };
        if !place.path.is_dir() {
            self.finish_arrival(place)?;
        }
        if place.path.is_dir() {
            return self.finish_marked(place);
        }
        self.store.unmark(place);
        Ok(true)
    }
}
