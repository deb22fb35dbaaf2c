//! What phased tasks are made of, as values: the plan with its phases and their criteria, the gate behind a phase, what an agent
//! answers at the end of a turn and a judge at the end of its run, how far the execution is and what comes next, transcripts. No I/O: the engine executes, the
//! store keeps. Read `plan.rs`, `execution.rs` and `execution/step.rs` first.

pub mod answer;
pub mod budget;
pub mod criterion;
pub mod execution;
pub mod phase_gate;
pub mod plan;
pub mod prices;
pub mod review;
pub mod spec;
pub mod state_json;
pub mod test_results;
pub mod tokens;
pub mod transcript;
pub mod verdict;
