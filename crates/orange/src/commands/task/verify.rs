//! `orange task verify`: a task's commit checked by its repository's own command, now.

use crate::completion::{Wanted, tasks};
use crate::output;
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::flag;
use clap::Args;
use orange_core::verification::{CheckResult, Verified};
use orange_engine::background::verify;
use orange_engine::views::{TaskResult, task};
use orange_engine::{Result, err};
use std::fmt::Write;
use std::io::{IsTerminal, stderr};

/// Check a task's work with its repository's verify.command
#[derive(Debug, Args)]
#[command(
    after_help = "The commit that its branch is at is checked out in a worktree of its own, and the commands run there. A commit that was checked before is not checked again. After a failure the base is checked too, and what fails there as well is named.\n\nExamples:\n  orange verify TASK-001\n  orange verify TASK-001 --again      whatever is known of its commit"
)]
pub(crate) struct VerifyArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// Run it although the result is known
    #[arg(long)]
    again: bool,
}

pub(crate) fn run(session: &Session, args: &VerifyArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    if !session.json && stderr().is_terminal() {
        let task = task::view(&session.call, place.clone())?.task;
        output::note(&format!(
            "checking {} with its repository's verify.command …",
            task.label()
        ));
    }
    let (task, told) = verify::verify_now(&session.call, place, args.again)?;
    let label = task.label();
    let words = format!("{label}: {}", sentence(&told));
    if !told.result.passed() {
        let error = err!(Failed, "{words}{}", details(&told.result));
        return Err(match &told.result.log {
            Some(log) => error.hint(format!("all of its output is in {log}")),
            None => error,
        });
    }
    let result = TaskResult {
        verify: Some(&told),
        ..TaskResult::new(&task, &words)
    };
    session.finish(result, || format!("{}\n", clean(&words)))
}

/// `make test` passed at abc1234 (2 min), known from before.
pub(crate) fn sentence(told: &Verified) -> String {
    let cached = flag(told.result.cached, ", known from before");
    let minimal = flag(
        told.result.minimal_environment,
        ", in a minimal environment: nobody knows who started the task",
    );
    format!("{}{cached}{minimal}", told.words())
}

/// Which failures are new, and the last lines of the output.
fn details(result: &CheckResult) -> String {
    let mut text = String::new();
    for line in failures(result) {
        let _ = write!(text, "\n  {}", clean(&line));
    }
    for line in &result.tail {
        let _ = write!(text, "\n  {}", clean(line));
    }
    text
}

/// The lines of a failure, each with a word whether the base has it too.
pub(crate) fn failures(result: &CheckResult) -> Vec<String> {
    let Some(base) = &result.base else {
        return Vec::new();
    };
    let new = base.new.iter().map(|line| format!("new: {line}"));
    let known = base.known.iter();
    new.chain(known.map(|line| format!("on {} too: {line}", base.branch)))
        .collect()
}
