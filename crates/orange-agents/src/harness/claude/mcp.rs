//! MCP servers of a claude without a terminal: how it is given them, and how it says that one is missing or has gone. It goes on
//! without such a server by itself.

use crate::error::{IoContext, Result};
use crate::headless::{AgentOutput, Heard, Listener, TurnExtras, text_of};
use orange_core::work::plan::McpServer;
use orange_sys::private;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// What a turn with servers needs besides. Its own half a minute is too short for a server that is downloaded first; and it names the
/// tools of servers without saying what they are for, unless it is told to say all of it.
const ENVIRONMENT: [(&str, &str); 2] = [("MCP_TIMEOUT", "120000"), ("ENABLE_TOOL_SEARCH", "false")];

/// How the names of a server's tools begin.
const PREFIX: &str = "mcp__";

/// Its words for a server that cannot be used.
const PROBLEMS: [(&str, &str); 3] = [
    ("failed", "it did not start"),
    ("needs-auth", "it wants somebody to log in"),
    ("pending", "it had not started in time"),
];

/// What it says of a use when the server has gone.
const GONE: &[&str] = &["Connection closed", "Not connected", "MCP error -32000"];

/// Its arguments about servers and folders. The file is the one that says what servers there are.
pub(super) fn arguments(extras: &TurnExtras, file: &Path) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    arguments.extend(servers_argument(&extras.mcp_servers, file)?);
    let allowed = extras.allowed_servers.iter();
    let allowed: Vec<String> = allowed.map(|name| format!("{PREFIX}{name}")).collect();
    if !allowed.is_empty() {
        arguments.push(format!("--allowedTools={}", allowed.join(",")));
    }
    let folders = extras.folders.iter();
    arguments.extend(folders.map(|folder| format!("--add-dir={}", folder.display())));
    Ok(arguments)
}

/// Servers of this run, which `--strict-mcp-config` does not leave out. In a file that only its user reads: there may be secrets in their
/// environment, and everybody on the machine can see a command line.
fn servers_argument(servers: &[McpServer], file: &Path) -> Result<Option<String>> {
    let server = |server: &McpServer| {
        let about = match (server.command.split_first(), &server.url) {
            (Some((program, words)), _) => {
                json!({"type": "stdio", "command": program, "args": words, "env": server.env})
            }
            (None, Some(url)) => json!({"type": "http", "url": url}),
            // One that nobody has said more of than its name.
            (None, None) => return None,
        };
        Some((server.name.clone(), about))
    };
    let servers: Map<String, Value> = servers.iter().filter_map(server).collect();
    if servers.is_empty() {
        return Ok(None);
    }
    let text = json!({"mcpServers": servers}).to_string();
    private::make_folders(private::folder_of(file))
        .and_then(|()| private::create_anew(file))
        .and_then(|mut new| new.write_all(text.as_bytes()))
        .doing("write", file)?;
    Ok(Some(format!("--mcp-config={}", file.display())))
}

/// What it needs besides, unless the user has said it.
pub(super) fn environment(
    extras: &TurnExtras,
    given: &BTreeMap<String, String>,
) -> impl Iterator<Item = (String, String)> {
    let is_wanted = |name: &str| !extras.mcp_servers.is_empty() && !given.contains_key(name);
    let wanted = ENVIRONMENT.iter().filter(move |(name, _)| is_wanted(name));
    wanted.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
}

/// Its first line says of each server whether it has started.
pub(super) fn hear_start(heard: &mut Heard, line: &Value, listener: &mut Listener<'_>) {
    let servers = line.get("mcp_servers").and_then(Value::as_array);
    for server in servers.into_iter().flatten() {
        let name = text_of(server, "name").unwrap_or_default();
        let said = text_of(server, "status").unwrap_or_default();
        if let Some((_, problem)) = PROBLEMS.iter().find(|(word, _)| *word == said) {
            failed(heard, name, problem, listener);
        }
    }
}

/// Notes that a server's tool is used.
pub(super) fn note_use(heard: &mut Heard, part: &Value) {
    let name = text_of(part, "name").and_then(|name| name.strip_prefix(PREFIX));
    let server = name.and_then(|name| name.split_once("__"));
    if let (Some((server, _)), Some(id)) = (server, text_of(part, "id")) {
        heard.server_uses.insert(id.to_owned(), server.to_owned());
    }
}

/// Results of tools: one of a server that has gone says so.
pub(super) fn hear_results(heard: &mut Heard, line: &Value, listener: &mut Listener<'_>) {
    let content = line
        .get("message")
        .and_then(|message| message.get("content"));
    for part in content.and_then(Value::as_array).into_iter().flatten() {
        let used = text_of(part, "tool_use_id");
        let Some(server) = used.and_then(|id| heard.server_uses.remove(id)) else {
            continue;
        };
        let said = text_of(part, "content").unwrap_or_default();
        let is_gone = GONE.iter().any(|words| said.starts_with(words));
        if is_gone && part.get("is_error") == Some(&Value::Bool(true)) {
            failed(heard, &server, "it ended while it was used", listener);
        }
    }
}

