//! Tests of cleaning, measuring and cutting text.

use super::*;
use proptest::prelude::*;

fn width(text: &str) -> usize {
    clean_width(&clean(text))
}

fn fit(text: &str, width: usize) -> String {
    let mut out = String::new();
    fit_into(&mut out, &clean(text), width);
    out
}

#[test]
fn plain_text_is_borrowed() {
    assert!(matches!(clean("Fix the parser"), Cow::Borrowed(_)));
    assert!(matches!(clean("Prüfe die Größe 漢字"), Cow::Borrowed(_)));
    assert!(matches!(clean_block("a\n\tb\n"), Cow::Borrowed(_)));
}

#[test]
fn controls_become_visible() {
    assert_eq!(clean("a\x1b[31mb\x07"), "a␛[31mb␇");
    assert_eq!(clean("\0\t\x7f"), "␀␉␡");
    assert_eq!(clean("a\nb\r\nc\rd"), "a⏎b⏎c␍d");
    assert_eq!(clean("\u{9b}31m\u{85}"), "�31m�");
    assert_eq!(clean_block("a\r\n\tb\x1b"), "a\n\tb␛");
}

#[test]
fn invisible_and_reordering_characters_become_visible() {
    for c in "\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{061C}\u{200B}\u{200C}\u{200D}\u{FEFF}\u{2060}\u{2028}\u{2029}\u{E0041}".chars() {
        assert_eq!(clean(&format!("a{c}b")), "a�b", "{c:?}");
        assert_eq!(clean_block(&format!("a{c}b")), "a�b", "{c:?}");
    }
}

#[test]
fn joiners_stay_inside_emoji_and_words() {
    for text in ["👩‍🚀 flies", "❤️‍🔥", "می‌خواهم"] {
        assert_eq!(clean(text), text);
    }
    assert_eq!(clean("👩\u{200D}"), "👩�");
}

#[test]
fn text_is_measured_in_columns() {
    assert_eq!(width("abc"), 3);
    assert_eq!(width("漢字"), 4);
    assert_eq!(width("e\u{301}"), 1);
    assert_eq!(width("👩‍🚀"), 2);
    assert_eq!(width("🇩🇪🇫🇷"), 4);
    assert_eq!(width("👍🏽"), 2);
    assert_eq!(width("\x1b"), 1);
}

#[test]
fn long_text_is_cut_with_an_ellipsis() {
    assert_eq!(fit("abcdef", 6), "abcdef");
    assert_eq!(fit("abcdef", 5), "abcd…");
    assert_eq!(fit("abcdef", 1), "…");
    assert_eq!(fit("abcdef", 0), "");
    assert_eq!(fit("", 3), "");
    assert_eq!(fit("漢字漢字", 5), "漢字…");
    assert_eq!(fit("漢字漢字", 4), "漢…");
    assert_eq!(fit("漢字", 4), "漢字");
    assert_eq!(fit("ab👩‍🚀cd", 4), "ab…");
    assert_eq!(fit("ae\u{301}bc", 3), "ae\u{301}…");
}

#[test]
fn what_is_cut_in_its_middle_keeps_both_ends() {
    let cut = |width| fitted_in_middle("orange/TASK-001-login", width);
    assert_eq!(cut(21), "orange/TASK-001-login");
    assert_eq!(cut(13), "orange…-login");
    assert_eq!(cut(12), "orange…login");
    assert_eq!(cut(1), "…");
    assert_eq!(cut(0), "");
    assert_eq!(fitted_in_middle("漢字漢字", 6), "漢…字");
}

proptest! {
    #[test]
    fn cleaning_leaves_nothing_unsafe_and_is_stable(text in any::<String>()) {
        let once = clean(&text).into_owned();
        prop_assert!(!once.chars().any(char::is_control));
        let twice = clean(&once);
        prop_assert_eq!(twice.as_ref(), once.as_str());
    }

    #[test]
    fn padded_text_has_exactly_the_width_asked_for(
        text in "[a-z 漢é\u{301}👩\u{200D}🚀🇩\u{1F3FD}\u{1b}\n]{0,20}",
        columns in 0usize..12,
    ) {
        prop_assert!(width(&fit(&text, columns)) <= columns);
    }
}
