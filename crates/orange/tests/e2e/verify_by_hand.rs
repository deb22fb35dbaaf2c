//! `orange task verify`, whose check it is, and the worktree that it happens in.

use crate::agents::Agents;
use crate::verify::{checked, handed_over, runs, with_check, worked_on};
use std::fs;

#[test]
fn the_users_own_check_needs_no_consent_and_a_setup_that_fails_fails_it() {
    let own = "verify:\n  command: [test -e README.md, echo second >> ROOT/own]\n";
    let env = Agents::configured(own);
    let task = worked_on(&env, "login", "a.txt");
    env.say(&["task", "verify", &task.id])
        .ok()
        .says("`echo second >> ");
    let written = fs::read_to_string(env.root().join("own")).unwrap();
    assert_eq!(written, "second\n");
    let config = env.home().join("config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let setup = "workspace:\n  setup: test ! -e a.txt\n";
    fs::write(&config, format!("{text}{setup}")).unwrap();
    env.say(&["task", "verify", &task.id])
        .fails_with(1)
        .says("`test ! -e a.txt` failed at ")
        .says("it passes on main@");
}

#[test]
fn by_hand_a_commit_is_checked_once_unless_asked_again() {
    let env = checked();
    let task = worked_on(&env, "login", "a.txt");
    let verify = ["task", "verify", &task.id];
    env.say(&verify).ok().says("`sh check.sh` passed at ");
    env.say(&verify).ok().says("known from before");
    assert_eq!(runs(&env), 1);
    env.say(&["task", "verify", &task.id, "--again"]).ok();
    assert_eq!(runs(&env), 2);
    // The handoff of the same commit needs no other run.
    env.bring_on(&task, "agent-review");
    env.until_count(&task, "task.verified", 4);
    assert_eq!(runs(&env), 2);
    env.commit(&env.slot_of(&task), "x.bad", "bad");
    env.say(&verify)
        .fails_with(1)
        .says("`sh check.sh` failed at ")
        .says("FAILED x.bad")
        .says("all of its output is in ");
    let call = env.call(verify).agent(&task, "worker").run();
    call.fails_with(3).says("only a person");
}

#[test]
fn time_that_was_not_enough_says_nothing_about_more_of_it() {
    let env = with_check("while test -e ROOT/hold; do sleep 0.02; done\ntest ! -e ROOT/broken\n");
    let task = worked_on(&env, "login", "a.txt");
    let verify = ["task", "verify", &task.id];
    env.allow("hold");
    let given = |time: &str| {
        env.say(&["config", "set", "verify.timeout", time]).ok();
    };
    given("1s");
    env.say(&verify)
        .fails_with(1)
        .says("stopped after 1 s")
        .says("too (stopped after 1 s)");
    env.say(&verify).fails_with(1).says("known from before");
    given("10m");
    fs::remove_file(env.root().join("hold")).unwrap();
    env.allow("broken");
    env.say(&verify)
        .fails_with(1)
        .says("exit code 1")
        .says("too (exit code 1)");
}

#[test]
fn again_means_a_base_that_failed_too() {
    let env = with_check("test ! -e ROOT/broken && test ! -e x.bad\n");
    let task = worked_on(&env, "login", "x.bad");
    env.allow("broken");
    env.say(&["task", "verify", &task.id])
        .fails_with(1)
        .says("it fails on main@");
    fs::remove_file(env.root().join("broken")).unwrap();
    env.say(&["task", "verify", &task.id, "--again"])
        .fails_with(1)
        .says("it passes on main@");
}

#[test]
fn a_result_that_cannot_be_noted_is_not_waited_for_without_end_and_an_older_one_is_no_answer() {
    let env = with_check(
        "cd \"$ORANGE_HOME\"/tasks/shop/*/ || exit 1\n\
         test -e ROOT/spoil || exit 0\nmv TASK.md ROOT/kept && mkdir TASK.md\n",
    );
    let task = worked_on(&env, "login", "a.txt");
    env.say(&["task", "verify", &task.id]).ok();
    env.allow("spoil");
    env.say(&["task", "verify", &task.id, "--again"])
        .fails_with(1)
        .says("came to no result")
        .says("orange.log says more");
    let file = task.file();
    fs::remove_dir(&file).unwrap();
    fs::rename(env.root().join("kept"), &file).unwrap();
    fs::remove_file(env.root().join("spoil")).unwrap();
    env.say(&["task", "verify", &task.id]).ok();
}

#[test]
fn a_repository_without_a_check_has_nothing_to_verify() {
    let env = Agents::new();
    let task = handed_over(&env, "login", "a.txt");
    env.bring_on(&task, "reviewing");
    assert_eq!(env.count(&task, "task.verified"), 0);
    assert!(env.show(&task)["evidence"]["verify"].is_null());
    env.say(&["task", "verify", &task.id])
        .fails_with(3)
        .says("has no verify.command");
    assert!(!env.home().join("verify").exists());
}

#[test]
fn the_worktree_of_checks_is_known_and_goes_with_the_project() {
    let env = checked();
    let task = worked_on(&env, "login", "a.txt");
    env.say(&["task", "verify", &task.id]).ok();
    let folder = env.home().join("workspaces/shop--verify");
    assert!(folder.is_dir());
    env.say(&["workspace", "list"])
        .ok()
        .says("shop--verify  for checks");
    env.say(&["doctor"]).ok().says("all is well");
    // What a person left there is saved, and who lives there is left alone.
    fs::write(folder.join("mine.txt"), "mine").unwrap();
    let mut shell = env
        .foreign("sleep")
        .arg("600")
        .current_dir(&folder)
        .spawn()
        .unwrap();
    env.say(&["task", "verify", &task.id, "--again"])
        .fails_with(1)
        .says("not verified: process ")
        .says("lives in shop--verify");
    assert!(shell.try_wait().unwrap().is_none());
    assert!(folder.join("mine.txt").exists());
    shell.kill().unwrap();
    shell.wait().unwrap();
    env.say(&["task", "verify", &task.id, "--again"]).ok();
    assert!(!folder.join("mine.txt").exists());
    let saved = ["for-each-ref", "refs/orange/rescue/shop--verify"];
    let saved = env.git(&env.shop(), &saved);
    assert_eq!(saved.lines().count(), 1, "{saved}");
    env.say(&["task", "cancel", &task.id]).ok();
    env.say(&["workspace", "gc"]).ok();
    assert!(folder.is_dir());
    env.say(&["project", "remove", "shop"]).ok();
    assert!(!folder.exists());
    let listed = env.git(&env.shop(), &["worktree", "list"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn what_a_check_makes_is_nobodys_work_also_if_only_the_checked_commit_ignores_it() {
    let env = with_check("mkdir -p out && echo made > out/made\n");
    let task = worked_on(&env, "login", "a.txt");
    env.commit(&env.slot_of(&task), ".gitignore", "out/\n");
    for _ in 0..2 {
        env.say(&["task", "verify", &task.id, "--again"]).ok();
    }
    let folder = env.home().join("workspaces/shop--verify");
    assert_eq!(env.git(&folder, &["status", "--porcelain"]), "");
    assert_eq!(
        env.git(&env.shop(), &["for-each-ref", "refs/orange/rescue"]),
        ""
    );
}

#[test]
fn a_git_link_that_leads_to_the_users_checkout_is_not_followed() {
    let env =
        with_check("test -e evil && echo \"gitdir: $ORANGE_REPOSITORY/.git\" > .git\nexit 0\n");
    let shop = env.shop();
    fs::write(shop.join("staged.txt"), "mine").unwrap();
    env.git(&shop, &["add", "staged.txt"]);
    let state = || {
        let place = env.git(&shop, &["symbolic-ref", "HEAD"]);
        place + &env.git(&shop, &["status", "--porcelain"])
    };
    let before = state();
    let task = worked_on(&env, "login", "evil");
    env.say(&["task", "verify", &task.id]).ok();
    assert_eq!(state(), before, "by the check's worktree");
    env.say(&["task", "verify", &task.id, "--again"])
        .fails_with(1)
        .says("shop--verify has a .git that leads to another checkout");
    env.say(&["doctor"]).says("shop--verify");
    let link = format!("gitdir: {}/.git\n", shop.display());
    fs::write(env.slot_of(&task).join(".git"), link).unwrap();
    env.say(&["task", "cancel", &task.id]);
    assert_eq!(state(), before, "by the task's own slot");
}

#[test]
fn a_check_decides_nothing_about_tasks() {
    let program = crate::run::program().display();
    let env = with_check(&format!(
        "{program} task show $(basename \"$PWD\") && exit 1\n{program} task list || exit 1\n\
         {program} task cancel TASK-001 2> ROOT/said && exit 1\nexit 0\n"
    ));
    let task = worked_on(&env, "login", "a.txt");
    env.say(&["task", "verify", &task.id]).ok();
    let said = fs::read_to_string(env.root().join("said")).unwrap();
    assert!(said.contains("check of a repository and may not"), "{said}");
    assert_eq!(env.status(&task), "working");
}

#[test]
fn a_check_that_a_newer_commit_overtakes_says_so() {
    let env = with_check("while test -e ROOT/hold; do sleep 0.02; done\n");
    let task = worked_on(&env, "login", "a.txt");
    env.allow("hold");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| env.say(&["task", "verify", &task.id]));
        env.until_count(&task, "verify.started", 1);
        env.commit(&env.slot_of(&task), "b.txt", "more");
        let second = scope.spawn(|| env.say(&["task", "verify", &task.id]));
        env.until_count(&task, "verify.started", 2);
        fs::remove_file(env.root().join("hold")).unwrap();
        second.join().unwrap().ok();
        first
            .join()
            .unwrap()
            .says("was overtaken: ")
            .says("is checked instead");
    });
}
