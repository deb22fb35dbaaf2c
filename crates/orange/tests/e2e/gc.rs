//! `orange gc`: what has expired goes, and nothing else. Times are written into files and refs, not waited for.

use crate::env::{TestEnvironment, TestTask, names_in};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: u64 = 24 * 60 * 60;

fn age(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * DAY);
    let file = fs::File::open(path).unwrap();
    file.set_modified(then).unwrap();
}

/// A time so many days ago, in the shape of names and of files.
fn days_ago(env: &TestEnvironment, days: i64) -> (String, String) {
    let say = |format: &str| {
        let when = format!("{days} days ago");
        let output = env
            .foreign("date")
            .args(["-u", "-d", &when, format])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    (say("+%Y%m%dT%H%M%S.000Z"), say("+%Y-%m-%dT%H:%M:%S.000Z"))
}

/// A rescue as Orange makes it, with a time of its own. Gives its ref.
fn rescue(env: &TestEnvironment, task: &str, days: i64) -> String {
    let (name, time) = days_ago(env, days);
    let message = format!(
        "rescue: a test\n\nOrange-Reason: a test\nOrange-Task: {task}\nOrange-Time: {time}\nOrange-Files: 1\nOrange-Commits: 0\n"
    );
    let commit = env.git(
        &env.shop(),
        &["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", &message],
    );
    let reference = format!("refs/orange/rescue/{task}/{name}");
    env.git(&env.shop(), &["update-ref", &reference, &commit]);
    reference
}

/// Copies that belong to a rescue, in a folder.
fn copies(folder: &Path, reference: &str) -> PathBuf {
    let copy = folder.join(reference.rsplit('/').next().unwrap());
    fs::create_dir_all(copy.join("nested/.git")).unwrap();
    fs::write(copy.join("nested/work.txt"), "work\n").unwrap();
    copy
}

fn refs(env: &TestEnvironment) -> Vec<String> {
    let format = "--format=%(refname)";
    let text = env.git(&env.shop(), &["for-each-ref", format, "refs/orange/"]);
    text.lines().map(str::to_owned).collect()
}

/// Deletes a task and writes down that this was so many days ago.
fn deleted(env: &TestEnvironment, task: &TestTask, days: i64) -> PathBuf {
    env.orange(["task", "delete", &task.id]).ok();
    let folder = env.home().join("trash/shop").join(&task.id);
    let journal = folder.join("history.jsonl");
    let (_, time) = days_ago(env, days);
    let aged: Vec<String> = fs::read_to_string(&journal)
        .unwrap()
        .lines()
        .map(|line| {
            if line.contains("task.deleted") {
                json!({"type": "task.deleted", "timestamp": time}).to_string()
            } else {
                line.to_owned()
            }
        })
        .collect();
    fs::write(&journal, aged.join("\n") + "\n").unwrap();
    if days > 0 {
        age(&journal, days.unsigned_abs());
    }
    folder
}

fn kind(env: &TestEnvironment, dry_run: bool, kind: &str) -> Value {
    let mut words = vec!["gc", "--json"];
    words.extend(dry_run.then_some("--dry-run"));
    let said = env.orange(words).ok().json();
    assert_eq!(said["gc"]["dry_run"], dry_run);
    let kinds = said["gc"]["kinds"].as_array().unwrap();
    kinds
        .iter()
        .find(|one| one["kind"] == kind)
        .unwrap()
        .clone()
}

#[test]
fn nothing_is_past_its_time() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["gc"]), @"nothing has expired");
    assert!(!env.home().join("tasks").exists());
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    rescue(&env, &task.id, 29);
    assert_snapshot!(env.orange(["gc"]), @"nothing has expired");
    assert_snapshot!(env.orange(["gc", "--dry-run"]), @"nothing has expired");
    assert_eq!(refs(&env).len(), 1);
}

#[test]
fn rescues_go_by_the_time_that_is_written_in_them() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    let old = rescue(&env, &task.id, 31);
    let young = rescue(&env, &task.id, 29);
    // A clock that went wrong.
    let future = rescue(&env, &task.id, -400);
    let raw = task.folder.join("rescued");
    let (old_copy, young_copy) = (copies(&raw, &old), copies(&raw, &young));
    // Somebody else's ref, below the same name.
    env.git(
        &env.shop(),
        &["update-ref", "refs/orange/rescue/mine/note", "HEAD"],
    );
    // The age of the file says nothing.
    age(&young_copy, 100);

    let told = kind(&env, true, "rescue");
    assert_eq!(told["count"], 1);
    assert!(told["bytes"].as_u64().unwrap() > 0);
    assert!(old_copy.is_dir() && refs(&env).contains(&old));

    env.orange(["gc"])
        .ok()
        .says("removed 1 rescue older than 30 days");
    assert!(!old_copy.exists() && young_copy.is_dir());
    let mut left = vec![young, future, "refs/orange/rescue/mine/note".to_owned()];
    left.sort();
    assert_eq!(refs(&env), left);
    assert_eq!(kind(&env, false, "rescue")["count"], 0);
}

