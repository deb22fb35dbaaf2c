//! The executor of a phased task: the process that carries a plan out, turn by turn. It writes rows (`execution.rs`), which whoever
//! locks the task journals, and never holds the lock during a turn. Read `executor.rs`, then `turn.rs` and `after_turn.rs`; `judge.rs` is the
//! other kind of run.

mod after_turn;
mod budget;
pub mod classify;
mod criteria;
pub mod dry_run;
mod executor;
mod judge;
mod progress;
mod spec;
pub(crate) mod transcripts;
mod turn;
mod ui_testing;

pub use executor::run_phases;
pub use progress::{AgentOutput, Progress, Show};
