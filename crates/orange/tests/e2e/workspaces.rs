//! The pool: who gets which slot, when none is left, and what becomes of its file.

use crate::env::{TestEnvironment, names_in};
use crate::run::program;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

/// A process that lives in a folder until it is dropped.
struct Occupant(Child);

impl Occupant {
    fn of(env: &TestEnvironment, folder: &Path) -> Occupant {
        let mut sleep = env.foreign("sleep");
        let child = sleep.arg("600").current_dir(folder).spawn().unwrap();
        // It is in the folder before it is `sleep`: wait for its name, so that messages have it.
        let name = format!("/proc/{}/comm", child.id());
        while fs::read_to_string(&name).unwrap_or_default() != "sleep\n" {
            std::thread::yield_now();
        }
        Occupant(child)
    }
}

impl Drop for Occupant {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn exhausted() {
    let env = TestEnvironment::new();
    env.pool_size(2);
    env.started("one");
    env.started("two");
    let task = env.create(["three", "Work three"]);
    let events = task.events();
    assert_snapshot!(env.move_to(&task, "planning"), @"
    ------- stderr -------
    error: cannot move TASK-003 to planning: all 2 slots are taken, by TASK-001, TASK-002
    hint: end one of them, or raise the limit: `orange project update shop --pool-size N`
    [exit status: 3]
    ");
    assert_eq!(task.events(), events);
    assert!(!env.slot(3).exists());
    env.pool_size(3);
    assert_eq!(env.start(&task), env.slot(3));
}

#[test]
fn two_want_the_last_slot() {
    let env = TestEnvironment::new();
    env.pool_size(1);
    for round in 0..20 {
        let tasks = [0, 1].map(|n| env.create([&format!("b{round}-{n}"), "Some work"]));
        let racing = tasks.clone().map(|task| {
            let mut orange = env.foreign(program().to_str().unwrap());
            orange.current_dir(env.shop()).stdin(Stdio::null());
            orange.args(["task", "update", &task.id, "--status", "planning"]);
            orange.stdout(Stdio::piped()).stderr(Stdio::piped());
            orange.spawn().unwrap()
        });
        let codes = racing.map(|child| child.wait_with_output().unwrap().status.code());
        let won: Vec<_> = (0..2).filter(|n| codes[*n] == Some(0)).collect();
        let [winner] = won[..] else {
            panic!("round {round}: {codes:?}");
        };
        assert_eq!(codes[1 - winner], Some(3), "round {round}");
        let loser = &tasks[1 - winner];
        assert_eq!(env.show(loser)["status"], "pending");
        assert_eq!(env.pool_entry(1)["task_id"], tasks[winner].id);
        assert_eq!(env.branch_at(&env.slot(1)), tasks[winner].branch);
        for task in &tasks {
            env.cancel(task).ok();
        }
    }
}

#[test]
fn a_slot_with_the_same_dependencies_comes_first() {
    let env = TestEnvironment::new();
    let shop = env.shop();
    env.commit(&shop, "Cargo.lock", "old");
    env.git(&shop, &["tag", "old"]);
    let (one, _) = env.started("one");
    let (two, _) = env.started("two");
    env.cancel(&two).ok();
    env.commit(&shop, "Cargo.lock", "new");
    env.cancel(&one).ok();
    // The first slot is parked with the new dependencies, the second with the old ones.
    let third = env.create(["three", "Work three", "--base", "old"]);
    assert_eq!(env.start(&third), env.slot(2));
    let (_, slot) = env.started("four");
    assert_eq!(slot, env.slot(1));
}

#[test]
fn the_slot_it_had_before_comes_first() {
    let env = TestEnvironment::new();
    let (one, _) = env.started("one");
    let (two, slot) = env.started("two");
    assert_eq!(slot, env.slot(2));
    env.cancel(&one).ok();
    env.cancel(&two).ok();
    // By now no task comes back to a slot, so the pool is told of one.
    let again = env.create(["again", "Work again"]);
    env.edit_pool(|pool| pool["workspaces"]["shop--2"]["last_task"] = json!(again.id));
    assert_eq!(env.start(&again), slot);
}

/// A start that came to nothing leaves no trace in the pool.
#[test]
fn a_reservation_that_came_to_nothing() {
    let env = TestEnvironment::new();
    let (before, _) = env.started("before");
    env.cancel(&before).ok();
    let task = env.create(["work", "Some work"]);
    env.call(["task", "update", &task.id, "--status", "planning"])
        .var("ORANGE_CRASH_AT", "reserved")
        .run()
        .fails_with(-1);
    assert_eq!(env.pool_entry(1)["task_id"], task.id);
    env.orange(["ls"]).ok();
    assert_eq!(env.pool_entry(1)["status"], "available");
    assert_eq!(env.pool_entry(1)["last_task"], before.id);
    assert_eq!(env.show(&task)["status"], "pending");
}

#[test]
fn a_slot_that_somebody_lives_in() {
    let env = TestEnvironment::new();
    env.pool_size(2);
    env.orange(["workspace", "init"]).ok();
    let below = env.slot(1).join("below");
    fs::create_dir(&below).unwrap();
    let mut sleep = Occupant::of(&env, &below);
    let pid = sleep.0.id();
    let task = env.create(["work", "Some work"]);
    env.move_to(&task, "planning").ok().says(&format!(
        "shop--1 is passed over: process {pid} (sleep 600) lives in it"
    ));
    assert_eq!(env.slot_of(&task), env.slot(2));
    env.orange(["workspace", "list"])
        .ok()
        .says(&format!("process {pid} (sleep 600) in it"));
    let other = env.create(["other", "Other work"]);
    env.move_to(&other, "planning")
        .fails_with(3)
        .says("no free slot of shop can be used")
        .says(&format!("shop--1 (process {pid}"));
    assert_eq!(sleep.0.try_wait().unwrap(), None, "it was ended");
    drop(sleep);
    assert_eq!(env.start(&other), env.slot(1));
}

#[test]
fn a_pool_that_shrank() {
    let env = TestEnvironment::new();
    env.pool_size(3);
    let (one, _) = env.started("one");
    let (two, _) = env.started("two");
    let (_, third) = env.started("three");
    env.pool_size(1);
    env.cancel(&one).ok();
    let task = env.create(["work", "Some work"]);
    env.move_to(&task, "planning")
        .fails_with(3)
        .says("by TASK-002, TASK-003");
    env.cancel(&two).ok();
    // What is beyond its size goes, but not what somebody has.
    env.orange(["workspace", "gc"]).ok().says("removed shop--2");
    assert!(env.slot(1).exists() && !env.slot(2).exists() && third.exists());
    assert_eq!(env.git(&third, &["status", "--porcelain"]), "");
}

#[test]
fn its_file_deleted() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.orange(["workspace", "init", "2"]).ok();
    fs::remove_file(env.pool_file()).unwrap();
    env.orange(["workspace", "list"]).ok().says(&task.key);
    // Somebody else does not get the slot.
    let (_, other) = env.started("other");
    assert_ne!(other, slot);
    assert_eq!(env.pool_entry(1)["task_id"], task.id);
    fs::write(slot.join("new.txt"), "untracked").unwrap();
    env.cancel(&task).ok();
    assert_eq!(env.branch_at(&slot), "");
    assert_eq!(
        env.rescued(&env.shop(), &task, "new.txt").as_deref(),
        Some("untracked")
    );
}

#[test]
fn its_file_damaged() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    for rubbish in ["{\"workspaces\": {\"shop--1\"", "", "[1, 2]"] {
        fs::write(env.pool_file(), rubbish).unwrap();
        // Looking changes nothing.
        env.orange(["workspace", "list"]).ok().says(&task.key);
        assert_eq!(fs::read_to_string(env.pool_file()).unwrap(), rubbish);
        let (other, folder) = env.started("other");
        assert_ne!(folder, slot);
        assert_eq!(env.pool_entry(1)["task_id"], task.id);
        let kept = names_in(&env.home().join("workspaces"));
        let kept: Vec<_> = kept
            .iter()
            .filter(|name| name.contains("damaged"))
            .collect();
        let text = |name: &&String| fs::read_to_string(env.home().join("workspaces").join(name));
        assert!(
            kept.iter().any(|name| text(name).unwrap() == rubbish),
            "{kept:?}"
        );
        env.cancel(&other).ok();
    }
    env.cancel(&task).ok();
    assert_eq!(env.branch_at(&slot), "");
}

