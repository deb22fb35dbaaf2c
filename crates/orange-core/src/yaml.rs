//! Reads YAML into a small tree that remembers where every value stood.

mod emit;
mod plain;
pub(crate) mod simple;
pub(crate) mod splice;

pub use emit::{emit_block, emit_entry, to_yaml_inline};
use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Number, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use thiserror::Error;

/// What one document may cost to hold: a node costs 1, and each started KiB of its text 1 more.
/// Without it a few hundred bytes of aliases expand into gigabytes.
const MAX_COST: usize = 50_000;
/// How deep values may nest; everything that walks the tree recurses, so this bounds the stack.
const MAX_DEPTH: usize = 64;
/// What YAML takes for white space.
const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// A value read from YAML. Spans are byte ranges of the text it was read from. They include
/// anchors and tags, and leave out comments; a block scalar's span starts at its first content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// `plain`: written without quotes, so it may stand for a number, a boolean or null.
    Scalar {
        text: String,
        plain: bool,
        span: Range<usize>,
    },
    /// `flow`: written between brackets, or as an alias.
    Sequence {
        items: Vec<Node>,
        flow: bool,
        span: Range<usize>,
    },
    /// `flow`: written between braces, or as an alias.
    Mapping {
        entries: Vec<MappingEntry>,
        flow: bool,
        span: Range<usize>,
    },
}

/// One key of a mapping and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingEntry {
    pub key: String,
    pub key_span: Range<usize>,
    pub value: Node,
}

/// Why a text is not the YAML this crate reads. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum YamlError {
    #[error("line {line} repeats the key `{key}`")]
    DuplicateKey {
        key: String,
        line: usize,
        /// Where it stood before.
        first: usize,
    },
    #[error("line {line}: {message}")]
    Invalid { line: usize, message: String },
}

impl Node {
    /// Where in the text the value stands; empty for a value that is not written at all.
    pub fn span(&self) -> &Range<usize> {
        match self {
            Node::Scalar { span, .. }
            | Node::Sequence { span, .. }
            | Node::Mapping { span, .. } => span,
        }
    }

    /// The value as JSON. Only what has exactly one spelling becomes a number or a boolean, so
    /// that `no`, `1.10`, `007` or a date stay the text their author typed.
    pub fn to_json(&self) -> Value {
        match self {
            Node::Scalar {
                text, plain: false, ..
            } => Value::String(text.clone()),
            Node::Scalar {
                text, plain: true, ..
            } => plain_to_json(text),
            Node::Sequence { items, .. } => Value::Array(items.iter().map(Node::to_json).collect()),
            Node::Mapping { entries, .. } => Value::Object(
                entries
                    .iter()
                    .map(|e| (e.key.clone(), e.value.to_json()))
                    .collect(),
            ),
        }
    }

    fn moved_to(mut self, place: Range<usize>) -> Node {
        match &mut self {
            Node::Scalar { span, .. } => *span = place,
            Node::Sequence { span, flow, .. } | Node::Mapping { span, flow, .. } => {
                *span = place;
                *flow = true;
            }
        }
        self
    }

    /// What the node costs and how deep it is, itself included.
    fn measure(&self) -> (usize, usize) {
        let sum = |(cost, depth): (usize, usize), node: &Node| {
            let (more, deep) = node.measure();
            (cost + more, depth.max(deep + 1))
        };
        match self {
            Node::Scalar { text, .. } => (scalar_cost(text), 1),
            Node::Sequence { items, .. } => items.iter().fold((1, 1), sum),
            Node::Mapping { entries, .. } => entries.iter().fold((1, 1), |so_far, entry| {
                let (cost, depth) = sum(so_far, &entry.value);
                (cost + scalar_cost(&entry.key), depth)
            }),
        }
    }
}

/// Whether nothing is written there, or null.
pub(crate) fn is_empty(node: &Node) -> bool {
    matches!(node, Node::Scalar { text, plain: true, .. } if matches!(text.as_str(), "" | "~" | "null"))
}

