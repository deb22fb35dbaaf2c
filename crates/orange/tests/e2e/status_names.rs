//! Outside `workflow/`, no code names a status: whatever depends on one is a column of its table. Variants, words, SQL and
//! `--status WORD` count; tests, comments and the texts of `--help` do not.

use crate::sources::sources;
use orange_core::task::Status;

/// Where a status may be named: the end of the path, the text that is meant, and why. At most twelve.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "orange/src/commands/task/wait.rs",
        "\"reviewing\"",
        "a goal of `--for`, called as the status it waits for",
    ),
    (
        "orange/src/commands/task/wait.rs",
        "\"done\"",
        "a goal of `--for`, called as the status it waits for",
    ),
    (
        "orange-sim/src/steps.rs",
        "\"stuck\"",
        "the command `orange task stuck`, not the status",
    ),
    (
        "orange/src/cli/suggestions.rs",
        "--status done",
        "an example for people who type `--closed`",
    ),
    (
        "orange/src/cli/suggestions.rs",
        "--status working",
        "an example for people who type `--open`",
    ),
    (
        "orange/src/commands/task/update.rs",
        "--status planning",
        "an example of what to change",
    ),
    (
        "orange-tui/src/verbs.rs",
        "\"cancelled\"",
        "what became of marked tasks: `3 cancelled, 1 refused`",
    ),
    (
        "orange-core/src/work/verdict.rs",
        "\"blocked\"",
        "what a judge says that does not decide",
    ),
    (
        "orange-agents/src/harness/claude/mcp.rs",
        "\"pending\"",
        "what claude says of an MCP server",
    ),
    (
        "orange-fuzz/src/task_file.rs",
        "\"working\"",
        "a crate of checks for tests: any status would do",
    ),
];

/// Words that also name the state of an agent, the result of a check or the outcome of a hook. They count where the line, or
/// the one before it, speaks of a status.
const SHARED: &[&str] = &[
    "working",
    "running",
    "created",
    "completed",
    "failed",
    "finished",
];

/// What a line of code names, as it is called in [`ALLOWED`].
fn named(line: &Line, before: Option<&Line>) -> Vec<String> {
    let mut found = Vec::new();
    let speaks = |line: &Line| {
        let mut texts = line.literals.iter().chain([&line.code]);
        texts.any(|text| text.to_lowercase().contains("status"))
    };
    let is_about_status = speaks(line) || before.is_some_and(speaks);
    for status in Status::ALL {
        let variant = format!("Status::{status:?}");
        if has_word(&line.code, &variant) {
            found.push(variant);
        }
        let word = status.as_str();
        let counts = !SHARED.contains(&word) || is_about_status;
        for literal in &line.literals {
            if literal == word && counts {
                found.push(format!("\"{word}\""));
            }
            let in_sql = literal.contains(&format!("'{word}'"));
            let is_hyphened = word.contains('-') && literal != word && literal.contains(word);
            if in_sql || is_hyphened {
                found.push(format!("'{word}'"));
            }
            let option = format!("--status {word}");
            if has_word(literal, &option) {
                found.push(option);
            }
        }
    }
    // `Workflow::in_use` has every workflow.
    for shortcut in ["Status as ", "Workflow::named(WorkflowName::"] {
        if line.code.contains(shortcut) {
            found.push(shortcut.trim_end().to_owned());
        }
    }
    found
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

/// A line of a source file: its code without comments and attributes, and the texts that begin on it. A text is in the code
/// as `""`.
#[derive(Default)]
pub(crate) struct Line {
    code: String,
    pub(crate) literals: Vec<String>,
}

/// Reads as much of Rust as is needed to tell code, texts, comments and attributes apart.
pub(crate) fn lines(source: &str) -> Vec<Line> {
    let source = source
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default();
    let mut lines = vec![Line::default()];
    let mut rest = source;
    // How many brackets are open, inside an attribute.
    let mut attribute: Option<usize> = None;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if attribute.is_none() && (rest.starts_with("#[") || rest.starts_with("#![")) {
            attribute = Some(0);
        }
        if rest.starts_with("//") {
            length = rest.find('\n').unwrap_or(rest.len());
        } else if let Some(quote) = ["'\"'", "'\\\"'"]
            .iter()
            .find(|quote| rest.starts_with(**quote))
        {
            length = quote.len();
        } else if let Some((literal, taken)) = text_at(rest) {
            length = taken;
            if attribute.is_none() {
                let line = lines.last_mut().unwrap();
                line.code.push_str("\"\"");
                line.literals.push(literal.to_owned());
            }
        } else if let Some(open) = &mut attribute {
            match first {
                '[' => *open += 1,
                ']' => *open -= 1,
                _ => {}
            }
            attribute = attribute.filter(|open| *open > 0 || first != ']');
        } else {
            lines.last_mut().unwrap().code.push(first);
        }
        let (taken, left) = rest.split_at(length);
        for _ in taken.matches('\n') {
            lines.push(Line::default());
        }
        rest = left;
    }
    lines
}