#[test]
fn a_rescue_is_kept_as_long_as_the_settings_say() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    rescue(&env, &task.id, 6);
    // Of a task that this home does not know: another home may keep it for longer.
    let of_others = rescue(&env, "unknown", 20);
    // Slots are called the same in every home.
    let of_a_slot = rescue(&env, "shop--1", 20);
    env.write("home/orange/config.yaml", "rescue:\n  keep_days: 5\n");
    assert_eq!(kind(&env, false, "rescue")["count"], 1);
    assert_eq!(refs(&env), [of_a_slot, of_others]);
    rescue(&env, "unknown", 31);
    assert_eq!(kind(&env, false, "rescue")["count"], 1);
    assert_eq!(refs(&env).len(), 2);
}

#[test]
fn a_repository_that_is_elsewhere_keeps_its_rescues_and_their_copies() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    let old = rescue(&env, &task.id, 31);
    let copy = copies(&task.folder.join("rescued"), &old);
    let stray = copies(&env.home().join("workspaces/.rescued/gone"), &old);
    let moved = env.root().join("moved");
    fs::rename(env.shop(), &moved).unwrap();
    let said = env.call(["gc"]).at(env.root()).run().ok();
    said.says("kept rescues of project shop");
    assert!(copy.is_dir() && stray.is_dir());
    fs::rename(&moved, env.shop()).unwrap();
    env.orange(["gc"]).ok();
    assert!(!copy.exists() && !stray.exists() && refs(&env).is_empty());
}

#[test]
fn deleted_tasks_go_and_their_keys_are_not_used_again() {
    let env = TestEnvironment::new();
    let tasks: Vec<TestTask> = ["Long ago", "Lately", "Tomorrow"]
        .iter()
        .map(|summary| env.create([*summary]))
        .collect();
    let young = deleted(&env, &tasks[1], 29);
    let future = deleted(&env, &tasks[2], -1);
    // The last: a deletion empties the trash of what has expired.
    let old = deleted(&env, &tasks[0], 31);
    let said = env.orange(["gc", "--dry-run"]).ok();
    said.says("would remove 1 deleted task older than 30 days")
        .says("shop:TASK-001 Long ago");
    assert!(old.is_dir());
    env.orange(["gc"]).ok().says("removed 1 deleted task");
    assert!(!old.exists() && young.is_dir() && future.is_dir());
    assert!(!env.home().join("trash/.gone").exists());
    env.orange(["task", "restore", "TASK-002"]).ok();
    assert_eq!(env.create(["The next one"]).key, "TASK-004");
}

#[test]
fn a_deleted_task_stays_while_its_copies_belong_to_a_rescue() {
    let env = TestEnvironment::new();
    env.write("home/orange/config.yaml", "trash:\n  keep_days: 7\n");
    let task = env.create(["With a nested repository"]);
    let reference = rescue(&env, &task.id, 20);
    copies(&task.folder.join("rescued"), &reference);
    let folder = deleted(&env, &task, 10);
    let told = kind(&env, false, "trash");
    assert_eq!(told["count"], 0, "{told}");
    let why = told["kept"][0]["reason"].as_str().unwrap();
    assert!(why.contains("belong to a rescue"), "{why}");
    assert!(folder.join("rescued").is_dir() && refs(&env).len() == 1);
    // When the rescue has expired, both go.
    env.write(
        "home/orange/config.yaml",
        "trash:\n  keep_days: 7\nrescue:\n  keep_days: 15\n",
    );
    env.orange(["gc"]).ok();
    assert!(!folder.exists() && refs(&env).is_empty());
}

