//! The outline of a TASK.md body: finds the level-two sections agents write by byte range, and tells
//! what the author says from what stands in fences and comments.
//!
//! Headings, fences and comments are what a CommonMark parser says they are, never what a line
//! looks like: a `## Plan` inside a code fence is an example, not a plan.

mod edit;
#[cfg(test)]
mod tests;

use crate::naming::one_line;
pub use edit::{append_section, archive, context_section, demote_headings, embedded_section};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use std::ops::Range;

/// A level-two section at the top level of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading's plain text: markup flattened, white space collapsed.
    pub name: String,
    /// The heading's lines, from the start of the first to the end of the last, line end included.
    pub heading: Range<usize>,
    /// From the end of the heading to the next heading of level one or two, or to the end.
    pub content: Range<usize>,
}

/// All level-two sections of `body`, in order.
pub fn sections(body: &str) -> Vec<Section> {
    sections_of(&BodyOutline::of(body), body)
}

/// The section called exactly `name`; the last one wins, because agents append.
pub fn section(body: &str, name: &str) -> Option<Section> {
    sections(body).into_iter().rfind(|s| s.name == name)
}

pub(crate) fn sections_of(outline: &BodyOutline, body: &str) -> Vec<Section> {
    let mut found = Vec::new();
    let mut end = body.len();
    for heading in outline.headings.iter().rev().filter(|h| h.level <= 2) {
        if heading.level == 2 {
            found.push(Section {
                name: heading.text.clone(),
                heading: heading.lines.clone(),
                content: heading.lines.end..end,
            });
        }
        end = heading.lines.start;
    }
    found.reverse();
    found
}

/// What one pass of the parser says about a body.
#[derive(Default)]
pub(crate) struct BodyOutline {
    /// Top-level headings of every level, in order.
    headings: Vec<Heading>,
    /// Text that is not what the author says: fences (blanked) and code spans (filled), in order.
    masks: Vec<Mask>,
    /// The last top-level block whose end may be missing.
    last_block: Option<RawBlock>,
}

struct Heading {
    level: usize,
    /// The first byte of the heading itself, after any indentation.
    start: usize,
    /// Whole lines, line end included.
    lines: Range<usize>,
    /// The end of the heading's text: before a closing sequence, line end or underline.
    text_end: usize,
    text: String,
}

struct Mask {
    range: Range<usize>,
    fill: char,
}

/// A block that runs to the end of the text when it is not closed, with its start.
enum RawBlock {
    Fence(usize),
    Html(usize),
}

impl BodyOutline {
    pub(crate) fn of(body: &str) -> Self {
        let mut outline = Self::default();
        let mut heading: Option<Heading> = None;
        let mut depth = 0usize;
        for (event, range) in Parser::new(body).into_offset_iter() {
            let top_level = depth == 0;
            outline.note_raw_text(&event, &range, top_level);
            match &mut heading {
                Some(open) if depth > 0 => open.add(&event, &range),
                Some(_) | None => {}
            }
            if let Event::Start(tag) = &event {
                if let (true, Tag::Heading { level, .. }) = (top_level, tag) {
                    heading = Some(Heading::open(body, *level, range));
                }
                depth += 1;
            } else if let Event::End(_) = &event {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    outline.headings.extend(heading.take().map(Heading::close));
                }
            }
        }
        outline
    }

    fn note_raw_text(&mut self, event: &Event<'_>, range: &Range<usize>, top_level: bool) {
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = event {
            self.mask(range.clone(), ' ');
            if top_level {
                self.last_block = Some(RawBlock::Fence(range.start));
            }
        } else if let Event::Start(Tag::HtmlBlock) = event {
            if top_level {
                self.last_block = Some(RawBlock::Html(range.start));
            }
        } else if let Event::Code(_) = event {
            // A code span is text, but a line that starts inside one is no field.
            self.mask(range.clone(), 'x');
        }
    }

    fn mask(&mut self, range: Range<usize>, fill: char) {
        self.masks.push(Mask { range, fill });
    }

    /// The text in `range`, of the same length, with fences and comments blanked.
    pub(crate) fn visible(&self, body: &str, range: &Range<usize>) -> String {
        let mut out = String::with_capacity(range.len());
        let mut done = range.start;
        for mask in &self.masks {
            let start = mask.range.start.max(done);
            let end = mask.range.end.min(range.end);
            if start < end {
                out.push_str(slice(body, &(done..start)));
                push_filled(&mut out, slice(body, &(start..end)), mask.fill);
                done = end;
            }
        }
        out.push_str(slice(body, &(done..range.end)));
        without_comments(&out)
    }

    pub(crate) fn heading_starts_at(&self, line_start: usize) -> bool {
        self.headings
            .binary_search_by_key(&line_start, |h| h.lines.start)
            .is_ok()
    }
}

