//! The feed: nothing that was appended is missed without a word, whatever happens to the file (`#[cfg(test)]`).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::append::MAX_BYTES;
use super::tail::{FeedNews, Tail};
use super::watches::FileSignals;
use super::*;
use notify::event::{AccessKind, CreateKind, DataChange, Event, EventKind, MetadataKind};
use notify::event::{ModifyKind, RemoveKind, RenameMode};
use orange_core::Timestamp;
use orange_core::history::EventType;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// Only a test that fails waits so long.
const LONG: Duration = Duration::from_secs(60);

fn home() -> (TempDir, Store) {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path().join("home"));
    store.ensure_home().unwrap();
    (root, store)
}

fn append(store: &Store, folder: &str) {
    store.append_to_feed(&FeedLine {
        time: Timestamp::now(),
        folder: folder.to_owned(),
        revision: 7,
        events: vec![EventType::TaskDeleted],
    });
}

fn make_task(store: &Store, folder: &str) -> PathBuf {
    let path = store.place(folder).path;
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("TASK.md"), "one").unwrap();
    path
}

/// Waits until a change is one of those that are meant, and gives all until then.
#[track_caller]
fn until(feed: &mut Feed, is_meant: impl Fn(&HomeChange) -> bool) -> Vec<HomeChange> {
    let mut changes = Vec::new();
    let deadline = Instant::now() + LONG;
    while !changes.last().is_some_and(&is_meant) {
        assert!(Instant::now() < deadline, "only {changes:?}");
        changes.push(feed.next(LONG));
    }
    changes
}

#[track_caller]
fn until_task(feed: &mut Feed, folder: &str) -> Vec<HomeChange> {
    until(feed, |change| tells_of(change, folder))
}

fn tells_of(change: &HomeChange, folder: &str) -> bool {
    matches!(change, HomeChange::Tasks(folders) if folders.iter().any(|told| told == folder))
}

fn folders(news: &FeedNews) -> Vec<&str> {
    news.folders.iter().map(String::as_str).collect()
}

fn tail(store: &Store) -> Tail {
    Tail::at_end(store.home())
}

#[test]
fn a_line_says_which_task_changed_and_how() {
    let (_root, store) = home();
    append(&store, "shop/1");
    let path = store.home().join(FEED);
    let text = fs::read_to_string(&path).unwrap();
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["folder"], "shop/1");
    assert_eq!(line["revision"], 7);
    assert_eq!(line["events"], serde_json::json!(["task.deleted"]));
    assert!(line["time"].is_string());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_reader_begins_at_the_end_and_hears_of_each_line_once() {
    let (_root, store) = home();
    append(&store, "shop/before");
    let mut tail = tail(&store);
    append(&store, "shop/1");
    append(&store, "shop/2");
    append(&store, "shop/1");
    let news = tail.look();
    assert_eq!(
        (folders(&news), news.lost),
        (vec!["shop/1", "shop/2"], false)
    );
    assert_eq!(tail.look(), FeedNews::default());
}

#[test]
fn a_line_that_is_half_there_is_waited_for() {
    let (_root, store) = home();
    let mut tail = tail(&store);
    append(&store, "shop/1");
    let path = store.home().join(FEED);
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..20]).unwrap();
    assert_eq!(tail.look(), FeedNews::default());
    fs::write(&path, &text).unwrap();
    assert_eq!(folders(&tail.look()), ["shop/1"]);
}

/// Appends until the file was put aside once more.
fn fill(store: &Store) -> usize {
    let path = store.home().join(FEED);
    let mut lines = 0;
    loop {
        append(store, &format!("shop/{lines}"));
        lines += 1;
        if !path.exists() {
            return lines;
        }
    }
}

