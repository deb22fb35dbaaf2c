//! What is shown of phased tasks, and what is kept of them for how long.

use crate::home::{TestHome, agent};
use crate::task::TestTask;
use orange_core::Action;
use orange_core::task::{Weight, WorkflowName};
use orange_core::usage::Usage;
use orange_core::work::answer::Answer;
use orange_core::work::execution::{
    CriterionResult, Execution, Iteration, IterationKind, IterationOutcome, PhaseStatus,
};
use orange_core::work::plan::Plan;
use orange_core::workflow::Role;
use orange_engine::database::{Claim, Database};
use orange_engine::verbs::peek;
use orange_engine::views::transcripts::{self, TranscriptFollower, WantedTranscripts};
use orange_engine::views::{search, task, why};
use orange_engine::{Caller, Code};
use serde_json::json;
use std::time::Duration;

fn phased_task(home: &TestHome, weight: Weight) -> TestTask {
    home.create_with("export", |new| {
        new.workflow = Some(WorkflowName::Phased);
        new.weight = Some(weight);
    })
}

fn database(home: &TestHome) -> Database {
    Database::open(&home.folder()).unwrap()
}

fn plan(home: &TestHome, task: &TestTask) -> Plan {
    let stored = database(home).plan(&task.id).unwrap();
    stored.unwrap().parse().unwrap().plan
}

/// One turn of `implement` that said it goes on.
fn turn(number: u32, cost: Option<f64>) -> Iteration {
    Iteration {
        phase: "implement".to_owned(),
        iteration: number,
        attempt: 1,
        run: "run".to_owned(),
        harness: "sim".to_owned(),
        session: Some("conversation".to_owned()),
        ended_at: Some("2026-01-10T10:45:00Z".parse().unwrap()),
        started_at: "2026-01-10T10:32:00Z".parse().unwrap(),
        outcome: Some(IterationOutcome::Continue),
        usage: Usage {
            input: 1_000,
            output: 500,
            cache_read: 200,
            cost,
            ..Usage::default()
        },
        answer: Some(Answer::read(
            r#"{"status":"continue","summary":"half of it"}"#,
        )),
        checked: true,
        checks: vec![CriterionResult {
            criterion: "all_tests_pass".to_owned(),
            passed: Some(false),
            detail: "exit code 1".to_owned(),
        }],
        advanced: true,
        transcript: Some(format!("01-implement-{number:03}.md")),
        ..Iteration::default()
    }
}

/// Two turns are over.
fn worked_on(home: &TestHome, task: &TestTask) {
    let plan = plan(home, task);
    let mut execution = Execution::default();
    for iteration in [turn(1, Some(0.25)), turn(2, None)] {
        let mut open = iteration.clone();
        (open.outcome, open.ended_at) = (None, None);
        assert!(execution.open(&plan, open));
        *execution.iterations.last_mut().unwrap() = iteration;
    }
    database(home)
        .store_execution(&task.id, &execution)
        .unwrap();
}

#[test]
fn a_judge_does_not_see_what_the_agent_said() {
    let home = TestHome::new();
    let task = phased_task(&home, Weight::Small);
    let looks = |refused: bool| {
        let caller = || agent(&task, Role::Executor);
        let transcripts = home.call(caller(), |call| {
            transcripts::transcripts(call, task.place.clone(), &WantedTranscripts::default())
        });
        let followed = home.call(caller(), |call| {
            let wanted = WantedTranscripts::default();
            TranscriptFollower::new(call, task.place.clone(), wanted).map(drop)
        });
        let found = home.call(caller(), |call| search::search(call, "word", &[], 1));
        let window = home.call(caller(), |call| {
            peek::peek(call, task.place.clone(), None, None)
        });
        if refused {
            transcripts.fails(Code::NotAllowed).says("a judge may not");
            followed.fails(Code::NotAllowed);
            found.fails(Code::NotAllowed);
            window.fails(Code::NotAllowed);
        } else {
            transcripts.ok();
            followed.ok();
            found.ok();
            window.fails(Code::NotFound);
        }
    };
    worked_on(&home, &task);
    looks(false);
    let plan = plan(&home, &task);
    let mut execution = database(&home).execution(&task.id).unwrap().unwrap();
    let mut judge = turn(3, None);
    (judge.outcome, judge.ended_at) = (None, None);
    judge.kind = IterationKind::Judge;
    judge.answer = None;
    assert!(execution.open(&plan, judge));
    let stored = database(&home).store_execution(&task.id, &execution);
    stored.unwrap();
    looks(true);
    home.call(Caller::Human, |call| search::search(call, "word", &[], 1))
        .ok();
}

