//! The queue when something happens between two steps of a command.

use crate::home::TestHome;
use orange_sys::crash_points::hook;
use std::sync::Arc;
use std::thread;

/// The slot comes free, and the queue is looked at, after a task was found to have none and before it stands in the queue.
#[test]
fn a_task_that_begins_to_wait_as_its_slot_comes_free_is_not_left_waiting() {
    let home = Arc::new(TestHome::new());
    home.pool_size(1);
    let (first, _) = home.started("first");
    let late = home.create("late");
    let other = Arc::clone(&home);
    hook::at("marked", move || {
        let make_room = move || {
            other.cancel(&first).ok();
            assert_eq!(other.look_at_queue(), 0);
        };
        // Another command, as this one holds its task.
        thread::spawn(make_room).join().unwrap();
    });
    assert_eq!(home.spawn(&late).value(), None, "there is no slot");
    assert!(home.show(&late)["queued_at"].is_string());
    assert_eq!(home.look_at_queue(), 1);
    assert_eq!(home.show(&late)["status"], "planning");
}
