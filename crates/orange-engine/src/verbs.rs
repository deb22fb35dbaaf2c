//! What a person or an agent can do, a file per verb. Front ends and `background/` call these; a verb opens a transaction
//! (`tx.rs`), decides, commits and returns what happened. Read `change.rs` first.

pub mod answer;
pub mod answer_clarification;
pub mod attach;
pub mod cancel;
pub mod change;
pub mod config;
pub mod create;
pub mod create_from;
pub mod delete;
pub mod handle_signals;
pub mod headless;
pub mod merge;
pub mod peek;
pub mod permissions;
pub mod phased;
pub mod project;
pub mod rename_branch;
pub mod request_changes;
pub mod rescue;
pub mod resolve;
pub mod respawn;
pub mod restore;
pub mod seen;
pub mod send;
pub mod start;
pub mod test_results;
pub mod trust;
