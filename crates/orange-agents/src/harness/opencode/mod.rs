//! opencode, typed into. Its project configuration is switched off by a variable, which also drops AGENTS.md: that is
//! given back as a file of instructions.

use super::instructions::INSTRUCTIONS;
use super::kind::{HarnessFacts, HarnessKind};
use super::{Occasion, Prepared};
use crate::error::Result;
use serde_json::json;
use std::path::Path;

const FACTS: &HarnessFacts = &HarnessFacts {
    name: "opencode",
    program: "opencode",
    install: Some("npm install -g opencode-ai"),
    arguments: Some(&["--prompt", "{prompt}"]),
    drops_instructions: true,
    asks_nothing: true,
    variables: &["OPENCODE_"],
    ..HarnessFacts::TYPED
};

#[derive(Debug)]
pub(super) struct Opencode;

impl HarnessKind for Opencode {
    fn facts(&self) -> &'static HarnessFacts {
        FACTS
    }

    fn prepare(&self, occasion: &Occasion<'_>, _own: &[String]) -> Result<Prepared> {
        let mut prepared = Prepared::default();
        let mut set =
            |name: &str, value: String| prepared.environment.insert(name.to_owned(), value);
        set("OPENCODE_DISABLE_PROJECT_CONFIG", "1".into());
        let Some(text) = occasion.instructions else {
            return Ok(prepared);
        };
        let file = occasion.folder.join(INSTRUCTIONS);
        let given = occasion.environment.get(CONTENT);
        if let Some(config) = with_instructions(given.map(String::as_str), &file) {
            set(CONTENT, config);
            prepared.files.push((INSTRUCTIONS, text.to_owned()));
        }
        Ok(prepared)
    }
}

const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

/// The user's own settings from the environment, with one more file of instructions; None if they cannot be extended.
fn with_instructions(given: Option<&str>, file: &Path) -> Option<String> {
    let mut config = match given.map(str::trim).filter(|given| !given.is_empty()) {
        Some(given) => serde_json::from_str(given).ok()?,
        None => json!({}),
    };
    let listed = config
        .as_object_mut()?
        .entry("instructions")
        .or_insert_with(|| json!([]));
    let listed = listed.as_array_mut()?;
    // A reviewer's environment comes from its worker's run, whose file is of no use to it.
    let runs = file.parent().and_then(Path::parent);
    listed.retain(|entry| {
        let entry = entry.as_str().map(Path::new);
        !entry
            .zip(runs)
            .is_some_and(|(entry, runs)| entry.starts_with(runs))
    });
    listed.push(json!(file));
    Some(config.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::tests::start;
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn opencode_reads_no_project_configuration_and_a_copy_of_the_instructions() {
        let (words, prepared) = start("opencode", "", Some("Be brief."), &BTreeMap::new());
        assert_eq!(words, ["--prompt", "{prompt}"]);
        assert_eq!(prepared.environment["OPENCODE_DISABLE_PROJECT_CONFIG"], "1");
        assert_eq!(
            prepared.environment[CONTENT],
            r#"{"instructions":["/runs/r/AGENTS.md"]}"#
        );
        assert_eq!(prepared.files, [(INSTRUCTIONS, "Be brief.".to_owned())]);
        let (_, without) = start("opencode", "", None, &BTreeMap::new());
        assert_eq!(without.environment.len(), 1);
    }

    #[test]
    fn what_the_user_tells_opencode_stays() {
        let given = r#"{"model":"a/b","instructions":["/mine.md","/runs/earlier/AGENTS.md"]}"#;
        let given = BTreeMap::from([(CONTENT.to_owned(), given.to_owned())]);
        let (_, prepared) = start("opencode", "", Some("x"), &given);
        assert_eq!(
            prepared.environment[CONTENT],
            r#"{"model":"a/b","instructions":["/mine.md","/runs/r/AGENTS.md"]}"#
        );
        let broken = BTreeMap::from([(CONTENT.to_owned(), "// mine\n{}".to_owned())]);
        let (_, prepared) = start("opencode", "", Some("x"), &broken);
        assert!(!prepared.environment.contains_key(CONTENT));
    }
}
