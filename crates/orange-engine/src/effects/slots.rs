//! The hooks about workspaces.

use crate::effects::{completed, failed};
use crate::error::{Error, Result};
use crate::rules::rules_commit;
use crate::tx::TaskTx;
use crate::workspaces::acquire::{self, Acquired};
use crate::workspaces::release::{self, Released};
use crate::workspaces::{Lease, earlier_work};
use orange_core::history::Event;
use orange_core::history::payload::HookEnded;
use orange_core::task::Field;
use orange_core::{Action, machine, text};
use serde_json::Value;

/// Gets the task a slot.
pub(crate) fn acquire(tx: &mut TaskTx<'_>) -> Event {
    let call = tx.call;
    let mut acquired = match acquire::acquire(call, &tx.task, &tx.place) {
        Ok(acquired) => acquired,
        Err(trouble) => return not_ready(tx, &trouble.error, trouble.kept.as_ref()),
    };
    let Acquired { lease, start, .. } = &acquired;
    let brought = earlier_work::bring_work(call, &tx.task, &tx.place, lease);
    let ready = brought.and_then(|brought| {
        let rules = rules_commit::rules_at_start(call, &tx.task, start)?;
        Ok((brought, rules))
    });
    let (brought, rules) = match ready {
        Ok(ready) => ready,
        Err(error) => return not_ready(tx, &error, Some(lease)),
    };
    let ready = HookEnded {
        rules_commit: Some(&rules),
        base: Some(&start.reference),
        base_commit: start.commit.as_deref(),
        brought: brought.as_deref(),
        ..held(lease)
    };
    let event = workspace(completed(call).with(ready), tx, Some(lease));
    acquired.brought = brought;
    tx.acquired = Some(acquired);
    event
}

/// The slot may be the task's nevertheless.
fn not_ready(tx: &TaskTx<'_>, error: &Error, lease: Option<&Lease>) -> Event {
    let event = failed(tx.call, error);
    match lease {
        Some(lease) => workspace(event.with(held(lease)), tx, Some(lease)),
        None => event,
    }
}

/// Gives the task's slot back.
pub(crate) fn release(tx: &TaskTx<'_>) -> Result<Event> {
    let call = tx.call;
    let released = release::release(call, &tx.task, &tx.place, tx.noted_lease())?;
    let completed = completed(call);
    let event = match released {
        Released::Nothing => completed,
        Released::Passed { slot } => completed.because(format!("{slot} is another task's by now")),
        Released::Parked {
            lease,
            rescue,
            kept,
        } => {
            if rescue.is_some() {
                call.notice(text!(
                    "what was not committed is saved: {}",
                    Action::list_rescues(tx.task.name())
                ));
            }
            let parked = HookEnded {
                rescue: rescue.as_deref(),
                retired: kept.as_deref(),
                ..held(&lease)
            };
            completed.with(parked)
        }
    };
    Ok(workspace(event, tx, None))
}

fn held(lease: &Lease) -> HookEnded<'_> {
    HookEnded {
        slot: Some(&lease.slot),
        epoch: Some(lease.epoch),
        ..HookEnded::default()
    }
}

/// An event that changes the task's workspace, unless it says so already.
fn workspace(mut event: Event, tx: &TaskTx<'_>, lease: Option<&Lease>) -> Event {
    let slot = Value::from(lease.map(|lease| lease.slot.as_str()));
    if tx.task.get(Field::Workspace) == slot {
        return event;
    }
    event.fields.insert(Field::Workspace.name().into(), slot);
    machine::number(event, &tx.task)
}
