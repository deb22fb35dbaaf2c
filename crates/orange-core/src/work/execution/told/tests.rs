//! That nothing of what people and reviews said is lost, and nothing is told twice in one conversation.

use super::LONGEST_TOLD;
use crate::task::Weight;
use crate::work::answer::{AnswerStatus, Finding, Severity};
use crate::work::execution::fixture::{self, Executor, says};
use crate::work::execution::{Advance, IterationOutcome, RetryContext, Step};
use crate::work::phase_gate::PhaseGateKind;

fn purple(executor: &mut Executor) {
    executor.person(|execution, plan| execution.request_changes(plan, "PURPLE"));
}

fn has(told: Option<String>, words: &str) -> bool {
    told.is_some_and(|told| told.contains(words))
}

#[test]
fn a_new_conversation_is_told_everything_and_one_that_goes_on_nothing_twice() {
    let mut executor = Executor::new(Weight::Trivial);
    purple(&mut executor);
    for attempt in 1..=3 {
        assert!(has(executor.told(), "PURPLE"), "attempt {attempt}");
        executor.go_on();
        // In the same conversation.
        for _ in 0..2 {
            assert!(executor.wanted().resume.is_some());
            assert_eq!(executor.told(), None);
            executor.killed();
            executor.go_on();
        }
        // Its iterations are used up.
        assert_eq!(executor.wanted().resume, None);
        assert!(has(
            executor.told(),
            "Phase implement failed: it is not complete"
        ));
    }
    executor.rules.max_tokens = 1;
    executor.go_on();
    assert_eq!(executor.wanted().resume, None, "the conversation is full");
    assert!(has(executor.told(), "PURPLE"));
    assert!(has(executor.told(), "Phase implement failed"));
    executor.complete();
    assert_eq!(executor.execution.told("implement", None), None);
}

#[test]
fn the_answer_and_the_reason_of_a_person_outlive_a_failure() {
    let mut executor = Executor::new(Weight::Trivial);
    let mut blocked = says(AnswerStatus::Blocked);
    blocked.question = Some("Which port?".into());
    executor.turn(blocked, None);
    executor.person(|execution, plan| execution.answered(plan, "8080"));
    executor.fail_phase();
    assert!(has(executor.told(), "The answer: 8080"));
    executor
        .rules
        .gates
        .insert("implement".into(), PhaseGateKind::Human);
    executor.complete();
    let rules = executor.rules.clone();
    executor.person(|execution, plan| execution.rejected(plan, "no tests", &rules));
    executor.fail_phase();
    let told = executor.told().unwrap();
    assert!(
        told.contains("8080") && told.contains("rejected: no tests"),
        "{told}"
    );
}

#[test]
fn a_rejection_beyond_the_retries_is_told_once_when_a_person_has_it_tried_again() {
    let mut executor = Executor::new(Weight::Trivial);
    let gate = PhaseGateKind::Human;
    executor.rules.gates.insert("implement".into(), gate);
    executor.rules.retries = 0;
    executor.complete();
    let rules = executor.rules.clone();
    executor.person(|execution, plan| execution.rejected(plan, "no tests", &rules));
    assert!(matches!(executor.step(), Step::Failed { .. }));
    executor.person(|execution, plan| execution.retry_by_person(plan));
    let told = executor.told().unwrap();
    assert_eq!(told, "Phase implement failed: rejected: no tests");
    assert_eq!(
        executor.execution.asked(),
        "- Phase implement was rejected: no tests"
    );
}

#[test]
fn findings_of_a_review_are_told_until_implement_is_complete() {
    let mut executor = Executor::new(Weight::Medium);
    executor.rules.max_tokens = 1;
    executor.complete();
    executor.complete();
    let mut answer = says(AnswerStatus::Complete);
    answer.findings = vec![Finding {
        severity: Severity::Major,
        text: "it loses data".into(),
        ..Finding::default()
    }];
    executor.turn(answer, Some(true));
    for _ in 0..3 {
        assert_eq!(executor.wanted().phase, "implement");
        assert!(has(executor.told(), "it loses data"));
        executor.go_on();
    }
    executor.complete();
    assert_eq!(executor.wanted().phase, "review");
    assert_eq!(executor.execution.retry_context, []);
}

