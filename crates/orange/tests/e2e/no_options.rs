//! Below the program no text names an option: what a person can give is a `Parameter`, which each front end writes in its own
//! way. A text of one word, and `--name=…`, is an argument of another program.

use crate::examples::tree;
use crate::sources::sources;
use crate::status_names::lines;
use orange_core::Parameter;
use std::collections::BTreeSet;

/// Where an option may stand: the end of the path, and why.
const ALLOWED: &[(&str, &str)] = &[
    (
        "orange-core/src/config/table.rs",
        "the reference of the settings, a page of docs/",
    ),
    (
        "orange-core/src/config/reference.rs",
        "the reference of the settings, a page of docs/",
    ),
    (
        "orange-core/src/workflow/interactive/prompt/missing.rs",
        "told to agents, who type commands",
    ),
    (
        "orange-agents/src/harness/probe.rs",
        "what another program was asked",
    ),
    (
        "orange-agents/src/harness/claude/mod.rs",
        "a command that claude starts",
    ),
];

/// The long options of all commands, without their dashes.
fn options() -> BTreeSet<String> {
    let pages = tree::pages();
    let lines = pages.iter().flat_map(|page| page.help.lines());
    let lines = lines.filter(|line| line.trim_start().starts_with('-'));
    lines
        .flat_map(|line| names(line))
        .map(str::to_owned)
        .collect()
}

/// What stands after two dashes in a text.
fn names(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let named = |(at, _): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + 2..]);
        let end = after.find(|c| !is_part(c)).unwrap_or(after.len());
        let is_argument = before.ends_with(is_part) || after[end..].starts_with('=');
        let name = &after[..end];
        (!is_argument && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(name)
    };
    text.match_indices("--").filter_map(named).collect()
}

#[test]
fn no_text_below_the_program_names_an_option() {
    let options = options();
    assert!(options.len() > 100, "{options:?}");
    let mut used = vec![false; ALLOWED.len()];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let path = path.to_string_lossy().replace('\\', "/");
        // The front ends, the scripted agent, which types commands, and checks for tests.
        let others = [
            "/orange/src",
            "/orange-tui/src",
            "/orange-sim/src",
            "/orange-fuzz/src",
        ];
        if others.iter().any(|part| path.contains(part)) {
            continue;
        }
        for (at, line) in lines(&text).iter().enumerate() {
            let texts = line.literals.iter().filter(|text| text.contains(' '));
            for name in texts.flat_map(|text| names(text)) {
                if !options.contains(name) {
                    continue;
                }
                match ALLOWED.iter().position(|(file, _)| path.ends_with(file)) {
                    Some(allowed) => used[allowed] = true,
                    None => wrong.push(format!("{path}:{}: --{name}", at + 1)),
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a text names an option; name a parameter instead (orange-core/src/parameter.rs):\n{}",
        wrong.join("\n")
    );
    let unused = ALLOWED.iter().zip(&used).filter(|(_, used)| !**used);
    let unused: Vec<_> = unused.map(|(allowed, _)| allowed).collect();
    assert!(unused.is_empty(), "not needed any more: {unused:?}");
}

#[test]
fn every_parameter_is_an_option_here() {
    let options = options();
    let all = Parameter::ALL.iter();
    let none: Vec<_> = all.filter(|one| !options.contains(one.as_str())).collect();
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn an_option_is_found_among_words() {
    for (text, found) in [
        ("add --force to do it anyway", &["force"][..]),
        (
            "name it: `--branch NAME`, or --with-work",
            &["branch", "with-work"],
        ),
        ("--base {base:?} is no commit", &["base"]),
        ("--format=%H %gd", &[]),
        ("a line -- and one more ---", &[]),
        ("a---b c--d", &[]),
    ] {
        assert_eq!(names(text), found, "{text}");
    }
}
