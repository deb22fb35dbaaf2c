//! Executions in a real database: what is read is what was stored, and nothing that was spent is lost or counted twice.

use super::*;
use crate::database::MIGRATIONS;
use orange_core::task::Weight;
use orange_core::usage::Usage;
use orange_core::work::answer::Answer;
use orange_core::work::execution::{
    CriterionResult, Execution, Iteration, IterationKind, IterationOutcome, PhaseState,
    PhaseStatus, RetryContext, Rewinding,
};
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::work::plan::Plan;
use proptest::prelude::*;
use std::sync::Barrier;
use std::time::Duration;
use tempfile::TempDir;

const TASK: &str = "t1";

fn home() -> (TempDir, Database) {
    let home = tempfile::tempdir().unwrap();
    let database = Database::open(home.path()).unwrap();
    (home, database)
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn plan() -> Plan {
    Plan {
        task_id: "TASK-001".into(),
        weight: Weight::Small,
        generated_at: at(0),
        phases: Plan::built_in(Weight::Small),
    }
}

fn opened(number: u32) -> Iteration {
    Iteration {
        phase: "implement".into(),
        iteration: number,
        attempt: 1,
        kind: IterationKind::Turn,
        run: "r1".into(),
        harness: "sim".into(),
        session: Some(format!("s{number}")),
        started_at: at(i64::from(number)),
        ..Iteration::default()
    }
}

fn cost(cost: f64) -> Usage {
    Usage {
        input: 100,
        output: 20,
        cache_read: 5,
        cache_write: 7,
        cost: Some(cost),
        cost_partial: false,
    }
}

fn ended(number: u32, outcome: IterationOutcome, usage: Usage) -> Iteration {
    Iteration {
        outcome: Some(outcome),
        ended_at: Some(at(100)),
        usage,
        answer: Some(Answer::read(
            r#"{"status": "complete", "summary": "Done."}"#,
        )),
        ..opened(number)
    }
}

/// An execution in which that iteration runs.
fn running(number: u32) -> Execution {
    let mut execution = Execution::default();
    assert!(execution.open(&plan(), opened(number)));
    execution
}

fn open(database: &mut Database, number: u32) -> bool {
    database
        .open_iteration(TASK, &opened(number), &running(number))
        .unwrap()
}

fn stored(database: &mut Database) -> Execution {
    database.execution(TASK).unwrap().unwrap_or_default()
}

/// What is marked, in a word each.
fn marked(database: &mut Database) -> Vec<String> {
    let rows = database.unjournalled(TASK).unwrap();
    let words = rows.iter().map(|row| match row {
        Unjournalled::Plan { .. } => "plan".to_owned(),
        Unjournalled::Phase { phase, .. } => format!("{} {}", phase.name, phase.status),
        Unjournalled::Opened { iteration, .. } => format!("opened {}", iteration.iteration),
        Unjournalled::Ended { iteration, .. } => format!("ended {}", iteration.iteration),
        Unjournalled::Decision { decision, .. } => format!("decision {}", decision.by),
        Unjournalled::Spec { .. } => "spec".to_owned(),
        Unjournalled::Forced { forced, .. } => format!("forced {forced}"),
        Unjournalled::TestResults { results, .. } => format!("results {}", results.import),
    });
    words.collect()
}

fn marks(rows: &[Unjournalled]) -> Vec<Mark> {
    rows.iter().map(Unjournalled::mark).collect()
}

fn journal_all(database: &mut Database) {
    let marks = marks(&database.unjournalled(TASK).unwrap());
    database.note_journalled(TASK, &marks, None).unwrap();
}

#[test]
fn what_was_stored_is_read() {
    let (_home, mut database) = home();
    assert_eq!(database.execution(TASK).unwrap(), None);
    assert_eq!(database.plan(TASK).unwrap(), None);
    let iteration = Iteration {
        head: Some("abc".into()),
        checked: true,
        checks: vec![CriterionResult {
            criterion: "all_tests_pass".into(),
            passed: None,
            detail: "no command".into(),
        }],
        error: Some("late".into()),
        advanced: true,
        transcript: Some("01-implement-001.md".into()),
        ..ended(1, IterationOutcome::Continue, cost(0.25))
    };
    let phase = PhaseState {
        status: PhaseStatus::Running,
        attempt: 2,
        retries: 1,
        started_at: Some(at(1)),
        completed_at: Some(at(2)),
        commit_sha: Some("abc".into()),
        session_id: Some("s1".into()),
        error: Some("failed before".into()),
        summary: Some("half of it".into()),
        ..PhaseState::new("implement")
    };
    let execution = Execution {
        phases: vec![phase, PhaseState::new("test")],
        iterations: vec![iteration, opened(2)],
        only_phase: Some("implement".into()),
        only_phase_over: true,
        over_budget: true,
        retry_context: vec![RetryContext {
            phase: "implement".into(),
            from: Some("test".into()),
            text: "two tests fail".into(),
            said: Some("rejected: two tests fail".into()),
            told_since: Some(1),
            settled: true,
        }],
        error: Some("test: two tests fail".into()),
        rewinding: Some(Rewinding {
            phase: "implement".into(),
            ..Rewinding::default()
        }),
    };
    database.store_execution(TASK, &execution).unwrap();
    assert_eq!(stored(&mut database), execution);
    database
        .replace_plan(TASK, &plan(), true, &execution)
        .unwrap();
    let found = database.plan(TASK).unwrap().unwrap();
    assert!(found.edited);
    assert_eq!(found.parse().unwrap().plan, plan());
    assert_eq!(stored(&mut database), execution);
    assert_eq!(database.execution("t2").unwrap(), None);
    database.forget_phased(TASK).unwrap();
    assert_eq!(stored(&mut database), Execution::default());
    assert_eq!(database.plan(TASK).unwrap(), None);
    assert_eq!(marked(&mut database), [""; 0]);
}

#[test]
fn an_iteration_is_opened_once_and_by_whoever_has_the_task() {
    let (home, mut database) = home();
    assert!(open(&mut database, 1));
    let spent = ended(1, IterationOutcome::Completed, cost(0.5));
    assert!(database.spend(TASK, &spent).unwrap());
    assert!(!open(&mut database, 1), "it was there");
    assert_eq!(stored(&mut database).iterations, [spent]);
    assert!(database.claim(TASK, &claim("r2"), None).unwrap());
    assert!(!open(&mut database, 2), "another run has the task");
    assert_eq!(stored(&mut database).iterations.len(), 1);
    assert!(database.release_claim(TASK, "r2").unwrap());

    let barrier = Barrier::new(4);
    let won = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut own = Database::open(home.path()).unwrap();
                    barrier.wait();
                    open(&mut own, 2)
                })
            })
            .collect();
        let done = threads.into_iter().map(|thread| thread.join().unwrap());
        done.filter(|won| *won).count()
    });
    assert_eq!(won, 1);
    assert_eq!(stored(&mut database).iterations.len(), 2);
}

