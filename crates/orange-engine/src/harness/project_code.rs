//! Keeps a repository's own configuration from running in CLIs that have no adapter: the arguments and variables that
//! switch it off, and the instructions in AGENTS.md given back as text.

use super::{Occasion, Prepared};
use crate::error::{Code, Error, Result};
use serde_json::{Value, json};
use std::path::Path;

/// The instructions that codex and opencode leave out together with a repository's configuration.
pub(crate) const INSTRUCTIONS: &str = "AGENTS.md";

/// A longer file is left out: codex reads no more of it either.
pub(crate) const MAX_INSTRUCTIONS: u64 = 32 * 1024;

/// How the project code of a CLI is switched off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ProjectCode {
    /// By its adapter, or by the user's own command.
    #[default]
    Elsewhere,
    Codex,
    Opencode,
    Gemini,
}

impl ProjectCode {
    /// Whether the text of [`INSTRUCTIONS`] has to be handed to the CLI.
    pub(crate) fn drops_instructions(self) -> bool {
        matches!(self, ProjectCode::Codex | ProjectCode::Opencode)
    }

    pub(super) fn off(self, occasion: &Occasion<'_>, arguments: &[String]) -> Result<Prepared> {
        match self {
            ProjectCode::Elsewhere => Ok(Prepared::default()),
            ProjectCode::Codex => codex(occasion),
            ProjectCode::Opencode => Ok(opencode(occasion)),
            ProjectCode::Gemini => Ok(gemini(arguments)),
        }
    }
}

/// Only an inline table takes effect: codex ignores `projects."PATH".trust_level=…`. Without an entry, a start that
/// bypasses approvals counts as trusted.
fn codex(occasion: &Occasion<'_>) -> Result<Prepared> {
    let mut folders = vec![occasion.worktree.to_owned()];
    // Codex looks for the path that the system knows.
    if let Ok(real) = occasion.worktree.canonicalize()
        && real != occasion.worktree
    {
        folders.push(real);
    }
    let entries: Result<Vec<String>> = folders.iter().map(|folder| untrusted(folder)).collect();
    let mut before_prompt = vec![
        "-c".to_owned(),
        format!("projects={{{}}}", entries?.join(",")),
    ];
    if let Some(text) = occasion.instructions {
        let text = toml_string(text);
        before_prompt.extend(["-c".to_owned(), format!("developer_instructions={text}")]);
    }
    Ok(Prepared {
        before_prompt,
        ..Prepared::default()
    })
}

/// Whether a command starts codex in a folder that it is told not to trust.
pub(crate) fn is_untrusted_codex(command: &[String]) -> bool {
    let is_it = |word: &String| word.starts_with("projects={") && word.contains(UNTRUSTED);
    command.iter().any(is_it)
}

const UNTRUSTED: &str = "{trust_level=\"untrusted\"}";

fn untrusted(folder: &Path) -> Result<String> {
    let Some(path) = folder.to_str() else {
        let shown = folder.display();
        return Err(Error::new(
            Code::Failed,
            format!("cannot start codex in {shown}: the path is not UTF-8, so codex cannot be told not to trust it"),
        )
        .hint("choose another harness, or a home whose path is UTF-8"));
    };
    Ok(format!("{}={UNTRUSTED}", toml_string(path)))
}

/// A TOML string. Braces are escaped as well: `{prompt}` in an argument stands for the prompt.
fn toml_string(text: &str) -> String {
    let json = Value::from(text).to_string();
    json.replace('\u{7f}', "\\u007f").replace('{', "\\u007b")
}

fn opencode(occasion: &Occasion<'_>) -> Prepared {
    let mut prepared = Prepared::default();
    let mut set = |name: &str, value: String| prepared.environment.insert(name.to_owned(), value);
    set("OPENCODE_DISABLE_PROJECT_CONFIG", "1".into());
    let Some(text) = occasion.instructions else {
        return prepared;
    };
    let file = occasion.folder.join(INSTRUCTIONS);
    let given = occasion.environment.get(OPENCODE_CONTENT);
    if let Some(config) = with_instructions(given.map(String::as_str), &file) {
        set(OPENCODE_CONTENT, config);
        prepared.files.push((INSTRUCTIONS, text.to_owned()));
    }
    prepared
}

