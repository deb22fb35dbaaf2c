//! One text of settings, read: what it says and on which line, and what of it does not count.

use super::values::leaves;
use super::{Config, ConfigError, Repository, Setting};
use crate::yaml::{self, Node, YamlError};
use serde_json::Value;
use std::fmt;

/// Settings of one file.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    said: Vec<Said>,
    /// What does not count.
    pub ignored: Vec<Ignored>,
}

/// One setting that counts.
#[derive(Debug, Clone)]
pub struct Said {
    pub setting: &'static Setting,
    /// As it is written there: `harness.mine`.
    pub key: String,
    pub line: usize,
    node: Node,
}

impl Said {
    pub fn value(&self) -> Value {
        self.setting.value(&self.node)
    }
}

/// A setting that does not count, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub key: String,
    pub line: usize,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A newer program may know it, or somebody mistyped this one.
    Unknown { meant: Option<&'static str> },
    /// A repository may not say it.
    NotForRepositories(&'static str),
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ignored { key, line, why } = self;
        match why {
            Why::Unknown { meant: None } => write!(
                f,
                "line {line}: {key} means nothing here; `orange config show` lists the settings"
            ),
            Why::Unknown { meant: Some(meant) } => {
                write!(
                    f,
                    "line {line}: {key} means nothing here; did you mean {meant}?"
                )
            }
            Why::NotForRepositories(why) => {
                write!(f, "line {line}: {key} does not count here: {why}")
            }
        }
    }
}

impl Layer {
    /// The user's own config.yaml.
    pub fn of_user(text: &str) -> Result<Layer, ConfigError> {
        Layer::read(text, |_| None)
    }

    /// A repository's .orange/config.yaml. What it may not say is not even looked at.
    pub fn of_repository(text: &str) -> Result<Layer, ConfigError> {
        Layer::read(text, |setting| match setting.repository {
            Repository::No(why) => Some(Why::NotForRepositories(why)),
            Repository::Says | Repository::Adds | Repository::Fills => None,
        })
    }

    fn read(
        text: &str,
        refuse: impl Fn(&'static Setting) -> Option<Why>,
    ) -> Result<Layer, ConfigError> {
        let mut layer = Layer::default();
        let Some(root) = yaml::read(text, 0..text.len()).map_err(unreadable)? else {
            return Ok(layer);
        };
        for (key, at, node) in leaves(&root)? {
            let line = yaml::line_of(text, at);
            let Some(setting) = Setting::of(&key) else {
                let meant = Setting::nearest(&key);
                let why = Why::Unknown { meant };
                layer.ignored.push(Ignored { key, line, why });
                continue;
            };
            if let Some(why) = refuse(setting) {
                layer.ignored.push(Ignored { key, line, why });
                continue;
            }
            setting.check(&key, node).map_err(|problem| ConfigError {
                line: Some(yaml::line_of(text, node.span().start)),
                reason: about(&key, &problem),
            })?;
            layer.said.push(Said {
                setting,
                key,
                line,
                node: node.clone(),
            });
        }
        Ok(layer)
    }

    /// Puts what was said into the settings.
    pub fn apply(&self, config: &mut Config) {
        self.apply_where(config, |_| true);
    }

    /// The same for what outdoes the user's word; the rest of a repository's settings go together with it.
    pub fn apply_over_user(&self, config: &mut Config) {
        self.apply_where(config, |setting| setting.repository == Repository::Says);
    }

    fn apply_where(&self, config: &mut Config, counts: impl Fn(&Setting) -> bool) {
        for said in self.said.iter().filter(|said| counts(said.setting)) {
            // It was tried when it was read.
            let _ = (said.setting.set)(config, &said.key, &said.node);
        }
    }

    pub fn said(&self) -> &[Said] {
        &self.said
    }

    /// What is said of one key.
    pub fn get(&self, key: &str) -> Option<&Said> {
        self.said.iter().find(|said| said.key == key)
    }
}

/// A problem with a value, as a sentence about its key.
pub fn about(key: &str, problem: &str) -> String {
    match problem.strip_prefix(':') {
        Some(detail) => format!("{key}:{detail}"),
        None => format!("{key} {problem}"),
    }
}

pub(super) fn unreadable(error: YamlError) -> ConfigError {
    let (line, reason) = match error {
        YamlError::DuplicateKey { key, line } => (line, format!("the key `{key}` is there twice")),
        YamlError::Invalid { line, message } => (line, message),
    };
    ConfigError {
        line: Some(line),
        reason,
    }
}
