//! The Markdown of a transcript, in pieces, so that whoever writes one needs not hold it: what was said to an agent and what
//! it said in one iteration, then what came of it.

use crate::Timestamp;
use crate::naming::one_line;
use crate::work::execution::{CriterionResult, IterationKind};
use crate::workflow::PhaseStatus;
use std::fmt::{self, Write};
use std::time::Duration;

/// The line between two parts, with blank lines around it.
const RULE: &str = "\n---\n\n";

/// How the part begins that says what came of the iteration.
pub const COMPLETION: &str = "\n---\n\n## Completion\n\n";

/// What stands where the rest of a response was left out, because the transcript is as long as it may be.
pub const CUT_OFF: &str =
    "\n\n[the rest of what was said is left out: this transcript is as long as one may be]\n";

/// What stands for a figure that is not known yet.
const UNKNOWN: &str = "-";

/// The name of a transcript's file. Phases count from 1 in their plan.
pub fn file_name(position: usize, phase: &str, iteration: u32) -> String {
    format!("{position:02}-{phase}-{iteration:03}.md")
}

/// The phase and the iteration that a file's name tells.
pub fn of_file_name(name: &str) -> Option<(&str, u32)> {
    let (_, rest) = name.strip_suffix(".md")?.split_once('-')?;
    let (phase, iteration) = rest.rsplit_once('-')?;
    Some((phase, iteration.parse().ok()?))
}

/// How a transcript begins. Its figures are known at the end, so it is written again then, before the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Header<'a> {
    pub task: &'a str,
    pub phase: &'a str,
    pub iteration: u32,
    /// What it was for: only a judge's says so.
    pub kind: IterationKind,
    /// When the iteration began.
    pub timestamp: Timestamp,
    /// None: it has not ended.
    pub duration: Option<Duration>,
    /// All of them; None: they are not known.
    pub tokens: Option<u64>,
    /// Of the phase after it.
    pub status: PhaseStatus,
}

impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (task, phase, iteration) = (self.task, self.phase, self.iteration);
        let duration = self.duration.map_or_else(|| UNKNOWN.to_owned(), lasted);
        let tokens = self
            .tokens
            .map_or_else(|| UNKNOWN.to_owned(), |tokens| tokens.to_string());
        let judge = match self.kind {
            IterationKind::Judge => " (judge)",
            _ => "",
        };
        writeln!(
            f,
            "# Transcript: {task} / {phase} / iteration {iteration}{judge}\n"
        )?;
        writeln!(f, "**Timestamp**: {}", self.timestamp)?;
        writeln!(f, "**Duration**: {duration}")?;
        writeln!(f, "**Tokens**: {tokens}")?;
        writeln!(f, "**Status**: {}", self.status)
    }
}

/// Whether a transcript that begins so was written before its iteration was over.
pub fn is_open_head(start: &str) -> bool {
    let head = start.split(RULE).next().unwrap_or_default();
    let mut values = head
        .lines()
        .filter_map(|line| line.strip_prefix("**Duration**: "));
    values.next() == Some(UNKNOWN)
}

/// `5m 32s`, as transcripts have it.
pub fn lasted(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m {rest}s"),
        (hours, minutes) => format!("{hours}h {minutes}m {rest}s"),
    }
}

/// What stands between the header and the prompt.
pub fn before_prompt() -> String {
    format!("{RULE}## Prompt\n\n")
}

/// What stands between the prompt and what the agent says.
pub fn before_response() -> String {
    format!("{RULE}## Response\n\n")
}

/// What stands behind the prompt, or the response, if it did not end its last line.
pub fn end_of_text(last: Option<u8>) -> &'static str {
    match last {
        None | Some(b'\n') => "",
        Some(_) => "\n",
    }
}

/// What a review changed, and under which rescue it is kept.
pub fn taken_back(rescue: &str) -> String {
    format!(
        "- Changes taken back: yes (kept as rescue {})\n",
        one_line(rescue)
    )
}

/// What came of the criteria, and whether the phase is complete: `no (continuing to next iteration)`.
pub fn completion(checks: &[CriterionResult], complete: &str) -> String {
    let mut out = COMPLETION.to_owned();
    for check in checks {
        let passed = match check.passed {
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
            None => match one_line(&check.detail) {
                why if why.is_empty() => "not checked".to_owned(),
                why => format!("not checked: {why}"),
            },
        };
        line(&mut out, &label(&check.criterion), &passed);
    }
    line(&mut out, "Phase complete", &one_line(complete));
    out
}

fn line(out: &mut String, name: &str, value: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(out, "- {name}: {value}");
}

fn label(criterion: &str) -> String {
    let criterion = one_line(criterion);
    match criterion.split_once(": ") {
        Some(("coverage_above", percent)) => format!("Coverage above {percent}%"),
        Some(("files_exist", files)) => format!("Files exist ({files})"),
        Some(("command", command)) => format!("Command `{command}`"),
        _ => match criterion.as_str() {
            "all_tests_pass" => "Tests passing".to_owned(),
            "no_lint_errors" => "Lint clean".to_owned(),
            "agent_confirms" => "Agent confirms".to_owned(),
            _ => criterion,
        },
    }
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    Created,
    Modified,
    Deleted,
    Renamed,
}

impl FileAction {
    fn as_str(self) -> &'static str {
        match self {
            FileAction::Created => "created",
            FileAction::Modified => "modified",
            FileAction::Deleted => "deleted",
            FileAction::Renamed => "renamed",
        }
    }
}

