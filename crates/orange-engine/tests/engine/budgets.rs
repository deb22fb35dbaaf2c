//! Budgets: what counts for them, what they keep from starting, and what costs are put together to.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_core::Timestamp;
use orange_core::cost::CostBy;
use orange_core::task::{Weight, WorkflowName};
use orange_core::usage::Usage;
use orange_core::work::execution::{
    Execution, ExecutionRules, Iteration, IterationKind, IterationOutcome,
};
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::work::plan::Plan;
use orange_engine::Caller;
use orange_engine::database::Database;
use orange_engine::verbs::config;
use orange_engine::views::cost::{self, CostReport, CostWish};
use serde_json::json;
use std::fs;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);

fn with_settings(text: &str) -> TestHome {
    let home = TestHome::new();
    fs::write(home.folder().join("config.yaml"), text).unwrap();
    home
}

fn phased(home: &TestHome, branch: &str) -> TestTask {
    home.create_with(branch, |new| {
        new.workflow = Some(WorkflowName::Phased);
        new.weight = Some(Weight::Small);
    })
}

/// An iteration that ended then.
fn iteration(number: u32, at: Timestamp, cost: Option<f64>) -> Iteration {
    Iteration {
        phase: "implement".to_owned(),
        iteration: number,
        attempt: 1,
        harness: "sim".to_owned(),
        model: Some(if cost.is_some() { "m" } else { "x" }.to_owned()),
        started_at: at,
        ended_at: Some(at),
        outcome: Some(IterationOutcome::Continue),
        usage: Usage {
            input: 1_000,
            output: 500,
            cost,
            ..Usage::default()
        },
        advanced: true,
        ..Iteration::default()
    }
}

fn store(home: &TestHome, task: &TestTask, iterations: Vec<Iteration>) {
    let mut database = Database::open(&home.folder()).unwrap();
    let before = database.execution(&task.id).unwrap().unwrap_or_default();
    let execution = Execution {
        iterations,
        ..before
    };
    database.store_execution(&task.id, &execution).unwrap();
}

fn report(home: &TestHome, by: CostBy) -> CostReport {
    let wish = CostWish {
        by,
        project: None,
        since: None,
    };
    home.call(Caller::Human, |call| cost::cost(call, &wish))
        .value()
}

/// The names with what they cost.
fn rows(report: &CostReport) -> Vec<(String, String)> {
    let rows = report.rows.iter().map(|row| {
        let name = row.name.clone().unwrap_or_default();
        (name, row.figures.usage.in_brief())
    });
    rows.collect()
}

#[test]
fn a_task_says_what_of_its_budget_is_spent() {
    let home = with_settings("budget:\n  task: 1\n  warn_at: 50%\n");
    let task = phased(&home, "export");
    let now = Timestamp::now();
    let detail = home.phased(&task);
    assert_eq!(detail.budget.unwrap().in_brief(), "$0.00 of $1.00");
    // Every kind of iteration counts.
    let judge = Iteration {
        kind: IterationKind::Judge,
        ..iteration(2, now, Some(0.25))
    };
    store(&home, &task, vec![iteration(1, now, Some(0.25)), judge]);
    let budget = &home.show(&task)["execution"]["budget"];
    assert_eq!(
        (&budget["limit"], &budget["spent"], &budget["state"]),
        (&json!(1.0), &json!(0.5), &json!("warn")),
        "{budget}"
    );
    assert!(!home.why(&task).contains("budget"), "{}", home.why(&task));
    let unpriced = iteration(3, now, None);
    let dear = iteration(4, now, Some(0.6));
    let all = vec![
        iteration(1, now, Some(0.25)),
        iteration(2, now, Some(0.25)),
        unpriced,
        dear,
    ];
    store(&home, &task, all);
    let why = home.why(&task);
    assert!(
        why.contains(
            "its budget of $1.00 is spent (≥ $1.10); 1.5k tokens have no price (prices.x)"
        ),
        "{why}"
    );
    // A price makes it whole.
    let settings = "budget:\n  task: 3\nprices:\n  x: {input: 1000, output: 0}\n";
    fs::write(home.folder().join("config.yaml"), settings).unwrap();
    let budget = home.phased(&task).budget.unwrap();
    assert_eq!(
        (budget.in_brief().as_str(), budget.partial),
        ("$2.10 of $3.00", false)
    );
}

