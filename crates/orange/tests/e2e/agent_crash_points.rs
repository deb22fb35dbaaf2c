//! `kill -9` of orange itself between two steps that concern agents: whoever comes next goes on from there, and
//! nobody starts a second agent.

use crate::agent_kills::{WAITS, agents_alive, at_work, ends_clean, work_is_there};
use crate::agents::Agents;
use crate::env::TestTask;
use crate::run::Run;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;

/// Runs orange until it kills itself at this point.
#[track_caller]
fn killed_at(env: &Agents, point: &str, arguments: &[&str]) -> Run {
    let call = env.call(arguments.iter().copied());
    let run = call.var("ORANGE_CRASH_AT", point).run();
    let name = point.split(':').next().unwrap();
    run.fails_with(-1).says(&format!("killed at {name}"))
}

fn only_task(env: &Agents) -> TestTask {
    let listed = env.list(["--all"]);
    assert_eq!(listed.len(), 1, "{listed:?}");
    env.task_of(&listed[0])
}

/// A task whose `create` was killed at this point; nothing has looked at it since.
fn created_until(env: &Agents, point: &str) {
    let script = env.script("waits", WAITS);
    let create = ["task", "create", "Slow work", "--harness", &script];
    killed_at(env, point, &create);
}

#[track_caller]
fn exactly_one_agent(env: &Agents, task: &TestTask) {
    env.until_status(task, "working");
    let notes = env.slot_of(task).join("notes.txt");
    env.until("its worker has written", || notes.exists());
    for _ in 0..2 {
        env.say(&["watch", "--once"]).ok();
    }
    assert_eq!(env.count(task, "agent.spawned"), 1);
    assert_eq!(env.count(task, "agent.crashed"), 0);
    assert_eq!(agents_alive(env).len(), 1);
    assert_eq!(env.windows(), [format!("shop/{}:worker", task.branch)]);
    assert_eq!(env.runs().len(), 1);
    env.say(&["task", "send", &task.id, "hello"])
        .ok()
        .says("queued");
    env.say(&["task", "peek", &task.id])
        .ok()
        .says("orange sim: worker");
    work_is_there(env, task);
    ends_clean(env, task);
}

#[test]
fn create_is_killed_around_the_start_of_its_agent() {
    for point in ["spawn.written", "spawn.opened", "spawn.started"] {
        let env = Agents::new();
        created_until(&env, point);
        env.say(&["watch", "--once"]).ok();
        exactly_one_agent(&env, &only_task(&env));
    }
}

#[test]
fn a_look_at_the_queue_that_was_killed_is_made_by_the_next_command() {
    let env = Agents::new();
    env.orange(["config", "set", "agents.limit", "1"]).ok();
    let script = env.script("waits", WAITS);
    let first = env.create(["First", "--harness", &script]);
    env.until_status(&first, "working");
    let queued = env.create(["Second", "--harness", &script]);
    assert_eq!(env.status(&queued), "pending");
    let resolve = env.call(["resolve", &first.key, "--message", "it is in"]);
    resolve.var("ORANGE_CRASH_AT", "queue.taken").run().ok();
    let taken = env.home().join("queue.taken");
    env.until("the queue was looked at", || taken.exists());
    assert_eq!(env.status(&queued), "pending");
    env.orange(["ls"]).ok();
    env.until_status(&queued, "working");
    env.until("the look is over", || !taken.exists());
}

#[test]
fn any_command_goes_on_where_create_was_killed() {
    let env = Agents::new();
    created_until(&env, "spawn.written");
    let task = only_task(&env);
    env.say(&["task", "why", &task.id]).ok();
    exactly_one_agent(&env, &task);
}

/// A tmux whose windows begin only when a file is gone.
fn slow_windows(env: &mut Agents) -> std::path::PathBuf {
    let gate = env.write("gate", "");
    let real = which(env, "tmux");
    let text = format!(
        "#!/bin/bash\nall=()\nfor word; do\n  all+=(\"$word\")\n  \
         [ \"$word\" = -- ] && all+=(sh -c 'while test -e {}; do sleep 0.01; done; exec \"$@\"' sh)\n\
         done\nexec {real} \"${{all[@]}}\"\n",
        gate.display()
    );
    let shim = env.write("bin/tmux", text);
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    env.put_first_in_path(&env.root().join("bin"));
    gate
}