/// The text of a value that is neither a list nor a mapping.
pub(crate) fn scalar(node: &Node) -> Option<&str> {
    match node {
        Node::Scalar { text, .. } => Some(text),
        Node::Sequence { .. } | Node::Mapping { .. } => None,
    }
}

/// Whether a value can stand behind a key of the frontmatter without being nested deeper than is read.
pub fn fits(value: &Value) -> bool {
    fn depth(value: &Value) -> usize {
        let deepest = match value {
            Value::Array(items) => items.iter().map(depth).max(),
            Value::Object(map) => map.values().map(depth).max(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        1 + deepest.unwrap_or_default()
    }
    depth(value) < MAX_DEPTH
}

fn scalar_cost(text: &str) -> usize {
    1 + text.len() / 1024
}

fn plain_to_json(text: &str) -> Value {
    match text {
        "" | "~" | "null" => return Value::Null,
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let numeric = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let number = numeric.then(|| canonical_number(text)).flatten();
    number.map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn canonical_number(text: &str) -> Option<Number> {
    let integer = text
        .parse::<i64>()
        .map(Number::from)
        .or_else(|_| text.parse::<u64>().map(Number::from));
    let number = match integer {
        Ok(integer) => integer,
        Err(_) => Number::from_f64(text.parse().ok()?)?,
    };
    (number.to_string() == text).then_some(number)
}

/// The byte offset just after the line that holds the byte at `at`.
pub fn line_after(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    rest.iter()
        .position(|&b| b == b'\n')
        .map_or(text.len(), |n| at + n + 1)
}

/// The line, from 1, of the byte at `at`.
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&b| b == b'\n').count()
}

/// Skips blanks, line ends, anchors and tags, to where a value itself starts.
pub fn skip_properties(text: &str, from: usize) -> usize {
    let mut rest = text
        .get(from..)
        .unwrap_or_default()
        .trim_start_matches(BLANK);
    while rest.starts_with(['&', '!']) {
        rest = rest
            .trim_start_matches(|c| !BLANK.contains(&c))
            .trim_start_matches(BLANK);
    }
    text.len() - rest.len()
}

/// Reads the one document in `text[part]`; `None` if there is nothing but blanks and comments.
/// Spans and line numbers count in the whole `text`.
pub fn read(text: &str, part: Range<usize>) -> Result<Option<Node>, YamlError> {
    simple::read(text, part.clone()).map_or_else(|| read_fully(text, part), |node| Ok(Some(node)))
}

fn read_fully(text: &str, part: Range<usize>) -> Result<Option<Node>, YamlError> {
    let source = text.get(part.clone()).unwrap_or_default();
    // Identity for ASCII, which is nearly every file, as the parser counts characters.
    let offsets = (!source.is_ascii()).then(|| source.char_indices().map(|(at, _)| at).collect());
    let parser = Parser::new_from_str(source);
    let mut reader = YamlReader {
        parser,
        text,
        base: part.start,
        end: part.start + source.len(),
        offsets,
        anchors: HashMap::new(),
        left: MAX_COST,
    };
    if let Some(at) = source.find('\0') {
        return Err(reader.invalid(part.start + at, "a NUL character is not allowed"));
    }
    reader.document()
}

struct YamlReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
    base: usize,
    end: usize,
    offsets: Option<Vec<usize>>,
    anchors: HashMap<usize, Node>,
    left: usize,
}

impl<'a> YamlReader<'a> {
    fn document(&mut self) -> Result<Option<Node>, YamlError> {
        let mut root = None;
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(self.invalid(self.range(at).start, "only one document is allowed"));
                }
                Event::DocumentStart(_) => {
                    let (event, at) = self.next()?;
                    root = Some(self.node(event, at, 1, false)?);
                }
                Event::Alias(_)
                | Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd => {
                    return Err(self.invalid(self.range(at).start, "unexpected value"));
                }
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let (info, at) = (error.info(), self.byte(error.marker().index()));
                let at = plain::place(info, &self.text[..self.end], at);
                Err(self.invalid(at, &plain::explained(info)))
            }
            None => Err(self.invalid(self.end, &plain::explained("unexpected end"))),
        }
    }

    fn node(
        &mut self,
        event: Event<'a>,
        at: Span,
        depth: usize,
        in_flow: bool,
    ) -> Result<Node, YamlError> {
        let span = self.range(at);
        if depth > MAX_DEPTH {
            return Err(self.invalid(span.start, "values are nested too deeply"));
        }
        let (node, anchor) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span, depth),
            Event::Scalar(text, style, anchor, tag) => {
                self.charge(scalar_cost(&text), span.start)?;
                let plain =
                    style == ScalarStyle::Plain && !tag.is_some_and(|tag| makes_string(&tag));
                let span = span.start..self.scalar_end(&text, style, &span);
                (
                    Node::Scalar {
                        text: text.into_owned(),
                        plain,
                        span,
                    },
                    anchor,
                )
            }
            Event::SequenceStart(anchor, _) => (self.sequence(span, depth, in_flow)?, anchor),
            Event::MappingStart(anchor, _) => (self.mapping(span, depth, in_flow)?, anchor),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(self.invalid(span.start, "a value is missing")),
        };
        if anchor != 0 {
            let (cost, _) = node.measure();
            self.charge(cost, node.span().start)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn alias(
        &mut self,
        anchor: usize,
        span: Range<usize>,
        depth: usize,
    ) -> Result<Node, YamlError> {
        let Some((cost, deep)) = self.anchors.get(&anchor).map(Node::measure) else {
            return Err(self.invalid(span.start, "an alias refers to a value that contains it"));
        };
        if depth + deep > MAX_DEPTH + 1 {
            return Err(self.invalid(span.start, "values are nested too deeply"));
        }
        self.charge(cost, span.start)?;
        let node = self.anchors.get(&anchor).cloned();
        node.map(|node| node.moved_to(span))
            .ok_or_else(|| self.invalid(self.end, "unknown alias"))
    }

    /// What stands between the start of a collection and its end, each read by `item`, which also says where it ends.
    fn items<T>(
        &mut self,
        span: Range<usize>,
        in_flow: bool,
        last: &Event<'_>,
        mut item: impl FnMut(&mut Self, Event<'a>, Span, bool) -> Result<(T, usize), YamlError>,
    ) -> Result<(Vec<T>, bool, Range<usize>), YamlError> {
        self.charge(1, span.start)?;
        let bracket = self.text[span.clone()].ends_with(['[', '{']);
        let flow = in_flow || bracket;
        let mut items = Vec::new();
        let mut end = span.end;
        loop {
            let (event, at) = self.next()?;
            if event == *last {
                if bracket {
                    end = self.range(at).start + 1;
                }
                return Ok((items, flow, span.start..end));
            }
            let (item, item_end) = item(self, event, at, flow)?;
            end = end.max(item_end);
            items.push(item);
        }
    }

    fn sequence(
        &mut self,
        span: Range<usize>,
        depth: usize,
        in_flow: bool,
    ) -> Result<Node, YamlError> {
        let end = Event::SequenceEnd;
        let (items, flow, span) = self.items(span, in_flow, &end, |reader, event, at, flow| {
            let item = reader.node(event, at, depth + 1, flow)?;
            let end = item.span().end;
            Ok((item, end))
        })?;
        Ok(Node::Sequence { items, flow, span })
    }

    fn mapping(
        &mut self,
        span: Range<usize>,
        depth: usize,
        in_flow: bool,
    ) -> Result<Node, YamlError> {
        let end = Event::MappingEnd;
        let (entries, flow, span) =
            self.items(span, in_flow, &end, |reader, event, at, flow| {
                let entry = reader.entry(event, at, depth, flow)?;
                let end = entry.key_span.end.max(entry.value.span().end);
                Ok((entry, end))
            })?;
        self.refuse_duplicates(&entries)?;
        Ok(Node::Mapping {
            entries,
            flow,
            span,
        })
    }

    fn entry(
        &mut self,
        key: Event<'a>,
        at: Span,
        depth: usize,
        flow: bool,
    ) -> Result<MappingEntry, YamlError> {
        let Node::Scalar {
            text: key,
            span: key_span,
            ..
        } = self.node(key, at, depth + 1, flow)?
        else {
            return Err(self.invalid(self.range(at).start, "a key must be a single word or text"));
        };
        let (event, at) = self.next()?;
        let value = self.node(event, at, depth + 1, flow)?;
        // The parser places a missing value anywhere up to the next key.
        let missing = value.span().is_empty();
        let value = if missing {
            value.moved_to(key_span.end..key_span.end)
        } else {
            value
        };
        Ok(MappingEntry {
            key,
            key_span,
            value,
        })
    }

    fn refuse_duplicates(&self, entries: &[MappingEntry]) -> Result<(), YamlError> {
        let mut seen = HashSet::with_capacity(entries.len());
        match entries
            .iter()
            .find(|entry| !seen.insert(entry.key.as_str()))
        {
            None => Ok(()),
            Some(MappingEntry { key, key_span, .. }) => {
                let before = entries.iter().find(|entry| entry.key == *key);
                let before = before.map_or(key_span.start, |entry| entry.key_span.start);
                Err(YamlError::DuplicateKey {
                    key: key.clone(),
                    line: line_of(self.text, key_span.start),
                    first: line_of(self.text, before),
                })
            }
        }
    }

    /// Where a scalar really ends: the parser's spans run on over trailing blanks and comments.
    fn scalar_end(&self, text: &str, style: ScalarStyle, span: &Range<usize>) -> usize {
        let raw = &self.text[span.clone()];
        let trimmed = span.start + raw.trim_end_matches(BLANK).len();
        match style {
            ScalarStyle::Plain if text.is_empty() && !raw.starts_with(['&', '!']) => span.start,
            ScalarStyle::Plain => trimmed,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                let open = skip_properties(self.text, span.start);
                let quoted = self.text.get(open..span.end).and_then(closing_quote);
                quoted.map_or(trimmed, |length| open + length)
            }
            // Blank lines belong to the text only where `+` keeps them, which no other way of
            // writing it can end in.
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let keeps = text.ends_with("\n\n") || text == "\n";
                if keeps {
                    span.start + raw.rfind('\n').map_or(raw.len(), |at| at + 1)
                } else {
                    trimmed
                }
            }
        }
    }

    fn charge(&mut self, cost: usize, at: usize) -> Result<(), YamlError> {
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.invalid(at, "too many values")),
        }
    }

    fn invalid(&self, at: usize, message: &str) -> YamlError {
        YamlError::Invalid {
            line: line_of(self.text, at),
            message: message.to_owned(),
        }
    }

    fn range(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }

    fn byte(&self, index: usize) -> usize {
        let at = match &self.offsets {
            None => self.base + index,
            Some(offsets) => offsets.get(index).map_or(self.end, |at| self.base + at),
        };
        at.min(self.end)
    }
}

/// `!!str` and the bare `!` both mean: whatever it looks like, it is text.
fn makes_string(tag: &Tag) -> bool {
    let Tag { handle, suffix } = tag;
    matches!(
        (handle.as_str(), suffix.as_str()),
        ("tag:yaml.org,2002:", "str") | ("", "!" | "tag:yaml.org,2002:str")
    )
}

/// The length of the quoted scalar at the start of `text`, quotes included.
fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes
        .first()
        .filter(|first| matches!(first, b'"' | b'\''))?;
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 2,
            b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}