#[test]
fn the_costs_of_one_task_are_found_without_those_of_others() {
    let (_home, mut database) = home();
    let of = |iterations: &[Iteration]| Execution {
        iterations: iterations.to_vec(),
        ..Execution::default()
    };
    let turn = |number, usd| ended(number, IterationOutcome::Completed, cost(usd));
    let own = of(&[turn(1, 0.5), turn(2, 0.25)]);
    database.store_execution(TASK, &own).unwrap();
    database
        .store_execution("t2", &of(&[turn(1, 9.0)]))
        .unwrap();
    let mut found = Vec::new();
    database
        .each_cost_of(TASK, |cost| found.push((cost.task, cost.usage.cost)))
        .unwrap();
    assert_eq!(
        found,
        [(TASK.to_owned(), Some(0.5)), (TASK.to_owned(), Some(0.25))]
    );
    let sql = "EXPLAIN QUERY PLAN SELECT cost FROM iterations WHERE task_id = ?1 ORDER BY id";
    let plan: String = database
        .connection
        .query_row(sql, [TASK], |row| row.get(3))
        .unwrap();
    assert!(plan.starts_with("SEARCH"), "{plan}");
}

#[test]
fn what_a_turn_came_to_is_not_taken_back_by_who_read_before() {
    let (_home, mut database) = home();
    assert!(open(&mut database, 1));
    let stale = stored(&mut database);
    let spent = ended(1, IterationOutcome::Completed, cost(0.5));
    assert!(database.spend(TASK, &spent).unwrap());
    assert!(
        !database
            .spend(TASK, &ended(1, IterationOutcome::Failed, cost(9.0)))
            .unwrap()
    );
    // Somebody takes it for open, somebody else for abandoned.
    database.store_execution(TASK, &stale).unwrap();
    let mut orphaned = stale.clone();
    orphaned.orphaned(at(200));
    database.store_execution(TASK, &orphaned).unwrap();
    assert_eq!(stored(&mut database).iterations.first(), Some(&spent));

    let checked = Iteration {
        checked: true,
        head: Some("abc".into()),
        ..spent
    };
    database.checked(TASK, &checked).unwrap();
    let advanced = Iteration {
        outcome: Some(IterationOutcome::Continue),
        advanced: true,
        ..checked
    };
    let execution = stored(&mut database);
    database.advanced(TASK, &advanced, &execution).unwrap();
    database.store_execution(TASK, &stale).unwrap();
    assert_eq!(stored(&mut database).iterations, [advanced]);
}

