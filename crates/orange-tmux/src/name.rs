//! Names on their way to tmux: what it would expand, change or take for a key, and how it writes its version.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The name that a session gets when it is asked to be called this. tmux itself turns `.` and `:` into `_`, and escapes
/// control characters, `\` and `$`, differently from version to version; these become `_` as well, so that
/// the name is known beforehand and can be a target.
pub fn session_name(wanted: &str) -> String {
    let known = |c: char| match c {
        '.' | ':' | '\\' | '$' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    if wanted.is_empty() {
        "_".to_owned()
    } else {
        wanted.chars().map(known).collect()
    }
}

/// The same for a window, where tmux changes less.
pub(super) fn window_name(wanted: &str) -> String {
    let known = |c: char| if c.is_control() { '_' } else { c };
    wanted.chars().map(known).collect()
}

/// tmux expands names and folders as formats: `#(cmd)` would run cmd. A doubled `#` stands for itself, except before
/// `[`, where tmux copies all of them (a style, drawn later).
pub(super) fn unexpanded(text: impl AsRef<OsStr>) -> OsString {
    let bytes = text.as_ref().as_bytes();
    let mut escaped = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, others)) = rest.split_first() {
        let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
        if hashes == 0 {
            escaped.push(*first);
            rest = others;
            continue;
        }
        let style = rest.get(hashes) == Some(&b'[');
        let times = if style { hashes } else { 2 * hashes };
        escaped.extend(std::iter::repeat_n(b'#', times));
        rest = rest.get(hashes..).unwrap_or_default();
    }
    OsString::from_vec(escaped)
}

/// Text for the message line, where `%` would be a part of the time.
pub(super) fn shown(text: &str) -> OsString {
    unexpanded(text.replace('%', "%%"))
}

/// Major and minor version: `tmux 3.3a`, `tmux next-3.5`. None where there is no number to go by.
pub(super) fn version(text: &str) -> Option<(u32, u32)> {
    let text = text.strip_prefix("tmux ").unwrap_or(text);
    let text = text.strip_prefix("next-").unwrap_or(text);
    let (major, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, digits.parse().unwrap_or(0)))
}

/// Whether tmux knows this as the name of a key; anything else it would type letter by letter.
pub(super) fn is_key(key: &str) -> bool {
    const NAMED: &[&str] = &[
        "Enter", "Escape", "Tab", "BTab", "Space", "BSpace", "Up", "Down", "Left", "Right", "Home",
        "End", "PageUp", "PageDown", "PPage", "NPage", "IC", "DC", "Insert", "Delete",
    ];
    let mut bare = key;
    while let Some(rest) = ["C-", "M-", "S-"]
        .iter()
        .find_map(|modifier| bare.strip_prefix(modifier))
    {
        bare = rest;
    }
    let function = bare.strip_prefix('F').and_then(|n| n.parse::<u8>().ok());
    let letter = bare.len() == 1 && bare.bytes().all(|byte| byte.is_ascii_graphic());
    letter || NAMED.contains(&bare) || function.is_some_and(|n| (1..=12).contains(&n))
}

#[cfg(test)]
mod tests {
    use super::{is_key, session_name, unexpanded, version};

    #[test]
    fn versions_are_read_however_they_are_written() {
        assert_eq!(version("tmux 3.3a"), Some((3, 3)));
        assert_eq!(version("tmux 3.4"), Some((3, 4)));
        assert_eq!(version("tmux 2.9a"), Some((2, 9)));
        assert_eq!(version("tmux 3.10"), Some((3, 10)));
        assert_eq!(version("tmux 3.2-rc3"), Some((3, 2)));
        assert_eq!(version("tmux next-3.5"), Some((3, 5)));
        assert_eq!(version("tmux 4"), Some((4, 0)));
        assert_eq!(version("tmux openbsd-7.0"), None);
        assert_eq!(version("tmux master"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn a_hash_is_doubled_except_before_a_bracket() {
        for (plain, escaped) in [
            ("x#(touch y)", "x##(touch y)"),
            ("a##b#", "a####b##"),
            ("a#[b#{c}", "a#[b##{c}"),
            ("a##[#[b", "a##[#[b"),
            ("", ""),
        ] {
            assert_eq!(unexpanded(plain), escaped);
        }
    }

    #[test]
    fn only_names_of_keys_are_keys() {
        for key in [
            "Enter", "Escape", "C-c", "M-Enter", "C-M-x", "F5", "S-Up", "y", "-", "C--",
        ] {
            assert!(is_key(key), "{key}");
        }
        for text in ["", "rm -rf", "Entr", "F13", "é", "C-Foo", "C-", " "] {
            assert!(!is_key(text), "{text}");
        }
    }

    #[test]
    fn the_name_of_a_session_is_known_beforehand() {
        assert_eq!(session_name("shop/v1.2:x"), "shop/v1_2_x");
        assert_eq!(session_name("a\nb\\c$HOME"), "a_b_c_HOME");
        assert_eq!(session_name(""), "_");
    }
}
