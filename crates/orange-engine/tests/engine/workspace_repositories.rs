//! Workspaces of odd repositories: a task starts, works and ends in each of them, and nothing is lost.

use crate::home::TestHome;
use crate::task::fingerprint;
use orange_core::task::Field;
use orange_engine::Code;
use orange_engine::verbs::change::Edit;
use std::fs;
use std::path::{Path, PathBuf};

/// A repository `shop` made by these git commands, with one commit on `main`, and registered.
fn made(init: &[&str]) -> TestHome {
    let home = TestHome::empty();
    fs::create_dir(home.shop()).unwrap();
    home.git(&home.shop(), &[&["init", "-q"], init].concat());
    home.commit(&home.shop(), "README.md", "first");
    add(&home, &home.shop());
    home
}

fn add(home: &TestHome, repository: &Path) {
    home.add_project_as(repository, Some("shop")).ok();
}

/// What a task must not touch: the user's branch, commit, index and files.
fn untouched(home: &TestHome, checkout: &Path) -> String {
    let status = home.git(checkout, &["status", "--porcelain=v2", "--branch"]);
    format!("{status}\n{}", home.git(checkout, &["ls-files", "-s"]))
}

/// One task from its start to its end. Gives its slot.
fn a_whole_life(home: &TestHome, repository: &Path) -> PathBuf {
    let (task, slot) = home.started("work");
    assert_eq!(home.branch_at(&slot), "work");
    assert_eq!(home.git(&slot, &["status", "--porcelain"]), "");
    let base = home.git(&slot, &["rev-parse", "HEAD"]);
    let first = home.commit(&slot, "feature.txt", "half");
    fs::write(slot.join("feature.txt"), "amended").unwrap();
    home.git(&slot, &["commit", "-q", "-a", "--amend", "-m", "amended"]);
    let tip = home.git(&slot, &["rev-parse", "HEAD"]);
    fs::write(slot.join("README.md"), "edited").unwrap();
    fs::write(slot.join("nëw file.txt"), "untracked").unwrap();
    let shown = home.show(&task);
    assert_eq!(shown["workspace"], "shop--1");
    home.cancel(&task).ok();
    home.is_parked(&slot, &base);
    assert_eq!(home.git(repository, &["rev-parse", "work"]), tip);
    let saved = |file: &str| home.rescued(repository, &task, file);
    assert_eq!(saved("README.md").as_deref(), Some("edited"));
    assert_eq!(saved("nëw file.txt").as_deref(), Some("untracked"));
    let holding = ["for-each-ref", "--contains", &first, "refs/orange/rescue"];
    assert_ne!(
        home.git(repository, &holding),
        "",
        "the commit before the amending"
    );
    // The slot is as good as new.
    let (again, same) = home.started("more");
    assert_eq!(same, slot);
    home.cancel(&again).ok();
    home.collect_all_slots();
    assert!(!slot.exists());
    slot
}

#[track_caller]
fn lives(home: &TestHome) {
    let before = untouched(home, &home.shop());
    a_whole_life(home, &home.shop());
    assert_eq!(untouched(home, &home.shop()), before);
}

#[test]
fn with_a_detached_head() {
    let home = made(&["-b", "main"]);
    home.commit(&home.shop(), "later.txt", "later");
    home.git(&home.shop(), &["checkout", "-q", "--detach", "HEAD~1"]);
    lives(&home);
}

#[test]
fn with_a_detached_head_and_no_known_branch() {
    let home = TestHome::empty();
    fs::create_dir(home.shop()).unwrap();
    home.git(&home.shop(), &["init", "-q", "-b", "trunk"]);
    home.commit(&home.shop(), "README.md", "first");
    home.git(&home.shop(), &["checkout", "-q", "--detach"]);
    add(&home, &home.shop());
    let task = home.create("work");
    home.move_to(&task, "planning")
        .fails(Code::ConditionUnmet)
        .says("has no branch main");
    assert_eq!(home.show(&task)["status"], "pending");
    home.set_default_branch("trunk");
    home.start(&task);
}

