//! `orange config show`: every setting; those that somebody said stand out, and those that cannot be used.

use crate::error::{CommandError, Result};
use crate::output;
use crate::session::Session;
use crate::ui::{Cell, Column, Extent, Palette, Style, Table, clean_block};
use orange_core::config::{ConfigError, Ignored};
use orange_core::yaml::to_yaml_inline;
use orange_engine::engine::{SettingView, SettingsView, Source};
use orange_engine::{Code, Error};
use serde_json::{Value, json};
use std::path::Path;

const COLUMNS: &[Column] = &[
    Column::new("SETTING"),
    Column::new("VALUE").flexible(),
    Column::new("SOURCE").min(12),
];

/// All of them, or those of a section.
pub(super) fn run(
    session: &mut Session,
    project: Option<&str>,
    section: Option<&str>,
) -> Result<()> {
    let project = session.project(project)?;
    let mut view = session.engine.settings(project.as_deref())?;
    if let Some(section) = section {
        let is_there = |key: &str| key.split('.').next() == Some(section);
        view.settings.retain(|one| is_there(&one.key));
        view.unknown.retain(|one| is_there(&one.key));
        let bad = view.settings.iter().filter_map(|one| one.mistake.clone());
        let unknown = view.unknown.iter().map(Ignored::mistake);
        view.mistakes = bad.chain(unknown).collect();
        view.ignored.clear();
    }
    let path = session.engine.settings_file();
    session.finish(|| all_as_json(&view, &path), || as_text(&view, &path));
    for ignored in &view.ignored {
        output::note(ignored);
    }
    if view.mistakes.is_empty() {
        return Ok(());
    }
    if session.json {
        // The value has them; the exit code is for scripts.
        std::process::exit(1);
    }
    let mistakes = view.mistakes;
    let message = ConfigError { mistakes }.told_of(&from_home(&path));
    Err(CommandError(
        Error::new(Code::Failed, message).hint("`orange config edit` opens it"),
    ))
}

/// The table; what means nothing is below the rest.
fn as_text(view: &SettingsView, path: &Path) -> String {
    let mut table = Table::new(COLUMNS);
    for one in &view.settings {
        let style = match one.sources.as_slice() {
            _ if one.mistake.is_some() => Style::Red,
            [Source::Default] => Style::Dim,
            _ => Style::Bold,
        };
        let sign = if one.mistake.is_some() { "✗ " } else { "" };
        let sources: Vec<String> = one.sources.iter().map(|from| source(from, path)).collect();
        table.row([
            Cell::new(one.key.clone(), style),
            Cell::new(format!("{sign}{}", spoken(&one.value)), style),
            Cell::new(sources.join(", "), style),
        ]);
    }
    for one in &view.unknown {
        let from = Source::User { line: one.line };
        table.row([
            Cell::new(one.key.clone(), Style::Red),
            Cell::new(format!("✗ {}", spoken(&one.value)), Style::Red),
            Cell::new(source(&from, path), Style::Red),
        ]);
    }
    let mut text = String::new();
    table.render(&mut text, Extent::stdout(), Palette::stdout());
    text
}

fn all_as_json(view: &SettingsView, path: &Path) -> Value {
    let settings = view.settings.iter().map(|one| as_json(one, path));
    let unknown = view.unknown.iter().map(|one| {
        json!({
            "key": one.key,
            "value": one.value,
            "source": source(&Source::User { line: one.line }, path),
            "mistake": one.mistake().reason,
        })
    });
    json!({
        "settings": settings.collect::<Vec<Value>>(),
        "project": view.project,
        "unknown": unknown.collect::<Vec<Value>>(),
        "ignored": view.ignored,
    })
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
        "mistake": one.mistake.as_ref().map(|mistake| &mistake.reason),
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
