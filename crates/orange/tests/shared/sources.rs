//! The source files of all crates, for tests that compare the code with a list or a document.

pub(crate) mod rust;

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

/// Path and text of every file of a kind in the folders of [`source_folders`].
pub(crate) fn files(kind: &str) -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, kind: &str, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                visit(&path, kind, found);
            } else if path.extension().is_some_and(|found| found == kind) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    for folder in source_folders() {
        visit(&folder, kind, &mut found);
    }
    found.sort();
    found
}

/// Path and text of every Rust file of every crate as the product has it: without items and modules of `#[cfg(test)]`. What
/// is left stands on its own line.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let mut of_tests: Vec<PathBuf> = Vec::new();
    let mut sources: Vec<(PathBuf, String)> = Vec::new();
    for (path, text) in files("rs") {
        let product = rust::without_tests(&text);
        of_tests.extend(product.modules.iter().map(|module| module.below(&path)));
        sources.push((path, product.text));
    }
    sources.retain(|(path, _)| {
        let module = path.with_extension("");
        !of_tests.iter().any(|tests| module.starts_with(tests))
    });
    sources
}
