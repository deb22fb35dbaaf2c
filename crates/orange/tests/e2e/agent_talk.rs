//! Messages to agents: typed, confirmed, never lost and never told twice.

use crate::agents::Agents;
use crate::env::TestTask;

/// An agent that waits for a person, whatever is said to it; `first` is done in its first turn.
fn listener(env: &Agents, first: &str) -> TestTask {
    let script = format!(
        "\
worker:
  - status: clarification
{first}  - repeat: forever
    steps:
      - end turn
      - say: 'You said: {{message}}'
"
    );
    let task = env.start("Listen to me", &script);
    env.until_status(&task, "clarification");
    task
}

fn pane(env: &Agents, task: &TestTask) -> String {
    let spawned = task.last("agent.spawned");
    assert_eq!(spawned["role"], "worker");
    let pane = spawned["pane"].as_str().unwrap().to_owned();
    assert!(env.tmux(&["list-panes", "-t", &pane]).status.success());
    pane
}

/// The messages that the worker took after its prompt.
fn heard(env: &Agents, task: &TestTask) -> Vec<String> {
    env.taken(task, "worker").split_off(1)
}

#[test]
fn a_message_is_delivered_once_and_several_in_order() {
    let env = Agents::new();
    let task = listener(&env, "");
    env.until_idle(&task, "worker");
    let words = [
        "one",
        "two words",
        "-3",
        "vier äöü 🎉",
        "'five' \"$HOME\" `x` #{pane_id}",
    ];
    for word in words {
        env.say(&["task", "send", &task.id, "--", word])
            .ok()
            .says("delivered (confirmed by the agent)");
    }
    assert_eq!(heard(&env, &task), words);
    env.until_count(&task, "message.delivered", words.len());
    assert_eq!(env.count(&task, "message"), words.len());
    env.say(&["task", "send", &task.id, "  ", "--json"])
        .refuses(2, "usage");
}

#[test]
fn a_message_in_the_middle_of_a_turn_is_queued_and_taken_after_it() {
    let env = Agents::new();
    let task = listener(&env, "  - wait for:\n      file: ROOT/go\n");
    let sent = env
        .say(&["task", "send", &task.id, "later", "--json"])
        .ok()
        .json();
    assert_eq!(sent["state"], "queued", "{sent}");
    assert!(heard(&env, &task).is_empty());
    env.allow("go");
    env.until_told(&task, "later");
    env.until_count(&task, "message.delivered", 1);
}

#[test]
fn an_interruption_ends_the_turn_for_a_message() {
    let env = Agents::new();
    let task = listener(&env, "  - wait for:\n      file: ROOT/never\n");
    env.say(&["task", "send", &task.id, "--interrupt", "stop that"])
        .ok()
        .says("delivered");
    assert_eq!(heard(&env, &task), ["stop that"]);
}

#[test]
fn an_interruption_whose_enter_is_lost_is_confirmed_all_the_same() {
    let env = Agents::new();
    let task = listener(
        &env,
        "  - lose enter\n  - wait for:\n      file: ROOT/never\n",
    );
    env.say(&["task", "send", &task.id, "--interrupt", "stop that"])
        .ok();
    env.until_told(&task, "stop that");
    env.until_count(&task, "message.delivered", 1);
}

#[test]
fn a_lost_enter_is_pressed_again() {
    let env = Agents::new();
    let task = listener(&env, "  - lose enter\n");
    env.until_idle(&task, "worker");
    env.say(&["task", "send", &task.id, "hear me"])
        .ok()
        .says("delivered");
    assert_eq!(heard(&env, &task), ["hear me"]);
}

#[test]
fn a_message_that_never_arrives_is_kept_shown_and_given_to_the_next_run() {
    let env = Agents::new();
    let task = listener(&env, "  - lose enter: 99\n");
    env.until_idle(&task, "worker");
    let sent = env.say(&["task", "send", &task.id, "the blue one"]);
    assert!(!sent.stdout.contains("delivered"), "{sent}");
    env.until_attention(&task, "message not delivered: the agent did not take it");
    assert!(heard(&env, &task).is_empty());
    assert_eq!(env.count(&task, "message.failed"), 1);
    env.kill(env.run_agent(&task, "worker"), "-9");
    env.until("it is gone", || env.windows().is_empty());
    env.say(&["task", "respawn", &task.id]).ok();
    env.until("it has its prompt", || {
        !env.taken(&task, "worker").is_empty()
    });
    assert!(env.taken(&task, "worker")[0].ends_with("the blue one"));
    env.until_count(&task, "message.delivered", 1);
    assert_eq!(env.attention(&task), "");
    env.kill(env.run_agent(&task, "worker"), "-9");
    env.until("it is gone", || env.windows().is_empty());
    env.say(&["task", "respawn", &task.id]).ok();
    env.until("it has its prompt", || {
        !env.taken(&task, "worker").is_empty()
    });
    assert!(
        !env.taken(&task, "worker")[0].contains("the blue one"),
        "told twice"
    );
}

