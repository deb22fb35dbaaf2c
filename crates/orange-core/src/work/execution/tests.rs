//! Executions from their first turn to their end.

use super::fixture::{Executor, at, says};
use super::*;
use crate::task::Weight;
use crate::work::answer::{AnswerStatus, Finding, Severity};

#[test]
fn a_small_task_is_implemented_tested_and_done() {
    let mut executor = Executor::new(Weight::Small);
    let first = executor.wanted();
    assert_eq!(
        (first.phase.as_str(), first.iteration, first.attempt),
        ("implement", 1, 1)
    );
    assert_eq!(first.resume, None);
    assert_eq!(executor.go_on(), Advance::NextIteration);
    let second = executor.wanted();
    assert_eq!((second.iteration, second.iteration_of_attempt), (2, 2));
    assert_eq!(
        second.resume.as_deref(),
        Some("implement-1"),
        "it goes on with its session"
    );
    assert_eq!(executor.complete(), Advance::PhaseCompleted);
    assert_eq!(executor.wanted().phase, "test");
    assert_eq!(
        executor.wanted().resume,
        None,
        "a phase has a session of its own"
    );
    assert_eq!(executor.complete(), Advance::PhaseCompleted);
    assert_eq!(executor.step(), Step::Done);
    assert_eq!(
        executor.execution.end(&executor.plan),
        Some(ExecutionEnd::Completed)
    );
    let state = executor.execution.phase("implement").unwrap();
    assert_eq!(state.commit_sha.as_deref(), Some("head-implement-2"));
    assert_eq!(state.summary.as_deref(), Some("complete, says the agent"));
    assert_eq!(executor.execution.usage_of("implement").cost, Some(1.0));
    assert_eq!(executor.execution.usage().cost, Some(1.5));
}

#[test]
fn a_word_alone_completes_no_phase_whose_checks_fail() {
    let mut executor = Executor::new(Weight::Small);
    let complete = || says(AnswerStatus::Complete);
    assert_eq!(
        executor.turn(complete(), Some(false)),
        Advance::NextIteration
    );
    let last = executor.execution.last().unwrap();
    assert_eq!(last.outcome, Some(IterationOutcome::Continue));
    let told = executor.execution.told("implement", None).unwrap();
    assert!(
        told.contains("all_tests_pass did not pass:\n3 tests failed"),
        "{told}"
    );
    assert_eq!(
        executor.turn(complete(), None),
        Advance::PhaseCompleted,
        "not checked is no failure"
    );
    assert_eq!(
        executor.execution.last().unwrap().outcome,
        Some(IterationOutcome::Completed)
    );
}

#[test]
fn a_killed_executor_goes_on_where_it_was() {
    let mut executor = Executor::new(Weight::Small);
    let open = executor.open();
    executor.killed();
    assert_eq!(executor.step(), Step::Interrupted(open));
    executor.execution.interrupt(open, at(1000));
    assert_eq!(
        executor.execution.status("implement"),
        PhaseStatus::Interrupted
    );
    let wanted = executor.wanted();
    assert_eq!(
        (wanted.iteration, wanted.iteration_of_attempt),
        (2, 1),
        "it uses up nothing"
    );
    assert_eq!(
        wanted.resume, None,
        "nobody knows whether the agent had begun"
    );

    executor.open();
    executor.spend(
        IterationOutcome::Completed,
        Some(says(AnswerStatus::Complete)),
    );
    executor.killed();
    assert_eq!(
        executor.step(),
        Step::Check { iteration: 1 },
        "what was spent is not done again"
    );
    executor.check(Some(true));
    executor.killed();
    assert_eq!(executor.step(), Step::Advance { iteration: 1 });
    assert_eq!(executor.advance(), Advance::PhaseCompleted);
    executor.killed();
    assert_eq!(executor.wanted().phase, "test");
    let before = executor.execution.clone();
    let again = advance(
        &executor.plan,
        &mut executor.execution,
        &executor.rules,
        1,
        at(2000),
    );
    assert_eq!((again, &executor.execution), (Advance::NotCounted, &before));
}

#[test]
fn a_paused_phase_goes_on_in_its_session() {
    let mut executor = Executor::new(Weight::Small);
    executor.go_on();
    executor.open();
    executor.execution.paused(at(500));
    assert_eq!(executor.execution.status("implement"), PhaseStatus::Paused);
    assert_eq!(
        executor.execution.last().unwrap().outcome,
        Some(IterationOutcome::Interrupted)
    );
    let wanted = executor.wanted();
    assert_eq!((wanted.iteration, wanted.iteration_of_attempt), (3, 2));
    assert_eq!(wanted.resume.as_deref(), Some("implement-1"));
    executor.open();
    assert_eq!(executor.execution.status("implement"), PhaseStatus::Running);
    executor.execution.orphaned(at(900));
    assert_eq!(
        executor.execution.status("implement"),
        PhaseStatus::Interrupted
    );
    assert_eq!(executor.execution.end(&executor.plan), None);
}

