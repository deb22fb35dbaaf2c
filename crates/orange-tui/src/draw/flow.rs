//! Texts of several styles in lines of a width. Everything is made safe on its way in.

use orange_core::display::{clean, clean_block, clean_width};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Fills lines word by word.
pub(super) struct Flow {
    width: usize,
    lines: Vec<Line<'static>>,
    spans: Vec<Span<'static>>,
    used: usize,
    /// What stands before every line of the paragraph but its first one.
    indent: Vec<Span<'static>>,
    /// A blank is due before the next word.
    is_apart: bool,
    /// Nothing but the indent stands in the line.
    is_fresh: bool,
}

pub(super) fn width_of(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| clean_width(&span.content)).sum()
}

/// How much of a clean text has room; at least a letter.
fn cut(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, letter) in text.char_indices() {
        let next = at + letter.len_utf8();
        used += clean_width(&text[at..next]);
        if used > room && at > 0 {
            return at;
        }
    }
    text.len()
}

impl Flow {
    pub(super) fn new(width: usize) -> Flow {
        Flow {
            width: width.max(8),
            lines: Vec::new(),
            spans: Vec::new(),
            used: 0,
            indent: Vec::new(),
            is_apart: false,
            is_fresh: true,
        }
    }

    /// Begins a paragraph: its first line after `first`, the others after `rest`.
    pub(super) fn begin(&mut self, first: Vec<Span<'static>>, rest: Vec<Span<'static>>) {
        self.used = width_of(&first);
        self.spans = first;
        self.indent = rest;
        (self.is_apart, self.is_fresh) = (false, true);
    }

    /// Words, in a style. Line ends in them are blanks.
    pub(super) fn words(&mut self, text: &str, style: Style) {
        let text = clean_block(text);
        let mut rest = text.as_ref();
        while !rest.is_empty() {
            let blank = rest.find(|letter: char| !letter.is_whitespace());
            match blank {
                None => {
                    self.is_apart = true;
                    return;
                }
                Some(0) => {}
                Some(count) => {
                    self.is_apart = true;
                    rest = &rest[count..];
                }
            }
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            self.word(&rest[..end], style);
            rest = &rest[end..];
        }
    }

    fn word(&mut self, word: &str, style: Style) {
        let needed = clean_width(word) + usize::from(self.is_apart && !self.is_fresh);
        if self.used + needed > self.width && !self.is_fresh && self.is_apart {
            self.break_line();
        }
        if self.is_apart && !self.is_fresh {
            self.spans.push(Span::styled(" ", style));
            self.used += 1;
        }
        self.is_apart = false;
        let mut rest = word;
        loop {
            if self.used >= self.width && !self.is_fresh {
                self.break_line();
            }
            // What is longer than a line is cut into pieces that fit.
            let end = cut(rest, self.width.saturating_sub(self.used));
            self.put(&rest[..end], style);
            rest = &rest[end..];
            if rest.is_empty() {
                return;
            }
            self.break_line();
        }
    }

    fn put(&mut self, text: &str, style: Style) {
        self.used += clean_width(text);
        self.is_fresh = false;
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(text),
            _ => self.spans.push(Span::styled(text.to_owned(), style)),
        }
    }

    /// The next word begins a line.
    pub(super) fn break_line(&mut self) {
        let spans = std::mem::replace(&mut self.spans, self.indent.clone());
        self.lines.push(Line::from(spans));
        self.used = width_of(&self.spans);
        (self.is_apart, self.is_fresh) = (false, true);
    }

    /// Ends a paragraph; one without words leaves no line.
    pub(super) fn end(&mut self) {
        if !self.is_fresh || width_of(&self.spans) > width_of(&self.indent) {
            let spans = std::mem::take(&mut self.spans);
            self.lines.push(Line::from(spans));
        }
        self.begin(Vec::new(), Vec::new());
    }

    /// A line as it is, which is safe already.
    pub(super) fn line(&mut self, line: Line<'static>) {
        self.lines.push(line);
    }

    /// An empty line, unless one stands there or nothing does.
    pub(super) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::default());
        }
    }

    /// Text whose blanks count, after an indent: code. What is too long goes on in the next line.
    pub(super) fn verbatim(&mut self, text: &str, indent: &[Span<'static>], style: Style) {
        let room = self.width.saturating_sub(width_of(indent)).max(1);
        for line in text.lines() {
            let line = line.replace('\t', "    ");
            let line = clean(&line);
            let mut rest = line.as_ref();
            loop {
                let end = cut(rest, room);
                let mut spans = indent.to_vec();
                spans.push(Span::styled(rest[..end].to_owned(), style));
                self.lines.push(Line::from(spans));
                rest = &rest[end..];
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    pub(super) fn lines(mut self) -> Vec<Line<'static>> {
        self.end();
        while self.lines.last().is_some_and(|line| line.width() == 0) {
            self.lines.pop();
        }
        self.lines
    }
}
