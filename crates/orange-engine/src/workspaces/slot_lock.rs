//! Who is at work in a slot right now. Git is handed the lock too: when Orange is killed, a git that it started
//! goes on, and whoever comes next has to wait for that git, or both would write to one folder.

use crate::error::{Result, err};
use crate::store::Store;
use crate::store::locks::{Lock, LockFile};
use rustix::io::{FdFlags, fcntl_setfd};

/// The lock on one slot's folder.
pub(crate) struct SlotLock {
    file: LockFile,
}

impl SlotLock {
    /// Waits, but not for ever. The pool's lock must not be held.
    pub(crate) fn take(store: &Store, slot: &str) -> Result<SlotLock> {
        let file = store.lock(Lock::Slot(slot))?;
        Ok(SlotLock { file })
    }

    /// For somebody who holds the pool's lock: an error instead of waiting.
    pub(crate) fn try_take(store: &Store, slot: &str) -> Result<SlotLock> {
        SlotLock::if_free(store, slot)?.ok_or_else(|| {
            err!(Busy, "another process is at work in {slot}")
                .hint("try again when it has finished")
        })
    }

    /// None if another process is at work in the slot.
    pub(crate) fn if_free(store: &Store, slot: &str) -> Result<Option<SlotLock>> {
        let file = store.try_lock(Lock::Slot(slot))?;
        Ok(file.map(|file| SlotLock { file }))
    }

    /// What is started while `work` runs holds the lock as well, as long as it lives.
    pub(crate) fn handed_on<T>(&self, work: impl FnOnce() -> T) -> T {
        self.inherit(true);
        let result = work();
        self.inherit(false);
        result
    }

    fn inherit(&self, on: bool) {
        let flags = if on {
            FdFlags::empty()
        } else {
            FdFlags::CLOEXEC
        };
        if let Err(error) = fcntl_setfd(&*self.file, flags) {
            tracing::warn!(%error, "a slot's lock cannot be handed on");
        }
    }
}