#[test]
fn a_turn_whose_work_cannot_be_committed_is_done_again() {
    let (_home, mut database) = home();
    assert!(open(&mut database, 1));
    // While it is open nobody knows what it will leave.
    database.not_committed(TASK, "no disk").unwrap();
    let spent = ended(1, IterationOutcome::Completed, cost(0.5));
    assert!(database.spend(TASK, &spent).unwrap());
    database.not_committed(TASK, "no disk").unwrap();
    let failed = Iteration {
        outcome: Some(IterationOutcome::Failed),
        error: Some("no disk".into()),
        ..spent
    };
    assert_eq!(stored(&mut database).iterations, [failed]);

    assert!(open(&mut database, 2));
    let committed = Iteration {
        head: Some("abc".into()),
        ..ended(2, IterationOutcome::Completed, cost(0.5))
    };
    assert!(database.spend(TASK, &committed).unwrap());
    database.not_committed(TASK, "no disk").unwrap();
    assert_eq!(stored(&mut database).iterations.last(), Some(&committed));
}

#[test]
fn the_cost_of_a_turn_that_was_taken_for_interrupted_is_kept() {
    let (_home, mut database) = home();
    assert!(open(&mut database, 1));
    let mut orphaned = stored(&mut database);
    orphaned.orphaned(at(50));
    database.store_execution(TASK, &orphaned).unwrap();
    journal_all(&mut database);
    let late = ended(1, IterationOutcome::Completed, cost(0.5));
    assert!(!database.spend(TASK, &late).unwrap());
    let found = stored(&mut database);
    assert_eq!(found.usage(), cost(0.5));
    assert_eq!(
        found.iterations[0].outcome,
        Some(IterationOutcome::Interrupted)
    );
    assert!(found.iterations[0].answer.is_none() && found.iterations[0].advanced);
    assert_eq!(marked(&mut database), ["ended 1"]);
    // One that nobody has opened is not lost either.
    database
        .spend(TASK, &ended(7, IterationOutcome::Failed, cost(1.0)))
        .unwrap();
    assert_eq!(stored(&mut database).usage().cost, Some(1.5));
}

#[test]
fn every_change_is_marked_until_the_journal_tells_of_it() {
    let (_home, mut database) = home();
    let fresh = Execution::default();
    database.replace_plan(TASK, &plan(), false, &fresh).unwrap();
    assert!(open(&mut database, 1));
    let expected = ["plan", "opened 1", "implement running"];
    assert_eq!(marked(&mut database), expected, "test has not begun");
    let before = database.unjournalled(TASK).unwrap();
    database
        .spend(TASK, &ended(1, IterationOutcome::Completed, cost(0.5)))
        .unwrap();
    let mut execution = stored(&mut database);
    execution.phases[0].status = PhaseStatus::Completed;
    database.store_execution(TASK, &execution).unwrap();
    database
        .replace_plan(TASK, &plan(), true, &execution)
        .unwrap();
    database
        .note_journalled(TASK, &marks(&before), None)
        .unwrap();
    // What has changed since it was read is still to be told.
    assert_eq!(
        marked(&mut database),
        ["ended 1", "implement completed", "plan"]
    );
    let rows = database.unjournalled(TASK).unwrap();
    let edited = |row: &Unjournalled| matches!(row, Unjournalled::Plan { edited: true, .. });
    assert!(rows.last().is_some_and(edited));
    database
        .note_journalled("t2", &[rows[0].mark()], None)
        .unwrap();
    assert_eq!(marked(&mut database).len(), 3);
    journal_all(&mut database);
    // The same again is no change, and neither is what the journal does not tell.
    execution = stored(&mut database);
    execution.phases[0].session_id = Some("s9".into());
    database.store_execution(TASK, &execution).unwrap();
    assert_eq!(marked(&mut database), [""; 0]);
    assert_eq!(stored(&mut database), execution);
    execution.phases.remove(0);
    database.store_execution(TASK, &execution).unwrap();
    assert_eq!(stored(&mut database).phases, execution.phases);
}

