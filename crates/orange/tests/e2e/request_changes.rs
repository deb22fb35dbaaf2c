//! A person's request for changes, wherever the task is: it reaches TASK.md and the worker, or is refused with a command
//! that delivers the same text.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::run::Run;
use crate::shell::typed_well;

const TEXT: &str = "it's too `small`; make it\nbigger";

fn ask(env: &Agents, task: &TestTask) -> Run {
    env.say(&["task", "request-changes", &task.id, TEXT])
}

#[track_caller]
fn is_in_the_file(task: &TestTask) {
    let text = task.text();
    assert!(text.contains("## Changes requested\n"), "{text}");
    assert!(text.contains(TEXT), "{text}");
}

#[test]
fn after_a_failed_review_the_worker_gets_the_words_with_it() {
    let env = Agents::new();
    let task = env.start(
        "Small",
        "reviewer:\n  - review: FAIL\n  - wait for: {file: never}\n",
    );
    env.until("the verdict is written", || {
        task.text().contains("Verdict: FAIL")
    });
    ask(&env, &task).ok().says("agent-review → working");
    is_in_the_file(&task);
    let told = env.until_told(&task, "too `small`");
    assert!(told.contains("failed in round 1"), "{told}");
}

#[test]
fn a_stuck_task_and_a_delegated_one_get_the_words_too() {
    let env = Agents::new();
    let stuck = env.start("Lost", "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - stuck\n  - wait for: {message: true}\n");
    env.until_status(&stuck, "stuck");
    ask(&env, &stuck).ok();
    is_in_the_file(&stuck);
    env.until_told(&stuck, "too `small`");
    let script = "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - run: orange task create --parent $ORANGE_TASK_ID part --no-spawn\n  - status: delegated\nworker attempt 2:\n  - wait for: {file: never}\n";
    let parent = env.start("Big", script);
    env.until_status(&parent, "delegated");
    ask(&env, &parent).ok();
    is_in_the_file(&parent);
    env.until("a worker is back", || env.prompts(&parent).len() == 2);
    let taken = env.taken(&parent, "worker").join("\n");
    let prompt = env.run_folder(&parent, "worker").join("prompt.md");
    let prompt = std::fs::read_to_string(prompt).unwrap();
    assert!(prompt.contains(TEXT), "{prompt}\n{taken}");
}

/// The command that the hint names first.
fn advised(env: &Agents, task: &TestTask) -> String {
    let refused = env.say(&["task", "request-changes", &task.id, "bigger", "--json"]);
    let refused = refused.fails_with(3).json();
    let hint = refused["error"]["hint"].as_str().unwrap();
    hint.split('`').nth(1).unwrap().to_owned()
}

#[test]
fn an_agent_that_is_alive_is_told_before_anything_else_is_advised() {
    let env = Agents::new();
    let asks = env.start(
        "Ask",
        "worker:\n  - questions: which one?\n  - status: clarification\n  - end turn\n  - say: thanks\n",
    );
    env.until_status(&asks, "clarification");
    env.until_idle(&asks, "worker");
    let command = advised(&env, &asks);
    assert_eq!(command, "orange send TASK-001 \"bigger\"");
    typed_well(&env, &command);
    env.until_told(&asks, "bigger");
    // In a review without a verdict; the worker is alive too, and hears it.
    let review = env.start("Review", "reviewer:\n  - wait for: {file: never}\n");
    env.until_status(&review, "agent-review");
    let command = advised(&env, &review);
    assert_eq!(command, "orange send TASK-002 \"bigger\"");
    // Without a worker the reviewer is the one to tell.
    env.kill(env.run_agent(&review, "worker"), "-9");
    env.until("its worker is gone", || {
        advised(&env, &review) == "orange send TASK-002 --role reviewer \"bigger\""
    });
}

#[test]
fn where_it_is_refused_the_hint_delivers_the_text() {
    let env = Agents::new();
    let task = env.start(
        "Busy",
        "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - end turn\n  - say: heard\n",
    );
    env.until_status(&task, "working");
    env.until_idle(&task, "worker");
    let refused = env.say(&["task", "request-changes", &task.id, TEXT, "--json"]);
    let refused = refused.fails_with(3).json();
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(!task.text().contains("## Changes requested"));
    // The text has backticks of its own: the command ends with the last one.
    let (_, command) = hint.split_once('`').unwrap();
    let (command, _) = command.rsplit_once('`').unwrap();
    typed_well(&env, command);
    env.until_told(&task, TEXT);
    // Before the start and after the end nobody hears it, and it says so with the text.
    let pending = env.create(["later", "Later", "--no-spawn"]);
    ask(&env, &pending)
        .fails_with(3)
        .says("## Context")
        .says("too `small`");
    env.say(&["task", "cancel", &pending.id, "--yes"]);
    env.until_status(&pending, "cancelled");
    ask(&env, &pending)
        .fails_with(3)
        .says("orange create --from")
        .says("too `small`");
}
