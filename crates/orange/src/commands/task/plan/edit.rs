//! `orange task plan edit`: the user's editor on a copy of plan.yaml, or a file. A plan that is refused is not thrown away.

use crate::commands::program::{Program, editor, no_editor};
use crate::input;
use crate::output;
use crate::question;
use crate::session::Session;
use orange_core::{Action, text};
use orange_engine::error::plain;
use orange_engine::store::Place;
use orange_engine::verbs::phased::plan::{self, edit};
use orange_engine::views::TaskResult;
use orange_engine::{Error, Result, err};
use std::path::Path;
use tempfile::NamedTempFile;

/// No plan is longer.
const MEGABYTES: u64 = 1;

pub(super) fn run(session: &Session, id: Option<&str>, file: Option<&Path>) -> Result<()> {
    let place = session.task(id)?;
    session.people_only("edit plans")?;
    match file {
        Some(file) => from_file(session, place, file),
        None => in_editor(session, &place),
    }
}

fn from_file(session: &Session, place: Place, file: &Path) -> Result<()> {
    let text = input::text(file, MEGABYTES)?;
    let is_typed = file == Path::new("-");
    match take(session, place, &text) {
        // What came through a pipe is nowhere else.
        Err(error) if is_typed => Err(kept(copy_of(text.as_bytes())?, error)),
        outcome => outcome,
    }
}

fn in_editor(session: &Session, place: &Place) -> Result<()> {
    let shown = plan::show(&session.call, place.clone())?;
    let Some(editor) = editor() else {
        return Err(err!(
            Usage,
            "there is no editor: neither VISUAL nor EDITOR is set"
        )
        .hint("set one of them, or give the plan with --file"));
    };
    let start = shown.plan.to_yaml();
    let copy = copy_of(start.as_bytes())?;
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
        let new = std::fs::read(copy.path()).map_err(|error| failed("read", &error))?;
        if !status.success() {
            let error = err!(Failed, "the editor failed ({status}): nothing was changed")
                .hint("check VISUAL or EDITOR");
            return Err(keep_if(new != start.as_bytes(), copy, error));
        }
        if new == start.as_bytes() {
            let message = format!("{}: nothing was changed", shown.task.label());
            let result = TaskResult::new(&shown.task, &message);
            return session.finish(result, || format!("{message}\n"));
        }
        let Ok(text) = String::from_utf8(new) else {
            let error = err!(Usage, "the plan is not UTF-8: nothing was changed")
                .hint("let your editor write UTF-8");
            return Err(kept(copy, error));
        };
        match take(session, place.clone(), &text) {
            Ok(()) => return Ok(()),
            Err(error) => {
                if question::asks(session, false) {
                    output::note(&error.message);
                    if question::yes("edit again? otherwise the plan stays as it was")? {
                        continue;
                    }
                }
                return Err(kept(copy, error));
            }
        }
    }
}

fn take(session: &Session, place: Place, text: &str) -> Result<()> {
    let (done, ignored) = edit(&session.call, place, text)?;
    let message = format!("{}: has a new plan", done.task.label());
    let result = TaskResult::new(&done.task, &message);
    session.finish(result, || {
        let show = crate::ui::command::command(&Action::show_plan(done.task.name()));
        format!("{message}\nnext: {show}\n")
    })?;
    for ignored in ignored {
        output::note(&ignored);
    }
    Ok(())
}

/// Named so that an editor knows what it is.
fn copy_of(text: &[u8]) -> Result<NamedTempFile> {
    let make = || {
        let copy = tempfile::Builder::new()
            .prefix("orange-plan-")
            .suffix(".yaml")
            .tempfile()?;
        std::fs::write(copy.path(), text)?;
        Ok(copy)
    };
    make().map_err(|error| failed("write", &error))
}

fn keep_if(changed: bool, copy: NamedTempFile, error: Error) -> Error {
    if changed { kept(copy, error) } else { error }
}

/// The error with the place of the text: what somebody typed is not thrown away.
fn kept(copy: NamedTempFile, mut error: Error) -> Error {
    let (told, hint) = match copy.into_temp_path().keep() {
        Ok(path) => (
            format!("your text is in {}", path.display()),
            Some(format!(
                "correct it and give it with --file {}",
                path.display()
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

fn failed(what: &str, error: &std::io::Error) -> Error {
    err!(
        Storage,
        "cannot {what} a copy of the plan: {}",
        plain(error)
    )
    .hint("see to the folder for temporary files")
}
