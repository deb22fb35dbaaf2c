//! Files that somebody writes into a slot while it is given back or removed: each is in the slot afterwards, or in a rescue.

use crate::env::{TestEnvironment, TestTask};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// Files that the repository tracks and the writer changes.
const TRACKED: usize = 60;

/// A shell that lives elsewhere and writes into a slot. It notes every file that it has written and closed.
struct Writer {
    process: Child,
    log: PathBuf,
}

impl Writer {
    /// `when`: waits until this is true. `until`: goes on until this is true.
    fn start(env: &TestEnvironment, name: &str, slot: &Path, when: &str, until: &str) -> Writer {
        let log = env.root().join(format!("{name}.log"));
        fs::write(&log, "").unwrap();
        // Each turn: a new file, one in a new folder, a tracked file overwritten in place, one deleted and made anew, one
        // replaced by a rename.
        let script = format!(
            "cd /
            until {when}; do :; done
            n=0
            until {until}; do
              n=$((n + 1))
              put() {{ printf '%s' \"{name} $n $1\" > \"$SLOT/$1\" && echo \"$n $1\" >> \"$LOG\"; }}
              put new-$n
              mkdir \"$SLOT/folder-$n\" && mkdir \"$SLOT/folder-$n/deep\" && put folder-$n/deep/file
              t=$(( (n * 3) % {TRACKED} ))
              put tracked/$t
              rm -f \"$SLOT/tracked/$((t + 1))\"
              put tracked/$((t + 1))
              printf '%s' \"{name} $n tracked/$((t + 2))\" > \"$SLOT/aside-$n\" &&
                mv \"$SLOT/aside-$n\" \"$SLOT/tracked/$((t + 2))\" &&
                echo \"$n tracked/$((t + 2))\" >> \"$LOG\"
            done 2> /dev/null"
        );
        let process = env
            .foreign("sh")
            .args(["-c", &script])
            .env("SLOT", slot)
            .env("LOG", &log)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Writer { process, log }
    }

    /// What it wrote last to each path, once it has ended.
    fn written(mut self, name: &str) -> BTreeMap<String, String> {
        self.process.wait().unwrap();
        let log = fs::read_to_string(&self.log).unwrap();
        let entry = |line: &str| {
            let (n, path) = line.split_once(' ').unwrap();
            (path.to_owned(), format!("{name} {n} {path}"))
        };
        log.lines().map(entry).collect()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn prepared() -> TestEnvironment {
    let env = TestEnvironment::new();
    let shop = env.shop();
    fs::create_dir(shop.join("tracked")).unwrap();
    for n in 0..TRACKED + 3 {
        fs::write(shop.join(format!("tracked/{n}")), format!("original {n}")).unwrap();
    }
    env.git(&shop, &["add", "."]);
    env.git(&shop, &["commit", "-q", "-m", "files"]);
    env
}

/// Every file of every rescue of a task: path and content.
fn rescued(env: &TestEnvironment, owner: &str) -> Vec<(String, String)> {
    let shop = env.shop();
    let below = format!("refs/orange/rescue/{owner}");
    let refs = env.git(&shop, &["for-each-ref", "--format=%(refname)", &below]);
    let mut found = Vec::new();
    for reference in refs.lines() {
        let names = env.git(&shop, &["ls-tree", "-r", "--name-only", reference]);
        let questions: String = names
            .lines()
            .map(|name| format!("{reference}:{name}\n"))
            .collect();
        let input = env.write("questions", questions);
        let output = env
            .foreign("git")
            .current_dir(&shop)
            .args(["cat-file", "--batch=%(objectsize)"])
            .stdin(fs::File::open(input).unwrap())
            .output()
            .unwrap();
        let mut rest = String::from_utf8(output.stdout).unwrap();
        for name in names.lines() {
            let (size, after) = rest.split_once('\n').unwrap();
            let size: usize = size.parse().unwrap();
            found.push((name.to_owned(), after[..size].to_owned()));
            rest = after[size + 1..].to_owned();
        }
    }
    found
}

/// Each file that was written is in one of the slots under its path, or beside it, or in a rescue.
fn all_found(env: &TestEnvironment, owner: &str, slot: &Path, written: &BTreeMap<String, String>) {
    let rescued = rescued(env, owner);
    let in_slot = |path: &str| fs::read_to_string(slot.join(path)).unwrap_or_default();
    let lost: Vec<&String> = written
        .iter()
        .filter(|(path, content)| in_slot(path) != **content)
        .filter(|(path, content)| {
            !rescued.iter().any(|(name, text)| {
                (name == *path || name.starts_with(&format!("{path}.orange-"))) && text == *content
            })
        })
        .map(|(path, _)| path)
        .collect();
    assert_eq!(lost, Vec::<&String>::new(), "of {} files", written.len());
}

fn rescue_is_there(env: &TestEnvironment, task: &TestTask) -> String {
    let refs = env
        .shop()
        .join(format!(".git/refs/orange/rescue/{}", task.id));
    format!("[ -d '{}' ]", refs.display())
}

/// The writer begins in the moment in which the rescue is made, and ends soon.
#[test]
fn a_burst_between_saving_and_cleaning() {
    let env = prepared();
    for round in 0..6 {
        let (task, slot) = env.started(&format!("burst-{round}"));
        env.commit(&slot, "tracked/1", "of the branch");
        fs::write(slot.join("untracked"), "makes a rescue").unwrap();
        fs::write(slot.join("tracked/4"), "changed").unwrap();
        let name = format!("w{round}");
        let until = format!("[ $n -ge {} ]", 1 + round * 4);
        let when = rescue_is_there(&env, &task);
        let writer = Writer::start(&env, &name, &slot, &when, &until);
        env.cancel(&task).ok();
        let written = writer.written(&name);
        assert!(!written.is_empty());
        all_found(&env, &task.id, &slot, &written);
        assert_eq!(env.rescued_anywhere(&task, "untracked"), "makes a rescue");
        // What comes late is left in the slot, which is cleaned before anybody gets it.
        env.orange(["doctor", "--repair"]);
        env.orange(["doctor"]).ok();
    }
}

/// The writer does not stop: the slot is kept, and another one takes its place.
#[test]
fn a_writer_that_goes_on_and_on() {
    let env = prepared();
    env.pool_size(1);
    let (task, slot) = env.started("busy");
    env.commit(&slot, "tracked/1", "of the branch");
    let stop = env.root().join("stop");
    let until = format!("[ -e '{}' ]", stop.display());
    let writer = Writer::start(&env, "busy", &slot, "true", &until);
    while fs::read_to_string(&writer.log).unwrap().lines().count() < 20 {
        std::thread::yield_now();
    }
    env.cancel(&task).ok().says("shop--1 is kept as it is");
    assert_eq!(env.pool_entry(1)["status"], "retired");
    // Its branch is free, and so is the place in the pool.
    let (next, other) = env.started("next");
    assert_eq!(other, env.slot(2));
    env.orange(["doctor"]).fails_with(1).says("is out of use");
    env.orange(["workspace", "list"]).ok().says("retired");
    fs::write(&stop, "").unwrap();
    let written = writer.written("busy");
    assert!(written.len() > 20);
    all_found(&env, &task.id, &slot, &written);
    // With nobody writing there it can be cleaned, and what was left is saved as well.
    env.orange(["doctor", "--repair"]).ok();
    all_found(&env, &task.id, &slot, &written);
    let main = env.git(&env.shop(), &["rev-parse", "main"]);
    env.is_parked(&slot, &main);
    assert_eq!(env.pool_entry(1)["status"], "available");
    env.cancel(&next).ok();
    env.orange(["doctor"]).ok();
}

/// A file that is kept open, as a log is, may get more text at any time.
#[test]
fn a_file_that_is_open_for_writing() {
    use std::io::Write;
    let env = prepared();
    let (task, slot) = env.started("log");
    let mut log = fs::File::create(slot.join("log")).unwrap();
    log.write_all(b"one\n").unwrap();
    env.cancel(&task).ok().says("shop--1 is kept as it is");
    log.write_all(b"two\n").unwrap();
    let found = fs::read_to_string(slot.join("log")).unwrap();
    assert_eq!(found, "one\ntwo\n");
    drop(log);
    env.orange(["doctor", "--repair"]).ok();
    assert_eq!(
        env.rescued(&env.shop(), &task, "log").unwrap(),
        "one\ntwo\n"
    );
}

/// Removing a slot is no different.
#[test]
fn a_writer_while_slots_are_removed() {
    let env = prepared();
    for round in 0..4 {
        let (task, slot) = env.started(&format!("removed-{round}"));
        env.cancel(&task).ok();
        let name = format!("r{round}");
        let removed = format!("[ ! -d '{0}' ] || [ $n -ge {1} ]", slot.display(), 100);
        let writer = Writer::start(&env, &name, &slot, "true", &removed);
        while fs::read_to_string(&writer.log).unwrap().lines().count() < 1 + round {
            std::thread::yield_now();
        }
        env.orange(["workspace", "gc", "--all"]).ok();
        let written = writer.written(&name);
        all_found(&env, &task.id, &slot, &written);
        env.orange(["workspace", "gc", "--all"]).ok();
    }
}

impl TestEnvironment {
    /// The content of a file in the first rescue of a task that has it.
    fn rescued_anywhere(&self, task: &TestTask, path: &str) -> String {
        let found = rescued(self, &task.id).into_iter();
        let mut found = found.filter(|(name, _)| name == path);
        found.next().map(|(_, text)| text).unwrap_or_default()
    }
}

/// A kill in the middle of a removal: the slot is there again, with what was written to it, or it is gone.
#[test]
fn a_removal_that_is_killed() {
    for (point, moved) in [
        ("remove.moved", "shop--1.whole"),
        ("remove.checked", "shop--1.checked"),
        ("remove.forgotten", "shop--1.checked"),
    ] {
        let env = prepared();
        let (task, slot) = env.started("work");
        env.cancel(&task).ok();
        let gc = env.call(["workspace", "gc", "--all"]);
        let killed = gc.var("ORANGE_CRASH_AT", point).run();
        assert!(
            killed.stderr.contains(&format!("killed at {point}")),
            "{killed}"
        );
        assert!(!slot.exists());
        let leaving = env.home().join("workspaces/.leaving");
        fs::write(leaving.join(moved).join("late"), "late").unwrap();
        env.orange(["doctor", "--repair"]).ok();
        env.orange(["workspace", "gc", "--all"]).ok();
        assert_eq!(fs::read_dir(&leaving).unwrap().count(), 0);
        assert!(!slot.exists());
        env.orange(["doctor"]).ok();
        if point != "remove.forgotten" {
            assert_eq!(env.rescued_anywhere(&task, "late"), "late");
        }
        let (_, again) = env.started("again");
        assert_eq!(again, slot);
    }
}

/// Git has lost its record of the slot, but nobody has looked yet whether all that is in the slot is saved: it stays.
#[test]
fn a_slot_that_was_not_looked_at_is_not_deleted() {
    let env = prepared();
    let (task, slot) = env.started("work");
    env.cancel(&task).ok();
    let own = env.git(&slot, &["rev-parse", "--absolute-git-dir"]);
    let gc = env.call(["workspace", "gc", "--all"]);
    gc.var("ORANGE_CRASH_AT", "remove.moved").run();
    let leaving = env.home().join("workspaces/.leaving");
    fs::write(leaving.join("shop--1.whole/late"), "late").unwrap();
    fs::remove_dir_all(own).unwrap();
    // Whoever wants the slot finds something else in its place.
    let next = env.create(["next", "Some work"]);
    let started = env.orange(["task", "update", &next.key, "--status", "planning"]);
    assert!(started.to_string().contains("is in the way"), "{started}");
    assert_eq!(fs::read_to_string(slot.join("late")).unwrap(), "late");
}

/// Git stores the file in another form than it has in the worktree: it is compared in that form.
#[test]
fn files_with_converted_line_ends_and_odd_names() {
    let env = prepared();
    env.commit(&env.shop(), ".gitattributes", "*.txt text eol=crlf\n");
    let (task, slot) = env.started("lines");
    fs::write(slot.join("new.txt"), "one\r\ntwo\r\n").unwrap();
    fs::write(slot.join("two\nlines"), "odd").unwrap();
    std::os::unix::fs::symlink("tracked/1", slot.join("link")).unwrap();
    env.cancel(&task).ok();
    let main = env.git(&env.shop(), &["rev-parse", "main"]);
    env.is_parked(&slot, &main);
    for name in ["new.txt", "two\nlines", "link"] {
        assert!(fs::symlink_metadata(slot.join(name)).is_err(), "{name:?}");
    }
    let shop = env.shop();
    assert_eq!(env.rescued(&shop, &task, "new.txt").unwrap(), "one\ntwo\n");
    assert_eq!(env.rescued(&shop, &task, "two\nlines").unwrap(), "odd");
    assert_eq!(env.rescued(&shop, &task, "link").unwrap(), "tracked/1");
}

/// A folder that leads elsewhere by now is not followed.
#[test]
fn a_folder_replaced_by_a_link() {
    let env = prepared();
    let (task, slot) = env.started("linked");
    let outside = env.root().join("outside");
    fs::create_dir(&outside).unwrap();
    for n in 0..TRACKED {
        fs::write(outside.join(n.to_string()), "precious").unwrap();
    }
    env.commit(&slot, "tracked/1", "of the branch");
    fs::remove_dir_all(slot.join("tracked")).unwrap();
    std::os::unix::fs::symlink(&outside, slot.join("tracked")).unwrap();
    env.cancel(&task).ok();
    let main = env.git(&env.shop(), &["rev-parse", "main"]);
    env.is_parked(&slot, &main);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), TRACKED);
    assert_eq!(fs::read_to_string(outside.join("1")).unwrap(), "precious");
}
