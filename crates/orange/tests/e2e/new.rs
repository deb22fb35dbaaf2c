//! `orange new`: every word is the summary; `--context` and `--edit`, with `task create` too.

use crate::env::{TestEnvironment, with_answers};
use crate::run::program;
use insta::assert_snapshot;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// What `new` makes of these arguments: branch and summary.
fn made(env: &TestEnvironment, words: &[&str]) -> (String, String) {
    let made = env.orange([&["new", "--json"], words].concat()).ok().json();
    let task = &made["task"];
    let word = |name: &str| task[name].as_str().unwrap().to_owned();
    (word("branch"), word("summary"))
}

#[test]
fn every_word_is_the_summary() {
    let env = TestEnvironment::new();
    for (words, summary) in [
        (&["fix"][..], "fix"),
        (&["Fix", "the", "login", "form"], "Fix the login form"),
        (&["Fix the login form"], "Fix the login form"),
        (&["fix-menu", "Fix the menu"], "fix-menu Fix the menu"),
        (&["main"], "main"),
        (&["task", "create"], "task create"),
        (
            &["Fix", "--priority", "high", "login", "--tag", "ui", "now"],
            "Fix login now",
        ),
        (&["--", "-x", "is", "--not", "taken"], "-x is --not taken"),
        (&["a..b"], "a..b"),
        (
            &["two\nlines", "\t", "and\u{1b}[31m"],
            "two lines and\u{1b}[31m",
        ),
        (&["修复登录"], "修复登录"),
        (&["--summary", "for scripts"], "for scripts"),
    ] {
        let (branch, said) = made(&env, words);
        assert_eq!(said, summary, "{words:?}");
        assert!(branch.starts_with("orange/TASK-0"), "{branch}");
    }
    let own = made(&env, &["Fix", "--branch", "fix-login", "login"]);
    assert_eq!(own, ("fix-login".to_owned(), "Fix login".to_owned()));
    assert_snapshot!(env.orange(["new", "tidy"]), @"
    created TASK-014 tidy
      branch   orange/TASK-014-tidy (not made yet) from main@[HASH]
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-014
    ");
    // The escape is kept, and no terminal obeys it.
    let listed = env.orange(["ls"]).ok();
    assert!(!listed.stdout.contains('\u{1b}'), "{listed}");
}

#[test]
fn what_cannot_be_a_summary_is_refused() {
    let env = TestEnvironment::unregistered();
    assert_snapshot!(env.orange(["new"]), @"
    ------- stderr -------
    error: the summary is missing
    hint: say what is to be done: `orange new Add a login form`; `orange new --edit` opens an editor for it; with `orange create` alone, the agent asks you
    [exit status: 2]
    ");
    for words in [&[""][..], &["   "], &["", "\t"], &["--summary", " "]] {
        env.orange([&["new", "--json"], words].concat())
            .refuses(2, "usage");
    }
    for context in ["", " \n\t\n"] {
        env.call(["new", "--context", "-", "--json"])
            .input(context)
            .run()
            .refuses(2, "usage");
    }
    // Nor is there a project.
    assert!(!env.home().join("projects.json").exists());
    env.orange(["new", "Two words", "--summary", "Three of them", "--json"])
        .refuses(2, "usage");
    assert_snapshot!(env.orange(["new", "-x", "marks", "it"]), @"
    ------- stderr -------
    error: there is no option -x
    hint: for usage, run `orange new --help`; to pass `-x` as a value, use `-- -x`
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["new", "Fix", "-5", "degrees"]), @"
    ------- stderr -------
    error: there is no option -5
    hint: for usage, run `orange new --help`; to pass `-5` as a value, use `-- -5`
    [exit status: 2]
    ");
    let huge = "word ".repeat(500);
    env.orange(["new", &huge, "--json"]).refuses(2, "usage");
    let words = std::iter::once("new").chain(huge.split_whitespace());
    env.orange(words).fails_with(2).says("2499 characters");
    assert_eq!(env.create(["The first"]).key, "TASK-001");
}

#[test]
fn the_context_is_a_text_a_file_or_standard_input() {
    let env = TestEnvironment::new();
    let context = |value: &str| {
        let made = env.orange(["new", "With", "context", "--json", "--context", value]);
        let made = made.ok();
        let task = env.task_of(&made.json()["task"]);
        let body = env.show(&task)["body"].as_str().unwrap().to_owned();
        (body, made.stderr)
    };
    env.write("shop/notes.md", "Only Chrome\n");
    let (body, said) = context("notes.md");
    assert_eq!(body.trim(), "## Context\n\nOnly Chrome");
    assert_eq!(said, "note: context from notes.md (12 bytes)\n");
    let (body, said) = context("- only Chrome\n- see docs/notes.md");
    assert_eq!(
        body.trim(),
        "## Context\n\n- only Chrome\n- see docs/notes.md"
    );
    assert_eq!(said, "");
    assert_eq!(context("urgent").0.trim(), "## Context\n\nurgent");
    assert_eq!(context("").0.trim(), "");
    let long = "long ".repeat(20_000);
    assert!(context(&long).0.len() >= long.len() - 1);
    let count = env.keys(["--all"]).len();
    assert_snapshot!(env.orange(["new", "No", "file", "--context", "note.md"]), @"
    ------- stderr -------
    error: --context: there is no file note.md
    hint: check the path, or create the file; a text of one word with a / or an ending like .md needs a blank in it
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["new", "No", "folder", "--context", "docs/notes"]), @"
    ------- stderr -------
    error: --context: there is no file docs/notes
    hint: check the path, or create the file; a text of one word with a / or an ending like .md needs a blank in it
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["new", "A file in a file", "--context", "notes.md/x"]), @"
    ------- stderr -------
    error: --context: cannot read notes.md/x: not a directory
    hint: check the path, or create the file; a text of one word with a / or an ending like .md needs a blank in it
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["new", "No value", "--context", "--no-spawn"]), @"
    ------- stderr -------
    error: --context needs a value, and --no-spawn is an option
    hint: give a text, the path of a file, or - for standard input
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["new", "A folder", "--context", "."]), @"
    ------- stderr -------
    error: --context: cannot read .: is a directory
    hint: give a text file, or - for standard input
    [exit status: 2]
    ");
    env.write("shop/huge.md", vec![b'x'; 5 << 20]);
    assert_snapshot!(env.orange(["new", "Huge", "--context", "huge.md"]), @"
    ------- stderr -------
    error: --context: huge.md is larger than 4 MB
    hint: name the file instead of including it
    [exit status: 2]
    ");
    env.write("shop/binary", b"\x7fELF\xff\xfe");
    assert_snapshot!(env.orange(["new", "A binary", "--context", "binary"]), @"
    ------- stderr -------
    error: --context: binary is not UTF-8 text
    hint: convert it first, for instance with iconv
    [exit status: 2]
    ");
    env.orange(["new", "A folder", "--context", ".", "--json"])
        .refuses(2, "usage");
    assert_eq!(env.keys(["--all"]).len(), count);
}

/// An editor that notes what it was given and does this with it.
fn with_editor(script: &str) -> TestEnvironment {
    let mut env = TestEnvironment::new();
    let root = env.root();
    let script = format!("#!/bin/sh\ncp \"$1\" {}/given\n{script}\n", root.display());
    let editor = env.write("editor", script);
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    env.set("EDITOR", editor);
    env.set("NO_COLOR", "1");
    env
}

fn typed(env: &TestEnvironment, line: &str) -> String {
    let line = format!("{} {line}; echo exit=$?", program().display());
    with_answers(env, 80, &line, "")
}

#[test]
fn summary_and_context_are_written_in_an_editor() {
    let env = with_editor(
        "printf 'Fix the menu\\n\\n# Why\\n\\nIt is shown twice.\\n' | cat - \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"",
    );
    let said = typed(&env, "new --edit");
    assert!(said.contains("created TASK-001 Fix the menu"), "{said}");
    let task = env.task_of(&env.list(["--all"])[0]);
    assert_snapshot!(env.show(&task)["body"].as_str().unwrap(), @"
    ## Context

    ### Why

    It is shown twice.
    ");
    assert_snapshot!(fs::read_to_string(env.root().join("given")).unwrap(), @"
    <!-- ------------------------ >8 ------------------------
    The first line says what is to be done. What comes after a blank line is the
    context: requirements and constraints for the agent, in Markdown.
    Without any text above the line with the scissors, nothing is created.
    That line and everything below it is left out.
    -->
    ");

    // What was said already is filled in, and counts as it is.
    let env = with_editor("true");
    let said = typed(
        &env,
        "task create side 'Fix the menu' --edit --context 'Only Chrome'",
    );
    assert!(said.contains("created TASK-001 Fix the menu"), "{said}");
    let given = fs::read_to_string(env.root().join("given")).unwrap();
    assert!(
        given.starts_with("Fix the menu\n\nOnly Chrome\n\n<!--"),
        "{given}"
    );
    let task = env.task_of(&env.list(["--all"])[0]);
    assert_eq!(task.branch, "side");
    assert_eq!(
        env.show(&task)["body"].as_str().unwrap().trim(),
        "## Context\n\nOnly Chrome"
    );
}

#[test]
fn nothing_written_creates_nothing() {
    let env = with_editor("true");
    let said = typed(&env, "new --edit");
    assert!(
        said.contains("the text is empty: nothing was created"),
        "{said}"
    );
    assert!(said.contains("exit=3"), "{said}");
    let env = with_editor("exit 4");
    let said = typed(&env, "new Fix --edit");
    assert!(said.contains("the editor failed"), "{said}");
    assert!(!said.contains("your text is in"), "{said}");
    assert!(said.contains("exit=1"), "{said}");
    assert!(env.list(["--all"]).is_empty());
    // Without a terminal there is nobody to write.
    env.orange(["new", "--edit", "--json"]).refuses(2, "usage");
    env.orange(["task", "create", "--edit"])
        .fails_with(2)
        .says("--edit needs a terminal");
}

#[test]
fn a_text_is_kept_when_no_task_comes_of_it() {
    let mut env = with_editor("echo 'Fix the menu' > \"$1\"");
    let said = typed(&env, "new --edit --branch a..b").replace("\n       ", " ");
    assert!(said.contains("git does not accept"), "{said}");
    let kept = said.split("your text is in ").nth(1).unwrap();
    let kept = kept.split_whitespace().next().unwrap().to_owned();
    assert_eq!(fs::read_to_string(&kept).unwrap(), "Fix the menu\n");
    fs::remove_file(kept).unwrap();
    env.set("EDITOR", "no-such-editor-here");
    let said = typed(&env, "new --edit");
    assert!(
        said.contains("cannot start the editor no-such-editor-here"),
        "{said}"
    );
    assert!(env.list(["--all"]).is_empty());
}
