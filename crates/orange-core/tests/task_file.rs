//! Task files: what is read, what an edit may touch, and that nothing a file holds gets lost.

// Helpers outside a test function count as production code to clippy.
#![allow(clippy::unwrap_used, clippy::panic, clippy::wildcard_enum_match_arm)]

use orange_core::task_file::{Damage, EditError, MAX_BYTES, TaskFile, salvage_body};
use orange_core::yaml::{self, Node};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn parse(text: &str) -> TaskFile {
    TaskFile::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text:?}"))
}

fn damage(text: &str) -> Damage {
    match TaskFile::parse(text.as_bytes()) {
        Ok(_) => panic!("read {text:?}"),
        Err(damage) => damage,
    }
}

fn values(file: &TaskFile) -> Vec<(String, Value)> {
    file.entries()
        .map(|(key, node, _)| (key.to_owned(), node.to_json()))
        .collect()
}

fn value(file: &TaskFile, key: &str) -> Value {
    file.get(key)
        .map(|(node, _)| node.to_json())
        .unwrap_or_else(|| panic!("no {key}"))
}

/// The frontmatter after an edit, without its fences.
fn edited(front: &str, changes: &[(&str, Option<Value>)]) -> String {
    let mut file = parse(&format!("---\n{front}---\nbody"));
    file.edit(changes).unwrap();
    let text = file.text().strip_prefix("---\n").unwrap();
    text.strip_suffix("---\nbody").unwrap().to_owned()
}

// Reading

#[test]
fn plain_values_become_what_they_can_only_be() {
    let front = "a: null\nb: ~\nc:\nd: true\ne: -12\nf: 18446744073709551615\ng: 1.5\nh: '12'\ni: !!str 12\nj: ! 12\n";
    let file = parse(&format!("---\n{front}---\n"));
    let read: Vec<Value> = values(&file).into_iter().map(|(_, value)| value).collect();
    let max = json!(18446744073709551615_u64);
    let wanted = [
        json!(null),
        json!(null),
        json!(null),
        json!(true),
        json!(-12),
        max,
        json!(1.5),
    ];
    assert_eq!(read[..7], wanted);
    assert_eq!(read[7..], [json!("12"), json!("12"), json!("12")]);
    for text in [
        "no",
        "yes",
        "on",
        "True",
        "TRUE",
        "NULL",
        "1.10",
        "2024-01-01",
        "0x1f",
        "1e3",
        "007",
        "+1",
        "-0",
        "1_000",
        ".5",
        "5.",
        ".inf",
        "12:30",
        "99999999999999999999",
        "0o7",
        "1.0e5",
        "nan",
        "inf",
        "-inf",
    ] {
        let file = parse(&format!("---\nk: {text}\n---\n"));
        assert_eq!(value(&file, "k"), json!(text));
    }
}

#[test]
fn frontmatter_is_found_however_it_is_fenced() {
    for (text, body) in [
        ("---\na: 1\n---\nbody", "body"),
        ("---\na: 1\n---", ""),
        ("--- \t\r\na: 1\r\n---  \r\n\r\nb\r\n", "\r\nb\r\n"),
        ("\u{feff}---\na: 1\n---\n---\nx\n---\n", "---\nx\n---\n"),
        ("---\na: 1 # ---\n---\n", ""),
    ] {
        let file = parse(text);
        assert_eq!(
            (value(&file, "a"), file.body(), file.text()),
            (json!(1), body, text)
        );
    }
    for text in ["---\n---\n", "---\n---", "---\n# only\n\n---\n"] {
        assert_eq!(values(&parse(text)), []);
    }
    assert_eq!(
        parse("---\na: |\n  x\n---\ny: 1\n---\n").body(),
        "y: 1\n---\n"
    );
}

