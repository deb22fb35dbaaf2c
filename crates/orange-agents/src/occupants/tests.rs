//! Real processes in real folders (`#[cfg(test)]`).

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A process that waits until it is dropped.
struct Living(Child);

impl Living {
    /// Runs the program with `-c`, like a shell, and returns when it stands where it should.
    fn start(program: &Path, folder: &Path) -> Living {
        let mut child = Command::new(program)
            .args(["-c", "echo ready; read line", "a\x1b[31m b"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        Living(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shell() -> PathBuf {
    fs::canonicalize("/bin/sh").unwrap()
}

fn pids(folder: &Path) -> Vec<u32> {
    in_folder(folder).iter().map(|found| found.pid).collect()
}

fn in_folder(folder: &Path) -> Vec<Occupant> {
    others_in_folder(folder, &[])
}

#[test]
fn a_process_is_found_by_its_current_folder_and_not_in_the_one_beside() {
    let root = tempfile::tempdir().unwrap();
    let (slot, beside) = (root.path().join("shop--1"), root.path().join("shop--10"));
    fs::create_dir_all(slot.join("src")).unwrap();
    fs::create_dir_all(&beside).unwrap();
    assert_eq!(in_folder(&slot), []);
    let inside = Living::start(&shell(), &slot.join("src"));
    let outside = Living::start(&shell(), &beside);
    let found = in_folder(&slot);
    assert_eq!(pids(&slot), [inside.pid()]);
    assert_eq!(pids(&beside), [outside.pid()]);
    let name = &found[0].name;
    assert!(name.ends_with("read line a [31m b"), "{name:?}");
    assert_eq!(others_in_folder(&slot, &[inside.pid()]), []);
    drop(inside);
    assert_eq!(in_folder(&slot), []);
}

#[test]
fn a_removed_folder_still_counts() {
    let root = tempfile::tempdir().unwrap();
    let slot = root.path().join("shop--1");
    fs::create_dir_all(slot.join("src")).unwrap();
    let inside = Living::start(&shell(), &slot.join("src"));
    fs::remove_dir(slot.join("src")).unwrap();
    assert_eq!(pids(&slot), [inside.pid()]);
    fs::remove_dir(&slot).unwrap();
    assert_eq!(pids(&slot), [inside.pid()]);
}

#[test]
fn a_folder_may_be_called_deleted() {
    let root = tempfile::tempdir().unwrap();
    let slot = root.path().join("shop (deleted)");
    fs::create_dir(&slot).unwrap();
    let inside = Living::start(&shell(), &slot);
    assert_eq!(pids(&slot), [inside.pid()]);
}

#[test]
fn a_program_of_the_folder_counts_wherever_it_runs() {
    let root = tempfile::tempdir().unwrap();
    let slot = root.path().join("shop--1");
    fs::create_dir(&slot).unwrap();
    let program = slot.join("server");
    // By another process: one that is being started while we write would keep the program from starting.
    let copied = Command::new("cp").arg(shell()).arg(&program).status();
    assert!(copied.unwrap().success());
    let running = Living::start(&program, Path::new("/"));
    assert_eq!(pids(&slot), [running.pid()]);
    fs::remove_file(&program).unwrap();
    assert_eq!(pids(&slot), [running.pid()]);
}

#[test]
fn a_linked_home_is_the_same_home() {
    let root = tempfile::tempdir().unwrap();
    let slot = root.path().join("real/shop--1");
    fs::create_dir_all(&slot).unwrap();
    std::os::unix::fs::symlink(root.path().join("real"), root.path().join("home")).unwrap();
    let linked = root.path().join("home/shop--1");
    let inside = Living::start(&shell(), &linked);
    assert_eq!(pids(&linked), [inside.pid()]);
    assert_eq!(pids(&slot), [inside.pid()]);
    // Also when the slot is gone and only the link above it is left.
    fs::remove_dir(&slot).unwrap();
    assert_eq!(pids(&linked), [inside.pid()]);
}

#[test]
fn those_who_asked_can_be_left_out() {
    let own = own_line();
    assert_eq!(own[0], std::process::id());
    assert_eq!(own[1], std::os::unix::process::parent_id());
    let here = std::env::current_dir().unwrap();
    assert!(pids(&here).contains(&own[0]));
    let others = others_in_folder(&here, &own);
    assert!(others.iter().all(|found| !own.contains(&found.pid)));
}

#[test]
fn a_name_is_one_short_line() {
    assert_eq!(
        one_line(b"node\0server.js\0--port\n 1\0"),
        "node server.js --port 1"
    );
    assert_eq!(one_line(b"\xff\0"), "\u{fffd}");
    assert_eq!(
        one_line("ä".repeat(100).as_bytes()),
        format!("{}…", "ä".repeat(80))
    );
}

#[test]
fn files_that_are_open_for_writing_are_found_and_others_are_not() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("files");
    fs::create_dir_all(folder.join("in")).unwrap();
    let beside = root.path().join("beside");
    let written = fs::File::create(folder.join("in/written")).unwrap();
    let _beside = fs::File::create(&beside).unwrap();
    fs::write(folder.join("read"), "").unwrap();
    let _read = fs::File::open(folder.join("read")).unwrap();
    let found = open_for_writing(&folder);
    assert_eq!(found, BTreeSet::from([PathBuf::from("in/written")]));
    drop(written);
    assert_eq!(open_for_writing(&folder), BTreeSet::new());
}
