//! One text of settings, read: what it says and on which line, what of it cannot be used and what does not count.

use super::names::KEYS_START;
use super::values::{leaves, scalar};
use super::{
    Alias, Config, ConfigError, Mistake, RepositoryWord, Setting, SettingKind, no_harness, plans,
    unknown,
};
use crate::keys::{Clash, with_chosen};
use crate::yaml::{self, Node, YamlError};
use serde_json::Value;
use std::fmt;

/// Some editors put it at the beginning of a file.
pub(super) const BOM: char = '\u{feff}';

/// Settings of one file.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    said: Vec<SaidSetting>,
    /// What cannot be used.
    pub bad: Vec<Rejected>,
    /// What does not count.
    pub ignored: Vec<Rejected>,
    /// What has another name here.
    pub read_as: Vec<ReadAs>,
}

/// What became of a line with a name of older files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadAs {
    /// The name that stands there.
    pub name: &'static str,
    pub line: usize,
    /// The setting that it is read as; None: it changes nothing.
    pub said: Option<(String, Value)>,
}

/// `claude.model is read as harness.claude.model: opus`
impl fmt::Display for ReadAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, name) = (self.line, self.name);
        match &self.said {
            None => write!(
                f,
                "line {line}: {name} is as it is anyway, and changes nothing"
            ),
            Some((key, value)) => {
                let value = match value {
                    Value::String(text) => text.clone(),
                    value => yaml::to_yaml_inline(value).unwrap_or_else(|| value.to_string()),
                };
                write!(f, "line {line}: {name} is read as {key}: {value}")
            }
        }
    }
}

/// One setting that counts.
#[derive(Debug, Clone)]
pub struct SaidSetting {
    pub setting: &'static Setting,
    /// As it is written there: `harness.mine`.
    pub key: String,
    pub line: usize,
    /// The name that the file has for it, if it is another one.
    pub alias: Option<&'static str>,
    node: Node,
}

impl SaidSetting {
    /// It, as something that does not count.
    fn rejected(&self, reason: String) -> Rejected {
        Rejected {
            key: self.key.clone(),
            line: self.line,
            value: self.value(),
            mistake: Mistake {
                line: Some(self.line),
                reason,
            },
        }
    }

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

/// A line of a file, as it is written there.
struct SettingLine<'a> {
    name: &'a str,
    line: usize,
    line_of_value: usize,
    node: &'a Node,
}

/// Says why a setting does not count in a file.
type Refuse<'a> = dyn Fn(&'static Setting, &Node) -> Option<String> + 'a;

impl SettingLine<'_> {
    fn rejected(&self, key: &str, line_of_mistake: usize, reason: String) -> Rejected {
        Rejected {
            key: key.to_owned(),
            line: self.line,
            value: self.node.to_json(),
            mistake: Mistake {
                line: Some(line_of_mistake),
                reason,
            },
        }
    }
}

impl Layer {
    /// The user's own config.yaml. An error: nothing in it can be read.
    pub fn of_user(text: &str) -> Result<Layer, Mistake> {
        Layer::read(text, |_, _| None)
    }

    /// A repository's .orange/config.yaml. What it may not say is not even looked at.
    pub fn of_repository(text: &str) -> Result<Layer, Mistake> {
        let mut layer = Layer::read(text, |setting, node| match setting.repository {
            RepositoryWord::No(why) => Some(format!("does not count here: {why}")),
            RepositoryWord::Tightens(strictest) => {
                let looser = setting.check(setting.key, node).is_ok()
                    && scalar(node).is_none_or(|word| word.trim() != strictest);
                looser.then(|| {
                    format!("counts here only as {strictest}: a repository cannot loosen it")
                })
            }
            RepositoryWord::Stricter => {
                let loosest = match setting.kind {
                    SettingKind::OneOf([loosest, ..]) => *loosest,
                    _ => return None,
                };
                let is_loosest = scalar(node).is_some_and(|word| word.trim() == loosest);
                is_loosest.then(|| {
                    format!("counts here only where it is stricter, and nothing is looser than {loosest}")
                })
            }
            RepositoryWord::Says
            | RepositoryWord::Adds
            | RepositoryWord::Fills
            | RepositoryWord::Limited => None,
        })?;
        let limited = layer
            .said
            .iter()
            .filter(|said| said.setting.repository == RepositoryWord::Limited);
        let notes = limited.flat_map(|said| {
            let notes = plans::ignored_of_repository(&said.key, &said.node);
            notes.into_iter().map(|reason| said.rejected(reason))
        });
        let notes: Vec<Rejected> = notes.collect();
        layer.ignored.extend(notes);
        Ok(layer)
    }

