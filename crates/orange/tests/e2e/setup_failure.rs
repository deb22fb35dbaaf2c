//! A workspace whose setup failed: no agent starts in it, the task says so, and it goes on once the cause is mended.

use crate::agents::Agents;
use std::fs;

/// Fails until the cause is mended. Leaves word of an agent that was started nevertheless.
const SETUP: &str = "workspace:\n  setup: 'echo oh dear; test -e ROOT/mended'\n";

#[test]
fn no_worker_starts_and_a_retry_starts_it() {
    let env = Agents::configured(SETUP);
    let created = env.say(&["task", "create", "login", "Some work"]);
    created
        .fails_with(1)
        .says("oh dear")
        .says("orange retry-hooks TASK-001");
    let task = env.task_of(&env.list([""; 0])[0]);
    assert_eq!(env.status(&task), "planning");
    assert_eq!(env.prompts(&task), [""; 0], "{}", env.dump());
    assert_eq!(env.windows(), [""; 0]);
    let attention = env.attention(&task);
    assert!(attention.contains("oh dear"), "{attention}");
    env.say(&["ls"])
        .ok()
        .says("needs attention: ")
        .says("oh dear");
    let why = env.say(&["task", "why", &task.id, "--json"]).ok().json();
    assert_eq!(why["why"]["next"], "orange retry-hooks TASK-001");
    assert!(
        why["why"]["because"].to_string().contains("oh dear"),
        "{why}"
    );
    // What is not mended fails again, and starts nobody.
    for again in ["retry-hooks", "respawn"] {
        let said = env.say(&["task", again, &task.id]);
        assert_ne!(said.code, 0, "{again}");
        said.says("oh dear");
        assert_eq!(env.prompts(&task), [""; 0], "{again}");
    }
    env.look();
    assert_eq!(env.prompts(&task), [""; 0]);
    env.allow("mended");
    env.say(&["task", "retry-hooks", &task.id]).ok();
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["worker", "reviewer"]);
    assert_eq!(env.attention(&task), "");
}

#[test]
fn a_respawn_runs_the_setup_again_before_it_starts_anybody() {
    let env = Agents::configured(SETUP);
    env.say(&["task", "create", "login", "Some work"])
        .fails_with(1);
    let task = env.task_of(&env.list([""; 0])[0]);
    env.allow("mended");
    env.say(&["task", "respawn", &task.id, "--message", "go on"])
        .ok();
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["respawn-planning", "reviewer"]);
    assert_eq!(env.attention(&task), "");
    env.say(&["task", "retry-hooks", &task.id])
        .ok()
        .says("nothing failed");
}

#[test]
fn a_workspace_that_changes_need_is_made_ready_before_the_worker_starts() {
    let env = Agents::configured(SETUP);
    env.git(&env.shop(), &["branch", "colleague"]);
    let task = env.create(["colleague", "Some work", "--status", "reviewing"]);
    for _ in 0..2 {
        let asked = match env.status(&task).as_str() {
            "reviewing" => env.say(&["task", "request-changes", &task.id, "bigger"]),
            _ => env.say(&["task", "retry-hooks", &task.id]),
        };
        asked.fails_with(1).says("oh dear");
        assert_eq!(env.prompts(&task), [""; 0], "{}", env.dump());
    }
    fs::write(env.root().join("mended"), "").unwrap();
    env.say(&["task", "retry-hooks", &task.id]).ok();
    env.until("a worker is started", || {
        env.prompts(&task) == ["respawn-working"]
    });
    let prompt = env.run_folder(&task, "worker").join("prompt.md");
    assert!(fs::read_to_string(prompt).unwrap().contains("bigger"));
}
