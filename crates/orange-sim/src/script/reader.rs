//! Reads a script: its lists by hand, and each step with serde, as `{name, line, action}`.

use super::{Action, List, Script, ScriptError, Step};
use orange_core::workflow::Role;
use orange_core::yaml::{self, Entry, Node};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

type Result<T> = std::result::Result<T, ScriptError>;

const LISTS: &str = "a list is called `worker`, `reviewer` or `executor`, with `round N`, `attempt N` or both behind it";
const STEPS: &str = "each step begins with a dash; `[]` is an empty list";

/// Options that hold steps.
const BRANCHES: [&str; 5] = ["then", "else", "steps", "allowed", "denied"];

pub(super) fn read(source: &str) -> Result<Script> {
    let root = yaml::read(source, 0..source.len()).map_err(|error| ScriptError {
        message: error.to_string(),
        hint: "a script is YAML: lists of steps below `worker:` and `reviewer:`".into(),
    })?;
    // Found once: counting them for each step would take for ever in a long script.
    let line_ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let lines = Lines(&line_ends);
    match &root {
        Some(Node::Mapping { entries, .. }) => {
            let lists = entries.iter().map(|entry| lines.list(entry));
            let lists = lists.collect::<Result<_>>()?;
            Ok(Script { lists })
        }
        Some(node) => Err(lines.error(
            node.span().start,
            "a script begins with a list's name",
            LISTS,
        )),
        None => Err(lines.error(0, "the script is empty", LISTS)),
    }
}

/// Where the lines of a script end.
struct Lines<'a>(&'a [usize]);

impl Lines<'_> {
    /// The line, from 1, of the byte at `at`.
    fn line_of(&self, at: usize) -> usize {
        1 + self.0.partition_point(|end| *end < at)
    }

    fn error(&self, at: usize, message: &str, hint: &str) -> ScriptError {
        ScriptError {
            message: format!("line {}: {message}", self.line_of(at)),
            hint: hint.to_owned(),
        }
    }

    fn list(&self, entry: &Entry) -> Result<List> {
        let (key, at) = (&entry.key, entry.key_span.start);
        let (role, round, attempt) = run_of(key)
            .ok_or_else(|| self.error(at, &format!("there is no list `{key}`"), LISTS))?;
        let Node::Sequence { items, .. } = &entry.value else {
            return Err(self.error(at, &format!("`{key}` must be a list of steps"), STEPS));
        };
        let steps = items.iter().map(|item| Step::deserialize(self.step(item)));
        let steps = steps.collect::<serde_json::Result<_>>();
        Ok(List {
            key: key.clone(),
            role,
            round,
            attempt,
            steps: steps.map_err(|error| refusal(&error.to_string()))?,
        })
    }

    /// A step as serde reads it: its own value is the field `value` beside its options.
    fn step(&self, node: &Node) -> Value {
        let mut fields = Map::new();
        let (name, at) = match node {
            Node::Scalar { text, span, .. } => (text.as_str(), span.start),
            Node::Sequence { span, .. } => ("", span.start),
            Node::Mapping { entries, span, .. } => {
                for (index, entry) in entries.iter().enumerate() {
                    let value = match &entry.value {
                        Node::Sequence { items, .. } if BRANCHES.contains(&entry.key.as_str()) => {
                            items.iter().map(|item| self.step(item)).collect()
                        }
                        value => value.to_json(),
                    };
                    let key = if index == 0 { "value" } else { &entry.key };
                    if !value.is_null() {
                        fields.insert(key.to_owned(), value);
                    }
                }
                let first = entries.first();
                first.map_or(("", span.start), |first| (&first.key, first.key_span.start))
            }
        };
        json!({"name": name, "line": self.line_of(at), "action": {name: fields}})
    }
}

/// What serde says of a step, for people: what it expected is the hint.
fn refusal(error: &str) -> ScriptError {
    let error = error
        .replace("missing field `value`", "its value is missing")
        .replace("unknown field `value`", "it takes no value");
    let (message, hint) = match (
        error.split_once(", expected "),
        error.strip_suffix(", there are no fields"),
    ) {
        (Some((message, expected)), _) => (message, format!("expected {expected}")),
        (None, Some(message)) => (
            message,
            "it has no options; does the step lack its dash?".to_owned(),
        ),
        (None, None) => (
            error.as_str(),
            "docs/sim.md has an example of every step".to_owned(),
        ),
    };
    let message = message.to_owned();
    ScriptError { message, hint }
}

/// Which runs a list is for, by its name: `reviewer round 2 attempt 1`.
fn run_of(key: &str) -> Option<(Role, Option<u32>, Option<u32>)> {
    let words: Vec<&str> = key.split_whitespace().collect();
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0).map(Some);
    let (role, round, attempt) = match words[..] {
        [role] => (role, None, None),
        [role, "round", round] => (role, number(round)?, None),
        [role, "attempt", attempt] => (role, None, number(attempt)?),
        [role, "round", round, "attempt", attempt] => (role, number(round)?, number(attempt)?),
        _ => return None,
    };
    Some((role.parse().ok()?, round, attempt))
}

/// What is wrong with a step is said with its line.
impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Step, D::Error> {
        #[derive(Deserialize)]
        struct Written {
            name: String,
            line: usize,
            action: Value,
        }
        let Written { name, line, action } = Written::deserialize(from)?;
        let action = Action::deserialize(action).map_err(|error| {
            let error = error.to_string();
            let expected = error.strip_prefix(&format!("unknown variant `{name}`"));
            D::Error::custom(match expected {
                // Of a step inside this one.
                None if error.starts_with("line ") => error,
                None => format!("line {line}: `{name}`: {error}"),
                Some(expected) if name.trim().is_empty() => {
                    format!("line {line}: a step begins with its name{expected}")
                }
                Some(expected) => format!("line {line}: there is no step `{name}`{expected}"),
            })
        })?;
        Ok(Step { name, line, action })
    }
}
