//! What a person has seen of a task's changes: the head of the branch when they last looked, and which files they marked as viewed.
//! `seen.json` in the task's folder: it moves to the trash, comes back and goes with it. It is no state of the task: nothing is decided
//! by it, no event speaks of it, and it may be deleted at any time. It is replaced whole and not synced, without a lock: of two
//! marks that are set in the same instant one may be lost.

use crate::{Place, temporary};
use orange_core::Timestamp;
use orange_sys::error::{IoContext, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

const VERSION: u32 = 1;
/// A file that is larger was not written by Orange.
const MOST_BYTES: u64 = 8 << 20;

/// The look at a branch that a person took last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchLook {
    /// The commit that the branch was at.
    pub head: String,
    pub at: Timestamp,
}

/// What a person has seen of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<BranchLook>,
    /// The content of viewed files, by their paths. A file that has other content now has not been viewed.
    #[serde(default)]
    pub viewed: BTreeMap<String, String>,
    /// What a newer version added.
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            version: VERSION,
            last: None,
            viewed: BTreeMap::new(),
            other: Map::new(),
        }
    }
}

fn file(place: &Place) -> PathBuf {
    place.path.join("seen.json")
}

impl Seen {
    /// Nothing, where nothing can be read.
    pub fn read(place: &Place) -> Seen {
        let mut text = String::new();
        let read = File::open(file(place))
            .and_then(|opened| opened.take(MOST_BYTES).read_to_string(&mut text));
        match read {
            Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
            Err(_) => Seen::default(),
        }
    }

    /// Changes it, unless a version has written it that knows more than this one.
    pub fn change(place: &Place, change: impl FnOnce(&mut Seen)) -> Result<()> {
        let before = Seen::read(place);
        let mut after = before.clone();
        change(&mut after);
        if after == before || before.version > VERSION {
            return Ok(());
        }
        let path = file(place);
        let text = serde_json::to_vec(&after).unwrap_or_default();
        temporary::write_unsynced(&path, text).doing("write", &path)
    }

    /// Whether this content of a file was marked as viewed.
    pub fn has_viewed(&self, path: &str, content: &str) -> bool {
        self.viewed.get(path).is_some_and(|known| known == content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &std::path::Path) -> Place {
        Place {
            project: "shop".to_owned(),
            name: "login".to_owned(),
            path: folder.to_owned(),
        }
    }

    #[test]
    fn what_a_newer_version_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let look = BranchLook {
            head: "abc".to_owned(),
            at: Timestamp::UNIX_EPOCH,
        };
        std::fs::write(file(&place), r#"{"version":1,"comments":[3]}"#).unwrap();
        Seen::change(&place, |seen| seen.last = Some(look.clone())).unwrap();
        let text = std::fs::read_to_string(file(&place)).unwrap();
        assert!(text.contains(r#""comments":[3]"#), "{text}");
        assert_eq!(Seen::read(&place).last, Some(look));
        std::fs::write(file(&place), r#"{"version":2,"viewed":{}}"#).unwrap();
        Seen::change(&place, |seen| seen.last = None).unwrap();
        Seen::change(&place, |seen| {
            seen.viewed.insert("a".to_owned(), "1".to_owned());
        })
        .unwrap();
        let text = std::fs::read_to_string(file(&place)).unwrap();
        assert_eq!(text, r#"{"version":2,"viewed":{}}"#);
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        for text in ["", "{", "[]", "\0\0", r#"{"version":"x"}"#] {
            std::fs::write(file(&place), text).unwrap();
            assert_eq!(Seen::read(&place), Seen::default(), "{text}");
        }
        Seen::change(&place, |seen| {
            seen.viewed.insert("a".to_owned(), "1".to_owned());
        })
        .unwrap();
        let seen = Seen::read(&place);
        assert!(seen.has_viewed("a", "1") && !seen.has_viewed("a", "2"));
        assert!(!seen.has_viewed("b", "1"));
    }
}
