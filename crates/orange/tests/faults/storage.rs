//! A disk that is full, at every write in turn, and one that is read-only: on real mounts, in a mount namespace
//! of the test's own, so that nothing has to be cleaned up and root is stopped too.

use crate::check::{at_rest, events, names, no_leftovers, task_folders};
use crate::env::{Env, told};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Set inside the namespace: the folder to mount things on.
const INSIDE: &str = "ORANGE_TEST_NAMESPACE";

/// Outside: runs this same test in a namespace of its own, and gives None. Inside: the folder to mount on.
fn own_namespace(test: &str) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(INSIDE) {
        return Some(folder.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    if rustix::process::geteuid().is_root() {
        command.arg("--mount");
    } else {
        command.args(["--user", "--map-root-user", "--mount"]);
    }
    let output = command
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("storage::{test}"), "--nocapture"])
        .env(INSIDE, folder.path())
        .output()
        .expect("unshare is needed for this test: scripts/install-deps test installs it");
    let text = told(&output);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "in a mount namespace (needs root, or user namespaces: sysctl kernel.unprivileged_userns_clone): {text}"
    );
    for line in text.lines().filter(|line| line.starts_with("figures: ")) {
        println!("{line}");
    }
    None
}

fn mount(arguments: &[&str]) {
    let output = Command::new("mount").args(arguments).output().unwrap();
    assert!(output.status.success(), "mount {arguments:?}: {output:?}");
}

/// A file system of its own that is as small as one likes.
struct Small {
    folder: PathBuf,
}

impl Small {
    fn mounted(folder: &Path, options: &str) -> Small {
        mount(&[
            "-t",
            "tmpfs",
            "-o",
            options,
            "orange-test",
            folder.to_str().unwrap(),
        ]);
        Small {
            folder: folder.to_owned(),
        }
    }

    fn ballast(&self) -> PathBuf {
        self.folder.join("ballast")
    }

    fn free_blocks(&self) -> u64 {
        rustix::fs::statvfs(&self.folder).unwrap().f_bfree
    }

    /// Fills it until this many blocks are left.
    fn leave(&self, blocks: u64) {
        let size = rustix::fs::statvfs(&self.folder).unwrap().f_bsize;
        let mut file = File::create(self.ballast()).unwrap();
        while self.free_blocks() > blocks {
            file.write_all(&vec![b'x'; usize::try_from(size).unwrap()])
                .unwrap();
        }
    }

    fn free(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.folder).status();
    }
}

/// A home with one task whose journal ends just before a block's end, so that an append needs a new block.
fn prepared(parent: &Path) -> (Env, String) {
    let env = Env::within(parent);
    let key = env.create(&["full", "Full"]);
    env.append_to_body(&key, "\n## Notes\n\nkept\n");
    let journal = env.folder_of(&key).join("history.jsonl");
    let length = || fs::metadata(&journal).unwrap().len() % 4096;
    // An event with its seal takes about 205 bytes besides the value.
    let mut number = 0;
    while length() < 3950 {
        let room = usize::try_from(4096 - length()).unwrap();
        let filler = "x".repeat(room.saturating_sub(290).clamp(1, 1500));
        env.update(&key, &["--summary", &format!("{number}{filler}")]);
        number += 1;
    }
    (env, key)
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| (name.clone(), fs::read(folder.join(&name)).unwrap());
    names(folder, |name| name == "TASK.md" || name == "history.jsonl")
        .into_iter()
        .map(read)
        .collect()
}

#[track_caller]
fn says_no_space(output: &Output, label: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{label}: {}", told(output));
    let full = ["no space left", "disk is full", "disk full"];
    assert!(
        full.iter().any(|words| text.contains(words)),
        "{label}: {text}"
    );
    assert!(
        text.contains("hint: ") && text.contains("free some disk space"),
        "{label}: {text}"
    );
}

