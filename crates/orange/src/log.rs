//! Orange's own log: one JSON object per line in `<home>/orange.log`, written by any number of
//! processes at once and rotated by whichever finds it too large.
//!
//! The log serves the command, never the other way round: where it cannot be written (full disk,
//! read-only home), records are dropped and the command goes on.

mod file;
pub(crate) mod follow;
pub(crate) mod read;
pub(crate) mod record;

use crate::ui::escaped_controls;
use file::LogFile;
use jiff::Timestamp;
use orange_core::config::LogLevel;
use serde_json::{Map, Value};
use std::fmt::{self, Write as _};
use std::path::Path;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Starts logging for this process. No file is created before there is something to write.
pub(crate) fn init(home: &Path, level: LogLevel) -> Result<(), String> {
    if level == LogLevel::Off {
        return Ok(());
    }
    tracing::subscriber::set_global_default(subscriber(LogFile::new(home), filter(level)))
        .map_err(|error| format!("cannot start logging: {error}"))
}

/// Both call them by the same words.
fn filter(level: LogLevel) -> LevelFilter {
    level.as_str().parse().unwrap_or(LevelFilter::INFO)
}

fn subscriber(file: LogFile, filter: LevelFilter) -> impl Subscriber + Send + Sync {
    tracing_subscriber::registry()
        .with(filter)
        .with(JsonLines { file })
}

struct JsonLines {
    file: LogFile,
}

impl<S: Subscriber> Layer<S> for JsonLines {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut line = escaped_controls(&record(event)).into_owned();
        line.push('\n');
        self.file.append(line.as_bytes());
    }
}

/// The members stand in the order a person reads them, which a JSON map would not keep.
fn record(event: &Event<'_>) -> String {
    let metadata = event.metadata();
    let mut fields = LogFields::default();
    event.record(&mut fields);
    let LogFields(mut fields) = fields;
    let message = fields.shift_remove("message");
    let component = metadata.target().rsplit("::").next().unwrap_or_default();
    // The top of a crate stands for the crate: `orange_git` is git.
    let component = component.strip_prefix("orange_").unwrap_or(component);
    let mut line = format!(
        r#"{{"time":"{:.3}","level":"{}","component":{},"message":{},"pid":{}"#,
        Timestamp::now(),
        metadata.level().as_str().to_ascii_lowercase(),
        Value::from(component),
        message.unwrap_or_else(|| Value::from("")),
        std::process::id(),
    );
    if !fields.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(line, r#","fields":{}"#, Value::Object(fields));
    }
    line.push('}');
    line
}

/// Collects what an event carries, its message among it.
#[derive(Default)]
struct LogFields(Map<String, Value>);

impl LogFields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for LogFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut text = value.to_string();
        let mut source = value.source();
        while let Some(cause) = source {
            let _ = write!(text, ": {cause}");
            source = cause.source();
        }
        self.put(field, text);
    }
}

#[cfg(test)]
mod tests;
