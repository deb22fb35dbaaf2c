//! A line of the log as it is shown: on a terminal short, elsewhere with all that stands in it.

use crate::log::record::{LogLine, LogRecord};
use crate::ui::{Extent, Palette, Style, clean, local, wrapped_under};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;

pub(super) fn to_json(line: &LogLine) -> Value {
    let whole = line
        .record
        .as_ref()
        .and_then(|_| serde_json::from_str(&line.raw).ok());
    whole.unwrap_or_else(|| json!({"line": line.raw}))
}

pub(super) struct LogLayout {
    extent: Extent,
    palette: Palette,
    zone: TimeZone,
    today: Date,
    when: usize,
    key: usize,
    /// The keys of tasks, by their ids, as far as these lines tell.
    keys: HashMap<String, String>,
}

impl LogLayout {
    /// Fit for these lines; those that come later are from today.
    pub(super) fn of<'l>(lines: impl Iterator<Item = &'l LogLine>) -> LogLayout {
        const TIME: usize = 8;
        const KEY: usize = 8;
        let zone = TimeZone::system();
        let mut layout = LogLayout {
            extent: Extent::stdout(),
            palette: Palette::stdout(),
            today: Timestamp::now().to_zoned(zone.clone()).date(),
            zone,
            when: TIME,
            key: KEY,
            keys: HashMap::new(),
        };
        for record in lines.filter_map(|line| line.record.as_ref()) {
            layout.when = layout.when.max(layout.time(record).len());
            if let (Some(id), Some(key)) = (text(record, "task"), text(record, "key")) {
                layout.keys.insert(id.to_owned(), key.to_owned());
                layout.key = layout.key.max(key.chars().count());
            }
        }
        layout
    }

    /// A word about lines that are not shown; programs that read the lines are not told.
    pub(super) fn earlier(&self, more: bool) -> String {
        match (more, self.extent) {
            (true, Extent::Columns(_)) => {
                let words = "… earlier lines: --lines 500, or --since 8h";
                format!("{}\n", self.palette.paint(Style::Dim, words))
            }
            _ => String::new(),
        }
    }

    pub(super) fn line(&self, line: &LogLine) -> String {
        let Some(record) = &line.record else {
            let text = format!("{}\n", self.palette.paint(Style::Dim, &line.raw));
            return wrapped_under(&text, 2, self.extent).into_owned();
        };
        match self.extent {
            Extent::Columns(_) => self.short(record),
            Extent::Unlimited => self.whole(record),
        }
    }

    fn short(&self, record: &LogRecord) -> String {
        let palette = self.palette;
        let (when_width, key_width) = (self.when, self.key);
        let (when, key) = (self.time(record), self.key(record));
        let mut text = format!(
            "{:when_width$}  {:key_width$}  ",
            palette.paint(Style::Dim, &when),
            palette.paint(Style::Bold, key),
        );
        if record.level != "info" {
            let level = format!("{}:", record.level);
            let _ = write!(text, "{} ", palette.paint(style(record), &level));
        }
        let component = format!("[{}]", record.component);
        let _ = write!(
            text,
            "{} {}",
            clean(&record.message),
            palette.paint(Style::Dim, &component)
        );
        let left_out: &[&str] = match self::text(record, "by") {
            Some("you") => &["task", "key", "by"],
            _ => &["task", "key"],
        };
        text.push_str(&fields(record, palette, left_out));
        text.push('\n');
        let hang = when_width + 2 + key_width + 2;
        wrapped_under(&text, hang, self.extent).into_owned()
    }

    fn whole(&self, record: &LogRecord) -> String {
        let palette = self.palette;
        let when = local(record.time, "%Y-%m-%d %H:%M:%S");
        // The key says which task in fewer letters.
        let left_out: &[&str] = if record.fields.contains_key("key") {
            &["task"]
        } else {
            &[]
        };
        format!(
            "{} {:5} {:8} {}{}\n",
            palette.paint(Style::Dim, &when),
            palette.paint(style(record), &record.level),
            palette.paint(Style::Cyan, &record.component),
            clean(&record.message),
            fields(record, palette, left_out),
        )
    }

    /// The key of the task it is about; where nothing tells, the beginning of its id.
    fn key<'r>(&'r self, record: &'r LogRecord) -> &'r str {
        let known = |id: &'r str| match self.keys.get(id) {
            Some(key) => key,
            None => id.get(..8).unwrap_or(id),
        };
        let key = text(record, "key").or_else(|| text(record, "task").map(known));
        key.unwrap_or_default()
    }

    /// `14:05:09`, or with the day unless it is today's.
    fn time(&self, record: &LogRecord) -> String {
        let here = record.time.to_zoned(self.zone.clone());
        let form = match here.date() {
            day if day == self.today => "%H:%M:%S",
            day if day.year() == self.today.year() => "%d %b %H:%M",
            _ => "%Y-%m-%d",
        };
        here.strftime(form).to_string()
    }
}

fn text<'r>(record: &'r LogRecord, name: &str) -> Option<&'r str> {
    record.fields.get(name).and_then(Value::as_str)
}

fn style(record: &LogRecord) -> Style {
    match record.level.as_str() {
        "error" => Style::Red,
        "warn" => Style::Yellow,
        "info" => Style::Green,
        _ => Style::Dim,
    }
}

fn fields(record: &LogRecord, palette: Palette, left_out: &[&str]) -> String {
    let mut text = String::new();
    for (name, value) in &record.fields {
        if left_out.contains(&name.as_str()) {
            continue;
        }
        let value = match value {
            Value::String(text) if !text.is_empty() && !text.contains([' ', '"', '\n']) => {
                text.clone()
            }
            other => other.to_string(),
        };
        let field = format!("{name}={value}");
        let _ = write!(text, " {}", palette.paint(Style::Dim, &field));
    }
    text
}
