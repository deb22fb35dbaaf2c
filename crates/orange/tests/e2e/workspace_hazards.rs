//! Ways in which work could get lost, each met by somebody once: every test here fails if one of them opens again.

use super::env::{TestEnvironment, TestTask};
use std::fs;
use std::path::PathBuf;

fn started(env: &TestEnvironment) -> (TestTask, PathBuf) {
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "planning");
    let slot = env.slot_of(&task);
    (task, slot)
}

fn cancel(env: &TestEnvironment, task: &TestTask) {
    env.orange(["task", "cancel", &task.id, "--yes"]).ok();
}

/// Every file of every rescue, with its content.
fn rescued(env: &TestEnvironment, path: &str) -> Vec<String> {
    let refs = env.git(
        &env.shop(),
        &["for-each-ref", "--format=%(refname)", "refs/orange/rescue"],
    );
    let has = |reference: &&str| {
        let list = env.git(&env.shop(), &["ls-tree", "-r", "--name-only", reference]);
        list.lines().any(|name| name == path)
    };
    refs.lines()
        .filter(has)
        .map(|reference| env.git(&env.shop(), &["show", &format!("{reference}:{path}")]))
        .collect()
}

#[test]
fn what_only_the_branch_ignores_is_saved() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env);
    env.commit(&slot, ".gitignore", "notes/\n");
    fs::create_dir(slot.join("notes")).unwrap();
    fs::write(slot.join("notes/findings.txt"), "precious").unwrap();
    cancel(&env, &task);
    assert_eq!(rescued(&env, "notes/findings.txt"), ["precious"]);
    assert!(!slot.join("notes").exists());
}

#[test]
fn a_fetch_leaves_branches_and_rescues_alone_whatever_the_settings() {
    let env = TestEnvironment::unregistered();
    let mirror = env.root().join("mirror.git");
    let path = mirror.to_str().unwrap();
    env.git(&env.root(), &["clone", "-q", "--mirror", "shop", path]);
    env.git(&mirror, &["config", "fetch.prune", "true"]);
    let orange = |words: &[&str]| env.call(words.iter().copied()).at(&mirror).run().ok();
    orange(&["project", "add", "."]);
    orange(&["task", "create", "first", "The first"]);
    orange(&["task", "update", "TASK-001", "--status", "planning"]);
    let slot = env.home().join("workspaces/mirror--1");
    let head = env.commit(&slot, "work.txt", "work");
    fs::write(slot.join("untracked.txt"), "untracked").unwrap();
    orange(&["task", "cancel", "TASK-001", "--yes"]);
    let before = env.git(&mirror, &["for-each-ref", "refs/heads", "refs/orange"]);
    assert!(before.contains(&head) && before.contains("refs/orange/rescue"));
    orange(&["task", "create", "second", "The second"]);
    let after = env.git(&mirror, &["for-each-ref", "refs/heads", "refs/orange"]);
    assert_eq!(after, before);
}

#[test]
fn a_worktree_of_the_users_is_not_forgotten_with_the_pools() {
    let env = TestEnvironment::new();
    let disk = env.root().join("disk");
    fs::create_dir(&disk).unwrap();
    let own = disk.join("own");
    env.git(
        &env.shop(),
        &["worktree", "add", "-q", "--detach", own.to_str().unwrap()],
    );
    let unmounted = env.root().join("unmounted");
    fs::rename(&disk, &unmounted).unwrap();
    env.orange(["workspace", "gc"]).ok();
    env.orange(["doctor"]).ok();
    fs::rename(&unmounted, &disk).unwrap();
    env.git(&own, &["status"]);
}

#[test]
fn commits_of_a_slot_that_was_deleted_are_found_again() {
    for repair in [true, false] {
        let env = TestEnvironment::new();
        let (task, slot) = started(&env);
        env.git(&slot, &["checkout", "-q", "--detach"]);
        let head = env.commit(&slot, "detached.txt", "on no branch");
        fs::remove_dir_all(&slot).unwrap();
        if repair {
            env.orange(["doctor", "--repair"]).ok();
        }
        cancel(&env, &task);
        let all = env.git(&env.shop(), &["rev-list", "--all"]);
        assert!(all.lines().any(|commit| commit == head), "repair: {repair}");
    }
}