#[test]
fn a_task_whose_budget_is_spent_does_not_start_unless_a_person_says_so() {
    let home = with_settings("budget:\n  month: 2\n");
    let (spender, task) = (phased(&home, "spender"), phased(&home, "export"));
    store(
        &home,
        &spender,
        vec![iteration(1, Timestamp::now(), Some(2.5))],
    );
    let why = home.why(&task);
    assert!(
        why.contains("the month's budget of $2.00 is spent ($2.50)"),
        "{why}"
    );
    assert_eq!(home.show(&task)["status"], "planned");
    // An interactive task is not stopped, and whoever starts it is told.
    let other = home.create("other");
    let started = home.spawn(&other);
    assert!(
        started
            .notices
            .iter()
            .any(|told| told.contains("the month's budget")),
        "{:?}",
        started.notices
    );
    assert!(started.value().is_some());
    // By itself it would not start.
    let queued = home.create_with("queued", |new| new.starts = true);
    assert_eq!(home.tick(), 0);
    assert!(
        home.why(&queued).contains("the month's budget"),
        "{}",
        home.why(&queued)
    );
    // In the next month it does.
    home.pass(HOUR * 24 * 32);
    assert_eq!(home.tick(), 1);
    assert!(!home.why(&task).contains("budget"));
}

#[test]
fn what_a_wrong_clock_dates_elsewhere_counts_elsewhere() {
    let home = with_settings("budget:\n  month: 2\n");
    let task = phased(&home, "export");
    let at = |text: &str| -> Timestamp { text.parse().unwrap() };
    let now = Timestamp::now();
    let backwards = Iteration {
        started_at: now + HOUR,
        ..iteration(4, now, Some(0.5))
    };
    let odd = vec![
        iteration(1, at("1970-01-01T00:00:00Z"), Some(4.0)),
        iteration(2, at("9999-12-30T00:00:00Z"), Some(8.0)),
        iteration(3, at("-001000-01-01T00:00:00Z"), Some(16.0)),
        backwards,
    ];
    store(&home, &task, odd);
    let by_day = report(&home, CostBy::Day);
    assert_eq!(by_day.budget.as_ref().unwrap().spent, 0.5);
    assert_eq!(by_day.total.cost, Some(28.5));
    assert_eq!(by_day.rows.len(), 4);
    let stored = Database::open(&home.folder()).unwrap().execution(&task.id);
    let stored = stored.unwrap().unwrap();
    let plan = Plan::built_in(Weight::Small);
    let implement = plan.iter().find(|phase| phase.name == "implement").unwrap();
    assert_eq!(
        stored.time_of_attempt(implement, &ExecutionRules::default()),
        Duration::ZERO
    );
}

#[test]
fn costs_are_put_together_by_what_is_asked_for() {
    let home = TestHome::new();
    let (one, two) = (phased(&home, "one"), phased(&home, "two"));
    let now = Timestamp::now();
    store(
        &home,
        &one,
        vec![iteration(1, now, Some(0.25)), iteration(2, now, None)],
    );
    let silent = Iteration {
        usage: Usage::default(),
        ..iteration(2, now, Some(0.0))
    };
    let failed = Iteration {
        outcome: Some(IterationOutcome::Service),
        usage: Usage::default(),
        ..iteration(3, now, Some(0.0))
    };
    let test = Iteration {
        phase: "test".to_owned(),
        ..iteration(1, now, Some(1.5))
    };
    store(
        &home,
        &two,
        vec![iteration(1, now, Some(0.5)), silent, failed, test],
    );
    let named = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs
            .iter()
            .map(|(name, cost)| ((*name).to_owned(), (*cost).to_owned()));
        pairs.collect()
    };
    let by_task = report(&home, CostBy::Task);
    assert_eq!(
        rows(&by_task),
        named(&[("TASK-002", "≥ $2.00"), ("TASK-001", "≥ $0.25")])
    );
    assert_eq!(by_task.rows[0].project.as_deref(), Some("shop"));
    assert_eq!(by_task.total.usage.in_brief(), "≥ $2.25");
    assert_eq!(
        (by_task.total.count, by_task.total.unpriced_tokens),
        (5, 1_500)
    );
    let missing = by_task.missing_prices.as_deref();
    assert_eq!(missing, Some("1.5k tokens have no price (prices.x)"));
    let by_phase = report(&home, CostBy::Phase);
    assert_eq!(
        rows(&by_phase),
        named(&[("test", "$1.50"), ("implement", "≥ $0.75")])
    );
    let by_model = report(&home, CostBy::Model);
    assert_eq!(
        rows(&by_model),
        named(&[("m", "≥ $2.25"), ("x", "1.5k tok")])
    );
    assert_eq!(
        rows(&report(&home, CostBy::Harness)),
        named(&[("sim", "≥ $2.25")])
    );
    assert_eq!(
        rows(&report(&home, CostBy::Project)),
        named(&[("shop", "≥ $2.25")])
    );
    // A deleted task has no name any more, and counts until it is gone.
    home.delete(&two).ok();
    let by_task = report(&home, CostBy::Task);
    assert_eq!(by_task.total.cost, Some(2.25));
    assert_eq!(
        (by_task.rows[0].summary.as_deref(), &by_task.rows[0].project),
        (None, &None)
    );
    let wish = CostWish {
        by: CostBy::Day,
        project: Some("nothing".to_owned()),
        since: None,
    };
    home.call(Caller::Human, |call| cost::cost(call, &wish))
        .result
        .unwrap_err();
}

