//! What one task leaves in git's own records of a slot: the next task gets nothing of it, and the work behind it is saved.

use crate::env::{TestEnvironment, TestTask};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// With a pool of one slot, so that the next task gets the same.
fn prepared() -> TestEnvironment {
    let env = TestEnvironment::new();
    env.pool_size(1);
    let shop = env.shop();
    for folder in ["app", "docs"] {
        fs::create_dir(shop.join(folder)).unwrap();
    }
    for name in ["app/one", "app/two", "docs/three", "four"] {
        env.commit(&shop, name, name);
    }
    env
}

fn own_folder(env: &TestEnvironment, slot: &Path) -> PathBuf {
    let folder = env.git(slot, &["rev-parse", "--absolute-git-dir"]);
    PathBuf::from(folder)
}

/// Ends a task and checks that its slot is as a new one. Then a next task commits a change of each file in it, and the merge
/// has all of them.
fn is_clean_for_the_next(env: &TestEnvironment, task: &TestTask, slot: &Path) {
    env.cancel(task).ok();
    let shop = env.shop();
    let main = env.git(&shop, &["rev-parse", "main"]);
    env.is_parked(slot, &main);
    env.orange(["doctor"]).ok();
    let own = own_folder(env, slot);
    for name in [
        "config.worktree",
        "info/sparse-checkout",
        "MERGE_HEAD",
        "BISECT_LOG",
        "refs/worktree",
    ] {
        assert!(!own.join(name).exists(), "{name}");
    }
    let flags = env.git(slot, &["ls-files", "-v"]);
    assert!(flags.lines().all(|line| line.starts_with("H ")), "{flags}");
    assert_eq!(
        env.git(slot, &["for-each-ref", "refs/bisect", "refs/worktree"]),
        ""
    );
    let next = env.create(["next", "Some work"]);
    assert_eq!(env.start(&next), slot);
    for name in ["app/one", "app/two", "docs/three", "four"] {
        assert_eq!(fs::read_to_string(slot.join(name)).unwrap(), name);
        fs::write(slot.join(name), "next").unwrap();
    }
    let changed = env.git(slot, &["status", "--porcelain", "-uall"]);
    assert_eq!(changed.lines().count(), 4, "{changed}");
    env.git(slot, &["commit", "-q", "-a", "-m", "next"]);
    let committed = env.git(slot, &["diff", "--name-only", "main", "HEAD"]);
    assert_eq!(committed.lines().count(), 4, "{committed}");
}

#[track_caller]
fn is_rescued(env: &TestEnvironment, task: &TestTask, file: &str, text: &str) {
    let found = env.rescued(&env.shop(), task, file);
    assert_eq!(found.as_deref(), Some(text), "{file}");
}

#[test]
fn files_assumed_unchanged() {
    let env = prepared();
    let (task, slot) = env.started("work");
    env.git(
        &slot,
        &["update-index", "--assume-unchanged", "app/one", "four"],
    );
    fs::write(slot.join("app/one"), "hidden").unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "app/one", "hidden");
}

#[test]
fn files_to_be_skipped() {
    let env = prepared();
    let (task, slot) = env.started("work");
    env.git(
        &slot,
        &["update-index", "--skip-worktree", "app/one", "app/two"],
    );
    fs::write(slot.join("app/one"), "hidden").unwrap();
    fs::remove_file(slot.join("app/two")).unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "app/one", "hidden");
}

#[test]
fn files_announced_only() {
    let env = prepared();
    let (task, slot) = env.started("work");
    fs::write(slot.join("new"), "announced").unwrap();
    env.git(&slot, &["add", "-N", "new"]);
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "new", "announced");
    assert!(!slot.join("new").exists());
}

