//! gemini, typed into. The repository's configuration is off in a folder that it does not trust.

use super::kind::{HarnessFacts, HarnessKind};
use super::{Occasion, Prepared};
use crate::error::Result;

const FACTS: &HarnessFacts = &HarnessFacts {
    name: "gemini",
    program: "gemini",
    install: Some("npm install -g @google/gemini-cli"),
    arguments: Some(&["--yolo", "--skip-trust", "-i", "{prompt}"]),
    asks_nothing: true,
    variables: &["GEMINI_", "GOOGLE_"],
    ..HarnessFacts::TYPED
};

#[derive(Debug)]
pub(super) struct Gemini;

impl HarnessKind for Gemini {
    fn facts(&self) -> &'static HarnessFacts {
        FACTS
    }

    /// The variable alone makes gemini refuse to start in the folder, the flag alone makes it trust the folder.
    fn prepare(&self, _occasion: &Occasion<'_>, own: &[String]) -> Result<Prepared> {
        const SKIP: &str = "--skip-trust";
        let mut prepared = Prepared::default();
        let variable = ("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "false".to_owned());
        prepared.environment.extend([variable]);
        if !own.iter().any(|word| word == SKIP) {
            prepared.before_prompt.push(SKIP.into());
        }
        Ok(prepared)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::start;
    use std::collections::BTreeMap;

    #[test]
    fn gemini_needs_both_the_variable_and_the_flag() {
        let (words, prepared) = start("gemini", "", None, &BTreeMap::new());
        assert_eq!(words, ["--yolo", "--skip-trust", "-i", "{prompt}"]);
        assert_eq!(prepared.environment["GEMINI_CLI_TRUST_WORKSPACE"], "false");
        let own =
            "harness:\n  mine:\n    command: [gemini, -m, x, -i, '{prompt}']\n    like: gemini\n";
        let (words, prepared) = start("mine", own, None, &BTreeMap::new());
        assert_eq!(words, ["-m", "x", "--skip-trust", "-i", "{prompt}"]);
        assert_eq!(prepared.environment["GEMINI_CLI_TRUST_WORKSPACE"], "false");
    }
}
