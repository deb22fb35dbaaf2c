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
mod results;
mod search;
mod settings;
mod task;
mod why;
mod workspace_state;
mod workspaces;

pub use agents::AgentView;
pub use counts::{Standing, kinds};
pub use deps::{DepsEdge, DepsNode, Links};
pub use detail::{MessageState, OpenMessage, PermissionMode, TaskDetail, TaskFacts, TimelineEntry};
pub use diff::{Comparison, DiffOf, DiffView};
pub use evidence::EvidenceView;
pub use explain::Explanation;
pub use list::{TaskRow, list_json};
pub use results::TaskResult;
pub use settings::{SettingView, SettingsView, Source, UnknownSetting};
pub use task::{HookView, LastTransition, TaskView};
pub use workspace_state::WorkspaceState;
pub use workspaces::WorkspaceRow;

use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::Display;
use std::path::{Path, PathBuf};

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

/// Serializes a path that need not be UTF-8.
pub(crate) fn lossy_path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

pub(crate) fn lossy_paths<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}
