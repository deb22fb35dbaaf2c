//! Which requests a rule allows: tables, and what holds for every command and path (`#[cfg(test)]`).

use super::command::plain_words;
use super::{AllowRule, PermissionRequest, RuleKind, is_plain_path};
use proptest::prelude::*;
use serde_json::json;

fn command(command: &str) -> PermissionRequest {
    PermissionRequest::Command {
        command: command.to_owned(),
        folder: String::new(),
    }
}

fn file(path: &str) -> PermissionRequest {
    PermissionRequest::File {
        path: path.to_owned(),
    }
}

fn exact(request: &PermissionRequest) -> AllowRule {
    AllowRule::exact("claude", "Bash", request).unwrap()
}

fn allows(rule: &AllowRule, request: &PermissionRequest) -> bool {
    rule.allows("claude", "Bash", request)
}

/// The rule of a pattern, made for a request that it fits.
fn prefix(pattern: &str) -> AllowRule {
    let asked = command(pattern.strip_suffix(" *").unwrap());
    AllowRule::matching("claude", "Bash", &asked, pattern).unwrap()
}

#[test]
fn an_exact_rule_allows_the_same_command_and_no_other() {
    let rule = exact(&command("npm test && rm -r out"));
    assert!(allows(&rule, &command("npm test && rm -r out")));
    for other in [
        "npm test && rm -r out ",
        " npm test && rm -r out",
        "npm test  && rm -r out",
        "npm test",
        "npm test && rm -r out\n",
        "npm test && rm -r out; ls",
        "npm test && rm -r оut",
    ] {
        assert!(!allows(&rule, &command(other)), "{other:?}");
    }
    assert!(!rule.allows("pi", "Bash", &command("npm test && rm -r out")));
    assert!(!rule.allows("claude", "bash", &command("npm test && rm -r out")));
    let elsewhere = PermissionRequest::Command {
        command: "npm test && rm -r out".to_owned(),
        folder: "other".to_owned(),
    };
    assert!(!allows(&rule, &elsewhere));
}

/// A star in a command is the shell's; only a pattern's is ours.
#[test]
fn a_star_in_an_exact_rule_is_a_letter() {
    let rule = exact(&command("npm test *"));
    assert!(!allows(&rule, &command("npm test a")));
    let rule = exact(&file("src/*"));
    assert!(!allows(&rule, &file("src/a")));
}

#[test]
fn a_prefix_allows_plain_arguments() {
    let rule = prefix("npm test *");
    for allowed in [
        "npm test",
        "npm test ",
        "npm  test src/a.test.js",
        "npm test -- --grep 'it; works | $HOME'",
        "npm test -- --grep \"two words\" --bail=1",
        "\"npm\" test --name='größe'",
    ] {
        assert!(allows(&rule, &command(allowed)), "{allowed}");
    }
}

#[test]
fn a_prefix_allows_nothing_that_a_shell_would_do_besides() {
    let rule = prefix("npm test *");
    for refused in [
        "npm tests",
        "npm test; rm -r /",
        "npm test;rm -r /",
        "npm test && rm x",
        "npm test & rm x",
        "npm test | sh",
        "npm test || sh",
        "npm test > out",
        "npm test 2>out",
        "npm test < in",
        "npm test $(rm x)",
        "npm test \"$(rm x)\"",
        "npm test \"${x:=y}\"",
        "npm test `rm x`",
        "npm test \"`rm x`\"",
        "npm test $HOME",
        "npm test $'\\n'",
        "npm test \n rm x",
        "npm test\nrm x",
        "npm test\rrm x",
        "npm test \\\nrm x",
        "npm test \\; rm x",
        "npm test 'a\nb'",
        "npm test 'open",
        "npm test \"open",
        "npm test 'a'\\''b'; rm x",
        "npm test *",
        "npm test {a,b}",
        "npm test ~/x",
        "npm test # x",
        "npm test !x",
        "npm test \"!x\"",
        "npm test (x)",
        "npm test\u{a0}x",
        "npm test \u{2028}rm x",
        "npm test 'a\u{202e}b'",
        "npm test '\u{200b}'",
        "npm test \0x",
        "npm test\u{b}x",
        "X=1 npm test",
        "PATH=. npm test",
        "sudo npm test",
        "cd .. && npm test",
        "npm 'test x'",
        "npmtest",
        "'npm test'",
        "",
    ] {
        assert!(!allows(&rule, &command(refused)), "{refused:?}");
    }
}

