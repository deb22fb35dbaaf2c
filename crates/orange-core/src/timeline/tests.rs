//! What a history reads like (`#[cfg(test)]`).

use super::*;
use crate::text::TextPart;

fn shown(part: &TextPart) -> String {
    match part {
        TextPart::Time(time) => time.strftime("%H:%M").to_string(),
        TextPart::Words(words) => words.clone(),
        TextPart::Action(action) => format!("{action:?}"),
        TextPart::Parameter { parameter, .. } => format!("{parameter:?}"),
    }
}

/// The lines of a journal, as `who words`.
fn read(journal: &str) -> Vec<String> {
    let history = History::parse(journal.as_bytes());
    assert_eq!(history.bad_lines, []);
    let line = |entry: &Entry<'_>| format!("{} {}", entry.who, entry.words.spelled(shown));
    timeline(&history).iter().map(line).collect()
}

fn one(members: &str) -> String {
    let line = format!(r#"{{"timestamp":"2026-01-01T10:00:00Z",{members}}}"#);
    read(&line).remove(0)
}

#[test]
fn names_stay_as_they_are() {
    let summary = r#""total":1,"passed":0,"failed":1,"skipped":0"#;
    let told = one(&format!(
        r#""type":"test_results.imported","by":"executor","figures":{{{summary},"duration":1,"framework":"playwright","first_failure":"a.spec.ts › log_in","screenshots":0,"traces":0}}"#
    ));
    assert!(told.contains("a.spec.ts › log_in"), "{told}");
    let told = one(
        r#""type":"iteration.started","by":"engine","phase":"classify","iteration":1,"kind":"classify""#,
    );
    assert!(told.ends_with("began the classification"), "{told}");
}

#[test]
fn who_did_what() {
    for (members, told) in [
        (
            r#""type":"task.created","by":"human""#,
            "you created the task",
        ),
        (
            r#""type":"status.changed","by":"agent","from":"planning","to":"working""#,
            "worker moved planning → working",
        ),
        (
            r#""type":"status.changed","by":"agent","from":"working","to":"agent-review","head":"88a1130380a5""#,
            "worker moved working → agent-review, handed off at 88a1130",
        ),
        (
            r#""type":"auto.advanced","by":"engine","from":"working","to":"agent-review","reason":"its worker ended: exit code 0""#,
            "engine moved working → agent-review (its worker ended: exit code 0)",
        ),
        (
            r#""type":"review.started","by":"engine","round":2"#,
            "engine review round 2 started",
        ),
        (
            r#""type":"iteration.ended","by":"engine","phase":"my_phase","iteration":2,"outcome":"failed","reason":"it has no .git, see a_b.txt""#,
            "agent iteration 2 of my_phase: failed: it has no .git, see a_b.txt",
        ),
        // As the program before Orange wrote them.
        (
            r#""type":"review.passed","attempt":1"#,
            "engine review round 1 passed",
        ),
        (
            r#""type":"agent.stopped","outcome":"completed""#,
            "agent stopped: completed",
        ),
        (
            r#""type":"message","role":"agent","content":"Reading CLAUDE.md...""#,
            r#"engine message: "Reading CLAUDE.md...""#,
        ),
        (
            r#""type":"message","by":"engine","role":"worker","content":"read the review""#,
            r#"engine told the worker: "read the review""#,
        ),
        (
            r#""type":"message.sent","by":"human","role":"worker","text":"use the old form""#,
            r#"you told the worker: "use the old form""#,
        ),
        (
            r#""type":"status.changed","by":"reviewer","from":"agent-review","to":"working","verdict":"fail""#,
            "reviewer moved agent-review → working, review failed",
        ),
        (
            r#""type":"status.changed","by":"human","from":"reviewing","to":"working","append":[{"section":"Changes requested","text":"larger,\nplease"}]"#,
            r#"you moved reviewing → working: "larger, please""#,
        ),
        (
            r#""type":"task.updated","by":"file","source":"file","fields":{"priority":"high","summary":"Two words"}"#,
            r#"TASK.md was edited: set priority to high, set summary to "Two words""#,
        ),
        (
            r#""type":"task.updated","by":"human","fields":{"weight":null}"#,
            "you cleared weight",
        ),
        (
            r#""type":"task.updated","by":"human","fields":{"metadata":{"resolved":"true","resolved_at":"2026-01-01T10:00:00Z","resolution_message":"by hand"}}"#,
            r#"you resolved it: "by hand""#,
        ),
        (
            r#""type":"fields.restored","by":"engine","fields":{"status":"working"},"found":{"status":"done"}"#,
            "engine put back what was edited by hand: status (done → working)",
        ),
        (
            r#""type":"hook.failed","hook":"acquire_workspace","reason":"no slot is free""#,
            "engine could not take a slot: no slot is free",
        ),
        (
            r#""type":"agent.state","by":"engine","role":"worker","state":"waiting","until":"2026-01-01T12:30:00Z""#,
            "worker waiting until 12:30 (usage limit)",
        ),
        (
            r#""type":"task.merged","by":"human","commit":"f997a80d725b","target":"main","strategy":"squash","commits":2,"pushed":true"#,
            "you merged into main as f997a80 (2 commits, squash), pushed",
        ),
        (
            r#""type":"rescue.restored","by":"human","rescue":"2026","branch":"rescued/menu""#,
            "you restored the rescue 2026 to rescued/menu",
        ),
        (
            r#""type":"moon.landed","by":"nasa","text":"one small step""#,
            r#"nasa moon landed: "one small step""#,
        ),
    ] {
        assert_eq!(one(members), told);
    }
}

#[test]
fn an_agents_end_says_how_long_it_ran() {
    let told = read(
        r#"{"type":"agent.spawned","timestamp":"2026-01-01T10:00:00Z","run":"r","role":"worker","harness":"claude"}
{"type":"agent.crashed","timestamp":"2026-01-01T10:05:00Z","run":"r","role":"worker","reason":"ended by signal 11"}
{"type":"agent.stopped","timestamp":"2026-01-01T10:05:00Z","run":"unknown","role":"reviewer"}"#,
    );
    assert_eq!(
        told,
        [
            "worker started: claude",
            "worker crashed after 5 min: ended by signal 11",
            "reviewer stopped",
        ]
    );
}

#[test]
fn a_long_message_is_cut_and_stays_on_its_line() {
    let text = "word\\n".repeat(1_000_000);
    let told = one(&format!(
        r#""type":"message","by":"human","role":"worker","content":"{text}""#
    ));
    assert!(
        told.ends_with("word w…\"") || told.ends_with("…\""),
        "{told}"
    );
    assert!(told.len() < 140, "{}", told.len());
    assert!(!told.contains('\n'));
}

#[test]
fn nothing_known_of_an_event_is_no_trouble() {
    for word in [
        "agent.spawned",
        "agent.state",
        "message",
        "message.sent",
        "review.failed",
        "task.merged",
        "task.updated",
    ] {
        let told = one(&format!(r#""type":"{word}""#));
        assert!(told.len() > 5, "{told}");
    }
    assert_eq!(one(r#""type":"status.changed""#), "engine moved");
}

#[test]
fn what_went_wrong_weighs_more() {
    let weigh = |members: &str| {
        let line = format!(r#"{{"timestamp":"2026-01-01T10:00:00Z",{members}}}"#);
        weight(&History::parse(line.as_bytes()).events[0])
    };
    assert_eq!(weigh(r#""type":"agent.crashed""#), EventWeight::Trouble);
    assert_eq!(weigh(r#""type":"hook.completed""#), EventWeight::Detail);
    assert_eq!(weigh(r#""type":"message""#), EventWeight::Story);
    assert_eq!(weigh(r#""type":"auto.advanced""#), EventWeight::Story);
    let beside = r#""type":"review.failed","transition":"t""#;
    assert_eq!(weigh(beside), EventWeight::Remark);
    assert_eq!(weigh(r#""type":"review.failed""#), EventWeight::Story);
    let verified = |outcome: &str| {
        weigh(&format!(
            r#""type":"task.verified","result":{{"outcome":"{outcome}"}}"#
        ))
    };
    assert_eq!(verified("passed"), EventWeight::Story);
    assert_eq!(verified("failed"), EventWeight::Trouble);
}

/// Every kind of event, every hook and every field: none is told in the machine's own names.
#[test]
fn nothing_is_told_in_names_of_the_machine() {
    use crate::task::{Field, Task};
    use crate::workflow::Hook;
    let mut lines = Vec::new();
    for kind in EventType::KNOWN {
        let kind = kind.as_str();
        lines.push(format!(r#""type":"{kind}""#));
        let hooks = Hook::all().map(|hook| hook.name());
        for hook in hooks.chain(["moon_landing"]) {
            lines.push(format!(r#""type":"{kind}","hook":"{hook}""#));
        }
        let names = Field::ALL.iter().map(|field| field.name());
        for name in names.chain(["moon_phase"]) {
            let field = Field::from_name(name);
            let value = field.map(|field| Task::default().get(field).to_string());
            let value = value.filter(|value| value != "null");
            let set = value.as_deref().unwrap_or(r#""word""#);
            for value in [set, "null", r#"{"one_part":true,"other_part":2}"#] {
                lines.push(format!(
                    r#""type":"{kind}","source":"file","fields":{{"{name}":{value}}},"found":{{"{name}":{value}}}"#
                ));
            }
        }
    }
    lines.push(r#""type":"queue.not_wanted""#.into());
    for line in &lines {
        let told = one(line);
        let is_name = |word: &str| {
            let word = word.trim_end_matches('.');
            word.contains('_') || (word.contains('.') && word != "TASK.md" && !is_time(word))
        };
        let found = told
            .split([' ', ',', '(', ')', ':'])
            .find(|word| is_name(word));
        assert_eq!(found, None, "{told:?}, of {line}");
    }
}

fn is_time(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit())
}
