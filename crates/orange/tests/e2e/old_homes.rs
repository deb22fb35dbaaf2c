//! Homes that older versions made (`fixtures/home-*/*.tar.gz`, by `scripts/make-fixtures`): every command that reads shows
//! them as it always did, and what was unfinished in them is finished.

use crate::agents::Agents;
use crate::env::{TestTask, names_in};
use orange_core::history::{Event, EventType, History};
use orange_core::machine;
use orange_core::workflow::interactive::INTERACTIVE;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The folders of fixtures, one for each version that made homes.
fn versions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("every-status.tar.gz").is_file())
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

/// Every file that names the folder in which a home was made, but for those that are sealed and only tell what was.
fn files_with_paths(root: &Path) -> Vec<PathBuf> {
    let below = |folder: &str, name: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
        entries
            .flatten()
            .map(|entry| entry.path().join(name))
            .collect()
    };
    let home = ["projects.json", "config.yaml", ".home.json"];
    let mut files: Vec<PathBuf> = home
        .iter()
        .map(|name| root.join("home/orange").join(name))
        .collect();
    files.extend(below("home/orange/runs", "run.json"));
    files.extend(below("home/orange/runs", "pane.json"));
    files.extend(below("home/orange/workspaces", ".git"));
    files.extend(below("home/orange/workspaces", "TASK.md"));
    files.extend(below("shop/.git/worktrees", "gitdir"));
    files.retain(|file| file.symlink_metadata().is_ok());
    files
}

/// Unpacks a home into a machine of its own. Gives the machine, and where the home was made.
fn unpack(version: &Path, name: &str) -> (Agents, String) {
    let env = Agents::bare();
    let root = env.root();
    let mut tar = env.foreign("tar");
    tar.args(["-xzf", version.join(name).to_str().unwrap()])
        .args(["--no-same-owner", "-C", root.to_str().unwrap()]);
    assert!(tar.status().unwrap().success());
    let old = fs::read_to_string(root.join("root")).unwrap();
    let new = root.to_str().unwrap();
    for file in files_with_paths(&root) {
        if let Ok(target) = fs::read_link(&file) {
            fs::remove_file(&file).unwrap();
            symlink(target.to_str().unwrap().replace(&old, new), &file).unwrap();
        } else {
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replace(&old, new)).unwrap();
        }
    }
    (env, old)
}

/// The same for a home with one task.
fn with_one_task(version: &Path, name: &str) -> (Agents, TestTask) {
    let (env, _) = unpack(version, &format!("{name}.tar.gz"));
    let folders: Vec<PathBuf> = task_folders(&env);
    let [folder] = &folders[..] else {
        panic!("{folders:?}");
    };
    let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let task = TestTask {
        key: "TASK-001".into(),
        branch: String::new(),
        folder: folder.clone(),
        id,
    };
    (env, task)
}

