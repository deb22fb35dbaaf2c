//! The end of a change: journal, TASK.md, hooks, index, mark, in this order, and what came of it.

use crate::call::Caller;
use crate::errand;
use crate::error::Result;
use crate::store::Place;
use crate::tmux::Tmux;
use crate::tx::{self, TaskTx};
use crate::workspaces::acquire::Acquired;
use orange_core::history::payload::AgentSpawned;
use orange_core::history::{Event, HookFailure, HookOutcome, HookState};
use orange_core::task::{Status, Task};
use orange_core::workflow::Hook;

/// What a change of a task came to.
#[must_use]
#[derive(Debug, Clone)]
pub struct Committed {
    pub task: Task,
    pub place: Place,
    /// Where the task was when it was locked and in order.
    pub from: Status,
    /// Everything that was journalled since the task was locked, in this order.
    pub events: Vec<Event>,
    /// The hooks of its last status change, and what became of them; before them those of a start that failed and was taken back.
    /// The task has moved also where one failed.
    pub effects: Vec<HookState>,
    /// The slot that the task got.
    pub acquired: Option<Acquired>,
}

impl Committed {
    /// The starts of agents, without what only the journal needs.
    pub fn spawned(&self) -> Vec<Event> {
        let starts = self.events.iter();
        let starts = starts.filter(|event| {
            let spawned = AgentSpawned::of(event);
            // One that a person started by themselves is only noted.
            spawned.is_some_and(|spawned| spawned.adopted != Some(true))
        });
        let mut starts: Vec<Event> = starts.cloned().collect();
        for event in &mut starts {
            (event.transition, event.seal) = (None, None);
        }
        starts
    }

    /// The hooks that failed.
    pub fn failed(&self) -> Vec<FailedHook> {
        failed_of(&self.effects)
    }

    /// The same task after another change of it.
    pub fn followed_by(mut self, later: &Committed) -> Committed {
        self.task = later.task.clone();
        self.events.extend(later.events.iter().cloned());
        self.effects.clone_from(&later.effects);
        self.acquired.clone_from(&later.acquired);
        self
    }

    /// Whether the task gave up a slot or an agent that others may wait for, and by the table nobody follows by itself.
    pub fn made_room(&self) -> bool {
        self.from.is_active() && self.task.status.is_given_up()
    }
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedHook {
    pub name: String,
    pub failure: HookFailure,
}

pub(super) fn failed_of(hooks: &[HookState]) -> Vec<FailedHook> {
    let failed = hooks.iter().filter_map(|hook| match &hook.outcome {
        HookOutcome::Failed(failure) => Some(FailedHook {
            name: hook.name.clone(),
            failure: failure.clone(),
        }),
        HookOutcome::Open | HookOutcome::Completed | HookOutcome::Skipped(_) => None,
    });
    failed.collect()
}

impl TaskTx<'_> {
    /// Journals, writes, runs hooks, and takes the task off the list of those in flight. Without events it ends what notes
    /// and single steps began.
    pub fn commit(mut self, events: Vec<Event>) -> Result<Committed> {
        if !events.is_empty() {
            self.write(events)?;
        }
        self.finish(false)
    }

    /// Everything behind the journal and TASK.md. Rows that were told are not looked for once more, unless hooks changed some.
    pub(super) fn finish(mut self, are_rows_told: bool) -> Result<Committed> {
        if self.ends_itself() {
            return self.hand_over();
        }
        let hooks = self.hooks_of_last_transition();
        let are_open = hooks.iter().any(|hook| hook.outcome == HookOutcome::Open);
        let mut finished = self.finish_hooks();
        if !are_rows_told || are_open {
            finished = finished.and_then(|()| self.journal_execution());
        }
        let finished = finished.and_then(|()| self.end_failed_start());
        self.index()?;
        let of_start = finished?;
        self.conclude();
        let mut done = self.committed();
        done.effects.splice(..0, of_start);
        Ok(done)
    }

    /// The same for a process that the hooks end: an errand carries them out, and this process does not wait for it.
    pub(crate) fn commit_for_errand(mut self, events: Vec<Event>) -> Result<()> {
        self.write(events)?;
        self.index()?;
        let (call, folder) = (self.call, self.place.folder());
        // The task stays listed as changing: should the errand not come, the next command goes on with it.
        self.lock.release();
        errand::start(&call.orange, call.store.home(), &["finish", &folder]).map(drop)
    }

    fn committed(mut self) -> Committed {
        let effects = self.hooks_of_last_transition();
        let events = &mut self.snapshot.history.events;
        Committed {
            events: events.split_off(self.opened_at.min(events.len())),
            effects,
            task: self.task,
            place: self.place,
            from: self.from,
            acquired: self.acquired,
        }
    }

    /// Whether the open hooks would end this very process: a caller that sits in a window which a hook closes dies before
    /// the remaining hooks have run.
    pub(super) fn ends_itself(&self) -> bool {
        let closes = [Hook::KillReviewer, Hook::KillSession, Hook::StopExecutor].map(Hook::name);
        let transition = self.history().last_transition();
        let open = transition.is_some_and(|transition| {
            transition.hooks.iter().any(|hook| {
                hook.outcome == HookOutcome::Open && closes.contains(&hook.name.as_str())
            })
        });
        open && self.sits_in_own_session()
    }

    /// Whether this process would end with the task's session.
    pub(super) fn sits_in_own_session(&self) -> bool {
        let id = self.task.id.as_str();
        if let Caller::Agent { task, .. } = &self.call.caller
            && task == id
        {
            return true;
        }
        let Some(inside) = &self.call.inside else {
            return false;
        };
        let panes = Tmux::at(&inside.socket).panes().unwrap_or_default();
        panes.iter().any(|info| {
            info.task_id.as_deref() == Some(id) && Some(&info.pane.pane) == inside.pane.as_ref()
        })
    }

    /// Leaves the hooks to an errand.
    fn hand_over(self) -> Result<Committed> {
        let (call, from, opened_at) = (self.call, self.from, self.opened_at);
        let mut finished = tx::lock_task(call, self.leave_to_errand()?)?;
        (finished.from, finished.opened_at) = (from, opened_at);
        Ok(finished.committed())
    }

    /// Lets go of the task and waits for the errand that finishes its hooks, as long as this process lives.
    pub(super) fn leave_to_errand(mut self) -> Result<Place> {
        self.index()?;
        let call = self.call;
        if call.caller == Caller::Human {
            let transition = self.history().last_transition();
            let reason = transition.and_then(|last| last.opening.reason.clone());
            let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
            let (label, status) = (self.task.label(), self.task.status);
            (call.say)(&format!(
                "{label} is {status}{reason}; its session closes now, and this window with it"
            ));
        }
        // The task stays listed as changing: another process goes on with it.
        self.lock.release();
        let (home, folder) = (call.store.home(), self.place.folder());
        errand::carry_out(&call.orange, home, &["finish", &folder])?;
        Ok(self.place)
    }
}