/// Pushes `fill` for every byte of `text` but its line ends.
fn push_filled(out: &mut String, text: &str, fill: char) {
    for c in text.chars() {
        if matches!(c, '\n' | '\r') {
            out.push(c);
        } else {
            out.extend(std::iter::repeat_n(fill, c.len_utf8()));
        }
    }
}

/// Blanks HTML comments. Broader than Markdown, where a blank line ends a comment that began in a
/// paragraph: who writes `DONE: <!-- what, ...` over several paragraphs has still said nothing.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<!--") {
        // `<!-->` is a whole comment, so the dashes may serve both ends.
        let end = slice(rest, &(start + 2..rest.len()))
            .find("-->")
            .map_or(rest.len(), |i| start + 2 + i + 3);
        out.push_str(slice(rest, &(0..start)));
        push_filled(&mut out, slice(rest, &(start..end)), ' ');
        rest = slice(rest, &(end..rest.len()));
    }
    out.push_str(rest);
    out
}

impl Heading {
    fn open(body: &str, level: HeadingLevel, range: Range<usize>) -> Self {
        let level = level as usize;
        Self {
            level,
            start: range.start,
            // The parser leaves out the indentation, which belongs to no other section either.
            lines: line_start(body, range.start)..range.end,
            text_end: range.start,
            text: String::new(),
        }
    }

    fn add(&mut self, event: &Event<'_>, range: &Range<usize>) {
        if let Event::Text(text) | Event::Code(text) = event {
            self.text.push_str(text);
        } else if let Event::SoftBreak | Event::HardBreak = event {
            self.text.push(' ');
        }
        if !matches!(event, Event::End(TagEnd::Heading(_))) {
            self.text_end = self.text_end.max(range.end);
        }
    }

    fn close(mut self) -> Self {
        self.text = one_line(&self.text);
        if self.text_end == self.start {
            // Only an ATX heading can be without text; its text would go behind the hashes.
            self.text_end += self.level;
        }
        self
    }
}

/// Where the line holding `offset` starts.
fn line_start(text: &str, offset: usize) -> usize {
    slice(text, &(0..offset))
        .rfind(['\n', '\r'])
        .map_or(0, |i| i + 1)
}

/// The byte ranges of the lines of `text`, without their ends; LF, CRLF and CR all end a line, as
/// in Markdown.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = text.get(start..)?;
        let Some(length) = rest.find(['\n', '\r']) else {
            next = None;
            return Some(start..text.len());
        };
        let end = start + length;
        let eol = if slice(text, &(end..text.len())).starts_with("\r\n") {
            2
        } else {
            1
        };
        next = Some(end + eol);
        Some(start..end)
    })
}

/// All offsets here come from the parser or from searches for ASCII, so the range always exists;
/// should that ever be wrong, empty text is better than a crash.
pub(crate) fn slice<'a>(text: &'a str, range: &Range<usize>) -> &'a str {
    text.get(range.clone()).unwrap_or_default()
}
