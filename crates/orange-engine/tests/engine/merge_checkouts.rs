//! A merge and the places where its target is checked out: edits stay byte for byte, and what cannot be brought
//! forward is not merged at all.

use crate::home::TestHome;
use crate::merges::{LINES, Merges, files, here_alone, plain};
use crate::task::TestTask;
use orange_core::task::Field;
use orange_engine::Code;
use std::fs;
use std::path::{Path, PathBuf};

fn write(folder: &Path, file: &str, content: &str) {
    fs::write(folder.join(file), content).unwrap();
}

#[test]
fn edits_elsewhere_stay_byte_for_byte() {
    for home in [Merges::new(), Merges::with_remote()] {
        let shop = home.shop();
        home.commit(&shop, "staged", "a\n");
        home.commit(&shop, "edited", "a\n");
        home.commit(&shop, "both", "a\n");
        home.commit(&shop, ".gitignore", "*.log\n");
        let task = home.work(
            "work",
            &[("lines", &LINES.replace("one", "ONE")), ("new", "x")],
        );
        write(&shop, "staged", "staged\r\n");
        write(&shop, "both", "first\n");
        home.git(&shop, &["add", "staged", "both"]);
        write(&shop, "both", "second");
        write(&shop, "edited", "\u{0}\u{1}edited");
        write(&shop, "untracked", "mine");
        write(&shop, "a.log", "ignored");
        fs::remove_file(shop.join("README.md")).unwrap();
        let status = home.git(&shop, &["status", "--porcelain"]);
        let staged = home.git(&shop, &["diff", "--cached"]);
        let before = files(&shop);
        home.merge(&task, &plain()).ok();
        assert_eq!(home.git(&shop, &["status", "--porcelain"]), status);
        assert_eq!(home.git(&shop, &["diff", "--cached"]), staged);
        let after = files(&shop);
        let (gone, came) = difference(&before, &after);
        assert_eq!((gone.len(), came.len()), (1, 2), "{gone:?} {came:?}");
        assert!(shop.join("new").exists());
        assert!(
            fs::read_to_string(shop.join("lines"))
                .unwrap()
                .starts_with("ONE")
        );
    }
}

fn difference(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let only = |one: &str, other: &str| {
        let lines = one
            .lines()
            .filter(|line| !other.lines().any(|there| there == *line));
        lines.map(str::to_owned).collect()
    };
    (only(before, after), only(after, before))
}

/// Each with a remote, which must not have what could not be had here, and without one.
#[track_caller]
fn refused(prepare: impl Fn(&Merges) -> TestTask, words: &[&str]) {
    for home in [Merges::new(), Merges::with_remote()] {
        let task = prepare(&home);
        home.refuses(&task, &plain(), Code::ConditionUnmet, words);
    }
}

#[test]
fn an_edit_of_the_same_file() {
    let task = |home: &Merges| {
        let task = home.work("work", &[("lines", "theirs")]);
        write(&home.shop(), "lines", "mine");
        task
    };
    refused(task, &["nothing was merged", "in lines"]);
    refused(
        |home| {
            let task = task(home);
            home.git(&home.shop(), &["add", "lines"]);
            task
        },
        &["nothing was merged", "in lines"],
    );
}

#[test]
fn a_file_of_the_users_that_git_does_not_track() {
    refused(
        |home| {
            let task = home.work("work", &[("it's a grün file", "theirs")]);
            write(&home.shop(), "it's a grün file", "mine");
            task
        },
        &["nothing was merged", "it's a grün file"],
    );
}

#[test]
fn a_file_of_the_users_that_git_ignores() {
    let ignored = |name: &'static str, theirs: &'static str| {
        move |home: &Merges| {
            let shop = home.shop();
            home.commit(&shop, ".gitignore", "cache\n");
            home.branch_by("work", |folder| {
                let path = folder.join(theirs);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "theirs").unwrap();
                home.git(folder, &["add", "-f", theirs]);
                home.commit_all(folder, "work");
            });
            if home.remote().exists() {
                home.git(&shop, &["push", "-q", "origin", "main"]);
            }
            let path = shop.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "mine").unwrap();
            home.reviewed("work")
        }
    };
    refused(ignored("cache", "cache"), &["nothing was merged", "cache"]);
    // A folder where the file is to come, and a file where the folder is.
    refused(
        ignored("cache/x", "cache"),
        &["nothing was merged", "cache"],
    );
    refused(
        ignored("cache", "cache/x"),
        &["nothing was merged", "cache"],
    );
}