#[test]
fn a_long_file_is_put_aside_and_a_reader_goes_on_with_the_next() {
    let (_root, store) = home();
    append(&store, "shop/before");
    let mut tail = tail(&store);
    let lines = fill(&store);
    append(&store, "shop/next");
    let news = tail.look();
    assert_eq!((news.folders.len(), news.lost), (lines + 1, false));
    let before = store.home().join(FEED_BEFORE);
    let about = fs::metadata(&before).unwrap();
    assert!(about.len() > MAX_BYTES && about.len() < MAX_BYTES + 1000);
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    fill(&store);
    assert!(!tail.look().lost);
    append(&store, "shop/last");
    let news = tail.look();
    assert_eq!((folders(&news), news.lost), (vec!["shop/last"], false));
}

#[test]
fn a_reader_that_opens_between_two_files_misses_nothing() {
    let (_root, store) = home();
    fill(&store);
    let mut tail = tail(&store);
    append(&store, "shop/1");
    let news = tail.look();
    assert_eq!((folders(&news), news.lost), (vec!["shop/1"], false));
}

#[test]
fn a_reader_that_was_too_slow_knows_it() {
    let (_root, store) = home();
    append(&store, "shop/before");
    let mut tail = tail(&store);
    fill(&store);
    fill(&store);
    append(&store, "shop/last");
    let news = tail.look();
    assert!(news.lost && news.folders.contains("shop/last"));
    assert_eq!(tail.look(), FeedNews::default());
}

#[test]
fn where_nothing_can_be_put_aside_the_file_begins_anew() {
    let (_root, store) = home();
    fs::create_dir(store.home().join(FEED_BEFORE)).unwrap();
    append(&store, "shop/before");
    let mut tail = tail(&store);
    fill(&store);
    append(&store, "shop/last");
    let news = tail.look();
    assert!(news.lost && news.folders.contains("shop/last"));
}

#[test]
fn two_writers_and_a_reader_lose_nothing_without_a_word() {
    const LINES: usize = 6000;
    let (_root, store) = home();
    append(&store, "shop/before");
    let mut tail = tail(&store);
    let (mut all, mut lost) = (BTreeSet::new(), false);
    std::thread::scope(|scope| {
        let write = |who: &'static str| {
            let store = &store;
            scope.spawn(move || {
                for number in 0..LINES {
                    append(store, &format!("{who}/{number}"));
                }
            })
        };
        let writers = [write("one"), write("other")];
        let mut over = false;
        while !over {
            // One look after both have ended.
            over = writers.iter().all(|writer| writer.is_finished());
            let news = tail.look();
            all.extend(news.folders);
            lost |= news.lost;
        }
    });
    assert!(store.home().join(FEED_BEFORE).exists());
    assert!(lost || all.len() == 2 * LINES, "{} told", all.len());
}

#[test]
fn damage_is_noticed_and_harms_nobody() {
    let (_root, store) = home();
    let path = store.home().join(FEED);
    append(&store, "shop/before");
    let mut tail = tail(&store);
    let damages: [&dyn Fn(); 5] = [
        &|| fs::remove_file(&path).unwrap(),
        &|| fs::write(&path, "").unwrap(),
        &|| fs::write(&path, vec![b'x'; 3 * 1024 * 1024]).unwrap(),
        &|| {
            fs::remove_file(&path).unwrap();
            fs::write(&path, b"garbage\n\xff\xfe\0\n{}\n").unwrap();
        },
        &|| {
            fs::remove_file(&path).unwrap();
            fs::write(
                &path,
                "{\"time\":\"2026-01-01T00:00:00Z\",\"folder\":\"../../etc\",\"revision\":1}\n",
            )
            .unwrap();
        },
    ];
    for (number, damage) in damages.iter().enumerate() {
        append(&store, "shop/1");
        tail.look();
        damage();
        let news = tail.look();
        assert_eq!((folders(&news), news.lost), (vec![], true), "{number}");
        append(&store, "shop/2");
        let news = tail.look();
        assert_eq!(folders(&news), ["shop/2"], "{number}");
        assert_eq!(tail.look(), FeedNews::default(), "{number}");
    }
}

