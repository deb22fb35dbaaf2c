//! What a phase has to meet besides its agent's word.

use serde_json::{Map, Value, json};
use std::fmt;

/// One completion criterion of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Criterion {
    /// `verify.command` passes.
    AllTestsPass,
    /// `verify.lint` passes.
    NoLintErrors,
    /// `verify.coverage` prints at least this percentage.
    CoverageAbove(u8),
    /// The agent says so; `claude_confirms` is read as the same.
    AgentConfirms,
    /// These files are in the worktree.
    FilesExist(Vec<String>),
    /// This command ends with 0.
    Command(String),
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::CoverageAbove(percent) => write!(f, "{}: {percent}", self.name()),
            Criterion::FilesExist(files) => write!(f, "{}: {}", self.name(), files.join(", ")),
            Criterion::Command(command) => write!(f, "{}: {command}", self.name()),
            Criterion::AllTestsPass | Criterion::NoLintErrors | Criterion::AgentConfirms => {
                f.write_str(self.name())
            }
        }
    }
}

impl Criterion {
    /// The words that stand alone in a plan, then those with a value.
    const NAMES: [&str; 6] = [
        "all_tests_pass",
        "no_lint_errors",
        "agent_confirms",
        "coverage_above",
        "files_exist",
        "command",
    ];

    pub fn name(&self) -> &'static str {
        match self {
            Criterion::AllTestsPass => "all_tests_pass",
            Criterion::NoLintErrors => "no_lint_errors",
            Criterion::CoverageAbove(_) => "coverage_above",
            Criterion::AgentConfirms => "agent_confirms",
            Criterion::FilesExist(_) => "files_exist",
            Criterion::Command(_) => "command",
        }
    }

    /// As it stands in a plan.
    pub fn to_json(&self) -> Value {
        let with = |value: Value| Value::Object(Map::from_iter([(self.name().to_owned(), value)]));
        match self {
            Criterion::CoverageAbove(percent) => with(json!(percent)),
            Criterion::FilesExist(files) => with(json!(files)),
            Criterion::Command(command) => with(json!(command)),
            Criterion::AllTestsPass | Criterion::NoLintErrors | Criterion::AgentConfirms => {
                Value::from(self.name())
            }
        }
    }

    /// A criterion as a plan has it: a word, or a mapping of one word to its value.
    pub fn from_json(value: &Value) -> Result<Criterion, String> {
        match value {
            Value::String(word) => Criterion::from_word(word.trim()),
            Value::Object(map) => match map.iter().next() {
                Some((name, value)) if map.len() == 1 => Criterion::with_value(name, value),
                _ => Err("must be one criterion, such as `coverage_above: 80`".to_owned()),
            },
            _ => Err("must be a criterion, such as all_tests_pass".to_owned()),
        }
    }

    fn from_word(word: &str) -> Result<Criterion, String> {
        match word {
            "all_tests_pass" => Ok(Criterion::AllTestsPass),
            "no_lint_errors" => Ok(Criterion::NoLintErrors),
            "agent_confirms" | "claude_confirms" => Ok(Criterion::AgentConfirms),
            "coverage_above" | "files_exist" | "command" => {
                Err(format!("{word} needs a value: `{word}: …`"))
            }
            _ => Err(unknown(word)),
        }
    }

    fn with_value(name: &str, value: &Value) -> Result<Criterion, String> {
        match name {
            "coverage_above" => {
                let percent = value.as_u64().filter(|percent| *percent <= 100);
                let percent = percent.and_then(|percent| u8::try_from(percent).ok());
                percent
                    .map(Criterion::CoverageAbove)
                    .ok_or_else(|| "coverage_above must be a whole number from 0 to 100".to_owned())
            }
            "files_exist" => files(value).map(Criterion::FilesExist),
            "command" => {
                let command = value.as_str().map(str::trim).unwrap_or_default();
                if command.is_empty() || command.contains('\0') {
                    return Err("command must be a command as it is typed into a shell".to_owned());
                }
                Ok(Criterion::Command(command.to_owned()))
            }
            // `all_tests_pass: true` is what some people write.
            word if Criterion::from_word(word).is_ok() => match value {
                Value::Null | Value::Bool(true) => Criterion::from_word(word),
                _ => Err(format!("{word} takes no value")),
            },
            _ => Err(unknown(name)),
        }
    }
}

fn unknown(word: &str) -> String {
    format!(
        "{word:?} is not a criterion; {}allowed: {}",
        crate::suggest::meant(word, Criterion::NAMES),
        Criterion::NAMES.join(", ")
    )
}

fn files(value: &Value) -> Result<Vec<String>, String> {
    let files: Option<Vec<&str>> = match value {
        Value::String(file) => Some(vec![file.as_str()]),
        Value::Array(files) => files.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let is_inside = |file: &&str| {
        let mut parts = file.split('/');
        !file.is_empty()
            && !file.starts_with('/')
            && !file.contains('\0')
            && parts.all(|part| part != "..")
    };
    match files {
        Some(files) if !files.is_empty() && files.iter().all(is_inside) => {
            Ok(files.into_iter().map(str::to_owned).collect())
        }
        _ => Err("files_exist must be a list of paths below the repository's root".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_read_as_it_is_written() {
        for criterion in [
            Criterion::AllTestsPass,
            Criterion::NoLintErrors,
            Criterion::CoverageAbove(80),
            Criterion::AgentConfirms,
            Criterion::FilesExist(vec!["a/b.md".into(), "c".into()]),
            Criterion::Command("make lint".into()),
        ] {
            assert_eq!(
                Criterion::from_json(&criterion.to_json()),
                Ok(criterion.clone())
            );
            assert!(Criterion::NAMES.contains(&criterion.name()));
        }
        let read = Criterion::from_json(&json!("claude_confirms"));
        assert_eq!(read, Ok(Criterion::AgentConfirms));
    }

    #[test]
    fn a_bad_criterion_says_what_is_wrong() {
        for (value, wanted) in [
            (json!("all_test_pass"), "did you mean all_tests_pass?"),
            (json!("coverage_above"), "needs a value"),
            (json!({"coverage_above": 101}), "from 0 to 100"),
            (json!({"coverage_above": "80%"}), "from 0 to 100"),
            (json!({"files_exist": ["../x"]}), "below the repository"),
            (json!({"files_exist": []}), "below the repository"),
            (json!({"command": " "}), "as it is typed"),
            (json!({"all_tests_pass": false}), "takes no value"),
            (json!({"a": 1, "b": 2}), "must be one criterion"),
            (json!(7), "must be a criterion"),
        ] {
            let why = Criterion::from_json(&value).unwrap_err();
            assert!(why.contains(wanted), "{value}: {why}");
        }
    }
}
