//! Workspaces of odd repositories: a task starts, works and ends in each of them, and nothing is lost.

use crate::env::{TestEnvironment, fingerprint};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A repository `shop` made by these git commands, with one commit on `main`, and registered.
fn made(init: &[&str]) -> TestEnvironment {
    let env = TestEnvironment::empty();
    fs::create_dir(env.shop()).unwrap();
    env.git(&env.shop(), &[&["init", "-q"], init].concat());
    env.commit(&env.shop(), "README.md", "first");
    add(&env, &env.shop());
    env
}

fn add(env: &TestEnvironment, repository: &Path) {
    let path = repository.to_str().unwrap();
    env.orange(["project", "add", path, "--name", "shop"]).ok();
}

/// What a task must not touch: the user's branch, commit, index and files.
fn untouched(env: &TestEnvironment, checkout: &Path) -> String {
    let status = env.git(checkout, &["status", "--porcelain=v2", "--branch"]);
    format!("{status}\n{}", env.git(checkout, &["ls-files", "-s"]))
}

/// One task from its start to its end. Gives its slot.
fn a_whole_life(env: &TestEnvironment, repository: &Path) -> PathBuf {
    let (task, slot) = env.started("work");
    assert_eq!(env.branch_at(&slot), "work");
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    let base = env.git(&slot, &["rev-parse", "HEAD"]);
    let first = env.commit(&slot, "feature.txt", "half");
    fs::write(slot.join("feature.txt"), "amended").unwrap();
    env.git(&slot, &["commit", "-q", "-a", "--amend", "-m", "amended"]);
    let tip = env.git(&slot, &["rev-parse", "HEAD"]);
    fs::write(slot.join("README.md"), "edited").unwrap();
    fs::write(slot.join("nëw file.txt"), "untracked").unwrap();
    let shown = env.show(&task);
    assert_eq!(shown["workspace"], "shop--1");
    env.orange(["task", "show", &task.id]).ok().says("work");
    env.orange(["workspace", "list"])
        .ok()
        .says("work")
        .says("1 changed, 1 untracked");
    env.cancel(&task).ok();
    env.is_parked(&slot, &base);
    assert_eq!(env.git(repository, &["rev-parse", "work"]), tip);
    let saved = |file: &str| env.rescued(repository, &task, file);
    assert_eq!(saved("README.md").as_deref(), Some("edited"));
    assert_eq!(saved("nëw file.txt").as_deref(), Some("untracked"));
    let holding = ["for-each-ref", "--contains", &first, "refs/orange/rescue"];
    assert_ne!(
        env.git(repository, &holding),
        "",
        "the commit before the amending"
    );
    // The slot is as good as new.
    let (again, same) = env.started("more");
    assert_eq!(same, slot);
    env.cancel(&again).ok();
    env.orange(["workspace", "gc", "--all"])
        .ok()
        .says("removed shop--1");
    assert!(!slot.exists());
    slot
}

#[track_caller]
fn lives(env: &TestEnvironment) {
    let before = untouched(env, &env.shop());
    a_whole_life(env, &env.shop());
    assert_eq!(untouched(env, &env.shop()), before);
}

#[test]
fn without_a_remote() {
    lives(&made(&["-b", "main"]));
}

#[test]
fn without_a_commit() {
    let env = TestEnvironment::empty();
    fs::create_dir(env.shop()).unwrap();
    env.git(&env.shop(), &["init", "-q", "-b", "main"]);
    add(&env, &env.shop());
    let task = env.create(["work", "Some work"]);
    let events = task.events();
    let run = env.update(&task, &["--status", "planning", "--json"]);
    let error = run.refuses(3, "condition_unmet");
    assert!(error["hint"].as_str().unwrap().contains("first commit"));
    env.orange(["workspace", "init"]).fails_with(3);
    assert_eq!(task.events(), events);
    assert_eq!(env.show(&task)["status"], "pending");
    assert!(!env.slot(1).exists());
    assert_ne!(env.pool_entry(1)["status"], "bound");
}

#[test]
fn with_a_detached_head() {
    let env = made(&["-b", "main"]);
    env.commit(&env.shop(), "later.txt", "later");
    env.git(&env.shop(), &["checkout", "-q", "--detach", "HEAD~1"]);
    lives(&env);
}

#[test]
fn with_a_detached_head_and_no_known_branch() {
    let env = TestEnvironment::empty();
    fs::create_dir(env.shop()).unwrap();
    env.git(&env.shop(), &["init", "-q", "-b", "trunk"]);
    env.commit(&env.shop(), "README.md", "first");
    env.git(&env.shop(), &["checkout", "-q", "--detach"]);
    add(&env, &env.shop());
    let task = env.create(["work", "Some work"]);
    env.move_to(&task, "planning")
        .fails_with(3)
        .says("has no branch main")
        .says("orange project update shop --default-branch");
    assert_eq!(env.show(&task)["status"], "pending");
    env.orange(["project", "update", "shop", "--default-branch", "trunk"])
        .ok();
    env.start(&task);
}