#[test]
fn the_target_is_nobodys_branch() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env);
    env.update(&task, &["--branch", "main"])
        .fails_with(3)
        .says("main is the branch the work goes to");
    // Nor is a branch renamed under the feet of whoever has it checked out.
    env.git(&slot, &["checkout", "-q", "--detach"]);
    env.git(&env.shop(), &["checkout", "-q", "login"]);
    env.update(&task, &["--branch", "sign-in"])
        .fails_with(3)
        .says("is checked out at");
    let own = env.git(&env.shop(), &["symbolic-ref", "--short", "HEAD"]);
    assert_eq!(own.trim(), "login");
}

#[test]
fn a_slot_with_somebody_in_it_is_saved_and_left_alone() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env);
    fs::write(slot.join("being-written.txt"), "so far").unwrap();
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .current_dir(&slot)
        .spawn()
        .unwrap();
    let run = env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    let there = slot.join("being-written.txt").exists();
    let next = env.create(["next", "The next one"]);
    let other = env.move_to(&next, "planning");
    child.kill().unwrap();
    child.wait().unwrap();
    run.says("is not tidied yet").says("(sleep 1000)");
    assert!(there);
    assert_eq!(rescued(&env, "being-written.txt"), ["so far"]);
    other.ok().says("slot     shop--2");
    let third = env.create(["third", "One more"]);
    env.move_to(&third, "planning")
        .ok()
        .says("slot     shop--1");
    assert!(!slot.join("being-written.txt").exists());
}

#[test]
fn a_slot_stays_its_tasks_when_a_retry_fails() {
    let env = TestEnvironment::new();
    let config = env.home().join("config.yaml");
    fs::write(&config, "workspace:\n  setup: exit 7\n").unwrap();
    let task = env.create(["login", "Add a login form"]);
    env.move_to(&task, "planning")
        .fails_with(1)
        .says("exit code 7");
    let slot = env.slot_of(&task);
    fs::write(slot.join("work.txt"), "work").unwrap();
    env.git(&slot, &["checkout", "-q", "--detach"]);
    env.git(&env.shop(), &["checkout", "-q", "login"]);
    env.orange(["task", "retry-hooks", &task.id]).fails_with(1);
    assert_eq!(env.show(&task)["workspace"], "shop--1");
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
    fs::write(&config, "").unwrap();
    env.orange(["task", "retry-hooks", &task.id]).ok();
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
}

#[test]
fn locks_that_a_killed_git_left_are_no_obstacle() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env);
    fs::write(slot.join("work.txt"), "work").unwrap();
    let folder = env.git(&slot, &["rev-parse", "--absolute-git-dir"]);
    for name in ["index.lock", "HEAD.lock"] {
        fs::write(PathBuf::from(folder.trim()).join(name), "").unwrap();
    }
    cancel(&env, &task);
    assert_eq!(rescued(&env, "work.txt"), ["work"]);
}

#[test]
fn what_an_editor_wrote_over_the_link_counts_like_any_edit() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env);
    let link = slot.join("TASK.md");
    let text = fs::read_to_string(&link).unwrap();
    let edited = text.replace("summary: Add a login form", "summary: Add a better form");
    let edited = edited.replace("status: planning", "status: done");
    fs::remove_file(&link).unwrap();
    fs::write(&link, edited).unwrap();
    env.update(&task, &["--priority", "high"]).ok();
    let shown = env.show(&task);
    assert_eq!(shown["summary"], "Add a better form");
    assert_eq!(shown["status"], "planning");
    assert!(link.is_symlink());
}

#[test]
fn a_task_file_of_the_repositorys_own_is_not_the_tasks_text() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env);
    task.append("## Notes\n\nmine\n");
    // Excluded for the link's sake, so that adding it takes force.
    fs::write(env.shop().join("TASK.md"), "of the repository\n").unwrap();
    env.git(&env.shop(), &["add", "--force", "TASK.md"]);
    env.git(&env.shop(), &["commit", "-q", "-m", "a file of that name"]);
    fs::remove_file(slot.join("TASK.md")).unwrap();
    env.git(&slot, &["merge", "-q", "main"]);
    env.update(&task, &["--priority", "high"])
        .ok()
        .says("the link to the task is called ORANGE_TASK.md");
    assert!(task.text().contains("mine"), "{}", task.text());
    let own = fs::read_to_string(slot.join("TASK.md")).unwrap();
    assert_eq!(own, "of the repository\n");
    assert!(slot.join("ORANGE_TASK.md").is_symlink());
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
}

