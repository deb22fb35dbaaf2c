//! The hooks about workspaces.

use crate::effects::spoken;
use crate::error::Error;
use crate::rules::rules_commit;
use crate::tx::TaskTx;
use crate::workspaces::acquire::{self, Acquired};
use crate::workspaces::release::{self, Released};
use crate::workspaces::{Lease, earlier_work};
use orange_core::history::payload::HookEnded;
use orange_core::history::{Event, EventType, Payload};
use orange_core::task::Field;
use orange_core::{Action, machine, text};
use serde_json::Value;

/// Gets the task a slot.
pub(crate) fn acquire(tx: &mut TaskTx<'_>) -> Event {
    let call = tx.call;
    let outcome = acquire::acquire(call, &tx.task, &tx.place);
    let now = call.now();
    match outcome {
        Ok(mut acquired) => {
            let Acquired { lease, start, .. } = &acquired;
            let failed = |error: &Error| {
                let event = Event::of(Payload::HookFailed(held(lease)), now);
                let slot = Value::from(lease.slot.as_str());
                workspace(event.because(spoken(call, error)), tx, slot)
            };
            let brought = match earlier_work::bring_work(call, &tx.task, &tx.place, lease) {
                Ok(brought) => brought,
                Err(error) => return failed(&error),
            };
            let rules = match rules_commit::rules_at_start(call, &tx.task, start) {
                Ok(commit) => commit,
                Err(error) => return failed(&error),
            };
            let ready = HookEnded {
                rules_commit: Some(&rules),
                base: Some(&start.reference),
                base_commit: start.commit.as_deref(),
                brought: brought.as_deref(),
                ..held(lease)
            };
            let event = Event::of(Payload::HookCompleted(ready), now);
            let event = workspace(event, tx, Value::from(lease.slot.as_str()));
            acquired.brought = brought;
            tx.given.acquired = Some(acquired);
            event
        }
        Err(trouble) => {
            let event =
                Event::new(EventType::HookFailed, now).because(spoken(call, &trouble.error));
            match trouble.kept {
                Some(lease) => {
                    let slot = Value::from(lease.slot.as_str());
                    workspace(event.with(held(&lease)), tx, slot)
                }
                None => event,
            }
        }
    }
}

/// Gives the task's slot back.
pub(crate) fn release(tx: &TaskTx<'_>) -> Event {
    let call = tx.call;
    let outcome = release::release(call, &tx.task, &tx.place, tx.noted_lease());
    let completed = Event::new(EventType::HookCompleted, call.now());
    match outcome {
        Ok(Released::Nothing) => workspace(completed, tx, Value::Null),
        Ok(Released::Passed { slot }) => {
            let event = completed.because(format!("{slot} is another task's by now"));
            workspace(event, tx, Value::Null)
        }
        Ok(Released::Parked {
            slot,
            epoch,
            rescue,
            kept,
        }) => {
            if rescue.is_some() {
                call.notice(text!(
                    "what was not committed is saved: {}",
                    Action::list_rescues(tx.task.label())
                ));
            }
            let lease = Lease { slot, epoch };
            let parked = HookEnded {
                rescue: rescue.as_deref(),
                retired: kept.as_deref(),
                ..held(&lease)
            };
            workspace(completed.with(parked), tx, Value::Null)
        }
        Err(error) => Event::new(EventType::HookFailed, call.now()).because(spoken(call, &error)),
    }
}

fn held(lease: &Lease) -> HookEnded<'_> {
    HookEnded {
        slot: Some(&lease.slot),
        epoch: Some(lease.epoch),
        ..HookEnded::default()
    }
}

/// An event that changes the task's workspace, unless it says so already.
fn workspace(mut event: Event, tx: &TaskTx<'_>, slot: Value) -> Event {
    if tx.task.get(Field::Workspace) == slot {
        return event;
    }
    event.fields.insert(Field::Workspace.name().into(), slot);
    machine::number(event, &tx.task)
}
