//! `orange task resolve`: work that landed another way.

use crate::env::{TestEnvironment, TestTask, with_answers};
use crate::run::{Run, program};
use insta::assert_snapshot;
use std::fs;

/// A task in this status whose branch `login` has one commit.
fn worked(env: &TestEnvironment, status: &str) -> TestTask {
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, status);
    env.commit(&env.slot_of(&task), "login.txt", "a form\n");
    task
}

fn resolve(env: &TestEnvironment, task: &TestTask) -> Run {
    env.orange(["task", "resolve", &task.id, "--message", "it is in"])
}

#[test]
fn what_git_sees_of_the_work_is_said() {
    let merged = TestEnvironment::new();
    let task = worked(&merged, "reviewing");
    merged.git(&merged.shop(), &["merge", "-q", "--no-ff", "login"]);
    let head = merged.git(&merged.shop(), &["rev-parse", "--short=7", "login"]);
    let run = resolve(&merged, &task).ok();
    assert_eq!(
        run.stdout,
        format!("TASK-001: reviewing → done; {head} is in main\n")
    );

    let squashed = TestEnvironment::new();
    let task = worked(&squashed, "reviewing");
    squashed.commit(&squashed.shop(), "other.txt", "elsewhere");
    squashed.git(&squashed.shop(), &["merge", "-q", "--squash", "login"]);
    squashed.git(&squashed.shop(), &["commit", "-q", "-m", "squashed"]);
    let commit = squashed.git(&squashed.shop(), &["rev-parse", "main"]);
    let head = squashed.git(&squashed.shop(), &["rev-parse", "login"]);
    let words = ["task", "resolve", &task.id, "--message", "in", "--json"];
    let done = squashed.orange(words).ok().json();
    assert_eq!(done["landing"]["seen"], "change");
    assert_eq!(done["landing"]["commit"], commit);
    assert_eq!(done["landing"]["head"], head);
    assert_eq!(done["task"]["metadata"]["resolved_head"], head);
    let message = done["message"].as_str().unwrap();
    assert!(
        message.ends_with(&format!("its change is in main, as {}", &commit[..7])),
        "{message}"
    );

    let nowhere = TestEnvironment::new();
    let task = worked(&nowhere, "reviewing");
    assert_snapshot!(resolve(&nowhere, &task), @"TASK-001: reviewing → done; 1 commit of login is not in main");
}

#[test]
fn what_was_merged_on_the_forge_is_seen_before_anybody_fetched_it() {
    let env = TestEnvironment::new();
    let (shop, remote) = (env.shop(), env.root().join("remote.git"));
    let address = remote.to_str().unwrap();
    env.git(&shop, &["init", "-q", "--bare", "-b", "main", address]);
    env.git(&shop, &["remote", "add", "origin", address]);
    env.git(&shop, &["push", "-q", "origin", "main"]);
    let task = worked(&env, "reviewing");
    env.git(&shop, &["push", "-q", "origin", "login"]);
    // A forge squashes somewhere else, and deletes the branch.
    env.git(&env.root(), &["clone", "-q", address, "forge"]);
    let forge = env.root().join("forge");
    env.commit(&forge, "other.txt", "elsewhere");
    env.git(&forge, &["merge", "-q", "--squash", "origin/login"]);
    env.git(&forge, &["commit", "-q", "-m", "squashed by the forge"]);
    env.git(&forge, &["push", "-q", "origin", "main", ":login"]);
    let commit = env.git(&forge, &["rev-parse", "--short=7", "HEAD"]);
    let run = resolve(&env, &task).ok();
    let seen = format!("its change is in main, as {commit}");
    assert!(run.stdout.contains(&seen), "{run}");
    // The user's own branches are as they were.
    assert_eq!(
        env.git(&shop, &["log", "--format=%s", "main"])
            .lines()
            .count(),
        1
    );
}

/// A branch without commits begins in its target; that is no work which landed.
#[test]
fn a_branch_without_commits_is_not_taken_for_work() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "planning");
    fs::write(env.slot_of(&task).join("half.txt"), "half done\n").unwrap();
    let line = format!("{} task resolve TASK-001 --message no", program().display());
    let no = with_answers(&env, 200, &line, "n\n");
    assert!(
        no.contains("it has no commits of its own; what is not committed (1 path) is saved"),
        "{no}"
    );
    assert_eq!(env.show(&task)["status"], "planning");
    let done = resolve(&env, &task).ok();
    assert!(
        done.stdout.contains("it has no commits of its own"),
        "{done}"
    );
    env.rescued(&env.shop(), &task, "half.txt");
}

