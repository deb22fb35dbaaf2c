//! Many processes at once on one task, one branch, one counter, one registry.

use crate::check::{Fields, at_rest, events, parse, states, task_file, task_folders};
use crate::env::{Env, told};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const PROCESSES: usize = 20;
const UPDATES_EACH: usize = 25;

/// Starts a command without waiting for it.
fn start(env: &Env, arguments: &[&str]) -> Child {
    let mut command = env.command(arguments);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs all of them at once.
fn together(env: &Env, commands: &[Vec<String>]) -> Vec<Output> {
    let started: Vec<Child> = commands
        .iter()
        .map(|words| start(env, &words.iter().map(String::as_str).collect::<Vec<_>>()))
        .collect();
    let outputs = started
        .into_iter()
        .map(|child| child.wait_with_output().unwrap());
    outputs.collect()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// Reads TASK.md over and over without a lock; gives every different state that it saw.
fn watch(file: &Path, done: &AtomicBool) -> (usize, BTreeSet<Fields>) {
    let (mut reads, mut seen) = (0, BTreeSet::new());
    let mut last = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let bytes = fs::read(file).expect("TASK.md is always there");
        reads += 1;
        if bytes == last {
            // Only to leave the processors to the writers.
            thread::sleep(std::time::Duration::from_micros(200));
            continue;
        }
        let (fields, body) = parse(&bytes)
            .unwrap_or_else(|e| panic!("half a file: {e}\n{}", String::from_utf8_lossy(&bytes)));
        assert_eq!(body, "\n## Notes\n\nkept\n");
        seen.insert(fields);
        last = bytes;
    }
    (reads, seen)
}

#[test]
fn twenty_processes_make_five_hundred_updates_of_one_task() {
    let env = Env::new();
    let key = env.create(&["busy", "Busy"]);
    env.append_to_body(&key, "\n## Notes\n\nkept\n");
    let folder = env.folder_of(&key);
    let file = folder.join("TASK.md");
    let done = AtomicBool::new(false);
    let (reads, seen) = thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&file, &done));
        let writers: Vec<_> = (0..PROCESSES)
            .map(|writer| {
                let (env, key) = (&env, &key);
                scope.spawn(move || {
                    for round in 0..UPDATES_EACH {
                        let value = format!("w{writer}-{round}");
                        env.update(key, &["--target-branch", &value]);
                    }
                })
            })
            .collect();
        let failed = writers
            .into_iter()
            .filter_map(|writer| writer.join().err())
            .count();
        done.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0, "updates failed");
        reader.join().unwrap()
    });
    at_rest(&env, "after the updates");
    let journal = events(&folder);
    let updates: Vec<&Value> = journal
        .iter()
        .filter(|event| event["type"] == "task.updated")
        .collect();
    assert_eq!(
        updates.len(),
        PROCESSES * UPDATES_EACH,
        "one event for each update"
    );
    let expected: BTreeSet<String> = (0..PROCESSES)
        .flat_map(|writer| (0..UPDATES_EACH).map(move |round| format!("w{writer}-{round}")))
        .collect();
    let value = |event: &&Value| {
        event["fields"]["target_branch"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let found: BTreeSet<String> = updates.iter().map(value).collect();
    assert_eq!(found, expected, "an update was lost, another doubled");
    let states = states(&journal);
    for fields in &seen {
        let revision = fields["revision"].parse().unwrap();
        assert_eq!(
            states.get(&revision),
            Some(fields),
            "a state that never was"
        );
    }
    println!(
        "{reads} reads saw {} of {} states",
        seen.len(),
        states.len()
    );
    assert!(seen.len() > 10, "the reader saw too little: {}", seen.len());
}

#[test]
fn twenty_processes_create_tasks_at_once() {
    let env = Env::new();
    let commands: Vec<_> = (0..PROCESSES)
        .map(|number| {
            words(&[
                "task",
                "create",
                &format!("branch-{number}"),
                "Made at once",
                "--json",
            ])
        })
        .collect();
    let outputs = together(&env, &commands);
    let mut keys = BTreeSet::new();
    for output in &outputs {
        assert!(output.status.success(), "{}", told(output));
        let made: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(
            keys.insert(made["task"]["key"].as_str().unwrap().to_owned()),
            "{keys:?}"
        );
    }
    at_rest(&env, "after the creates");
    let folders = task_folders(&env);
    let (mut ids, mut on_disk) = (BTreeSet::new(), BTreeSet::new());
    for folder in &folders {
        let (fields, _) = task_file(folder);
        ids.insert(fields["id"].clone());
        on_disk.insert(fields["key"].clone());
    }
    assert_eq!((folders.len(), ids.len()), (PROCESSES, PROCESSES));
    assert_eq!(on_disk, keys);
    assert!(keys.contains("TASK-001"), "{keys:?}");
}

/// Exactly one command succeeds, all others are refused with the same exit code; gives their messages.
#[track_caller]
fn one_wins(outputs: &[Output], code: i32) -> Vec<String> {
    let (won, lost): (Vec<_>, Vec<_>) = outputs.iter().partition(|output| output.status.success());
    let all: Vec<String> = outputs.iter().map(told).collect();
    assert_eq!(won.len(), 1, "{all:#?}");
    for output in &lost {
        assert_eq!(output.status.code(), Some(code), "{}", told(output));
    }
    lost.iter()
        .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
        .collect()
}

#[test]
fn one_of_two_transitions_wins() {
    let env = Env::new();
    for round in 0..10 {
        let key = env.create(&[&format!("race-{round}"), "Race"]);
        let command = words(&["task", "update", &key, "--status", "planning"]);
        let messages = one_wins(&together(&env, &[command.clone(), command]), 3);
        assert!(
            messages[0].contains(&format!("{key} is planning already")),
            "{messages:?}"
        );
        assert!(messages[0].contains("hint: "), "{messages:?}");
        let journal = events(&env.folder_of(&key));
        let moves = journal
            .iter()
            .filter(|event| event["type"] == "status.changed");
        assert_eq!(moves.count(), 1);
    }
    at_rest(&env, "after the races");
}

#[test]
fn one_of_two_tasks_gets_the_branch() {
    let env = Env::new();
    for round in 0..5 {
        let branch = format!("wanted-{round}");
        let create = words(&["task", "create", &branch, "Mine"]);
        let messages = one_wins(&together(&env, &[create.clone(), create]), 3);
        assert!(
            messages[0].contains(&format!("branch {branch} belongs to")),
            "{messages:?}"
        );
        // Renaming to a branch and creating on it race for the same thing.
        let other = env.create(&[&format!("other-{round}"), "Theirs"]);
        let branch = format!("both-{round}");
        let commands = [
            words(&["task", "update", &other, "--branch", &branch]),
            words(&["task", "create", &branch, "Mine"]),
        ];
        one_wins(&together(&env, &commands), 3);
    }
    at_rest(&env, "after the races");
}

#[test]
fn a_delete_and_a_restore_have_one_winner() {
    let env = Env::new();
    let key = env.create(&["thrown", "Away"]);
    for _ in 0..5 {
        let delete = words(&["task", "delete", &key, "--yes"]);
        let list = words(&["task", "list"]);
        let mut outputs = together(&env, &[delete.clone(), list.clone(), delete, list]);
        let lists = [outputs.remove(3), outputs.remove(1)];
        assert!(lists.iter().all(|output| output.status.success()));
        one_wins(&outputs, 4);
        let restore = words(&["task", "restore", &key]);
        let list = words(&["task", "list"]);
        let mut outputs = together(&env, &[restore.clone(), list, restore]);
        assert!(outputs.remove(1).status.success());
        let codes: Vec<_> = outputs.iter().map(|output| output.status.code()).collect();
        let refused = codes
            .iter()
            .filter(|code| matches!(code, Some(3 | 4)))
            .count();
        assert!(refused == 1 && codes.contains(&Some(0)), "{outputs:?}");
    }
    at_rest(&env, "after the races");
    let journal = events(&env.folder_of(&key));
    let count = |kind: &str| journal.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((count("task.deleted"), count("task.restored")), (5, 5));
}

#[test]
fn projects_added_at_once_are_all_there() {
    let env = Env::new();
    let repositories: Vec<_> = (0..10).map(|_| Env::new()).collect();
    let add = |number: usize, repository: &Env| {
        let path = repository.repository().to_str().unwrap();
        words(&["project", "add", path, "--name", &format!("p{number}")])
    };
    let commands: Vec<_> = repositories
        .iter()
        .enumerate()
        .flat_map(|(number, repository)| [add(number, repository), add(number, repository)])
        .collect();
    for output in together(&env, &commands) {
        assert!(output.status.success(), "{}", told(&output));
    }
    let listed = env.ok(&["project", "list"]);
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for project in listed["projects"].as_array().unwrap() {
        *names
            .entry(project["name"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    assert_eq!(names.len(), 11, "{names:?}");
    assert!(names.values().all(|count| *count == 1), "{names:?}");
    let same_name: Vec<_> = repositories[..2]
        .iter()
        .map(|repository| {
            let other = Env::within(repository.repository().parent().unwrap());
            (
                words(&[
                    "project",
                    "add",
                    other.repository().to_str().unwrap(),
                    "--name",
                    "twice",
                ]),
                other,
            )
        })
        .collect();
    let commands: Vec<_> = same_name
        .iter()
        .map(|(command, _)| command.clone())
        .collect();
    one_wins(&together(&env, &commands), 3);
}
