//! Looking at agents: their screens, the way to their windows, waiting for them, watching over all of them.

use crate::agents::Agents;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::{Arc, Mutex};

#[test]
fn a_screen_is_shown_while_the_agent_lives_and_after_its_end() {
    let env = Agents::new();
    let task = env.start(
        "Show it",
        "worker:\n  - status: clarification\n  - say: Here I am.\n  - end turn\n  - exit\n",
    );
    env.until_idle(&task, "worker");
    env.until("it shows", || {
        env.say(&["task", "peek", &task.id])
            .stdout
            .contains("Here I am.")
    });
    let screen = env.say(&["task", "peek", &task.id, "--json"]).ok().json();
    assert_eq!(screen["screen"]["alive"], true);
    env.say(&["task", "send", &task.id, "bye"]);
    env.until_event(&task, "agent.exited");
    let screen = env.say(&["task", "peek", &task.id, "--json"]).ok().json();
    assert_eq!(screen["screen"]["alive"], false, "only a shell is left");
    assert!(
        screen["screen"]["text"]
            .as_str()
            .unwrap()
            .contains("Here I am."),
        "{screen}"
    );
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    env.say(&["task", "peek", &task.id])
        .ok()
        .says("Here I am.")
        .says("is gone");
}

#[test]
fn attaching_tells_the_command_and_needs_a_terminal() {
    let env = Agents::new();
    let task = env.create(["Go there"]);
    env.until_status(&task, "reviewing");
    let attach = env.say(&["task", "attach", &task.id, "--json"]).ok().json();
    let words: Vec<&str> = attach["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(words[0], "tmux");
    assert!(words.contains(&"attach-session"), "{words:?}");
    assert!(words.contains(&env.socket().to_str().unwrap()), "{words:?}");
    let error = env.say(&["task", "attach", &task.id]).fails_with(3);
    error.says("needs a terminal").says("task peek");
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    let error = env
        .say(&["task", "attach", &task.id, "--json"])
        .refuses(4, "not_found");
    assert!(
        error["hint"].as_str().unwrap().contains("screens"),
        "{error}"
    );
}

#[test]
fn waiting_ends_where_the_task_is_or_with_code_3_where_it_cannot_get_any_more() {
    let env = Agents::new();
    let task = env.start(
        "Wait for it",
        "worker:\n  - wait for:\n      file: ROOT/go\n  - plan: 'APPROACH: x'\n  - status: working\n  - handoff: 'DONE: x'\n  - complete\n",
    );
    let wait = |goal: &str, more: &[&str]| {
        env.say(&[&["task", "wait", &task.id, "--for", goal], more].concat())
    };
    wait("needs-me", &["--timeout", "0", "--json"]).refuses(3, "condition_unmet");
    env.allow("go");
    wait("needs-me", &["--timeout", "60"])
        .ok()
        .says("is reviewing");
    wait("reviewing", &[]).ok();
    wait("done", &["--timeout", "1", "--json"]).refuses(3, "condition_unmet");
    env.resolve(&task);
    wait("done", &[]).ok().says("is done");
    let given_up = env.create(["Give up", "--no-spawn"]);
    env.say(&["task", "cancel", &given_up.id, "--yes"]).ok();
    for goal in ["reviewing", "done"] {
        let error = env
            .say(&["task", "wait", &given_up.id, "--for", goal, "--json"])
            .refuses(3, "condition_unmet");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("will not get to"),
            "{error}"
        );
    }
}

#[test]
fn a_crash_needs_me() {
    let env = Agents::new();
    let task = env.start("Crash it", "worker:\n  - pause: 300ms\n  - crash\n");
    env.say(&[
        "task",
        "wait",
        &task.id,
        "--for",
        "needs-me",
        "--timeout",
        "60",
    ])
    .ok()
    .says("its worker crashed");
}

/// A running `orange watch`, and what it has printed so far.
struct Watch {
    child: Child,
    lines: Arc<Mutex<String>>,
}

impl Watch {
    fn start(env: &Agents, more: &[&str]) -> Watch {
        let mut child = env.call([&["watch"], more].concat()).spawn();
        let lines = Arc::new(Mutex::new(String::new()));
        collect(child.stdout.take().unwrap(), lines.clone());
        collect(child.stderr.take().unwrap(), lines.clone());
        Watch { child, lines }
    }

    fn printed(&self) -> String {
        self.lines.lock().unwrap().clone()
    }
}

fn collect(from: impl std::io::Read + Send + 'static, lines: Arc<Mutex<String>>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            lines.lock().unwrap().push_str(&format!("{line}\n"));
        }
    });
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn of_two_watches_one_leads_both_print_and_the_other_takes_over() {
    let env = Agents::configured("monitor:\n  interval: 1s\n");
    let first = Watch::start(&env, &[]);
    env.until("it leads", || env.home().join(".monitor.lock").exists());
    let second = Watch::start(&env, &[]);
    env.until("it follows", || {
        second.printed().contains("another orange watches already")
    });
    let task = env.start("Watch me", "worker:\n  - hang\n");
    for watch in [&first, &second] {
        env.until("both print", || {
            watch
                .printed()
                .contains(&format!("{} pending → planning", task.key))
        });
        env.until("both print", || {
            watch.printed().contains("worker started: sim")
        });
    }
    assert!(
        !first.printed().contains("another orange"),
        "{}",
        first.printed()
    );
    drop(first);
    env.kill(env.run_agent(&task, "worker"), "-9");
    env.until("the second has taken over", || {
        second.printed().contains("worker crashed: killed")
    });
    assert_eq!(env.count(&task, "agent.crashed"), 1);
}

#[test]
fn a_watch_prints_json_and_one_look_ends() {
    let env = Agents::new();
    let watch = Watch::start(&env, &["--json"]);
    env.until("it leads", || env.home().join(".monitor.lock").exists());
    let task = env.create(["Watch me"]);
    env.until("it prints", || {
        watch.printed().contains("\"to\":\"reviewing\"")
    });
    for line in watch.printed().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["task"], task.key.as_str());
    }
    drop(watch);
    env.until_status(&task, "reviewing");
    assert_eq!(env.say(&["watch", "--once"]).ok().stdout, "");
}
