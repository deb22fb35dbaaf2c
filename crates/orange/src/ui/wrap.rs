//! Breaks lines that are wider than the terminal between words, before the terminal does it within one.

use super::Extent;
use super::text::{blanks, clean_width};
use std::borrow::Cow;

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
        if visible_width(bare) > width {
            break_into(&mut out, bare, hang(bare, width).min(width / 2), width)
        } else {
            out.push_str(bare)
        }
        out.push_str(&line[bare.len()..]);
    }
    Cow::Owned(out)
}

fn break_into(out: &mut String, line: &str, hang: usize, width: usize) {
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let after_blanks = rest.trim_start_matches(' ');
        let gap = rest.len() - after_blanks.len();
        let word = next_word(after_blanks, width - hang);
        rest = &after_blanks[word.len()..];
        let word_width = visible_width(word);
        if column > hang && column + gap + word_width > width {
            out.push('\n');
            blanks(out, hang);
            column = hang;
        } else {
            blanks(out, gap);
            column += gap;
        }
        out.push_str(word);
        column += word_width;
    }
}

/// Up to the next blank; a command in backticks is one word, if there is room for it.
fn next_word(text: &str, room: usize) -> &str {
    let blank = text.find(' ').unwrap_or(text.len());
    let opening = text[..blank].find('`');
    let quoted = opening.and_then(|start| {
        let closing = start + 1 + text[start + 1..].find('`')?;
        let end = text[closing..]
            .find(' ')
            .map_or(text.len(), |at| closing + at);
        (closing > blank && visible_width(&text[..end]) <= room).then_some(end)
    });
    &text[..quoted.unwrap_or(blank)]
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

fn visible_width(text: &str) -> usize {
    clean_width(&without_escapes(text))
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
