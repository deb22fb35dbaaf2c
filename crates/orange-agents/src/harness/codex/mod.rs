//! Codex, typed into. It is told not to trust the worktree, so that nothing of the repository's configuration runs; the
//! instructions that it then leaves out are given to it as text.

mod dialog;

use super::kind::{HarnessFacts, HarnessKind};
use super::watch::{HarnessWatch, Watched};
use super::{Occasion, Prepared};
use crate::error::{Result, err};
use dialog::CodexDialog;
use serde_json::Value;
use std::path::Path;

const FACTS: &HarnessFacts = &HarnessFacts {
    name: "codex",
    program: "codex",
    install: Some("npm install -g @openai/codex"),
    arguments: Some(&[
        "--no-daemon",
        "--dangerously-bypass-approvals-and-sandbox",
        "--",
        "{prompt}",
    ]),
    drops_instructions: true,
    asks_nothing: true,
    variables: &["CODEX_", "OPENAI_"],
    ..HarnessFacts::TYPED
};

#[derive(Debug)]
pub(super) struct Codex;

impl HarnessKind for Codex {
    fn facts(&self) -> &'static HarnessFacts {
        FACTS
    }

    /// Only an inline table takes effect: codex ignores `projects."PATH".trust_level=…`. Without an entry, a start that
    /// bypasses approvals counts as trusted.
    fn prepare(&self, occasion: &Occasion<'_>, _own: &[String]) -> Result<Prepared> {
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

    fn watch(&self, run: &Watched<'_>) -> Option<Box<dyn HarnessWatch>> {
        let is_asked = is_untrusted(&run.spec.command);
        is_asked.then(|| Box::new(CodexDialog::new()) as Box<dyn HarnessWatch>)
    }
}

/// Whether a command starts codex in a folder that it is told not to trust.
fn is_untrusted(command: &[String]) -> bool {
    let is_it = |word: &String| word.starts_with("projects={") && word.contains(UNTRUSTED);
    command.iter().any(is_it)
}

const UNTRUSTED: &str = "{trust_level=\"untrusted\"}";

fn untrusted(folder: &Path) -> Result<String> {
    let Some(path) = folder.to_str() else {
        let shown = folder.display();
        return Err(err!(Failed, "cannot start codex in {shown}: the path is not UTF-8, so codex cannot be told not to trust it")
        .hint("choose another harness, or a home whose path is UTF-8"));
    };
    Ok(format!("{}={UNTRUSTED}", toml_string(path)))
}

/// A TOML string. Braces are escaped as well: `{prompt}` in an argument stands for the prompt.
fn toml_string(text: &str) -> String {
    let json = Value::from(text).to_string();
    json.replace('\u{7f}', "\\u007f").replace('{', "\\u007b")
}

#[cfg(test)]
mod tests {
    use super::super::tests::start;
    use std::collections::BTreeMap;

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
}
