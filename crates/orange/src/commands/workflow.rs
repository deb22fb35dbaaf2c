//! `orange workflow show`: the table itself, for people and for diagrams.

use crate::completion::words;
use crate::output;
use crate::ui::{Extent, wrapped};
use clap::{Args, Subcommand, ValueEnum};
use orange_core::choice::NotAllowed;
use orange_core::task::{BlockedReason, Status};
use orange_core::timeline::hooks;
use orange_core::workflow::{By, HookEntry, Kind, Origin, Transition, Who, Workflow};
use orange_engine::Result;
use serde_json::{Value, json};
use std::fmt::Write;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Show statuses, transitions, gates and hooks
    #[command(
        after_help = "Examples:\n  orange workflow show\n  orange workflow show phased\n  orange workflow show interactive --format mermaid > flow.mmd"
    )]
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which workflow
    #[arg(default_value = "interactive", value_parser = parse_name, add = words(Workflow::NAMES))]
    name: &'static Workflow,
    /// Text to read, or a Mermaid state diagram
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Mermaid,
}

fn parse_name(word: &str) -> std::result::Result<&'static Workflow, String> {
    let mut tables = Workflow::all().into_iter();
    tables.find(|table| table.name == word).ok_or_else(|| {
        let error = NotAllowed {
            what: "workflow",
            value: word.to_owned(),
            allowed: Workflow::NAMES.to_vec(),
        };
        error.to_string()
    })
}

pub(crate) fn run(command: &WorkflowCommand, wants_json: bool) -> Result<()> {
    let WorkflowCommand::Show(args) = command;
    let workflow = args.name;
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
    let names = |statuses: &'static [Status]| statuses.iter().map(|status| status.to_string());
    match from {
        Origin::Statuses(statuses) => names(statuses).collect::<Vec<_>>().join(", "),
        Origin::BlockedOn(reason, or) => {
            let blocked = format!("blocked ({reason})");
            names(or).chain([blocked]).collect::<Vec<_>>().join(", ")
        }
        Origin::AnyActive => "any active".into(),
        Origin::AnyNotTerminal => "any not terminal".into(),
    }
}

/// `working`, or `blocked (gate)`.
fn place(status: Status, reason: Option<BlockedReason>) -> String {
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
    let names = workflow.statuses.iter();
    let names = names.map(|info| place(info.status, info.reason).len());
    let width = names.fold(14, usize::max);
    for info in workflow.statuses {
        let kind = match info.kind {
            Kind::Over => "terminal",
            Kind::Active => "active",
            Kind::Waiting => "",
        };
        let status = place(info.status, info.reason);
        let line = format!("  {status:<width$} {kind:<9} {}", info.meaning);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let by_agents = |row: &Transition| {
        let mut entries = row.who.iter();
        entries.any(|by| matches!(by.who, Who::Agent | Who::Reviewer))
    };
    text.push_str("\ntransitions");
    if workflow.transitions.iter().any(by_agents) {
        text.push_str(" (a human may also take every row of an agent or reviewer)");
    }
    text.push('\n');
    for row in workflow.transitions {
        let _ = writeln!(
            text,
            "  {} → {}",
            origin(row.from),
            place(row.to, row.to_reason)
        );
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
    let id = |status: Status, reason: Option<BlockedReason>| {
        let name = place(status, reason).replace(['-', ' '], "_");
        name.replace(['(', ')'], "")
    };
    for info in workflow.statuses {
        let (name, id) = (
            place(info.status, info.reason),
            id(info.status, info.reason),
        );
        if id != name {
            let _ = writeln!(text, "    state \"{name}\" as {id}");
        }
    }
    for row in workflow.creations {
        let _ = writeln!(text, "    [*] --> {}", id(row.status, None));
    }
    for row in workflow.transitions {
        let actors = row.who.iter().map(who).collect::<Vec<_>>().join(" / ");
        let gate = row.gate.map(|gate| gate.label().to_owned());
        let label: Vec<String> = gate.into_iter().chain([actors]).collect();
        for info in workflow.statuses {
            if row.starts_at(info.status, info.reason) {
                let _ = writeln!(
                    text,
                    "    {} --> {}: {}",
                    id(info.status, info.reason),
                    id(row.to, row.to_reason),
                    label.join(", ")
                );
            }
        }
    }
    for info in workflow.statuses {
        if info.kind == Kind::Over {
            let _ = writeln!(text, "    {} --> [*]", id(info.status, info.reason));
        }
    }
    text
}

fn as_json(workflow: &Workflow) -> Value {
    let hooks = |hooks: &[HookEntry]| hooks.iter().map(hook).collect::<Vec<_>>();
    let statuses = workflow.statuses.iter().map(|info| {
        let mut row = json!({
            "status": info.status.as_str(),
            "meaning": info.meaning,
            "terminal": info.kind == Kind::Over,
            "active": info.kind == Kind::Active,
        });
        if let Some(reason) = info.reason {
            row["reason"] = json!(reason);
        }
        row
    });
    let transitions = workflow.transitions.iter().map(|row| {
        json!({
            "from": origin(row.from),
            "to": place(row.to, row.to_reason),
            "who": row.who.iter().map(who).collect::<Vec<_>>(),
            "conditions": row.conditions.iter().map(|c| c.as_str()).collect::<Vec<_>>(),
            "gate": row.gate.map(|gate| gate.label()),
            "hooks": hooks(row.hooks),
        })
    });
    let creations = workflow.creations.iter().map(|row| {
        json!({
            "status": row.status.as_str(),
            "existing_branch": row.existing_branch,
            "hooks": hooks(row.hooks),
        })
    });
    json!({"workflow": {
        "name": workflow.name,
        "statuses": statuses.collect::<Vec<_>>(),
        "transitions": transitions.collect::<Vec<_>>(),
        "creations": creations.collect::<Vec<_>>(),
    }})
}