/// What other programs keep in it stays.
#[test]
fn its_file_with_more_in_it() {
    let env = TestEnvironment::new();
    env.pool_size(3);
    env.started("one");
    env.edit_pool(|pool| {
        pool["colour"] = "blue".into();
        pool["workspaces"]["shop--1"]["mood"] = "good".into();
        pool["workspaces"]["shop--2"] = json!({"status": "broken"});
    });
    let (_, slot) = env.started("two");
    // A word that we do not know means: hands off.
    assert_eq!(slot, env.slot(3));
    let pool: Value = serde_json::from_slice(&fs::read(env.pool_file()).unwrap()).unwrap();
    assert_eq!(pool["colour"], "blue");
    assert_eq!(pool["workspaces"]["shop--1"]["mood"], "good");
    assert_eq!(
        pool["workspaces"]["shop--2"],
        json!({"status": "broken", "epoch": 0, "prepared": 0})
    );
}

/// A home of the program before this one: no ids, no epochs, and no word of them in the journal.
fn of_the_seeds() -> (TestEnvironment, crate::env::TestTask) {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    crate::task_place::settle(&env, &task, "shop--1");
    let entry = json!({"workspaces": {"shop--1": {"status": "bound", "task": "shop/login"}}});
    fs::write(env.pool_file(), entry.to_string()).unwrap();
    (env, task)
}

