//! A merge and its remote: what is refused there changes nothing here, and whoever pushed meanwhile keeps their work.

use crate::merges::{Merges, by, forced, here_alone, plain};
use orange_core::task::Field;
use orange_engine::Code;
use orange_engine::verbs::merge::MergeWish;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Both have the same, and the user's checkout shows it.
#[track_caller]
fn in_step(home: &Merges) {
    let shop = home.shop();
    assert_eq!(home.at(&shop, "main"), home.at(&home.remote(), "main"));
    assert_eq!(home.at(&shop, "main"), home.at(&shop, "origin/main"));
    assert_eq!(home.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn every_strategy_is_pushed() {
    let home = Merges::with_remote();
    for strategy in ["squash", "merge", "rebase", "ff"] {
        let task = home.work(strategy, &[(strategy, "x")]);
        assert!(home.merge(&task, &by(strategy)).value().pushed);
        in_step(&home);
        assert!(home.file_at(&home.remote(), "main", strategy).is_some());
        assert_eq!(task.last("task.merged")["pushed"], true);
    }
}

#[test]
fn an_update_hook_that_says_no_to_one_branch() {
    let home = Merges::with_remote();
    home.hook(&home.remote(), "update", "test \"$1\" != refs/heads/main");
    let task = home.work("work", &[("new", "x")]);
    home.refuses(
        &task,
        &plain(),
        Code::Failed,
        &["nothing was merged", "hook declined"],
    );
}

#[test]
fn a_pre_push_hook_of_ones_own() {
    let home = Merges::with_remote();
    let shop = home.shop();
    home.hook(&shop, "pre-push", "echo 'tests are red' >&2; exit 1");
    let task = home.work("work", &[("new", "x")]);
    home.refuses(
        &task,
        &plain(),
        Code::Failed,
        &["nothing was merged", "tests are red"],
    );
    // Hooks from elsewhere, and one that finds out what is pushed.
    let hooks = home.root().join("my hooks");
    fs::create_dir(&hooks).unwrap();
    let seen = home.root().join("seen");
    let script = format!("#!/bin/sh\ncat > '{}'\n", seen.display());
    fs::write(hooks.join("pre-push"), script).unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(hooks.join("pre-push"), mode).unwrap();
    home.git(
        &shop,
        &["config", "core.hooksPath", hooks.to_str().unwrap()],
    );
    home.merge(&task, &plain()).ok();
    let pushed = fs::read_to_string(seen).unwrap();
    assert!(pushed.contains(&home.at(&shop, "main")), "{pushed}");
    in_step(&home);
}

#[test]
fn a_remote_that_is_gone_or_none_at_all() {
    let home = Merges::with_remote();
    let task = home.work("work", &[("new", "x")]);
    fs::rename(home.remote(), home.root().join("away")).unwrap();
    home.refuses(
        &task,
        &plain(),
        Code::Failed,
        &["nothing was merged", "origin", "NoPush"],
    );
    fs::write(home.remote(), "not a repository").unwrap();
    let run = home.merge(&task, &plain()).fails(Code::Failed);
    run.says("nothing was merged");
    home.merge(&task, &here_alone()).ok();
    let home = Merges::new();
    let task = home.work("work", &[("new", "x")]);
    let to_the_remote = MergeWish {
        push: Some(true),
        ..plain()
    };
    home.merge(&task, &to_the_remote)
        .fails(Code::ConditionUnmet)
        .says("no remote called origin");
    assert!(!home.merge(&task, &plain()).value().pushed);
}

#[test]
fn whoever_pushed_meanwhile_keeps_their_work() {
    for strategy in ["squash", "merge", "rebase"] {
        let home = Merges::with_remote();
        let task = home.work("work", &[("new", "x")]);
        home.colleague_pushes("theirs", "y");
        home.merge(&task, &by(strategy)).ok();
        in_step(&home);
        for file in ["theirs", "new"] {
            assert!(home.shop().join(file).exists(), "{strategy}: {file}");
        }
    }
}

/// Between the computing and the push.
#[test]
fn a_push_in_the_last_moment_is_seen() {
    let home = Merges::with_remote();
    let task = home.work("work", &[("new", "x")]);
    let clone = home.colleague();
    home.commit(&clone, "theirs", "y");
    let once = home.root().join("once");
    fs::write(&once, "").unwrap();
    home.hook(
        &home.shop(),
        "pre-push",
        &format!(
            "rm '{}' 2>/dev/null || exit 0\nunset GIT_DIR\ngit -C '{}' push -q origin HEAD:main",
            once.display(),
            clone.display()
        ),
    );
    home.merge(&task, &plain()).ok();
    in_step(&home);
    assert!(!once.exists());
    assert_eq!(
        home.line(&home.shop(), "main"),
        ["Do work (TASK-001)", "change theirs"]
    );
}

#[test]
fn what_the_remote_has_and_conflicts_is_told_of() {
    let home = Merges::with_remote();
    let task = home.work("work", &[("lines", "mine")]);
    home.colleague_pushes("lines", "theirs");
    let before = home.surroundings(&home.shop());
    home.merge(&task, &plain())
        .fails(Code::Conflict)
        .says("lines");
    // Only what follows the remote has moved.
    let after = home.surroundings(&home.shop());
    let without = |text: &str| {
        let lines = text
            .lines()
            .filter(|line| !line.ends_with("refs/remotes/origin/main"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without(&after), without(&before));
    assert!(home.why(&task).contains("conflicts with main in lines"));
}

#[test]
fn commits_that_were_not_pushed_yet_go_along_and_are_told_of() {
    let home = Merges::with_remote();
    home.commit(&home.shop(), "mine", "x");
    let task = home.work("work", &[("new", "x")]);
    home.merge(&task, &plain())
        .ok()
        .says("pushed with it: 1 commit of main");
    in_step(&home);
}

#[test]
fn a_target_that_went_two_ways() {
    let home = Merges::with_remote();
    home.commit(&home.shop(), "mine", "x");
    home.colleague_pushes("theirs", "y");
    let task = home.work("work", &[("new", "x")]);
    home.git(&home.shop(), &["fetch", "-q"]);
    home.refuses(
        &task,
        &plain(),
        Code::Conflict,
        &["different ways", "1 commit only here", "NoPush"],
    );
    home.merge(&task, &here_alone()).ok();
}

#[test]
fn a_target_that_went_two_ways_and_nobody_has_looked() {
    let home = Merges::with_remote();
    home.commit(&home.shop(), "mine", "x");
    home.colleague_pushes("theirs", "y");
    let task = home.work("work", &[("new", "x")]);
    let (here, there) = (
        home.at(&home.shop(), "main"),
        home.at(&home.remote(), "main"),
    );
    home.merge(&task, &plain())
        .fails(Code::Conflict)
        .says("different ways");
    assert_eq!(home.at(&home.shop(), "main"), here);
    assert_eq!(home.at(&home.remote(), "main"), there);
}

#[test]
fn a_target_that_was_forced_to_something_else() {
    let home = Merges::with_remote();
    let clone = home.colleague();
    home.git(&clone, &["commit", "-q", "--amend", "-m", "rewritten"]);
    home.git(&clone, &["push", "-q", "--force", "origin", "HEAD:main"]);
    let task = home.work("work", &[("new", "x")]);
    let (here, there) = (
        home.at(&home.shop(), "main"),
        home.at(&home.remote(), "main"),
    );
    home.merge(&task, &plain())
        .fails(Code::Conflict)
        .says("different ways");
    assert_eq!(home.at(&home.shop(), "main"), here);
    assert_eq!(
        home.at(&home.remote(), "main"),
        there,
        "nothing is forced back"
    );
}

#[test]
fn a_target_that_was_set_back() {
    let home = Merges::with_remote();
    let secret = home.commit(&home.shop(), "secret", "x");
    home.git(&home.shop(), &["push", "-q", "origin", "main"]);
    home.git(&home.remote(), &["update-ref", "refs/heads/main", "main~1"]);
    let task = home.work("work", &[("new", "x")]);
    let there = home.at(&home.remote(), "main");
    home.merge(&task, &plain())
        .fails(Code::Conflict)
        .says("was set back")
        .says(&secret[..7]);
    assert_eq!(
        home.at(&home.remote(), "main"),
        there,
        "what was taken back stays so"
    );
    assert_eq!(home.at(&home.shop(), "main"), secret);
}

#[test]
fn a_target_that_was_deleted() {
    let home = Merges::with_remote();
    let task = home.work("work", &[("new", "x")]);
    home.git(&home.remote(), &["update-ref", "-d", "refs/heads/main"]);
    home.refuses(
        &task,
        &plain(),
        Code::Conflict,
        &["origin has no branch main any more", "SetTarget { task"],
    );
    // Here alone: the remote's is moved.
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("new", "x")]);
    home.git(&shop, &["switch", "-q", "--detach"]);
    home.git(&shop, &["branch", "-q", "-D", "main"]);
    assert!(home.merge(&task, &plain()).value().pushed);
    assert!(home.file_at(&home.remote(), "main", "new").is_some());
    assert_eq!(home.git(&shop, &["branch", "--list", "main"]), "");
    assert!(home.is_done(&task));
    // In both places.
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("new", "x")]);
    home.git(&shop, &["switch", "-q", "--detach"]);
    home.git(&shop, &["branch", "-q", "-D", "main"]);
    home.git(&home.remote(), &["update-ref", "-d", "refs/heads/main"]);
    home.refuses(
        &task,
        &plain(),
        Code::Conflict,
        &["origin has no branch main any more"],
    );
    home.git(&shop, &["update-ref", "-d", "refs/remotes/origin/main"]);
    home.refuses(
        &task,
        &plain(),
        Code::NotFound,
        &["no branch main to merge into"],
    );
}

