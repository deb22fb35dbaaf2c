//! Every (status, command, actor) of the interactive table against a list written by hand from the
//! specification, not derived from the table.

#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "table/special.rs"]
mod special;

use orange_core::Timestamp;
use orange_core::machine::{self, Facts, Linked, Move, PoolSlots, Refusal, Situation};
use orange_core::task::{Status, Task, WorkflowName};
use orange_core::workflow::{Actor, Role, Trigger, Workflow};
use proptest::prelude::*;

const INTERACTIVE: [Status; 10] = [
    Status::Pending,
    Status::Planning,
    Status::Clarification,
    Status::Working,
    Status::AgentReview,
    Status::Reviewing,
    Status::Stuck,
    Status::Delegated,
    Status::Done,
    Status::Cancelled,
];

const ACTORS: [Actor; 5] = [
    Actor::Human,
    Actor::Engine,
    Actor::Agent(Role::Worker),
    Actor::Agent(Role::Reviewer),
    Actor::Agent(Role::Executor),
];

/// What the hand-written list knows of a move: who, by which special occasion, and the hooks in order.
/// `h` human, `e` engine, `a` agent, `r` reviewer; a person may also do what `a` and `r` may.
const ALLOWED: &[(&str, &str, &str, &str)] = &[
    (
        "pending",
        "planning",
        "he",
        "acquire_workspace spawn_agent(worker)",
    ),
    (
        "pending",
        "clarification",
        "he",
        "acquire_workspace spawn_agent(clarify)",
    ),
    (
        "pending",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
    ("planning", "working", "ae", ""),
    ("planning", "clarification", "a", ""),
    (
        "planning",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
    ("clarification", "planning", "ah", "notify_worker?"),
    ("clarification", "working", "ah", "notify_worker?"),
    (
        "clarification",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
    (
        "working",
        "agent-review",
        "ae",
        "increment_review_round archive_review spawn_reviewer verify",
    ),
    ("working", "clarification", "a", ""),
    ("working", "stuck", "ae", "ensure_fixer"),
    (
        "working",
        "delegated",
        "a",
        "kill_session release_workspace spawn_next",
    ),
    (
        "working",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
    ("agent-review", "reviewing", "re", "kill_reviewer"),
    (
        "agent-review",
        "working",
        "re",
        "archive_handoff kill_reviewer notify_worker",
    ),
    ("agent-review", "stuck", "re", "kill_reviewer ensure_fixer"),
    (
        "agent-review",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
    (
        "reviewing",
        "working",
        "h",
        "reset_review_round archive_handoff notify_worker",
    ),
    (
        "reviewing",
        "done",
        "he",
        "kill_session release_workspace delete_remote_branch spawn_next",
    ),
    (
        "reviewing",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
    ("stuck", "reviewing", "ha", ""),
    ("stuck", "working", "h", "notify_worker"),
    (
        "stuck",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
    ("delegated", "done", "e", "spawn_next"),
    ("delegated", "reviewing", "e", ""),
    (
        "delegated",
        "working",
        "h",
        "acquire_workspace spawn_agent(respawn)",
    ),
    (
        "delegated",
        "cancelled",
        "h",
        "kill_reviewer kill_session release_workspace",
    ),
];

const ACTIVE: &[&str] = &[
    "planning",
    "clarification",
    "working",
    "agent-review",
    "reviewing",
    "stuck",
    "delegated",
];

/// The special occasions, each with the moves it opens and for whom.
fn allowed_specially(from: &str, to: &str, actor: Actor, wish: Move) -> bool {
    let active = ACTIVE.contains(&from);
    match (actor, to) {
        (Actor::Human, "done") => active && wish.force,
        (Actor::Engine, "done") => active && wish.trigger == Some(Trigger::PR_MERGED),
        (Actor::Engine, "cancelled") => {
            (active || from == "pending") && wish.trigger == Some(Trigger::PR_CLOSED)
        }
        (Actor::Engine, "stuck") => {
            ["planning", "agent-review"].contains(&from)
                && wish.trigger == Some(Trigger::CRASH_LIMIT)
                || from == "agent-review" && wish.trigger == Some(Trigger::CHECK_FAILED)
        }
        _ => false,
    }
}

fn allowed_plainly(from: &str, to: &str, actor: Actor) -> Option<&'static str> {
    let (_, _, who, hooks) = ALLOWED.iter().find(|row| row.0 == from && row.1 == to)?;
    let may = match actor {
        Actor::Human => who.contains(['h', 'a', 'r']),
        Actor::Engine => who.contains('e'),
        Actor::Agent(Role::Worker) => who.contains('a'),
        Actor::Agent(Role::Reviewer) => who.contains('r'),
        Actor::Agent(Role::Executor) => false,
    };
    may.then_some(hooks)
}

fn link(status: Status) -> Vec<Linked> {
    vec![Linked {
        reference: "TASK-009".into(),
        status: Some(status),
    }]
}

/// Surroundings in which every condition of the wanted row holds, as far as rows do not contradict.
fn favourable(from: Status, to: Status, wish: Move) -> (Task, String, Facts) {
    let failing = from == Status::AgentReview && to != Status::Reviewing;
    let task = Task {
        status: from,
        summary: if to == Status::Clarification && from == Status::Pending {
            String::new()
        } else {
            "do it".into()
        },
        review_round: if to == Status::Stuck { 2 } else { 1 },
        crash_count: if wish.trigger == Some(Trigger::CRASH_LIMIT) {
            2
        } else {
            0
        },
        ..Task::default()
    };
    let verdict = if failing { "FAIL" } else { "PASS" };
    let body = format!(
        "## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n\n## Review\n\nVerdict: {verdict}\n"
    );
    let facts = Facts {
        children: link(if to == Status::Delegated {
            Status::Working
        } else {
            Status::Done
        }),
        slots: PoolSlots {
            size: 1,
            holders: vec![],
        },
        merged: Some(Ok("yes".into())),
        worktree: Some(Ok(())),
        own_commits: Some(u64::from(to == Status::Reviewing)),
        check_returns: true,
        ..Facts::default()
    };
    (task, body, facts)
}

fn decide(
    task: &Task,
    body: &str,
    facts: &Facts,
    actor: Actor,
    wish: Move,
) -> Result<Vec<String>, Refusal> {
    let situation = Situation {
        task,
        body,
        facts,
        max_rounds: 2,
        now: Timestamp::UNIX_EPOCH,
    };
    machine::decide(
        Workflow::named(WorkflowName::Interactive),
        situation,
        actor,
        wish,
    )
    .map(|decision| {
        decision
            .hooks
            .iter()
            .map(|hook| hook.name().to_owned())
            .collect()
    })
}

fn wishes(to: Status) -> Vec<Move> {
    let triggers = [
        None,
        Some(Trigger::CRASH_LIMIT),
        Some(Trigger::CHECK_FAILED),
        Some(Trigger::PR_MERGED),
        Some(Trigger::PR_CLOSED),
    ];
    triggers
        .into_iter()
        .flat_map(|trigger| {
            [false, true].map(|force| Move {
                trigger,
                force,
                ..Move::to(to)
            })
        })
        .collect()
}

#[test]
fn every_status_command_and_actor_is_as_the_hand_written_list_says() {
    let mut tried = 0;
    let mut taken = 0;
    for from in INTERACTIVE {
        for to in Status::ALL.iter().copied() {
            for actor in ACTORS {
                for wish in wishes(to) {
                    let (task, body, facts) = favourable(from, to, wish);
                    let answer = decide(&task, &body, &facts, actor, wish);
                    let plain = allowed_plainly(from.as_str(), to.as_str(), actor);
                    let special = allowed_specially(from.as_str(), to.as_str(), actor, wish);
                    let expected = plain.is_some() || special;
                    assert_eq!(
                        answer.is_ok(),
                        expected,
                        "{from} -> {to} by {actor:?} with {wish:?}: {answer:?}"
                    );
                    if let (Ok(hooks), Some(listed)) = (&answer, plain) {
                        let listed: Vec<&str> = listed
                            .split_whitespace()
                            .filter(|hook| !hook.ends_with('?') || actor == Actor::Human)
                            .map(|hook| hook.trim_end_matches('?'))
                            .collect();
                        assert_eq!(*hooks, listed, "{from} -> {to} by {actor:?}");
                        taken += 1;
                    }
                    tried += 1;
                }
            }
        }
    }
    assert_eq!(tried, 10 * 20 * 5 * 10);
    assert!(taken > 200, "{taken}");
}

/// Each gate and condition of the specification, taken away one at a time.
#[test]
fn what_is_missing_is_refused() {
    type Spoil = fn(&mut Task, &mut String, &mut Facts);
    let cases: &[(Status, Status, Actor, Spoil)] = &[
        (
            Status::Pending,
            Status::Planning,
            Actor::Human,
            |task, _, _| task.summary.clear(),
        ),
        (
            Status::Pending,
            Status::Planning,
            Actor::Engine,
            |_, _, facts| facts.blockers = link(Status::Working),
        ),
        (
            Status::Pending,
            Status::Planning,
            Actor::Human,
            |_, _, facts| facts.blockers = link(Status::Cancelled),
        ),
        (
            Status::Pending,
            Status::Planning,
            Actor::Human,
            |_, _, facts| facts.slots.holders.push("TASK-001".into()),
        ),
        (
            Status::Pending,
            Status::Clarification,
            Actor::Human,
            |task, _, _| task.summary = "x".into(),
        ),
        (
            Status::Pending,
            Status::Clarification,
            Actor::Engine,
            |_, _, facts| facts.slots.size = 0,
        ),
        (
            Status::Planning,
            Status::Working,
            Actor::Agent(Role::Worker),
            |_, body, _| *body = body.replace("APPROACH", "IDEA"),
        ),
        (
            Status::Clarification,
            Status::Working,
            Actor::Human,
            |_, body, _| *body = body.replace("## Plan", "## Plans"),
        ),
        (
            Status::Working,
            Status::AgentReview,
            Actor::Agent(Role::Worker),
            |_, body, _| *body = body.replace("DONE: x", "DONE:"),
        ),
        (
            Status::Working,
            Status::Delegated,
            Actor::Agent(Role::Worker),
            |_, _, facts| facts.children = link(Status::Done),
        ),
        (
            Status::Working,
            Status::Delegated,
            Actor::Human,
            |_, _, facts| facts.worktree = Some(Err("dirty".into())),
        ),
        (
            Status::AgentReview,
            Status::Reviewing,
            Actor::Agent(Role::Reviewer),
            |_, body, _| *body = body.replace("PASS", "FAIL"),
        ),
        (
            Status::AgentReview,
            Status::Reviewing,
            Actor::Human,
            |_, body, _| *body = body.replace("Verdict: PASS", "it will pass"),
        ),
        (
            Status::AgentReview,
            Status::Working,
            Actor::Engine,
            |_, body, _| *body = body.replace("FAIL", "PASS"),
        ),
        (
            Status::AgentReview,
            Status::Working,
            Actor::Agent(Role::Reviewer),
            |task, _, _| task.review_round = 2,
        ),
        (
            Status::AgentReview,
            Status::Stuck,
            Actor::Agent(Role::Reviewer),
            |task, _, _| task.review_round = 1,
        ),
        (
            Status::Reviewing,
            Status::Done,
            Actor::Human,
            |_, _, facts| facts.merged = Some(Err("no".into())),
        ),
        (
            Status::Reviewing,
            Status::Done,
            Actor::Engine,
            |_, _, facts| facts.merged = None,
        ),
        (
            Status::Delegated,
            Status::Done,
            Actor::Engine,
            |_, _, facts| facts.children = link(Status::Working),
        ),
        (
            Status::Delegated,
            Status::Done,
            Actor::Engine,
            |_, _, facts| facts.own_commits = Some(1),
        ),
        (
            Status::Delegated,
            Status::Reviewing,
            Actor::Engine,
            |_, _, facts| facts.own_commits = Some(0),
        ),
        (
            Status::Delegated,
            Status::Working,
            Actor::Human,
            |_, _, facts| facts.slots.holders.push("TASK-001".into()),
        ),
    ];
    for (from, to, actor, spoil) in cases {
        let wish = Move::to(*to);
        let (mut task, mut body, mut facts) = favourable(*from, *to, wish);
        assert!(
            decide(&task, &body, &facts, *actor, wish).is_ok(),
            "{from} -> {to}"
        );
        spoil(&mut task, &mut body, &mut facts);
        let answer = decide(&task, &body, &facts, *actor, wish);
        assert!(
            matches!(answer, Err(Refusal::Unmet { .. } | Refusal::Gate(_))),
            "{from} -> {to}: {answer:?}"
        );
    }
}

#[test]
fn force_overrides_dependencies_for_a_person_only() {
    let wish = Move {
        force: true,
        ..Move::to(Status::Planning)
    };
    let (task, body, mut facts) = favourable(Status::Pending, Status::Planning, wish);
    facts.blockers = link(Status::Working);
    assert!(decide(&task, &body, &facts, Actor::Human, wish).is_ok());
    assert!(decide(&task, &body, &facts, Actor::Engine, wish).is_err());
}

proptest! {
    /// Whatever the surroundings: a move that is not on the list is never made, and one that is made
    /// goes where it was asked to go, with the next revision.
    #[test]
    fn no_surroundings_open_a_move_that_is_not_listed(
        from in prop::sample::select(INTERACTIVE.to_vec()),
        to in prop::sample::select(Status::ALL.to_vec()),
        actor in prop::sample::select(ACTORS.to_vec()),
        force: bool,
        round in 0u32..4,
        crashes in 0u32..4,
        merged: bool,
        commits in 0u64..2,
        blocker in prop::option::of(prop::sample::select(INTERACTIVE.to_vec())),
        child in prop::option::of(prop::sample::select(INTERACTIVE.to_vec())),
        verdict in prop::sample::select(vec!["PASS", "FAIL", "maybe"]),
        summary in prop::sample::select(vec!["", "do it"]),
    ) {
        let wish = Move { force, ..Move::to(to) };
        let (mut task, body, mut facts) = favourable(from, to, wish);
        task.review_round = round;
        task.crash_count = crashes;
        task.summary = summary.into();
        facts.blockers = blocker.map(link).unwrap_or_default();
        facts.children = child.map(link).unwrap_or_default();
        facts.merged = Some(if merged { Ok("yes".into()) } else { Err("no".into()) });
        facts.own_commits = Some(commits);
        let body = body.replace("PASS", verdict).replace("FAIL", verdict);
        let situation = Situation { task: &task, body: &body, facts: &facts, max_rounds: 2, now: Timestamp::UNIX_EPOCH };
        let answer = machine::decide(Workflow::named(WorkflowName::Interactive), situation, actor, wish);
        if let Ok(decision) = answer {
            let listed = allowed_plainly(from.as_str(), to.as_str(), actor).is_some()
                || allowed_specially(from.as_str(), to.as_str(), actor, wish);
            prop_assert!(listed, "{} -> {} by {:?}", from, to, actor);
            let mut after = task.clone();
            machine::apply(&mut after, &decision.event).unwrap();
            prop_assert_eq!(after.status, to);
            prop_assert_eq!(after.revision, task.revision + 1);
        }
    }
}
