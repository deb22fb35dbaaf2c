//! Agents as they are: real CLIs that talk to a scripted model on this machine. `make test-agents` installs them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

#[allow(dead_code, reason = "shared with the tests that use all of it")]
#[path = "../e2e/agents.rs"]
mod agents;
mod claude;
mod cli;
mod dashboard;
mod delivery;
#[allow(dead_code, reason = "shared with the tests that use all of it")]
#[path = "../e2e/env.rs"]
mod env;
mod failures;
mod flows;
mod headless;
mod hostile_story;
#[path = "../e2e/leaving.rs"]
mod leaving;
#[allow(dead_code, reason = "shared with the tests that use all of it")]
#[path = "../e2e/looker.rs"]
mod looker;
mod model;
mod model_tests;
mod models;
mod permissions;
mod phased;
mod pi;
mod project_code;
mod respawn;
#[allow(dead_code, reason = "shared with the tests that use all of it")]
#[path = "../e2e/run.rs"]
mod run;
mod shown;
mod surroundings;
mod ui_testing;
mod usage;
mod world;
