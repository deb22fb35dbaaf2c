//! Who may do what: agents by their environment or their ancestors, and people.

use crate::env::{TestEnvironment, TestTask};
use crate::run::program;
use insta::assert_snapshot;
use std::os::unix::fs::PermissionsExt;

/// An agent's own task in planning, and somebody else's.
fn two() -> (TestEnvironment, TestTask, TestTask) {
    let env = TestEnvironment::new();
    let own = env.create(["own", "The agent's own"]);
    let other = env.create(["other", "Somebody else's"]);
    env.bring_to(&own, "planning");
    (env, own, other)
}

#[test]
fn an_agent_moves_its_own_task_along_its_own_rows() {
    let (env, own, _) = two();
    let worker = |arguments: &[&str]| env.call(arguments).agent(&own, "worker").run();
    // Without a name its own task is meant.
    assert_snapshot!(worker(&["task", "update", "--status", "working"]), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to working: no "## Plan" section in TASK.md
    hint: add one with at least an APPROACH: or TOUCHING: line, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    own.append("## Plan\n\nAPPROACH: x\n");
    worker(&["task", "update", "--status", "working"]).ok();
    worker(&["task", "update", "--status", "clarification"]).ok();
    worker(&["task", "update", "--status", "planning"]).ok();
    worker(&["task", "update", "--status", "working"]).ok();
    own.append("## Handoff\n\nDONE: x\n");
    worker(&["task", "complete"]).ok();
    own.append("## Review\n\nVerdict: PASS\n");
    // The verdict is the reviewer's to act on, not the worker's.
    assert_snapshot!(worker(&["task", "update", "--status", "reviewing"]), @"
    ------- stderr -------
    error: cannot move TASK-001 from agent-review to reviewing: that is for the reviewer or the engine to do, not for an agent
    hint: from agent-review there is no transition for an agent
    [exit status: 3]
    ");
    env.call(["task", "update", "--status", "reviewing"])
        .agent(&own, "reviewer")
        .run()
        .ok();
    // Merging is a person's decision.
    assert_snapshot!(worker(&["task", "update", "--status", "done"]), @"
    ------- stderr -------
    error: cannot move TASK-001 from reviewing to done: that is for the human or the engine to do, not for an agent
    hint: from reviewing there is no transition for an agent
    [exit status: 3]
    ");
    assert_eq!(own.last("status.changed")["by"], "reviewer");
}

#[test]
fn an_agent_reads_everything_and_changes_no_other_task() {
    let (env, own, other) = two();
    let worker = |arguments: &[&str]| env.call(arguments).agent(&own, "worker").run();
    for reading in [
        &["ls"][..],
        &["task", "list", "--all"],
        &["task", "show", &other.id],
        &["task", "show"],
        &["task", "why", &other.id],
        &["task", "deps", &other.id],
        &["task", "restore"],
        &["project", "list"],
        &["workflow", "show"],
        &["doctor"],
    ] {
        worker(reading).ok();
    }
    let before = other.text();
    assert_snapshot!(worker(&["task", "update", "TASK-002", "--summary", "Taken over"]), @"
    ------- stderr -------
    error: this worker agent runs for task [ID] and may not change TASK-002
    hint: an agent may read every task, but change only its own
    [exit status: 3]
    ");
    for change in [
        &["task", "update", &other.id, "--status", "planning"][..],
        &["task", "update", &other.id, "--branch", "mine"],
        &["task", "complete", &other.id],
        &["task", "stuck", &other.id],
        &["task", "cancel", &other.id],
        &["task", "delete", &other.id],
        &["task", "create", "A child", "--parent", &other.id],
    ] {
        let mut arguments = change.to_vec();
        arguments.push("--json");
        let error = worker(&arguments).refuses(3, "not_allowed");
        assert!(error["hint"].is_string(), "{error}");
    }
    assert_eq!(other.text(), before);
}

#[test]
fn of_its_own_task_an_agent_changes_summary_and_branch_only() {
    let (env, own, _) = two();
    let worker = |arguments: &[&str]| env.call(arguments).agent(&own, "worker").run();
    worker(&["task", "update", "--summary", "Better words"]).ok();
    worker(&["task", "update", "--branch", "renamed"]).ok();
    assert_eq!(env.show(&own)["branch"], "renamed");
    assert_eq!(own.last("task.updated")["by"], "agent");
    assert_snapshot!(worker(&["task", "update", "--priority", "critical"]), @"
    ------- stderr -------
    error: a worker agent may not change the priority
    hint: an agent may change its own task's status, summary and branch; ask a person for the rest
    [exit status: 3]
    ");
    // One that is allowed does not carry another along.
    worker(&[
        "task",
        "update",
        "--json",
        "--summary",
        "New",
        "--priority",
        "low",
    ])
    .refuses(3, "not_allowed");
    assert_eq!(env.show(&own)["summary"], "Better words");
}

#[test]
fn what_only_a_person_decides() {
    let (env, own, other) = two();
    env.orange(["task", "delete", &other.id]).ok();
    let elsewhere = env.init_repository("elsewhere");
    let worker = |arguments: &[&str]| env.call(arguments).agent(&own, "worker").run();
    assert_snapshot!(worker(&["task", "cancel", &own.id]), @"
    ------- stderr -------
    error: cannot move TASK-001 from planning to cancelled: that is for the human or the engine to do, not for an agent
    hint: from planning an agent can go to: working, clarification
    [exit status: 3]
    ");
    assert_snapshot!(worker(&["task", "delete", "TASK-001"]), @"
    ------- stderr -------
    error: a worker agent may not delete a task
    hint: only a person may do that; ask the person you work for
    [exit status: 3]
    ");
    assert_snapshot!(worker(&["task", "restore", "TASK-002"]), @"
    ------- stderr -------
    error: a worker agent may not restore a task
    hint: only a person may do that; ask the person you work for
    [exit status: 3]
    ");
    assert_snapshot!(worker(&["project", "add", elsewhere.to_str().unwrap()]), @"
    ------- stderr -------
    error: a worker agent may not register a project
    hint: only a person may do that; ask the person you work for
    [exit status: 3]
    ");
    assert_snapshot!(worker(&["doctor", "--repair"]), @"
    ------- stderr -------
    error: a worker agent may not repair the home
    hint: only a person may do that; ask the person you work for
    [exit status: 3]
    ");
    assert_snapshot!(worker(&["task", "create", "On my own"]), @"
    ------- stderr -------
    error: an agent may only create children of its own task
    hint: add --parent [ID]
    [exit status: 3]
    ");
    for refused in [
        &["project", "update", "shop", "--pool-size", "9"][..],
        &["project", "remove", "shop", "--force"],
    ] {
        let mut arguments = refused.to_vec();
        arguments.push("--json");
        worker(&arguments).refuses(3, "not_allowed");
    }
    // Not even by way of the first task in an unregistered repository.
    env.call(["task", "create", "In a new place", "--json"])
        .agent(&own, "worker")
        .at(&elsewhere)
        .run()
        .refuses(3, "not_allowed");
    // Children of its own task it may make.
    worker(&["task", "create", "A part of mine", "--parent", &own.id]).ok();
    worker(&["task", "create", "Another part", "--parent", "TASK-001"]).ok();
    assert_eq!(env.show(&own)["children"].as_array().unwrap().len(), 2);
}

#[test]
fn roles() {
    let (env, own, _) = two();
    assert_snapshot!(env.call(["ls"]).agent(&own, "boss").run(), @r#"
    ------- stderr -------
    error: ORANGE_ROLE: "boss" is not a role; allowed: worker, reviewer, executor
    hint: unset ORANGE_TASK_ID and ORANGE_ROLE if you are not an agent
    [exit status: 2]
    "#);
    env.call(["ls", "--json"])
        .agent(&own, "boss")
        .run()
        .refuses(2, "usage");
    // An executor is an agent too; this workflow has no row for it beyond the agent's.
    env.call(["task", "update", "--priority", "low", "--json"])
        .agent(&own, "executor")
        .run()
        .refuses(3, "not_allowed");
    // Without a role an agent is a worker; without a task there is no agent.
    env.call(["task", "cancel", &own.id])
        .var("ORANGE_TASK_ID", &own.id)
        .run()
        .fails_with(3)
        .says("not for an agent");
    env.call(["task", "update", &own.id, "--priority", "low"])
        .var("ORANGE_ROLE", "worker")
        .var("ORANGE_TASK_ID", "")
        .run()
        .ok();
    // A task that is gone: nothing is the agent's own.
    let gone = TestTask {
        id: "nobody".into(),
        ..own.clone()
    };
    env.call(["task", "why", "--json"])
        .agent(&gone, "worker")
        .run()
        .refuses(4, "not_found");
}

/// Runs a line of shell below a process that looks like run-agent, with a cleaned environment.
fn below_run_agent(
    env: &TestEnvironment,
    task: &TestTask,
    role: &str,
    line: &str,
) -> (i32, String) {
    let script = env.write(
        "bin/run-agent",
        format!(
            "#!/bin/sh\nenv -i PATH=\"$PATH\" HOME={home} ORANGE_HOME={home}/orange sh -c '{line}'\necho \"exit $?\"\n",
            home = env.root().join("home").display(),
        ),
    );
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The shell reads the script called `run-agent`; its process is called `orange run-agent …`.
    let output = env
        .foreign("bash")
        .args([
            "-c",
            &format!(
                "cd {} && exec -a orange sh run-agent --task {} --role {role}",
                script.parent().unwrap().display(),
                task.id
            ),
        ])
        .output()
        .unwrap();
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let code = text
        .lines()
        .find_map(|line| line.strip_prefix("exit ")?.parse().ok());
    (code.unwrap_or_else(|| panic!("{text}")), text)
}

#[test]
fn run_agent_among_the_ancestors_is_enough() {
    let (env, own, other) = two();
    let orange = program().display();
    let (code, said) = below_run_agent(
        &env,
        &own,
        "worker",
        &format!("{orange} task cancel {}", other.id),
    );
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("worker agent"), "{said}");
    let (code, said) = below_run_agent(
        &env,
        &own,
        "reviewer",
        &format!("{orange} task update --priority low"),
    );
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("reviewer agent"), "{said}");
    // Deeper down, and its own task without a name.
    let (code, said) = below_run_agent(
        &env,
        &own,
        "worker",
        &format!("sh -c \"sh -c \\\"{orange} task update --summary Deep\\\"\""),
    );
    assert_eq!(code, 0, "{said}");
    assert_eq!(env.show(&own)["summary"], "Deep");
}
