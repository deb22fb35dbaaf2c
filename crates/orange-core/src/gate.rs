//! The gates: whether the artifacts in a TASK.md body let a task move on, and if not, what is wrong
//! and what to do about it.

#[cfg(test)]
mod tests;

use crate::artifact::{BodyOutline, Section, lines, section, sections_of, slice};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// How much of a line that is no verdict a message quotes.
const QUOTED_CHARS: usize = 60;

/// What a body must hold before a task may move on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// `## Plan` with `APPROACH:` or `TOUCHING:`.
    Plan,
    /// `## Handoff` with `DONE:`, `REMAINING:`, `DECISIONS:` or `UNCERTAIN:`.
    Handoff,
    /// `## Review` that opens with `Verdict: PASS`.
    ReviewPass,
    /// `## Review` that opens with `Verdict: FAIL`.
    ReviewFail,
}

impl Gate {
    /// Its label, its section, and the fields of which one must be filled in.
    fn texts(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Plan => ("Plan", "Plan", &["APPROACH", "TOUCHING"]),
            Self::Handoff => (
                "Handoff",
                "Handoff",
                &["DONE", "REMAINING", "DECISIONS", "UNCERTAIN"],
            ),
            Self::ReviewPass => ("Review PASS", "Review", &[]),
            Self::ReviewFail => ("Review FAIL", "Review", &[]),
        }
    }

    /// The gate's name for people; unlike the section's, it tells the two reviews apart.
    pub fn label(self) -> &'static str {
        self.texts().0
    }

    /// The name of the section this gate looks at.
    pub fn section(self) -> &'static str {
        self.texts().1
    }

    /// The fields of which one must be filled in; none for a review, which needs a verdict.
    pub fn fields(self) -> &'static [&'static str] {
        self.texts().2
    }

    /// Says whether `body` passes, and if not, what is wrong.
    pub fn check(self, body: &str) -> Result<(), GateProblem> {
        let outline = BodyOutline::of(body);
        let section = sections_of(&outline, body)
            .into_iter()
            .rfind(|s| s.name == self.section())
            .ok_or(GateProblem::MissingSection { gate: self })?;
        match self.verdict() {
            Some(wanted) => check_verdict(body, &section, wanted),
            None if has_filled_field(&outline, body, &section.content, self.fields()) => Ok(()),
            None => Err(GateProblem::NoField { gate: self }),
        }
    }
}

/// Why a gate is closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub enum GateProblem {
    /// There is no section of that name.
    MissingSection { gate: Gate },
    /// The section is there, but none of its fields has text.
    NoField { gate: Gate },
    /// The review does not open with a verdict; `found` is its first non-empty line, shortened.
    NoVerdict { found: Option<String> },
    /// The review's verdict is the other one.
    WrongVerdict { found: Verdict, wanted: Verdict },
}

impl GateProblem {
    pub fn message(&self) -> String {
        match self {
            Self::MissingSection { gate } => {
                format!("no \"## {}\" section in TASK.md", gate.section())
            }
            Self::NoField { gate } => format!(
                "the \"## {}\" section has {} line with text after the colon",
                gate.section(),
                none_of(gate.fields())
            ),
            Self::NoVerdict { found: Some(line) } => format!(
                "the \"## Review\" section starts with \"{line}\" instead of a verdict line"
            ),
            Self::NoVerdict { found: None } => {
                "the \"## Review\" section is empty and has no verdict line".to_owned()
            }
            Self::WrongVerdict { found, wanted } => format!(
                "the \"## Review\" section says \"Verdict: {found}\" and this step needs \"Verdict: {wanted}\""
            ),
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::MissingSection { gate } => match gate {
                Gate::Plan => "add one with at least an APPROACH: or TOUCHING: line".to_owned(),
                Gate::Handoff => "add one with at least a DONE: or REMAINING: line".to_owned(),
                Gate::ReviewPass | Gate::ReviewFail => {
                    "add one whose first line is \"Verdict: PASS\" or \"Verdict: FAIL\"".to_owned()
                }
            },
            Self::NoField { gate } => format!(
                "start a line with {} and text, outside code fences and comments and not underlined with dashes",
                one_of(gate.fields())
            ),
            // The blank line matters: a line of dashes right below would turn the verdict into a
            // heading.
            Self::NoVerdict { .. } => "make the first line \"Verdict: PASS\" or \"Verdict: FAIL\" with nothing else on it, and a blank line below".to_owned(),
            Self::WrongVerdict { found, .. } => format!(
                "take the step for a {found} verdict, or have the review changed"
            ),
        }
    }
}

