//! Settings changed in texts of any layout: what was set is read again, and nothing else is touched.

#![allow(clippy::unwrap_used, reason = "tests")]

use orange_core::config::{Config, Layer, Setting, edited};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A key, and a value that it may have.
fn change() -> impl Strategy<Value = (&'static str, Value)> {
    let text = "[ -~äß→\\n\\t]{1,30}";
    prop_oneof![
        (1..99u32).prop_map(|n| ("review.max_rounds", json!(n))),
        (1..99u32).prop_map(|n| ("log.keep_days", json!(n))),
        any::<bool>().prop_map(|on| ("merge.push", json!(on))),
        Just(("git.fetch", json!("never"))),
        text.prop_filter("blank", |text| !text.trim().is_empty())
            .prop_map(|text| ("notify.command", json!(text.trim()))),
        prop::collection::vec("[!-~ß]{1,12}", 0..4)
            .prop_map(|patterns| ("workspace.copy", json!(patterns))),
        (1..99u32).prop_map(|n| ("workspace.timeout", json!(format!("{n}m")))),
        Just((
            "harness.mine",
            json!({"command": ["a", "b c"], "one_shot": true})
        )),
    ]
}

/// A file as people write them: sections in any order, comments, blank lines, several ways to write a list.
fn file() -> impl Strategy<Value = String> {
    let section = prop_oneof![
        Just("review:\n  max_rounds: 4   # four\n"),
        Just("review: # nothing yet\n  # max_rounds: 3\n"),
        Just("review:\n"),
    ];
    let git = prop_oneof![
        Just("git:\n    # when\n    fetch: create\n\n    branch_template: 'x/{slug}'\n"),
        Just("git: {fetch: background}\n"),
    ];
    let workspace = prop_oneof![
        Just(
            "workspace:\n  copy:\n    - .env   # secrets\n    - 'a b'\n  setup: |\n    one\n    two\n"
        ),
        Just("workspace:\n  copy: [.env, \"x # y\"]\n  timeout: 5m # long\n"),
    ];
    let notify = prop_oneof![
        Just("notify:\n  command: say \"a b\" # aloud\n"),
        Just("notify:\n  command: >-\n    folded\n    text\n"),
    ];
    let harness = Just("harness:\n  other: [x, '{prompt}']\n  mine: old\n");
    let comment = prop_oneof![Just("# a comment\n"), Just("\n"), Just("#\n# two\n\n")];
    let parts = (
        prop::option::of(section),
        prop::option::of(git),
        prop::option::of(workspace),
        prop::option::of(notify),
        prop::option::of(harness),
        prop::collection::vec(comment, 6),
        any::<(bool, bool)>(),
        0..5usize,
    );
    parts.prop_map(|(a, b, c, d, e, comments, (crlf, cut), turn)| {
        let mut sections = [a, b, c, d, e].map(Option::unwrap_or_default);
        sections.rotate_left(turn);
        let mut text: String = comments
            .iter()
            .zip(sections.into_iter().chain([""]))
            .map(|(comment, section)| format!("{comment}{section}"))
            .collect();
        if cut {
            text.truncate(text.trim_end().len());
        }
        if crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        }
    })
}

/// The lines that are not about a key, as far as a change may not touch them.
fn comments(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| line.starts_with('#')).collect()
}

/// That of an item of a list; it is refused then.
fn would_lose_a_comment(text: &str, key: &str) -> bool {
    key == "workspace.copy" && text.contains("# secrets")
}

proptest! {
    #[test]
    fn what_is_set_is_read_again_and_the_rest_stays(text in file(), (key, value) in change()) {
        let Ok(new) = edited(&text, key, Some(&value)) else {
            prop_assert!(would_lose_a_comment(&text, key), "{}", text);
            return Ok(());
        };
        let (before, after) = (Layer::of_user(&text).unwrap(), Layer::of_user(&new).unwrap());
        prop_assert_eq!(after.get(key).unwrap().value(), value.clone(), "{}", new);
        for said in before.said().iter().filter(|said| said.key != key) {
            prop_assert_eq!(after.get(&said.key).unwrap().value(), said.value(), "{}", new);
        }
        prop_assert_eq!(comments(&text), comments(&new));
        // Set again, nothing happens.
        prop_assert_eq!(&edited(&new, key, Some(&value)).unwrap(), &new);
        // Lines of other settings are as they were, byte for byte, unless they shared braces.
        let (section, name) = key.split_once('.').unwrap();
        if !text.contains(&format!("{section}: {{")) {
            let own = |line: &str| line.trim_start().starts_with(&format!("{name}:"));
            if before.get(key).is_none() {
                let mut rest = new.split_inclusive('\n');
                for line in text.split_inclusive('\n') {
                    let whole = |found: &str| found.trim_end() == line.trim_end();
                    prop_assert!(rest.any(whole), "{line:?} in {new}");
                }
                prop_assert!(new.lines().any(own));
            }
        }
    }

    #[test]
    fn taken_out_it_is_gone_and_the_rest_stays(text in file(), (key, _) in change()) {
        let Ok(new) = edited(&text, key, None) else {
            prop_assert!(would_lose_a_comment(&text, key), "{}", text);
            return Ok(());
        };
        let (before, after) = (Layer::of_user(&text).unwrap(), Layer::of_user(&new).unwrap());
        prop_assert!(after.get(key).is_none());
        for said in before.said().iter().filter(|said| said.key != key) {
            prop_assert_eq!(after.get(&said.key).unwrap().value(), said.value(), "{}", new);
        }
        if before.get(key).is_none() {
            prop_assert_eq!(text, new);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-z:\\[\\]{}#&*\\-|>'\" \\n.0-9]{0,80}", (key, value) in change()) {
        let _ = Config::parse(&text);
        if let Ok(new) = edited(&text, key, Some(&value)) {
            let setting = Setting::of(key).unwrap();
            if let Ok(layer) = Layer::of_user(&new) {
                prop_assert_eq!(layer.get(key).unwrap().value(), value);
                prop_assert_eq!(layer.get(key).unwrap().setting.key, setting.key);
            }
        }
    }
}
