//! Everything that can be typed, in one picture: a change of the surface is seen in review.
//! After a wanted change: `INSTA_UPDATE=always cargo nextest run -p orange --test e2e surface`.

use crate::examples::tree::{self, Page};

/// `--strategy <NAME>`, without what it is for.
fn option(line: &str) -> &str {
    let line = line.trim_start();
    line.split("  ").next().unwrap_or(line)
}

fn describe(page: &Page) -> String {
    let usage = page
        .help
        .lines()
        .find_map(|line| line.strip_prefix("Usage: "));
    let mut text = format!("{}\n", usage.unwrap_or_default());
    let everywhere = ["--json", "-h, --help", "-V, --version"];
    for line in page.below("Options:") {
        if !everywhere.contains(&option(line)) {
            text.push_str(&format!("    {}\n", option(line)));
        }
    }
    text
}

#[test]
fn every_command_with_its_arguments_and_options() {
    let pages = tree::pages();
    let all: Vec<String> = pages.iter().map(describe).collect();
    insta::assert_snapshot!(all.concat());
}

#[test]
fn every_command_has_examples_of_itself_and_takes_json() {
    let pages = tree::pages();
    assert!(pages.len() > 60, "{}", pages.len());
    for page in pages {
        let name = page.name();
        assert!(!page.examples().is_empty(), "{name} has no example");
        assert!(page.help.contains("--json"), "{name} has no --json");
        let first = page.help.lines().next().unwrap_or_default();
        let short = first.to_lowercase().contains("short for");
        // A verb of `task` has the same examples without that word, and they are written so.
        let written = name.replacen("orange task ", "orange ", 1);
        let of_itself = page
            .examples()
            .iter()
            .any(|example| example.line.contains(&name) || example.line.contains(&written));
        assert!(
            short || of_itself || page.path.len() == 2,
            "{name} has no example of itself"
        );
    }
}
