//! Lines of a check's output that tell of a failure, and which of them the base has too. Test runners print the
//! same failure with other places, times and numbers each time; those are left out of the comparison. What is part of
//! a name stays in it: better a known failure called new than a new one called known.

use std::collections::HashSet;

/// How many lines are compared. A base may have many failures, and a new one hides behind none of them.
const MOST: usize = 1000;
/// How many are told, of those that are known and of those that are new.
const TOLD: usize = 50;
/// How much of a line is kept.
const COLUMNS: usize = 200;

/// The lines that look like a failure, each once, in the order they came.
pub fn failures(output: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    output
        .lines()
        .map(str::trim)
        .filter(|line| looks_like_failure(line))
        .filter(|line| seen.insert(compared(line)))
        .take(MOST)
        .map(|line| line.chars().take(COLUMNS).collect())
        .collect()
}

/// Splits the failures of a check into those that the base has too and those that it has not.
pub fn told_apart(here: &[String], base: &[String]) -> (Vec<String>, Vec<String>) {
    let known: HashSet<String> = base.iter().map(|line| compared(line)).collect();
    let (mut known, mut new): (Vec<String>, Vec<String>) = here
        .iter()
        .cloned()
        .partition(|line| known.contains(&compared(line)));
    known.truncate(TOLD);
    new.truncate(TOLD);
    (known, new)
}

/// Words that test runners and compilers begin or mark a failure with.
fn looks_like_failure(line: &str) -> bool {
    let lower = line.to_lowercase();
    let begins = [
        "not ok", "error", "fail", "fatal", "panicked", "--- fail", "✗", "✘", "×", "● ",
    ];
    let has = [
        "... failed",
        " failed ",
        "error:",
        "error[",
        "exception:",
        "panicked at",
        "assertion",
    ];
    let ends = [" failed", ": fail", "[fail]"];
    // A summary counts; what it counts stands above it, and its number says nothing of which.
    let counts = lower.starts_with(|letter: char| letter.is_ascii_digit())
        || lower.contains(" 0 failed")
        || lower.starts_with("test result:");
    !line.is_empty()
        && !counts
        && (begins.iter().any(|word| lower.starts_with(word))
            || has.iter().any(|word| lower.contains(word))
            || ends.iter().any(|word| lower.ends_with(word)))
}

/// A line without what differs from run to run.
fn compared(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(compared_word).collect();
    words.join(" ")
}

/// Numbers that stand for themselves, such as `0.02s` or `:4:1:`, become `#`; those of `test_2`, `E0308` and
/// `sum[2-3]` are part of a name. Of an absolute path only the file's name counts.
fn compared_word(word: &str) -> String {
    let word = if word.starts_with('/') {
        word.rsplit('/').next().unwrap_or(word)
    } else {
        word
    };
    // The address of something in memory.
    let (word, address) = match word.split_once("0x") {
        Some((before, _)) => (before, "0x#"),
        None => (word, ""),
    };
    let is_name = |letter: char| letter.is_alphabetic() || letter == '_';
    let has_name = !word.starts_with(|letter: char| letter.is_ascii_digit());
    let mut out = String::new();
    let mut in_brackets = false;
    for letter in word.chars() {
        let last = out.chars().last();
        let after_name = last.is_some_and(|last| is_name(last) || last.is_ascii_digit());
        match letter {
            '[' => in_brackets = after_name,
            ']' => in_brackets = false,
            _ => {}
        }
        let part_of_name = has_name && (in_brackets || after_name);
        match letter.is_ascii_digit() && !part_of_name {
            true if last == Some('#') => {}
            true => out.push('#'),
            false => out.push(letter),
        }
    }
    out + address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_several_test_runners_are_found() {
        let output = "running 3 tests\n\
            test a::adds ... ok\n\
            test a::takes ... FAILED\n\
            FAILED tests/test_cart.py::test_total - assert 3 == 4\n\
            not ok 2 - sums\n\
            ok 3 - differences\n\
            --- FAIL: TestTotal (0.02s)\n\
            src/main.rs:4:1: error: expected one of\n\
            error[E0308]: mismatched types\n\
            test result: FAILED. 1 passed; 1 failed; finished in 0.01s\n\
            3 failed, 20 passed in 1.2s\n\
            error[E0308]: mismatched types\n\
            all good, no failures here\n";
        let found = failures(output);
        assert_eq!(
            found,
            [
                "test a::takes ... FAILED",
                "FAILED tests/test_cart.py::test_total - assert 3 == 4",
                "not ok 2 - sums",
                "--- FAIL: TestTotal (0.02s)",
                "src/main.rs:4:1: error: expected one of",
                "error[E0308]: mismatched types",
            ]
        );
    }

    #[test]
    fn the_same_failure_is_known_again_with_other_numbers_and_folders() {
        let own =
            |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| (*line).into()).collect() };
        let base = own(&[
            "--- FAIL: TestTotal (0.02s)",
            "/a/b/src/x.rs:4:1: error: odd",
        ]);
        let here = own(&[
            "--- FAIL: TestTotal (1.20s)",
            "/c/src/x.rs:10:2: error: odd",
            "--- FAIL: TestOther (0.02s)",
        ]);
        let (known, new) = told_apart(&here, &base);
        assert_eq!(known.len(), 2);
        assert_eq!(new, ["--- FAIL: TestOther (0.02s)"]);
    }

    #[test]
    fn names_are_told_apart_by_their_numbers_and_folders() {
        for (one, other) in [
            ("FAILED test_case_1", "FAILED test_case_2"),
            ("FAILED api/test_cart.py", "FAILED web/test_cart.py"),
            ("FAILED a.py::sum[2-3]", "FAILED a.py::sum[2-4]"),
            ("error[E0308]: odd", "error[E0277]: odd"),
        ] {
            assert_ne!(compared(one), compared(other));
            assert_eq!(failures(&format!("{one}\n{other}\n")).len(), 2);
        }
        for (one, other) in [
            ("not ok 2 - sums", "not ok 13 - sums"),
            ("FAILED a in 0.31s", "FAILED a in 12.5s"),
            ("error: <A at 0x7f3a>", "error: <A at 0x55b0ff>"),
            (
                "2026-11-15T10:00:01Z error: odd",
                "2026-11-16T21:30:00Z error: odd",
            ),
            (
                "thread 'main' (31) panicked at a.rs:4:1:",
                "thread 'main' (7) panicked at a.rs:50:12:",
            ),
        ] {
            assert_eq!(compared(one), compared(other));
        }
    }

    #[test]
    fn a_new_failure_does_not_hide_behind_many_known_ones() {
        let base: Vec<String> = (0..200).map(|n| format!("FAILED test_{n}")).collect();
        let output = format!("{}\nFAILED test_new\n", base.join("\n"));
        let (known, new) = told_apart(&failures(&output), &base);
        assert_eq!(
            (known.len(), new),
            (TOLD, vec!["FAILED test_new".to_owned()])
        );
    }

    #[test]
    fn a_flood_is_cut() {
        let output: String = (0..1500)
            .map(|n| format!("FAILED {}{}\n", "x".repeat(n), "y".repeat(500)))
            .collect();
        let found = failures(&output);
        assert_eq!(found.len(), MOST);
        assert!(found.iter().all(|line| line.chars().count() <= COLUMNS));
    }
}
