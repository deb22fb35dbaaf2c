//! What is found while a plan is read: mistakes, notes, and the fields of its mappings.

use super::values::is_empty;
use crate::config::Mistake;
use crate::suggest;
use crate::yaml::{self, MappingEntry, Node};

/// What was found while reading.
#[derive(Default)]
pub(super) struct PlanReader<'t> {
    /// Where lines are counted; None: the values stand in some other text.
    text: Option<&'t str>,
    pub(super) mistakes: Vec<Mistake>,
    pub(super) ignored: Vec<String>,
}

/// The entries of a mapping, and where it is.
pub(super) struct PlanFields<'n> {
    path: String,
    pub(super) start: usize,
    entries: &'n [MappingEntry],
}

impl<'n> PlanFields<'n> {
    pub(super) fn of(
        reader: &mut PlanReader<'_>,
        path: &str,
        node: &'n Node,
        known: &[&str],
    ) -> PlanFields<'n> {
        let start = node.span().start;
        let entries: &[MappingEntry] = match node {
            Node::Mapping { entries, .. } => entries,
            Node::Scalar { .. } | Node::Sequence { .. } => {
                let what = if path.is_empty() { "the plan" } else { path };
                reader.mistake(what, start, "must be a mapping of fields");
                &[]
            }
        };
        let fields = PlanFields {
            path: path.to_owned(),
            start,
            entries,
        };
        for entry in entries
            .iter()
            .filter(|entry| !known.contains(&entry.key.as_str()))
        {
            let near = suggest::meant(&entry.key, known.iter().copied());
            let note = format!(
                "{} is not known and does not count; {near}",
                fields.path_of(&entry.key)
            );
            let note = note.trim_end().trim_end_matches(';');
            reader.note(entry.key_span.start, note);
        }
        fields
    }

    pub(super) fn path_of(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// A field that says something.
    pub(super) fn get(&self, name: &str) -> Option<&'n Node> {
        let entry = self.entries.iter().find(|entry| entry.key == name)?;
        Some(&entry.value).filter(|node| !is_empty(node))
    }

    /// A field that may be left out, read by `read`.
    pub(super) fn optional<T>(
        &self,
        reader: &mut PlanReader<'_>,
        name: &str,
        read: impl FnOnce(&Node) -> Result<T, String>,
    ) -> Option<T> {
        let node = self.get(name)?;
        let value = read(node);
        value
            .map_err(|why| reader.mistake(&self.path_of(name), node.span().start, &why))
            .ok()
    }

    pub(super) fn required<T>(
        &self,
        reader: &mut PlanReader<'_>,
        name: &str,
        read: impl FnOnce(&Node) -> Result<T, String>,
    ) -> Option<T> {
        if self.get(name).is_none() {
            reader.mistake(&self.path_of(name), self.start, "is missing");
        }
        self.optional(reader, name, read)
    }
}

impl<'t> PlanReader<'t> {
    pub(super) fn of_text(text: &'t str) -> PlanReader<'t> {
        PlanReader {
            text: Some(text),
            ..PlanReader::default()
        }
    }

    fn line(&self, at: usize) -> Option<usize> {
        self.text.map(|text| yaml::line_of(text, at))
    }

    pub(super) fn mistake(&mut self, field: &str, at: usize, why: &str) {
        let line = self.line(at);
        let reason = format!("{field}: {why}");
        self.mistakes.push(Mistake { line, reason });
    }

    pub(super) fn note(&mut self, at: usize, note: &str) {
        let note = match self.line(at) {
            Some(line) => format!("line {line}: {note}"),
            None => note.to_owned(),
        };
        self.ignored.push(note);
    }
}
