//! `--edit`: summary and context are written in the user's editor.

use crate::commands::program::{self, Program};
use crate::session::Session;
use orange_engine::error::plain;
use orange_engine::verbs::create::NewTask;
use orange_engine::verbs::create_from::Earlier;
use orange_engine::{Error, Result, err};
use std::io::{IsTerminal, stdin, stdout};
use tempfile::NamedTempFile;

/// From here on, nothing is taken over. A comment of Markdown, so that it clashes with no heading.
const SCISSORS: &str = "<!-- ------------------------ >8 ------------------------";
const EXPLANATION: [&str; 5] = [
    "The first line says what is to be done. What comes after a blank line is the",
    "context: requirements and constraints for the agent, in Markdown.",
    "Without any text above the line with the scissors, nothing is created.",
    "That line and everything below it is left out.",
    "-->",
];

/// The text as it was written, until there is a task that has it.
pub(super) struct WrittenText(NamedTempFile);

/// An editor needs a terminal, and a person at it.
pub(super) fn check_terminal(session: &Session) -> Result<()> {
    session.people_only("write a task in an editor")?;
    if stdin().is_terminal() && stdout().is_terminal() {
        return Ok(());
    }
    Err(err!(Usage, "--edit needs a terminal").hint(
        "say what is to be done in the command, with --context for more, or run it in a terminal",
    ))
}

/// Lets the user write what the task is about, beginning with what is known of it.
pub(super) fn write(new: &mut NewTask, earlier: Option<&Earlier>) -> Result<WrittenText> {
    if let Some(earlier) = earlier {
        if new.summary.trim().is_empty() {
            new.summary.clone_from(&earlier.task.summary);
        }
        new.context.get_or_insert_with(|| earlier.context());
    }
    let start = template(&new.summary, new.context.as_deref().unwrap_or_default());
    let file = file_with(&start).map_err(|error| failed("write", &error))?;
    let editor = program::editor().unwrap_or_else(|| "vi".into());
    let status = Program::from_line(&editor)
        .with(file.path())
        .for_a_person()
        .run()
        .map_err(|error| program::no_editor(&editor, &error.message))?;
    // A line that the shell had to read.
    if status.code() == Some(127) {
        return Err(program::no_editor(&editor, "there is no such program"));
    }
    let bytes = std::fs::read(file.path()).map_err(|error| failed("read", &error))?;
    let written = WrittenText(file);
    if !status.success() {
        let error = err!(Failed, "the editor failed ({status}): nothing was created")
            .hint("check VISUAL or EDITOR");
        return Err(if bytes == start.as_bytes() {
            error
        } else {
            written.kept(error)
        });
    }
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(written.kept(
            err!(Usage, "the text is not UTF-8: nothing was created")
                .hint("let your editor write UTF-8"),
        ));
    };
    let (summary, context) = taken(&text);
    if summary.is_empty() {
        return Err(err!(Declined, "the text is empty: nothing was created"));
    }
    new.summary = summary;
    // An empty one keeps that of an earlier task out.
    new.context = Some(context);
    Ok(written)
}

impl WrittenText {
    /// The error with the place of the text: what somebody typed is not thrown away.
    pub(super) fn kept(self, mut error: Error) -> Error {
        error.message = match self.0.into_temp_path().keep() {
            Ok(path) => format!("{}; your text is in {}", error.message, path.display()),
            Err(lost) => format!(
                "{}; your text could not be kept: {}",
                error.message,
                plain(&lost.error)
            ),
        };
        error
    }
}

fn template(summary: &str, context: &str) -> String {
    let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    let context = match context.trim() {
        "" => String::new(),
        context => format!("{context}\n\n"),
    };
    format!(
        "{summary}\n\n{context}{SCISSORS}\n{}\n",
        EXPLANATION.join("\n")
    )
}

/// Summary and context: the first line with something in it, and what follows.
fn taken(text: &str) -> (String, String) {
    let mut lines = text
        .lines()
        .take_while(|line| line.trim_end() != SCISSORS)
        // Of an explanation without its scissors, too.
        .filter(|line| !EXPLANATION.contains(&line.trim_end()))
        .skip_while(|line| line.trim().is_empty());
    let summary = lines.next().unwrap_or_default().trim().to_owned();
    let context: Vec<&str> = lines.collect();
    (summary, context.join("\n").trim_matches('\n').to_owned())
}

/// Named so that an editor knows what it is.
fn file_with(text: &str) -> std::io::Result<NamedTempFile> {
    let file = tempfile::Builder::new()
        .prefix("orange-task-")
        .suffix(".md")
        .tempfile()?;
    std::fs::write(file.path(), text)?;
    Ok(file)
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    err!(
        Storage,
        "cannot {what} the file for the editor: {}",
        plain(error)
    )
    .hint("see to the folder for temporary files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_filled_in_and_comes_back() {
        let text = template("Fix\nthe  menu", "# Why\n\nIt is <!-- not --> shown.\n");
        assert!(text.starts_with("Fix the menu\n\n# Why\n"), "{text}");
        let expected = ("Fix the menu", "# Why\n\nIt is <!-- not --> shown.");
        let (summary, context) = taken(&text);
        assert_eq!((summary.as_str(), context.as_str()), expected);
    }

    #[test]
    fn nothing_written_is_nothing() {
        assert_eq!(taken(&template("", "")), (String::new(), String::new()));
        assert_eq!(taken(""), (String::new(), String::new()));
        // The scissors are gone, the explanation is not.
        let text = template("", "").replace(SCISSORS, "");
        assert_eq!(taken(&text), (String::new(), String::new()));
    }

    #[test]
    fn the_summary_is_the_first_line_wherever_it_stands() {
        let (summary, context) = taken("\n\n  Fix it \r\n\n\n- one\n  - two\n\n");
        assert_eq!(summary, "Fix it");
        assert_eq!(context, "- one\n  - two");
        let (summary, context) = taken("One\nTwo");
        assert_eq!((summary.as_str(), context.as_str()), ("One", "Two"));
    }
}
