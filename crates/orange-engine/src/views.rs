//! What every front end shows, as values that serialize: `--json` prints them, the text of a command is made from them.
//! Nothing here prints or knows about columns, colours and signs. Read `task.rs` first.

mod agents;
mod counts;
mod deps;
mod detail;
mod diff;
mod diff_stat;
pub mod doctor;
mod evidence;
mod explain;
pub(crate) mod find;
mod list;
mod quick_reads;
mod search;
mod settings;
mod task;
mod why;
mod workspace_state;
mod workspaces;

pub use agents::AgentView;
pub use counts::{Standing, kinds};
pub use deps::DepsNode;
pub use detail::{MessageState, OpenMessage, PermissionMode, TaskDetail, TaskFacts, TimelineEntry};
pub use diff::{Comparison, DiffOf};
pub use evidence::EvidenceView;
pub use explain::{Explanation, without_answer};
pub use list::{TaskRow, list_json};
pub use settings::{SettingView, SettingsView, Source};
pub use task::{HookView, LastTransition, TaskView};
pub use workspace_state::WorkspaceState;
pub use workspaces::WorkspaceRow;

use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::Display;

/// Serializes what a value says of itself.
pub(crate) fn as_text<T: Display, S: Serializer>(
    value: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().map(ToString::to_string).serialize(to)
}

/// Serializes the keys of a value; without a value each of them is null.
fn or_nulls<T: Serialize + Default, S: Serializer>(
    value: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match (value, serde_json::to_value(T::default())) {
        (None, Ok(Value::Object(keys))) => to.collect_map(keys.keys().map(|key| (key, ()))),
        _ => value.serialize(to),
    }
}
