//! What a turn gets that tests a user interface: a folder for screenshots, and an MCP server that drives a browser where its
//! harness takes MCP servers.

use crate::call::Call;
use crate::effects::executor::harness_of_turns;
use crate::error::Result;
use crate::harness::Harness;
use crate::headless::TurnExtras;
use crate::prompt::ui::is_tested;
use crate::settings;
use crate::test_results::make_screenshots_folder;
use orange_core::task::Task;
use orange_core::work::plan::{KNOWN_SERVERS, McpServer, Plan, PlannedPhase};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the server, also of one that a plan only names.
pub(crate) const SERVER: &str = KNOWN_SERVERS[0];

/// Where the agent of a turn puts screenshots.
const SCREENSHOT_DIR: &str = "SCREENSHOT_DIR";

/// Adds what a turn of a phase gets; `folder` is that of the task.
pub(crate) fn equip(
    call: &Call,
    task: &Task,
    phase: &PlannedPhase,
    harness: &Harness,
    folder: &Path,
    extras: &mut TurnExtras,
) -> Result<()> {
    let is_tested = is_tested(task, phase);
    let mut servers = extras.mcp_servers.iter();
    let position = servers.position(|server| server.name == SERVER);
    let named = position.and_then(|at| extras.mcp_servers.get(at));
    if is_tested {
        let screenshots = make_screenshots_folder(folder)?;
        let value = screenshots.display().to_string();
        extras.environment.insert(SCREENSHOT_DIR.to_owned(), value);
        extras.folders.push(screenshots);
    }
    // A plan that says more of it than the name means its own.
    let is_own = named.is_some_and(|server| !server.command.is_empty() || server.url.is_some());
    // Where nothing of a user interface is to be tested, a plan, which may be the repository's, starts no program of the user's.
    let is_wanted = is_tested || named.is_some() && task.requires_ui_testing;
    if is_own || !is_wanted || !harness.adapter.takes_mcp_servers() {
        return Ok(());
    }
    let command = settings::config(call)?.mcp.playwright.clone();
    if command.is_empty() {
        return Ok(());
    }
    let server = McpServer {
        name: SERVER.to_owned(),
        command,
        env: variables(extras.environment.get(SCREENSHOT_DIR)),
        url: None,
    };
    match position.and_then(|at| extras.mcp_servers.get_mut(at)) {
        Some(named) => *named = server,
        None => extras.mcp_servers.push(server),
    }
    // It is the user's own server, and nobody is there to be asked.
    extras.allowed_servers.push(SERVER.to_owned());
    Ok(())
}

/// Without a window, without a profile that stays, and with screenshots where they belong.
fn variables(screenshots: Option<&String>) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::from([
        ("PLAYWRIGHT_MCP_HEADLESS".to_owned(), "true".to_owned()),
        ("PLAYWRIGHT_MCP_ISOLATED".to_owned(), "true".to_owned()),
    ]);
    if let Some(screenshots) = screenshots {
        variables.insert("PLAYWRIGHT_MCP_OUTPUT_DIR".to_owned(), screenshots.clone());
    }
    variables
}

/// Why the phases of a plan that test a user interface have no browser to drive; None: they have, or nobody needs one.
pub(crate) fn without_browser(call: &Call, task: &Task, plan: &Plan) -> Option<String> {
    let mut phases = plan.phases.iter();
    if !phases.any(|phase| is_tested(task, phase)) {
        return None;
    }
    let harness = harness_of_turns(call, task).ok()?;
    why_no_browser(call, &harness)
}

/// The same of a turn.
pub(crate) fn why_no_browser(call: &Call, harness: &Harness) -> Option<String> {
    if !harness.adapter.takes_mcp_servers() {
        let name = &harness.name;
        return Some(format!(
            "harness {name} takes no MCP servers, so its agents have no browser tools"
        ));
    }
    let command = &settings::config(call).ok()?.mcp.playwright;
    let is_off = command.is_empty();
    is_off.then(|| "mcp.playwright is empty, so agents have no browser tools".to_owned())
}
