//! A long text in pieces, as it can be shown: bytes that are no UTF-8 and controls that a terminal would obey are replaced. A
//! character, or a line end, that is cut by the end of a piece is kept for the next one.

use crate::ui::clean_block;

#[derive(Debug, Default)]
pub(super) struct Safe {
    /// What of the last piece cannot be judged yet; a few bytes.
    rest: Vec<u8>,
    /// Controls stay: JSON escapes them.
    as_said: bool,
}

impl Safe {
    pub(super) fn as_said() -> Safe {
        Safe {
            as_said: true,
            ..Safe::default()
        }
    }

    /// What of this piece, and of what was kept, can be shown.
    pub(super) fn piece(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let kept = unfinished(&self.rest);
        let rest = self.rest.split_off(self.rest.len() - kept);
        let whole = std::mem::replace(&mut self.rest, rest);
        self.shown(&whole)
    }

    /// What is left at the end.
    pub(super) fn rest(&mut self) -> String {
        let rest = std::mem::take(&mut self.rest);
        self.shown(&rest)
    }

    fn shown(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        if self.as_said {
            text.into_owned()
        } else {
            clean_block(&text).into_owned()
        }
    }
}

/// How many bytes at the end are the beginning of something.
fn unfinished(bytes: &[u8]) -> usize {
    if bytes.ends_with(b"\r") {
        return 1;
    }
    let end = bytes.len().saturating_sub(3);
    let last = bytes.get(end..).unwrap_or_default();
    // The last byte that begins a character of several bytes, and how many it has.
    let begins = last.iter().rposition(|byte| *byte >= 0xC0);
    let Some(at) = begins else {
        return 0;
    };
    let length = match last.get(at) {
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        _ => 4,
    };
    let there = last.len() - at;
    if there < length { there } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::Safe;

    #[test]
    fn what_a_piece_cuts_is_whole_again() {
        let text = "é € 𝄞 line\r\nend";
        for size in 1..6 {
            let mut safe = Safe::default();
            let mut shown = String::new();
            for piece in text.as_bytes().chunks(size) {
                shown += &safe.piece(piece);
            }
            shown += &safe.rest();
            assert_eq!(shown, "é € 𝄞 line\nend", "pieces of {size}");
        }
    }

    #[test]
    fn a_terminal_obeys_nothing_and_bad_bytes_are_seen() {
        let mut safe = Safe::default();
        let mut shown = safe.piece(b"a\x1b");
        shown += &safe.piece(b"[31mred\xff\xc3");
        shown += &safe.rest();
        assert_eq!(shown, "a␛[31mred\u{fffd}\u{fffd}");
        assert_eq!(Safe::as_said().piece(b"\x1b[0m"), "\x1b[0m");
    }
}
