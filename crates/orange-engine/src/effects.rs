//! Carrying out hooks. Nothing here starts agents or touches worktrees yet: such a hook is journalled as
//! not carried out and stays so, because running it later could act on a task that has moved on.

use orange_core::Timestamp;
use orange_core::history::{Event, EventType};

/// Why a hook of this version's table was left alone.
const NOT_YET: &str = "this version of orange starts no agents and touches no worktrees";

/// Carries out one hook of a transition and says what became of it.
pub(crate) fn carry_out(hook: &str, transition: &str, now: Timestamp) -> Event {
    let mut event = Event::new(EventType::HookSkipped, now).because(NOT_YET);
    event.hook = Some(hook.to_owned());
    event.transition = Some(transition.to_owned());
    event
}
