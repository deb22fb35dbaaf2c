//! The program from the outside: real commands on real repositories, files and databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod actors;
mod bad_input;
mod create_refused;
mod damage;
mod databases;
mod env;
mod gates;
mod hand_edits;
mod lifecycle;
mod project;
mod run;
mod task_create;
mod task_list;
mod whereabouts;
