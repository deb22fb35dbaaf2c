//! A merge and the places where its target is checked out: edits stay byte for byte, and what cannot be brought
//! forward is not merged at all.

use crate::env::{TestEnvironment, TestTask};
use crate::merges::{LINES, Merges, files};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

fn write(folder: &Path, file: &str, content: &str) {
    fs::write(folder.join(file), content).unwrap();
}

#[test]
fn edits_elsewhere_stay_byte_for_byte() {
    for env in [Merges::new(), Merges::with_remote()] {
        let shop = env.shop();
        env.commit(&shop, "staged", "a\n");
        env.commit(&shop, "edited", "a\n");
        env.commit(&shop, "both", "a\n");
        env.commit(&shop, ".gitignore", "*.log\n");
        let task = env.work(
            "work",
            &[("lines", &LINES.replace("one", "ONE")), ("new", "x")],
        );
        write(&shop, "staged", "staged\r\n");
        write(&shop, "both", "first\n");
        env.git(&shop, &["add", "staged", "both"]);
        write(&shop, "both", "second");
        write(&shop, "edited", "\u{0}\u{1}edited");
        write(&shop, "untracked", "mine");
        write(&shop, "a.log", "ignored");
        fs::remove_file(shop.join("README.md")).unwrap();
        let status = env.git(&shop, &["status", "--porcelain"]);
        let staged = env.git(&shop, &["diff", "--cached"]);
        let before = files(&shop);
        env.merge(&task, &[]).ok();
        assert_eq!(env.git(&shop, &["status", "--porcelain"]), status);
        assert_eq!(env.git(&shop, &["diff", "--cached"]), staged);
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
    for env in [Merges::new(), Merges::with_remote()] {
        let task = prepare(&env);
        env.refuses(&task, &[], 3, words);
    }
}

#[test]
fn an_edit_of_the_same_file() {
    let task = |env: &Merges| {
        let task = env.work("work", &[("lines", "theirs")]);
        write(&env.shop(), "lines", "mine");
        task
    };
    refused(task, &["nothing was merged", "in lines"]);
    refused(
        |env| {
            let task = task(env);
            env.git(&env.shop(), &["add", "lines"]);
            task
        },
        &["nothing was merged", "in lines"],
    );
}

#[test]
fn a_file_of_the_users_that_git_does_not_track() {
    refused(
        |env| {
            let task = env.work("work", &[("it's a grün file", "theirs")]);
            write(&env.shop(), "it's a grün file", "mine");
            task
        },
        &["nothing was merged", "it's a grün file"],
    );
}

#[test]
fn a_file_of_the_users_that_git_ignores() {
    let ignored = |name: &'static str, theirs: &'static str| {
        move |env: &Merges| {
            let shop = env.shop();
            env.commit(&shop, ".gitignore", "cache\n");
            env.branch_by("work", |folder| {
                let path = folder.join(theirs);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "theirs").unwrap();
                env.git(folder, &["add", "-f", theirs]);
                env.commit_all(folder, "work");
            });
            if env.remote().exists() {
                env.git(&shop, &["push", "-q", "origin", "main"]);
            }
            let path = shop.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "mine").unwrap();
            env.reviewed("work")
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
    let conflict = |env: &Merges, command: &[&str]| {
        let shop = env.shop();
        env.branch("side", &[("lines", "side")]);
        env.commit(&shop, "lines", "main");
        let task = env.work("work", &[("new", "x")]);
        if env.remote().exists() {
            env.git(&shop, &["push", "-q", "origin", "main"]);
        }
        let mut git = env.foreign("git");
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
        |env| conflict(env, &["merge", "side"]),
        &["merge is under way"],
    );
    refused(
        |env| conflict(env, &["cherry-pick", "side"]),
        &["cherry-pick is under way"],
    );
    refused(
        |env| conflict(env, &["revert", "HEAD~1"]),
        &["revert is under way"],
    );
    refused(
        |env| conflict(env, &["rebase", "side"]),
        &["main is in the middle of a rebase"],
    );
    refused(
        |env| {
            env.branch("patch", &[("lines", "side")]);
            let patch = env.git(&env.shop(), &["format-patch", "-1", "--stdout", "patch"]);
            env.write("patch", patch + "\n");
            conflict(env, &["am", "-q", "../patch"])
        },
        &["am is under way"],
    );
    // Resolved, but not concluded: the next commit of the user would be the merge.
    refused(
        |env| {
            let task = conflict(env, &["merge", "side"]);
            write(&env.shop(), "lines", "resolved");
            env.git(&env.shop(), &["add", "lines"]);
            task
        },
        &["merge is under way"],
    );
}

#[test]
fn locks_that_a_git_left_behind() {
    let with = |lock: &'static str| {
        move |env: &Merges| {
            let task = env.work("work", &[("new", "x")]);
            write(&env.shop(), lock, "");
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
fn a_lock_that_goes_away_is_waited_for() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    let lock = env.shop().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let mut merge = env.call(["task", "merge", &task.id]).spawn();
    // The lock is taken away once the merge has been begun.
    while !task.events().iter().any(|event| event == "merge.started") {
        assert!(merge.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    fs::remove_file(&lock).unwrap();
    assert!(merge.wait().unwrap().success());
    assert!(env.shop().join("new").exists());
}

/// Starts a command, removes the lock as soon as the command says that it waits for it, and gives all that it said.
fn waits_for(env: &Merges, words: &[&str], lock: &Path) -> String {
    fs::write(lock, "").unwrap();
    let mut child = env.call(words.iter().copied()).spawn();
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        said.push_str(&line.unwrap());
        said.push('\n');
        if said.contains("waits for another git to release") && said.contains(".lock") {
            let _ = fs::remove_file(lock);
        }
    }
    let _ = fs::remove_file(lock);
    assert!(child.wait().unwrap().success(), "{said}");
    said
}

#[test]
fn a_wait_for_a_lock_of_the_users_is_reported() {
    let env = Merges::new();
    let git = env.shop().join(".git");
    for (n, name) in ["index.lock", "HEAD.lock", "refs/heads/main.lock"]
        .into_iter()
        .enumerate()
    {
        let task = env.work(&format!("work-{n}"), &[(&format!("new-{n}"), "x")]);
        let said = waits_for(&env, &["task", "merge", &task.id], &git.join(name));
        assert!(said.contains(name), "{name}: {said}");
        assert!(env.is_done(&task));
    }
    // A bisect has refs, and to delete one git wants this lock.
    let task = env.create(["bisected", "Find it"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    env.git(&slot, &["bisect", "start"]);
    env.git(&slot, &["bisect", "bad"]);
    let lock = git.join("packed-refs.lock");
    let said = waits_for(&env, &["task", "cancel", &task.id, "--yes"], &lock);
    assert!(said.contains("packed-refs.lock"), "{said}");
    assert_eq!(env.show(&task)["attention"], serde_json::Value::Null);
    assert_eq!(env.git(&slot, &["for-each-ref", "refs/bisect"]), "");
}

#[test]
fn checked_out_in_another_worktree_or_nowhere() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let other = env.root().join("öther place");
    env.git(&shop, &["switch", "-q", "-c", "mine"]);
    let one = env.work("one", &[("one", "x")]);
    env.merge(&one, &[]).ok().silent_about("forward");
    assert_eq!(env.line(&shop, "main"), ["Do one (TASK-001)"]);
    assert!(!shop.join("one").exists());
    assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");

    env.git(
        &shop,
        &["worktree", "add", "-q", other.to_str().unwrap(), "main"],
    );
    write(&other, "README.md", "edited there");
    let two = env.work("two", &[("two", "x")]);
    let here = files(&shop);
    env.merge(&two, &[]).ok().says("öther place");
    assert!(other.join("two").exists());
    assert_eq!(env.git(&other, &["status", "--porcelain"]), "M README.md");
    assert_eq!(files(&shop), here);
    assert_eq!(env.at(&env.remote(), "main"), env.at(&shop, "main"));

    let three = env.work("three", &[("README.md", "theirs")]);
    env.refuses(&three, &[], 3, &["README.md", "öther place"]);
    fs::remove_dir_all(&other).unwrap();
    env.refuses(&three, &[], 3, &["which is not there"]);
}

/// Registers another repository as the project `odd`; a task on a branch of it is merged without a remote.
fn merged_in(env: &TestEnvironment, repository: &Path, base: &str) -> TestTask {
    let path = repository.to_str().unwrap();
    env.orange(["project", "add", path, "--name", "odd"]).ok();
    let beside = env.root().join("beside");
    let place = beside.to_str().unwrap();
    env.git(
        repository,
        &["worktree", "add", "-q", "-b", "work", place, base],
    );
    env.commit(&beside, "new", "x");
    env.git(repository, &["worktree", "remove", "--force", place]);
    let task = env.create(["work", "Do it", "--status", "reviewing", "--project", "odd"]);
    env.orange(["task", "merge", &task.id, "--no-push"]).ok();
    task
}

#[test]
fn a_bare_repository_with_and_without_a_checkout_of_the_target() {
    let env = TestEnvironment::unregistered();
    env.git(&env.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
    let bare = env.root().join("bare.git");
    merged_in(&env, &bare, "main");
    assert_eq!(
        env.git(&bare, &["log", "-1", "--format=%s", "main"]),
        "Do it (TASK-001)"
    );

    let env = TestEnvironment::unregistered();
    env.git(&env.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
    let bare = env.root().join("bare.git");
    env.git(&bare, &["worktree", "add", "-q", "../main", "main"]);
    merged_in(&env, &bare, "main");
    assert!(env.root().join("main/new").exists());
    assert_eq!(
        env.git(&env.root().join("main"), &["status", "--porcelain"]),
        ""
    );
}

#[test]
fn a_default_branch_of_another_name() {
    let env = TestEnvironment::unregistered();
    let shop = env.shop();
    env.git(&shop, &["branch", "-q", "-m", "main", "Entwicklung/grün"]);
    let task = merged_in(&env, &shop, "Entwicklung/grün");
    assert!(shop.join("new").exists());
    assert_eq!(task.last("task.merged")["target"], "Entwicklung/grün");
}

/// Git names the place of such a repository's data as its checkout; its files are elsewhere.
#[test]
fn files_apart_from_their_repository_follow_too() {
    let clean = |env: &TestEnvironment, checkout: PathBuf| {
        assert!(checkout.join("new").exists());
        assert_eq!(env.git(&checkout, &["status", "--porcelain"]), "");
    };
    let env = TestEnvironment::empty();
    fs::create_dir(env.shop()).unwrap();
    let data = env.root().join("data");
    let apart = format!("--separate-git-dir={}", data.display());
    env.git(&env.shop(), &["init", "-q", "-b", "main", &apart]);
    env.commit(&env.shop(), "README.md", "first");
    merged_in(&env, &env.shop(), "main");
    clean(&env, env.shop());

    let env = TestEnvironment::unregistered();
    let above = env.init_repository("above");
    let allow = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "--quiet", "add", "../shop", "library"];
    let shop = env.shop();
    let path = shop.to_str().unwrap();
    let add: Vec<&str> = add
        .map(|word| if word == "../shop" { path } else { word })
        .to_vec();
    env.git(&above, &[&allow[..], &add].concat());
    merged_in(&env, &above.join("library"), "main");
    clean(&env, above.join("library"));
}

#[test]
fn settings_of_the_branch_that_would_make_it_another_merge() {
    for options in [
        "--squash",
        "--no-commit",
        "--no-ff --log",
        "--autostash --signoff",
    ] {
        let env = Merges::with_remote();
        let shop = env.shop();
        env.git(&shop, &["config", "branch.main.mergeOptions", options]);
        let task = env.work("work", &[("new", "x")]);
        env.merge(&task, &[]).ok();
        assert_eq!(
            env.at(&shop, "HEAD"),
            env.at(&env.remote(), "main"),
            "{options}"
        );
        assert_eq!(env.git(&shop, &["status", "--porcelain"]), "", "{options}");
    }
}

#[test]
fn a_target_that_is_the_branch_itself_or_nothing() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    env.update(&task, &["--target-branch", "work"]).ok();
    env.refuses(&task, &[], 3, &["its target too"]);
    env.update(&task, &["--target-branch", "nowhere"]).ok();
    env.refuses(&task, &[], 4, &["no branch nowhere", "--target-branch"]);
}

/// HEAD says another name than the target's; its files would not follow.
#[test]
fn a_target_that_is_another_name() {
    let env = Merges::new();
    let shop = env.shop();
    env.git(&shop, &["branch", "-m", "main", "trunk"]);
    env.git(
        &shop,
        &["symbolic-ref", "refs/heads/main", "refs/heads/trunk"],
    );
    let task = env.work("work", &[("new", "x")]);
    env.refuses(&task, &[], 3, &["another name of trunk"]);
    env.update(&task, &["--target-branch", "trunk"]).ok();
    env.merge(&task, &[]).ok();
    assert!(shop.join("new").exists());
    assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn checked_out_twice() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    env.git(
        &env.shop(),
        &["worktree", "add", "-q", "--force", "../twice", "main"],
    );
    env.refuses(&task, &[], 3, &["checked out twice"]);
}
