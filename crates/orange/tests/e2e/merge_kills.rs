//! Kills while git itself is at work in a user's checkout: of Orange, whose git lives on; of git; of both. The hooks
//! of the repository strike at just the moment between the files and the branch.

use crate::env::TestTask;
use crate::merges::Merges;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

/// Who starts git, seen from a hook.
const ORANGE: &str = "$(cut -d' ' -f4 /proc/$PPID/stat)";

/// Files of every kind that a merge replaces, adds and takes away; and the task that does.
fn every_kind(env: &Merges) -> TestTask {
    let shop = env.shop();
    symlink("one", shop.join("link")).unwrap();
    for (name, text) in [("tool", "run\n"), ("gone", "x\n"), ("was-file", "x\n")] {
        fs::write(shop.join(name), text).unwrap();
    }
    fs::create_dir(shop.join("was-folder")).unwrap();
    fs::write(shop.join("was-folder/file"), "x\n").unwrap();
    env.commit_all(&shop, "every kind");
    env.branch_by("work", |folder| {
        fs::remove_file(folder.join("link")).unwrap();
        symlink("two", folder.join("link")).unwrap();
        symlink("new", folder.join("new-link")).unwrap();
        let runs = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("tool"), runs).unwrap();
        fs::remove_file(folder.join("gone")).unwrap();
        fs::remove_file(folder.join("was-file")).unwrap();
        fs::create_dir_all(folder.join("was-file/deep")).unwrap();
        fs::write(folder.join("was-file/deep/file"), "x\n").unwrap();
        fs::remove_dir_all(folder.join("was-folder")).unwrap();
        fs::write(folder.join("was-folder"), "x\n").unwrap();
        fs::write(folder.join("lines"), "all of it is new\n").unwrap();
        fs::write(folder.join("big"), "new\n".repeat(1000)).unwrap();
        env.commit_all(folder, "work");
    });
    env.reviewed("work")
}

/// Runs a script when git has written the files of the checkout and is about to move its branch.
fn between(env: &Merges, script: &str) {
    let script = format!(
        "test \"$1\" = prepared || exit 0\ngrep -q refs/heads/main || exit 0\n\
         test -e big || exit 0\n{script}"
    );
    env.hook(&env.shop(), "reference-transaction", &script);
}

/// Takes the hook away. The locks of a git that was killed are gone by then, or with the first command after its end: it is
/// killed after its Orange, and may live on for a moment.
fn clear_away(env: &Merges) {
    let git = env.shop().join(".git");
    fs::remove_file(git.join("hooks/reference-transaction")).unwrap();
    let left = || {
        let names = [
            "HEAD.lock",
            "refs/heads/main.lock",
            "index.lock",
            "index.orange",
        ];
        names.into_iter().find(|name| git.join(name).exists())
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while let Some(name) = left() {
        assert!(Instant::now() < deadline, "{name}");
        env.orange(["task", "list"]).ok();
    }
}

fn merges_after_all(env: &Merges, task: &TestTask) {
    clear_away(env);
    env.merge(task, &[]).ok();
    assert!(env.is_done(task));
    assert_eq!(env.git(&env.shop(), &["status", "--porcelain"]), "");
    assert_eq!(env.line(&env.shop(), "main")[0], "Do work (TASK-001)");
}

#[test]
fn a_git_that_outlives_its_orange_is_waited_for() {
    let env = Merges::new();
    let task = every_kind(&env);
    // Whoever does not wait takes the lock away and everything back, and the branch moves nevertheless.
    between(
        &env,
        &format!(
            "kill -9 {ORANGE}\nfor turn in 1 2 3 4 5 6 7 8 9 10; do\n\
             test -e .git/index.lock || exit 0\nsleep 0.1\ndone"
        ),
    );
    let run = env.merge(&task, &[]);
    assert_ne!(run.code, 0, "{run}");
    env.orange(["task", "list"]).ok().says("it is finished now");
    assert!(env.is_done(&task));
    merges_after_all(&env, &task);
}

#[test]
fn a_git_that_is_killed_leaves_no_change_that_nobody_made() {
    let env = Merges::new();
    let task = every_kind(&env);
    between(&env, "kill -9 $PPID");
    let before = env.surroundings(&env.shop());
    env.merge(&task, &[])
        .fails_with(3)
        .says("nothing was merged");
    assert_eq!(env.surroundings(&env.shop()), before);
    // Its locks went with it: the next one comes as far, and no further.
    env.merge(&task, &[])
        .fails_with(3)
        .says("killed by signal 9")
        .silent_about(".lock");
    merges_after_all(&env, &task);
}

#[test]
fn both_killed_and_files_half_written() {
    let env = Merges::new();
    let shop = env.shop();
    let task = every_kind(&env);
    fs::write(shop.join("README.md"), "the user's edit").unwrap();
    between(&env, &format!("kill -9 {ORANGE}\nkill -9 $PPID"));
    let before = env.surroundings(&shop);
    env.merge(&task, &[]);
    assert!(shop.join("was-file/deep/file").exists());
    // Git takes the old file away first, and a kill may come before it has written all of the new one.
    fs::write(shop.join("big"), "new\n".repeat(10) + "ne").unwrap();
    fs::remove_file(shop.join("lines")).unwrap();
    env.orange(["task", "list"]).ok();
    assert_eq!(env.surroundings(&shop), before);
    fs::write(shop.join("README.md"), "first").unwrap();
    merges_after_all(&env, &task);
}

#[test]
fn a_push_that_outlives_its_orange_is_waited_for() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    let asked = env.root().join("asked");
    // Whoever does not wait for the push asks the remote too early.
    env.hook(
        &shop,
        "pre-push",
        &format!(
            "kill -9 {ORANGE}\nfor turn in 1 2 3 4 5 6 7 8 9 10; do\n\
             test -e '{}' && exit 0\nsleep 0.1\ndone",
            asked.display()
        ),
    );
    let asks = format!(
        "'{}' \"$@\"; code=$?; touch '{}'; exit $code",
        "git-upload-pack",
        asked.display()
    );
    let program = env.write("upload-pack", format!("#!/bin/sh\n{asks}\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let setting = [
        "config",
        "remote.origin.uploadpack",
        program.to_str().unwrap(),
    ];
    env.git(&shop, &setting);
    let run = env.merge(&task, &[]);
    assert_ne!(run.code, 0, "{run}");
    env.orange(["task", "list"]).ok().says("it is finished now");
    assert!(env.is_done(&task));
    assert_eq!(env.line(&shop, "main"), ["Do work (TASK-001)"]);
    assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn a_branch_that_moves_after_its_orange_is_waited_for() {
    let env = Merges::new();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    env.git(&shop, &["switch", "-q", "-c", "elsewhere"]);
    // Whoever does not wait writes down that nothing was merged.
    let script = format!(
        "test \"$1\" = prepared || exit 0\ngrep -q refs/heads/main || exit 0\n\
         kill -9 {ORANGE}\nfor turn in 1 2 3 4 5 6 7 8 9 10; do\n\
         grep -q merge.stopped '{}' && exit 0\nsleep 0.1\ndone",
        task.journal().display()
    );
    env.hook(&shop, "reference-transaction", &script);
    let run = env.merge(&task, &[]);
    assert_ne!(run.code, 0, "{run}");
    env.orange(["task", "list"]).ok().says("it is finished now");
    assert!(env.is_done(&task));
    assert_eq!(env.line(&shop, "main"), ["Do work (TASK-001)"]);
}
