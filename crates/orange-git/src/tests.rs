//! Worktrees in every state, made by the real git (`#[cfg(test)]`).

#![allow(clippy::unwrap_used, reason = "tests")]

use super::Git;
use super::site::Behalf;
use super::state::{Head, Operation, head, operation};
use super::status::{AheadBehind, Dirt, WorktreeStatus, ahead_behind, status};
use orange_sys::time_limit::LimitOfThread;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What git says in a folder, as somebody whom it knows.
pub(super) fn git(folder: &Path, words: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
    let git = Behalf::nobody().at(folder).git();
    git.args(identity).args(words).text().unwrap()
}

/// Settings are checked without git; it has the last word.
#[test]
fn names_of_branches_are_those_of_git() {
    let pieces = [
        "a", "/", ".", "..", "-", "@", "@{", "{", ".lock", " ", "~", "^", ":", "?", "*", "[", "\\",
        "\n", "\u{7f}", "ä", "HEAD",
    ];
    let of = |words: &[&str]| words.concat();
    let mut names: Vec<String> = pieces.map(str::to_owned).to_vec();
    for one in pieces {
        names.extend([
            of(&["a", one]),
            of(&[one, "b"]),
            of(&["a", one, "b"]),
            of(&["a/", one, "/b"]),
        ]);
    }
    for name in names {
        let theirs = super::valid_branch_name(&name).unwrap();
        assert_eq!(
            orange_core::naming::is_branch_name(&name),
            theirs,
            "{name:?}"
        );
    }
}

/// What one thread looks at with a limit leaves the gits of another one alone.
#[test]
fn a_limit_ends_the_gits_of_its_thread_alone() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    let hook = folder.path().join(".git/hooks/nap");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nsleep 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let nap = || {
        let said = Git::at(folder.path()).args(["hook", "run", "nap"]).run();
        said.unwrap().success
    };
    let limited = || {
        let _limit = LimitOfThread::set(Some(Duration::from_millis(10)));
        nap()
    };
    std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(limited), scope.spawn(nap));
        assert!(!one.join().unwrap());
        assert!(other.join().unwrap());
    });
}

/// A repository with one commit on main, and a worktree of it with `feature` checked out.
struct World {
    _root: tempfile::TempDir,
    main: PathBuf,
    slot: PathBuf,
}

impl World {
    fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        let (main, slot) = (root.path().join("shop"), root.path().join("shop--1"));
        fs::create_dir(&main).unwrap();
        let world = World {
            _root: root,
            main,
            slot,
        };
        world.git(&world.main, &["init", "-q", "-b", "main"]);
        world.commit(&world.main, "first", "1");
        let slot = world.slot.to_str().unwrap();
        world.git(
            &world.main,
            &["worktree", "add", "-q", "-b", "feature", slot],
        );
        world
    }

    /// Runs git, which may say no.
    fn try_git(&self, folder: &Path, arguments: &[&str]) -> (bool, String) {
        let output = Command::new("git")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
            .args(["-c", "core.editor=true", "-C"])
            .arg(folder)
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), text.trim().to_owned())
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let (success, text) = self.try_git(folder, arguments);
        assert!(success, "{arguments:?}");
        text
    }

    fn commit(&self, folder: &Path, file: &str, content: &str) -> String {
        fs::write(folder.join(file), content).unwrap();
        self.git(folder, &["add", file]);
        self.git(folder, &["commit", "-q", "-m", file]);
        self.git(folder, &["rev-parse", "HEAD"])
    }

    /// The same file changed on both sides; gives main's commit.
    fn conflict(&self) -> String {
        self.commit(&self.slot, "first", "ours");
        self.commit(&self.main, "first", "theirs")
    }

    fn status(&self, base: &str) -> WorktreeStatus {
        let head = head(&self.slot);
        status(&self.slot, head.branch(), base).unwrap()
    }

    #[track_caller]
    fn is_away(&self, base: &str, ahead: u64, behind: u64) {
        let expected = Some(AheadBehind { ahead, behind });
        assert_eq!(self.status(base).distance, expected);
        assert_eq!(ahead_behind(&self.slot, base), expected);
    }
}

