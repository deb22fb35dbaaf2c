//! Messages to real agents: each whole, once, whatever the agent and its user are doing.

use crate::env::TestTask;
use crate::model::{say, shell};
use crate::shown::shown;
use crate::world::{World, other};
use serde_json::Value;

/// An agent that has asked something and waits for a person, whatever is said to it.
fn listener(env: &World, harness: &str) -> TestTask {
    let question = "printf '\\n## Questions\\n\\nWhich?\\n' >> TASK.md && orange task update --status clarification";
    env.model.when(
        "You are the worker of task",
        [shell(question), say("Which?")],
    );
    env.model.otherwise([say("I hear you.")]);
    let task = env.task(harness, other(harness), "Listen");
    env.until_status(&task, "clarification");
    env.until_idle(&task, "worker");
    task
}

/// What `send` says has become of a message.
#[track_caller]
fn send(env: &World, task: &TestTask, text: &str) -> Value {
    let call = env.call(["task", "send", &task.id, "-", "--json"]);
    call.input(text).run().ok().json()
}

/// Everything that people said in the longest conversation.
fn said(env: &World) -> Vec<String> {
    let requests = env.model.requests();
    let longest = requests
        .iter()
        .map(|request| request.texts())
        .max_by_key(Vec::len);
    let texts = longest.unwrap_or_default();
    // Claude ends each with a line end where several follow each other.
    let texts = texts.into_iter().skip(1);
    texts.map(|text| text.trim_end().to_owned()).collect()
}

/// As the model hears what Orange was told.
fn spoken(harness: &str, text: &str) -> String {
    let unseen = ['\u{200b}', '\u{202e}', '\u{feff}'];
    match harness {
        "claude" if text.contains(unseen) => text.replace(unseen, ""),
        // Otherwise claude would take it for a command.
        "claude" if text.starts_with(['/', '!']) => format!("Message: {text}"),
        _ => text.to_owned(),
    }
}

fn any_text_arrives_whole_once_and_in_order(harness: &str) {
    let env = World::new();
    let task = listener(&env, harness);
    let long: String = (0..300)
        .map(|line| format!("line {line}: «ünï» 漢字 🎉 $(touch no) `touch no`\n"))
        .collect();
    let texts = [
        "use the blue one",
        "/help me with this",
        "!touch no",
        "# a heading\n\n- and a list\n  - in it",
        "-- 'quoted' \"double\" $HOME $(touch no) `touch no` \\n #{pane_id}",
        "@README.md & ?",
        "unseen \u{200b}and \u{202e}turned \u{feff}👩\u{200d}👧",
        long.trim_end(),
    ];
    assert!(long.len() > 12 * 1024);
    for text in texts {
        let sent = send(&env, &task, text);
        assert_eq!(sent["state"], "delivered", "{text}: {sent}\n{}", env.dump());
        env.until_idle(&task, "worker");
    }
    let wanted = texts.map(|text| spoken(harness, text));
    assert_eq!(said(&env), wanted);
    assert!(!env.slot_of(&task).join("no").exists());
    env.until_count(&task, "message.delivered", texts.len());
    assert_eq!(env.count(&task, "message.failed"), 0);
    assert_eq!(env.attention(&task), "");
    shown(harness, "delivery");
}

#[test]
fn claude_hears_any_text_whole_and_once() {
    any_text_arrives_whole_once_and_in_order("claude");
}

#[test]
fn pi_hears_any_text_whole_and_once() {
    any_text_arrives_whole_once_and_in_order("pi");
}

/// Waits until the model is asked with this as the last thing that was said.
#[track_caller]
fn until_asked(env: &World, text: &str) {
    env.model
        .until(&format!("{text:?} is said last"), |requests| {
            let mut lasts = requests
                .iter()
                .filter_map(|request| request.texts().last().copied());
            lasts.any(|last| last == text)
        });
}

fn messages_in_a_turn_come_after_it_in_order(harness: &str) {
    let env = World::new();
    let task = listener(&env, harness);
    env.model.when(
        "think about it",
        [say("Thought.").after(env.gate("thought"))],
    );
    send(&env, &task, "think about it");
    until_asked(&env, "think about it");
    for text in ["one", "two", "three"] {
        let sent = send(&env, &task, text);
        assert_ne!(sent["state"], "failed", "{sent}");
    }
    env.allow("thought");
    let wanted = ["think about it", "one", "two", "three"];
    env.until("all is said", || said(&env).len() >= wanted.len());
    env.until_count(&task, "message.delivered", 4);
    env.until_idle(&task, "worker");
    assert_eq!(said(&env), wanted);
    assert_eq!(env.attention(&task), "");
}

#[test]
fn claude_hears_messages_in_a_turn_after_it() {
    messages_in_a_turn_come_after_it_in_order("claude");
}

#[test]
fn pi_hears_messages_in_a_turn_after_it() {
    messages_in_a_turn_come_after_it_in_order("pi");
}

