//! What people change about executions.

use crate::task::Weight;
use crate::work::answer::AnswerStatus;
use crate::work::execution::fixture::{self, Executor, at, says};
use crate::work::execution::{Advance, ExecutionEnd, IterationOutcome, PhaseStatus, Step};
use crate::work::phase_gate::PhaseGateKind;

#[test]
fn a_person_decides_at_a_gate() {
    let gate = PhaseGateKind::Human;
    let mut executor = Executor::new(Weight::Medium);
    executor.rules.gates.insert("spec".into(), gate);
    assert_eq!(executor.complete(), Advance::AtGate(gate));
    assert_eq!(
        executor.step(),
        Step::Gate {
            phase: "spec".into()
        }
    );
    assert_eq!(
        executor.execution.end(&executor.plan),
        Some(ExecutionEnd::Gate)
    );
    assert_eq!(
        executor.execution.gate(&executor.plan).unwrap().name,
        "spec"
    );
    let waiting = executor.execution.clone();
    assert!(waiting.clone().skipped(&executor.plan, "spec", "").is_err());

    executor.execution = waiting.clone().approved(&executor.plan, at(77));
    let state = executor.execution.phase("spec").unwrap();
    assert_eq!(
        (state.status, state.completed_at),
        (PhaseStatus::Completed, Some(at(77)))
    );
    assert_eq!(executor.wanted().phase, "implement");

    executor.execution = waiting
        .clone()
        .rejected(&executor.plan, "too vague", &executor.rules);
    let wanted = executor.wanted();
    assert_eq!((wanted.phase.as_str(), wanted.attempt), ("spec", 2));
    assert!(
        executor
            .execution
            .told("spec", None)
            .unwrap()
            .contains("rejected: too vague")
    );

    executor.rules.retries = 0;
    executor.execution = waiting.rejected(&executor.plan, "too vague", &executor.rules);
    let failed = ExecutionEnd::Failed("rejected: too vague".into());
    assert_eq!(executor.execution.end(&executor.plan), Some(failed));
}

#[test]
fn an_answer_reaches_the_agent_that_asked() {
    let mut executor = Executor::new(Weight::Trivial);
    let mut blocked = says(AnswerStatus::Blocked);
    blocked.question = Some("Which port?".into());
    // A question uses up no iteration, however many there are.
    for _ in 0..5 {
        assert_eq!(
            executor.turn(blocked.clone(), None),
            Advance::NeedsAnswer("Which port?".into())
        );
        assert_eq!(
            executor.step(),
            Step::Ask {
                phase: "implement".into(),
                question: "Which port?".into()
            }
        );
        assert_eq!(
            executor.execution.clone().approved(&executor.plan, at(1)),
            executor.execution
        );
        executor.execution = executor
            .execution
            .clone()
            .answered(&executor.plan, " 8080 ");
        let told = executor.told().unwrap();
        assert_eq!(told, "You asked: Which port?\nThe answer: 8080");
        assert!(executor.wanted().resume.is_some());
    }
    assert_eq!(executor.wanted().iteration_of_attempt, 1);
    assert_eq!(executor.complete(), Advance::PhaseCompleted);
}

#[test]
fn a_phase_alone_is_executed_and_then_all_is_paused() {
    let mut executor = Executor::new(Weight::Medium);
    let only = |executor: &mut Executor, phase: Option<&str>| {
        let execution = executor.execution.clone();
        executor.execution = execution.with_only_phase(&executor.plan, phase).unwrap();
    };
    only(&mut executor, Some("implement"));
    assert_eq!(executor.wanted().phase, "implement");
    executor.complete();
    assert_eq!(executor.step(), Step::PausedAfterPhase("implement".into()));
    assert_eq!(executor.execution.end(&executor.plan), None);
    // Once more, although it is completed.
    only(&mut executor, Some("implement"));
    assert_eq!(executor.wanted().attempt, 2);
    executor.complete();
    // A review that fails goes back to a phase that was not asked for.
    only(&mut executor, Some("review"));
    assert!(matches!(executor.fail_phase(), Advance::Retried { from, .. } if from == "implement"));
    assert_eq!(executor.step(), Step::PausedAfterPhase("review".into()));
    only(&mut executor, None);
    assert_eq!(executor.wanted().phase, "spec");
    for phase in ["spec", "implement", "review", "test"] {
        assert_eq!(executor.wanted().phase, phase);
        executor.complete();
    }
    assert_eq!(executor.step(), Step::Done);
    let large = Executor::new(Weight::Large);
    let refused = large
        .execution
        .with_only_phase(&large.plan, Some("finalize"));
    assert!(refused.unwrap_err().contains("finalize"));
}

#[test]
fn rewind_and_changes_begin_phases_anew() {
    let mut executor = Executor::new(Weight::Medium);
    for _ in 0..4 {
        executor.complete();
    }
    assert_eq!(executor.step(), Step::Done);
    let done = executor.execution.clone();
    let spent = done.usage();

    executor.execution = done.clone().rewound(&executor.plan, "review").unwrap();
    assert_eq!(executor.statuses(), "completed completed pending pending");
    let wanted = executor.wanted();
    assert_eq!(
        (wanted.phase.as_str(), wanted.iteration, wanted.attempt),
        ("review", 2, 2)
    );
    assert_eq!(
        executor.execution.usage(),
        spent,
        "what was spent stays spent"
    );
    assert!(done.clone().rewound(&executor.plan, "deploy").is_err());

    executor.execution = done.request_changes(&executor.plan, "use tabs");
    assert_eq!(executor.statuses(), "completed pending pending pending");
    assert!(
        executor
            .execution
            .told("implement", None)
            .unwrap()
            .contains("use tabs")
    );
    let state = executor.execution.phase("implement").unwrap();
    assert_eq!((state.completed_at, state.retries), (None, 0));
}

#[test]
fn a_turn_that_was_spent_before_a_rewind_counts_for_nothing_but_its_cost() {
    let mut executor = Executor::new(Weight::Trivial);
    executor.open();
    executor.spend(
        IterationOutcome::Completed,
        Some(says(AnswerStatus::Complete)),
    );
    let execution = executor.execution.clone();
    executor.execution = execution.rewound(&executor.plan, "implement").unwrap();
    assert_eq!(executor.step(), Step::Advance { iteration: 0 });
    assert_eq!(executor.advance(), Advance::NotCounted);
    let wanted = executor.wanted();
    assert_eq!(
        (
            wanted.iteration,
            wanted.attempt,
            wanted.iteration_of_attempt
        ),
        (2, 2, 1)
    );
    assert_eq!(executor.execution.usage().cost, Some(0.5));
}

#[test]
fn another_plan_keeps_what_is_over() {
    let mut executor = Executor::new(Weight::Small);
    executor.complete();
    executor.go_on();
    assert_eq!(executor.statuses(), "completed running");
    executor.plan = fixture::plan(Weight::Medium);
    executor.execution = executor.execution.clone().with_plan(&executor.plan);
    assert_eq!(executor.statuses(), "pending completed pending pending");
    assert_eq!(executor.execution.phase("test").unwrap().attempt, 2);
    assert_eq!(executor.wanted().phase, "spec");
    assert_eq!(executor.execution.usage().cost, Some(1.0));
}
