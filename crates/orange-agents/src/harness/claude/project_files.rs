//! The files of a repository that claude loads when project settings are on: everything below a `.claude` folder, at any
//! depth, and `.mcp.json`.

use super::sources::{SERVERS, commands_in};
use crate::harness::project_files::LoadedFiles;

const FOLDER: &str = ".claude";

pub(super) const LOADED: &LoadedFiles = &LoadedFiles {
    is_loaded,
    may_run: |path| path.ends_with(".json"),
    commands_in,
};

/// In any case of letters: some file systems make no difference.
fn is_loaded(path: &str) -> bool {
    let in_folder = path
        .split('/')
        .any(|part| part.eq_ignore_ascii_case(FOLDER));
    in_folder || path.eq_ignore_ascii_case(SERVERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claude_loads_is_known_by_its_path() {
        for path in [
            ".claude/x",
            "a/.claude/skills/y",
            ".mcp.json",
            ".claude",
            ".CLAUDE/x",
        ] {
            assert!(is_loaded(path), "{path}");
        }
        for path in ["CLAUDE.md", "a/.mcp.json", "claude/x", ".claudes/x"] {
            assert!(!is_loaded(path), "{path}");
        }
    }
}
