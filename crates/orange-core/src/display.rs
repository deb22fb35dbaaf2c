//! Makes foreign text (titles, agent output, branch names) safe to show, and measures and cuts it
//! by the columns it takes on a terminal; says how long ago something was. Every front end shows texts through here.

pub mod time;

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const ELLIPSIS: char = '…';
const REPLACEMENT: char = '\u{FFFD}';
const ZERO_WIDTH_NON_JOINER: char = '\u{200C}';
const ZERO_WIDTH_JOINER: char = '\u{200D}';

/// Whether line ends and tabs are part of the text or would break the layout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextShape {
    Line,
    Block,
}

/// A summary for one line of a terminal, or that there is none yet.
pub fn summary(text: &str) -> Cow<'_, str> {
    match text {
        "" => Cow::Borrowed("(no summary yet)"),
        text => clean(text),
    }
}

/// Makes `text` safe for one line of a terminal.
///
/// Agents and files decide what is in the text. Escape sequences could recolour or retitle the
/// terminal, bidi controls could reorder what is read, and invisible characters could hide a
/// difference, so each of them is replaced by something that can be seen.
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) {
        return Cow::Borrowed(text);
    }
    sanitize(text, TextShape::Line)
}

/// Like [`clean`], for text of several lines: line feeds and tabs stay.
pub fn clean_block(text: &str) -> Cow<'_, str> {
    sanitize(text, TextShape::Block)
}

/// Whether every byte is a visible ASCII character or a blank.
///
/// Written as a fold without early exit, so that it compiles to vector instructions.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes()
        .fold(true, |ok, byte| ok & (byte.wrapping_sub(b' ') < 0x5F))
}

fn sanitize(text: &str, shape: TextShape) -> Cow<'_, str> {
    let unsafe_at = |&(at, c): &(usize, char)| shown(text, at, c, shape) != c;
    let Some((first, _)) = text.char_indices().find(unsafe_at) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for (at, c) in text[first..].char_indices() {
        let at = first + at;
        // A carriage return that only belongs to a line end says nothing.
        if c != '\r' || !text[at + 1..].starts_with('\n') {
            out.push(shown(text, at, c, shape));
        }
    }
    Cow::Owned(out)
}

/// What to show for the character `c` at the offset `at` of `text`; `c` itself if it is harmless.
fn shown(text: &str, at: usize, c: char, shape: TextShape) -> char {
    match c {
        ' '..='~' => c,
        '\n' | '\t' if shape == TextShape::Block => c,
        '\n' => '⏎',
        '\0'..='\u{1F}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(REPLACEMENT),
        '\u{7F}' => '␡',
        ZERO_WIDTH_NON_JOINER | ZERO_WIDTH_JOINER if joins(text, at, c) => c,
        _ if is_unsafe(c) => REPLACEMENT,
        _ => c,
    }
}

/// Characters beyond ASCII that act on the terminal, reorder text or take no room.
fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9F}'              // C1 controls; U+009B starts an escape sequence
        | '\u{061C}'                     // Arabic letter mark
        | '\u{180E}'                     // Mongolian vowel separator
        | '\u{200B}'..='\u{200F}'        // zero-width space and joiners, direction marks
        | '\u{2028}'..='\u{202E}'        // line and paragraph separator, bidi embeddings
        | '\u{2060}'..='\u{206F}'        // word joiner, invisible operators, bidi isolates
        | '\u{FEFF}'                     // byte order mark
        | '\u{FFF9}'..='\u{FFFB}'        // interlinear annotations
        | '\u{E0000}'..='\u{E007F}') // tags: invisible ASCII, a way to smuggle text
}

/// Joiners belong to the spelling between two emoji and in Arabic and Indic words.
fn joins(text: &str, at: usize, joiner: char) -> bool {
    let previous = text[..at].chars().next_back();
    let next = text[at + joiner.len_utf8()..].chars().next();
    let both =
        |accepts: fn(char) -> bool| previous.is_some_and(accepts) && next.is_some_and(accepts);
    both(is_emoji_part) || both(is_joining_script)
}

fn is_emoji_part(c: char) -> bool {
    matches!(c, '\u{FE0F}' | '\u{2190}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}')
}

fn is_joining_script(c: char) -> bool {
    matches!(c, '\u{0620}'..='\u{0DFF}')
}

/// The number of terminal columns that a [`clean`] text takes.
pub fn clean_width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else if text.chars().nth(1).is_none() {
        // A sign, as lists have several of in every row.
        text.width()
    } else {
        text.graphemes(true).map(UnicodeWidthStr::width).sum()
    }
}

/// `text` made safe for one line and cut to `width` columns.
pub fn fitted(text: &str, width: usize) -> String {
    let mut out = String::new();
    fit_into(&mut out, &clean(text), width);
    out
}

/// A text cut in its middle: of a branch both ends say something.
pub fn fitted_in_middle(text: &str, width: usize) -> String {
    let clean = clean(text);
    if clean_width(&clean) <= width {
        return clean.into_owned();
    }
    let end_room = width.saturating_sub(1) / 2;
    let mut start = clean.len();
    let mut used = 0;
    for (at, cluster) in clean.grapheme_indices(true).rev() {
        used += cluster.width();
        if used > end_room {
            break;
        }
        start = at;
    }
    // The first half is cut with its ellipsis.
    let mut out = fitted(&clean, width - clean_width(&clean[start..]));
    out.push_str(&clean[start..]);
    out
}

/// Appends the clean `text`, cut to `width` columns; returns the columns used.
pub fn fit_into(out: &mut String, text: &str, width: usize) -> usize {
    let whole = clean_width(text);
    if whole <= width {
        out.push_str(text);
        return whole;
    }
    let Some(room) = width.checked_sub(1) else {
        return 0;
    };
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let next = used + cluster.width();
        if next > room {
            break;
        }
        out.push_str(cluster);
        used = next;
    }
    // What it would have joined is cut off.
    while out.ends_with([ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER]) {
        out.pop();
    }
    out.push(ELLIPSIS);
    used + 1
}

/// Appends so many blanks.
pub fn blanks(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests;
