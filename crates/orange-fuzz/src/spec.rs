//! The outline of a specification: whatever the text is, what it lacks is told, and in a code fence there is none of it.

use orange_core::work::spec::{SECTIONS, SpecOutline, check_handed_over, check_text};

pub fn spec(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let outline = SpecOutline::of(text);
    assert_eq!(outline.is_whole(), outline.lacks().is_empty());
    for section in SECTIONS {
        assert!(!(outline.missing.contains(&section) && outline.empty.contains(&section)));
    }
    let result = check_handed_over(Some(text));
    let is_usable = check_text(text).is_ok();
    assert_eq!(result.passed, Some(outline.is_whole() && is_usable));
    assert_eq!(result.passed == Some(true), result.detail.is_empty());
    // No text has a fence of as many backticks as it has characters and one more.
    let fence = "`".repeat(text.len().max(2) + 1);
    let fenced = SpecOutline::of(&format!("{fence}\n{text}\n{fence}\n"));
    assert_eq!(fenced.missing, SECTIONS);
    assert!(!fenced.has_checkbox);
}
