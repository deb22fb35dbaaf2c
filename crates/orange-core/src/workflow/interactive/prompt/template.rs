//! A prompt as text with variables in braces: checked once, filled in as often as needed. Values go in as they are;
//! whatever looks like a variable in one is text.

use super::PromptName;
use super::values::{Values, Variable};

/// What templates for plans of an older program say for the specification.
const OLD_SPEC: &str = "{{SPEC_CONTENT}}";

/// How much of an unknown name a message repeats.
const QUOTED_CHARS: usize = 40;

/// Why a text is no prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "prompt {name}, line {line}: {problem}; known variables: {}",
    Variable::listed()
)]
pub struct PromptError {
    pub name: PromptName,
    /// Counted from 1.
    pub line: usize,
    pub problem: TemplateProblem,
}

impl PromptError {
    /// What is wrong, for whoever says the rest in their own words.
    pub fn reason(&self) -> String {
        format!("{}; known variables: {}", self.problem, Variable::listed())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateProblem {
    #[error("unknown variable {{{0}}}")]
    UnknownVariable(String),
    #[error("a {{ without its }} on the same line (write {{{{ for the character itself)")]
    Unclosed,
    #[error("a }} without its {{ (write }}}} for the character itself)")]
    Unopened,
}

/// A text whose variables are all known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    lines: Vec<Vec<TemplatePart>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Variable(Variable),
}

impl Template {
    /// Line ends and blanks at the end of the text are not part of it.
    pub fn parse(name: PromptName, text: &str) -> Result<Template, PromptError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end();
        let text = text.replace(OLD_SPEC, "{spec}");
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            lines.push(parts(line).map_err(|problem| PromptError {
                name,
                line: index + 1,
                problem,
            })?);
        }
        Ok(Template { lines })
    }

    /// The text with its values. A line of nothing but a variable that is empty is left out, together with an empty
    /// line above it.
    pub fn render(&self, values: &Values) -> String {
        let mut lines: Vec<String> = Vec::new();
        // Only lines of the template make room; an empty line that a value brought stays.
        let mut above_is_empty = false;
        for parts in &self.lines {
            if is_left_out(parts, values) {
                if above_is_empty {
                    lines.pop();
                }
                above_is_empty = false;
                continue;
            }
            above_is_empty = parts.is_empty();
            lines.push(filled_in(parts, values));
        }
        lines.join("\n")
    }

    /// The variables it uses, in their order.
    pub fn variables(&self) -> impl Iterator<Item = Variable> {
        self.lines.iter().flatten().filter_map(|part| match part {
            TemplatePart::Variable(variable) => Some(*variable),
            TemplatePart::Text(_) => None,
        })
    }
}

fn is_left_out(parts: &[TemplatePart], values: &Values) -> bool {
    let mut variables = 0;
    for part in parts {
        match part {
            TemplatePart::Text(text) if text.trim().is_empty() => {}
            TemplatePart::Text(_) => return false,
            TemplatePart::Variable(variable) if values.get(*variable).is_empty() => variables += 1,
            TemplatePart::Variable(_) => return false,
        }
    }
    variables == 1
}

fn filled_in(parts: &[TemplatePart], values: &Values) -> String {
    parts
        .iter()
        .map(|part| match part {
            TemplatePart::Text(text) => text.as_str(),
            TemplatePart::Variable(variable) => values.get(*variable),
        })
        .collect()
}

fn parts(line: &str) -> Result<Vec<TemplatePart>, TemplateProblem> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        text.push_str(before);
        rest = if let Some(after) = brace.strip_prefix("{{") {
            text.push('{');
            after
        } else if let Some(after) = brace.strip_prefix("}}") {
            text.push('}');
            after
        } else if let Some(after) = brace.strip_prefix('{') {
            let (name, after) = after.split_once('}').ok_or(TemplateProblem::Unclosed)?;
            if !text.is_empty() {
                parts.push(TemplatePart::Text(std::mem::take(&mut text)));
            }
            parts.push(TemplatePart::Variable(variable(name)?));
            after
        } else {
            return Err(TemplateProblem::Unopened);
        };
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(TemplatePart::Text(text));
    }
    Ok(parts)
}

fn variable(name: &str) -> Result<Variable, TemplateProblem> {
    // `{a {key}`: the first brace is the one that was not closed.
    if name.contains('{') {
        return Err(TemplateProblem::Unclosed);
    }
    let mut known = Variable::ALL.iter().copied();
    known
        .find(|variable| variable.as_str() == name)
        .ok_or_else(|| {
            let mut quoted: String = name.chars().take(QUOTED_CHARS).collect();
            if quoted.len() < name.len() {
                quoted.push('…');
            }
            TemplateProblem::UnknownVariable(quoted)
        })
}
