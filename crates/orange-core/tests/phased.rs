//! Every (status, trigger, actor) of the phased table against a list written by hand from the specification, not derived
//! from the table.

#![allow(clippy::unwrap_used, reason = "tests")]

use orange_core::Timestamp;
use orange_core::machine::{self, Decision, Facts, Linked, Move, PoolSlots, Refusal, Situation};
use orange_core::task::{BlockedReason, Status, Task, Weight, WorkflowName};
use orange_core::workflow::phased::PHASED;
use orange_core::workflow::{Actor, Condition, Role, Trigger};

const STOP: &str = "stop_executor commit_wip release_workspace spawn_next";
const ENDING: &str = "kill_session release_workspace delete_remote_branch spawn_next";

/// From, to, who (`h` human, `e` engine) with a trigger or none, and the hooks in order.
const ALLOWED: &[(&str, &str, &[&str], &str)] = &[
    ("created", "classifying", &["h:", "e:"], "classify"),
    ("created", "planned", &["e:"], "write_plan"),
    ("classifying", "planned", &["e:"], "write_plan"),
    (
        "planned",
        "running",
        &["h:", "e:"],
        "acquire_workspace start_executor",
    ),
    ("planned", "blocked (dependencies)", &["h:", "e:"], ""),
    (
        "blocked (dependencies)",
        "planned",
        &[
            "e:last dependency over or removed",
            "h:run by force",
            "h:pause",
        ],
        "spawn_next",
    ),
    (
        "running",
        "blocked (gate)",
        &["e:a human phase gate", "e:an ai gate that cannot decide"],
        STOP,
    ),
    (
        "running",
        "blocked (input)",
        &["e:the agent needs an answer"],
        STOP,
    ),
    (
        "blocked (gate)",
        "planned",
        &["h:approve", "h:reject"],
        "spawn_next",
    ),
    ("blocked (gate)", "failed", &["h:reject"], ""),
    ("blocked (input)", "planned", &["h:"], "spawn_next"),
    (
        "running",
        "paused",
        &[
            "h:pause",
            "e:orphan",
            "e:SIGTERM",
            "e:budget spent",
            "e:start failed",
            "e:harness missing or logged out",
        ],
        STOP,
    ),
    ("running", "completed", &["e:"], STOP),
    (
        "running",
        "failed",
        &["e:a phase failed beyond its retries"],
        STOP,
    ),
    (
        "paused",
        "planned",
        &["h:run", "h:resume", "h:retry"],
        "spawn_next",
    ),
    (
        "failed",
        "planned",
        &["h:run", "h:resume", "h:retry"],
        "spawn_next",
    ),
    ("paused", "planned", &["h:request changes"], "spawn_next"),
    ("failed", "planned", &["h:request changes"], "spawn_next"),
    ("completed", "planned", &["h:request changes"], "spawn_next"),
    (
        "blocked (merge)",
        "planned",
        &["h:request changes"],
        "spawn_next",
    ),
    ("paused", "planned", &["h:rewind"], ""),
    ("failed", "planned", &["h:rewind"], ""),
    ("completed", "planned", &["h:rewind"], ""),
    ("blocked (merge)", "planned", &["h:rewind"], ""),
    (
        "paused",
        "planned",
        &["h:new weight"],
        "write_plan spawn_next",
    ),
    (
        "failed",
        "planned",
        &["h:new weight"],
        "write_plan spawn_next",
    ),
    (
        "completed",
        "planned",
        &["h:new weight"],
        "write_plan spawn_next",
    ),
    (
        "blocked (merge)",
        "planned",
        &["h:new weight"],
        "write_plan spawn_next",
    ),
    (
        "completed",
        "finalizing",
        &[
            "h:finalize",
            "e:PR approved and so configured",
            "e:once, when a plan with a finalize phase completes",
        ],
        "start_finalize",
    ),
    ("failed", "finalizing", &["h:finalize"], "start_finalize"),
    (
        "finalizing",
        "blocked (merge)",
        &["e:everything passed, merge gate human"],
        STOP,
    ),
    (
        "blocked (merge)",
        "finalizing",
        &["h:approve"],
        "start_finalize",
    ),
    ("blocked (merge)", "completed", &["h:reject"], ""),
    ("finalizing", "completed", &["h:pause", "e:SIGTERM"], STOP),
    (
        "finalizing",
        "failed",
        &[
            "e:conflict",
            "e:tests failed",
            "e:refused",
            "e:orphan whose merge did not land",
        ],
        STOP,
    ),
    ("finalizing", "finished", &["e:"], ENDING),
    ("completed", "finished", &["h:"], ENDING),
    ("blocked (merge)", "finished", &["h:"], ENDING),
    (
        "any but blocked (gate)",
        "finished",
        &["h:resolve", "h:force"],
        ENDING,
    ),
    ("any", "finished", &["e:PR merged"], ENDING),
    (
        "any",
        "cancelled",
        &["h:", "e:PR closed"],
        "kill_session release_workspace",
    ),
];