#[test]
fn bare() {
    let home = TestHome::unregistered();
    let bare = home.root().join("shop.git");
    home.git(&home.root(), &["clone", "-q", "--bare", "shop", "shop.git"]);
    fs::remove_dir_all(home.shop()).unwrap();
    add(&home, &bare);
    a_whole_life(&home, &bare);
}

#[test]
fn shallow() {
    let home = TestHome::empty();
    let origin = home.init_repository("origin");
    home.commit(&origin, "README.md", "second");
    let url = format!("file://{}", origin.display());
    home.git(&home.root(), &["clone", "-q", "--depth=1", &url, "shop"]);
    add(&home, &home.shop());
    lives(&home);
}

#[test]
fn with_submodules() {
    let home = made(&["-b", "main"]);
    let library = home.init_repository("library");
    let allow = ["-c", "protocol.file.allow=always"];
    let path = library.to_str().unwrap();
    let word = ["submodule", "--quiet", "add", path, "library"];
    home.git(&home.shop(), &[&allow[..], &word].concat());
    home.git(&home.shop(), &["commit", "-q", "-m", "a library"]);
    lives(&home);
    // Work inside of one, of which the outer repository knows nothing.
    let (task, slot) = home.started("inner");
    let word = ["submodule", "--quiet", "update", "--init"];
    home.git(&slot, &[&allow[..], &word].concat());
    fs::write(slot.join("library/README.md"), "changed inside").unwrap();
    home.cancel(&task).ok();
    let copies = task.folder.join("rescued");
    let found = fingerprint(&copies);
    assert!(
        found.contains(&format!("{:?}", b"changed inside")),
        "{found}"
    );
    // The next one starts without it, and gets it as it was committed.
    let (_, slot) = home.started("next");
    assert_eq!(home.git(&slot, &["status", "--porcelain"]), "");
    home.git(&slot, &[&allow[..], &word].concat());
    let text = fs::read_to_string(slot.join("library/README.md")).unwrap();
    assert_eq!(text, "first");
}

/// A required filter, as git-lfs is one: without its program nothing can be checked out or added.
#[test]
fn with_a_filter_whose_program_is_missing() {
    let home = made(&["-b", "main"]);
    let shop = home.shop();
    let filter = |program: &str| {
        for side in ["clean", "smudge"] {
            home.git(&shop, &["config", &format!("filter.big.{side}"), program]);
        }
        home.git(&shop, &["config", "filter.big.required", "true"]);
    };
    filter("tr a-z b-za");
    home.commit(&shop, ".gitattributes", "*.big filter=big\n");
    home.commit(&shop, "film.big", "abc");
    filter("no-such-program");
    let (task, head) = (home.create("work"), "HEAD");
    home.move_to(&task, "planning")
        .fails(Code::Failed)
        .says("acquire_workspace");
    assert_eq!(home.pool_entry(1)["status"], "available");
    assert_eq!(home.git(&shop, &["branch", "--list", "work"]), "");
    // Once it is installed, it goes on.
    filter("tr a-z b-za");
    home.retry_hooks(&task).ok();
    let slot = home.slot_of(&task);
    assert_eq!(
        home.git(&slot, &["rev-parse", head]),
        home.git(&shop, &["rev-parse", head])
    );
    // And without it nothing of what was written is lost.
    fs::write(slot.join("film.big"), "a new film").unwrap();
    filter("no-such-program");
    home.cancel(&task);
    let in_slot = fs::read_to_string(slot.join("film.big")).unwrap_or_default();
    let saved = home.rescued(&shop, &task, "film.big");
    assert!(
        in_slot == "a new film" || saved.as_deref() == Some("a new film"),
        "{in_slot:?} {saved:?}"
    );
}

