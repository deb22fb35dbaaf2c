//! Lines of a check's output that tell of a failure, and which of them the base has too. Test runners print the
//! same failure with other numbers, times and paths each time; those are left out of the comparison.

use std::collections::HashSet;

/// How many lines are kept of one check.
pub const MOST: usize = 50;
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
    here.iter()
        .cloned()
        .partition(|line| known.contains(&compared(line)))
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

/// A line without what differs from run to run: numbers, and the folders in front of a file's name.
fn compared(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        let name = word.rsplit('/').next().unwrap_or(word);
        let mut out = String::new();
        for letter in name.chars() {
            match letter.is_ascii_digit() {
                true if out.ends_with('#') => {}
                true => out.push('#'),
                false => out.push(letter),
            }
        }
        words.push(out);
    }
    words.join(" ")
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
    fn a_flood_is_cut() {
        let output: String = (0..1000)
            .map(|n| format!("FAILED {}{}\n", "x".repeat(n), "y".repeat(500)))
            .collect();
        let found = failures(&output);
        assert_eq!(found.len(), MOST);
        assert!(found.iter().all(|line| line.chars().count() <= COLUMNS));
    }
}
