//! Who may move a task: agents along their own rows, people along all of them and through the same gates.

use crate::home::{TestHome, agent, to};
use crate::task::TestTask;
use orange_core::task::Field;
use orange_core::workflow::Role;
use orange_engine::Code;
use orange_engine::verbs::change::{Change, Edit};

/// A home with an agent's own task, in planning.
fn with_own() -> (TestHome, TestTask) {
    let home = TestHome::new();
    let own = home.create("own");
    home.bring_to(&own, "planning");
    (home, own)
}

fn forced(status: &str) -> Change {
    Change {
        force: true,
        ..to(status)
    }
}

#[test]
fn an_agent_cannot_start_or_unstick_what_is_not_its_to_start() {
    let (home, own) = with_own();
    let pending = home.create("third");
    let of_pending = || agent(&pending, Role::Worker);
    for change in [to("planning"), forced("planning")] {
        home.change_as(of_pending(), &pending, &change)
            .fails(Code::NotAllowed);
    }
    let worker = || agent(&own, Role::Worker);
    own.append("## Plan\n\nAPPROACH: x\n");
    home.move_to(&own, "working").ok();
    home.move_as(worker(), &own, "stuck").ok();
    home.move_as(worker(), &own, "working")
        .fails(Code::NotAllowed);
    home.move_as(worker(), &own, "reviewing").ok();
    home.change_as(worker(), &own, &forced("done"))
        .fails(Code::NotAllowed);
}

/// Each edit alone is tried in the program's own tests; this is every field that an agent could reach for.
#[test]
fn of_its_own_task_an_agent_changes_summary_and_branch_only() {
    let (home, own) = with_own();
    home.create("other");
    let change = |edits: Vec<Edit>| {
        let change = Change {
            edits,
            ..Change::default()
        };
        home.change_as(agent(&own, Role::Worker), &own, &change)
    };
    let set = |field: Field, value: &str| Edit::Set(field, value.to_owned());
    change(vec![set(Field::Summary, "Better words")]).ok();
    change(vec![Edit::Branch(Some("renamed".to_owned()))]).ok();
    assert_eq!(home.show(&own)["branch"], "renamed");
    assert_eq!(own.last("task.updated")["by"], "agent");
    let events = own.events();
    for edits in [
        vec![set(Field::Priority, "critical")],
        vec![set(Field::Queue, "backlog")],
        vec![set(Field::Category, "bug")],
        vec![set(Field::Weight, "large")],
        vec![set(Field::Harness, "codex")],
        vec![set(Field::TargetBranch, "release")],
        vec![Edit::AddTo(Field::Tags, "x".to_owned())],
        vec![Edit::AddTo(Field::BlockedBy, "TASK-002".to_owned())],
        vec![Edit::SetFlag(Field::RequiresUiTesting, true)],
        vec![Edit::Note("resolved", "true".to_owned())],
        // One that is allowed does not carry another along.
        vec![set(Field::Summary, "New"), set(Field::Priority, "low")],
    ] {
        change(edits).fails(Code::NotAllowed);
    }
    assert_eq!(home.show(&own)["summary"], "Better words");
    assert_eq!(own.events(), events);
}

#[test]
fn a_person_takes_every_row_of_an_agent_through_the_same_gates() {
    let (home, own) = with_own();
    home.move_to(&own, "working")
        .fails(Code::GateUnmet)
        .says("## Plan");
    own.append("## Plan\n\nAPPROACH: x\n");
    home.move_to(&own, "clarification").ok();
    home.move_to(&own, "working").ok();
    home.complete(&own)
        .fails(Code::GateUnmet)
        .says("## Handoff");
    own.append("## Handoff\n\nDONE: x\n");
    home.complete(&own).ok();
    home.move_to(&own, "reviewing")
        .fails(Code::GateUnmet)
        .says("## Review");
    own.append("## Review\n\nVerdict: FAIL\n");
    home.move_to(&own, "reviewing")
        .fails(Code::GateUnmet)
        .says("Verdict: FAIL");
    home.move_to(&own, "working").ok();
    home.move_to(&own, "stuck").ok();
    home.move_to(&own, "reviewing").ok();
    assert_eq!(own.last("status.changed")["by"], "human");
}
