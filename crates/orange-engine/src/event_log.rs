//! What is journalled, told in orange.log too: so one file says what happened to all tasks, in order.

use orange_core::history::Event;
use orange_core::task::Task;
use orange_core::timeline::{self, Weight};

/// The components of the log under which these lines stand.
pub const COMPONENTS: &[&str] = &[
    "task", "agent", "message", "merge", "check", "hook", "file", "command",
];

/// A component is part of a place in the code, so each line of the match below is one.
macro_rules! write_line {
    ($task:expr, $event:expr, $component:literal) => {
        match timeline::weight($event) {
            Weight::Detail => write_line!(debug, $task, $event, $component),
            Weight::Story => write_line!(info, $task, $event, $component),
            Weight::Trouble => write_line!(warn, $task, $event, $component),
        }
    };
    ($level:ident, $task:expr, $event:expr, $component:literal) => {
        tracing::$level!(
            target: $component,
            key = $task.label(),
            project = $task.project,
            task = $task.id,
            "{} {:?}",
            timeline::who($event),
            timeline::event_text($event),
        )
    };
}

pub(crate) fn tell(task: &Task, events: &[Event]) {
    for event in events {
        macro_rules! told {
            ($($component:literal),+) => {
                match event.kind.component() {
                    $($component => write_line!(task, event, $component),)+
                    _ => write_line!(task, event, "task"),
                }
            };
        }
        told!("agent", "message", "merge", "check", "hook", "file")
    }
}
