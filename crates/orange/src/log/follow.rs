//! The log as it grows: every line once, also when the file is renamed and begun anew while it is read.

use super::file::FILE_NAME;
use super::read::{LogPart, open, parts};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(crate) struct LogFollower {
    home: PathBuf,
    current: Option<LogReading>,
    /// The file before: who had it open when it was renamed may write one line more.
    previous: Option<LogReading>,
}

/// A file, how far it was read, and a line that is not whole yet.
struct LogReading {
    part: LogPart,
    at: u64,
    open_line: Vec<u8>,
}

impl LogFollower {
    /// Goes on where these files end; the newest comes first. Nothing has been logged yet: from the first line on.
    pub(crate) fn after(home: &Path, parts: Vec<LogPart>) -> LogFollower {
        let mut newest = parts.into_iter().map(|part| LogReading {
            at: part.length,
            open_line: Vec::new(),
            part,
        });
        LogFollower {
            home: home.to_owned(),
            current: newest.next(),
            previous: None,
        }
    }

    /// The lines that have come since the last look.
    pub(crate) fn news(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut lines = Vec::new();
        for reading in [&mut self.previous, &mut self.current]
            .into_iter()
            .flatten()
        {
            reading.read_on(&mut lines)?;
        }
        let path = self.home.join(FILE_NAME);
        let found = match open(&path) {
            Ok(part) => part,
            // Between two names, or moved away: the next one is found when it is there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(lines),
            Err(error) => return Err(error),
        };
        let known = self.current.as_ref().map(|reading| reading.part.identity);
        if known != Some(found.identity) {
            self.turn_over(known, &mut lines)?;
        }
        Ok(lines)
    }

    /// The file has another name now. All that are newer are read, from their beginning.
    fn turn_over(&mut self, known: Option<(u64, u64)>, lines: &mut Vec<Vec<u8>>) -> io::Result<()> {
        let mut newer = parts(&self.home)?;
        match newer.iter().position(|part| Some(part.identity) == known) {
            Some(ours) => newer.truncate(ours),
            // Somebody took it away: what is there now is all that is new.
            None => newer.truncate(1),
        }
        for part in newer.into_iter().rev() {
            let mut reading = LogReading {
                part,
                at: 0,
                open_line: Vec::new(),
            };
            reading.read_on(lines)?;
            self.previous = self.current.replace(reading);
        }
        Ok(())
    }
}

impl LogReading {
    fn read_on(&mut self, lines: &mut Vec<Vec<u8>>) -> io::Result<()> {
        const BLOCK: usize = 64 * 1024;
        if self.part.file.metadata()?.len() < self.at {
            // Emptied by somebody.
            self.at = 0;
            self.open_line.clear();
        }
        let mut block = vec![0; BLOCK];
        loop {
            let count = self.part.file.read_at(&mut block, self.at)?;
            if count == 0 {
                return Ok(());
            }
            self.at += count as u64;
            for byte in block.get(..count).unwrap_or_default() {
                match byte {
                    b'\n' => lines.push(std::mem::take(&mut self.open_line)),
                    byte => self.open_line.push(*byte),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::LogFile;
    use super::*;
    use tempfile::TempDir;

    fn said(follower: &mut LogFollower) -> Vec<String> {
        let lines = follower.news().unwrap();
        let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
        lines.into_iter().map(text).collect()
    }

    #[test]
    fn rotation_loses_and_repeats_nothing() {
        let home = TempDir::new().unwrap();
        let mut log = LogFile::new(home.path());
        (log.max_bytes, log.keep) = (40, 3);
        let mut follower = LogFollower::after(home.path(), parts(home.path()).unwrap());
        assert_eq!(said(&mut follower), [""; 0]);
        let mut seen = Vec::new();
        for number in 0..100 {
            log.append(format!("line {number}\n").as_bytes());
            // Several rotations may pass between two looks.
            if number % 7 == 0 {
                seen.extend(said(&mut follower));
            }
        }
        seen.extend(said(&mut follower));
        let all: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
        assert_eq!(seen, all);
    }

    #[test]
    fn a_late_line_in_the_renamed_file_is_read() {
        use std::io::Write;
        let home = TempDir::new().unwrap();
        let path = home.path().join(FILE_NAME);
        let mut late = std::fs::File::create(&path).unwrap();
        late.write_all(b"old\n").unwrap();
        let mut follower = LogFollower::after(home.path(), parts(home.path()).unwrap());
        std::fs::rename(&path, home.path().join("orange.log.1")).unwrap();
        std::fs::write(&path, "new\n").unwrap();
        assert_eq!(said(&mut follower), ["new"]);
        late.write_all(b"late\nand a ha").unwrap();
        assert_eq!(said(&mut follower), ["late"]);
        late.write_all(b"lf\n").unwrap();
        assert_eq!(said(&mut follower), ["and a half"]);
    }

    #[test]
    fn an_emptied_or_removed_file_is_begun_anew() {
        let home = TempDir::new().unwrap();
        let path = home.path().join(FILE_NAME);
        std::fs::write(&path, "a long line before\n").unwrap();
        let mut follower = LogFollower::after(home.path(), parts(home.path()).unwrap());
        std::fs::write(&path, "one\n").unwrap();
        assert_eq!(said(&mut follower), ["one"]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(said(&mut follower), [""; 0]);
        std::fs::write(&path, "two\n").unwrap();
        assert_eq!(said(&mut follower), ["two"]);
    }
}
