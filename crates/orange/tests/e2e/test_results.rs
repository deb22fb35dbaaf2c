//! `orange test-results`: a real report of Playwright with what it names, reports that are refused, and kills in between.

use crate::agents::Agents;
use crate::env::{TestTask, names_in};
use crate::run::Run;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What Playwright 1.65 wrote.
const REAL: &str =
    include_str!("../../../orange-core/src/work/test_results/playwright-report.json");

/// The smallest picture.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A folder with the report of a run on another machine, and the screenshots that it names.
fn copied_run(env: &Agents) -> PathBuf {
    let folder = env.root().join("run");
    let value: Value = serde_json::from_str(REAL).unwrap();
    let mut paths = Vec::new();
    all_paths(&value, &mut paths);
    for path in paths.iter().filter(|path| path.ends_with(".png")) {
        let inside = path.strip_prefix("/home/you/shop/test-results/").unwrap();
        let file = folder.join(inside);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let picture = [PICTURE, inside.as_bytes()].concat();
        fs::write(file, picture).unwrap();
    }
    fs::create_dir_all(folder.join("html")).unwrap();
    fs::write(folder.join("html/index.html"), "<p>report</p>").unwrap();
    fs::write(folder.join("report.json"), REAL).unwrap();
    folder
}

fn all_paths(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let path = fields.get("path").and_then(Value::as_str);
            found.extend(path.map(str::to_owned));
            fields.values().for_each(|value| all_paths(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| all_paths(value, found)),
        _ => {}
    }
}

fn results(task: &TestTask) -> PathBuf {
    task.folder.join("test-results")
}

fn staged(task: &TestTask) -> usize {
    let names = names_in(&task.folder).into_iter();
    names.filter(|name| name.starts_with(".test")).count()
}

fn new_task(env: &Agents) -> TestTask {
    env.create(["Rename the button", "--no-spawn"])
}

fn import(env: &Agents, task: &TestTask, path: &Path) -> Run {
    env.orange(["test-results", "import", &task.key, path.to_str().unwrap()])
}

