//! A caller that sits in a window which a hook will close would die before the remaining hooks have run. Its
//! transition is committed; the hooks are then an errand's.

use super::{Caller, Engine};
use crate::errand;
use crate::error::Result;
use crate::locked::LockedTask;
use crate::store::Place;
use orange_core::history::HookOutcome;
use orange_core::workflow::Hook;

impl Engine {
    /// Would the open hooks end this very process?
    pub(crate) fn ends_itself(&self, locked: &LockedTask) -> bool {
        let closes = [Hook::KillReviewer.name(), Hook::KillSession.name()];
        let transition = locked.history().last_transition();
        let open = transition.is_some_and(|transition| {
            transition.hooks.iter().any(|hook| {
                hook.outcome == HookOutcome::Open && closes.contains(&hook.name.as_str())
            })
        });
        open && self.sits_in_session_of(&locked.task.id)
    }

    pub(crate) fn sits_in_session_of(&self, id: &str) -> bool {
        if let Caller::Agent { task, .. } = &self.caller
            && task == id
        {
            return true;
        }
        let Some(inside) = self.inside.clone() else {
            return false;
        };
        let Ok(panes) = crate::tmux::Tmux::at(&inside.socket).panes() else {
            return false;
        };
        panes.iter().any(|info| {
            info.task_id.as_deref() == Some(id) && Some(&info.pane.pane) == inside.pane.as_ref()
        })
    }

    /// Lets go of the task and waits for the errand that finishes its hooks, as long as this process lives.
    pub(crate) fn hand_over(&self, locked: &mut LockedTask) -> Result<()> {
        let place: Place = locked.place.clone();
        if self.caller == Caller::Human {
            let transition = locked.history().last_transition();
            let reason = transition.and_then(|last| last.opening.reason.clone());
            let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
            let (label, status) = (locked.task.label(), locked.task.status);
            (self.say)(&format!(
                "{label} is {status}{reason}; its session closes now, and this window with it"
            ));
        }
        locked.let_go();
        errand::carry_out(
            &self.orange,
            self.store.home(),
            &["finish", &place.folder()],
        )?;
        *locked = self.lock_task(place)?;
        Ok(())
    }

    /// An errand: finishes what a transition of this task left open.
    pub fn finish(&self, folder: &str) -> Result<()> {
        let place = self.store.place(folder);
        let task = self.store.survey(folder).task.id;
        // As one that is listed: what its caller did not live to tell the person is told too.
        self.as_started(&task).lock_marked(place).map(drop)
    }
}
