//! The documents say what the program says.

#![allow(clippy::unwrap_used, reason = "tests")]

use assert_cmd::Command;
use std::path::Path;

fn document(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(name)).unwrap()
}

fn orange(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orange"));
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_workflow_document_is_the_table() {
    let text = document("docs/workflow.md");
    let hint = "regenerate docs/workflow.md from `orange workflow show` and `--format mermaid`";
    assert!(text.contains(&orange(&["workflow", "show"])), "{hint}");
    assert!(
        text.contains(&orange(&["workflow", "show", "--format", "mermaid"])),
        "{hint}"
    );
}

#[test]
fn the_readme_speaks_of_commands_that_exist() {
    let readme = document("README.md");
    for command in [
        "project add",
        "new",
        "ls",
        "task why",
        "task update",
        "task complete",
        "task show",
        "workflow show",
        "doctor",
    ] {
        assert!(readme.contains(&format!("orange {command}")), "{command}");
        let mut words: Vec<&str> = command.split(' ').collect();
        words.push("--help");
        assert!(orange(&words).contains("Example"), "{command}");
    }
}