#[test]
fn a_deleted_task_stays_while_its_repository_is_elsewhere() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    let reference = rescue(&env, &task.id, 40);
    let folder = deleted(&env, &task, 40);
    let copy = copies(&folder.join("rescued"), &reference);
    let away = env.root().join("away");
    fs::rename(env.shop(), &away).unwrap();
    env.call(["gc"]).at(env.root()).run().ok();
    assert!(copy.is_dir());
    fs::rename(&away, env.shop()).unwrap();
    env.orange(["gc"]).ok();
    assert_eq!(refs(&env), Vec::<String>::new());
    assert!(!folder.exists());
}

#[test]
fn old_screens_go_but_for_the_last_of_a_task_that_is_at_work() {
    let env = TestEnvironment::new();
    let at_work = env.create(["At work"]);
    let over = env.create(["Over"]);
    for task in [&at_work, &over] {
        let screens = task.folder.join("screens");
        fs::create_dir(&screens).unwrap();
        for (name, days) in [
            ("worker-1", 50),
            ("worker-2", 40),
            ("reviewer-3", 35),
            ("worker-4", 3),
        ] {
            let path = screens.join(format!("{name}.txt"));
            fs::write(&path, "$ _\n").unwrap();
            age(&path, days);
        }
        fs::write(screens.join("notes.md"), "mine\n").unwrap();
        age(&screens.join("notes.md"), 90);
    }
    env.orange(["task", "cancel", &over.id]).ok();
    assert_eq!(kind(&env, true, "screens")["count"], 5);
    assert_eq!(kind(&env, false, "screens")["count"], 5);
    let left = |task: &TestTask| names_in(&task.folder.join("screens"));
    assert_eq!(
        left(&at_work),
        ["notes.md", "reviewer-3.txt", "worker-4.txt"]
    );
    assert_eq!(left(&over), ["notes.md", "worker-4.txt"]);
}

#[test]
fn rotated_logs_go_and_the_log_stays() {
    let env = TestEnvironment::new();
    for (name, days) in [
        ("orange.log.1", 29),
        ("orange.log.2", 31),
        ("orange.log.mine", 90),
        // Only names that rotating gives.
        ("orange.log.02", 90),
        ("orange.log.+2", 90),
        ("orange.log.2026", 90),
    ] {
        let path = env.home().join(name);
        fs::write(&path, "{}\n").unwrap();
        age(&path, days);
    }
    let told = kind(&env, false, "log");
    assert_eq!(told["count"], 1);
    let logs = names_in(&env.home());
    let logs: Vec<&String> = logs
        .iter()
        .filter(|name| name.starts_with("orange.log."))
        .collect();
    let mine = ["+2", "02", "1", "2026", "mine"].map(|end| format!("orange.log.{end}"));
    assert_eq!(logs, mine.iter().collect::<Vec<_>>());
}

#[test]
fn a_kill_at_any_step_leaves_nothing_half_and_the_next_one_goes_on() {
    let env = TestEnvironment::new();
    let kept = env.create(["Stays"]);
    let gone = env.create(["Goes"]);
    let old = rescue(&env, &kept.id, 40);
    let copy = copies(&kept.folder.join("rescued"), &old);
    let trashed = deleted(&env, &gone, 40);
    let mut killed = Vec::new();
    for point in ["gc.rescues_forgotten", "gc.trash_renamed"] {
        let mut command = env.foreign(crate::run::program().to_str().unwrap());
        let output = command
            .arg("gc")
            .env("ORANGE_CRASH_AT", point)
            .current_dir(env.shop())
            .output()
            .unwrap();
        killed.push(output.status.code().is_none());
        // Neither a ref without its copies nor half a task.
        assert!(!refs(&env).contains(&old) || copy.is_dir());
        let half = trashed.is_dir() && !trashed.join("history.jsonl").exists();
        assert!(!half);
        env.orange(["task", "list", "--all"]).ok();
    }
    assert_eq!(killed, [true, true]);
    // Whoever looks for deleted tasks does not find the one that is going.
    env.orange(["task", "restore", &gone.id]).fails_with(4);
    env.orange(["gc"]).ok();
    assert!(refs(&env).is_empty() && !copy.exists() && !trashed.exists());
    assert!(!env.home().join("trash/.gone").exists());
    env.orange(["doctor"]).ok().says("all is well");
}

