//! Keys of which a part is a name: which row of the table they belong to, and where their value stands in a file.

use super::HARNESSES;
use super::gates::{GATES_START, OVERRIDES};
use super::plans::PLANS;
use super::prices::PRICES_START;
use crate::keys::KeyAction;
use crate::yaml::Node;

/// Below it the actions of the dashboard have their keys.
pub(super) const KEYS_START: &str = "dashboard.keys.";

const HARNESS_START: &str = "harness.";

/// What may be said of a harness that Orange knows by itself, without taking its place.
const CHANGES: &[&str] = &["command", "model"];

/// The words that stand for names in the keys of rows, each with a name that would do.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("harness.NAME.command", HARNESSES[1]),
    ("harness.NAME.model", HARNESSES[0]),
    ("harness.NAME", "mine"),
    ("dashboard.keys.NAME", "merge"),
    ("gates.PHASE", "docs"),
    ("weights.plans.WEIGHT", "small"),
    ("prices.MODEL", "gpt-5.1"),
];

/// The key of the row that a key belongs to, or the key itself.
pub(super) fn row_of(key: &str) -> &str {
    if let Some((_, change)) = change_of(key) {
        return match change {
            "model" => "harness.NAME.model",
            _ => "harness.NAME.command",
        };
    }
    let names_one = |start: &str| key.strip_prefix(start).filter(|name| !name.is_empty());
    if names_one(HARNESS_START).is_some_and(|name| !name.starts_with("NAME.")) {
        "harness.NAME"
    } else if names_one(KEYS_START).is_some_and(|name| KeyAction::changeable(name).is_some()) {
        "dashboard.keys.NAME"
    } else if below(key, OVERRIDES).is_some() {
        WEIGHT_GATE
    } else if key != OVERRIDES && key.starts_with(GATES_START) && !PLAIN_GATES.contains(&key) {
        "gates.PHASE"
    } else if below(key, PLANS).is_some() {
        "weights.plans.WEIGHT"
    } else if names_one(PRICES_START).is_some() {
        "prices.MODEL"
    } else {
        key
    }
}

const WEIGHT_GATE: &str = "gates.weight_overrides.WEIGHT.PHASE";

/// Phases with rows of their own.
const PLAIN_GATES: &[&str] = &["gates.spec", "gates.design", "gates.review", "gates.merge"];

/// What comes below a mapping in a key.
fn below<'k>(key: &'k str, mapping: &str) -> Option<&'k str> {
    let rest = key.strip_prefix(mapping)?.strip_prefix('.')?;
    (!rest.is_empty()).then_some(rest)
}

/// The harness of the list and what is said of it, if that is what a key is about.
pub(super) fn change_of(key: &str) -> Option<(&str, &str)> {
    let (name, change) = key.strip_prefix(HARNESS_START)?.split_once('.')?;
    (HARNESSES.contains(&name) && CHANGES.contains(&change)).then_some((name, change))
}

/// The word in a row's key that stands for a name.
pub(super) fn placeholder(row: &str) -> Option<&str> {
    let is_one = |part: &&str| part.chars().all(|letter| letter.is_ascii_uppercase());
    row.split('.').find(is_one)
}

/// A row's key with a name that would do.
pub(super) fn example_of(row: &str) -> String {
    if row == WEIGHT_GATE {
        return format!("{OVERRIDES}.medium.review");
    }
    let known = PLACEHOLDERS
        .iter()
        .find(|(start, _)| row.starts_with(start));
    match (known, placeholder(row)) {
        (Some((_, name)), Some(word)) => row.replace(word, name),
        _ => row.to_owned(),
    }
}

/// Where a value stands in a file: the names from the outermost mapping inwards.
pub(super) fn path(key: &str) -> Vec<&str> {
    if let Some((name, change)) = change_of(key) {
        return vec!["harness", name, change];
    }
    if let Some(name) = key.strip_prefix(KEYS_START) {
        return vec!["dashboard", "keys", name];
    }
    let parts = match (below(key, OVERRIDES), below(key, PLANS)) {
        (Some(_), _) => 4,
        (_, Some(_)) => 3,
        _ => 2,
    };
    key.splitn(parts, '.').collect()
}

/// Whether the settings of a key's mapping have keys of their own below it; None: it is no such key.
pub(super) fn is_group(key: &str, value: &Node) -> bool {
    let is_weight = || below(key, OVERRIDES).is_some_and(|weight| !weight.contains('.'));
    if KEYS_START.strip_suffix('.') == Some(key) || [OVERRIDES, PLANS].contains(&key) || is_weight()
    {
        return true;
    }
    let harness = key.strip_prefix(HARNESS_START);
    match value {
        // With more in it, it is a harness of the user's own, which has the name of one of ours.
        Node::Mapping { entries, .. } if harness.is_some_and(|name| HARNESSES.contains(&name)) => {
            let mut keys = entries.iter().map(|entry| entry.key.as_str());
            keys.all(|key| CHANGES.contains(&key))
        }
        _ => false,
    }
}