#[test]
fn on_a_full_disk_nothing_changes_and_afterwards_all_works() {
    let Some(folder) = own_namespace("on_a_full_disk_nothing_changes_and_afterwards_all_works")
    else {
        return;
    };
    let small = Small::mounted(&folder, "size=8m");
    let (env, key) = prepared(&folder);
    let task = env.folder_of(&key);
    let before = files(&task);
    small.leave(0);
    for command in [
        ["task", "update", &key, "--status", "planning"].as_slice(),
        &["task", "update", &key, "--priority", "high"],
        &["task", "cancel", &key, "--yes"],
        &["task", "create", "another", "Another"],
        &["project", "update", "shop", "--pool-size", "7"],
    ] {
        says_no_space(&env.run(command), &format!("{command:?}"));
        assert_eq!(files(&task), before, "{command:?}");
        assert_eq!(task_folders(&env).len(), 1, "{command:?}");
    }
    for command in [
        ["task", "list"].as_slice(),
        &["task", "show", &key],
        &["task", "why", &key],
    ] {
        let output = env.run(command);
        assert!(output.status.success(), "{command:?}: {}", told(&output));
    }
    small.free();
    env.update(&key, &["--status", "planning"]);
    env.create(&["another", "Another"]);
    at_rest(&env, "after freeing space");
}

/// Runs the command with ever more room left until it succeeds, checking each time; gives how often it failed.
fn every_shortage(
    base: &Env,
    home: &Env,
    command: &[&str],
    limit: &dyn Fn(u64),
    free: &dyn Fn(),
) -> u64 {
    for room in 0..200 {
        base.copy_home(home);
        let label = format!("{command:?} with room for {room}");
        let before: Vec<_> = task_folders(home)
            .iter()
            .map(|folder| (folder.clone(), events(folder)))
            .collect();
        limit(room);
        let output = home.run(command);
        if !output.status.success() {
            // A command that fails, other than one that is killed, cleans up after itself.
            for folder in task_folders(home) {
                let name = folder.file_name().unwrap().to_string_lossy().into_owned();
                assert!(!name.starts_with('.'), "{label}: half a task is left");
                no_leftovers(&folder, &label);
            }
        }
        free();
        at_rest(home, &label);
        let after = task_folders(home);
        if output.status.success() {
            return room;
        }
        if String::from_utf8_lossy(&output.stderr).contains("orange retry-hooks") {
            // Git does not always say that there was no room.
            assert_eq!(output.status.code(), Some(1), "{label}: {}", told(&output));
            home.ok(&["task", "retry-hooks", "TASK-001"]);
            at_rest(home, &label);
        } else {
            says_no_space(&output, &label);
        }
        for (folder, events_before) in &before {
            let now = events(folder);
            assert_eq!(
                now[..events_before.len()],
                events_before[..],
                "{label}: lost events"
            );
        }
        // What the message says can be done: run the command again (unless it is done already).
        let again = home.run(command);
        let done = after.len() > before.len()
            || before
                .iter()
                .any(|(folder, events_before)| events(folder).len() > events_before.len());
        assert!(
            again.status.success() || done,
            "{label}: again: {}",
            told(&again)
        );
        at_rest(home, &label);
    }
    panic!("{command:?} never succeeded");
}

/// Every amount of free space, in the file system's own steps (a page), so that each write fails in turn.
#[test]
fn every_shortage_of_space_is_survived() {
    let Some(folder) = own_namespace("every_shortage_of_space_is_survived") else {
        return;
    };
    let (base, key) = prepared(&crate::env::memory());
    let small = Small::mounted(&folder, "size=1m");
    let home = base.moved_to(&folder);
    let commands: [&[&str]; 3] = [
        &["task", "update", &key, "--status", "planning"],
        &["task", "create", "another", "Another"],
        &["task", "delete", &key, "--yes"],
    ];
    for command in commands {
        let failures = every_shortage(&base, &home, command, &|room| small.leave(room), &|| {
            small.free()
        });
        println!("figures: {command:?}: {failures} shortages of space survived");
        assert!(
            failures > 0 || command[1] == "delete",
            "{command:?} never failed"
        );
    }
}

/// No file can be made any more, though there is space.
#[test]
fn every_shortage_of_inodes_is_survived() {
    let Some(folder) = own_namespace("every_shortage_of_inodes_is_survived") else {
        return;
    };
    let (base, key) = prepared(&crate::env::memory());
    const INODES: u64 = 200;
    let small = Small::mounted(&folder, &format!("size=8m,nr_inodes={INODES}"));
    let home = base.moved_to(&folder);
    let fillers = folder.join("fillers");
    let limit = |room: u64| {
        fs::create_dir(&fillers).unwrap();
        let free = || rustix::fs::statvfs(&small.folder).unwrap().f_ffree;
        let mut number = 0;
        while free() > room {
            File::create(fillers.join(number.to_string())).unwrap();
            number += 1;
        }
    };
    let commands: [&[&str]; 2] = [
        &["task", "update", &key, "--status", "planning"],
        &["task", "create", "another", "Another"],
    ];
    for command in commands {
        let failures = every_shortage(&base, &home, command, &limit, &|| {
            fs::remove_dir_all(&fillers).unwrap()
        });
        println!("figures: {command:?}: {failures} shortages of inodes survived");
        assert!(failures > 0, "{command:?} never failed");
    }
}

