//! Hooks of the last transition that failed: carried out once more, or made up for by what a person did.

use crate::effects;
use crate::error::Result;
use crate::tx::TaskTx;
use crate::tx::commit::{FailedHook, failed_of};
use orange_core::history::{Event, EventType, HookState};
use orange_core::workflow::{Hook, Role};

impl TaskTx<'_> {
    /// Once more, what failed the last time. Gives what was tried.
    pub(crate) fn retry_hooks(&mut self) -> Result<Vec<String>> {
        let failed = self.failed_hooks().into_iter().map(|hook| hook.name);
        let failed: Vec<String> = failed.collect();
        failed.iter().try_for_each(|hook| self.retry(hook))?;
        Ok(failed)
    }

    fn retry(&mut self, hook: &str) -> Result<()> {
        let transition = self.last_transition_id();
        self.mark()?;
        let mut events = effects::carry_out(self, hook);
        for event in &mut events {
            event.transition.clone_from(&transition);
        }
        self.outcome(events)
    }

    /// Tries once more to get the workspace that the last transition could not get. Returns why it still cannot.
    pub(crate) fn retry_acquire(&mut self) -> Result<Option<String>> {
        let name = Hook::AcquireWorkspace.name();
        let reason = |tx: &TaskTx<'_>| {
            let mut failed = tx.failed_hooks().into_iter();
            let found = failed.find(|hook| hook.name == name);
            found.map(|hook| hook.failure.why)
        };
        if reason(self).is_none() {
            return Ok(None);
        }
        self.retry(name)?;
        Ok(reason(self))
    }

    /// Events that close hooks which failed to start an agent of this role, now that one was started.
    pub(crate) fn made_up_for(&self, role: Role) -> Vec<Event> {
        let transition = self.last_transition_id();
        let starts = |hook: &str| match Hook::from_name(hook) {
            Some(Hook::SpawnAgent(_)) => role == Role::Worker,
            Some(Hook::SpawnReviewer) => role == Role::Reviewer,
            _ => false,
        };
        let failed = self.failed_hooks().into_iter();
        failed
            .filter(|hook| starts(&hook.name))
            .map(|hook| {
                let mut event = Event::new(EventType::HookCompleted, self.call.now())
                    .because("a person started the agent");
                event.hook = Some(hook.name);
                event.transition.clone_from(&transition);
                event
            })
            .collect()
    }

    pub(crate) fn last_transition_id(&self) -> Option<String> {
        let transition = self.snapshot.history.last_transition()?;
        transition.opening.transition.clone()
    }

    /// Whether the last status change asked for a look at the queue.
    pub(crate) fn asked_for_queue(&self) -> bool {
        let hooks = self.hooks_of_last_transition();
        let spawn_next = Hook::SpawnNext.name();
        hooks.iter().any(|hook| hook.name == spawn_next)
    }

    /// Hooks of the last status change, and what became of them.
    pub(super) fn hooks_of_last_transition(&self) -> Vec<HookState> {
        let last = self.snapshot.history.last_transition();
        last.map(|last| last.hooks).unwrap_or_default()
    }

    pub(crate) fn failed_hooks(&self) -> Vec<FailedHook> {
        failed_of(&self.hooks_of_last_transition())
    }
}
