//! Tests of the replacement, step by step: every writer acts at one exact point of it (`#[cfg(test)]`).

use super::*;
use orange_sys::crash_points::hook;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

pub(super) const BASE: &[u8] = b"base\n";
const NEW: &[u8] = b"new content\n";

pub(super) struct Task {
    dir: tempfile::TempDir,
    pub(super) file: PathBuf,
}

impl Task {
    pub(super) fn new() -> Self {
        let task = Self::empty();
        fs::write(&task.file, BASE).unwrap();
        task
    }

    fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("TASK.md");
        Self { dir, file }
    }

    fn replace(&self) -> Replacement {
        replace(&self.file, Some(BASE), NEW).unwrap()
    }

    pub(super) fn text(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }

    /// All names in the folder except the target's.
    pub(super) fn others(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| *path != self.file).collect()
    }

    /// The one leftover with something new in it; a process forked by another test may have it open for a moment.
    pub(super) fn leftover(&self) -> Theirs {
        loop {
            let mut found = settle_leftovers(&self.file).unwrap();
            match found.written.pop() {
                Some(theirs) => return theirs,
                None => assert_eq!(found.writer_open, 1),
            }
        }
    }
}

fn edit(file: &Path, text: &str) {
    let temp = file.with_file_name("editor~");
    fs::write(&temp, text).unwrap();
    fs::rename(&temp, file).unwrap();
}

#[track_caller]
fn theirs(outcome: Replacement) -> Theirs {
    let Replacement::Overtaken(theirs) = outcome else {
        panic!("not overtaken but {outcome:?}");
    };
    theirs
}

fn no_exchange(_: &TargetFolder, _: &str) -> io::Result<Option<Swapped>> {
    Ok(None)
}

#[test]
fn replaces_keeps_the_mode_and_leaves_nothing_behind() {
    for swap in [swap_by_exchange as Swap, no_exchange] {
        let task = Task::new();
        fs::set_permissions(&task.file, PermissionsExt::from_mode(0o640)).unwrap();
        let outcome = replace_by(swap, &task.file, Some(BASE), NEW).unwrap();
        assert!(matches!(outcome, Replacement::Done));
        assert_eq!(task.text(), NEW);
        assert_eq!(fs::metadata(&task.file).unwrap().mode() & 0o777, 0o640);
        assert!(task.others().is_empty());
    }
}

#[test]
fn creates_what_is_missing() {
    for (swap, base) in [
        (swap_by_exchange as Swap, None),
        (swap_by_exchange, Some(BASE)),
        (no_exchange, None),
    ] {
        let task = Task::empty();
        let outcome = replace_by(swap, &task.file, base, NEW).unwrap();
        assert!(matches!(outcome, Replacement::Done));
        assert_eq!(task.text(), NEW);
        assert!(task.others().is_empty());
    }
}

#[test]
fn another_content_than_the_base_is_left_alone() {
    let task = Task::new();
    for base in [Some(&b"older\n"[..]), None] {
        assert!(matches!(
            replace(&task.file, base, NEW).unwrap(),
            Replacement::Stale
        ));
    }
    hook::at("replace.temp_written", {
        let file = task.file.clone();
        move || edit(&file, "theirs")
    });
    let outcome = replace_by(no_exchange, &task.file, Some(BASE), NEW).unwrap();
    assert!(matches!(outcome, Replacement::Stale));
    assert_eq!(task.text(), b"theirs");
    assert!(task.others().is_empty());
}

#[test]
fn only_regular_files_are_replaced() {
    let task = Task::empty();
    let elsewhere = task.dir.path().join("elsewhere");
    fs::write(&elsewhere, BASE).unwrap();
    symlink(&elsewhere, &task.file).unwrap();
    assert!(replace(&task.file, Some(BASE), NEW).is_err());
    assert!(write_atomic(&task.file, NEW).is_err());
    assert_eq!(fs::read(&elsewhere).unwrap(), BASE);
    fs::remove_file(&task.file).unwrap();
    fs::create_dir(&task.file).unwrap();
    assert!(replace(&task.file, None, NEW).is_err());
    assert!(task.file.is_dir());
    assert_eq!(task.others(), [elsewhere]);
}

