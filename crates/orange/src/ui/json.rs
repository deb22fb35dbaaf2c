//! JSON as it is printed and logged: nothing in it that a terminal obeys.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes DEL and the C1 controls (U+0080 to U+009F), which JSON allows as they are. A terminal may take U+009B for the
/// start of an escape sequence. In a JSON text they occur in strings only, so the value stays the same.
pub(crate) fn escaped_controls(json: &str) -> Cow<'_, str> {
    let acts = |c: char| matches!(c, '\u{7F}'..='\u{9F}');
    if !json.contains(acts) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if acts(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    proptest! {
        #[test]
        fn no_control_character_is_left_and_the_value_is_the_same(
            text in "(.|[\u{0}-\u{9f}]){0,40}",
            name in "[\u{0}-\u{9f}]{0,5}",
        ) {
            let value = json!({ name: [text] });
            let whole = value.to_string();
            let printed = escaped_controls(&whole);
            prop_assert!(!printed.contains(|c: char| c.is_control()), "{printed:?}");
            let read: Value = serde_json::from_str(&printed).unwrap();
            prop_assert_eq!(read, value);
        }
    }
}
