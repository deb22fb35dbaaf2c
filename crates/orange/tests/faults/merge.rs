//! SIGKILL at every step of a merge, then one unrelated command: the work is in the target wholly or not at all, the
//! task says the same, no checkout shows half of it, and merging again brings it in once.

use crate::check::at_rest;
use crate::crash::killed_at;
use crate::env::{Env, copy, in_parallel, told};
use crate::points::OF_MERGES;
use crate::scenarios::task_in;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the target is while its branch is merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct World {
    pub(crate) remote: bool,
    /// The user has the target checked out, with edits of their own.
    pub(crate) checked_out: bool,
    /// The task has a slot with work that is not committed.
    pub(crate) slot: bool,
    pub(crate) strategy: &'static str,
}

pub(crate) const WORLDS: &[World] = &[
    World {
        remote: false,
        checked_out: true,
        slot: false,
        strategy: "squash",
    },
    World {
        remote: false,
        checked_out: false,
        slot: false,
        strategy: "rebase",
    },
    World {
        remote: true,
        checked_out: true,
        slot: false,
        strategy: "squash",
    },
    World {
        remote: true,
        checked_out: false,
        slot: true,
        strategy: "merge",
    },
];

const MERGED: &str = "the work of the task\n";

pub(crate) fn remote_of(env: &Env) -> PathBuf {
    env.folder().join("remote.git")
}

/// A task that is reviewed, and its key.
pub(crate) fn prepared(world: World) -> (Env, String) {
    let env = Env::new();
    for (name, value) in [("user.name", "t"), ("user.email", "t@example.invalid")] {
        env.git(&["config", name, value]);
    }
    let repository = env.repository().to_owned();
    for name in ["base.txt", "mine.txt"] {
        fs::write(repository.join(name), "as it was\n").unwrap();
    }
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message=second"]);
    if world.remote {
        let remote = remote_of(&env);
        let path = remote.to_str().unwrap();
        env.git(&["init", "--quiet", "--bare", path]);
        // Relative, so that a copy of all of it speaks of the copy.
        env.git(&["remote", "add", "origin", "../remote.git"]);
        env.git(&["push", "--quiet", "origin", "main"]);
    }
    env.git(&["switch", "--quiet", "--create", "the-branch"]);
    fs::write(repository.join("base.txt"), MERGED).unwrap();
    fs::write(repository.join("new.txt"), MERGED).unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message=work"]);
    env.git(&["switch", "--quiet", "main"]);
    fs::write(repository.join("other.txt"), "moved on\n").unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message=main has moved on"]);
    if world.remote {
        env.git(&["push", "--quiet", "origin", "main"]);
    }
    if !world.checked_out {
        env.git(&["switch", "--quiet", "--create", "elsewhere"]);
    }
    let key = if world.slot {
        task_in(&env, "reviewing")
    } else {
        env.create(&["the-branch", "Add a login form", "--status", "reviewing"])
    };
    if world.slot {
        fs::write(
            env.home().join("workspaces/shop--1/unsaved.txt"),
            "unsaved\n",
        )
        .unwrap();
    }
    fs::write(repository.join("mine.txt"), "the user's edit\n").unwrap();
    fs::write(repository.join("untracked.txt"), "the user's file\n").unwrap();
    (env, key)
}

/// A copy of all of it, the remote too.
pub(crate) fn fork(env: &Env) -> Env {
    let copied = env.fork();
    if remote_of(env).is_dir() {
        copy(&remote_of(env), &remote_of(&copied));
    }
    copied
}

pub(crate) fn merge(key: &str, world: World) -> Vec<&str> {
    vec![
        "task",
        "merge",
        key,
        "--force",
        "--strategy",
        world.strategy,
    ]
}

/// How often the work is in a branch: 0 or 1, and all of it.
fn landed(env: &Env, folder: &Path, label: &str) -> bool {
    let show = |path: &str| {
        let found = env.git_says(folder, &["ls-tree", "--name-only", "main", path]);
        if found.is_empty() {
            String::new()
        } else {
            env.git_says(folder, &["show", &format!("main:{path}")])
        }
    };
    let (base, new) = (show("base.txt"), show("new.txt"));
    let whole = base == MERGED && new == MERGED;
    let nothing = base == "as it was\n" && new.is_empty();
    assert!(whole || nothing, "{label}: half of it: {base:?} {new:?}");
    let by = env.git_says(
        folder,
        &["log", "--format=%H", "-S", MERGED, "main", "--", "new.txt"],
    );
    assert!(by.lines().count() <= 1, "{label}: twice: {by}");
    assert!(
        show("other.txt") == "moved on\n",
        "{label}: main lost something"
    );
    whole
}

