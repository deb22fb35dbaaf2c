//! Tests of the replacement with processes that die or run out of space in the middle of it (`#[cfg(test)]`).

use super::tests::{BASE, Task};
use super::*;
use orange_sys::crash_points::arm;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Not a test by itself: the process that dies, or runs into a limit, in the middle of a replacement.
#[test]
fn child_replacing() {
    let Some(file) = std::env::var_os("ORANGE_TEST_REPLACE") else {
        return;
    };
    arm(std::env::var("ORANGE_TEST_POINT").ok());
    let big = [b'x'; 5000];
    let error = replace(Path::new(&file), Some(BASE), &big).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
}

fn child(script: &str, file: &Path) -> Command {
    let module = module_path!().split_once("::").unwrap().1;
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{script}; exec \"$0\" --exact \"$1\"")])
        .arg(std::env::current_exe().unwrap())
        .arg(format!("{module}::child_replacing"))
        .env("ORANGE_TEST_REPLACE", file);
    command
}

#[test]
fn a_crash_at_any_point_leaves_one_of_the_contents_and_nothing_after_the_next_look() {
    for (point, placed, left) in [
        ("replace.temp_written", false, 1),
        ("replace.exchanged", true, 1),
        ("replace.before_unlink", true, 1),
        ("replace.done", true, 0),
    ] {
        for written in [false, left == 1 && placed] {
            let task = Task::new();
            let output = child("true", &task.file)
                .env("ORANGE_TEST_POINT", point)
                .output()
                .unwrap();
            assert_eq!(output.status.signal(), Some(libc::SIGKILL), "{point}");
            assert_eq!(task.text().len(), if placed { 5000 } else { BASE.len() });
            assert_eq!(task.others().len(), left);
            if written {
                fs::write(&task.others()[0], "theirs").unwrap();
            }
            if written {
                let theirs = task.leftover();
                assert!(theirs.was_replaced_by(&task.text()));
                assert!(matches!(theirs.discard().unwrap(), Replacement::Done));
            } else {
                assert_eq!(settle_leftovers(&task.file).unwrap().removed, left);
            }
            assert!(task.others().is_empty());
        }
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_and_no_other() {
    let task = Task::new();
    let output = child("trap '' XFSZ; ulimit -f 2", &task.file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(task.text(), BASE);
    assert!(task.others().is_empty());
}
