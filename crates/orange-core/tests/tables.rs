//! What must hold of every workflow's table.

#![allow(clippy::unwrap_used, reason = "tests")]

use orange_core::Timestamp;
use orange_core::machine::{self, Facts, Linked, Move, PoolSlots, Situation};
use orange_core::task::{BlockedReason, Status, Task, WorkflowName};
use orange_core::workflow::{
    Actor, Condition, Hook, Intent, Role, RowOrigin, StatusInfo, StatusKind, Transition, Trigger,
    WaitsFor, Workflow, info_for,
};
use proptest::prelude::*;
use std::collections::HashSet;

type Place = (Status, Option<BlockedReason>);

fn places(table: &Workflow) -> Vec<Place> {
    let infos = table.statuses.iter();
    infos.map(|info| (info.status, info.reason)).collect()
}

/// Where rows lead from these, also over several.
fn reachable(table: &Workflow, from: Vec<Place>) -> HashSet<Place> {
    let mut known: HashSet<Place> = HashSet::new();
    let mut open = from;
    while let Some(here) = open.pop() {
        if known.insert(here) {
            let rows = table.rows_from(here.0, here.1);
            open.extend(rows.map(|row| (row.to, row.to_reason)));
        }
    }
    known
}

#[test]
fn every_status_has_its_columns_in_one_table_or_the_same_in_both() {
    for status in Status::ALL {
        let mut rows: Vec<(&str, &StatusInfo)> = Vec::new();
        for table in Workflow::all() {
            let own = table.statuses.iter().filter(|info| info.status == *status);
            rows.extend(own.map(|info| (table.name, info)));
        }
        assert_eq!(status.info(), rows[0].1, "{status}");
        for (table, info) in &rows {
            assert_eq!(info_for(info.status, info.reason), *info, "{status}");
            let elsewhere = rows.iter().filter(|(other, _)| other != table);
            assert!(
                elsewhere.clone().all(|(_, other)| other == info),
                "{status}"
            );
            // What `Status::info` gives for a task that is blocked for any reason.
            let first = status.info();
            assert_eq!((info.expects, info.success), (first.expects, first.success));
        }
    }
}

#[test]
fn the_columns_of_a_status_fit_together() {
    for table in Workflow::all() {
        for info in table.statuses {
            let name = (table.name, info.status, info.reason);
            assert_eq!(
                info.status == Status::Blocked,
                info.reason.is_some(),
                "{name:?}"
            );
            let waits_for_somebody = info.waits_for != WaitsFor::Nobody;
            match info.kind {
                StatusKind::Active => assert!(waits_for_somebody, "{name:?}"),
                StatusKind::Over => assert!(!waits_for_somebody, "{name:?}"),
                // For a person to start it, or for the engine.
                StatusKind::Waiting => assert_ne!(info.waits_for, WaitsFor::Agent, "{name:?}"),
            }
            assert!(info.kind == StatusKind::Over || !info.success, "{name:?}");
            assert_eq!(
                info.expects.is_some(),
                info.waits_for == WaitsFor::Agent,
                "{name:?}"
            );
            assert!(info.owes.is_none() || info.expects.is_some(), "{name:?}");
            assert!(
                !info.meaning.is_empty() && info.icon.chars().count() == 1,
                "{name:?}"
            );
            if info.notifies.is_some() {
                assert_eq!(info.waits_for, WaitsFor::Person, "{name:?}");
            }
            let later = table
                .statuses
                .iter()
                .filter(|other| other.kind == StatusKind::Over);
            if info.kind != StatusKind::Over {
                assert!(later.clone().all(|over| info.rank < over.rank), "{name:?}");
            }
        }
        let starts = |table: &Workflow| table.creations[0].status.info().kind;
        assert_eq!(starts(table), StatusKind::Waiting, "{}", table.name);
    }
}

