//! Tests of the task lock, with real processes where it matters that they die (`#[cfg(test)]`).

use super::*;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;

const WITNESS: Witness = Witness {
    revision: 7,
    journal_bytes: 912,
    front: 5,
};
const CHILD_FOLDER: &str = "ORANGE_TEST_LOCK_FOLDER";

impl TaskLock {
    pub(crate) fn acquire(folder: &Path, timeout: Duration) -> Result<Self, LockError> {
        Self::acquire_telling(folder, Rank::Task, timeout, |_| {})
    }
}

#[test]
fn only_one_holds_it_and_busy_says_who() {
    let dir = tempfile::tempdir().unwrap();
    let held = TaskLock::acquire(dir.path(), Duration::ZERO).unwrap();
    assert!(TaskLock::try_acquire(dir.path()).unwrap().is_none());
    // By another thread: one that waits for a lock it holds is caught before (see `locks`).
    let error = thread::scope(|scope| {
        let wait = || TaskLock::acquire(dir.path(), Duration::from_millis(5));
        scope.spawn(wait).join().unwrap().unwrap_err()
    });
    let me = format!("process {}", std::process::id());
    assert!(matches!(error, LockError::Busy { holder: Some(holder) } if holder == me));
    drop(held);
    assert!(TaskLock::try_acquire(dir.path()).unwrap().is_some());
}

#[test]
fn whoever_gave_up_waits_no_longer() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..50 {
        let held = TaskLock::acquire(dir.path(), Duration::ZERO).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let outcome = TaskLock::acquire(dir.path(), Duration::from_micros(50));
                    assert!(matches!(outcome, Err(LockError::Busy { .. })));
                });
            }
        });
        drop(held);
        assert!(TaskLock::try_acquire(dir.path()).unwrap().is_some());
    }
}

#[test]
fn a_waiter_gets_it_as_soon_as_it_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let held = TaskLock::acquire(dir.path(), Duration::ZERO).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| TaskLock::acquire(dir.path(), Duration::from_secs(30)));
        drop(held);
        assert!(waiter.join().unwrap().is_ok());
    });
}

#[test]
fn eight_threads_never_overlap() {
    let dir = tempfile::tempdir().unwrap();
    let counter = dir.path().join("counter");
    fs::write(&counter, "0").unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let _lock = TaskLock::acquire(dir.path(), Duration::from_secs(60)).unwrap();
                    let count: u32 = fs::read_to_string(&counter).unwrap().parse().unwrap();
                    fs::write(&counter, (count + 1).to_string()).unwrap();
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(&counter).unwrap(), "200");
}

#[test]
fn a_moved_folder_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (here, trash) = (dir.path().join("task"), dir.path().join("trash"));
    fs::create_dir(&here).unwrap();
    let held = TaskLock::acquire(&here, Duration::ZERO).unwrap();
    let waiting = open(&here).unwrap();
    fs::rename(&here, &trash).unwrap();
    assert!(!names(&held.path, &held.file).unwrap());
    drop(held);
    assert!(try_lock(&waiting).unwrap());
    assert!(matches!(
        TaskLock::locked(waiting, &here, Rank::Task),
        Err(LockError::Gone)
    ));
    assert!(matches!(TaskLock::try_acquire(&here), Err(LockError::Gone)));
    // Another folder at the same place does not bring the old lock back.
    let waiting = open(&trash).unwrap();
    fs::create_dir(&here).unwrap();
    let _other = TaskLock::acquire(&here, Duration::ZERO).unwrap();
    assert!(matches!(
        TaskLock::locked(waiting, &here, Rank::Task),
        Err(LockError::Gone)
    ));
}

#[test]
fn the_witness_outlives_holders_and_garbage_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let lock = || TaskLock::acquire(dir.path(), Duration::ZERO).unwrap();
    assert_eq!(lock().witness(), None);
    lock().set_witness(WITNESS).unwrap();
    assert_eq!(lock().witness(), Some(WITNESS));
    let path = dir.path().join(LOCK_FILE);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(
        text.trim_end(),
        r#"{"revision":7,"journal_bytes":912,"front":5}"#
    );
    for garbage in [
        "",
        "{",
        "\0\0\0\0",
        "{\"revision\":-1,\"journal_bytes\":x}",
        "ÿ\u{feff}",
    ] {
        fs::write(&path, garbage).unwrap();
        assert_eq!(lock().witness(), None, "{garbage:?}");
    }
    let most = Witness {
        revision: u64::MAX,
        journal_bytes: u64::MAX,
        front: u64::MAX,
    };
    lock().set_witness(most).unwrap();
    assert_eq!(lock().witness(), Some(most));
    assert_eq!(fs::metadata(&path).unwrap().len(), RECORD_LEN as u64);
}

/// Not a test by itself: the process that `a_killed_holder_frees_it` kills.
#[test]
fn child_holding_the_lock() {
    let Some(folder) = std::env::var_os(CHILD_FOLDER) else {
        return;
    };
    let lock = TaskLock::acquire(Path::new(&folder), Duration::ZERO).unwrap();
    lock.set_witness(WITNESS).unwrap();
    println!("\nlocked");
    let _ = io::stdin().read(&mut [0]);
}

#[test]
fn a_killed_holder_frees_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg(format!(
            "{}::child_holding_the_lock",
            module_path!().split_once("::").unwrap().1
        ))
        .env(CHILD_FOLDER, dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "locked"));
    let error = TaskLock::acquire(dir.path(), Duration::ZERO).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the task is locked by process {}", child.id())
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = TaskLock::try_acquire(dir.path()).unwrap().unwrap();
    assert_eq!(lock.witness(), Some(WITNESS));
}
