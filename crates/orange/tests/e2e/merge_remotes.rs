//! A merge and its remote: what is refused there changes nothing here, and whoever pushed meanwhile keeps their work.

use crate::merges::Merges;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Both have the same, and the user's checkout shows it.
#[track_caller]
fn in_step(env: &Merges) {
    let shop = env.shop();
    assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    assert_eq!(env.at(&shop, "main"), env.at(&shop, "origin/main"));
    assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn every_strategy_is_pushed() {
    let env = Merges::with_remote();
    for strategy in ["squash", "merge", "rebase", "ff"] {
        let task = env.work(strategy, &[(strategy, "x")]);
        env.merge(&task, &["--strategy", strategy])
            .ok()
            .says("pushed");
        in_step(&env);
        assert!(env.file(&env.remote(), "main", strategy).is_some());
        assert_eq!(task.last("task.merged")["pushed"], true);
    }
}

#[test]
fn a_remote_that_says_no_says_why_and_a_merge_here_alone_works() {
    let env = Merges::with_remote();
    env.hook(
        &env.remote(),
        "pre-receive",
        "echo 'protected: ask \u{1b}[31mAnn' >&2; exit 1",
    );
    let task = env.work("work", &[("new", "x")]);
    env.refuses(
        &task,
        &[],
        1,
        &["nothing was merged", "protected: ask", "--no-push"],
    );
    assert_eq!(task.events().last().unwrap(), "merge.stopped");
    let told = env.merge(&task, &["--json"]).refuses(1, "failed");
    assert!(told["message"].as_str().unwrap().contains("protected: ask"));
    env.merge(&task, &["--no-push"]).ok().silent_about("pushed");
    assert!(env.shop().join("new").exists());
    assert_ne!(env.at(&env.shop(), "main"), env.at(&env.remote(), "main"));
}

#[test]
fn an_update_hook_that_says_no_to_one_branch() {
    let env = Merges::with_remote();
    env.hook(&env.remote(), "update", "test \"$1\" != refs/heads/main");
    let task = env.work("work", &[("new", "x")]);
    env.refuses(&task, &[], 1, &["nothing was merged", "hook declined"]);
}

#[test]
fn a_pre_push_hook_of_ones_own() {
    let env = Merges::with_remote();
    let shop = env.shop();
    env.hook(&shop, "pre-push", "echo 'tests are red' >&2; exit 1");
    let task = env.work("work", &[("new", "x")]);
    env.refuses(&task, &[], 1, &["nothing was merged", "tests are red"]);
    // Hooks from elsewhere, and one that finds out what is pushed.
    let hooks = env.root().join("my hooks");
    fs::create_dir(&hooks).unwrap();
    let seen = env.root().join("seen");
    let script = format!("#!/bin/sh\ncat > '{}'\n", seen.display());
    fs::write(hooks.join("pre-push"), script).unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(hooks.join("pre-push"), mode).unwrap();
    env.git(
        &shop,
        &["config", "core.hooksPath", hooks.to_str().unwrap()],
    );
    env.merge(&task, &[]).ok();
    let pushed = fs::read_to_string(seen).unwrap();
    assert!(pushed.contains(&env.at(&shop, "main")), "{pushed}");
    in_step(&env);
}

#[test]
fn a_remote_that_is_gone_or_none_at_all() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    fs::rename(env.remote(), env.root().join("away")).unwrap();
    env.refuses(
        &task,
        &[],
        1,
        &["nothing was merged", "origin", "--no-push"],
    );
    fs::write(env.remote(), "not a repository").unwrap();
    let run = env.merge(&task, &[]).fails_with(1);
    run.says("nothing was merged");
    env.merge(&task, &["--no-push"]).ok();
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    env.merge(&task, &["--push"])
        .fails_with(3)
        .says("no remote called origin");
    env.merge(&task, &[]).ok().silent_about("pushed");
}

#[test]
fn whoever_pushed_meanwhile_keeps_their_work() {
    for strategy in ["squash", "merge", "rebase"] {
        let env = Merges::with_remote();
        let task = env.work("work", &[("new", "x")]);
        env.colleague_pushes("theirs", "y");
        env.merge(&task, &["--strategy", strategy]).ok();
        in_step(&env);
        for file in ["theirs", "new"] {
            assert!(env.shop().join(file).exists(), "{strategy}: {file}");
        }
    }
}

/// Between the computing and the push.
#[test]
fn a_push_in_the_last_moment_is_seen() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    let clone = env.colleague();
    env.commit(&clone, "theirs", "y");
    let once = env.root().join("once");
    fs::write(&once, "").unwrap();
    env.hook(
        &env.shop(),
        "pre-push",
        &format!(
            "rm '{}' 2>/dev/null || exit 0\nunset GIT_DIR\ngit -C '{}' push -q origin HEAD:main",
            once.display(),
            clone.display()
        ),
    );
    env.merge(&task, &[]).ok();
    in_step(&env);
    assert!(!once.exists());
    assert_eq!(
        env.line(&env.shop(), "main"),
        ["Do work (TASK-001)", "change theirs"]
    );
}

