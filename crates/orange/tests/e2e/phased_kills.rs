//! `kill -9` of an executor, and of what a person says to a phased task, between two steps: whoever comes next goes on from
//! there. No turn is taken twice, no cost is forgotten, and no slot is held by nobody.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_reviews::{CHANGES, is_taken_back, reviewed};
use crate::phased_runs::{WAITS, phased};
use crate::phased_specs::WHOLE;
use orange_engine::runs::ProcessId;
use std::fs;

/// Each turn writes a file, says what it used, and notes outside of the worktree that it was taken.
const COUNTS: &str = "\
executor implement:
  - use: {input: 30, output: 3, cost: 0.0003}
  - run: echo implement >>ROOT/turns
  - write: implement.txt
    text: done
  - answer: complete
    summary: implemented
executor test:
  - use: {input: 4, output: 1, cost: 0.0001}
  - run: echo test >>ROOT/turns
  - answer: complete
    summary: tested
";

pub(crate) fn turns(env: &Agents) -> String {
    fs::read_to_string(env.root().join("turns")).unwrap_or_default()
}

/// Executors die at this point from now on, or live; they have the environment of the tmux server.
pub(crate) fn executors_die(env: &Agents, point: Option<&str>) {
    env.tmux(&["new-session", "-d", "-s", "hold", "sleep 1000"]);
    let name = ["set-environment", "-g"];
    let words = match point {
        Some(point) => vec!["ORANGE_CRASH_AT", point],
        None => vec!["-u", "ORANGE_CRASH_AT"],
    };
    assert!(env.tmux(&[&name[..], &words].concat()).status.success());
}

/// Runs a task whose executor kills itself at this point; it is dead afterwards, and nobody has looked.
pub(crate) fn executed_until(env: &Agents, point: &str) -> TestTask {
    let task = phased(env, "small", COUNTS, &[]);
    dies_at(env, &task, point);
    task
}

/// Runs this task so.
fn dies_at(env: &Agents, task: &TestTask, point: &str) {
    executors_die(env, Some(point));
    env.orange(["run", &task.key]).ok();
    let executor = ProcessId::of(env.run_agent(task, "executor"));
    // One that is dead may stay a zombie for as long as its parent likes.
    env.until("its executor is dead", || {
        executor
            .as_ref()
            .is_none_or(|executor| !executor.is_alive())
    });
    executors_die(env, None);
}

#[track_caller]
fn slots_are_free(env: &Agents) {
    let list = env.orange(["workspace", "list", "--json"]).ok().json();
    let slots = list["workspaces"].as_array().unwrap();
    let held = slots.iter().filter(|slot| !slot["task"].is_null()).count();
    assert_eq!(held, 0, "{list}");
}

/// What was told is counted, once, and the branch holds what each turn left.
#[track_caller]
fn is_completed(env: &Agents, task: &TestTask, taken: &str, tokens: u64) {
    env.until_status(task, "completed");
    slots_are_free(env);
    assert_eq!(turns(env), taken, "{}", env.dump());
    let execution = &env.show(task)["execution"];
    assert_eq!(execution["tokens"]["input_tokens"], tokens, "{execution}");
    // The end of a turn is told again when more of it is known.
    let known = |kind: &str| {
        let history = task.history();
        let of_kind = history.iter().filter(|event| event["type"] == kind);
        let names = of_kind.map(|event| format!("{} {}", event["phase"], event["iteration"]));
        names.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(known("iteration.started"), known("iteration.ended"));
    assert_eq!(
        known("iteration.started").len(),
        env.count(task, "iteration.started"),
        "a turn began twice"
    );
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(files.contains("implement.txt"), "{files}");
    for (name, text) in transcripts(task) {
        for part in ["\n## Completion\n", "\n## Files Changed\n"] {
            assert_eq!(text.matches(part).count(), 1, "{name}: {text}");
        }
        assert!(!text.contains("**Duration**: -"), "{name}: {text}");
    }
    env.orange(["doctor"]).says("nothing was left behind");
}

/// What its transcripts say, by their names.
fn transcripts(task: &TestTask) -> Vec<(String, String)> {
    let entries = fs::read_dir(task.folder.join("transcripts")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let read = paths.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(&path).unwrap())
    });
    read.collect()
}

/// Resumes it, unless what was stored says already that it is over.
fn goes_on(env: &Agents, task: &TestTask) {
    env.look();
    slots_are_free(env);
    if env.status(task) == "paused" {
        env.orange(["resume", &task.key]).ok();
    }
}