fn place(status: Status, reason: Option<BlockedReason>) -> String {
    reason.map_or_else(
        || status.to_string(),
        |reason| format!("{status} ({reason})"),
    )
}

/// Where a phased task can be.
fn places() -> Vec<(Status, Option<BlockedReason>)> {
    let infos = PHASED.statuses.iter();
    infos.map(|info| (info.status, info.reason)).collect()
}

fn actors() -> [Actor; 3] {
    [Actor::Human, Actor::Engine, Actor::Agent(Role::Executor)]
}

/// Nothing, force, and every trigger of the list.
fn triggers() -> Vec<&'static str> {
    let entries = ALLOWED.iter().flat_map(|row| row.2);
    let mut all: Vec<&str> = entries.map(|entry| &entry[2..]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn listed(from: &str, to: &str, actor: Actor, trigger: &str) -> Option<&'static str> {
    let who = match actor {
        Actor::Human => 'h',
        Actor::Engine => 'e',
        Actor::Agent(_) => return None,
    };
    let is_terminal = ["finished", "cancelled"].contains(&from);
    let rows = ALLOWED.iter().filter(|row| {
        let any = row.0 == "any" || row.0 == "any but blocked (gate)" && from != "blocked (gate)";
        row.1 == to && (row.0 == from || any && !is_terminal)
    });
    let mut exact = rows
        .clone()
        .filter(|row| row.2.contains(&format!("{who}:{trigger}").as_str()));
    let mut plain = rows.filter(|row| row.2.contains(&format!("{who}:").as_str()));
    exact.next().or_else(|| plain.next()).map(|row| row.3)
}

/// Decides with surroundings in which every condition of the wanted row holds.
fn decide(
    (from, reason): (Status, Option<BlockedReason>),
    to: Status,
    actor: Actor,
    trigger: &'static str,
    spoil: Option<Condition>,
) -> Result<Decision, Refusal> {
    let open = to == Status::Blocked && spoil != Some(Condition::DependenciesOpen);
    let is_weighed = to != Status::Classifying;
    let mut facts = Facts {
        blockers: vec![Linked {
            reference: "TASK-009".into(),
            status: Some(if open || spoil == Some(Condition::DependenciesOver) {
                Status::Running
            } else {
                Status::Finished
            }),
        }],
        slots: PoolSlots {
            size: u32::from(spoil != Some(Condition::SlotFree)),
            holders: vec![],
        },
        merged: (spoil != Some(Condition::Merged)).then(|| Ok("yes".into())),
        own_commits: Some(u64::from(spoil != Some(Condition::OwnCommits))),
        execution: Condition::ALL.iter().map(|met| (*met, Ok(()))).collect(),
        ..Facts::default()
    };
    facts
        .execution
        .retain(|(condition, _)| Some(*condition) != spoil);
    let weight_spoiled = [Some(Condition::WeightKnown), Some(Condition::WeightUnknown)];
    let task = Task {
        status: from,
        blocked_reason: reason,
        workflow: WorkflowName::Phased,
        weight: (is_weighed != weight_spoiled.contains(&spoil)).then_some(Weight::Small),
        queued_at: (spoil != Some(Condition::Asked)).then_some(Timestamp::UNIX_EPOCH),
        ..Task::default()
    };
    let situation = Situation {
        task: &task,
        body: "",
        facts: &facts,
        max_rounds: 2,
        now: Timestamp::UNIX_EPOCH,
    };
    let wish = Move {
        trigger: (!["", "force"].contains(&trigger)).then_some(Trigger(trigger)),
        force: trigger == "force",
        ..Move::to(to)
    };
    let decision = machine::decide(&PHASED, situation, actor, wish)?;
    let mut after = task.clone();
    machine::apply(&mut after, &decision.event).unwrap();
    assert_eq!((after.status, after.revision), (to, task.revision + 1));
    Ok(decision)
}

