//! Conflicts for people: which files, which lines, and what to do about them.

use crate::error::{Code, Error};
use crate::git::merge::{Conflict, Hunk};
use orange_core::history::payload::{ConflictNote, HunkNote};
use orange_core::merge::Strategy;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::workflow::Intent;
use orange_core::{Action, text};
use std::fmt::Write as _;

/// How much is spelled out in a message; the journal has all of it.
const FILES: usize = 20;

const HUNKS: usize = 3;

const LINES: usize = 4;

const WIDTH: usize = 100;

/// What git's word for a kind means here.
fn meaning(conflict: &Conflict, target: &str, label: &str) -> String {
    let (gone, kept) = match conflict.there {
        (false, _) => (target, label),
        (true, _) => (label, target),
    };
    match conflict.kind.as_str() {
        "contents" if conflict.new => "both added it, with different content".into(),
        "contents" if conflict.hunks.is_empty() => "both changed it".into(),
        "contents" => "both changed the same lines".into(),
        "binary" => "both changed it, and it is binary".into(),
        "modify/delete" => format!("deleted in {gone}, changed in {kept}"),
        "rename/delete" => format!("deleted in {gone}, renamed in {kept}"),
        "rename/rename" => "both renamed it, to different names".into(),
        "add/add" => "both added it, with different content".into(),
        "directory rename suggested" => "added to a folder that the other side renamed".into(),
        "file/directory" => "a file on one side, a folder on the other".into(),
        kind if kind.contains("submodule") => "both moved the submodule".into(),
        other => other.to_owned(),
    }
}

/// The refusal, with the files and the lines.
/// `bring` is where the target's version is: here, or on the remote. `worker`: one is there that can be told.
pub(crate) fn conflict(
    task: &Task,
    target: &str,
    bring: &str,
    strategy: Strategy,
    conflicts: &[Conflict],
    worker: bool,
) -> Error {
    let label = task.label();
    let mut text = format!(
        "merging {label} into {target} conflicts in {}; nothing was changed",
        counted(conflicts.len(), "file")
    );
    for conflict in conflicts.iter().take(FILES) {
        let _ = write!(
            text,
            "\n  {}: {}",
            conflict.path,
            meaning(conflict, target, &label)
        );
        for hunk in conflict.hunks.iter().take(HUNKS) {
            let _ = write!(text, "\n    line {} of {target}", hunk.line);
            side(&mut text, target, &hunk.ours);
            side(&mut text, &label, &hunk.theirs);
        }
        if conflict.hunks.len() > HUNKS {
            let more = conflict.hunks.len() - HUNKS;
            let _ = write!(text, "\n    and {} more", counted(more, "place"));
        }
    }
    if conflicts.len() > FILES {
        let _ = write!(
            text,
            "\n  and {} more",
            counted(conflicts.len() - FILES, "file")
        );
    }
    let ask = strategy.conflict_request(bring);
    let tell = match (task.offers(Intent::RequestChanges), worker) {
        (true, _) => Action::request_changes(task.name(), ask),
        (_, true) => Action::send(task.name(), None, ask),
        (_, false) => Action::respawn_with(task.name(), ask),
    };
    let by_hand = match strategy {
        Strategy::Rebase => text!(
            "{}, resolve, continue the rebase",
            Action::rebase_onto(bring)
        ),
        Strategy::Squash | Strategy::Merge | Strategy::Ff => {
            text!("{}, resolve, commit", Action::merge_branch(bring))
        }
    };
    Error::new(Code::Conflict, text).hint(text!(
        "let its agent sort it out: {}; or do it yourself in {}: {}, then merge again",
        tell,
        Action::shell(task.name()),
        by_hand
    ))
}

fn side(text: &mut String, whose: &str, lines: &[String]) {
    if lines.is_empty() {
        let _ = write!(text, "\n      {whose}: (nothing)");
    }
    for line in lines.iter().take(LINES) {
        let line: String = line.chars().take(WIDTH).collect();
        let _ = write!(text, "\n      {whose}: {line}");
    }
    if lines.len() > LINES {
        let _ = write!(
            text,
            "\n      {whose}: … {}",
            counted(lines.len() - LINES, "more line")
        );
    }
}

/// a.rs, b.rs and 3 more
pub(crate) fn listed(paths: &[&str], all: usize) -> String {
    let shown: Vec<&str> = paths.iter().take(5).copied().collect();
    match all.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The same for the journal.
pub(crate) fn notes(conflicts: &[Conflict]) -> Vec<ConflictNote> {
    let hunk = |hunk: &Hunk| HunkNote {
        line: hunk.line,
        lines: [hunk.ours.len(), hunk.theirs.len()],
    };
    let conflict = |one: &Conflict| ConflictNote {
        path: one.path.clone(),
        kind: one.kind.clone(),
        hunks: one.hunks.iter().map(hunk).collect(),
    };
    // A journal is read whole by every command.
    conflicts.iter().take(100).map(conflict).collect()
}
