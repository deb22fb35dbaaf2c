//! Files in every odd state: all of them are in the rescue, byte by byte.

use crate::rescue::world::World;
use orange_engine::Code;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn a_clean_worktree_needs_no_rescue() {
    let world = World::new();
    world.nothing_to_save();
    world.commit("more", "on the branch");
    world.nothing_to_save();
    world.write("x.ignored", "ignored files are not saved");
    world.nothing_to_save();
}

#[test]
fn changed_untracked_staged_and_deleted_files() {
    let world = World::new();
    world.write("a", "changed\n");
    world.write("b", "staged\n");
    world.git(["add", "b"]);
    world.write("new/deep/file", "untracked");
    world.write("new/x.ignored", "no");
    world.remove("dir/c");
    let saved = world.save();
    world.holds(&saved.commit, "a", "changed\n");
    world.holds(&saved.commit, "b", "staged\n");
    world.holds(&saved.commit, "new/deep/file", "untracked");
    assert_eq!(
        world.names(&saved.commit),
        [".gitignore", "a", "b", "new/deep/file"]
    );
    assert_eq!(saved.note.files, 4);
    assert_eq!(saved.note.raw, None);
    assert_eq!(world.parents(&saved.commit)[0], world.head());
    assert_eq!(world.trailer(&saved.commit, "Reason").unwrap(), "release");
    assert_eq!(world.trailer(&saved.commit, "Branch").unwrap(), "task");
}

#[test]
fn staged_content_that_the_file_no_longer_has() {
    let world = World::new();
    world.write("a", "staged\n");
    world.write("only staged", "gone from the folder\n");
    world.git(["add", "-A"]);
    world.write("a", "later\n");
    world.remove("only staged");
    let saved = world.save();
    world.holds(&saved.commit, "a", "later\n");
    let staged = world.trailer(&saved.commit, "Staged").unwrap();
    assert_eq!(world.parents(&saved.commit), [world.head(), staged.clone()]);
    world.holds(&staged, "a", "staged\n");
    world.holds(&staged, "only staged", "gone from the folder\n");
    // The same when the files are as HEAD has them.
    world.git(["commit", "-q", "-m", "all"]);
    world.write("a", "staged again\n");
    world.git(["add", "a"]);
    world.write("a", "staged\n");
    world.write("only staged", "gone from the folder\n");
    let saved = world.save();
    assert_eq!(saved.note.files, 0);
    let staged = world.trailer(&saved.commit, "Staged").unwrap();
    world.holds(&staged, "a", "staged again\n");
}

#[test]
fn odd_names() {
    let world = World::new();
    let names: [&[u8]; 6] = [
        b"with space",
        b"with\nnewline",
        b"not \xff\xfe utf-8",
        b"-rf",
        b"--",
        b":(glob)*",
    ];
    for name in names {
        world.write(OsStr::from_bytes(name), name);
    }
    let saved = world.save();
    for name in names {
        world.holds(&saved.commit, OsStr::from_bytes(name), name);
    }
    assert_eq!(saved.note.files, names.len());
}

#[test]
fn a_file_becomes_a_folder_and_a_folder_a_file() {
    let world = World::new();
    world.remove("a");
    world.write("a/inside", "now a folder");
    fs::remove_dir_all(world.path("dir")).unwrap();
    world.write("dir", "now a file");
    let saved = world.save();
    world.holds(&saved.commit, "a/inside", "now a folder");
    world.holds(&saved.commit, "dir", "now a file");
}

#[test]
fn links_and_modes() {
    let world = World::new();
    symlink("nowhere/at all", world.path("link")).unwrap();
    world.remove("b");
    symlink("a", world.path("b")).unwrap();
    fs::set_permissions(world.path("a"), Permissions::from_mode(0o755)).unwrap();
    let saved = world.save();
    world.holds(&saved.commit, "link", "nowhere/at all");
    assert_eq!(world.mode(&saved.commit, "link"), "120000");
    assert_eq!(world.mode(&saved.commit, "b"), "120000");
    assert_eq!(world.mode(&saved.commit, "a"), "100755");
}

