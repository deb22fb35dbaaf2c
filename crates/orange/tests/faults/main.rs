//! Faults: processes killed at every step, racing processes and editors, full and read-only disks, cut
//! journals, and the order of durable writes. Real processes and real files throughout.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on stops, and tells its figures"
)]

mod appenders;
mod check;
mod crash;
mod durability;
mod editors;
mod env;
mod git_calls;
mod git_operations;
mod git_wrapper;
mod half_done;
mod journal;
mod merge;
mod merge_race;
mod points;
mod processes;
mod scenarios;
#[path = "../shared/sources.rs"]
mod sources;
mod storage;
mod work;