#[test]
fn damage_names_the_line_in_the_file() {
    use Damage::{ConflictMarker, DuplicateKey, NoFrontmatter, NotAMapping, Unclosed};
    for text in [
        "",
        "\n---\na: 1\n---\n",
        "a: 1\n",
        "----\na: 1\n----\n",
        "--- a\n---\n",
        "# T\n\n---\n",
    ] {
        assert_eq!(damage(text), NoFrontmatter, "{text:?}");
    }
    for text in [
        "---",
        "---\n",
        "---\na: 1\n",
        "---\na: 1\n----\n",
        "---\na: 1\n...\n",
        "---\na: 1\n ---\n",
    ] {
        assert_eq!(damage(text), Unclosed, "{text:?}");
    }
    assert_eq!(
        damage("---\na: 1\n<<<<<<< HEAD\nb: 1\n=======\n---\n"),
        ConflictMarker { line: 3 }
    );
    assert_eq!(
        damage("---\na: x\n=======\n---\n"),
        ConflictMarker { line: 3 }
    );
    assert_eq!(
        damage("---\na: \"x\n>>>>>>> b\n\"\n---\n"),
        ConflictMarker { line: 3 }
    );
    assert_eq!(damage("<<<<<<< HEAD\n---\n"), ConflictMarker { line: 1 });
    let ruler = damage("---\na: x\n========\n---\n");
    assert!(matches!(ruler, Damage::Yaml { .. }), "{ruler}");
    assert_eq!(
        value(&parse("---\na: x\n ========\n---\n"), "a"),
        json!("x ========")
    );
    assert_eq!(damage("---\n\n- a\n---\n"), NotAMapping { line: 3 });
    assert_eq!(damage("---\njust text\n---\n"), NotAMapping { line: 2 });
    let key = || "a".to_owned();
    assert_eq!(
        damage("---\na: 1\nb: 2\n\"a\": 3\n---\n"),
        DuplicateKey {
            key: key(),
            line: 4
        }
    );
    assert_eq!(
        damage("---\r\nb:\r\n  a: é\r\n  a: 2\r\n---\r\n"),
        DuplicateKey {
            key: key(),
            line: 4
        }
    );
    for (text, wanted) in [
        ("---\na: 1\nb: [1\n---\n", 4),
        ("---\na: é\nb: 😀: c\n---\n", 3),
        ("---\na: 1\n? [x]\n: 1\n---\n", 3),
        ("---\na: 1\n...\nb: 2\n---\n", 4),
        ("---\na: *x\n---\n", 2),
        ("---\na: 1\nb: &x [*x]\n---\n", 3),
        ("---\na: 1\nb: \"\0\"\n---\n", 3),
        ("---\na: 1\nb: x\0\n---\n", 3),
        ("---\na: 1\n# \0\n---\n", 3),
        ("---\na: |\n  x\0y\nb: 1\n---\n", 3),
        ("---\na: '\n  \0'\n---\n", 3),
        ("---\na:\n\tb: 1\n---\n", 3),
    ] {
        match damage(text) {
            Damage::Yaml { line, .. } => assert_eq!(line, wanted, "{text:?}"),
            other => panic!("{other:?} for {text:?}"),
        }
    }
    assert_eq!(
        TaskFile::parse(b"---\na: \xff\n---\n"),
        Err(Damage::NotUtf8 { offset: 7 })
    );
    let big = vec![b'-'; MAX_BYTES + 1];
    assert_eq!(
        TaskFile::parse(&big),
        Err(Damage::TooLarge {
            bytes: MAX_BYTES + 1
        })
    );
    assert_eq!(
        ConflictMarker { line: 4 }.to_string(),
        "line 4 is a merge conflict marker"
    );
}

#[test]
fn entries_know_their_lines() {
    let file = parse("\u{feff}---\n# é\na: |\n  x\n\n'b': 1\nc:\n- 1\nd: 2\n---\n");
    let lines: Vec<(&str, usize)> = file.entries().map(|(key, _, line)| (key, line)).collect();
    assert_eq!(lines, [("a", 3), ("b", 6), ("c", 7), ("d", 9)]);
    assert_eq!(file.get("d").map(|(_, line)| line), Some(9));
    assert!(file.get("e").is_none());
}