#[test]
fn a_decision_is_stored_with_what_it_changes() {
    let (_home, mut database) = home();
    let decision = |by: &str, approved| GateDecision {
        phase: "spec".into(),
        gate_type: PhaseGateKind::Human,
        attempt: 1,
        approved,
        reason: (!approved).then(|| "too short".into()),
        by: by.into(),
        at: at(3),
    };
    let all = [decision("mira", false), decision("jo", true)];
    for decision in &all {
        database.decide(TASK, decision, &running(1)).unwrap();
    }
    assert_eq!(database.decisions(TASK).unwrap(), all);
    assert_eq!(stored(&mut database), running(1));
    let marks = marked(&mut database);
    assert_eq!(marks[0], "decision mira");
    assert!(marks.contains(&"decision jo".to_owned()), "{marks:?}");
}

#[test]
fn a_change_that_fails_leaves_nothing_behind() {
    let (_home, mut database) = home();
    assert!(open(&mut database, 1));
    let before = stored(&mut database);
    journal_all(&mut database);
    let trigger =
        "CREATE TRIGGER full BEFORE INSERT ON phases BEGIN SELECT RAISE(ABORT, 'disk full'); END";
    database.connection.execute_batch(trigger).unwrap();
    let advanced = ended(1, IterationOutcome::Completed, cost(0.5));
    let error = database.advanced(TASK, &advanced, &before).unwrap_err();
    assert!(error.message.contains("disk full"), "{error}");
    let decision = GateDecision {
        phase: "spec".into(),
        gate_type: PhaseGateKind::Human,
        attempt: 1,
        approved: true,
        reason: None,
        by: "mira".into(),
        at: at(3),
    };
    assert!(database.decide(TASK, &decision, &before).is_err());
    assert!(
        database
            .replace_plan(TASK, &plan(), false, &before)
            .is_err()
    );
    assert_eq!(stored(&mut database), before);
    assert_eq!(database.decisions(TASK).unwrap(), []);
    assert_eq!(database.plan(TASK).unwrap(), None);
    assert_eq!(marked(&mut database), [""; 0]);
}

fn claim(run: &str) -> Claim {
    Claim {
        run: run.into(),
        pid: 7,
        hostname: "here".into(),
        started_at: at(0),
        heartbeat_at: at(0),
    }
}

#[test]
fn of_two_executors_one_gets_the_task() {
    let (home, mut database) = home();
    let barrier = Barrier::new(6);
    let won: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|number| {
                let (barrier, home) = (&barrier, home.path());
                scope.spawn(move || {
                    let mut own = Database::open(home).unwrap();
                    let run = format!("r{number}");
                    barrier.wait();
                    let won = own.claim(TASK, &claim(&run), None).unwrap();
                    won.then_some(run)
                })
            })
            .collect();
        let done = threads
            .into_iter()
            .filter_map(|thread| thread.join().unwrap());
        done.collect()
    });
    assert_eq!(won.len(), 1);
    let holder = won[0].as_str();
    assert_eq!(database.claim_of(TASK).unwrap().unwrap().run, holder);
    assert!(!database.heartbeat(TASK, "x", at(9)).unwrap());
    assert!(database.heartbeat(TASK, holder, at(9)).unwrap());
    assert_eq!(
        database.claim_of(TASK).unwrap().unwrap().heartbeat_at,
        at(9)
    );
    assert!(!database.claim(TASK, &claim("x"), Some("y")).unwrap());
    assert!(database.claim(TASK, &claim("x"), Some(holder)).unwrap());
    assert!(!database.release_claim(TASK, holder).unwrap());
    assert!(!database.heartbeat(TASK, holder, at(10)).unwrap());
    assert!(database.release_claim(TASK, "x").unwrap());
    assert_eq!(database.claim_of(TASK).unwrap(), None);
}

