//! A TASK.md file as text: finds its frontmatter and body, reads the frontmatter's keys, and
//! changes single keys without touching any other byte.

use crate::yaml::{self, Entry, Node, YamlError};
use serde_json::{Map, Value};
use std::ops::Range;
use thiserror::Error;

/// The largest file that is read at all.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

const BOM: &str = "\u{feff}";

/// A readable task file: its whole text, and where in it everything stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFile {
    text: String,
    /// What stands between the two `---` lines.
    front: Range<usize>,
    body: usize,
    root: Root,
    /// The line of each top-level key.
    lines: Vec<usize>,
}

/// The frontmatter's mapping; `flow` if it is written in braces, where no key has its own line.
#[derive(Clone, Debug, Default, PartialEq)]
struct Root {
    entries: Vec<Entry>,
    flow: bool,
}

/// Why a file cannot be read as a task. Lines count from 1 in the whole file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Damage {
    #[error("the file is not valid UTF-8 (byte {offset})")]
    NotUtf8 { offset: usize },
    #[error("the file is {bytes} bytes long, more than the {MAX_BYTES} that are read")]
    TooLarge { bytes: usize },
    #[error("the file does not start with a `---` line")]
    NoFrontmatter,
    #[error("the frontmatter has no closing `---` line")]
    Unclosed,
    #[error("line {line} is a merge conflict marker")]
    ConflictMarker { line: usize },
    #[error("line {line}: the frontmatter is not a list of `key: value` lines")]
    NotAMapping { line: usize },
    #[error("line {line} repeats the key `{key}`")]
    DuplicateKey { key: String, line: usize },
    #[error("line {line}: {message}")]
    Yaml { line: usize, message: String },
}

/// Why an edit was not made; the file is then as it was before.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    #[error("{} cannot be written so that it reads back the same", .keys.join(", "))]
    NotReadBack { keys: Vec<String> },
    #[error("the file would be {bytes} bytes long, more than the {MAX_BYTES} that are read")]
    TooLarge { bytes: usize },
}

impl From<YamlError> for Damage {
    fn from(error: YamlError) -> Damage {
        match error {
            YamlError::DuplicateKey { key, line } => Damage::DuplicateKey { key, line },
            YamlError::Invalid { line, message } => Damage::Yaml { line, message },
        }
    }
}

impl TaskFile {
    pub fn parse(bytes: &[u8]) -> Result<TaskFile, Damage> {
        if bytes.len() > MAX_BYTES {
            return Err(Damage::TooLarge { bytes: bytes.len() });
        }
        let text = str::from_utf8(bytes).map_err(|e| Damage::NotUtf8 {
            offset: e.valid_up_to(),
        })?;
        TaskFile::from_text(text.to_owned())
    }

    /// Writes a new file. Of a repeated key the last value counts. A value nested deeper than
    /// the reader allows is written, but has no entry here and damages the file for the next
    /// reader; nothing a task holds comes near that.
    pub fn create(fields: &[(&str, Value)], body: &str) -> TaskFile {
        let mut text = String::from("---\n");
        for (index, (key, value)) in fields.iter().enumerate() {
            let repeated = fields[index + 1..].iter().any(|(later, _)| later == key);
            if !repeated {
                yaml::emit_entry(&mut text, "", key, value);
            }
        }
        let front = 4..text.len();
        text.push_str("---\n");
        let start = text.len();
        text.push_str(body);
        let root = read_root(&text, front.clone()).unwrap_or_default();
        TaskFile::assemble(text, front, start, root)
    }

    fn from_text(text: String) -> Result<TaskFile, Damage> {
        let (front, body) = split(&text)?;
        let root = read_root(&text, front.clone())?;
        Ok(TaskFile::assemble(text, front, body, root))
    }

    fn assemble(text: String, front: Range<usize>, body: usize, root: Root) -> TaskFile {
        let mut line = 1;
        let mut from = 0;
        let number = |entry: &Entry| {
            let passed = text
                .as_bytes()
                .get(from..entry.key_span.start)
                .unwrap_or_default();
            line += passed.iter().filter(|&&b| b == b'\n').count();
            from = entry.key_span.start;
            line
        };
        let lines = root.entries.iter().map(number).collect();
        TaskFile {
            text,
            front,
            body,
            root,
            lines,
        }
    }