#[test]
fn bombs_are_errors() {
    let mut aliases = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let items = vec![format!("*a{}", i - 1); 10].join(", ");
        aliases.push_str(&format!("a{i}: &a{i} [{items}]\n"));
    }
    let chain: String = (1..200)
        .map(|i| format!("a{i}: &a{i} [*a{}]\n", i - 1))
        .collect();
    let wide = format!(
        "---\na: &a {}\nb: [{}]\n---\n",
        "x".repeat(1 << 20),
        vec!["*a"; 20_000].join(", ")
    );
    let many: String = (0..60_000).map(|i| format!("k{i}: 1\n")).collect();
    for text in [
        format!("{aliases}---\n"),
        format!("---\na0: &a0 1\n{chain}---\n"),
        wide,
        format!("---\n{many}---\n"),
        format!("---\na: {}\n---\n", "[".repeat(1_000_000)),
        format!("---\na: {}\n---\n", "{a: ".repeat(1_000_000)),
        format!("---\na:\n  {}x\n---\n", "- ".repeat(1_000_000)),
        format!("---\n{}x\n---\n", "? ".repeat(1_000_000)),
        format!("---\na: {}1{}\n---\n", "[".repeat(65), "]".repeat(65)),
    ] {
        match damage(&text) {
            Damage::Yaml { message, .. } => assert!(
                message.contains("too ") || message.contains("limit"),
                "{message}"
            ),
            other => panic!("{other}"),
        }
    }
    parse(&format!(
        "---\na: {}1{}\n---\n",
        "[".repeat(60),
        "]".repeat(60)
    ));
    let aliased = parse("---\na: &x\n- 1\n- 2\nb: *x\nc: [*x, *x]\n---\n");
    assert_eq!(value(&aliased, "c"), json!([[1, 2], [1, 2]]));
    let written_inline =
        |(node, _): (&Node, usize)| matches!(node, Node::Sequence { flow: true, .. });
    assert_eq!(
        ["a", "b", "c"].map(|key| aliased.get(key).is_some_and(written_inline)),
        [false, true, true]
    );
}

#[test]
fn salvage_keeps_what_can_be_the_body() {
    assert_eq!(salvage_body(b"---\na: [\n---\nbody\n---\n"), "body\n---\n");
    assert_eq!(
        salvage_body("\u{feff}---\r\na: [\r\n--- \r\nbody\r\n".as_bytes()),
        "body\r\n"
    );
    assert_eq!(
        salvage_body(b"# T\n\n---\n\nx\n---\ny"),
        "# T\n\n---\n\nx\n---\ny"
    );
    assert_eq!(salvage_body(b"---\na: 1\n"), "---\na: 1\n");
    assert_eq!(salvage_body(b"---\na: \xff\n---\nb\xff"), "b\u{fffd}");
    assert_eq!(salvage_body(b"---\n---"), "");
    assert_eq!(salvage_body(b""), "");
}

// Writing

#[test]
fn strings_other_readers_would_misread_are_quoted() {
    for text in [
        "no",
        "On",
        "e9",
        "y",
        "1.10",
        "2024-01-01",
        "null",
        "~",
        "",
        " a",
        "a ",
        "- x",
        "-",
        "a: b",
        "a:",
        "#",
        "a #b",
        "@a",
        "`a",
        "%a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "?",
        "? a",
        "'",
        "\"",
        "{a",
        "[a",
        "=",
        "<<",
        ".inf",
        "12:30",
        "0x1f",
        "1_000",
        "a\tb",
        "a\nb",
        "a\u{85}b",
        "a\u{2028}b",
        "\u{feff}a",
        "a\u{7f}",
        "a\u{0}",
        "---",
        "...",
        "\u{a0}a",
    ] {
        let written = yaml::to_yaml_inline(&json!(text)).unwrap();
        assert!(
            written.starts_with('"') && written.ends_with('"'),
            "{text:?}: {written}"
        );
        assert!(written.chars().all(|c| !c.is_control()), "{text:?}");
    }
    for text in [
        "a",
        "a b",
        "https://x.y/#z",
        "it's",
        "a, b",
        "Grüße",
        "日本",
        "a-b_c.d",
        "x:y",
        "/a",
        "say \"hi\"",
        "no.",
    ] {
        assert_eq!(yaml::to_yaml_inline(&json!(text)).unwrap(), text);
    }
    let list = json!([
        "a b",
        "a -",
        "x:y",
        "a, b",
        "no",
        1,
        null,
        true,
        [],
        {},
        ["c"]
    ]);
    let written = yaml::to_yaml_inline(&list).unwrap();
    assert_eq!(
        written,
        "[a b, \"a -\", \"x:y\", \"a, b\", \"no\", 1, null, true, [], {}, [c]]"
    );
}

#[test]
fn created_files_are_laid_out_plainly() {
    let fields = [
        ("title", json!("A: b")),
        ("tags", json!([])),
        ("no", json!("no")),
        (
            "map",
            json!({"a": {"b": "c"}, "d": {}, "e": [{"f": 1, "g": [2]}, [{"h": 3}]]}),
        ),
        ("title", json!("last")),
    ];
    let file = TaskFile::create(&fields, "body");
    let front = "tags: []\n\"no\": \"no\"\nmap:\n  a:\n    b: c\n  d: {}\n  e:\n    - f: 1\n      g: [2]\n    - - h: 3\ntitle: last\n";
    assert_eq!(file.text(), format!("---\n{front}---\nbody"));
    assert_eq!(parse(file.text()), file);
    assert_eq!(value(&file, "map"), fields[3].1);
    assert_eq!(TaskFile::create(&[], "").text(), "---\n---\n");
}

