//! `orange task show`: everything about one task.

mod agents;
mod evidence;
mod history;
mod workspace;

use super::deps::{linked_json, linked_text};
use super::diff::{stat_json, stat_text};
use super::why::Answer;
use super::{as_json, style};
use crate::error::Result;
use crate::session::Session;
use crate::ui::{
    Extent, KeyValues, Palette, Style, ago, clean, clean_block, terminal_size, wrapped_prose,
};
use clap::Args;
use evidence::Shown;
use orange_core::Timestamp;
use orange_core::artifact::section;
use orange_core::config::Permissions;
use orange_core::history::{HookOutcome, HookState};
use orange_core::naming::counted;
use orange_core::task::{Priority, Queue, Task};
use orange_core::timeline::hooks;
use orange_core::usage::Usage;
use orange_engine::engine::SaidBy;
use orange_engine::harness::NONE;
use orange_engine::sessions::SessionState;
use orange_engine::views::{AgentView, TaskView, WorkspaceState};
use serde_json::{Value, json};
use std::fmt::Write;

/// Show a task
#[derive(Debug, Args)]
#[command(
    after_help = "On a terminal a long body is cut, and the last line says why the task is where it is.\n\nExamples:\n  orange task show TASK-001\n  orange task show TASK-001 --full | less\n  orange task show shop:TASK-001 --json | jq .task.status\n  orange task show --history       inside a workspace: its task, all events"
)]
pub(crate) struct ShowArgs {
    /// The task (default: the one you are in)
    id: Option<String>,
    /// All of its history, every hook too
    #[arg(long)]
    history: bool,
    /// All of its body, however long
    #[arg(long)]
    full: bool,
    /// Measure what its worktree takes on disk, which may take a while
    #[arg(long)]
    disk: bool,
}

pub(crate) fn run(session: &Session, args: &ShowArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let view = session.engine.view(place)?;
    let state = session.engine.workspace_state(&view.task, args.disk);
    let agents = session.engine.agents(&view.task, &view.history);
    let evidence = Shown::of(&session.engine, &view);
    let usage = session.engine.usage(&view.history);
    let diff = session.engine.diff_stat(&view.task, &view.history);
    let alive =
        agents.iter().any(|agent| agent.alive) || session.engine.has_adopted_session(&view.history);
    let has_session = view.task.tmux_session.is_some();
    let sign = SessionState::of(alive, Some(view.task.status), has_session);
    let (mode, said_by) = session.engine.permissions(&view.task)?;
    let mute = session.engine.worker_without_modes(&view.task)?;
    let extent = Extent::stdout();
    // Read from the bottom: what matters most stands there too.
    let last = match extent {
        Extent::Columns(_) if !session.json => Answer::of(session, &view)?.to_text(&view, extent),
        _ => String::new(),
    };
    session.finish(
        || {
            let mut value = to_json(&view, state.as_ref(), args.history);
            value["task"]["session"] = json!(sign.word());
            value["task"]["permission_mode"] = json!({"mode": mode, "said_by": said_by});
            value["task"]["agents"] = agents::to_json(&agents);
            value["task"]["usage"] = json!(usage);
            value["task"]["diff"] = json!(diff.as_ref().map(|(stat, _)| stat_json(stat)));
            value["task"]["evidence"] = evidence.to_json();
            if args.history {
                value["task"]["timeline"] = history::to_json(&view.history);
            }
            value["task"]["messages"] = agents::messages_json(&view.history);
            value
        },
        || {
            let about = About {
                evidence: evidence.to_text(),
                round: evidence.round(&view.task),
                mode: match mute.as_deref() {
                    None => Some(permissions(mode, said_by)),
                    Some(NONE) => None,
                    Some(name) => Some(format!("none: {name} takes no notice of them")),
                },
                usage,
                diff: diff
                    .as_ref()
                    .filter(|(stat, _)| stat.commits > 0)
                    .map(|(stat, target)| format!("{} against {target}", stat_text(stat))),
            };
            let mut text = to_text(&view, state.as_ref(), &agents, &about, args);
            if !last.is_empty() {
                let _ = write!(text, "\n{last}");
            }
            text
        },
    );
    Ok(())
}