    /// The top-level keys in the order they stand, with the value and the line of each.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Node, usize)> {
        let entries = self.root.entries.iter().zip(&self.lines);
        entries.map(|(entry, line)| (entry.key.as_str(), &entry.value, *line))
    }

    pub fn get(&self, key: &str) -> Option<(&Node, usize)> {
        self.entries()
            .find(|(name, ..)| *name == key)
            .map(|(_, node, line)| (node, line))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Byte for byte what follows the closing `---` line.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }

    pub fn set_body(&mut self, body: &str) {
        self.text.truncate(self.body);
        if !body.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(self.newline());
        }
        self.body = self.text.len();
        self.text.push_str(body);
    }

    /// Changes keys; `None` removes one. Every other byte stays, as long as the way the
    /// frontmatter is written allows; otherwise the frontmatter is written anew with the same
    /// values. Either way the result has been read back and compared before it counts.
    pub fn edit(&mut self, changes: &[(&str, Option<Value>)]) -> Result<(), EditError> {
        let changes = self.needed(changes);
        if !changes.is_empty() {
            *self = self.changed(&changes)?;
        }
        Ok(())
    }

    /// The file after the changes, made the first way that reads back right.
    fn changed(&self, changes: &[Change<'_>]) -> Result<TaskFile, EditError> {
        let wanted = self.wanted(changes);
        let ways: [&dyn Fn() -> Option<String>; 3] = [
            &|| self.spliced(changes, true),
            &|| self.spliced(changes, false),
            &|| Some(self.rewritten(&wanted)),
        ];
        for text in ways.into_iter().filter_map(|way| way()) {
            if text.len() > MAX_BYTES && text.len() > self.text.len() {
                return Err(EditError::TooLarge { bytes: text.len() });
            }
            if let Some(edited) = self.verified(text, &wanted) {
                return Ok(edited);
            }
        }
        let keys = changes.iter().map(|(key, _)| format!("`{key}`"));
        Err(EditError::NotReadBack {
            keys: keys.collect(),
        })
    }

    /// The changes that change anything; of several for one key the last.
    fn needed<'c>(&self, changes: &'c [(&'c str, Option<Value>)]) -> Vec<Change<'c>> {
        let differs = |(index, (key, value)): (usize, &'c (&'c str, Option<Value>))| {
            let repeated = changes[index + 1..].iter().any(|(later, _)| later == key);
            let now = self.get(key).map(|(node, _)| node.to_json());
            (!repeated && now != *value).then_some((*key, value.as_ref()))
        };
        changes.iter().enumerate().filter_map(differs).collect()
    }

    /// All keys and values as they must read after the changes.
    fn wanted(&self, changes: &[Change<'_>]) -> Vec<(String, Value)> {
        let mut wanted = Vec::with_capacity(self.root.entries.len() + changes.len());
        for Entry { key, value, .. } in &self.root.entries {
            match changes.iter().find(|(changed, _)| changed == key) {
                None => wanted.push((key.clone(), value.to_json())),
                Some((_, Some(value))) => wanted.push((key.clone(), (*value).clone())),
                Some((_, None)) => {}
            }
        }
        let added = changes.iter().filter(|(key, _)| self.get(key).is_none());
        wanted
            .extend(added.filter_map(|(key, value)| Some((String::from(*key), (*value)?.clone()))));
        wanted
    }

    fn verified(&self, text: String, wanted: &[(String, Value)]) -> Option<TaskFile> {
        let edited = TaskFile::from_text(text).ok()?;
        let entries = &edited.root.entries;
        let same = entries.len() == wanted.len()
            && entries
                .iter()
                .zip(wanted)
                .all(|(e, (key, value))| e.key == *key && e.value.to_json() == *value)
            && edited.body() == self.body();
        same.then_some(edited)
    }

    fn spliced(&self, changes: &[Change<'_>], deep: bool) -> Option<String> {
        if self.root.flow {
            return None;
        }
        let newline = self.newline();
        let mut splicer = Splicer {
            text: &self.text,
            newline,
            deep,
            splices: Vec::new(),
        };
        splicer.change(&self.root.entries, changes, self.front.end)?;
        splicer.finish()
    }

    fn rewritten(&self, wanted: &[(String, Value)]) -> String {
        let mut front = String::new();
        wanted
            .iter()
            .for_each(|(key, value)| yaml::emit_entry(&mut front, "", key, value));
        let front = front.replace('\n', self.newline());
        format!(
            "{}{front}{}",
            &self.text[..self.front.start],
            &self.text[self.front.end..]
        )
    }

    /// The line ending most lines of the frontmatter have.
    fn newline(&self) -> &'static str {
        let front = &self.text[..self.front.end];
        let all = front.matches('\n').count();
        if front.matches("\r\n").count() * 2 > all {
            "\r\n"
        } else {
            "\n"
        }
    }
}

/// What follows the frontmatter of a file too damaged to read; the whole text if none ends.
pub fn salvage_body(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let start =
        front_start(&text).and_then(|start| lines(&text, start).find(|(_, line)| is_fence(line)));
    match start {
        Some((at, _)) => text[yaml::line_after(&text, at)..].to_owned(),
        None => text.into_owned(),
    }
}

/// The bytes between the `---` lines, and where the body starts.
fn split(text: &str) -> Result<(Range<usize>, usize), Damage> {
    let Some(start) = front_start(text) else {
        let conflict = is_conflict_marker(text.lines().next().unwrap_or_default());
        return Err(if conflict {
            Damage::ConflictMarker { line: 1 }
        } else {
            Damage::NoFrontmatter
        });
    };
    let (end, _) = lines(text, start)
        .find(|(_, line)| is_fence(line))
        .ok_or(Damage::Unclosed)?;
    let front = start..end;
    if let Some((at, _)) = lines(&text[..end], start).find(|(_, line)| is_conflict_marker(line)) {
        return Err(Damage::ConflictMarker {
            line: yaml::line_of(text, at),
        });
    }
    Ok((front, yaml::line_after(text, end)))
}

/// Where the line after the opening `---` starts.
fn front_start(text: &str) -> Option<usize> {
    let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let (_, first) = lines(text, start).next()?;
    is_fence(first).then(|| yaml::line_after(text, start))
}

/// The lines from a byte on, each with where it starts and without its line end.
fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = from;
    text[from..].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        (start, line.strip_suffix('\r').unwrap_or(line))
    })
}

