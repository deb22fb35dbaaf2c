//! Phased tasks: what is drawn of their phases, and what a person does with them.

use super::panes::snapshot;
use super::*;
use crate::verbs::PhaseAtGate;
use orange_core::task::Weight;
use orange_core::usage::Usage;
use orange_core::work::execution::{CriterionResult, PhaseStatus};
use orange_core::work::phase_gate::{GateDecision, GateSource, PhaseGateKind};
use orange_core::work::plan::PhaseKind;
use orange_core::work::test_results::{Figures, Summary};
use orange_core::workflow::BlockedReason;
use orange_engine::views::{PhaseView, PhasedDetail, TestResultsView};

fn phase(kind: PhaseKind, status: PhaseStatus, used: u32, of: u32, cost: f64) -> PhaseView {
    PhaseView {
        name: kind.to_string(),
        kind,
        status,
        gate: PhaseGateKind::Auto,
        gate_source: GateSource::Plan,
        attempt: 1,
        retries: 0,
        used,
        max_iterations: of,
        usage: Usage {
            input: if cost > 0.0 { 1_000 } else { 0 },
            cost: (cost > 0.0).then_some(cost),
            ..Usage::default()
        },
        commit: None,
        started_at: None,
        completed_at: None,
        error: None,
        summary: None,
        checks: Vec::new(),
        decision: None,
        transcript: None,
        judge: None,
        question: None,
    }
}

fn check(criterion: &str, passed: Option<bool>, detail: &str) -> CriterionResult {
    CriterionResult {
        criterion: criterion.to_owned(),
        passed,
        detail: detail.to_owned(),
    }
}

/// The plan of a task of medium weight that is at its third phase, which stands as said.
fn execution(status: PhaseStatus) -> PhasedDetail {
    let mut spec = phase(PhaseKind::Spec, PhaseStatus::Completed, 1, 3, 0.12);
    spec.gate = PhaseGateKind::Ai;
    spec.decision = Some(GateDecision {
        phase: "spec".to_owned(),
        gate_type: PhaseGateKind::Ai,
        attempt: 1,
        approved: true,
        reason: None,
        by: "judge".to_owned(),
        at: Timestamp::UNIX_EPOCH,
    });
    let mut implement = phase(PhaseKind::Implement, PhaseStatus::Completed, 4, 10, 1.31);
    implement.checks = vec![
        check("all_tests_pass", Some(true), ""),
        check("no_lint_errors", None, "no command: verify.lint is not set"),
    ];
    let mut review = phase(PhaseKind::Review, status, 1, 3, 0.41);
    review.gate = PhaseGateKind::Human;
    review.summary =
        Some("2 minor findings: the button has no label, and a name is long".to_owned());
    review.transcript = Some("03-review-001.md".to_owned());
    let mut test = phase(PhaseKind::Test, PhaseStatus::Pending, 0, 3, 0.0);
    test.checks = vec![
        check("all_tests_pass", None, ""),
        check("coverage_above: 80", None, ""),
    ];
    PhasedDetail {
        weight: Some(Weight::Medium),
        phases: vec![spec, implement, review, test],
        current: Some("review".to_owned()),
        is_at_gate: status == PhaseStatus::Blocked,
        usage: Usage {
            input: 3_000,
            cost: Some(1.84),
            ..Usage::default()
        },
        test_results: (status == PhaseStatus::Failed).then(results),
        ..PhasedDetail::default()
    }
}

/// Ten tests, of which one failed.
fn results() -> TestResultsView {
    let figures = Figures {
        summary: Summary {
            total: 10,
            passed: 9,
            failed: 1,
            ..Summary::default()
        },
        first_failure: Some("Login Flow › should show an error".to_owned()),
        ..Figures::default()
    };
    TestResultsView {
        figures: Some(figures),
        imported_at: Timestamp::UNIX_EPOCH,
        imported_by: "engine".to_owned(),
        source: "found".to_owned(),
        problem: None,
    }
}

/// The cursor on a phased task, of which everything is known.
fn at(
    place: (&str, Option<BlockedReason>),
    status: PhaseStatus,
    size: (u16, u16),
    ascii: bool,
) -> App {
    let mut phased = row(12, place.0, "Export orders");
    (phased.reason, phased.phase) = (place.1, Some("review 1/3".to_owned()));
    if phased.info().is_some_and(|info| info.expects.is_some()) {
        phased.session = SessionState::Alive;
    } else {
        phased = needing(phased, "review: 2 minor findings: the button has no label");
    }
    let mut rows = shop();
    rows.push(phased.clone());
    let mut app = app(size, ascii, rows);
    app.cursor = Some(phased.folder.clone());
    asking(&mut app, "q1", "");
    if let Some(focus) = &mut app.focus {
        focus.questions.clear();
        focus.task = Task::standing_at(phased.status.unwrap(), place.1);
        focus.execution = Some(execution(status));
    }
    app
}

pub(super) fn at_gate(size: (u16, u16), ascii: bool) -> App {
    at(
        ("blocked", Some(BlockedReason::Gate)),
        PhaseStatus::Blocked,
        size,
        ascii,
    )
}

pub(super) fn running(size: (u16, u16), ascii: bool) -> App {
    at(("running", None), PhaseStatus::Running, size, ascii)
}

