//! What a test has shown of a real CLI: the table of docs/reference/harnesses.md is made of this, by `scripts/tried-agents`.

use std::fs;
use std::path::PathBuf;

/// What a harness can be shown to do, in the order of the table's columns. `scripts/tried-agents` reads the words from
/// here: one on each line, in quotes.
const CAPABILITIES: &[&str] = &[
    "plan-to-review",
    "review-by-other",
    "changes-requested",
    "question-answered",
    "nudged",
    "respawn-resumes",
    "delivery",
    "interrupt",
    "permission-asked",
    "permission-remembered",
    "usage-limit",
    "retry",
    "no-dialogs",
    "tokens-and-cost",
    "headless",
    "headless-resume",
    "model-and-effort",
    "phased",
];

/// The last line of a test that has shown a capability of a harness (`claude` or `pi`), so that only one that passed
/// says so. Nothing is written when ORANGE_TEST_AGENTS_RESULTS names no folder.
#[track_caller]
pub(crate) fn shown(harness: &str, capability: &str) {
    assert!(
        CAPABILITIES.contains(&capability),
        "{capability} is none of {CAPABILITIES:?}"
    );
    if let Some(folder) = std::env::var_os("ORANGE_TEST_AGENTS_RESULTS") {
        let folder = PathBuf::from(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{harness}.{capability}")), "").unwrap();
    }
}