fn is_fence(line: &str) -> bool {
    line.trim_end_matches([' ', '\t']) == "---"
}

fn is_conflict_marker(line: &str) -> bool {
    if !line.starts_with(['<', '|', '=', '>']) {
        return false;
    }
    let markers = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];
    let rest = markers.iter().find_map(|marker| line.strip_prefix(marker));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn read_root(text: &str, front: Range<usize>) -> Result<Root, Damage> {
    match yaml::read(text, front)? {
        None => Ok(Root::default()),
        Some(Node::Mapping { entries, flow, .. }) => Ok(Root { entries, flow }),
        Some(Node::Scalar { span, .. } | Node::Sequence { span, .. }) => Err(Damage::NotAMapping {
            line: yaml::line_of(text, span.start),
        }),
    }
}

type Change<'c> = (&'c str, Option<&'c Value>);

/// How an old value is written, which decides what of its lines stays.
enum Old {
    Missing,
    /// From the key's line on or below, with a definite start and end.
    Inline(Range<usize>),
    /// On lines of its own below the key, up to where the next line starts.
    Block(usize),
}

/// Collects the byte ranges to replace. A `None` anywhere means: not written in a way this can
/// change, so that the caller takes a cruder way.
struct Splicer<'a> {
    text: &'a str,
    newline: &'static str,
    /// Whether to change an object key by key where the old value is a block mapping.
    deep: bool,
    splices: Vec<(Range<usize>, String)>,
}

