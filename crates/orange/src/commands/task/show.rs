//! `orange task show`: everything about one task.

mod agents;
mod evidence;
mod history;
mod phases;
mod workspace;

use super::deps::linked_text;
use super::diff::stat_text;
use super::{style_of, why};
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use crate::ui::command::{spelled, task_name};
use crate::ui::{
    Extent, KeyValues, Palette, Style, ago, clean, clean_block, local, terminal_size, wrapped,
    wrapped_prose,
};
use clap::Args;
use orange_core::Timestamp;
use orange_core::artifact::section;
use orange_core::display;
use orange_core::naming::counted;
use orange_core::task::{Priority, Queue, Task};
use orange_core::text;
use orange_core::timeline::hooks;
use orange_engine::Result;
use orange_engine::harness::NONE;
use orange_engine::sessions::permissions::SaidBy;
use orange_engine::views::{
    LastTransition, PermissionMode, TaskDetail, TaskFacts, TaskView, detail,
};
use std::fmt::Write;

/// Show a task with its fields, links, hooks and text
#[derive(Debug, Args)]
#[command(
    after_help = "On a terminal it fits one screen: --full shows all fields and all of its text. The last lines say why the task is where it is.\n\nExamples:\n  orange show TASK-001\n  orange show TASK-001 --full | less\n  orange show shop:TASK-001 --json | jq .task.status\n  orange show --history       inside a workspace: its task, all events"
)]
pub(crate) struct TaskShowArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Any))]
    id: Option<String>,
    /// Show the whole history, including every hook
    #[arg(long)]
    history: bool,
    /// Show all fields and the whole text, however long
    #[arg(long)]
    full: bool,
    /// Measure what its worktree takes on disk, which may take a while
    #[arg(long)]
    disk: bool,
}

pub(crate) fn run(session: &Session, args: &TaskShowArgs) -> Result<()> {
    let view = session.view(args.id.as_deref())?;
    let extent = Extent::stdout();
    // Read from the bottom: what matters most stands there too.
    let last = match extent {
        Extent::Columns(_) if !session.json => {
            let answer = orange_engine::views::why::explanation(&session.call, &view)?;
            format!("\n{}", why::to_text(&answer))
        }
        _ => String::new(),
    };
    // The text shows the end of the history in any case.
    let with_history = args.history || !session.json;
    let mut detail = detail::detail(&session.call, view, with_history, args.disk)?;
    for entry in detail.task.timeline.iter_mut().flatten() {
        entry.words = spelled(&entry.words).into();
    }
    session.finish(&detail, || to_text(&detail, args, &last) + &last)
}

/// How much of a task is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Amount {
    /// What fits into so many lines.
    Lines(usize),
    All,
}

impl Amount {
    /// On a terminal one screen, unless all of it is asked for; `last` is printed below.
    fn of(args: &TaskShowArgs, last: &str) -> Amount {
        match (Extent::stdout(), terminal_size()) {
            (Extent::Columns(_), size) if !args.full && !args.history => {
                let rows = size.map_or(24, |(_, rows)| usize::from(rows)).max(10);
                // One for the prompt that comes back, one for the pointer to the rest.
                Amount::Lines(rows.saturating_sub(last.lines().count() + 2))
            }
            _ => Amount::All,
        }
    }
}

fn to_text(detail: &TaskDetail, args: &TaskShowArgs, last: &str) -> String {
    let palette = Palette::stdout();
    let facts = &detail.task;
    let task = &facts.view.task;
    let amount = Amount::of(args, last);
    let is_all = amount == Amount::All;
    let mut text = format!(
        "{} {}\n",
        palette.bold(&task.label()),
        palette.bold(&display::summary(&task.summary))
    );
    fields(facts, is_all).render(&mut text, palette);
    if let Some(state) = detail.workspace_state.as_ref().filter(|_| is_all) {
        text.push_str(&workspace::to_text(state, task, palette));
    }
    if let Some(execution) = &facts.execution {
        text.push_str(&phases::to_text(execution, is_all));
    }
    text.push_str(&evidence::to_text(&facts.evidence));
    text.push_str(&agents::to_text(facts));
    let failed = |transition: &&LastTransition| {
        let mut hooks = transition.hooks.iter();
        is_all || hooks.any(|hook| hook.reason.is_some())
    };
    if let Some(transition) = facts.view.hooks.as_ref().filter(failed) {
        text.push_str(&hooks_text(transition, task));
    }
    let timeline = facts.timeline.as_deref().unwrap_or_default();
    let Amount::Lines(room) = amount else {
        text.push_str(&body(&facts.view));
        text.push_str(&history::to_text(timeline, args.history));
        return text;
    };
    let extent = Extent::stdout();
    let mut text = wrapped(&text, extent).into_owned();
    let happened = wrapped(&history::last(timeline, LAST_EVENTS), extent).into_owned();
    let used = text.lines().count() + happened.lines().count();
    let (shown, left) = beginning(&body(&facts.view), room.saturating_sub(used));
    text.push_str(&shown);
    text.push_str(&happened);
    let more = match left {
        0 => String::new(),
        lines => format!("{} of its text and ", counted(lines, "more line")),
    };
    let more = format!(
        "… {more}all fields: orange show {} --full",
        task_name(&task.name())
    );
    let _ = writeln!(text, "{}", palette.paint(Style::Dim, &more));
    text
}

