//! TASK.md: what is read can be edited, an edit changes the one value and not a byte of the body, and a broken file
//! keeps its body.

use orange_core::reconcile::Filed;
use orange_core::task_file::{Damage, MAX_BYTES, TaskFile, TaskFileEditError, salvage_body};
use serde_json::{Value, json};

/// Editing every key of a huge frontmatter would only take long.
const MOST_KEYS: usize = 4;

pub fn task_file(bytes: &[u8]) {
    let file = match TaskFile::parse(bytes) {
        Ok(file) => file,
        Err(damage) => return is_told_where(bytes, &damage),
    };
    assert_eq!(file.text().as_bytes(), bytes);
    assert!(file.text().ends_with(file.body()));
    let _ = Filed::read(file.text(), "shop");
    let old = values(&file);
    // What is there already is no change.
    let same: Vec<(&str, Option<Value>)> = old
        .iter()
        .map(|(key, value)| (key.as_str(), Some(value.clone())))
        .collect();
    let unchanged = edited(&file, &same);
    assert_eq!(unchanged.as_ref(), Some(&file));

    let keys = old.iter().map(|(key, _)| key.as_str());
    for key in keys.take(MOST_KEYS).chain(["status", "a new one"]) {
        for change in changes() {
            check_edit(&file, &old, key, change);
        }
    }
    let mut other = file.clone();
    other.set_body("## Plan\n");
    assert_eq!(other.body(), "## Plan\n");
    assert_eq!(reread(&other), other);
}

fn changes() -> [Option<Value>; 5] {
    [
        None,
        Some(json!("working")),
        Some(json!("two\nlines: # 1")),
        Some(json!(["no", ""])),
        Some(json!({"k": [{"a": 1}], "b": null})),
    ]
}

fn check_edit(file: &TaskFile, old: &[(String, Value)], key: &str, change: Option<Value>) {
    let Some(new) = edited(file, &[(key, change.clone())]) else {
        return;
    };
    assert_eq!(new.body(), file.body());
    assert_eq!(reread(&new), new);
    let mut wanted: Vec<(String, Value)> = old.to_vec();
    match (wanted.iter_mut().find(|(name, _)| name == key), change) {
        (Some((_, value)), Some(change)) => *value = change,
        (Some(_), None) => wanted.retain(|(name, _)| name != key),
        (None, Some(change)) => wanted.push((key.to_owned(), change)),
        (None, None) => {}
    }
    assert_eq!(values(&new), wanted);
}

/// The file after an edit; None if it would be too large, which is the one reason to refuse.
fn edited(file: &TaskFile, changes: &[(&str, Option<Value>)]) -> Option<TaskFile> {
    let mut new = file.clone();
    match new.edit(changes) {
        Ok(()) => Some(new),
        Err(error) => {
            assert!(
                matches!(error, TaskFileEditError::TooLarge { .. }),
                "{error}"
            );
            assert_eq!(&new, file);
            None
        }
    }
}

fn reread(file: &TaskFile) -> TaskFile {
    let read = TaskFile::parse(file.text().as_bytes());
    assert!(read.is_ok(), "{read:?} of {:?}", file.text());
    read.unwrap_or_else(|_| file.clone())
}

fn values(file: &TaskFile) -> Vec<(String, Value)> {
    file.entries()
        .map(|(key, node, _)| (key.to_owned(), node.to_json()))
        .collect()
}

fn is_told_where(bytes: &[u8], damage: &Damage) {
    match damage {
        Damage::NotUtf8 { offset } => assert!(*offset < bytes.len()),
        Damage::TooLarge { bytes: length } => assert!(*length > MAX_BYTES),
        Damage::NoFrontmatter | Damage::Unclosed => {}
        Damage::ConflictMarker { line }
        | Damage::NotAMapping { line }
        | Damage::DuplicateKey { line, .. }
        | Damage::Yaml { line, .. } => {
            super::is_a_line_of(*line, &String::from_utf8_lossy(bytes));
        }
    }
    let body = salvage_body(bytes);
    let rebuilt = TaskFile::create(&[("status", json!("working"))], &body);
    assert_eq!(reread(&rebuilt), rebuilt);
    assert_eq!(rebuilt.body(), body);
}