#[test]
fn what_could_not_be_looked_at_is_not_called_in_order() {
    let env = TestEnvironment::new();
    env.orange(["workspace", "init", "1"]).ok();
    let without_git = |line: &str| env.call(line.split(' ')).var("PATH", "/nonexistent").run();
    assert_snapshot!(without_git("gc --dry-run"), @"
    could not look at rescues of project shop: cannot start git: it is not installed, or not on PATH
    nothing else has expired
    ------- stderr -------
    error: 1 could not be looked at
    hint: the list says why; what is left goes the next time
    [exit status: 1]
    ");
    without_git("workspace list")
        .ok()
        .says("unknown: git cannot tell")
        .silent_about("clean");
}

#[test]
fn a_ref_that_cannot_be_removed_keeps_its_copies() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    let old = rescue(&env, &task.id, 40);
    let copy = copies(&task.folder.join("rescued"), &old);
    let lock = env.write(&format!("shop/.git/{old}.lock"), "");
    env.orange(["gc"])
        .fails_with(1)
        .says("kept rescues of project shop: ")
        .says("error: 1 could not be removed");
    assert!(refs(&env).contains(&old) && copy.is_dir());
    let said = env.orange(["gc", "--json"]).fails_with(1).json();
    assert_eq!(said["gc"]["kinds"][0]["kept"][0]["failed"], true);
    fs::remove_file(lock).unwrap();
    env.orange(["gc"]).ok();
    assert!(refs(&env).is_empty() && !copy.exists());
}

#[test]
fn two_at_once_do_not_get_into_each_others_way() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    for days in 31..61 {
        let old = rescue(&env, &task.id, days);
        copies(&task.folder.join("rescued"), &old);
    }
    let mut both = [env.call(["gc"]).spawn(), env.call(["gc"]).spawn()];
    for one in &mut both {
        assert!(one.wait().unwrap().success());
    }
    assert!(refs(&env).is_empty());
    assert_eq!(names_in(&task.folder.join("rescued")), [""; 0]);
}

#[test]
fn an_agent_removes_nothing() {
    let mut env = TestEnvironment::new();
    let task = env.create(["A task"]);
    rescue(&env, &task.id, 40);
    env.set("ORANGE_TASK_ID", task.id.as_str());
    env.set("ORANGE_ROLE", "worker");
    env.orange(["gc", "--json"]).refuses(3, "not_allowed");
    assert_eq!(refs(&env).len(), 1);
}

#[test]
fn a_rescue_that_a_pending_task_goes_on_with_stays() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    fs::write(slot.join("work.txt"), "not committed").unwrap();
    env.cancel(&task).ok();
    // As if that had been long ago.
    let young = refs(&env).pop().unwrap();
    let (name, time) = days_ago(&env, 40);
    let shop = env.shop();
    let body = env.git(&shop, &["show", "-s", "--format=%B", &young]);
    let body: Vec<String> = body
        .lines()
        .map(|line| {
            if line.starts_with("Orange-Time: ") {
                format!("Orange-Time: {time}")
            } else {
                line.to_owned()
            }
        })
        .collect();
    let (tree, parent) = (format!("{young}^{{tree}}"), format!("{young}^1"));
    let message = body.join("\n") + "\n";
    let commit = env.git(
        &shop,
        &["commit-tree", &tree, "-p", &parent, "-m", &message],
    );
    let old = format!("refs/orange/rescue/{}/{name}", task.id);
    env.git(&shop, &["update-ref", &old, &commit]);
    env.git(&shop, &["update-ref", "-d", &young]);
    let journal = fs::read_to_string(task.journal()).unwrap();
    fs::write(task.journal(), journal.replace(&young, &old)).unwrap();

    let next = env.create(["--from", &task.key, "--with-work"]);
    env.orange(["gc"]).ok();
    assert_eq!(refs(&env), [old]);
    // Once the work is in its slot, the rescue goes like any other.
    let slot = env.start(&next);
    assert_eq!(
        fs::read_to_string(slot.join("work.txt")).unwrap(),
        "not committed"
    );
    env.orange(["gc"]).ok();
    assert_eq!(refs(&env), [""; 0]);
}

#[test]
fn the_seals_of_a_task_go_with_it() {
    let env = TestEnvironment::new();
    let (gone, kept) = (env.create(["gone"]), env.create(["kept"]));
    for task in [&gone, &kept] {
        env.cancel(task).ok();
    }
    let folder = deleted(&env, &gone, 31);
    env.orange(["gc"]).ok();
    assert!(!folder.exists());
    let database = rusqlite::Connection::open(env.home().join("orange.db")).unwrap();
    let mut rows = database
        .prepare("SELECT task_id FROM journal_seals")
        .unwrap();
    let ids = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let ids: Vec<String> = ids.map(Result::unwrap).collect();
    assert_eq!(ids, [kept.id]);
}
