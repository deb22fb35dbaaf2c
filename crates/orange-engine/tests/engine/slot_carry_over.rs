//! What one task leaves in git's own records of a slot: the next task gets nothing of it, and the work behind it is saved.

use crate::home::TestHome;
use crate::task::TestTask;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// With a pool of one slot, so that the next task gets the same.
fn prepared() -> TestHome {
    let home = TestHome::new();
    home.pool_size(1);
    let shop = home.shop();
    for folder in ["app", "docs"] {
        fs::create_dir(shop.join(folder)).unwrap();
    }
    for name in ["app/one", "app/two", "docs/three", "four"] {
        home.commit(&shop, name, name);
    }
    home
}

fn own_folder(home: &TestHome, slot: &Path) -> PathBuf {
    let folder = home.git(slot, &["rev-parse", "--absolute-git-dir"]);
    PathBuf::from(folder)
}

/// Ends a task and checks that its slot is as a new one. Then a next task commits a change of each file in it, and the merge
/// has all of them.
fn is_clean_for_the_next(home: &TestHome, task: &TestTask, slot: &Path) {
    home.cancel(task).ok();
    let shop = home.shop();
    let main = home.git(&shop, &["rev-parse", "main"]);
    home.is_parked(slot, &main);
    assert_eq!(home.problems(), [""; 0]);
    let own = own_folder(home, slot);
    for name in [
        "config.worktree",
        "info/sparse-checkout",
        "MERGE_HEAD",
        "BISECT_LOG",
        "refs/worktree",
    ] {
        assert!(!own.join(name).exists(), "{name}");
    }
    let flags = home.git(slot, &["ls-files", "-v"]);
    assert!(flags.lines().all(|line| line.starts_with("H ")), "{flags}");
    assert_eq!(
        home.git(slot, &["for-each-ref", "refs/bisect", "refs/worktree"]),
        ""
    );
    let next = home.create("next");
    assert_eq!(home.start(&next), slot);
    for name in ["app/one", "app/two", "docs/three", "four"] {
        assert_eq!(fs::read_to_string(slot.join(name)).unwrap(), name);
        fs::write(slot.join(name), "next").unwrap();
    }
    let changed = home.git(slot, &["status", "--porcelain", "-uall"]);
    assert_eq!(changed.lines().count(), 4, "{changed}");
    home.git(slot, &["commit", "-q", "-a", "-m", "next"]);
    let committed = home.git(slot, &["diff", "--name-only", "main", "HEAD"]);
    assert_eq!(committed.lines().count(), 4, "{committed}");
}

#[track_caller]
fn is_rescued(home: &TestHome, task: &TestTask, file: &str, text: &str) {
    let found = home.rescued(&home.shop(), task, file);
    assert_eq!(found.as_deref(), Some(text), "{file}");
}

#[test]
fn files_assumed_unchanged() {
    let home = prepared();
    let (task, slot) = home.started("work");
    home.git(
        &slot,
        &["update-index", "--assume-unchanged", "app/one", "four"],
    );
    fs::write(slot.join("app/one"), "hidden").unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "app/one", "hidden");
}

#[test]
fn files_to_be_skipped() {
    let home = prepared();
    let (task, slot) = home.started("work");
    home.git(
        &slot,
        &["update-index", "--skip-worktree", "app/one", "app/two"],
    );
    fs::write(slot.join("app/one"), "hidden").unwrap();
    fs::remove_file(slot.join("app/two")).unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "app/one", "hidden");
}

#[test]
fn files_announced_only() {
    let home = prepared();
    let (task, slot) = home.started("work");
    fs::write(slot.join("new"), "announced").unwrap();
    home.git(&slot, &["add", "-N", "new"]);
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "new", "announced");
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
        let home = prepared();
        let (task, slot) = home.started("work");
        let mut git = home.foreign("git");
        // Not every git can do all of it.
        git.current_dir(&slot).args(words).output().unwrap();
        fs::write(slot.join("app/two"), "changed").unwrap();
        is_clean_for_the_next(&home, &task, &slot);
        is_rescued(&home, &task, "app/two", "changed");
        let mut stop = home.foreign("git");
        let _ = stop
            .current_dir(&slot)
            .args(["fsmonitor--daemon", "stop"])
            .output();
    }
}

#[test]
fn a_conflict() {
    let home = prepared();
    let (task, slot) = home.started("work");
    home.commit(&slot, "four", "mine");
    home.commit(&home.shop(), "other", "x");
    home.git(&slot, &["switch", "-q", "-c", "side", "HEAD~1"]);
    home.commit(&slot, "four", "theirs");
    home.git(&slot, &["switch", "-q", "work"]);
    let mut merge = home.foreign("git");
    merge
        .current_dir(&slot)
        .args(["merge", "-q", "side"])
        .output()
        .unwrap();
    fs::write(slot.join("app/one"), "in the middle").unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "app/one", "in the middle");
}

#[test]
fn a_sparse_checkout() {
    for words in [
        &["sparse-checkout", "set", "docs"][..],
        &["sparse-checkout", "set", "--no-cone", "/docs/", "/four"],
        &["sparse-checkout", "set", "--sparse-index", "docs"],
    ] {
        let home = prepared();
        let (task, slot) = home.started("work");
        home.git(&slot, words);
        assert!(!slot.join("app/one").exists());
        // One that should not be there is work.
        fs::create_dir_all(slot.join("app")).unwrap();
        fs::write(slot.join("app/one"), "hidden").unwrap();
        is_clean_for_the_next(&home, &task, &slot);
        is_rescued(&home, &task, "app/one", "hidden");
        // What was left out is not deleted in it.
        is_rescued(&home, &task, "app/two", "app/two");
    }
}

