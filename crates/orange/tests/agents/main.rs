//! Agents as they are: real CLIs that talk to a scripted model on this machine. `make test-agents` installs them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod claude;
mod cli;
mod headless;
mod model;
mod model_tests;
mod pi;
mod shown;
