//! A workflow's table, with its rows in words.

use orange_core::task::{BlockedReason, Status};
use orange_core::workflow::{
    By, Creation, HookEntry, RowOrigin, StatusInfo, StatusKind, Transition, Who, Workflow,
};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkflowView {
    pub name: &'static str,
    pub statuses: Vec<StatusRow>,
    pub transitions: Vec<TransitionRow>,
    pub creations: Vec<CreationRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusRow {
    pub status: Status,
    pub meaning: &'static str,
    pub terminal: bool,
    pub active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<BlockedReason>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TransitionRow {
    pub from: String,
    pub to: String,
    pub who: Vec<String>,
    pub conditions: Vec<&'static str>,
    pub gate: Option<&'static str>,
    pub hooks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CreationRow {
    pub status: Status,
    pub existing_branch: bool,
    pub hooks: Vec<String>,
}

pub fn workflow(table: &Workflow) -> WorkflowView {
    WorkflowView {
        name: table.name,
        statuses: table.statuses.iter().map(status).collect(),
        transitions: table.transitions.iter().map(transition).collect(),
        creations: table.creations.iter().map(creation).collect(),
    }
}

fn status(info: &StatusInfo) -> StatusRow {
    StatusRow {
        status: info.status,
        meaning: info.meaning,
        terminal: info.kind == StatusKind::Over,
        active: info.kind == StatusKind::Active,
        reason: info.reason,
    }
}

fn transition(row: &Transition) -> TransitionRow {
    TransitionRow {
        from: origin(row.from),
        to: with_reason(row.to, row.to_reason),
        who: row.who.iter().map(who).collect(),
        conditions: row
            .conditions
            .iter()
            .map(|condition| condition.as_str())
            .collect(),
        gate: row.gate.map(|gate| gate.label()),
        hooks: names(row.hooks),
    }
}

fn creation(row: &Creation) -> CreationRow {
    CreationRow {
        status: row.status,
        existing_branch: row.existing_branch,
        hooks: names(row.hooks),
    }
}

fn names(hooks: &[HookEntry]) -> Vec<String> {
    let name = |entry: &HookEntry| limited(entry, entry.hook.name());
    hooks.iter().map(name).collect()
}

/// A hook, and who must have made the move for it to run.
pub fn limited(entry: &HookEntry, what: &str) -> String {
    match entry.only_by {
        Some(Who::Human) => format!("{what} (if a human did it)"),
        Some(other) => format!("{what} (if the {other} did it)"),
        None => what.to_owned(),
    }
}

fn origin(from: RowOrigin) -> String {
    let words = |statuses: &'static [Status]| statuses.iter().map(|status| status.to_string());
    match from {
        RowOrigin::Statuses(statuses) => words(statuses).collect::<Vec<_>>().join(", "),
        RowOrigin::BlockedOn(reason, or) => {
            let blocked = format!("blocked ({reason})");
            words(or).chain([blocked]).collect::<Vec<_>>().join(", ")
        }
        RowOrigin::AnyActive => "any active".into(),
        RowOrigin::AnyNotTerminal => "any not terminal".into(),
        RowOrigin::AnyNotTerminalBut(reason) => format!("any not terminal but blocked ({reason})"),
    }
}

/// `working`, or `blocked (gate)`.
pub fn with_reason(status: Status, reason: Option<BlockedReason>) -> String {
    match reason {
        Some(reason) => format!("{status} ({reason})"),
        None => status.to_string(),
    }
}

fn who(by: &By) -> String {
    match by.when {
        Some(trigger) => format!("{} ({})", by.who, trigger.0),
        None => by.who.to_string(),
    }
}
