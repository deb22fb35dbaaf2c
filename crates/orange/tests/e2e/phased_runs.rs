//! The commands that run a phased task and decide about its phases, with a scripted agent.

use crate::agents::Agents;
use crate::env::TestTask;
use orange_engine::call::{Caller, Settings};
use orange_engine::verbs::phased::gate::{self, PersonDecision};
use orange_engine::{Call, Code, Home};
use serde_json::Value;

/// A file for each phase, and each is complete at once.
pub(crate) const WORKS: &str = "\
executor:
  - write: '{phase}.txt'
    text: done
  - answer: complete
    summary: wrote {phase}.txt
";

/// The first turn of implement waits until ROOT/go is there.
pub(crate) const WAITS: &str = "\
executor:
  - answer: complete
    summary: nothing to do
executor implement:
  - write: begun.txt
    text: begun
  - say: It begins.
  - wait for:
      file: ROOT/go
    timeout: 60s
  - answer: complete
    summary: implemented
";

pub(crate) fn phased(env: &Agents, weight: &str, script: &str, more: &[&str]) -> TestTask {
    let harness = env.script("phased", script);
    let options = [
        "--workflow",
        "phased",
        "--weight",
        weight,
        "--harness",
        &harness,
    ];
    env.create([&["Rename the button"], &options[..], more].concat())
}

fn answer(env: &Agents, arguments: &[&str]) -> Value {
    env.orange([arguments, &["--json"]].concat()).ok().json()
}

#[test]
fn a_small_task_goes_from_nothing_to_completed_and_is_merged() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    assert_eq!(env.status(&task), "planned");
    let told = answer(&env, &["run", &task.key]);
    assert_eq!(told["task"]["status"], "running");
    assert_eq!(told["agents"][0]["role"], "executor");
    env.until_status(&task, "completed");
    env.orange(["why", &task.key])
        .ok()
        .says("has completed its phases");
    let plan = answer(&env, &["plan", "show", &task.key]);
    let phases = plan["plan"]["phases"].as_array().unwrap().iter();
    let phases: Vec<_> = phases
        .map(|phase| (&phase["name"], &phase["status"]))
        .collect();
    assert_eq!(
        format!("{phases:?}"),
        r#"[(String("implement"), String("completed")), (String("test"), String("completed"))]"#
    );
    env.orange(["merge", &task.key]).ok();
    env.until_status(&task, "finished");
    let files = env.git(&env.shop(), &["ls-files"]);
    assert!(
        files.contains("implement.txt") && files.contains("test.txt"),
        "{files}"
    );
}

#[test]
fn a_new_phased_task_waits_for_a_run() {
    let env = Agents::configured("tasks:\n  workflow: phased\n");
    let run = env
        .orange(["new", "Rename", "the", "button", "--weight", "small"])
        .ok();
    run.says("plan     small: implement, test")
        .says("next: orange run TASK-001");
    let run = env.orange(["new", "Rename", "the", "menu"]).ok();
    run.says("plan     is written when it is run")
        .says("next: orange run TASK-002");
    let task = env.task_of(&env.list(["--all"])[0]);
    assert_eq!(env.field(&task, "workflow"), "phased");
    let refused = env.orange(["spawn", "TASK-001", "--json"]);
    let error = refused.refuses(3, "illegal_transition");
    assert!(
        error["hint"]
            .as_str()
            .unwrap()
            .contains("orange run TASK-001"),
        "{error}"
    );
    let interactive = env
        .orange(["new", "x", "--workflow", "interactive", "--no-spawn"])
        .ok();
    interactive.says("next: orange spawn TASK-003");
    env.orange(["run", "TASK-003"])
        .fails_with(3)
        .says("no phases");
}

#[test]
fn why_says_that_no_agent_can_execute_a_task() {
    let env = Agents::new();
    let options = ["--workflow", "phased", "--weight", "trivial"];
    let task = env.create([&["Rename"], &options[..], &["--harness", "claude"]].concat());
    env.orange(["run", &task.key])
        .fails_with(1)
        .says("claude is not installed");
    env.orange(["why", &task.key])
        .ok()
        .says("claude is not installed")
        .says("next: orange run TASK-001");
}

#[test]
fn a_task_that_waits_for_another_starts_when_that_is_merged() {
    let env = Agents::new();
    let first = phased(&env, "trivial", WORKS, &[]);
    let second = phased(&env, "trivial", WORKS, &["--blocked-by", &first.key]);
    env.orange(["run", &second.key]).ok();
    assert_eq!(env.status(&second), "blocked");
    env.orange(["run", &first.key]).ok();
    env.until_status(&first, "completed");
    env.orange(["merge", &first.key]).ok();
    env.until_status(&second, "completed");
}