#[test]
fn files_that_git_was_told_not_to_look_at() {
    let world = World::new();
    world.git(["update-index", "--assume-unchanged", "a"]);
    world.git(["update-index", "--skip-worktree", "b"]);
    world.nothing_to_save();
    world.write("a", "changed behind its back\n");
    world.write("b", "changed too\n");
    let saved = world.save();
    world.holds(&saved.commit, "a", "changed behind its back\n");
    world.holds(&saved.commit, "b", "changed too\n");
}

#[test]
fn files_left_out_by_a_sparse_checkout_are_not_deleted() {
    let world = World::new();
    for mode in ["--no-cone", "--cone"] {
        let only = if mode == "--cone" { "new" } else { "/a" };
        world.git(["sparse-checkout", "set", mode, only]);
        assert!(!world.path("dir/c").exists());
        world.nothing_to_save();
    }
    world.write("new/inside", "in the cone");
    world.write("dir/outside", "not in the cone");
    let saved = world.save();
    world.holds(&saved.commit, "dir/c", "c\n");
    world.holds(&saved.commit, "new/inside", "in the cone");
    world.holds(&saved.commit, "dir/outside", "not in the cone");
}

#[test]
fn a_sparse_index() {
    let world = World::new();
    world.git(["sparse-checkout", "set", "--cone", "--sparse-index", "new"]);
    world.nothing_to_save();
    world.write("a", "changed");
    world.write("dir/outside", "not in the cone");
    let saved = world.save();
    world.holds(&saved.commit, "dir/c", "c\n");
    world.holds(&saved.commit, "a", "changed");
    world.holds(&saved.commit, "dir/outside", "not in the cone");
}

#[test]
fn files_that_are_announced_only() {
    let world = World::new();
    world.write("announced", "content");
    world.write("announced and gone", "content");
    world.git(["add", "-N", "announced", "announced and gone"]);
    world.remove("announced and gone");
    let saved = world.save();
    world.holds(&saved.commit, "announced", "content");
    assert_eq!(saved.note.files, 1);
}

#[test]
fn a_lock_that_a_killed_git_left() {
    let world = World::new();
    fs::write(world.git_dir().join("index.lock"), "").unwrap();
    world.write("a", "changed");
    let saved = world.save();
    world.holds(&saved.commit, "a", "changed");
}

#[test]
fn split_index_caches_and_monitors() {
    let world = World::new();
    for (key, value) in [
        ("core.splitIndex", "true"),
        ("core.untrackedCache", "true"),
        ("core.fsmonitor", "/does/not/exist"),
        ("splitIndex.maxPercentChange", "100"),
    ] {
        world.git(["config", key, value]);
    }
    world.git(["update-index", "--split-index"]);
    world.git(["-c", "core.fsmonitor=", "update-index", "--untracked-cache"]);
    world.git(["-c", "core.fsmonitor=", "status"]);
    world.write("a", "staged");
    world.git(["-c", "core.fsmonitor=", "add", "a"]);
    world.write("a", "later");
    world.write("dir/new", "new");
    let saved = world.save();
    world.holds(&saved.commit, "a", "later");
    world.holds(&saved.commit, "dir/new", "new");
    let staged = world.trailer(&saved.commit, "Staged").unwrap();
    world.holds(&staged, "a", "staged");
    // The shared part is still there for the real one.
    assert!(
        world
            .git(["-c", "core.fsmonitor=", "ls-files"])
            .contains("dir/c")
    );
}

#[test]
fn a_change_in_the_moment_of_the_index() {
    let world = World::new();
    // Same size, same time as the index: only the content tells.
    for round in 0..20 {
        world.write("a", format!("{round:02}"));
        world.git(["add", "a"]);
        world.write("a", "xx");
        let saved = world.save();
        world.holds(&saved.commit, "a", "xx");
    }
}

