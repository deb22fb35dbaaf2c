//! A diff on a terminal: colours, the pager, and nothing of what files hold that a terminal would obey. Git's colours
//! cannot be told from those that a file brings along, so git gives none, every line is made safe, and the colours
//! (git's own, unless changed) are put in afterwards.

use crate::output;
use crate::pager::Pager;
use crate::ui::{Palette, Style, clean_block};
use orange_engine::Result;
use orange_engine::git::diff::{self, DiffShape, Sides, Sink, pager};

/// Where the lines go, once there is one.
pub(super) struct DiffScreen {
    head: Vec<String>,
    painter: Painter,
    /// The line of shell that starts it.
    pager_line: Option<String>,
    pager: Option<Pager>,
    /// What came of a line so far.
    rest: Vec<u8>,
    begun: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum DiffShown {
    Something,
    /// There was nothing to show.
    Nothing,
    /// The user's pager cannot be started, so nobody saw it.
    NoPager,
}

impl DiffScreen {
    pub(super) fn new(
        sides: &Sides,
        shape: DiffShape,
        head: Vec<String>,
        paged: bool,
    ) -> DiffScreen {
        let folder = match sides {
            Sides::Commits { repository, .. } => repository,
            Sides::Worktree(folder) => folder,
        };
        let mut palette = Palette::stdout();
        palette.enabled = palette.enabled && diff::colours(folder);
        DiffScreen {
            head,
            painter: Painter::new(palette, shape),
            pager_line: paged.then(|| pager("diff")).flatten(),
            pager: None,
            rest: Vec::new(),
            begun: false,
        }
    }

    /// Shows what is handed over until there is no more, or the user has seen enough.
    pub(super) fn show(
        mut self,
        diff: impl FnOnce(&mut Sink<'_>) -> Result<()>,
    ) -> Result<DiffShown> {
        let outcome = diff(&mut |piece| self.take(piece));
        if !self.rest.is_empty() {
            let line = std::mem::take(&mut self.rest);
            let text = self.painter.line(&line);
            self.write(&text);
        }
        match self.pager {
            None => outcome?,
            Some(pager) => {
                let interrupted = pager.interrupted();
                if !pager.end() {
                    return Ok(DiffShown::NoPager);
                }
                if !interrupted {
                    outcome?;
                }
            }
        }
        Ok(if self.begun {
            DiffShown::Something
        } else {
            DiffShown::Nothing
        })
    }

    fn take(&mut self, piece: &[u8]) -> bool {
        self.begin();
        self.rest.extend_from_slice(piece);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return true;
        };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        let mut text = String::with_capacity(whole.len() * 5 / 4);
        for line in whole.split_inclusive(|byte| *byte == b'\n') {
            text.push_str(&self.painter.line(line.strip_suffix(b"\n").unwrap_or(line)));
        }
        self.write(&text)
    }

    fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.pager = self.pager_line.as_deref().and_then(Pager::start);
        let mut text = String::new();
        for line in &self.head {
            text.push_str(&self.painter.painted(Style::Yellow, line));
        }
        text.push('\n');
        self.write(&text);
    }

    fn write(&mut self, text: &str) -> bool {
        match &mut self.pager {
            Some(pager) => pager.write(text.as_bytes()),
            None => output::print_piece(text.as_bytes()),
        }
    }
}

/// Knows where in a diff it is: a deleted line that begins with two dashes looks like a header.
struct Painter {
    palette: Palette,
    shape: DiffShape,
    /// Lines of the hunk that are still to come: of the old file, and of the new one.
    left: (u64, u64),
}

impl Painter {
    fn new(palette: Palette, shape: DiffShape) -> Painter {
        Painter {
            palette,
            shape,
            left: (0, 0),
        }
    }

    fn line(&mut self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        match self.shape {
            DiffShape::Stat { .. } => self.stat(&text),
            DiffShape::Patch { .. } if self.left == (0, 0) => self.between(&text),
            DiffShape::Patch { .. } => self.inside(&text),
        }
    }

    fn painted(&self, style: Style, text: &str) -> String {
        let (start, end) = self.palette.around(style);
        format!("{start}{}{end}\n", clean_block(text))
    }