#[test]
fn bare() {
    let env = TestEnvironment::unregistered();
    let bare = env.root().join("shop.git");
    env.git(&env.root(), &["clone", "-q", "--bare", "shop", "shop.git"]);
    fs::remove_dir_all(env.shop()).unwrap();
    add(&env, &bare);
    a_whole_life(&env, &bare);
}

#[test]
fn shallow() {
    let env = TestEnvironment::empty();
    let origin = env.init_repository("origin");
    env.commit(&origin, "README.md", "second");
    let url = format!("file://{}", origin.display());
    env.git(&env.root(), &["clone", "-q", "--depth=1", &url, "shop"]);
    add(&env, &env.shop());
    lives(&env);
}

#[test]
fn with_submodules() {
    let env = made(&["-b", "main"]);
    let library = env.init_repository("library");
    let allow = ["-c", "protocol.file.allow=always"];
    let path = library.to_str().unwrap();
    let word = ["submodule", "--quiet", "add", path, "library"];
    env.git(&env.shop(), &[&allow[..], &word].concat());
    env.git(&env.shop(), &["commit", "-q", "-m", "a library"]);
    lives(&env);
    // Work inside of one, of which the outer repository knows nothing.
    let (task, slot) = env.started("inner");
    let word = ["submodule", "--quiet", "update", "--init"];
    env.git(&slot, &[&allow[..], &word].concat());
    fs::write(slot.join("library/README.md"), "changed inside").unwrap();
    env.cancel(&task).ok();
    let copies = task.folder.join("rescued");
    let found = fingerprint(&copies);
    assert!(
        found.contains(&format!("{:?}", b"changed inside")),
        "{found}"
    );
    // The next one starts without it, and gets it as it was committed.
    let (_, slot) = env.started("next");
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    env.git(&slot, &[&allow[..], &word].concat());
    let text = fs::read_to_string(slot.join("library/README.md")).unwrap();
    assert_eq!(text, "first");
}

/// A required filter, as git-lfs is one: without its program nothing can be checked out or added.
#[test]
fn with_a_filter_whose_program_is_missing() {
    let env = made(&["-b", "main"]);
    let shop = env.shop();
    let filter = |program: &str| {
        for side in ["clean", "smudge"] {
            env.git(&shop, &["config", &format!("filter.big.{side}"), program]);
        }
        env.git(&shop, &["config", "filter.big.required", "true"]);
    };
    filter("tr a-z b-za");
    env.commit(&shop, ".gitattributes", "*.big filter=big\n");
    env.commit(&shop, "film.big", "abc");
    filter("no-such-program");
    let (task, head) = (env.create(["work", "Some work"]), "HEAD");
    env.move_to(&task, "planning")
        .fails_with(1)
        .says("could not take a slot")
        .says("orange task retry-hooks");
    assert_eq!(env.pool_entry(1)["status"], "available");
    assert_eq!(env.git(&shop, &["branch", "--list", "work"]), "");
    // Once it is installed, it goes on.
    filter("tr a-z b-za");
    env.orange(["task", "retry-hooks", &task.id]).ok();
    let slot = env.slot_of(&task);
    assert_eq!(
        env.git(&slot, &["rev-parse", head]),
        env.git(&shop, &["rev-parse", head])
    );
    // And without it nothing of what was written is lost.
    fs::write(slot.join("film.big"), "a new film").unwrap();
    filter("no-such-program");
    env.cancel(&task);
    let in_slot = fs::read_to_string(slot.join("film.big")).unwrap_or_default();
    let saved = env.rescued(&shop, &task, "film.big");
    assert!(
        in_slot == "a new film" || saved.as_deref() == Some("a new film"),
        "{in_slot:?} {saved:?}"
    );
}

#[test]
fn with_a_sparse_checkout() {
    let env = made(&["-b", "main"]);
    let shop = env.shop();
    for folder in ["app", "docs"] {
        fs::create_dir(shop.join(folder)).unwrap();
        env.commit(&shop, &format!("{folder}/file.txt"), folder);
    }
    env.git(&shop, &["sparse-checkout", "set", "app"]);
    let (task, slot) = env.started("sparse");
    assert!(slot.join("app/file.txt").exists());
    fs::create_dir_all(slot.join("docs")).unwrap();
    fs::write(slot.join("docs/outside.txt"), "outside the cone").unwrap();
    env.cancel(&task).ok();
    let saved = env.rescued(&shop, &task, "docs/outside.txt");
    assert_eq!(saved.as_deref(), Some("outside the cone"));
    // What is not checked out is not taken for deleted.
    let kept = env.rescued(&shop, &task, "docs/file.txt");
    assert_eq!(kept.as_deref(), Some("docs"));
    lives(&env);
    assert!(!shop.join("docs").exists());
}

#[test]
fn whose_default_branch_has_another_name() {
    let env = made(&["-b", "größtes/Ziel"]);
    lives(&env);
}

