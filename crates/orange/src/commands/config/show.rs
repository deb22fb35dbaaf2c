//! `orange config show`: every setting; those that somebody said stand out, and those that cannot be used.

use crate::output;
use crate::session::Session;
use crate::ui::{Cell, Column, Extent, Palette, Style, Table, clean, clean_block, wrapped_under};
use orange_core::config::ConfigError;
use orange_core::yaml::to_yaml_inline;
use orange_core::{Action, text};
use orange_engine::views::{SettingsView, ValueSource, settings};
use orange_engine::{Result, err};
use serde_json::Value;

const COLUMNS: &[Column] = &[
    Column::new("SETTING"),
    Column::new("VALUE").flexible(),
    Column::new("SOURCE").min(12),
];

/// All of them, or those of a section.
pub(super) fn run(session: &Session, project: Option<&str>, section: Option<&str>) -> Result<()> {
    let project = session.project(project)?;
    let mut view = settings::settings(&session.call, project.as_deref())?;
    if let Some(section) = section {
        let is_there = |key: &str| key.split('.').next() == Some(section);
        view.settings.retain(|one| is_there(&one.key));
        view.unknown.retain(|one| is_there(&one.key));
        let bad = view.settings.iter().filter_map(|one| one.mistake.clone());
        let unknown = view.unknown.iter().map(|one| one.mistake.clone());
        view.mistakes = bad.chain(unknown).collect();
        view.ignored.clear();
        view.read_as.clear();
    }
    session.finish(&view, || {
        as_text(&rows(&view), Extent::stdout(), Palette::stdout())
    })?;
    for line in view.read_as.iter().chain(&view.ignored) {
        output::note(line);
    }
    if view.mistakes.is_empty() {
        return Ok(());
    }
    if session.json {
        // The value has them; the exit code is for scripts.
        std::process::exit(1);
    }
    let mistakes = view.mistakes;
    let file = settings::settings_file_name(&session.call);
    let message = ConfigError { mistakes }.told_of(&file);
    Err(err!(Failed, "{message}").hint(text!("{} opens it", Action::edit_settings())))
}

struct SettingRow {
    key: String,
    value: String,
    sources: Vec<String>,
    style: Style,
}

/// Every setting; what means nothing is below the rest.
fn rows(view: &SettingsView) -> Vec<SettingRow> {
    let settings = view.settings.iter().map(|one| {
        let style = match one.sources.as_slice() {
            _ if one.mistake.is_some() => Style::Red,
            [ValueSource::Default] => Style::Dim,
            _ => Style::Bold,
        };
        let sign = if one.mistake.is_some() { "✗ " } else { "" };
        SettingRow {
            key: one.key.clone(),
            value: match &one.chosen {
                Some(chosen) => format!("not set: first installed ({chosen})"),
                None => format!("{sign}{}", spoken(&one.value)),
            },
            sources: one.sources.iter().map(ValueSource::to_string).collect(),
            style,
        }
    });
    let unknown = view.unknown.iter().map(|one| SettingRow {
        key: one.key.clone(),
        value: format!("✗ {}", spoken(&one.value)),
        sources: vec![one.source.to_string()],
        style: Style::Red,
    });
    settings.chain(unknown).collect()
}

fn as_text(rows: &[SettingRow], extent: Extent, palette: Palette) -> String {
    if let Extent::Columns(room) = extent
        && !fits(rows, room)
    {
        return narrow(rows, extent, palette);
    }
    let mut table = Table::new(COLUMNS);
    for row in rows {
        table.row([
            Cell::new(row.key.as_str(), row.style),
            Cell::new(row.value.as_str(), row.style),
            Cell::new(row.sources.join(", "), row.style),
        ]);
    }
    let mut text = String::new();
    table.render(&mut text, extent, palette);
    text
}

/// Whether a table would cut nothing.
fn fits(rows: &[SettingRow], room: usize) -> bool {
    let widest = |width: fn(&SettingRow) -> usize| rows.iter().map(width).max().unwrap_or_default();
    let key = widest(|row| row.key.chars().count());
    let value = widest(|row| row.value.chars().count());
    let from = widest(|row| row.sources.join(", ").chars().count());
    key + value + from + 4 <= room
}

/// Where there is no room for a third column: values go on below themselves, and where they come from stands there too.
fn narrow(rows: &[SettingRow], extent: Extent, palette: Palette) -> String {
    let widest = rows.iter().map(|row| row.key.chars().count()).max();
    let indent = widest.unwrap_or_default() + 2;
    let mut text = String::new();
    for row in rows {
        let is_default = row.sources == [ValueSource::Default.to_string()];
        let value = clean(&row.value);
        let value = if is_default {
            format!("{value} (default)")
        } else {
            value.into_owned()
        };
        let blanks = " ".repeat(indent.saturating_sub(row.key.chars().count()));
        let (key, value) = (clean(&row.key), palette.paint(row.style, &value));
        let line = format!("{}{blanks}{value}\n", palette.paint(row.style, &key));
        text.push_str(&wrapped_under(&line, indent, extent));
        for from in row.sources.iter().filter(|_| !is_default) {
            let from = palette.paint(Style::Dim, from);
            let line = format!("{:indent$}{from}\n", "");
            text.push_str(&wrapped_under(&line, indent, extent));
        }
    }
    text
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_cuts_nothing_and_a_pipe_has_one_line_each() {
        let row = |key: &str, value: &str, from: &str, style| SettingRow {
            key: key.to_owned(),
            value: value.to_owned(),
            sources: vec![from.to_owned()],
            style,
        };
        let rows = [
            row("merge.push", "true", "default", Style::Dim),
            row(
                "workspace.setup",
                "[npm ci, make everything that is needed]",
                "~/orange/config.yaml:12",
                Style::Bold,
            ),
        ];
        let palette = Palette { enabled: false };
        insta::assert_snapshot!(as_text(&rows, Extent::Columns(40), palette), @"
        merge.push       true (default)
        workspace.setup  [npm ci, make
                         everything that is
                         needed]
                         ~/orange/config.yaml:12
        ");
        let wide = as_text(&rows, Extent::Columns(100), palette);
        assert_eq!(wide, as_text(&rows, Extent::Unlimited, palette));
        assert_eq!(wide.lines().count(), 3, "{wide}");
    }
}