#[test]
fn a_harness_that_needs_a_terminal_has_a_person_choose_another() {
    let home = TestHome::new();
    let task = phased_task(&home, Weight::Small);
    let explained = home.call(Caller::Human, |call| {
        let view = task::view_judged(call, task.place.clone())?;
        let found = why::explanation(call, &view)?;
        Ok((found.next, view.task.name()))
    });
    let (next, name) = explained.value();
    assert_eq!(next, Some(Action::set_harness(name)));
}

#[test]
fn a_plan_and_how_far_it_is_are_shown_under_the_names_of_their_export() {
    let home = TestHome::new();
    let task = phased_task(&home, Weight::Small);
    let shown = home.show(&task);
    let execution = &shown["execution"];
    assert_eq!(execution["weight"], "small");
    assert_eq!(execution["current_phase"], "implement");
    assert_eq!(execution["phases"]["implement"]["max_iterations"], 5);
    assert_eq!(execution["executor_pid"], json!(null));
    // Nobody can check what no command is set for.
    let checks = &execution["phases"]["implement"]["checks"];
    assert_eq!(checks[0]["criterion"], "all_tests_pass");
    assert_eq!(checks[0]["passed"], json!(null));
    assert!(
        checks[0]["detail"]
            .as_str()
            .unwrap()
            .contains("verify.command"),
        "{checks}"
    );

    worked_on(&home, &task);
    let shown = home.show(&task);
    let execution = &shown["execution"];
    let implement = &execution["phases"]["implement"];
    assert_eq!(
        (&implement["iterations"], &implement["used"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(implement["position"], 1);
    assert_eq!(implement["type"], "implement");
    assert_eq!(implement["gate"], "auto");
    assert_eq!(implement["gate_source"], "plan");
    assert_eq!(implement["checks"][0]["passed"], false);
    assert_eq!(implement["transcript"], "01-implement-002.md");
    assert_eq!(implement["tokens"]["total_tokens"], 3_400);
    assert_eq!(execution["current_iteration"], 2);
    assert_eq!(execution["tokens"]["input_tokens"], 2_000);
    assert_eq!(
        execution["cost"],
        json!({"total_cost_usd": 0.25, "partial": true})
    );
    assert_eq!(execution["session"]["id"], "conversation");
    assert_eq!(execution["budget"], json!(null));
    assert!(
        home.show(&home.create("interactive"))
            .get("execution")
            .is_none()
    );
}

#[test]
fn who_executes_a_task_is_shown() {
    let home = TestHome::new();
    let task = phased_task(&home, Weight::Small);
    let claim = claim("elsewhere", "2026-01-10T10:32:00Z");
    assert!(database(&home).claim(&task.id, &claim, None).unwrap());
    let execution = &home.show(&task)["execution"];
    assert_eq!(execution["executor_pid"], 4711);
    assert_eq!(execution["executor_hostname"], "elsewhere");
    assert_eq!(execution["executor_started_at"], "2026-01-10T10:32:00Z");
    assert_eq!(execution["last_heartbeat"], "2026-01-10T10:32:00Z");
}

fn claim(hostname: &str, at: &str) -> Claim {
    Claim {
        run: "run".to_owned(),
        pid: 4711,
        hostname: hostname.to_owned(),
        started_at: at.parse().unwrap(),
        heartbeat_at: at.parse().unwrap(),
    }
}

#[test]
fn a_phase_says_in_a_few_words_what_it_came_to() {
    let home = TestHome::new();
    let task = phased_task(&home, Weight::Medium);
    worked_on(&home, &task);
    let detail = home.phased(&task);
    let of = |name: &str| {
        detail
            .phases
            .iter()
            .find(|phase| phase.name == name)
            .unwrap()
    };
    assert_eq!(of("implement").status, PhaseStatus::Running);
    let words = of("implement").words();
    assert!(
        words.starts_with("all_tests_pass ✗, no_lint_errors not checked: "),
        "{words}"
    );
    assert_eq!(of("spec").words(), "ai gate, agent_confirms");
    assert_eq!((of("spec").sign(), of("implement").sign()), ("·", "▶"));
    assert_eq!(
        (of("implement").used, of("implement").max_iterations),
        (2, 10)
    );
    // It comes first in the plan, and has not begun.
    assert_eq!(detail.current_phase().unwrap().name, "spec");
    assert_eq!(detail.usage.in_brief(), "≥ $0.25");
}

#[test]
fn what_is_kept_of_phases_goes_with_the_task_from_the_trash() {
    let home = TestHome::new();
    let task = phased_task(&home, Weight::Small);
    worked_on(&home, &task);
    let commit = home.git(&home.shop(), &["rev-parse", "HEAD"]);
    let reference = format!("refs/orange/checkpoint/{}/implement/001", task.id);
    home.git(&home.shop(), &["update-ref", &reference, commit.trim()]);
    let kept = || {
        let refs = home.git(&home.shop(), &["for-each-ref", "refs/orange/checkpoint"]);
        let execution = database(&home).execution(&task.id).unwrap();
        (
            execution.is_some_and(|known| !known.iterations.is_empty()),
            !refs.trim().is_empty(),
        )
    };
    home.delete(&task).ok();
    assert_eq!(kept(), (true, true));
    home.restore(&task.id, None).ok();
    assert_eq!(home.show(&task)["execution"]["current_iteration"], 2);
    home.delete(&task).ok();
    home.pass(Duration::from_secs(60 * 24 * 60 * 60));
    home.expire_trash(&task);
    assert_eq!(kept(), (false, false));
}

#[test]
fn doctor_finds_plans_that_cannot_be_read_claims_that_were_left_and_transcripts_without_a_task() {
    let home = TestHome::new();
    let task = phased_task(&home, Weight::Small);
    assert_eq!(home.problems(), Vec::<String>::new());
    let claim = claim("elsewhere", "2026-01-10T10:32:00Z");
    assert!(database(&home).claim(&task.id, &claim, None).unwrap());
    let mut bad = plan(&home, &task);
    bad.phases[0].max_iterations = 0;
    let fresh = Execution::default();
    database(&home)
        .replace_plan(&task.id, &bad, true, &fresh)
        .unwrap();
    let ghost = home.folder().join("tasks/shop/ghost/transcripts");
    std::fs::create_dir_all(&ghost).unwrap();
    let found = home.problems();
    let has = |text: &str| found.iter().any(|problem| problem.contains(text));
    for text in [
        "the plan of",
        "an executor that is gone (process 4711 on elsewhere) still has it",
        "ghost: has transcripts and no task",
    ] {
        assert!(has(text), "{text}: {found:#?}");
    }
    // Its details are shown all the same.
    let shown = home.show(&task);
    assert!(
        shown["execution"]["problem"]
            .as_str()
            .unwrap()
            .contains("the plan of")
    );
    let left = home.repair();
    assert!(
        !left.iter().any(|problem| problem.contains("4711")),
        "{left:#?}"
    );
    assert_eq!(database(&home).claim_of(&task.id).unwrap(), None);
}
