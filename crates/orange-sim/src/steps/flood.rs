//! A lot of output: long, endless, no text at all, or full of escape sequences.

use super::super::agent::{SimAgent, StepResult};
use super::super::script::{Flood, FloodKind, LineLength};
use super::super::terminal::send;
use super::PIECE;
use std::time::Duration;

/// The length of a line, unless a script says otherwise.
const LINE: u64 = 80;
const TEXT: &[u8] = b"The quick brown fox jumps over the lazy dog. 0123456789 ";
/// Starts of characters without their ends, ends without their starts, bytes that stand in no UTF-8.
const BYTES: &[u8] = b"\xff\xfe\xc3\x28\xe2\x82 \xf0\x9f\x80\xc0\xaf ok ";
/// Colours, a title, a jump, a cleared line, a hidden cursor, the other screen.
const ESCAPES: &[u8] =
    b"\x1b[31;1mred\x1b[0m\x1b]0;a title\x07\x1b[5;5H\x1b[2K\x1b[?25l\x1b[?1049h\x1b[?1049l ";
/// Undoes what the escape sequences left.
const CALM: &[u8] = b"\x1b[0m\x1b[?25h\x1b]0;\x07";

impl SimAgent {
    pub(super) fn flood(&mut self, flood: &Flood) -> StepResult {
        let mut done = 0;
        while done < flood.bytes.0 {
            let piece = piece(flood, done);
            send(&piece);
            done += piece.len() as u64;
            self.pump(Duration::ZERO)?;
        }
        if flood.kind == FloodKind::Escapes {
            send(CALM);
        }
        send(b"\n");
        self.terminal.draw(self.typing.line());
        Ok(())
    }
}

/// The bytes from `from` on, not too many of them.
fn piece(flood: &Flood, from: u64) -> Vec<u8> {
    let pattern = match flood.kind {
        FloodKind::Text => TEXT,
        FloodKind::Bytes => BYTES,
        FloodKind::Escapes => ESCAPES,
    };
    let end = flood.bytes.0.min(from + PIECE as u64);
    let line = match &flood.line {
        Some(LineLength(length)) => length.map(|length| u64::from(length.get())),
        None => Some(LINE),
    };
    let byte = |at: u64| match line {
        Some(length) if at % (length + 1) == length => b'\n',
        _ => {
            let index = usize::try_from(at % pattern.len() as u64).unwrap_or_default();
            pattern.get(index).copied().unwrap_or(b' ')
        }
    };
    (from..end).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::script::ByteSize;
    use super::*;
    use std::num::NonZeroU32;

    fn all(flood: &Flood) -> Vec<u8> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < flood.bytes.0 {
            bytes.extend(piece(flood, bytes.len() as u64));
        }
        bytes
    }

    #[test]
    fn a_flood_has_its_size_and_its_lines() {
        let mut flood = Flood {
            bytes: ByteSize(200_001),
            line: Some(LineLength(NonZeroU32::new(79))),
            kind: FloodKind::Text,
        };
        let text = String::from_utf8(all(&flood)).unwrap();
        assert_eq!(text.len(), 200_001);
        assert!(text.lines().rev().skip(1).all(|line| line.len() == 79));
        flood.line = Some(LineLength(None));
        assert_eq!(String::from_utf8(all(&flood)).unwrap().lines().count(), 1);
        flood.kind = FloodKind::Bytes;
        assert!(String::from_utf8(all(&flood)).is_err());
        flood.kind = FloodKind::Escapes;
        assert!(all(&flood).contains(&0x1b));
    }
}
