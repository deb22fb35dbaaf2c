//! Agents, their windows and the processes around them being killed: what every next command makes of it.

use crate::agents::Agents;
use crate::env::TestTask;
use std::fs;
use std::path::PathBuf;

/// Plans, commits, leaves a file uncommitted, and waits; so does the next one.
pub(crate) const WAITS: &str = r#"
worker:
  - plan: "APPROACH: slowly"
  - status: working
  - write: kept.txt
    text: committed
  - commit: half of it
  - write: notes.txt
    text: not committed
  - wait for: {file: never}
worker attempt 2:
  - wait for: {file: never}
"#;

/// A task whose worker is in the middle of its work.
pub(crate) fn at_work(env: &Agents) -> TestTask {
    let task = env.start("Slow work", WAITS);
    env.until_status(&task, "working");
    let notes = env.slot_of(&task).join("notes.txt");
    env.until("its worker has written", || notes.exists());
    task
}

/// Live scripted agents.
pub(crate) fn agents_alive(env: &Agents) -> Vec<u32> {
    let all = env.processes().into_iter();
    all.filter(|(_, line)| line.contains(" sim --round"))
        .map(|(pid, _)| pid)
        .collect()
}

fn server(env: &Agents) -> u32 {
    let said = env.tmux(&["display-message", "-p", "#{pid}"]);
    let text = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    text.parse().unwrap()
}

/// Work that a kill may not cost: the commit, and the file that is in none.
#[track_caller]
pub(crate) fn work_is_there(env: &Agents, task: &TestTask) {
    let log = env.git(&env.shop(), &["log", "--format=%s", &task.branch]);
    assert!(log.contains("half of it"), "{log}");
    let notes = fs::read_to_string(env.slot_of(task).join("notes.txt")).unwrap();
    assert_eq!(notes, "not committed");
}

/// After a worker was killed: counted once, explained, and respawned where it was.
#[track_caller]
fn goes_on(env: &Agents, task: &TestTask, look: &[&str]) {
    let slot = env.slot_of(task);
    env.say(look).ok();
    env.until_event(task, "agent.crashed");
    for _ in 0..2 {
        env.say(&["watch", "--once"]).ok();
        env.say(&["task", "why", &task.id]).ok();
    }
    assert_eq!(env.status(task), "working");
    assert_eq!(env.count(task, "agent.crashed"), 1);
    assert_eq!(env.count(task, "agent.spawned"), 1);
    env.until("no agent is alive", || agents_alive(env).is_empty());
    env.until("the run is forgotten", || env.runs().is_empty());
    env.say(&["task", "why", &task.id])
        .ok()
        .says("orange respawn");
    work_is_there(env, task);
    env.say(&["task", "respawn", &task.id]).ok();
    env.until("one agent is alive", || agents_alive(env).len() == 1);
    assert_eq!(env.count(task, "agent.spawned"), 2);
    assert_eq!(env.slot_of(task), slot);
    work_is_there(env, task);
    env.say(&["task", "peek", &task.id]).ok();
    ends_clean(env, task);
}

/// Cancels the task: nothing of it is left but its work.
#[track_caller]
pub(crate) fn ends_clean(env: &Agents, task: &TestTask) {
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(env.status(task), "cancelled");
    assert_eq!(agents_alive(env), Vec::<u32>::new());
    assert_eq!(env.windows(), Vec::<String>::new());
    assert_eq!(env.runs(), Vec::<PathBuf>::new());
    let shown = env.say(&["task", "show", &task.id, "--json"]).ok().json();
    assert_eq!(shown["task"]["workspace"], serde_json::Value::Null);
    let saved = ["for-each-ref", "--format=%(refname)", "refs/orange/rescue"];
    let refs = env.git(&env.shop(), &saved);
    let notes = format!("{}:notes.txt", refs.lines().last().unwrap_or_default());
    assert_eq!(env.git(&env.shop(), &["show", &notes]), "not committed");
}

const WATCH: &[&str] = &["watch", "--once"];

