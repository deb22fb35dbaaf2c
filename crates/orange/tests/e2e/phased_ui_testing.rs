//! Phases that test a user interface: what their turns get, what they are told, and the report that they leave.

use crate::agents::Agents;
use crate::phased_runs::phased;
use std::fs;

/// Takes a screenshot, and leaves a report that Playwright would have written.
const TESTS: &str = "\
executor:
  - run: 'echo \"$ORANGE_PHASE $SCREENSHOT_DIR\" >>ROOT/seen'
  - answer: complete
    summary: done
executor test:
  - run: 'echo \"$ORANGE_PHASE $SCREENSHOT_DIR\" >>ROOT/seen'
  - run: 'printf picture >\"$SCREENSHOT_DIR/login-initial.png\" && cp ROOT/left.json \"$SCREENSHOT_DIR/../report.json\"'
  - answer: complete
    summary: looked at it
";

fn left(status: &str) -> String {
    let attachment = r#"{"name": "login-error", "contentType": "image/png", "body": "aGVsbG8="}"#;
    let result =
        format!(r#"{{"status": "{status}", "duration": 12, "attachments": [{attachment}]}}"#);
    let test = format!(r#"{{"expectedStatus": "passed", "results": [{result}]}}"#);
    let spec = format!(r#"{{"title": "should log in", "tests": [{test}]}}"#);
    format!(
        r#"{{"config": {{}}, "stats": {{"duration": 12}}, "suites": [{{"title": "login", "specs": [{spec}]}}]}}"#
    )
}

#[test]
fn a_phase_that_tests_a_user_interface_has_a_folder_and_its_report_is_imported() {
    let env = Agents::new();
    env.write("left.json", left("failed"));
    let task = phased(&env, "small", TESTS, &["--ui-testing", "true"]);
    env.orange(["plan", "show", &task.key])
        .ok()
        .says("The user interface is tested without a browser: harness sim:");
    env.orange(["run", &task.key, "--dry-run"])
        .ok()
        .says("{component}-initial.png");
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let shown = env.show(&task);
    let results = task.folder.join("test-results");
    let screenshots = results.join("screenshots");
    let seen = fs::read_to_string(env.root().join("seen")).unwrap();
    let folder = screenshots.display();
    assert_eq!(seen, format!("implement {folder}\ntest {folder}\n"));
    // What the agent took stays beside what its report had.
    assert_eq!(
        fs::read(screenshots.join("login-initial.png")).unwrap(),
        b"picture"
    );
    assert_eq!(
        fs::read(screenshots.join("login-error.png")).unwrap(),
        b"hello"
    );
    let original = fs::read_to_string(results.join("playwright.json")).unwrap();
    assert_eq!(original, left("failed"));
    assert_eq!(shown["test_results"]["failed"], 1);
    assert_eq!(shown["test_results"]["source"], "found");
    assert_eq!(env.count(&task, "test_results.imported"), 1);
    env.orange(["transcript", &task.key])
        .ok()
        .says("takes no MCP servers");
    env.orange(["transcript", &task.key, "--phase", "implement"])
        .ok()
        .says("This task changes a user interface");
}

#[test]
fn a_report_that_cannot_be_used_is_noted_once_and_stops_nothing() {
    let env = Agents::new();
    let cut = left("passed");
    env.write("left.json", &cut[..cut.len() / 2]);
    let task = phased(
        &env,
        "large",
        TESTS,
        &[
            "--ui-testing",
            "true",
            "--gate",
            "spec=skip",
            "--gate",
            "design=skip",
            "--gate",
            "review=skip",
        ],
    );
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(env.count(&task, "test_results.refused"), 1);
    assert_eq!(env.count(&task, "test_results.imported"), 0);
    let shown = env.show(&task);
    let problem = shown["test_results"]["problem"].as_str().unwrap();
    assert!(
        problem.contains("cannot be imported as a test report"),
        "{problem}"
    );
    // Phases that do not test one get nothing.
    let seen = fs::read_to_string(env.root().join("seen")).unwrap();
    let with: Vec<&str> = seen
        .lines()
        .filter(|line| line.contains("test-results"))
        .collect();
    let with: Vec<&str> = with
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(with, ["implement", "test", "validate"], "{seen}");
}

#[test]
fn a_task_without_a_user_interface_gets_nothing() {
    let env = Agents::new();
    env.write("left.json", left("passed"));
    let script = "\
executor:
  - run: 'echo \"$ORANGE_PHASE ${SCREENSHOT_DIR:-none}\" >>ROOT/seen'
  - answer: complete
";
    let task = phased(&env, "small", script, &["--ui-testing", "false"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let seen = fs::read_to_string(env.root().join("seen")).unwrap();
    assert_eq!(seen, "implement none\ntest none\n");
    let run = env.orange(["transcript", &task.key]).ok();
    assert!(!run.stdout.contains("user interface"), "{run}");
}