#[test]
fn a_session_that_is_full_or_broken_is_left() {
    let mut executor = Executor::new(Weight::Small);
    executor.rules.max_tokens = 200;
    executor.go_on();
    assert!(executor.wanted().resume.is_some());
    executor.go_on();
    assert_eq!(executor.wanted().resume, None, "220 tokens are in it");
    executor.rules.max_tokens = 100_000;
    executor.broken_turn(IterationOutcome::TimedOut);
    assert!(executor.wanted().resume.is_some());
    executor.broken_turn(IterationOutcome::Failed);
    assert_eq!(executor.wanted().resume, None, "it ended with an error");
}

#[test]
fn a_failure_of_the_service_is_no_iteration_but_costs() {
    let mut executor = Executor::new(Weight::Trivial);
    for _ in 0..10 {
        assert_eq!(
            executor.broken_turn(IterationOutcome::Service),
            Advance::NotCounted
        );
    }
    let wanted = executor.wanted();
    assert_eq!((wanted.iteration, wanted.iteration_of_attempt), (11, 1));
    assert_eq!(executor.execution.usage().cost, Some(5.0));
    assert_eq!(executor.execution.count_of("implement"), 0);
    assert_eq!(executor.complete(), Advance::PhaseCompleted);
}

#[test]
fn a_phase_that_does_not_end_fails_and_is_tried_again_so_often() {
    let mut executor = Executor::new(Weight::Trivial);
    executor.rules.retries = 2;
    for attempt in 1..=2 {
        let failed = executor.fail_phase();
        assert!(
            matches!(&failed, Advance::Retried { from, .. } if from == "implement"),
            "{failed:?}"
        );
        let wanted = executor.wanted();
        assert_eq!(
            (wanted.attempt, wanted.iteration_of_attempt),
            (attempt + 1, 1)
        );
        assert_eq!(wanted.iteration, attempt * 3 + 1, "numbers go on");
        assert_eq!(
            wanted.resume, None,
            "an attempt begins with a session of its own"
        );
        let told = executor.execution.told("implement", None).unwrap();
        assert!(
            told.contains("Phase implement failed: it is not complete after 3 iterations"),
            "{told}"
        );
    }
    assert!(matches!(executor.fail_phase(), Advance::PhaseFailed(_)));
    assert!(matches!(executor.step(), Step::Failed { .. }));
    let implement = executor.execution.phase("implement").unwrap();
    assert_eq!(implement.retries, executor.rules.retries);

    // A person has it tried once more.
    executor.execution = executor.execution.clone().retry_by_person(&executor.plan);
    assert_eq!(executor.wanted().attempt, 4);
    assert!(matches!(executor.fail_phase(), Advance::PhaseFailed(_)));
    executor.execution = executor.execution.clone().retry_by_person(&executor.plan);
    executor.complete();
    assert_eq!(executor.step(), Step::Done);
}

#[test]
fn a_failed_phase_goes_back_to_what_it_looks_at() {
    let mut executor = Executor::new(Weight::Large);
    for phase in ["research", "spec"] {
        assert_eq!(executor.wanted().phase, phase);
        executor.complete();
    }
    assert!(matches!(executor.fail_phase(), Advance::Retried { from, .. } if from == "spec"));
    assert_eq!(
        executor.statuses(),
        "completed pending pending pending pending pending pending pending pending"
    );
    for _ in 0..2 {
        executor.complete();
    }
    executor.complete();
    for phase in ["review", "docs", "test"] {
        assert_eq!(executor.wanted().phase, phase);
        executor.complete();
    }
    assert_eq!(executor.wanted().phase, "validate");
    assert!(matches!(executor.fail_phase(), Advance::Retried { from, .. } if from == "implement"));
    assert_eq!(
        executor.statuses(),
        "completed completed completed pending pending pending pending pending pending"
    );
    let docs = executor.execution.phase("docs").unwrap();
    assert_eq!((docs.attempt, docs.retries), (2, 0));
    assert!(
        executor
            .execution
            .told("implement", None)
            .unwrap()
            .contains("Phase validate failed")
    );
    assert_eq!(executor.execution.told("validate", None), None);
}

