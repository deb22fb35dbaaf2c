//! What a setting is: its key, the kind of its value, its default, and who may say it.

use super::Config;
use super::table::{KEYS, TABLE};
use super::values::{days, is_empty, lines_of_text, percent_in, several_commands, with_unit};
use super::{gates, names};
use crate::suggest;
use crate::yaml::{self, Node};
use serde_json::Value;

/// Stands for a secret.
const HIDDEN: &str = "(hidden)";

#[derive(Debug)]
pub struct Setting {
    /// `section.name`; a word in capitals stands for any name of its kind: `harness.NAME` (names.rs).
    pub key: &'static str,
    pub kind: SettingKind,
    /// As it would be written; empty: none.
    pub default: &'static str,
    /// The same.
    pub example: &'static str,
    /// Whether a repository may say it too.
    pub repository: RepositoryWord,
    /// For people; sentences.
    pub about: &'static str,
    pub(super) set: fn(&mut Config, &str, &Node) -> Result<(), String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    Count,
    Days,
    Flag,
    Time,
    Text,
    Url,
    /// Text that is never shown.
    Secret,
    OneOf(&'static [&'static str]),
    BranchTemplate,
    Harness,
    Patterns,
    Commands,
    OwnHarness,
    /// A program with its first arguments.
    Words,
    /// From 0.
    UpTo(u32),
    /// US dollars.
    Dollars,
    Percent,
    /// A text that is never empty.
    Line,
    /// Of a repository.
    Folder,
    /// Of a plan.
    Phases,
    /// Of a model.
    Price,
    /// Of the dashboard.
    Key,
}

/// What a repository's word counts beside the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryWord {
    /// It overrides the user's config.yaml.
    Says,
    /// It stands before what the user's config.yaml says.
    Adds,
    /// It counts where the user's config.yaml says nothing.
    Fills,
    /// It counts where it is stricter than what the user says or the default is, by the order of the kind's words.
    Stricter,
    /// It overrides the user's config.yaml in what a repository may choose of it.
    Limited,
    /// Only this value counts, the strictest one, and it overrides the user's config.yaml.
    Tightens(&'static str),
    /// It does not count, for this reason.
    No(&'static str),
}

impl Setting {
    pub fn all() -> &'static [Setting] {
        TABLE
    }

    /// The row of a key, such as `agents.limit` or `harness.mine`.
    pub fn of(key: &str) -> Option<&'static Setting> {
        let key = names::row_of(key);
        TABLE.iter().find(|setting| setting.key == key)
    }

    /// The key that somebody may have meant.
    pub fn nearest(key: &str) -> Option<&'static str> {
        let keys = || KEYS.iter().copied();
        let name = |key: &'static str| key.rsplit('.').next().unwrap_or(key);
        let (section, typed) = key.split_once('.').unwrap_or(("", key));
        let of_section = || keys().filter(|key| key.split('.').next() == Some(section));
        // A whole section in common would make any two names look alike.
        let near = match of_section().next() {
            Some(_) => {
                let near = suggest::nearest(typed, of_section().map(name));
                near.and_then(|near| of_section().find(|key| name(key) == near))
            }
            None => suggest::nearest(key, keys()),
        };
        // A name without its section, or in another one.
        let elsewhere = || keys().find(|key| name(key).eq_ignore_ascii_case(typed));
        near.or_else(elsewhere).or_else(|| {
            let near = suggest::nearest(typed, keys().map(name)).filter(|_| section.is_empty())?;
            keys().find(|key| name(key) == near)
        })
    }

    /// Those whose key begins with this word.
    pub fn of_section(name: &str) -> impl Iterator<Item = &'static Setting> {
        TABLE
            .iter()
            .filter(move |setting| setting.section() == name)
    }

    /// Whether a part of the key is a name that somebody chooses: `harness.NAME`.
    pub fn is_of_names(&self) -> bool {
        names::placeholder(self.key).is_some()
    }

    /// A key of this row as somebody may write it: `harness.mine` for `harness.NAME`.
    pub fn example_key(&self) -> String {
        names::example_of(self.key)
    }

    pub fn section(&self) -> &'static str {
        self.key.split('.').next().unwrap_or(self.key)
    }

    /// A value as typed on a command line or into a variable. A list may be written as in YAML.
    pub fn node(&self, text: &str) -> Result<Node, String> {
        let trimmed = text.trim_start();
        let flow = match self.kind {
            SettingKind::Patterns | SettingKind::Commands => trimmed.starts_with('['),
            SettingKind::Words => trimmed.starts_with('['),
            SettingKind::OwnHarness | SettingKind::Phases | SettingKind::Price => {
                trimmed.starts_with(['[', '{'])
            }
            _ => false,
        };
        if flow {
            let read = yaml::read(text, 0..text.len());
            let read = read.map_err(|error| format!(": {error}"))?;
            return read.ok_or_else(|| "is empty".to_owned());
        }
        Ok(Node::Scalar {
            text: text.to_owned(),
            plain: true,
            span: 0..0,
        })
    }

    /// Why a value cannot be used, if it cannot.
    pub fn check(&self, key: &str, node: &Node) -> Result<(), String> {
        (self.set)(&mut Config::default(), key, node)
    }

    /// A value that can be used, as it is shown and written.
    pub fn value(&self, node: &Node) -> Value {
        match (self.kind, node) {
            (SettingKind::Flag, Node::Scalar { text, .. }) => Value::Bool(text == "true"),
            (SettingKind::Count | SettingKind::UpTo(_), Node::Scalar { text, .. }) => {
                text.parse::<u32>().map_or(Value::Null, Value::from)
            }
            (SettingKind::Percent, Node::Scalar { text, .. }) => {
                percent_in(text).map_or(Value::Null, Value::from)
            }
            (SettingKind::Days, node) => days(node).map_or(Value::Null, Value::from),
            (SettingKind::Time, Node::Scalar { text, .. }) => {
                with_unit(text).map_or(Value::Null, Value::from)
            }
            (SettingKind::Patterns, node) => lines_of_text(node).map_or(Value::Null, Value::from),
            (SettingKind::Commands, node) => {
                several_commands(node).map_or(Value::Null, Value::from)
            }
            (SettingKind::OwnHarness | SettingKind::Words, Node::Scalar { text, .. }) => {
                text.split_whitespace().map(str::to_owned).collect()
            }
            (SettingKind::OwnHarness, node) => node.to_json(),
            (kind, empty) if kind.is_text() && is_empty(empty) => Value::Null,
            (SettingKind::BranchTemplate, Node::Scalar { text, .. }) => Value::from(text.as_str()),
            (_, Node::Scalar { text, .. }) => Value::from(text.trim()),
            (_, other) => other.to_json(),
        }
    }

    /// A value as people and scripts may see it.
    pub fn shown(&self, value: Value) -> Value {
        match self.kind {
            SettingKind::Secret if !value.is_null() => Value::from(HIDDEN),
            _ => value,
        }
    }

    /// The same for a key of this row.
    pub fn default_of(&self, key: &str) -> Value {
        match gates::default_of(key) {
            Some(kind) if self.is_of_names() => Value::from(kind.as_str()),
            _ => self.default_value(),
        }
    }

    /// Keys of this row that count although nobody says them.
    pub fn usual_keys(&self) -> Vec<String> {
        if self.key.starts_with(gates::OVERRIDES) {
            gates::usual_keys().collect()
        } else {
            Vec::new()
        }
    }

    /// Which of two values a repository cannot loosen; the first one where they are alike.
    pub fn stricter(&self, one: Value, other: Value) -> (Value, bool) {
        let words = match self.kind {
            SettingKind::OneOf(words) => words,
            _ => &[],
        };
        let rank = |value: &Value| words.iter().position(|word| value == word);
        match rank(&other) > rank(&one) {
            true => (other, true),
            false => (one, false),
        }
    }

    /// What counts where nobody says anything.
    pub fn default_value(&self) -> Value {
        match (self.kind, self.default) {
            (SettingKind::Patterns | SettingKind::Commands | SettingKind::Words, "") => {
                Value::Array(Vec::new())
            }
            (_, "") => Value::Null,
            (_, text) => self
                .node(text)
                .map_or(Value::Null, |node| self.value(&node)),
        }
    }
}

