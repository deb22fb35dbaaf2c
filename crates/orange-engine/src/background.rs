//! What runs without a person waiting for it: the monitor, the queue and checks. It calls verbs; nothing below calls it.
//! Read `monitor.rs` first.

pub mod check;
pub mod monitor;
pub mod notify;
pub mod queue;
pub mod verify;
mod webhook;