#[test]
fn what_the_remote_has_and_conflicts_is_told_of() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("lines", "mine")]);
    env.colleague_pushes("lines", "theirs");
    let before = env.surroundings(&env.shop());
    env.merge(&task, &[]).fails_with(3).says("lines");
    // Only what follows the remote has moved.
    let after = env.surroundings(&env.shop());
    let without = |text: &str| {
        let lines = text
            .lines()
            .filter(|line| !line.ends_with("refs/remotes/origin/main"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without(&after), without(&before));
    env.why(&task).says("conflicts with main in lines");
}

#[test]
fn commits_that_were_not_pushed_yet_go_along_and_are_told_of() {
    let env = Merges::with_remote();
    env.commit(&env.shop(), "mine", "x");
    let task = env.work("work", &[("new", "x")]);
    env.merge(&task, &[])
        .ok()
        .says("pushed with it: 1 commit of main");
    in_step(&env);
}

#[test]
fn a_target_that_went_two_ways() {
    let env = Merges::with_remote();
    env.commit(&env.shop(), "mine", "x");
    env.colleague_pushes("theirs", "y");
    let task = env.work("work", &[("new", "x")]);
    env.git(&env.shop(), &["fetch", "-q"]);
    env.refuses(
        &task,
        &[],
        3,
        &["different ways", "1 commit only here", "--no-push"],
    );
    env.merge(&task, &["--no-push"]).ok();
}

#[test]
fn a_target_that_went_two_ways_and_nobody_has_looked() {
    let env = Merges::with_remote();
    env.commit(&env.shop(), "mine", "x");
    env.colleague_pushes("theirs", "y");
    let task = env.work("work", &[("new", "x")]);
    let (here, there) = (env.at(&env.shop(), "main"), env.at(&env.remote(), "main"));
    env.merge(&task, &[]).fails_with(3).says("different ways");
    assert_eq!(env.at(&env.shop(), "main"), here);
    assert_eq!(env.at(&env.remote(), "main"), there);
}

#[test]
fn a_target_that_was_forced_to_something_else() {
    let env = Merges::with_remote();
    let clone = env.colleague();
    env.git(&clone, &["commit", "-q", "--amend", "-m", "rewritten"]);
    env.git(&clone, &["push", "-q", "--force", "origin", "HEAD:main"]);
    let task = env.work("work", &[("new", "x")]);
    let (here, there) = (env.at(&env.shop(), "main"), env.at(&env.remote(), "main"));
    env.merge(&task, &[]).fails_with(3).says("different ways");
    assert_eq!(env.at(&env.shop(), "main"), here);
    assert_eq!(
        env.at(&env.remote(), "main"),
        there,
        "nothing is forced back"
    );
}

#[test]
fn a_target_that_was_set_back() {
    let env = Merges::with_remote();
    let secret = env.commit(&env.shop(), "secret", "x");
    env.git(&env.shop(), &["push", "-q", "origin", "main"]);
    env.git(&env.remote(), &["update-ref", "refs/heads/main", "main~1"]);
    let task = env.work("work", &[("new", "x")]);
    let there = env.at(&env.remote(), "main");
    env.merge(&task, &[])
        .fails_with(3)
        .says("was set back")
        .says(&secret[..7]);
    assert_eq!(
        env.at(&env.remote(), "main"),
        there,
        "what was taken back stays so"
    );
    assert_eq!(env.at(&env.shop(), "main"), secret);
}

#[test]
fn a_target_that_was_deleted() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    env.git(&env.remote(), &["update-ref", "-d", "refs/heads/main"]);
    env.refuses(
        &task,
        &[],
        3,
        &["origin has no branch main any more", "--target-branch"],
    );
    // Here alone: the remote's is moved.
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    env.git(&shop, &["switch", "-q", "--detach"]);
    env.git(&shop, &["branch", "-q", "-D", "main"]);
    env.merge(&task, &[]).ok().says("pushed");
    assert!(env.file(&env.remote(), "main", "new").is_some());
    assert_eq!(env.git(&shop, &["branch", "--list", "main"]), "");
    assert!(env.is_done(&task));
    // In both places.
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    env.git(&shop, &["switch", "-q", "--detach"]);
    env.git(&shop, &["branch", "-q", "-D", "main"]);
    env.git(&env.remote(), &["update-ref", "-d", "refs/heads/main"]);
    env.refuses(&task, &[], 3, &["origin has no branch main any more"]);
    env.git(&shop, &["update-ref", "-d", "refs/remotes/origin/main"]);
    env.refuses(&task, &[], 4, &["no branch main to merge into"]);
}

