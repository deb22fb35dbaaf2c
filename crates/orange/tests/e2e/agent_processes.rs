//! What agents start, how they end, and what they leave in their window.

use crate::agent_kills::agents_alive;
use crate::agents::Agents;
use crate::env::TestTask;
use std::fs;

/// A process that anybody can find, whatever it did to its environment: it sleeps for a time of its own.
fn sleepers(env: &Agents) -> usize {
    sleeping(env).len()
}

fn sleeping(env: &Agents) -> Vec<u32> {
    let wanted = format!("sleep\0{}\0", time_of(env));
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line == wanted.as_bytes()
    })
    .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    .collect()
}

fn time_of(env: &Agents) -> String {
    let name = env.root().display().to_string();
    let sum = name
        .bytes()
        .fold(7u64, |sum, byte| (sum * 31 + u64::from(byte)) % 800_000);
    (100_000 + sum).to_string()
}

fn starts_processes(env: &Agents, rest: &str) -> TestTask {
    let time = time_of(env);
    let script = format!(
        "worker:\n  - child: exec sleep {time}\n  - daemon: exec sleep {time}\n  - daemon: exec sleep {time}\n    clear_env: true\n  - run: (sleep {time} &) ; (setsid sleep {time} &)\n{rest}"
    );
    env.start("Start things", &script)
}

#[test]
fn whatever_an_agent_started_is_gone_after_a_cancel() {
    let env = Agents::new();
    let task = starts_processes(&env, "  - wait for: {file: never}\n");
    env.until("all five run", || sleepers(&env) == 5);
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(sleepers(&env), 0);
    assert_eq!(env.count(&task, "hook.failed"), 0);
}

#[test]
fn whatever_an_agent_started_is_gone_after_its_end() {
    let env = Agents::new();
    let task = starts_processes(&env, "  - wait for: {file: go}\n  - exit: 1\n");
    env.until("all five run", || sleepers(&env) == 5);
    fs::write(env.slot_of(&task).join("go"), "").unwrap();
    env.until_event(&task, "agent.crashed");
    assert_eq!(sleepers(&env), 0);
}

#[test]
fn an_agent_that_stops_itself_is_woken() {
    let env = Agents::new();
    let script = "worker:\n  - stop\n  - plan: \"APPROACH: x\"\n  - status: working\n  - wait for: {file: never}\n";
    let task = env.start("Fall asleep", script);
    env.until_status(&task, "working");
}

#[test]
fn an_agent_that_listens_to_no_signal_is_killed() {
    let env = Agents::new();
    let script =
        "worker:\n  - write: ready\n    text: x\n  - hang:\n    ignore: [TERM, HUP, INT]\n";
    let task = env.start("Never end", script);
    let ready = env.slot_of(&task).join("ready");
    env.until("it hangs", || ready.exists());
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(agents_alive(&env), Vec::<u32>::new());
    assert_eq!(env.count(&task, "agent.stopped"), 1);
    assert_eq!(env.windows(), Vec::<String>::new());
}

#[test]
fn fifty_megabytes_on_the_screen_hold_nothing_up() {
    let env = Agents::new();
    let script = "worker:\n  - flood: 50MB\n  - plan: \"APPROACH: x\"\n  - status: working\n  - wait for: {file: never}\n";
    let task = env.start("Print a lot", script);
    env.until_status(&task, "working");
    env.say(&["task", "peek", &task.id, "--lines", "100"]).ok();
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    let screen = task.folder.join("screens");
    let kept = fs::read_dir(screen).unwrap().flatten().next().unwrap();
    assert!(kept.metadata().unwrap().len() < 5 * 1024 * 1024);
}

#[test]
fn a_terminal_left_raw_is_given_back_and_its_shell_is_nobodys_agent() {
    let env = Agents::new();
    let task = env.start("Crash raw", "worker:\n  - crash: SEGV\n");
    env.until_event(&task, "agent.crashed");
    env.until_shell();
    let type_in = |line: &str| env.tmux(&["send-keys", "-t", ":worker", line, "Enter"]);
    type_in("stty -a | grep -o ' icanon' > tty.txt; env > env.txt; echo don''e > done.txt");
    let slot = env.slot_of(&task);
    env.until("the shell did it", || {
        fs::read_to_string(slot.join("done.txt")).is_ok_and(|text| text == "done\n")
    });
    assert_eq!(
        fs::read_to_string(slot.join("tty.txt")).unwrap().trim(),
        "icanon"
    );
    let variables = fs::read_to_string(slot.join("env.txt")).unwrap();
    for name in ["ORANGE_TASK_ID", "ORANGE_ROLE", "ORANGE_RUN_ID"] {
        assert!(!variables.contains(name), "{variables}");
    }
    let global = env.tmux(&["show-environment", "-g"]);
    let global = String::from_utf8_lossy(&global.stdout).into_owned();
    assert!(!global.contains("ORANGE_"), "{global}");
    env.until("what is typed shows", || {
        type_in("echo see''n");
        env.say(&["task", "peek", &task.id])
            .ok()
            .stdout
            .contains("\nseen")
    });
}

