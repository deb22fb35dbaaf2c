//! Reads a script: which lists there are, which word each step begins with, which options it has.

use super::values::{Value, is_empty, scalar};
use super::{List, Script, ScriptError, Step, vocabulary};
use orange_core::workflow::Role;
use orange_core::yaml::{self, Entry, Node};

type Result<T> = std::result::Result<T, ScriptError>;

const LISTS: &str = "a list is called `worker`, `reviewer` or `executor`, with `round N`, `attempt N` or both behind it";

pub(super) fn read(source: &str) -> Result<Script> {
    let root = yaml::read(source, 0..source.len()).map_err(|error| ScriptError {
        message: error.to_string(),
        hint: "a script is YAML: lists of steps below `worker:` and `reviewer:`".into(),
    })?;
    let line_ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let reader = Reader {
        line_ends: &line_ends,
    };
    let entries = match &root {
        Some(Node::Mapping { entries, .. }) => entries,
        Some(node @ (Node::Scalar { .. } | Node::Sequence { .. })) => {
            return Err(reader.error(
                node.span().start,
                "a script begins with a list's name",
                LISTS,
            ));
        }
        None => return Err(reader.error(0, "the script is empty", LISTS)),
    };
    let lists = entries.iter().map(|entry| reader.list(entry));
    Ok(Script {
        lists: lists.collect::<Result<_>>()?,
    })
}

/// A text that is being read; it knows the lines, found once: counting them for each step would take for ever in a
/// long script.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    line_ends: &'a [usize],
}

/// One step as it is written: its word, the value behind it, and its options.
pub(super) struct Written<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) name: &'static str,
    at: usize,
    value: Option<&'a Node>,
    options: &'a [Entry],
}

impl<'a> Reader<'a> {
    /// The line, from 1, of the byte at `at`.
    fn line_of(&self, at: usize) -> usize {
        1 + self.line_ends.partition_point(|end| *end < at)
    }

    pub(super) fn error(&self, at: usize, message: &str, hint: &str) -> ScriptError {
        ScriptError {
            message: format!("line {}: {message}", self.line_of(at)),
            hint: hint.to_owned(),
        }
    }

    fn list(&self, entry: &'a Entry) -> Result<List> {
        let at = entry.key_span.start;
        let unknown = || self.error(at, &format!("there is no list `{}`", entry.key), LISTS);
        let mut words = entry.key.split_whitespace();
        let role: Role = words
            .next()
            .and_then(|word| word.parse().ok())
            .ok_or_else(unknown)?;
        let mut rest: Vec<&str> = words.collect();
        let round = counted(&mut rest, "round").map_err(|()| unknown())?;
        let attempt = counted(&mut rest, "attempt").map_err(|()| unknown())?;
        if !rest.is_empty() {
            return Err(unknown());
        }
        Ok(List {
            key: entry.key.clone(),
            role,
            round,
            attempt,
            steps: self.steps(&entry.key, at, &entry.value)?,
        })
    }

    fn steps(&self, name: &str, at: usize, node: &'a Node) -> Result<Vec<Step>> {
        match node {
            Node::Sequence { items, .. } => items.iter().map(|item| self.step(item)).collect(),
            Node::Scalar { .. } | Node::Mapping { .. } => Err(self.error(
                at,
                &format!("`{name}` must be a list of steps"),
                "each step begins with a dash; `[]` is an empty list",
            )),
        }
    }

    fn step(&self, node: &'a Node) -> Result<Step> {
        let none: &[Entry] = &[];
        let (word, at, value, options) = match node {
            Node::Scalar { text, span, .. } => (text, span.start, None, none),
            Node::Mapping { entries, span, .. } => match entries.split_first() {
                Some((first, options)) => (
                    &first.key,
                    first.key_span.start,
                    Some(&first.value),
                    options,
                ),
                None => return Err(self.unknown(span.start, "")),
            },
            Node::Sequence { span, .. } => return Err(self.unknown(span.start, "")),
        };
        let Some(known) = vocabulary::STEPS.iter().find(|known| known.name == word) else {
            return Err(self.unknown(at, word));
        };
        let written = Written {
            reader: *self,
            name: known.name,
            at,
            value: value.filter(|value| !is_empty(value)),
            options,
        };
        written.allows_only(known.options)?;
        Ok(Step {
            name: known.name,
            line: self.line_of(at),
            action: (known.read)(&written)?,
        })
    }

    fn unknown(&self, at: usize, word: &str) -> ScriptError {
        let names: Vec<&str> = vocabulary::STEPS.iter().map(|known| known.name).collect();
        let message = match word.trim() {
            "" => "a step begins with its name".to_owned(),
            word => format!(
                "there is no step `{}`",
                word.lines().next().unwrap_or_default()
            ),
        };
        self.error(
            at,
            &message,
            &format!("the steps are: {}", names.join(", ")),
        )
    }
}