pub(super) fn failed(size: (u16, u16), ascii: bool) -> App {
    let mut app = at(("failed", None), PhaseStatus::Failed, size, ascii);
    if let Some(execution) = app
        .focus
        .as_mut()
        .and_then(|focus| focus.execution.as_mut())
    {
        execution.phases[2].error =
            Some("it is not complete after 3 iterations, all that its plan allows".to_owned());
    }
    app
}

#[test]
fn the_phases_of_a_task() {
    for (size, ascii) in [((80, 24), false), ((120, 40), false), ((80, 24), true)] {
        let mut app = at_gate(size, ascii);
        press(&mut app, "v");
        assert_eq!(app.tab, Tab::Phases);
        snapshot("phases", &app);
        snapshot("phased_list", &at_gate(size, ascii));
    }
    let mut app = failed((80, 24), false);
    press(&mut app, "v");
    snapshot("phases_failed", &app);
}

#[test]
fn a_phase_is_approved_after_a_yes_and_rejected_with_words() {
    let gate = PhaseAtGate {
        phase: "review".to_owned(),
        attempt: 1,
    };
    let mut app = at_gate((80, 24), false);
    assert!(press(&mut app, "a").is_empty());
    assert!(shown(&app).contains("2 minor findings"));
    let effects = press(&mut app, "y");
    assert!(
        matches!(&effects[..], [Effect::Run { verb: Verb::Approve(seen), .. }] if *seen == gate)
    );
    let mut app = at_gate((80, 24), false);
    let effects = press(&mut app, "rname it\n");
    assert!(
        matches!(&effects[..], [Effect::Run { verb: Verb::Reject(seen, why), .. }] if *seen == gate && why == "name it")
    );
    // Where nothing is to be decided, no key decides.
    let mut app = running((80, 24), false);
    assert!(press(&mut app, "a").is_empty() && app.overlay.is_none());
}

#[test]
fn an_execution_is_paused_and_goes_on() {
    let mut app = running((80, 24), false);
    let effects = press(&mut app, "s");
    assert!(matches!(
        &effects[..],
        [Effect::Run {
            verb: Verb::Pause,
            ..
        }]
    ));
    let mut app = failed((80, 24), false);
    let effects = press(&mut app, "s");
    assert!(matches!(
        &effects[..],
        [Effect::Run {
            verb: Verb::GoOn,
            ..
        }]
    ));
}

#[test]
fn what_is_done_with_a_phase_is_done_with_the_selected_one() {
    let mut app = failed((80, 24), false);
    press(&mut app, "vkk<");
    let effects = press(&mut app, "y");
    assert!(
        matches!(&effects[..], [Effect::Run { verb: Verb::Rewind(phase), .. }] if phase == "spec")
    );
    let mut app = failed((80, 24), false);
    let effects = press(&mut app, "vj>not needed\n");
    assert!(
        matches!(&effects[..], [Effect::Run { verb: Verb::Skip(phase, why), .. }] if phase == "test" && why == "not needed")
    );
    // One that is over is not left out.
    let mut app = failed((80, 24), false);
    assert!(press(&mut app, "vk>").is_empty() && app.overlay.is_none());
    // Nothing begins anew under an executor.
    let mut app = running((80, 24), false);
    assert!(press(&mut app, "v<").is_empty() && app.overlay.is_none());
}

#[test]
fn a_phase_that_asks_is_skipped_but_not_rewound() {
    let asking = || {
        let place = ("blocked", Some(BlockedReason::Input));
        let mut app = at(place, PhaseStatus::Blocked, (80, 24), false);
        let execution = app.focus.as_mut().unwrap().execution.as_mut().unwrap();
        execution.is_at_gate = false;
        execution.phases[2].question = Some("which format?".to_owned());
        execution.question = Some("which format?".to_owned());
        app
    };
    let mut app = asking();
    press(&mut app, "v");
    assert!(!shown(&app).contains("rewind"), "{}", shown(&app));
    assert!(press(&mut app, "<").is_empty() && app.overlay.is_none());
    let mut app = asking();
    let effects = press(&mut app, "v>not needed\n");
    assert!(
        matches!(&effects[..], [Effect::Run { verb: Verb::Skip(phase, why), .. }] if phase == "review" && why == "not needed")
    );
}

#[test]
fn a_transcript_is_read_from_its_end() {
    let mut app = at_gate((80, 24), false);
    let effects = press(&mut app, "vv");
    assert!(
        matches!(&effects[..], [Effect::Run { verb: Verb::Transcript(phase), .. }] if phase == "review")
    );
    let outcome = VerbOutcome::Text {
        title: "TASK-012 03-review-001.md".to_owned(),
        lines: (1..=100).map(|number| format!("line {number}")).collect(),
    };
    let (folder, what) = (app.cursor.clone().unwrap(), "transcript");
    let done = Input::Done {
        folder,
        what,
        outcome: Box::new(outcome),
    };
    app.update(done, Instant::now());
    assert!(shown(&app).contains("line 100") && !shown(&app).contains("line 50"));
    press(&mut app, "KKK");
    assert!(!shown(&app).contains("line 100"));
    press(&mut app, "g");
    assert!(shown(&app).contains(" line 1 "));
    press(&mut app, "\u{1b}");
    assert!(app.overlay.is_none());
}
