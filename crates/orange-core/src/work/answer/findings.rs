//! What a review found: its findings, read as tolerantly as agents write them, and kept, joined and listed within limits.
//! What cannot be read is read to the safe side: it must not turn into an approval.

use super::{Answer, LONGEST_TEXT, MOST, in_text};
use crate::choice;
use crate::display::{clean, clean_block};
use crate::naming::{counted, cut_at};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Of a finding that is listed in a prompt.
const LONGEST_LISTED: usize = 1024;
/// Of all that are listed in a prompt.
const LONGEST_LIST: usize = 32 * 1024;

/// Where the words of a finding are looked for.
const TEXTS: [&str; 6] = [
    "text",
    "message",
    "description",
    "title",
    "summary",
    "detail",
];

choice! {
    /// How bad a finding of a review is.
    #[derive(Default)]
    pub enum Severity ("severity") {
        /// It has to be changed.
        Major = "major",
        #[default]
        Minor = "minor",
    }
}

impl Severity {
    /// The severity that an agent means by a word; None: nobody knows the word.
    fn of_word(word: &str) -> Option<Severity> {
        match word.trim().to_lowercase().as_str() {
            "major" | "critical" | "high" | "blocker" | "error" | "severe" => Some(Severity::Major),
            "minor" | "medium" | "low" | "nit" | "info" | "style" | "suggestion" => {
                Some(Severity::Minor)
            }
            _ => None,
        }
    }

    /// The same for what stands at `severity`; None: nothing does. What is not known is major.
    fn of_value(value: &Value) -> Option<Severity> {
        match value {
            Value::Null => None,
            Value::String(word) if word.trim().is_empty() => None,
            Value::String(word) => Some(Severity::of_word(word).unwrap_or(Severity::Major)),
            _ => Some(Severity::Major),
        }
    }

    /// The one that a text begins with: `MAJOR: it loses data`, `[minor] a name`.
    fn of_beginning(text: &str) -> Option<Severity> {
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || "[(*_".contains(c));
        let end = text.find(|c: char| !c.is_alphabetic())?;
        let (word, rest) = text.split_at(end);
        let is_label = rest.trim_start().starts_with([':', ']', ')', '*', '_']);
        Severity::of_word(word).filter(|_| is_label)
    }
}

/// Something that a review found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    pub severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub text: String,
}

impl Finding {
    /// `src/a.rs:45: text`, without control characters. A path that leads out of the repository is said to do so; nothing opens
    /// it.
    pub fn in_words(&self) -> String {
        let outside = match self.file.as_deref().is_none_or(is_inside) {
            true => "",
            false => " (not a file of the repository)",
        };
        let file = self.file.as_deref().map(clean);
        let text = clean_block(&self.text);
        match (file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}{outside}: {text}"),
            (Some(file), None) => format!("{file}{outside}: {text}"),
            (None, Some(line)) => format!("Line {line}: {text}"),
            (None, None) => text.into_owned(),
        }
    }
}

/// Whether a path leads to what a repository may hold, by its form alone.
fn is_inside(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']);
    let is_name = |part: &str| part != ".." && !part.eq_ignore_ascii_case(".git");
    let first = parts.clone().next().unwrap_or_default();
    // `/x`, `C:\x`, `file://x`, `~/x` and `~somebody/x`.
    let is_rooted = first.is_empty()
        || first.ends_with(':')
        || first == "~"
        || (first.starts_with('~') && first.len() < path.len());
    !is_rooted && !path.contains(char::is_control) && parts.all(is_name)
}

/// How many findings were not kept, because there were too many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotKept {
    pub major: usize,
    pub minor: usize,
}

impl NotKept {
    pub fn is_empty(&self) -> bool {
        *self == NotKept::default()
    }

    pub fn of_severity(self, severity: Severity) -> usize {
        match severity {
            Severity::Major => self.major,
            Severity::Minor => self.minor,
        }
    }

    /// `7 more minor findings are not kept`; None: all are.
    pub fn in_words(self, severity: Severity) -> Option<String> {
        let number = self.of_severity(severity);
        let are = if number == 1 { "is" } else { "are" };
        let findings = counted(number, &format!("more {severity} finding"));
        (number > 0).then(|| format!("{findings} {are} not kept"))
    }

    /// The same for both, the major ones first.
    pub fn all_in_words(self) -> impl Iterator<Item = String> {
        let severities = Severity::ALL.iter();
        severities.filter_map(move |severity| self.in_words(*severity))
    }
}

/// Findings that are kept, the major ones first, and how many are not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    pub kept: Vec<Finding>,
    pub not_kept: NotKept,
}

impl Findings {
    /// Those that an answer has at `findings`.
    pub(super) fn read(value: Option<&Value>) -> Findings {
        let mut all = Vec::new();
        if let Some(value) = value {
            read(value, None, &mut all);
        }
        Findings::within_limits(all, NotKept::default())
    }