    /// What the phases of a repository's plans run.
    pub fn commands_of_plans(&self) -> Vec<String> {
        let plans = self
            .said
            .iter()
            .filter(|said| said.setting.repository == RepositoryWord::Limited);
        plans
            .flat_map(|said| plans::commands_in(&said.key, &said.node))
            .collect()
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
        let own: Vec<&str> = keys
            .filter_map(|key| key.strip_prefix("harness."))
            .collect();
        for (key, at, node) in &leaves {
            let found = SettingLine {
                name: key,
                line: yaml::line_of(text, *at),
                line_of_value: yaml::line_of(text, node.span().start),
                node,
            };
            match Alias::of(key) {
                Some(alias) => layer.take_alias(alias, &found, &refuse, &own),
                None => layer.take(key, &found, node, &refuse, &own),
            }
        }
        layer.refuse_clashes();
        Ok(layer)
    }

    /// A line with another name of a setting.
    fn take_alias(
        &mut self,
        alias: &'static Alias,
        found: &SettingLine<'_>,
        refuse: &Refuse<'_>,
        own: &[&str],
    ) {
        let (name, line) = (alias.name, found.line);
        let said = match (alias.read)(found.node) {
            Err(problem) => {
                let reason = about(name, &problem);
                return self
                    .bad
                    .push(found.rejected(name, found.line_of_value, reason));
            }
            Ok(None) => None,
            Ok(Some(node)) => {
                let Some(key) = alias.key else { return };
                let before = self.said.len();
                self.take(key, found, &node, refuse, own);
                match self.said.get(before) {
                    Some(said) => Some((key.to_owned(), said.value())),
                    // Why not is said with the rest.
                    None => return,
                }
            }
        };
        self.read_as.push(ReadAs { name, line, said });
    }

    /// A setting by its own name.
    fn take(
        &mut self,
        key: &str,
        found: &SettingLine<'_>,
        node: &Node,
        refuse: &Refuse<'_>,
        own: &[&str],
    ) {
        let Some(setting) = Setting::of(key) else {
            return self
                .ignored
                .push(found.rejected(key, found.line, no_setting(key)));
        };
        // A mistake is told under the name that stands there.
        let (name, alias) = (found.name, Alias::of(found.name).map(|alias| alias.name));
        if let Some(why) = refuse(setting, node) {
            return self
                .ignored
                .push(found.rejected(key, found.line, about(name, &why)));
        }
        let earlier = self.said.iter().find(|said| said.key == key);
        if let Some(earlier) = earlier {
            let (other, line) = (earlier.alias.unwrap_or(key), earlier.line);
            let reason =
                format!("{name} and {other} (line {line}) are one setting; take one of them out");
            return self.bad.push(found.rejected(key, found.line, reason));
        }
        let named = scalar(node).filter(|_| setting.kind == SettingKind::Harness);
        let problem = setting.check(key, node).err();
        let problem = problem.or_else(|| no_harness(named?.trim(), own.iter().copied()));
        if let Some(problem) = problem {
            let reason = about(name, &problem);
            return self
                .bad
                .push(found.rejected(key, found.line_of_value, reason));
        }
        self.said.push(SaidSetting {
            setting,
            key: key.to_owned(),
            line: found.line,
            alias,
            node: node.clone(),
        });
    }

    /// Of keys that two actions would have, the defaults count.
    fn refuse_clashes(&mut self) {
        let mut config = Config::default();
        self.apply_where(&mut config, |setting| setting.kind == SettingKind::Key);
        let (_, clashes) = with_chosen(&config.keys);
        for Clash { action, other } in clashes {
            let (row, other) = (action.row(), other.row().name);
            let of_action = |said: &SaidSetting| {
                said.setting.kind == SettingKind::Key
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

    /// The same for what counts only where the user says nothing.
    pub fn apply_under_user(&self, config: &mut Config) {
        self.apply_where(config, |setting| {
            setting.repository == RepositoryWord::Fills
        });
    }

    /// The same for what overrides the user's word; lists of commands and patterns go together with the user's.
    ///
    /// Returns what does not count beside the user's.
    pub fn apply_over_user(&self, config: &mut Config) -> Vec<Rejected> {
        let mut ignored = Vec::new();
        for said in &self.said {
            let (key, node) = (said.key.as_str(), &said.node);
            match said.setting.repository {
                RepositoryWord::Says | RepositoryWord::Tightens(_) => {
                    // It was tried when it was read.
                    let _ = (said.setting.set)(config, key, node);
                }
                RepositoryWord::Stricter => config.gates.demand(key, node),
                RepositoryWord::Limited => {
                    if let Err(why) = plans::say_of_repository(config, key, node) {
                        ignored.push(said.rejected(about(key, &why)));
                    }
                }
                RepositoryWord::Adds | RepositoryWord::Fills | RepositoryWord::No(_) => {}
            }
        }
        ignored
    }

    fn apply_where(&self, config: &mut Config, counts: impl Fn(&Setting) -> bool) {
        for said in self.said.iter().filter(|said| counts(said.setting)) {
            // It was tried when it was read.
            let _ = (said.setting.set)(config, &said.key, &said.node);
        }
    }

    pub fn said(&self) -> &[SaidSetting] {
        &self.said
    }

    pub fn get(&self, key: &str) -> Option<&SaidSetting> {
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
