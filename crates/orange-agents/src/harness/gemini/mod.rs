//! gemini, typed into. The repository's configuration is off in a folder that it does not trust.

use super::kind::Kind;
use super::{Occasion, Prepared};
use crate::error::Result;

#[derive(Debug)]
pub(super) struct Gemini;

impl Kind for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn program(&self) -> &'static str {
        "gemini"
    }

    fn install(&self) -> Option<&'static str> {
        Some("npm install -g @google/gemini-cli")
    }

    fn arguments(&self) -> Option<&'static [&'static str]> {
        Some(&["--yolo", "--skip-trust", "-i", "{prompt}"])
    }

    fn prepare(&self, _occasion: &Occasion<'_>, own: &[String]) -> Result<Prepared> {
        Ok(prepare(own))
    }

    fn asks_nothing(&self) -> bool {
        true
    }

    fn variables(&self) -> &'static [&'static str] {
        &["GEMINI_", "GOOGLE_"]
    }
}

/// The variable alone makes gemini refuse to start in the folder, the flag alone makes it trust the folder.
fn prepare(own: &[String]) -> Prepared {
    const SKIP: &str = "--skip-trust";
    let mut prepared = Prepared::default();
    let variable = ("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "false".to_owned());
    prepared.environment.extend([variable]);
    if !own.iter().any(|word| word == SKIP) {
        prepared.before_prompt.push(SKIP.into());
    }
    prepared
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