#[test]
fn a_target_that_the_remote_has_never_had() {
    let home = Merges::with_remote();
    let shop = home.shop();
    home.git(&shop, &["branch", "next"]);
    let task = home.work("work", &[("new", "x")]);
    home.set(&task, Field::TargetBranch, "next").ok();
    assert!(home.merge(&task, &plain()).value().pushed);
    assert_eq!(home.at(&home.remote(), "next"), home.at(&shop, "next"));
    assert_eq!(home.line(&shop, "main").len(), 0);
}

/// Main has not been looked at here for a while; the checkout comes along.
#[test]
fn a_checkout_that_is_behind() {
    let home = Merges::with_remote();
    home.colleague_pushes("theirs", "y");
    home.git(&home.shop(), &["fetch", "-q"]);
    fs::write(home.shop().join("theirs"), "mine, not tracked").unwrap();
    let task = home.work("work", &[("new", "x")]);
    home.refuses(&task, &plain(), Code::ConditionUnmet, &["theirs"]);
    fs::remove_file(home.shop().join("theirs")).unwrap();
    home.merge(&task, &plain()).ok();
    in_step(&home);
}

#[test]
fn the_branch_on_the_remote_is_kept_or_deleted_as_the_settings_say() {
    for (setting, more, deleted) in [
        (None, false, false),
        (Some("own"), false, false),
        (Some("never"), false, false),
        (Some("always"), false, true),
        (Some("always"), true, false),
    ] {
        let home = Merges::with_remote();
        if let Some(word) = setting {
            home.config(&format!("merge:\n  delete_remote_branch: {word}\n"));
        }
        let task = home.work("work", &[("new", "x")]);
        home.git(&home.shop(), &["push", "-q", "origin", "work"]);
        if more {
            let clone = home.colleague();
            home.git(&clone, &["switch", "-q", "work"]);
            home.commit(&clone, "more", "x");
            home.git(&clone, &["push", "-q", "origin", "work"]);
        }
        home.merge(&task, &plain()).ok();
        let there = home.git(&home.remote(), &["branch", "--list", "work"]);
        assert_eq!(there.is_empty(), deleted, "{setting:?} {more}");
        assert!(home.is_done(&task));
        home.at(&home.shop(), "refs/heads/work");
    }
}

