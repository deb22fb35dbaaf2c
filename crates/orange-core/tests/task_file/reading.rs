//! What is read, what is damaged, what can be salvaged.

use super::*;

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
        "\n \n",
        "x\n---\na: 1\n---\n",
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
fn blank_lines_before_the_frontmatter_are_passed_over() {
    for before in ["\n", "\n\n", " \t\r\n", "\u{feff}\n", "\u{feff}\n \n"] {
        let text = format!("{before}---\na: 1\n---\nbody\n");
        let mut file = TaskFile::parse(text.as_bytes()).unwrap();
        assert_eq!(file.body(), "body\n", "{before:?}");
        let at = before.lines().count() + 2;
        assert_eq!(file.get("a").map(|(_, line)| line), Some(at), "{before:?}");
        file.edit(&[("a", Some(2.into()))]).unwrap();
        assert_eq!(file.text(), text.replace("a: 1", "a: 2"), "{before:?}");
    }
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