#[test]
fn a_message_that_was_given_up_and_then_sent_by_hand_is_not_told_again() {
    let env = Agents::new();
    let task = listener(&env, "  - lose enter: 3\n");
    env.until_idle(&task, "worker");
    env.say(&["task", "send", &task.id, "the blue one"]);
    env.until_attention(&task, "message not delivered");
    // It stands in the line, and a person who sees that presses Enter.
    env.tmux(&["send-keys", "-t", &pane(&env, &task), "Enter"]);
    env.until_told(&task, "the blue one");
    env.until_count(&task, "message.delivered", 1);
    assert_eq!(env.attention(&task), "");
}

#[test]
fn a_message_waits_while_a_permission_is_asked_for() {
    let env = Agents::new();
    let task = listener(
        &env,
        "  - ask permission: May I deploy?\n    allowed:\n      - say: Deployed.\n",
    );
    env.until_attention(&task, "its worker asks permission: May I deploy?");
    let sent = env
        .say(&["task", "send", &task.id, "yes, you may", "--json"])
        .ok()
        .json();
    assert_eq!(sent["state"], "queued", "{sent}");
    assert!(
        sent["message"]
            .as_str()
            .unwrap()
            .contains("asks permission"),
        "{sent}"
    );
    assert!(heard(&env, &task).is_empty());
    env.tmux(&["send-keys", "-t", &pane(&env, &task), "y"]);
    env.until_told(&task, "yes, you may");
    env.until("it is answered", || env.attention(&task).is_empty());
}

#[test]
fn copy_mode_and_half_typed_text_do_not_swallow_a_message() {
    let env = Agents::new();
    let task = listener(&env, "");
    env.until_idle(&task, "worker");
    let pane = pane(&env, &task);
    env.tmux(&["copy-mode", "-t", &pane]);
    env.say(&["task", "send", &task.id, "in spite of it"])
        .ok()
        .says("delivered");
    assert_eq!(heard(&env, &task), ["in spite of it"]);
    env.tmux(&["send-keys", "-t", &pane, "-l", "half typed, "]);
    env.say(&["task", "send", &task.id, "and the rest"])
        .ok()
        .says("delivered");
    assert_eq!(heard(&env, &task)[1], "half typed, and the rest");
}

#[test]
fn long_messages_arrive_whole_and_without_control_characters() {
    let env = Agents::new();
    let task = listener(&env, "");
    env.until_idle(&task, "worker");
    for kilobytes in [12, 200] {
        let mut text = String::new();
        while text.len() < kilobytes * 1024 {
            text.push_str(&format!(
                "{} grüße 🎉 \x1b[31mred\x1b[0m\x1b[201~ \ttab\r\n",
                text.len()
            ));
        }
        text.push_str("the end");
        let sent = env
            .call(["task", "send", &task.id, "-"])
            .input(text.clone())
            .run()
            .ok();
        assert!(
            sent.stdout.contains("delivered") || sent.stdout.contains("queued"),
            "{sent}"
        );
        let wanted = text.replace('\x1b', "").replace("\r\n", "\n");
        env.until("it is taken", || {
            heard(&env, &task)
                .last()
                .is_some_and(|last| last.ends_with("the end"))
        });
        let last = heard(&env, &task).pop().unwrap();
        assert!(last == wanted, "{} of {} bytes", last.len(), wanted.len());
        env.until_idle(&task, "worker");
    }
    assert_eq!(heard(&env, &task).len(), 2);
    let huge = "x".repeat(300 * 1024);
    env.call(["task", "send", &task.id, "-", "--json"])
        .input(huge)
        .run()
        .refuses(2, "usage");
}

#[test]
fn nobody_to_talk_to_is_said() {
    let env = Agents::new();
    let task = env.create(["Not yet", "--no-spawn"]);
    let error = env
        .say(&["task", "send", &task.id, "hello", "--json"])
        .refuses(3, "condition_unmet");
    assert!(
        error["message"].as_str().unwrap().contains("no worker"),
        "{error}"
    );
    let error = env
        .say(&["task", "attach", &task.id, "--json"])
        .refuses(4, "not_found");
    assert!(
        error["hint"].as_str().unwrap().contains("orange spawn"),
        "{error}"
    );
    env.say(&["task", "peek", &task.id, "--json"])
        .refuses(4, "not_found");
}
