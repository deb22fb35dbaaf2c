//! Task files: what is read, what an edit may touch, and that nothing a file holds gets lost.

// Helpers outside a test function count as production code to clippy.
#![allow(clippy::unwrap_used, clippy::panic, clippy::wildcard_enum_match_arm)]

use orange_core::task_file::{Damage, MAX_BYTES, TaskFile, TaskFileEditError, salvage_body};
use orange_core::yaml::{self, Node};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

mod editing;
mod properties;
mod reading;

fn parse(text: &str) -> TaskFile {
    TaskFile::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text:?}"))
}

fn damage(text: &str) -> Damage {
    match TaskFile::parse(text.as_bytes()) {
        Ok(_) => panic!("read {text:?}"),
        Err(damage) => damage,
    }
}

fn values(file: &TaskFile) -> Vec<(String, Value)> {
    file.entries()
        .map(|(key, node, _)| (key.to_owned(), node.to_json()))
        .collect()
}

fn value(file: &TaskFile, key: &str) -> Value {
    file.get(key)
        .map(|(node, _)| node.to_json())
        .unwrap_or_else(|| panic!("no {key}"))
}

/// The frontmatter after an edit, without its fences.
fn edited(front: &str, changes: &[(&str, Option<Value>)]) -> String {
    let mut file = parse(&format!("---\n{front}---\nbody"));
    file.edit(changes).unwrap();
    let text = file.text().strip_prefix("---\n").unwrap();
    text.strip_suffix("---\nbody").unwrap().to_owned()
}

// Reading