/// The branch is checked out over there; that remote says so itself.
#[test]
fn a_remote_with_files() {
    let home = Merges::with_remote();
    home.git(&home.root(), &["clone", "-q", "remote.git", "desk"]);
    let desk = home.root().join("desk");
    let url = desk.to_str().unwrap();
    home.git(&home.shop(), &["remote", "set-url", "origin", url]);
    let task = home.work("work", &[("new", "x")]);
    let before = home.surroundings(&desk);
    home.refuses(
        &task,
        &plain(),
        Code::Failed,
        &["nothing was merged", "checked out"],
    );
    assert_eq!(home.surroundings(&desk), before);
}

/// What is fetched from has it; what else is pushed to is behind.
#[test]
fn a_remote_that_is_two_places() {
    let home = Merges::with_remote();
    let shop = home.shop();
    home.git(&home.root(), &["init", "-q", "--bare", "second.git"]);
    for place in ["remote.git", "second.git"] {
        let url = home.root().join(place);
        let add = ["remote", "set-url", "--add", "--push", "origin"];
        home.git(&shop, &[&add[..], &[url.to_str().unwrap()]].concat());
    }
    let task = home.work("work", &[("new", "x")]);
    home.merge(&task, &plain()).ok();
    in_step(&home);
    assert_eq!(home.line(&shop, "main"), ["Do work (TASK-001)"]);
}