#[test]
fn a_person_is_asked_where_git_sees_nothing() {
    let env = TestEnvironment::new();
    let task = worked(&env, "working");
    let slot = env.slot_of(&task);
    fs::write(slot.join("half.txt"), "half done\n").unwrap();
    let program = program();
    let line = format!("{} task resolve TASK-001 --message gone", program.display());
    let no = with_answers(&env, 200, &line, "n\n");
    assert!(
        no.contains("1 commit of login is not in main; what is not committed (1 path) is saved. The branch stays. Done anyway? [y/N]"),
        "{no}"
    );
    assert!(no.contains("nothing was changed"), "{no}");
    assert_eq!(env.show(&task)["status"], "working");
    let yes = with_answers(&env, 100, &format!("{line} --yes"), "");
    assert!(yes.contains("TASK-001: working → done"), "{yes}");
    // Nothing is gone: neither the branch nor what was not committed.
    env.git(&env.shop(), &["rev-parse", "--verify", "login"]);
    let saved = env.rescued(&env.shop(), &task, "half.txt");
    assert_eq!(saved.as_deref(), Some("half done\n"));
}

#[test]
fn nobody_is_asked_about_what_git_sees() {
    let env = TestEnvironment::new();
    let task = worked(&env, "working");
    env.commit(&env.shop(), "other.txt", "elsewhere");
    env.git(&env.shop(), &["cherry-pick", "login"]);
    env.commit(&env.shop(), "login.txt", "a better form\n");
    let line = format!(
        "{} task resolve TASK-001 --message picked",
        program().display()
    );
    let said = with_answers(&env, 100, &line, "n\n");
    assert!(
        said.contains("TASK-001: working → done; its change is in main"),
        "{said}"
    );
    assert_eq!(env.show(&task)["status"], "done");
}

#[test]
fn every_status_under_way_can_be_resolved_and_no_other() {
    let statuses = [
        "planning",
        "clarification",
        "working",
        "agent-review",
        "reviewing",
        "stuck",
    ];
    for status in statuses {
        let env = TestEnvironment::new();
        let task = worked(&env, status);
        resolve(&env, &task).ok();
        let shown = env.show(&task);
        assert_eq!(shown["status"], "done", "{status}");
        assert_eq!(shown["workspace"], serde_json::Value::Null, "{status}");
        env.git(&env.shop(), &["rev-parse", "--verify", "login"]);
        let again = resolve(&env, &task).fails_with(3);
        again.says("TASK-001");
    }
    let env = TestEnvironment::new();
    let parent = worked(&env, "working");
    env.create(["A part", "--parent", &parent.key]);
    env.move_to(&parent, "delegated").ok();
    resolve(&env, &parent).ok();
    assert_eq!(env.show(&parent)["status"], "done");

    let env = TestEnvironment::new();
    let pending = env.create(["Later"]);
    resolve(&env, &pending).fails_with(3).says("pending");
    env.orange(["task", "cancel", &pending.id]).ok();
    resolve(&env, &pending).fails_with(3).says("cancelled");
}

#[test]
fn a_branch_that_is_gone_is_looked_for_where_it_was() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    env.commit(&slot, "login.txt", "a form\n");
    env.bring_on(&task, "reviewing");
    env.commit(&env.shop(), "other.txt", "elsewhere");
    env.git(&env.shop(), &["cherry-pick", "login"]);
    env.git(&slot, &["switch", "-q", "--detach"]);
    env.git(&env.shop(), &["branch", "-q", "-D", "login"]);
    let run = resolve(&env, &task).ok();
    assert!(run.stdout.contains("its change is in main, as "), "{run}");

    let env = TestEnvironment::new();
    let task = worked(&env, "working");
    let slot = env.slot_of(&task);
    env.git(&slot, &["switch", "-q", "--detach"]);
    env.git(&env.shop(), &["branch", "-q", "-D", "login"]);
    assert_snapshot!(resolve(&env, &task), @"
    TASK-001: working → done; there is no branch login to look for in main
    ------- stderr -------
    note: what was not committed is saved: `orange rescue list TASK-001`
    ");
}

#[test]
fn a_resolution_needs_a_person_and_a_word() {
    let env = TestEnvironment::new();
    let task = worked(&env, "reviewing");
    assert_snapshot!(env.orange(["task", "resolve", "TASK-001", "--message", "  "]), @r#"
    ------- stderr -------
    error: a resolution needs a message
    hint: say how the work got in: --message "squashed into main"
    [exit status: 2]
    "#);
    env.orange(["task", "resolve", "TASK-001"]).fails_with(2);
    let words = ["task", "resolve", "TASK-001", "--message", "I am done"];
    for role in ["worker", "reviewer"] {
        env.call(words)
            .agent(&task, role)
            .run()
            .fails_with(3)
            .says("only a person may do that");
    }
    assert_eq!(env.show(&task)["status"], "reviewing");
}