#[test]
fn something_under_way_in_the_checkout() {
    let conflict = |home: &Merges, command: &[&str]| {
        let shop = home.shop();
        home.branch("side", &[("lines", "side")]);
        home.commit(&shop, "lines", "main");
        let task = home.work("work", &[("new", "x")]);
        if home.remote().exists() {
            home.git(&shop, &["push", "-q", "origin", "main"]);
        }
        let mut git = home.foreign("git");
        assert!(
            !git.current_dir(&shop)
                .args(command)
                .output()
                .unwrap()
                .status
                .success()
        );
        task
    };
    refused(
        |home| conflict(home, &["merge", "side"]),
        &["merge is under way"],
    );
    refused(
        |home| conflict(home, &["cherry-pick", "side"]),
        &["cherry-pick is under way"],
    );
    refused(
        |home| conflict(home, &["revert", "HEAD~1"]),
        &["revert is under way"],
    );
    refused(
        |home| conflict(home, &["rebase", "side"]),
        &["main is in the middle of a rebase"],
    );
    refused(
        |home| {
            home.branch("patch", &[("lines", "side")]);
            let patch = home.git(&home.shop(), &["format-patch", "-1", "--stdout", "patch"]);
            home.write("patch", patch + "\n");
            conflict(home, &["am", "-q", "../patch"])
        },
        &["am is under way"],
    );
    // Resolved, but not concluded: the next commit of the user would be the merge.
    refused(
        |home| {
            let task = conflict(home, &["merge", "side"]);
            write(&home.shop(), "lines", "resolved");
            home.git(&home.shop(), &["add", "lines"]);
            task
        },
        &["merge is under way"],
    );
}

#[test]
fn locks_that_a_git_left_behind() {
    let with = |lock: &'static str| {
        move |home: &Merges| {
            let task = home.work("work", &[("new", "x")]);
            write(&home.shop(), lock, "");
            task
        }
    };
    refused(with(".git/index.lock"), &["git is at work", "index.lock"]);
    // Git would change the files first, and find out then.
    refused(
        with(".git/refs/heads/main.lock"),
        &["cannot move main", "main.lock"],
    );
}

#[test]
fn checked_out_in_another_worktree_or_nowhere() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let other = home.root().join("öther place");
    home.git(&shop, &["switch", "-q", "-c", "mine"]);
    let one = home.work("one", &[("one", "x")]);
    assert_eq!(home.merge(&one, &plain()).value().fast_forwarded, None);
    assert_eq!(home.line(&shop, "main"), ["Do one (TASK-001)"]);
    assert!(!shop.join("one").exists());
    assert_eq!(home.git(&shop, &["status", "--porcelain"]), "");

    home.git(
        &shop,
        &["worktree", "add", "-q", other.to_str().unwrap(), "main"],
    );
    write(&other, "README.md", "edited there");
    let two = home.work("two", &[("two", "x")]);
    let here = files(&shop);
    let forwarded = home.merge(&two, &plain()).value().fast_forwarded;
    assert_eq!(forwarded.as_ref(), Some(&other));
    assert!(other.join("two").exists());
    assert_eq!(home.git(&other, &["status", "--porcelain"]), "M README.md");
    assert_eq!(files(&shop), here);
    assert_eq!(home.at(&home.remote(), "main"), home.at(&shop, "main"));

    let three = home.work("three", &[("README.md", "theirs")]);
    home.refuses(
        &three,
        &plain(),
        Code::ConditionUnmet,
        &["README.md", "öther place"],
    );
    fs::remove_dir_all(&other).unwrap();
    home.refuses(
        &three,
        &plain(),
        Code::ConditionUnmet,
        &["which is not there"],
    );
}

/// Registers another repository as the project `odd`; a task on a branch of it is merged without a remote.
fn merged_in(home: &TestHome, repository: &Path, base: &str) -> TestTask {
    home.add_project_as(repository, Some("odd")).ok();
    let beside = home.root().join("beside");
    let place = beside.to_str().unwrap();
    home.git(
        repository,
        &["worktree", "add", "-q", "-b", "work", place, base],
    );
    home.commit(&beside, "new", "x");
    home.git(repository, &["worktree", "remove", "--force", place]);
    let task = home.create_with("work", |new| {
        new.project = "odd".to_owned();
        new.summary = "Do it".to_owned();
        new.status = Some("reviewing".parse().unwrap());
    });
    home.merge(&task, &here_alone()).ok();
    task
}

