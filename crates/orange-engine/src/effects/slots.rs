//! The hooks about workspaces.

use super::spoken;
use crate::tx::TaskTx;
use crate::workspaces::{Acquired, BROUGHT, Lease, RULES_COMMIT, Released};
use orange_core::history::{Event, EventType};
use orange_core::machine;
use orange_core::task::Field;
use serde_json::Value;

/// Gets the task a slot.
pub(crate) fn acquire(tx: &mut TaskTx<'_>) -> Event {
    let engine = tx.engine;
    let outcome = engine.acquire(&tx.task, &tx.place);
    let now = engine.now();
    match outcome {
        Ok(mut acquired) => {
            let Acquired { lease, start, .. } = &acquired;
            let brought = match engine.bring_work(&tx.task, &tx.place, lease) {
                Ok(brought) => brought,
                Err(error) => {
                    let event = Event::new(EventType::HookFailed, now).because(spoken(&error));
                    let slot = Value::from(lease.slot.as_str());
                    return workspace(with_lease(event, lease), tx, slot);
                }
            };
            let rules = match engine.rules_at_start(&tx.task, start) {
                Ok(commit) => commit,
                Err(error) => {
                    let event = Event::new(EventType::HookFailed, now).because(spoken(&error));
                    let slot = Value::from(lease.slot.as_str());
                    return workspace(with_lease(event, lease), tx, slot);
                }
            };
            let mut event = with_lease(Event::new(EventType::HookCompleted, now), lease)
                .detail(RULES_COMMIT, rules)
                .detail("base", start.reference.as_str());
            if let Some(commit) = &start.commit {
                event = event.detail("base_commit", commit.as_str());
            }
            if let Some(rescue) = &brought {
                event = event.detail(BROUGHT, rescue.as_str());
            }
            let event = workspace(event, tx, Value::from(lease.slot.as_str()));
            acquired.brought = brought;
            tx.given.acquired = Some(acquired);
            event
        }
        Err(trouble) => {
            let event = Event::new(EventType::HookFailed, now).because(spoken(&trouble.error));
            match trouble.kept {
                Some(lease) => {
                    let slot = Value::from(lease.slot.as_str());
                    workspace(with_lease(event, &lease), tx, slot)
                }
                None => event,
            }
        }
    }
}

/// Gives the task's slot back.
pub(super) fn release(tx: &TaskTx<'_>) -> Event {
    let engine = tx.engine;
    let outcome = engine.release(&tx.task, &tx.place, tx.noted_lease());
    let completed = Event::new(EventType::HookCompleted, engine.now());
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
            let mut event = with_lease(completed, &Lease { slot, epoch });
            if let Some(reference) = rescue {
                engine.notice(format!(
                    "what was not committed is saved: `orange task rescue list {}`",
                    tx.task.label()
                ));
                event = event.detail("rescue", reference);
            }
            if let Some(why) = kept {
                event = event.detail("retired", why);
            }
            workspace(event, tx, Value::Null)
        }
        Err(error) => Event::new(EventType::HookFailed, engine.now()).because(spoken(&error)),
    }
}

fn with_lease(event: Event, lease: &Lease) -> Event {
    let event = event.detail("slot", lease.slot.as_str());
    event.detail("epoch", lease.epoch)
}

/// An event that changes the task's workspace, unless it says so already.
fn workspace(mut event: Event, tx: &TaskTx<'_>, slot: Value) -> Event {
    if tx.task.get(Field::Workspace) == slot {
        return event;
    }
    event.fields.insert(Field::Workspace.name().into(), slot);
    machine::number(event, &tx.task)
}
