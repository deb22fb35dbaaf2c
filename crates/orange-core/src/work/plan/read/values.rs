//! The values of a plan's fields: what a YAML node means as a number, a time, a list. Errors say what it must be.

use crate::Timestamp;
use crate::choice::NotAllowed;
use crate::config::{check_model, time_span};
use crate::yaml::Node;
pub(super) use crate::yaml::{is_empty, scalar};
use serde_json::Value;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

const MOST_ITERATIONS: u32 = 999;
/// Names become parts of file names and refs.
const LONGEST_NAME: usize = 40;

pub(super) fn text_of(node: &Node) -> Result<String, String> {
    let text = scalar(node).map(str::trim).unwrap_or_default();
    if text.is_empty() || text.contains(char::is_control) {
        return Err("must be text on one line".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn texts_of(node: &Node) -> Result<Vec<String>, String> {
    match node {
        Node::Sequence { items, .. } => items.iter().map(text_of).collect(),
        one => text_of(one).map(|text| vec![text]),
    }
    .map_err(|_| "must be a list of texts".to_owned())
}

/// A program and its arguments: a list, or one text that is split at white space.
pub(super) fn command_of(node: &Node) -> Result<Vec<String>, String> {
    let words = match node {
        Node::Scalar { text, .. } => text.split_whitespace().map(str::to_owned).collect(),
        list => texts_of(list).unwrap_or_default(),
    };
    if words.is_empty() || words.iter().any(|word| word.contains(char::is_control)) {
        return Err("must be a command: a list of words, the first one is the program".to_owned());
    }
    Ok(words)
}

pub(super) fn env_of(node: &Node) -> Result<BTreeMap<String, String>, String> {
    let wanted = || "must be a mapping of environment variables to texts".to_owned();
    let Node::Mapping { entries, .. } = node else {
        return Err(wanted());
    };
    let pairs = entries.iter().map(|entry| {
        let value = scalar(&entry.value).filter(|value| !value.contains('\0'));
        let is_name = !entry.key.is_empty() && !entry.key.contains(['=', '\0']);
        value
            .filter(|_| is_name)
            .map(|value| (entry.key.clone(), value.to_owned()))
    });
    pairs.collect::<Option<_>>().ok_or_else(wanted)
}

pub(super) fn word_of<T: FromStr<Err = NotAllowed>>(node: &Node) -> Result<T, String> {
    let word = scalar(node).map(str::trim).unwrap_or_default();
    word.parse().map_err(|error: NotAllowed| error.to_string())
}

pub(super) fn time_of(node: &Node) -> Result<Timestamp, String> {
    let text = scalar(node).map(str::trim).unwrap_or_default();
    let time = text.parse();
    time.map_err(|_| format!("{text:?} is not a time like 2026-01-31T09:30:00Z"))
}

pub(super) fn iterations_of(node: &Node) -> Result<u32, String> {
    let number = scalar(node).and_then(|text| text.trim().parse().ok());
    number
        .filter(|number| (1..=MOST_ITERATIONS).contains(number))
        .ok_or_else(|| format!("must be a whole number from 1 to {MOST_ITERATIONS}"))
}

pub(super) fn timeout_of(node: &Node) -> Result<Duration, String> {
    let time = scalar(node).and_then(|text| time_span(text.trim()));
    time.ok_or_else(|| "must be a time above 0: seconds, or such as 90s, 10m, 1h".to_owned())
}

pub(super) fn flag_of(node: &Node) -> Result<bool, String> {
    match node.to_json() {
        Value::Bool(flag) => Ok(flag),
        _ => Err("must be true or false".to_owned()),
    }
}

pub(super) fn model_of(node: &Node) -> Result<String, String> {
    let model = text_of(node)?;
    check_model(&model)?;
    Ok(model)
}

pub(super) fn name_of(node: &Node) -> Result<String, String> {
    let name = text_of(node)?;
    check_name(&name)?;
    Ok(name)
}

/// Names of phases and servers become parts of file names, refs and command lines.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && name.len() <= LONGEST_NAME && name.chars().all(is_part) {
        Ok(())
    } else {
        Err(format!(
            "{name:?} cannot be a name: at most {LONGEST_NAME} letters, digits, - and _, the first one a letter"
        ))
    }
}
