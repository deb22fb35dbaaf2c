//! What every front end shows, as values that serialize: `--json` prints them, the text of a command is made from them.
//! Nothing here prints or knows about columns, colours and signs. Read `task.rs` first.

pub mod agents;
pub mod changes;
pub mod concerns;
pub mod cost;
pub mod counts;
pub mod dashboard;
pub mod deps;
pub mod detail;
pub mod diff;
mod diff_since;
pub mod diff_stat;
pub mod doctor;
mod event_line;
pub mod evidence;
pub mod harnesses;
pub mod inbox;
pub mod list;
mod merged;
pub mod patch;
pub mod permissions;
pub mod phased;
pub mod plan;
pub mod projects;
pub mod prompts;
pub mod questions;
pub mod quick_reads;
pub mod results;
pub mod row_note;
pub mod search;
pub mod settings;
mod several;
pub mod spec;
pub mod task;
pub mod test_results;
pub mod transcripts;
mod trust;
pub mod why;
mod why_view;
pub mod workflow;
pub mod workspace_state;
pub mod workspaces;

pub use crate::views::agents::AgentView;
pub use crate::views::counts::{Standing, StandingView, kinds};
pub use crate::views::deps::{DepsEdge, DepsNode, Links};
pub use crate::views::detail::{
    MessageState, OpenMessage, PermissionMode, TaskDetail, TaskFacts, TimelineEntry,
};
pub use crate::views::diff::{Comparison, DiffOf, DiffView};
pub use crate::views::event_line::EventLine;
pub use crate::views::evidence::EvidenceView;
pub use crate::views::inbox::{InboxItem, InboxView};
pub use crate::views::list::{Checks, TaskRow, list_json};
pub use crate::views::merged::{Merged, MergedView};
pub use crate::views::permissions::{PermissionRow, RemovedRules};
pub use crate::views::phased::{ExecutorView, PhaseView, PhasedDetail};
pub use crate::views::plan::{DryRunView, PlanView, ShownPlan};
pub use crate::views::projects::{ProjectResult, ProjectView};
pub use crate::views::questions::Questions;
pub use crate::views::results::{RewindResult, TaskResult};
pub use crate::views::settings::{
    EditedSettings, SettingView, SettingsView, UnknownSetting, ValueSource,
};
pub use crate::views::several::{ChangedTask, Outcomes};
pub use crate::views::spec::{SpecView, TaskSpec};
pub use crate::views::task::{HookView, LastTransition, TaskView};
pub use crate::views::test_results::{TestResultsDetail, TestResultsView};
pub use crate::views::trust::{RevokedTrust, TrustView};
pub use crate::views::why::Explanation;
pub use crate::views::why_view::WhyView;
pub use crate::views::workspace_state::WorkspaceState;
pub use crate::views::workspaces::WorkspaceRow;
use orange_core::{Action, Text};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::Display;

/// How a front end writes a text and an action.
#[derive(Debug, Clone, Copy)]
pub struct Spelling {
    pub text: fn(&Text) -> String,
    pub action: fn(&Action) -> String,
}

/// Serializes what a value says of itself.
pub(crate) fn as_text<T: Display, S: Serializer>(
    value: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().map(ToString::to_string).serialize(to)
}

/// Serializes the keys of a value; without a value each of them is null.
pub(crate) fn or_nulls<T: Serialize + Default, S: Serializer>(
    value: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match (value, serde_json::to_value(T::default())) {
        (None, Ok(Value::Object(keys))) => to.collect_map(keys.keys().map(|key| (key, ()))),
        _ => value.serialize(to),
    }
}
