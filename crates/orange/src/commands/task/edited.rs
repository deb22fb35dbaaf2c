//! A text of a task that a person changes: the user's editor on a copy of it, or a file. A text that is refused is not thrown away.

use crate::commands::program::{Program, editor, no_editor};
use crate::input;
use crate::output;
use crate::question;
use crate::session::Session;
use orange_core::text;
use orange_engine::error::plain;
use orange_engine::{Error, Result, err};
use std::path::Path;
use tempfile::NamedTempFile;

/// What is edited.
pub(super) struct EditedText {
    /// `plan`
    pub(super) what: &'static str,
    /// What the name of a copy ends with, so that an editor knows what it is.
    pub(super) suffix: &'static str,
    pub(super) megabytes: u64,
    /// How a file with such a text is given instead: `--file FILE`.
    pub(super) given_by: fn(&str) -> String,
}

/// Takes a text; an error keeps it.
pub(super) type Take<'t> = &'t dyn Fn(&str) -> Result<()>;

impl EditedText {
    pub(super) fn take_file(&self, file: &Path, take: Take<'_>) -> Result<()> {
        let text = input::text(file, self.megabytes)?;
        let is_typed = file == Path::new("-");
        match take(&text) {
            // What came through a pipe is nowhere else.
            Err(error) if is_typed && !text.trim().is_empty() => {
                Err(self.kept(self.copy_of(text.as_bytes())?, error))
            }
            outcome => outcome,
        }
    }

    /// Lets the user change a text until it is taken. False: nothing was changed.
    pub(super) fn in_editor(&self, session: &Session, start: &str, take: Take<'_>) -> Result<bool> {
        let what = self.what;
        let Some(editor) = editor() else {
            let given = (self.given_by)("FILE");
            return Err(err!(
                Usage,
                "there is no editor: neither VISUAL nor EDITOR is set"
            )
            .hint(format!("set one of them, or give the {what} with {given}")));
        };
        let copy = self.copy_of(start.as_bytes())?;
        loop {
            let status = Program::from_line(&editor)
                .with(copy.path())
                .for_a_person()
                .run()
                .map_err(|error| no_editor(&editor, &error.message))?;
            // A line that the shell had to read.
            if status.code() == Some(127) {
                return Err(no_editor(&editor, "there is no such program"));
            }
            let new = std::fs::read(copy.path()).map_err(|error| self.failed("read", &error))?;
            let is_changed = new != start.as_bytes();
            if !status.success() {
                let error = err!(Failed, "the editor failed ({status}): nothing was changed")
                    .hint("check VISUAL or EDITOR");
                return Err(match is_changed {
                    true => self.kept(copy, error),
                    false => error,
                });
            }
            if !is_changed {
                return Ok(false);
            }
            let Ok(text) = String::from_utf8(new) else {
                let error = err!(Usage, "the {what} is not UTF-8: nothing was changed")
                    .hint("let your editor write UTF-8");
                return Err(self.kept(copy, error));
            };
            let Err(error) = take(&text) else {
                return Ok(true);
            };
            if question::asks(session, false) {
                output::note(&error.message);
                let again = format!("edit again? otherwise the {what} stays as it was");
                if question::yes(&again)? {
                    continue;
                }
            }
            return Err(self.kept(copy, error));
        }
    }

    fn copy_of(&self, text: &[u8]) -> Result<NamedTempFile> {
        let make = || {
            let copy = tempfile::Builder::new()
                .prefix(&format!("orange-{}-", self.what))
                .suffix(self.suffix)
                .tempfile()?;
            std::fs::write(copy.path(), text)?;
            Ok(copy)
        };
        make().map_err(|error| self.failed("write", &error))
    }

    /// The error with the place of the text: what somebody typed is not thrown away.
    fn kept(&self, copy: NamedTempFile, mut error: Error) -> Error {
        let (told, hint) = match copy.into_temp_path().keep() {
            Ok(path) => (
                format!("your text is in {}", path.display()),
                Some(format!(
                    "correct it and give it with {}",
                    (self.given_by)(&path.display().to_string())
                )),
            ),
            Err(lost) => (
                format!("your text could not be kept: {}", plain(&lost.error)),
                None,
            ),
        };
        // Several mistakes are lines of their own.
        let and = if error.message.contains('\n') {
            "\n"
        } else {
            "; "
        };
        error.message = format!("{}{and}{told}", error.message);
        if let Some(hint) = hint {
            let first = error
                .hint
                .take()
                .map_or_else(|| text!("{hint}"), |first| text!("{}; {hint}", first));
            error = error.hint(first);
        }
        error
    }

    fn failed(&self, what: &str, error: &std::io::Error) -> Error {
        err!(
            Storage,
            "cannot {what} a copy of the {}: {}",
            self.what,
            plain(error)
        )
        .hint("see to the folder for temporary files")
    }
}
