//! Agents that cannot start, or end at once: tmux or the harness is missing, the prompt is huge, names are hostile.

use crate::agent_kills::{agents_alive, ends_clean};
use crate::agents::Agents;
use crate::env::TestTask;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A PATH of one folder, with git, a shell and what else is named.
fn only_these(env: &mut Agents, programs: &[&str]) {
    let bin = env.root().join("only");
    fs::create_dir_all(&bin).unwrap();
    for program in programs {
        let found = env
            .foreign("sh")
            .args(["-c", &format!("command -v {program}")])
            .output();
        let found = String::from_utf8(found.unwrap().stdout).unwrap();
        symlink(found.trim(), bin.join(program)).unwrap();
    }
    env.set_path(&bin);
}

fn executable(env: &Agents, name: &str, text: &str) -> String {
    let path = env.write(name, text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// A task whose agent cannot be started is not made; one that is there stays as it is, takes nothing, and says why.
#[track_caller]
fn not_started(env: &Agents, arguments: &[&str], why: &str) -> TestTask {
    let all = [&["task", "create"], arguments].concat();
    env.say(&all).fails_with(1).says(why);
    assert_eq!(env.list(["--all"]).len(), 0);
    let task = env.create([arguments, &["--no-spawn"]].concat());
    assert_eq!(task.key, "TASK-001");
    env.say(&["task", "spawn", &task.id])
        .fails_with(1)
        .says(why);
    env.say(&["watch", "--once"]).ok();
    env.say(&["task", "why", &task.id]).ok();
    assert_eq!(env.status(&task), "pending");
    assert!(env.show(&task)["workspace"].is_null());
    for event in ["agent.spawned", "agent.crashed", "hook.failed"] {
        assert_eq!(env.count(&task, event), 0, "{event}");
    }
    task
}

#[test]
fn without_tmux_the_task_says_so_and_starts_once_it_is_there() {
    let mut env = Agents::new();
    let path = env.variable("PATH");
    only_these(&mut env, &["git", "sh", "sleep"]);
    let task = not_started(&env, &["Add a form"], "tmux");
    env.say(&["task", "attach", &task.id]).says("tmux");
    env.set_path(path);
    env.say(&["task", "spawn", &task.id]).ok();
    env.until_status(&task, "reviewing");
}

#[test]
fn without_tmux_a_task_is_cancelled_all_the_same() {
    let mut env = Agents::new();
    only_these(&mut env, &["git", "sh", "sleep"]);
    let task = not_started(&env, &["Add a form"], "tmux");
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(env.status(&task), "cancelled");
    assert_eq!(env.count(&task, "hook.failed"), 0);
}

#[test]
fn without_tmux_an_agent_that_runs_is_not_gone() {
    let mut env = Agents::new();
    let task = env.start(
        "Wait for it",
        "worker:\n  - say: here I am\n  - wait for:\n      file: ROOT/go\n",
    );
    let path = env.variable("PATH");
    only_these(&mut env, &["git", "sh", "sleep"]);
    for more in [&[][..], &["--follow"]] {
        env.say(&[&["task", "peek", &task.id], more].concat())
            .fails_with(1)
            .says("error: cannot start tmux: ")
            .says("hint: `apt install tmux`")
            .silent_about("is gone");
    }
    env.say(&["doctor"])
        .fails_with(1)
        .says("! sessions could not be looked at")
        .silent_about("no sessions");
    // A check that found something is no error of Orange's own.
    env.say(&["log", "--component", "command"])
        .ok()
        .says("info  command  1 problem found");
    env.set_path(path);
    env.say(&["task", "peek", &task.id]).ok();
}

#[test]
fn an_old_tmux_is_refused_by_its_version() {
    let mut env = Agents::new();
    executable(&env, "old/tmux", "#!/bin/sh\necho tmux 2.9\n");
    let path = env.variable("PATH");
    env.put_first_in_path(&env.root().join("old"));
    let task = not_started(&env, &["Add a form"], "tmux 2.9 is too old");
    env.set_path(path);
    env.say(&["task", "spawn", &task.id]).ok();
    env.until_status(&task, "reviewing");
}

#[test]
fn a_harness_that_is_not_there() {
    let env = Agents::configured("harness:\n  mine: no-such-agent\n");
    let task = not_started(&env, &["Add a form", "--harness", "mine"], "no-such-agent");
    env.say(&["task", "update", &task.id, "--harness", "sim"])
        .ok();
    env.say(&["task", "spawn", &task.id]).ok();
    env.until_status(&task, "reviewing");
}

#[test]
fn a_program_that_cannot_be_run() {
    let env = Agents::new();
    let plain = env.write("plain", "no program").display().to_string();
    let config = env.home().join("config.yaml");
    let more = format!("harness:\n  plain: {plain}\n");
    fs::write(&config, fs::read_to_string(&config).unwrap() + &more).unwrap();
    not_started(
        &env,
        &["Add a form", "--harness", "plain"],
        "not executable",
    );
}

/// An agent that is gone before anybody could look, twice: then the task is stuck, and every end is explained.
fn ends_at_once(command: &str, why: &str) {
    let env = Agents::new();
    let config = env.home().join("config.yaml");
    let more = format!(
        "harness:\n  quick: {}\n",
        command.replace("ROOT", env.root().to_str().unwrap())
    );
    fs::write(&config, fs::read_to_string(&config).unwrap() + &more).unwrap();
    executable(&env, "wrong", "#!/no/such/interpreter\n");
    let task = env.create(["Add a form", "--harness", "quick"]);
    let crash = env.until_event(&task, "agent.crashed");
    let reason = crash["reason"].as_str().unwrap();
    assert!(reason.contains(why), "{reason}");
    env.until("nothing is left of it", || env.runs().is_empty());
    assert_eq!(env.windows().len(), 1, "a shell is left");
    env.say(&["task", "respawn", &task.id]).ok();
    env.until_status(&task, "stuck");
    env.until("three have run", || env.count(&task, "agent.spawned") == 3);
    env.until("the fixer is over", || {
        env.count(&task, "agent.exited") == 1
    });
    assert_eq!(env.count(&task, "agent.crashed"), 2);
    assert_eq!(env.windows().len(), 1, "shells of earlier runs are closed");
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(env.windows(), Vec::<String>::new());
}

#[test]
fn an_agent_that_ends_at_once_without_a_word() {
    ends_at_once("'true'", "exit code 0");
}

#[test]
fn an_agent_that_fails_at_once() {
    ends_at_once("'false'", "exit code 1");
}

#[test]
fn an_agent_whose_interpreter_is_missing() {
    ends_at_once("ROOT/wrong", "not started");
}

#[test]
fn a_prompt_of_two_hundred_kilobytes_is_read_from_its_file() {
    let env = Agents::new();
    let long = format!(
        "Do {{summary}}.\n{}\nThe last line.\n",
        "word ".repeat(40_000)
    );
    let path = env.shop().join(".orange/prompts/worker.md");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, &long).unwrap();
    env.git(&env.shop(), &["add", "."]);
    env.git(&env.shop(), &["commit", "-q", "-m", "prompt"]);
    let config = env.home().join("config.yaml");
    let own = "harness:\n  own:\n    command: [sh, -c, 'printf %s \"$0\" > argument; cp \"$1\" copy; exec sleep 1000', '{prompt}', '{prompt_file}']\n";
    fs::write(&config, fs::read_to_string(&config).unwrap() + own).unwrap();
    let task = env.create(["Add a form", "--harness", "own"]);
    let slot = env.slot_of(&task);
    let copied = || fs::read_to_string(slot.join("copy")).unwrap_or_default();
    env.until("the prompt is copied", || {
        copied().contains("The last line.")
    });
    assert_eq!(
        copied().trim(),
        long.replace("{summary}", "Add a form").trim()
    );
    let argument = fs::read_to_string(slot.join("argument")).unwrap();
    assert!(
        argument.contains("prompt.md") && argument.len() < 1000,
        "{argument}"
    );
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

#[test]
fn nothing_in_a_summary_or_branch_is_executed() {
    let env = Agents::new();
    let bait = env.root().join("executed");
    let bait = bait.display();
    let summary = format!(
        "It's \"quoted\" $(touch {bait}) `touch {bait}` #(touch {bait}) #{{pane_id}}; touch {bait} 🍊 {{prompt}} %s"
    );
    let branch = format!("a/$(touch${{IFS}}{bait})`x`'\"#(touch${{IFS}}{bait})#{{pid}};🍊%H");
    let listens = crate::agent_kills::WAITS.replacen(
        "wait for: {file: never}",
        "wait for: {message: second}\n  - run: printf %s \"$SIM_MESSAGE\" > heard\n  - wait for: {file: never}",
        1,
    );
    let waits = env.script("waits", &listens);
    let task = env.create([&branch, &summary, "--harness", &waits]);
    assert_eq!(task.branch, branch);
    env.until_status(&task, "working");
    let notes = env.slot_of(&task).join("notes.txt");
    env.until("its worker has written", || notes.exists());
    env.say(&["task", "peek", &task.id])
        .ok()
        .says("orange sim: worker");
    env.say(&["task", "attach", &task.id, "--json"]).ok();
    let text = format!("$(touch {bait}) `touch {bait}` #(touch {bait}); 🍊\nsecond line");
    env.say(&["task", "send", &task.id, &text]).ok();
    let heard = env.slot_of(&task).join("heard");
    env.until("it is typed", || {
        fs::read_to_string(&heard).is_ok_and(|heard| heard == text)
    });
    assert_eq!(agents_alive(&env).len(), 1);
    ends_clean(&env, &task);
    assert!(!env.root().join("executed").exists());
}

#[test]
fn a_session_of_the_users_own_is_left_alone() {
    let env = Agents::new();
    let branch = "taken";
    let mine = ["new-session", "-d", "-s", "shop/taken", "-n", "mine", "cat"];
    assert!(env.tmux(&mine).status.success());
    let waits = env.script("waits", crate::agent_kills::WAITS);
    let task = env.create([branch, "Slow work", "--harness", &waits]);
    env.until_status(&task, "working");
    let notes = env.slot_of(&task).join("notes.txt");
    env.until("its worker has written", || notes.exists());
    assert_eq!(env.windows(), ["shop/taken:mine", "shop/taken-2:worker"]);
    env.say(&["task", "send", &task.id, "for the agent only"])
        .ok();
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(env.windows(), ["shop/taken:mine"]);
    let seen = env.tmux(&["capture-pane", "-p", "-t", "=shop/taken:"]);
    assert_eq!(String::from_utf8_lossy(&seen.stdout).trim(), "");
}
