//! What must not happen to the person's machine, whatever agents do or leave undone.

use crate::agents::Agents;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_an_agent_did_not_live_to_read_is_no_command_for_the_shell_after_it() {
    let env = Agents::configured(
        "harness:\n  deaf: [/bin/sh, -c, 'until test -e ROOT/end; do sleep 0.1; done', x]\n",
    );
    let task = env.create(["deaf", "Deaf", "--harness", "deaf"]);
    let touch = format!("touch {}\n", env.root().join("executed").display());
    // More than a terminal takes at once: tmux keeps the rest.
    let text = format!("please\n{}", touch.repeat(400));
    env.say(&["task", "send", &task.id, &text]).ok();
    env.until("the message was typed", || {
        let peeked = env.say(&["task", "peek", &task.id]);
        peeked.stdout.contains("executed")
    });
    env.allow("end");
    env.until_event(&task, "agent.crashed");
    let pane = task.last("agent.spawned")["pane"]
        .as_str()
        .unwrap()
        .to_owned();
    // The shell is there, and has nothing to do but this.
    let mark = format!("touch {}", env.root().join("mark").display());
    env.until("the shell has started", || {
        env.tmux(&["send-keys", "-t", &pane, &mark, "Enter"]);
        std::thread::sleep(std::time::Duration::from_millis(100));
        env.root().join("mark").exists()
    });
    assert!(!env.root().join("executed").exists());
}

#[test]
fn prompts_messages_and_screens_are_for_their_user_alone() {
    let env = Agents::new();
    let task = env.start("Private", "worker:\n  - hang\n");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&env.run_folder(&task, "worker")), 0o700);
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    let screens = task.file().parent().unwrap().join("screens");
    assert_eq!(mode(&screens), 0o700);
}

#[test]
fn a_server_that_was_started_below_an_agent_outlives_it() {
    let env = Agents::new();
    let kid = env.script("kid", "worker:\n  - hang\n");
    let script = format!(
        "\
worker:
  - wait for: {{file: ROOT/go}}
  - run: orange task create kid Kid --parent \"$ORANGE_TASK_ID\" --harness {kid}
  - wait for: {{file: ROOT/end}}
  - exit: 0
"
    );
    let task = env.start("Parent", &script);
    let config = env.root().join("home/orange/config.yaml");
    let other = env.root().join("other");
    let settings = fs::read_to_string(&config).unwrap();
    let here = env.socket().display().to_string();
    fs::write(&config, settings.replace(&here, other.to_str().unwrap())).unwrap();
    env.allow("go");
    let sessions = || {
        let mut tmux = env.foreign("tmux");
        let output = tmux.arg("-S").arg(&other).arg("ls").output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    env.until("the child runs", || sessions().contains("shop/kid"));
    env.allow("end");
    env.until_event(&task, "agent.crashed");
    let still = sessions();
    let _ = env
        .foreign("tmux")
        .arg("-S")
        .arg(&other)
        .arg("kill-server")
        .output();
    assert!(still.contains("shop/kid"), "{still}");
}

#[test]
fn a_pane_that_a_person_opened_beside_an_agent_stays_when_the_agent_is_replaced() {
    let env = Agents::new();
    let script = "worker:\n  - crash\nworker attempt 2:\n  - hang\n";
    let task = env.start("Beside", script);
    env.until_event(&task, "agent.crashed");
    let pane = task.last("agent.spawned")["pane"]
        .as_str()
        .unwrap()
        .to_owned();
    let editor = "exec sleep 98123";
    let split = ["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", &pane];
    let own = env.tmux(&[&split[..], &[editor]].concat());
    let own = String::from_utf8_lossy(&own.stdout).trim().to_owned();
    env.say(&["task", "respawn", &task.id]).ok();
    let panes = env.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
    let panes = String::from_utf8_lossy(&panes.stdout).into_owned();
    let has = |pane: &str| panes.lines().any(|line| line == pane);
    assert!(has(&own) && !has(&pane), "{panes}");
}

#[test]
fn many_starts_at_once_keep_to_the_limit() {
    let env = Agents::new();
    let config = env.root().join("home/orange/config.yaml");
    let settings = fs::read_to_string(&config).unwrap();
    fs::write(&config, settings.replace("agents:", "agents:\n  limit: 2")).unwrap();
    env.orange(["project", "update", "shop", "--pool-size", "8"])
        .ok();
    let harness = env.script("hang", "worker:\n  - hang\n");
    let new = |number: u32| {
        let branch = format!("b{number}");
        let words = [
            "task",
            "create",
            &branch,
            "Something",
            "--harness",
            &harness,
        ];
        env.call(words).at(env.shop()).spawn()
    };
    let all: Vec<_> = (1..=6).map(new).collect();
    for mut child in all {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(env.runs().len(), 2);
}
