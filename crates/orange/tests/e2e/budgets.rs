//! Budgets and `orange cost`, with scripted agents: a task pauses before the next turn, a person lets it go on, and nothing that
//! was spent is forgotten.

use crate::agent_models::with_clis;
use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_kills::executors_die;
use crate::phased_runs::phased;
use orange_engine::runs::ProcessId;
use std::fs;

/// Three turns of 30 cents for implement; test costs nothing.
const SPENDS: &str = "\
executor:
  - answer: complete
    summary: nothing to do
executor implement:
  - use: {input: 1000, output: 100, cost: 0.3, model: sim-1}
  - run: echo turn >>ROOT/turns
  - write: '{iteration}.txt'
    text: done
  - answer: continue
    summary: goes on
executor implement iteration 3:
  - use: {input: 1000, output: 100, cost: 0.3, model: sim-1}
  - run: echo turn >>ROOT/turns
  - answer: complete
    summary: implemented
";

const NOTES: &str =
    "notify:\n  command: printf '%s\\n' \"$ORANGE_NOTIFY_MESSAGE\" >> \"$ORANGE_HOME/told\"\n";

fn turns(env: &Agents) -> usize {
    let text = fs::read_to_string(env.root().join("turns")).unwrap_or_default();
    text.lines().count()
}

fn told(env: &Agents, words: &str) -> usize {
    let text = fs::read_to_string(env.home().join("told")).unwrap_or_default();
    text.lines().filter(|line| line.contains(words)).count()
}

fn forced(task: &TestTask) -> Vec<(bool, String)> {
    let history = task.history().into_iter();
    let notes = history.filter(|event| event["type"] == "budget.forced");
    notes
        .map(|event| {
            let by = event["by"].as_str().unwrap_or_default().to_owned();
            (event["forced"] == true, by)
        })
        .collect()
}

#[test]
fn a_task_pauses_where_its_budget_is_spent_and_goes_on_when_a_person_says_so() {
    let env = Agents::configured(&format!("{NOTES}budget:\n  task: 0.5\n  warn_at: 60\n"));
    let task = phased(&env, "small", SPENDS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "paused");
    // The turn that reached it is over, committed and counted.
    assert_eq!(turns(&env), 2);
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(files.contains("2.txt"), "{files}");
    let why = env.orange(["why", &task.key]).ok();
    why.says("its budget of $0.50 is spent ($0.60)")
        .says(&format!("next: orange resume {} --force", task.key));
    env.orange(["show", &task.key])
        .ok()
        .says("its budget of $0.50 is spent ($0.60)");
    env.until("the warning", || {
        told(&env, "$0.30 of its budget of $0.50") == 1
    });
    // Without force it waits, and says for what.
    env.orange(["resume", &task.key])
        .ok()
        .says("its budget of $0.50 is spent");
    env.look();
    assert_eq!((env.status(&task).as_str(), turns(&env)), ("planned", 2));
    assert_eq!(forced(&task), []);
    // Only a person changes that, so it stays in their inbox, and they are asked once.
    env.orange(["run", &task.key]).ok();
    env.orange(["inbox"])
        .ok()
        .says("its budget of $0.50 is spent ($0.60)\n")
        .says(&format!("orange run {} --force", task.key));
    assert_eq!(env.count(&task, "attention.raised"), 1);
    // Who takes it back is not asked any more; who asks for it again is.
    env.orange(["pause", &task.key]).ok();
    let withdrawn = env.orange(["inbox"]).ok();
    withdrawn.silent_about("needs attention");
    env.orange(["run", &task.key]).ok();
    assert_eq!(env.count(&task, "attention.raised"), 2);
    env.orange(["run", &task.key, "--force"]).ok();
    env.until_status(&task, "completed");
    assert_eq!(turns(&env), 3);
    // Who let it go on is in the journal, and it holds for that execution alone.
    let notes = [(true, "human".to_owned()), (false, "engine".to_owned())];
    env.until("it counts again", || forced(&task) == notes);
    env.orange(["log", "--task", &task.key]).ok();
    let execution = &env.show(&task)["execution"];
    assert_eq!(execution["budget"]["state"], "spent", "{execution}");
    assert_eq!(told(&env, "$0.30 of its budget"), 1);
}

