//! The instructions that some CLIs leave out together with a repository's configuration.

/// The file that they are in.
pub const INSTRUCTIONS: &str = "AGENTS.md";

/// A longer file is left out: codex reads no more of it either.
pub const MAX_INSTRUCTIONS: u64 = 32 * 1024;
