//! A real claude that tests a user interface in a phase of a plan: it has the tools of the server that the settings name, and goes
//! on without one that is missing or goes away.

use crate::env::TestTask;
use crate::model::{say, shell, tool};
use crate::models::asked;
use crate::world::World;
use serde_json::json;
use std::fs;

const IMPLEMENT: &str = "in phase implement of its plan";

/// A server in a few lines: one tool, which says where screenshots go, or ends the server.
const SERVER: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    version=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p')
    result="{\"protocolVersion\":\"$version\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"p\",\"version\":\"1\"}}" ;;
  *'"method":"tools/list"'*)
    result='{"tools":[{"name":"browser_navigate","description":"Opens a page","inputSchema":{"type":"object"}}]}' ;;
  *'"method":"tools/call"'*)
    test "$1" = crash && exit 3
    printf picture >"$PLAYWRIGHT_MCP_OUTPUT_DIR/login-initial.png"
    result="{\"content\":[{\"type\":\"text\",\"text\":\"opened, headless $PLAYWRIGHT_MCP_HEADLESS\"}]}" ;;
  *) result='{}' ;;
  esac
  test -z "$id" || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

fn world(command: &str) -> World {
    let env = World::new();
    env.write("server.sh", SERVER);
    let root = env.root().display().to_string();
    let command = command.replace("ROOT", &root);
    env.orange(["config", "set", "mcp.playwright", &command])
        .ok();
    env
}

fn task(env: &World, more: &[&str]) -> TestTask {
    let new = [
        "Rename the button",
        "--workflow",
        "phased",
        "--weight",
        "trivial",
        "--ui-testing",
        "true",
        "--harness",
        "claude",
    ];
    env.create([&new[..], more].concat())
}

fn done() -> crate::model::Step {
    say("Done.\n{\"status\": \"complete\", \"summary\": \"looked at it\"}")
}

fn opens_a_page(env: &World, more: &[&str]) -> TestTask {
    env.model.when(
        IMPLEMENT,
        [
            tool("mcp__playwright__browser_navigate", json!({})),
            shell("echo $SCREENSHOT_DIR > where.txt"),
            done(),
        ],
    );
    let task = task(env, more);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    task
}

#[test]
fn claude_has_the_tools_of_the_playwright_server() {
    let env = world("sh ROOT/server.sh");
    let task = opens_a_page(&env, &[]);
    let requests = asked(&env, IMPLEMENT);
    let tools: Vec<&str> = requests[0]
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert!(
        tools.contains(&"mcp__playwright__browser_navigate"),
        "{tools:?}"
    );
    let last = requests.last().unwrap().body.to_string();
    assert!(last.contains("opened, headless true"), "{}", env.dump());
    let screenshots = task.folder.join("test-results/screenshots");
    assert_eq!(
        fs::read(screenshots.join("login-initial.png")).unwrap(),
        b"picture"
    );
    let told = env.git(
        &env.shop(),
        &["show", &format!("{}:where.txt", task.branch)],
    );
    assert_eq!(told, screenshots.display().to_string());
    assert_eq!(env.count(&task, "mcp_server.failed"), 0);
    env.assert_settings_untouched();
}

#[test]
fn the_tools_may_be_used_where_only_edits_are_allowed() {
    let env = world("sh ROOT/server.sh");
    env.model.when(
        IMPLEMENT,
        [tool("mcp__playwright__browser_navigate", json!({})), done()],
    );
    let task = task(&env, &["--permissions", "edits"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let requests = asked(&env, IMPLEMENT);
    let last = requests.last().unwrap().body.to_string();
    assert!(last.contains("opened, headless true"), "{}", env.dump());
}

#[test]
fn a_server_that_is_missing_is_told_of_and_the_turn_goes_on() {
    let env = world("/nowhere/playwright-mcp");
    env.model.when(IMPLEMENT, [done()]);
    let task = task(&env, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["transcript", &task.key])
        .ok()
        .says("MCP server playwright: it did not start");
    env.orange(["why", &task.key])
        .ok()
        .says("MCP server playwright: it did not start");
    assert_eq!(env.count(&task, "mcp_server.failed"), 1);
    assert_eq!(env.count(&task, "iteration.ended"), 1);
}

#[test]
fn a_server_that_goes_away_is_told_of_and_the_turn_goes_on() {
    let env = world("sh ROOT/server.sh crash");
    let task = opens_a_page(&env, &[]);
    env.orange(["transcript", &task.key])
        .ok()
        .says("MCP server playwright: it ended while it was used");
    assert_eq!(env.count(&task, "mcp_server.failed"), 1);
    assert_eq!(env.count(&task, "iteration.ended"), 1);
}
