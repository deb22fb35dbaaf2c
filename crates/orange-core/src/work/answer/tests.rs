//! Answers as agents write them, and as nobody should.

use super::*;
use AnswerStatus::{Blocked, Complete, Continue};

fn status(text: &str) -> AnswerStatus {
    Answer::read(text).status
}

#[test]
fn an_answer_is_read_with_all_that_it_says() {
    let answer = Answer::read(
        r#"{"status": "blocked", "summary": " looked around ", "reason": "two ways", "question": "Which one?",
            "findings": [{"severity": "major", "file": "a.rs", "line": 45, "text": "wrong"}, "only a text",
                         {"severity": "low", "line": "7", "message": "a name"}, {"severity": "major"}, 7],
            "touching": ["a.rs", "b.rs"], "artifact": "", "more": true}"#,
    );
    assert_eq!(
        (answer.status, answer.summary.as_str()),
        (Blocked, "looked around")
    );
    assert_eq!(answer.question_in_words(), "Which one?");
    assert_eq!(
        (answer.reason.as_deref(), answer.artifact.as_deref()),
        (Some("two ways"), None)
    );
    assert_eq!(answer.touching, ["a.rs", "b.rs"]);
    let findings: Vec<_> = answer
        .findings
        .iter()
        .map(|one| (one.severity, one.in_words()))
        .collect();
    let wanted = [
        (Severity::Major, "a.rs:45: wrong"),
        (Severity::Minor, "only a text"),
        (Severity::Minor, "Line 7: a name"),
        (Severity::Minor, "7"),
    ];
    assert_eq!(
        findings,
        wanted.map(|(severity, words)| (severity, words.to_owned()))
    );
    let json = serde_json::to_string(&answer).unwrap();
    assert_eq!(serde_json::from_str::<Answer>(&json).unwrap(), answer);
    assert_eq!(Answer::read(&json), answer);
}

#[test]
fn prose_fences_and_other_objects_around_it_do_no_harm() {
    for text in [
        r#"{"status":"complete"}"#,
        r#"All done. {"status":"complete"} Bye {name}!"#,
        "It's done:\n```json\n{\"status\": \"complete\",\n \"summary\": \"a {b} \\\"c\\\"\"}\n```\n",
        r#"{"status":"continue"} and, after another look, {"status": "Complete "}"#,
        r#"{"status":"complete"} {"status":"whatever"} {"other": {"x": []}}"#,
        r#"{"status":"complete","findings":[{"status":"blocked","text":"x"}]}"#,
        r#"{"result":{"status":"complete"}}"#,
        r#"Use {"key and then {"status":"complete"}"#,
        r#"fn main() { println!("{}", x["a"]); } {"status":"complete"}"#,
        r#"{"a":{"a":[1,{"b":"c"}, {"status":"complete"}"#,
        r#"{ "unended": "text {"status":"complete"}"#,
    ] {
        assert_eq!(status(text), Complete, "{text}");
    }
}

#[test]
fn what_cannot_be_read_means_that_the_phase_goes_on() {
    for text in [
        "",
        "I am done.",
        r#"{"status":"complete""#,
        r#"{"status":"complete",}"#,
        r#"{status: complete}"#,
        r#"{"status":"finito"}"#,
        r#"{"status":7}"#,
        r#"[{"state":"complete"}]"#,
        "{\"status\":\"complete\",\"summary\":\"a\nb\"}",
        r#"{"status":"complete","summary":"\ud800"}"#,
        r#"{"status":"complete","x":tru}"#,
        "\\{\"\\",
    ] {
        assert_eq!(Answer::find(text), None, "{text}");
        assert_eq!(Answer::read(text), Answer::default());
        assert_eq!(status(text), Continue);
    }
}

#[test]
fn a_question_is_asked_in_whatever_words_there_are() {
    let said = |text: &str| Answer::read(text).question_in_words();
    assert_eq!(
        said(r#"{"status":"blocked","reason":"no key","summary":"s"}"#),
        "no key"
    );
    assert_eq!(said(r#"{"status":"blocked","summary":"s"}"#), "s");
    assert!(said(r#"{"status":"blocked"}"#).contains("does not say why"));
}

#[test]
fn long_texts_and_lists_are_cut() {
    let long = "ä".repeat(LONGEST_TEXT);
    let many = vec!["x"; MOST + 7];
    let text = serde_json::json!({"status": "complete", "summary": long, "touching": many, "findings": many});
    let answer = Answer::read(&text.to_string());
    assert_eq!(answer.summary.len(), LONGEST_TEXT);
    assert_eq!((answer.touching.len(), answer.findings.len()), (MOST, MOST));
}

/// Each of these takes minutes if anything is read again and again.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let size = 2 * 1024 * 1024;
    let answer = r#"{"status":"complete"}"#;
    let repeated = |unit: &str| unit.repeat(size / unit.len());
    for unit in [
        "{",
        "[",
        "{\"",
        "{\"a\":",
        "{\"a\":[",
        "{\"a\":{\"b\":1},\"c\":[{\"d\":2},",
        "{ ",
        "\"{",
        "{\\\"",
        "{}",
        "\\",
        "x",
        "{\"a\":1,",
        "{\"a\":\"{\",",
        "{\"status\":1}",
        "{\"status\":{",
        "{\":\":",
        "{\",\":\"{\",\":\"{\",",
        "}",
        "1",
    ] {
        let text = format!("{}\n{answer}", repeated(unit));
        let found = Answer::find(&text);
        // Where a string swallows its first quote, or it is nested too deeply, there is none.
        assert!(found.is_none_or(|found| found.status == Complete), "{unit}");
        assert_eq!(Answer::find(&repeated(unit)), None, "{unit}");
    }
    let one_line = format!("{}{answer}", repeated("words and more words "));
    assert_eq!(status(&one_line), Complete);
    let deep = format!(
        "{{\"status\":\"complete\",\"x\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(Answer::find(&deep), None);
    let summary = format!(r#"{{"status":"complete","summary":"{}"}}"#, repeated("{"));
    assert_eq!(status(&summary), Complete);
}
