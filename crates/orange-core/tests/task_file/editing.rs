//! Edits by hand-made examples: only the lines of changed keys change.

use super::*;

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

pub(crate) type Chunks = &'static [(&'static str, &'static str)];

pub(crate) const CORPUS: &[Chunks] = &[
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
        TaskFileEditError::NotReadBack {
            keys: vec!["`a`".to_owned()]
        }
    );
    let error = file
        .edit(&[("a", Some(json!("x".repeat(MAX_BYTES))))])
        .unwrap_err();
    assert!(matches!(error, TaskFileEditError::TooLarge { .. }));
    assert_eq!(file.text(), "---\na: 1\n---\n");
}

// Properties