#[test]
fn beginnings_that_allow_everything_are_refused() {
    for pattern in [
        "*",
        " *",
        "npm test",
        "npm test*",
        "npm *",
        "npm -g *",
        "sh *",
        "sh -c *",
        "bash -lc *",
        "python3 *",
        "python3.12 -c *",
        "python -m *",
        "node -e *",
        "env *",
        "env npm test *",
        "/usr/bin/env npm *",
        "sudo apt *",
        "git log *",
        "git *",
        "rm *",
        "rm -r build *",
        "find src *",
        "xargs *",
        "ssh host *",
        "X=1 npm test *",
        "curl https://example.com *",
        "npm test; ls *",
        "npm $x *",
        "npm test * *",
        "'npm' test *",
        "timeout 5 npm test *",
        "make *",
        "make -C *",
        "cargo *",
        "../../bin/sudo *",
        "tee *",
    ] {
        let asked = command(pattern.strip_suffix(" *").unwrap_or(pattern));
        let made = AllowRule::matching("claude", "Bash", &asked, pattern);
        assert!(made.is_err(), "{pattern}: {made:?}");
    }
    for pattern in [
        "npm test *",
        "pytest *",
        "python -m pytest *",
        "sh run.sh *",
        "make check *",
        "ls *",
    ] {
        prefix(pattern);
    }
}

#[test]
fn a_pattern_fits_what_is_asked() {
    let made = |asked: &str| AllowRule::matching("claude", "Bash", &command(asked), "npm test *");
    assert!(made("npm test x").is_ok());
    assert!(made("npm run x").unwrap_err().contains("does not fit"));
    assert!(made("npm test && ls").unwrap_err().contains("operators"));
    let input = PermissionRequest::Input { input: json!({}) };
    let made = AllowRule::matching("claude", "Fetch", &input, "x *");
    assert!(made.unwrap_err().contains("commands and for files"));
}

#[test]
fn a_file_is_its_own_path() {
    let rule = exact(&file("src/a.rs"));
    assert!(allows(&rule, &file("src/a.rs")));
    for other in [
        "src/b.rs",
        "src/a.rs/b",
        "/src/a.rs",
        "src/../src/a.rs",
        "src//a.rs",
        "./src/a.rs",
    ] {
        assert!(!allows(&rule, &file(other)), "{other}");
    }
    assert!(!allows(&rule, &command("src/a.rs")));
}

#[test]
fn a_folder_has_what_is_below_it() {
    let rule = |pattern: &str| {
        let below = pattern.replace('*', "a");
        let below = file(below.trim_start_matches("./"));
        AllowRule::matching("claude", "Bash", &below, pattern).unwrap()
    };
    let src = rule("src/*");
    assert_eq!((src.kind, src.pattern.as_str()), (RuleKind::Folder, "src"));
    assert_eq!(rule("./src/*"), src);
    for allowed in ["src/a", "src/b/c.rs", "src/with space/ü"] {
        assert!(allows(&src, &file(allowed)), "{allowed}");
    }
    for refused in [
        "src",
        "src/",
        "srcs/a",
        "src/../a",
        "src/b/../../a",
        "src/..",
        "src/.git/hooks/x",
        "src/b/.env",
        "src//a",
        "/src/a",
        "a/src/b",
        "src/a\nb",
        "src/\u{202e}a",
        "src/a\u{a0}b",
        "~/src/a",
    ] {
        assert!(!allows(&src, &file(refused)), "{refused:?}");
    }
    let outside = rule("/data/in/*");
    assert!(allows(&outside, &file("/data/in/x")));
    assert!(!allows(&outside, &file("data/in/x")));
    for pattern in [
        "*", "/*", "./*", "../*", "src/*/*", "a/../*", "~/*", "src", "s*/x/*", "",
    ] {
        let made = AllowRule::matching("claude", "Bash", &file("src/a"), pattern);
        assert!(made.is_err(), "{pattern}: {made:?}");
    }
}

