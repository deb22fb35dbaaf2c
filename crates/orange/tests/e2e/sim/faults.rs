//! What goes wrong on purpose: crashes, hangs, floods, processes that stay behind.

use super::stage::{GROUP, SESSION, STATE, Stage, alive, stat};
use std::fs;
use std::path::{Path, PathBuf};

fn signal(stage: &Stage, name: &str, pid: u64) {
    let kill = stage
        .env
        .foreign("kill")
        .args([name, &pid.to_string()])
        .status();
    assert!(kill.unwrap().success());
}

fn pid_of(stage: &Stage) -> u64 {
    stage.nth("started", 1)["pid"].as_u64().unwrap()
}

#[test]
fn a_crash_is_a_real_one_by_that_signal() {
    for (crash, code) in [
        ("crash", "139"),
        ("crash: KILL", "137"),
        ("crash: ABRT", "134"),
    ] {
        let stage = Stage::new(&format!("worker:\n  - {crash}\n  - say: never\n"));
        stage.start("go");
        assert_eq!(stage.exit_code(), code);
        assert!(stage.all("turn-done").is_empty());
        assert_eq!(
            stage.env.git(&stage.folder, &["status", "--porcelain"]),
            "",
            "no core file"
        );
    }
}

#[test]
fn an_exit_code_is_kept() {
    let stage = Stage::new("worker:\n  - exit: 3\n");
    stage.start("go");
    assert_eq!(stage.exit_code(), "3");
    assert!(stage.terminal_after().contains(" icanon"));
}

#[test]
fn a_signal_from_outside_gives_the_terminal_back() {
    let stage = Stage::new("worker:\n  - end turn\n");
    stage.start("go");
    stage.nth("turn-done", 1);
    signal(&stage, "-TERM", pid_of(&stage));
    assert_eq!(stage.exit_code(), "143");
    let terminal = stage.terminal_after();
    assert!(
        terminal.contains(" icanon") && terminal.contains(" echo "),
        "{terminal}"
    );
    assert_eq!(stage.nth("exiting", 1)["signal"], 15);
}

#[test]
fn what_hangs_listens_to_nothing_not_even_to_signals() {
    let stage = Stage::new("worker:\n  - hang:\n    ignore: [TERM, HUP]\n");
    stage.start("go");
    stage.nth("hanging", 1);
    let pid = pid_of(&stage);
    stage.keys(&["hello", "Enter", "C-c", "C-c"]);
    for name in ["-TERM", "-HUP"] {
        signal(&stage, name, pid);
    }
    // Ignored signals are gone the moment they are sent.
    assert!(alive(pid));
    assert!(stage.all("input").is_empty() && stage.all("exiting").is_empty());
    signal(&stage, "-KILL", pid);
    assert_eq!(stage.exit_code(), "137");
}

#[test]
fn a_stopped_agent_goes_on_when_it_is_continued() {
    let stage = Stage::new("worker:\n  - stop\n  - say: awake\n");
    stage.start("go");
    let pid = pid_of(&stage);
    stage.until("stopped", || (stat(pid, STATE)? == "T").then_some(()));
    assert!(stage.all("turn-done").is_empty());
    signal(&stage, "-CONT", pid);
    assert_eq!(stage.nth("turn-done", 1)["text"], "awake");
}

#[test]
fn a_daemon_lives_on_in_a_session_of_its_own() {
    let stage = Stage::new(
        "worker:\n  - daemon: env > env.tmp; mv env.tmp env.txt; exec sleep 1000\n    clear_env: true\n  - daemon: exec sleep 1000\n  - child: exec sleep 1000\n  - exit\n",
    );
    stage.start("go");
    assert_eq!(stage.exit_code(), "0");
    let agent = pid_of(&stage).to_string();
    let daemons: Vec<u64> = stage
        .all("daemon")
        .iter()
        .map(|e| e["daemon"].as_u64().unwrap())
        .collect();
    let child = stage.nth("child", 1)["child"].as_u64().unwrap();
    assert_eq!(daemons.len(), 2);
    let sleeping =
        |pid: u64| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|c| c.starts_with(b"sleep"));
    for pid in daemons.iter().chain([&child]) {
        stage.until("sleep", || sleeping(*pid).then_some(()));
    }
    let group = stat(child, GROUP).unwrap();
    let session = stat(child, SESSION).unwrap();
    for daemon in &daemons {
        assert_ne!(stat(*daemon, SESSION).unwrap(), session);
        assert_ne!(stat(*daemon, GROUP).unwrap(), group);
        let terminal: PathBuf = fs::read_link(format!("/proc/{daemon}/fd/1")).unwrap();
        assert_eq!(terminal, Path::new("/dev/null"));
    }
    assert_ne!(
        group, agent,
        "the shell around the agent leads the group they share"
    );
    let env = stage.file(Path::new("env.txt"));
    assert!(
        !env.contains("HOME=") && !env.contains("SIM_") && !env.contains("STAGE="),
        "{env}"
    );
    for pid in daemons.iter().chain([&child]) {
        signal(&stage, "-KILL", *pid);
    }
}

#[test]
fn a_flood_passes_and_the_agent_goes_on() {
    let stage = Stage::new(
        "worker:\n  - flood: 2MB\n  - flood: 1MB\n    line: none\n  - flood: 200KB\n    kind: bytes\n  - flood: 200KB\n    kind: escapes\n    line: 200\n  - say: dry again\n",
    );
    stage.start("go");
    assert_eq!(stage.nth("turn-done", 1)["text"], "dry again");
    assert!(stage.all("step-failed").is_empty());
    stage.shows("dry again");
    stage.keys(&["more", "Enter"]);
    stage.nth("turn-done", 2);
    let output = stage.without_terminal("go", "");
    assert!(
        output.stdout.len() > (3 << 20) + (400 << 10),
        "{}",
        output.stdout.len()
    );
}

#[test]
fn a_large_paste_arrives_whole() {
    let stage = Stage::new("worker:\n  - end turn\n  - end turn\n");
    stage.start("go");
    stage.nth("turn-done", 1);
    let text = "0123456789abcdé\n".repeat(200 * 1024 / 17);
    stage.paste(&text);
    stage.keys(&["Enter"]);
    assert_eq!(stage.nth("prompt-taken", 2)["text"], text);
}

#[test]
fn an_agent_whose_terminal_is_gone_ends() {
    let stage = Stage::new("worker:\n  - end turn\n");
    stage.start("go");
    stage.nth("turn-done", 1);
    let pid = pid_of(&stage);
    stage.tmux(&["kill-server"]);
    stage.until("the end", || (!alive(pid)).then_some(()));
    assert!(!stage.all("exiting").is_empty());
}
