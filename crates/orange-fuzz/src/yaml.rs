//! YAML: what is read stands where it is said to, and what is written reads back the same.

use orange_core::yaml::{MappingEntry, Node, YamlError, emit_entry, fits, read};

pub fn yaml(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let root = match read(text, 0..text.len()) {
        Ok(Some(root)) => root,
        Ok(None) => return,
        Err(YamlError::DuplicateKey { line, .. } | YamlError::Invalid { line, .. }) => {
            return super::is_a_line_of(line, text);
        }
    };
    stands_in(text, &root);
    let value = root.to_json();
    if !fits(&value) {
        return;
    }
    let mut written = String::new();
    emit_entry(&mut written, "", "root", &value);
    let again = read(&written, 0..written.len()).map(|node| node.map(|node| node.to_json()));
    // The same text may cost more as a block of lines than it did; nothing else is a reason.
    if let Err(YamlError::Invalid { message, .. }) = &again
        && message == "too many values"
    {
        return;
    }
    assert_eq!(again, Ok(Some(serde_json::json!({"root": value}))));
}

fn stands_in(text: &str, node: &Node) {
    let span = node.span();
    assert!(text.get(span.clone()).is_some(), "{span:?}");
    match node {
        Node::Scalar { .. } => {}
        Node::Sequence { items, .. } => items.iter().for_each(|item| stands_in(text, item)),
        Node::Mapping { entries, .. } => {
            for MappingEntry {
                key_span, value, ..
            } in entries
            {
                assert!(text.get(key_span.clone()).is_some(), "{key_span:?}");
                stands_in(text, value);
            }
        }
    }
}