#[test]
fn a_claim_is_silent_after_a_quarter_of_an_hour() {
    let mut found = claim("r1");
    for (second, silent) in [(-3600, false), (0, false), (900, false), (901, true)] {
        assert_eq!(found.is_silent(at(second)), silent, "{second}");
    }
    found.heartbeat_at = at(900);
    assert!(!found.is_silent(at(0) + Duration::from_secs(901)));
}

#[test]
fn a_database_from_before_plans_gets_the_tables_and_keeps_what_it_has() {
    let (home, mut database) = home();
    database.give_consent("shop", "h", at(0)).unwrap();
    let older = "DROP TABLE plans; DROP TABLE executions; DROP TABLE phases; DROP TABLE iterations;
         DROP TABLE gate_decisions; DROP TABLE specs; DROP TABLE test_results; DROP TABLE claims; DROP TABLE unjournalled; PRAGMA user_version = 5";
    database.connection.execute_batch(older).unwrap();
    drop(database);
    let mut database = Database::open(home.path()).unwrap();
    assert_eq!(database.schema(), MIGRATIONS.len());
    assert!(database.has_consent("shop", "h").unwrap());
    assert!(open(&mut database, 1));
    let copy = home
        .path()
        .join(format!("orange.db.before-v{}", MIGRATIONS.len()));
    assert!(copy.exists());
}

/// Something that is done with a copy of the execution that may be old.
#[derive(Debug, Clone)]
enum Act {
    Read,
    Open(u32),
    Spend(u32, u32),
    Check(u32),
    Orphan,
    StoreOld,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        Just(Act::Read),
        (1..5_u32).prop_map(Act::Open),
        (1..5_u32, 1..100_u32).prop_map(|(number, cents)| Act::Spend(number, cents)),
        (1..5_u32).prop_map(Act::Check),
        Just(Act::Orphan),
        Just(Act::StoreOld),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_cost_is_lost_or_counted_twice(acts in prop::collection::vec(act(), 1..30)) {
        let (_home, mut database) = home();
        let mut old = Execution::default();
        let mut spent = std::collections::BTreeMap::new();
        let mut numbers = std::collections::BTreeSet::new();
        for act in acts {
            match act {
                Act::Read => old = stored(&mut database),
                Act::Open(number) => {
                    let won = open(&mut database, number);
                    prop_assert_eq!(won, numbers.insert(number));
                }
                Act::Spend(number, cents) => {
                    let usage = cost(f64::from(cents));
                    database.spend(TASK, &ended(number, IterationOutcome::Completed, usage)).unwrap();
                    spent.entry(number).or_insert(usage);
                    numbers.insert(number);
                }
                Act::Check(number) => {
                    let known = stored(&mut database).iterations;
                    if let Some(known) = known.into_iter().find(|known| known.iteration == number) {
                        database.checked(TASK, &Iteration { checked: true, ..known }).unwrap();
                    }
                }
                Act::Orphan => {
                    let mut orphaned = old.clone();
                    orphaned.orphaned(at(300));
                    database.store_execution(TASK, &orphaned).unwrap();
                }
                Act::StoreOld => database.store_execution(TASK, &old).unwrap(),
            }
            let found = stored(&mut database);
            let sum: f64 = spent.values().filter_map(|usage| usage.cost).sum();
            prop_assert!((found.usage().cost.unwrap_or(0.0) - sum).abs() < 1e-9);
            let found: Vec<u32> = found.iterations.iter().map(|known| known.iteration).collect();
            let unique: std::collections::BTreeSet<u32> = found.iter().copied().collect();
            prop_assert_eq!(found.len(), unique.len());
            prop_assert_eq!(&unique, &numbers);
        }
    }
}
