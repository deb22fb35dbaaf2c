//! Lines of an agent's output: those that are JSON objects as values, everything else as text in pieces, so that a line
//! without an end takes no memory.

use serde_json::Value;

/// A line that begins like an object and is longer is none that a harness writes.
const LONGEST_OBJECT: usize = 32 * 1024 * 1024;

/// A buffer that once held a long line is given back.
const KEPT: usize = 64 * 1024;

/// What stands on a line.
pub(super) enum OutputLine<'a> {
    Object(Value),
    /// The next piece of a line that means nothing; `begins`: its first one. What is no UTF-8 is replaced.
    Junk {
        text: &'a str,
        begins: bool,
    },
}

#[derive(Default)]
pub(super) struct OutputLines {
    /// What may become an object, or the beginning of a character whose end has not come.
    kept: Vec<u8>,
    place: LinePlace,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum LinePlace {
    #[default]
    Start,
    InObject,
    InJunk,
}

impl OutputLines {
    pub(super) fn feed(&mut self, bytes: &[u8], take: &mut dyn FnMut(OutputLine<'_>)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.piece(piece, take);
            if piece.ends_with(b"\n") {
                self.end(take);
            }
        }
    }

    /// The line is over, or the whole output.
    pub(super) fn end(&mut self, take: &mut dyn FnMut(OutputLine<'_>)) {
        match self.place {
            LinePlace::Start => {}
            LinePlace::InObject => self.object(take),
            LinePlace::InJunk => junk(&std::mem::take(&mut self.kept), false, take),
        }
        self.kept.clear();
        self.kept.shrink_to(KEPT);
        self.place = LinePlace::Start;
    }

    fn piece(&mut self, piece: &[u8], take: &mut dyn FnMut(OutputLine<'_>)) {
        let begins = self.place == LinePlace::Start;
        if begins {
            match piece.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return,
                Some(b'{') => self.place = LinePlace::InObject,
                Some(_) => self.place = LinePlace::InJunk,
            }
        }
        if self.place == LinePlace::InJunk {
            self.kept.extend_from_slice(piece);
            let whole = self.kept.len() - unfinished_character(&self.kept);
            junk(self.kept.get(..whole).unwrap_or_default(), begins, take);
            self.kept.drain(..whole);
        } else if self.kept.len() + piece.len() > LONGEST_OBJECT {
            self.place = LinePlace::InJunk;
            junk(&std::mem::take(&mut self.kept), true, take);
            self.piece(piece, take);
        } else {
            self.kept.extend_from_slice(piece);
        }
    }

    fn object(&mut self, take: &mut dyn FnMut(OutputLine<'_>)) {
        let line = &self.kept;
        let value = serde_json::from_slice::<Value>(line).ok().or_else(|| {
            // One bad byte must not cost the whole answer.
            let text = String::from_utf8_lossy(line);
            serde_json::from_str(&text).ok()
        });
        match value {
            Some(value) => take(OutputLine::Object(value)),
            None => junk(line, true, take),
        }
    }
}

fn junk(bytes: &[u8], begins: bool, take: &mut dyn FnMut(OutputLine<'_>)) {
    if !bytes.is_empty() {
        let text = &String::from_utf8_lossy(bytes);
        take(OutputLine::Junk { text, begins });
    }
}

/// How many bytes at the end begin a character that has not come whole.
fn unfinished_character(bytes: &[u8]) -> usize {
    let length = |byte: u8| match byte {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 0,
    };
    let from_end = bytes.iter().rev().take(3).zip(1..);
    let mut beginnings = from_end.filter(|(byte, _)| **byte >= 0xC0);
    let last = beginnings.next();
    last.map_or(
        0,
        |(byte, back)| if length(*byte) > back { back } else { 0 },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in an output that comes in pieces of this size.
    fn found(output: &[u8], size: usize) -> (Vec<Value>, String, usize) {
        let (mut values, mut text, mut count) = (Vec::new(), String::new(), 0);
        let mut lines = OutputLines::default();
        let mut take = |line: OutputLine<'_>| match line {
            OutputLine::Object(value) => values.push(value),
            OutputLine::Junk {
                text: piece,
                begins,
            } => {
                count += usize::from(begins);
                text.push_str(piece);
            }
        };
        for piece in output.chunks(size) {
            lines.feed(piece, &mut take);
        }
        lines.end(&mut take);
        (values, text, count)
    }

    #[test]
    fn objects_are_values_and_everything_else_is_text_however_it_is_cut() {
        let output = "npm wärn 漢字\n\n {\"a\": \"ü\"}\n12\n{\"type\":\n  \n{\"b\":2}".as_bytes();
        for size in 1..output.len() {
            let (values, text, junk) = found(output, size);
            let expected = [serde_json::json!({"a": "ü"}), serde_json::json!({"b": 2})];
            assert_eq!(values, expected, "{size}");
            assert_eq!(text, "npm wärn 漢字\n12\n{\"type\":\n", "{size}");
            assert_eq!(junk, 3, "{size}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf_8_cost_neither_the_object_nor_the_text() {
        let (values, text, junk) = found(b"{\"said\": \"a\xff\xfeb\"}\n\xff\xfe!\xf0\x9f\n", 5);
        assert_eq!(values, [serde_json::json!({"said": "a\u{fffd}\u{fffd}b"})]);
        assert_eq!((text.as_str(), junk), ("\u{fffd}\u{fffd}!\u{fffd}\n", 1));
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let mut lines = OutputLines::default();
        let mut bytes = 0;
        for start in ["x", "{\"x"] {
            let piece = vec![b'x'; 1024 * 1024];
            let mut take = |line: OutputLine<'_>| match line {
                OutputLine::Junk { text, .. } => bytes += text.len(),
                OutputLine::Object(_) => panic!("that is no object"),
            };
            lines.feed(start.as_bytes(), &mut take);
            for _ in 0..40 {
                lines.feed(&piece, &mut take);
                assert!(lines.kept.capacity() <= 2 * LONGEST_OBJECT);
            }
            assert!(lines.kept.len() < 4, "{start}");
            lines.end(&mut take);
        }
        assert_eq!(bytes, 80 * 1024 * 1024 + 4);
    }

    #[test]
    fn what_is_nested_deeply_is_no_object() {
        let line = format!("{}\n", "{\"a\":".repeat(100_000));
        assert_eq!(found(line.as_bytes(), 64 * 1024).2, 1);
    }
}