impl<'a> Splicer<'a> {
    fn change(&mut self, entries: &[Entry], changes: &[Change<'_>], end: usize) -> Option<()> {
        let mut added = String::new();
        let indent = entries.iter().find_map(|entry| self.indent(entry));
        for (key, value) in changes {
            match (entries.iter().find(|entry| entry.key == *key), value) {
                (Some(entry), Some(value)) => self.replace(entry, value)?,
                (Some(entry), None) => self.remove(entry)?,
                (None, Some(value)) if entries.is_empty() => {
                    yaml::emit_entry(&mut added, "", key, value)
                }
                (None, Some(value)) => yaml::emit_entry(&mut added, indent?, key, value),
                (None, None) => {}
            }
        }
        let end = entries.last().map_or(end, |last| self.entry_end(last));
        self.splice(end..end, &added);
        Some(())
    }

    fn remove(&mut self, entry: &Entry) -> Option<()> {
        let indent = self.indent(entry)?;
        self.splice(
            entry.key_span.start - indent.len()..self.entry_end(entry),
            "",
        );
        Some(())
    }

    fn replace(&mut self, entry: &Entry, new: &Value) -> Option<()> {
        let indent = self.indent(entry)?;
        let after_colon = self.after_colon(entry)?;
        if let (
            true,
            Value::Object(new),
            Node::Mapping {
                entries,
                flow: false,
                ..
            },
        ) = (self.deep, new, &entry.value)
        {
            return self.change(entries, &sub_changes(entries, new), after_colon);
        }
        let mut block = String::new();
        let inline = yaml::to_yaml_inline(new).map(|text| format!(" {text}"));
        if inline.is_none() {
            yaml::emit_block(&mut block, &format!("{indent}  "), new);
        }
        let header_end = yaml::line_after(self.text, after_colon);
        match self.old(&entry.value, after_colon) {
            Old::Inline(span) if inline.is_some() => self.splice(span, inline?.trim_start()),
            Old::Inline(span) if span.start < header_end => {
                let next = self.line_end(span.end);
                self.splice(after_colon..span.end, "");
                self.splice(next..next, &block);
            }
            Old::Missing => {
                self.splice(after_colon..after_colon, &inline.unwrap_or_default());
                self.splice(header_end..header_end, &block);
            }
            Old::Inline(Range { end, .. }) | Old::Block(end) => {
                let kept = after_colon + header_length(&self.text[after_colon..header_end]);
                self.splice(after_colon..kept, &inline.unwrap_or_default());
                self.splice(header_end..self.line_end(end).max(header_end), &block);
            }
        }
        Some(())
    }

    fn old(&self, value: &Node, after_colon: usize) -> Old {
        match value {
            Node::Sequence {
                flow: true, span, ..
            }
            | Node::Mapping {
                flow: true, span, ..
            } => Old::Inline(span.clone()),
            Node::Sequence {
                flow: false, span, ..
            }
            | Node::Mapping {
                flow: false, span, ..
            } => Old::Block(span.end),
            Node::Scalar { plain, span, .. } => {
                let start = yaml::skip_properties(self.text, after_colon);
                if !plain && self.text[start..].starts_with(['|', '>']) {
                    Old::Block(span.end)
                } else if span.is_empty() {
                    Old::Missing
                } else {
                    Old::Inline(span.clone())
                }
            }
        }
    }

    /// The blanks before a key, if nothing else stands there.
    fn indent(&self, entry: &Entry) -> Option<&'a str> {
        let before = self.text.get(..entry.key_span.start)?;
        let indent = &before[before.rfind('\n')? + 1..];
        indent.bytes().all(|b| b == b' ').then_some(indent)
    }

    fn after_colon(&self, entry: &Entry) -> Option<usize> {
        let rest = self.text.get(entry.key_span.end..)?;
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        rest[blanks..]
            .starts_with(':')
            .then_some(entry.key_span.end + blanks + 1)
    }

    fn entry_end(&self, entry: &Entry) -> usize {
        self.line_end(entry.key_span.end.max(entry.value.span().end))
    }

    /// Where the next line starts, for what ends at `end`.
    fn line_end(&self, end: usize) -> usize {
        yaml::line_after(self.text, end.saturating_sub(1))
    }

    fn splice(&mut self, range: Range<usize>, with: &str) {
        if !range.is_empty() || !with.is_empty() {
            self.splices.push((range, with.replace('\n', self.newline)));
        }
    }

    fn finish(mut self) -> Option<String> {
        // What is added where a removed line starts belongs to the line before it.
        self.splices
            .sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(self.text.len() + 64);
        let mut at = 0;
        for (range, with) in self.splices {
            out.push_str(self.text.get(at..range.start)?);
            out.push_str(&with);
            at = range.end;
        }
        out.push_str(self.text.get(at..)?);
        Some(out)
    }
}

/// The changes that turn a mapping into the object.
fn sub_changes<'c>(entries: &'c [Entry], new: &'c Map<String, Value>) -> Vec<Change<'c>> {
    let removed = entries.iter().filter(|entry| !new.contains_key(&entry.key));
    let differs = |key: &str, value: &Value| {
        let old = entries.iter().find(|entry| entry.key == key);
        old.is_none_or(|old| old.value.to_json() != *value)
    };
    let set = new.iter().filter(|(key, value)| differs(key, value));
    let removed = removed.map(|entry| (entry.key.as_str(), None));
    removed
        .chain(set.map(|(key, value)| (key.as_str(), Some(value))))
        .collect()
}

/// How much of what follows a key's colon goes with the value below: all but a comment and the
/// line end.
fn header_length(header: &str) -> usize {
    let comment = header
        .char_indices()
        .find(|(at, c)| *c == '#' && header[..*at].ends_with([' ', '\t']));
    let header = comment.map_or(header, |(at, _)| &header[..at]);
    header.trim_end().len()
}