#[test]
fn a_bare_repository_with_and_without_a_checkout_of_the_target() {
    let home = TestHome::unregistered();
    home.git(&home.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
    let bare = home.root().join("bare.git");
    merged_in(&home, &bare, "main");
    assert_eq!(
        home.git(&bare, &["log", "-1", "--format=%s", "main"]),
        "Do it (TASK-001)"
    );

    let home = TestHome::unregistered();
    home.git(&home.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
    let bare = home.root().join("bare.git");
    home.git(&bare, &["worktree", "add", "-q", "../main", "main"]);
    merged_in(&home, &bare, "main");
    assert!(home.root().join("main/new").exists());
    assert_eq!(
        home.git(&home.root().join("main"), &["status", "--porcelain"]),
        ""
    );
}

#[test]
fn a_default_branch_of_another_name() {
    let home = TestHome::unregistered();
    let shop = home.shop();
    home.git(&shop, &["branch", "-q", "-m", "main", "Entwicklung/grün"]);
    let task = merged_in(&home, &shop, "Entwicklung/grün");
    assert!(shop.join("new").exists());
    assert_eq!(task.last("task.merged")["target"], "Entwicklung/grün");
}

/// Git names the place of such a repository's data as its checkout; its files are elsewhere.
#[test]
fn files_apart_from_their_repository_follow_too() {
    let clean = |home: &TestHome, checkout: PathBuf| {
        assert!(checkout.join("new").exists());
        assert_eq!(home.git(&checkout, &["status", "--porcelain"]), "");
    };
    let home = TestHome::empty();
    fs::create_dir(home.shop()).unwrap();
    let data = home.root().join("data");
    let apart = format!("--separate-git-dir={}", data.display());
    home.git(&home.shop(), &["init", "-q", "-b", "main", &apart]);
    home.commit(&home.shop(), "README.md", "first");
    merged_in(&home, &home.shop(), "main");
    clean(&home, home.shop());

    let home = TestHome::unregistered();
    let above = home.init_repository("above");
    let allow = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "--quiet", "add", "../shop", "library"];
    let shop = home.shop();
    let path = shop.to_str().unwrap();
    let add: Vec<&str> = add
        .map(|word| if word == "../shop" { path } else { word })
        .to_vec();
    home.git(&above, &[&allow[..], &add].concat());
    merged_in(&home, &above.join("library"), "main");
    clean(&home, above.join("library"));
}

#[test]
fn settings_of_the_branch_that_would_make_it_another_merge() {
    for options in [
        "--squash",
        "--no-commit",
        "--no-ff --log",
        "--autostash --signoff",
    ] {
        let home = Merges::with_remote();
        let shop = home.shop();
        home.git(&shop, &["config", "branch.main.mergeOptions", options]);
        let task = home.work("work", &[("new", "x")]);
        home.merge(&task, &plain()).ok();
        assert_eq!(
            home.at(&shop, "HEAD"),
            home.at(&home.remote(), "main"),
            "{options}"
        );
        assert_eq!(home.git(&shop, &["status", "--porcelain"]), "", "{options}");
    }
}

#[test]
fn a_target_that_is_the_branch_itself_or_nothing() {
    let home = Merges::new();
    let task = home.work("work", &[("new", "x")]);
    home.set(&task, Field::TargetBranch, "work").ok();
    home.refuses(&task, &plain(), Code::ConditionUnmet, &["its target too"]);
    home.set(&task, Field::TargetBranch, "nowhere").ok();
    home.refuses(
        &task,
        &plain(),
        Code::NotFound,
        &["no branch nowhere", "SetTarget { task"],
    );
}

/// HEAD says another name than the target's; its files would not follow.
#[test]
fn a_target_that_is_another_name() {
    let home = Merges::new();
    let shop = home.shop();
    home.git(&shop, &["branch", "-m", "main", "trunk"]);
    home.git(
        &shop,
        &["symbolic-ref", "refs/heads/main", "refs/heads/trunk"],
    );
    let task = home.work("work", &[("new", "x")]);
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["another name of trunk"],
    );
    home.set(&task, Field::TargetBranch, "trunk").ok();
    home.merge(&task, &plain()).ok();
    assert!(shop.join("new").exists());
    assert_eq!(home.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn checked_out_twice() {
    let home = Merges::new();
    let task = home.work("work", &[("new", "x")]);
    home.git(
        &home.shop(),
        &["worktree", "add", "-q", "--force", "../twice", "main"],
    );
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["checked out twice"],
    );
}