impl SettingKind {
    /// In words, for documents.
    pub fn words(self) -> String {
        match self {
            SettingKind::Count => "a whole number above 0".into(),
            SettingKind::Days => "a whole number of days above 0".into(),
            SettingKind::Flag => "`true` or `false`".into(),
            SettingKind::Time => "a time above 0, in seconds, or with `s`, `m` or `h`".into(),
            SettingKind::Text => "text".into(),
            SettingKind::Url => "a URL with `http` or `https`".into(),
            SettingKind::Secret => "text, never shown".into(),
            SettingKind::OneOf(words) => format!("one of `{}`", words.join("`, `")),
            SettingKind::BranchTemplate => "a template of a branch's name".into(),
            SettingKind::Harness => "the name of a harness".into(),
            SettingKind::Patterns => "a list of patterns, as in .gitignore".into(),
            SettingKind::Commands => "a command, or a list of commands".into(),
            SettingKind::OwnHarness => "a command as a list of words, or a mapping".into(),
            SettingKind::Words => "a command as a list of words".into(),
            SettingKind::UpTo(most) => format!("a whole number from 0 to {most}"),
            SettingKind::Dollars => "US dollars above 0".into(),
            SettingKind::Percent => "a whole number from 1 to 100".into(),
            SettingKind::Line => "a line of text".into(),
            SettingKind::Folder => "a folder inside the repository".into(),
            SettingKind::Phases => "a list of phases".into(),
            SettingKind::Price => "a mapping".into(),
            SettingKind::Key => "a visible character that is no digit, or `space`".into(),
        }
    }

    /// Whether nothing at all is a value, which the setting has once it is taken out.
    pub fn is_text(self) -> bool {
        matches!(
            self,
            SettingKind::Text | SettingKind::Url | SettingKind::Secret
        )
    }

    pub fn is_list(self) -> bool {
        matches!(
            self,
            SettingKind::Patterns
                | SettingKind::Commands
                | SettingKind::OwnHarness
                | SettingKind::Words
        )
    }
}