#[test]
fn a_link_that_takes_the_files_place_at_the_last_moment_stays() {
    let task = Task::new();
    let file = task.file.clone();
    hook::at("replace.temp_written", move || {
        fs::remove_file(&file).unwrap();
        symlink("nowhere", &file).unwrap();
    });
    assert!(replace(&task.file, Some(BASE), NEW).is_err());
    assert_eq!(fs::read_link(&task.file).unwrap(), Path::new("nowhere"));
    assert!(task.others().is_empty());
}

#[test]
fn an_editor_before_the_exchange_is_handed_over_and_kept_until_discarded() {
    let task = Task::new();
    let file = task.file.clone();
    hook::at("replace.temp_written", move || edit(&file, "theirs"));
    let first = theirs(task.replace());
    assert_eq!(
        (first.bytes(), task.text().as_slice()),
        (&b"theirs"[..], NEW)
    );
    drop(first);

    // As after a crash: the next command finds it again, and can tell where it belongs.
    let found = task.leftover();
    assert_eq!(found.bytes(), b"theirs");
    assert!(found.was_replaced_by(NEW));

    let outcome = replace(&task.file, Some(NEW), b"merged").unwrap();
    assert!(matches!(outcome, Replacement::Done));
    assert_eq!(task.others().len(), 1);
    assert!(matches!(found.discard().unwrap(), Replacement::Done));
    assert_eq!(task.text(), b"merged");
    assert!(task.others().is_empty());
}

