//! Settings from outside the files: the environment and the command line. What is wrong with them is told at once.

use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use orange_core::config::{Config, Kind, Setting};
use orange_core::{Action, text};

/// A setting from outside the files, which overrides them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    pub key: String,
    pub value: String,
    pub from: Outside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    Environment,
    CommandLine,
}

impl Override {
    /// What a person would have to change.
    pub fn place(&self) -> String {
        match self.from {
            Outside::Environment => Config::variable(&self.key),
            Outside::CommandLine => "--config".to_owned(),
        }
    }

    /// Sets it, or says why that cannot be.
    pub(super) fn problem(&self, config: &mut Config) -> Option<String> {
        let mut tried = config.clone();
        let outcome = tried.override_with(&self.key, &self.value).err();
        let problem = outcome.or_else(|| config.unknown_harness(&self.key, &self.value));
        match problem {
            Some(problem) => Some(format!("{}: {problem}", self.place())),
            None => {
                *config = tried;
                None
            }
        }
    }

    fn names_a_harness(&self) -> bool {
        Setting::of(&self.key).is_some_and(|setting| setting.kind == Kind::Harness)
    }
}

impl Engine {
    /// Puts them into the settings. Where only something is read, a variable that cannot be used is left out, and the
    /// answer says so; everywhere else it is an error that names them all.
    pub(crate) fn apply_overrides(&self, config: &mut Config) -> Result<Vec<String>> {
        let mut wrong: Vec<(usize, String)> = Vec::new();
        // A harness may be one that is defined out there, too.
        for names_a_harness in [false, true] {
            let of_kind =
                |(_, said): &(usize, &Override)| said.names_a_harness() == names_a_harness;
            for (at, said) in self.overrides.iter().enumerate().filter(of_kind) {
                wrong.extend(said.problem(config).map(|problem| (at, problem)));
            }
        }
        wrong.sort();
        let typed = |(at, _): &(usize, String)| self.overrides[*at].from == Outside::CommandLine;
        let is_typed = wrong.iter().any(typed);
        let problems: Vec<String> = wrong.into_iter().map(|(_, problem)| problem).collect();
        match problems.as_slice() {
            [] => Ok(problems),
            _ if self.only_reads && !is_typed => Ok(problems),
            [one] => Err(Error::new(Code::Usage, one).hint(match is_typed {
                true => text!(
                    "write it as KEY=VALUE; {} lists the keys",
                    Action::list_settings()
                ),
                false => "correct the variable, or unset it".into(),
            })),
            several => {
                let what = if is_typed { "settings" } else { "variables" };
                let lines: String = several.iter().map(|one| format!("\n  {one}")).collect();
                let message = format!("{} {what} cannot be used:{lines}", several.len());
                Err(Error::new(Code::Usage, message).hint("correct them, or unset them"))
            }
        }
    }
}