#[test]
fn something_else_in_its_place_is_left_alone() {
    let (_root, store) = home();
    let path = store.home().join(FEED);
    let mut tail = tail(&store);
    fs::create_dir(&path).unwrap();
    append(&store, "shop/1");
    assert_eq!(tail.look(), FeedNews::default());
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink(store.home().join("elsewhere"), &path).unwrap();
    append(&store, "shop/2");
    assert_eq!(tail.look(), FeedNews::default());
    assert!(!store.home().join("elsewhere").exists());
    fs::remove_file(&path).unwrap();
    append(&store, "shop/3");
    assert_eq!(folders(&tail.look()), ["shop/3"]);
}

#[test]
fn a_change_is_told_to_whoever_waits() {
    let (_root, store) = home();
    let mut feed = Feed::open(&store);
    assert!(!feed.is_polling());
    assert_eq!(feed.next(Duration::ZERO), HomeChange::Nothing);
    append(&store, "shop/1");
    assert_eq!(until_task(&mut feed, "shop/1").len(), 1);
}

#[test]
fn a_change_is_told_where_files_are_not_watched() {
    let (_root, store) = home();
    let mut feed = Feed::open(&store);
    feed.watches = None;
    assert!(feed.is_polling());
    append(&store, "shop/1");
    assert_eq!(until_task(&mut feed, "shop/1").len(), 1);
    feed.rescan_at = Instant::now();
    assert_eq!(feed.next(LONG), HomeChange::Rescan);
    assert!(!feed.is_polling(), "tried again");
}

#[test]
fn an_edit_by_hand_is_told() {
    let (_root, store) = home();
    let path = make_task(&store, "shop/1");
    let other = make_task(&store, "shop/2");
    let mut feed = Feed::open(&store);
    feed.watch_tasks(["shop/1".to_owned(), "shop/none".to_owned()]);
    fs::write(path.join("TASK.md"), "two").unwrap();
    until_task(&mut feed, "shop/1");
    // As most editors save.
    fs::write(path.join("new"), "three").unwrap();
    fs::rename(path.join("new"), path.join("TASK.md")).unwrap();
    until_task(&mut feed, "shop/1");
    // What is not watched any more is not told.
    feed.watch_tasks(["shop/2".to_owned()]);
    fs::write(path.join("TASK.md"), "four").unwrap();
    fs::write(other.join("TASK.md"), "two").unwrap();
    let changes = until_task(&mut feed, "shop/2");
    assert!(!tells_of(changes.last().unwrap(), "shop/1"), "{changes:?}");
}

#[test]
fn a_task_that_comes_back_is_watched_again() {
    let (root, store) = home();
    let path = make_task(&store, "shop/1");
    let mut feed = Feed::open(&store);
    feed.watch_tasks(["shop/1".to_owned()]);
    let trash = root.path().join("trash");
    fs::rename(&path, &trash).unwrap();
    until_task(&mut feed, "shop/1");
    fs::rename(&trash, &path).unwrap();
    append(&store, "shop/1");
    until_task(&mut feed, "shop/1");
    fs::write(path.join("TASK.md"), "two").unwrap();
    until_task(&mut feed, "shop/1");
}

#[test]
fn news_of_runs_is_told() {
    let (_root, store) = home();
    let mut feed = Feed::open(&store);
    let run = store.home().join("runs/one");
    fs::create_dir_all(&run).unwrap();
    until(&mut feed, |change| *change == HomeChange::Runs);
    fs::write(run.join("signals.jsonl"), "{}\n").unwrap();
    until(&mut feed, |change| *change == HomeChange::Runs);
    fs::write(run.join("ended.json"), "{}").unwrap();
    until(&mut feed, |change| *change == HomeChange::Runs);
}

#[test]
fn tasks_and_runs_at_once_are_both_told() {
    let (_root, store) = home();
    let run = store.home().join("runs/one");
    fs::create_dir_all(&run).unwrap();
    let mut feed = Feed::open(&store);
    append(&store, "shop/1");
    fs::write(run.join("ended.json"), "{}").unwrap();
    let mut told = Vec::new();
    while !(told.contains(&HomeChange::Runs)
        && told.iter().any(|change| tells_of(change, "shop/1")))
    {
        told.push(feed.next(LONG));
    }
}

