//! A TASK.md file as text: finds its frontmatter and body, reads the frontmatter's keys, and
//! changes single keys without touching any other byte.

use crate::yaml::splice::{KeyChange, Splicer};
use crate::yaml::{self, MappingEntry, Node, YamlError};
use serde_json::Value;
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
    root: FrontmatterRoot,
}

/// The frontmatter's mapping; `flow` if it is written in braces, where no key has its own line.
#[derive(Clone, Debug, Default, PartialEq)]
struct FrontmatterRoot {
    entries: Vec<MappingEntry>,
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
pub enum TaskFileEditError {
    #[error("{} cannot be written so that it reads back the same", .keys.join(", "))]
    NotReadBack { keys: Vec<String> },
    #[error("the file would be {bytes} bytes long, more than the {MAX_BYTES} that are read")]
    TooLarge { bytes: usize },
}

impl From<YamlError> for Damage {
    fn from(error: YamlError) -> Damage {
        match error {
            YamlError::DuplicateKey { key, line, .. } => Damage::DuplicateKey { key, line },
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
        TaskFile {
            text,
            front,
            body: start,
            root,
        }
    }

    fn from_text(text: String) -> Result<TaskFile, Damage> {
        let (front, body) = split(&text)?;
        let root = read_root(&text, front.clone())?;
        Ok(TaskFile {
            text,
            front,
            body,
            root,
        })
    }

    /// The top-level keys in the order they stand, with the value and the line of each.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Node, usize)> {
        let (mut line, mut from) = (1, 0);
        self.root.entries.iter().map(move |entry| {
            let start = entry.key_span.start;
            line += self
                .text
                .get(from..start)
                .unwrap_or_default()
                .matches('\n')
                .count();
            from = start;
            (entry.key.as_str(), &entry.value, line)
        })
    }

    pub fn get(&self, key: &str) -> Option<(&Node, usize)> {
        let mut entries = self.root.entries.iter();
        let entry = entries.find(|entry| entry.key == key)?;
        // Counted for this entry alone: every field is asked for, many times.
        let before = self.text.get(..entry.key_span.start).unwrap_or_default();
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        Some((&entry.value, line))
    }

    /// What stands between the two `---` lines.
    pub fn front(&self) -> &str {
        self.text.get(self.front.clone()).unwrap_or_default()
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
    pub fn edit(&mut self, changes: &[(&str, Option<Value>)]) -> Result<(), TaskFileEditError> {
        let changes = self.needed(changes);
        if !changes.is_empty() {
            *self = self.changed(&changes)?;
        }
        Ok(())
    }

    /// The file after the changes, made the first way that reads back right.
    fn changed(&self, changes: &[KeyChange<'_>]) -> Result<TaskFile, TaskFileEditError> {
        let wanted = self.wanted(changes);
        let ways: [&dyn Fn() -> Option<String>; 3] = [
            &|| self.spliced(changes, true),
            &|| self.spliced(changes, false),
            &|| Some(self.rewritten(&wanted)),
        ];
        for text in ways.into_iter().filter_map(|way| way()) {
            if text.len() > MAX_BYTES && text.len() > self.text.len() {
                return Err(TaskFileEditError::TooLarge { bytes: text.len() });
            }
            if let Some(edited) = self.verified(text, &wanted) {
                return Ok(edited);
            }
        }
        let keys = changes.iter().map(|(key, _)| format!("`{key}`"));
        Err(TaskFileEditError::NotReadBack {
            keys: keys.collect(),
        })
    }

    /// The changes that change anything; of several for one key the last.
    fn needed<'c>(&self, changes: &'c [(&'c str, Option<Value>)]) -> Vec<KeyChange<'c>> {
        let differs = |(index, (key, value)): (usize, &'c (&'c str, Option<Value>))| {
            let repeated = changes[index + 1..].iter().any(|(later, _)| later == key);
            let now = self.get(key).map(|(node, _)| node.to_json());
            (!repeated && now != *value).then_some((*key, value.as_ref()))
        };
        changes.iter().enumerate().filter_map(differs).collect()
    }

    /// All keys and values as they must read after the changes.
    fn wanted(&self, changes: &[KeyChange<'_>]) -> Vec<(String, Value)> {
        let mut wanted = Vec::with_capacity(self.root.entries.len() + changes.len());
        for MappingEntry { key, value, .. } in &self.root.entries {
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

    fn spliced(&self, changes: &[KeyChange<'_>], deep: bool) -> Option<String> {
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

/// What follows the frontmatter of a file too damaged to read; the whole text if none ends. Of a
/// file too large to be read only the first lines: the rebuilt one must be readable.
pub fn salvage_body(bytes: &[u8]) -> String {
    const LARGEST: usize = MAX_BYTES / 2;
    let text = String::from_utf8_lossy(bytes);
    let start =
        front_start(&text).and_then(|start| lines(&text, start).find(|(_, line)| is_fence(line)));
    let body = match start {
        Some((at, _)) => &text[yaml::line_after(&text, at)..],
        None => &text,
    };
    if body.len() <= LARGEST {
        return body.to_owned();
    }
    let end = (0..=LARGEST).rfind(|at| body.is_char_boundary(*at));
    let fitting = &body[..end.unwrap_or(0)];
    match fitting.rfind('\n') {
        Some(at) => fitting[..=at].to_owned(),
        None => fitting.to_owned(),
    }
}

/// The bytes between the `---` lines, and where the body starts.
pub(crate) fn split(text: &str) -> Result<(Range<usize>, usize), Damage> {
    let Some(start) = front_start(text) else {
        let first = text.lines().find(|line| !line.trim().is_empty());
        let conflict = is_conflict_marker(first.unwrap_or_default());
        return Err(if conflict {
            Damage::ConflictMarker { line: 1 }
        } else {
            Damage::NoFrontmatter
        });
    };
    let mut conflict = None;
    let end = lines(text, start).find_map(|(at, line)| {
        if conflict.is_none() && is_conflict_marker(line) {
            conflict = Some(at);
        }
        is_fence(line).then_some(at)
    });
    let end = end.ok_or(Damage::Unclosed)?;
    match conflict {
        Some(at) => Err(Damage::ConflictMarker {
            line: yaml::line_of(text, at),
        }),
        None => Ok((start..end, yaml::line_after(text, end))),
    }
}

/// Where the line after the opening `---` starts. Only blank lines may come before it.
pub(crate) fn front_start(text: &str) -> Option<usize> {
    let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let (at, first) = lines(text, start).find(|(_, line)| !line.trim().is_empty())?;
    is_fence(first).then(|| yaml::line_after(text, at))
}

/// The lines from a byte on, each with where it starts and without its line end.
fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = from;
    std::iter::from_fn(move || {
        let start = at;
        at = yaml::line_after(text, start);
        let line = &text[start..at];
        let line = line.strip_suffix('\n').unwrap_or(line);
        (start < at).then(|| (start, line.strip_suffix('\r').unwrap_or(line)))
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

fn read_root(text: &str, front: Range<usize>) -> Result<FrontmatterRoot, Damage> {
    match yaml::read(text, front)? {
        None => Ok(FrontmatterRoot::default()),
        Some(Node::Mapping { entries, flow, .. }) => Ok(FrontmatterRoot { entries, flow }),
        Some(Node::Scalar { span, .. } | Node::Sequence { span, .. }) => Err(Damage::NotAMapping {
            line: yaml::line_of(text, span.start),
        }),
    }
}
