//! Tests that documents name as the proof of what they say exist.

use crate::examples::documents::{documents, text};
use std::fs;
use std::path::Path;

/// `module::test`, as it stands between backticks.
fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = text
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_name = |word: &str| {
        let mut letters = word.bytes();
        !word.is_empty() && letters.all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    quoted
        .filter_map(|quoted| quoted.split_once("::"))
        .filter(move |(module, test)| is_name(module) && is_name(test))
}

#[test]
fn every_test_that_a_document_names_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e");
    let mut count = 0;
    for document in documents() {
        for (module, test) in named(&text(&document)) {
            let file = folder.join(format!("{module}.rs"));
            let Ok(source) = fs::read_to_string(&file) else {
                // A path of the code, such as `machine::decide`; the documents for users name none.
                assert!(!document.contains("docs/"), "{document}: {module}::{test}");
                continue;
            };
            let declared = format!("#[test]\nfn {test}()");
            assert!(source.contains(&declared), "{document}: {module}::{test}");
            count += 1;
        }
    }
    assert!(count > 0, "no document names a test any more");
}