/// Everything else that an index can have.
#[test]
fn an_index_of_every_kind() {
    for words in [
        &["update-index", "--split-index"][..],
        &["update-index", "--force-untracked-cache"],
        &["update-index", "--fsmonitor-valid", "app/one"],
        &["update-index", "--index-version", "4"],
        &["update-index", "--chmod=+x", "app/one"],
        &["rm", "-q", "--cached", "app/one"],
        &["-c", "core.fsmonitor=true", "update-index", "--fsmonitor"],
    ] {
        let env = prepared();
        let (task, slot) = env.started("work");
        let mut git = env.foreign("git");
        // Not every git can do all of it.
        git.current_dir(&slot).args(words).output().unwrap();
        fs::write(slot.join("app/two"), "changed").unwrap();
        is_clean_for_the_next(&env, &task, &slot);
        is_rescued(&env, &task, "app/two", "changed");
        let mut stop = env.foreign("git");
        let _ = stop
            .current_dir(&slot)
            .args(["fsmonitor--daemon", "stop"])
            .output();
    }
}

#[test]
fn a_conflict() {
    let env = prepared();
    let (task, slot) = env.started("work");
    env.commit(&slot, "four", "mine");
    env.commit(&env.shop(), "other", "x");
    env.git(&slot, &["switch", "-q", "-c", "side", "HEAD~1"]);
    env.commit(&slot, "four", "theirs");
    env.git(&slot, &["switch", "-q", "work"]);
    let mut merge = env.foreign("git");
    merge
        .current_dir(&slot)
        .args(["merge", "-q", "side"])
        .output()
        .unwrap();
    fs::write(slot.join("app/one"), "in the middle").unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "app/one", "in the middle");
}

#[test]
fn a_sparse_checkout() {
    for words in [
        &["sparse-checkout", "set", "docs"][..],
        &["sparse-checkout", "set", "--no-cone", "/docs/", "/four"],
        &["sparse-checkout", "set", "--sparse-index", "docs"],
    ] {
        let env = prepared();
        let (task, slot) = env.started("work");
        env.git(&slot, words);
        assert!(!slot.join("app/one").exists());
        // One that should not be there is work.
        fs::create_dir_all(slot.join("app")).unwrap();
        fs::write(slot.join("app/one"), "hidden").unwrap();
        is_clean_for_the_next(&env, &task, &slot);
        is_rescued(&env, &task, "app/one", "hidden");
        // What was left out is not deleted in it.
        is_rescued(&env, &task, "app/two", "app/two");
    }
}

#[test]
fn settings_of_its_own() {
    let env = prepared();
    let (task, slot) = env.started("work");
    env.git(&slot, &["config", "extensions.worktreeConfig", "true"]);
    let everything = env.write("everything", "*\n");
    let everything = everything.to_str().unwrap();
    env.git(
        &slot,
        &["config", "--worktree", "core.excludesFile", everything],
    );
    env.git(&slot, &["config", "--worktree", "core.fileMode", "false"]);
    fs::write(slot.join("unseen"), "hidden").unwrap();
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "unseen", "hidden");
    assert!(!slot.join("unseen").exists());
    // The settings themselves are with the task.
    let kept = task.folder.join("rescued");
    let kept = fs::read_dir(kept).unwrap().flatten();
    let kept: Vec<String> = kept
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with("config.worktree-")
        })
        .map(|entry| fs::read_to_string(entry.path()).unwrap())
        .collect();
    assert!(
        kept.len() == 1 && kept[0].contains("excludesFile"),
        "{kept:?}"
    );
}

/// Git would work in the user's own checkout.
#[test]
fn settings_that_lead_elsewhere() {
    let env = prepared();
    let (task, slot) = env.started("work");
    let shop = env.shop();
    fs::write(shop.join("mine"), "not committed").unwrap();
    fs::write(slot.join("new"), "of the task").unwrap();
    env.git(&slot, &["config", "extensions.worktreeConfig", "true"]);
    let own = own_folder(&env, &slot);
    let text = format!("[core]\n\tworktree = {}\n", shop.display());
    fs::write(own.join("config.worktree"), text).unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "new", "of the task");
    assert_eq!(
        fs::read_to_string(shop.join("mine")).unwrap(),
        "not committed"
    );
}

