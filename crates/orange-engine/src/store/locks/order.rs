//! Which locks this thread holds, and the check that it waits for none that is wider. In release builds both are nothing.

use super::Rank;

#[cfg(debug_assertions)]
mod tracked {
    use super::Rank;
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    thread_local! {
        /// A flag each: a lock may be given back by another thread than the one that took it.
        static HELD: RefCell<Vec<(Rank, Arc<AtomicBool>)>> = const { RefCell::new(Vec::new()) };
    }

    /// A lock counts as held while this is there.
    #[derive(Debug)]
    pub(crate) struct Held(Arc<AtomicBool>);

    impl Held {
        /// Says that the lock was given back before the value goes.
        pub(crate) fn end(&self) {
            self.0.store(false, Ordering::Relaxed);
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            self.end();
        }
    }

    /// Notes that this thread holds a lock.
    pub(crate) fn hold(rank: Rank) -> Held {
        let still = Arc::new(AtomicBool::new(true));
        HELD.with_borrow_mut(|held| {
            held.retain(|(_, still)| still.load(Ordering::Relaxed));
            held.push((rank, still.clone()));
        });
        Held(still)
    }

    /// Says that this thread is going to wait for a lock. Panics if it holds one that is as narrow or narrower: a process
    /// that takes the two in the right order may wait for this one, and then both wait for ever.
    #[track_caller]
    pub(crate) fn about_to_wait(wanted: Rank) {
        let held: Vec<Rank> = HELD.with_borrow(|held| {
            let held = held
                .iter()
                .filter(|(_, still)| still.load(Ordering::Relaxed));
            held.map(|(rank, _)| *rank).collect()
        });
        let both_parents = |rank: Rank| rank == Rank::ParentTask && wanted == rank;
        assert!(
            held.iter()
                .all(|rank| *rank < wanted || both_parents(*rank)),
            "lock order: waits for {wanted:?} while {held:?} are held"
        );
    }
}

#[cfg(not(debug_assertions))]
mod untracked {
    use super::Rank;

    #[derive(Debug)]
    pub(crate) struct Held;

    impl Held {
        #[inline(always)]
        pub(crate) fn end(&self) {}
    }

    #[inline(always)]
    pub(crate) fn hold(_rank: Rank) -> Held {
        Held
    }

    #[inline(always)]
    pub(crate) fn about_to_wait(_wanted: Rank) {}
}

#[cfg(debug_assertions)]
pub(crate) use tracked::{Held, about_to_wait, hold};
#[cfg(not(debug_assertions))]
pub(crate) use untracked::{Held, about_to_wait, hold};

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    /// What the check says.
    fn refusal(rank: Rank) -> Option<String> {
        let outcome = std::panic::catch_unwind(|| about_to_wait(rank));
        let payload = outcome.err()?;
        payload.downcast_ref::<String>().cloned()
    }

    #[test]
    fn a_wider_lock_is_not_waited_for() {
        let task = hold(Rank::Task);
        assert_eq!(refusal(Rank::Slot), None);
        let said = refusal(Rank::Project).unwrap();
        assert_eq!(said, "lock order: waits for Project while [Task] are held");
        assert!(refusal(Rank::Task).is_some());
        drop(task);
        assert_eq!(refusal(Rank::Project), None);
    }

    #[test]
    fn a_task_waits_for_its_parent_and_for_the_parent_of_that() {
        let _child = hold(Rank::Task);
        assert_eq!(refusal(Rank::ParentTask), None);
        let _parent = hold(Rank::ParentTask);
        assert_eq!(refusal(Rank::ParentTask), None);
        assert!(refusal(Rank::Task).is_some());
    }

    #[test]
    fn what_was_given_back_counts_no_more_wherever_that_was() {
        let slot = hold(Rank::Slot);
        slot.end();
        assert_eq!(refusal(Rank::Task), None);
        let pool = hold(Rank::Pool);
        std::thread::spawn(move || drop(pool)).join().unwrap();
        assert_eq!(refusal(Rank::Task), None);
        let _elsewhere = std::thread::spawn(|| hold(Rank::Index)).join().unwrap();
        assert_eq!(refusal(Rank::Task), None);
    }
}