#[test]
fn a_phase_behind_a_skipped_one_is_tried_again_itself() {
    let mut executor = Executor::new(Weight::Large);
    let skip = |executor: &mut Executor, phase: &str| {
        let execution = executor.execution.clone();
        executor.execution = execution
            .skipped(&executor.plan, phase, "not needed")
            .unwrap();
    };
    skip(&mut executor, "research");
    skip(&mut executor, "spec");
    assert_eq!(executor.wanted().phase, "design");
    assert!(matches!(executor.fail_phase(), Advance::Retried { from, .. } if from == "design"));
    assert_eq!(executor.execution.status("spec"), PhaseStatus::Skipped);
    let execution = executor.execution.clone();
    let refused = |phase: &str| {
        execution
            .clone()
            .skipped(&executor.plan, phase, "")
            .unwrap_err()
    };
    assert_eq!(refused("spec"), "it is skipped already");
    assert!(refused("deploy").contains("it has research, spec"));
}

#[test]
fn major_findings_go_back_to_implement() {
    let mut executor = Executor::new(Weight::Medium);
    executor.complete();
    executor.complete();
    assert_eq!(executor.wanted().phase, "review");
    let finding = |severity, text: &str| Finding {
        severity,
        file: Some("src/a.rs".into()),
        line: Some(7),
        text: text.into(),
    };
    let mut answer = says(AnswerStatus::Complete);
    answer.findings = vec![
        finding(Severity::Minor, "a name"),
        finding(Severity::Major, "it loses data"),
    ];
    let outcome = executor.turn(answer.clone(), Some(true));
    assert!(matches!(outcome, Advance::Retried { from, .. } if from == "implement"));
    let told = executor.execution.told("implement", None).unwrap();
    assert!(told.ends_with("- src/a.rs:7: it loses data"), "{told}");
    assert_eq!(executor.complete(), Advance::PhaseCompleted);
    assert_eq!(
        executor.execution.told("implement", None),
        None,
        "it was told once"
    );
    answer.findings.truncate(1);
    assert_eq!(
        executor.turn(answer, Some(true)),
        Advance::PhaseCompleted,
        "minor ones do not"
    );
}

#[test]
fn what_an_earlier_turn_of_a_review_found_counts() {
    let mut executor = Executor::new(Weight::Medium);
    executor.complete();
    executor.complete();
    let finding = |line| Finding {
        severity: Severity::Major,
        file: Some("src/a.rs".into()),
        line: Some(line),
        text: "it loses data".into(),
    };
    let mut answer = says(AnswerStatus::Continue);
    answer.findings = vec![finding(7), finding(8)];
    assert_eq!(executor.turn(answer.clone(), None), Advance::NextIteration);
    // Said again, one counts once; that it was major stays so.
    answer.status = AnswerStatus::Complete;
    answer.findings = vec![Finding {
        severity: Severity::Minor,
        ..finding(8)
    }];
    let outcome = executor.turn(answer, None);
    assert!(matches!(outcome, Advance::Retried { from, .. } if from == "implement"));
    let told = executor.execution.told("implement", None).unwrap();
    let wanted = "the review has 2 major findings:\n- src/a.rs:7: it loses data\n- src/a.rs:8: it loses data";
    assert!(told.ends_with(wanted), "{told}");
    executor.complete();
    // Another attempt of the review begins without them.
    assert_eq!(executor.complete(), Advance::PhaseCompleted);
}

#[test]
fn what_is_told_of_a_review_has_a_limit() {
    let mut executor = Executor::new(Weight::Medium);
    executor.rules.retries = 1;
    executor.complete();
    executor.complete();
    let finding = |line| Finding {
        severity: Severity::Major,
        line: Some(line),
        text: "x".repeat(8 * 1024),
        ..Finding::default()
    };
    let mut answer = says(AnswerStatus::Complete);
    answer.findings = (0..200).map(finding).collect();
    answer.not_kept.major = 3;
    let Advance::Retried { why, .. } = executor.turn(answer.clone(), None) else {
        panic!("{}", executor.statuses());
    };
    assert!(why.len() < 5000, "{}", why.len());
    let told = executor.execution.told("implement", None).unwrap();
    assert!(told.len() < 40 * 1024, "{}", told.len());
    assert!(told.contains("the review has 203 major findings:\n- Line 0: xx"));
    let mut last = told.lines().rev();
    assert_eq!(last.next(), Some("3 more major findings are not kept"));
    assert!(last.next().unwrap().ends_with(" more are in review.md"));
    executor.complete();
    let Advance::PhaseFailed(why) = executor.turn(answer, None) else {
        panic!("{}", executor.statuses());
    };
    let Some(ExecutionEnd::Failed(end)) = executor.execution.end(&executor.plan) else {
        panic!("{}", executor.statuses());
    };
    assert!(why.len() < 5000 && end.len() < 5000);
    let (plan, execution) = (executor.plan.clone(), executor.execution.clone());
    let told = execution
        .retry_by_person(&plan)
        .told("implement", None)
        .unwrap();
    assert!(told.ends_with("3 more major findings are not kept"));
}

