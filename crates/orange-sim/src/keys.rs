//! What a terminal sends, as keys: characters, pasted text, Enter, Escape. Bytes may come in any pieces.

const ESCAPE: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PressedKey {
    Character(char),
    /// A whole bracketed paste.
    Paste(String),
    Enter,
    /// Ctrl-J: a line end in the text, as in most agents.
    LineEnd,
    Backspace,
    Escape,
    CtrlC,
    CtrlD,
    /// Ctrl-U.
    Clear,
    /// An arrow, a function key: known as one, and of no use here.
    Other,
}

/// Bytes in, keys out.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: Vec<u8>,
    /// The text of a paste whose end has not come yet.
    paste: Option<Vec<u8>>,
}

/// How much of the bytes a key took, or that more are needed to tell.
enum ParsedKey {
    Key(PressedKey, usize),
    PasteStart(usize),
    Nothing(usize),
    Unfinished,
}

impl Decoder {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<PressedKey> {
        let mut keys = Vec::new();
        // A paste is looked through once, however many pieces it comes in.
        let mut rest = match self.paste.take() {
            Some(paste) => self.go_on(paste, bytes, &mut keys),
            None => {
                self.pending.extend_from_slice(bytes);
                std::mem::take(&mut self.pending)
            }
        };
        loop {
            let taken = match first(&rest) {
                ParsedKey::Key(key, taken) => {
                    keys.push(key);
                    taken
                }
                ParsedKey::Nothing(taken) => taken,
                ParsedKey::PasteStart(taken) => {
                    let inside = rest.split_off(taken);
                    rest = self.go_on(Vec::new(), &inside, &mut keys);
                    continue;
                }
                ParsedKey::Unfinished => break,
            };
            rest.drain(..taken);
        }
        self.pending = rest;
        keys
    }

    /// Whether an Escape has come that may be the key or the start of something longer.
    pub(super) fn is_undecided(&self) -> bool {
        self.paste.is_none() && self.pending == [ESCAPE]
    }

    /// Nothing followed: it was the key.
    pub(super) fn decide(&mut self) -> Vec<PressedKey> {
        if !self.is_undecided() {
            return Vec::new();
        }
        self.pending.clear();
        vec![PressedKey::Escape]
    }

    /// More of a paste; gives what follows its end.
    fn go_on(&mut self, mut paste: Vec<u8>, more: &[u8], keys: &mut Vec<PressedKey>) -> Vec<u8> {
        // The end may have begun in an earlier piece.
        let from = paste.len().saturating_sub(PASTE_END.len());
        paste.extend_from_slice(more);
        let found = paste[from..]
            .windows(PASTE_END.len())
            .position(|window| window == PASTE_END);
        let Some(at) = found else {
            self.paste = Some(paste);
            return Vec::new();
        };
        let rest = paste.split_off(from + at + PASTE_END.len());
        paste.truncate(from + at);
        // Some terminals send line ends as they would Enter.
        let text = String::from_utf8_lossy(&paste).replace("\r\n", "\n");
        keys.push(PressedKey::Paste(text.replace('\r', "\n")));
        rest
    }
}

fn first(bytes: &[u8]) -> ParsedKey {
    let Some(&byte) = bytes.first() else {
        return ParsedKey::Unfinished;
    };
    let key = match byte {
        ESCAPE => return sequence(bytes),
        b'\r' => PressedKey::Enter,
        b'\n' => PressedKey::LineEnd,
        0x7f | 0x08 => PressedKey::Backspace,
        0x03 => PressedKey::CtrlC,
        0x04 => PressedKey::CtrlD,
        0x15 => PressedKey::Clear,
        b'\t' => PressedKey::Character('\t'),
        0..=0x1f => return ParsedKey::Nothing(1),
        _ => return character(bytes),
    };
    ParsedKey::Key(key, 1)
}

/// What begins with Escape. What is no sequence is the key itself: a sender that is in a hurry is understood all
/// the same, so that tests on a slow machine don't depend on pauses.
fn sequence(bytes: &[u8]) -> ParsedKey {
    let rest = match bytes.get(1) {
        None => return ParsedKey::Unfinished,
        Some(b'O') => {
            return match bytes.len() {
                2 => ParsedKey::Unfinished,
                _ => ParsedKey::Key(PressedKey::Other, 3),
            };
        }
        Some(b'[') => &bytes[2..],
        Some(_) => return ParsedKey::Key(PressedKey::Escape, 1),
    };
    let Some(end) = rest.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else {
        return ParsedKey::Unfinished;
    };
    let length = 2 + end + 1;
    match &bytes[..length] {
        b"\x1b[200~" => ParsedKey::PasteStart(length),
        PASTE_END => ParsedKey::Nothing(length),
        _ => ParsedKey::Key(PressedKey::Other, length),
    }
}