#[test]
fn what_is_written_after_the_hand_over_is_handed_over_too() {
    let task = Task::new();
    let file = task.file.clone();
    hook::at("replace.temp_written", move || edit(&file, "theirs"));
    let first = theirs(task.replace());
    fs::write(&task.others()[0], "theirs, longer").unwrap();
    let second = theirs(first.discard().unwrap());
    assert_eq!(second.bytes(), b"theirs, longer");
    assert!(matches!(second.discard().unwrap(), Replacement::Done));
    assert!(task.others().is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_writer_that_truncated_and_does_not_go_on_is_waited_for_only_so_long() {
    for swap in [swap_by_exchange as Swap, no_exchange] {
        let task = Task::new();
        let mut writer = fs::File::create(&task.file).unwrap();
        assert!(read(&task.file).unwrap().unwrap().writer_open);
        let start = Instant::now();
        let outcome = replace_by(swap, &task.file, Some(BASE), NEW).unwrap();
        assert!(matches!(outcome, Replacement::WriterOpen));
        assert!(start.elapsed() >= WRITER_TIMEOUT);
        assert_eq!(task.text(), NEW);
        assert_eq!(settle_leftovers(&task.file).unwrap().writer_open, 1);

        // A second command comes and goes while it is still open, even with the same content.
        assert!(matches!(
            replace(&task.file, Some(NEW), BASE).unwrap(),
            Replacement::Done
        ));
        assert!(matches!(task.replace(), Replacement::Done));

        writer.write_all(b"at last").unwrap();
        drop(writer);
        let found = task.leftover();
        assert_eq!(found.bytes(), b"at last");
        assert!(matches!(found.discard().unwrap(), Replacement::Done));
        assert!(task.others().is_empty());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_writer_that_finishes_in_time_is_handed_over() {
    for swap in [swap_by_exchange as Swap, no_exchange] {
        let task = Task::new();
        let (exchanged, wait) = mpsc::channel();
        let file = task.file.clone();
        hook::at("replace.temp_written", move || {
            let mut writer = fs::File::create(file).unwrap();
            thread::spawn(move || {
                wait.recv().unwrap();
                writer.write_all(b"slow ").unwrap();
                writer.write_all(b"but sure").unwrap();
            });
            // Only now: one hook at a time, and the writer must not be done before the exchange.
            hook::at("replace.exchanged", move || exchanged.send(()).unwrap());
        });
        let found = theirs(replace_by(swap, &task.file, Some(BASE), NEW).unwrap());
        assert_eq!(
            (found.bytes(), task.text().as_slice()),
            (&b"slow but sure"[..], NEW)
        );
    }
}

#[test]
fn a_writer_that_writes_the_same_again_changes_nothing() {
    let task = Task::new();
    let file = task.file.clone();
    hook::at("replace.temp_written", move || {
        fs::write(file, BASE).unwrap()
    });
    assert!(matches!(task.replace(), Replacement::Done));
    assert!(task.others().is_empty());
}

#[test]
fn an_editor_that_moves_the_file_away_and_makes_a_new_one() {
    let task = Task::new();
    let (file, backup) = (task.file.clone(), task.dir.path().join("TASK.md~"));
    hook::at("replace.temp_written", move || {
        fs::rename(file, backup).unwrap()
    });
    assert!(matches!(task.replace(), Replacement::Done));
    assert_eq!(task.text(), NEW);
    fs::remove_file(&task.others()[0]).unwrap();

    // Created by somebody after we had seen that there was none.
    let task = Task::empty();
    let file = task.file.clone();
    hook::at("replace.temp_written", move || {
        fs::write(file, "first").unwrap()
    });
    let found = theirs(replace(&task.file, None, NEW).unwrap());
    assert_eq!(found.bytes(), b"first");
}

/// A writer can look up the name before the exchange and open the file long after: reached here through `/proc`.
#[test]
#[cfg(target_os = "linux")]
fn a_writer_that_opens_the_old_file_while_it_is_deleted_is_rescued() {
    use std::os::fd::AsRawFd;

    let task = Task::new();
    let old = fs::File::open(&task.file).unwrap();
    let inode = format!(":{} ", old.metadata().unwrap().ino());
    let path = format!("/proc/self/fd/{}", old.as_raw_fd());
    hook::at("replace.before_unlink", move || {
        thread::spawn(move || {
            let mut writer = OpenOptions::new().append(true).open(path).unwrap();
            writer.write_all(b"late").unwrap();
        });
        let waits = |line: &str| line.contains("BREAKING") && line.contains(&inode);
        while !fs::read_to_string("/proc/locks")
            .unwrap()
            .lines()
            .any(waits)
        {
            thread::yield_now();
        }
    });
    let found = theirs(task.replace());
    assert_eq!(found.bytes(), b"base\nlate");
    assert_eq!(fs::read(&task.others()[0]).unwrap(), b"base\nlate");
    assert!(matches!(found.discard().unwrap(), Replacement::Done));
}

#[test]
fn leftovers_of_other_kinds() {
    let task = Task::new();
    let stem = Hashes::of(Some(BASE), NEW).stem("TASK.md");
    let path = |end: &str| task.dir.path().join(format!("{stem}{end}"));
    fs::write(path(".part"), "half").unwrap();
    fs::hard_link(&task.file, path(".1")).unwrap();
    fs::write(task.dir.path().join(".TASK.md.swp"), "an editor's").unwrap();
    symlink("nowhere", path(".2")).unwrap();
    let found = settle_leftovers(&task.file).unwrap();
    assert_eq!(
        (found.removed, found.written.len(), found.writer_open),
        (2, 0, 0)
    );
    assert_eq!(task.others().len(), 2);
    assert_eq!(task.text(), BASE);
}

#[test]
fn write_atomic_creates_and_overwrites() {
    let task = Task::empty();
    write_atomic(&task.file, BASE).unwrap();
    write_atomic(&task.file, NEW).unwrap();
    assert_eq!(task.text(), NEW);
    assert!(task.others().is_empty());
    assert!(write_atomic(&task.dir.path().join("no/such"), NEW).is_err());
}

/// What a lease cannot be had for is judged by its stamp: weaker, as it sees only what has been written.
#[test]
fn without_a_lease_a_write_is_noticed_afterwards() {
    let task = Task::new();
    let file = fs::File::open(&task.file).unwrap();
    let claim = FileClaim::by_stamp(&file).unwrap().unwrap();
    assert!(claim.intact().unwrap());
    fs::write(&task.file, "other").unwrap();
    assert!(!claim.intact().unwrap());
}
