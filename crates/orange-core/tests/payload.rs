//! What holds for the payload of every type of event, whatever a journal says.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

use orange_core::Timestamp;
use orange_core::history::payload::{AgentEnded, AgentSpawned, StatusMoved};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::task::Status;
use orange_core::workflow::Role;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// Values of every type that a field has, and others.
fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(3),
        json!(-1),
        json!(0.5),
        json!(""),
        json!("a text"),
        json!("worker"),
        json!("working"),
        json!("pass"),
        json!("squash"),
        json!("full"),
        json!("command"),
        json!("task"),
        json!("medium"),
        json!("completed"),
        json!("judge"),
        json!("human"),
        json!("disk_full"),
        json!("2026-01-01T00:00:00.5Z"),
        json!(["archive_review"]),
        json!({"input": 1, "output": 2, "cache_read": 3, "cache_write": 4, "cost": 0.25}),
        json!({"task_id": "a", "branch": "b", "head": "c", "rescue": "d"}),
        json!({"outcome": "failed", "reason": "exit code 1", "cached": false, "new_key": 1}),
        json!({"total": 2, "passed": 1, "failed": 1, "skipped": 0, "duration": 5, "framework": "playwright", "screenshots": 0, "traces": 0}),
        json!([{"path": "a.rs", "kind": "contents", "hunks": [{"line": 1, "lines": [2, 3]}]}]),
    ]
}

fn event(kind: &EventType, details: &Map<String, Value>) -> Event {
    let mut line = details.clone();
    line.insert("type".into(), kind.as_str().into());
    line.insert("timestamp".into(), "2026-01-01T00:00:00Z".into());
    serde_json::from_value(Value::Object(line)).unwrap()
}

/// What is written has the same keys, and means the same when it is read again.
fn check(event: &Event) {
    let payload = event.payload();
    let written = Event::of(payload.clone(), event.timestamp);
    assert_eq!(written.kind, event.kind);
    assert_eq!(written.payload(), payload, "{}", event.to_line());
    let line = written.to_line();
    let read = History::parse(line.as_bytes());
    assert_eq!(read.events[0].payload(), payload, "{line}");
    for (name, value) in written.details() {
        let before = &event.details()[name];
        // Inside a value that is an object this version may know fewer keys, or fill in more.
        assert!(
            before == value || value.is_object(),
            "{name}: {before} became {value}"
        );
    }
}

type Keys = Vec<(&'static str, Vec<Value>)>;

/// For every type its keys, each with the values that its field accepts.
fn fields() -> &'static [(&'static EventType, Keys)] {
    static FIELDS: OnceLock<Vec<(&EventType, Keys)>> = OnceLock::new();
    FIELDS.get_or_init(|| {
        let accepted = |kind: &EventType, name: &str| {
            let is_read = |value: &Value| {
                let event = event(kind, &Map::from_iter([(name.to_owned(), value.clone())]));
                let written = Event::of(event.payload(), event.timestamp);
                written.details().contains_key(name)
            };
            values().into_iter().filter(is_read).collect()
        };
        let keys = |kind: &EventType| {
            let keys = kind.keys().iter();
            keys.map(|name| (*name, accepted(kind, name))).collect()
        };
        EventType::KNOWN
            .iter()
            .map(|kind| (kind, keys(kind)))
            .collect()
    })
}

proptest! {
    #[test]
    fn a_payload_is_read_back_as_it_was_written(
        chosen in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 16),
        text in ".*",
        unknown in prop::sample::select(values()),
    ) {
        let all = values();
        for (kind, fields) in fields() {
            let mut details = Map::new();
            for ((name, accepted), (index, way)) in fields.iter().zip(&chosen) {
                let value = match way % 4 {
                    0 => continue,
                    1 => index.get(&all),
                    _ => index.get(accepted),
                };
                let is_text = *value == json!("a text");
                let value = if is_text { json!(text) } else { value.clone() };
                details.insert((*name).to_owned(), value);
            }
            details.insert("key_of_a_later_version".into(), unknown.clone());
            let event = event(kind, &details);
            check(&event);
            // Reading loses nothing, and a change of one field leaves the others.
            prop_assert_eq!(event.details(), &details);
            let changed = event.with_head("abc");
            details.insert("head".into(), "abc".into());
            prop_assert_eq!(changed.details(), &details);
        }
    }
}

/// Otherwise the test above would compare nothing.
#[test]
fn every_field_accepts_a_value() {
    for (kind, fields) in fields() {
        for (name, accepted) in fields {
            assert!(!accepted.is_empty(), "{name} of {}", kind.as_str());
        }
    }
}

#[test]
fn an_unknown_type_is_kept_with_all_that_it_carries() {
    let line =
        r#"{"type":"future.thing","timestamp":"2026-01-01T00:00:00Z","run":"a","extra":[1,2]}"#;
    let event = &History::parse(line.as_bytes()).events[0];
    assert_eq!(event.payload(), Payload::Other("future.thing"));
    assert_eq!(event.run(), Some("a"));
    assert_eq!(event.to_line(), line);
}

#[test]
fn the_line_of_an_event_has_its_keys_in_the_order_of_the_table() {
    let start = AgentSpawned {
        run: Some("r1"),
        role: Some(Role::Worker),
        seals_end: Some(true),
        harness: Some("sim"),
        ..AgentSpawned::default()
    };
    let event = Event::of(Payload::AgentSpawned(start), Timestamp::UNIX_EPOCH).by("engine");
    assert_eq!(
        event.to_line(),
        r#"{"type":"agent.spawned","timestamp":"1970-01-01T00:00:00Z","by":"engine","run":"r1","role":"worker","harness":"sim","seals_end":true}"#
    );
    let crash = AgentEnded {
        status: Some(Status::AgentReview),
        crash_count: Some(2),
        ..AgentEnded::default()
    };
    let event = Event::new(EventType::AgentCrashed, Timestamp::UNIX_EPOCH).with(crash);
    assert_eq!(
        event.to_line(),
        r#"{"type":"agent.crashed","timestamp":"1970-01-01T00:00:00Z","status":"agent-review","crash_count":2}"#
    );
}

#[test]
fn a_value_that_cannot_be_read_hides_no_other() {
    let line = r#"{"type":"status.changed","timestamp":"2026-01-01T00:00:00Z","verdict":"maybe","head":"a1","crashes":"two"}"#;
    let event = &History::parse(line.as_bytes()).events[0];
    let moved = StatusMoved::of(event).unwrap();
    assert_eq!(
        (moved.verdict, moved.head, moved.crashes),
        (None, Some("a1"), None)
    );
    assert_eq!(AgentSpawned::of(event), None);
}
