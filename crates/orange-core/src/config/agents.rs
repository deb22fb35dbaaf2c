//! Settings about agents: which harness works and reviews, how many at once, and harnesses of the user's own.

use super::harnesses::{HARNESSES, NONE, SIM};
use super::values::{flag, scalar, several_words};
use crate::choice;
use crate::suggest;
use crate::yaml::Node;
use std::collections::BTreeMap;

choice! {
    /// What an agent may do without asking.
    #[derive(Default)]
    pub enum Permissions ("permission mode") {
        /// Everything but what no agent may.
        #[default]
        Full = "full",
        /// Change files; other commands are asked for.
        Edits = "edits",
        /// Every change and every command is asked for.
        Ask = "ask",
    }
}

choice! {
    /// How hard an agent thinks, from nothing to the most. A harness knows some of these words.
    pub enum Effort ("effort") {
        Off = "off",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        Xhigh = "xhigh",
        Max = "max",
    }
}

const LONGEST_MODEL: usize = 200;

/// Refuses what cannot be the name of a model. The name becomes one argument of an agent CLI, in which `{prompt}` stands
/// for the prompt, so it must not look like an option or a placeholder.
pub fn check_model(name: &str) -> Result<(), String> {
    let allowed = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '.' | '_' | '-' | ':' | '/' | '@' | '+' | '[' | ']')
    };
    let problem = if name.is_empty() {
        "is empty".to_owned()
    } else if name.starts_with('-') {
        "begins with `-`".to_owned()
    } else if name.len() > LONGEST_MODEL {
        format!("is longer than {LONGEST_MODEL} characters")
    } else if !name.chars().all(allowed) {
        "has other characters than letters, digits and . _ - : / @ + [ ]".to_owned()
    } else {
        return Ok(());
    };
    Err(format!("is not the name of a model: it {problem}"))
}

/// A harness of the user's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomHarness {
    /// The argument vector; `{prompt}` and `{prompt_file}` stand for the prompt.
    pub command: Vec<String>,
    /// It works once through and ends; it takes no messages.
    pub one_shot: bool,
    /// It reports with `orange signal` what it does.
    pub signals: bool,
    /// The harness of the table that the command starts, in the user's own way.
    pub like: Option<String>,
    /// The key that interrupts it.
    pub interrupt: Option<String>,
}

/// Harnesses of the user's own, by name.
pub type CustomHarnesses = BTreeMap<String, CustomHarness>;

/// What the user changes of a harness that Orange knows by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HarnessChange {
    /// The program and its first arguments; empty: those that Orange knows.
    pub command: Vec<String>,
    /// For agents whose task and `agents.model` say nothing.
    pub model: Option<String>,
}

/// These changes, by the harness's name.
pub type HarnessChanges = BTreeMap<String, HarnessChange>;

/// That there is no harness of a name, if there is none; `own` are those of the user's own.
pub fn no_harness<'a>(name: &str, own: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let known = || {
        own.clone()
            .chain(HARNESSES.iter().copied())
            .chain([SIM, NONE])
    };
    let kind = name.split_once(':').map_or(name, |(kind, _)| kind);
    if known().any(|known| known == name) || kind == SIM {
        return None;
    }
    let more = match suggest::nearest(name, known()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => {
            let known: Vec<&str> = known().collect();
            format!(
                "there are {}, and what you define as `harness.NAME`",
                known.join(", ")
            )
        }
    };
    Some(format!(": there is no harness {name:?}; {more}"))
}

/// What comes after `harness.`, as the name of a harness of the user's own.
pub(super) fn own_name(key: &str) -> Result<String, String> {
    match key.strip_prefix("harness.").unwrap_or(key) {
        "NAME" => Err(": write a name of your own for NAME, such as harness.mine".to_owned()),
        NONE => Err("cannot be defined: \"none\" means no agent".to_owned()),
        name => Ok(name.to_owned()),
    }
}

pub(super) fn model(node: &Node) -> Result<Option<String>, String> {
    let name = super::values::text(node)?.filter(|name| !name.is_empty());
    name.as_deref().map_or(Ok(()), check_model)?;
    Ok(name)
}

pub(super) fn name(node: &Node) -> Result<String, String> {
    let name = scalar(node).map(str::trim).filter(|name| !name.is_empty());
    name.map(str::to_owned)
        .ok_or_else(|| "must be the name of a harness".to_owned())
}

/// `harness.NAME`: a command, or a mapping with one.
pub(super) fn custom(node: &Node) -> Result<CustomHarness, String> {
    let mut harness = CustomHarness::default();
    let Node::Mapping { entries, .. } = node else {
        harness.command = several_words(node)?;
        return Ok(harness);
    };
    for entry in entries {
        let value = &entry.value;
        let outcome = match entry.key.as_str() {
            "command" => several_words(value).map(|words| harness.command = words),
            "one_shot" => flag(value).map(|set| harness.one_shot = set),
            "signals" => flag(value).map(|set| harness.signals = set),
            "like" => like(value).map(|like| harness.like = Some(like)),
            "interrupt" => {
                harness.interrupt = scalar(value).map(str::to_owned);
                Ok(())
            }
            _ => {
                Err("is not known; allowed: command, like, one_shot, signals, interrupt".to_owned())
            }
        };
        outcome.map_err(|problem| format!(": `{}` {problem}", entry.key))?;
    }
    if harness.command.is_empty() {
        Err("needs a `command`, a list of words".to_owned())
    } else {
        Ok(harness)
    }
}

/// One of those whose ways Orange knows.
fn like(node: &Node) -> Result<String, String> {
    let name = name(node)?;
    if HARNESSES.contains(&name.as_str()) {
        Ok(name)
    } else {
        Err(format!("must be one of: {}", HARNESSES.join(", ")))
    }
}