#[test]
fn a_real_report_is_imported_with_its_screenshots_and_shown() {
    let env = Agents::new();
    let task = new_task(&env);
    env.orange(["test-results", "show", &task.key])
        .fails_with(4)
        .says("has no test results")
        .says("test-results import");
    let run = copied_run(&env);
    import(&env, &task, &run)
        .ok()
        .says("6 of 12 passed")
        .says("4 failed")
        .says("4 screenshots, 0 traces");
    let results = results(&task);
    assert_eq!(
        names_in(&results),
        ["index.html", "report.json", "screenshots"]
    );
    assert_eq!(
        names_in(&results.join("screenshots")),
        [
            "login-error-2.png",
            "login-error.png",
            "login-success-2.png",
            "login-success.png"
        ]
    );
    let first = fs::read(results.join("screenshots/login-success.png")).unwrap();
    let second = fs::read(results.join("screenshots/login-success-2.png")).unwrap();
    assert!(first.starts_with(PICTURE) && first != second);
    let report: Value =
        serde_json::from_slice(&fs::read(results.join("report.json")).unwrap()).unwrap();
    assert_eq!(
        (&report["version"], &report["framework"]),
        (&json!(1), &json!("playwright"))
    );
    assert_eq!(report["suites"][1]["name"], "login.spec.js › Login Flow");
    let shown = env.show(&task);
    assert_eq!(shown["test_results"]["passed"], 6);
    assert_eq!(shown["test_results"]["failed"], 4);
    env.orange(["show", &task.key])
        .ok()
        .says("tests 6 of 12 passed");
    env.orange(["show", &task.key, "--history"])
        .ok()
        .says("imported test results: 6 of 12 passed");
    env.orange(["test-results", "show", &task.key])
        .ok()
        .says("✗ login.spec.js › Login Flow › with wrong words › should show error")
        .says("login-error.png")
        .says("slowest");
    let detail = env
        .orange(["test-results", "show", &task.key, "--json"])
        .ok()
        .json();
    assert_eq!(detail["test_results"]["report"], report);
    assert_eq!(
        detail["test_results"]["screenshot_files"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(env.count(&task, "test_results.imported"), 1);

    // Again, by the file: what was brought before is replaced, what somebody else put there is kept.
    fs::write(results.join("screenshots/login-error.png"), "mine").unwrap();
    fs::write(results.join("screenshots/page-initial.png"), "mine").unwrap();
    let again = import(&env, &task, &run.join("report.json")).ok();
    again.says("6 of 12 passed");
    assert_eq!(names_in(&results.join("screenshots")).len(), 5);
    assert_eq!(env.count(&task, "test_results.imported"), 2);
    env.orange(["doctor"]).says("nothing was left behind");
}

#[test]
fn a_report_of_our_own_form_is_imported_as_it_is() {
    let env = Agents::new();
    let task = new_task(&env);
    let own = json!({
        "version": 1, "framework": "playwright", "duration": 3500, "more": {"kept": true},
        "suites": [{"name": "Login Flow", "tests": [
            {"name": "should log in", "status": "passed", "duration": 1500, "screenshots": ["login-success.png"]},
            {"name": "should show an error", "status": "failed", "error": "not found", "trace": "trace-1.zip"},
        ]}],
        "coverage": {"percentage": 85.5},
    });
    let text = own.to_string();
    env.write("run/report.json", &text);
    env.write("run/screenshots/login-success.png", "picture");
    // One that lies there already, and is somebody else's, gets another name.
    let results = results(&task);
    fs::create_dir_all(results.join("screenshots")).unwrap();
    fs::write(results.join("screenshots/login-success.png"), "earlier").unwrap();
    import(&env, &task, &env.root().join("run"))
        .ok()
        .says("1 of 2 passed, 1 failed: \"Login Flow › should show an error\"")
        .says("1 file that the report names");
    assert_eq!(
        fs::read_to_string(results.join("report.json")).unwrap(),
        text
    );
    let read = |name: &str| fs::read_to_string(results.join("screenshots").join(name)).unwrap();
    assert_eq!(read("login-success.png"), "picture");
    assert_eq!(read("login-success-earlier.png"), "earlier");
    env.orange(["test-results", "show", &task.key])
        .ok()
        .says("85.5 %");
}

#[test]
fn what_cannot_be_imported_is_refused_and_changes_nothing() {
    let env = Agents::new();
    let task = new_task(&env);
    let run = copied_run(&env);
    import(&env, &task, &run).ok();
    let results = results(&task);
    let before = fs::read(results.join("report.json")).unwrap();
    let attachment = |name: &str, path: &str| {
        let attachment = json!({"name": name, "contentType": "image/png", "path": path});
        let test = json!({"results": [{"status": "passed", "attachments": [attachment]}]});
        let specs = json!([{"title": "t", "tests": [test]}]);
        json!({"config": {}, "stats": {}, "suites": [{"title": "s", "specs": specs}]}).to_string()
    };
    std::os::unix::fs::symlink("/etc/passwd", run.join("link.png")).unwrap();
    let deep = "[{\"suites\":".repeat(100_000);
    for (text, says) in [
        (REAL[..REAL.len() / 2].to_owned(), "line "),
        (String::new(), "it is empty"),
        ("no report".to_owned(), "it is not JSON (line 1, column 2)"),
        ("[1]".to_owned(), "it is no test report"),
        ("{}".to_owned(), "neither a JSON report of Playwright"),
        ("{\"version\": 7, \"suites\": []}".to_owned(), "version 7"),
        (
            attachment("x", "../../../etc/passwd"),
            "leads out of its folder",
        ),
        (attachment("../x", "/a/x.png"), "leads out of its folder"),
        (attachment("x", "/a/link.png"), "symbolic link"),
        (attachment("x\u{1b}[2J", "/a/x.png"), "control characters"),
        (
            format!("{{\"stats\": {{}}, \"suites\": {deep}"),
            "nested too deeply",
        ),
        (
            json!({"suites": [{"tests": [{"name": "t", "screenshots": ["../../TASK.md"]}]}]})
                .to_string(),
            "separator",
        ),
    ] {
        fs::write(run.join("report.json"), &text).unwrap();
        let refused = import(&env, &task, &run);
        assert_ne!(refused.code, 0, "{says}");
        let refused = refused.says("cannot be imported").says(says);
        assert!(!refused.stderr.contains('\u{1b}'));
        assert_eq!(
            fs::read(results.join("report.json")).unwrap(),
            before,
            "{says}"
        );
    }
    assert_eq!(staged(&task), 0);
    assert_eq!(env.count(&task, "test_results.imported"), 1);
    import(&env, &task, Path::new("/nowhere"))
        .fails_with(4)
        .says("there is no /nowhere");
    fs::remove_file(run.join("report.json")).unwrap();
    import(&env, &task, &run)
        .fails_with(4)
        .says("no test report in");

    // The task's own folder leads nowhere else.
    fs::write(run.join("report.json"), REAL).unwrap();
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir_all(&results).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &results).unwrap();
    let refused = import(&env, &task, &run);
    assert_ne!(refused.code, 0);
    refused.says("test-results").says("symbolic link");
    assert_eq!(names_in(&elsewhere), Vec::<String>::new());

    // A report without an end is not read to it.
    fs::remove_file(&results).unwrap();
    let report = fs::File::create(run.join("report.json")).unwrap();
    report.set_len(257 * 1024 * 1024).unwrap();
    let refused = import(&env, &task, &run);
    assert_ne!(refused.code, 0);
    refused.says("256 MiB");
}

#[test]
fn fifty_thousand_tests_are_imported() {
    let env = Agents::new();
    let task = new_task(&env);
    let stdout = "a line that a test printed\n".repeat(4);
    let mut text = String::from("{\"config\": {}, \"suites\": [{\"title\": \"a\", \"specs\": [");
    for number in 0..50_000 {
        let status = if number == 77 { "failed" } else { "passed" };
        let result = json!({"status": status, "duration": 3, "stdout": [{"text": stdout}], "attachments": []});
        let spec = json!({"title": format!("test {number}"), "tests": [{"expectedStatus": "passed", "results": [result]}]});
        let comma = if number == 0 { "" } else { "," };
        text.push_str(&format!("{comma}{spec}"));
    }
    text.push_str("]}], \"stats\": {\"duration\": 150000}}");
    env.write("report.json", &text);
    import(&env, &task, &env.root().join("report.json"))
        .ok()
        .says("49999 of 50000 passed, 1 failed: \"a › test 77\"");
    env.orange(["test-results", "show", &task.key])
        .ok()
        .says("✗ a › test 77");
    // One of more tests than anybody looks at costs no more than its beginning.
    let many = vec!["{}"; 3_000_000].join(",");
    let report = format!("{{\"suites\": [{{\"tests\": [{many}]}}]}}");
    env.write("report.json", &report);
    let refused = import(&env, &task, &env.root().join("report.json"));
    assert_ne!(refused.code, 0);
    refused.says("cannot be imported").says("more than 1000000");
}

/// Agents write in the task's folder, too: what they leave there is not waited for.
#[test]
fn a_pipe_in_place_of_the_report_is_told() {
    let env = Agents::new();
    let task = new_task(&env);
    import(&env, &task, &copied_run(&env)).ok();
    let report = results(&task).join("report.json");
    fs::remove_file(&report).unwrap();
    let made = Command::new("mkfifo").arg(&report).status().unwrap();
    assert!(made.success());
    let shown = env.orange(["test-results", "show", &task.key]);
    assert_ne!(shown.code, 0);
    shown
        .says("cannot be read: it is no regular file")
        .says("import the report of the test run again");
    import(&env, &task, &copied_run(&env)).ok();
    env.orange(["test-results", "show", &task.key]).ok();
}

#[test]
fn an_import_that_is_killed_is_finished_or_has_not_begun() {
    for (point, is_finished) in [
        ("results.staged", false),
        ("results.stored", true),
        ("results.placed", true),
    ] {
        let env = Agents::new();
        let task = new_task(&env);
        let run = copied_run(&env);
        let path = run.to_str().unwrap();
        env.call(["test-results", "import", &task.key, path])
            .var("ORANGE_CRASH_AT", point)
            .run()
            .fails_with(-1)
            .says(&format!("killed at {point}"));
        env.orange(["ls"]).ok();
        if !is_finished {
            assert_eq!(staged(&task), 1, "{point}");
            env.orange(["doctor"])
                .says("was left by an import of test results that was killed");
            env.orange(["doctor", "--repair"]).says("removed");
            assert_eq!(staged(&task), 0, "{point}");
        }
        let results = results(&task);
        let count = env.count(&task, "test_results.imported");
        assert_eq!(count, usize::from(is_finished), "{point}");
        assert_eq!(results.join("report.json").exists(), is_finished, "{point}");
        if is_finished {
            assert_eq!(names_in(&results.join("screenshots")).len(), 4, "{point}");
            env.orange(["test-results", "show", &task.key])
                .ok()
                .says("6 of 12");
        }
        import(&env, &task, &run).ok();
        assert_eq!(
            env.count(&task, "test_results.imported"),
            count + 1,
            "{point}"
        );
        assert_eq!(staged(&task), 0, "{point}");
        env.orange(["doctor"]).says("nothing was left behind");
    }
}