#[test]
fn a_window_that_the_user_closes() {
    let env = Agents::new();
    let task = at_work(&env);
    env.tmux(&["kill-window", "-t", ":worker"]);
    goes_on(&env, &task, WATCH);
}

#[test]
fn a_session_that_the_user_ends() {
    let env = Agents::new();
    let task = at_work(&env);
    let session = format!("=shop/{}", task.branch);
    assert!(env.tmux(&["kill-session", "-t", &session]).status.success());
    goes_on(&env, &task, &["task", "why", &task.id]);
}

#[test]
fn a_tmux_server_that_is_told_to_end() {
    let env = Agents::new();
    let task = at_work(&env);
    env.tmux(&["kill-server"]);
    goes_on(&env, &task, WATCH);
}

#[test]
fn a_tmux_server_that_is_killed() {
    let env = Agents::new();
    let task = at_work(&env);
    env.kill(server(&env), "-9");
    goes_on(&env, &task, &["task", "why", &task.id]);
}

#[test]
fn a_run_agent_that_is_killed() {
    let env = Agents::new();
    let task = at_work(&env);
    env.kill(env.run_agent(&task, "worker"), "-9");
    goes_on(&env, &task, WATCH);
}

#[test]
fn a_run_agent_that_is_killed_and_only_a_respawn_afterwards() {
    let env = Agents::new();
    let task = at_work(&env);
    env.kill(env.run_agent(&task, "worker"), "-9");
    env.say(&["task", "respawn", &task.id]).ok();
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    assert_eq!(env.count(&task, "agent.spawned"), 2);
    env.until("one agent is alive", || agents_alive(&env).len() == 1);
    work_is_there(&env, &task);
    ends_clean(&env, &task);
}

#[test]
fn an_agent_that_is_killed_is_noticed_with_nobody_watching() {
    let env = Agents::new();
    let task = at_work(&env);
    env.kill(agents_alive(&env)[0], "-9");
    let crash = env.until_event(&task, "agent.crashed");
    assert!(
        crash["reason"].as_str().unwrap().contains("signal 9"),
        "{crash}"
    );
    goes_on(&env, &task, &["task", "why", &task.id]);
}

/// As a machine that lost its power: nothing of all this has a last word.
fn power_cut(env: &Agents) {
    env.until("no errand is under way", || {
        let mut all = env.processes().into_iter();
        all.all(|(_, line)| !line.contains(" errand "))
    });
    let server = server(env);
    let mut all = vec![server];
    env.kill(server, "-STOP");
    // Stopped first, so that none of them sees another one die; looked for again, because one may have been starting
    // another.
    loop {
        let new: Vec<u32> = env.processes().into_iter().map(|(pid, _)| pid).collect();
        let new: Vec<u32> = new.into_iter().filter(|pid| !all.contains(pid)).collect();
        if new.is_empty() {
            break;
        }
        for pid in &new {
            signal(env, *pid, "-STOP");
        }
        all.extend(new);
    }
    // Children before their parents: the system wakes what is stopped when its parent dies.
    all.sort_unstable_by_key(|pid| (*pid == server, std::cmp::Reverse(*pid)));
    for pid in &all {
        signal(env, *pid, "-9");
    }
    env.until("everything is gone", || {
        env.processes().is_empty() && !fs::exists(format!("/proc/{server}/cmdline")).unwrap()
    });
}

/// Locks as a git of the agent has them in the middle of a commit.
fn locks_of_a_commit(env: &Agents, task: &TestTask) -> [PathBuf; 2] {
    let own = env.git(
        &env.slot_of(task),
        &["rev-parse", "--path-format=absolute", "--git-path", "index"],
    );
    let branch = format!(".git/refs/heads/{}.lock", task.branch);
    let locks = [
        PathBuf::from(format!("{}.lock", own.trim())),
        env.shop().join(branch),
    ];
    for lock in &locks {
        fs::write(lock, "").unwrap();
    }
    locks
}