#[test]
fn with_odd_letters_in_every_path() {
    let env = TestEnvironment::empty();
    let folder = env.root().join("mein Läden; $(touch x)").join("shop 'a\"b");
    fs::create_dir_all(&folder).unwrap();
    env.git(&folder, &["init", "-q", "-b", "main"]);
    env.commit(&folder, "README.md", "first");
    add(&env, &folder);
    let before = untouched(&env, &folder);
    a_whole_life(&env, &folder);
    assert_eq!(untouched(&env, &folder), before);
}

#[test]
fn whose_hooks_all_fail() {
    for elsewhere in [false, true] {
        let env = made(&["-b", "main"]);
        let hooks = match elsewhere {
            true => env.root().join("my hooks"),
            false => env.shop().join(".git/hooks"),
        };
        fs::create_dir_all(&hooks).unwrap();
        for hook in [
            "post-checkout",
            "reference-transaction",
            "post-index-change",
        ] {
            let path = hooks.join(hook);
            fs::write(
                &path,
                "#!/bin/sh\necho called >> \"$HOME/called\"\nexit 1\n",
            )
            .unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        if elsewhere {
            // By hand: the hooks would not let git do it.
            let config = env.shop().join(".git/config");
            let text = fs::read_to_string(&config).unwrap();
            let more = format!("[core]\n\thooksPath = {}\n", hooks.display());
            fs::write(config, text + &more).unwrap();
        }
        let (task, slot) = env.started("work");
        fs::write(slot.join("new.txt"), "untracked").unwrap();
        env.update(&task, &["--branch", "renamed"]).ok();
        env.cancel(&task).ok();
        let saved = env.rescued(&env.shop(), &task, "new.txt");
        assert_eq!(saved.as_deref(), Some("untracked"));
        let restore = ["task", "rescue", "restore", &task.id, "latest"];
        env.orange([&restore[..], &["--to-branch", "back"]].concat())
            .ok();
        env.orange(["workspace", "init", "2"]).ok();
        env.orange(["workspace", "gc", "--all"]).ok();
        let called = env.root().join("home/called");
        assert!(!called.exists(), "{}", fs::read_to_string(called).unwrap());
    }
}

#[test]
fn with_a_task_file_of_its_own() {
    let env = made(&["-b", "main"]);
    env.commit(&env.shop(), "TASK.md", "the repository's own\n");
    let (task, slot) = env.started("work");
    let own = fs::read_to_string(slot.join("TASK.md")).unwrap();
    assert_eq!(own, "the repository's own\n");
    assert_eq!(
        fs::read_link(slot.join("ORANGE_TASK.md")).unwrap(),
        task.file()
    );
    assert_eq!(env.git(&slot, &["status", "--porcelain", "-uall"]), "");
    // An edit of it is work like any other.
    fs::write(slot.join("TASK.md"), "edited").unwrap();
    env.cancel(&task).ok();
    assert_eq!(
        env.rescued(&env.shop(), &task, "TASK.md").as_deref(),
        Some("edited")
    );
    assert!(fs::symlink_metadata(slot.join("ORANGE_TASK.md")).is_err());
    lives(&env);
}

#[test]
fn that_is_a_linked_worktree_itself() {
    let env = TestEnvironment::empty();
    let main = env.init_repository("main-checkout");
    env.git(&main, &["worktree", "add", "-q", "-b", "side", "../shop"]);
    add(&env, &env.shop());
    let before = untouched(&env, &main);
    lives(&env);
    assert_eq!(untouched(&env, &main), before);
}

#[test]
fn that_is_a_worktree_of_a_bare_one() {
    let env = TestEnvironment::empty();
    let origin = env.init_repository("origin");
    env.git(
        &env.root(),
        &["clone", "-q", "--bare", "origin", "store.git"],
    );
    env.git(
        &env.root().join("store.git"),
        &["worktree", "add", "-q", "../shop", "main"],
    );
    fs::remove_dir_all(origin).unwrap();
    add(&env, &env.shop());
    lives(&env);
}

#[test]
fn with_longer_hashes() {
    lives(&made(&["-b", "main", "--object-format=sha256"]));
}

#[test]
fn with_its_refs_in_a_table() {
    let env = TestEnvironment::empty();
    fs::create_dir(env.shop()).unwrap();
    let init = env
        .foreign("git")
        .current_dir(env.shop())
        .args(["init", "-q", "-b", "main", "--ref-format=reftable"])
        .output()
        .unwrap();
    if !init.status.success() {
        return; // Git before 2.45 knows no such thing.
    }
    env.commit(&env.shop(), "README.md", "first");
    add(&env, &env.shop());
    lives(&env);
    // Such a repository says only to git itself what is checked out.
    let (task, slot) = env.started("one");
    env.git(&slot, &["branch", "-m", "two"]);
    env.update(&task, &["--add-tag", "ui"]).ok();
    assert_eq!(env.show(&task)["branch"], "two");
    env.orange(["workspace", "list"])
        .ok()
        .says("two")
        .silent_about("broken");
}
