//! Saving a worktree before something destructive: every odd state that git can be in, with the real git.

mod commits;
mod content;
mod keeping;
mod nested;
mod properties;
mod putting_back;
mod world;