const OPENCODE_CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

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

/// The variable alone makes gemini refuse to start in the folder, the flag alone makes it trust the folder.
fn gemini(arguments: &[String]) -> Prepared {
    const SKIP: &str = "--skip-trust";
    let mut prepared = Prepared::default();
    let variable = ("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "false".to_owned());
    prepared.environment.extend([variable]);
    if !arguments.iter().any(|word| word == SKIP) {
        prepared.before_prompt.push(SKIP.into());
    }
    prepared
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, occasion};
    use super::*;
    use std::collections::BTreeMap;

    /// The whole argument vector and the variables of a start.
    fn start(
        name: &str,
        config: &str,
        instructions: Option<&str>,
        given: &BTreeMap<String, String>,
    ) -> (Vec<String>, Prepared) {
        let harness = found(name, config).unwrap().unwrap();
        let mut occasion = occasion(given);
        occasion.instructions = instructions;
        let prepared = harness.prepare(&occasion).unwrap();
        (harness.command(&harness.arguments, &prepared), prepared)
    }

    #[test]
    fn codex_trusts_no_worktree_and_gets_the_instructions_as_text() {
        let (words, prepared) = start(
            "codex",
            "",
            Some("Say \"hi\" {prompt}\n\u{7f}"),
            &BTreeMap::new(),
        );
        assert_eq!(
            words,
            [
                "--no-daemon",
                "--dangerously-bypass-approvals-and-sandbox",
                "-c",
                r#"projects={"/worktree"={trust_level="untrusted"}}"#,
                "-c",
                r#"developer_instructions="Say \"hi\" \u007bprompt}\n\u007f""#,
                "--",
                "{prompt}",
            ]
        );
        assert!(prepared.environment.is_empty());
        let own = "harness:\n  mine:\n    command: [env, A=1, codex, exec]\n    like: codex\n";
        let (words, _) = start("mine", own, None, &BTreeMap::new());
        assert_eq!(
            words,
            [
                "A=1",
                "codex",
                "exec",
                "-c",
                r#"projects={"/worktree"={trust_level="untrusted"}}"#,
                "{prompt}",
            ]
        );
    }

    #[test]
    fn opencode_reads_no_project_configuration_and_a_copy_of_the_instructions() {
        let (words, prepared) = start("opencode", "", Some("Be brief."), &BTreeMap::new());
        assert_eq!(words, ["--prompt", "{prompt}"]);
        assert_eq!(prepared.environment["OPENCODE_DISABLE_PROJECT_CONFIG"], "1");
        assert_eq!(
            prepared.environment[OPENCODE_CONTENT],
            r#"{"instructions":["/runs/r/AGENTS.md"]}"#
        );
        assert_eq!(prepared.files, [(INSTRUCTIONS, "Be brief.".to_owned())]);
        let (_, without) = start("opencode", "", None, &BTreeMap::new());
        assert_eq!(without.environment.len(), 1);
    }

    #[test]
    fn what_the_user_tells_opencode_stays() {
        let given = r#"{"model":"a/b","instructions":["/mine.md","/runs/earlier/AGENTS.md"]}"#;
        let given = BTreeMap::from([(OPENCODE_CONTENT.to_owned(), given.to_owned())]);
        let (_, prepared) = start("opencode", "", Some("x"), &given);
        assert_eq!(
            prepared.environment[OPENCODE_CONTENT],
            r#"{"model":"a/b","instructions":["/mine.md","/runs/r/AGENTS.md"]}"#
        );
        let broken = BTreeMap::from([(OPENCODE_CONTENT.to_owned(), "// mine\n{}".to_owned())]);
        let (_, prepared) = start("opencode", "", Some("x"), &broken);
        assert!(!prepared.environment.contains_key(OPENCODE_CONTENT));
    }

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