#[test]
fn a_filter_that_fails() {
    let world = World::new();
    world.commit(
        ".gitattributes",
        "*.bin filter=lfs\nu16 working-tree-encoding=UTF-16\n",
    );
    for (key, value) in [
        ("filter.lfs.clean", "/does/not/exist %f"),
        ("filter.lfs.process", "/does/not/exist either"),
        ("filter.lfs.required", "true"),
        ("filter.a=b.clean", "false"),
        ("filter.a=b.required", "true"),
    ] {
        world.git(["config", key, value]);
    }
    world.write("big.bin", b"\x00raw\xff");
    world.write("u16", b"odd");
    world.write("a", "changed");
    world.write("run.bin", "#!/bin/sh");
    fs::set_permissions(world.path("run.bin"), Permissions::from_mode(0o755)).unwrap();
    symlink("a", world.path("link.bin")).unwrap();
    world.remove("b");
    world.remove("dir/c");
    world.write("dir/c/now a folder", "x");
    let saved = world.save();
    world.holds(&saved.commit, "big.bin", b"\x00raw\xff");
    world.holds(&saved.commit, "u16", b"odd");
    world.holds(&saved.commit, "a", "changed");
    world.holds(&saved.commit, "link.bin", "a");
    world.holds(&saved.commit, "dir/c/now a folder", "x");
    assert_eq!(world.mode(&saved.commit, "run.bin"), "100755");
    assert_eq!(world.blob(&saved.commit, "b"), None);
}

#[test]
fn a_pipe_in_the_place_of_a_file() {
    let world = World::new();
    world.remove("a");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.path("a"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    world.write("b", "changed");
    let saved = world.save();
    world.holds(&saved.commit, "b", "changed");
}

#[test]
fn before_the_first_commit() {
    let mut world = World::without_commits();
    world.slot = world.repository.clone();
    world.nothing_to_save();
    world.write("first", "never committed");
    world.write("staged", "staged");
    world.git(["add", "staged"]);
    world.write("staged", "later");
    let saved = world.save();
    world.holds(&saved.commit, "first", "never committed");
    world.holds(&saved.commit, "staged", "later");
    let staged = world.trailer(&saved.commit, "Staged").unwrap();
    world.holds(&staged, "staged", "staged");
    assert_eq!(saved.note.files, 2);
}

#[test]
fn the_users_name_is_not_needed_and_hooks_do_not_run() {
    let world = World::new();
    let hooks = world.repository.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in ["reference-transaction", "pre-commit", "post-index-change"] {
        fs::write(hooks.join(name), "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(hooks.join(name), Permissions::from_mode(0o755)).unwrap();
    }
    world.git(["config", "user.useConfigOnly", "true"]);
    world.git(["config", "commit.gpgSign", "true"]);
    world.write("a", "changed");
    let saved = world.save();
    let who = world.git(["log", "-1", "--format=%an <%ae> %cn", &saved.commit]);
    assert_eq!(who, "orange <orange@localhost> orange");
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    if rustix::process::geteuid().is_root() {
        return as_nobody("rescue::content::what_cannot_be_read_is_refused_by_name");
    }
    for folder in [false, true] {
        let world = World::new();
        world.write("secret/file", "x");
        let tx = world.path(if folder { "secret" } else { "secret/file" });
        fs::set_permissions(&tx, Permissions::from_mode(0o000)).unwrap();
        world.write("a", "changed");
        let error = world.try_save().unwrap_err();
        fs::set_permissions(&tx, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(error.code, Code::Refused);
        assert!(error.message.contains("secret"), "{error}");
        assert!(error.hint.is_some());
        assert_eq!(world.git(["for-each-ref", "refs/orange"]), "");
    }
}

/// Root can read everything, so the test runs once more as somebody who cannot.
fn as_nobody(test: &str) {
    use std::os::unix::process::CommandExt;
    let exe = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("test");
    fs::copy(exe, &copy).unwrap();
    std::os::unix::fs::chown(folder.path(), Some(65534), Some(65534)).unwrap();
    let output = std::process::Command::new(&copy)
        .args(["--exact", test, "--nocapture"])
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .current_dir(folder.path())
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
