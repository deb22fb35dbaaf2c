//! What is journalled, told in orange.log too: so one file says what happened to all tasks, in order.

use orange_core::Text;
use orange_core::history::Event;
use orange_core::task::Task;
use orange_core::timeline::{self, EventWeight};

/// The components of the log under which these lines stand.
pub const COMPONENTS: &[&str] = &[
    "task", "agent", "message", "merge", "check", "hook", "file", "command",
];

/// A component is part of a place in the code, so each line of the match below is one.
macro_rules! write_line {
    ($task:expr, $event:expr, $words:expr, $component:literal) => {
        match timeline::weight($event) {
            EventWeight::Remark => {}
            EventWeight::Detail => write_line!(debug, $task, $event, $words, $component),
            EventWeight::Story => write_line!(info, $task, $event, $words, $component),
            EventWeight::Trouble => write_line!(warn, $task, $event, $words, $component),
        }
    };
    ($level:ident, $task:expr, $event:expr, $words:expr, $component:literal) => {
        tracing::$level!(
            target: $component,
            key = $task.label(),
            project = $task.project,
            task = $task.id,
            "{} {}",
            timeline::who($event),
            $words,
        )
    };
}

pub(crate) fn tell(spell: fn(&Text) -> String, task: &Task, events: &[Event]) {
    for event in events {
        let words = spell(&timeline::event_text(event));
        macro_rules! told {
            ($($component:literal),+) => {
                match event.kind.component() {
                    $($component => write_line!(task, event, words, $component),)+
                    _ => write_line!(task, event, words, "task"),
                }
            };
        }
        told!("agent", "message", "merge", "check", "hook", "file")
    }
}
