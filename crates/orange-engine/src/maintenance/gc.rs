//! `gc`: deletes what has expired, and nothing else. Rescues, deleted tasks, screens and rotated logs are kept for
//! as long as the settings say. Each kind goes in steps that a kill cannot leave half done: the next one goes on.

pub mod logs;
pub mod rescues;
pub mod screens;
pub mod trash;

use crate::call::Call;
use crate::error::{Result, plain};
use crate::{access, settings};
use orange_core::{SignedDuration, Timestamp, choice};
use serde::{Serialize, Serializer};
use std::path::Path;
use std::{fs, io};

choice! {
    /// What is kept for a time only; its name is that of the setting.
    pub enum ExpiryKind ("kind of thing that expires") {
        Rescues = "rescue", Trash = "trash", Screens = "screens", Logs = "log",
    }
}

impl ExpiryKind {
    /// One of it, as a person calls it.
    pub fn noun(self) -> &'static str {
        match self {
            ExpiryKind::Rescues => "rescue",
            ExpiryKind::Trash => "deleted task",
            ExpiryKind::Screens => "screen",
            ExpiryKind::Logs => "rotated log",
        }
    }
}

/// Something that has expired: removed, or to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    pub name: String,
    /// When it was made, or put there.
    pub time: Timestamp,
    /// What it takes on disk. A rescue's commits are git's, which shares them; only copies count.
    pub bytes: u64,
}

/// Something that stays although it may have expired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftBehind {
    pub name: String,
    #[serde(rename = "reason")]
    pub why: String,
    /// It should have gone.
    pub failed: bool,
    /// Nobody could look whether it should have gone.
    #[serde(skip)]
    pub unseen: bool,
}

/// What was found of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Swept {
    pub kind: ExpiryKind,
    pub keep_days: u32,
    #[serde(flatten, serialize_with = "with_sums")]
    pub items: Vec<Item>,
    #[serde(rename = "kept")]
    pub left: Vec<LeftBehind>,
}

fn with_sums<S: Serializer>(items: &[Item], to: S) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct ExpiredKeys<'a> {
        count: usize,
        bytes: u64,
        items: &'a [Item],
    }
    let count = items.len();
    let bytes = items.iter().map(|item| item.bytes).sum();
    ExpiredKeys {
        count,
        bytes,
        items,
    }
    .serialize(to)
}

/// What has expired, of every kind.
#[derive(Debug, Clone, Serialize)]
pub struct GcReport {
    pub dry_run: bool,
    pub kinds: Vec<Swept>,
}

impl Swept {
    fn new(kind: ExpiryKind, keep_days: u32) -> Swept {
        Swept {
            kind,
            keep_days,
            items: Vec::new(),
            left: Vec::new(),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum()
    }

    fn stays(&mut self, name: impl Into<String>, why: impl Into<String>) -> &mut LeftBehind {
        self.left.push(LeftBehind {
            name: name.into(),
            why: why.into(),
            failed: false,
            unseen: false,
        });
        let last = self.left.len() - 1;
        &mut self.left[last]
    }

    /// Removed, as far as that was wished for and possible.
    fn note(&mut self, item: Item, outcome: io::Result<()>) {
        match outcome {
            Ok(()) => self.items.push(item),
            Err(error) => self.stays(item.name, plain(&error)).failed = true,
        }
    }
}

/// Deletes what has expired, or only says what that is.
pub fn gc(call: &Call, remove: bool) -> Result<GcReport> {
    access::people_only(call, "delete what has expired")?;
    Ok(GcReport {
        dry_run: !remove,
        kinds: sweep(call, remove)?,
    })
}

/// The same without asking who wants it; removes nothing unless it is to.
pub(crate) fn sweep(call: &Call, remove: bool) -> Result<Vec<Swept>> {
    if !call.store.home().is_dir() {
        return Ok(Vec::new());
    }
    settings::config(call)?;
    let mut all = Vec::new();
    for kind in ExpiryKind::ALL {
        let swept = match kind {
            ExpiryKind::Rescues => rescues::sweep_rescues(call, None, remove),
            ExpiryKind::Trash => trash::sweep_trash(call, remove),
            ExpiryKind::Screens => screens::sweep_screens(call, remove),
            ExpiryKind::Logs => logs::sweep_logs(call, remove),
        };
        // What stops one kind must not hide what became of the others.
        all.push(swept.unwrap_or_else(|error| {
            let mut swept = Swept::new(*kind, 0);
            let left = swept.stays(format!("every {}", kind.noun()), error.message);
            (left.failed, left.unseen) = (true, true);
            swept
        }));
    }
    Ok(all)
}

/// What is older than this has expired. A time in the future never has.
pub(crate) fn so_many_days_ago(call: &Call, days: u32) -> Timestamp {
    let kept = SignedDuration::from_hours(24 * i64::from(days));
    call.now().saturating_sub(kept).unwrap_or(Timestamp::MIN)
}

/// What is gone already, because somebody else was quicker, is no failure.
pub(crate) fn if_there(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a folder with all that is in it, also while another process does the same: whoever finds something gone goes
/// on with what is left.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    loop {
        match if_there(fs::remove_dir_all(path)) {
            Ok(()) if fs::symlink_metadata(path).is_ok() => {}
            outcome => return outcome,
        }
    }
}