/// What an earlier attempt would have brought in is in by now, by hand; the branch has gone on since.
#[test]
fn an_earlier_attempt_does_not_stand_for_later_work() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("first", "x")]);
    home.hook(&home.remote(), "pre-receive", "exit 1");
    home.merge(&task, &by("ff")).fails(Code::Failed);
    home.git(&shop, &["merge", "-q", "--ff-only", "work"]);
    home.branch("work", &[("second", "x")]);
    home.hook(&home.remote(), "pre-receive", "exit 0");
    home.move_to(&task, "done").fails(Code::ConditionUnmet);
    assert_eq!(home.merge(&task, &forced()).value().commits, 1);
    assert_eq!(
        home.file_at(&home.remote(), "main", "second").as_deref(),
        Some("x")
    );
    assert_eq!(home.at(&shop, "main"), home.at(&home.remote(), "main"));
}

/// Nobody is kept from committing while a merge is under way; it is said that the merge has not got it.
#[test]
fn work_that_comes_while_it_is_merged() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("first", "x")]);
    home.branch("later", &[("second", "x")]);
    let script = "git update-ref refs/heads/work refs/heads/later";
    home.hook(&shop, "pre-push", script);
    let later = home.at(&shop, "later");
    home.merge(&task, &plain())
        .ok()
        .says("what came since")
        .says(&later[..7]);
    assert!(home.is_done(&task));
    assert_eq!(home.file_at(&shop, "main", "second"), None);
}

#[test]
fn a_remote_of_several_places_one_of_which_is_gone() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("new", "x")]);
    let gone = home.root().join("gone.git");
    for place in [home.remote(), gone] {
        let setting = ["config", "--add", "remote.origin.pushurl"];
        home.git(&shop, &[&setting[..], &[place.to_str().unwrap()]].concat());
    }
    home.merge(&task, &plain())
        .ok()
        .says("git complains")
        .says("gone.git");
    assert_eq!(home.at(&shop, "main"), home.at(&home.remote(), "main"));
}