#[test]
fn every_row_starts_and_ends_in_its_table() {
    for table in Workflow::all() {
        let places = places(table);
        for row in table.transitions {
            assert!(places.contains(&(row.to, row.to_reason)), "{row:?}");
            assert!(!row.who.is_empty(), "{row:?}");
            let starts = places
                .iter()
                .filter(|(status, reason)| row.starts_at(*status, *reason));
            let starts = starts.count();
            match row.from {
                RowOrigin::Statuses(from) => assert_eq!(starts, from.len(), "{row:?}"),
                RowOrigin::BlockedOn(_, or) => assert_eq!(starts, or.len() + 1, "{row:?}"),
                RowOrigin::AnyActive
                | RowOrigin::AnyNotTerminal
                | RowOrigin::AnyNotTerminalBut(_) => {
                    assert!(starts > 5, "{row:?}");
                }
            }
        }
        assert!(table.creations.iter().all(|row| table.has(row.status)));
    }
}

#[test]
fn every_status_is_reached_and_left_and_nothing_leaves_the_end() {
    for table in Workflow::all() {
        let born = table
            .creations
            .iter()
            .map(|row| (row.status, None))
            .collect();
        let places: HashSet<Place> = places(table).into_iter().collect();
        assert_eq!(reachable(table, born), places, "{}", table.name);
        for (status, reason) in &places {
            let mut rows = table.rows_from(*status, *reason);
            if status.is_terminal() {
                assert!(rows.next().is_none(), "{status}");
                continue;
            }
            assert!(
                rows.any(|row| row.intent == Some(Intent::Cancel)),
                "{status}"
            );
            let ends = reachable(table, vec![(*status, *reason)]);
            assert!(ends.iter().any(|(end, _)| end.is_over()), "{status}");
        }
    }
}

/// Two rows with the same way and the same actor must be told apart by a trigger, a gate or a condition.
#[test]
fn no_row_hides_another() {
    let alike = |one: &Transition, other: &Transition| {
        let shared = one.who.iter().any(|by| other.who.contains(by));
        let same_end = (one.to, one.to_reason) == (other.to, other.to_reason);
        shared && same_end && one.gate == other.gate && one.conditions == other.conditions
    };
    for table in Workflow::all() {
        for (status, reason) in places(table) {
            let rows: Vec<&Transition> = table.rows_from(status, reason).collect();
            for (at, row) in rows.iter().enumerate() {
                let mut later = rows[at + 1..].iter();
                assert!(!later.any(|other| alike(row, other)), "{status}: {row:?}");
            }
        }
    }
}

/// A slot is given back by whoever has it, after its agents are gone; the queue is served last.
#[test]
fn hooks_come_in_an_order_that_works() {
    let ends = [Hook::KillSession, Hook::StopExecutor];
    for table in Workflow::all() {
        for row in table.transitions {
            let at = |wanted: Hook| row.hooks.iter().position(|entry| entry.hook == wanted);
            if let Some(release) = at(Hook::ReleaseWorkspace) {
                let ended = ends.iter().filter_map(|end| at(*end)).min();
                assert!(ended.is_some_and(|ended| ended < release), "{row:?}");
            }
            if let Some(next) = at(Hook::SpawnNext) {
                assert_eq!(next + 1, row.hooks.len(), "{row:?}");
            }
            if row.to.is_terminal() {
                assert_eq!(at(Hook::AcquireWorkspace), None, "{row:?}");
            }
        }
    }
}

#[test]
fn a_verb_finds_its_status_from_everywhere() {
    let interactive = Workflow::all()[0];
    for intent in Intent::ALL {
        for (status, _) in places(interactive) {
            for summary in ["", "do it"] {
                let task = Task {
                    status,
                    summary: summary.into(),
                    ..Task::default()
                };
                let to = machine::destination(&task, *intent);
                let expected = match intent {
                    Intent::Start if summary.is_empty() && status == Status::Pending => {
                        Status::Clarification
                    }
                    Intent::Start => Status::Planning,
                    Intent::Submit => Status::AgentReview,
                    Intent::Help => Status::Stuck,
                    Intent::Answer => Status::Planning,
                    Intent::RequestChanges | Intent::TakeBack => Status::Working,
                    Intent::Merge => Status::Done,
                    Intent::Cancel => Status::Cancelled,
                };
                assert_eq!(to, Some(expected), "{intent} from {status}");
                let offered = match intent {
                    Intent::Start => status == Status::Pending,
                    Intent::Submit | Intent::Help => status == Status::Working,
                    Intent::Answer => status == Status::Clarification,
                    Intent::RequestChanges => [Status::Reviewing, Status::Stuck].contains(&status),
                    Intent::Merge => status == Status::Reviewing,
                    Intent::Cancel => !status.is_terminal(),
                    Intent::TakeBack => status == Status::Delegated,
                };
                assert_eq!(task.offers(*intent), offered, "{intent} from {status}");
            }
        }
    }
}

