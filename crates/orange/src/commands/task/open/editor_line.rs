//! How an editor is told at which line of a file to begin.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The ways in which editors take a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `+12 file`
    Plus,
    /// `file:12`
    Colon,
    /// `--goto file:12`
    Goto,
    /// `--line 12 file`
    Line,
}

const EDITORS: &[(&str, Way)] = &[
    ("code", Way::Goto),
    ("code-insiders", Way::Goto),
    ("codium", Way::Goto),
    ("cursor", Way::Goto),
    ("emacs", Way::Plus),
    ("emacsclient", Way::Plus),
    ("gedit", Way::Plus),
    ("gvim", Way::Plus),
    ("helix", Way::Colon),
    ("hx", Way::Colon),
    ("idea", Way::Line),
    ("jed", Way::Plus),
    ("joe", Way::Plus),
    ("kak", Way::Plus),
    ("kate", Way::Line),
    ("mcedit", Way::Colon),
    ("mg", Way::Plus),
    ("micro", Way::Plus),
    ("nano", Way::Plus),
    ("nvim", Way::Plus),
    ("pycharm", Way::Line),
    ("rustrover", Way::Line),
    ("subl", Way::Colon),
    ("vi", Way::Plus),
    ("view", Way::Plus),
    ("vim", Way::Plus),
    ("webstorm", Way::Line),
    ("windsurf", Way::Goto),
    ("zed", Way::Colon),
];

/// The arguments that open a file at a line in an editor; in one that is not known the file alone.
pub(crate) fn arguments(editor: &OsStr, file: &Path, line: Option<u32>) -> Vec<OsString> {
    let file = file.as_os_str().to_owned();
    let (Some(line), Some(way)) = (line, way(editor)) else {
        return vec![file];
    };
    let at_line = || {
        let mut both = file.clone();
        both.push(format!(":{line}"));
        both
    };
    match way {
        Way::Plus => vec![format!("+{line}").into(), file],
        Way::Colon => vec![at_line()],
        Way::Goto => vec!["--goto".into(), at_line()],
        Way::Line => vec!["--line".into(), line.to_string().into(), file],
    }
}

/// By the name of the program in a line like `/usr/bin/code -w`.
fn way(editor: &OsStr) -> Option<Way> {
    let program = editor.to_str()?.split_whitespace().next()?;
    let name = Path::new(program.trim_matches(['\'', '"'])).file_name()?;
    let mut known = EDITORS.iter();
    known
        .find(|(known, _)| name == OsStr::new(known))
        .map(|(_, way)| *way)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_editor_is_told_in_its_own_way() {
        let told = |editor: &str, line| {
            let words = arguments(OsStr::new(editor), Path::new("/a b"), line);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        };
        assert_eq!(told("vi", Some(7)), "+7 /a b");
        assert_eq!(told("/usr/bin/nvim -p", Some(7)), "+7 /a b");
        assert_eq!(told("code -w", Some(7)), "--goto /a b:7");
        assert_eq!(told("hx", Some(7)), "/a b:7");
        assert_eq!(told("idea", Some(7)), "--line 7 /a b");
        assert_eq!(told("ed", Some(7)), "/a b");
        assert_eq!(told("vi", None), "/a b");
    }
}
