//! The queue: which pending tasks start by themselves, when, and what a task says that does not.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_core::task::{Field, Queue};
use orange_engine::verbs::change::Edit;
use orange_engine::verbs::create::NewTask;
use std::fs;

/// With one slot, which the task has.
fn with_one_slot() -> (TestHome, TestTask) {
    let home = TestHome::new();
    home.pool_size(1);
    let (first, _) = home.started("first");
    (home, first)
}

/// A task that is to start by itself, made as by a command that did not live to start it.
fn queued(home: &TestHome, branch: &str, say: impl FnOnce(&mut NewTask)) -> TestTask {
    home.create_with(branch, |new| {
        new.starts = true;
        say(new);
    })
}

fn end(home: &TestHome, task: &TestTask) {
    home.bring_on(task, "reviewing");
    home.work_and_merge(task);
    home.move_to(task, "done").ok();
}

#[track_caller]
fn has_started(home: &TestHome, task: &TestTask) -> bool {
    let status = home.show(task)["status"].clone();
    assert!(status == "pending" || status == "planning", "{status}");
    status == "planning"
}

#[test]
fn one_field_says_whether_a_task_starts_by_itself() {
    let (home, first) = with_one_slot();
    let left = home.create("left");
    let waits = queued(&home, "waits", |_| {});
    assert!(home.show(&left)["queued_at"].is_null());
    assert!(home.show(&waits)["queued_at"].is_string());
    // It is there from the first event on: nobody can die between the two.
    assert!(waits.history()[0]["fields"]["queued_at"].is_string());
    end(&home, &first);
    home.look_at_queue();
    assert!(has_started(&home, &waits));
    assert!(home.show(&waits)["queued_at"].is_null());
    end(&home, &waits);
    assert_eq!(home.look_at_queue(), 0);
    assert_eq!(home.tick(), 0);
    assert!(!has_started(&home, &left));
}

#[test]
fn the_more_urgent_and_the_older_go_first() {
    let (home, first) = with_one_slot();
    let old = queued(&home, "old", |_| {});
    let young = queued(&home, "young", |_| {});
    let urgent = queued(&home, "urgent", |new| {
        new.priority = Some("high".parse().unwrap());
    });
    let mut running = first;
    for next in [urgent, old, young] {
        end(&home, &running);
        assert_eq!(home.look_at_queue(), 1);
        assert!(has_started(&home, &next), "{}", next.key);
        running = next;
    }
}

#[test]
fn the_backlog_holds_a_task_back_without_forgetting_that_it_is_to_start() {
    let home = TestHome::new();
    let later = queued(&home, "later", |new| new.queue = Some(Queue::Backlog));
    let left = home.create_with("left", |new| new.queue = Some(Queue::Backlog));
    let since = home.show(&later)["queued_at"].clone();
    assert!(since.is_string());
    assert_eq!(home.tick(), 0);
    assert_eq!(
        home.why(&later),
        "it is in the backlog, and starts by itself once it is in the active queue"
    );
    assert_eq!(
        home.why(&left),
        "it is in the backlog, and waits for you to start it"
    );
    home.set(&left, Field::Queue, "active").ok();
    assert_eq!(home.look_at_queue(), 0);
    home.set(&later, Field::Queue, "active").ok();
    assert_eq!(home.look_at_queue(), 1, "it gets its turn at once");
    assert!(has_started(&home, &later));
    assert!(!has_started(&home, &left));
}

#[test]
fn a_task_that_waits_is_taken_out_of_the_queue_and_put_back() {
    let (home, first) = with_one_slot();
    let waits = queued(&home, "waits", |_| {});
    let since = home.show(&waits)["queued_at"].clone();
    home.set(&waits, Field::Queue, "backlog").ok();
    assert_eq!(home.show(&waits)["queued_at"], since);
    end(&home, &first);
    assert_eq!((home.look_at_queue(), home.tick()), (0, 0));
    assert!(!has_started(&home, &waits));
    // By hand, in its file: the command that sees it asks for a look.
    waits.set_field("queue", "active");
    home.look(&waits).ok();
    assert_eq!(home.look_at_queue(), 1);
    assert!(has_started(&home, &waits));
}

#[test]
fn a_task_gets_its_turn_when_nothing_blocks_it_any_more() {
    let home = TestHome::new();
    let (first, _) = home.started("first");
    let (other, _) = home.started("other");
    home.pool_size(4);
    let after = |task: &TestTask| {
        let blocker = task.key.clone();
        move |new: &mut NewTask| new.blocked_by = vec![blocker]
    };
    let second = queued(&home, "second", after(&first));
    let third = queued(&home, "third", after(&other));
    let left = home.create_with("left", after(&first));
    assert_eq!(home.tick(), 0);
    assert_eq!(
        home.why(&second),
        format!("it waits for {} (planning)", first.key)
    );
    assert_eq!(
        home.why(&left),
        format!(
            "it waits for you to start it (created with NoSpawn or `agents.spawn_on_create: false`); \
             it waits for {} (planning)",
            first.key
        )
    );
    end(&home, &first);
    assert_eq!(home.look_at_queue(), 1);
    assert!(has_started(&home, &second));
    let edit = Edit::RemoveFrom(Field::BlockedBy, other.key.clone());
    home.edit(&third, edit).ok();
    assert_eq!(home.look_at_queue(), 1);
    assert!(has_started(&home, &third));
    assert!(!has_started(&home, &left));
}

#[test]
fn a_task_from_the_trash_waits_again_as_it_did() {
    let (home, first) = with_one_slot();
    let waits = queued(&home, "waits", |_| {});
    let left = home.create("left");
    for task in [&waits, &left] {
        home.delete(task).ok();
    }
    end(&home, &first);
    assert_eq!(home.look_at_queue(), 0);
    home.restore(&left.id, Some("shop")).ok();
    assert_eq!(home.look_at_queue(), 0);
    home.restore(&waits.id, Some("shop")).ok();
    assert_eq!(home.look_at_queue(), 1);
    assert!(has_started(&home, &waits));
    assert!(!has_started(&home, &left));
}

#[test]
fn who_is_started_by_hand_and_has_to_wait_leaves_the_backlog() {
    let (home, first) = with_one_slot();
    let later = home.create_with("later", |new| new.queue = Some(Queue::Backlog));
    assert_eq!(home.spawn(&later).value(), None);
    let shown = home.show(&later);
    assert_eq!(shown["queue"], "active");
    assert!(shown["queued_at"].is_string());
    end(&home, &first);
    assert_eq!(home.look_at_queue(), 1);
    assert!(has_started(&home, &later));
}

#[test]
fn tasks_of_another_program_wait_for_a_person() {
    let home = TestHome::new();
    home.pool_size(9);
    let found: Vec<TestTask> = (1..=5)
        .map(|number| {
            let task = home.create(&format!("found-{number}"));
            fs::remove_file(task.journal()).unwrap();
            fs::remove_file(task.folder.join(".lock")).unwrap();
            task.edit("revision: 1\n", "");
            task
        })
        .collect();
    assert_eq!(home.tick(), 0);
    for task in &found {
        assert_eq!(
            home.why(task),
            "it waits for you to start it (found in this home, not created here)"
        );
    }
    assert!(home.spawn(&found[0]).value().is_some());
    assert_eq!(home.tick(), 0);
    for task in &found[1..] {
        assert!(!has_started(&home, task));
    }
}
