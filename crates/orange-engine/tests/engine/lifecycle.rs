//! A task's whole way by hand, and the promise behind it: the frontmatter is the fold of the journal.

use crate::home::{TestHome, to};
use crate::task::TestTask;
use orange_core::Timestamp;
use orange_core::task::Field;
use orange_engine::Code;
use orange_engine::verbs::change::{Change, Edit};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Folds the journal with nothing but its own words, and compares with what the program shows.
#[track_caller]
fn the_journal_tells_the_whole_state(home: &TestHome, task: &TestTask) {
    let shown = home.show(task);
    let mut state: Map<String, Value> = Map::new();
    let mut revision = 0;
    for event in task.history() {
        let Some(number) = event["revision"].as_u64() else {
            assert!(
                event["fields"].is_null(),
                "fields without a revision: {event}"
            );
            continue;
        };
        revision += 1;
        assert_eq!(number, revision, "revisions count on: {event}");
        if let Some(fields) = event["fields"].as_object() {
            state.extend(fields.clone());
        }
        state.insert("revision".into(), json!(number));
        if event["fields"]["updated_at"].is_null() {
            state.insert("updated_at".into(), event["timestamp"].clone());
        }
    }
    for (name, value) in &state {
        assert_eq!(*value, shown[name], "{name}");
    }
    // And the file says so itself, read line by line.
    for name in ["id", "key", "status", "branch", "revision", "review_round"] {
        let line = task
            .text()
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned))
            .unwrap_or_else(|| panic!("no {name} in {}", task.text()));
        let plain = shown[name]
            .as_str()
            .map_or(shown[name].to_string(), str::to_owned);
        assert_eq!(line.trim_matches('"'), plain, "{name}");
    }
}

#[test]
fn the_body_is_never_rewritten() {
    let home = TestHome::new();
    let task = home.create("keep-my-bytes");
    let body = "\r\n## Plan\r\n\r\nAPPROACH: mixed\r\nline ends\n\ttabs  \n\u{feff}bom, ünïcode\n\n\n## Handoff\n\nDONE: x";
    let text = task.text();
    let front = text.find("\n---\n").unwrap() + 5;
    std::fs::write(task.file(), format!("{}{body}", &text[..front])).unwrap();
    for status in ["planning", "working", "agent-review"] {
        home.move_to(&task, status).ok();
        home.edit(&task, Edit::AddTo(Field::Tags, status.to_owned()))
            .ok();
        assert!(
            task.text().ends_with(&format!("\n---\n{body}")),
            "{:?}",
            task.text()
        );
    }
    the_journal_tells_the_whole_state(&home, &task);
}

#[test]
fn evidence_names_the_commit_it_speaks_of() {
    let home = TestHome::new();
    let task = home.create("login");
    home.bring_to(&task, "working");
    let slot = home.slot_of(&task);
    let head = home.commit(&slot, "login.html", "<form>");
    home.bring_on(&task, "agent-review");
    assert_eq!(task.last("status.changed")["head"], head);
    home.commit(&slot, "login.html", "<form action>");
    task.append("## Review\n\nVerdict: PASS\n");
    home.move_to(&task, "reviewing").ok();
    assert_eq!(task.last("status.changed")["head"], head);
}

#[test]
fn a_review_is_noted_when_it_begins_and_when_it_ends() {
    let home = TestHome::new();
    let task = home.create("login");
    home.bring_to(&task, "agent-review");
    task.append("## Review\n\nVerdict: FAIL\n");
    home.move_to(&task, "working").ok();
    home.bring_on(&task, "reviewing");
    let noted = |task: &TestTask| -> Vec<String> {
        let history = task.history().into_iter();
        let of_reviews = history.filter(|event| {
            let kind = event["type"].as_str().unwrap();
            assert!(event["revision"].is_null() || !kind.starts_with("review."));
            kind.starts_with("review.")
        });
        let told = of_reviews.map(|event| {
            let kind = event["type"].as_str().unwrap();
            format!("{kind} {} by {}", event["round"], event["by"])
        });
        told.collect()
    };
    assert_eq!(
        noted(&task),
        [
            "review.started 1 by \"human\"",
            "review.failed 1 by \"human\"",
            "review.started 2 by \"human\"",
            "review.passed 2 by \"human\"",
        ]
    );
    let (passed, moved) = (task.last("review.passed"), task.last("status.changed"));
    assert_eq!(passed["head"], moved["head"]);
    the_journal_tells_the_whole_state(&home, &task);
    // Work that is there already goes to a reviewer at once.
    home.git(&home.shop(), &["branch", "theirs"]);
    let theirs = home.create_with("theirs", |new| {
        new.status = Some("agent-review".parse().unwrap());
    });
    assert_eq!(noted(&theirs), ["review.started 1 by \"human\""]);
    the_journal_tells_the_whole_state(&home, &theirs);
}