#[test]
fn every_status_trigger_and_actor_is_as_the_hand_written_list_says() {
    let mut taken = 0;
    for (from, reason) in places() {
        for (to, to_reason) in places() {
            for actor in actors() {
                for trigger in triggers() {
                    let answer = decide((from, reason), to, actor, trigger, None);
                    // Several rows can lead to `blocked`; the trigger decides for which reason.
                    let reached = answer.as_ref().ok().is_some_and(|decision| {
                        let word = decision.event.fields.get("blocked_reason");
                        let word = word.and_then(|word| word.as_str());
                        to != Status::Blocked || word == to_reason.map(BlockedReason::as_str)
                    });
                    let (from, to) = (place(from, reason), place(to, to_reason));
                    let expected = listed(&from, &to, actor, trigger);
                    assert_eq!(
                        reached,
                        expected.is_some(),
                        "{from} -> {to} by {actor:?} with {trigger:?}: {answer:?}"
                    );
                    if let (true, Ok(decision), Some(hooks)) = (reached, answer, expected) {
                        let names: Vec<&str> =
                            decision.hooks.iter().map(|hook| hook.name()).collect();
                        assert_eq!(names.join(" "), hooks, "{from} -> {to} with {trigger:?}");
                        taken += 1;
                    }
                }
            }
        }
    }
    assert!(taken > 100, "{taken}");
}

/// Each condition of each row, taken away alone.
#[test]
fn what_is_missing_is_refused() {
    let mut spoiled = 0;
    for row in PHASED.transitions {
        let from = places()
            .into_iter()
            .find(|(status, reason)| row.starts_at(*status, *reason));
        let by = row.who[0];
        let actor = match actors().into_iter().find(|actor| actor.may_take(by.who)) {
            Some(actor) => actor,
            None => unreachable!("only people and the engine have rows"),
        };
        let trigger = by.when.map_or("", |trigger| trigger.0);
        let trial = |spoil| decide(from.unwrap(), row.to, actor, trigger, spoil);
        assert!(trial(None).is_ok(), "{row:?}");
        // Two ways lead from a rejected gate to different places, and each asks for what the other must not have.
        for condition in row.conditions {
            let answer = trial(Some(*condition));
            assert!(
                matches!(&answer, Err(Refusal::Unmet { condition: unmet, .. }) if unmet == condition),
                "{condition}: {answer:?}"
            );
            spoiled += 1;
        }
    }
    assert!(spoiled >= 20, "{spoiled}");
}

#[test]
fn only_the_matching_answer_leads_out_of_a_gate() {
    let gate = (Status::Blocked, Some(BlockedReason::Gate));
    for to in [Status::Running, Status::Planned, Status::Finalizing] {
        for trigger in ["", "resume", "run", "force", "answer"] {
            assert!(decide(gate, to, Actor::Human, trigger, None).is_err());
        }
    }
    let decision = decide(gate, Status::Planned, Actor::Human, "approve", None).unwrap();
    assert_eq!(
        decision.event.fields.get("blocked_reason"),
        Some(&serde_json::Value::Null)
    );
    assert!(decide(gate, Status::Planned, Actor::Engine, "approve", None).is_err());
}