fn to_json(view: &TaskView, state: Option<&WorkspaceState>, whole: bool) -> Value {
    let mut task = as_json(&view.task);
    if let Value::Object(map) = &mut task {
        let extra = [
            ("blocks", linked_json(&view.blocks)),
            ("referenced_by", linked_json(&view.referenced_by)),
            ("children", linked_json(&view.children)),
            ("waits_for", linked_json(&view.blockers)),
            (
                "damaged",
                json!(view.damaged.as_ref().map(ToString::to_string)),
            ),
            ("attention", json!(view.attention)),
            ("unmerged", json!(unmerged(view))),
            ("context_changed", json!(view.context_changed)),
            ("hooks", hooks_json(view)),
            ("path", json!(view.place.task_file())),
            ("body", json!(view.body)),
        ];
        map.extend(extra.map(|(name, value)| (name.to_owned(), value)));
        if whole {
            let events: Vec<Value> = view
                .history
                .events
                .iter()
                .map(|event| serde_json::to_value(event).unwrap_or_default())
                .collect();
            map.insert("history".into(), Value::from(events));
        }
    }
    match state {
        Some(state) => json!({ "task": task, "workspace_state": workspace::to_json(state) }),
        None => json!({ "task": task }),
    }
}

fn hooks_json(view: &TaskView) -> Value {
    let Some(transition) = view.history.last_transition() else {
        return Value::Null;
    };
    let hooks: Vec<Value> = transition
        .hooks
        .iter()
        .map(|hook| {
            let (outcome, reason) = outcome(hook);
            json!({"hook": hook.name, "outcome": outcome, "reason": reason})
        })
        .collect();
    json!({"from": transition.opening.from, "to": transition.opening.to, "hooks": hooks})
}

fn outcome(hook: &HookState) -> (&'static str, Option<&str>) {
    match &hook.outcome {
        HookOutcome::Open => ("open", None),
        HookOutcome::Completed => ("completed", None),
        HookOutcome::Failed(reason) => ("failed", Some(reason)),
        HookOutcome::Skipped(reason) => ("not carried out", Some(reason)),
    }
}

fn to_text(
    view: &TaskView,
    state: Option<&WorkspaceState>,
    agents: &[AgentView],
    about: &About,
    args: &ShowArgs,
) -> String {
    let palette = Palette::stdout();
    let task = &view.task;
    let mut text = format!(
        "{} {}\n",
        palette.bold(&task.label()),
        palette.bold(if task.summary.is_empty() {
            "(no summary yet)"
        } else {
            &task.summary
        })
    );
    fields(view, about).render(&mut text, palette);
    if let Some(state) = state {
        text.push_str(&workspace::to_text(state, task, palette));
    }
    text.push_str(&about.evidence);
    text.push_str(&agents::to_text(agents, &view.history, &task.label()));
    if let Some(transition) = view.history.last_transition() {
        let _ = writeln!(
            text,
            "\nhooks of {} → {}",
            transition.opening.from.as_deref().unwrap_or("creation"),
            transition
                .opening
                .to
                .as_deref()
                .unwrap_or(task.status.as_str()),
        );
        let mut reasons: Vec<&str> = Vec::new();
        let aims: Vec<String> = transition
            .hooks
            .iter()
            .map(|it| hooks::aim(&it.name))
            .collect();
        let longest = aims.iter().map(|aim| aim.chars().count()).max();
        for (hook, aim) in transition.hooks.iter().zip(&aims) {
            let (word, reason) = outcome(hook);
            let _ = writeln!(text, "  {:<1$}  {word}", clean(aim), longest.unwrap_or(0));
            reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
        }
        for reason in reasons {
            let _ = writeln!(text, "  ({})", clean(reason));
        }
    }
    text.push_str(&body(view, args.full));
    text.push_str(&history::to_text(&view.history, args.history));
    text
}