/// `neither an A: nor a B:`, or `no A:, B: or C:` when there are more than two.
fn none_of(fields: &[&str]) -> String {
    match fields {
        [a, b] => format!("neither {} {a}: nor {} {b}:", article(a), article(b)),
        more => format!("no {}", one_of(more)),
    }
}

/// `A:, B: or C:`.
fn one_of(fields: &[&str]) -> String {
    match fields.split_last() {
        Some((last, [])) => format!("{last}:"),
        Some((last, rest)) => format!("{}: or {last}:", rest.join(":, ")),
        None => String::new(),
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['A', 'E', 'I', 'O', 'U']) {
        "an"
    } else {
        "a"
    }
}

/// What a reviewer decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Pass,
    Fail,
}

impl Gate {
    /// The verdict that a gate wants to see.
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Gate::ReviewPass => Some(Verdict::Pass),
            Gate::ReviewFail => Some(Verdict::Fail),
            Gate::Plan | Gate::Handoff => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
        })
    }
}

/// The verdict of the current `## Review` section.
pub fn verdict(body: &str) -> Option<Verdict> {
    let review = section(body, Gate::ReviewPass.section())?;
    verdict_line(first_line(slice(body, &review.content))?)
}

fn check_verdict(body: &str, section: &Section, wanted: Verdict) -> Result<(), GateProblem> {
    let line = first_line(slice(body, &section.content));
    match line.and_then(verdict_line) {
        Some(found) if found == wanted => Ok(()),
        Some(found) => Err(GateProblem::WrongVerdict { found, wanted }),
        None => Err(GateProblem::NoVerdict {
            found: line.map(quoted),
        }),
    }
}

fn first_line(content: &str) -> Option<&str> {
    lines(content)
        .map(|range| slice(content, &range))
        .find(|line| !line.trim().is_empty())
}

/// A line shortened for a message; control characters would reach the reader's terminal.
fn quoted(line: &str) -> String {
    line.trim()
        .chars()
        .take(QUOTED_CHARS)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// Reads `Verdict: PASS` with or without emphasis; anything else on the line makes it prose.
fn verdict_line(line: &str) -> Option<Verdict> {
    let plain = plain_paragraph(line)?;
    let (key, value) = plain.trim().split_once(':')?;
    if !key.eq_ignore_ascii_case("verdict") {
        return None;
    }
    match value.trim().to_ascii_lowercase().as_str() {
        "pass" => Some(Verdict::Pass),
        "fail" => Some(Verdict::Fail),
        _ => None,
    }
}

/// The text of a line that is one paragraph of nothing but text and emphasis; a list item, quote,
/// heading, code span or code block gives none.
fn plain_paragraph(line: &str) -> Option<String> {
    let mut plain = String::new();
    for event in Parser::new(line) {
        if let Event::Text(text) = event {
            plain.push_str(&text);
        } else if !matches!(
            event,
            Event::Start(Tag::Paragraph | Tag::Emphasis | Tag::Strong)
                | Event::End(TagEnd::Paragraph | TagEnd::Emphasis | TagEnd::Strong)
        ) {
            return None;
        }
    }
    Some(plain)
}

/// Whether one of `fields` has text: on its own line, or on the lines below it up to the next field
/// or heading, which is how people write a list under `DONE:`.
fn has_filled_field(
    outline: &BodyOutline,
    body: &str,
    content: &Range<usize>,
    fields: &[&str],
) -> bool {
    let visible = outline.visible(body, content);
    let mut awaiting_text = false;
    for line in lines(&visible) {
        if outline.heading_starts_at(content.start + line.start) {
            awaiting_text = false;
            continue;
        }
        let line = slice(&visible, &line);
        if let Some((name, rest)) = field(line) {
            awaiting_text = fields.contains(&name);
            if awaiting_text && !rest.trim().is_empty() {
                return true;
            }
        } else if awaiting_text && line.chars().any(char::is_alphanumeric) {
            // Below the field a bare list marker or a rule is still no text.
            return true;
        }
    }
    false
}

/// Splits a line such as `DONE: text`. Any capital label counts, so that an unknown `RISKS: x` below
/// an empty `APPROACH:` is not taken for its text.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(':')?;
    let is_label = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, ' ' | '_' | '-'));
    is_label.then_some((name, rest))
}
