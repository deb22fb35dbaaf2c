//! Where Claude Code takes its settings from. A repository's own are left out, and what they would run with them; only the
//! text of its CLAUDE.md comes back.

use super::dialogs;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Servers that a repository would like claude to start.
pub(super) const SERVERS: &str = ".mcp.json";

/// Makes claude read CLAUDE.md in folders that `--add-dir` names.
const READS_INSTRUCTIONS: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// What a start gets for this.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sources {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
}

/// For a start in that folder. `with_project` is for a repository whose files the user agreed to.
pub(super) fn sources(
    folder: &Path,
    environment: &BTreeMap<String, String>,
    user_home: Option<&Path>,
    with_project: bool,
) -> Sources {
    let mut found = Sources::default();
    // Never `local`: an agent writes `.claude/settings.local.json` as easily as any other file.
    let names = if with_project { "user,project" } else { "user" };
    let arguments = &mut found.arguments;
    arguments.extend(["--setting-sources", names, "--strict-mcp-config"].map(str::to_owned));
    // With `=`: these options take every word that follows.
    let mut servers = |file: &Path| arguments.push(format!("--mcp-config={}", file.display()));
    if let Some(file) = dialogs::user_servers(environment, user_home) {
        servers(&file);
    }
    let file = folder.join(SERVERS);
    if with_project && file.is_file() {
        servers(&file);
    }
    if !with_project {
        arguments.push(format!("--add-dir={}", folder.display()));
        let variable = (READS_INSTRUCTIONS.to_owned(), "1".to_owned());
        found.environment.extend([variable]);
    }
    found
}

/// Settings whose values claude runs.
const HELPERS: &[&str] = &[
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
];

/// What a file of settings or servers would make claude run or call, for a person to look at. Claude may find more than
/// this, so consent is bound to the files and not to this list.
pub(super) fn commands_in(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let settings: Value = serde_json::from_str(text).unwrap_or_default();
    let mut found = Vec::new();
    // `hooks`, `statusLine`, `mcpServers` and others have a `command` or a `url` somewhere below.
    collect(&settings, &mut found);
    let helpers = HELPERS
        .iter()
        .filter_map(|name| settings.get(name)?.as_str());
    found.extend(helpers.map(str::to_owned));
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            if let Some(command) = entries.get("command").and_then(Value::as_str) {
                let arguments = entries.get("args").and_then(Value::as_array);
                let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
                let words: Vec<&str> = std::iter::once(command).chain(arguments).collect();
                found.push(words.join(" "));
            }
            let url = entries.get("url").and_then(Value::as_str);
            found.extend(url.map(str::to_owned));
            for value in entries.values() {
                collect(value, found);
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_project_is_left_out_unless_it_is_wanted() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("worktree");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(SERVERS), "{}").unwrap();
        let config = root.path().display();
        let environment = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), config.to_string())]);
        let words = |with_project| {
            let found = sources(&folder, &environment, None, with_project);
            let text = found.arguments.join(" ");
            (text.replace(&config.to_string(), "ROOT"), found.environment)
        };
        let (without, variables) = words(false);
        assert_eq!(
            without,
            "--setting-sources user --strict-mcp-config --add-dir=ROOT/worktree"
        );
        assert_eq!(variables[READS_INSTRUCTIONS], "1");
        // The user's own servers are still started.
        let mine = r#"{"mcpServers": {"mine": {"command": "x"}}}"#;
        fs::write(root.path().join(".claude.json"), mine).unwrap();
        let (without, _) = words(false);
        assert!(
            without.contains("--strict-mcp-config --mcp-config=ROOT/.claude.json --add-dir"),
            "{without}"
        );
        let (with, variables) = words(true);
        assert_eq!(
            with,
            "--setting-sources user,project --strict-mcp-config --mcp-config=ROOT/.claude.json \
             --mcp-config=ROOT/worktree/.mcp.json"
        );
        assert!(variables.is_empty());
    }

    #[test]
    fn whatever_runs_or_is_called_is_found() {
        let settings = "\u{feff}{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"./a\"}, \
             {\"type\": \"http\", \"url\": \"http://b\"}]}]}, \"apiKeyHelper\": \"c\"}";
        assert_eq!(commands_in(settings), ["./a", "http://b", "c"]);
        let servers = r#"{"mcpServers": {"x": {"command": "npx", "args": ["-y", "y"]}}}"#;
        assert_eq!(commands_in(servers), ["npx -y y"]);
        assert_eq!(commands_in("no JSON"), [""; 0]);
    }
}