fn character(bytes: &[u8]) -> ParsedKey {
    let longest = &bytes[..bytes.len().min(4)];
    let text = match str::from_utf8(longest) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            str::from_utf8(&longest[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) if error.error_len().is_none() => return ParsedKey::Unfinished,
        Err(error) => {
            let length = error.error_len().unwrap_or(1);
            return ParsedKey::Key(PressedKey::Character(char::REPLACEMENT_CHARACTER), length);
        }
    };
    match text.chars().next() {
        Some(first) => ParsedKey::Key(PressedKey::Character(first), first.len_utf8()),
        None => ParsedKey::Nothing(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<PressedKey> {
        Decoder::default().feed(bytes)
    }

    /// The same bytes in two pieces, cut everywhere.
    #[track_caller]
    fn however_cut(bytes: &[u8], wanted: &[PressedKey]) {
        for cut in 0..=bytes.len() {
            let mut decoder = Decoder::default();
            let mut found = decoder.feed(&bytes[..cut]);
            found.extend(decoder.feed(&bytes[cut..]));
            found.extend(decoder.decide());
            assert_eq!(found, wanted, "cut at {cut}");
        }
        let mut decoder = Decoder::default();
        let single = bytes.iter().flat_map(|byte| decoder.feed(&[*byte]));
        let mut found: Vec<PressedKey> = single.collect();
        found.extend(decoder.decide());
        assert_eq!(found, wanted, "byte by byte");
    }

    #[test]
    fn characters_and_control_keys() {
        use PressedKey::{Backspace, Character, Clear, CtrlC, CtrlD, Enter, LineEnd};
        however_cut("aé€😀".as_bytes(), &['a', 'é', '€', '😀'].map(Character));
        however_cut(
            b"x\x7f\r\n\x03\x04\x15\x1a",
            &[
                Character('x'),
                Backspace,
                Enter,
                LineEnd,
                CtrlC,
                CtrlD,
                Clear,
            ],
        );
        assert_eq!(keys(b"\xffz"), [Character('\u{fffd}'), Character('z')]);
    }

    #[test]
    fn a_paste_is_one_key_however_it_is_cut() {
        however_cut(
            "a\x1b[200~one\r\ntwo\rthree\né\x1b[31m\x1b[201~\r".as_bytes(),
            &[
                PressedKey::Character('a'),
                PressedKey::Paste("one\ntwo\nthree\né\x1b[31m".into()),
                PressedKey::Enter,
            ],
        );
        however_cut(
            b"\x1b[200~\x1b[201~\x1b[200~b\x1b[201~",
            &[
                PressedKey::Paste(String::new()),
                PressedKey::Paste("b".into()),
            ],
        );
    }

    #[test]
    fn escape_is_a_key_when_nothing_longer_follows() {
        however_cut(b"\x1b", &[PressedKey::Escape]);
        however_cut(
            b"\x1b\x1b[200~x\x1b[201~",
            &[PressedKey::Escape, PressedKey::Paste("x".into())],
        );
        however_cut(
            b"\x1bfix",
            &[
                PressedKey::Escape,
                PressedKey::Character('f'),
                PressedKey::Character('i'),
                PressedKey::Character('x'),
            ],
        );
        however_cut(
            b"\x1b[A\x1b[1;5C\x1bOP",
            &[PressedKey::Other, PressedKey::Other, PressedKey::Other],
        );
    }

    #[test]
    fn an_undecided_escape_says_so() {
        let mut decoder = Decoder::default();
        assert!(!decoder.is_undecided());
        assert_eq!(decoder.feed(b"\x1b"), []);
        assert!(decoder.is_undecided());
        assert_eq!(decoder.decide(), [PressedKey::Escape]);
        // What has begun is never taken for something else, however slowly it comes.
        for begun in [b"\x1b[20".as_slice(), b"\xc3", b"\x1b[200~half a paste"] {
            let mut decoder = Decoder::default();
            assert_eq!(decoder.feed(begun), []);
            assert!(!decoder.is_undecided());
            assert_eq!(decoder.decide(), []);
        }
    }

    #[test]
    fn a_large_paste_in_small_pieces() {
        let text = "0123456789abcde\n".repeat(200 * 1024 / 16);
        let sent = format!("\x1b[200~{text}\x1b[201~\r");
        let mut decoder = Decoder::default();
        let pieces = sent.as_bytes().chunks(61);
        let found: Vec<PressedKey> = pieces.flat_map(|piece| decoder.feed(piece)).collect();
        assert_eq!(found, [PressedKey::Paste(text), PressedKey::Enter]);
    }
}
