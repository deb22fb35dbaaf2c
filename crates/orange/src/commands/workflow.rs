//! `orange workflow show`: the table itself, for people and for diagrams.

use crate::error::Result;
use crate::output;
use crate::ui::{Extent, wrapped};
use clap::{Args, Subcommand, ValueEnum};
use orange_core::task::{Status, WorkflowName, is_active};
use orange_core::timeline::hooks;
use orange_core::workflow::{By, HookEntry, Origin, Transition, Who, Workflow};
use serde_json::{Value, json};
use std::fmt::Write;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Show statuses, transitions, gates and hooks
    #[command(
        after_help = "Examples:\n  orange workflow show\n  orange workflow show interactive --format mermaid > flow.mmd"
    )]
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which workflow
    #[arg(default_value = "interactive", value_parser = parse_name)]
    name: WorkflowName,
    /// Text to read, or a Mermaid state diagram
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Mermaid,
}

fn parse_name(word: &str) -> std::result::Result<WorkflowName, String> {
    word.parse()
        .map_err(|error: orange_core::choice::NotAllowed| error.to_string())
}

pub(crate) fn run(command: &WorkflowCommand, wants_json: bool) -> Result<()> {
    let WorkflowCommand::Show(args) = command;
    let workflow = Workflow::named(args.name);
    if wants_json {
        output::print_json(&as_json(workflow));
        return Ok(());
    }
    let text = match args.format {
        Format::Text => wrapped(&as_text(workflow), Extent::stdout()).into_owned(),
        Format::Mermaid => as_mermaid(workflow),
    };
    output::print(&text);
    Ok(())
}

fn origin(from: Origin) -> String {
    match from {
        Origin::Statuses(statuses) => statuses
            .iter()
            .map(|status| status.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        Origin::BlockedOn(reason) => format!("blocked ({reason})"),
        Origin::AnyActive => "any active".into(),
        Origin::AnyNotTerminal => "any not terminal".into(),
    }
}

fn who(by: &By) -> String {
    match by.when {
        Some(trigger) => format!("{} ({})", by.who, trigger.0),
        None => by.who.to_string(),
    }
}

fn requirements(row: &Transition) -> Vec<String> {
    let mut all: Vec<String> = row
        .conditions
        .iter()
        .map(|condition| condition.as_str().to_owned())
        .collect();
    all.extend(row.gate.map(|gate| gate.label().to_owned()));
    all
}

fn hook(entry: &HookEntry) -> String {
    limited(entry, entry.hook.name())
}

/// The same for people, as `task show` calls it.
fn aim(entry: &HookEntry) -> String {
    limited(entry, &hooks::aim(entry.hook.name()))
}

fn limited(entry: &HookEntry, what: &str) -> String {
    match entry.only_by {
        Some(Who::Human) => format!("{what} (if a human did it)"),
        Some(other) => format!("{what} (if the {other} did it)"),
        None => what.to_owned(),
    }
}

fn as_text(workflow: &Workflow) -> String {
    let mut text = format!("workflow {}\n\nstatuses\n", workflow.name);
    for info in workflow.statuses {
        let kind = if info.status.is_terminal() {
            "terminal"
        } else if is_active(info.status) {
            "active"
        } else {
            ""
        };
        let line = format!("  {:<14} {:<9} {}", info.status, kind, info.meaning);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("\ntransitions (a human may also take every row of an agent or reviewer)\n");
    for row in workflow.transitions {
        let _ = writeln!(text, "  {} → {}", origin(row.from), row.to);
        let actors: Vec<String> = row.who.iter().map(who).collect();
        let _ = writeln!(text, "      by     {}", actors.join(", "));
        let needs = requirements(row);
        if !needs.is_empty() {
            let _ = writeln!(text, "      needs  {}", needs.join("; "));
        }
        let hooks: Vec<String> = row.hooks.iter().map(aim).collect();
        if !hooks.is_empty() {
            let _ = writeln!(text, "      hooks  {}", hooks.join(", "));
        }
    }
    text.push_str("\ncreated as\n");
    for row in workflow.creations {
        let mut parts: Vec<String> = Vec::new();
        if row.existing_branch {
            parts.push("needs an existing branch".into());
        }
        if !row.hooks.is_empty() {
            parts.push(row.hooks.iter().map(aim).collect::<Vec<_>>().join(", "));
        }
        let line = format!("  {:<14}  {}", row.status, parts.join("; "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn as_mermaid(workflow: &Workflow) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    let id = |status: Status| status.as_str().replace('-', "_");
    for info in workflow.statuses {
        if id(info.status) != info.status.as_str() {
            let _ = writeln!(text, "    state \"{}\" as {}", info.status, id(info.status));
        }
    }
    for row in workflow.creations {
        let _ = writeln!(text, "    [*] --> {}", id(row.status));
    }
    for row in workflow.transitions {
        let label: Vec<String> = row
            .gate
            .map(|gate| gate.label().to_owned())
            .into_iter()
            .chain(std::iter::once(
                row.who.iter().map(who).collect::<Vec<_>>().join(" / "),
            ))
            .collect();
        for info in workflow.statuses {
            if row.starts_at(info.status, None) {
                let _ = writeln!(
                    text,
                    "    {} --> {}: {}",
                    id(info.status),
                    id(row.to),
                    label.join(", ")
                );
            }
        }
    }
    for info in workflow.statuses {
        if info.status.is_terminal() {
            let _ = writeln!(text, "    {} --> [*]", id(info.status));
        }
    }
    text
}

fn as_json(workflow: &Workflow) -> Value {
    let statuses: Vec<Value> = workflow
        .statuses
        .iter()
        .map(|info| {
            json!({
                "status": info.status.as_str(),
                "meaning": info.meaning,
                "terminal": info.status.is_terminal(),
                "active": is_active(info.status),
            })
        })
        .collect();
    let transitions: Vec<Value> = workflow
        .transitions
        .iter()
        .map(|row| {
            json!({
                "from": origin(row.from),
                "to": row.to.as_str(),
                "who": row.who.iter().map(who).collect::<Vec<_>>(),
                "conditions": row.conditions.iter().map(|c| c.as_str()).collect::<Vec<_>>(),
                "gate": row.gate.map(|gate| gate.label()),
                "hooks": row.hooks.iter().map(hook).collect::<Vec<_>>(),
            })
        })
        .collect();
    let creations: Vec<Value> = workflow
        .creations
        .iter()
        .map(|row| {
            json!({
                "status": row.status.as_str(),
                "existing_branch": row.existing_branch,
                "hooks": row.hooks.iter().map(hook).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"workflow": {
        "name": workflow.name.as_str(),
        "statuses": statuses,
        "transitions": transitions,
        "creations": creations,
    }})
}
