//! Test results of tasks: what agents may leave in their place, what an import brings, replaces and removes, and what a killed
//! one leaves.

use crate::home::TestHome;
use crate::outcome::Outcome;
use crate::task::TestTask;
use orange_core::task::{Field, Weight, WorkflowName};
use orange_core::workflow::Role;
use orange_engine::verbs::phased::{gate, plan};
use orange_engine::verbs::request_changes::request_changes;
use orange_engine::verbs::send::send;
use orange_engine::verbs::test_results::{self, Imported};
use orange_engine::views::test_results as views;
use orange_engine::{Caller, Code};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn import(home: &TestHome, task: &TestTask, path: &Path) -> Outcome<Imported> {
    home.call(Caller::Human, |call| {
        test_results::import(call, task.place.clone(), path)
    })
}

fn show(home: &TestHome, task: &TestTask) -> Outcome<Value> {
    home.call(Caller::Human, |call| {
        let detail = views::detail(call, task.place.clone())?;
        Ok(serde_json::to_value(detail).unwrap())
    })
}

fn results(task: &TestTask) -> PathBuf {
    task.folder.join("test-results")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A folder with a report in our form, whose tests name these files, and with the files.
fn run(home: &TestHome, name: &str, screenshots: &[&str], trace: Option<&str>) -> PathBuf {
    let folder = home.root().join(name);
    fs::create_dir_all(folder.join("screenshots")).unwrap();
    fs::create_dir_all(folder.join("traces")).unwrap();
    for file in screenshots {
        fs::write(folder.join("screenshots").join(file), name).unwrap();
    }
    if let Some(file) = trace {
        fs::write(folder.join("traces").join(file), name).unwrap();
    }
    let test = json!({"name": "t", "status": "passed", "screenshots": screenshots, "trace": trace});
    let report = json!({"version": 1, "suites": [{"name": name, "tests": [test]}]});
    fs::write(folder.join("report.json"), report.to_string()).unwrap();
    folder
}

#[test]
fn what_lies_in_place_of_the_report_is_not_waited_for_and_not_followed() {
    let home = TestHome::new();
    let task = home.create("login");
    import(&home, &task, &run(&home, "run", &["a.png"], None)).ok();
    assert_eq!(show(&home, &task).value()["passed"], 1);
    let report = results(&task).join("report.json");
    let put: [(&str, &dyn Fn()); 6] = [
        ("it is no regular file", &|| {
            let made = Command::new("mkfifo").arg(&report).status().unwrap();
            assert!(made.success());
        }),
        ("symbolic link", &|| {
            symlink("/etc/passwd", &report).unwrap()
        }),
        ("symbolic link", &|| symlink("/dev/zero", &report).unwrap()),
        ("it is no regular file", &|| {
            fs::create_dir(&report).unwrap()
        }),
        ("larger than 256 MiB", &|| {
            let file = fs::File::create(&report).unwrap();
            file.set_len(257 * 1024 * 1024).unwrap();
        }),
        ("it is not there", &|| {}),
    ];
    for (why, put) in put {
        let _ = fs::remove_file(&report);
        put();
        show(&home, &task).fails(Code::Damaged).says(why);
        let _ = fs::remove_dir(&report);
    }
    // Nor is a folder elsewhere listed.
    import(&home, &task, &run(&home, "run", &["a.png"], None)).ok();
    let screenshots = results(&task).join("screenshots");
    fs::remove_dir_all(&screenshots).unwrap();
    symlink("/etc", &screenshots).unwrap();
    assert_eq!(show(&home, &task).value()["screenshot_files"], json!([]));
}

/// Agents put their pictures where those of imports are: none of them is taken away, whoever brought it.
#[test]
fn an_import_replaces_its_own_files_and_removes_none() {
    let home = TestHome::new();
    let task = home.create("login");
    let first = run(&home, "first", &["a.png", "b.png"], Some("t.zip"));
    import(&home, &task, &first).ok();
    let screenshots = results(&task).join("screenshots");
    fs::write(screenshots.join("mine.png"), "mine").unwrap();
    fs::write(screenshots.join("a.png"), "taken anew").unwrap();
    import(&home, &task, &run(&home, "second", &["b.png"], None)).ok();
    assert_eq!(names_in(&screenshots), ["a.png", "b.png", "mine.png"]);
    assert_eq!(fs::read(screenshots.join("b.png")).unwrap(), b"second");
    // A report in its place may name what is its own and what is not.
    let own = json!({"suites": [{"tests": [{"name": "t", "status": "passed", "screenshots": ["mine.png"]}]}]});
    let report = results(&task).join("report.json");
    fs::write(&report, own.to_string()).unwrap();
    import(&home, &task, &report).ok();
    import(&home, &task, &run(&home, "third", &["mine.png"], None)).ok();
    assert_eq!(
        fs::read(screenshots.join("mine-earlier.png")).unwrap(),
        b"mine"
    );
    assert_eq!(
        names_in(&screenshots),
        ["a.png", "b.png", "mine-earlier.png", "mine.png"]
    );
    assert_eq!(home.problems(), Vec::<String>::new());
}

#[test]
fn what_is_in_the_way_is_named_before_anything_changes() {
    let home = TestHome::new();
    let task = home.create("login");
    let folder = run(&home, "run", &["a.png"], Some("t.zip"));
    let results = results(&task);
    for (name, is_folder, what) in [
        ("screenshots", false, "no folder"),
        ("traces", false, "no folder"),
        ("report.json", true, "a folder"),
        ("index.html", true, "a folder"),
    ] {
        fs::create_dir_all(&results).unwrap();
        match is_folder {
            true => fs::create_dir(results.join(name)).unwrap(),
            false => fs::write(results.join(name), "mine").unwrap(),
        }
        import(&home, &task, &folder)
            .fails(Code::Refused)
            .says(&format!("test-results/{name} is {what}"))
            .says("move it away");
        assert_eq!(names_in(&results), [name]);
        fs::remove_dir_all(&results).unwrap();
    }
    show(&home, &task).fails(Code::NotFound);
    assert_eq!(home.problems(), Vec::<String>::new());
    import(&home, &task, &folder).ok();
}

#[test]
fn what_a_killed_import_staged_is_found_and_removed() {
    let home = TestHome::new();
    let task = home.create("login");
    import(&home, &task, &run(&home, "run", &["a.png"], None)).ok();
    let staged = task.folder.join(".test-results-abcdefghijkl");
    let stage = || {
        fs::create_dir_all(staged.join("screenshots")).unwrap();
        fs::write(staged.join("screenshots/a.png"), "a").unwrap();
    };
    stage();
    let problems = home.problems();
    assert!(
        matches!(&problems[..], [one] if one.contains(".test-results-abcdefghijkl")),
        "{problems:?}"
    );
    assert!(staged.exists());
    assert_eq!(home.repair(), Vec::<String>::new());
    assert!(!staged.exists());
    // So does whoever changes the task next.
    stage();
    home.set(&task, Field::Summary, "another").ok();
    assert!(!staged.exists());
    assert_eq!(show(&home, &task).value()["passed"], 1);
}

#[test]
fn a_journal_does_not_grow_by_the_names_of_tests() {
    let home = TestHome::new();
    let task = home.create("login");
    let long = "x".repeat(2_000_000);
    let folder = run(&home, "run", &[], None);
    let report = json!({"framework": long, "errors": [long],
        "suites": [{"name": long, "tests": [{"name": long, "status": "failed"}]}]});
    fs::write(folder.join("report.json"), report.to_string()).unwrap();
    import(&home, &task, &folder).ok();
    let bad = json!({"suites": [{"tests": [{"name": long, "trace": long}]}]});
    fs::write(folder.join("report.json"), bad.to_string()).unwrap();
    let refused = import(&home, &task, &folder).fails(Code::Refused);
    assert!(refused.words().len() < 2000);
    assert!(fs::metadata(task.journal()).unwrap().len() < 20_000);
}

#[test]
fn words_that_no_agent_can_be_given_are_refused() {
    let home = TestHome::new();
    let (task, _) = home.started("login");
    let place = || task.place.clone();
    let message = "a\0b";
    let asked = home.call(Caller::Human, |call| {
        request_changes(call, place(), message).map(|_| ())
    });
    asked
        .fails(Code::Usage)
        .says("has a NUL character, which no prompt can have");
    let sent = home.call(Caller::Human, |call| {
        let timeout = Duration::from_secs(1);
        send(call, place(), Role::Worker, message, false, timeout).map(|_| ())
    });
    sent.fails(Code::Usage).says("NUL");
    let rejected = home.call(Caller::Human, |call| {
        gate::reject(call, place(), message).map(|_| ())
    });
    rejected.fails(Code::Usage).says("NUL");
    assert!(!task.text().contains('\0'));
    let created = home.try_create("signup", |new| new.context = Some(message.to_owned()));
    created
        .fails(Code::Usage)
        .says("the context has a NUL character");
    // No key is used up by it.
    assert_eq!(home.create("signup").key, "TASK-002");
}

#[test]
fn a_server_that_nobody_starts_is_listed() {
    let home = TestHome::new();
    let phased = |branch: &str, ui: bool| {
        home.create_with(branch, |new| {
            new.workflow = Some(WorkflowName::Phased);
            new.weight = Some(Weight::Trivial);
            new.ui_testing = Some(ui);
        })
    };
    let left_out = |task: &TestTask| {
        let text = "task_id: x\nweight: trivial\ngenerated_at: 2026-01-10T10:30:00Z\nphases:\n  - name: docs\n    mcp_servers: [playwright, other]\n";
        let shown = home.call(Caller::Human, |call| {
            let _ = plan::edit(call, task.place.clone(), text)?;
            let shown = plan::show(call, task.place.clone())?;
            Ok(shown
                .left_out
                .into_iter()
                .map(|one| one.why)
                .collect::<Vec<_>>())
        });
        shown.value()
    };
    let without = left_out(&phased("export", false));
    assert!(
        matches!(&without[..], [playwright, other]
            if playwright.contains("tests no user interface")
                && other.contains("nothing says how it is started")),
        "{without:?}"
    );
    let with = phased("form", true);
    let before = left_out(&with);
    assert!(
        !before.iter().any(|why| why.contains("is empty")),
        "{before:?}"
    );
}
