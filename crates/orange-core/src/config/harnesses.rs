//! The names of the harnesses that Orange knows by itself; orange-agents has a folder for each.

/// The harness that reviews unless somebody says otherwise.
pub const REVIEWER: &str = HARNESSES[0];

/// The harnesses that Orange knows by itself. Unless somebody says otherwise, the first of these works that is installed.
pub const HARNESSES: &[&str] = &["claude", "codex", "opencode", "pi", "gemini"];

/// The scripted agent; `sim:FILE` names its script.
pub const SIM: &str = "sim";

/// A harness that starts nothing: the person does the work in the worktree.
pub const NONE: &str = "none";
