//! The program from the outside: real commands on real repositories, files and databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod actors;
mod adoption;
mod bad_input;
mod create_refused;
mod damage;
mod databases;
mod doctor;
mod env;
mod everyday;
mod gates;
mod hand_edits;
mod lifecycle;
mod output;
mod project;
mod run;
mod task_create;
mod task_end;
mod task_list;
mod task_update;
mod task_view;
mod whereabouts;