/// A turn of so many tokens, of which nobody told the cost.
fn of_tokens(number: u32, input: u64, output: u64) -> Iteration {
    let usage = Usage {
        input,
        output,
        ..Usage::default()
    };
    Iteration {
        usage,
        ..iteration(number, Timestamp::now(), None)
    }
}

#[test]
fn a_price_that_is_set_later_shows_one_figure_everywhere() {
    let home = with_settings("budget:\n  task: 4\n");
    let task = phased(&home, "export");
    store(&home, &task, vec![of_tokens(1, 1_000_000, 100_000)]);
    let execution = &home.show(&task)["execution"];
    assert_eq!(execution["cost"]["total_cost_usd"], json!(null));
    home.config("prices:\n  x: {input: 3, output: 15}\n");
    let shown = home.show(&task);
    let execution = &shown["execution"];
    let cost = json!({"total_cost_usd": 4.5, "partial": false});
    assert_eq!(execution["cost"], cost);
    assert_eq!(execution["phases"]["implement"]["cost"], cost);
    assert_eq!(shown["usage"]["cost"], 4.5, "{}", shown["usage"]);
    let detail = home.phased(&task);
    assert_eq!(detail.usage.in_brief(), "$4.50");
    assert_eq!(detail.phases[0].usage.in_brief(), "$4.50");
    assert_eq!(detail.budget.unwrap().in_brief(), "$4.50 of $4.00");
    assert_eq!(report(&home, CostBy::Task).total.usage.in_brief(), "$4.50");
    // Of a later turn that told nothing nobody knows the cost.
    let silent = of_tokens(2, 0, 0);
    store(&home, &task, vec![of_tokens(1, 1_000_000, 100_000), silent]);
    let execution = &home.show(&task)["execution"];
    let cost = json!({"total_cost_usd": 4.5, "partial": true});
    assert_eq!(execution["cost"], cost);
    assert_eq!(execution["phases"]["implement"]["cost"], cost);
    let total = report(&home, CostBy::Task).total;
    assert_eq!(total.usage.in_brief(), "≥ $4.50");
}

#[test]
fn a_price_that_lacks_a_part_is_named() {
    let home = with_settings("prices:\n  x: {input: 3}\n");
    let task = phased(&home, "export");
    store(&home, &task, vec![of_tokens(1, 1_000_000, 100_000)]);
    let told = report(&home, CostBy::Task);
    assert_eq!(told.total.usage.in_brief(), "≥ $3.00");
    assert_eq!(told.total.unpriced_tokens, 100_000);
    let missing = told.missing_prices.as_deref();
    let words = "100.0k tokens have no price (output of prices.x)";
    assert_eq!(missing, Some(words));
}

#[test]
fn sums_of_endless_tokens_end_at_the_largest_number() {
    let home = TestHome::new();
    let task = phased(&home, "export");
    let turns = [1, 2, 3].map(|number| of_tokens(number, u64::MAX, u64::MAX));
    store(&home, &task, turns.to_vec());
    let total = report(&home, CostBy::Task).total;
    assert_eq!(total.unpriced_tokens, u64::MAX);
    assert_eq!(home.phased(&task).usage.tokens(), u64::MAX);
}

#[test]
fn a_setting_that_lets_tasks_start_has_somebody_look_at_the_queue() {
    let home = with_settings("budget:\n  month: 2\n");
    let spender = phased(&home, "spender");
    store(
        &home,
        &spender,
        vec![iteration(1, Timestamp::now(), Some(2.5))],
    );
    let wanted = home.folder().join("queue.wanted");
    let set = |key: &str, value: &str| {
        let values = [value.to_owned()];
        home.call(Caller::Human, |call| {
            config::change_setting(&mut call.clone(), key, Some(&values))
        })
        .ok();
    };
    // Nothing waits.
    set("budget.warn_at", "70");
    assert!(!wanted.exists());
    home.create_with("queued", |new| new.starts = true);
    assert_eq!(home.look_at_queue(), 0);
    for (key, value) in [
        ("agents.limit", "9"),
        ("prices.m", "{input: 1}"),
        ("budget.task", "9"),
    ] {
        set(key, value);
        assert!(wanted.exists(), "{key}");
        assert_eq!(home.look_at_queue(), 0, "{key}");
        assert!(!wanted.exists());
    }
    set("list.keep_days", "3");
    assert!(!wanted.exists());
    // Nobody can be asked to look; the setting is written all the same.
    fs::create_dir(&wanted).unwrap();
    set("budget.month", "3");
    fs::remove_dir(&wanted).unwrap();
    set("budget.month", "9");
    assert_eq!(home.look_at_queue(), 1);
}

#[test]
fn a_gate_of_a_task_that_is_not_made_yet_names_no_task() {
    let home = TestHome::new();
    let refused = home.try_create("export", |new| {
        new.workflow = Some(WorkflowName::Phased);
        new.gates = vec![("nosuch".to_owned(), PhaseGateKind::Human)];
    });
    let message = &refused.error().message;
    assert_eq!(message, "the task has no phase \"nosuch\"");
}
