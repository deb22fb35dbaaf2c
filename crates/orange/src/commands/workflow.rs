//! `orange workflow show`: the table itself, for people and for diagrams.

use crate::completion::words;
use crate::output::{self, named};
use crate::ui::{Extent, wrapped};
use clap::{Args, Subcommand, ValueEnum};
use orange_core::choice::NotAllowed;
use orange_core::task::{BlockedReason, Status};
use orange_core::timeline::hooks;
use orange_core::workflow::{HookEntry, StatusKind, Transition, Who, Workflow};
use orange_engine::Result;
use orange_engine::views::workflow::{self as view, TransitionRow, limited, with_reason};
use std::fmt::Write;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum WorkflowCommand {
    /// Show statuses, transitions, gates and hooks
    #[command(
        after_help = "Examples:\n  orange workflow show\n  orange workflow show phased\n  orange workflow show interactive --format mermaid > flow.mmd"
    )]
    Show(WorkflowShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowShowArgs {
    /// Which workflow
    #[arg(default_value = "interactive", value_parser = parse_name, add = words(Workflow::NAMES))]
    name: &'static Workflow,
    /// Text to read, or a Mermaid state diagram
    #[arg(long, value_enum, default_value_t = WorkflowFormat::Text)]
    format: WorkflowFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WorkflowFormat {
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
        output::print_json(&named("workflow", view::workflow(workflow)));
        return Ok(());
    }
    let text = match args.format {
        WorkflowFormat::Text => wrapped(&as_text(workflow), Extent::stdout()).into_owned(),
        WorkflowFormat::Mermaid => as_mermaid(workflow),
    };
    output::print(&text);
    Ok(())
}

fn requirements(row: &TransitionRow) -> Vec<&str> {
    row.conditions.iter().copied().chain(row.gate).collect()
}

/// Hooks as `task show` calls them.
fn aims(entries: &[HookEntry]) -> Vec<String> {
    let aim = |entry: &HookEntry| limited(entry, &hooks::aim(entry.hook.name()));
    entries.iter().map(aim).collect()
}

fn as_text(workflow: &Workflow) -> String {
    let mut text = format!("workflow {}\n\nstatuses\n", workflow.name);
    let names = workflow.statuses.iter();
    let names = names.map(|info| with_reason(info.status, info.reason).len());
    let width = names.fold(14, usize::max);
    for info in workflow.statuses {
        let kind = match info.kind {
            StatusKind::Over => "terminal",
            StatusKind::Active => "active",
            StatusKind::Waiting => "",
        };
        let status = with_reason(info.status, info.reason);
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
    let rows = view::workflow(workflow).transitions;
    for (row, shown) in workflow.transitions.iter().zip(&rows) {
        let _ = writeln!(text, "  {} → {}", shown.from, shown.to);
        let _ = writeln!(text, "      by     {}", shown.who.join(", "));
        let needs = requirements(shown);
        if !needs.is_empty() {
            let _ = writeln!(text, "      needs  {}", needs.join("; "));
        }
        let hooks = aims(row.hooks);
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
            parts.push(aims(row.hooks).join(", "));
        }
        let line = format!("  {:<14}  {}", row.status, parts.join("; "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn as_mermaid(workflow: &Workflow) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    let id = |status: Status, reason: Option<BlockedReason>| {
        let name = with_reason(status, reason).replace(['-', ' '], "_");
        name.replace(['(', ')'], "")
    };
    for info in workflow.statuses {
        let (name, id) = (
            with_reason(info.status, info.reason),
            id(info.status, info.reason),
        );
        if id != name {
            let _ = writeln!(text, "    state \"{name}\" as {id}");
        }
    }
    for row in workflow.creations {
        let _ = writeln!(text, "    [*] --> {}", id(row.status, None));
    }
    let rows = view::workflow(workflow).transitions;
    for (row, shown) in workflow.transitions.iter().zip(&rows) {
        let actors = shown.who.join(" / ");
        let label: Vec<&str> = shown.gate.into_iter().chain([actors.as_str()]).collect();
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
        if info.kind == StatusKind::Over {
            let _ = writeln!(text, "    {} --> [*]", id(info.status, info.reason));
        }
    }
    text
}