#[test]
fn lost_lines_and_changed_projects_mean_a_rescan() {
    let (_root, store) = home();
    append(&store, "shop/1");
    let mut feed = Feed::open(&store);
    fs::remove_file(store.home().join(FEED)).unwrap();
    until(&mut feed, |change| *change == HomeChange::Rescan);
    fs::write(store.home().join("projects.json"), "{}").unwrap();
    until(&mut feed, |change| *change == HomeChange::Rescan);
}

#[test]
fn a_rescan_comes_now_and_then() {
    let (_root, store) = home();
    let mut feed = Feed::open(&store);
    assert!(feed.rescan_at > Instant::now());
    append(&store, "shop/1");
    feed.rescan_at = Instant::now();
    assert_eq!(feed.next(LONG), HomeChange::Rescan);
    assert_eq!(until_task(&mut feed, "shop/1").len(), 1);
    assert_eq!(feed.next(Duration::ZERO), HomeChange::Nothing);
}

#[test]
fn a_home_may_appear_later_and_go_and_come_again() {
    let (root, store) = home();
    fs::remove_dir_all(store.home()).unwrap();
    let mut feed = Feed::open(&store);
    assert!(feed.is_polling());
    assert_eq!(feed.next(Duration::ZERO), HomeChange::Nothing);
    for turn in 0..2 {
        store.ensure_home().unwrap();
        until(&mut feed, |change| *change == HomeChange::Rescan);
        assert!(!feed.is_polling());
        let folder = format!("shop/{turn}");
        append(&store, &folder);
        until_task(&mut feed, &folder);
        let elsewhere = root.path().join(format!("elsewhere-{turn}"));
        fs::rename(store.home(), elsewhere).unwrap();
        until(&mut feed, |change| *change == HomeChange::Rescan);
        assert!(feed.is_polling());
    }
}

fn signals(kind: EventKind, path: &str) -> Option<FileSignals> {
    let mut signals = FileSignals::default();
    let event = Event::new(kind).add_path(Path::new("/home").join(path));
    let tells = signals.add(Path::new("/home"), Ok(event));
    tells.then_some(signals)
}

#[test]
fn only_changes_that_matter_wake_a_reader() {
    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const MOVED: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::From));
    let nothing = [
        (EventKind::Access(AccessKind::Any), FEED),
        (
            EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)),
            "tasks/shop/1/TASK.md",
        ),
        (WRITTEN, "index.db-wal"),
        (WRITTEN, "orange.log"),
        (WRITTEN, "tasks/shop/1/.lock"),
        (MOVED, "tasks/shop/1/.TASK.md.orange-1.0.part"),
        (WRITTEN, "tasks/shop/1/notes"),
        (WRITTEN, "runs/one/lock"),
        (
            EventKind::Create(CreateKind::File),
            "runs/one/.ended.json.orange-1",
        ),
        (WRITTEN, ""),
    ];
    for (kind, path) in nothing {
        assert_eq!(signals(kind, path), None, "{path}");
    }
    let found = |kind, path| signals(kind, path).unwrap_or_default();
    assert!(found(WRITTEN, FEED).feed);
    assert!(found(EventKind::Create(CreateKind::File), FEED).feed);
    assert!(found(WRITTEN, "projects.json").lost);
    assert!(found(WRITTEN, "runs/one/signals.jsonl").runs);
    assert!(found(EventKind::Remove(RemoveKind::Folder), "").home_gone);
    assert!(found(MOVED, "").home_gone);
    for file in ["TASK.md", "history.jsonl"] {
        let path = format!("tasks/shop/fix/it/{file}");
        let found = signals(WRITTEN, &path).unwrap();
        assert!(found.tasks.contains("shop/fix/it"), "{found:?}");
    }
}