#[test]
fn its_file_of_the_seeds() {
    let (env, task) = of_the_seeds();
    env.orange(["workspace", "list"]).ok().says("shop/login");
    let (_, other) = env.started("other");
    assert_eq!(other, env.slot(2));
    fs::write(env.slot(1).join("new.txt"), "untracked").unwrap();
    env.cancel(&task).ok();
    assert_eq!(env.pool_entry(1)["status"], "available");
    assert_eq!(env.branch_at(&env.slot(1)), "");
    assert_eq!(
        env.rescued(&env.shop(), &task, "new.txt").as_deref(),
        Some("untracked")
    );
}

#[test]
fn its_file_of_the_seeds_and_a_branch_renamed() {
    let (env, task) = of_the_seeds();
    env.git(&env.slot(1), &["branch", "-m", "sign-in"]);
    env.update(&task, &["--priority", "high"]).ok();
    assert_eq!(env.pool_entry(1)["task"], "shop/sign-in");
    env.cancel(&task).ok();
    assert_eq!(env.pool_entry(1)["status"], "available");
    assert_eq!(env.branch_at(&env.slot(1)), "");
}

/// A task that lost its slot to another one reaches it no more, whatever it does.
#[test]
fn a_lease_that_is_over() {
    let env = TestEnvironment::new();
    let (late, slot) = env.started("late");
    fs::write(slot.join("mine.txt"), "of the late one").unwrap();
    // Given back and given away, without a word to the first task.
    let next = env.create(["next", "The next one"]);
    env.git(&slot, &["switch", "-q", "-c", "next"]);
    env.edit_pool(|pool| {
        let entry = &mut pool["workspaces"]["shop--1"];
        let epoch = entry["epoch"].as_u64().unwrap();
        entry["epoch"] = (epoch + 1).into();
        entry["task_id"] = next.id.clone().into();
        entry["task"] = "shop/next".into();
    });
    fs::remove_file(slot.join("TASK.md")).unwrap();
    fs::write(slot.join("TASK.md"), "a text of the next one").unwrap();
    fs::write(slot.join("next.txt"), "of the next one").unwrap();
    let standing = || {
        let status = env.git(&slot, &["status", "--porcelain=v2", "--branch", "-uall"]);
        let link = fs::read_to_string(slot.join("TASK.md")).unwrap();
        (
            status,
            link,
            env.pool_entry(1),
            env.git(&slot, &["stash", "list"]),
        )
    };
    let before = standing();
    env.update(&late, &["--priority", "high"]).ok();
    assert_eq!(standing(), before);
    let run = env.orange(["task", "rescue", "restore", &late.id, "latest"]);
    assert_ne!(run.code, 0);
    env.cancel(&late).ok();
    assert_eq!(standing(), before);
    assert_eq!(env.show(&late)["workspace"], Value::Null);
    let last = late.history();
    let released = last
        .iter()
        .rfind(|event| event["hook"] == "release_workspace");
    let reason = released.unwrap()["reason"].as_str().unwrap();
    assert_eq!(reason, "shop--1 is another task's by now");
    assert!(!late.text().contains("a text of the next one"));
}

