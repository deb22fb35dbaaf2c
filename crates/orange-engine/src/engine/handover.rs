//! A caller that sits in a window which a hook will close would die before the remaining hooks have run. Its
//! transition is committed; the hooks are then an errand's.

use super::{Caller, Engine};
use crate::error::Result;

impl Engine {
    /// Whether this process would end with the session of a task.
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

    /// An errand: finishes what a transition of this task left open.
    pub fn finish(&self, folder: &str) -> Result<()> {
        let place = self.store.place(folder);
        let task = self.store.survey(folder).task.id;
        // As one that is listed: what its caller did not live to tell the person is told too.
        self.as_started(&task).lock_marked(place).map(drop)
    }
}
