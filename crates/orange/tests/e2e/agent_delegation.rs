//! A worker splits its task into children, and the task goes on when they are over.

use crate::agents::Agents;
use crate::env::TestTask;

const SPLITS: &str = "\
worker:
  - plan: 'APPROACH: split it'
  - status: working
  - run: orange task create first-part 'The first part' --parent \"$ORANGE_TASK_ID\"
  - run: orange task create second-part 'The second part' --parent \"$ORANGE_TASK_ID\" --blocked-by shop/first-part
";

fn delegates(env: &Agents, before: &str) -> TestTask {
    let task = env.start(
        "Split it",
        &format!("{SPLITS}{before}  - status: delegated\n"),
    );
    env.until_status(&task, "delegated");
    task
}

fn child(env: &Agents, branch: &str) -> TestTask {
    let all = env.list(["--all"]);
    let found = all.iter().find(|task| task["branch"] == branch);
    env.task_of(found.unwrap_or_else(|| panic!("no {branch} in {all:?}")))
}

#[test]
fn children_start_in_order_and_the_parent_is_done_when_they_are_over() {
    let env = Agents::new();
    let parent = delegates(&env, "");
    assert_eq!(
        env.hooks(&parent, "working", "delegated"),
        [
            "kill_session completed",
            "release_workspace completed",
            "spawn_next completed"
        ]
    );
    assert_eq!(env.field(&parent, "workspace"), "null");
    assert_eq!(env.field(&parent, "tmux_session"), "null");
    assert_eq!(env.count(&parent, "agent.crashed"), 0);
    let (first, second) = (child(&env, "first-part"), child(&env, "second-part"));
    env.until_status(&first, "reviewing");
    assert_eq!(env.status(&second), "pending", "it waits for the first");
    assert_eq!(env.windows(), ["shop/first-part:worker"]);
    env.resolve(&first);
    env.until_status(&second, "reviewing");
    assert_eq!(env.status(&parent), "delegated");
    env.resolve(&second);
    env.until_status(&parent, "done");
    assert_eq!(
        env.hooks(&parent, "delegated", "done"),
        ["spawn_next completed"]
    );
    env.until("no window is left", || env.windows().is_empty());
}

#[test]
fn a_parent_with_commits_of_its_own_is_reviewed_and_its_changes_get_a_workspace() {
    let env = Agents::new();
    let parent = delegates(&env, "  - write: own.txt\n    text: x\n  - commit: own\n");
    let (first, second) = (child(&env, "first-part"), child(&env, "second-part"));
    env.until_status(&first, "reviewing");
    env.resolve(&first);
    env.until_status(&second, "reviewing");
    env.resolve(&second);
    env.until_status(&parent, "reviewing");
    assert_eq!(env.field(&parent, "workspace"), "null");
    env.say(&["task", "request-changes", &parent.id, "put it together"])
        .ok();
    assert_eq!(
        env.hooks(&parent, "reviewing", "working"),
        ["notify_worker completed"]
    );
    assert_ne!(env.field(&parent, "workspace"), "null");
    assert_eq!(env.prompts(&parent), ["worker", "respawn-working"]);
    env.until("it has its prompt", || {
        !env.taken(&parent, "worker").is_empty()
    });
    assert!(env.taken(&parent, "worker")[0].contains("put it together"));
}

#[test]
fn a_person_takes_a_delegated_task_back() {
    let env = Agents::new();
    let parent = delegates(&env, "");
    env.until_status(&child(&env, "first-part"), "reviewing");
    env.move_to(&parent, "working").ok();
    assert_eq!(
        env.hooks(&parent, "delegated", "working"),
        [
            "acquire_workspace completed",
            "spawn_agent(respawn) completed"
        ]
    );
    assert_eq!(env.prompts(&parent), ["worker", "respawn-working"]);
    assert_ne!(env.field(&parent, "workspace"), "null");
}

#[test]
fn a_cancelled_child_needs_a_person() {
    let env = Agents::new();
    let parent = delegates(&env, "");
    let (first, second) = (child(&env, "first-part"), child(&env, "second-part"));
    env.until_status(&first, "reviewing");
    env.say(&["task", "cancel", &first.id, "--yes"]).ok();
    for task in [&parent, &second] {
        let why = env.say(&["task", "why", &task.id, "--json"]).ok().json();
        assert_eq!(why["why"]["needs_human"], true, "{why}");
        assert!(
            why["why"]["because"].as_str().unwrap().contains(&first.key),
            "{why}"
        );
    }
    assert_eq!(env.status(&parent), "delegated");
    assert_eq!(env.status(&second), "pending");
}

#[test]
fn a_task_with_uncommitted_work_or_without_children_is_not_delegated() {
    let env = Agents::new();
    let task = env.start(
        "Not so",
        "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - status: delegated
    expect: 3
  - run: orange task create a-part 'A part' --parent \"$ORANGE_TASK_ID\" --no-spawn
  - write: dirty.txt
    text: x
  - status: delegated
    expect: 3
  - commit: clean
  - status: delegated
",
    );
    env.until_status(&task, "delegated");
    assert_eq!(env.count(&task, "status.changed"), 3);
}