#[test]
fn what_nobody_has_read_is_told_again() {
    let mut executor = Executor::new(Weight::Trivial);
    let plan = executor.plan.clone();
    executor.execution = executor
        .execution
        .clone()
        .request_changes(&plan, "use tabs");
    let told = "A person asks for changes: use tabs";
    let open = executor.open();
    executor.killed();
    executor.execution.interrupt(open, at(500));
    assert_eq!(
        executor.execution.told("implement", None).as_deref(),
        Some(told),
        "it was killed"
    );
    executor.broken_turn(IterationOutcome::Service);
    assert_eq!(
        executor.execution.told("implement", None).as_deref(),
        Some(told),
        "it never began"
    );
    executor.broken_turn(IterationOutcome::Failed);
    assert!(
        executor
            .execution
            .told("implement", None)
            .unwrap()
            .starts_with(told),
        "it failed"
    );
    executor.open();
    executor
        .execution
        .tell("implement", "and spaces".into(), None);
    executor.spend(
        IterationOutcome::Continue,
        Some(says(AnswerStatus::Continue)),
    );
    executor.check(Some(true));
    executor.advance();
    let left = executor.told();
    assert_eq!(
        left.as_deref(),
        Some("and spaces"),
        "said after the prompt was written"
    );
}

#[test]
fn time_runs_out_over_the_turns_of_an_attempt() {
    let mut executor = Executor::new(Weight::Small);
    executor.rules.phase_timeout = Duration::from_secs(25);
    executor.go_on();
    assert_eq!(executor.wanted().time_left, Duration::from_secs(15));
    // A night in which nobody executes it takes no time.
    executor.clock += 50_000;
    executor.go_on();
    assert_eq!(executor.wanted().time_left, Duration::from_secs(5));
    assert!(matches!(executor.go_on(), Advance::Retried { .. }));
    // Less time than was used already.
    executor.go_on();
    executor.rules.phase_timeout = Duration::from_secs(5);
    let Step::UsedUp { phase, why } = executor.step() else {
        panic!("{:?}", executor.step());
    };
    assert_eq!(
        why,
        "it is not complete after 5s, the limit of phases.timeout"
    );
    let (plan, rules) = (executor.plan.clone(), executor.rules.clone());
    let outcome = executor.execution.used_up(&plan, &rules, &phase, &why);
    assert!(matches!(outcome, Advance::Retried { .. }));
    assert_eq!(executor.wanted().attempt, 3);
}

#[test]
fn a_clock_that_jumps_takes_no_more_time_than_a_turn_may() {
    let mut executor = Executor::new(Weight::Small);
    executor.rules.turn_timeout = Duration::from_secs(60);
    executor.plan.phases.first_mut().unwrap().timeout = None;
    // The computer sleeps a day while an agent works; another time its clock is set back.
    for jump in [86_400, -86_400] {
        executor.open();
        executor.clock += jump;
        executor.spend(
            IterationOutcome::Continue,
            Some(says(AnswerStatus::Continue)),
        );
        executor.check(Some(false));
        executor.advance();
    }
    let four_hours = Duration::from_secs(4 * 60 * 60);
    let left = four_hours.saturating_sub(Duration::from_secs(60));
    assert_eq!(executor.wanted().time_left, left);
    // What the plan says of a turn of this phase is more particular.
    let phase = executor.plan.phases.first_mut().unwrap();
    phase.timeout = Some(Duration::from_secs(7_200));
    assert_eq!(executor.wanted().time_left, Duration::from_secs(7_200));
    executor.rules.phase_timeout = Duration::from_secs(7_200);
    let Step::UsedUp { why, .. } = executor.step() else {
        panic!("{:?}", executor.step());
    };
    let told = "it is not complete after 2h, the limit of phases.timeout";
    assert_eq!(why, told);
}

#[test]
fn an_iteration_of_a_number_that_is_there_is_not_opened() {
    let mut executor = Executor::new(Weight::Small);
    executor.open();
    let twin = executor.execution.iterations[0].clone();
    assert!(!executor.execution.open(&executor.plan, twin));
    assert_eq!(executor.execution.iterations.len(), 1);
}
