//! Edits and readings of anything: nothing is lost, nothing panics.

use super::editing::CORPUS;
use super::*;

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