#[test]
fn a_forced_run_of_a_phase_that_is_not_in_the_plan_changes_nothing() {
    let env = Agents::configured("budget:\n  task: 0.5\n");
    let task = phased(&env, "small", SPENDS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "paused");
    let run = env.orange(["run", &task.key, "--force", "--phase", "deploy"]);
    assert_ne!(run.code, 0);
    run.says("deploy").says("implement");
    env.look();
    assert_eq!((env.status(&task).as_str(), turns(&env)), ("paused", 2));
    assert_eq!(forced(&task), []);
}

#[test]
fn a_higher_budget_lets_it_go_on_too() {
    let env = Agents::configured("budget:\n  task: 0.5\n");
    let task = phased(&env, "small", SPENDS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "paused");
    env.orange(["config", "set", "budget.task", "2"]).ok();
    env.orange(["why", &task.key])
        .ok()
        .says(&format!("next: orange resume {}\n", task.key));
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!((turns(&env), forced(&task)), (3, Vec::new()));
}

#[test]
fn an_executor_that_dies_with_its_budget_spent_does_not_go_on() {
    let env = Agents::configured("budget:\n  task: 0.5\n");
    let task = phased(&env, "small", SPENDS, &[]);
    executors_die(&env, Some("execution.spent:2"));
    env.orange(["run", &task.key]).ok();
    let executor = ProcessId::of(env.run_agent(&task, "executor"));
    env.until("its executor is dead", || {
        executor
            .as_ref()
            .is_none_or(|executor| !executor.is_alive())
    });
    executors_die(&env, None);
    env.look();
    assert_eq!(env.status(&task), "paused");
    env.orange(["why", &task.key])
        .ok()
        .says("its budget of $0.50 is spent ($0.60)")
        .says("--force");
    env.orange(["resume", &task.key]).ok();
    env.look();
    assert_eq!((env.status(&task).as_str(), turns(&env)), ("planned", 2));
    env.orange(["pause", &task.key]).ok();
    env.orange(["resume", &task.key, "--force"]).ok();
    env.until_status(&task, "completed");
    assert_eq!(turns(&env), 3);
    let cost = env.orange(["cost", "--json"]).ok().json();
    let total = cost["total"]["cost"].as_f64().unwrap();
    assert!((total - 0.9).abs() < 1e-9, "{cost}");
}

#[test]
fn a_month_counts_what_interactive_agents_cost_and_its_end_stops_what_starts_by_itself() {
    let env = Agents::configured(&format!("{NOTES}budget:\n  month: 0.1\n"));
    env.orange(["config", "set", "agents.limit", "1"]).ok();
    let first = env.start(
        "Spend it",
        "\
worker:
  - wait for:
      file: ROOT/go
    timeout: 60s
  - end turn
  - hang
",
    );
    // As its harness notes it while the agent works.
    let used = r#"{"input": 57000, "output": 10, "cost": 0.12}"#;
    fs::write(env.run_folder(&first, "worker").join("usage.json"), used).unwrap();
    env.allow("go");
    env.until("the month's budget is told of", || {
        told(&env, "the month's budget of $0.10 is spent ($0.12)") == 1
    });
    // While it runs it counts, and afterwards too.
    let cost = env.orange(["cost"]).ok();
    cost.says(&first.key)
        .says("$0.12")
        .says("the month's budget of $0.10 is spent ($0.12)");
    let script = env.script("second", "worker:\n  - hang\n");
    let waits = env.create(["Wait for it", "--harness", &script]);
    assert_eq!(env.status(&waits), "pending");
    env.orange(["cancel", &first.key, "--yes"]).ok();
    env.look();
    assert_eq!(env.status(&waits), "pending");
    env.orange(["why", &waits.key])
        .ok()
        .says("the month's budget of $0.10 is spent ($0.12)")
        .says("next: orange spawn");
    let task = phased(&env, "small", SPENDS, &[]);
    env.orange(["run", &task.key])
        .ok()
        .says("the month's budget of $0.10 is spent");
    assert_eq!((env.status(&task).as_str(), turns(&env)), ("planned", 0));
    // The index is a cache, and what was spent is not.
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    let by_day = env.orange(["cost", "--by", "day", "--json"]).ok().json();
    assert_eq!(by_day["rows"].as_array().unwrap().len(), 1, "{by_day}");
    assert_eq!(by_day["budget"]["state"], "spent", "{by_day}");
    let by_phase = env.orange(["cost", "--by", "phase", "--json"]).ok().json();
    assert!(by_phase["rows"][0]["name"].is_null(), "{by_phase}");
    // A person starts an agent nevertheless, and is told.
    env.orange(["spawn", &waits.key])
        .ok()
        .says("the month's budget of $0.10 is spent");
    assert_eq!(env.status(&waits), "planning");
}

