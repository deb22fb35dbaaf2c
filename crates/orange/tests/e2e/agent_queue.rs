//! Tasks that cannot start yet: they wait in a queue, and start by themselves when something ends.

use crate::agents::Agents;
use crate::env::TestTask;

fn one_slot() -> Agents {
    let env = Agents::new();
    env.say(&["project", "update", "shop", "--pool-size", "1"])
        .ok();
    env
}

fn why(env: &Agents, task: &TestTask) -> String {
    let why = env.say(&["task", "why", &task.id, "--json"]).ok().json();
    why["why"]["because"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_slot_a_task_is_queued_and_starts_when_another_one_ends() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    let made = env
        .say(&["task", "create", "The second one"])
        .ok()
        .says("queued");
    assert!(
        made.stdout.contains("slot") || made.stdout.contains("workspace"),
        "{made}"
    );
    let second = env.task_of(&env.list(["--status", "pending"])[0]);
    assert_ne!(env.field(&second, "queued_at"), "null");
    assert!(
        why(&env, &second).contains("slot"),
        "{}",
        why(&env, &second)
    );
    env.until_status(&first, "reviewing");
    env.look();
    assert_eq!(
        env.status(&second),
        "pending",
        "a look alone starts nothing"
    );
    env.resolve(&first);
    env.until_status(&second, "reviewing");
    assert_eq!(env.prompts(&second), ["worker", "reviewer"]);
}

#[test]
fn cancelling_does_not_start_the_next_one_but_a_person_does() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    let second = env.create(["The second one"]);
    env.say(&["task", "cancel", &first.id, "--yes"])
        .ok()
        .says("TASK-002 is waiting and could start now: `orange spawn TASK-002`");
    assert_eq!(env.status(&second), "pending");
    assert!(env.windows().is_empty());
    env.say(&["run", "--ready"]).ok().says(&second.key);
    env.until_status(&second, "reviewing");
}

#[test]
fn who_waits_goes_before_a_new_one() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    let second = env.create(["The second one"]);
    let third = env.create(["The third one"]);
    env.say(&["task", "cancel", &first.id, "--yes"])
        .ok()
        .says("TASK-002 is waiting and could start now");
    env.say(&["new", "The fourth one"])
        .ok()
        .says("created TASK-004")
        .says("queued")
        .says("started TASK-002, which had been waiting")
        .says("next: orange why TASK-004");
    env.until_status(&second, "reviewing");
    // What is more urgent does not wait for those.
    env.say(&["task", "cancel", &second.id, "--yes"]).ok();
    let urgent = env
        .say(&["new", "An urgent one", "--priority", "high", "--json"])
        .ok();
    assert_eq!(urgent.json()["task"]["status"], "planning");
    assert!(urgent.json().get("started").is_none());
    let urgent = env.task_of(&urgent.json()["task"]);
    env.until_status(&urgent, "reviewing");
    env.say(&["task", "cancel", &urgent.id, "--yes"]).ok();
    let last = env.say(&["new", "The last one", "--json"]).ok().json();
    assert_eq!(last["started"][0]["key"], third.key.as_str());
    assert_ne!(last["queued"], serde_json::Value::Null);
}

#[test]
fn who_starts_because_another_one_ended_is_told() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    let second = env.create(["The second one"]);
    env.create(["The third one"]);
    env.until_status(&first, "reviewing");
    env.resolve(&first)
        .says("TASK-002, which had been waiting, starts now")
        .silent_about("TASK-003");
    env.until_status(&second, "reviewing");
}

#[test]
fn the_queue_goes_by_priority_and_then_by_age() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    let old = env.create(["An old one"]);
    let young = env.create(["A young one"]);
    let urgent = env.create(["An urgent one", "--priority", "critical"]);
    let mut running = first;
    for next in [urgent, old, young] {
        env.until_status(&running, "reviewing");
        env.resolve(&running);
        env.until_status(&next, "reviewing");
        running = next;
    }
}

#[test]
fn a_dependency_holds_a_task_back_until_it_is_over() {
    let env = Agents::new();
    let first = env.create(["The first one"]);
    let second = env.create(["The second one", "--blocked-by", &first.key]);
    assert_eq!(env.status(&second), "pending");
    assert!(why(&env, &second).contains(&first.key));
    env.say(&["run", "--ready"]).ok().says("nothing to start");
    env.until_status(&first, "reviewing");
    env.resolve(&first);
    env.until_status(&second, "reviewing");
}

#[test]
fn force_starts_a_task_in_spite_of_its_dependencies() {
    let env = Agents::new();
    let first = env.create(["The first one", "--no-spawn"]);
    let second = env.create(["The second one", "--blocked-by", &first.key]);
    env.say(&["task", "spawn", &second.id])
        .ok()
        .says("queued")
        .says(&first.key);
    env.say(&["task", "spawn", &second.id, "--force"]).ok();
    env.until_status(&second, "reviewing");
    assert_eq!(env.status(&first), "pending");
    env.say(&["task", "spawn", &second.id, "--json"])
        .refuses(3, "illegal_transition");
}

