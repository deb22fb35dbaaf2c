//! A turn without a terminal: the whole of standard input is the prompt, and lines of JSON say what came of it, as it comes.
//! How many turns a conversation has had and what they used is kept in a file, so that the next one goes on there.

use super::agent::TurnEnd;
use super::steps::BAD_BYTES;
use super::terminal::send;
use orange_sys::error::{err, plain};
use orange_sys::{IoContext, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

/// How the scripted agent is asked for one turn.
#[derive(Debug, Clone)]
pub struct Headless {
    pub conversation: String,
    /// Go on with that conversation, which must be there.
    pub resumes: bool,
    /// Where conversations are kept.
    pub folder: PathBuf,
    /// Nobody is there to be asked: whether everything is allowed, or nothing.
    pub allows: bool,
}

/// A conversation while it has a turn.
pub(super) struct Talk {
    headless: Headless,
    kept: KeptConversation,
}

/// What is kept of a conversation.
#[derive(Debug, Default, Serialize, Deserialize)]
struct KeptConversation {
    turns: usize,
    /// The sum over all turns.
    #[serde(default)]
    used: Map<String, Value>,
}

impl Headless {
    /// The prompt.
    pub(super) fn prompt() -> Result<String> {
        let mut bytes = Vec::new();
        let read = io::stdin().read_to_end(&mut bytes);
        read.map_err(|error| {
            err!(Usage, "standard input cannot be read: {}", plain(&error))
                .hint("give the prompt there")
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Begins a turn: from now on the conversation is there, whatever becomes of the turn.
    pub(super) fn begin(self) -> Result<Talk> {
        let kept = if self.resumes {
            let kept = fs::read_to_string(self.file()).ok();
            kept.as_deref().and_then(read).ok_or_else(|| {
                err!(NotFound, "there is no conversation {}", self.conversation)
                    .hint("begin a new one")
            })?
        } else {
            KeptConversation::default()
        };
        let talk = Talk {
            headless: self,
            kept,
        };
        let file = talk.headless.file();
        fs::create_dir_all(&talk.headless.folder)
            .and_then(|()| talk.keep())
            .doing("write", &file)?;
        print(
            &json!({"type": "session", "id": talk.headless.conversation, "used": talk.kept.used}),
        );
        Ok(talk)
    }

    fn file(&self) -> PathBuf {
        self.folder.join(&self.conversation)
    }
}

/// An older version kept nothing but the number of turns.
fn read(text: &str) -> Option<KeptConversation> {
    let number = text.trim().parse().ok();
    let only_turns = number.map(|turns| KeptConversation {
        turns,
        ..KeptConversation::default()
    });
    only_turns.or_else(|| serde_json::from_str(text).ok())
}

impl Talk {
    /// How many turns the conversation has had.
    pub(super) fn turns(&self) -> usize {
        self.kept.turns
    }

    pub(super) fn allows(&self) -> bool {
        self.headless.allows
    }

    pub(super) fn said(&self, text: &str) {
        print(&json!({"type": "text", "text": text}));
    }

    pub(super) fn step(&self, name: &str, line: usize) {
        print(&json!({"type": "step", "name": name, "on": format!("line {line}")}));
    }

    /// Tokens that were used, by their names.
    pub(super) fn used(&mut self, mut used: Value) -> io::Result<()> {
        for (name, value) in used.as_object().into_iter().flatten() {
            let known = self.kept.used.get(name).and_then(Value::as_f64);
            let Some(value) = value.as_f64() else {
                continue;
            };
            let sum = known.unwrap_or(0.0) + value;
            let is_cost = name == "cost";
            let sum = if is_cost {
                json!(sum)
            } else {
                json!(sum as u64)
            };
            self.kept.used.insert(name.clone(), sum);
        }
        self.keep()?;
        used["type"] = "usage".into();
        print(&used);
        Ok(())
    }

    /// Says how the turn ended, and remembers that there was one.
    pub(super) fn end(&mut self, end: &TurnEnd) -> Result<()> {
        self.kept.turns += 1;
        self.keep().doing("write", &self.headless.file())?;
        print(&json!({
            "type": "result",
            "error": end.failure,
            "kind": end.kind,
            "until": end.until,
        }));
        Ok(())
    }

    fn keep(&self) -> io::Result<()> {
        // Renamed into its place: whoever is killed in the middle leaves the last one.
        let part = self.headless.file().with_extension("part");
        fs::write(&part, serde_json::to_vec(&self.kept)?)?;
        fs::rename(&part, self.headless.file())
    }
}

/// Writes a line; in place of what stands for bad bytes there are some.
fn print(line: &Value) {
    let line = format!("{line}\n");
    let mut pieces = line.split(BAD_BYTES);
    send(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        send(&[b"\xff\xfe", piece.as_bytes()].concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_of_an_older_version_are_read() {
        assert_eq!(read("3").map(|kept| kept.turns), Some(3));
        let kept = read(r#"{"turns": 2, "used": {"input": 5}}"#).unwrap();
        assert_eq!((kept.turns, &kept.used["input"]), (2, &json!(5)));
        assert!(read("").is_none() && read("{").is_none());
    }

    #[test]
    fn what_turns_used_is_summed_up_and_survives_a_kill() {
        let folder = tempfile::tempdir().unwrap();
        let headless = |resumes| Headless {
            conversation: "c1".into(),
            resumes,
            folder: folder.path().to_owned(),
            allows: true,
        };
        let mut talk = headless(false).begin().unwrap();
        talk.used(json!({"input": 5, "cost": 0.5, "model": "m"}))
            .unwrap();
        talk.used(json!({"input": 7, "cost": 0.25})).unwrap();
        drop(talk);
        let talk = headless(true).begin().unwrap();
        assert_eq!(talk.turns(), 0, "none has ended");
        assert_eq!(
            Value::from(talk.kept.used),
            json!({"input": 12, "cost": 0.75})
        );
        let other = Headless {
            conversation: "c2".into(),
            ..headless(true)
        };
        assert!(other.begin().is_err());
    }
}