/// A row of the table of changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFileRow {
    pub path: String,
    pub action: FileAction,
    /// None: a binary file.
    pub lines: Option<(u64, u64)>,
}

/// The table of changed files.
pub fn files_changed(files: &[ChangedFileRow]) -> String {
    let mut out =
        format!("{RULE}## Files Changed\n\n| File | Action | Lines |\n|------|--------|-------|\n");
    for file in files {
        // A bar would end the cell.
        let path = one_line(&file.path.replace('|', "\\|"));
        let lines = match file.lines {
            None => "binary".to_owned(),
            Some((0, 0)) => "-".to_owned(),
            Some((added, 0)) => format!("+{added}"),
            Some((0, removed)) => format!("-{removed}"),
            Some((added, removed)) => format!("+{added}, -{removed}"),
        };
        let _ = writeln!(out, "| {path} | {} | {lines} |", file.action.as_str());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
# Transcript: TASK-001 / implement / iteration 3

**Timestamp**: 2026-01-10T11:15:00Z
**Duration**: 5m 32s
**Tokens**: 8500
**Status**: running

---

## Prompt

[Full prompt content here]

---

## Response

[Full Claude response here]

---

## Completion

- Tests passing: yes
- Lint clean: yes
- Phase complete: no (continuing to next iteration)

---

## Files Changed

| File | Action | Lines |
|------|--------|-------|
| src/auth/oauth.go | modified | +45, -12 |
| src/auth/oauth_test.go | created | +120 |
";

    fn check(criterion: &str, passed: Option<bool>, detail: &str) -> CriterionResult {
        CriterionResult {
            criterion: criterion.into(),
            passed,
            detail: detail.into(),
        }
    }

    #[test]
    fn the_pieces_make_a_transcript() {
        let header = Header {
            task: "TASK-001",
            phase: "implement",
            iteration: 3,
            kind: IterationKind::Turn,
            timestamp: "2026-01-10T11:15:00Z".parse().unwrap(),
            duration: Some(Duration::from_secs(332)),
            tokens: Some(8500),
            status: PhaseStatus::Running,
        };
        let checks = [
            check("all_tests_pass", Some(true), ""),
            check("no_lint_errors", Some(true), ""),
        ];
        let file = |path: &str, action, lines| ChangedFileRow {
            path: path.into(),
            action,
            lines: Some(lines),
        };
        let files = [
            file("src/auth/oauth.go", FileAction::Modified, (45, 12)),
            file("src/auth/oauth_test.go", FileAction::Created, (120, 0)),
        ];
        let text = |text: &str| format!("{text}{}", end_of_text(text.bytes().last()));
        let whole = [
            header.to_string(),
            before_prompt(),
            text("[Full prompt content here]"),
            before_response(),
            text("[Full Claude response here]\n"),
            completion(&checks, "no (continuing to next iteration)"),
            files_changed(&files),
        ];
        assert_eq!(whole.concat(), WHOLE);
        let open = Header {
            duration: None,
            tokens: None,
            ..header
        };
        assert!(
            open.to_string()
                .contains("**Duration**: -\n**Tokens**: -\n")
        );
        let judge = Header {
            kind: IterationKind::Judge,
            ..open
        };
        assert!(judge.to_string().contains("/ iteration 3 (judge)\n"));
        assert!(is_open_head(&format!("{open}{}text", before_prompt())));
        assert!(!is_open_head(WHOLE));
        assert!(!is_open_head("# notes\n\n---\n\n**Duration**: -\n"));
    }

    #[test]
    fn a_file_is_named_after_its_iteration() {
        assert_eq!(file_name(2, "implement", 3), "02-implement-003.md");
        assert_eq!(of_file_name("02-implement-003.md"), Some(("implement", 3)));
        assert_eq!(
            of_file_name("11-two-words-1000.md"),
            Some(("two-words", 1000))
        );
        assert_eq!(of_file_name("notes.md"), None);
    }

    #[test]
    fn nothing_breaks_a_line_or_a_table() {
        let checks = [
            check("coverage_above: 80", Some(false), "75 %"),
            check("command: make\nlint", None, "no consent\nyet"),
            check("files_exist: a, b", None, ""),
            check("agent_confirms", Some(true), ""),
        ];
        assert_eq!(
            completion(&checks, "yes"),
            "\n---\n\n## Completion\n\n- Coverage above 80%: no\n- Command `make lint`: not checked: no consent yet\n\
             - Files exist (a, b): not checked\n- Agent confirms: yes\n- Phase complete: yes\n"
        );
        let file = |path: &str, action, lines| ChangedFileRow {
            path: path.into(),
            action,
            lines,
        };
        let files = [
            file("a|b\nc", FileAction::Deleted, Some((0, 7))),
            file("logo.png", FileAction::Renamed, None),
            file("run.sh", FileAction::Modified, Some((0, 0))),
        ];
        let table = files_changed(&files);
        let rows: Vec<&str> = table.lines().skip(7).collect();
        assert_eq!(
            rows,
            [
                "| a\\|b c | deleted | -7 |",
                "| logo.png | renamed | binary |",
                "| run.sh | modified | - |"
            ]
        );
    }

    #[test]
    fn a_time_is_short() {
        for (seconds, wanted) in [(0, "0s"), (59, "59s"), (332, "5m 32s"), (3600, "1h 0m 0s")] {
            assert_eq!(lasted(Duration::from_secs(seconds)), wanted);
        }
    }
}