/// Each is told of once.
fn failed(heard: &mut Heard, server: &str, problem: &str, listener: &mut Listener<'_>) {
    let known = heard.failed_servers.entry(server.to_owned());
    if let std::collections::btree_map::Entry::Vacant(free) = known {
        free.insert(problem.to_owned());
        let name = format!("MCP server {server}");
        listener(AgentOutput::Tool {
            name: &name,
            on: problem,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    fn playwright() -> McpServer {
        McpServer {
            name: "playwright".into(),
            command: ["npx", "-y", "x@1"].map(str::to_owned).to_vec(),
            env: BTreeMap::from([("A".into(), "b".into())]),
            url: None,
        }
    }

    #[test]
    fn servers_of_a_run_are_given_in_a_file_of_its_own() {
        let servers = [
            McpServer {
                name: "ui".into(),
                command: ["npx", "-y", "x@1"].map(str::to_owned).to_vec(),
                env: BTreeMap::from([("A".into(), "b".into())]),
                url: None,
            },
            McpServer {
                name: "far".into(),
                url: Some("http://localhost:1".into()),
                ..McpServer::default()
            },
            McpServer {
                name: "only a name".into(),
                ..McpServer::default()
            },
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runs/r1").join("mcp-servers.json");
        // A link that an agent laid there is not followed.
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &file).unwrap();
        let argument = servers_argument(&servers, &file).unwrap().unwrap();
        assert_eq!(argument, format!("--mcp-config={}", file.display()));
        let mode = std::fs::symlink_metadata(&file)
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let expected = json!({"mcpServers": {
            "ui": {"type": "stdio", "command": "npx", "args": ["-y", "x@1"], "env": {"A": "b"}},
            "far": {"type": "http", "url": "http://localhost:1"},
        }});
        assert_eq!(json, expected);
        assert_eq!(servers_argument(&[], &file).unwrap(), None);
    }

    #[test]
    fn tools_of_a_server_are_allowed_and_folders_added_where_they_are_said() {
        let extras = TurnExtras {
            mcp_servers: vec![playwright()],
            allowed_servers: vec!["playwright".into()],
            folders: vec![PathBuf::from("/a b")],
            ..TurnExtras::default()
        };
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("mcp-servers.json");
        let [_, allowed, folder] = arguments(&extras, &file).unwrap().try_into().unwrap();
        assert_eq!(allowed, "--allowedTools=mcp__playwright");
        assert_eq!(folder, "--add-dir=/a b");
        let own = BTreeMap::from([("MCP_TIMEOUT".to_owned(), "5".to_owned())]);
        let names = |extras: &TurnExtras, own: &BTreeMap<String, String>| {
            environment(extras, own)
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&extras, &own), ["ENABLE_TOOL_SEARCH"]);
        assert_eq!(
            names(&extras, &BTreeMap::new()),
            ["MCP_TIMEOUT", "ENABLE_TOOL_SEARCH"]
        );
        let none = arguments(&TurnExtras::default(), &file).unwrap();
        assert_eq!(none, Vec::<String>::new());
        assert!(names(&TurnExtras::default(), &BTreeMap::new()).is_empty());
    }

    #[test]
    fn a_server_that_is_missing_or_goes_away_is_told_of_once() {
        let mut heard = Heard::default();
        let mut told = Vec::new();
        let mut listener = |said: AgentOutput<'_>| told.push(format!("{said:?}"));
        let start = json!({"type": "system", "subtype": "init", "mcp_servers": [
            {"name": "playwright", "status": "connected"}, {"name": "db", "status": "failed"}]});
        hear_start(&mut heard, &start, &mut listener);
        let tool_use =
            json!({"type": "tool_use", "id": "t1", "name": "mcp__playwright__browser_click"});
        let result = |id: &str, text: &str| {
            let part = json!({"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text});
            json!({"type": "user", "message": {"content": [part]}})
        };
        note_use(&mut heard, &tool_use);
        hear_results(&mut heard, &result("t1", "no such button"), &mut listener);
        for _ in 0..2 {
            note_use(&mut heard, &tool_use);
            hear_results(
                &mut heard,
                &result("t1", "Connection closed"),
                &mut listener,
            );
        }
        hear_results(
            &mut heard,
            &result("t9", "Connection closed"),
            &mut listener,
        );
        let failed: Vec<&str> = heard.failed_servers.keys().map(String::as_str).collect();
        assert_eq!(failed, ["db", "playwright"]);
        assert_eq!(told.len(), 2, "{told:?}");
    }
}
