//! `orange task deps`: what a task waits for, and what waits for it.

use crate::completion::{Wanted, tasks};
use crate::output::named;
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::machine::Linked;
use orange_engine::Result;
use orange_engine::views::{DepsEdge, DepsNode, TaskView, deps};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Show what a task waits for and what waits for it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange deps TASK-003\n  orange deps TASK-003 --tree\n  orange deps TASK-003 --graph > deps.mmd"
)]
pub(crate) struct DepsArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Any))]
    id: Option<String>,
    /// Show what it waits for as a tree, with what that waits for in turn
    #[arg(long, conflicts_with = "graph")]
    tree: bool,
    /// Print everything connected with it as a Mermaid diagram
    #[arg(long)]
    graph: bool,
}

pub(crate) fn run(session: &Session, args: &DepsArgs) -> Result<()> {
    let view = session.view(args.id.as_deref())?;
    if args.tree {
        let lines = deps::deps_tree(&session.call, &view.task)?;
        session.finish(named("tree", &lines), || tree_text(&lines))?;
    } else if args.graph {
        let edges = deps::deps_edges(&session.call, &view.task)?;
        session.finish(named("graph", &edges), || {
            mermaid(&view.task.label(), &edges)
        })?;
    } else {
        session.finish(named("deps", view.links()), || links_text(&view))?;
    }
    Ok(())
}

pub(crate) fn linked_text(links: &[Linked]) -> String {
    let links = links.iter().map(|link| {
        let status = link.status.map_or("no such task", |status| status.as_str());
        format!("{} ({status})", link.reference)
    });
    links.collect::<Vec<_>>().join(", ")
}

fn links_text(view: &TaskView) -> String {
    let mut text = format!("{} {}\n", view.task.label(), clean(&view.task.summary));
    let mut any = false;
    let links = view.links();
    for (name, links) in [
        ("blocked by", links.blocked_by),
        ("blocks", links.blocks),
        ("related to", links.related_to),
        ("referenced by", links.referenced_by),
        ("children", links.children),
    ] {
        if !links.is_empty() {
            any = true;
            let _ = writeln!(text, "  {name:<14} {}", linked_text(links));
        }
    }
    if !any {
        text.push_str("  waits for nothing, and nothing waits for it\n");
    }
    text
}

fn tree_text(lines: &[DepsNode]) -> String {
    let mut text = String::new();
    for line in lines {
        let status = line.status.map_or("no such task", |status| status.as_str());
        let branch = if line.depth > 0 { "└ " } else { "" };
        let again = if line.repeated { " (see above)" } else { "" };
        let _ = writeln!(
            text,
            "{}{branch}{} ({status}) {}{again}",
            "  ".repeat(line.depth),
            line.reference,
            clean(&line.summary)
        );
    }
    text
}

fn mermaid(own: &str, edges: &[DepsEdge]) -> String {
    let id = |name: &str| name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let mut text = String::from("graph TD\n");
    let mut names: BTreeSet<&str> = BTreeSet::from([own]);
    names.extend(
        edges
            .iter()
            .flat_map(|edge| [edge.task.as_str(), edge.blocked_by.as_str()]),
    );
    for name in names {
        let _ = writeln!(text, "    {}[\"{name}\"]", id(name));
    }
    for edge in edges {
        let _ = writeln!(text, "    {} --> {}", id(&edge.blocked_by), id(&edge.task));
    }
    text
}
