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
/// Findings that lie deeper within lists and objects are not looked for: what holds them is one itself.
const DEEPEST: usize = 20;

/// Where the words of a finding are looked for.
const TEXTS: [&str; 6] = [
    "text",
    "message",
    "description",
    "title",
    "summary",
    "detail",
];
/// What says how bad it is where there is no `severity`, if the word is a known one.
const LEVELS: [&str; 4] = ["level", "priority", "type", "kind"];

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

    /// The one that a text begins with: `MAJOR: it loses data`, `[minor] a name`. Of several lines one that is major is enough.
    fn of_beginning(text: &str) -> Option<Severity> {
        let severities = text.lines().filter_map(Severity::of_line);
        severities.reduce(|one, other| graver(Some(one), Some(other)))
    }

    fn of_line(line: &str) -> Option<Severity> {
        let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "[(*_-+.)#>".contains(c);
        let text = line.trim_start_matches(is_mark);
        let end = text.find(|c: char| !c.is_alphabetic())?;
        let (word, rest) = text.split_at(end);
        let after = rest.trim_start();
        // `Major - x`, but not `error-prone`.
        let is_apart = after.len() < rest.len() && after.starts_with(['-', '–', '—']);
        let is_label = is_apart || after.starts_with([':', ']', ')', '*', '_']);
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

    fn add(&mut self, severity: Severity, number: usize) {
        let known = match severity {
            Severity::Major => &mut self.major,
            Severity::Minor => &mut self.minor,
        };
        *known = known.saturating_add(number);
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
        let mut found = CollectedFindings::default();
        if let Some(value) = value {
            found.read(value, FindingPlace::default());
        }
        let mut all = found.major;
        all.append(&mut found.minor);
        Findings::within_limits(all, found.not_kept)
    }

    /// What the answers of several turns found together: the same in the same place counts once, and as major if any turn says so.
    pub fn of_answers<'a>(answers: impl Iterator<Item = &'a Answer>) -> Findings {
        let mut all: Vec<Finding> = Vec::new();
        let mut places = HashMap::new();
        let mut not_kept = NotKept::default();
        for answer in answers {
            for severity in Severity::ALL {
                not_kept.add(*severity, answer.not_kept.of_severity(*severity));
            }
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
            not_kept.add(finding.severity, 1);
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
        let kept = self.of_severity(severity).count();
        kept.saturating_add(self.not_kept.of_severity(severity))
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

/// Where a value stands, and what that says of the findings in it.
#[derive(Clone, Copy, Default)]
struct FindingPlace<'p> {
    /// The severity under which it stands.
    group: Option<Severity>,
    file: Option<&'p str>,
    line: Option<u32>,
    depth: usize,
    /// It belongs to a finding: what says nothing itself, as a location does, is none.
    is_detail: bool,
}

impl FindingPlace<'_> {
    /// The finding with what it says itself of where it is, or what its place says.
    fn finding(
        self,
        severity: Severity,
        text: String,
        file: Option<String>,
        line: Option<u32>,
    ) -> Finding {
        let own_place = file.is_some() || line.is_some();
        Finding {
            severity,
            line: line.or(self.line.filter(|_| !own_place)),
            file: file.or_else(|| self.file.map(str::to_owned)),
            text,
        }
    }
}

/// Findings while they are read. No more of them are held than can be kept; the others are counted.
#[derive(Default)]
struct CollectedFindings {
    major: Vec<Finding>,
    minor: Vec<Finding>,
    not_kept: NotKept,
    count: FindingCount,
}

#[derive(Clone, Copy, Default)]
struct FindingCount {
    all: usize,
    major: usize,
    /// Those that are objects, not only words.
    objects: usize,
}

impl CollectedFindings {
    fn add(&mut self, finding: Finding) {
        let severity = finding.severity;
        self.count.all = self.count.all.saturating_add(1);
        let known = match severity {
            Severity::Major => {
                self.count.major = self.count.major.saturating_add(1);
                &mut self.major
            }
            Severity::Minor => &mut self.minor,
        };
        if known.len() < MOST {
            known.push(finding);
        } else {
            self.not_kept.add(severity, 1);
        }
    }

    /// Reads the findings in a value: a list, one finding, or lists by severity.
    fn read(&mut self, value: &Value, place: FindingPlace) {
        let inner = value.as_str().and_then(as_json);
        let value = inner.as_ref().unwrap_or(value);
        let deeper = FindingPlace {
            depth: place.depth + 1,
            ..place
        };
        match value {
            Value::Null => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Object(object) if object.is_empty() => {}
            Value::Array(_) | Value::Object(_) if place.depth >= DEEPEST => {
                let text = in_text(value, LONGEST_TEXT);
                let finding = |text| place.finding(Severity::Major, text, None, None);
                text.map(finding).into_iter().for_each(|one| self.add(one));
            }
            Value::Array(items) => items.iter().for_each(|item| self.read(item, deeper)),
            Value::Object(object) if is_grouped(object) => self.read_groups(object, deeper),
            Value::Object(object) => self.read_object(object, value, deeper),
            Value::String(_) | Value::Bool(_) | Value::Number(_) => {
                let label = value.as_str().and_then(Severity::of_beginning);
                if let Some(text) = in_text(value, LONGEST_TEXT) {
                    self.add(place.finding(graver(place.group, label), text, None, None));
                }
            }
        }
    }

