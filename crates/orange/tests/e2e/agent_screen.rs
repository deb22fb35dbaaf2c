//! Looking at agents: their screens, the way to their windows, waiting for them, watching over all of them.

use crate::agents::Agents;
use crate::running::Running;
use std::fs;
use std::process::Stdio;

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
    error.says("needs a terminal").says("orange peek");
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
    wait("needs-me", &["--timeout", "1m"])
        .ok()
        .says("is reviewing");
    wait("reviewing", &[]).ok();
    wait("done", &["--timeout", "1s"])
        .fails_with(3)
        .says("the time is over: TASK-001 is reviewing and is not done yet")
        .says("`orange why TASK-001`");
    wait("done", &["--timeout", "soon"])
        .fails_with(2)
        .says("90s, 10m, 1h");
    env.resolve(&task);
    wait("done", &[]).ok().says("is done");
    let late = wait("reviewing", &["--json"]).refuses(3, "condition_unmet");
    let late = late["message"].as_str().unwrap();
    assert!(
        late.contains("is done and will not get to reviewing"),
        "{late}"
    );
    let given_up = env.create(["Give up", "--no-spawn"]);
    env.say(&["task", "peek", &given_up.id])
        .fails_with(4)
        .says("TASK-002 has not been started")
        .says("`orange spawn TASK-002`");
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

#[test]
fn of_two_watches_one_leads_both_print_and_the_other_takes_over() {
    let env = Agents::configured("monitor:\n  interval: 1s\n");
    let first = Running::start(env.call(["watch"]));
    env.until("it leads", || env.home().join(".monitor.lock").exists());
    let second = Running::start(env.call(["watch"]));
    env.until("it follows", || {
        second.printed().contains("another orange watches already")
    });
    let task = env.start("Watch me", "worker:\n  - hang\n");
    for watch in [&first, &second] {
        env.until("both print", || {
            watch
                .printed()
                .contains(&format!("{} you moved pending → planning", task.key))
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
    let watch = Running::start(env.call(["watch", "--json"]));
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
    let once = env.say(&["watch", "--once"]).ok().stdout;
    // What needs a person, and no news.
    assert!(once.starts_with("TASK-001  reviewing"), "{once}");
    assert!(once.trim_end().ends_with("orange merge TASK-001"), "{once}");
}

#[test]
fn following_a_screen_goes_with_the_task_and_ends_with_its_agents() {
    let env = Agents::new();
    let task = env.start(
        "Follow me",
        "worker:\n  - say: Worker here.\n  - wait for:\n      file: ROOT/go\n  - plan: 'APPROACH: x'\n  - status: working\n  - handoff: 'DONE: x'\n  - complete\n  - end turn\nreviewer:\n  - say: Reviewer here.\n  - wait for:\n      file: ROOT/judge\n  - review: PASS\n  - status: reviewing\n",
    );
    let mut view = Running::start(env.call(["task", "peek", &task.id, "--follow"]));
    view.until_printed("Worker here.");
    env.allow("go");
    view.until_printed("from here on the reviewer of");
    view.until_printed("Reviewer here.");
    env.allow("judge");
    env.until_status(&task, "reviewing");
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    view.until_printed("has ended");
    assert_eq!(view.wait().code(), Some(0));
    let printed = view.printed();
    assert_eq!(printed.matches("Worker here.").count(), 1, "{printed}");
    assert!(!printed.contains('\u{1b}'), "{printed}");
    let after = env.say(&["task", "peek", &task.id, "--follow"]).ok();
    after.says("Worker here.").says("is gone");
}

#[test]
fn following_ends_at_ctrl_c_and_prints_screens_as_json() {
    let env = Agents::new();
    let task = env.start("Stay", "worker:\n  - say: Here I am.\n  - hang\n");
    let mut view = Running::start(env.call(["task", "peek", &task.id, "-f", "--json"]));
    view.until_printed("Here I am.");
    view.interrupt();
    assert_eq!(view.wait().code(), Some(130));
    for line in view.printed().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["screen"]["role"], "worker");
    }
}

#[test]
fn on_a_terminal_a_followed_screen_is_drawn_in_place_and_the_terminal_given_back() {
    let env = Agents::new();
    let task = env.start("Draw it", "worker:\n  - say: Here I am.\n  - hang\n");
    let (seen, number) = (env.root().join("seen"), env.root().join("number"));
    let line = format!(
        "stty cols 60 rows 20; echo $$ > {}; exec {} task peek {} --follow",
        number.display(),
        crate::run::program().display(),
        task.id
    );
    // `script` gives the command a terminal of its own, and writes down what is shown there.
    let mut terminal = env
        .foreign("script")
        .args(["-qefc", &line])
        .arg(&seen)
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .current_dir(env.shop())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let shown = || String::from_utf8_lossy(&fs::read(&seen).unwrap_or_default()).into_owned();
    env.until("it is drawn", || {
        shown().contains("Here I am.") && shown().contains("q ends this view")
    });
    let number = fs::read_to_string(number).unwrap();
    env.kill(number.trim().parse().unwrap(), "-INT");
    assert_eq!(terminal.wait().unwrap().code(), Some(130));
    let shown = shown();
    let begun = shown.find("\u{1b}[?1049h").expect("the other screen");
    let ended = shown.find("\u{1b}[?25h\u{1b}[?1049l").expect("given back");
    assert!(begun < shown.find("Here I am.").unwrap(), "{shown:?}");
    assert!(shown.rfind("Here I am.").unwrap() < ended, "{shown:?}");
}