#[test]
fn a_delegated_parent_is_done_when_its_children_are() {
    let home = TestHome::new();
    let parent = home.create("the-whole");
    home.bring_to(&parent, "working");
    home.move_to(&parent, "delegated")
        .fails(Code::ConditionUnmet)
        .says("it has no open children");
    let first = home.create_with("first-part", |new| new.parent = Some("TASK-001".to_owned()));
    let second = home.create_with("second-part", |new| {
        new.parent = Some("TASK-001".to_owned())
    });
    home.move_to(&parent, "delegated").ok();
    assert!(home.why(&parent).contains("TASK-002"));
    home.finish(&first);
    assert_eq!(home.show(&parent)["status"], "delegated");
    home.bring_to(&second, "reviewing");
    home.work_and_merge(&second);
    home.move_to(&second, "done")
        .ok()
        .says("TASK-001: all its children are over; now done");
    assert_eq!(home.show(&parent)["status"], "done");
    the_journal_tells_the_whole_state(&home, &parent);
}

#[test]
fn a_delegated_parent_with_commits_of_its_own_goes_to_a_person() {
    let home = TestHome::new();
    let parent = home.create("whole");
    home.bring_to(&parent, "working");
    home.commit(&home.slot_of(&parent), "whole.txt", "mine");
    let child = home.create_with("a-part", |new| new.parent = Some("TASK-001".to_owned()));
    home.move_to(&parent, "delegated").ok();
    home.finish(&child);
    assert_eq!(home.show(&parent)["status"], "reviewing");
}

#[test]
fn a_cancelled_child_leaves_the_decision_to_a_person() {
    let home = TestHome::new();
    let parent = home.create("the-whole");
    home.bring_to(&parent, "working");
    let child = home.create_with("a-part", |new| new.parent = Some("TASK-001".to_owned()));
    home.move_to(&parent, "delegated").ok();
    home.cancel(&child).ok();
    let shown = home.show(&parent);
    assert_eq!(shown["status"], "delegated");
    assert_eq!(shown["attention"], "its child TASK-002 was cancelled");
    assert!(home.why(&parent).contains("TASK-002"));
    home.move_to(&parent, "working").ok();
}

#[test]
fn done_without_a_review_needs_force_and_a_merge_all_the_same() {
    let home = TestHome::new();
    let task = home.create("quick");
    home.bring_to(&task, "planning");
    home.move_to(&task, "done")
        .fails(Code::ConditionUnmet)
        .says("it has not been reviewed");
    home.commit(&home.slot_of(&task), "quick.txt", "work");
    let forced = Change {
        force: true,
        ..to("done")
    };
    home.change(&task, &forced)
        .fails(Code::ConditionUnmet)
        .says("quick is not merged into main");
    home.work_and_merge(&task);
    home.change(&task, &forced).ok();
    the_journal_tells_the_whole_state(&home, &task);
}

/// The engine never looks at a clock of its own.
#[test]
fn the_journal_has_the_times_of_the_clock_that_was_given() {
    let home = TestHome::new();
    let task = home.create("later");
    home.pass(Duration::from_secs(3 * 24 * 3600));
    home.move_to(&task, "planning").ok();
    let at = |event: &Value| -> Timestamp { event["timestamp"].as_str().unwrap().parse().unwrap() };
    let (made, moved) = (at(&task.history()[0]), at(&task.last("status.changed")));
    assert!(made.duration_until(moved).as_hours() >= 3 * 24);
}
