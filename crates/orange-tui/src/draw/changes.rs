//! What a task changed: the parts to choose from, the files, and the lines of one of them.

use super::layout::ScreenLayout;
use super::panel::wrapped;
use super::task;
use crate::app::App;
use crate::app::changes::PARTS;
use orange_core::display::{clean, clean_width, fitted};
use orange_core::naming::counted;
use orange_engine::git::diff::FileStatus;
use orange_engine::git::short;
use orange_engine::views::changes::{ChangedFile, Changes};
use orange_engine::views::patch::{LineKind, PatchLine};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// From so many columns on the files stand beside the lines, else above them.
const BESIDE: u16 = 100;
const FILES: u16 = 38;
/// So many files are shown above the lines.
const ABOVE: u16 = 4;
/// From so many columns on lines have their numbers.
const NUMBERED: usize = 60;

/// Where the parts of the tab are.
struct Places {
    head: Rect,
    files: Rect,
    /// The name of the file, where the files are not beside its lines.
    title: Rect,
    lines: Rect,
}

fn places(area: Rect, files: usize) -> Places {
    let head = Rect {
        height: area.height.min(2),
        ..area
    };
    let body = Rect {
        y: area.y + head.height,
        height: area.height - head.height,
        ..area
    };
    if area.width >= BESIDE {
        return Places {
            head,
            files: Rect {
                width: FILES,
                ..body
            },
            title: Rect { height: 0, ..body },
            lines: Rect {
                x: body.x + FILES + 1,
                width: body.width - FILES - 1,
                ..body
            },
        };
    }
    let files = u16::try_from(files).unwrap_or(ABOVE);
    let files = files.min(ABOVE).min(body.height / 3);
    let title = body.height.saturating_sub(files).min(1);
    Places {
        head,
        files: Rect {
            height: files,
            ..body
        },
        title: Rect {
            y: body.y + files,
            height: title,
            ..body
        },
        lines: Rect {
            y: body.y + files + title,
            height: body.height - files - title,
            ..body
        },
    }
}

/// How many lines of a file are on the screen.
pub(crate) fn height(app: &App) -> usize {
    let area = task::text_area(app, ScreenLayout::of(app, app.size).body);
    let places = places(area, app.changes.files().len());
    usize::from(places.lines.height).max(1)
}

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let width = usize::from(area.width);
    let places = places(area, app.changes.files().len());
    let mut head = vec![parts(app, width)];
    let changes = match &app.changes.shown {
        None => {
            head.push(Line::styled(" reading …", app.theme.dim()));
            frame.render_widget(Paragraph::new(head), places.head);
            return;
        }
        Some(Err(why)) => {
            frame.render_widget(Paragraph::new(head), places.head);
            let lines = wrapped(why, width.saturating_sub(2)).into_iter();
            let lines: Vec<Line<'_>> = lines.map(|line| Line::raw(format!(" {line}"))).collect();
            let below = Rect {
                y: area.y + 1,
                height: area.height.saturating_sub(1),
                ..area
            };
            frame.render_widget(Paragraph::new(lines), below);
            return;
        }
        Some(Ok(changes)) => changes,
    };
    head.push(about(app, changes, width));
    frame.render_widget(Paragraph::new(head), places.head);
    let Some(file) = app.changes.file() else {
        return;
    };
    let shown = usize::from(places.files.height);
    frame.render_widget(
        Paragraph::new(files(app, places.files.width.into(), shown)),
        places.files,
    );
    if places.title.height > 0 {
        let name = fitted(&format!("{} ", named(file)), width.saturating_sub(6));
        let rest = "─".repeat(width.saturating_sub(clean_width(&name) + 5));
        let title = Line::from(vec![
            Span::styled(" ── ", app.theme.dim()),
            Span::styled(name, app.theme.bold()),
            Span::styled(rest, app.theme.dim()),
        ]);
        frame.render_widget(Paragraph::new(title), places.title);
    } else if places.lines.x > 0 {
        let rule = Rect {
            x: places.lines.x - 1,
            width: 1,
            ..places.lines
        };
        super::panel::rule(frame, rule);
    }
    frame.render_widget(Paragraph::new(lines(app, file, places.lines)), places.lines);
}

