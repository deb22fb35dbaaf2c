//! `orange config edit`: the user's editor on a copy, which counts once it can be read.

use crate::commands::program::{Program, editor, no_editor};
use crate::output::{self, named};
use crate::question;
use crate::session::Session;
use orange_core::config::{ConfigError, Layer, template};
use orange_engine::error::plain;
use orange_engine::verbs::config;
use orange_engine::views::EditedSettings;
use orange_engine::{Error, Result, err, settings};
use std::path::Path;
use tempfile::NamedTempFile;

pub(super) fn run(session: &Session) -> Result<()> {
    session.people_only("change settings")?;
    let path = settings::settings_file(&session.call);
    let Some(editor) = editor() else {
        return Err(err!(
            Usage,
            "there is no editor: neither VISUAL nor EDITOR is set"
        )
        .hint(format!(
            "set one of them, or open {} in an editor of your choice",
            path.display()
        )));
    };
    let old = settings::settings_bytes(&session.call)?;
    let start = old.clone().unwrap_or_else(|| template().into_bytes());
    let copy = copy_of(&start).map_err(|error| failed("write", &error))?;
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
            let kept = keep_if(new != start, copy)?;
            return Err(err!(
                Failed,
                "the editor failed ({status}): nothing was changed{kept}"
            )
            .hint("check VISUAL or EDITOR"));
        }
        if new == start {
            return say(session, &path, false, "nothing was changed");
        }
        match checked(&new) {
            Ok(ignored) => {
                let mut call = session.call.clone();
                if let Err(error) = config::replace_settings(&mut call, old.as_deref(), &new) {
                    let kept = keep_if(true, copy)?;
                    let message = format!("{}{kept}", error.message);
                    return Err(Error { message, ..error });
                }
                say(session, &path, true, "the new settings count from now on")?;
                for ignored in ignored {
                    output::note(&ignored);
                }
                return Ok(());
            }
            Err(problem) => {
                if question::asks(session, false) {
                    output::note(&problem);
                    if question::yes("edit again? otherwise the file stays as it was")? {
                        continue;
                    }
                }
                let kept = keep_if(true, copy)?;
                // Several mistakes are lines of their own.
                let and = if problem.contains('\n') { "\n" } else { ": " };
                return Err(err!(Usage, "{problem}{and}nothing was changed{kept}")
                    .hint("correct it and try again"));
            }
        }
    }
}

/// What is wrong with a text, or what in it does not count.
fn checked(bytes: &[u8]) -> std::result::Result<Vec<String>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "config.yaml: it is not UTF-8".to_owned())?;
    let layer = Layer::of_user(text).map_err(ConfigError::from);
    let layer = layer.and_then(Layer::usable);
    let layer = layer.map_err(|error| error.to_string())?;
    let ignored = layer.ignored.iter();
    Ok(ignored.map(|one| format!("config.yaml, {one}")).collect())
}

/// Named so that an editor knows what it is.
fn copy_of(text: &[u8]) -> std::io::Result<NamedTempFile> {
    let copy = tempfile::Builder::new()
        .prefix("orange-config-")
        .suffix(".yaml")
        .tempfile()?;
    std::fs::write(copy.path(), text)?;
    Ok(copy)
}

/// What somebody typed is not thrown away.
fn keep_if(changed: bool, copy: NamedTempFile) -> Result<String> {
    if !changed {
        return Ok(String::new());
    }
    let path = copy.into_temp_path().keep();
    let path = path.map_err(|error| failed("keep", &error.error))?;
    Ok(format!("; your text is in {}", path.display()))
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    err!(
        Storage,
        "cannot {what} a copy of the settings: {}",
        plain(error)
    )
    .hint("see to the folder for temporary files")
}

fn say(session: &Session, path: &Path, changed: bool, text: &str) -> Result<()> {
    let file = EditedSettings {
        file: path,
        changed,
    };
    session.finish(named("config", file), || {
        format!("{}: {text}\n", path.display())
    })
}
