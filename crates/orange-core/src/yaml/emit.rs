//! Writes JSON values as YAML that any reader understands alike.

use serde_json::Value;

/// YAML lets a key written as `key: value` be at most 1024 characters long, quotes included.
const MAX_SIMPLE_KEY: usize = 1000;

/// Writes a value on one line, if it has no key of its own to put on a line.
pub fn to_yaml_inline(value: &Value) -> Option<String> {
    inline(value, false)
}

fn inline(value: &Value, in_flow: bool) -> Option<String> {
    match value {
        Value::Null => Some("null".to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::String(text) => Some(string(text, in_flow)),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(|item| inline(item, true)).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Value::Object(fields) => fields.is_empty().then(|| "{}".to_owned()),
    }
}

/// Writes `key: value` at the indentation, on as many lines as it takes.
pub fn emit_entry(out: &mut String, indent: &str, key: &str, value: &Value) {
    let key = string(key, false);
    let long = key.len() > MAX_SIMPLE_KEY;
    out.push_str(indent);
    if long {
        out.push_str(&format!("? {key}\n{indent}:"));
    } else {
        out.push_str(&format!("{key}:"));
    }
    match to_yaml_inline(value) {
        Some(text) => out.push_str(&format!(" {text}\n")),
        None => {
            out.push('\n');
            emit_block(out, &format!("{indent}  "), value);
        }
    }
}

/// Writes the lines of an object, or of an array that holds objects.
pub fn emit_block(out: &mut String, indent: &str, value: &Value) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| emit_entry(out, indent, key, value)),
        Value::Array(items) => items.iter().for_each(|item| emit_item(out, indent, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn emit_item(out: &mut String, indent: &str, item: &Value) {
    match to_yaml_inline(item) {
        Some(text) => out.push_str(&format!("{indent}- {text}\n")),
        None => {
            let start = out.len() + indent.len();
            emit_block(out, &format!("{indent}  "), item);
            out.replace_range(start..start + 2, "- ");
        }
    }
}

fn string(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Whether every YAML reader, of 1.1 as of 1.2, takes the bare text for this very string.
/// Errs towards quotes.
fn is_plain(text: &str, in_flow: bool) -> bool {
    const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let starts = |c: char| {
        c.is_alphabetic()
            || matches!(c, '_' | '/' | '$' | '(')
            || (!c.is_ascii() && !c.is_numeric())
    };
    let forbidden = |c: char| {
        must_escape(c)
            || c == '\t'
            || (in_flow && matches!(c, ',' | '[' | ']' | '{' | '}' | ':' | '?'))
    };
    // Legal, but the parser takes the dash in `[a -]` for the start of an item.
    let dashed = in_flow && text.ends_with('-');
    text.starts_with(starts)
        && text.trim() == text
        && !text.ends_with(':')
        && !dashed
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(forbidden)
        && !is_exponent(text)
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Some readers take a bare exponent such as `e9` for a number.
fn is_exponent(text: &str) -> bool {
    let rest = text.trim_start_matches(['e', 'E']);
    rest.len() < text.len()
        && rest.starts_with(|c| matches!(c, '0'..='9' | '+' | '-' | '.' | '_'))
        && !rest.contains(|c| !matches!(c, '0'..='9' | '+' | '-' | '.' | '_'))
}

/// Characters YAML does not allow as they are, or that some readers take for a line end.
fn must_escape(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if must_escape(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
