//! How an editor is told at which line of a file to begin.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The ways in which editors take a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineSyntax {
    /// `+12 file`
    Plus,
    /// `file:12`
    Colon,
    /// `--goto file:12`
    Goto,
    /// `--line 12 file`
    Line,
}

const EDITORS: &[(&str, LineSyntax)] = &[
    ("code", LineSyntax::Goto),
    ("code-insiders", LineSyntax::Goto),
    ("codium", LineSyntax::Goto),
    ("cursor", LineSyntax::Goto),
    ("emacs", LineSyntax::Plus),
    ("emacsclient", LineSyntax::Plus),
    ("gedit", LineSyntax::Plus),
    ("gvim", LineSyntax::Plus),
    ("helix", LineSyntax::Colon),
    ("hx", LineSyntax::Colon),
    ("idea", LineSyntax::Line),
    ("jed", LineSyntax::Plus),
    ("joe", LineSyntax::Plus),
    ("kak", LineSyntax::Plus),
    ("kate", LineSyntax::Line),
    ("mcedit", LineSyntax::Colon),
    ("mg", LineSyntax::Plus),
    ("micro", LineSyntax::Plus),
    ("nano", LineSyntax::Plus),
    ("nvim", LineSyntax::Plus),
    ("pycharm", LineSyntax::Line),
    ("rustrover", LineSyntax::Line),
    ("subl", LineSyntax::Colon),
    ("vi", LineSyntax::Plus),
    ("view", LineSyntax::Plus),
    ("vim", LineSyntax::Plus),
    ("webstorm", LineSyntax::Line),
    ("windsurf", LineSyntax::Goto),
    ("zed", LineSyntax::Colon),
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
        LineSyntax::Plus => vec![format!("+{line}").into(), file],
        LineSyntax::Colon => vec![at_line()],
        LineSyntax::Goto => vec!["--goto".into(), at_line()],
        LineSyntax::Line => vec!["--line".into(), line.to_string().into(), file],
    }
}

/// By the name of the program in a line like `/usr/bin/code -w`.
fn way(editor: &OsStr) -> Option<LineSyntax> {
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
