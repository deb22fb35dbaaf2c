//! What a change gives back: everything that was journalled, and what became of each hook.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_core::history::{Event, EventType, HookOutcome};
use orange_core::task::Status;
use orange_engine::tx::Committed;
use orange_engine::verbs::change::{self, Change};

fn moved(home: &TestHome, task: &TestTask, status: &str) -> Committed {
    let place = task.place.clone();
    let change = Change {
        status: Some(status.parse::<Status>().unwrap()),
        ..Change::default()
    };
    home.person(|call| Ok(change::change(call, place, &change)?.done))
        .value()
}

fn kinds(events: &[Event]) -> Vec<String> {
    let kinds = events.iter();
    kinds.map(|event| event.kind.as_str().to_owned()).collect()
}

#[test]
fn everything_that_was_journalled_is_given_back() {
    let home = TestHome::new();
    let task = home.create("login");
    let before = task.events().len();
    let done = moved(&home, &task, "planning");
    let journalled = task.events();
    assert!(journalled.len() > before + 2, "{journalled:?}");
    assert_eq!(kinds(&done.events), journalled[before..]);
    assert_eq!(done.events[0].kind, EventType::StatusChanged);
    let hooks: Vec<&str> = done.effects.iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(hooks, done.events[0].hooks);
    assert!(done.failed().is_empty());
    assert!(done.acquired.is_some());
    // The next one tells of itself alone.
    let before = task.events().len();
    let done = moved(&home, &task, "clarification");
    assert_eq!(done.events.len(), task.events().len() - before);
    assert!(done.acquired.is_none());
}

#[test]
fn a_hook_that_failed_is_an_effect_as_well() {
    let home = TestHome::new();
    let config = home.folder().join("config.yaml");
    std::fs::write(&config, "workspace:\n  setup: exit 7\n").unwrap();
    let task = home.create("login");
    let done = moved(&home, &task, "planning");
    let failed = done.failed();
    assert_eq!(failed[0].name, "acquire_workspace", "{:?}", done.effects);
    assert!(failed[0].failure.why.contains("exit code 7"));
    assert_eq!(failed[0].failure.obstacle, None);
    let outcomes = done.effects.iter().map(|hook| &hook.outcome);
    assert!(
        outcomes
            .clone()
            .all(|outcome| *outcome != HookOutcome::Open)
    );
    assert!(kinds(&done.events).contains(&"hook.failed".to_owned()));
}