#[test]
fn a_dry_run_starts_nothing_and_shows_the_first_prompt() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    let events = task.events();
    let told = answer(&env, &["run", &task.key, "--dry-run"]);
    assert_eq!(
        (&told["phase"], &told["iteration"]),
        (&"implement".into(), &1.into())
    );
    let prompt = told["prompt"].as_str().unwrap();
    assert!(prompt.contains("Rename the button"), "{prompt}");
    assert_eq!(told["plan"]["weight"], "small");
    let told = answer(&env, &["run", &task.key, "--dry-run", "--phase", "test"]);
    assert_eq!(told["phase"], "test");
    env.orange(["run", &task.key, "--dry-run", "--phase", "tset"])
        .fails_with(2)
        .says("implement, test");
    env.orange(["run", &task.key, "--dry-run"])
        .ok()
        .says("whose agent is told");
    assert_eq!(task.events(), events);
    assert_eq!(env.status(&task), "planned");
}

#[test]
fn pause_saves_what_the_turn_left_and_resume_goes_on() {
    let env = Agents::new();
    let task = phased(&env, "small", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until("the turn has begun", || {
        env.orange(["transcript", &task.key])
            .stdout
            .contains("It begins.")
    });
    env.orange(["why", &task.key])
        .ok()
        .says("iteration 1 of 5 of implement");
    env.orange(["retry", &task.key])
        .fails_with(3)
        .says("it is running");
    let told = answer(&env, &["pause", &task.key]);
    assert_eq!(told["task"]["status"], "paused");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(files.contains("begun.txt"), "{files}");
    env.write("go", "");
    env.orange(["resume", &task.key])
        .ok()
        .says("planned → running");
    env.until_status(&task, "completed");
}

#[test]
fn a_phase_alone_is_executed_and_then_it_is_paused() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["run", &task.key, "--phase", "test"]).ok();
    env.until_status(&task, "paused");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
}

#[test]
fn a_phase_that_is_skipped_is_not_executed() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["skip", &task.key, "tset"])
        .fails_with(3)
        .says("implement, test");
    let told = answer(
        &env,
        &["skip", &task.key, "test", "--reason", "nothing to test"],
    );
    assert_eq!(told["message"], "TASK-001: phase test is skipped");
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(!files.contains("test.txt"), "{files}");
    env.orange(["skip", &task.key, "test"])
        .fails_with(3)
        .says("skipped already");
}

#[test]
fn rewind_goes_back_and_saves_what_the_branch_held() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let told = answer(
        &env,
        &["rewind", &task.key, "--to", "implement", "--before"],
    );
    assert_eq!(told["task"]["status"], "planned");
    assert_eq!(told["task"]["queued_at"], Value::Null);
    let main = env.git(&env.shop(), &["rev-parse", "main"]);
    assert_eq!(told["commit"].as_str(), Some(main.trim()));
    let rescue = told["rescue"].as_str().unwrap();
    env.orange(["rescue", "show", &task.key, rescue]).ok();
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
}

#[test]
fn a_person_decides_at_a_gate() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["why", &task.key])
        .ok()
        .says("waits at a phase gate")
        .says("next: orange approve TASK-001");
    env.orange(["wait", &task.key, "--timeout", "0"]).ok();
    env.orange(["reject", &task.key, "--reason", ""])
        .fails_with(2);
    env.orange(["update", &task.key, "--weight", "large"])
        .fails_with(3);
    env.orange(["plan", "reset", &task.key]).fails_with(3);
    // No other end of the task leads past the gate, and its kind stays what is asked.
    for way in [
        &["merge", &task.key][..],
        &["merge", &task.key, "--force"],
        &["resolve", &task.key, "--message", "by hand", "--yes"],
        &["update", &task.key, "--gate", "implement=skip"],
        &["update", &task.key, "--gate", "implement="],
    ] {
        env.orange(way)
            .fails_with(3)
            .says("decide first: `orange approve TASK-001`, or `orange reject TASK-001");
    }
    assert_eq!(env.status(&task), "blocked");
    let told = answer(&env, &["reject", &task.key, "--reason", "use a label"]);
    assert_eq!(told["task"]["status"], "planned");
    env.until("the second attempt is at the gate", || {
        let decided = env.count(&task, "gate.decided");
        decided == 1 && env.status(&task) == "blocked"
    });
    let transcript = env
        .orange(["transcript", &task.key, "--phase", "implement"])
        .ok();
    transcript.says("use a label");
    // Words that ask for changes are a rejection there.
    env.orange(["request-changes", &task.key, "a", "bigger", "label"])
        .ok();
    env.until("the third attempt is at the gate", || {
        env.count(&task, "gate.decided") == 2 && env.status(&task) == "blocked"
    });
    env.orange(["approve", &task.key, "--message", "fine"])
        .ok()
        .says("approved")
        .silent_about("next:");
    env.until_status(&task, "completed");
    // Who comes second hears of whom they came after.
    let late = env.orange(["reject", &task.key, "--reason", "no"]);
    late.fails_with(3)
        .says("phase implement of TASK-001 was approved already, by ");
}