#[test]
fn a_head_is_a_branch_a_commit_or_missing() {
    let world = World::new();
    assert_eq!(head(&world.main), Head::Branch("main".into()));
    assert_eq!(head(&world.slot), Head::Branch("feature".into()));
    world.git(&world.slot, &["switch", "-q", "-c", "orange/TASK-001-käse"]);
    assert_eq!(head(&world.slot).branch(), Some("orange/TASK-001-käse"));
    let commit = world.commit(&world.slot, "a", "1");
    world.git(&world.slot, &["switch", "-q", "--detach"]);
    assert_eq!(head(&world.slot), Head::Detached(commit));
    let missing = |expected: &str| {
        let Head::Missing(reason) = head(&world.slot) else {
            panic!("{:?}", head(&world.slot));
        };
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(operation(&world.slot), None);
    };
    fs::write(world.slot.join(".git"), "gitdir: ../nowhere").unwrap();
    missing("leads nowhere");
    fs::write(world.slot.join(".git"), "rubbish").unwrap();
    missing("damaged");
    fs::remove_file(world.slot.join(".git")).unwrap();
    missing("no .git");
    assert_eq!(status(&world.slot, None, "main"), None);
    fs::remove_dir_all(&world.slot).unwrap();
    missing("is gone");
    assert_eq!(status(&world.slot, None, "main"), None);
    assert_eq!(ahead_behind(&world.slot, "main"), None);
}

#[test]
fn a_link_may_be_relative() {
    let world = World::new();
    fs::write(
        world.slot.join(".git"),
        "gitdir: ../shop/.git/worktrees/shop--1\n",
    )
    .unwrap();
    assert_eq!(head(&world.slot).branch(), Some("feature"));
}

#[test]
fn a_head_that_only_git_can_read() {
    let root = tempfile::tempdir().unwrap();
    let reftable = Command::new("git")
        .args(["init", "-q", "-b", "trunk", "--ref-format=reftable"])
        .arg(root.path())
        .output()
        .unwrap();
    if !reftable.status.success() {
        return; // A git without reftables makes none.
    }
    assert_eq!(head(root.path()).branch(), Some("trunk"));
    let status = status(root.path(), None, "main").unwrap();
    assert_eq!(status.branch.as_deref(), Some("trunk"));
}

#[test]
fn an_operation_under_way_is_seen_and_its_end_too() {
    let world = World::new();
    let theirs = world.conflict();
    let ours = world.git(&world.slot, &["rev-parse", "HEAD"]);
    assert_eq!(operation(&world.slot), None);
    let patch = world.git(&world.main, &["format-patch", "-1", "--stdout"]);
    let patch_file = world.main.join("0001.patch");
    fs::write(&patch_file, format!("{patch}\n")).unwrap();
    let patch_file = patch_file.to_str().unwrap();
    // What a cherry-pick of two has left, when its first is solved by hand.
    let second = world.commit(&world.main, "second", "2");
    let operations: [(&[&str], Operation, &[&str]); 7] = [
        (&["merge", "main"], Operation::Merge, &["merge", "--abort"]),
        (
            &["rebase", "main"],
            Operation::Rebase,
            &["rebase", "--abort"],
        ),
        (
            &["rebase", "--apply", "main"],
            Operation::Rebase,
            &["rebase", "--abort"],
        ),
        (
            &["cherry-pick", &theirs],
            Operation::CherryPick,
            &["cherry-pick", "--abort"],
        ),
        (
            &["revert", "--no-edit", &theirs],
            Operation::Revert,
            &["revert", "--abort"],
        ),
        (&["am", patch_file], Operation::Am, &["am", "--abort"]),
        (
            &["bisect", "start", "HEAD", "HEAD~1"],
            Operation::Bisect,
            &["bisect", "reset"],
        ),
    ];
    for (begin, expected, end) in operations {
        let _ = world.try_git(&world.slot, begin);
        assert_eq!(operation(&world.slot), Some(expected), "{begin:?}");
        assert_eq!(operation(&world.main), None, "{begin:?}");
        world.git(&world.slot, end);
        assert_eq!(operation(&world.slot), None, "{end:?}");
        assert_eq!(world.git(&world.slot, &["rev-parse", "HEAD"]), ours);
    }
    let _ = world.try_git(&world.slot, &["cherry-pick", &theirs, &second]);
    world.git(&world.slot, &["checkout", "-q", "--theirs", "first"]);
    world.git(&world.slot, &["commit", "-q", "-am", "solved"]);
    assert_eq!(operation(&world.slot), Some(Operation::CherryPick));
}

