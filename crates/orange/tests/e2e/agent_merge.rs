//! Merging a task that has an agent, a session and a slot: they are ended and given back, wherever the person sits.

use crate::agents::Agents;
use crate::run::program;
use std::fs;

const HOOKS: [&str; 4] = [
    "kill_session completed",
    "release_workspace completed",
    "delete_remote_branch completed",
    "spawn_next completed",
];

/// Hands off and stays; the reviewer passes it.
const STAYS: &str = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: new.txt
    text: x
  - commit: work
  - handoff: 'DONE: all'
  - complete
  - wait for: {file: never}
reviewer:
  - review: PASS
  - status: reviewing
";

#[test]
fn a_live_worker_and_its_slot() {
    let env = Agents::new();
    let task = env.start("Stays alive", STAYS);
    env.until_status(&task, "reviewing");
    let slot = env.slot_of(&task);
    env.say(&["task", "merge", &task.id])
        .ok()
        .says("it is done");
    assert_eq!(env.hooks(&task, "reviewing", "done"), HOOKS);
    let shop = env.shop();
    assert!(shop.join("new.txt").exists());
    assert!(env.windows().is_empty(), "{:?}", env.windows());
    env.is_parked(&slot, &env.git(&shop, &["rev-parse", "main"]));
    assert_eq!(env.git(&shop, &["branch", "--list", "staysalive"]), "");
    assert_eq!(env.field(&task, "workspace"), "null");
    assert_eq!(env.count(&task, "agent.crashed"), 0);
}

#[test]
fn a_kill_between_saving_its_branch_and_deleting_it() {
    let env = Agents::new();
    let task = env.start("Stays alive", STAYS);
    env.until_status(&task, "reviewing");
    let killed = env
        .foreign(program().to_str().unwrap())
        .args(["task", "merge", &task.id])
        .env("ORANGE_CRASH_AT", "branch.saved")
        .current_dir(env.shop())
        .output()
        .unwrap();
    assert_eq!(killed.status.code(), None);
    env.say(&["task", "merge", &task.id]).ok();
    let shop = env.shop();
    assert_eq!(env.git(&shop, &["branch", "--list", "staysalive"]), "");
    let below = format!("refs/orange/rescue/{}", task.id);
    let rescues = env.git(&shop, &["for-each-ref", "--format=%(subject)", &below]);
    let of_branch = rescues.lines().filter(|line| line.contains("its branch"));
    assert_eq!(of_branch.count(), 1, "{rescues}");
}

#[test]
fn unreviewed_work_of_a_live_worker() {
    let env = Agents::new();
    let script = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: new.txt
    text: x
  - commit: work
  - write: half.txt
    text: half
  - run: touch ROOT/there
  - wait for: {file: never}
";
    let task = env.start("Half done", script);
    env.until("it is there", || env.root().join("there").exists());
    env.say(&["task", "merge", &task.id])
        .fails_with(3)
        .says("no review of it has passed")
        .says("half.txt");
    assert_eq!(env.windows(), ["shop/halfdone:worker"]);
    env.say(&["task", "merge", &task.id, "--force"]).ok();
    assert_eq!(env.hooks(&task, "working", "done"), HOOKS);
    let shop = env.shop();
    assert!(shop.join("new.txt").exists() && !shop.join("half.txt").exists());
    let saved = env.rescued(&shop, &task, "half.txt");
    assert_eq!(saved.as_deref(), Some("half"));
}

/// The window in which the command runs is closed by it; the rest is done nevertheless.
#[test]
fn a_person_merges_from_inside_the_session() {
    let env = Agents::new();
    let script = STAYS.replace(
        "  - wait for: {file: never}\nreviewer",
        "  - exit: 0\nreviewer",
    );
    let task = env.start("From inside", &script);
    let next = env.start("The next", "worker:\n  - wait for: {file: never}\n");
    env.until_status(&task, "reviewing");
    env.until("a shell follows the agent", || {
        let format = "#{window_name} #{session_name} #{pane_current_command}";
        let said = env.tmux(&["list-panes", "-a", "-F", format]);
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        text.lines()
            .any(|line| line.starts_with("worker shop/frominside") && line.ends_with("sh"))
    });
    let said = env.root().join("said");
    let line = format!(
        "{} task merge > {} 2>&1",
        program().display(),
        said.display()
    );
    let window = "=shop/frominside:worker";
    env.tmux(&["send-keys", "-t", window, &line, "Enter"]);
    env.until_status(&task, "done");
    env.until("its hooks are over", || {
        task.events()
            .last()
            .is_some_and(|event| event == "transition.finished")
    });
    assert_eq!(env.hooks(&task, "reviewing", "done"), HOOKS);
    assert!(env.shop().join("new.txt").exists());
    assert_eq!(env.count(&task, "task.merged"), 1);
    // Its process does not live to say it at its end.
    let said = fs::read_to_string(said).unwrap();
    assert!(said.contains("is done (merged into main)"), "{said}");
    assert!(!env.windows().iter().any(|name| name.contains("frominside")));
    assert!(fs::metadata(next.file()).is_ok());
}