#[test]
fn locks_of_a_git_that_died_with_its_agent_are_removed() {
    let env = Agents::new();
    let task = at_work(&env);
    let locks = locks_of_a_commit(&env, &task);
    let of_the_user = [".git/index.lock", ".git/refs/heads/other.lock"];
    let of_the_user = of_the_user.map(|lock| env.shop().join(lock));
    for lock in &of_the_user {
        fs::write(lock, "").unwrap();
    }
    env.say(&["task", "list"]).ok();
    assert!(locks.iter().all(|lock| lock.exists()), "its agent is alive");
    power_cut(&env);
    env.say(&["task", "list"]).ok();
    assert_eq!(locks.iter().find(|lock| lock.exists()), None);
    for lock in of_the_user {
        fs::remove_file(lock).expect("a lock that nobody knows stays");
    }
    goes_on(&env, &task, WATCH);
}

#[test]
fn locks_of_a_git_that_is_ended_with_its_agent_are_removed() {
    let env = Agents::new();
    let task = at_work(&env);
    let locks = locks_of_a_commit(&env, &task);
    env.kill(agents_alive(&env)[0], "-9");
    env.until_event(&task, "agent.crashed");
    assert_eq!(locks.iter().find(|lock| lock.exists()), None);
    goes_on(&env, &task, WATCH);
}

/// To a process that may have ended by itself.
fn signal(env: &Agents, pid: u32, signal: &str) {
    let mut command = env.foreign("kill");
    let _ = command.args([signal, &pid.to_string()]).output().unwrap();
}

#[test]
fn everything_at_once() {
    let env = Agents::new();
    let task = at_work(&env);
    power_cut(&env);
    goes_on(&env, &task, WATCH);
}

#[test]
fn everything_at_once_and_the_runs_with_it() {
    let env = Agents::new();
    let task = at_work(&env);
    power_cut(&env);
    fs::remove_dir_all(env.home().join("runs")).unwrap();
    goes_on(&env, &task, WATCH);
}

#[test]
fn everything_at_once_in_the_middle_of_a_review() {
    let env = Agents::new();
    let script = r#"
reviewer:
  - wait for: {file: never}
"#;
    let task = env.start("Be reviewed", script);
    env.until_status(&task, "agent-review");
    env.until("its reviewer is there", || {
        let roles = task.history();
        let reviewers = roles.iter().filter(|event| event["role"] == "reviewer");
        reviewers
            .filter(|event| event["type"] == "agent.spawned")
            .count()
            == 1
    });
    power_cut(&env);
    env.say(WATCH).ok();
    assert_eq!(env.status(&task), "agent-review");
    assert_eq!(env.count(&task, "agent.crashed"), 1, "the reviewer");
    assert_eq!(env.count(&task, "agent.spawned"), 3, "the next reviewer");
    env.until("one agent is alive", || agents_alive(&env).len() == 1);
    env.say(WATCH).ok();
    assert_eq!(env.count(&task, "agent.spawned"), 3);
    assert_eq!(
        env.windows(),
        [format!("shop/{}:review-1", task.branch)],
        "in a session of its own"
    );
}

#[test]
fn messages_survive_it_all() {
    let env = Agents::new();
    let script = r#"
worker:
  - plan: "APPROACH: slowly"
  - status: working
  - hang
worker attempt 2:
  - run: printf %s "$SIM_PROMPT" > prompt.txt
  - wait for: {file: never}
"#;
    let task = env.start("Hears nothing", script);
    env.until_status(&task, "working");
    env.say(&["task", "send", &task.id, "use the blue button"])
        .ok()
        .says("queued");
    power_cut(&env);
    env.say(WATCH).ok();
    assert_eq!(env.count(&task, "message.failed"), 1);
    env.say(&["task", "respawn", &task.id]).ok();
    let prompt = env.slot_of(&task).join("prompt.txt");
    env.until("the prompt is written", || {
        fs::read_to_string(&prompt).is_ok_and(|text| text.contains("blue button"))
    });
    let delivered = task.last("message.delivered");
    assert_eq!(delivered["reason"], "in the prompt of the next run");
    assert_eq!(env.count(&task, "message.delivered"), 1);
}
