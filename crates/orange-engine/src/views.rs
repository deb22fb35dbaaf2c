//! What every front end shows, as values that serialize: `--json` prints them, the text of a command is made from them.
//! Nothing here prints or knows about columns, colours and signs. Read `task.rs` first.

mod agents;
mod counts;
mod deps;
mod diff;
mod diff_stat;
pub(crate) mod find;
mod list;
mod quick_reads;
mod search;
mod settings;
mod task;
mod why;
mod workspace_state;

pub use agents::AgentView;
pub use counts::Standing;
pub use deps::DepsNode;
pub use diff::{Comparison, DiffOf};
pub use settings::{SettingView, SettingsView, Source};
pub use task::TaskView;
pub use workspace_state::WorkspaceState;
