//! A line of the log as it is read again. Whatever stands in the file is shown; nothing breaks the reading.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

/// From worst to least.
pub(crate) const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct LogRecord {
    pub(crate) time: Timestamp,
    pub(crate) level: String,
    pub(crate) component: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) fields: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogLine {
    /// As it stands there, what is no text replaced.
    pub(crate) raw: String,
    /// None: it is not one of ours, or was cut short.
    pub(crate) record: Option<LogRecord>,
}

impl LogLine {
    pub(crate) fn read(bytes: &[u8]) -> LogLine {
        LogLine {
            record: serde_json::from_slice(bytes).ok(),
            raw: String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// Which lines are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogFilter {
    /// This level and worse.
    pub(crate) level: Option<usize>,
    pub(crate) component: Option<String>,
    /// In lower case.
    pub(crate) text: Option<String>,
    pub(crate) since: Option<Timestamp>,
    /// The id of a task.
    pub(crate) task: Option<String>,
}

impl LogFilter {
    /// A line that is not one of ours says nothing of level, component, time or task.
    pub(crate) fn wants(&self, line: &LogLine) -> bool {
        let Some(record) = &line.record else {
            let anything = self.level.is_none()
                && self.component.is_none()
                && self.since.is_none()
                && self.task.is_none();
            return anything && self.has_text(&line.raw);
        };
        let rank = || LEVELS.iter().position(|level| *level == record.level);
        self.level.is_none_or(|most| rank() <= Some(most))
            && self.since.is_none_or(|since| record.time >= since)
            && self
                .component
                .as_ref()
                .is_none_or(|it| *it == record.component)
            && self.task.as_ref().is_none_or(|task| record.is_about(task))
            && self.has_text(&line.raw)
    }

    /// Looked for in the line as it stands in the file, so that fields and their names are found too.
    fn has_text(&self, raw: &str) -> bool {
        let Some(text) = &self.text else {
            return true;
        };
        raw.to_lowercase().contains(text)
    }

    /// Told from its first bytes: of a long log most lines are, and need not be read.
    pub(crate) fn is_too_old(&self, line: &[u8]) -> bool {
        let time = || {
            let rest = line.strip_prefix(br#"{"time":""#)?;
            let end = rest.iter().position(|byte| *byte == b'"')?;
            let time = std::str::from_utf8(rest.get(..end)?).ok()?;
            time.parse::<Timestamp>().ok()
        };
        let old = |since| time().is_some_and(|time| time < since);
        self.since.is_some_and(old)
    }
}

impl LogRecord {
    fn is_about(&self, task: &str) -> bool {
        self.fields.get("task").and_then(Value::as_str) == Some(task)
    }
}