#[test]
fn the_limit_of_agents_holds_tasks_back_over_all_projects() {
    let env = Agents::configured("  limit: 1\n");
    let other = env.init_repository("other");
    env.say(&["project", "add", other.to_str().unwrap()]).ok();
    let first = env.create(["The first one"]);
    let made = env
        .say(&["task", "create", "Elsewhere too", "--project", "other"])
        .ok();
    made.says("queued").says("agents.limit");
    let second = env.task_of(&env.list(["--project", "other"])[0]);
    env.until_status(&first, "reviewing");
    env.resolve(&first);
    env.until_status(&second, "reviewing");
    let third = env.create(["One too many"]);
    assert_eq!(env.status(&third), "pending");
    env.say(&["task", "spawn", &third.id, "--force"]).ok();
    env.until_status(&third, "reviewing");
}

#[test]
fn what_a_person_left_pending_is_not_started_by_the_queue() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    let left = env.create(["Left alone", "--no-spawn", "--priority", "critical"]);
    let queued = env.create(["The queued one"]);
    assert_eq!(env.field(&left, "queued_at"), "null");
    env.until_status(&first, "reviewing");
    env.resolve(&first);
    env.until_status(&queued, "reviewing");
    assert_eq!(env.status(&left), "pending");
    env.resolve(&queued);
    env.until("the queue was looked at", || {
        !env.home().join("queue.wanted").exists()
    });
    assert_eq!(env.status(&left), "pending");
    env.say(&["task", "spawn", &left.id]).ok();
    env.until_status(&left, "reviewing");
}

#[test]
fn ready_tasks_are_started_but_not_the_backlog_and_not_more_than_asked_for() {
    let env = Agents::new();
    let later = env.create([
        "Some day",
        "--no-spawn",
        "--queue",
        "backlog",
        "--priority",
        "critical",
    ]);
    let first = env.create(["The first one", "--no-spawn"]);
    let second = env.create(["The second one", "--no-spawn"]);
    let urgent = env.create(["An urgent one", "--no-spawn", "--priority", "high"]);
    let run = env
        .say(&["run", "--ready", "--max", "1", "--json"])
        .ok()
        .json();
    assert_eq!(run["tasks"].as_array().unwrap().len(), 1);
    env.until_status(&urgent, "reviewing");
    env.say(&["run", "--ready"])
        .ok()
        .says(&first.key)
        .silent_about(&second.key);
    env.until_status(&first, "reviewing");
    for task in [&later, &second] {
        assert_eq!(env.status(task), "pending");
    }
}

#[test]
fn an_agent_may_not_start_other_tasks() {
    let env = Agents::new();
    let other = env.create(["Another one", "--no-spawn"]);
    let script = format!(
        "worker:\n  - run: orange task spawn {0}; test $? -ne 0 && orange run --ready; echo $? > ROOT/code\n  - hang\n",
        other.id
    );
    env.start("Start them", &script);
    let code = env.root().join("code");
    env.until("it has tried", || {
        std::fs::read_to_string(&code).is_ok_and(|text| !text.is_empty())
    });
    assert_ne!(std::fs::read_to_string(code).unwrap().trim(), "0");
    assert_eq!(env.status(&other), "pending");
}

#[test]
fn what_waited_for_a_persons_consent_starts_with_it() {
    let env = Agents::new();
    std::fs::create_dir(env.shop().join(".orange")).unwrap();
    let rules = "workspace:\n  setup: 'true'\n";
    env.commit(&env.shop(), ".orange/config.yaml", rules);
    let waits = env.create(["Has to wait"]);
    assert_eq!(env.status(&waits), "pending");
    env.say(&["project", "trust", "shop", "--yes"])
        .ok()
        .says("TASK-001, which had been waiting, starts now");
    env.until_status(&waits, "reviewing");
}

#[test]
fn more_slots_start_what_waits() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    let second = env.create(["The second one"]);
    env.until_status(&first, "reviewing");
    assert_eq!(env.status(&second), "pending");
    env.say(&["project", "update", "shop", "--pool-size", "2"])
        .ok();
    env.until_status(&second, "reviewing");
}

#[test]
fn a_base_that_is_gone_is_in_the_way() {
    let env = one_slot();
    let first = env.create(["The first one"]);
    env.git(&env.shop(), &["branch", "foo"]);
    let second = env.create(["Upon foo", "--base", "foo"]);
    env.git(&env.shop(), &["branch", "-D", "foo"]);
    let cancelled = env.say(&["task", "cancel", &first.id, "--yes"]).ok();
    assert!(
        !cancelled.to_string().contains("could start now"),
        "{cancelled}"
    );
    let because = why(&env, &second);
    assert!(
        because.starts_with("its base foo is no commit in "),
        "{because}"
    );
    env.git(&env.shop(), &["branch", "foo"]);
    env.say(&["run", "--ready"]).ok().says(&second.key);
}

#[test]
fn a_wait_for_a_queued_task_says_what_it_waits_for() {
    let env = one_slot();
    env.create(["first", "The first one", "--harness", "none"]);
    let second = env.create(["second", "The second one"]);
    let wait = |task: &TestTask| {
        let words = ["task", "wait", &task.id, "--for", "done", "--timeout", "0"];
        env.say(&words).fails_with(3)
    };
    wait(&second).says("note: TASK-002 is queued: no slot is free");
    let third = env.create(["third", "The third one", "--no-spawn"]);
    wait(&third).says("note: TASK-003 is pending: it waits for you to start it");
}
