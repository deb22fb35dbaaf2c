//! Texts with variables: `{summary}` stands for a value, a brace itself is written twice.

use super::script::Word;
use serde::Deserialize;

orange_core::choice! {
    /// What a text may speak of.
    pub(super) enum Variable ("variable") {
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
pub(super) struct Text(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Plain(String),
    Value(Variable),
}

impl TryFrom<Word> for Text {
    type Error = String;

    fn try_from(source: Word) -> Result<Text, String> {
        Text::parse(&source.0)
    }
}

impl Text {
    /// Reads a text; the error says what is wrong with its braces.
    pub(super) fn parse(source: &str) -> Result<Text, String> {
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
                pieces.push(Piece::Plain(std::mem::take(&mut plain)));
                pieces.push(Piece::Value(variable(name)?));
                rest = after;
            }
        }
        plain.push_str(rest);
        pieces.push(Piece::Plain(plain));
        Ok(Text(pieces))
    }

    pub(super) fn fill(&self, value: impl Fn(Variable) -> String) -> String {
        let filled = self.0.iter().map(|piece| match piece {
            Piece::Plain(text) => text.clone(),
            Piece::Value(variable) => value(*variable),
        });
        filled.collect()
    }
}

fn variable(name: &str) -> Result<Variable, String> {
    name.parse().map_err(|_| {
        let shown: String = name.chars().take(20).collect();
        let names = Variable::WORDS.join("}, {");
        format!(
            "there is no variable {{{shown}}}; there are {{{names}}}, and a brace itself is written twice"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(source: &str) -> String {
        let text = Text::parse(source).unwrap();
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
        let error = Text::parse("{sumary}").unwrap_err();
        assert!(error.starts_with("there is no variable {sumary}; there are {summary}, {branch}"));
        assert!(Text::parse("echo {").is_err());
    }
}
