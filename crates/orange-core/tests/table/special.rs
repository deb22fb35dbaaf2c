//! Moves that need more than a row of the list: those of a failed check, and how tasks are born.

use super::{ACTORS, decide, favourable};
use orange_core::Timestamp;
use orange_core::machine::{self, Move, Refusal};
use orange_core::task::{Status, Task, WorkflowName};
use orange_core::workflow::{Actor, Trigger, Workflow};

/// The rows of a check that newly failed: the engine's alone, by the round, with no word of a reviewer.
#[test]
fn a_failed_check_sends_a_task_back_and_after_the_last_round_it_is_stuck() {
    let wish = |to| Move {
        trigger: Some(Trigger::CHECK_FAILED),
        ..Move::to(to)
    };
    let back = "archive_handoff kill_reviewer notify_worker";
    let up = "kill_reviewer ensure_fixer";
    for (to, hooks, other) in [
        (Status::Working, back, Status::Stuck),
        (Status::Stuck, up, Status::Working),
    ] {
        let (task, _, mut facts) = favourable(Status::AgentReview, to, wish(to));
        for review in [
            "",
            "## Review\n\nVerdict: PASS\n",
            "## Review\n\nVerdict: FAIL\n",
        ] {
            let body = format!("## Handoff\n\nDONE: x\n\n{review}");
            let taken = decide(&task, &body, &facts, Actor::Engine, wish(to)).unwrap();
            assert_eq!(taken.join(" "), hooks, "{review:?}");
            assert!(decide(&task, &body, &facts, Actor::Engine, wish(other)).is_err());
        }
        for actor in ACTORS.into_iter().filter(|actor| *actor != Actor::Engine) {
            assert!(
                decide(&task, "", &facts, actor, wish(to)).is_err(),
                "{actor:?}"
            );
        }
        facts.check_returns = false;
        let refused = decide(&task, "", &facts, Actor::Engine, wish(to));
        assert!(
            matches!(refused, Err(Refusal::Unmet { .. } | Refusal::Gate(_))),
            "{refused:?}"
        );
    }
}

#[test]
fn tasks_are_born_as_the_specification_says() {
    let workflow = Workflow::named(WorkflowName::Interactive);
    let listed: &[(&str, bool, &str)] = &[
        ("pending", false, ""),
        (
            "agent-review",
            true,
            "acquire_workspace spawn_agent(worker-wait) increment_review_round spawn_reviewer verify",
        ),
        ("reviewing", true, ""),
    ];
    for status in Status::ALL.iter().copied() {
        let born = Task {
            status,
            ..Task::default()
        };
        let answer = machine::create(workflow, born, Actor::Human, Timestamp::UNIX_EPOCH);
        let expected = listed.iter().find(|row| row.0 == status.as_str());
        assert_eq!(answer.is_ok(), expected.is_some(), "{status}");
        if let (Ok(decision), Some((_, existing, hooks))) = (answer, expected) {
            let names: Vec<&str> = decision.hooks.iter().map(|hook| hook.name()).collect();
            assert_eq!(
                names,
                hooks.split_whitespace().collect::<Vec<_>>(),
                "{status}"
            );
            assert_eq!(
                workflow.creation(status).unwrap().existing_branch,
                *existing
            );
            let task = machine::fold(&[decision.event], u64::MAX).unwrap();
            let round = u32::from(hooks.contains("increment_review_round"));
            assert_eq!((task.revision, task.review_round), (1, round), "{status}");
        }
    }
}
