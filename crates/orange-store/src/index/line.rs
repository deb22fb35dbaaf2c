//! A task as one value of the index: what lists show and filter by, and what a refresh compares. SQLite takes
//! its time for every column of every row and reads whole pages, and a list needs this of every task.

use super::counts::needs_me;
use super::{IndexEntry, Stamp};
use orange_core::id::{Key, Prefix};
use orange_core::usage::Spending;
use orange_core::verification::CheckState;
use orange_core::workflow::BlockedReason;

/// What a list reads of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedLine<'a> {
    /// None: there was nothing to read.
    pub(super) stamp: Option<Stamp>,
    pub(super) indexed_at: i64,
    pub(super) key: Option<Key>,
    pub(super) priority: i64,
    pub(super) updated_second: i64,
    pub(super) folder: &'a str,
    pub(super) id: &'a str,
    pub(super) project: &'a str,
    pub(super) branch: &'a str,
    pub(super) status: &'a str,
    pub(super) summary: &'a str,
    pub(super) damaged: Option<&'a str>,
    pub(super) attention: Option<&'a str>,
    /// The state of its last check, and the commit that it speaks of.
    pub(super) check: Option<CheckState>,
    pub(super) checked: Option<&'a str>,
    pub(super) reviewed: Option<&'a str>,
    /// As JSON.
    pub(super) spending: Option<&'a str>,
    /// As far as the task itself tells.
    pub(super) needs_me: bool,
    pub(super) queue: &'a str,
    pub(super) category: &'a str,
    /// One tag a line.
    pub(super) tags: &'a str,
    /// It has a tmux session.
    pub(super) session: Option<&'a str>,
    /// The branch it goes into, where that is not the project's own.
    pub(super) target: Option<&'a str>,
    /// Why it is blocked.
    pub(super) reason: Option<BlockedReason>,
    /// The phase of its plan that it is in.
    pub(super) phase: Option<&'a str>,
}

/// Stands for a number or the length of a text that is not there.
const NONE: i64 = -1;

const NUMBERS: usize = 9;
const TEXTS: usize = 19;

