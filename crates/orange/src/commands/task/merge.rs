//! `orange task merge`: a task's work brought into its target, after a look at what speaks against it.

use super::titled;
use crate::completion::{Wanted, tasks, words};
use crate::question::{asks, yes};
use crate::session::Session;
use crate::ui::command::spelled;
use crate::ui::{clean, clean_block};
use clap::Args;
use orange_core::merge::{Strategy, strategy};
use orange_core::naming::counted;
use orange_engine::verbs::merge::{self, MergePlan, MergeWish};
use orange_engine::views::Merged;
use orange_engine::{Result, err};
use std::fmt::Write as _;

/// Merge a task's work into its target, and end the task
#[derive(Debug, Args)]
#[command(
    after_help = "Your checkouts are never switched, reset or cleaned: the merge is computed from commits, and a target that is checked out somewhere is only fast-forwarded there. A conflict changes nothing. Where there is a remote, the target is pushed first, so what the remote refuses changes nothing here either.\n\nExamples:\n  orange merge TASK-001\n  orange merge TASK-001 --strategy rebase\n  orange merge TASK-001 --no-push\n  orange merge TASK-001 --force     unreviewed, or the check failed"
)]
pub(crate) struct MergeArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Mergeable))]
    id: Option<String>,
    /// squash, merge, rebase or ff (default: `merge.strategy` in config.yaml)
    #[arg(long, value_name = "STRATEGY", value_parser = read_strategy, add = words(Strategy::WORDS))]
    strategy: Option<Strategy>,
    /// The message of the new commit, instead of one made from the task
    #[arg(long, value_name = "TEXT", value_parser = read_message)]
    message: Option<String>,
    /// Merge locally; do not contact the remote
    #[arg(long, conflicts_with = "push")]
    no_push: bool,
    /// Push, whatever `merge.push` in config.yaml says
    #[arg(long)]
    push: bool,
    /// Merge although it is unreviewed, has changed since the review, failed its check or has uncommitted work
    #[arg(long)]
    force: bool,
}

fn read_strategy(word: &str) -> std::result::Result<Strategy, String> {
    strategy(word).map_err(|error| error.to_string())
}

fn read_message(text: &str) -> std::result::Result<String, String> {
    if text.trim().is_empty() {
        Err("a commit's message cannot be empty".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

pub(crate) fn run(session: &Session, args: &MergeArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let mut wish = MergeWish {
        strategy: args.strategy,
        message: args.message.clone(),
        push: (args.push || args.no_push).then_some(args.push),
        force: args.force,
        agreed: None,
        expected: None,
    };
    if !args.force && asks(session, false) {
        let plan = merge::merge_plan(&session.call, place.clone(), &wish)?;
        if !plan.concerns.is_empty() {
            if !yes(&question(&plan))? {
                return Err(err!(Declined, "nothing was merged"));
            }
            wish.agreed = plan.head;
        }
    }
    let merged = merge::merge(&session.call, place, &wish)?;
    session.finish(merged.view(), || to_text(&merged))?;
    super::update::failure(&merged.done.task, &merged.done.failed())
}

fn question(plan: &MergePlan) -> String {
    let task = &plan.task;
    let mut text = format!("{}\n", titled(task));
    for concern in &plan.concerns {
        let _ = writeln!(text, "  {}", clean_block(&concern.what));
        for detail in &concern.details {
            let _ = writeln!(text, "    {}", clean(detail));
        }
        if let Some(remedy) = &concern.remedy {
            let _ = writeln!(text, "    {}", clean(&spelled(remedy)));
        }
    }
    let _ = write!(
        text,
        "{} it into {} anyway?",
        match plan.strategy {
            Strategy::Squash => "squash",
            Strategy::Merge => "merge",
            Strategy::Rebase => "rebase",
            Strategy::Ff => "fast-forward",
        },
        clean(&plan.target)
    );
    text
}

fn to_text(merged: &Merged) -> String {
    let label = merged.done.task.label();
    let short = merged.commit.get(..7).unwrap_or(&merged.commit);
    let target = clean(&merged.target);
    if merged.already {
        return format!("{label}: in {target} already, as {short}; it is done\n");
    }
    let how = match merged.strategy {
        Strategy::Squash => format!("{} squashed", counted(merged.commits, "commit")),
        Strategy::Merge => format!("{} merged", counted(merged.commits, "commit")),
        Strategy::Rebase => format!("{} rebased", counted(merged.commits, "commit")),
        Strategy::Ff => format!("{} fast-forwarded", counted(merged.commits, "commit")),
    };
    let mut text = format!("{label}: merged into {target} as {short} ({how}); it is done\n");
    if merged.pushed {
        let _ = writeln!(text, "  pushed    {target} to origin");
    }
    if let Some(path) = &merged.fast_forwarded {
        let path = path.display().to_string();
        let _ = writeln!(text, "  your checkout {} is at it now", clean(&path));
    }
    text
}