/// `all · since I last looked · …`, with the shown one standing out.
fn parts(app: &App, width: usize) -> Line<'static> {
    let mut spans = vec![Span::raw(" ")];
    for (place, (of, long, brief)) in PARTS.iter().enumerate() {
        if place > 0 {
            spans.push(Span::styled(" · ", app.theme.dim()));
        }
        let name = if width >= usize::from(BESIDE) {
            *long
        } else {
            *brief
        };
        spans.push(if *of == app.changes.of() {
            Span::styled(format!("[{name}]"), app.theme.key())
        } else {
            Span::styled(name, app.theme.dim())
        });
    }
    Line::from(spans)
}

/// What is compared, with what a person should know of it first.
fn about(app: &App, changes: &Changes, width: usize) -> Line<'static> {
    let comparison = &changes.comparison;
    let mut spans = vec![Span::raw(" ")];
    let diff = app.selected().and_then(|row| row.diff.as_ref());
    let unreviewed = diff.and_then(|diff| diff.since_review).unwrap_or(0);
    if unreviewed > 0 {
        let text = counted(unreviewed as usize, "commit");
        spans.push(Span::styled(
            format!("! {text} since review  "),
            app.theme.need(),
        ));
    }
    let text = if let Some(nothing) = &comparison.nothing {
        app.spelled(nothing)
    } else if changes.files.is_empty() {
        format!("nothing differs from {}", comparison.against)
    } else {
        let mut text = counted(changes.files.len(), "file");
        let added: u64 = changes.files.iter().map(|file| file.change.added).sum();
        let deleted: u64 = changes.files.iter().map(|file| file.change.deleted).sum();
        text.push_str(&format!(
            " +{added} −{deleted} since {}",
            comparison.against
        ));
        if let Some(base) = &comparison.base {
            text.push_str(&format!(" at {}", short(base)));
        }
        text
    };
    let notes = comparison.notes.join("; ");
    let text = if notes.is_empty() {
        text
    } else {
        format!("! {notes}; {text}")
    };
    let used: usize = spans.iter().map(|span| clean_width(&span.content)).sum();
    spans.push(Span::raw(fitted(&text, width.saturating_sub(used + 1))));
    Line::from(spans)
}

/// Its path, and what it was called before.
fn named(file: &ChangedFile) -> String {
    let path = clean(&file.path);
    match &file.change.old_path {
        Some(old) => format!("{path} (was {})", clean(&old.to_string_lossy())),
        None => path.into_owned(),
    }
}

/// The files around the selected one.
fn files(app: &App, width: usize, height: usize) -> Vec<Line<'static>> {
    let tab = &app.changes;
    let from = (tab.at + 1).saturating_sub(height.max(1));
    let shown = tab.files().iter().enumerate().skip(from).take(height);
    shown
        .map(|(place, file)| {
            let is_at = place == tab.at;
            let is_viewed = tab.is_viewed(file);
            let change = &file.change;
            let counts = if tab.is_folded(file) {
                "folded".to_owned()
            } else if change.binary {
                "binary".to_owned()
            } else {
                format!("+{} −{}", change.added, change.deleted)
            };
            let what = match change.status {
                FileStatus::Added => " new",
                FileStatus::Deleted => " deleted",
                FileStatus::Renamed => " renamed",
                FileStatus::Unmerged => " conflict",
                FileStatus::Modified | FileStatus::Copied | FileStatus::TypeChanged => "",
            };
            let counts = format!(" {counts}{what}");
            let room = width.saturating_sub(clean_width(&counts) + 4);
            let style = match (is_at, is_viewed) {
                (true, _) => app.theme.bold(),
                (false, true) => app.theme.dim(),
                (false, false) => Style::new(),
            };
            let sign = if is_at { "▸" } else { " " };
            let viewed = if is_viewed { "✓" } else { " " };
            Line::from(vec![
                Span::raw(format!(" {sign}")),
                Span::styled(format!("{viewed} "), app.theme.good()),
                Span::styled(front_cut(&file.path, room), style),
                Span::styled(counts, app.theme.dim()),
            ])
        })
        .collect()
}