fn which(env: &Agents, program: &str) -> String {
    let found = env
        .foreign("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    String::from_utf8(found.unwrap().stdout)
        .unwrap()
        .trim()
        .to_owned()
}

#[test]
fn a_window_that_is_slow_to_begin_is_waited_for_and_not_opened_twice() {
    let mut env = Agents::new();
    let gate = slow_windows(&mut env);
    created_until(&env, "spawn.opened");
    assert_eq!(env.windows().len(), 1);
    let watch = env.call(["watch", "--once"]).spawn();
    env.until("somebody goes on with it", || {
        // It holds the task's lock while it waits.
        let folders = fs::read_dir(env.tasks().join("shop")).unwrap().flatten();
        let mut locks = folders.map(|entry| entry.path().join(".lock"));
        locks.any(|lock| File::open(lock).is_ok_and(|file| file.try_lock().is_err()))
    });
    fs::remove_file(gate).unwrap();
    assert!(watch.wait_with_output().unwrap().status.success());
    exactly_one_agent(&env, &only_task(&env));
}

#[test]
fn respawn_is_killed_around_the_start_of_its_agent() {
    for point in ["spawn.written", "spawn.opened", "spawn.started"] {
        let env = Agents::new();
        let task = at_work(&env);
        env.kill(agents_alive(&env)[0], "-9");
        env.until_event(&task, "agent.crashed");
        killed_at(&env, point, &["task", "respawn", &task.id]);
        if point != "spawn.written" {
            env.until("its agent is there", || agents_alive(&env).len() == 1);
        }
        // The user tries again: there is one by now, or it is started.
        let again = env.say(&["task", "respawn", &task.id]);
        match point {
            "spawn.written" => again.ok(),
            _ => again.fails_with(3).says("is running"),
        };
        env.until("its agent is there", || agents_alive(&env).len() == 1);
        env.say(&["watch", "--once"]).ok();
        assert_eq!(env.count(&task, "agent.spawned"), 2, "{point}");
        assert_eq!(env.count(&task, "agent.crashed"), 1, "{point}");
        assert_eq!(agents_alive(&env).len(), 1, "{point}");
        work_is_there(&env, &task);
        ends_clean(&env, &task);
    }
}

#[test]
fn an_agent_whose_respawn_was_killed_is_found_by_the_monitor_and_judged_at_its_end() {
    let env = Agents::new();
    let task = at_work(&env);
    env.kill(agents_alive(&env)[0], "-9");
    env.until_event(&task, "agent.crashed");
    killed_at(&env, "spawn.started", &["task", "respawn", &task.id]);
    env.say(&["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.spawned"), 2);
    env.kill(env.run_agent(&task, "worker"), "-9");
    env.say(&["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.crashed"), 2);
    env.until_status(&task, "stuck");
}

/// A task whose worker wrote plan and handoff and was then killed together with all that could judge it.
fn unjudged(env: &Agents, script: &str) -> (TestTask, String) {
    let task = env.start("Be judged", script);
    let log = env.slot_of(&task).join("ready");
    env.until("it is ready", || log.exists());
    let run = env.run_folder(&task, "worker");
    env.kill(env.run_agent(&task, "worker"), "-9");
    let name = run.file_name().unwrap().to_string_lossy().into_owned();
    (task, name)
}

const WROTE_ALL: &str = r#"
worker:
  - plan: "APPROACH: at once"
  - handoff: "DONE: all"
  - write: ready
    text: x
  - hang
reviewer:
  - wait for: {file: never}
"#;

#[test]
fn a_kill_between_plan_and_handoff_of_a_dead_worker_loses_neither() {
    let env = Agents::new();
    let (task, run) = unjudged(&env, WROTE_ALL);
    killed_at(&env, "exit.advanced", &["errand", "tend", &run]);
    assert_eq!(env.status(&task), "working");
    env.say(&["watch", "--once"]).ok();
    env.until_status(&task, "agent-review");
    assert_eq!(env.count(&task, "agent.exited"), 1);
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    assert_eq!(env.count(&task, "agent.spawned"), 2);
    assert_eq!(env.runs().len(), 1, "the reviewer's");
}

#[test]
fn the_second_advance_of_a_dead_worker_is_finished_by_any_command() {
    let env = Agents::new();
    let (task, run) = unjudged(&env, WROTE_ALL);
    killed_at(&env, "exit.advanced:2", &["errand", "tend", &run]);
    env.say(&["task", "why", &task.id]).ok();
    env.until_status(&task, "agent-review");
    assert_eq!(env.count(&task, "agent.exited"), 1);
    assert_eq!(env.count(&task, "agent.spawned"), 2);
    assert_eq!(env.runs().len(), 1, "the reviewer's");
}

#[test]
fn a_crash_is_counted_once_and_one_too_many_makes_it_stuck_whoever_is_killed() {
    let env = Agents::new();
    let script = "worker:\n  - write: ready\n    text: x\n  - hang\n";
    let (task, run) = unjudged(&env, script);
    killed_at(&env, "exit.counted", &["errand", "tend", &run]);
    env.say(&["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    assert_eq!(env.status(&task), "planning");
    assert_eq!(env.runs().len(), 0);
    let ready = env.slot_of(&task).join("ready");
    fs::remove_file(&ready).unwrap();
    env.say(&["task", "respawn", &task.id]).ok();
    // An agent that had not begun when it was killed is judged in another way.
    env.until("it is ready again", || ready.exists());
    env.kill(env.run_agent(&task, "worker"), "-9");
    let run = env.run_folder(&task, "worker");
    let run = run.file_name().unwrap().to_string_lossy().into_owned();
    killed_at(&env, "exit.counted", &["errand", "tend", &run]);
    assert_eq!(env.status(&task), "planning");
    env.say(&["watch", "--once"]).ok();
    env.until_status(&task, "stuck");
    assert_eq!(env.count(&task, "agent.crashed"), 2);
    assert_eq!(
        env.count(&task, "agent.spawned"),
        3,
        "the last one is to fix it"
    );
}

#[test]
fn a_message_is_handed_over_though_its_sender_was_killed() {
    let env = Agents::new();
    let script = "worker:\n  - plan: \"APPROACH: x\"\n  - status: working\n  - wait for: {message: blue}\n  - write: heard\n    text: x\n  - hang\n";
    let task = env.start("Listen well", script);
    env.until_status(&task, "working");
    killed_at(
        &env,
        "message.journalled",
        &["task", "send", &task.id, "blue"],
    );
    let heard = env.slot_of(&task).join("heard");
    env.say(&["task", "why", &task.id]).ok();
    env.until("it is heard", || heard.exists());
    assert_eq!(env.count(&task, "message"), 1);
    env.until_event(&task, "message.delivered");
}

#[test]
fn an_errand_that_is_killed_is_made_up_for() {
    let env = Agents::new();
    let task = at_work(&env);
    let lock = File::open(task.folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    env.kill(agents_alive(&env)[0], "-9");
    let errand = || {
        let all = env.processes().into_iter();
        all.filter(|(_, line)| line.contains(" errand tend"))
            .map(|(pid, _)| pid)
            .next()
    };
    env.until("its errand waits", || errand().is_some());
    env.kill(errand().unwrap(), "-9");
    env.until("the errand is gone", || errand().is_none());
    drop(lock);
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    env.say(&["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    assert_eq!(env.runs().len(), 0);
    work_is_there(&env, &task);
    ends_clean(&env, &task);
}

#[test]
fn a_turn_that_ended_while_nobody_could_look_is_seen_to_by_the_monitor() {
    let env = Agents::new();
    let script = "worker:\n  - plan: \"APPROACH: x\"\n  - status: working\n  - wait for: {file: go}\n  - say: shall I go on?\n  - end turn\n";
    let task = env.start("Ask back", script);
    env.until_status(&task, "working");
    let go = env.slot_of(&task).join("go");
    let lock = File::open(task.folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    fs::write(go, "").unwrap();
    let errand = || {
        let all = env.processes().into_iter();
        all.filter(|(_, line)| line.contains(" errand tend"))
            .map(|(pid, _)| pid)
            .next()
    };
    env.until("its errand waits", || errand().is_some());
    env.kill(errand().unwrap(), "-9");
    env.until("the errand is gone", || errand().is_none());
    drop(lock);
    env.say(&["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.nudged"), 1);
    env.say(&["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.nudged"), 1);
}
