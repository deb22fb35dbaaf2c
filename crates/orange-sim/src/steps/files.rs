//! Steps that write and delete files.

use super::super::agent::{SimAgent, StepResult};
use super::PIECE;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::time::Duration;

impl SimAgent {
    pub(super) fn write(&self, file: &str, text: &str, append: bool) -> io::Result<()> {
        let path = self.folder.join(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options
            .create(true)
            .append(append)
            .truncate(!append)
            .write(true);
        options.open(path)?.write_all(text.as_bytes())
    }

    pub(super) fn fill_file(&mut self, file: &str, bytes: u64) -> StepResult {
        self.write(file, "", false)?;
        let path = self.folder.join(file);
        let mut opened = OpenOptions::new().append(true).open(path)?;
        let piece = vec![b'x'; PIECE];
        let mut left = bytes;
        while left > 0 {
            let length = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
            opened.write_all(piece.get(..length).unwrap_or_default())?;
            left -= length as u64;
            self.pump(Duration::ZERO)?;
        }
        Ok(())
    }

    pub(super) fn delete(&self, file: &str) -> io::Result<()> {
        let path = self.folder.join(file);
        if path.symlink_metadata()?.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        }
    }
}
