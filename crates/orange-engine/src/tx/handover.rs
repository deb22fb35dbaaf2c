//! A caller that sits in a window which a hook will close would die before the remaining hooks have run. Its
//! transition is committed; the hooks are then an errand's.

use crate::call::{Call, Caller};

/// Whether this process would end with the session of a task.
pub(crate) fn sits_in_session_of(call: &Call, id: &str) -> bool {
    if let Caller::Agent { task, .. } = &call.caller
        && task == id
    {
        return true;
    }
    let Some(inside) = call.inside.clone() else {
        return false;
    };
    let Ok(panes) = crate::tmux::Tmux::at(&inside.socket).panes() else {
        return false;
    };
    panes.iter().any(|info| {
        info.task_id.as_deref() == Some(id) && Some(&info.pane.pane) == inside.pane.as_ref()
    })
}