#[test]
fn changes_are_counted() {
    let world = World::new();
    assert!(world.status("main").dirt.is_clean());
    world.commit(&world.slot, "old name", "the same\ncontent\nin many\nlines");
    world.git(&world.slot, &["mv", "old name", "new\nname"]);
    fs::write(world.slot.join("first"), "changed").unwrap();
    fs::create_dir(world.slot.join("new")).unwrap();
    fs::write(world.slot.join("new/a"), "").unwrap();
    fs::write(world.slot.join("new/b"), "").unwrap();
    // What somebody set for their own eyes does not hide anything.
    world.git(&world.slot, &["config", "status.showUntrackedFiles", "no"]);
    world.git(&world.slot, &["config", "status.renames", "copies"]);
    let expected = Dirt {
        changed: 3,
        untracked: 1,
        conflicts: 0,
    };
    assert_eq!(world.status("main").dirt, expected);
}

#[test]
fn conflicts_are_changes_that_stand_out() {
    let world = World::new();
    world.conflict();
    let _ = world.try_git(&world.slot, &["merge", "main"]);
    let expected = Dirt {
        changed: 1,
        untracked: 0,
        conflicts: 1,
    };
    assert_eq!(world.status("main").dirt, expected);
}

#[test]
fn commits_on_either_side_are_counted_whatever_the_upstream() {
    let world = World::new();
    world.is_away("main", 0, 0);
    world.commit(&world.slot, "a", "1");
    world.commit(&world.slot, "b", "1");
    world.commit(&world.main, "c", "1");
    world.is_away("main", 2, 1);
    world.is_away("refs/heads/main", 2, 1);
    // A commit, a tag.
    world.git(&world.main, &["tag", "v1"]);
    world.is_away("v1", 2, 1);
    let commit = world.git(&world.main, &["rev-parse", "main"]);
    world.is_away(&commit, 2, 1);
    assert_eq!(world.status("no-such-branch").distance, None);
    // Pushed: its upstream is its own name on the remote.
    let main = world.main.to_str().unwrap();
    let origin = world.main.with_file_name("origin.git");
    world.git(
        &world.main,
        &["clone", "-q", "--bare", main, origin.to_str().unwrap()],
    );
    world.git(
        &world.main,
        &["remote", "add", "origin", origin.to_str().unwrap()],
    );
    world.git(
        &world.slot,
        &["push", "-q", "-u", "origin", "feature", "main"],
    );
    world.commit(&world.slot, "d", "1");
    world.commit(&world.main, "e", "1");
    world.is_away("main", 3, 2);
    world.is_away("origin/main", 3, 1);
    // Made from the remote's main, which it follows then.
    world.git(&world.slot, &["branch", "-q", "-u", "origin/main"]);
    world.is_away("main", 3, 2);
    world.is_away("origin/main", 3, 1);
    // Another name altogether.
    world.git(&world.slot, &["push", "-q", "origin", "feature:other"]);
    world.git(&world.slot, &["branch", "-q", "-u", "origin/other"]);
    world.is_away("main", 3, 2);
    for name in ["a=b", "x.y/z"] {
        world.git(&world.slot, &["switch", "-q", "-c", name]);
        world.is_away("main", 3, 2);
    }
    world.git(&world.slot, &["switch", "-q", "--detach"]);
    world.is_away("main", 3, 2);
}

#[test]
fn several_revisions_are_answered_in_their_order() {
    let world = World::new();
    let first = world.git(&world.main, &["rev-parse", "HEAD"]);
    world.git(&world.main, &["tag", "-a", "-m", "one", "v1"]);
    let second = world.commit(&world.slot, "second", "2");
    let asked = [
        "refs/heads/none",
        "main\nmain",
        "v1",
        "",
        "HEAD^{tree}",
        "0123456789012345678901234567890123456789",
        "refs/heads/feature",
    ]
    .map(str::to_owned);
    let found = super::commits_of(&world.main, &asked).unwrap();
    let (first, second) = (Some(first), Some(second));
    assert_eq!(found, [None, None, first, None, None, None, second]);
    assert_eq!(super::commits_of(&world.main, &[]).unwrap(), []);
}

#[test]
fn a_git_that_fails_in_a_worktree_is_not_blamed_on_its_link() {
    let world = World::new();
    let refused = || {
        super::rescue::WorktreeHead::open(&world.slot)
            .err()
            .unwrap()
    };
    let config = world.main.join(".git/config");
    let sound = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{sound}[broken\n")).unwrap();
    let error = refused();
    assert!(error.message.contains("bad config line"), "{error:?}");
    assert!(!error.message.contains("root of"), "{error:?}");
    assert_eq!(error.hint, None);
    fs::write(&config, sound).unwrap();
    fs::remove_file(world.slot.join(".git")).unwrap();
    let error = refused();
    assert!(
        error.message.contains("is not the root of a git worktree"),
        "{error:?}"
    );
}
