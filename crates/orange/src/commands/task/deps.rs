//! `orange task deps`: what a task waits for, and what waits for it.

use crate::error::Result;
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::machine::Linked;
use orange_engine::views::{DepsNode, TaskView};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Show dependencies
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange task deps TASK-003\n  orange task deps TASK-003 --tree\n  orange task deps TASK-003 --graph > deps.mmd"
)]
pub(crate) struct DepsArgs {
    /// The task (default: the one you are in)
    id: Option<String>,
    /// What it waits for, what that waits for, and so on
    #[arg(long, conflicts_with = "graph")]
    tree: bool,
    /// Everything connected with it, as a Mermaid diagram
    #[arg(long)]
    graph: bool,
}

pub(crate) fn run(session: &Session, args: &DepsArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let view = session.engine.view(place)?;
    if args.tree {
        let lines = session.engine.deps_tree(&view.task)?;
        session.finish(tree_json(&lines), || tree_text(&lines));
    } else if args.graph {
        let edges = session.engine.deps_edges(&view.task)?;
        session.finish(
            json!({"graph": edges.iter().map(|(task, blocker)| json!({"task": task, "blocked_by": blocker})).collect::<Vec<_>>()}),
            || mermaid(&view.task.label(), &edges),
        );
    } else {
        session.finish(links_json(&view), || links_text(&view));
    }
    Ok(())
}

fn groups(view: &TaskView) -> [(&'static str, &[Linked]); 5] {
    [
        ("blocked_by", &view.blockers),
        ("blocks", &view.blocks),
        ("related_to", &view.related),
        ("referenced_by", &view.referenced_by),
        ("children", &view.children),
    ]
}

pub(crate) fn linked_json(links: &[Linked]) -> Value {
    links
        .iter()
        .map(|link| json!({"task": link.reference, "status": link.status.map(|status| status.as_str())}))
        .collect()
}

pub(crate) fn linked_text(links: &[Linked]) -> String {
    links
        .iter()
        .map(|link| match link.status {
            Some(status) => format!("{} ({status})", link.reference),
            None => format!("{} (no such task)", link.reference),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn links_json(view: &TaskView) -> Value {
    let mut map = serde_json::Map::new();
    map.insert("task".into(), view.task.label().into());
    for (name, links) in groups(view) {
        map.insert(name.into(), linked_json(links));
    }
    json!({"deps": map})
}

fn links_text(view: &TaskView) -> String {
    let mut text = format!("{} {}\n", view.task.label(), clean(&view.task.summary));
    let mut any = false;
    for (name, links) in groups(view) {
        if !links.is_empty() {
            any = true;
            let _ = writeln!(
                text,
                "  {:<14} {}",
                name.replace('_', " "),
                linked_text(links)
            );
        }
    }
    if !any {
        text.push_str("  waits for nothing, and nothing waits for it\n");
    }
    text
}

fn tree_json(lines: &[DepsNode]) -> Value {
    let nodes: Vec<Value> = lines
        .iter()
        .map(|line| {
            json!({
                "depth": line.depth,
                "task": line.reference,
                "status": line.status.map(|status| status.as_str()),
                "summary": line.summary,
                "repeated": line.repeated,
            })
        })
        .collect();
    json!({"tree": nodes})
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

fn mermaid(own: &str, edges: &[(String, String)]) -> String {
    let id = |name: &str| {
        name.chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '_'
                }
            })
            .collect::<String>()
    };
    let mut text = String::from("graph TD\n");
    let mut names: BTreeSet<&str> = BTreeSet::from([own]);
    for (task, blocker) in edges {
        names.extend([task.as_str(), blocker.as_str()]);
    }
    for name in names {
        let _ = writeln!(text, "    {}[\"{name}\"]", id(name));
    }
    for (task, blocker) in edges {
        let _ = writeln!(text, "    {} --> {}", id(blocker), id(task));
    }
    text
}
