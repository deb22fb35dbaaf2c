//! What docs/reference/security.md claims of agents: what they may do with their own task, that everything else is refused with exit
//! code 3, and that a task moves forward by what is in its TASK.md.

use crate::env::{TestEnvironment, TestTask, fingerprint};
use crate::examples::tree;
use crate::merges::Merges;

const ROLES: [&str; 3] = ["worker", "reviewer", "executor"];

/// What is refused, a command line each. OWN is the agent's task, OTHER another one that has been started, GONE one in
/// the trash.
const REFUSED: &[&str] = &[
    "dashboard",
    // Other tasks.
    "task update OTHER --summary mine",
    "task update OTHER --status working",
    "task complete OTHER",
    "task stuck OTHER",
    "task retry-hooks OTHER",
    "task cancel OTHER --yes",
    "task create x --parent OTHER",
    "task open OTHER --with true",
    "task shell OTHER",
    "task exec OTHER -- true",
    "task create x",
    "new x",
    // Its own, where only a person decides.
    "task update OWN --priority low",
    "task update OWN --status done",
    "task update OWN --status done --force",
    "task cancel OWN --yes",
    "task delete OWN",
    "task delete OTHER",
    "task restore GONE",
    "task verify OWN",
    "task verify OTHER",
    "task resolve OWN --message x",
    "task merge OWN",
    "task merge OTHER --force",
    "merge OWN",
    "task request-changes OWN x",
    // How a plan is executed.
    "task run OWN",
    "task pause OWN",
    "task resume OWN",
    "task retry OWN",
    "task skip OWN test",
    "task rewind OWN --to test",
    "task approve OWN",
    "task reject OWN --reason x",
    "task plan edit OWN",
    "task plan reset OWN",
    "task spec edit OWN",
    "task spec set OWN -",
    "task test-results import OTHER report.json",
    // Agents, and messages to them.
    "task spawn OWN",
    "task spawn OTHER",
    "task respawn OWN",
    "task respawn OTHER",
    "task attach OTHER",
    "attach OWN",
    "task send OTHER hello",
    "task send OWN hello",
    "send OTHER hello",
    "task answer OTHER --allow",
    "task answer OWN --allow",
    "task answer OWN --always",
    "task answer OTHER --always=project",
    "permissions remove 1",
    "run --ready",
    "watch --once",
    "headless --harness claude x",
    // Everything around them.
    "project add .",
    "project update shop --pool-size 9",
    "project trust shop --yes",
    "project remove shop --force",
    "workspace init",
    "workspace gc",
    "config set agents.limit 3",
    "config unset agents.limit",
    "config edit",
    "doctor --repair",
    "gc",
];

/// What is not refused: it reads, or is about the agent's own task or run alone.
const ALLOWED: &[&str] = &[
    "ls",
    "inbox",
    "diff",
    "status",
    "search",
    "cost",
    "log",
    "harness list",
    "harness show",
    "permissions list",
    "prompt list",
    "prompt show",
    "workflow show",
    "help",
    "completions",
    "man",
    "signal",
    "sim",
    "config show",
    "config get",
    "config schema",
    "config docs",
    "project list",
    "workspace list",
    "task list",
    "task show",
    "task peek",
    "task wait",
    "task why",
    "task deps",
    "task diff",
    "task plan show",
    "task spec show",
    "task test-results show",
    "task transcript",
    "task path",
    "task rescue list",
    "task rescue show",
    // In a home of its own.
    "demo",
    // Of its own task; actors.rs and task_rescue.rs show that of another it is refused.
    "task rescue restore",
];

/// The agent's own task in planning, another one that has been started, one in the trash.
fn three() -> (TestEnvironment, [TestTask; 3]) {
    let env = TestEnvironment::new();
    let tasks = ["own", "other", "gone"].map(|name| env.create([name, "Some work"]));
    env.bring_to(&tasks[0], "planning");
    env.bring_to(&tasks[1], "planning");
    env.orange(["task", "delete", &tasks[2].id]).ok();
    (env, tasks)
}

fn words(line: &str, tasks: &[TestTask; 3]) -> Vec<String> {
    let named = |word: &str| match word {
        "OWN" => tasks[0].id.clone(),
        "OTHER" => tasks[1].id.clone(),
        "GONE" => tasks[2].id.clone(),
        word => word.to_owned(),
    };
    line.split(' ').map(named).collect()
}