/// Takes `word N` from the front, if it is there.
fn counted(words: &mut Vec<&str>, word: &str) -> std::result::Result<Option<u32>, ()> {
    if words.first() != Some(&word) {
        return Ok(None);
    }
    let number = words.get(1).and_then(|number| number.parse().ok());
    let number: u32 = number.filter(|number| *number > 0).ok_or(())?;
    words.drain(..2);
    Ok(Some(number))
}

impl<'a> Written<'a> {
    /// The value of the step itself.
    pub(super) fn value<T>(&self, read: impl Fn(&Node) -> Value<T>) -> Result<T> {
        let missing = Node::Scalar {
            text: String::new(),
            plain: true,
            span: self.at..self.at,
        };
        let node = self.value.unwrap_or(&missing);
        read(node).map_err(|reason| self.wrong(self.name, node, &reason))
    }

    /// The same for a step that can do without.
    pub(super) fn value_or<T>(&self, read: impl Fn(&Node) -> Value<T>, otherwise: T) -> Result<T> {
        match self.value {
            Some(_) => self.value(read),
            None => Ok(otherwise),
        }
    }

    pub(super) fn no_value(&self) -> Result<()> {
        match self.value {
            Some(node) => Err(self.wrong(self.name, node, "has no value")),
            None => Ok(()),
        }
    }

    pub(super) fn option<T>(
        &self,
        name: &str,
        read: impl Fn(&Node) -> Value<T>,
    ) -> Result<Option<T>> {
        let found = self.options.iter().find(|option| option.key == name);
        let read = |option: &Entry| {
            read(&option.value).map_err(|reason| {
                self.reader.error(
                    option.key_span.start,
                    &format!("`{name}` of `{}` {reason}", self.name),
                    HINT,
                )
            })
        };
        found.map(read).transpose()
    }

    pub(super) fn needed<T>(&self, name: &str, read: impl Fn(&Node) -> Value<T>) -> Result<T> {
        self.option(name, read)?.ok_or_else(|| {
            let message = format!("`{}` needs `{name}`", self.name);
            self.reader.error(self.at, &message, HINT)
        })
    }

    /// Steps inside this one; none if they are not there.
    pub(super) fn steps(&self, name: &str) -> Result<Vec<Step>> {
        let found = self.options.iter().find(|option| option.key == name);
        found.map_or(Ok(Vec::new()), |option| {
            self.reader
                .steps(name, option.key_span.start, &option.value)
        })
    }

    /// The one key of a mapping like `{file: PATH}`.
    pub(super) fn only_key(&self, allowed: &str) -> Result<(&'a str, &'a Node)> {
        match self.value {
            Some(Node::Mapping { entries, .. }) if entries.len() == 1 => {
                let entry = &entries[0];
                Ok((entry.key.as_str(), &entry.value))
            }
            _ => {
                let message = format!("`{}` needs one condition", self.name);
                Err(self.reader.error(self.at, &message, allowed))
            }
        }
    }

    pub(super) fn fields(&self) -> Result<&'a [Entry]> {
        match self.value {
            Some(Node::Mapping { entries, .. }) if !entries.is_empty() => Ok(entries),
            _ => {
                let message = format!("`{}` needs fields", self.name);
                let hint = "such as `{status: done}`; `null` removes a field";
                Err(self.reader.error(self.at, &message, hint))
            }
        }
    }

    pub(super) fn wrong(&self, name: &str, node: &Node, reason: &str) -> ScriptError {
        let at = if node.span().is_empty() {
            self.at
        } else {
            node.span().start
        };
        self.reader.error(at, &format!("`{name}` {reason}"), HINT)
    }

    fn allows_only(&self, allowed: &[&str]) -> Result<()> {
        let stranger = |option: &&Entry| !allowed.contains(&option.key.as_str());
        let Some(option) = self.options.iter().find(stranger) else {
            return Ok(());
        };
        let hint = match allowed {
            [] => format!(
                "`{}` has no options; does the step lack its dash?",
                self.name
            ),
            _ => format!("the options of `{}` are: {}", self.name, allowed.join(", ")),
        };
        let message = format!("`{}` has no option `{}`", self.name, option.key);
        Err(self.reader.error(option.key_span.start, &message, &hint))
    }
}

const HINT: &str = "docs/sim.md has an example of every step";

/// For error messages: a word of a closed set.
pub(super) fn word(node: &Node) -> Value<String> {
    let word = (!is_empty(node)).then(|| scalar(node)).flatten();
    word.map(str::to_owned)
        .ok_or_else(|| "must be a word".to_owned())
}
