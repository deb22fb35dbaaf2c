//! tmux as Orange uses it, with real servers, each on a socket of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod attach;
mod names;
mod server;
mod sessions;
mod typing;
mod world;
