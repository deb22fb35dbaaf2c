//! What an executor is answered, in every form that models give answers, and what a turn uses.

use super::super::agent::SimAgent;
use super::super::script::{AnswerForm, ScriptAnswer, Used};
use super::super::text::ScriptText;
use serde_json::{Map, Value, json};

/// An answer that does not count, as it comes before another.
const FIRST: &str = r#"{"status": "continue", "summary": "I have not looked yet."}"#;

/// What the phase spec hands over where a script says nothing of it: without one it is never complete.
const SPECIFICATION: &str = "\
## Problem Statement
It is not there yet.

## Success Criteria
- [ ] It is there.

## Scope
Nothing else.

## Technical Approach
It is written.
";

impl SimAgent {
    pub(in super::super) fn answer(&mut self, answer: &ScriptAnswer) {
        let text = written(answer, self.run.phase.as_deref(), |text| self.fill(text));
        self.say(&text);
    }

    /// Tells it at once: a turn that is killed has told what it used until then.
    pub(in super::super) fn use_tokens(&mut self, used: &Used) -> std::io::Result<()> {
        let mut about = json!({
            "input": used.input.0,
            "output": used.output.0,
            "cache_read": used.cache_read.0,
            "cache_write": used.cache_write.0,
            "model": used.model.as_ref().map_or("sim", |model| model.0.as_str()),
        });
        if let Some(cost) = &used.cost {
            about["cost"] = json!(cost.0 as f64 / 1e6);
        }
        self.events.write("used", &about);
        match &mut self.headless {
            Some(headless) => headless.used(about),
            None => Ok(()),
        }
    }
}

fn written(
    answer: &ScriptAnswer,
    phase: Option<&str>,
    fill: impl Fn(&ScriptText) -> String,
) -> String {
    let mut fields = Map::new();
    if phase == Some("spec") && answer.status.0 == "complete" {
        fields.insert("artifact".into(), SPECIFICATION.into());
    }
    fields.insert("status".into(), answer.status.0.clone().into());
    let texts = [
        ("summary", &answer.summary),
        ("reason", &answer.reason),
        ("question", &answer.question),
        ("artifact", &answer.artifact),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            fields.insert(name.to_owned(), fill(text).into());
        }
    }
    if !answer.touching.is_empty() {
        let files = answer.touching.iter().map(fill);
        fields.insert("touching".into(), files.collect::<Vec<_>>().into());
    }
    if !answer.findings.is_empty() {
        fields.insert("findings".into(), answer.findings.clone().into());
    }
    if answer.form == AnswerForm::Bytes {
        fields.insert("noise".into(), BAD_BYTES.into());
    }
    let size = answer.size.as_ref().map(|size| size.0);
    if let Some(size) = size.and_then(|size| usize::try_from(size).ok()) {
        fields.insert("padding".into(), "x".repeat(size).into());
    }
    let object = Value::Object(fields).to_string();
    match answer.form {
        AnswerForm::Plain | AnswerForm::Bytes => object,
        AnswerForm::Prose => {
            format!("I have looked at {{everything}}.\n\n{object}\n\nThat is all, {{for now}}.")
        }
        AnswerForm::Fence => format!("It is this:\n\n```json\n{object}\n```\n"),
        AnswerForm::Twice => format!("{FIRST}\n\nAnd now:\n{object}"),
        AnswerForm::Broken => object.chars().take(object.chars().count() / 2).collect(),
    }
}

/// Leaves a turn without a terminal as bytes that are no UTF-8.
pub(in super::super) const BAD_BYTES: &str = "\u{fffd}";

#[cfg(test)]
mod tests {
    use super::super::super::script::Word;
    use super::*;

    #[test]
    fn an_answer_comes_in_every_form() {
        let answer = |form: &str| {
            let source = json!({"value": "complete", "summary": "all of {key}", "as": form});
            let answer: ScriptAnswer = serde_json::from_value(source).unwrap();
            written(&answer, None, |text| text.fill(|_| "T".to_owned()))
        };
        let plain = r#"{"status":"complete","summary":"all of T"}"#;
        assert_eq!(answer("plain"), plain);
        for form in ["prose", "fence", "twice"] {
            let text = answer(form);
            assert!(text.contains(plain) && text.len() > plain.len(), "{text}");
        }
        assert_eq!(answer("broken"), r#"{"status":"complete","#);
        assert!(answer("bytes").contains(BAD_BYTES));
    }

    #[test]
    fn a_long_answer_is_one_line() {
        let source = json!({"value": "continue", "size": "1MB", "touching": ["a {key}"],
            "findings": [{"severity": "major", "text": "No test."}]});
        let answer: ScriptAnswer = serde_json::from_value(source).unwrap();
        assert_eq!(answer.status, Word("continue".into()));
        let text = written(&answer, None, |text| text.fill(|_| "T".to_owned()));
        assert!(text.len() > 1024 * 1024 && !text.contains('\n'));
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["touching"][0], "a T");
        assert_eq!(read["findings"][0]["severity"], "major");
    }

    #[test]
    fn the_phase_spec_hands_over_a_specification() {
        let said = |phase: &str, source: Value| {
            let answer: ScriptAnswer = serde_json::from_value(source).unwrap();
            let text = written(&answer, Some(phase), |text| text.fill(|_| String::new()));
            serde_json::from_str::<Value>(&text).unwrap()["artifact"].clone()
        };
        let complete = json!({"value": "complete"});
        assert_eq!(said("spec", complete.clone()), SPECIFICATION);
        assert_eq!(said("design", complete), Value::Null);
        assert_eq!(said("spec", json!({"value": "continue"})), Value::Null);
        let none = json!({"value": "complete", "artifact": ""});
        assert_eq!(said("spec", none), "");
    }
}