    fn read_groups(&mut self, object: &Map<String, Value>, place: FindingPlace) {
        for (word, value) in object {
            let group = Severity::of_word(word);
            let is_scalar = matches!(value, Value::Number(_) | Value::Bool(_));
            // What is not under a severity may be a number of findings, or a remark.
            let severity = match (group, value) {
                (Some(_), _) if is_scalar && place.is_detail => continue,
                (Some(severity), _) => severity,
                (None, Value::Array(_) | Value::Object(_)) if place.is_detail => {
                    place.group.unwrap_or_default()
                }
                (None, Value::Array(_) | Value::Object(_)) => Severity::Major,
                (None, Value::String(text)) if is_worth_reading(text) => Severity::default(),
                (None, _) => continue,
            };
            let within = FindingPlace {
                group: Some(severity),
                is_detail: place.is_detail && group.is_none(),
                ..place
            };
            self.read(value, within);
        }
    }

    /// The finding that an object is, with whatever text there is, and if there is none, the entry itself; and those that lie
    /// in it. An object that only holds others is none.
    fn read_object(&mut self, object: &Map<String, Value>, whole: &Value, place: FindingPlace) {
        let text = |name: &str| in_text(member(object, name)?, LONGEST_TEXT);
        let explicit = member(object, "severity").and_then(Severity::of_value);
        let level = LEVELS.into_iter().filter_map(|name| {
            let word = member(object, name)?.as_str()?;
            Severity::of_word(word)
        });
        let own = explicit.or(level.reduce(|one, other| graver(Some(one), Some(other))));
        let used = TEXTS.into_iter().find(|name| {
            let is_text = |value: &Value| match value {
                Value::Array(_) | Value::Object(_) => false,
                Value::String(text) => explicit.is_some() || as_json(text).is_none(),
                _ => true,
            };
            member(object, name).is_some_and(is_text) && text(name).is_some()
        });
        let (file, line) = (text("file"), text("line"));
        let line = line.and_then(|line| line.parse().ok());

        let is_known = |key: &str| {
            let mut known = ["severity", "file", "line"].into_iter().chain(used);
            known.any(|name| key.eq_ignore_ascii_case(name))
        };
        let others = object.iter().filter(|(key, _)| !is_known(key));
        let (mut nested, mut says_more, mut is_flagged) = (Vec::new(), false, false);
        for (key, value) in others {
            let group = Severity::of_word(key);
            let is_major = group == Some(Severity::Major) && explicit.is_none();
            let is_nested = match value {
                Value::Object(_) => true,
                // Numbers of lines are no findings.
                Value::Array(items) => {
                    let is_number = |item: &Value| item.is_number() || item.is_boolean();
                    items.is_empty() || group.is_some() || !items.iter().all(is_number)
                }
                Value::String(text) => {
                    explicit.is_none()
                        && !text.trim().is_empty()
                        && (is_major || is_worth_reading(text))
                }
                Value::Number(number) => {
                    is_flagged |= is_major && number.as_f64() != Some(0.0);
                    false
                }
                Value::Bool(is_so) => {
                    is_flagged |= is_major && *is_so;
                    false
                }
                Value::Null => false,
            };
            if is_nested {
                nested.push((group, value));
            } else if let Value::String(text) = value {
                let is_level = LEVELS.iter().any(|name| key.eq_ignore_ascii_case(name));
                says_more |=
                    !(text.trim().is_empty() || is_level && Severity::of_word(text).is_some());
            }
        }

        let words = used.and_then(text);
        let label = used.and_then(|name| member(object, name)?.as_str());
        let label = label.and_then(Severity::of_beginning);
        let flag = is_flagged.then_some(Severity::Major);
        let severity = match (explicit, &words) {
            (Some(own), _) => graver(place.group, Some(own)),
            (None, Some(_)) => graver(graver(place.group, own).into(), label.or(flag)),
            // Nobody says how bad it is, nor what.
            (None, None) => own.or(place.group).unwrap_or(Severity::Major),
        };
        let severity = graver(graver(place.group, Some(severity)).into(), flag);
        let only_holds = words.is_none() && !says_more;
        let before = self.count;
        for (group, value) in &nested {
            let is_part = value.is_object() && !only_holds;
            let within = FindingPlace {
                group: group.or(own.filter(|_| only_holds)).or(place.group),
                file: file.as_deref().or(place.file),
                line: match file {
                    Some(_) => line,
                    None => line.or(place.line),
                },
                depth: place.depth,
                is_detail: group.is_none() && (place.is_detail || own.is_some() || is_part),
            };
            self.read(value, within);
        }

        let found_none = self.count.all == before.all;
        let found_no_major = self.count.major == before.major;
        let is_finding = if words.is_some() {
            true
        } else if own.is_none() && place.is_detail {
            false
        } else if says_more {
            own.is_some() || self.count.objects == before.objects
        } else {
            match own.or(place.group) {
                Some(_) if severity == Severity::Major => found_no_major,
                Some(_) => found_none,
                None => nested.is_empty() || (is_flagged && found_no_major),
            }
        };
        if is_finding && let Some(text) = words.or_else(|| in_text(whole, LONGEST_TEXT)) {
            self.count.objects = self.count.objects.saturating_add(1);
            self.add(place.finding(severity, text, file, line));
        }
    }
}

/// Whether a text that stands anywhere is a finding, or has some.
fn is_worth_reading(text: &str) -> bool {
    Severity::of_beginning(text) == Some(Severity::Major) || as_json(text).is_some()
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
