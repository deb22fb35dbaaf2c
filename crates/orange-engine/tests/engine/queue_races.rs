//! The queue when something happens between two steps of a command.

use crate::home::TestHome;
use orange_engine::Home;
use orange_sys::crash_points::hook;
use std::sync::{Arc, Mutex};
use std::{fs, thread};

/// The slot comes free, and the queue is looked at, after a task was found to have none and before it stands in the queue.
#[test]
fn a_task_that_begins_to_wait_as_its_slot_comes_free_is_not_left_waiting() {
    let home = Arc::new(TestHome::new());
    home.pool_size(1);
    let (first, _) = home.started("first");
    home.bring_on(&first, "reviewing");
    home.work_and_merge(&first);
    let late = home.create("late");
    let other = Arc::clone(&home);
    let wanted = home.folder().join("queue.wanted");
    hook::at("marked", move || {
        let make_room = move || {
            other.move_to(&first, "done").ok();
            assert!(wanted.exists());
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

/// What somebody asks for while the queue is looked at is another look.
#[test]
fn what_is_asked_for_during_a_look_is_not_lost() {
    let home = TestHome::new();
    home.pool_size(2);
    let wanted = home.folder().join("queue.wanted");
    fs::write(&wanted, "").unwrap();
    let asked = wanted.clone();
    let late = Arc::new(Mutex::new(None));
    let made = Arc::clone(&late);
    let folder = home.folder();
    hook::at("queue.taken", move || {
        assert!(!asked.exists());
        assert!(folder.join("queue.taken").exists());
        fs::write(&asked, "").unwrap();
        *made.lock().unwrap() = Some(());
    });
    assert_eq!(home.look_at_queue(), 0);
    assert!(late.lock().unwrap().is_some());
    for name in ["queue.wanted", "queue.taken"] {
        assert!(!home.folder().join(name).exists(), "{name}");
    }
}

/// A process died between its change and the request for a look: whoever locks the task next makes it.
#[test]
fn a_mark_that_was_left_has_the_queue_looked_at() {
    let home = TestHome::new();
    home.pool_size(1);
    home.started("first");
    let waits = home.create("waits");
    assert_eq!(home.spawn(&waits).value(), None);
    let wanted = home.folder().join("queue.wanted");
    home.look(&waits).ok();
    assert!(!wanted.exists());
    Home::at(home.folder()).store().mark(&waits.place).unwrap();
    home.look(&waits).ok();
    assert!(wanted.exists());
}
