//! What a slot gets besides its checkout, with real repositories, files and processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod commands;
mod files;
mod rules;
mod trust;
mod world;