/// The user's checkout has the user's own edits and no others.
pub(crate) fn checkout_is_the_users(env: &Env, label: &str) {
    let status = env.git_says(env.repository(), &["status", "--porcelain"]);
    assert_eq!(status, " M mine.txt\n?? untracked.txt\n", "{label}");
    let text = |name: &str| fs::read_to_string(env.repository().join(name)).unwrap();
    assert_eq!(text("mine.txt"), "the user's edit\n", "{label}");
    assert_eq!(text("untracked.txt"), "the user's file\n", "{label}");
}

/// What must hold whenever nothing is going on. Gives whether the work is in.
pub(crate) fn holds(env: &Env, key: &str, world: World, label: &str) -> bool {
    at_rest(env, label);
    checkout_is_the_users(env, label);
    let here = landed(env, env.repository(), label);
    let there = world.remote && landed(env, &remote_of(env), label);
    let shown = env.ok(&["task", "show", key]);
    let done = shown["task"]["status"] == "done";
    assert_eq!(here || there, done, "{label}: {}", shown["task"]["status"]);
    assert!(!done || !world.remote || there, "{label}: not pushed");
    assert!(!done || here, "{label}: not here");
    done
}

fn unsaved_is_safe(env: &Env, label: &str) {
    let refs = env.git_says(
        env.repository(),
        &["for-each-ref", "--format=%(refname)", "refs/orange/rescue"],
    );
    let saved = |reference: &str| {
        let object = format!("{reference}:unsaved.txt");
        env.git_says(env.repository(), &["show", &object]) == "unsaved\n"
    };
    assert!(refs.lines().any(saved), "{label}: not saved; {refs:?}");
}

pub(crate) fn merged_again(env: &Env, key: &str, world: World, label: &str) {
    let again = env.run(&merge(key, world));
    assert!(again.status.success(), "{label}: again: {}", told(&again));
    assert!(holds(env, key, world, label), "{label}: again, not done");
    if world.slot {
        unsaved_is_safe(env, label);
        let pool = fs::read_to_string(env.home().join("workspaces/.pool.json")).unwrap();
        assert!(
            !pool.contains("the-branch"),
            "{label}: the slot is kept: {pool}"
        );
    }
}

#[test]
fn a_kill_at_any_point_of_a_merge_leaves_all_of_it_or_nothing() {
    let points = Mutex::new(BTreeSet::new());
    let cases = AtomicUsize::new(0);
    in_parallel(WORLDS, |world| {
        let (base, key) = prepared(*world);
        for hit in 1.. {
            let env = fork(&base);
            let mut command = env.command(&merge(&key, *world));
            let output = command.env("ORANGE_CRASH_AT", format!("*:{hit}")).output();
            let output = output.unwrap();
            let Some(point) = killed_at(&output) else {
                assert!(output.status.success(), "{world:?}: {}", told(&output));
                assert!(holds(&env, &key, *world, "whole"));
                break;
            };
            let label = format!("{world:?}, killed at {point} ({hit})");
            env.ok(&["task", "list"]);
            holds(&env, &key, *world, &label);
            merged_again(&env, &key, *world, &label);
            points.lock().unwrap().insert(point);
            cases.fetch_add(1, Ordering::Relaxed);
        }
    });
    let points = points.into_inner().unwrap();
    let missed: Vec<_> = OF_MERGES
        .iter()
        .filter(|point| !points.contains(**point))
        .collect();
    assert!(
        missed.is_empty(),
        "points that no merge reaches: {missed:?}"
    );
    println!("{} kills of merges", cases.into_inner());
}

#[test]
fn a_kill_while_a_killed_merge_is_finished_leaves_all_of_it_or_nothing() {
    let cases = AtomicUsize::new(0);
    let (base, key) = prepared(WORLDS[2]);
    let firsts: Vec<usize> = (1..60).collect();
    in_parallel(&firsts, |first| {
        let once = fork(&base);
        let mut command = once.command(&merge(&key, WORLDS[2]));
        let output = command
            .env("ORANGE_CRASH_AT", format!("*:{first}"))
            .output();
        if killed_at(&output.unwrap()).is_none() {
            return;
        }
        for second in 1.. {
            let twice = fork(&once);
            let mut list = twice.command(&["task", "list"]);
            let output = list.env("ORANGE_CRASH_AT", format!("*:{second}")).output();
            let Some(point) = killed_at(&output.unwrap()) else {
                break;
            };
            let label = format!("killed ({first}), then at {point} ({second})");
            twice.ok(&["task", "list"]);
            holds(&twice, &key, WORLDS[2], &label);
            merged_again(&twice, &key, WORLDS[2], &label);
            cases.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(cases.load(Ordering::Relaxed) > 20, "{cases:?}");
    println!("{} double kills of merges", cases.into_inner());
}