/// How many events a screen shows.
const LAST_EVENTS: usize = 4;

/// As many lines of a text as there is room for, and how many are left out.
fn beginning(text: &str, room: usize) -> (String, usize) {
    const LEAST: usize = 4;
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.len().min(room.max(LEAST));
    let text = lines.iter().take(shown).map(|line| format!("{line}\n"));
    (text.collect(), lines.len() - shown)
}

fn hooks_text(transition: &LastTransition, task: &Task) -> String {
    let from = transition.from.as_deref().unwrap_or("creation");
    let to = transition.to.as_deref().unwrap_or(task.status.as_str());
    let mut text = format!("\nhooks of {from} → {to}\n");
    let mut reasons: Vec<&str> = Vec::new();
    let hooks = transition.hooks.iter();
    let aims: Vec<String> = hooks.map(|it| hooks::aim(&it.hook)).collect();
    let longest = aims.iter().map(|aim| aim.chars().count()).max();
    for (hook, aim) in transition.hooks.iter().zip(&aims) {
        let word = hook.outcome;
        let _ = writeln!(text, "  {:<1$}  {word}", clean(aim), longest.unwrap_or(0));
        let reason = hook.reason.as_deref();
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    for reason in reasons {
        let _ = writeln!(text, "  ({})", clean(reason));
    }
    text
}

/// What people and agents wrote.
fn body(view: &TaskView) -> String {
    let body = clean_block(view.body.trim());
    if body.is_empty() {
        return String::new();
    }
    format!("\n{}\n", wrapped_prose(&body, Extent::stdout()))
}

/// The mode that counts for its agents, and who chose it; none without agents.
fn permissions(chosen: &PermissionMode) -> Option<String> {
    let mode = chosen.mode;
    match chosen.without_modes.as_deref() {
        Some(NONE) => return None,
        Some(name) => return Some(format!("none: {name} takes no notice of them")),
        None => {}
    }
    Some(match chosen.said_by {
        SaidBy::Task => format!("{mode}, chosen for this task"),
        SaidBy::Project => format!("{mode}, as its project says"),
        SaidBy::Setting => format!("{mode}, as `agents.permissions` says"),
        SaidBy::Nobody => format!("{mode}, nobody has chosen"),
    })
}

/// On a screen only what is looked for every day.
fn fields(facts: &TaskFacts, is_all: bool) -> KeyValues {
    let view = &facts.view;
    let task = &view.task;
    let now = Timestamp::now();
    let mut lines = KeyValues::default();
    let mut status = format!("{} {}", task.status_info().icon, task.status);
    if let Some(reason) = task.blocked_reason {
        let _ = write!(status, " ({reason})");
    }
    // At 0 nobody has looked at it since a person asked for changes.
    if task.review_round > 0 {
        let round = facts.evidence.evidence.rounds.max(task.review_round);
        let _ = write!(status, ", review round {round}");
    }
    if task.crash_count > 0 {
        let _ = write!(
            status,
            ", crashed {}",
            counted(task.crash_count as usize, "time")
        );
    }
    lines.add_styled("status", status, style_of(task.status_info()));
    if let Some(damage) = &view.damaged {
        lines.add_styled(
            "damaged",
            format!("{damage}; see `orange doctor`"),
            Style::Red,
        );
    }
    if let Some(attention) = &view.attention {
        let answer = view.answer().map(|how| text!(" (answer: {})", how));
        let words = spelled(&text!("{attention}{}", answer.unwrap_or_default()));
        lines.add_styled("attention", words, Style::Yellow);
    }
    for path in &view.unmerged {
        lines.add_styled("not merged", path.display().to_string(), Style::Yellow);
    }
    if is_all {
        lines.add("project", task.project.as_str());
    }
    lines.add("branch", branch_line(task));
    if let Some(diff) = facts.diff.as_ref().filter(|diff| diff.stat.commits > 0) {
        let line = format!("{} against {}", stat_text(&diff.stat), diff.target);
        lines.add("diff", line);
        if let Some(files) = diff
            .stat
            .conflicts
            .as_ref()
            .filter(|files| !files.is_empty())
        {
            let line = format!("with {} in {}", diff.target, files.join(", "));
            lines.add_styled("conflicts", line, Style::Red);
        }
    }
    for (name, value) in optional(task) {
        if is_all || DAILY.contains(&name) {
            lines.add(name, value);
        }
    }
    if let Some(mode) = permissions(&facts.permission_mode).filter(|_| is_all) {
        lines.add("permissions", mode);
    }
    if let Some(count) = facts.permission_rules {
        let (count, label) = (counted(count.get(), "rule"), task_name(&task.name()));
        let words = format!("{count}: `orange permissions list --task {label}`");
        lines.add("not asked", words);
    }
    for (name, links) in [
        ("blocked by", &view.blockers),
        ("blocks", &view.blocks),
        ("related to", &view.related),
        ("mentioned by", &view.referenced_by),
        ("children", &view.children),
    ] {
        if !links.is_empty() {
            lines.add(name, linked_text(links));
        }
    }
    if view.context_changed {
        let what = match section(&view.body, "Context") {
            Some(_) => "changed since the task was created",
            None => "gone from TASK.md since the task was created",
        };
        lines.add_styled("context", what, Style::Yellow);
    }
    if let Some(results) = &facts.test_results {
        let style = match results.all_passed() {
            true => Style::Green,
            false => Style::Red,
        };
        lines.add_styled("results", format!("tests {}", results.words()), style);
    }
    if let Some(usage) = facts.usage {
        lines.add("used", agents::used(usage));
    }
    if !is_all {
        return lines;
    }
    lines.add(
        "created",
        when(now, task.created_at, task.created_by.as_deref()),
    );
    lines.add(
        "updated",
        format!("{}, revision {}", ago(now, task.updated_at), task.revision),
    );
    lines.add("id", task.id.as_str());
    lines.add("file", view.path.display().to_string());
    lines
}

/// Of the optional fields those that stand on a screen.
const DAILY: &[&str] = &["priority", "queue", "model", "parent", "pull request"];

fn branch_line(task: &Task) -> String {
    let mut line = task.branch.clone();
    if let Some(base) = &task.base {
        let _ = write!(line, " from {base}");
    }
    if let Some(target) = &task.target_branch {
        let _ = write!(line, " into {target}");
    }
    line
}

/// What is worth a line only when it is set or unusual.
fn optional(task: &Task) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if task.priority != Priority::Normal {
        lines.push(("priority", task.priority.to_string()));
    }
    if task.queue != Queue::Active {
        lines.push(("queue", task.queue.to_string()));
    }
    lines.push(("category", task.category.to_string()));
    let texts = [
        ("weight", task.weight.map(|weight| weight.to_string())),
        ("harness", task.harness.clone()),
        ("model", task.model.clone()),
        ("effort", task.effort.clone()),
        ("reviewer", task.review_harness.clone()),
        ("rev. model", task.review_model.clone()),
        ("rev. effort", task.review_effort.clone()),
        ("initiative", task.initiative_id.clone()),
        ("parent", task.parent.clone()),
        ("session", task.tmux_session.clone()),
        ("pull request", task.pr_url.clone()),
        ("phase", task.current_phase.clone()),
    ];
    let texts = texts.into_iter();
    lines.extend(texts.filter_map(|(name, value)| Some((name, value?))));
    if !task.tags.is_empty() {
        lines.push(("tags", task.tags.join(", ")));
    }
    let needs = [
        ("unit", task.testing_requirements.unit),
        ("e2e", task.testing_requirements.e2e),
        ("visual", task.testing_requirements.visual),
        ("UI", task.requires_ui_testing),
    ];
    let needs = needs.into_iter();
    let tests: Vec<&str> = needs
        .filter_map(|(name, needed)| needed.then_some(name))
        .collect();
    if !tests.is_empty() {
        lines.push(("tests", tests.join(", ")));
    }
    lines
}

fn when(now: Timestamp, then: Timestamp, by: Option<&str>) -> String {
    let local = local(then, "%Y-%m-%d %H:%M");
    let who = by.map_or_else(String::new, |by| format!(" by {by}"));
    format!("{local} ({}){who}", ago(now, then))
}
