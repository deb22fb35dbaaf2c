//! Copied files: what comes over, what never does, and that nothing is written outside of the slot.

use crate::workspace::world::{World, git_at};
use orange_engine::workspaces::files::{Copied, copy_into};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn copy(world: &World, patterns: &[&str]) -> Copied {
    copy_with(world, patterns, false)
}

fn copy_with(world: &World, patterns: &[&str], overwrite: bool) -> Copied {
    let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
    copy_into(&world.repository(), &world.slot(), &patterns, overwrite).unwrap()
}

fn why(copied: &Copied, path: impl AsRef<Path>) -> &str {
    let skipped = copied.skipped.iter();
    let found = skipped
        .clone()
        .find(|skipped| skipped.path == path.as_ref());
    &found
        .unwrap_or_else(|| panic!("{:?} was not skipped: {copied:?}", path.as_ref()))
        .why
}

fn slot_has(world: &World, files: &[&str]) {
    let mut expected: Vec<PathBuf> = [".gitignore", "tracked.txt"]
        .iter()
        .chain(files)
        .map(PathBuf::from)
        .collect();
    expected.sort();
    assert_eq!(world.files_in_slot(), expected);
}

#[test]
fn ignored_files_that_match_come_over() {
    let world = World::new();
    world.write(".env", "SECRET=1");
    world.write("config/db.local", "db");
    world.write("config/mail.local", "mail");
    world.write("node_modules/a/b/index.js", "js");
    world.write("node_modules/top.js", "js");
    world.write("not-asked-for.local", "no");
    let copied = copy(
        &world,
        &[
            "/.env",
            "config/*.local",
            "!config/mail.local",
            "node_modules/",
        ],
    );
    assert_eq!((copied.files, copied.bytes, copied.kept), (4, 14, 0));
    assert_eq!(copied.skipped, []);
    slot_has(
        &world,
        &[
            ".env",
            "config/db.local",
            "node_modules/a/b/index.js",
            "node_modules/top.js",
        ],
    );
    assert_eq!(
        fs::read_to_string(world.slot().join(".env")).unwrap(),
        "SECRET=1"
    );
    assert_eq!(git_at(&world.slot(), &["status", "--porcelain"]), "");
}

#[test]
fn nothing_is_asked_of_anybody_without_patterns() {
    let nowhere = Path::new("/nowhere/at/all");
    assert_eq!(
        copy_into(nowhere, nowhere, &[], true).unwrap(),
        Copied::default()
    );
}

#[test]
fn what_git_does_not_ignore_stays_where_it_is() {
    let world = World::new();
    world.write("untracked.txt", "mine");
    world.write(".env", "x");
    fs::write(world.repository().join("tracked.txt"), "edited").unwrap();
    let copied = copy(&world, &["*"]);
    assert_eq!(why(&copied, "untracked.txt"), "git does not ignore it");
    assert_eq!(copied.skipped.len(), 1, "{copied:?}");
    slot_has(&world, &[".env"]);
    assert_eq!(
        fs::read_to_string(world.slot().join("tracked.txt")).unwrap(),
        "tracked"
    );
}

#[test]
fn what_the_slot_s_branch_does_not_ignore_could_be_committed_and_is_left_out() {
    let world = World::new();
    world.write(".env", "SECRET=1");
    world.write("x.local", "x");
    // The task's branch has other rules, and a file of that name.
    world.write_slot(".gitignore", "nothing\n");
    world.write_slot("x.local", "tracked here");
    git_at(&world.slot(), &["add", "-A"]);
    world.write_slot(".gitignore", "*.local\n");
    let copied = copy_with(&world, &[".env", "*.local"], true);
    assert_eq!(copied.files, 0);
    assert!(why(&copied, ".env").contains("could get into a commit"));
    assert!(why(&copied, "x.local").contains("could get into a commit"));
    assert_eq!(
        fs::read_to_string(world.slot().join("x.local")).unwrap(),
        "tracked here"
    );
}

#[test]
fn what_the_slot_has_is_kept_unless_it_is_to_be_replaced() {
    let world = World::new();
    world.write(".env", "new");
    world.write("a.local", "new");
    world.write("folder.local", "new");
    world.write_slot(".env", "old");
    world.write_slot("folder.local/file", "old");
    let copied = copy(&world, &[".env", "*.local"]);
    assert_eq!((copied.files, copied.kept), (1, 1));
    assert_eq!(
        fs::read_to_string(world.slot().join(".env")).unwrap(),
        "old"
    );
    let copied = copy_with(&world, &[".env", "*.local"], true);
    assert_eq!((copied.files, copied.kept), (2, 0));
    assert_eq!(
        fs::read_to_string(world.slot().join(".env")).unwrap(),
        "new"
    );
    assert_eq!(why(&copied, "folder.local"), "a folder is in its place");
    assert_eq!(
        fs::read_to_string(world.slot().join("folder.local/file")).unwrap(),
        "old"
    );
}

