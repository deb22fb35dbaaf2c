//! Finding a program as a shell would.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The path of a program, looked for in the folders of a search path unless it is a path itself. None if there is no such
/// file, or if it is not executable.
pub fn located(program: &str, search_path: Option<&OsStr>) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    std::env::split_paths(search_path?)
        .map(|folder| folder.join(program))
        .find(runs)
}
