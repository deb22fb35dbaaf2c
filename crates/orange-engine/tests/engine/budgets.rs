//! Budgets: what counts for them, what they keep from starting, and what costs are put together to.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_core::Timestamp;
use orange_core::cost::CostBy;
use orange_core::task::{Weight, WorkflowName};
use orange_core::usage::Usage;
use orange_core::work::execution::{Execution, Iteration, IterationKind, Outcome};
use orange_engine::Caller;
use orange_engine::database::Database;
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
        outcome: Some(Outcome::Continue),
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
    assert_eq!(stored.time_of_attempt("implement"), Duration::ZERO);
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
        outcome: Some(Outcome::Service),
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
