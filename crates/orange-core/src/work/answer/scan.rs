//! Finds JSON objects in a text that is mostly something else, in time and memory that grow with the text and not faster,
//! whatever the text is.

use std::collections::VecDeque;
use std::ops::Range;

/// What is nested deeper is no answer.
const DEEPEST: usize = 100;
/// The last so many objects are kept.
const MOST: usize = 1000;

/// The places of the objects that have this key, the last ones last. Of two within each other the outer one.
pub(super) fn objects_with(text: &str, key: &str) -> VecDeque<Range<usize>> {
    let mut found = VecDeque::new();
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(start) = next_brace(bytes, from) {
        from = match ObjectScan::new(bytes, key.as_bytes(), start).run(&mut found) {
            Ok(end) => end,
            Err(resume) => resume.max(start + 1),
        };
    }
    found
}

fn next_brace(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter()
        .position(|byte| *byte == b'{')
        .map(|at| from + at)
}

/// An object or a list that is open.
struct OpenBracket {
    start: usize,
    is_object: bool,
    has_key: bool,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value, or the end of a list.
    FirstItem,
    Key,
    /// A key, or the end of an object.
    FirstKey,
    Colon,
    CommaOrEnd,
}

/// One try to read an object from a place on.
struct ObjectScan<'t> {
    bytes: &'t [u8],
    key: &'t [u8],
    at: usize,
    open: Vec<OpenBracket>,
    expect: Expect,
    /// Where the last string began. What looks like a string may have swallowed the beginning of the real object, so a try
    /// that fails is followed by one from there. Nothing before it has to be read again: objects that were open at the
    /// mistake would come to it once more, and those that were not are found.
    last_string: usize,
}

impl<'t> ObjectScan<'t> {
    fn new(bytes: &'t [u8], key: &'t [u8], start: usize) -> ObjectScan<'t> {
        ObjectScan {
            bytes,
            key,
            at: start,
            open: Vec::new(),
            expect: Expect::Value,
            last_string: start,
        }
    }

    /// The end of the object, or where to go on looking for one.
    fn run(mut self, found: &mut VecDeque<Range<usize>>) -> Result<usize, usize> {
        loop {
            self.skip_blanks();
            let Some(&byte) = self.bytes.get(self.at) else {
                return Err(self.last_string + 1);
            };
            let accepted = match (byte, self.expect) {
                (b'{', Expect::Value | Expect::FirstItem) => self.enter(true),
                (b'[', Expect::Value | Expect::FirstItem) => self.enter(false),
                (b'}', Expect::FirstKey | Expect::CommaOrEnd) => self.leave(true, found),
                (b']', Expect::FirstItem | Expect::CommaOrEnd) => self.leave(false, found),
                (b'"', Expect::Key | Expect::FirstKey) => self.key(),
                (b'"', Expect::Value | Expect::FirstItem) => {
                    self.expect = Expect::CommaOrEnd;
                    self.string().is_some()
                }
                (b':', Expect::Colon) => self.step(Expect::Value),
                (b',', Expect::CommaOrEnd) => {
                    let in_object = self.open.last().is_some_and(|open| open.is_object);
                    self.step(if in_object {
                        Expect::Key
                    } else {
                        Expect::Value
                    })
                }
                (b'-' | b'0'..=b'9' | b't' | b'f' | b'n', Expect::Value | Expect::FirstItem) => {
                    self.word();
                    true
                }
                _ => false,
            };
            if !accepted {
                return Err(self.last_string + 1);
            }
            if self.open.is_empty() {
                return Ok(self.at);
            }
        }
    }

    fn step(&mut self, expect: Expect) -> bool {
        self.at += 1;
        self.expect = expect;
        true
    }

    fn skip_blanks(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let blanks = rest
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        self.at += blanks.unwrap_or(rest.len());
    }

    fn enter(&mut self, is_object: bool) -> bool {
        self.open.push(OpenBracket {
            start: self.at,
            is_object,
            has_key: false,
        });
        self.step(if is_object {
            Expect::FirstKey
        } else {
            Expect::FirstItem
        });
        self.open.len() <= DEEPEST
    }

    fn leave(&mut self, is_object: bool, found: &mut VecDeque<Range<usize>>) -> bool {
        let Some(open) = self.open.pop_if(|open| open.is_object == is_object) else {
            return false;
        };
        self.step(Expect::CommaOrEnd);
        if open.has_key {
            while found.back().is_some_and(|inner| inner.start > open.start) {
                found.pop_back();
            }
            if found.len() == MOST {
                found.pop_front();
            }
            found.push_back(open.start..self.at);
        }
        true
    }

    fn key(&mut self) -> bool {
        let Some(key) = self.string() else {
            return false;
        };
        let is_wanted = self.bytes.get(key) == Some(self.key);
        if let Some(open) = self.open.last_mut() {
            open.has_key |= is_wanted;
        }
        self.expect = Expect::Colon;
        true
    }

    /// What is between the quotes; None: it has no end.
    fn string(&mut self) -> Option<Range<usize>> {
        self.last_string = self.at;
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.bytes.get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(start..at)
    }

    /// A number or a word such as `true`; whether it is one is seen when the object is read.
    fn word(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        self.at += rest
            .iter()
            .position(|byte| !is_part(byte))
            .unwrap_or(rest.len());
        self.expect = Expect::CommaOrEnd;
    }
}
