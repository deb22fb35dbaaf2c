//! `orange config show`: every setting; those that somebody said stand out.

use crate::error::Result;
use crate::output;
use crate::session::Session;
use crate::ui::{Cell, Column, Extent, Palette, Style, Table, clean_block};
use orange_core::yaml::to_yaml_inline;
use orange_engine::engine::{SettingView, SettingsView, Source};
use serde_json::{Value, json};
use std::path::Path;

const COLUMNS: &[Column] = &[
    Column::new("SETTING"),
    Column::new("VALUE").flexible(),
    Column::new("SOURCE").min(12),
];

pub(super) fn run(session: &mut Session, project: Option<&str>) -> Result<()> {
    let project = session.project(project)?;
    let view = session.engine.settings(project.as_deref())?;
    let path = session.engine.settings_file();
    session.finish(
        || {
            let settings = view.settings.iter().map(|one| as_json(one, &path));
            let ignored = [view.ignored_of_user.as_slice(), &view.ignored].concat();
            json!({
                "settings": settings.collect::<Vec<Value>>(),
                "project": view.project,
                "ignored": ignored,
            })
        },
        || as_text(&view, &path),
    );
    for ignored in &view.ignored {
        output::note(ignored);
    }
    Ok(())
}

fn as_text(view: &SettingsView, path: &Path) -> String {
    let mut table = Table::new(COLUMNS);
    for one in &view.settings {
        let style = match one.sources.as_slice() {
            [Source::Default] => Style::Dim,
            _ => Style::Bold,
        };
        let sources: Vec<String> = one.sources.iter().map(|from| source(from, path)).collect();
        table.row([
            Cell::new(one.key.clone(), style),
            Cell::new(spoken(&one.value), style),
            Cell::new(sources.join(", "), style),
        ]);
    }
    let mut text = String::new();
    table.render(&mut text, Extent::stdout(), Palette::stdout());
    text
}

pub(super) fn as_json(one: &SettingView, path: &Path) -> Value {
    let sources: Vec<String> = one.sources.iter().map(|from| source(from, path)).collect();
    json!({
        "key": one.key,
        "value": one.value,
        "source": sources.join(", "),
        "is_default": one.sources == [Source::Default],
        "default": one.setting.default_value(),
        "about": one.setting.about,
    })
}

/// A place that a person finds: `~/orange/config.yaml:7`.
fn source(source: &Source, path: &Path) -> String {
    match source {
        Source::Default => "default".to_owned(),
        Source::User { line } => format!("{}:{line}", from_home(path)),
        Source::Repository { commit, line } => {
            let commit = orange_engine::git::short(commit);
            format!(".orange/config.yaml@{commit}:{line}")
        }
        Source::Variable(name) => name.clone(),
        Source::CommandLine => "--config".to_owned(),
    }
}

fn from_home(path: &Path) -> String {
    let below = std::env::home_dir().and_then(|home| {
        let below = path.strip_prefix(home).ok()?;
        Some(format!("~/{}", below.display()))
    });
    below.unwrap_or_else(|| path.display().to_string())
}

/// A value in one line.
pub(super) fn spoken(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Array(items) if items.is_empty() => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => to_yaml_inline(other).unwrap_or_else(|| other.to_string()),
    }
}

/// A value for a script: nothing around it, a list one entry a line.
pub(super) fn bare(value: &Value) -> String {
    let line = |value: &Value| match value {
        Value::String(text) => format!("{}\n", clean_block(text)),
        other => format!("{other}\n"),
    };
    match value {
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(line).collect(),
        other => line(other),
    }
}