/// Of a path its end says most.
fn front_cut(path: &str, width: usize) -> String {
    let clean = clean(path);
    if clean_width(&clean) <= width {
        return clean.into_owned();
    }
    let mut left = width.saturating_sub(1);
    let mut start = clean.len();
    for (at, letter) in clean.char_indices().rev() {
        let needed = clean_width(&clean[at..at + letter.len_utf8()]);
        if needed > left {
            break;
        }
        left -= needed;
        start = at;
    }
    format!("…{}", &clean[start..])
}

/// The lines of the selected file that are on the screen.
fn lines(app: &App, file: &ChangedFile, area: Rect) -> Vec<Line<'static>> {
    let tab = &app.changes;
    let width = usize::from(area.width);
    let dim = |text: String| vec![Line::styled(fitted(&text, width), app.theme.dim())];
    let change = &file.change;
    if tab.is_folded(file) {
        let key = app.keymap.key(orange_core::keys::KeyAction::Unfold);
        return dim(format!(
            " folded: +{} −{}; `{key}` shows them",
            change.added, change.deleted
        ));
    }
    let patch = match &tab.patch {
        None => return dim(" reading …".to_owned()),
        Some(Err(why)) => return dim(format!(" {why}")),
        Some(Ok(patch)) => patch,
    };
    if patch.lines.is_empty() {
        return dim(" no line of it changed".to_owned());
    }
    let numbers = patch.lines.iter().filter_map(|line| line.number).max();
    let digits = numbers.map_or(1, |number| number.to_string().len());
    let digits = (width >= NUMBERED).then_some(digits);
    let current = patch.hunks.get(tab.hunk);
    let height = usize::from(area.height);
    let shown = patch.lines.iter().enumerate().skip(tab.top).take(height);
    let mut lines: Vec<Line<'static>> = shown
        .map(|(place, line)| {
            let line = patched(app, line, digits, width.saturating_sub(1));
            let sign = if current == Some(&place) { "▌" } else { " " };
            let mut spans = vec![Span::raw(sign)];
            spans.extend(line);
            Line::from(spans)
        })
        .collect();
    if patch.is_cut && lines.len() < height {
        let label = app.selected().map_or("ID", |row| row.label.as_str());
        lines.extend(dim(format!(
            " … there is more: orange diff {label} --file {}",
            file.path
        )));
    }
    lines
}

/// A line with its number and its sign, in their colours.
fn patched(app: &App, line: &PatchLine, digits: Option<usize>, width: usize) -> Vec<Span<'static>> {
    let (sign, style) = match line.kind {
        LineKind::Added => ("+", app.theme.good()),
        LineKind::Deleted => ("-", app.theme.trouble()),
        LineKind::Same => (" ", Style::new()),
        LineKind::Hunk => ("", app.theme.heading()),
        LineKind::Note => ("", app.theme.dim().add_modifier(Modifier::ITALIC)),
    };
    let number = match (digits, line.number) {
        (Some(digits), Some(number)) => format!("{number:>digits$} "),
        (Some(_), None) | (None, _) => String::new(),
    };
    let room = width.saturating_sub(number.len() + sign.len());
    let text = fitted(&line.text.replace('\t', "    "), room);
    vec![
        Span::styled(number, app.theme.dim()),
        Span::styled(format!("{sign}{text}"), style),
    ]
}
