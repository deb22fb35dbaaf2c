//! Outside `workflow/`, no code names a status: whatever depends on one is a column of its table. Variants, words, SQL and
//! `--status WORD` count; tests, comments and the texts of `--help` do not.

use crate::sources::rust::{Piece, piece, without_tests};
use crate::sources::{files, sources};
use orange_core::task::Status;
use std::path::{Path, PathBuf};

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
        "orange-core/src/work/test_results.rs",
        "\"pending\"",
        "what a report says of a test that was not run",
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
    pub(crate) code: String,
    pub(crate) literals: Vec<String>,
}

/// The lines of a Rust file.
pub(crate) fn lines(source: &str) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut rest = source;
    // How many brackets are open, inside an attribute.
    let mut attribute: Option<usize> = None;
    while let Some((piece, length)) = piece(rest) {
        if attribute.is_none() && (rest.starts_with("#[") || rest.starts_with("#![")) {
            attribute = Some(0);
        }
        match (piece, &mut attribute) {
            (Piece::Text(text), None) => {
                let line = lines.last_mut().unwrap();
                line.code.push_str("\"\"");
                line.literals.push(text.to_owned());
            }
            (Piece::Code(code), None) => lines.last_mut().unwrap().code.push(code),
            (Piece::Code('['), Some(open)) => *open += 1,
            (Piece::Code(']'), Some(open)) => {
                *open -= 1;
                attribute = attribute.filter(|open| *open > 0);
            }
            _ => {}
        }
        let (taken, left) = rest.split_at(length);
        for _ in taken.matches('\n') {
            lines.push(Line::default());
        }
        rest = left;
    }
    lines
}

/// The lines of an SQL file, each of them a text without its comment.
fn lines_of_sql(source: &str) -> Vec<Line> {
    let line = |line: &str| Line {
        literals: line.split("--").take(1).map(str::to_owned).collect(),
        ..Line::default()
    };
    source.lines().map(line).collect()
}

#[test]
fn no_code_outside_the_workflows_names_a_status() {
    assert!(ALLOWED.len() <= 12, "make it a column instead");
    let mut used = vec![false; ALLOWED.len()];
    let mut wrong = Vec::new();
    let rust = sources().into_iter();
    let rust = rust.map(|(path, text)| (path, lines(&text)));
    let sql = files("sql").into_iter();
    let sql = sql.map(|(path, text)| (path, lines_of_sql(&text)));
    for (path, lines) in rust.chain(sql) {
        let path = path.to_string_lossy().replace('\\', "/");
        if path.contains("orange-core/src/workflow") {
            continue;
        }
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
    ] {
        assert_eq!(found(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn a_status_is_found_in_a_file_of_sql() {
    let found = |source: &str| {
        let lines = lines_of_sql(source);
        let all = lines.iter().flat_map(|line| named(line, None));
        all.collect::<Vec<String>>()
    };
    let source = "-- 'done'\nSELECT 1 FROM tasks WHERE status = 'stuck'; -- 'failed'";
    assert_eq!(found(source), ["'stuck'"]);
}

/// What stands on the lines that the product has.
fn product(source: &str) -> Vec<String> {
    let text = without_tests(source).text;
    let is_same_length = text.lines().count() == source.lines().count();
    assert!(is_same_length, "{text:?}");
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn what_only_tests_have_is_left_out_wherever_it_stands() {
    for item in [
        "mod tests;",
        "pub(crate) mod tests;",
        "mod tests { Status::Done }",
        "#[cfg(debug_assertions)]\nmod crash;",
        "#[allow(clippy::unwrap_used, reason = \"}\")]\n// };\nmod tests {\n    fn x() { let y = [1; 2]; }\n}",
        "mod tests { const OPEN: [char; 3] = ['{', '\"', '\\'']; /* } /* } */ */ const S: &str = r#\"}\"}\"#; }",
        "fn x<'a>(y: &'a [u8; 2]) -> impl Fn() + 'a { \"}\\\"}\"; }",
        "pub(crate) use a::{b, c};",
        "impl X for Y { fn z() {} }",
        "const X: Y = Y { z: 1 };",
        "const fn x() {}",
        "struct X(u8);",
        "macro_rules! x { () => {} }",
    ] {
        let source = format!("//! before\n#[cfg(test)]\n{item}\nStatus::Done\n");
        assert_eq!(product(&source), ["//! before", "Status::Done"], "{item}");
    }
    let text = "// #[cfg(test)]\nlet x = \"#[cfg(test)]\";\nmod tests { Status::Done }";
    assert_eq!(product(text), text.lines().collect::<Vec<_>>());
}

#[test]
#[should_panic(expected = "before Some(\"field\")")]
fn what_has_another_end_is_not_guessed() {
    product("struct X {\n    #[cfg(test)]\n    field: Y<{ 1 }>,\n    next: Status,\n}");
}

#[test]
fn the_file_of_a_module_of_tests_is_left_out() {
    let below = |declared: &str, item: &str| {
        let modules = without_tests(&format!("#[cfg(test)]\n{item}")).modules;
        let modules = modules.iter();
        let modules = modules.map(|module| module.below(Path::new(declared)));
        modules.collect::<Vec<PathBuf>>()
    };
    for (declared, item, module) in [
        ("src/lib.rs", "mod tests;", "src/tests"),
        ("src/main.rs", "mod stress;", "src/stress"),
        ("src/log.rs", "mod tests;", "src/log/tests"),
        (
            "src/log/mod.rs",
            "#[cfg(unix)]\nmod tests;",
            "src/log/tests",
        ),
        (
            "src/log.rs",
            "#[path = \"other/tests.rs\"]\nmod tests;",
            "src/other/tests",
        ),
    ] {
        assert_eq!(below(declared, item), [Path::new(module)], "{item}");
    }
    assert!(below("src/log.rs", "mod tests { mod more {} }").is_empty());
    assert!(below("src/log.rs", "use tests::more;").is_empty());
}

#[test]
fn all_of_a_file_is_read_and_no_file_of_tests() {
    let sources = sources();
    let has = |end: &str, code: &str| {
        let mut all = sources.iter();
        all.any(|(path, text)| path.ends_with(end) && text.contains(code))
    };
    // Its tests are declared near its top.
    assert!(has("orange-core/src/gate.rs", "pub enum Gate"));
    assert!(has("orange-store/src/replace.rs", "use self::lease"));
    assert!(!has("orange-store/src/replace/stress.rs", ""));
    let is_of_tests = |(_, text): &&(PathBuf, String)| text.contains("#[test]");
    let of_tests = sources.iter().find(is_of_tests);
    assert_eq!(of_tests.map(|(path, _)| path), None);
}
