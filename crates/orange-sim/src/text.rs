//! Texts with variables: `{summary}` stands for a value, a brace itself is written twice.

use super::script::Word;
use serde::Deserialize;

orange_core::choice! {
    /// What a text may speak of.
    pub(super) enum TextVariable ("variable") {
        Summary = "summary",
        Branch = "branch",
        Key = "key",
        Role = "role",
        Round = "round",
        Attempt = "attempt",
        Phase = "phase",
        Iteration = "iteration",
        Message = "message",
        Prompt = "prompt",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Word")]
pub(super) struct ScriptText(Vec<ScriptTextPart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum ScriptTextPart {
    Plain(String),
    Value(TextVariable),
}

impl TryFrom<Word> for ScriptText {
    type Error = String;

    fn try_from(source: Word) -> Result<ScriptText, String> {
        ScriptText::parse(&source.0)
    }
}

impl ScriptText {
    /// Reads a text; the error says what is wrong with its braces.
    pub(super) fn parse(source: &str) -> Result<ScriptText, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = source;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            let brace = if from.starts_with('{') { "{" } else { "}" };
            let after = from.strip_prefix(brace).unwrap_or_default();
            if let Some(after) = after.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
            } else if brace == "}" {
                plain.push('}');
                rest = after;
            } else {
                let (name, after) = after.split_once('}').unwrap_or((after, ""));
                pieces.push(ScriptTextPart::Plain(std::mem::take(&mut plain)));
                pieces.push(ScriptTextPart::Value(variable(name)?));
                rest = after;
            }
        }
        plain.push_str(rest);
        pieces.push(ScriptTextPart::Plain(plain));
        Ok(ScriptText(pieces))
    }

    pub(super) fn fill(&self, value: impl Fn(TextVariable) -> String) -> String {
        let filled = self.0.iter().map(|piece| match piece {
            ScriptTextPart::Plain(text) => text.clone(),
            ScriptTextPart::Value(variable) => value(*variable),
        });
        filled.collect()
    }
}

fn variable(name: &str) -> Result<TextVariable, String> {
    name.parse().map_err(|_| {
        let shown: String = name.chars().take(20).collect();
        let names = TextVariable::WORDS.join("}, {");
        format!(
            "there is no variable {{{shown}}}; there are {{{names}}}, and a brace itself is written twice"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(source: &str) -> String {
        let text = ScriptText::parse(source).unwrap();
        text.fill(|variable| format!("<{variable:?}>"))
    }

    #[test]
    fn variables_are_filled_in_and_doubled_braces_are_braces() {
        assert_eq!(filled(""), "");
        assert_eq!(filled("a {summary} b {branch}"), "a <Summary> b <Branch>");
        assert_eq!(filled("{{summary}} {round}"), "{summary} <Round>");
        assert_eq!(filled("fn x() {{ y }} }"), "fn x() { y } }");
        assert_eq!(filled("ä{key}ö"), "ä<Key>ö");
    }

    #[test]
    fn an_unknown_variable_is_named_with_those_that_exist() {
        let error = ScriptText::parse("{sumary}").unwrap_err();
        assert!(error.starts_with("there is no variable {sumary}; there are {summary}, {branch}"));
        assert!(ScriptText::parse("echo {").is_err());
    }
}