#[test]
fn a_target_that_the_remote_has_never_had() {
    let env = Merges::with_remote();
    let shop = env.shop();
    env.git(&shop, &["branch", "next"]);
    let task = env.work("work", &[("new", "x")]);
    env.update(&task, &["--target-branch", "next"]).ok();
    env.merge(&task, &[]).ok().says("pushed");
    assert_eq!(env.at(&env.remote(), "next"), env.at(&shop, "next"));
    assert_eq!(env.line(&shop, "main").len(), 0);
}

/// Main has not been looked at here for a while; the checkout comes along.
#[test]
fn a_checkout_that_is_behind() {
    let env = Merges::with_remote();
    env.colleague_pushes("theirs", "y");
    env.git(&env.shop(), &["fetch", "-q"]);
    fs::write(env.shop().join("theirs"), "mine, not tracked").unwrap();
    let task = env.work("work", &[("new", "x")]);
    env.refuses(&task, &[], 3, &["theirs"]);
    fs::remove_file(env.shop().join("theirs")).unwrap();
    env.merge(&task, &[]).ok();
    in_step(&env);
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
        let env = Merges::with_remote();
        if let Some(word) = setting {
            env.config(&format!("merge:\n  delete_remote_branch: {word}\n"));
        }
        let task = env.work("work", &[("new", "x")]);
        env.git(&env.shop(), &["push", "-q", "origin", "work"]);
        if more {
            let clone = env.colleague();
            env.git(&clone, &["switch", "-q", "work"]);
            env.commit(&clone, "more", "x");
            env.git(&clone, &["push", "-q", "origin", "work"]);
        }
        env.merge(&task, &[]).ok();
        let there = env.git(&env.remote(), &["branch", "--list", "work"]);
        assert_eq!(there.is_empty(), deleted, "{setting:?} {more}");
        assert!(env.is_done(&task));
        env.at(&env.shop(), "refs/heads/work");
    }
}

/// The branch is checked out over there; that remote says so itself.
#[test]
fn a_remote_with_files() {
    let env = Merges::with_remote();
    env.git(&env.root(), &["clone", "-q", "remote.git", "desk"]);
    let desk = env.root().join("desk");
    let url = desk.to_str().unwrap();
    env.git(&env.shop(), &["remote", "set-url", "origin", url]);
    let task = env.work("work", &[("new", "x")]);
    let before = env.surroundings(&desk);
    env.refuses(&task, &[], 1, &["nothing was merged", "checked out"]);
    assert_eq!(env.surroundings(&desk), before);
}

/// What is fetched from has it; what else is pushed to is behind.
#[test]
fn a_remote_that_is_two_places() {
    let env = Merges::with_remote();
    let shop = env.shop();
    env.git(&env.root(), &["init", "-q", "--bare", "second.git"]);
    for place in ["remote.git", "second.git"] {
        let url = env.root().join(place);
        let add = ["remote", "set-url", "--add", "--push", "origin"];
        env.git(&shop, &[&add[..], &[url.to_str().unwrap()]].concat());
    }
    let task = env.work("work", &[("new", "x")]);
    env.merge(&task, &[]).ok();
    in_step(&env);
    assert_eq!(env.line(&shop, "main"), ["Do work (TASK-001)"]);
}

/// What an earlier attempt would have brought in is in by now, by hand; the branch has gone on since.
#[test]
fn an_earlier_attempt_does_not_stand_for_later_work() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("first", "x")]);
    env.hook(&env.remote(), "pre-receive", "exit 1");
    env.merge(&task, &["--strategy", "ff"]).fails_with(1);
    env.git(&shop, &["merge", "-q", "--ff-only", "work"]);
    env.branch("work", &[("second", "x")]);
    env.hook(&env.remote(), "pre-receive", "exit 0");
    env.update(&task, &["--status", "done"]).fails_with(3);
    env.merge(&task, &["--force"])
        .ok()
        .says("1 commit squashed");
    assert_eq!(
        env.file(&env.remote(), "main", "second").as_deref(),
        Some("x")
    );
    assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
}

/// Nobody is kept from committing while a merge is under way; it is said that the merge has not got it.
#[test]
fn work_that_comes_while_it_is_merged() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("first", "x")]);
    env.branch("later", &[("second", "x")]);
    let script = "git update-ref refs/heads/work refs/heads/later";
    env.hook(&shop, "pre-push", script);
    let later = env.at(&shop, "later");
    let run = env.merge(&task, &[]).ok().says("what came since");
    assert!(run.stderr.contains(&later[..7]), "{run}");
    assert!(env.is_done(&task));
    assert_eq!(env.file(&shop, "main", "second"), None);
}

#[test]
fn a_remote_of_several_places_one_of_which_is_gone() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    let gone = env.root().join("gone.git");
    for place in [env.remote(), gone] {
        let setting = ["config", "--add", "remote.origin.pushurl"];
        env.git(&shop, &[&setting[..], &[place.to_str().unwrap()]].concat());
    }
    env.merge(&task, &[])
        .ok()
        .says("git complains")
        .says("gone.git");
    assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
}
