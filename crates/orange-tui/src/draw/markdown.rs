//! Markdown as it is read in a terminal: headings, lists, check boxes, code, emphasis, quotes and tables. Raw HTML is shown as it is
//! written, so that nothing that stands in a file is hidden.

mod table;

use super::flow::Flow;
use crate::theme::Theme;
use orange_core::display::clean_width;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// More of a text is not formatted: a frame would have to wait for it.
const MOST_BYTES: usize = 256 << 10;

pub(super) fn markdown(text: &str, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let mut end = text.len().min(MOST_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (text, rest) = text.split_at(end);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    let mut writer = Writer {
        theme,
        width,
        flow: Flow::new(width),
        styles: vec![Style::new()],
        lists: Vec::new(),
        quotes: 0,
        mark: None,
        code: None,
        link: Vec::new(),
        table: None,
    };
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
    let mut lines = writer.flow.lines();
    if !rest.is_empty() {
        lines.push(Line::styled(
            "… it is longer than what is shown here",
            theme.dim(),
        ));
    }
    lines
}

struct Writer {
    theme: Theme,
    width: usize,
    flow: Flow,
    styles: Vec<Style>,
    /// The number of the next item of each open list, where it is numbered.
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// What stands before the first line of the item that begins.
    mark: Option<String>,
    code: Option<String>,
    link: Vec<(String, String)>,
    /// The cells of the table that is read, row by row.
    table: Option<Vec<Vec<String>>>,
}

impl Writer {
    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, style: Style) {
        self.styles.push(self.style().patch(style));
    }

    /// What stands before the lines of a block: bars of quotes, room for marks of lists.
    fn indents(&self) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
        // However deep it is, some room is left for words.
        let quotes = self.quotes.min(self.width / 8);
        let bars = Span::styled("│ ".repeat(quotes), self.theme.dim());
        let depth = (self.lists.len().saturating_sub(1) * 2).min(self.width / 4);
        let mark = self.mark.clone().unwrap_or_default();
        let room = match (self.lists.is_empty(), &self.mark) {
            (true, _) => String::new(),
            (false, Some(mark)) => " ".repeat(depth + clean_width(mark)),
            (false, None) => " ".repeat(depth + 2),
        };
        let first = match &self.mark {
            Some(_) => format!("{}{mark}", " ".repeat(depth)),
            None => room.clone(),
        };
        (
            vec![bars.clone(), Span::raw(first)],
            vec![bars, Span::raw(room)],
        )
    }

    fn begin(&mut self) {
        self.flow.end();
        let (first, rest) = self.indents();
        self.mark = None;
        self.flow.begin(first, rest);
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                let style = self.style().patch(self.theme.heading());
                self.inline(&text, style);
            }
            Event::Html(text) => {
                let (_, rest) = self.indents();
                self.flow.end();
                self.flow.verbatim(&text, &rest, self.theme.dim());
            }
            Event::InlineHtml(text) => self.inline(&text, self.theme.dim()),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.flow.break_line(),
            Event::Rule => {
                self.flow.end();
                self.flow.gap();
                let rule = "─".repeat(self.width.min(40));
                self.flow.line(Line::styled(rule, self.theme.dim()));
                self.flow.gap();
            }
            Event::TaskListMarker(is_done) => {
                let (sign, style) = if is_done {
                    ("✓ ", self.theme.good())
                } else {
                    ("○ ", self.theme.bold())
                };
                if self.mark.is_some() {
                    self.begin();
                }
                self.flow.words(sign, style);
            }
            // Not asked for.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
            return;
        }
        self.inline(text, self.style());
    }

    fn inline(&mut self, text: &str, style: Style) {
        if let Some((_, shown)) = self.link.last_mut() {
            shown.push_str(text);
        }
        if let Some(table) = &mut self.table {
            if let Some(cell) = table.last_mut().and_then(|row| row.last_mut()) {
                cell.push_str(text);
            }
            return;
        }
        if self.mark.is_some() {
            self.begin();
        }
        self.flow.words(text, style);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                if self.mark.is_none() && self.lists.is_empty() {
                    self.flow.end();
                    self.flow.gap();
                }
                self.begin();
            }
            Tag::Heading { level, .. } => {
                self.flow.end();
                self.flow.gap();
                self.begin();
                let style = self.theme.heading().add_modifier(Modifier::BOLD);
                self.push_style(style);
                if level > HeadingLevel::H2 {
                    let sign = "#".repeat(level as usize);
                    self.flow.words(&format!("{sign} "), self.style());
                }
            }
            Tag::BlockQuote(_) => {
                self.flow.end();
                self.flow.gap();
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.flow.end();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flow.end();
                if self.lists.is_empty() {
                    self.flow.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flow.end();
                self.mark = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number += 1;
                        mark
                    }
                    _ => "- ".to_owned(),
                });
            }
            Tag::Emphasis => self.push_style(Style::new().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.push_style(self.theme.bold()),
            Tag::Strikethrough => {
                self.push_style(Style::new().add_modifier(Modifier::CROSSED_OUT));
            }
            Tag::Link { dest_url, .. } => {
                self.link.push((dest_url.into_string(), String::new()));
                self.push_style(Style::new().add_modifier(Modifier::UNDERLINED));
            }
            Tag::Image { dest_url, .. } => {
                self.inline("image: ", self.theme.dim());
                self.link.push((dest_url.into_string(), String::new()));
                self.push_style(Style::new());
            }
            Tag::Table(_) => {
                self.flow.end();
                self.flow.gap();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.push(Vec::new());
                }
            }
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|table| table.last_mut()) {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flow.end(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flow.end();
            }
            TagEnd::BlockQuote(_) => {
                self.flow.end();
                self.quotes = self.quotes.saturating_sub(1);
                self.flow.gap();
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                let (first, mut rest) = self.indents();
                if self.mark.take().is_some() {
                    self.flow.line(Line::from(first));
                }
                rest.push(Span::raw("  "));
                self.flow.verbatim(&code, &rest, self.theme.heading());
                self.flow.gap();
            }
            TagEnd::List(_) => {
                self.flow.end();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.flow.gap();
                }
            }
            TagEnd::Item => {
                if self.mark.is_some() {
                    self.begin();
                }
                self.flow.end();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                // A link that says another address than it leads to is told with it.
                if let Some((to, shown)) = self.link.pop()
                    && to != shown
                {
                    self.inline(&format!(" ({to})"), self.theme.dim());
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table::write(&mut self.flow, &table, self.theme, self.width);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn shown(text: &str, width: usize) -> String {
        let theme = Theme {
            colour: true,
            ascii: false,
        };
        let lines = markdown(text, theme, width);
        assert!(lines.iter().all(|line| line.width() <= width), "{lines:#?}");
        let lines = lines
            .iter()
            .map(|line| line.to_string().trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_task_file_reads_well() {
        let text = "# Add a login form\n\nSome *words* that are **wrapped** where the line ends, `code` too.\n\n\
            ## Plan\n\n- one\n  - below one, with more words than fit\n- [x] done\n- [ ] open\n\n1. first\n2. second\n\n\
            > said by somebody\n> else\n\n```rust\nfn main() {\n\tlet x = 1;\n}\n```\n\n\
            | a | b |\n|---|---|\n| one | two and more |\n\n### Deep\n\n[here](https://example.com) <b>bold</b>\n\n---\n\nend";
        assert_snapshot!(shown(text, 40), @"
    Add a login form

    Some words that are wrapped where the
    line ends, code too.

    Plan

    - one
      - below one, with more words than fit
    - ✓ done
    - ○ open

    1. first
    2. second

    │ said by somebody else

      fn main() {
          let x = 1;
      }

    a    b
    one  two and more

    ### Deep

    here (https://example.com) <b>bold</b>

    ────────────────────────────────────────

    end
    ");
    }

    #[test]
    fn nothing_in_it_acts_on_the_terminal_or_is_hidden() {
        let text = "a\u{1b}[31mb\n\n`c\u{9b}d`\n\n```\n\u{1b}]0;t\u{7}\n```\n\n<!-- hidden -->\n\n| \u{1b}c |\n|---|\n| \u{202e} |\n\n[x\u{1b}](\u{1b}y)";
        let shown = shown(text, 60);
        assert!(
            !shown.contains(|letter: char| letter.is_control() && letter != '\n'),
            "{shown:?}"
        );
        assert!(!shown.contains('\u{202e}') && !shown.contains('\u{9b}'));
        assert!(shown.contains("<!-- hidden -->"), "{shown}");
    }

    #[test]
    fn a_word_without_end_is_cut_into_lines() {
        let text = format!("- {}\n\n    {}\n", "x".repeat(100), "界".repeat(50));
        let shown = shown(&text, 20);
        assert_eq!(shown.matches('x').count(), 100);
        assert_eq!(shown.matches('界').count(), 50);
        assert_eq!(
            markdown(
                "",
                Theme {
                    colour: true,
                    ascii: false
                },
                0
            ),
            []
        );
    }
}
