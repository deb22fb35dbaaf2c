//! Breaks lines that are wider than the terminal between words, before the terminal does it within one.

use super::Extent;
use orange_core::display::{blanks, clean_width};
use std::borrow::Cow;
use textwrap::core::{Word, display_width};
use textwrap::wrap_algorithms::wrap_first_fit;

/// What stands before an item of a list, and a blank.
const BULLETS: &[&str] = &["- ", "* ", "• ", "✓ ", "✗ ", "! ", "+ "];

/// Every line that is too wide goes on below itself: under the last column of what looks like columns, or as it is
/// indented. Where nothing limits the lines they stay as they are, because programs read them.
pub(crate) fn wrapped(text: &str, extent: Extent) -> Cow<'_, str> {
    each_line(text, extent, hang_of)
}

/// The same for what people wrote, in which two blanks are no column.
pub(crate) fn wrapped_prose(text: &str, extent: Extent) -> Cow<'_, str> {
    each_line(text, extent, |line, _| indent_of(line))
}

/// The same for a message after a label: it goes on under its first word.
pub(crate) fn wrapped_under(text: &str, label: usize, extent: Extent) -> Cow<'_, str> {
    each_line(text, extent, |_, _| label)
}

fn each_line(text: &str, extent: Extent, hang: impl Fn(&str, usize) -> usize) -> Cow<'_, str> {
    let Extent::Columns(width) = extent else {
        return Cow::Borrowed(text);
    };
    // Longer than wide in bytes: most texts are not even that.
    if text.lines().all(|line| line.len() <= width) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        if display_width(bare) > width {
            break_into(&mut out, bare, hang(bare, width).min(width / 2), width)
        } else {
            out.push_str(bare)
        }
        out.push_str(&line[bare.len()..]);
    }
    Cow::Owned(out)
}

fn break_into(out: &mut String, line: &str, hang: usize, width: usize) {
    let words = words(line, hang, width - hang);
    let widths = [width as f64, (width - hang) as f64];
    let mut rest = line;
    for words in wrap_first_fit(&words, &widths) {
        if rest.len() < line.len() {
            out.push('\n');
            blanks(out, hang);
        }
        let length = words.iter().map(|word| word.len() + word.whitespace.len());
        let (whole, after) = rest.split_at(length.sum());
        let is_last = after.is_empty();
        out.push_str(if is_last { whole } else { whole.trim_end() });
        rest = after;
    }
}

/// What must not be broken: words, what stands before `hang` with the first word after it, and a command in backticks
/// that has `room`.
fn words(line: &str, hang: usize, room: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut start, mut end, mut plain_to) = (0, 0, 0);
    while end < line.len() {
        end = word_end(line, end, room, &mut plain_to);
        let is_past = display_width(&line[..end]) > hang;
        end = line.len() - line[end..].trim_start_matches(' ').len();
        if is_past || end == line.len() {
            words.push(Word::from(&line[start..end]));
            start = end;
        }
    }
    words
}

/// The next blank, or the end of a command in backticks. A command without `room` breaks like other words, up to
/// `plain_to`: its second backtick begins no other.
fn word_end(line: &str, start: usize, room: usize, plain_to: &mut usize) -> usize {
    let blank = |from: usize| line[from..].find(' ').map_or(line.len(), |at| from + at);
    let end = blank(start);
    let from = start.max(*plain_to).min(end);
    let closing = line[from..end].find('`').and_then(|opening| {
        let after = from + opening + 1;
        Some(after + line[after..].find('`')?)
    });
    let Some(closing) = closing.filter(|closing| *closing > end) else {
        return end;
    };
    let quoted = blank(closing);
    if display_width(&line[start..quoted]) <= room {
        return quoted;
    }
    *plain_to = closing + 1;
    end
}

/// Where the text of a line begins: after its indentation, and after the sign of an item.
fn indent_of(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    if BULLETS.iter().any(|bullet| text.starts_with(bullet)) {
        indent + 2
    } else {
        indent
    }
}

/// The column after the last gap of two blanks in the first half of the line.
fn hang_of(line: &str, width: usize) -> usize {
    let plain = without_escapes(line);
    let mut hang = indent_of(&plain);
    let (mut column, mut gap) = (0, 0);
    for (at, c) in plain.char_indices() {
        if column > width / 2 {
            break;
        }
        match c {
            ' ' => gap += 1,
            _ if gap >= 2 => {
                hang = column + indent_of(&plain[at..]);
                gap = 0;
            }
            _ => gap = 0,
        }
        column += clean_width(c.encode_utf8(&mut [0; 4]));
    }
    hang
}

/// Without the styles of a palette; nothing else of that kind gets here.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\x1b');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, after)| after));
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(width: usize, text: &str) -> String {
        wrapped(text, Extent::Columns(width)).into_owned()
    }

    #[test]
    fn lines_break_between_words_and_go_on_where_they_began() {
        assert_eq!(at(10, "one two three four"), "one two\nthree four");
        assert_eq!(at(10, "  one two three"), "  one two\n  three");
        assert_eq!(at(10, "- one two three"), "- one two\n  three");
        assert_eq!(
            at(20, "key   one two three four"),
            "key   one two three\n      four"
        );
        assert_eq!(
            at(24, "home     ✓ one two three four\nnext"),
            "home     ✓ one two three\n           four\nnext"
        );
        assert_eq!(at(8, "short\n\nlines\n"), "short\n\nlines\n");
    }

    #[test]
    fn a_pipe_gets_the_line_as_it_is() {
        let long = "word ".repeat(100);
        assert_eq!(wrapped(&long, Extent::Unlimited), long);
    }

    #[test]
    fn a_word_that_fits_nowhere_is_left_whole() {
        assert_eq!(
            at(20, "file  /a/very/long/path/of/a/file"),
            "file  /a/very/long/path/of/a/file"
        );
        assert_eq!(
            at(10, "see /a/very/long/path now"),
            "see\n/a/very/long/path\nnow"
        );
    }

    #[test]
    fn a_command_without_room_does_not_break_the_next() {
        assert_eq!(
            at(16, "do `orange send 3 \"a b\"` or `orange ls`"),
            "do `orange send\n3 \"a b\"` or\n`orange ls`"
        );
    }

    #[test]
    fn commands_stay_in_one_piece_where_there_is_room() {
        assert_eq!(
            at(20, "look at `orange ls --all`, then"),
            "look at\n`orange ls --all`,\nthen"
        );
        assert_eq!(
            at(12, "run `orange task list` x"),
            "run `orange\ntask list` x"
        );
        assert_eq!(at(12, "it is 5` wide or so"), "it is 5`\nwide or so");
    }

    #[test]
    fn styles_take_no_room() {
        assert_eq!(at(7, "\x1b[31mone two\x1b[0m"), "\x1b[31mone two\x1b[0m");
        assert_eq!(
            at(7, "\x1b[31mone two three\x1b[0m"),
            "\x1b[31mone two\nthree\x1b[0m"
        );
        assert_eq!(at(6, "漢字 漢字"), "漢字\n漢字");
    }

    #[test]
    fn prose_has_no_columns() {
        let text = "Done.  And so on, and on";
        assert_eq!(
            wrapped_prose(text, Extent::Columns(14)),
            "Done.  And so\non, and on"
        );
        assert_eq!(
            wrapped_under(text, 6, Extent::Columns(16)),
            "Done.  And so\n      on, and on"
        );
    }
}
