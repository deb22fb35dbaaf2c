//! One text of settings, read: what it says and on which line, what of it cannot be used and what does not count.

use super::values::{leaves, scalar};
use super::{Config, ConfigError, Kind, Mistake, Repository, Setting, no_harness, unknown};
use crate::yaml::{self, Node, YamlError};
use serde_json::Value;
use std::fmt;

/// Some editors put it at the beginning of a file.
pub(super) const BOM: char = '\u{feff}';

/// Settings of one file.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    said: Vec<Said>,
    /// What cannot be used.
    pub bad: Vec<Bad>,
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

/// One setting with a value that it cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    pub key: String,
    /// Of the setting.
    pub line: usize,
    /// As it is written.
    pub value: Value,
    pub mistake: Mistake,
}

/// A setting that does not count, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub key: String,
    pub line: usize,
    /// As it is written.
    pub value: Value,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A newer program may know it, or somebody mistyped this one.
    Unknown,
    /// It is a section: what it has are settings, no value of its own.
    Section,
    /// A repository may not say it.
    NotForRepositories(&'static str),
    /// A repository may say only the strictest value.
    OnlyStricter(&'static str),
}

impl Ignored {
    pub fn mistake(&self) -> Mistake {
        let Ignored { key, line, why, .. } = self;
        let reason = match why {
            Why::Unknown => unknown(key),
            Why::Section => {
                let below: Vec<&str> = Setting::of_section(key).map(|one| one.key).collect();
                format!(
                    "{key} is a section and has no value of its own; its settings stand on lines below it: {}",
                    below.join(", ")
                )
            }
            Why::NotForRepositories(why) => format!("{key} does not count here: {why}"),
            Why::OnlyStricter(strictest) => {
                format!("{key} counts here only as {strictest}: a repository cannot loosen it")
            }
        };
        Mistake {
            line: Some(*line),
            reason,
        }
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mistake().fmt(f)
    }
}

impl Layer {
    /// The user's own config.yaml. An error: nothing in it can be read.
    pub fn of_user(text: &str) -> Result<Layer, Mistake> {
        Layer::read(text, |_, _| None)
    }

    /// A repository's .orange/config.yaml. What it may not say is not even looked at.
    pub fn of_repository(text: &str) -> Result<Layer, Mistake> {
        Layer::read(text, |setting, node| match setting.repository {
            Repository::No(why) => Some(Why::NotForRepositories(why)),
            Repository::Tightens(strictest) => {
                let looser = setting.check(setting.key, node).is_ok()
                    && scalar(node).is_none_or(|word| word.trim() != strictest);
                looser.then_some(Why::OnlyStricter(strictest))
            }
            Repository::Says | Repository::Adds | Repository::Fills => None,
        })
    }

    fn read(
        text: &str,
        refuse: impl Fn(&'static Setting, &Node) -> Option<Why>,
    ) -> Result<Layer, Mistake> {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let mut layer = Layer::default();
        let Some(root) = yaml::read(text, 0..text.len()).map_err(unreadable)? else {
            return Ok(layer);
        };
        let leaves = leaves(text, &root)?;
        let keys = leaves.iter().map(|(key, ..)| key.as_str());
        let own = keys.filter_map(|key| key.strip_prefix("harness."));
        for (key, at, node) in &leaves {
            let (key, line) = (key.clone(), yaml::line_of(text, *at));
            let ignored = |why| Ignored {
                key: key.clone(),
                line,
                value: node.to_json(),
                why,
            };
            let Some(setting) = Setting::of(&key) else {
                let why = match Setting::of_section(&key).next() {
                    Some(_) => Why::Section,
                    None => Why::Unknown,
                };
                layer.ignored.push(ignored(why));
                continue;
            };
            if let Some(why) = refuse(setting, node) {
                layer.ignored.push(ignored(why));
                continue;
            }
            let named = scalar(node).filter(|_| setting.kind == Kind::Harness);
            let problem = setting.check(&key, node).err();
            let problem = problem.or_else(|| no_harness(named?.trim(), own.clone()));
            match problem {
                None => layer.said.push(Said {
                    setting,
                    key,
                    line,
                    node: (*node).clone(),
                }),
                Some(problem) => layer.bad.push(Bad {
                    line,
                    value: node.to_json(),
                    mistake: Mistake {
                        line: Some(yaml::line_of(text, node.span().start)),
                        reason: about(&key, &problem),
                    },
                    key,
                }),
            }
        }
        Ok(layer)
    }

    /// All that is wrong, from the first line to the last.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let bad = self.bad.iter().map(|bad| bad.mistake.clone());
        let mut all: Vec<Mistake> = bad
            .chain(self.ignored.iter().map(Ignored::mistake))
            .collect();
        all.sort_by_key(|mistake| mistake.line);
        all
    }

    /// Itself, if all of it can be used; what does not count does no harm by itself, but is told with the rest.
    pub fn usable(self) -> Result<Layer, ConfigError> {
        if self.bad.is_empty() {
            Ok(self)
        } else {
            Err(ConfigError {
                mistakes: self.mistakes(),
            })
        }
    }

    /// Puts what was said into the settings.
    pub fn apply(&self, config: &mut Config) {
        self.apply_where(config, |_| true);
    }

    /// The same for what overrides the user's word; the rest of a repository's settings go together with it.
    pub fn apply_over_user(&self, config: &mut Config) {
        self.apply_where(config, |setting| {
            matches!(
                setting.repository,
                Repository::Says | Repository::Tightens(_)
            )
        });
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

pub(super) fn unreadable(error: YamlError) -> Mistake {
    let (line, reason) = match error {
        YamlError::DuplicateKey { key, line, first } => (
            line,
            format!("{key} stands there twice, lines {first} and {line}; take one of them out"),
        ),
        YamlError::Invalid { line, message } => (line, message),
    };
    Mistake {
        line: Some(line),
        reason,
    }
}
