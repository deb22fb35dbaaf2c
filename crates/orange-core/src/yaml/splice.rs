//! Finds the bytes of single keys of a mapping and replaces only those.

use super::{MappingEntry, Node};
use crate::yaml;
use serde_json::{Map, Value};
use std::ops::Range;

/// A key and its new value; None: it goes.
pub(crate) type KeyChange<'a> = (&'a str, Option<&'a Value>);

/// How an old value is written, which decides what of its lines stays.
enum OldValue {
    Missing,
    /// From the key's line on or below, with a definite start and end.
    Inline(Range<usize>),
    /// On lines of its own below the key, up to where the next line starts.
    Block(usize),
}

/// Collects the byte ranges to replace. A `None` anywhere means: not written in a way this can
/// change, so that the caller takes a cruder way.
pub(crate) struct Splicer<'a> {
    pub(crate) text: &'a str,
    pub(crate) newline: &'static str,
    /// Whether to change an object key by key where the old value is a block mapping.
    pub(crate) deep: bool,
    pub(crate) splices: Vec<(Range<usize>, String)>,
}

impl<'a> Splicer<'a> {
    pub(crate) fn change(
        &mut self,
        entries: &[MappingEntry],
        changes: &[KeyChange<'_>],
        end: usize,
    ) -> Option<()> {
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

    fn remove(&mut self, entry: &MappingEntry) -> Option<()> {
        let indent = self.indent(entry)?;
        self.splice(
            entry.key_span.start - indent.len()..self.entry_end(entry),
            "",
        );
        Some(())
    }

    fn replace(&mut self, entry: &MappingEntry, new: &Value) -> Option<()> {
        let indent = self.indent(entry)?;
        let after_colon = self.after_colon(entry)?;
        if self.deep
            && let Value::Object(new) = new
            && let Node::Mapping {
                entries,
                flow: false,
                ..
            } = &entry.value
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
            OldValue::Inline(span) if inline.is_some() => self.splice(span, inline?.trim_start()),
            OldValue::Inline(span) if span.start < header_end => {
                let next = self.line_end(span.end);
                self.splice(after_colon..span.end, "");
                self.splice(next..next, &block);
            }
            OldValue::Missing => {
                self.splice(after_colon..after_colon, &inline.unwrap_or_default());
                self.splice(header_end..header_end, &block);
            }
            OldValue::Inline(Range { end, .. }) | OldValue::Block(end) => {
                let kept = after_colon + header_length(&self.text[after_colon..header_end]);
                self.splice(after_colon..kept, &inline.unwrap_or_default());
                self.splice(header_end..self.line_end(end).max(header_end), &block);
            }
        }
        Some(())
    }

    fn old(&self, value: &Node, after_colon: usize) -> OldValue {
        match value {
            Node::Sequence { flow, span, .. } | Node::Mapping { flow, span, .. } => {
                if *flow {
                    OldValue::Inline(span.clone())
                } else {
                    OldValue::Block(span.end)
                }
            }
            Node::Scalar { plain, span, .. } => {
                let start = yaml::skip_properties(self.text, after_colon);
                if !plain && self.text[start..].starts_with(['|', '>']) {
                    OldValue::Block(span.end)
                } else if span.is_empty() {
                    OldValue::Missing
                } else {
                    OldValue::Inline(span.clone())
                }
            }
        }
    }

    /// The blanks before a key, if nothing else stands there.
    fn indent(&self, entry: &MappingEntry) -> Option<&'a str> {
        let before = self.text.get(..entry.key_span.start)?;
        let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        indent.bytes().all(|b| b == b' ').then_some(indent)
    }

    fn after_colon(&self, entry: &MappingEntry) -> Option<usize> {
        let rest = self.text.get(entry.key_span.end..)?;
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        rest[blanks..]
            .starts_with(':')
            .then_some(entry.key_span.end + blanks + 1)
    }

    fn entry_end(&self, entry: &MappingEntry) -> usize {
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

    pub(crate) fn finish(mut self) -> Option<String> {
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
fn sub_changes<'c>(entries: &'c [MappingEntry], new: &'c Map<String, Value>) -> Vec<KeyChange<'c>> {
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
