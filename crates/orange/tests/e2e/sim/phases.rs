//! Turns of the scripted agent in the phases of a plan, asked for as an executor does.

use crate::env::TestEnvironment;
use crate::run::{Run, program};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

const SCRIPT: &str = r#"
executor:
  - use: {input: 10, output: 2, cost: 0.5}
  - answer: complete
    summary: "{phase} {iteration} of attempt {attempt}"

executor implement iteration 1:
  - write: src/login.rs
    text: "{phase}\n"
  - use: {input: 7, model: m1}
  - answer: continue
    as: prose

executor implement iteration 2:
  - answer: complete
    as: broken

executor implement iteration 3:
  - answer: complete
    as: bytes
    size: 20MB

executor implement iteration 4:
  - end turn

executor implement iteration 5:
  - use: {output: 3}
  - exit: 1

executor implement iteration 6:
  - fail: You have hit your limit
    error: rate_limit
    limit: 1h

executor implement attempt 2:
  - answer: blocked
    question: Which one?
"#;

struct Phases {
    env: TestEnvironment,
    script: String,
}

impl Phases {
    fn new() -> Phases {
        let env = TestEnvironment::new();
        let script = env.write("script.yaml", SCRIPT);
        let script = script.display().to_string();
        Phases { env, script }
    }

    fn turn(&self, conversation: &str, about: &[&str], phase: &str, iteration: u32) -> Run {
        let kept = self.env.root().join("conversations").display().to_string();
        let words = [
            "sim",
            "--role",
            "executor",
            "--script",
            &self.script,
            "--turn",
            conversation,
            "--conversations",
            &kept,
            "--allow",
        ];
        self.env
            .call([&words, about].concat())
            .var("ORANGE_PHASE", phase)
            .var("ORANGE_ITERATION", iteration.to_string())
            .input("Do it.")
            .run()
    }

    /// The lines of a kind.
    fn lines(&self, conversation: &str, phase: &str, iteration: u32, kind: &str) -> Vec<Value> {
        let run = self.turn(conversation, &[], phase, iteration);
        lines(&run, kind)
    }
}

fn lines(run: &Run, kind: &str) -> Vec<Value> {
    let lines = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &Value| line["type"] == kind).collect()
}

#[test]
fn a_turn_plays_the_list_of_its_phase_and_iteration() {
    let phases = Phases::new();
    let said = |phase: &str, iteration, about: &[&str]| {
        let run = phases.turn("c1", about, phase, iteration);
        let text = lines(&run, "text").pop().unwrap_or_default();
        text["text"].as_str().unwrap_or_default().to_owned()
    };
    let answer = r#"{"status":"complete","summary":"test 8 of attempt 1"}"#;
    assert_eq!(said("test", 8, &[]), answer);
    let prose = said("implement", 1, &[]);
    assert!(prose.starts_with("I have") && prose.contains(r#"{"status":"continue"}"#));
    assert_eq!(said("implement", 2, &[]), r#"{"status":"#);
    assert_eq!(said("implement", 4, &[]), "");
    let blocked = said("implement", 1, &["--attempt", "2", "--iteration", "9"]);
    assert_eq!(blocked, r#"{"status":"blocked","question":"Which one?"}"#);
    let written = phases.env.shop().join("src/login.rs");
    assert_eq!(std::fs::read_to_string(written).unwrap(), "implement\n");
}

#[test]
fn a_conversation_tells_what_it_used_before_and_begins_the_list_anew() {
    let phases = Phases::new();
    let begun = phases.lines("c1", "implement", 1, "session");
    assert_eq!(begun[0]["used"], json!({}));
    let run = phases.turn("c1", &["--resume"], "test", 1);
    assert_eq!(
        lines(&run, "session")[0]["used"],
        json!({"input": 7, "output": 0, "cache_read": 0, "cache_write": 0})
    );
    let expected = json!({"type": "usage", "input": 10, "output": 2, "cache_read": 0, "cache_write": 0, "cost": 0.5, "model": "sim"});
    assert_eq!(lines(&run, "usage"), [expected]);
    assert_eq!(lines(&run, "result").len(), 1);
    let run = phases.turn("nobody", &["--resume"], "test", 1);
    assert_eq!(run.code, 4);
}

#[test]
fn a_turn_that_goes_wrong_has_told_what_it_used() {
    let phases = Phases::new();
    let run = phases.turn("c1", &[], "implement", 5);
    assert_eq!((run.code, lines(&run, "result").len()), (1, 0));
    assert_eq!(lines(&run, "usage")[0]["output"], 3);
    let failed = phases.lines("c2", "implement", 6, "result");
    assert_eq!(failed[0]["kind"], "rate_limit");
    assert!(failed[0]["until"].is_string(), "{failed:?}");
}

#[test]
fn an_answer_may_be_20_mb_long_and_have_bad_bytes() {
    let phases = Phases::new();
    let kept = phases.env.root().display().to_string();
    let mut command = phases.env.foreign(&program().display().to_string());
    let mut child = command
        .args(["sim", "--role", "executor", "--script", &phases.script])
        .args(["--phase", "implement", "--iteration", "3"])
        .args(["--turn", "c1", "--conversations", &kept])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"Do it.").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap().stdout;
    let mut lines = output.split(|byte| *byte == b'\n');
    let line = lines.find(|line| line.len() > 20 * 1024 * 1024).unwrap();
    assert!(std::str::from_utf8(line).is_err());
    let text = String::from_utf8_lossy(line);
    let line: Value = serde_json::from_str(&text).unwrap();
    assert!(!line["text"].as_str().unwrap().contains('\n'));
}

#[test]
fn the_built_in_script_completes_every_phase() {
    let phases = Phases::new();
    let kept = phases.env.root().join("kept").display().to_string();
    for phase in [
        "research",
        "spec",
        "design",
        "implement",
        "review",
        "docs",
        "test",
        "validate",
    ] {
        let words = [
            "sim",
            "--role",
            "executor",
            "--turn",
            phase,
            "--conversations",
            &kept,
            "--phase",
            phase,
        ];
        let run = phases.env.call(words).input("Do it.").run();
        let text = lines(&run, "text").pop().unwrap();
        let answer: Value = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
        assert_eq!(answer["status"], "complete", "{phase}");
    }
    assert!(phases.env.shop().join("sim/sim-implement.md").exists());
    assert!(!phases.env.shop().join("sim/sim-review.md").exists());
}
