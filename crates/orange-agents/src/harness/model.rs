//! Which model an agent uses and how hard it thinks: what a harness can be told, and what is refused.

use super::{Harness, NONE};
use crate::error::{Code, Error, Result, err};
use orange_core::config::{self, Effort};
use orange_core::{Action, text};

/// What is asked of an agent. None: the harness's own choice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelChoice {
    pub model: Option<String>,
    pub effort: Option<String>,
}

impl ModelChoice {
    pub fn is_empty(&self) -> bool {
        self.model.is_none() && self.effort.is_none()
    }

    /// As options of a CLI.
    pub fn arguments(&self, model: &str, effort: &str) -> Vec<String> {
        let options = [(model, &self.model), (effort, &self.effort)];
        let given = options
            .into_iter()
            .filter_map(|(option, value)| Some([option.to_owned(), value.clone()?]));
        given.flatten().collect()
    }
}

/// The words of these efforts.
pub fn efforts(known: &[Effort]) -> Vec<&'static str> {
    known.iter().map(|effort| effort.as_str()).collect()
}

impl Harness {
    /// Why it cannot be told this model, if it cannot.
    pub fn refuses_model(&self, model: &str) -> Result<()> {
        if !self.adapter.supports().model {
            return Err(not_told(&self.name, "model"));
        }
        config::check_model(model).map_err(|problem| {
            err!(Usage, "{model:?} {problem}").hint(format!(
                "give it as {} calls it, or leave it out for its own choice",
                self.name
            ))
        })
    }

    /// Why it cannot be told this effort, if it cannot.
    pub fn refuses_effort(&self, effort: &str) -> Result<()> {
        let known = self.adapter.efforts();
        if known.is_empty() {
            return Err(not_told(&self.name, "effort"));
        }
        if known.contains(&effort) {
            return Ok(());
        }
        Err(
            err!(Usage, "{} does not accept effort {effort:?}", self.name)
                .hint(format!("it accepts: {}", known.join(", "))),
        )
    }

    pub fn refuses(&self, choice: &ModelChoice) -> Result<()> {
        if let Some(model) = &choice.model {
            self.refuses_model(model)?;
        }
        let effort = choice.effort.as_deref();
        effort.map_or(Ok(()), |effort| self.refuses_effort(effort))
    }
}

/// That a harness cannot be told its model, or its effort.
pub fn not_told(name: &str, what: &str) -> Error {
    let message = match name {
        NONE => format!("harness {NONE} starts no agent, so it has no {what}"),
        name => format!(
            "harness {name} cannot be told its {what}: Orange knows no option of it for that"
        ),
    };
    Error::new(Code::Usage, message).hint(text!(
        "leave the {what} out (\"\" clears it), choose another harness ({} shows which can be told), or give the option in a command of your own: `harness.NAME` in config.yaml",
        Action::list_harnesses()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    fn refused(harness: &str, model: Option<&str>, effort: Option<&str>) -> Option<String> {
        let choice = ModelChoice {
            model: model.map(str::to_owned),
            effort: effort.map(str::to_owned),
        };
        let own = "harness:\n  mine:\n    command: [claude]\n    like: claude\n  plain: x\n";
        let harness = found(harness, own).unwrap().unwrap();
        let error = harness.refuses(&choice).err()?;
        Some(format!(
            "{}\n{:?}",
            error.message,
            error.hint.unwrap_or_default()
        ))
    }

    #[test]
    fn a_harness_takes_what_its_cli_has_an_option_for() {
        assert_eq!(
            refused("claude", Some("claude-opus-4-5[1m]"), Some("max")),
            None
        );
        assert_eq!(
            refused("mine", Some("us.anthropic/x@1:2+3"), Some("low")),
            None
        );
        assert_eq!(refused("pi", Some("openai/gpt-5"), Some("off")), None);
        let efforts = refused("claude", None, Some("off")).unwrap();
        assert!(
            efforts.contains("it accepts: low, medium, high, xhigh, max"),
            "{efforts}"
        );
        for name in ["codex", "opencode", "gemini", "sim", "plain"] {
            for (model, effort) in [(Some("x"), None), (None, Some("high"))] {
                let refusal = refused(name, model, effort).unwrap();
                assert!(refusal.contains("cannot be told"), "{refusal}");
            }
        }
    }

    #[test]
    fn a_model_is_one_plain_word() {
        for bad in [
            "",
            "-m",
            "--dangerously",
            "a b",
            "a\nb",
            "a'b",
            "a\"b",
            "$(x)",
            "a;b",
            "`x`",
            "{prompt}",
            "ü",
            "a\\b",
        ] {
            let refusal = refused("claude", Some(bad), None);
            assert!(
                refusal.is_some_and(|text| text.contains("is not the name of a model")),
                "{bad:?}"
            );
        }
        assert!(refused("pi", Some(&"x".repeat(201)), None).is_some());
    }
}