    /// What the answers of several turns found together: the same in the same place counts once, and as major if any turn says so.
    pub fn of_answers<'a>(answers: impl Iterator<Item = &'a Answer>) -> Findings {
        let mut all: Vec<Finding> = Vec::new();
        let mut places = HashMap::new();
        let mut not_kept = NotKept::default();
        for answer in answers {
            not_kept.major += answer.not_kept.major;
            not_kept.minor += answer.not_kept.minor;
            for finding in &answer.findings {
                let same = (&finding.file, finding.line, &finding.text);
                let place = *places.entry(same).or_insert(all.len());
                match all.get_mut(place) {
                    Some(known) if finding.severity == Severity::Major => {
                        known.severity = Severity::Major;
                    }
                    Some(_) => {}
                    None => all.push(finding.clone()),
                }
            }
        }
        Findings::within_limits(all, not_kept)
    }

    fn within_limits(mut all: Vec<Finding>, mut not_kept: NotKept) -> Findings {
        all.sort_by_key(|finding| finding.severity != Severity::Major);
        for finding in all.iter().skip(MOST) {
            match finding.severity {
                Severity::Major => not_kept.major += 1,
                Severity::Minor => not_kept.minor += 1,
            }
        }
        all.truncate(MOST);
        Findings {
            kept: all,
            not_kept,
        }
    }

    pub fn of_severity(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        let kept = self.kept.iter();
        kept.filter(move |finding| finding.severity == severity)
    }

    /// How many there were, with those that are not kept.
    pub fn count(&self, severity: Severity) -> usize {
        self.of_severity(severity).count() + self.not_kept.of_severity(severity)
    }
}

/// An item of a list in Markdown. Of several lines all belong to it, and none of them is a heading.
pub fn as_item(words: &str) -> String {
    let lines: Vec<String> = words.lines().map(without_heading).collect();
    format!("- {}", lines.join("\n  "))
}

/// The line with a backslash where Markdown would read a heading, or the line below one, also within a list or a quote.
fn without_heading(line: &str) -> String {
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)".contains(c);
    let text = line.trim_start_matches(is_mark);
    let at = if text.starts_with(['#', '=']) {
        Some(line.len() - text.len())
    } else if text.is_empty() {
        line.find('-')
    } else {
        None
    };
    match at.and_then(|at| line.split_at_checked(at)) {
        Some((before, rest)) => format!("{before}\\{rest}"),
        None => line.to_owned(),
    }
}

/// The items of a list for a prompt: each is cut, and so is the list. `rest`: where those are that it has not.
pub fn listed(items: impl Iterator<Item = String>, rest: &str) -> Vec<String> {
    let mut items = items.map(|words| as_item(&shortened(&words, LONGEST_LISTED)));
    let mut lines = Vec::new();
    let mut length = 0_usize;
    while let Some(line) = items.next() {
        length = length.saturating_add(line.len() + 1);
        if length > LONGEST_LIST {
            lines.push(match items.count() {
                0 => format!("1 more is {rest}"),
                others => format!("{} more are {rest}", others + 1),
            });
            break;
        }
        lines.push(line);
    }
    lines
}

/// The beginning of a text that is longer than so many bytes, with a mark that it is one.
pub fn shortened(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    format!("{}…", cut_at(text, longest).trim_end())
}

/// Reads the findings in a value: a list, one finding, or lists by severity. `group`: the severity under which it stands.
fn read(value: &Value, group: Option<Severity>, found: &mut Vec<Finding>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| read(item, group, found)),
        Value::Object(object) if is_grouped(object) => {
            for (word, value) in object {
                // What is not under a severity may be a number of findings, or a remark.
                let severity = match (Severity::of_word(word), value) {
                    (None, Value::Array(_) | Value::Object(_)) => Severity::Major,
                    (None, _) => continue,
                    (Some(severity), _) => severity,
                };
                read(value, Some(severity), found);
            }
        }
        Value::Object(object) if object.is_empty() => {}
        Value::Object(object) => found.extend(of_object(object, value, group)),
        Value::String(text) => match as_json(text) {
            Some(inner) => read(&inner, group, found),
            None => found.extend(of_text(value, group)),
        },
        Value::Bool(_) | Value::Number(_) => found.extend(of_text(value, group)),
    }
}

/// Whether an object has lists by their severity, and is no finding itself.
fn is_grouped(object: &Map<String, Value>) -> bool {
    let is_known = |name: &str| member(object, name).is_some();
    let is_finding = TEXTS.iter().any(|name| is_known(name))
        || ["severity", "file", "line"]
            .iter()
            .any(|name| is_known(name));
    let by_severity = object.keys().any(|word| Severity::of_word(word).is_some());
    let only_lists = !object.is_empty() && object.values().all(Value::is_array);
    only_lists || (by_severity && !is_finding)
}

/// A list or an object that was written as a text.
fn as_json(text: &str) -> Option<Value> {
    let is_likely = text.trim_start().starts_with(['[', '{']);
    is_likely.then(|| serde_json::from_str(text).ok()).flatten()
}

fn of_text(value: &Value, group: Option<Severity>) -> Option<Finding> {
    let text = in_text(value, LONGEST_TEXT)?;
    Some(Finding {
        severity: graver(group, Severity::of_beginning(&text)),
        text,
        ..Finding::default()
    })
}

/// Whatever text there is, and if there is none, the entry itself.
fn of_object(
    object: &Map<String, Value>,
    whole: &Value,
    group: Option<Severity>,
) -> Option<Finding> {
    let text = |name: &str| in_text(member(object, name)?, LONGEST_TEXT);
    let words = TEXTS.into_iter().find_map(text);
    Some(Finding {
        severity: graver(
            group,
            member(object, "severity").and_then(Severity::of_value),
        ),
        file: text("file"),
        line: text("line").and_then(|line| line.parse().ok()),
        text: words.or_else(|| in_text(whole, LONGEST_TEXT))?,
    })
}

/// Agents write `Severity` as well.
fn member<'o>(object: &'o Map<String, Value>, name: &str) -> Option<&'o Value> {
    let mut members = object.iter();
    let named = members.find(|(key, _)| key.eq_ignore_ascii_case(name));
    named.map(|(_, value)| value)
}

fn graver(group: Option<Severity>, own: Option<Severity>) -> Severity {
    match (group, own) {
        (Some(Severity::Major), _) | (_, Some(Severity::Major)) => Severity::Major,
        _ => Severity::default(),
    }
}
