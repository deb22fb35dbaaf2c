//! `attach`: which window to show.

use crate::call::Call;
use crate::error::{Result, err};
use crate::execution;
use crate::sessions::{self, adopted};
use crate::store::Place;
use crate::tmux::{Attach, Tmux};
use crate::verbs::peek::role_to_look_at;
use crate::views::task;
use orange_core::runs::last_run;
use orange_core::task::Task;
use orange_core::workflow::Role;
use orange_core::{Action, text};

/// How to get to an agent's window.
pub fn attach(call: &Call, place: Place, role: Option<Role>) -> Result<(Task, Attach)> {
    let view = task::view(call, place)?;
    let label = view.task.label();
    let role = role.unwrap_or_else(|| role_to_look_at(&view.task, &view.history));
    sessions::usable_tmux(call)?;
    let mut windows = sessions::windows_of(call, &view.task)?;
    if windows.is_empty() {
        let adopted = adopted::adopted_session(call, &view.history, Role::Worker)?;
        windows.extend(adopted.unwrap_or_default());
    }
    let run = last_run(&view.history, role);
    let of_run = |id: &str| {
        windows
            .iter()
            .find(|info| info.run_id.as_deref() == Some(id))
    };
    let window = run.and_then(|run| of_run(&run.id)).or(windows.first());
    let Some(window) = window else {
        return Err(
            err!(NotFound, "{label} has no tmux session").hint(match view.task.status {
                status if !status.has_started() => {
                    text!("start it: {}", execution::how_to_start(&view.task))
                }
                _ if view.task.has_plan() => text!(
                    "it has a window only while it is executed; {} shows what was said",
                    Action::transcript(view.task.name())
                ),
                status if status.is_active() => {
                    text!(
                        "start its agent again: {}",
                        Action::respawn(view.task.name(), false)
                    )
                }
                _ => text!(
                    "it is over; its screens are in {}",
                    view.place.path.join("screens").display().to_string()
                ),
            }),
        );
    };
    let inside = call.inside.clone();
    let attach = Tmux::at(&window.pane.socket).attach(&window.pane, inside.as_ref())?;
    Ok((view.task, attach))
}