#[test]
fn an_executor_that_dies_at_any_step_of_an_iteration_is_resumed_there() {
    for point in [
        "execution.opened",
        "execution.spent",
        "execution.committed",
        "execution.checked",
        "execution.checkpoint",
        "execution.transcript",
        "execution.advanced",
        "execution.journalled",
    ] {
        let env = Agents::new();
        let task = executed_until(&env, point);
        println!("killed at {point}");
        env.look();
        assert_eq!(env.status(&task), "paused", "{point}");
        env.orange(["why", &task.key])
            .ok()
            .says(&format!("next: orange resume {}", task.key));
        goes_on(&env, &task);
        is_completed(&env, &task, "implement\ntest\n", 34);
        let subjects = env.git(
            &env.shop(),
            &["log", "--format=%s", &format!("main..{}", task.branch)],
        );
        assert_eq!(subjects.lines().count(), 1, "{point}: {subjects}");
    }
}

#[test]
fn the_transcript_of_a_turn_that_was_killed_is_completed() {
    let env = Agents::new();
    let task = phased(&env, "trivial", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    let transcript = task.folder.join("transcripts/01-implement-001.md");
    let text = || fs::read_to_string(&transcript).unwrap_or_default();
    env.until("its agent speaks", || text().contains("It begins."));
    env.kill(env.run_agent(&task, "executor"), "-9");
    env.look();
    assert_eq!(env.status(&task), "paused");
    env.allow("go");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    let text = text();
    assert!(
        text.contains("- Phase complete: no (interrupted)\n"),
        "{text}"
    );
    assert!(!text.contains("**Status**: running"), "{text}");
}

#[test]
fn a_pause_completes_the_transcript_and_going_on_does_not_add_to_it() {
    let env = Agents::new();
    let task = phased(&env, "trivial", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    let transcript = task.folder.join("transcripts/01-implement-001.md");
    let text = || fs::read_to_string(&transcript).unwrap_or_default();
    env.until("its agent speaks", || text().contains("It begins."));
    env.orange(["pause", &task.key]).ok();
    let expected = "- Phase complete: no (interrupted)\n";
    assert!(text().contains(expected), "{}", text());
    env.allow("go");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    let text = text();
    assert_eq!(text.matches("## Completion").count(), 1, "{text}");
    assert!(text.contains("| begun.txt | created |"), "{text}");
}

#[test]
fn an_executor_that_dies_after_the_last_phase_has_completed_its_task() {
    for point in ["execution.advanced:2", "executor.decided"] {
        let env = Agents::new();
        let task = executed_until(&env, point);
        println!("killed at {point}");
        goes_on(&env, &task);
        is_completed(&env, &task, "implement\ntest\n", 34);
    }
}

#[test]
fn who_looks_after_a_dead_executor_may_die_too() {
    let env = Agents::new();
    let task = executed_until(&env, "execution.spent");
    let look = env.call(["watch", "--once"]);
    look.var("ORANGE_CRASH_AT", "orphan.moved")
        .run()
        .fails_with(-1)
        .says("killed at orphan.moved");
    goes_on(&env, &task);
    is_completed(&env, &task, "implement\ntest\n", 34);
    assert_eq!(env.count(&task, "agent.spawned"), 2);
}

/// Runs orange until it kills itself at this point.
#[track_caller]
fn killed_at(env: &Agents, point: &str, arguments: &[&str]) {
    let call = env.call(arguments.iter().copied());
    let run = call.var("ORANGE_CRASH_AT", point).run();
    run.fails_with(-1).says(&format!("killed at {point}"));
}

fn at_gate(env: &Agents) -> TestTask {
    let task = phased(env, "small", COUNTS, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    task
}

#[test]
fn a_decision_that_was_stored_is_carried_out_by_the_next_command() {
    let points = [
        ("gate.stored", None),
        ("gate.stored", Some("decision.moved")),
        // Journalled with its move, which has asked nobody to look at the queue yet.
        ("commit.journalled", None),
        ("commit.written", None),
    ];
    for (first, second) in points {
        let env = Agents::new();
        let task = at_gate(&env);
        killed_at(&env, first, &["approve", &task.key]);
        if let Some(point) = second {
            killed_at(&env, point, &["ls"]);
        }
        env.orange(["ls"]).ok();
        is_completed(&env, &task, "implement\ntest\n", 34);
        assert_eq!(env.count(&task, "gate.decided"), 1);
    }
}

#[test]
fn a_rejection_that_was_stored_is_carried_out_by_the_next_command() {
    let env = Agents::new();
    let task = at_gate(&env);
    killed_at(
        &env,
        "gate.stored",
        &["reject", &task.key, "--reason", "use a label"],
    );
    env.orange(["ls"]).ok();
    env.until("the second try is at the gate", || {
        turns(&env) == "implement\nimplement\n" && env.status(&task) == "blocked"
    });
    let of_phase = ["transcript", &task.key, "--phase", "implement"];
    env.orange(of_phase).ok().says("use a label");
    assert_eq!(env.count(&task, "gate.decided"), 1);
    slots_are_free(&env);
}

#[test]
fn an_answer_that_was_stored_reaches_the_agent() {
    let env = Agents::new();
    let asks =
        "executor implement iteration 1:\n  - answer: blocked\n    question: Which colour?\n";
    let task = phased(&env, "small", &format!("{COUNTS}{asks}"), &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    killed_at(&env, "answer.stored", &["answer", &task.key, "blue"]);
    env.orange(["ls"]).ok();
    is_completed(&env, &task, "implement\ntest\n", 34);
    let of_phase = ["transcript", &task.key, "--phase", "implement"];
    env.orange(of_phase).ok().says("The answer: blue");
}

#[test]
fn changes_that_were_stored_are_made() {
    for second in [None, Some("change.moved")] {
        let env = Agents::new();
        let task = phased(&env, "small", COUNTS, &[]);
        env.orange(["run", &task.key]).ok();
        env.until_status(&task, "completed");
        killed_at(
            &env,
            "changes.stored",
            &["request-changes", &task.key, "bigger"],
        );
        if let Some(point) = second {
            killed_at(&env, point, &["ls"]);
        }
        env.orange(["ls"]).ok();
        env.until("it was implemented again", || {
            turns(&env).lines().count() == 4
        });
        is_completed(&env, &task, "implement\ntest\nimplement\ntest\n", 68);
        let of_phase = ["transcript", &task.key, "--phase", "implement"];
        env.orange(of_phase).ok().says("bigger");
    }
}

#[test]
fn a_rewind_that_was_killed_is_finished_or_made_again() {
    for point in [
        "rewind.saved",
        "rewind.stored",
        "rewind.moved",
        "rewind.told",
    ] {
        let env = Agents::new();
        let task = phased(&env, "small", COUNTS, &[]);
        env.orange(["run", &task.key]).ok();
        env.until_status(&task, "completed");
        let rewind = ["rewind", &task.key, "--to", "implement", "--before"];
        killed_at(&env, point, &rewind);
        env.orange(["ls"]).ok();
        match point {
            "rewind.saved" => {
                assert_eq!(env.status(&task), "completed");
                env.orange(rewind).ok();
            }
            // The next command has finished it.
            _ => assert_eq!(env.count(&task, "task.rewound"), 1, "{point}"),
        }
        assert_eq!(env.status(&task), "planned", "{point}");
        let main = env.git(&env.shop(), &["rev-parse", "main"]);
        assert_eq!(
            env.git(&env.shop(), &["rev-parse", &task.branch]),
            main,
            "{point}"
        );
        let rescues = env
            .orange(["rescue", "list", &task.key, "--json"])
            .ok()
            .json();
        assert!(
            !rescues["rescues"].as_array().unwrap().is_empty(),
            "{rescues}"
        );
        env.orange(["run", &task.key]).ok();
        is_completed(&env, &task, "implement\ntest\nimplement\ntest\n", 68);
    }
}

#[test]
fn a_specification_that_was_stored_is_journalled_by_the_next_command() {
    let env = Agents::new();
    let task = phased(&env, "medium", COUNTS, &["--gate", "review=auto"]);
    let set = env.call(["spec", "set", &task.key, "-"]);
    let run = set.input(WHOLE).var("ORANGE_CRASH_AT", "spec.stored").run();
    run.fails_with(-1).says("killed at spec.stored");
    assert_eq!(env.count(&task, "spec.saved"), 0);
    env.orange(["ls"]).ok();
    assert_eq!(env.count(&task, "spec.saved"), 1);
    env.orange(["show", &task.key, "--full"])
        .ok()
        .says("the spec was given");
    let shown = env.orange(["spec", "show", &task.key]).ok();
    assert_eq!(shown.stdout, WHOLE);
    // With a new task there is all of it or nothing.
    let new = [
        "new",
        "Another",
        "--workflow",
        "phased",
        "--weight",
        "medium",
        "--spec",
        "-",
    ];
    let new = env
        .call(new)
        .input(WHOLE)
        .var("ORANGE_CRASH_AT", "spec.stored");
    new.run().fails_with(-1);
    env.orange(["ls"]).ok();
    assert_eq!(env.list(["--all"]).len(), 1);
    env.orange(["doctor"]).says("nothing was left behind");
}

#[test]
fn an_executor_that_dies_after_it_stored_a_specification_checks_it_again() {
    let env = Agents::new();
    let task = phased(
        &env,
        "medium",
        COUNTS,
        &["--gate", "spec=auto", "--gate", "review=auto"],
    );
    executors_die(&env, Some("spec.stored"));
    env.orange(["run", &task.key]).ok();
    let executor = ProcessId::of(env.run_agent(&task, "executor"));
    env.until("its executor is dead", || {
        executor
            .as_ref()
            .is_none_or(|executor| !executor.is_alive())
    });
    executors_die(&env, None);
    goes_on(&env, &task);
    env.until_status(&task, "completed");
    assert_eq!(env.count(&task, "spec.saved"), 1);
    let spec = &env.show(&task)["execution"]["phases"]["spec"];
    assert_eq!(
        (&spec["status"], &spec["iterations"]),
        (&"completed".into(), &1.into())
    );
}

#[test]
fn a_judge_whose_executor_dies_is_asked_once_more_or_has_decided() {
    for (point, asked) in [
        ("judge.opened", 1),
        ("judge.spent", 1),
        ("judge.decided", 1),
        // It has answered, and nobody has kept that.
        ("judge.answered", 2),
    ] {
        let env = Agents::new();
        let judge = "\
judge implement:
  - use: {input: 100, output: 10}
  - run: echo judge >>ROOT/judges
  - say: '{{\"decision\": \"approved\", \"reason\": \"it is whole\"}}'
";
        let script = format!("{COUNTS}{judge}");
        let harness = env.script("judge", &script);
        let options = ["--gate", "implement=ai", "--review-harness", &harness];
        let task = phased(&env, "small", &script, &options);
        dies_at(&env, &task, point);
        println!("killed at {point}");
        env.look();
        assert_eq!(env.status(&task), "paused", "{point}");
        goes_on(&env, &task);
        let cost = 34 + 100 * asked;
        is_completed(&env, &task, "implement\ntest\n", cost);
        let judges = fs::read_to_string(env.root().join("judges")).unwrap();
        assert_eq!(judges.lines().count() as u64, asked, "{point}");
        assert_eq!(env.count(&task, "gate.decided"), 1, "{point}");
        let decided = &env.show(&task)["execution"]["gates"];
        assert_eq!(decided.as_array().unwrap().len(), 1, "{decided}");
    }
}

#[test]
fn what_a_review_changed_is_taken_back_whoever_dies() {
    for point in [
        "execution.opened:2",
        "execution.spent:2",
        "review.saved",
        "review.cleaned",
        "review.moved",
        "execution.committed:2",
    ] {
        let env = Agents::new();
        let task = reviewed(&env, CHANGES);
        dies_at(&env, &task, point);
        println!("killed at {point}");
        env.look();
        slots_are_free(&env);
        is_taken_back(&env, &task);
        goes_on(&env, &task);
        env.until_status(&task, "completed");
        is_taken_back(&env, &task);
        env.orange(["doctor"]).says("nothing was left behind");
    }
}

#[test]
fn an_errand_that_dies_over_the_weight_is_sent_for_three_times() {
    let env = Agents::new();
    let script = "\
executor classify:
  - run: |
      echo asked >>ROOT/asked
      kill -9 $(cut -d' ' -f4 /proc/$PPID/stat)
executor:
  - answer: complete
    summary: nothing to do
";
    let harness = env.script("dies", script);
    let task = env.create([
        "Rename the button",
        "--workflow",
        "phased",
        "--harness",
        &harness,
    ]);
    env.orange(["run", &task.key]).ok();
    env.until("its weight is known", || {
        env.look();
        env.show(&task)["weight"] == "medium"
    });
    env.until_event(&task, "plan.written");
    assert_eq!(env.count(&task, "iteration.ended"), 3);
    let asked = fs::read_to_string(env.root().join("asked")).unwrap();
    assert_eq!(asked, "asked\n".repeat(3));
    let known = task.history();
    let reasons = known.iter().filter_map(|event| event["reason"].as_str());
    let why = "its agent was asked 3 times";
    assert!(reasons.into_iter().any(|reason| reason.contains(why)));
}
