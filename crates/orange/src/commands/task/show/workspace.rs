//! The part of `task show` about a task's worktree.

use crate::ui::command::task_name;
use crate::ui::{KeyValues, Palette, Style, clean, size};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_engine::git::short;
use orange_engine::git::state::Head;
use orange_engine::git::status::{AheadBehind, Dirt};
use orange_engine::views::WorkspaceState;

pub(super) fn to_text(state: &WorkspaceState, task: &Task, palette: Palette) -> String {
    let mut lines = KeyValues::default();
    lines.add("  folder", state.folder.display().to_string());
    let (name, value, style) = head_line(state, task);
    lines.add_styled(name, value, style);
    if let Some(distance) = state.distance {
        lines.add("  commits", distance_line(distance, &state.base));
    }
    if let Some(operation) = state.operation {
        lines.add_styled(
            "  under way",
            format!("a {operation}; end or abort it there"),
            Style::Yellow,
        );
    }
    if let Some(dirt) = state.dirt {
        lines.add("  changes", dirt_line(dirt));
    }
    if let Some(bytes) = state.disk {
        lines.add("  disk", size(bytes));
    }
    let mut text = format!("\nworkspace {}\n", clean(&state.slot));
    lines.render(&mut text, palette);
    text
}

fn head_line(state: &WorkspaceState, task: &Task) -> (&'static str, String, Style) {
    match &state.head {
        Head::Branch(name) if state.on_branch => ("  branch", name.clone(), Style::Plain),
        Head::Branch(name) => {
            let (own, label) = (&task.branch, task_name(&task.name()));
            let way = format!("`orange update {label} --branch` takes it over");
            let line = format!("{name}, not the task's own {own}; {way}");
            ("  branch", line, Style::Yellow)
        }
        Head::Detached(commit) => {
            let line = format!("none: at commit {}", short(commit));
            // A rebase or a bisect works like that.
            let style = state.operation.map_or(Style::Yellow, |_| Style::Plain);
            ("  branch", line, style)
        }
        Head::Missing(reason) => {
            let line = if state.folder.is_dir() {
                format!("{reason}; see `orange doctor`")
            } else {
                format!("{reason}; `orange doctor --repair` checks its branch out again")
            };
            ("  problem", line, Style::Red)
        }
    }
}

fn distance_line(distance: AheadBehind, base: &str) -> String {
    match (distance.ahead, distance.behind) {
        (0, 0) => format!("none that {base} has not"),
        (ahead, 0) => format!("{ahead} ahead of {base}"),
        (0, behind) => format!("{behind} behind {base}"),
        (ahead, behind) => format!("{ahead} ahead of {base}, {behind} behind"),
    }
}

fn dirt_line(dirt: Dirt) -> String {
    if dirt.is_clean() {
        return "none uncommitted".to_owned();
    }
    let mut parts = Vec::new();
    if dirt.changed > 0 {
        parts.push(counted(dirt.changed, "changed file"));
    }
    if dirt.conflicts > 0 {
        parts.push(format!("{} of them in conflict", dirt.conflicts));
    }
    if dirt.untracked > 0 {
        parts.push(format!("{} untracked", dirt.untracked));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        let distance = |ahead, behind| distance_line(AheadBehind { ahead, behind }, "main");
        assert_eq!(distance(0, 0), "none that main has not");
        assert_eq!(distance(2, 0), "2 ahead of main");
        assert_eq!(distance(0, 1), "1 behind main");
        assert_eq!(distance(2, 1), "2 ahead of main, 1 behind");
        let dirt = |changed, untracked, conflicts| {
            dirt_line(Dirt {
                changed,
                untracked,
                conflicts,
            })
        };
        assert_eq!(dirt(0, 0, 0), "none uncommitted");
        assert_eq!(dirt(1, 0, 0), "1 changed file");
        assert_eq!(
            dirt(3, 2, 1),
            "3 changed files, 1 of them in conflict, 2 untracked"
        );
        assert_eq!(dirt(0, 2, 0), "2 untracked");
    }
}