/// The text that begins here, raw or not, and how many bytes it takes.
fn text_at(rest: &str) -> Option<(&str, usize)> {
    let raw = rest
        .strip_prefix('r')
        .filter(|after| after.starts_with(['"', '#']));
    if let Some(raw) = raw {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = inner.find(&end)?;
        return Some((&inner[..length], 1 + hashes + 1 + length + end.len()));
    }
    let inner = rest.strip_prefix('"')?;
    let mut escaped = false;
    let length = inner.find(|c: char| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&inner[..length], length + 2))
}

#[test]
fn no_code_outside_the_workflows_names_a_status() {
    assert!(ALLOWED.len() <= 12, "make it a column instead");
    let mut used = vec![false; ALLOWED.len()];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let path = path.to_string_lossy().replace('\\', "/");
        if path.contains("orange-core/src/workflow") {
            continue;
        }
        let lines = lines(&text);
        for (at, line) in lines.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| lines.get(before));
            for name in named(line, before) {
                let allowed = ALLOWED
                    .iter()
                    .position(|(file, what, _)| path.ends_with(file) && *what == name);
                match allowed {
                    Some(allowed) => used[allowed] = true,
                    None => wrong.push(format!("{path}:{}: {name}", at + 1)),
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a status is named outside orange-core/src/workflow; make it a column of the table, or an intent:\n{}",
        wrong.join("\n")
    );
    let unused = ALLOWED.iter().zip(&used).filter(|(_, used)| !**used);
    let unused: Vec<_> = unused.map(|(allowed, _)| allowed).collect();
    assert!(unused.is_empty(), "not needed any more: {unused:?}");
}

#[test]
fn a_status_is_found_in_code_texts_and_sql() {
    let found = |source: &str| {
        let lines = lines(source);
        let all = lines.iter().flat_map(|line| named(line, None));
        all.collect::<Vec<String>>()
    };
    for (source, name) in [
        ("if task.status == Status::Done {", "Status::Done"),
        ("is_quote('\"') && \"stuck\" == word", "\"stuck\""),
        ("let is_it = status == \"working\";", "\"working\""),
        (
            "\"SELECT 1\nFROM tasks WHERE status = 'failed'\"",
            "'failed'",
        ),
        (
            "r#\"a \"reviewing\" task\"#; \"agent-review: x\"",
            "'agent-review'",
        ),
        (
            "format!(\"orange task update {label} --status planning\")",
            "--status planning",
        ),
        ("use orange_core::task::Status as S;", "Status as"),
        (
            "#[arg(long)]\nfn x<'a>(word: &'a str) { word == \"pending\" }",
            "\"pending\"",
        ),
    ] {
        assert_eq!(found(source), [name], "{source}");
    }
    for source in [
        "// Status::Done",
        "/// `orange task update --status done`",
        "#[command(after_help = \"Examples:\\n orange ls --status done\")]",
        "#![allow(x, reason = \"pending\")]",
        "let state = \"working\";",
        "HookOutcome::Failed(reason) => (\"failed\", reason)",
        "format!(\"{label} is done already\")",
        "ExitStatus::Failed",
        "fn x() {}\n#[cfg(test)]\nmod tests { Status::Done }",
    ] {
        assert_eq!(found(source), Vec::<String>::new(), "{source}");
    }
}
