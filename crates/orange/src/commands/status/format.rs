//! `--format`: text with placeholders in braces.

use orange_core::suggest::nearest;
use orange_engine::views::{StandingView, kinds};
use orange_engine::{Result, err};
use serde_json::Value;

/// A format that is understood.
#[derive(Debug)]
pub(super) struct StatusFormat {
    parts: Vec<FormatPart>,
}

#[derive(Debug, PartialEq, Eq)]
enum FormatPart {
    Text(String),
    Number(String),
    Line,
}

/// Placeholders that are no kind of task.
const OTHERS: &[&str] = &["line", "needs_me", "open", "agents"];

fn names() -> impl Iterator<Item = String> {
    let others = OTHERS.iter().map(|name| (*name).to_owned());
    others.chain(kinds().map(|(name, _)| name))
}

impl StatusFormat {
    pub(super) fn parse(text: &str) -> Result<StatusFormat> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let (brace, after) = rest[at..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let end = after.find('}').filter(|_| brace == "{");
            let Some(end) = end else {
                return Err(err!(Usage, "--format has a {brace} without its other half")
                    .hint(format!("write {brace}{brace} for the brace itself")));
            };
            parts.push(FormatPart::Text(std::mem::take(&mut plain)));
            parts.push(placeholder(&after[..end])?);
            rest = &after[end + 1..];
        }
        plain.push_str(rest);
        parts.push(FormatPart::Text(plain));
        Ok(StatusFormat { parts })
    }

    /// Empty if there is nothing to tell: numbers were asked for, and all are 0.
    pub(super) fn filled(&self, numbers: &StandingView) -> String {
        let mut line = String::new();
        let (mut asked, mut told) = (false, false);
        for part in &self.parts {
            match part {
                FormatPart::Text(text) => line.push_str(text),
                FormatPart::Line => {
                    (asked, told) = (true, told || !numbers.line.is_empty());
                    line.push_str(&numbers.line);
                }
                FormatPart::Number(name) => {
                    let number = numbers.named.get(name).and_then(Value::as_u64).unwrap_or(0);
                    (asked, told) = (true, told || number > 0);
                    line.push_str(&number.to_string());
                }
            }
        }
        if asked && !told { String::new() } else { line }
    }
}

fn placeholder(name: &str) -> Result<FormatPart> {
    if name == "line" {
        return Ok(FormatPart::Line);
    }
    if names().any(|known| known == name) {
        return Ok(FormatPart::Number(name.to_owned()));
    }
    let names: Vec<String> = names().collect();
    let meant = match nearest(name, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean {{{meant}}}? "),
        None => String::new(),
    };
    Err(
        err!(Usage, "--format: {{{name}}} means nothing here").hint(format!(
            "{meant}`orange status --help` lists all placeholders"
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::command::spelled;
    use serde_json::Map;

    fn filled(text: &str, working: usize) -> String {
        let numbers = StandingView {
            named: Map::from_iter([
                ("working".to_owned(), working.into()),
                ("stuck".to_owned(), 0.into()),
            ]),
            line: "some".into(),
        };
        StatusFormat::parse(text).unwrap().filled(&numbers)
    }

    #[test]
    fn placeholders_and_braces() {
        assert_eq!(filled("{working}/{stuck} {{x}}", 3), "3/0 {x}");
        assert_eq!(filled("⚙ {line}}}", 0), "⚙ some}");
        assert_eq!(filled("plain", 0), "plain");
        assert_eq!(filled("{working} at {stuck}", 0), "");
    }

    #[test]
    fn what_means_nothing_is_named() {
        let hint = |text: &str| spelled(&StatusFormat::parse(text).unwrap_err().hint.unwrap());
        assert!(hint("{workin}").starts_with("did you mean {working}?"));
        assert!(hint("{needs-me}").contains("{needs_me}"));
        for text in ["{", "}", "{working", "a } b", "{}", "{{}"] {
            assert!(StatusFormat::parse(text).is_err(), "{text}");
        }
    }
}
