//! The end of the demo: what happened to each task, what is left, what to try next; and the same as JSON.

use super::actor::Actor;
use super::demo_task::PLOTS;
use super::landed::Main;
use super::stage::Stage;
use crate::commands::task::style;
use crate::ui::{Palette, Style};
use serde_json::{Value, json};
use std::fmt::Write as _;

const NEXT: &[(&str, &str)] = &[
    ("orange project add .", "register the repository you are in"),
    (
        "orange new \"Add a dark mode\" --harness sim --review-harness sim",
        "rehearse a task there: scripted agents, no tokens",
    ),
    (
        "orange task attach TASK-001",
        "look over its shoulder; `orange task peek` without going there",
    ),
    (
        "orange new \"Add a dark mode\"",
        "the same with claude; --harness codex, opencode, pi or gemini",
    ),
    (
        "orange task why TASK-001",
        "what a task waits for, and what moves it on",
    ),
    (
        "orange task merge TASK-001",
        "when it passed its review; --strategy squash, merge, rebase or ff",
    ),
];

/// A task when the play was over.
pub(super) struct Finished<'a> {
    pub(super) actor: &'a Actor,
    /// Why it is not where it should be.
    pub(super) missing: Option<String>,
}

pub(super) fn text(finished: &[Finished<'_>]) -> String {
    let palette = Palette::stdout();
    let mut text = format!("\n{}\n", palette.bold("What happened"));
    for task in finished {
        let actor = task.actor;
        let colour = style(actor.status);
        let _ = writeln!(
            text,
            "  {} {}  {}",
            palette.paint(colour, actor.status.info().icon),
            palette.bold(&actor.key),
            actor.plot.summary,
        );
        let outcome = match &task.missing {
            None => actor.plot.story.to_owned(),
            Some(missing) => palette
                .red(&format!("{missing}: {}", actor.now))
                .to_string(),
        };
        let _ = writeln!(text, "    {outcome}");
        let _ = writeln!(text, "    {}", figures(task));
    }
    for plot in PLOTS.iter().skip(finished.len()) {
        let missing = palette.red("was not created");
        let _ = writeln!(
            text,
            "  {} {}\n    {missing}",
            palette.red("✗"),
            plot.summary
        );
    }
    text
}

fn figures(task: &Finished<'_>) -> String {
    let actor = task.actor;
    let mut parts = vec![
        counted(actor.workers + actor.reviewers, "agent", "agents"),
        counted(actor.reviewers, "review", "reviews"),
    ];
    if actor.crashes > 0 {
        parts.push(counted(actor.crashes, "crash", "crashes"));
    }
    if let Some(merge) = &actor.merged {
        parts.push(format!(
            "{} squashed into {}",
            counted(merge.commits, "commit", "commits"),
            merge.short()
        ));
    }
    parts.join(", ")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What main has now, as its log says.
pub(super) fn main(main: &Main, astray: Option<&str>) -> String {
    let palette = Palette::stdout();
    if main.log.is_empty() {
        return String::new();
    }
    let title = palette.bold("What is on main");
    let mut text = format!("\n{title}   git log --oneline main\n");
    for (id, subject) in &main.log {
        let short = id.get(..7).unwrap_or(id);
        let _ = writeln!(text, "  {} {subject}", palette.paint(Style::Yellow, short));
    }
    if let Some(astray) = astray {
        let _ = writeln!(text, "  {}", palette.red(astray));
    }
    text
}

pub(super) fn left(left: &[String], seconds: f64) -> String {
    match left {
        [] => format!(
            "\n{seconds:.1}s, and nothing of it is left: no session, no process, no file.\n"
        ),
        left => format!(
            "\n{seconds:.1}s; this could not be cleared away: {}\n",
            left.join(", ")
        ),
    }
}

pub(super) fn kept(stage: &Stage) -> String {
    let root = stage.root.display();
    format!(
        "\nEverything is still there. Look around:\n  cd {root}/shop && export ORANGE_HOME={root}/orange\n  \
         orange ls --all; orange task show TASK-003 --history; git log --stat\nand away with it:\n  \
         tmux -S {root}/tmux kill-server 2>/dev/null; rm -rf {root}\n"
    )
}

pub(super) fn next() -> String {
    let palette = Palette::stdout();
    let mut text = format!("\n{}\n", palette.bold("What to try next"));
    for (command, what) in NEXT {
        let _ = writeln!(text, "  {}\n      {what}", palette.cyan(command));
    }
    text.push_str("  README.md, docs/agents.md, docs/merge.md, docs/sim.md\n");
    text
}

pub(super) fn json(
    finished: &[Finished<'_>],
    (main, astray): (&Main, Option<&str>),
    left: &[String],
    kept: Option<&Stage>,
    seconds: f64,
) -> Value {
    let tasks: Vec<Value> = finished.iter().map(task_json).collect();
    json!({"demo": {
        "tasks": tasks,
        "main": main.log.iter().map(|(id, subject)| json!({"commit": id, "subject": subject})).collect::<Vec<_>>(),
        "problem": astray,
        "ok": left.is_empty()
            && astray.is_none()
            && finished.len() == PLOTS.len()
            && finished.iter().all(|task| task.missing.is_none()),
        "seconds": (seconds * 10.0).round() / 10.0,
        "left": left,
        "folder": kept.map(|stage| stage.root.display().to_string()),
    }})
}

fn task_json(task: &Finished<'_>) -> Value {
    let actor = task.actor;
    json!({
        "key": actor.key,
        "summary": actor.plot.summary,
        "branch": actor.branch,
        "status": actor.status,
        "ok": task.missing.is_none(),
        "problem": task.missing,
        "agents": actor.workers + actor.reviewers,
        "reviews": actor.reviewers,
        "questions": actor.questions,
        "crashes": actor.crashes,
        "commits": actor.merged.as_ref().map(|merge| merge.commits),
        "merged_as": actor.merged.as_ref().map(|merge| merge.commit.as_str()),
    })
}
