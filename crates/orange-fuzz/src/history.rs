//! history.jsonl: every line is an event or named as bad; an event that is written again says the same; whatever asks
//! a journal something gets an answer.

use orange_core::evidence::Evidence;
use orange_core::history::History;
use orange_core::workflow::Role;
use orange_core::{attention, machine, runs, usage, verification};

pub fn history(bytes: &[u8]) {
    let history = History::parse(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').count();
    assert!(history.events.len() + history.bad_lines.len() <= lines);
    for bad in &history.bad_lines {
        assert!((1..=lines).contains(&bad.line));
    }

    let text: String = history
        .events
        .iter()
        .map(|event| event.to_line() + "\n")
        .collect();
    let again = History::parse(text.as_bytes());
    assert_eq!(again.bad_lines, []);
    assert_eq!(again.events, history.events);

    let own = history.own();
    assert!(own.first().is_none_or(|first| first.is_whole()));
    let _ = machine::fold(own, u64::MAX);
    let _ = history.is_deleted();
    if let Some(transition) = history.last_transition() {
        assert_eq!(transition.hooks.len(), transition.opening.hooks.len());
    }
    assert!(runs::open_runs(&history).len() <= runs::runs(&history).len());
    let _ = runs::next_run_id(&history, "task", Role::Worker);
    let _ = attention::attention(&history);
    let _ = Evidence::of(&history);
    let _ = usage::total(&history, |_| None);
    let _ = verification::running(&history);
    let _ = verification::unanswered(&history);
    let _ = verification::deferred(&history);
}