#[test]
fn settings_of_its_own() {
    let home = prepared();
    let (task, slot) = home.started("work");
    home.git(&slot, &["config", "extensions.worktreeConfig", "true"]);
    let everything = home.write("everything", "*\n");
    let everything = everything.to_str().unwrap();
    home.git(
        &slot,
        &["config", "--worktree", "core.excludesFile", everything],
    );
    home.git(&slot, &["config", "--worktree", "core.fileMode", "false"]);
    fs::write(slot.join("unseen"), "hidden").unwrap();
    assert_eq!(home.git(&slot, &["status", "--porcelain"]), "");
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "unseen", "hidden");
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
    let home = prepared();
    let (task, slot) = home.started("work");
    let shop = home.shop();
    fs::write(shop.join("mine"), "not committed").unwrap();
    fs::write(slot.join("new"), "of the task").unwrap();
    home.git(&slot, &["config", "extensions.worktreeConfig", "true"]);
    let own = own_folder(&home, &slot);
    let text = format!("[core]\n\tworktree = {}\n", shop.display());
    fs::write(own.join("config.worktree"), text).unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "new", "of the task");
    assert_eq!(
        fs::read_to_string(shop.join("mine")).unwrap(),
        "not committed"
    );
}

/// Git refuses to work in a worktree with such a file.
#[test]
fn settings_that_git_cannot_read() {
    let home = prepared();
    let (task, slot) = home.started("work");
    fs::write(slot.join("new"), "of the task").unwrap();
    home.git(&slot, &["config", "extensions.worktreeConfig", "true"]);
    let own = own_folder(&home, &slot);
    fs::write(own.join("config.worktree"), "[core\nno settings\n").unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "new", "of the task");
}

/// The sparse checkout is the user's own, so the slot has it too and keeps it.
#[test]
fn a_sparse_checkout_of_the_repository() {
    let home = prepared();
    let shop = home.shop();
    home.git(&shop, &["sparse-checkout", "set", "docs"]);
    let (task, slot) = home.started("work");
    assert!(!slot.join("app/one").exists());
    fs::write(slot.join("docs/three"), "changed").unwrap();
    home.cancel(&task).ok();
    is_rescued(&home, &task, "docs/three", "changed");
    assert_eq!(home.git(&slot, &["status", "--porcelain"]), "");
    assert!(!slot.join("app/one").exists());
    assert_eq!(home.problems(), [""; 0]);
    let (task, again) = home.started("again");
    assert_eq!(again, slot);
    // One of its own cannot be undone safely: the slot is taken out of use.
    home.git(&slot, &["sparse-checkout", "set", "app"]);
    home.cancel(&task).ok().says("shop--1 is kept as it is");
    assert_eq!(home.pool_entry(1)["status"], "retired");
    let (_, other) = home.started("other");
    assert_eq!(other, home.slot(2));
    assert!(other.join("docs/three").exists());
}

#[test]
fn pipes_sockets_and_empty_folders() {
    let home = prepared();
    let (task, slot) = home.started("work");
    fs::write(slot.join(".gitignore"), "ignored/\n").unwrap();
    home.git(&slot, &["add", ".gitignore"]);
    fs::create_dir_all(slot.join("new/empty")).unwrap();
    fs::create_dir_all(slot.join("ignored/empty")).unwrap();
    fs::create_dir_all(slot.join("only")).unwrap();
    fs::create_dir_all(slot.join("deep/er")).unwrap();
    for pipe in ["pipe", "app/pipe", "new/pipe", "only/pipe", "deep/er/pipe"] {
        let path = slot.join(pipe);
        assert!(
            home.foreign("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    }
    let socket = std::os::unix::net::UnixListener::bind(slot.join("socket")).unwrap();
    drop(socket);
    fs::write(slot.join("new/file"), "beside a pipe").unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "new/file", "beside a pipe");
    for name in ["pipe", "app/pipe", "new", "only", "deep", "socket"] {
        assert!(fs::symlink_metadata(slot.join(name)).is_err(), "{name}");
    }
}

#[test]
fn a_branch_without_commits() {
    let home = prepared();
    let (task, slot) = home.started("work");
    home.git(&slot, &["switch", "-q", "--orphan", "unborn"]);
    fs::write(slot.join("new"), "on no branch").unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    is_rescued(&home, &task, "new", "on no branch");
    let shop = home.shop();
    assert_eq!(home.git(&shop, &["branch", "--list", "unborn"]), "");
}

#[test]
fn refs_and_operations_of_its_own() {
    let home = prepared();
    let (task, slot) = home.started("work");
    let tip = home.commit(&slot, "four", "kept by a ref of the worktree");
    home.git(&slot, &["update-ref", "refs/worktree/mine", &tip]);
    home.git(&slot, &["reset", "-q", "--hard", "HEAD~1"]);
    home.git(&slot, &["bisect", "start"]);
    home.git(&slot, &["bisect", "bad"]);
    home.git(&slot, &["bisect", "good", "HEAD~2"]);
    let own = own_folder(&home, &slot);
    fs::write(own.join("SQUASH_MSG"), "somebody else's message").unwrap();
    fs::write(own.join("MERGE_MSG"), "somebody else's message").unwrap();
    is_clean_for_the_next(&home, &task, &slot);
    let shop = home.shop();
    let kept = home.git(&shop, &["for-each-ref", "--contains", &tip, "refs/orange"]);
    assert!(!kept.is_empty());
}