/// Everything that agents could change: the tasks, settings and projects of the home, and the repository's refs.
fn everything(env: &TestEnvironment) -> String {
    let read = |name: &str| std::fs::read_to_string(env.home().join(name)).unwrap_or_default();
    [
        fingerprint(&env.tasks()),
        read("config.yaml"),
        read("projects.json"),
        read("workspaces/.pool.json"),
        env.git(&env.shop(), &["for-each-ref"]),
    ]
    .join("\n")
}

#[test]
fn everything_else_is_refused_with_exit_code_3() {
    let (env, tasks) = three();
    env.orange(["ls"]).ok();
    let before = everything(&env);
    // Every verb of `task` without that word too.
    let short = REFUSED.iter().filter_map(|line| line.strip_prefix("task "));
    let lines: Vec<&str> = REFUSED.iter().copied().chain(short).collect();
    for role in ROLES {
        for line in &lines {
            let call = env.call(words(line, &tasks)).agent(&tasks[0], role);
            call.at(env.shop()).run().fails_with(3);
            assert_eq!(everything(&env), before, "{role}: {line}");
        }
    }
}

/// A new command is put into one of the lists.
#[test]
fn every_command_is_refused_to_agents_or_allowed() {
    for page in tree::pages() {
        let name = page.path.join(" ");
        let is_group = page.help.contains("[OPTIONS] <COMMAND>\n");
        let is_known = |name: &str| {
            let starts = |line: &&str| **line == *name || line.starts_with(&format!("{name} "));
            REFUSED.iter().any(starts) || ALLOWED.contains(&name)
        };
        let known = is_known(&name) || is_known(&format!("task {name}"));
        assert!(name.is_empty() || is_group || known, "orange {name}");
    }
}

#[test]
fn deciding_in_reviewing_is_a_persons() {
    let env = TestEnvironment::new();
    let task = env.create(["own", "Some work"]);
    env.bring_to(&task, "reviewing");
    let before = everything(&env);
    for role in ROLES {
        for line in [
            "task update --status working",
            "task update --status done",
            "task update --status done --force",
            "task update --status cancelled",
            "task request-changes OWN x",
            "task merge OWN --force",
            "task resolve OWN --message x",
        ] {
            let tasks = [task.clone(), task.clone(), task.clone()];
            let call = env.call(words(line, &tasks)).agent(&task, role);
            call.run().fails_with(3);
            assert_eq!(everything(&env), before, "{role}: {line}");
        }
    }
}

/// No word of an agent stands for a plan, a handoff or a verdict.
#[test]
fn a_task_moves_forward_by_what_is_in_its_file() {
    let env = TestEnvironment::new();
    let task = env.create(["own", "Some work"]);
    env.bring_to(&task, "planning");
    let steps = [
        ("worker", "working", "## Plan\n\nAPPROACH: x\n"),
        ("worker", "agent-review", "## Handoff\n\nDONE: x\n"),
        ("reviewer", "reviewing", "## Review\n\nVerdict: PASS\n"),
    ];
    for (role, status, artifact) in steps {
        for more in [&[][..], &["--force"]] {
            let words = [&["task", "update", "--status", status], more].concat();
            let refused = env.call(words).agent(&task, role).run();
            refused
                .fails_with(3)
                .says(&artifact[..artifact.len().min(7)]);
        }
        // Nor does one that goes further at once.
        let skipped = env.call(["task", "update", "--status", "done", "--force"]);
        skipped.agent(&task, role).run().fails_with(3);
        task.append(artifact);
        let moved = env.call(["task", "update", "--status", status]);
        moved.agent(&task, role).run().ok();
    }
}

/// An agent may give its task to a person without a review. That is no review: a merge says so.
#[test]
fn a_stuck_task_in_reviewing_counts_as_not_reviewed() {
    let env = Merges::new();
    let (task, slot) = env.started("work");
    env.commit(&slot, "new", "x");
    env.bring_on(&task, "working");
    for words in [
        &["task", "stuck"][..],
        &["task", "update", "--status", "reviewing"],
    ] {
        env.call(words).agent(&task, "worker").run().ok();
    }
    env.refuses(&task, &[], 3, &["no review of it has passed"]);
}
