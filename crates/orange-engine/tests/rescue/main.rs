//! Saving a worktree before something destructive: every odd state that git can be in, with the real git.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod commits;
mod content;
mod keeping;
mod nested;
mod properties;
mod putting_back;
mod world;