#[test]
fn what_cannot_be_done_under_an_executor_says_how_to_stop_it() {
    let env = Agents::new();
    let task = phased(&env, "small", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "running");
    for command in [
        &["request-changes", &task.key, "bigger"][..],
        &["skip", &task.key, "test"],
        &["rewind", &task.key, "--to", "implement"],
        &["update", &task.key, "--weight", "large"],
        &["plan", "reset", &task.key],
    ] {
        env.orange(command)
            .fails_with(3)
            .says("hint: pause it first: `orange pause TASK-001`");
    }
    env.orange(["respawn", &task.key])
        .fails_with(3)
        .says("its executor is not started by hand");
    env.write("go", "");
    env.until_status(&task, "completed");
}

#[test]
fn a_gate_that_is_made_stricter_while_its_phase_runs_holds_the_phase() {
    let env = Agents::new();
    let task = phased(&env, "small", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_event(&task, "iteration.started");
    env.update(&task, &["--gate", "implement=human"]).ok();
    env.allow("go");
    env.until_status(&task, "blocked");
    assert_eq!(env.count(&task, "iteration.started"), 1);
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(task.last("gate.decided")["gate_type"], "human");
}

#[test]
fn a_decision_about_another_attempt_than_was_shown_changes_nothing() {
    let env = Agents::new();
    let task = phased(&env, "trivial", WORKS, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    let settings = Settings {
        caller: Caller::Human,
        orange: crate::run::program().to_owned(),
        ..Settings::at(env.home())
    };
    let call = Call::on(Home::at(env.home()), settings);
    let folder = task.folder.strip_prefix(env.tasks()).unwrap();
    let place = call.store().place(folder.to_str().unwrap());
    for (shown, approved) in [(("implement", 2), true), (("review", 1), false)] {
        let wish = PersonDecision {
            approved,
            reason: "it was another one",
            shown: Some(shown),
        };
        let error = gate::decide(&call, place.clone(), &wish).unwrap_err();
        assert_eq!(error.code, Code::Conflict, "{error}");
    }
    assert_eq!(env.count(&task, "gate.decided"), 0);
    assert_eq!(env.status(&task), "blocked");
    let wish = PersonDecision {
        approved: true,
        reason: "",
        shown: Some(("implement", 1)),
    };
    let done = gate::decide(&call, place, &wish).unwrap();
    assert_eq!(done.task.label(), task.key);
    assert_eq!(env.count(&task, "gate.decided"), 1);
    assert_eq!(env.status(&task), "planned");
}

#[test]
fn the_question_of_a_phase_is_shown_and_answered() {
    let env = Agents::new();
    let script = "\
executor:
  - answer: complete
    summary: done
executor implement iteration 1:
  - answer: blocked
    question: Which colour?
";
    let task = phased(&env, "small", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["why", &task.key]).ok().says("Which colour?");
    env.orange(["inbox"]).ok().says("Which colour?");
    env.orange(["answer", &task.key]).ok().says("Which colour?");
    let shown = answer(&env, &["answer", &task.key]);
    assert_eq!(shown["questions"], serde_json::json!(["Which colour?"]));
    env.orange(["answer", &task.key, "--allow"]).fails_with(2);
    env.orange(["answer", &task.key, "blue"]).ok();
    env.until_status(&task, "completed");
    let transcript = env
        .orange(["transcript", &task.key, "--phase", "implement"])
        .ok();
    transcript.says("Which colour?").says("The answer: blue");
}

#[test]
fn rewind_goes_to_the_last_checkpoint_and_not_to_the_last_commit() {
    let env = Agents::configured("phases:\n  retries: 0\n");
    // Only every third iteration of implement is a checkpoint; the fourth and the fifth are none, and all that may be.
    let script = "\
executor implement:
  - write: 'step-{iteration}.txt'
    text: done
  - answer: continue
    reason: there is more
";
    let task = phased(&env, "small", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "failed");
    let files = || {
        let listed = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
        let steps = listed.lines().filter(|file| file.starts_with("step-"));
        steps.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        files(),
        "step-1.txt step-2.txt step-3.txt step-4.txt step-5.txt"
    );
    env.orange(["rewind", &task.key, "--to", "implement"]).ok();
    assert_eq!(files(), "step-1.txt step-2.txt step-3.txt");
    env.orange(["rewind", &task.key, "--to", "implement", "--before"])
        .ok();
    assert_eq!(files(), "");
}

#[test]
fn a_person_may_exceed_the_limit_of_agents() {
    let env = Agents::configured("  limit: 1\n");
    let first = phased(&env, "small", WAITS, &[]);
    let second = phased(&env, "small", WAITS, &[]);
    env.orange(["run", &first.key]).ok();
    env.orange(["run", &second.key]).ok().says("is queued");
    env.orange(["why", &second.key]).ok().says("--force");
    env.orange(["run", &second.key, "--force"])
        .ok()
        .says("planned → running");
    env.write("go", "");
    env.until_status(&first, "completed");
    env.until_status(&second, "completed");
}

#[test]
fn changes_that_a_person_asks_for_begin_with_implementing() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["request-changes", &task.key, "bigger"])
        .fails_with(3);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["request-changes", &task.key, "make", "it", "bigger"])
        .ok();
    env.until("it is completed again", || {
        env.count(&task, "iteration.ended") == 4 && env.status(&task) == "completed"
    });
    let second = [
        "transcript",
        &task.key,
        "--phase",
        "implement",
        "--iteration",
        "2",
    ];
    env.orange(second).ok().says("make it bigger");
}