#[test]
fn made_in_advance() {
    let env = TestEnvironment::new();
    env.pool_size(3);
    let head = env.git(&env.shop(), &["rev-parse", "HEAD"]);
    assert_snapshot!(env.orange(["workspace", "init", "2"]), @"made shop--1, shop--2");
    assert_snapshot!(env.orange(["workspace", "init", "2"]), @"all of them are there already");
    env.is_parked(&env.slot(2), &head);
    env.orange(["workspace", "init", "4"]).fails_with(2);
    env.orange(["workspace", "init", "0"]).fails_with(2);
    env.orange(["workspace", "init", "--project", "nope"])
        .fails_with(4);
    let (task, _) = env.started("login");
    for command in ["init", "gc"] {
        let call = env.call(["workspace", command, "--json"]);
        call.agent(&task, "worker").run().refuses(3, "not_allowed");
    }
    fs::write(env.slot(1).join("new.txt"), "x").unwrap();
    let list = env.orange(["workspace", "list"]).to_string();
    assert_snapshot!(list.replace(&head[..7], "[HEAD7]"), @"
    SLOT     TASK      BRANCH               AHEAD  BEHIND  STATE
    shop--1  TASK-001  login                               1 untracked
    shop--2  free      (parked at [HEAD7])                 clean
    shop--3  free      (not made yet)
    ");
    let list = env
        .orange(["workspace", "list", "--disk", "--json"])
        .ok()
        .json();
    let first = &list["workspaces"][0];
    assert_eq!(
        (&first["task"], &first["branch"]),
        (&json!("TASK-001"), &json!("login"))
    );
    assert_eq!(
        (&first["untracked"], &first["ahead"]),
        (&json!(1), &json!(0))
    );
    assert!(first["disk_bytes"].as_u64().unwrap() > 0);
    assert_eq!(list["workspaces"][2]["made"], false);
}

#[test]
fn gc_keeps_what_is_needed_and_saves_what_is_not() {
    let env = TestEnvironment::new();
    env.pool_size(3);
    let (dirty, _) = env.started("dirty");
    let (held, _) = env.started("held");
    let (gone, _) = env.started("gone");
    env.cancel(&dirty).ok();
    env.cancel(&gone).ok();
    let sleep = Occupant::of(&env, &env.slot(3));
    let slot = env.slot(1);
    // In a free slot: a file, and a commit on no branch.
    let commit = env.commit(&slot, "lonely.txt", "on no branch");
    fs::write(slot.join("late.txt"), "written late").unwrap();
    let run = env.orange(["workspace", "gc", "--all"]).ok();
    run.says("removed shop--1")
        .says(&format!("kept shop--2: {} has it", held.key))
        .says(&format!("kept shop--3: process {}", sleep.0.id()));
    assert!(!slot.exists() && env.slot(2).exists() && env.slot(3).exists());
    assert_eq!(env.pool_entry(1), Value::Null);
    assert_eq!(
        env.rescued(&env.shop(), &dirty, "late.txt").as_deref(),
        Some("written late")
    );
    let holding = ["for-each-ref", "--contains", &commit, "refs/orange/rescue"];
    assert_ne!(env.git(&env.shop(), &holding), "");
    assert!(
        !env.git(&env.shop(), &["worktree", "list"])
            .contains("shop--1")
    );
}

/// A commit that somebody made in a free slot is saved before the next task gets it.
#[test]
fn a_commit_in_a_free_slot() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.cancel(&task).ok();
    let commit = env.commit(&slot, "lonely.txt", "on no branch");
    env.started("next");
    let holding = ["for-each-ref", "--contains", &commit, "refs/orange/rescue"];
    assert_ne!(env.git(&env.shop(), &holding), "");
}

#[test]
fn old_rescues_are_forgotten() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    fs::write(slot.join("new.txt"), "new").unwrap();
    env.cancel(&task).ok();
    let shop = env.shop();
    let days_ago = |days: i64| {
        let time =
            std::time::SystemTime::now() - std::time::Duration::from_secs(days as u64 * 86400);
        let seconds = time
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let stamp = env
            .foreign("date")
            .args(["-u", "-d", &format!("@{seconds}"), "+%Y-%m-%dT%H:%M:%SZ"])
            .output()
            .unwrap();
        String::from_utf8(stamp.stdout).unwrap().trim().to_owned()
    };
    let tree = env.git(&shop, &["rev-parse", "HEAD^{tree}"]);
    for (name, days) in [("older", 31), ("younger", 29)] {
        let message = format!(
            "rescue: x\n\nOrange-Task: {}\nOrange-Time: {}\n",
            task.id,
            days_ago(days)
        );
        let commit = env.git(&shop, &["commit-tree", &tree, "-m", &message]);
        let reference = format!("refs/orange/rescue/{}/{name}", task.id);
        env.git(&shop, &["update-ref", &reference, &commit]);
    }
    let raw = task.folder.join("rescued/older");
    fs::create_dir_all(&raw).unwrap();
    env.orange(["workspace", "gc"])
        .ok()
        .says("forgot 1 old rescue");
    let left = env.git(
        &shop,
        &[
            "for-each-ref",
            "--format=%(refname:lstrip=4)",
            "refs/orange/rescue",
        ],
    );
    assert!(
        left.contains("younger") && !left.contains("older"),
        "{left}"
    );
    assert_eq!(left.lines().count(), 2);
    assert!(!raw.exists());
    env.config("rescue:\n  keep_days: 10\n");
    env.orange(["workspace", "gc"])
        .ok()
        .says("forgot 1 old rescue");
    assert_eq!(env.rescued(&shop, &task, "new.txt").as_deref(), Some("new"));
}
