//! The four ways to merge: what history they leave, whose name and words stand in it, and what settings choose.

use crate::merges::Merges;

#[test]
fn a_message_of_ones_own_and_one_that_says_nothing() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    for nothing in ["", "  \n\t"] {
        let run = env.merge(&task, &["--message", nothing]);
        run.fails_with(2).says("cannot be empty");
    }
    assert!(!env.is_done(&task));
    env.merge(&task, &["--message", "My words\n\nand \u{fc}more\n\n\n"])
        .ok();
    let body = env.git(&env.shop(), &["log", "-1", "--format=%B|"]);
    assert_eq!(body, "My words\n\nand \u{fc}more\n|");
}

#[test]
fn a_message_for_commits_that_keep_theirs() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    for strategy in ["rebase", "ff"] {
        let words = ["--strategy", strategy, "--message", "never used"];
        env.refuses(&task, &words, 2, &["a message has no place", strategy]);
    }
}

#[test]
fn settings_choose_and_arguments_overrule_them() {
    let env = Merges::with_remote();
    env.config("merge:\n  strategy: preserve\n  push: false\n");
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    env.merge(&task, &[]).ok();
    let parents = |revision: &str| env.git(&shop, &["log", "-1", "--format=%P", revision]);
    assert_eq!(parents("main").split(' ').count(), 2);
    assert_ne!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    let next = env.work("next", &[("next", "x")]);
    env.merge(&next, &["--strategy", "squash", "--push"])
        .ok()
        .says("pushed");
    assert_eq!(parents("main").split(' ').count(), 1);
    assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    let third = env.work("third", &[("third", "x")]);
    env.merge(&third, &["--strategy", "preserve", "--no-push"])
        .ok();
    assert_ne!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
}

#[test]
fn settings_and_arguments_that_make_no_sense() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    let before = env.everything();
    env.merge(&task, &["--strategy", "octopus"])
        .fails_with(2)
        .says("octopus")
        .says("squash");
    env.merge(&task, &["--push", "--no-push"]).fails_with(2);
    env.orange(["task", "merge", "TASK-999"]).fails_with(4);
    env.config("merge:\n  strategy: octopus\n");
    env.merge(&task, &[])
        .fails_with(2)
        .says("merge.strategy")
        .says("squash");
    assert_eq!(env.everything(), before);
}