#[test]
fn an_agent_that_switches_branches_changes_no_other_branch() {
    let env = Agents::new();
    let script = "\
executor:
  - answer: complete
    summary: done
executor implement iteration 1:
  - run: git switch -q elsewhere
  - write: astray.txt
    text: astray
  - answer: complete
executor implement:
  - write: own.txt
    text: own
  - answer: complete
    summary: done
";
    env.git(&env.shop(), &["branch", "elsewhere"]);
    let task = phased(&env, "small", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "paused");
    env.orange(["why", &task.key])
        .ok()
        .says("it is on elsewhere")
        .says("next: orange resume TASK-001");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", "elsewhere"]);
    assert!(!files.contains("astray.txt"), "{files}");
    env.orange(["rescue", "list", &task.key])
        .ok()
        .says("1 file");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(files.contains("own.txt"), "{files}");
    let listed = env.orange(["ls"]).ok();
    listed.silent_about("✗");
}

#[test]
fn a_task_that_waits_for_a_slot_is_run_once_more() {
    let env = Agents::new();
    let holder = phased(&env, "small", WAITS, &[]);
    env.orange(["project", "update", "shop", "--pool-size", "1"])
        .ok();
    let harness = env.script("works", WORKS);
    let options = ["--workflow", "phased", "--weight", "small"];
    let waiting =
        env.create([&["Rename the menu"], &options[..], &["--harness", &harness]].concat());
    env.orange(["run", &holder.key]).ok();
    for _ in 0..2 {
        env.orange(["run", &waiting.key]).ok().says("is queued");
    }
    env.write("go", "");
    env.until_status(&holder, "completed");
    env.until_status(&waiting, "completed");
}

#[test]
fn the_work_of_a_phase_that_is_taken_off_the_branch_is_a_concern() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.git(&env.shop(), &["branch", "-f", &task.branch, "main"]);
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["merge", &task.key])
        .fails_with(3)
        .says("does not hold the work of implement");
}

#[test]
fn what_agents_in_windows_are_told_by_has_its_own_words_here() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["send", &task.key, "hello"])
        .fails_with(3)
        .says("its agents take no messages")
        .says("orange request-changes TASK-001 TEXT");
    env.orange(["attach", &task.key])
        .fails_with(4)
        .says("only while it is executed")
        .says("orange transcript TASK-001");
    env.orange(["peek", &task.key])
        .silent_about("has had no worker");
    env.orange(["update", &task.key, "--status", "planned"])
        .fails_with(3)
        .says("request changes, or by rewind")
        .silent_about("reviewed");
}
