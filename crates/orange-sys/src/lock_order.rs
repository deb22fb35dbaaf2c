//! The order in which locks are taken, and the check that a thread waits for none that is wider than one that it holds. In
//! release builds nothing is checked.

/// The order of all locks, widest first. A thread that holds one waits only for those below it.
///
/// A lock that is only tried, not waited for, may be taken in any order: a holder of the pool tries slots, `doctor` tries
/// everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The one process that watches; held as long as it runs.
    Monitor,
    /// Held by the process that starts queued tasks.
    Queue,
    /// Held by the process that carries out the check of one task.
    Check,
    /// One merge of a project at a time.
    Merge,
    /// One `gc` of rescues at a time.
    Rescues,
    /// Held while the workers are counted that `agents.limit` allows.
    Start,
    /// A place among those workers, until the agent runs.
    Starting,
    /// Held while a dependency is added: two commands at once could close a cycle.
    Dependencies,
    /// Branches and new folders of a project.
    Project,
    /// One task.
    Task,
    /// A task of an older home that gets its key while another task, which names it, is held. Two commands that name each
    /// other's task do not wait for each other: a task that is held has its key already, and is not locked for one.
    AdoptedTask,
    /// The parent of a task whose lock is held: a task waits for its parent's lock, never the other way round. Its own
    /// parent may follow, so this rank may be taken twice.
    ParentTask,
    /// Held by a git that pushes a merge or moves its target.
    Landing,
    /// Held by the process that works in a slot, and by a git that it started.
    Slot,
    /// `.pool.json`.
    Pool,
    /// git's list of the worktrees of a repository.
    Worktrees,
    /// `projects.json`.
    Projects,
    /// `config.yaml`.
    Config,
    /// The logs, while they are renamed or removed.
    Log,
    /// A write transaction of orange.db.
    Database,
    /// A write transaction of index.db.
    Index,
}

/// For locks that something else takes: says that it is going to be waited for, and that it is held from now on.
#[track_caller]
pub fn enter(rank: Rank) -> Held {
    about_to_wait(rank);
    hold(rank)
}

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
    pub struct Held(Arc<AtomicBool>);

    impl Held {
        /// Says that the lock was given back before the value goes.
        pub fn end(&self) {
            self.0.store(false, Ordering::Relaxed);
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            self.end();
        }
    }

    /// Notes that this thread holds a lock.
    pub fn hold(rank: Rank) -> Held {
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
    pub fn about_to_wait(wanted: Rank) {
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
    pub struct Held;

    impl Held {
        #[inline(always)]
        pub fn end(&self) {}
    }

    #[inline(always)]
    pub fn hold(_rank: Rank) -> Held {
        Held
    }

    #[inline(always)]
    pub fn about_to_wait(_wanted: Rank) {}
}

#[cfg(debug_assertions)]
pub use tracked::{Held, about_to_wait, hold};
#[cfg(not(debug_assertions))]
pub use untracked::{Held, about_to_wait, hold};

#[cfg(test)]
#[cfg(debug_assertions)]
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