#[test]
fn a_read_only_home_can_be_read() {
    let Some(folder) = own_namespace("a_read_only_home_can_be_read") else {
        return;
    };
    let small = Small::mounted(&folder, "size=8m");
    let (env, key) = prepared(&folder);
    let second = env.create(&["second", "Second", "--blocked-by", &key]);
    // Something that a command would put in order, if it could.
    let file = env.folder_of(&second).join("TASK.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("status: pending", "status: done")).unwrap();
    mount(&["-o", "remount,bind,ro", small.folder.to_str().unwrap()]);
    let readers: [&[&str]; 7] = [
        &["task", "list"],
        &["task", "list", "--json"],
        &["task", "show", &key],
        &["task", "why", &key],
        &["task", "deps", &second],
        &["project", "list"],
        &["workflow", "show"],
    ];
    for command in readers {
        let output = env.run(command);
        assert!(output.status.success(), "{command:?}: {}", told(&output));
    }
    let shown = env.ok(&["task", "show", &second]);
    assert_eq!(
        shown["task"]["status"], "pending",
        "the journal counts, written or not"
    );
    let writers: [&[&str]; 6] = [
        &["task", "update", &key, "--priority", "high"],
        &["task", "update", &key, "--status", "planning"],
        &["task", "create", "another", "Another"],
        &["task", "cancel", &key, "--yes"],
        &["task", "delete", &key, "--yes"],
        &["project", "update", "shop", "--pool-size", "7"],
    ];
    for command in writers {
        let output = env.run(command);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{command:?}: {}",
            told(&output)
        );
        assert!(
            text.contains("read-only") || text.contains("readonly"),
            "{command:?}: {text}"
        );
        assert!(text.contains("hint: "), "{command:?}: {text}");
    }
    mount(&["-o", "remount,bind,rw", small.folder.to_str().unwrap()]);
    env.ok(&["task", "show", &second]);
    at_rest(&env, "writable again");
}

/// The index alone cannot be written: it is a cache, and nothing else notices.
#[test]
fn an_index_that_cannot_be_written_stops_nothing() {
    let Some(folder) = own_namespace("an_index_that_cannot_be_written_stops_nothing") else {
        return;
    };
    let env = Env::within(&folder);
    let key = env.create(&["one", "One"]);
    let index = env.home().join("index.db");
    let path = index.to_str().unwrap();
    mount(&["--bind", path, path]);
    mount(&["-o", "remount,bind,ro", path]);
    env.update(&key, &["--status", "planning"]);
    let second = env.create(&["two", "Two"]);
    let listed = env.ok(&["task", "list"]);
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(
        env.ok(&["task", "show", &key])["task"]["status"],
        "planning"
    );
    env.update(&second, &["--add-blocker", &key]);
    let output = Command::new("umount").arg(path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    at_rest(&env, "with a writable index again");
}

/// SQLite maps a file beside each database; on a full disk an access to it may end with SIGBUS.
#[test]
fn a_mapped_file_that_cannot_be_accessed_is_an_error() {
    let env = Env::new();
    env.create(&["mapped", "Mapped"]);
    for json in [false, true] {
        let mut command = env.command(&["log", "--follow"]);
        if json {
            command.arg("--json");
        }
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        // It follows the log once it handles Ctrl-C, long after main has begun.
        let handled = || {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let caught = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            let exe = fs::read_link(format!("/proc/{}/exe", child.id())).unwrap_or_default();
            let started = exe.file_name().is_some_and(|name| name == "orange");
            started && caught.is_some_and(|mask| mask & (1 << (libc::SIGINT - 1)) != 0)
        };
        while !handled() {
            std::thread::yield_now();
        }
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::BUS).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", told(&output));
        let text = told(&output);
        assert!(text.contains("the disk is full"), "{text}");
        assert!(text.contains("free some disk space"), "{text}");
        if json {
            let text = String::from_utf8(output.stdout).unwrap();
            let last = text.lines().last().unwrap();
            let value: serde_json::Value = serde_json::from_str(last).unwrap();
            assert_eq!(value["error"]["code"], "storage");
        }
    }
}