fn task_folders(env: &Agents) -> Vec<PathBuf> {
    let entries = fs::read_dir(env.tasks().join("shop")).unwrap().flatten();
    let folders = entries.map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Commands that only read, about the home as a whole: the name of their snapshot, and what is typed. What depends on the
/// date (`ls` without --all, `gc --dry-run`) or on the machine (`harness list`) is not among them.
const OF_THE_HOME: &[(&str, &[&str])] = &[
    // First, because the others may log.
    ("log", &["log", "--lines", "20"]),
    ("task-list-all", &["task", "list", "--all"]),
    ("task-list-ready", &["task", "list", "--ready"]),
    ("task-deps-graph", &["task", "deps", "--graph"]),
    ("status", &["status"]),
    ("search", &["search", "heavy"]),
    ("project-list", &["project", "list"]),
    ("workspace-list", &["workspace", "list"]),
    ("config-show", &["config", "show"]),
    ("doctor", &["doctor"]),
];

/// The same about each task.
const OF_A_TASK: &[(&str, &[&str])] = &[
    ("task-show", &["task", "show", "--full", "--history"]),
    ("task-why", &["task", "why"]),
    ("task-deps", &["task", "deps"]),
    ("task-diff", &["task", "diff"]),
    ("task-path", &["task", "path"]),
    ("task-rescue-list", &["task", "rescue", "list"]),
    ("task-answer", &["task", "answer"]),
    ("task-peek", &["task", "peek"]),
];

fn said(env: &Agents, command: &[&str], more: &[&str]) -> String {
    let mut value = env.call([command, more, &["--json"]].concat()).run().json();
    match command {
        ["config", "show"] => only(&mut value["settings"], |one| one["is_default"] == false),
        ["doctor"] => {
            // Programs and disks are the machine's own; what is said of the databases depends on version and date.
            let others = ["machine", "disk", "databases"];
            let groups = &mut value["doctor"]["groups"];
            only(groups, |one| {
                !others.iter().any(|name| one["group"] == *name)
            });
            value = groups.take();
        }
        _ => {}
    }
    // The words of a refusal may change.
    if let Some(code) = value.pointer("/error/code") {
        value = code.clone();
    }
    if let Some(task) = value.get_mut("task").and_then(Value::as_object_mut) {
        // Compared with the journal instead.
        task.remove("history");
    }
    serde_json::to_string_pretty(&value).unwrap()
}

fn only(list: &mut Value, wanted: impl Fn(&Value) -> bool) {
    list.as_array_mut().unwrap().retain(wanted);
}

/// What a command must not change: the two files of every task.
fn files_of_tasks(env: &Agents) -> Vec<Vec<u8>> {
    let folders = task_folders(env);
    let files = folders
        .iter()
        .flat_map(|folder| ["TASK.md", "history.jsonl"].map(|name| folder.join(name)));
    files.map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn every_reading_command_shows_a_home_as_it_was() {
    for version in versions() {
        let (env, made_in) = unpack(&version, "every-status.tar.gz");
        let before = files_of_tasks(&env);
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(version.join("every-status"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        for (path, name) in [
            (env.root().to_str().unwrap(), "[TMP]"),
            (&made_in, "[MADE-IN]"),
        ] {
            settings.add_filter(&path.replace('.', r"\."), name);
        }
        // Shown without its date on the same day.
        settings.add_filter(r"waiting until [^(]+ \(", "waiting until [TIME] (");
        let _bound = settings.bind_to_scope();
        for (name, command) in OF_THE_HOME {
            insta::assert_snapshot!(*name, said(&env, command, &[]));
        }
        let mut keys = env.keys(["--all"]);
        keys.sort();
        for (name, command) in OF_A_TASK {
            let of_one = |key: &String| format!("{key} {}\n", said(&env, command, &[key]));
            insta::assert_snapshot!(*name, keys.iter().map(of_one).collect::<String>());
        }
        assert!(
            files_of_tasks(&env) == before,
            "a reading command has written"
        );
    }
}

#[test]
fn journals_of_older_versions_are_read_without_loss_and_fold_to_what_is_shown() {
    for version in versions() {
        let (env, _) = unpack(&version, "every-status.tar.gz");
        for folder in task_folders(&env) {
            let id = folder.file_name().unwrap().to_str().unwrap();
            let text = fs::read_to_string(folder.join("history.jsonl")).unwrap();
            // Times of an adopted journal may have zeros at their end.
            let lines = text.replace(".000Z", "Z");
            let lines = lines
                .lines()
                .map(|line| serde_json::from_str(line).unwrap());
            let lines: Vec<Value> = lines.collect();
            let shown = env.say(&["task", "show", id, "--history", "--json"]).ok();
            let shown = &shown.json()["task"];
            assert_eq!(shown["history"], Value::from(lines), "{id}");
            let history = History::parse(text.as_bytes());
            let task = machine::fold(history.own(), u64::MAX).unwrap();
            for (name, value) in task.to_fields() {
                assert_eq!(shown[&name], value, "{id}: {name}");
            }
        }
    }
}

/// Events that no home of an older version has yet.
const NEWER_EVENTS: &[&str] = &[
    "permission.added",
    "permission.removed",
    "rescue.restored",
    "review.started",
    "review.passed",
    "review.failed",
    "message",
    "plan.written",
    "phase.changed",
    "iteration.started",
    "iteration.ended",
    "gate.decided",
    "budget.forced",
    "task.rewound",
    "spec.saved",
    "test_results.imported",
    "test_results.refused",
    "mcp_server.failed",
];

#[test]
fn the_homes_have_every_status_and_every_event() {
    let mut statuses = BTreeSet::new();
    let mut events = BTreeSet::new();
    for version in versions() {
        let (env, _) = unpack(&version, "every-status.tar.gz");
        for task in env.list(["--all"]) {
            statuses.insert(task["status"].as_str().unwrap().to_owned());
        }
        for folder in task_folders(&env) {
            let text = fs::read_to_string(folder.join("history.jsonl")).unwrap();
            for line in text.lines() {
                let event: Value = serde_json::from_str(line).unwrap();
                events.insert(event["type"].as_str().unwrap().to_owned());
            }
        }
    }
    for info in INTERACTIVE.statuses {
        assert!(statuses.contains(info.status.as_str()), "{:?}", info.status);
    }
    for event in EventType::KNOWN.iter().map(EventType::as_str) {
        assert!(
            events.contains(event) != NEWER_EVENTS.contains(&event),
            "{event}"
        );
    }
}

/// Whatever an older program wrote into a journal has a field with its type, and is written as it was.
#[test]
fn every_detail_of_a_journal_has_a_field() {
    for version in versions() {
        let names = names_in(&version).into_iter();
        for name in names.filter(|name| name.ends_with(".tar.gz")) {
            let (env, _) = unpack(&version, &name);
            let mut count = 0;
            for folder in task_folders(&env) {
                let text = fs::read(folder.join("history.jsonl")).unwrap_or_default();
                for event in History::parse(&text).events {
                    let again = Event::of(event.payload(), event.timestamp);
                    assert_eq!(again.kind, event.kind);
                    assert_eq!(
                        again.details(),
                        event.details(),
                        "{name}: {}",
                        event.to_line()
                    );
                    count += event.details().len();
                }
            }
            assert!(count > 0, "{name} has no event with details");
        }
    }
}

#[test]
fn a_run_that_ended_unseen_is_judged_once() {
    for version in versions() {
        let (env, task) = with_one_task(&version, "ended-run");
        assert_eq!(env.runs().len(), 1);
        for _ in 0..2 {
            env.look();
        }
        assert_eq!(env.count(&task, "agent.crashed"), 1, "{}", env.dump());
        let crashed = task.last("agent.crashed");
        let reason = crashed["reason"].as_str().unwrap();
        assert!(reason.starts_with("exit code 3; "), "{reason}");
        assert!(reason.contains("I cannot go on"), "{reason}");
        assert_eq!(env.status(&task), "planning");
        assert!(env.runs().is_empty());
        nothing_is_wrong(&env);
    }
}

#[test]
fn a_check_that_was_asked_for_is_carried_out() {
    for version in versions() {
        let (env, task) = with_one_task(&version, "pending-check");
        assert_eq!(env.count(&task, "task.verified"), 0);
        env.look();
        let verified = env.until_event(&task, "task.verified");
        assert_eq!(verified["result"]["outcome"], "passed");
        env.until("the request is gone", || {
            let names = names_in(&env.home().join("verify"));
            !names.iter().any(|name| name.ends_with(".json"))
        });
        assert_eq!(env.count(&task, "verify.started"), 1);
        assert_eq!(env.count(&task, "task.verified"), 1);
        assert_eq!(env.status(&task), "agent-review");
        nothing_is_wrong(&env);
    }
}

#[test]
fn a_start_that_was_killed_is_finished() {
    for version in versions() {
        let (env, task) = with_one_task(&version, "killed-commit.journalled");
        assert_eq!(env.status(&task), "pending");
        env.orange(["ls"]).ok();
        assert_eq!(env.status(&task), "planning");
        assert_eq!(env.count(&task, "status.changed"), 1);
        assert_eq!(env.count(&task, "transition.finished"), 1);
        assert_eq!(env.field(&task, "workspace"), "shop--1");
        assert!(env.slot_of(&task).join("README.md").is_file());
        nothing_is_wrong(&env);
    }
}

#[test]
fn a_cancellation_that_was_killed_is_finished_and_saves_the_work() {
    for version in versions() {
        let (env, task) = with_one_task(&version, "killed-hook.before");
        let slot = env.home().join("workspaces/shop--1");
        assert!(slot.join("draft.txt").is_file());
        env.orange(["ls"]).ok();
        assert_eq!(env.status(&task), "cancelled");
        assert_eq!(env.count(&task, "transition.finished"), 2);
        assert_eq!(env.field(&task, "workspace"), "null");
        assert!(!slot.join("draft.txt").exists());
        let refs = env.git(&env.shop(), &["for-each-ref", "--format=%(refname)"]);
        let saved = refs.lines().find(|name| name.contains(&task.id)).unwrap();
        let text = env.git(&env.shop(), &["show", &format!("{saved}:draft.txt")]);
        assert_eq!(text, "not committed");
        nothing_is_wrong(&env);
    }
}

#[test]
fn a_merge_that_was_killed_has_not_happened_and_can_be_done_again() {
    for version in versions() {
        let (env, task) = with_one_task(&version, "killed-merge.started");
        let main = env.git(&env.shop(), &["rev-parse", "main"]);
        env.orange(["ls"]).ok();
        assert_eq!(env.status(&task), "reviewing");
        assert_eq!(task.events().last().unwrap(), "merge.stopped");
        assert_eq!(env.git(&env.shop(), &["rev-parse", "main"]), main);
        env.say(&["task", "merge", &task.id]).ok();
        assert_eq!(env.status(&task), "done");
        assert_eq!(env.count(&task, "task.merged"), 1);
        assert!(env.shop().join("merged.txt").is_file());
        nothing_is_wrong(&env);
    }
}

#[test]
fn an_agent_whose_start_was_killed_is_started_once() {
    for version in versions() {
        let (env, task) = with_one_task(&version, "killed-spawn.opened");
        assert_eq!(env.count(&task, "agent.spawned"), 0);
        env.orange(["ls"]).ok();
        // The built-in script, to its end.
        env.until_event(&task, "agent.spawned");
        env.until_status(&task, "agent-review");
        assert_eq!(env.count(&task, "agent.spawned"), 1);
        assert_eq!(env.count(&task, "agent.crashed"), 0);
    }
}

/// Nothing is in flight, and `doctor` finds nothing but agents that crashed and an old backup.
#[track_caller]
fn nothing_is_wrong(env: &Agents) {
    let mut report = env.say(&["doctor", "--json"]).json();
    let findings = &mut report["doctor"]["findings"];
    only(findings, |one| {
        one["group"] != "sessions" && one["group"] != "databases"
    });
    assert_eq!(*findings, Value::Array(Vec::new()));
    assert!(names_in(&env.home().join("in-flight")).is_empty());
}
