//! What an agent says at the end of a turn: one JSON object, read as tolerantly as agents write.

mod findings;
mod scan;
#[cfg(test)]
mod tests;

use crate::naming::cut_at;
use crate::work::spec;
pub use crate::workflow::AnswerStatus;
pub use findings::{Finding, Findings, NotKept, Severity, as_item, listed, shortened};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;

/// Longer texts are cut: they go into prompts, rows and events.
const LONGEST_TEXT: usize = 8 * 1024;
/// What is longer than a specification may be is kept as too long a text, and refused as one: not cut to one that would do.
const LONGEST_ARTIFACT: usize = spec::MOST_BYTES + char::MAX.len_utf8();
/// So many findings and files are kept.
const MOST: usize = 200;

/// The answer of an agent. Where there is none that can be read, the phase continues.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub status: AnswerStatus,
    /// What was done.
    pub summary: String,
    /// Why it is blocked or continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a person is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// How many findings there were besides.
    #[serde(skip_serializing_if = "NotKept::is_empty")]
    pub not_kept: NotKept,
    /// The files that were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub touching: Vec<String>,
    /// Markdown that the phase was to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
}

impl Answer {
    /// Makes the absolute paths of its findings that lie below this folder relative to it, as those of the repository are.
    pub fn relative_to(&mut self, folder: &Path) {
        for finding in &mut self.findings {
            let file = finding.file.as_deref().map(Path::new);
            let inside = file.and_then(|file| file.strip_prefix(folder).ok());
            if let Some(inside) = inside.and_then(Path::to_str) {
                finding.file = Some(inside.to_owned());
            }
        }
    }

    /// The answer in the text of an agent's last message: the last JSON object that has a status of ours. Prose around it
    /// does no harm. Without one the phase continues.
    pub fn read(text: &str) -> Answer {
        Answer::find(text).unwrap_or_default()
    }

    /// The same; None: there is no answer.
    pub fn find(text: &str) -> Option<Answer> {
        last_object(text, "status", |object| Answer::from_object(&object))
    }

    fn from_object(object: &Map<String, Value>) -> Option<Answer> {
        let status = object.get("status")?.as_str()?.trim().to_lowercase();
        let text = |name: &str| {
            object
                .get(name)
                .and_then(|value| in_text(value, LONGEST_TEXT))
        };
        let findings = Findings::read(object.get("findings"));
        Some(Answer {
            status: status.parse().ok()?,
            summary: text("summary").unwrap_or_default(),
            reason: text("reason"),
            question: text("question"),
            findings: findings.kept,
            not_kept: findings.not_kept,
            touching: several(object.get("touching"))
                .filter_map(|file| in_text(file, LONGEST_TEXT))
                .take(MOST)
                .collect(),
            artifact: object.get("artifact").and_then(artifact),
        })
    }

    /// What a person is asked, where the agent is blocked.
    pub fn question_in_words(&self) -> String {
        let said = [
            self.question.as_deref(),
            self.reason.as_deref(),
            Some(self.summary.as_str()),
        ];
        let mut said = said.into_iter().flatten().filter(|text| !text.is_empty());
        said.next()
            .unwrap_or("the agent says that it cannot go on, and does not say why")
            .to_owned()
    }
}

/// What the last JSON object in a text gives that has this key and gives something.
pub fn last_object<T>(
    text: &str,
    key: &str,
    take: impl Fn(Map<String, Value>) -> Option<T>,
) -> Option<T> {
    objects(text, key).find_map(|object| take(serde_json::from_str(object).ok()?))
}

/// The texts of the JSON objects that have this key, the last one first.
pub fn objects<'t>(text: &'t str, key: &str) -> impl Iterator<Item = &'t str> {
    let newest_first = scan::objects_with(text, key).into_iter().rev();
    newest_first.filter_map(|range| text.get(range))
}

/// The items of a list; a single value is a list of one.
fn several(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let (items, one) = match value {
        Some(Value::Array(items)) => (items.as_slice(), None),
        other => (&[][..], other),
    };
    items.iter().chain(one)
}

/// A value as text; None for nothing.
fn in_text(value: &Value, longest: usize) -> Option<String> {
    let text = whole_text(value)?;
    // What is cut may end with a blank.
    Some(cut_at(&text, longest).trim_end().to_owned())
}

fn artifact(value: &Value) -> Option<String> {
    let mut text = whole_text(value)?;
    text.truncate(cut_at(&text, LONGEST_ARTIFACT).len());
    Some(text)
}

fn whole_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}
