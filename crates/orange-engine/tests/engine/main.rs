//! What the verbs mean: the engine called as a front end calls it, on real homes and repositories. `home.rs` is the place to
//! read first; what a command prints and how it is typed is tested in the program's own tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod actors;
mod answers;
mod budgets;
mod committed;
mod diff_since;
mod gates;
mod hand_edits;
mod home;
mod keys;
mod lifecycle;
mod list;
mod merge_checkouts;
mod merge_conflicts;
mod merge_consent;
mod merge_faults;
mod merge_remotes;
mod merge_strategies;
mod merged_branch;
mod merges;
mod outcome;
mod permissions;
mod phased_views;
mod queue;
#[cfg(debug_assertions)]
mod queue_races;
mod rescue;
mod shared_home;
mod slot_carry_over;
mod task;
mod task_link;
mod test_results;
mod two_homes;
mod workspace;
mod workspace_branches;
mod workspace_faults;
mod workspace_hazards;
mod workspace_repositories;
