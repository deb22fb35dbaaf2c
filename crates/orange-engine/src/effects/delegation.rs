//! A delegated task moves on by itself when its children are over.

use crate::call::Call;
use crate::error::Result;
use crate::{facts, tx};
use orange_core::id::read_stored;
use orange_core::machine::{self, Linked};
use orange_core::task::{Status, Task};
use orange_core::workflow::{Condition, Workflow};

/// A parent that only waited for its children moves on by itself.
pub(crate) fn advance_parent(call: &Call, child: &Task) -> Result<()> {
    let parent = child
        .parent
        .as_deref()
        .and_then(|parent| read_stored(&child.project, parent));
    match parent {
        Some(parent) => advance_delegated(call, &parent.project, parent.number),
        None => Ok(()),
    }
}

/// Moves a delegated task on if all its children are over.
pub(crate) fn advance_delegated(call: &Call, project: &str, number: u32) -> Result<()> {
    let Some(found) = call.index()?.by_number(project, number)? else {
        return Ok(());
    };
    let place = call.store.place(&found.folder);
    let parent = call.store.survey(&found.folder).task;
    let waits = |child: &Linked| !child.status.is_some_and(Status::is_over);
    if !parent.waits_for_children() || facts::children(call, &parent)?.iter().any(waits) {
        return Ok(());
    }
    let tx = tx::lock_parent(call, place)?;
    let workflow = Workflow::named(tx.task.workflow);
    let over = Condition::ChildrenOver;
    let facts = facts::facts(call, &tx.task, &[over, Condition::OwnCommits])?;
    let situation = tx.situation(&facts)?;
    let Some(decision) = machine::decide_on(workflow, situation, over, None) else {
        return Ok(());
    };
    call.notice(format!(
        "{}: all its children are over; now {}",
        tx.task.label(),
        decision.event.to.as_deref().unwrap_or_default()
    ));
    tx.commit(vec![decision.event]).map(drop)
}
