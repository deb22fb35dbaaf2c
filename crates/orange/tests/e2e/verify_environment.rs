//! The environment of a check: that of the person who started the task, whoever hands the work over and whoever runs the
//! check.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::verify::{checked, handed_over, runs, with_check, worked_on};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Uses programs by their names, and tells in what it ran.
const CHECK: &str = "\
env > ROOT/env.new
mv ROOT/env.new ROOT/env
echo run >> ROOT/runs
make --version > /dev/null 2>&1
git --version > /dev/null
exit 0
";

/// A worker that puts its own programs first and fills its environment before it hands over.
const HOSTILE: &str = r##"
worker:
  - plan: "APPROACH: x"
  - status: working
  - write: a.txt
    text: a
  - commit: work
  - handoff: "DONE: x"
  - run: |
      mkdir -p ROOT/evil ROOT/evil-home
      for name in sh bash env make git tmux; do
        printf '#!/bin/sh\necho "%s $*" >> ROOT/evil-ran\nexit 0\n' $name > ROOT/evil/$name
        chmod +x ROOT/evil/$name
      done
      printf 'echo startup >> ROOT/evil-ran\n' > ROOT/evil/startup
      orange=$(command -v orange)
      export PATH=ROOT/evil HOME=ROOT/evil-home XDG_CONFIG_HOME=ROOT/evil-home
      export LD_PRELOAD=ROOT/evil/none.so CARGO_HOME=ROOT/evil-home ENV=ROOT/evil/startup BASH_ENV=ROOT/evil/startup
      export MAKEFLAGS=-n SHELLOPTS=noexec GIT_EXEC_PATH=ROOT/evil GIT_SSH=ROOT/evil/sh GIT_CONFIG_GLOBAL=ROOT/evil/startup
      export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=ROOT/evil GIT_DIR=ROOT/evil
      exec $orange complete
reviewer:
  - wait for: {file: never}
"##;

fn seen(env: &Agents) -> String {
    fs::read_to_string(env.root().join("env")).unwrap()
}

fn environments(env: &Agents) -> Vec<PathBuf> {
    let folder = env.home().join("environments");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn outcome(env: &Agents, task: &TestTask) -> String {
    let told = env.until_event(task, "task.verified");
    told["result"]["outcome"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_of_the_agent_that_hands_over_reaches_the_check() {
    let mut env = with_check(CHECK);
    env.set("PERSON_SAYS", "hello");
    let task = env.start("Cheat", HOSTILE);
    env.until_status(&task, "agent-review");
    assert_eq!(outcome(&env, &task), "passed");
    let ran = fs::read_to_string(env.root().join("evil-ran")).unwrap_or_default();
    assert_eq!(ran, "", "programs of the agent were started");
    let seen = seen(&env);
    assert!(!seen.contains("evil"), "{seen}");
    let has = |line: &str| seen.lines().any(|found| found == line);
    assert!(has("PERSON_SAYS=hello"), "{seen}");
    assert!(has("GIT_NO_REPLACE_OBJECTS=1"), "{seen}");
    let path = env.variable("PATH").into_string().unwrap();
    assert!(has(&format!("PATH={path}")), "{seen}");
    for name in [
        "ORANGE_TASK_ID",
        "ORANGE_ROLE",
        "ORANGE_RUN_ID",
        "MAKEFLAGS",
    ] {
        assert!(!seen.contains(&format!("{name}=")), "{name}: {seen}");
    }
    // Its reviewer was found where the person's programs are.
    env.until_event(&task, "agent.spawned");
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(environments(&env), Vec::<PathBuf>::new());
}

#[test]
fn an_agent_that_removes_the_kept_environment_gains_nothing() {
    let env = with_check(CHECK);
    let removing = HOSTILE.replace("mkdir -p", "rm -r ROOT/home/orange/environments; mkdir -p");
    let task = env.start("Remove it", &removing);
    env.until_status(&task, "agent-review");
    assert_eq!(outcome(&env, &task), "passed");
    let ran = fs::read_to_string(env.root().join("evil-ran")).unwrap_or_default();
    assert_eq!(ran, "", "programs of the agent were started");
    assert!(!seen(&env).contains("evil"), "{}", seen(&env));
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

#[test]
fn a_person_who_asks_for_the_check_gives_it_a_newer_environment() {
    let mut env = checked();
    env.set("PERSON_SAYS", "hello");
    let task = handed_over(&env, "login", "a.txt");
    outcome(&env, &task);
    assert!(seen(&env).contains("PERSON_SAYS=hello\n"));
    let kept = environments(&env);
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((kept.len(), mode(&kept[0])), (1, 0o600));
    env.set("PERSON_SAYS", "newer");
    env.say(&["task", "verify", &task.id, "--again"]).ok();
    assert!(seen(&env).contains("PERSON_SAYS=newer\n"));
    // Whoever looks next does not count.
    env.set("PERSON_SAYS", "somebody else");
    env.commit(&env.slot_of(&task), "b.txt", "more");
    env.allow("hold");
    task.append("## Review\n\nVerdict: FAIL\n");
    env.move_to(&task, "working").ok();
    env.bring_on(&task, "agent-review");
    env.until("it runs", || runs(&env) == 3);
    assert!(seen(&env).contains("PERSON_SAYS=newer\n"));
    fs::remove_file(env.root().join("hold")).unwrap();
    env.until("it is over", || env.count(&task, "task.verified") == 3);
}

#[test]
fn without_a_known_person_it_runs_in_a_minimal_environment_and_says_so() {
    let mut env = checked();
    env.set("PERSON_SAYS", "hello");
    let task = worked_on(&env, "login", "a.txt");
    let kept = environments(&env);
    // One that Orange did not write is none.
    let text = fs::read_to_string(&kept[0]).unwrap();
    fs::write(
        &kept[0],
        text.replace("PERSON_SAYS=hello", "PERSON_SAYS=forged"),
    )
    .unwrap();
    env.bring_on(&task, "agent-review");
    assert_eq!(outcome(&env, &task), "passed");
    let minimal = seen(&env);
    assert!(!minimal.contains("PERSON_SAYS"), "{minimal}");
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n";
    assert!(minimal.contains(path), "{minimal}");
    env.say(&["task", "show", &task.id])
        .ok()
        .says("in a minimal environment");
    // Such a result says nothing about the person's own.
    env.say(&["task", "verify", &task.id])
        .ok()
        .silent_about("minimal");
    assert!(seen(&env).contains("PERSON_SAYS=hello\n"));
    assert_eq!(runs(&env), 2);
}