fn tables_and_places() -> Vec<(usize, Place)> {
    let tables = Workflow::all();
    let numbered = tables.iter().enumerate();
    let places = numbered.flat_map(|(at, table)| places(table).into_iter().map(move |p| (at, p)));
    places.collect()
}

fn all_triggers() -> Vec<Option<Trigger>> {
    let tables = Workflow::all();
    let rows = tables.iter().flat_map(|table| table.transitions);
    let mut triggers: Vec<Option<Trigger>> =
        rows.flat_map(|row| row.who).map(|by| by.when).collect();
    triggers.sort_unstable();
    triggers.dedup();
    triggers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the surroundings: a task moves only along a row of its table that its caller may take, to where that row
    /// leads, with the next revision; and the same question gets the same answer.
    #[test]
    fn a_task_moves_only_along_its_table(
        (table, (status, reason)) in prop::sample::select(tables_and_places()),
        to in prop::sample::select(Status::ALL.to_vec()),
        actor in prop::sample::select(vec![
            Actor::Human,
            Actor::Engine,
            Actor::Agent(Role::Worker),
            Actor::Agent(Role::Reviewer),
            Actor::Agent(Role::Executor),
        ]),
        trigger in prop::sample::select(all_triggers()),
        force: bool,
        (round, crashes, commits) in (0u32..4, 0u32..4, 0u64..2),
        merged: bool,
        queued: bool,
        linked in prop::sample::select(Status::ALL.to_vec()),
        met in prop::sample::subsequence(Condition::ALL.to_vec(), 0..=Condition::ALL.len()),
        verdict in prop::sample::select(vec!["PASS", "FAIL", "maybe"]),
        summary in prop::sample::select(vec!["", "do it"]),
    ) {
        let workflow = Workflow::all()[table];
        let task = Task {
            status,
            blocked_reason: reason,
            summary: summary.into(),
            review_round: round,
            crash_count: crashes,
            queued_at: queued.then_some(Timestamp::UNIX_EPOCH),
            workflow: if table == 0 { WorkflowName::Interactive } else { WorkflowName::Phased },
            ..Task::default()
        };
        let link = vec![Linked { reference: "TASK-009".into(), status: Some(linked) }];
        let facts = Facts {
            blockers: link.clone(),
            children: link,
            slots: PoolSlots { size: 1, holders: vec![] },
            merged: Some(if merged { Ok("yes".into()) } else { Err("no".into()) }),
            own_commits: Some(commits),
            check_returns: true,
            execution: met.into_iter().map(|condition| (condition, Ok(()))).collect(),
            ..Facts::default()
        };
        let body = format!("## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n\n## Review\n\nVerdict: {verdict}\n");
        let situation = Situation { task: &task, body: &body, facts: &facts, max_rounds: 2, now: Timestamp::UNIX_EPOCH };
        let wish = Move { trigger, force, ..Move::to(to) };
        let answer = machine::decide(workflow, situation, actor, wish);
        prop_assert_eq!(&machine::decide(workflow, situation, actor, wish), &answer);
        if let Ok(decision) = answer {
            let mut after = task.clone();
            machine::apply(&mut after, &decision.event).unwrap();
            prop_assert_eq!(after.status, to);
            prop_assert_eq!(after.revision, task.revision + 1);
            let waits = info_for(after.status, after.blocked_reason).kind == StatusKind::Waiting;
            let is_it = |row: &&Transition| {
                let may = row.entries_for(actor).any(|by| match by.when {
                    None => true,
                    Some(Trigger::FORCE) => force,
                    when => when == trigger,
                });
                (row.to, row.to_reason) == (after.status, after.blocked_reason)
                    && may
                    && row.hooks_for(actor) == decision.hooks
                    && row.asks.unwrap_or(queued && waits) == after.queued_at.is_some()
            };
            prop_assert!(workflow.rows_from(status, reason).any(|row| is_it(&row)));
        }
    }
}
