//! One home that eight threads use at once, as those of a server do.

use orange_core::history::History;
use orange_core::machine;
use orange_core::task::Field;
use orange_engine::index::list::TaskFilter;
use orange_engine::store::Place;
use orange_engine::verbs::change::{self, Change, Edit};
use orange_engine::verbs::create::NewTask;
use orange_engine::verbs::project::{self, AddProject};
use orange_engine::views::{list, task};
use orange_engine::{Call, Home, Settings, verbs};
use std::path::Path;
use std::process::Command;
use std::thread;

const THREADS: usize = 8;
const TASKS: usize = 20;
const CHANGES: usize = 400;

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Test");
        git.env(format!("GIT_{who}_EMAIL"), "test@example.org");
    }
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn call(home: &Home) -> Call {
    let mut settings = Settings::at(home.store().home().to_owned());
    settings.search_path = std::env::var_os("PATH");
    Call::on(home.clone(), settings)
}

fn create(home: &Home, number: usize) -> Place {
    let new = NewTask {
        project: "shop".to_owned(),
        summary: format!("Task {number}"),
        branch: Some(format!("task-{number}")),
        ..NewTask::default()
    };
    verbs::create::create(&call(home), &new).unwrap().done.place
}

/// Tasks are made, changed and listed by all threads at once. Every change is in its task's journal, once and in order, and
/// the index says what the files say.
#[test]
fn eight_threads_change_twenty_tasks_of_one_home() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("shop");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    git(
        &repository,
        &["commit", "-q", "--allow-empty", "-m", "start"],
    );
    let home = Home::at(folder.path().join("home"));
    let add = AddProject {
        path: repository,
        ..AddProject::default()
    };
    project::add_project(&call(&home), &add).unwrap();
    let places: Vec<Place> = thread::scope(|scope| {
        let makers: Vec<_> = (0..THREADS)
            .map(|first| {
                let home = &home;
                let numbers = (first..TASKS).step_by(THREADS);
                let make = move || numbers.map(|number| create(home, number)).collect();
                scope.spawn(make)
            })
            .collect();
        let made = makers.into_iter();
        made.flat_map(|maker| -> Vec<Place> { maker.join().unwrap() })
            .collect()
    });
    assert_eq!(places.len(), TASKS);
    thread::scope(|scope| {
        for first in 0..THREADS {
            let (home, places) = (&home, &places);
            scope.spawn(move || {
                let call = call(home);
                for number in (first..CHANGES).step_by(THREADS) {
                    // No two threads go through the tasks in the same order.
                    let place = &places[(number * (first + 1) + number / THREADS) % TASKS];
                    let change = Change {
                        edits: vec![Edit::Set(Field::Model, format!("change-{number}"))],
                        ..Change::default()
                    };
                    change::change(&call, place.clone(), &change).unwrap();
                    if number % 10 == first {
                        assert_eq!(
                            list::list(&call, &TaskFilter::default()).unwrap().len(),
                            TASKS
                        );
                    }
                }
            });
        }
    });
    let call = call(&home);
    let mut changes = Vec::new();
    let mut keys = Vec::new();
    for place in &places {
        let view = task::view(&call, place.clone()).unwrap();
        let bytes = std::fs::read(place.path.join("history.jsonl")).unwrap();
        let history = History::parse(&bytes);
        let mut revision = 0;
        for event in &history.events {
            let effort = event.fields.get(Field::Model.name());
            changes.extend(effort.and_then(|value| value.as_str()).map(str::to_owned));
            if let Some(next) = event.revision {
                assert_eq!(next, revision + 1, "{}", place.folder());
                revision = next;
            }
        }
        assert_eq!(machine::fold(&history.events, u64::MAX).unwrap(), view.task);
        keys.push(view.task.key.unwrap().to_string());
    }
    changes.retain(|effort| effort.starts_with("change-"));
    changes.sort();
    changes.dedup();
    assert_eq!(changes.len(), CHANGES);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), TASKS);
    let listed = list::list(&call, &TaskFilter::default()).unwrap();
    assert!(listed.iter().all(|row| row.damaged.is_none()));
    assert_eq!(home.store().marked().len(), 0);
}