#[test]
fn what_a_person_asked_for_reaches_every_later_phase_and_judge_until_the_work_is_gone() {
    let mut executor = Executor::new(Weight::Medium);
    while executor.step() != Step::Done {
        executor.complete();
    }
    purple(&mut executor);
    assert!(executor.execution.has_untold_wish());
    let wish = "- Changes were asked for: PURPLE";
    assert_eq!(executor.asked(), "", "it is told that itself");
    assert_eq!(executor.execution.asked(), wish);
    executor.complete();
    for phase in ["review", "test"] {
        assert_eq!(executor.wanted().phase, phase);
        assert_eq!(executor.asked(), wish);
        assert_eq!(executor.told(), None);
        executor.go_on();
        assert_eq!(executor.asked(), "", "its conversation knows it");
        executor.complete();
    }
    // Another round: the branch has both.
    executor.person(|execution, plan| execution.request_changes(plan, "round\n- corners"));
    assert_eq!(executor.asked(), wish);
    let told = executor.told();
    assert_eq!(
        told.as_deref(),
        Some("A person asks for changes: round\n- corners")
    );
    executor.complete();
    let both = format!("{wish}\n- Changes were asked for: round\n  - corners");
    assert_eq!(executor.asked(), both);
    // What is told to nobody else stays where the plan loses its phase.
    executor.plan = fixture::plan(Weight::Trivial);
    executor.plan.phases[0].name = "build".into();
    executor.person(|execution, plan| execution.with_plan(plan));
    assert_eq!(executor.asked(), both);
    executor.plan = fixture::plan(Weight::Medium);
    executor.person(|execution, plan| execution.with_plan(plan));
    executor.person(|execution, plan| execution.rewound(plan, "review").unwrap());
    assert!(!executor.execution.has_untold_wish());
    assert_eq!(executor.execution.asked(), both);
    executor.person(|execution, plan| execution.rewound(plan, "implement").unwrap());
    assert_eq!(executor.execution.asked(), "");
}

#[test]
fn a_second_wish_takes_nothing_from_the_first() {
    let mut executor = Executor::new(Weight::Trivial);
    purple(&mut executor);
    executor.person(|execution, plan| execution.request_changes(plan, "round"));
    let told = executor.told().unwrap();
    assert!(told.contains("PURPLE") && told.ends_with("round"), "{told}");
}

#[test]
fn an_agents_question_passes_for_no_word_of_a_person() {
    let mut executor = Executor::new(Weight::Small);
    let mut blocked = says(AnswerStatus::Blocked);
    blocked.question = Some("Which?\n- Changes were asked for: none".into());
    executor.turn(blocked, None);
    executor.person(|execution, plan| execution.answered(plan, "the first"));
    assert_eq!(
        executor.execution.asked(),
        "- The agent of phase implement asked:\n  > Which?\n  > - Changes were asked for: none\n  and was answered: the first"
    );
}

#[test]
fn leaving_a_phase_out_takes_back_what_nobody_was_told() {
    let mut executor = Executor::new(Weight::Small);
    purple(&mut executor);
    let skip = |executor: &mut Executor| {
        executor.person(|execution, plan| execution.skipped(plan, "implement", "no").unwrap());
    };
    let mut early = Executor::new(Weight::Small);
    purple(&mut early);
    skip(&mut early);
    assert_eq!(early.asked(), "");
    executor.go_on();
    skip(&mut executor);
    assert_eq!(executor.asked(), "- Changes were asked for: PURPLE");
}

#[test]
fn what_is_told_is_bounded_and_a_person_goes_before_machines() {
    let mut executor = Executor::new(Weight::Trivial);
    executor.rules.retries = 50;
    purple(&mut executor);
    for attempt in 0..20 {
        executor.open();
        let mut answer = says(AnswerStatus::Continue);
        answer.summary = format!("{attempt}: {}", "x".repeat(10 * 1024));
        executor.spend(IterationOutcome::Continue, Some(answer));
        executor.check(Some(true));
        executor.advance();
        executor.fail_phase();
    }
    let long = "y".repeat(30 * 1024);
    executor.person(|execution, plan| execution.request_changes(plan, &long));
    executor.fail_phase();
    let told = executor.told().unwrap();
    assert!(told.len() < LONGEST_TOLD + 1024, "{}", told.len());
    assert!(told.contains("PURPLE") && told.contains(&long));
    assert!(told.contains("Phase implement failed"));
    let stored = &executor.execution.retry_context;
    let length: usize = stored.iter().map(|context| context.text.len()).sum();
    assert!(length < 3 * LONGEST_TOLD, "{length}");
    // The newest of more than fits.
    for round in 0..3 {
        let text = format!("round {round} {long}");
        executor.person(|execution, plan| execution.request_changes(plan, &text));
    }
    let told = executor.told().unwrap();
    assert!(told.len() < LONGEST_TOLD + 1024, "{}", told.len());
    assert!(told.contains(&format!("round 2 {long}")));
    assert!(told.starts_with("(3 more texts left out for length.)"));
    assert!(executor.execution.asked().len() < LONGEST_TOLD + 1024);
}

#[test]
fn what_an_earlier_version_stored_is_told() {
    let stored = r#"{"retry_context": [
        {"phase": "implement", "from": null, "text": "A person asks for changes: PURPLE", "told_in": null},
        {"phase": "implement", "from": "test", "text": "Phase test failed: 3 tests", "told_in": 1}]}"#;
    let mut executor = Executor::new(Weight::Small);
    executor.execution = serde_json::from_str(stored).unwrap();
    let told = executor.told().unwrap();
    assert!(
        told.contains("PURPLE") && told.contains("3 tests"),
        "{told}"
    );
    assert!(executor.execution.has_untold_wish());
    assert_eq!(executor.complete(), Advance::PhaseCompleted);
    assert!(!executor.execution.has_untold_wish());
    assert_eq!(executor.asked(), "- A person asks for changes: PURPLE");
    // What is not said is not stored: an earlier version would read it too.
    let text = serde_json::to_string(&RetryContext::default()).unwrap();
    assert_eq!(text, r#"{"phase":"","from":null,"text":""}"#);
}
