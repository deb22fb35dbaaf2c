//! The pure half of Orange: what a task is, what a workflow allows, what a TASK.md says. Nothing here touches files, processes, the
//! clock, threads or the environment. Read `machine.rs` and `workflow/interactive/table.rs` first.

pub mod action;
pub mod allow_rule;
pub mod artifact;
pub mod attention;
pub mod body_merge;
pub mod choice;
pub mod config;
pub mod cost;
pub mod display;
pub mod gate;
pub mod graph;
pub mod history;
pub mod id;
pub mod keys;
pub mod machine;
pub mod merge;
pub mod naming;
pub mod parameter;
pub mod reconcile;
pub mod review;
pub mod runs;
pub mod search;
pub mod suggest;
pub mod task;
pub mod task_file;
pub mod task_name;
pub mod testing;
pub mod text;
pub mod timeline;
pub mod turns;
pub mod usage;
pub mod verification;
pub mod work;
pub mod workflow;
pub mod yaml;

pub use action::Action;
pub use parameter::Parameter;
pub use task_name::TaskName;
pub use text::Text;
pub use workflow::interactive::{evidence, exit, prompt, reason, why};

/// A point in time as it stands in files: RFC 3339, UTC.
pub use jiff::{SignedDuration, Timestamp};
