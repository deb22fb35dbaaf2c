//! What a rescue's commit message says, for people and for Orange; and how a rescue is called.

use orange_core::Timestamp;
use serde::Serialize;
use std::fmt::Write;

/// Why and of what a rescue was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RescueNote {
    pub time: Timestamp,
    pub reason: String,
    #[serde(skip)]
    pub task_id: String,
    pub branch: Option<String>,
    /// Where HEAD was; None before the first commit.
    pub head: Option<String>,
    /// A commit of what was staged and differs from the files.
    pub staged: Option<String>,
    /// A merge, rebase, cherry-pick or revert that was under way.
    pub operation: Option<String>,
    pub files: usize,
    pub commits: usize,
    /// The folder of copies, in the task's `rescued`.
    pub raw: Option<String>,
}

impl RescueNote {
    /// Whether there is anything to bring back.
    pub fn holds_work(&self) -> bool {
        self.files > 0 || self.commits > 0 || self.staged.is_some() || self.raw.is_some()
    }

    pub(super) fn message(&self) -> String {
        let reason = one_line(&self.reason);
        let mut text = format!(
            "rescue: {reason}\n\n\
             Saved by orange before something that might have destroyed it, untracked files included.\n\
             Ignored files are not in it.\n\n"
        );
        let mut add = |name: &str, value: &str| {
            let _ = writeln!(text, "Orange-{name}: {}", one_line(value));
        };
        add("Reason", &reason);
        add("Task", &self.task_id);
        add("Time", &self.time.to_string());
        add("Files", &self.files.to_string());
        add("Commits", &self.commits.to_string());
        let optional = [
            ("Branch", &self.branch),
            ("Head", &self.head),
            ("Staged", &self.staged),
            ("Operation", &self.operation),
            ("Raw", &self.raw),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                add(name, value);
            }
        }
        text
    }

    /// None if the message is not one of ours.
    pub(super) fn parse(message: &str) -> Option<RescueNote> {
        let field = |name: &str| {
            message
                .lines()
                .filter_map(|line| line.strip_prefix("Orange-")?.strip_prefix(name))
                .find_map(|rest| rest.strip_prefix(": ").map(str::to_owned))
        };
        let count = |name: &str| field(name).and_then(|text| text.parse().ok()).unwrap_or(0);
        Some(RescueNote {
            reason: field("Reason").unwrap_or_default(),
            task_id: field("Task")?,
            branch: field("Branch"),
            time: field("Time")?.parse().ok()?,
            head: field("Head"),
            staged: field("Staged"),
            operation: field("Operation"),
            files: count("Files"),
            commits: count("Commits"),
            raw: field("Raw"),
        })
    }
}

/// A time as a part of a ref: `20261115T113822.045Z`.
pub(crate) fn name_of(time: Timestamp) -> String {
    let milliseconds = time.as_millisecond().rem_euclid(1000);
    format!("{}.{milliseconds:03}Z", time.strftime("%Y%m%dT%H%M%S"))
}

/// The number of a rescue among several of one millisecond, from 1.
pub(crate) fn number_of(name: &str) -> u32 {
    let number = name
        .rsplit_once('-')
        .and_then(|(_, number)| number.parse().ok());
    number.unwrap_or(1)
}

/// When a rescue was made, as its name says; several of one millisecond are numbered. None for what is no name of one.
pub fn time_of(name: &str) -> Option<Timestamp> {
    let (time, number) = name.split_once('Z')?;
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S%.f", time).ok()?;
    let numbered = |rest: &str| rest.parse::<u32>().is_ok();
    let is_name = number.is_empty() || number.strip_prefix('-').is_some_and(numbered);
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    is_name.then(|| time.timestamp())
}

/// A task id as a part of a ref.
pub(crate) fn escaped(id: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    id.bytes().map(escape).collect()
}

pub(crate) fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).map(|code| u8::from_str_radix(code, 16));
        if let Some(Ok(byte)) = code {
            bytes.push(byte);
            bytes.extend(part.bytes().skip(2));
        } else {
            bytes.push(b'%');
            bytes.extend(part.bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn one_line(text: &str) -> String {
    text.split(char::is_control)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let mut note = RescueNote {
            reason: "release".into(),
            task_id: "abc".into(),
            branch: Some("feature/ä".into()),
            time: Timestamp::from_millisecond(1_700_000_000_123).unwrap(),
            head: Some("1".repeat(40)),
            staged: None,
            operation: Some("rebase".into()),
            files: 3,
            commits: 2,
            raw: None,
        };
        assert_eq!(RescueNote::parse(&note.message()), Some(note.clone()));
        note.reason = "two\nOrange-Task: evil\r\nlines".into();
        let read = RescueNote::parse(&note.message()).unwrap();
        assert_eq!(read.reason, "two Orange-Task: evil lines");
        assert_eq!(read.task_id, "abc");
        assert_eq!(RescueNote::parse("some other commit\n"), None);
    }

    #[test]
    fn names_tell_when_a_rescue_was_made() {
        let time: Timestamp = "2026-11-15T11:38:22.045Z".parse().unwrap();
        assert_eq!(time_of(&name_of(time)), Some(time));
        assert_eq!(time_of("20261115T113822.045Z-12"), Some(time));
        for other in [
            "",
            "latest",
            ".part-1-2",
            "20261115T113822",
            "20269999T113822.045Z",
            "20261115T113822.045Z-x",
        ] {
            assert_eq!(time_of(other), None, "{other}");
        }
    }

    #[test]
    fn names_sort_by_time_and_ids_survive() {
        let at = |milliseconds| name_of(Timestamp::from_millisecond(milliseconds).unwrap());
        assert_eq!(at(1_700_000_000_045), "20231114T221320.045Z");
        assert!(at(1_700_000_000_045) < at(1_700_000_000_046));
        for id in [
            "V1StGXR8_Z5jdHi6B-myT",
            "old/branch.lock",
            "a%2Fb",
            "ä ~^:?*[\\",
        ] {
            let escaped = escaped(id);
            assert!(!escaped.contains(['/', '.', ' ', '~']), "{escaped}");
            assert_eq!(unescaped(&escaped), id);
        }
    }
}