// Editing: the corpus is written as the lines each key owns; lines of nobody have no key.

type Chunks = &'static [(&'static str, &'static str)];

const CORPUS: &[Chunks] = &[
    &[
        ("", "# top\n\n"),
        ("a", "a: 1 # one\n"),
        ("", "# between\n"),
        ("b", "b:    'two'    # 'quoted' \"x\"   \n"),
        ("", "\n  # odd indent\n"),
        ("c", "c: \"x # y\" # z\n"),
        ("d", "d: [a, 'b, c', \"#\"] # list [1]\n"),
        ("e", "e: {x: 1, y: [2]} # map }\n"),
        ("f", "f:\n"),
        ("g", "g:   # nothing\n"),
        ("", "# tail\n\n# end\n"),
    ],
    &[
        ("a", "a: |\n  x\n   # not a comment\n\n  y\n"),
        ("", "\n# after\n"),
        ("b", "b: >- # folded\n  one\n  two\n"),
        ("c", "c: |+ # kept\n  x\n\n\n"),
        ("d", "d: |2-\n   x\n"),
        ("e", "e: |\n"),
        ("", "\n  \n# after an empty one\n"),
        ("f", "f: one\n  two\n\n  three # c\n"),
        ("g", "g: \"one\n  two \\\" # no\n  three\" # c\n"),
        ("h", "h: 'it''s\n  \"# no'\n"),
        ("i", "i:\n  on its own line # c\n"),
        ("j", "j: # head\n  # inner\n  \"own line\"\n"),
        ("k", "k: |\n  last\n"),
    ],
    &[
        ("a", "a:\n- x # first\n\n# inner\n- y # second\n"),
        ("", "# between\n"),
        ("b", "b: # head\n  - k: v\n    l: |\n      text\n  -\n"),
        ("", "\n"),
        ("c", "c:\n  # before\n  x: 1 # one\n  y:\n    z: 2\n"),
        ("", "  # leftover\n"),
        ("d", "d: [a,\n  b, # c\n  c\n  ] # end\n"),
        ("e", "e: {x: 1,\n  y: 2}\n"),
        ("f", "f: [a: 1, {b: 2}]\n"),
        ("g", "g:\n  - - 1\n    - 2\n  - # nothing\n"),
    ],
    &[
        ("'a b'", "'a b': 1\n"),
        ("\"q: \\\" #\"", "\"q: \\\" #\"  : x # c\n"),
        ("Straße 😀", "Straße 😀: é😀 # ü\n"),
        ("b", "b: 日本語 # 😀\n"),
        ("12", "12: x\n"),
        ("<<", "<<: y\n"),
        ("x y", "x y: z   \n"),
        ("t", "t: !!str 12 # tagged\n"),
        ("u", "u: !mine\n  k: v\n"),
        ("v", "v: &unused [1, 2]\n"),
        ("w", "w: &also # anchored\n  k: v\n"),
        ("url", "url: http://x#y # c\n"),
    ],
];

fn key_of(written: &str) -> String {
    match written {
        "'a b'" => "a b".to_owned(),
        "\"q: \\\" #\"" => "q: \" #".to_owned(),
        other => other.to_owned(),
    }
}

fn new_values() -> Vec<Value> {
    vec![
        json!("no"),
        json!(null),
        json!(["x, y", 1]),
        json!({}),
        json!({"q": 1, "x": "new", "r": {"s": ["t"]}}),
        json!([{"p": 1}]),
        json!("a\nb # c"),
    ]
}

