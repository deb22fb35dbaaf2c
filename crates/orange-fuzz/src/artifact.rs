//! A body's artifacts: sections stand inside the text, in order and on whole lines; gates answer; edits change only
//! what they say.

use orange_core::artifact::{
    append_section, archive, context_section, demote_headings, section, sections,
};
use orange_core::gate::{Gate, Verdict, verdict};

const GATES: [Gate; 4] = [
    Gate::Plan,
    Gate::Handoff,
    Gate::ReviewPass,
    Gate::ReviewFail,
];

pub fn artifact(bytes: &[u8]) {
    let Ok(body) = str::from_utf8(bytes) else {
        return;
    };
    let mut last = 0;
    for found in sections(body) {
        assert!(last <= found.heading.start && found.heading.start < found.heading.end);
        assert_eq!(found.heading.end, found.content.start);
        assert!(body.get(found.heading.clone()).is_some());
        assert!(body.get(found.content.clone()).is_some());
        assert!(starts_a_line(body, found.heading.start));
        last = found.content.end;
    }
    assert!(last <= body.len());
    gates_answer(body);
    ["Plan", "Handoff", "Review"]
        .into_iter()
        .for_each(|name| archived(body, name));
    embedded(body);
}

fn gates_answer(body: &str) {
    for gate in GATES {
        let problem = gate.check(body).err();
        if let Some(problem) = &problem {
            assert!(!problem.message().is_empty() && !problem.hint().is_empty());
            assert!(!problem.message().contains(char::is_control));
        }
        if section(body, gate.section()).is_none() {
            assert!(problem.is_some(), "{gate:?} without its section");
        }
    }
    let passes = |gate: Gate| gate.check(body).is_ok();
    assert_eq!(
        passes(Gate::ReviewPass),
        verdict(body) == Some(Verdict::Pass)
    );
    assert_eq!(
        passes(Gate::ReviewFail),
        verdict(body) == Some(Verdict::Fail)
    );
}

/// Every section of that name has another one, and all that stood below the headings still stands there.
fn archived(body: &str, name: &str) {
    let count = || sections(body).iter().filter(|s| s.name == name).count();
    let Some(after) = archive(body, name, "round 3") else {
        return assert_eq!(count(), 0);
    };
    assert_eq!(after.len(), body.len() + count() * " (round 3)".len());
    assert!(section(&after, name).is_none(), "{after:?}");
    assert_eq!(archive(&after, name, "round 3"), None);
}

/// A person's text opens no section of its own, and hides none that follows.
fn embedded(text: &str) {
    for found in sections(&demote_headings(text)) {
        // What could not be demoted is what `context_section` puts into a fence.
        assert!(!found.heading.is_empty());
    }
    let context = context_section(text);
    let names =
        |body: &str| -> Vec<String> { sections(body).into_iter().map(|s| s.name).collect() };
    assert_eq!(names(&context), ["Context"], "{context:?}");
    let both = append_section(&context, "## Plan\n");
    assert_eq!(names(&both), ["Context", "Plan"], "{both:?}");
    let after = append_section(text, "## Plan\n");
    assert!(after.starts_with(text));
    assert_eq!(
        names(&after).last().map(String::as_str),
        Some("Plan"),
        "{after:?}"
    );
}

fn starts_a_line(text: &str, at: usize) -> bool {
    at == 0
        || text
            .get(..at)
            .is_some_and(|before| before.ends_with(['\n', '\r']))
}
