//! The source files of all crates, for tests that compare the code with a list or a document.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder `src` of every crate, so that code which moves to another crate is still found.
pub(crate) fn source_folders() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = fs::read_dir(crates).unwrap().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path().join("src"))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "no crate has a folder `src`");
    folders
}

/// Path and text of every Rust file of every crate, without unit tests in files of their own.
#[allow(
    dead_code,
    reason = "not every test target that includes this file needs it"
)]
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    for folder in source_folders() {
        visit(&folder, &mut found);
    }
    found.sort();
    found
}
