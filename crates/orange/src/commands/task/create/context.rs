//! `--context`: a text, the path of a file, or standard input.

use crate::input;
use crate::output;
use crate::ui::{clean, size};
use orange_engine::error::plain;
use orange_engine::{Error, Result, err};
use std::io::ErrorKind;
use std::path::Path;

/// How large a context may be.
const MEGABYTES: u64 = 4;

/// How a text begins or ends that was meant as the path of a file.
const ENDINGS: [&str; 4] = [".md", ".markdown", ".txt", ".rst"];

/// The context that was given. A file is told of, because its name could have been meant as the text.
pub(super) fn read(given: &str) -> Result<String> {
    if given == "-" {
        return text_of(given);
    }
    if is_option(given) {
        return Err(
            err!(Usage, "--context needs a value, and {given} is an option")
                .hint("give a text, the path of a file, or - for standard input"),
        );
    }
    let path = Path::new(given);
    match path.metadata() {
        Ok(_) => {
            let text = text_of(given)?;
            output::note(&format!(
                "context from {} ({})",
                clean(given),
                size(text.len() as u64)
            ));
            Ok(text)
        }
        Err(error) if is_path(given) || path.is_symlink() => Err(no_file(given, &error)),
        Err(_) => Ok(given.to_owned()),
    }
}

fn text_of(source: &str) -> Result<String> {
    input::text(Path::new(source), MEGABYTES).map_err(|mut error| {
        error.message = format!("--context: {}", error.message);
        error
    })
}

/// A typo in a path must not become what an agent is told.
fn no_file(given: &str, error: &std::io::Error) -> Error {
    let message = match error.kind() {
        ErrorKind::NotFound => format!("there is no file {given}"),
        _ => format!("cannot read {given}: {}", plain(error)),
    };
    err!(Usage, "--context: {message}").hint(
        "check the path, or create the file; a text of one word with a / or an ending like .md needs a blank in it",
    )
}

fn is_path(given: &str) -> bool {
    let lower = given.to_lowercase();
    let is_one_word = !given.is_empty() && !given.contains(char::is_whitespace);
    is_one_word && (given.contains('/') || ENDINGS.iter().any(|ending| lower.ends_with(ending)))
}

fn is_option(given: &str) -> bool {
    let name = given.trim_start_matches('-');
    let letters = |c: char| c.is_ascii_lowercase() || c == '-' || c == '=';
    given.starts_with("--") && !name.is_empty() && name.chars().all(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_like_a_path_is_told_from_a_text() {
        for path in ["notes.md", "docs/notes", "./x", "/tmp", "NOTES.TXT", "a/b"] {
            assert!(is_path(path), "{path}");
        }
        for text in [
            "",
            "only Chrome",
            "and/or so",
            "see notes.md",
            "urgent",
            "v1.2",
        ] {
            assert!(!is_path(text), "{text}");
        }
        assert!(is_option("--no-spawn") && is_option("--queue=backlog"));
        for text in ["-", "--", "- one", "-- two words", "—", "-5"] {
            assert!(!is_option(text), "{text}");
        }
    }

    #[test]
    fn a_file_is_read_and_another_text_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.md");
        std::fs::write(&file, "Only Chrome\n").unwrap();
        assert_eq!(read(file.to_str().unwrap()).unwrap(), "Only Chrome\n");
        assert_eq!(read("only Chrome").unwrap(), "only Chrome");
        assert_eq!(read(&"long ".repeat(10_000)).unwrap().len(), 50_000);
        let missing = folder.path().join("note.md");
        let refused = read(missing.to_str().unwrap()).unwrap_err();
        assert!(refused.message.contains("there is no file"), "{refused}");
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        assert!(read(folder.path().join("link").to_str().unwrap()).is_err());
        assert!(read(folder.path().to_str().unwrap()).is_err());
    }
}