/// A git that goes on after Orange was killed must not meet the next one in the same folder.
#[test]
fn a_git_that_outlives_its_orange_is_waited_for() {
    let env = TestEnvironment::new();
    let shop = env.shop();
    let gate = env.root().join("gate");
    let begun = env.root().join("begun");
    let wait = format!(
        "sh -c 'touch {0}; until [ -e {1} ]; do sleep 0.05; done; cat'",
        begun.display(),
        gate.display()
    );
    fs::write(shop.join(".gitattributes"), "*.slow filter=slow\n").unwrap();
    env.git(&shop, &["add", "."]);
    env.commit(&shop, "a.slow", "slow\n");
    env.git(&shop, &["config", "filter.slow.smudge", &wait]);
    let task = env.create(["login", "Add a login form"]);
    let mut first = env
        .call(["task", "update", &task.id, "--status", "planning"])
        .spawn();
    while !begun.exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let next = env.call(["task", "list"]).spawn();
    fs::write(&gate, "").unwrap();
    let next = next.wait_with_output().unwrap();
    assert!(next.status.success(), "{next:?}");
    let slot = env.slot_of(&task);
    fs::write(slot.join("work.txt"), "work").unwrap();
    env.orange(["doctor"]).ok().says("all is well");
    assert_eq!(fs::read_to_string(slot.join("a.slow")).unwrap(), "slow\n");
    assert!(slot.join("work.txt").exists());
}

#[test]
fn excludes_that_are_no_text_stay_as_they_are() {
    let env = TestEnvironment::new();
    let file = env.shop().join(".git/info/exclude");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, b"caf\xe9\n*.tmp").unwrap();
    started(&env);
    let text = fs::read(&file).unwrap();
    assert!(text.starts_with(b"caf\xe9\n*.tmp\n# orange:"), "{text:?}");
}

#[test]
fn a_task_that_needs_a_slot_at_once_is_not_made_without_one() {
    let env = TestEnvironment::new();
    env.orange(["project", "update", "shop", "--pool-size", "1"])
        .ok();
    started(&env);
    env.git(&env.shop(), &["branch", "theirs"]);
    env.orange([
        "task",
        "create",
        "theirs",
        "Look at it",
        "--status",
        "agent-review",
    ])
    .fails_with(3)
    .says("no slot of shop is free");
    assert_eq!(env.keys(["--all"]), ["TASK-001"]);
}

#[test]
fn teardown_is_not_run_twice_after_a_kill() {
    let env = TestEnvironment::new();
    let log = env.root().join("teardowns");
    let config = format!(
        "workspace:\n  teardown: echo $ORANGE_BRANCH >> {}\n",
        log.display()
    );
    fs::write(env.home().join("config.yaml"), config).unwrap();
    let (task, _) = started(&env);
    let killed = env
        .call(["task", "cancel", &task.id, "--yes"])
        .var("ORANGE_CRASH_AT", "release.parked")
        .run();
    killed.says("killed at release.parked");
    env.orange(["task", "list"]).ok();
    assert_eq!(env.show(&task)["workspace"], serde_json::Value::Null);
    assert_eq!(fs::read_to_string(&log).unwrap(), "login\n");
}

/// A setup command has a session of its own, so Ctrl-C does not reach it; the next command ends it.
#[test]
fn a_setup_that_outlives_its_orange_is_ended_before_another_runs() {
    let env = TestEnvironment::new();
    let pid = env.root().join("pid");
    let config = env.home().join("config.yaml");
    let setup = format!(
        "echo $$ > {0}.new && mv {0}.new {0} && exec sleep 1000",
        pid.display()
    );
    fs::write(&config, format!("workspace:\n  setup: {setup:?}\n")).unwrap();
    let task = env.create(["login", "Add a login form"]);
    let mut first = env
        .call(["task", "update", &task.id, "--status", "planning"])
        .spawn();
    // It is known to be running, and runs.
    let running = task.folder.join("setup.running");
    let is_known = || fs::read_to_string(&running).is_ok_and(|text| !text.is_empty());
    while !pid.exists() || !is_known() {
        assert!(first.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    fs::write(&config, "").unwrap();
    env.orange(["task", "list"]).ok();
    assert_eq!(env.show(&task)["workspace"], "shop--1");
    let pid = fs::read_to_string(&pid).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // Gone, or dead and waiting for whoever inherited it to notice.
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert!(!running.exists());
}
