//! What a person should know of a listed task besides its status, in one line.

use crate::call::Call;
use crate::runs::{Doing, State};
use crate::sessions::SessionState;
use crate::views::inbox;
use crate::views::list::{Checks, TaskRow};
use orange_core::naming::counted;
use orange_core::workflow::Intent;
use orange_core::{Text, text};

/// Of so many tasks the question is read from their files; a longer list is not read to its end.
pub const MOST_LOOKS: usize = 100;

/// For the row itself, before its summary.
pub fn in_row(shown: &TaskRow<'_>) -> Option<Text> {
    match stopped(shown) {
        Some(what) => Some(with_checks(shown, what)),
        None => (shown.checks == Some(Checks::Failed)).then(|| "✗ checks".into()),
    }
}

fn with_checks(shown: &TaskRow<'_>, what: Text) -> Text {
    if shown.checks == Some(Checks::Failed) {
        text!("✗ checks · {}", what)
    } else {
        what
    }
}

/// Why a task needs a person, or what keeps it from going on.
fn stopped(shown: &TaskRow<'_>) -> Option<Text> {
    let row = shown.listed;
    if let Some(damage) = &row.damaged {
        return Some(damage.as_str().into());
    }
    let attention = row.attention.as_ref();
    let attention = attention.map(|what| format!("needs attention: {what}").into());
    attention.or_else(|| Some(shown.halted()?.words()))
}

/// The same as a sentence of its own, below the row: what its status asks of the person too. `looks` counts down how many
/// tasks may still be read.
pub fn below_row(call: &Call, shown: &TaskRow<'_>, looks: &mut usize) -> Option<Text> {
    let row = shown.listed;
    // The question itself first: a line is short, and it differs from task to task.
    if let Some(asked) = shown.halted().and_then(asked_in_window) {
        return Some(asked.into());
    }
    if let Some(what) = stopped(shown) {
        // A line that is short has no room for what its place says already.
        let attention = row.attention.as_deref().filter(|_| row.damaged.is_none());
        let attention = attention.map(|what| what.strip_prefix("its ").unwrap_or(what));
        let what = attention.map_or(what, Text::from);
        return Some(with_checks(shown, what));
    }
    let info = shown.info()?;
    let gone = || {
        let is_gone = row.needs_me && shown.session == SessionState::Gone;
        let role = info.expects.filter(|_| is_gone)?;
        Some(format!("its {role} is gone").into())
    };
    let asked = || {
        let in_general = info.notifies.filter(|_| row.needs_me)?.to_owned();
        // Who is asked something else is told that first.
        if inbox::offers(row, Intent::Merge)
            && let Some(known) = before_merge(shown).or_else(|| passed(shown))
        {
            return Some(known.into());
        }
        *looks = looks.checked_sub(1)?;
        let asked = inbox::asked_in_brief(call, row).unwrap_or(in_general);
        Some(asked.into())
    };
    gone().or_else(asked).or_else(|| in_row(shown))
}

/// What an agent asks in its window: `asks permission: Bash: npm install`.
fn asked_in_window(doing: &Doing) -> Option<String> {
    let asks = matches!(doing.state, State::AsksPermission | State::WaitsForInput);
    let is_told = asks && !doing.text.is_empty();
    is_told.then(|| format!("{}: {}", doing.state.as_str(), doing.text))
}

/// What passed its review, so that rows of several such tasks differ: `review passed: 2 files, +4 −0, checks ✓`.
fn passed(shown: &TaskRow<'_>) -> Option<String> {
    let stat = shown
        .listed
        .diff
        .as_deref()
        .filter(|stat| stat.commits > 0)?;
    shown.listed.reviewed.as_ref()?;
    let checks = match shown.checks {
        Some(Checks::Passed) => ", checks ✓",
        Some(Checks::Running) => ", checks still run",
        Some(Checks::Stale) => ", checks ✓ on an older commit",
        Some(Checks::Failed | Checks::FailedOnBase) | None => "",
    };
    let files = counted(stat.files as usize, "file");
    let (added, deleted) = (stat.added, stat.deleted);
    Some(format!(
        "review passed: {files}, +{added} −{deleted}{checks}"
    ))
}

/// What speaks against a merge, in words: a narrow screen has no room for the columns that show it.
fn before_merge(shown: &TaskRow<'_>) -> Option<String> {
    const NAMED: usize = 3;
    let stat = shown.listed.diff.as_deref();
    let mut words = Vec::new();
    match shown.checks {
        Some(Checks::Failed) => words.push("checks failed".to_owned()),
        Some(Checks::FailedOnBase) => {
            words.push("checks fail, as they did before".to_owned());
        }
        Some(Checks::Running | Checks::Passed | Checks::Stale) | None => {}
    }
    let files = stat.and_then(|stat| stat.conflicts.as_deref());
    let files = files.unwrap_or_default();
    if !files.is_empty() {
        let mut named: Vec<&str> = files.iter().take(NAMED).map(String::as_str).collect();
        let more = format!("{} more", files.len().saturating_sub(NAMED));
        if files.len() > NAMED {
            named.push(&more);
        }
        words.push(format!("conflicts in {}", named.join(", ")));
    }
    let since_review = stat.and_then(|stat| stat.since_review);
    if let Some(commits) = since_review.filter(|commits| *commits > 0) {
        let commits = counted(commits as usize, "commit");
        words.push(format!("{commits} since review"));
    }
    (!words.is_empty()).then(|| words.join("; "))
}
