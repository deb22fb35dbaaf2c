//! What is printed about a new task.

use crate::commands::task::create_from;
use crate::commands::task::spawn::agents;
use crate::ui::command::task_name;
use crate::ui::{Palette, clean};
use orange_core::display;
use orange_core::history::Event;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::work::plan::Plan;
use orange_engine::git;
use orange_engine::rules::Start;
use orange_engine::verbs::create::Created;
use orange_engine::views::results::TaskOrigin;
use orange_engine::workspaces::Acquired;
use std::borrow::Cow;
use std::fmt::Write;

/// Where a branch starts; `verb` says whether it is there yet.
pub(in crate::commands::task) fn started(start: &Start, verb: &str) -> String {
    let at = match &start.commit {
        Some(commit) => format!("{}@{}", start.reference, git::short(commit)),
        None => format!("{} (no commits yet)", start.reference),
    };
    if start.existing {
        return format!("on the existing branch {at}");
    }
    let mut text = format!("{verb} from {at}");
    if start.fetched {
        text.push_str(", fetched now");
    }
    if start.local_ahead > 0 {
        let local = start.reference.trim_start_matches("origin/");
        let _ = write!(
            text,
            "; your local {local} has {} that {} not in it",
            counted(start.local_ahead as usize, "commit"),
            if start.local_ahead == 1 { "is" } else { "are" }
        );
    }
    text
}

pub(in crate::commands::task) fn branch(task: &Task, start: &str) -> String {
    format!("  branch   {} {start}\n", clean(&task.branch))
}

pub(in crate::commands::task) fn slot(acquired: &Acquired) -> String {
    let folder = acquired.folder.display().to_string();
    format!("  slot     {} {}\n", acquired.lease.slot, clean(&folder))
}

pub(super) fn described_task(
    created: &Created,
    origin: Option<&TaskOrigin>,
    start: &str,
    waits: Option<&str>,
    spawned: &[Event],
) -> String {
    let palette = Palette::stdout();
    let task = &created.done.task;
    let summary = display::summary(&task.summary);
    let mut text = format!("created {} {summary}\n", palette.bold(&task.label()));
    text.push_str(&branch(task, start));
    if let Some(acquired) = &created.done.acquired {
        text.push_str(&slot(acquired));
    }
    let asks = asks(task, spawned).map(|asks| format!("asks     {asks}"));
    let lines = origin.map(create_from::line).into_iter().chain(asks);
    for line in lines.chain(extras(task)) {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(
        text,
        "  file     {}",
        created.done.place.task_file().display()
    );
    if let Some(why) = waits {
        let word = if task.has_started() {
            "started"
        } else {
            "queued "
        };
        let _ = writeln!(text, "  {word}  {}", clean(why));
    }
    text.push_str(&agents(spawned));
    text
}

pub(super) fn next(task: &Task, spawned: &[Event]) -> String {
    let waits = !task.blocked_by.is_empty() || task.is_queued();
    let verb = if !spawned.is_empty() {
        "attach"
    } else if task.has_plan() {
        "run"
    } else if !task.has_started() && !waits {
        "spawn"
    } else {
        "why"
    };
    format!("next: orange {verb} {}\n", task_name(&task.name()))
}

/// What a phased task goes through.
pub(super) fn phases(plan: &Plan) -> String {
    let phases = plan.phases.iter();
    let names: Vec<Cow<'_, str>> = phases.map(|phase| clean(&phase.name)).collect();
    format!("  plan     {}: {}\n", plan.weight, names.join(", "))
}

pub(super) fn no_plan_yet() -> &'static str {
    "  plan     is written when it is run: an agent says how large the task is\n"
}

/// Of a task that nobody has described: its agent begins with a question.
pub(super) fn asks(task: &Task, spawned: &[Event]) -> Option<&'static str> {
    let is_open = task.summary.is_empty();
    // Nobody sits at the terminal of a phased task.
    let is_phased = task.has_plan();
    let has_agent = !is_phased && (!spawned.is_empty() || !task.has_started());
    (is_open && has_agent).then_some("its agent will ask you what is to be done")
}

fn extras(task: &Task) -> Vec<String> {
    let mut lines = Vec::new();
    if !task.blocked_by.is_empty() {
        lines.push(format!("waits    for {}", task.blocked_by.join(", ")));
    }
    if task.requires_ui_testing {
        lines.push(format!(
            "testing  UI, by its words; else orange update {} --ui-testing false",
            task_name(&task.name())
        ));
    }
    lines
}
