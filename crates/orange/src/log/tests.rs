//! Tests of the log, with several threads and processes on one file (`#[cfg(test)]`).

use super::file::{FILE_NAME, LOCK_NAME};
use super::*;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::process::Command;
use std::thread;
use tempfile::TempDir;
use tracing::subscriber::with_default;

/// Tells a process started by a test where to write and under which name.
const CHILD: &str = "ORANGE_LOG_TEST_CHILD";
const THREADS: usize = 2;
const RECORDS: usize = 400;

fn small(home: &Path, max_bytes: u64, keep: u32) -> LogFile {
    let mut file = LogFile::new(home);
    (file.max_bytes, file.keep) = (max_bytes, keep);
    file
}

fn read(home: &Path, name: &str) -> String {
    fs::read_to_string(home.join(name)).unwrap()
}

fn logged(level: &str, emit: impl FnOnce()) -> (TempDir, Vec<Value>) {
    let home = TempDir::new().unwrap();
    let filter = filter(level.parse().unwrap());
    with_default(subscriber(LogFile::new(home.path()), filter), emit);
    let text = fs::read_to_string(home.path().join(FILE_NAME)).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let records = lines.collect();
    (home, records)
}

#[test]
fn nothing_is_started_to_log_nothing() {
    assert_eq!(init(Path::new("/nowhere"), LogLevel::Off), Ok(()));
}

#[test]
fn the_top_of_a_crate_is_a_component() {
    let (_home, records) = logged("info", || tracing::warn!(target: "orange_git", "killed"));
    assert_eq!(records[0]["component"], "git");
}

