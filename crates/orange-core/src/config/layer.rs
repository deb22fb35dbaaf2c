//! One text of settings, read: what it says and on which line, what of it cannot be used and what does not count.

use super::setting::KEYS_START;
use super::values::{leaves, scalar};
use super::{Config, ConfigError, Kind, Mistake, Repository, Setting, no_harness, unknown};
use crate::keys::{Clash, with_chosen};
use crate::yaml::{self, Node, YamlError};
use serde_json::Value;

/// Some editors put it at the beginning of a file.
pub(super) const BOM: char = '\u{feff}';

/// Settings of one file.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    said: Vec<Said>,
    /// What cannot be used.
    pub bad: Vec<Rejected>,
    /// What does not count.
    pub ignored: Vec<Rejected>,
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

/// A setting that cannot be used, or does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{mistake}")]
pub struct Rejected {
    pub key: String,
    /// Of the setting.
    pub line: usize,
    /// As it is written.
    pub value: Value,
    pub mistake: Mistake,
}

impl Layer {
    /// The user's own config.yaml. An error: nothing in it can be read.
    pub fn of_user(text: &str) -> Result<Layer, Mistake> {
        Layer::read(text, |_, _| None)
    }

    /// A repository's .orange/config.yaml. What it may not say is not even looked at.
    pub fn of_repository(text: &str) -> Result<Layer, Mistake> {
        Layer::read(text, |setting, node| match setting.repository {
            Repository::No(why) => Some(format!("does not count here: {why}")),
            Repository::Tightens(strictest) => {
                let looser = setting.check(setting.key, node).is_ok()
                    && scalar(node).is_none_or(|word| word.trim() != strictest);
                looser.then(|| {
                    format!("counts here only as {strictest}: a repository cannot loosen it")
                })
            }
            Repository::Says | Repository::Adds | Repository::Fills => None,
        })
    }

    /// `refuse` says why a setting does not count here.
    fn read(
        text: &str,
        refuse: impl Fn(&'static Setting, &Node) -> Option<String>,
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
            let line = yaml::line_of(text, *at);
            let rejected = |line_of_mistake: usize, reason: String| Rejected {
                key: key.clone(),
                line,
                value: node.to_json(),
                mistake: Mistake {
                    line: Some(line_of_mistake),
                    reason,
                },
            };
            let Some(setting) = Setting::of(key) else {
                layer.ignored.push(rejected(line, no_setting(key)));
                continue;
            };
            if let Some(why) = refuse(setting, node) {
                layer.ignored.push(rejected(line, about(key, &why)));
                continue;
            }
            let named = scalar(node).filter(|_| setting.kind == Kind::Harness);
            let problem = setting.check(key, node).err();
            let problem = problem.or_else(|| no_harness(named?.trim(), own.clone()));
            if let Some(problem) = problem {
                let line_of_value = yaml::line_of(text, node.span().start);
                layer
                    .bad
                    .push(rejected(line_of_value, about(key, &problem)));
                continue;
            }
            layer.said.push(Said {
                setting,
                key: key.clone(),
                line,
                node: (*node).clone(),
            });
        }
        layer.refuse_clashes();
        Ok(layer)
    }

    /// Of keys that two actions would have, the defaults count.
    fn refuse_clashes(&mut self) {
        let mut config = Config::default();
        self.apply_where(&mut config, |setting| setting.kind == Kind::Key);
        let (_, clashes) = with_chosen(&config.keys);
        for Clash { action, other } in clashes {
            let (row, other) = (action.row(), other.row().name);
            let of_action = |said: &Said| {
                said.setting.kind == Kind::Key
                    && said.key.strip_prefix(KEYS_START) == Some(row.name)
            };
            for said in self.said.extract_if(.., |said| of_action(said)) {
                let (value, default) = (said.value(), row.key);
                let chosen = value.as_str().unwrap_or_default();
                let why = format!(": {chosen} is the key of {other} too, so {default} stays");
                self.ignored.push(Rejected {
                    mistake: Mistake {
                        line: Some(said.line),
                        reason: about(&said.key, &why),
                    },
                    key: said.key,
                    line: said.line,
                    value,
                });
            }
        }
    }

    /// All that is wrong, from the first line to the last.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let rejected = self.bad.iter().chain(&self.ignored);
        let mut all: Vec<Mistake> = rejected.map(|one| one.mistake.clone()).collect();
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

    pub fn get(&self, key: &str) -> Option<&Said> {
        self.said.iter().find(|said| said.key == key)
    }
}

/// Why a key is no setting. A section may have been given a value.
fn no_setting(key: &str) -> String {
    let below: Vec<&str> = Setting::of_section(key).map(|one| one.key).collect();
    match below.as_slice() {
        [] => unknown(key),
        below => format!(
            "{key} is a section and has no value of its own; its settings stand on lines below it: {}",
            below.join(", ")
        ),
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