#[test]
fn modes_and_times_come_along() {
    let world = World::new();
    let script = world.write("deep/secret/run.sh", "#!/bin/sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o4750)).unwrap();
    fs::set_permissions(script.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    let then = SystemTime::now() - Duration::from_secs(1_000_000);
    fs::File::options()
        .write(true)
        .open(&script)
        .unwrap()
        .set_modified(then)
        .unwrap();
    copy(&world, &["deep/"]);
    let copy = fs::metadata(world.slot().join("deep/secret/run.sh")).unwrap();
    // Not the set-user-id bit.
    assert_eq!(copy.mode() & 0o7777, 0o750);
    assert_eq!(copy.modified().unwrap(), then);
    let folder = fs::metadata(world.slot().join("deep/secret")).unwrap();
    assert_eq!(folder.mode() & 0o777, 0o700);
}

#[test]
fn a_link_is_copied_as_a_link() {
    let world = World::new();
    let outside = world.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    symlink(&outside, world.repository().join("out.local")).unwrap();
    symlink("nowhere", world.repository().join("dangling.local")).unwrap();
    let copied = copy(&world, &["*.local"]);
    assert_eq!(copied.files, 2);
    slot_has(&world, &["dangling.local", "out.local"]);
    assert_eq!(
        fs::read_link(world.slot().join("out.local")).unwrap(),
        outside
    );
    assert_eq!(
        fs::read_link(world.slot().join("dangling.local")).unwrap(),
        Path::new("nowhere")
    );
}

#[test]
fn a_link_in_the_slot_leads_nothing_outside() {
    let world = World::new();
    let outside = world.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "precious").unwrap();
    world.write("deep/a/file", "new");
    world.write("node_modules/file", "new");
    world.write(".env", "new");
    world.write("fine.local", "new");
    // A folder, a parent of a folder, and the file itself point elsewhere.
    symlink(&outside, world.slot().join("node_modules")).unwrap();
    symlink(&outside, world.slot().join("deep")).unwrap();
    symlink(outside.join("precious"), world.slot().join(".env")).unwrap();
    for overwrite in [false, true] {
        let copied = copy_with(
            &world,
            &["node_modules/*", "deep", ".env", "*.local"],
            overwrite,
        );
        assert!(why(&copied, "deep/a/file").contains("a link or a file"));
        assert!(why(&copied, "node_modules/file").contains("a link or a file"));
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(
            fs::read_to_string(outside.join("precious")).unwrap(),
            "precious"
        );
    }
    // Replaced, not followed.
    assert!(
        !fs::symlink_metadata(world.slot().join(".env"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::read_to_string(world.slot().join("fine.local")).unwrap(),
        "new"
    );
}

#[test]
fn a_staging_folder_that_is_a_link_is_not_followed() {
    let world = World::new();
    let outside = world.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("part"), "precious").unwrap();
    symlink(&outside, world.slot().join(".orange-copy")).unwrap();
    world.write(".env", "new");
    let error = copy_into(&world.repository(), &world.slot(), &[".env".into()], true).unwrap_err();
    assert!(error.message.contains(".env"), "{error}");
    assert_eq!(
        fs::read_to_string(outside.join("part")).unwrap(),
        "precious"
    );
}

#[test]
fn what_a_killed_copy_left_is_swept() {
    let world = World::new();
    world.write_slot(".orange-copy/part", "half a sec");
    assert_eq!(copy(&world, &["*.local"]).files, 0);
    slot_has(&world, &[]);
    assert!(!world.slot().join(".orange-copy").exists());
    // Somebody's own files of that name are not touched.
    world.write_slot(".orange-copy/mine", "mine");
    world.write(".env", "x");
    copy(&world, &[".env"]);
    slot_has(&world, &[".env", ".orange-copy/mine"]);
}

#[test]
fn names_that_look_like_something_else() {
    let world = World::new();
    let names: [&[u8]; 8] = [
        b"-rf.local",
        b"--exclude=x.local",
        b":(top)y.local",
        b"new\nline.local",
        b" blanks and tab\t.local",
        b"not\xff\xfeutf8.local",
        b"quote\"'\\.local",
        "größe-日本.local".as_bytes(),
    ];
    for name in names {
        world.write(OsStr::from_bytes(name), name);
        world.write(
            Path::new("node_modules")
                .join(OsStr::from_bytes(name))
                .join("x"),
            name,
        );
    }
    let copied = copy(&world, &["*.local", "node_modules/"]);
    assert_eq!(copied.files, 16);
    assert_eq!(copied.skipped, []);
    for name in names {
        let path = world.slot().join(OsStr::from_bytes(name));
        assert_eq!(fs::read(path).unwrap(), name);
    }
}

#[test]
fn patterns_that_look_like_something_else() {
    let world = World::new();
    world.write("-odd.local", "x");
    world.write("plain.local", "x");
    let copied = copy(&world, &["-odd.local"]);
    assert_eq!(copied.files, 1);
    slot_has(&world, &["-odd.local"]);
    assert_eq!(
        copy(&world, &["../outside", "/../x", "--others"]),
        Copied::default()
    );
}

#[test]
fn other_worktrees_and_repositories_stay_out() {
    let world = World::new();
    world.write("deep/mine", "mine");
    world.git(&["worktree", "add", "-q", "--detach", "deep/tree"]);
    world.write("deep/tree/.env", "of the worktree");
    fs::create_dir_all(world.repository().join("node_modules/dependency")).unwrap();
    git_at(
        &world.repository().join("node_modules/dependency"),
        &["init", "-q"],
    );
    world.write("node_modules/dependency/file", "x");
    // A worktree whose repository is gone: git takes it for a plain folder.
    world.write("deep/broken/.git", "gitdir: /nowhere/at/all\n");
    world.write("deep/broken/sub/file", "x");
    let copied = copy(&world, &["*"]);
    slot_has(&world, &["deep/mine"]);
    for path in [
        "deep/tree",
        "node_modules/dependency",
        "deep/broken/sub/file",
    ] {
        assert_eq!(
            why(&copied, path),
            "it is a repository or a worktree of its own"
        );
    }
}

#[test]
fn orange_itself_stays_out_when_it_lives_in_the_repository() {
    let world = World::new();
    world.write("deep/mine", "mine");
    world.write("deep/home/orange.db", "x");
    world.write("deep/home/workspaces/shop/notes", "x");
    let slot = world.repository().join("deep/home/workspaces/shop/1");
    world.git(&["worktree", "add", "-q", "--detach", slot.to_str().unwrap()]);
    let copied = copy_into(&world.repository(), &slot, &["deep/".into()], false).unwrap();
    assert_eq!(copied.files, 1, "{copied:?}");
    assert!(slot.join("deep/mine").is_file());
    assert!(!slot.join("deep/home").exists());
}

#[test]
fn a_task_file_is_never_replaced() {
    let world = World::new();
    world.write(".git/info/exclude", "/TASK.md\n");
    world.write("TASK.md", "of the checkout");
    world.write_slot("TASK.md", "of the task");
    copy_with(&world, &["*.md"], true);
    assert_eq!(
        fs::read_to_string(world.slot().join("TASK.md")).unwrap(),
        "of the task"
    );
}

#[test]
fn sockets_and_pipes_are_skipped() {
    let world = World::new();
    world.write("deep/file", "x");
    let _socket = UnixListener::bind(world.repository().join("deep/socket")).unwrap();
    let pipe = world.repository().join("deep/pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let copied = copy(&world, &["deep/"]);
    assert_eq!(copied.files, 1);
    slot_has(&world, &["deep/file"]);
}

#[test]
fn a_bare_repository_has_nothing_to_copy() {
    let world = World::new();
    let bare = world.root().join("bare.git");
    git_at(
        &world.root(),
        &["clone", "-q", "--bare", "shop", "bare.git"],
    );
    fs::write(bare.join(".env"), "x").unwrap();
    let copied = copy_into(&bare, &world.slot(), &[".env".into()], false).unwrap();
    assert_eq!(copied, Copied::default());
}

#[test]
fn thousands_of_files_come_over() {
    let world = World::new();
    for folder in 0..50 {
        for file in 0..60 {
            world.write(format!("node_modules/p{folder}/lib/{file}.js"), "x");
        }
    }
    let copied = copy(&world, &["node_modules"]);
    assert_eq!((copied.files, copied.bytes), (3000, 3000));
    assert_eq!(world.files_in_slot().len(), 3002);
    assert_eq!(copy(&world, &["node_modules"]).kept, 3000);
}

#[test]
fn a_slot_that_lost_its_repository_is_an_error() {
    let world = World::new();
    world.write(".env", "x");
    fs::remove_file(world.slot().join(".git")).unwrap();
    let error = copy_into(&world.repository(), &world.slot(), &[".env".into()], false).unwrap_err();
    assert!(error.message.contains("not a git repository"), "{error}");
    assert!(!world.slot().join(".env").exists());
}