/// The tmux server may be of another day: what it knows of models and accounts is not what the person has now.
#[test]
fn what_the_tmux_server_knows_of_accounts_is_not_for_agents() {
    let env = Agents::new();
    env.start("The first", "worker:\n  - wait for: {file: never}\n");
    env.tmux(&["set-environment", "-g", "OLD_API_KEY", "of-another-day"]);
    env.tmux(&["set-environment", "-g", "EDITOR_OF_MINE", "vi"]);
    let script =
        "worker:\n  - run: env > env.txt; echo don''e > done.txt\n  - wait for: {file: never}\n";
    let task = env.start("The second", script);
    let slot = env.slot_of(&task);
    env.until("it is there", || slot.join("done.txt").exists());
    let variables = fs::read_to_string(slot.join("env.txt")).unwrap();
    assert!(variables.contains("EDITOR_OF_MINE"), "{variables}");
    assert!(!variables.contains("of-another-day"), "{variables}");
}

#[test]
fn a_daemon_that_the_user_starts_from_the_shell_left_is_the_users_own() {
    let env = Agents::new();
    let task = env.start("Just end", "worker:\n  - exit: 1\n");
    env.until_event(&task, "agent.crashed");
    env.until_shell();
    let time = time_of(&env);
    let line = format!("cd /; (setsid sleep {time} >/dev/null 2>&1 &)");
    env.tmux(&["send-keys", "-t", ":worker", &line, "Enter"]);
    env.until("it runs", || sleepers(&env) == 1);
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(sleepers(&env), 1, "it lives nowhere near the task");
    for pid in sleeping(&env) {
        env.kill(pid, "-9");
    }
}

/// Set inside the namespace, where /tmp is small.
const INSIDE: &str = "ORANGE_TEST_NAMESPACE";

/// Outside: runs this same test in a mount namespace with a small folder for everything temporary; says false.
pub(crate) fn on_a_small_disk(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new("unshare");
    if rustix::process::geteuid().is_root() {
        command.arg("--mount");
    } else {
        command.args(["--user", "--map-root-user", "--mount"]);
    }
    let line = "mount -t tmpfs -o size=24m orange-test \"$TMPDIR\" && exec \"$0\" \"$@\"";
    let output = command
        .args(["sh", "-c", line])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .env("TMPDIR", folder.path())
        .output()
        .expect("unshare is needed for this test");
    let text = String::from_utf8_lossy(&output.stdout);
    let all = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{all}"
    );
    false
}

#[test]
fn an_agent_that_fills_the_disk_and_ends_is_judged_when_there_is_room() {
    if !on_a_small_disk(
        "agent_processes::an_agent_that_fills_the_disk_and_ends_is_judged_when_there_is_room",
    ) {
        return;
    }
    let env = Agents::new();
    let script = "worker:\n  - plan: \"APPROACH: x\"\n  - status: working\n  - write: kept.txt\n    text: kept\n  - commit: half of it\n  - wait for: {file: go}\n  - fill: big.bin\n    size: 100MB\n  - exit: 1\nworker attempt 2:\n  - hang\n";
    let task = env.start("Fill it up", script);
    env.until_status(&task, "working");
    let slot = env.slot_of(&task);
    fs::write(slot.join("go"), "").unwrap();
    env.until("the disk is full and its agent gone", || {
        let free = rustix::fs::statvfs(&slot).unwrap().f_bfree;
        free == 0 && agents_alive(&env).is_empty()
    });
    env.until("its window has a shell", || {
        let name = env.tmux(&[
            "display-message",
            "-p",
            "-t",
            ":worker",
            "#{pane_current_command}",
        ]);
        let name = String::from_utf8_lossy(&name.stdout).trim().to_owned();
        !name.is_empty() && name != "orange"
    });
    // A last line may still have fitted into the journal; whatever of it did not is made up for.
    fs::remove_file(slot.join("big.bin")).unwrap();
    env.say(&["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    assert_eq!(env.status(&task), "working");
    let log = env.git(&env.shop(), &["log", "--format=%s", &task.branch]);
    assert!(log.contains("half of it"), "{log}");
    env.say(&["task", "respawn", &task.id]).ok();
    assert_eq!(env.count(&task, "agent.spawned"), 2);
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}