    fn between(&mut self, text: &str) -> String {
        let Some((numbers, after)) = text
            .strip_prefix("@@ ")
            .and_then(|rest| rest.split_once(" @@"))
        else {
            // What follows the end of a file without a line end belongs to the hunk before.
            let style = if text.starts_with('\\') {
                Style::Plain
            } else {
                Style::Bold
            };
            return self.painted(style, text);
        };
        let mut ranges = numbers.split(' ').map(count);
        self.left = (
            ranges.next().unwrap_or_default(),
            ranges.next().unwrap_or_default(),
        );
        let (start, end) = self.palette.around(Style::Cyan);
        format!(
            "{start}@@ {} @@{end}{}\n",
            clean_block(numbers),
            clean_block(after)
        )
    }

    fn inside(&mut self, text: &str) -> String {
        let (style, old, new) = match text.as_bytes().first() {
            Some(b'-') => (Style::Red, 1, 0),
            Some(b'+') => (Style::Green, 0, 1),
            Some(b'\\') => (Style::Plain, 0, 0),
            _ => (Style::Plain, 1, 1),
        };
        self.left = (
            self.left.0.saturating_sub(old),
            self.left.1.saturating_sub(new),
        );
        self.painted(style, text)
    }

    /// ` src/main.rs | 3 ++-`
    fn stat(&self, text: &str) -> String {
        let Some((file, numbers)) = text.rsplit_once('|') else {
            return self.painted(Style::Plain, text);
        };
        // `Bin 0 -> 5 bytes` has no bar.
        let count = numbers.trim_end_matches(['+', '-']).len();
        let (count, bar) = numbers.split_at(count);
        let middle = bar.find('-').unwrap_or(bar.len());
        let (added, deleted) = bar.split_at(middle);
        let mut line = format!("{}|{}", clean_block(file), clean_block(count));
        for (style, part) in [(Style::Green, added), (Style::Red, deleted)] {
            let (start, end) = match part {
                "" => ("", ""),
                _ => self.palette.around(style),
            };
            line.push_str(start);
            line.push_str(&clean_block(part));
            line.push_str(end);
        }
        line.push('\n');
        line
    }
}

/// The lines of `-12,3`; one, where only `-12` stands.
fn count(range: &str) -> u64 {
    match range.split_once(',') {
        Some((_, lines)) => lines.parse().unwrap_or(0),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(enabled: bool, shape: DiffShape, lines: &[&str]) -> String {
        let mut painter = Painter::new(Palette { enabled }, shape);
        lines
            .iter()
            .map(|line| painter.line(line.as_bytes()))
            .collect()
    }

    const PATCH: DiffShape = DiffShape::Patch { binary: false };

    #[test]
    fn lines_are_coloured_by_where_they_stand() {
        let lines = [
            "diff --git a/x b/x",
            "--- a/x",
            "+++ b/x",
            "@@ -1,2 +1,2 @@ fn main",
            " same",
            "--- not a header",
            "+++ nor this",
            "\\ No newline at end of file",
            "@@ -9 +9,0 @@",
            "-last",
            "diff --git a/y b/y",
        ];
        assert_eq!(
            painted(true, PATCH, &lines),
            "\x1b[1mdiff --git a/x b/x\x1b[0m\n\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\
             \x1b[36m@@ -1,2 +1,2 @@\x1b[0m fn main\n same\n\x1b[31m--- not a header\x1b[0m\n\
             \x1b[32m+++ nor this\x1b[0m\n\\ No newline at end of file\n\
             \x1b[36m@@ -9 +9,0 @@\x1b[0m\n\x1b[31m-last\x1b[0m\n\x1b[1mdiff --git a/y b/y\x1b[0m\n"
        );
        assert_eq!(painted(false, PATCH, &lines), lines.join("\n") + "\n");
    }

    #[test]
    fn nothing_that_a_file_holds_acts_on_the_terminal() {
        let mut painter = Painter::new(Palette { enabled: false }, PATCH);
        painter.line(b"@@ -0,0 +1,9 @@ \x1b]0;title\x07");
        let hostile: &[u8] = b"+\x1b[8mhidden\x1b[0m\t\x9b31m \xe2\x80\xae\r";
        let shown = painter.line(hostile);
        assert_eq!(shown, "+␛[8mhidden␛[0m\t\u{FFFD}31m \u{FFFD}␍\n");
    }

    #[test]
    fn a_stat_has_its_bars_coloured() {
        let stat = DiffShape::Stat { columns: None };
        let lines = [" a|b | 3 ++-", " x | Bin 0 -> 5 bytes", " 2 files changed"];
        assert_eq!(
            painted(true, stat, &lines[..1]),
            " a|b | 3 \x1b[32m++\x1b[0m\x1b[31m-\x1b[0m\n"
        );
        assert_eq!(painted(false, stat, &lines), lines.join("\n") + "\n");
    }
}
