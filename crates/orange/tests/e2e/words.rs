//! One word for one thing: help, documents and messages use those of the glossary.

use crate::examples::documents::{documents, text};
use crate::examples::tree;
use crate::sources::rust::{Piece, piece};
use crate::sources::sources;

/// Words for things that have another name here, and that name.
const OTHERS: &[(&str, &str)] = &[
    ("job", "task, run or check"),
    ("ticket", "task"),
    ("issue", "task"),
    ("todo", "task"),
    ("subtask", "child"),
    ("epic", "initiative"),
    ("milestone", "initiative"),
    ("backend", "harness"),
    ("provider", "harness"),
    ("bot", "agent"),
    ("assistant", "agent"),
    ("pipeline", "workflow"),
    ("stage", "status or phase"),
    ("task's state", "status"),
    ("state of the task", "status"),
    ("repo", "repository"),
    ("workdir", "worktree"),
    ("approver", "human"),
    ("artefact", "artifact"),
    ("canceled", "cancelled"),
];

/// Where such a word is somebody else's: the text it stands in, and whose.
const ALLOWED: &[(&str, &str)] = &[
    ("gh issue", "gh's command"),
    ("provider {provider}", "pi's word for a model's service"),
    ("default provider", "pi's word for a model's service"),
    ("`todo!`", "Rust's macro"),
    ("stage.rs", "a file of the demo"),
    ("stages.rs", "a file of these tests"),
    ("A task's state changes only in", "all fields are meant"),
];

/// Text in which the words of others have been taken out.
fn own(text: &str) -> String {
    let mut text = text.to_lowercase();
    for (theirs, _) in ALLOWED {
        text = text.replace(&theirs.to_lowercase(), "");
    }
    text
}

/// Whole words only, plural or not.
fn has(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..]
            .trim_start_matches('s')
            .chars()
            .next();
        let letter = |found: Option<char>| {
            found.is_some_and(|found| found.is_alphanumeric() || found == '_')
        };
        // `repo/` and `repo.` are paths and names in examples of others.
        !letter(before) && !letter(after) && before != Some('/') && before != Some('.')
    })
}

fn check(place: &str, text: &str, found: &mut Vec<String>) {
    for line in own(text).lines() {
        for (word, instead) in OTHERS {
            if has(line, word) {
                found.push(format!(
                    "{place}: {word:?} (say {instead}): {}",
                    line.trim()
                ));
            }
        }
    }
}

/// The texts in a source file that people may read: literals with more than one word.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some((piece, length)) = piece(rest) {
        if let Piece::Text(text) = piece {
            found.push(text.replace("\\n", "\n").replace("\\\"", "\""));
        }
        rest = &rest[length..];
    }
    found.retain(|text| text.contains(' '));
    found
}

#[test]
fn no_other_words_are_used_in_help_and_documents() {
    let mut found = Vec::new();
    for page in tree::pages() {
        check(&page.name(), &page.help, &mut found);
    }
    let more = ["ARCHITECTURE.md", "CHANGELOG.md"].map(str::to_owned);
    for document in documents().into_iter().chain(more) {
        check(&document, &text(&document), &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_other_words_are_used_in_messages() {
    let mut found = Vec::new();
    let mut count = 0;
    for (path, source) in sources() {
        for literal in literals(&source) {
            count += 1;
            check(&path.display().to_string(), &literal, &mut found);
        }
    }
    assert!(count > 1000, "only {count} texts were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_word_is_found_whole_and_in_literals_only() {
    assert!(has("two jobs", "job"));
    assert!(!has("jobless", "job"));
    let source =
        "// \"a job\"\nlet a = '\"'; let b = \"one job \\\"more\\\"\"; let job = \"word\";";
    assert_eq!(literals(source), ["one job \"more\""]);
}