#[test]
fn any_other_tool_gets_the_same_again() {
    let asked = PermissionRequest::Input {
        input: json!({"url": "https://example.com", "depth": 1}),
    };
    let rule = exact(&asked);
    let turned = json!({"depth": 1, "url": "https://example.com"});
    assert!(allows(&rule, &PermissionRequest::Input { input: turned }));
    for other in [
        json!({"url": "https://example.com"}),
        json!({"url": "https://example.com", "depth": 2}),
        json!({"url": "https://example.com", "depth": 1, "as": "root"}),
        json!(null),
    ] {
        assert!(!allows(&rule, &PermissionRequest::Input { input: other }));
    }
}

#[test]
fn what_a_person_cannot_see_is_not_remembered() {
    for hidden in ["ls\u{202e}x", "ls \u{200b}", "ls\r", "ls \u{1b}[2K", "ls\0"] {
        let made = AllowRule::exact("claude", "Bash", &command(hidden));
        assert!(made.unwrap_err().contains("not shown"), "{hidden:?}");
    }
    let long = AllowRule::exact("claude", "Bash", &command(&"x".repeat(5000)));
    assert!(long.unwrap_err().contains("longer"));
    assert!(AllowRule::exact("claude", "Bash", &command("ls\n\tpwd # ü 漢")).is_ok());
}

#[test]
fn a_rule_says_what_it_allows() {
    assert_eq!(exact(&command("npm test")).words(), "Bash: npm test");
    let there = PermissionRequest::Command {
        command: "npm test".to_owned(),
        folder: "web".to_owned(),
    };
    assert_eq!(exact(&there).words(), "Bash: npm test (in web)");
    let words = prefix("npm test *").words();
    assert_eq!(words, "Bash: npm test, with any plain arguments");
}

/// Characters that mean something to a shell, or look like others that do.
const TRICKS: &str = "[;&|<>$`\\\\\n\r(){}*?!#~\u{a0}\u{2028}\u{202e}\u{ff1b}\u{37e}\0]";

proptest! {
    /// Whatever stands before and behind it, in quotes or not.
    #[test]
    fn no_prefix_allows_an_operator_outside_of_quotes(
        before in "[a-z '\"-]{0,8}", trick in TRICKS, after in "\\PC{0,12}"
    ) {
        let text = format!("npm test {before}{trick}{after}");
        let single = before.matches('\'').count() % 2 == 1 || before.contains('"');
        prop_assume!(!single);
        let rule = prefix("npm test *");
        prop_assert!(!allows(&rule, &command(&text)), "{text:?}");
    }

    /// As a shell reads it: what it gives to the program is what was compared.
    #[test]
    fn allowed_words_are_those_that_a_shell_passes(words in prop::collection::vec("\\PC{0,6}", 0..4)) {
        let text = format!("npm test {}", words.join(" "));
        if let Some(read) = plain_words(&text) {
            let quoted: Vec<String> = read.iter().map(|word| crate::naming::shell_word(word)).collect();
            let again = plain_words(&quoted.join(" "));
            // A word with a single quote in it was in double quotes, and has no plain spelling of ours.
            if read.iter().all(|word| !word.contains('\'')) {
                prop_assert_eq!(again, Some(read));
            }
        }
    }

    #[test]
    fn no_path_with_dots_is_plain(before in "[a-z/]{0,6}", after in "[a-z/]{0,6}") {
        let path = format!("{before}/../{after}");
        prop_assert!(!is_plain_path(&path));
        prop_assert!(!allows(&exact(&file(&path)), &file(&path)));
    }

    #[test]
    fn a_folder_allows_no_path_that_leaves_it(path in "[a-z./]{0,16}") {
        let rule = AllowRule::matching("claude", "Bash", &file("src/a"), "src/*").unwrap();
        if allows(&rule, &file(&path)) {
            prop_assert!(path.starts_with("src/") && !path.contains(".."));
        }
    }
}
