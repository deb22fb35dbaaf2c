//! The log read from its end: the newest lines first, through the rotated files, without reading what nobody wants.

use super::file::{FILE_NAME, KEEP, identity};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// How much is read at once, at first.
const BLOCK: u64 = 64 * 1024;

/// A file of the log, opened before others could rename it.
pub(crate) struct LogPart {
    pub(crate) file: File,
    pub(crate) identity: (u64, u64),
    pub(crate) length: u64,
}

/// The files there are, the newest first. One that is renamed meanwhile is met under its new name again, and taken once.
pub(crate) fn parts(home: &Path) -> io::Result<Vec<LogPart>> {
    let mut found: Vec<LogPart> = Vec::new();
    for number in 0..=KEEP {
        let path = match number {
            0 => home.join(FILE_NAME),
            number => home.join(format!("{FILE_NAME}.{number}")),
        };
        match open(&path) {
            Ok(part) if found.iter().all(|other| other.identity != part.identity) => {
                found.push(part);
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if number == 0 => return Err(error),
            Err(_) => {}
        }
    }
    Ok(found)
}

pub(crate) fn open(path: &Path) -> io::Result<LogPart> {
    // A pipe in its place would be waited for.
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    Ok(LogPart {
        identity: identity(&metadata),
        length: metadata.len(),
        file,
    })
}

impl LogPart {
    /// Leaves out a last line that somebody may still be writing.
    pub(crate) fn leave_open_line(&mut self) -> io::Result<()> {
        let size = BLOCK.min(self.length);
        let start = self.length - size;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        self.file.read_exact_at(&mut bytes, start)?;
        if let Some(at) = last_line_end(&bytes) {
            self.length = start + at as u64 + 1;
        } else if start == 0 {
            self.length = 0;
        }
        Ok(())
    }

    /// Gives the lines to `take`, the last one first, until it wants no more. False: it has had enough.
    pub(crate) fn backwards(&self, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
        let mut block = BLOCK;
        let mut start = self.length;
        // What was read already and belongs to a line that begins further up.
        let mut rest: Vec<u8> = Vec::new();
        while start > 0 {
            let size = block.min(start);
            start -= size;
            let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
            self.file.read_exact_at(&mut bytes, start)?;
            bytes.append(&mut rest);
            let mut end = bytes.len();
            while let Some(at) = bytes.get(..end).and_then(last_line_end) {
                if !give(bytes.get(at + 1..end), &mut take) {
                    return Ok(false);
                }
                end = at;
            }
            bytes.truncate(end);
            rest = bytes;
            // A line of many blocks is not copied again and again.
            block = block.max(rest.len() as u64);
        }
        Ok(give(Some(&rest), &mut take))
    }
}

fn last_line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

fn give(line: Option<&[u8]>, take: &mut impl FnMut(&[u8]) -> bool) -> bool {
    match line.map(<[u8]>::trim_ascii) {
        None | Some([]) => true,
        Some(line) => take(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn backwards(text: &[u8]) -> Vec<String> {
        let home = tempfile::TempDir::new().unwrap();
        fs::write(home.path().join(FILE_NAME), text).unwrap();
        let mut lines = Vec::new();
        for part in parts(home.path()).unwrap() {
            let all = part.backwards(|line| {
                lines.push(String::from_utf8_lossy(line).into_owned());
                true
            });
            assert!(all.unwrap());
        }
        lines
    }

    #[test]
    fn lines_come_last_first_whatever_their_length() {
        assert_eq!(backwards(b""), [""; 0]);
        assert_eq!(backwards(b"one"), ["one"]);
        assert_eq!(backwards(b"one\n\ntwo\r\nthree"), ["three", "two", "one"]);
        for length in [65_535, 65_536, 65_537, 300_000] {
            let long = "x".repeat(length);
            let text = format!("first\n{long}\nlast\n");
            assert_eq!(backwards(text.as_bytes()), ["last", &long, "first"]);
        }
    }

    #[test]
    fn a_renamed_file_is_read_once() {
        let home = tempfile::TempDir::new().unwrap();
        let path = home.path().join(FILE_NAME);
        fs::write(&path, "a\n").unwrap();
        fs::hard_link(&path, home.path().join("orange.log.1")).unwrap();
        fs::write(home.path().join("orange.log.2"), "b\n").unwrap();
        assert_eq!(parts(home.path()).unwrap().len(), 2);
    }
}