#[test]
fn a_record_has_time_level_component_message_fields_and_pid() {
    let cause = io::Error::other("disk\nfull");
    let error: &(dyn std::error::Error + 'static) = &cause;
    let (_home, records) = logged("info", || {
        tracing::warn!(
            target: "orange_store::index",
            task = "TASK-001", count = 3, ratio = 0.5, ok = true, path = ?Path::new("/x"), error,
            "rebuilt \x1b[31m{}\nlines", 7
        );
    });
    let [record] = records.as_slice() else {
        panic!("{records:?}");
    };
    assert_eq!(record["level"], "warn");
    assert_eq!(record["component"], "index");
    assert_eq!(record["message"], "rebuilt \x1b[31m7\nlines");
    assert_eq!(record["pid"], std::process::id());
    let expected = serde_json::json!({
        "task": "TASK-001", "count": 3, "ratio": 0.5, "ok": true, "path": "\"/x\"",
        "error": "disk\nfull",
    });
    assert_eq!(record["fields"], expected);
    let time = record["time"].as_str().unwrap();
    assert_eq!((time.len(), &time[19..20], &time[23..]), (24, ".", "Z"));
    assert!(time.parse::<Timestamp>().is_ok());
}

#[test]
fn a_record_is_one_line_without_control_characters() {
    let (home, _) = logged("info", || tracing::info!(note = "c\rd\u{1b}", "a\nb"));
    let text = read(home.path(), FILE_NAME);
    assert!(!text.trim_end_matches('\n').chars().any(char::is_control));
}

#[test]
fn nothing_is_created_before_the_first_record() {
    let (home, _) = logged("info", || tracing::debug!("not logged"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn an_unwritable_log_is_ignored() {
    LogFile::new(Path::new("/nowhere/at/all")).append(b"x\n");
    let home = TempDir::new().unwrap();
    fs::create_dir(home.path().join(FILE_NAME)).unwrap();
    LogFile::new(home.path()).append(b"x\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_ignored() {
    let home = TempDir::new().unwrap();
    std::os::unix::fs::symlink("/dev/full", home.path().join(FILE_NAME)).unwrap();
    let log = LogFile::new(home.path());
    log.append(b"x\n");
    log.append(b"y\n");
}

#[test]
fn a_torn_line_is_not_continued() {
    let home = TempDir::new().unwrap();
    let path = home.path().join(FILE_NAME);
    fs::write(&path, "{\"mess").unwrap();
    let file = File::options().append(true).open(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let log = LogFile::new(home.path());
    log.append(b"one\n");
    log.append(b"two\n");
    assert_eq!(read(home.path(), FILE_NAME), "{\"mess\none\ntwo\n");
}

#[test]
fn a_line_still_being_written_elsewhere_is_not_taken_for_torn() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join(FILE_NAME), "on").unwrap();
    LogFile::new(home.path()).append(b"two\n");
    assert_eq!(read(home.path(), FILE_NAME), "ontwo\n");
}

#[test]
fn a_full_log_is_rotated_and_the_oldest_goes() {
    let home = TempDir::new().unwrap();
    let log = small(home.path(), 8, 3);
    for number in 0..6 {
        log.append(format!("a{number}\nb{number}\n").as_bytes());
    }
    assert_eq!(read(home.path(), "orange.log"), "a5\nb5\n");
    assert_eq!(read(home.path(), "orange.log.1"), "a4\nb4\n");
    assert_eq!(read(home.path(), "orange.log.3"), "a2\nb2\n");
    assert!(!home.path().join("orange.log.4").exists());
}

#[test]
fn a_record_larger_than_the_limit_is_still_written() {
    let home = TempDir::new().unwrap();
    let log = small(home.path(), 4, 3);
    log.append(b"long line\n");
    assert_eq!(read(home.path(), FILE_NAME), "long line\n");
}

#[test]
fn a_log_moved_or_removed_by_others_is_opened_again() {
    let home = TempDir::new().unwrap();
    let log = LogFile::new(home.path());
    log.append(b"one\n");
    fs::rename(home.path().join(FILE_NAME), home.path().join("old")).unwrap();
    log.append(b"two\n");
    fs::write(home.path().join("new"), "").unwrap();
    fs::rename(home.path().join("new"), home.path().join(FILE_NAME)).unwrap();
    log.append(b"three\n");
    assert_eq!(read(home.path(), "old"), "one\n");
    assert_eq!(read(home.path(), FILE_NAME), "three\n");
}

#[test]
fn a_stopped_rotation_elsewhere_holds_nobody_up() {
    let home = TempDir::new().unwrap();
    let lock = File::create(home.path().join(LOCK_NAME)).unwrap();
    lock.lock().unwrap();
    let log = small(home.path(), 4, 3);
    log.append(b"one\n");
    log.append(b"two\n");
    assert_eq!(read(home.path(), FILE_NAME), "one\ntwo\n");
}

#[test]
fn processes_and_threads_lose_and_tear_no_line() {
    let home = TempDir::new().unwrap();
    let writers = ["p", "q", "r", "s"];
    let mut children: Vec<_> = writers
        .iter()
        .map(|name| child(home.path(), name))
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let mut seen = BTreeSet::new();
    let mut files = 0;
    for entry in fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with(LOCK_NAME) {
            files += 1;
            for line in fs::read_to_string(path).unwrap().lines() {
                let record: Value = serde_json::from_str(line).unwrap();
                let message = record["message"].as_str().unwrap().to_owned();
                assert!(seen.insert(message), "written twice: {line}");
            }
        }
    }
    assert_eq!(seen.len(), writers.len() * THREADS * RECORDS);
    assert!(files > 1, "never rotated");
}

fn child(home: &Path, name: &str) -> std::process::Child {
    let module = module_path!().split_once("::").unwrap().1;
    Command::new(std::env::current_exe().unwrap())
        .args([&format!("{module}::writer"), "--exact"])
        .env(CHILD, format!("{name}={}", home.display()))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// The body of the processes above; does nothing as a test of its own.
#[test]
fn writer() {
    let Ok(orders) = std::env::var(CHILD) else {
        return;
    };
    let (name, home) = orders.split_once('=').unwrap();
    let file = small(Path::new(home), 20_000, 60);
    let dispatch = tracing::Dispatch::new(subscriber(file, LevelFilter::INFO));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let dispatch = &dispatch;
            scope.spawn(move || {
                tracing::dispatcher::with_default(dispatch, || {
                    for number in 0..RECORDS {
                        tracing::info!(padding = %"x".repeat(number % 90), "{name}-{thread}-{number}");
                    }
                });
            });
        }
    });
}