/// Before the model has said anything, and while a tool runs.
fn an_interruption_ends_the_turn(harness: &str) {
    let env = World::new();
    let task = listener(&env, harness);
    env.model
        .when("think for ever", [say("Never.").after(env.gate("never"))]);
    env.model.when(
        "wait for ever",
        [shell("touch began; sleep 600"), say("Never.")],
    );
    send(&env, &task, "think for ever");
    until_asked(&env, "think for ever");
    interrupt(&env, &task, "stop thinking");
    send(&env, &task, "wait for ever");
    env.until("the tool runs", || {
        env.slot_of(&task).join("began").exists()
    });
    interrupt(&env, &task, "stop waiting");
    env.until_idle(&task, "worker");
    assert_eq!(
        said(&env),
        [
            "think for ever",
            "stop thinking",
            "wait for ever",
            "stop waiting"
        ]
    );
    env.until_count(&task, "message.delivered", 4);
    assert_eq!(env.attention(&task), "");
    shown(harness, "interrupt");
}

#[track_caller]
fn interrupt(env: &World, task: &TestTask, text: &str) {
    let sent = env
        .say(&["task", "send", &task.id, "--interrupt", text, "--json"])
        .ok()
        .json();
    assert_ne!(sent["state"], "failed", "{sent}");
    until_asked(env, text);
}

#[test]
fn claude_is_interrupted_for_a_message() {
    an_interruption_ends_the_turn("claude");
}

#[test]
fn pi_is_interrupted_for_a_message() {
    an_interruption_ends_the_turn("pi");
}

/// Keys as a user presses them.
fn keys(env: &World, pane: &str, keys: &[&str]) {
    let done = env.tmux(&[&["send-keys", "-t", pane], keys].concat());
    assert!(done.status.success(), "{done:?}");
}

fn a_draft_stays_the_users(harness: &str) {
    let env = World::new();
    let task = listener(&env, harness);
    let pane = env.pane(&task, "worker");
    keys(&env, &pane, &["-l", "half a thought"]);
    env.until("the draft is seen", || {
        env.screen(&task, "worker").contains("half a thought")
    });
    assert_eq!(send(&env, &task, "from orange")["state"], "delivered");
    env.until_idle(&task, "worker");
    assert_eq!(said(&env), ["from orange"]);
    // Reading what was said above, while another one comes.
    env.tmux(&["copy-mode", "-t", &pane]);
    assert_eq!(send(&env, &task, "and another")["state"], "delivered");
    env.until_idle(&task, "worker");
    env.until("the draft is back", || {
        env.screen(&task, "worker").contains("half a thought")
    });
    env.tmux(&["copy-mode", "-q", "-t", &pane]);
    keys(&env, &pane, &["-l", " is whole"]);
    keys(&env, &pane, &["Enter"]);
    env.until_heard("half a thought is whole");
    assert_eq!(
        said(&env),
        ["from orange", "and another", "half a thought is whole"]
    );
}

#[test]
fn claude_keeps_a_draft_of_its_user() {
    a_draft_stays_the_users("claude");
}

#[test]
fn pi_keeps_a_draft_of_its_user() {
    a_draft_stays_the_users("pi");
}

/// Every letter that a user types while messages come is still there in the end.
fn a_user_types_all_the_while(harness: &str) {
    let env = World::new();
    let task = listener(&env, harness);
    let pane = env.pane(&task, "worker");
    let messages: Vec<String> = (1..=5).map(|number| format!("message {number}")).collect();
    let done = std::sync::atomic::AtomicBool::new(false);
    let typed = std::thread::scope(|scope| {
        let typing = scope.spawn(|| {
            let mut typed = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                keys(&env, &pane, &["-l", "z"]);
                typed += 1;
                std::thread::sleep(std::time::Duration::from_millis(30));
            }
            typed
        });
        for message in &messages {
            assert_ne!(send(&env, &task, message)["state"], "failed");
        }
        env.until_count(&task, "message.delivered", messages.len());
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        typing.join().unwrap()
    });
    // What is typed while claude is about to take a message may stand at its end; whole it is nevertheless.
    let told = |text: &String| text.contains("message");
    let letters = || {
        said(&env)
            .iter()
            .map(|text| text.matches('z').count())
            .sum::<usize>()
    };
    env.until("the messages are heard", || {
        said(&env).iter().filter(|text| told(text)).count() == messages.len()
    });
    env.until(&format!("all of {typed} letters are heard"), || {
        env.until_idle(&task, "worker");
        let all = letters();
        if all < typed {
            keys(&env, &pane, &["Enter"]);
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        assert!(all <= typed, "{:?}", said(&env));
        all == typed
    });
    let said = said(&env);
    let ours = said.iter().filter(|text| told(text));
    let ours: Vec<&str> = ours.map(|text| text.trim_matches('z')).collect();
    assert_eq!(ours, messages, "{said:?}");
    assert_eq!(env.count(&task, "message.failed"), 0);
}

#[test]
fn claude_and_a_user_who_types() {
    a_user_types_all_the_while("claude");
}

#[test]
fn pi_and_a_user_who_types() {
    a_user_types_all_the_while("pi");
}
