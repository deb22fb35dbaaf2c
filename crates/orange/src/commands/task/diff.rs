//! `orange task diff`: what a task changed.

mod terminal;

use crate::completion::{Wanted, tasks};
use crate::output;
use crate::session::Session;
use crate::ui::command::spelled;
use crate::ui::terminal_width;
use clap::Args;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_engine::Result;
use orange_engine::git::diff::DiffShape;
use orange_engine::git::short;
use orange_engine::index::DiffStat;
use orange_engine::verbs::seen;
use orange_engine::views::diff::{LAST_SEEN, LAST_TURN};
use orange_engine::views::{Comparison, DiffOf, DiffView, diff};
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use terminal::{DiffScreen, DiffShown};

/// Show what a task changed
#[derive(Debug, Args)]
#[command(after_help = "\
Compared with the commit at which the task's branch left its target. On a terminal it is coloured and \
goes through git's pager, and control characters in files are shown, not obeyed. Anywhere else it is \
git's own diff, binary files included: `git apply` takes it.

Orange remembers the commit at which you were last shown all changes: by this command on a terminal, without \
--stat and --file, or by the dashboard. Afterwards --since-seen shows what came since. The last turn of an agent \
begins when it is started, when a message reaches it, or when you type into its window; a reviewer's turns do not count.

Examples:
  orange diff TASK-001
  orange diff TASK-001 --stat
  orange diff TASK-001 --file src --file '*.md'
  orange diff TASK-001 --since-review   what came after the review
  orange diff TASK-001 --since-seen     what came since you looked
  orange diff TASK-001 --last-turn --stat
  orange diff --uncommitted             inside a workspace: not committed there
  orange diff TASK-001 > login.patch")]
pub(crate) struct DiffArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Any))]
    id: Option<String>,
    /// Print one line for each file instead of its changes
    #[arg(long)]
    stat: bool,
    /// Only this file, folder or pattern, from the root of the repository; may be given more than once
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<OsString>,
    #[command(flatten)]
    part: DiffPart,
    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
}

/// Which part of the changes is meant: all of them, or one of these.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct DiffPart {
    /// Show what changed since you were last shown all changes; all changes if you never were
    #[arg(long)]
    since_seen: bool,
    /// Show what changed since the agent's last turn began
    #[arg(long)]
    last_turn: bool,
    /// Show what changed after the last review
    #[arg(long)]
    since_review: bool,
    /// Show uncommitted changes in the worktree, including untracked files
    #[arg(long)]
    uncommitted: bool,
}

impl DiffPart {
    fn chosen(&self) -> DiffOf {
        let parts = [
            (self.since_seen, DiffOf::SinceSeen),
            (self.last_turn, DiffOf::LastTurn),
            (self.since_review, DiffOf::SinceReview),
            (self.uncommitted, DiffOf::Uncommitted),
        ];
        let chosen = parts.into_iter().find(|(is_chosen, _)| *is_chosen);
        chosen.map_or(DiffOf::Work, |(_, of)| of)
    }
}

pub(crate) fn run(session: &Session, args: &DiffArgs) -> Result<()> {
    let view = session.view(args.id.as_deref())?;
    let of = args.part.chosen();
    let comparison = diff::comparison(&session.call, &view, of)?;
    if session.json {
        let files = match comparison.nothing {
            Some(_) => Vec::new(),
            None => diff::diff_files(&comparison, &args.files)?,
        };
        return session.finish(
            DiffView::of(&view.task, &comparison, &files, spelled),
            String::new,
        );
    }
    output::notices(&session.call.take_notices());
    if let Some(nothing) = &comparison.nothing {
        output::note(&format!("{}: {}", view.task.label(), spelled(nothing)));
        return Ok(());
    }
    let is_terminal = stdout().is_terminal();
    let shape = match (args.stat, is_terminal) {
        (true, true) => DiffShape::Stat {
            columns: Some(terminal_width()),
        },
        (true, false) => DiffShape::Stat { columns: None },
        (false, is_terminal) => DiffShape::Patch {
            binary: !is_terminal,
        },
    };
    let said = if is_terminal {
        let headline = headline(&view.task, &comparison, of);
        let paged = !args.no_pager;
        let said = on_terminal(&comparison, shape, &args.files, headline, paged)?;
        if said && !args.stat && args.files.is_empty() {
            seen::note_look(&session.call, &view.place, &comparison);
        }
        said
    } else {
        plain(&comparison, shape, &args.files)?
    };
    if !said {
        let whole = match (args.files.as_slice(), of) {
            ([], DiffOf::Uncommitted) => "everything in its worktree is committed".to_owned(),
            ([], _) => format!("nothing differs from {}", comparison.against),
            (_, _) => format!("nothing of that differs from {}", comparison.against),
        };
        output::note(&format!("{}: {whole}", view.task.label()));
    }
    Ok(())
}

/// For a person to read; false if there was nothing.
fn on_terminal(
    comparison: &Comparison,
    shape: DiffShape,
    files: &[OsString],
    headline: String,
    paged: bool,
) -> Result<bool> {
    let mut head = vec![headline];
    head.extend(comparison.notes.iter().cloned());
    let show = |paged: bool| {
        let screen = DiffScreen::new(&comparison.sides, shape, head.clone(), paged);
        screen.show(|sink| diff::diff(comparison, shape, files, sink))
    };
    let shown = match show(paged)? {
        DiffShown::NoPager => show(false)?,
        shown => shown,
    };
    Ok(shown == DiffShown::Something)
}

/// Git's own bytes; false if there were none.
fn plain(comparison: &Comparison, shape: DiffShape, files: &[OsString]) -> Result<bool> {
    for note in &comparison.notes {
        output::note(note);
    }
    let mut said = false;
    diff::diff(comparison, shape, files, &mut |piece| {
        said = true;
        output::print_piece(piece)
    })?;
    Ok(said)
}

/// `TASK-001 login: 3 commits since main at 1234567`
fn headline(task: &Task, comparison: &Comparison, of: DiffOf) -> String {
    let name = format!("{} {}", task.label(), task.branch);
    let commits = comparison.commits.unwrap_or_default();
    let commits = counted(usize::try_from(commits).unwrap_or(usize::MAX), "commit");
    let base = comparison.base.as_deref().map(short);
    match (of, base) {
        (DiffOf::Uncommitted, _) => format!("{name}: not committed"),
        (DiffOf::SinceReview, Some(base)) => {
            format!("{name}: {commits} since the review of {base}")
        }
        (DiffOf::LastTurn, Some(base)) if comparison.against == LAST_TURN => {
            format!("{name}: {commits} since the last turn began at {base}")
        }
        (DiffOf::SinceSeen, Some(base)) if comparison.against == LAST_SEEN => {
            format!("{name}: {commits} since you looked at {base}")
        }
        (_, Some(base)) => format!("{name}: {commits} since {} at {base}", comparison.against),
        (_, None) => format!("{name}: {commits}"),
    }
}

/// `+120 −4`
pub(super) fn lines(stat: &DiffStat) -> String {
    format!("+{} −{}", stat.added, stat.deleted)
}

/// `3 commits, 5 files, +120 −4`
pub(super) fn stat_text(stat: &DiffStat) -> String {
    format!(
        "{}, {}, {}",
        counted(stat.commits as usize, "commit"),
        counted(stat.files as usize, "file"),
        lines(stat)
    )
}