#[test]
fn costs_are_shown_by_what_is_asked_for() {
    let env = Agents::new();
    env.orange(["cost"])
        .ok()
        .says("no agent has told what it used");
    let task = phased(&env, "small", SPENDS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let by_model = env.orange(["cost", "--by", "model"]).ok();
    by_model
        .says("MODEL")
        .says("sim-1")
        .says("≥ $0.90")
        .says("total");
    let by_task = env
        .orange(["cost", "--since", "1h", "--project", "shop"])
        .ok();
    by_task.says(&task.key).says("Rename the button");
    env.orange(["cost", "--by", "colour"]).fails_with(2);
    env.orange(["cost", "--since", "soon"]).fails_with(2);
    env.orange(["cost", "--project", "nothing"]).fails_with(4);
}

/// Nothing that costs anything comes after it.
#[test]
fn the_approval_of_the_last_phase_completes_a_task_whose_budget_is_spent() {
    let env = Agents::configured(
        "budget:
  task: 0.1
",
    );
    let spends =
        "executor:\n  - use: {input: 1000, output: 100, cost: 0.2}\n  - answer: complete\n";
    let task = phased(&env, "trivial", spends, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(env.count(&task, "iteration.started"), 1);
}

#[test]
fn the_approval_of_another_phase_leaves_the_task_in_the_inbox() {
    let env = Agents::configured("budget:\n  task: 0.1\n");
    let spends =
        "executor:\n  - use: {input: 1000, output: 100, cost: 0.2}\n  - answer: complete\n";
    let task = phased(&env, "small", spends, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["approve", &task.key])
        .ok()
        .says("its budget of $0.10 is spent");
    env.until("its person is asked", || {
        env.count(&task, "attention.raised") == 1
    });
    env.orange(["inbox"])
        .ok()
        .says("its budget of $0.10 is spent ($0.20)");
    env.look();
    assert_eq!(env.count(&task, "attention.raised"), 1);
}

#[test]
fn a_price_that_is_set_later_counts_in_lists_too() {
    let env = Agents::new();
    let script = "\
executor:
  - use: {input: 1000000, output: 100000, model: sim-1}
  - answer: complete
    summary: nothing to do
";
    let task = phased(&env, "small", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["show", &task.key])
        .ok()
        .says("2.0M in, 200.0k out");
    env.orange(["config", "set", "prices.sim-1", "{input: 3}"])
        .ok();
    env.orange(["cost"])
        .ok()
        .says("≥ $6.00")
        .says("200.0k tokens have no price (output of prices.sim-1)");
    env.orange(["config", "set", "prices.sim-1", "{input: 3, output: 15}"])
        .ok();
    for command in [
        &["cost"][..],
        &["show", &task.key],
        &["ls", "--all"],
        &["transcript", &task.key, "--list"],
    ] {
        let figure = if command[0] == "transcript" {
            "$4.50"
        } else {
            "$9.00"
        };
        env.orange(command).ok().says(figure).silent_about("≥");
    }
    // What waits for a budget says so as soon as it is asked for.
    env.orange(["config", "set", "budget.month", "1"]).ok();
    env.orange(["request-changes", &task.key, "bigger"])
        .ok()
        .says("TASK-001: completed → planned")
        .says("is queued: the month's budget of $1.00 is spent");
}

#[test]
fn a_price_counts_for_listed_interactive_tasks_as_it_does_when_one_is_shown() {
    let env = with_clis("");
    let task = env.create(["Price it", "--harness", "claude", "--model", "sim-1"]);
    let used = r#"{"input": 2000000, "output": 200000}"#;
    fs::write(env.run_folder(&task, "worker").join("usage.json"), used).unwrap();
    let figure_is = |figure: &str| {
        for command in [&["cost"][..], &["show", &task.key], &["ls", "--all"]] {
            env.orange(command).ok().says(figure).silent_about("≥");
        }
    };
    let price = |price: &str| env.orange(["config", "set", "prices.sim-1", price]).ok();
    // While it runs, and when it is over.
    price("{input: 3, output: 15}");
    figure_is("$9.00");
    env.orange(["cancel", &task.key, "--yes"]).ok();
    figure_is("$9.00");
    price("{input: 6, output: 15}");
    figure_is("$15.00");
}