/// Edits one key at a time and checks that every byte that is not that key's is where it was.
fn check_corpus(chunks: Chunks, newline: &str) {
    let chunks: Vec<(&str, String)> = chunks
        .iter()
        .map(|(key, text)| (*key, text.replace('\n', newline)))
        .collect();
    let join = |chunks: &[(&str, String)]| {
        chunks
            .iter()
            .map(|(_, text)| text.as_str())
            .collect::<String>()
    };
    let open = format!("---{newline}");
    let close = format!("---{newline}# T{newline}---");
    let whole = format!("{open}{}{close}", join(&chunks));
    let old = parse(&whole);
    assert_eq!(
        old.entries().count(),
        chunks.iter().filter(|(key, _)| !key.is_empty()).count()
    );
    for (index, (written, _)) in chunks
        .iter()
        .enumerate()
        .filter(|(_, (key, _))| !key.is_empty())
    {
        let key = key_of(written);
        let before = format!("{open}{}", join(&chunks[..index]));
        let after = format!("{}{close}", join(&chunks[index + 1..]));
        let mut file = old.clone();
        file.edit(&[(&key, None)]).unwrap();
        assert_eq!(file.text(), format!("{before}{after}"), "removing {key}");
        for new in new_values() {
            let mut file = old.clone();
            file.edit(&[(&key, Some(new.clone()))]).unwrap();
            assert_eq!(value(&file, &key), new);
            assert!(
                file.text().starts_with(&before),
                "{key} to {new}: {:?}",
                file.text()
            );
            assert!(
                file.text().ends_with(&after),
                "{key} to {new}: {:?}",
                file.text()
            );
            let own = &file.text()[before.len()..file.text().len() - after.len()];
            assert_eq!(
                own.matches('\n').count(),
                own.matches(newline).count(),
                "{own:?}"
            );
            file.edit(&[(&key, Some(value(&old, &key)))]).unwrap();
            assert_eq!(values(&file), values(&old));
        }
    }
    for new in new_values() {
        let mut file = old.clone();
        file.edit(&[("new", Some(new.clone()))]).unwrap();
        assert_eq!(value(&file, "new"), new);
        let at = file.text().find("new:").unwrap();
        let length = file.text().len() - whole.len();
        assert_eq!(
            format!("{}{}", &file.text()[..at], &file.text()[at + length..]),
            whole
        );
    }
}

#[test]
fn an_edit_touches_only_its_own_lines() {
    for chunks in CORPUS {
        check_corpus(chunks, "\n");
        check_corpus(chunks, "\r\n");
    }
}

#[test]
fn comments_stay_beside_a_replaced_value() {
    let set = |front: &str, new: Value| edited(front, &[("a", Some(new))]);
    assert_eq!(set("a: {x: 1} # }\n", json!("w")), "a: w # }\n");
    assert_eq!(
        set("a: {x: 1\n  } # c\nb: 1\n", json!("w")),
        "a: w # c\nb: 1\n"
    );
    assert_eq!(set("a: [x, 1] # ]\n", json!({"k": 1})), "a: # ]\n  k: 1\n");
    assert_eq!(set("a: 1 # c\nb: 2\n", json!("x")), "a: x # c\nb: 2\n");
    assert_eq!(set("a:   'x'   # c\n", json!("w")), "a:   w   # c\n");
    assert_eq!(set("a: |- # c\n  x\n# d\n", json!("w")), "a: w # c\n# d\n");
    assert_eq!(
        set("a: # c\n  - x # d\n  - y\n# e\n", json!(["z"])),
        "a: [z] # c\n# e\n"
    );
    assert_eq!(
        set("a: # c\nb: 1\n", json!({"k": 1})),
        "a: # c\n  k: 1\nb: 1\n"
    );
    assert_eq!(
        set("a: [x,\n  y] # c\nb: 1\n", json!({"k": 1})),
        "a: # c\n  k: 1\nb: 1\n"
    );
    assert_eq!(set("a:\n  x # c\nb: 1\n", json!(2)), "a:\n  2 # c\nb: 1\n");
    assert_eq!(set("a: \"no\" # c\n", json!("no")), "a: \"no\" # c\n");
    assert_eq!(
        set("a:\n- 1\n- x # c\n", json!([1, "x"])),
        "a:\n- 1\n- x # c\n"
    );
}

#[test]
fn an_object_is_edited_key_by_key() {
    let front = "m: # m\n    # one\n    a: 1 # a\n    b: # b\n      c: 2 # c\n      d: 3\n    e: 4 # e\n# end\nz: 1\n";
    let new = json!({"a": 1, "b": {"c": "x", "d": 3, "w": 5}, "f": 6});
    let wanted = "m: # m\n    # one\n    a: 1 # a\n    b: # b\n      c: x # c\n      d: 3\n      w: 5\n    f: 6\n# end\nz: 1\n";
    assert_eq!(edited(front, &[("m", Some(new))]), wanted);
    let other = json!({"k": 1});
    assert_eq!(
        edited("m: # m\n  a: 1\n  # c\nz: 1\n", &[("m", Some(other))]),
        "m: # m\n  k: 1\n  # c\nz: 1\n"
    );
}