#[test]
fn with_a_sparse_checkout() {
    let home = made(&["-b", "main"]);
    let shop = home.shop();
    for folder in ["app", "docs"] {
        fs::create_dir(shop.join(folder)).unwrap();
        home.commit(&shop, &format!("{folder}/file.txt"), folder);
    }
    home.git(&shop, &["sparse-checkout", "set", "app"]);
    let (task, slot) = home.started("sparse");
    assert!(slot.join("app/file.txt").exists());
    fs::create_dir_all(slot.join("docs")).unwrap();
    fs::write(slot.join("docs/outside.txt"), "outside the cone").unwrap();
    home.cancel(&task).ok();
    let saved = home.rescued(&shop, &task, "docs/outside.txt");
    assert_eq!(saved.as_deref(), Some("outside the cone"));
    // What is not checked out is not taken for deleted.
    let kept = home.rescued(&shop, &task, "docs/file.txt");
    assert_eq!(kept.as_deref(), Some("docs"));
    lives(&home);
    assert!(!shop.join("docs").exists());
}

#[test]
fn whose_default_branch_has_another_name() {
    let home = made(&["-b", "größtes/Ziel"]);
    lives(&home);
}

#[test]
fn with_odd_letters_in_every_path() {
    let home = TestHome::empty();
    let folder = home
        .root()
        .join("mein Läden; $(touch x)")
        .join("shop 'a\"b");
    fs::create_dir_all(&folder).unwrap();
    home.git(&folder, &["init", "-q", "-b", "main"]);
    home.commit(&folder, "README.md", "first");
    add(&home, &folder);
    let before = untouched(&home, &folder);
    a_whole_life(&home, &folder);
    assert_eq!(untouched(&home, &folder), before);
}

#[test]
fn with_a_task_file_of_its_own() {
    let home = made(&["-b", "main"]);
    home.commit(&home.shop(), "TASK.md", "the repository's own\n");
    let (task, slot) = home.started("work");
    let own = fs::read_to_string(slot.join("TASK.md")).unwrap();
    assert_eq!(own, "the repository's own\n");
    assert_eq!(
        fs::read_link(slot.join("ORANGE_TASK.md")).unwrap(),
        task.file()
    );
    assert_eq!(home.git(&slot, &["status", "--porcelain", "-uall"]), "");
    // An edit of it is work like any other.
    fs::write(slot.join("TASK.md"), "edited").unwrap();
    home.cancel(&task).ok();
    assert_eq!(
        home.rescued(&home.shop(), &task, "TASK.md").as_deref(),
        Some("edited")
    );
    assert!(fs::symlink_metadata(slot.join("ORANGE_TASK.md")).is_err());
    lives(&home);
}

#[test]
fn that_is_a_linked_worktree_itself() {
    let home = TestHome::empty();
    let main = home.init_repository("main-checkout");
    home.git(&main, &["worktree", "add", "-q", "-b", "side", "../shop"]);
    add(&home, &home.shop());
    let before = untouched(&home, &main);
    lives(&home);
    assert_eq!(untouched(&home, &main), before);
}

#[test]
fn that_is_a_worktree_of_a_bare_one() {
    let home = TestHome::empty();
    let origin = home.init_repository("origin");
    home.git(
        &home.root(),
        &["clone", "-q", "--bare", "origin", "store.git"],
    );
    home.git(
        &home.root().join("store.git"),
        &["worktree", "add", "-q", "../shop", "main"],
    );
    fs::remove_dir_all(origin).unwrap();
    add(&home, &home.shop());
    lives(&home);
}

#[test]
fn with_longer_hashes() {
    lives(&made(&["-b", "main", "--object-format=sha256"]));
}

#[test]
fn with_its_refs_in_a_table() {
    let home = TestHome::empty();
    fs::create_dir(home.shop()).unwrap();
    let init = home
        .foreign("git")
        .current_dir(home.shop())
        .args(["init", "-q", "-b", "main", "--ref-format=reftable"])
        .output()
        .unwrap();
    if !init.status.success() {
        return; // Git before 2.45 knows no such thing.
    }
    home.commit(&home.shop(), "README.md", "first");
    add(&home, &home.shop());
    lives(&home);
    // Such a repository says only to git itself what is checked out.
    let (task, slot) = home.started("one");
    home.git(&slot, &["branch", "-m", "two"]);
    home.edit(&task, Edit::AddTo(Field::Tags, "ui".to_owned()))
        .ok();
    assert_eq!(home.show(&task)["branch"], "two");
}