/// Git refuses to work in a worktree with such a file.
#[test]
fn settings_that_git_cannot_read() {
    let env = prepared();
    let (task, slot) = env.started("work");
    fs::write(slot.join("new"), "of the task").unwrap();
    env.git(&slot, &["config", "extensions.worktreeConfig", "true"]);
    let own = own_folder(&env, &slot);
    fs::write(own.join("config.worktree"), "[core\nno settings\n").unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "new", "of the task");
}

/// The sparse checkout is the user's own, so the slot has it too and keeps it.
#[test]
fn a_sparse_checkout_of_the_repository() {
    let env = prepared();
    let shop = env.shop();
    env.git(&shop, &["sparse-checkout", "set", "docs"]);
    let (task, slot) = env.started("work");
    assert!(!slot.join("app/one").exists());
    fs::write(slot.join("docs/three"), "changed").unwrap();
    env.cancel(&task).ok();
    is_rescued(&env, &task, "docs/three", "changed");
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    assert!(!slot.join("app/one").exists());
    env.orange(["doctor"]).ok();
    let (task, again) = env.started("again");
    assert_eq!(again, slot);
    // One of its own cannot be undone safely: the slot is taken out of use.
    env.git(&slot, &["sparse-checkout", "set", "app"]);
    env.cancel(&task).ok().says("shop--1 is kept as it is");
    assert_eq!(env.pool_entry(1)["status"], "retired");
    let (_, other) = env.started("other");
    assert_eq!(other, env.slot(2));
    assert!(other.join("docs/three").exists());
}

#[test]
fn pipes_sockets_and_empty_folders() {
    let env = prepared();
    let (task, slot) = env.started("work");
    fs::write(slot.join(".gitignore"), "ignored/\n").unwrap();
    env.git(&slot, &["add", ".gitignore"]);
    fs::create_dir_all(slot.join("new/empty")).unwrap();
    fs::create_dir_all(slot.join("ignored/empty")).unwrap();
    fs::create_dir_all(slot.join("only")).unwrap();
    fs::create_dir_all(slot.join("deep/er")).unwrap();
    for pipe in ["pipe", "app/pipe", "new/pipe", "only/pipe", "deep/er/pipe"] {
        let path = slot.join(pipe);
        assert!(env.foreign("mkfifo").arg(&path).status().unwrap().success());
        assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    }
    let socket = std::os::unix::net::UnixListener::bind(slot.join("socket")).unwrap();
    drop(socket);
    fs::write(slot.join("new/file"), "beside a pipe").unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "new/file", "beside a pipe");
    for name in ["pipe", "app/pipe", "new", "only", "deep", "socket"] {
        assert!(fs::symlink_metadata(slot.join(name)).is_err(), "{name}");
    }
}

#[test]
fn a_branch_without_commits() {
    let env = prepared();
    let (task, slot) = env.started("work");
    env.git(&slot, &["switch", "-q", "--orphan", "unborn"]);
    fs::write(slot.join("new"), "on no branch").unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    is_rescued(&env, &task, "new", "on no branch");
    let shop = env.shop();
    assert_eq!(env.git(&shop, &["branch", "--list", "unborn"]), "");
}

#[test]
fn refs_and_operations_of_its_own() {
    let env = prepared();
    let (task, slot) = env.started("work");
    let tip = env.commit(&slot, "four", "kept by a ref of the worktree");
    env.git(&slot, &["update-ref", "refs/worktree/mine", &tip]);
    env.git(&slot, &["reset", "-q", "--hard", "HEAD~1"]);
    env.git(&slot, &["bisect", "start"]);
    env.git(&slot, &["bisect", "bad"]);
    env.git(&slot, &["bisect", "good", "HEAD~2"]);
    let own = own_folder(&env, &slot);
    fs::write(own.join("SQUASH_MSG"), "somebody else's message").unwrap();
    fs::write(own.join("MERGE_MSG"), "somebody else's message").unwrap();
    is_clean_for_the_next(&env, &task, &slot);
    let shop = env.shop();
    let kept = env.git(&shop, &["for-each-ref", "--contains", &tip, "refs/orange"]);
    assert!(!kept.is_empty());
}
