//! `orange status`: one line for a shell prompt or the tmux status line. It is run again and again, so it opens no
//! session: nothing is recovered, no program is started, and trouble is no reason to write into a prompt.

mod format;

use crate::completion::projects;
use crate::output::{self, named};
use crate::session::home;
use clap::Args;
use format::StatusFormat;
use orange_engine::views::{Standing, StandingView, counts};
use orange_engine::{Call, Code, Result, Settings};

/// Tell in one line how things stand, for a shell prompt or tmux
#[derive(Debug, Args)]
#[command(after_help = "\
Of all projects unless one is named. Prints nothing where there is nothing to tell: no task needs you, is under way or \
queued, or there is no home. It looks at no TASK.md, so that it is fast: one that was added or edited by hand counts once another command, such as \
`orange ls`, has seen it.

Placeholders of --format, each a number:
  {needs_me}   tasks that wait for you: stuck, clarification, reviewing,
               blocked (but not by other tasks), paused, completed, failed,
               damaged, or with something to look at
  {open}       all that are not over
  {agents}     agents that are running
  {queued}     tasks that start as soon as they can
  {pending} {planning} {clarification} {working} {agent_review} {reviewing}
  {stuck} {delegated} {done} {cancelled} {damaged}
  {created} {classifying} {planned} {running} {paused} {blocked}
  {completed} {finalizing} {finished} {failed}

{line} is the line that is printed without --format; {{ and }} are braces. If all numbers are 0, nothing is printed.

Examples:
  orange status
  orange status --format '{needs_me}!'
  orange status --format '{working} at work, {agents} agents' --project shop
  orange status --json")]
pub(crate) struct StatusArgs {
    /// What to print, with placeholders
    #[arg(long, value_name = "FORMAT", allow_hyphen_values = true)]
    format: Option<String>,
    /// Only tasks of this project
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
}

pub(crate) fn run(args: &StatusArgs, json: bool) -> Result<()> {
    let format = StatusFormat::parse(args.format.as_deref().unwrap_or("{line}"))?;
    let standing = match standing(args.project.as_deref()) {
        Ok(standing) => standing,
        // A name that is wrong stays wrong; everything else is said by the next command that is not a prompt.
        Err(error) if json || error.code == Code::NotFound => return Err(error),
        Err(_) => return Ok(()),
    };
    let numbers = StandingView::of(&standing);
    if json {
        output::print_json(&named("status", &numbers));
        return Ok(());
    }
    let line = format.filled(&numbers);
    if !line.is_empty() {
        output::print(&format!("{line}\n"));
    }
    Ok(())
}

fn standing(project: Option<&str>) -> Result<Standing> {
    let Ok(home) = home() else {
        return Ok(Standing::default());
    };
    let exists = home.is_dir();
    let call = Call::new(Settings::at(home));
    let standing = counts::counts(&call, project)?;
    if let Some(project) = project
        && exists
        && standing.counts.kinds.is_empty()
    {
        counts::knows_project(&call, project)?;
    }
    Ok(standing)
}
