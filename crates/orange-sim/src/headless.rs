//! A turn without a terminal: the whole of standard input is the prompt, and lines of JSON say what came of it. How many
//! turns a conversation has had is kept in a file, so that the next one goes on where the script was.

use super::terminal::send;
use orange_sys::error::{err, plain};
use orange_sys::{IoContext, Result};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::PathBuf;

/// How the scripted agent is asked for one turn.
pub struct Headless {
    pub conversation: String,
    /// Go on with that conversation, which must be there.
    pub resumes: bool,
    /// Where conversations are kept.
    pub folder: PathBuf,
    /// Nobody is there to be asked: whether everything is allowed, or nothing.
    pub allows: bool,
}

impl Headless {
    /// The prompt.
    pub(super) fn prompt() -> Result<String> {
        let mut bytes = Vec::new();
        let read = std::io::stdin().read_to_end(&mut bytes);
        read.map_err(|error| {
            err!(Usage, "standard input cannot be read: {}", plain(&error))
                .hint("give the prompt there")
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// How many turns the conversation has had.
    pub(super) fn turns(&self) -> Result<usize> {
        if !self.resumes {
            return Ok(0);
        }
        let kept = fs::read_to_string(self.file()).ok();
        kept.and_then(|text| text.trim().parse().ok())
            .ok_or_else(|| {
                err!(NotFound, "there is no conversation {}", self.conversation)
                    .hint("begin a new one")
            })
    }

    pub(super) fn begin(&self) {
        print(&json!({"type": "session", "id": self.conversation}));
    }

    /// Says how the turn ended, and remembers that there was one.
    pub(super) fn end(&self, turns: usize, text: &str, error: Option<&str>) -> Result<()> {
        let kept = fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(self.file(), turns.to_string()));
        kept.doing("write", &self.file())?;
        print(&json!({"type": "result", "text": text, "error": error}));
        Ok(())
    }

    fn file(&self) -> PathBuf {
        self.folder.join(&self.conversation)
    }
}

fn print(line: &Value) {
    send(format!("{line}\n").as_bytes());
}
