//! The MCP servers of a plan: which of them the agents of a phase get, and why they do not get the others.

use crate::call::{self, Call};
use crate::error::Result;
use crate::harness::Harness;
use crate::projects::Project;
use crate::rules::{Commands, Rules, rules_commit};
use crate::settings;
use crate::settings::harness::{find_harness, worker_of};
use crate::workspaces::consents;
use orange_core::config::server_in_words;
use orange_core::task::Task;
use orange_core::work::plan::{KNOWN_SERVERS, McpServer, Plan, PlannedPhase};
use serde::Serialize;

/// An MCP server of a plan that the agents of a phase do not get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOutServer {
    pub phase: String,
    pub server: String,
    pub why: String,
}

/// The MCP servers of one phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseServers {
    pub(crate) given: Vec<McpServer>,
    pub(crate) left_out: Vec<LeftOutServer>,
}

/// Those of a phase whose turns a harness takes.
pub(crate) fn of_phase(
    call: &Call,
    task: &Task,
    phase: &PlannedPhase,
    harness: &Harness,
) -> Result<PhaseServers> {
    if phase.mcp_servers.is_empty() {
        return Ok(PhaseServers::default());
    }
    let (project, rules) = repository(call, task)?;
    sorted(call, task, (&project, &rules), phase, Some(harness))
}

/// Those of a whole plan that nobody gets as things are.
pub(crate) fn left_out(call: &Call, task: &Task, plan: &Plan) -> Result<Vec<LeftOutServer>> {
    if plan.executed().all(|phase| phase.mcp_servers.is_empty()) {
        return Ok(Vec::new());
    }
    let (project, rules) = repository(call, task)?;
    // Which harness it will be is said when it is run.
    let harness = worker_of(call, task).and_then(|name| find_harness(call, &name));
    let harness = harness.ok().flatten();
    let mut found = Vec::new();
    for phase in plan.executed() {
        found.extend(sorted(call, task, (&project, &rules), phase, harness.as_ref())?.left_out);
    }
    Ok(found)
}

fn repository(call: &Call, task: &Task) -> Result<(Project, Rules)> {
    let project = call::registered(call, &task.project)?;
    let commit = rules_commit::rules_commit(call, &project, task)?;
    let rules = consents::repository_rules(call, &project, &commit)?;
    Ok((project, rules))
}

fn sorted(
    call: &Call,
    task: &Task,
    (project, rules): (&Project, &Rules),
    phase: &PlannedPhase,
    harness: Option<&Harness>,
) -> Result<PhaseServers> {
    let mut servers = PhaseServers::default();
    let plans = &rules.foreign.plans;
    let foreign = Commands {
        plans: plans.clone(),
        ..Commands::default()
    };
    let is_agreed_to = consents::is_trusted(call, &project.name, &foreign)?;
    for server in &phase.mcp_servers {
        let is_foreign = server_in_words(server).is_some_and(|told| plans.contains(&told));
        let unable = harness.filter(|harness| !harness.adapter.takes_mcp_servers());
        let why = if is_foreign && !is_agreed_to {
            "it comes with the repository, and you have not agreed to it".to_owned()
        } else if let Some(harness) = unable {
            format!("agents of the harness {} get no MCP servers", harness.name)
        } else if server.command.is_empty()
            && server.url.is_none()
            && let Some(why) = why_not_started(call, task, &server.name)
        {
            why
        } else {
            servers.given.push(server.clone());
            continue;
        };
        servers.left_out.push(LeftOutServer {
            phase: phase.name.clone(),
            server: server.name.clone(),
            why,
        });
    }
    Ok(servers)
}

/// Why a server that a phase of a plan only names is not started.
fn why_not_started(call: &Call, task: &Task, name: &str) -> Option<String> {
    if !KNOWN_SERVERS.contains(&name) {
        return Some(
            "nothing says how it is started: it has neither a command nor a URL".to_owned(),
        );
    }
    if !task.requires_ui_testing {
        return Some("the task tests no user interface".to_owned());
    }
    let is_off = settings::config(call).ok()?.mcp.playwright.is_empty();
    is_off.then(|| "mcp.playwright is empty".to_owned())
}
