//! The end of the demo: what happened to each task, what is left, what to try next; and the same as JSON.

use super::actor::DemoActor;
use super::demo_task::DEMO_TASKS;
use super::landed::{LandedCommit, Main};
use super::stage::DemoStage;
use crate::commands::task::style;
use crate::ui::{Palette, Style};
use orange_core::naming::counted;
use orange_core::task::Status;
use orange_engine::git;
use serde::Serialize;
use std::fmt::Write as _;

const NEXT: &[(&str, &str)] = &[
    (
        "orange demo --dashboard",
        "the same, with you as the one who answers, reviews and merges",
    ),
    ("orange project add .", "register the repository you are in"),
    (
        "orange new \"Add a dark mode\" --harness sim --review-harness sim",
        "rehearse a task there: scripted agents, no tokens",
    ),
    (
        "orange attach TASK-001",
        "look over its shoulder; `orange peek` without going there",
    ),
    (
        "orange new \"Add a dark mode\"",
        "the same with claude; --harness codex, opencode, pi or gemini",
    ),
    (
        "orange why TASK-001",
        "what a task waits for, and what moves it on",
    ),
    (
        "orange merge TASK-001",
        "when it passed its review; --strategy squash, merge, rebase or ff",
    ),
];

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
            actor.demo_task.summary,
        );
        let outcome = match &task.problem {
            None => actor.demo_task.story.to_owned(),
            Some(problem) => palette
                .red(&format!("{problem}: {}", actor.now))
                .to_string(),
        };
        let _ = writeln!(text, "    {outcome}");
        let _ = writeln!(text, "    {}", figures(task));
    }
    for demo_task in DEMO_TASKS.iter().skip(finished.len()) {
        let missing = palette.red("was not created");
        let _ = writeln!(
            text,
            "  {} {}\n    {missing}",
            palette.red("✗"),
            demo_task.summary
        );
    }
    text
}

fn figures(task: &Finished<'_>) -> String {
    let mut parts = vec![
        counted(task.agents, "agent"),
        counted(task.reviews, "review"),
    ];
    match task.crashes {
        0 => {}
        1 => parts.push("1 crash".to_owned()),
        crashes => parts.push(format!("{crashes} crashes")),
    }
    if let (Some(commits), Some(commit)) = (task.commits, task.merged_as) {
        let (commits, commit) = (counted(commits, "commit"), git::short(commit));
        parts.push(format!("{commits} squashed into {commit}"));
    }
    parts.join(", ")
}

pub(super) fn main(main: &Main, astray: Option<&str>) -> String {
    let palette = Palette::stdout();
    if main.log.is_empty() {
        return String::new();
    }
    let title = palette.bold("What is on main");
    let mut text = format!("\n{title}   git log --oneline main\n");
    for LandedCommit { commit, subject } in &main.log {
        let short = git::short(commit);
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

pub(super) fn kept(stage: &DemoStage) -> String {
    let root = stage.root.display();
    format!(
        "\nEverything is still there. Look around:\n  cd {root}/shop && export ORANGE_HOME={root}/orange\n  \
         orange ls --all; orange show TASK-003 --history; git log --stat\nand away with it:\n  \
         tmux -S {root}/tmux kill-server 2>/dev/null; rm -rf {root}\n"
    )
}

pub(super) fn next() -> String {
    let palette = Palette::stdout();
    let mut text = format!("\n{}\n", palette.bold("What to try next"));
    for (command, what) in NEXT {
        let _ = writeln!(
            text,
            "  {}\n      {what}",
            palette.paint(Style::Cyan, command)
        );
    }
    text.push_str("  docs/README.md lists the documents\n");
    text
}

/// What came of the demo, for programs.
#[derive(Serialize)]
pub(super) struct DemoReport<'a> {
    tasks: &'a [Finished<'a>],
    main: &'a [LandedCommit],
    problem: Option<&'a str>,
    pub(super) ok: bool,
    seconds: f64,
    left: &'a [String],
    folder: Option<String>,
}

/// A task when the play was over.
#[derive(Serialize)]
pub(super) struct Finished<'a> {
    #[serde(skip)]
    actor: &'a DemoActor,
    key: &'a str,
    summary: &'a str,
    branch: &'a str,
    status: Status,
    ok: bool,
    /// Why it is not where it should be.
    problem: Option<String>,
    agents: usize,
    reviews: usize,
    questions: usize,
    crashes: usize,
    commits: Option<usize>,
    merged_as: Option<&'a str>,
}

impl<'a> DemoReport<'a> {
    pub(super) fn new(
        finished: &'a [Finished<'a>],
        (main, astray): (&'a Main, Option<&'a str>),
        left: &'a [String],
        kept: Option<&DemoStage>,
        seconds: f64,
    ) -> DemoReport<'a> {
        DemoReport {
            tasks: finished,
            main: &main.log,
            problem: astray,
            ok: left.is_empty()
                && astray.is_none()
                && finished.len() == DEMO_TASKS.len()
                && finished.iter().all(|task| task.ok),
            seconds: (seconds * 10.0).round() / 10.0,
            left,
            folder: kept.map(|stage| stage.root.display().to_string()),
        }
    }
}

impl Finished<'_> {
    pub(super) fn of(actor: &DemoActor) -> Finished<'_> {
        let merged = actor.merged.as_ref();
        let problem = actor.demo_task.missing(actor);
        Finished {
            actor,
            key: &actor.key,
            summary: actor.demo_task.summary,
            branch: &actor.branch,
            status: actor.status,
            ok: problem.is_none(),
            problem,
            agents: actor.workers + actor.reviewers,
            reviews: actor.reviewers,
            questions: actor.questions,
            crashes: actor.crashes,
            commits: merged.map(|merge| merge.commits),
            merged_as: merged.map(|merge| merge.commit.as_str()),
        }
    }
}