/// Numbers, the lengths of the texts, and the texts end to end.
pub(super) fn write(entry: &IndexEntry) -> Vec<u8> {
    let (task, noted) = (&entry.task, &entry.noted);
    let check = noted.check.as_ref();
    let spending = (noted.spending != Spending::default())
        .then(|| serde_json::to_string(&noted.spending).unwrap_or_default());
    let numbers: [i64; NUMBERS] = [
        entry.stamp.map_or(NONE, |stamp| stamp.mtime),
        entry.stamp.map_or(NONE, |stamp| stamp.size),
        entry.stamp.map_or(NONE, |stamp| stamp.inode),
        entry.read_at,
        task.key.map_or(NONE, |key| i64::from(key.number)),
        task.priority as i64,
        task.updated_at.as_second(),
        check.map_or(NONE, |check| check.state as i64),
        i64::from(needs_me(entry)),
    ];
    let tags = task.tags.join("\n");
    let texts: [Option<&str>; TEXTS] = [
        Some(&entry.folder),
        Some(&task.id),
        Some(&task.project),
        Some(&task.branch),
        Some(task.status.as_str()),
        Some(&task.summary),
        entry.damaged.as_deref(),
        noted.attention.as_deref(),
        Some(task.queue.as_str()),
        Some(task.category.as_str()),
        Some(&tags),
        task.tmux_session.as_deref(),
        task.target_branch.as_deref(),
        task.key.as_ref().map(|key| key.prefix.as_str()),
        check.and_then(|check| check.head.as_deref()),
        noted.reviewed.as_deref(),
        spending.as_deref(),
        task.blocked_reason.map(BlockedReason::as_str),
        task.current_phase.as_deref(),
    ];
    let mut bytes = Vec::with_capacity(512);
    let lengths = texts.map(|text| text.map_or(NONE, |text| text.len() as i64));
    for number in numbers.into_iter().chain(lengths) {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for text in texts.into_iter().flatten() {
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

/// None: this program did not write it.
pub(super) fn read(bytes: &[u8]) -> Option<PackedLine<'_>> {
    let (head, texts) = bytes.split_at_checked((NUMBERS + TEXTS) * 8)?;
    let texts = std::str::from_utf8(texts).ok()?;
    let mut numbers = head
        .as_chunks()
        .0
        .iter()
        .map(|bytes| i64::from_le_bytes(*bytes));
    let mut number = || numbers.next();
    let (mtime, size, inode) = (number()?, number()?, number()?);
    let (indexed_at, key_number) = (number()?, number()?);
    let (priority, updated_second) = (number()?, number()?);
    let (check, needs_me) = (number()?, number()? != 0);
    let check = CheckState::ALL.iter().find(|state| **state as i64 == check);
    let mut at = 0_usize;
    let mut optional = || -> Option<Option<&str>> {
        let length = number()?;
        if length == NONE {
            return Some(None);
        }
        let start = at;
        at = start.checked_add(usize::try_from(length).ok()?)?;
        texts.get(start..at).map(Some)
    };
    let mut text = || optional()?;
    let (folder, id, project, branch) = (text()?, text()?, text()?, text()?);
    let (status, summary) = (text()?, text()?);
    let (damaged, attention) = (optional()?, optional()?);
    let mut text = || optional()?;
    let (queue, category, tags) = (text()?, text()?, text()?);
    let (session, target) = (optional()?, optional()?);
    let key = |prefix: Prefix| {
        let number = u32::try_from(key_number).ok()?;
        Some(Key { number, prefix })
    };
    let key = match optional()? {
        Some(prefix) => Some(key(prefix.parse().ok()?)?),
        None => None,
    };
    let (checked, reviewed, spending) = (optional()?, optional()?, optional()?);
    let reason = match optional()? {
        Some(reason) => Some(reason.parse().ok()?),
        None => None,
    };
    let phase = optional()?;
    Some(PackedLine {
        stamp: (size != NONE).then_some(Stamp { mtime, size, inode }),
        indexed_at,
        key,
        priority,
        updated_second,
        folder,
        id,
        project,
        branch,
        status,
        summary,
        damaged,
        attention,
        check: check.copied(),
        checked,
        reviewed,
        spending,
        needs_me,
        queue,
        category,
        tags,
        session,
        target,
        reason,
        phase,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Noted;
    use orange_core::task::Task;
    use orange_core::verification::LastCheck;

    #[test]
    fn what_is_written_is_read_and_nothing_shorter() {
        let mut entry = IndexEntry {
            folder: "shop/abc".into(),
            task: Task {
                id: "abc".into(),
                summary: "Grüße\n\u{0}\u{1f}".into(),
                tags: vec!["a".into(), "b".into()],
                blocked_reason: Some(BlockedReason::Input),
                current_phase: Some("implement".into()),
                ..Task::default()
            },
            damaged: None,
            noted: Noted {
                attention: Some(String::new()),
                check: Some(LastCheck {
                    state: CheckState::FailedOnBase,
                    head: Some("c1".into()),
                }),
                reviewed: Some("c2".into()),
                spending: serde_json::from_str(r#"{"open":[{"run":"r"}]}"#).unwrap(),
                costs: Vec::new(),
            },
            mentions: Vec::new(),
            stamp: Some(Stamp {
                mtime: -5,
                size: 7,
                inode: i64::MAX,
            }),
            read_at: 9,
        };
        let bytes = write(&entry);
        let line = read(&bytes).unwrap();
        assert_eq!(
            (line.folder, line.id, line.tags),
            ("shop/abc", "abc", "a\nb")
        );
        assert_eq!(
            (line.summary, line.status),
            ("Grüße\n\u{0}\u{1f}", "pending")
        );
        assert_eq!((line.damaged, line.attention), (None, Some("")));
        assert!(line.check == Some(CheckState::FailedOnBase) && line.needs_me);
        assert_eq!((line.checked, line.reviewed), (Some("c1"), Some("c2")));
        let spending: Spending = serde_json::from_str(line.spending.unwrap()).unwrap();
        assert_eq!(spending, entry.noted.spending);
        assert_eq!((line.stamp, line.indexed_at), (entry.stamp, 9));
        assert_eq!((line.key, line.priority), (None, 2));
        let place = (line.reason, line.phase);
        assert_eq!(place, (Some(BlockedReason::Input), Some("implement")));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None);
        }
        entry.stamp = None;
        for key in ["TASK-004", "API-123456"] {
            entry.task.key = key.parse().ok();
            let bytes = write(&entry);
            let line = read(&bytes).unwrap();
            assert_eq!((line.stamp, line.key), (None, entry.task.key));
        }
    }
}