#[test]
fn new_keys_join_the_end_of_the_mapping() {
    let add: &[(&str, Option<Value>)] = &[("w", Some(json!("x"))), ("no", Some(json!(1)))];
    assert_eq!(
        edited("a: 1\n\n# tail\n", add),
        "a: 1\nw: x\n\"no\": 1\n\n# tail\n"
    );
    assert_eq!(edited("  a: 1\n", add), "  a: 1\n  w: x\n  \"no\": 1\n");
    assert_eq!(edited("# only\n", add), "# only\nw: x\n\"no\": 1\n");
    assert_eq!(edited("", add), "w: x\n\"no\": 1\n");
    assert_eq!(
        edited("a: 1\n", &[("a", None), ("b", None), ("w", Some(json!(2)))]),
        "w: 2\n"
    );
    assert_eq!(
        edited("a: 1\n", &[("a", Some(json!(2))), ("a", Some(json!(3)))]),
        "a: 3\n"
    );
    assert_eq!(edited("a: 1\n", &[("a", None)]), "");
    let long = "k".repeat(2000);
    let mut file = parse("---\na: 1\n---\n");
    file.edit(&[(&long, Some(json!({"b": 1})))]).unwrap();
    file.edit(&[(&long, Some(json!("x")))]).unwrap();
    assert_eq!(value(&parse(file.text()), &long), json!("x"));
}

#[test]
fn files_without_a_final_newline_keep_it_so() {
    let mut file = parse("\u{feff}---\r\na: 1\r\nb: 2\n---");
    file.edit(&[("a", Some(json!(2))), ("w", Some(json!(3)))])
        .unwrap();
    assert_eq!(file.text(), "\u{feff}---\r\na: 2\r\nb: 2\nw: 3\r\n---");
    file.set_body("");
    assert_eq!(file.text(), "\u{feff}---\r\na: 2\r\nb: 2\nw: 3\r\n---");
    file.set_body("x");
    assert_eq!(
        (file.text(), file.body()),
        ("\u{feff}---\r\na: 2\r\nb: 2\nw: 3\r\n---\r\nx", "x")
    );
    assert_eq!(parse(file.text()), file);
}

#[test]
fn what_cannot_be_spliced_is_written_anew_without_loss() {
    for front in [
        "{a: 1, b: [x, 1.10], c: {d: no}}\n",
        "{}\n",
        "a: &x 1\nb: *x\nc: [*x]\n",
        "a: &x\n  k: 1\nb: *x\n",
        "? a\n: 1\n? b\n: - 1\n  - 2\n? c\n",
        "&k a: 1\nb: *k\n",
        "a:\n  |\n  text\nb: 1\n",
        "b: |+\n  x\n\na: |+\n\n\n",
        "a: 1\rb: 2\rc: 3\n",
        ": x\na: 1\n",
        "!!map\na: 1\n",
        "a: b\n...\n",
    ] {
        let old = parse(&format!("---\n{front}---\nbody"));
        for change in [None, Some(json!("no")), Some(json!({"k": [1, "x"]}))] {
            let mut file = old.clone();
            file.edit(&[("a", change.clone()), ("new", Some(json!("1.10")))])
                .unwrap();
            let rest = |file: &TaskFile| {
                values(file)
                    .into_iter()
                    .filter(|(k, _)| k != "a" && k != "new")
                    .collect::<Vec<_>>()
            };
            assert_eq!(rest(&file), rest(&old), "{front:?}");
            assert_eq!(file.get("a").map(|(node, _)| node.to_json()), change);
            assert_eq!((value(&file, "new"), file.body()), (json!("1.10"), "body"));
        }
    }
}

#[test]
fn an_impossible_edit_changes_nothing() {
    let mut file = parse("---\na: 1\n---\n");
    let deep = (0..100).fold(json!(1), |inner, _| json!({ "k": inner }));
    let error = file.edit(&[("a", Some(deep))]).unwrap_err();
    assert_eq!(
        error,
        EditError::NotReadBack {
            keys: vec!["`a`".to_owned()]
        }
    );
    let error = file
        .edit(&[("a", Some(json!("x".repeat(MAX_BYTES))))])
        .unwrap_err();
    assert!(matches!(error, EditError::TooLarge { .. }));
    assert_eq!(file.text(), "---\na: 1\n---\n");
}