/// What people and agents wrote; on a terminal its beginning, unless all of it is asked for.
fn body(view: &TaskView, full: bool) -> String {
    let extent = Extent::stdout();
    // About half of the screen: the rest is for how things stand.
    let rows = terminal_size().map_or(24, |(_, rows)| usize::from(rows));
    let most = (rows / 2).clamp(10, 40);
    let body = clean_block(view.body.trim());
    if body.is_empty() {
        return String::new();
    }
    let text = wrapped_prose(&body, extent);
    let lines = text.lines().count();
    if full || extent == Extent::Unlimited || lines <= most + 1 {
        return format!("\n{text}\n");
    }
    let shown: Vec<&str> = text.lines().take(most).collect();
    let more = format!(
        "… {} more lines: `orange task show {} --full`",
        lines - most,
        view.task.label()
    );
    format!(
        "\n{}\n{}\n",
        shown.join("\n"),
        Palette::stdout().paint(Style::Dim, &more)
    )
}

/// What is known of its agents as a whole.
struct About {
    /// What they may do without asking; none without agents.
    mode: Option<String>,
    usage: Option<Usage>,
    /// How much its branch changes, if it does.
    diff: Option<String>,
    /// Which review of it is the last, from 1.
    round: u32,
    /// What speaks for the work, as it is shown.
    evidence: String,
}

/// The mode that counts for its agents, and who chose it.
fn permissions(mode: Permissions, said_by: SaidBy) -> String {
    match said_by {
        SaidBy::Task => format!("{mode}, chosen for this task"),
        SaidBy::Project => format!("{mode}, as its project says"),
        SaidBy::Setting => format!("{mode}, as `agents.permissions` says"),
        SaidBy::Nobody => format!("{mode}, nobody has chosen"),
    }
}

fn fields(view: &TaskView, about: &About) -> KeyValues {
    let task = &view.task;
    let now = Timestamp::now();
    let mut lines = KeyValues::new();
    let mut status = format!("{} {}", task.status.info().icon, task.status);
    if about.round > 0 {
        let _ = write!(status, ", review round {}", about.round);
    }
    if task.crash_count > 0 {
        let _ = write!(
            status,
            ", crashed {}",
            counted(task.crash_count as usize, "time")
        );
    }
    lines.add_styled("status", status, style(task.status));
    if let Some(damage) = &view.damaged {
        lines.add_styled(
            "damaged",
            format!("{damage}; see `orange doctor`"),
            Style::Red,
        );
    }
    if let Some(attention) = &view.attention {
        lines.add_styled("attention", attention.as_str(), Style::Yellow);
    }
    for path in unmerged(view) {
        lines.add_styled("not merged", path, Style::Yellow);
    }
    lines.add("project", task.project.as_str());
    lines.add("branch", branch_line(task));
    if let Some(diff) = &about.diff {
        lines.add("diff", diff.as_str());
    }
    for (name, value) in optional(task) {
        lines.add(name, value);
    }
    if let Some(mode) = &about.mode {
        lines.add("permissions", mode.as_str());
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
    if let Some(usage) = about.usage {
        lines.add("used", agents::used(usage));
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
    lines.add("file", view.place.task_file().display().to_string());
    lines
}

/// The texts beside TASK.md that could not be merged into it.
fn unmerged(view: &TaskView) -> Vec<String> {
    let path = |name: &String| view.place.path.join(name).display().to_string();
    view.kept_texts.iter().map(path).collect()
}

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
    lines.extend(
        texts
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| (name, value))),
    );
    if !task.tags.is_empty() {
        lines.push(("tags", task.tags.join(", ")));
    }
    let needs = [
        ("unit", task.testing_requirements.unit),
        ("e2e", task.testing_requirements.e2e),
        ("visual", task.testing_requirements.visual),
        ("UI", task.requires_ui_testing),
    ];
    let tests: Vec<&str> = needs
        .iter()
        .filter(|(_, needed)| *needed)
        .map(|(name, _)| *name)
        .collect();
    if !tests.is_empty() {
        lines.push(("tests", tests.join(", ")));
    }
    lines
}

fn when(now: Timestamp, then: Timestamp, by: Option<&str>) -> String {
    let zone = jiff::tz::TimeZone::system();
    let local = then.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string();
    let who = by.map_or_else(String::new, |by| format!(" by {by}"));
    format!("{local} ({}){who}", ago(now, then))
}