// Properties

fn tricky() -> impl Strategy<Value = String> {
    let samples = vec![
        "no",
        "1.10",
        "2024-01-01",
        "~",
        "",
        " ",
        "a: b",
        "#",
        " #x",
        "- x",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "😀",
        "'",
        "\"",
        "\\",
        "\n",
        "\r\n",
        "\r",
        "---",
        "\n---\n",
        "...",
        ", [",
        "}",
        "\0",
        "\u{7f}",
        "\t",
        ":",
        "é",
        "&a",
        "*a",
        "? x",
        "| ",
        ">",
        "%",
        "@",
        "`",
        "!t",
        "=======",
        "```\n---\n```\n",
    ];
    let piece = prop_oneof![
        3 => proptest::sample::select(samples).prop_map(str::to_owned),
        2 => any::<char>().prop_map(String::from),
        2 => "[a-z ]{0,6}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => tricky().prop_map(Value::String),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_filter_map("finite", |f| serde_json::Number::from_f64(f).map(Value::Number)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(tricky(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn yaml_soup() -> impl Strategy<Value = String> {
    let tokens = vec![
        "a", "b", "c", "a: ", "b: ", "c: ", ": ", ":", "\n", "\n", "\n", "\na: ", "\nb: ", "\nc: ",
        "\n  ", "\n- ", "- ", "  ", " ", "|\n", ">\n", "|+\n", "|2-\n", "&x ", "*x", "{", "}", "[",
        "]", ", ", "'", "\"", " # c", "#", "? ", "!t ", "!!str ", "\t", "\r\n", "\r", "é", "😀",
        "1", "~", "\\", "%", "\u{85}", "\u{feff}", "...\n", "x: y",
    ];
    let piece = proptest::sample::select(tokens);
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Checks spans, then that edits of each key keep every other value and never the wrong one.
fn check_readable(file: &TaskFile) {
    file.entries()
        .for_each(|(_, node, _)| check_span(file.text(), node));
    let old = values(file);
    for (key, _) in old.iter().take(3) {
        for change in [None, Some(json!("x")), Some(json!({"k": ["no"], "a": 1}))] {
            let mut new = file.clone();
            new.edit(&[(key, change.clone())])
                .unwrap_or_else(|e| panic!("{e}: {:?}", file.text()));
            let wanted = old.iter().filter_map(|(k, v)| {
                let value = if k == key { change.clone()? } else { v.clone() };
                Some((k.clone(), value))
            });
            assert_eq!(values(&new), wanted.collect::<Vec<_>>());
            assert_eq!(new.body(), file.body());
            assert_eq!(&parse(new.text()), &new);
        }
    }
}

fn check_span(text: &str, node: &Node) {
    let written = &text[node.span().clone()];
    if let Node::Scalar {
        text, plain: true, ..
    } = node
        && !written.contains(['\n', '\r'])
        && !written.starts_with(['&', '!', '*'])
    {
        assert_eq!(written, text);
    }
    if let Node::Scalar { plain: false, .. } = node
        && written.starts_with(['"', '\''])
        && text[..node.span().start].ends_with(": ")
    {
        assert!(
            written.len() > 1 && written.ends_with(&written[..1]),
            "{written}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bodies_survive_byte_for_byte(body in tricky(), other in tricky(), crlf: bool) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let text = format!("---{newline}a: 1{newline}---{newline}{body}");
        let mut file = parse(&text);
        prop_assert_eq!(file.body(), &body);
        file.edit(&[("a", Some(json!(2))), ("b", Some(json!("x")))]).unwrap();
        prop_assert_eq!(file.body(), &body);
        prop_assert!(parse(file.text()).body() == body);
        file.set_body(&other);
        prop_assert_eq!(file.body(), &other);
        prop_assert_eq!(&parse(file.text()), &file);
        prop_assert_eq!(salvage_body(file.text().as_bytes()), other);
        prop_assert!(TaskFile::create(&[("a", json!(1))], &body).body() == body);
    }

    #[test]
    fn strings_read_back_and_edits_leave_other_lines(
        fields in proptest::collection::btree_map(tricky(), (tricky(), proptest::option::of(proptest::option::of(tricky()))), 0..8),
        body in tricky(),
    ) {
        let before: Vec<(&str, Value)> = fields.iter().map(|(key, (value, _))| (key.as_str(), json!(value))).collect();
        let mut file = TaskFile::create(&before, &body);
        prop_assert_eq!(&parse(file.text()), &file);
        let read: Vec<(String, Value)> = before.iter().map(|(key, value)| (String::from(*key), value.clone())).collect();
        prop_assert_eq!(values(&file), read);
        let old = file.text().to_owned();
        let lines: BTreeMap<&str, &str> = fields.keys().map(String::as_str).zip(old.split('\n').skip(1)).collect();

        let changed = |key: &str| fields.get(key).and_then(|(_, change)| change.clone());
        let changes: Vec<(&str, Option<Value>)> =
            fields.keys().filter_map(|key| Some((key.as_str(), changed(key)?.map(Value::from)))).collect();
        file.edit(&changes).unwrap();
        let mut new = file.text().split('\n').skip(1);
        for (key, (value, change)) in &fields {
            match change {
                Some(None) => prop_assert!(file.get(key).is_none()),
                None => {
                    prop_assert_eq!(new.next(), lines.get(key.as_str()).copied());
                    prop_assert_eq!(file.get(key).map(|(node, _)| node.to_json()), Some(json!(value)));
                }
                Some(Some(wanted)) => {
                    new.next();
                    prop_assert_eq!(file.get(key).map(|(node, _)| node.to_json()), Some(json!(wanted)));
                }
            }
        }
        prop_assert_eq!(new.next(), Some("---"));
        prop_assert_eq!(file.body(), body);
    }

    #[test]
    fn any_json_reads_back(
        fields in proptest::collection::btree_map(tricky(), json_value(), 0..5),
        changes in proptest::collection::btree_map(tricky(), proptest::option::of(json_value()), 0..5),
    ) {
        let before: Vec<(&str, Value)> = fields.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let mut file = TaskFile::create(&before, "");
        prop_assert_eq!(&parse(file.text()), &file);
        let wanted: Vec<(String, Value)> = fields.clone().into_iter().collect();
        prop_assert_eq!(values(&file), wanted);
        let all: Vec<(&str, Option<Value>)> = changes.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        file.edit(&all).unwrap();
        let mut wanted = fields;
        for (key, value) in changes {
            match value {
                Some(value) => wanted.insert(key, value),
                None => wanted.remove(&key),
            };
        }
        let read: BTreeMap<String, Value> = values(&file).into_iter().collect();
        prop_assert_eq!(read, wanted);
    }

    #[test]
    fn objects_change_into_any_other(old in json_value(), new in json_value(), rest in tricky()) {
        let mut file = TaskFile::create(&[("m", json!({"a": old, "b": 1})), ("z", json!(rest))], "");
        for wanted in [json!({"a": new, "b": 1}), json!({"b": 1, "c": new}), new.clone(), json!({"a": {"d": old}})] {
            file.edit(&[("m", Some(wanted.clone()))]).unwrap();
            prop_assert_eq!(value(&file, "m"), wanted);
            prop_assert_eq!(value(&file, "z"), json!(rest));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn nothing_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..60), fenced: bool) {
        let mut text = if fenced { b"---\n".to_vec() } else { Vec::new() };
        text.extend(&bytes);
        text.extend(b"\n---\n");
        let _ = TaskFile::parse(&text);
        let _ = salvage_body(&text);
    }

    #[test]
    fn whatever_yaml_is_read_can_be_edited(front in yaml_soup()) {
        if let Ok(file) = TaskFile::parse(format!("---\n{front}\n---\nbody").as_bytes()) {
            check_readable(&file);
        }
    }

    #[test]
    fn mutated_files_never_panic(
        which in 0..CORPUS.len(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0..4_usize, any::<char>()), 1..4),
    ) {
        let front: String = CORPUS[which].iter().map(|(_, text)| *text).collect();
        let mut chars: Vec<char> = format!("---\n{front}---\nbody").chars().collect();
        for (at, action, c) in cuts {
            let at = at.index(chars.len());
            match action {
                0 => { chars.remove(at); }
                1 => chars.insert(at, c),
                2 => chars.swap(at, 0),
                _ => { chars.drain(at..(at + 5).min(chars.len())); }
            }
            if chars.is_empty() { chars.push(c); }
        }
        if let Ok(file) = TaskFile::parse(chars.into_iter().collect::<String>().as_bytes()) {
            check_readable(&file);
        }
    }
}
