//! `orange task resolve`: work that landed another way. Says what git sees of it, and asks where git sees nothing.

use super::update::{finish, moved};
use crate::completion::{Wanted, tasks};
use crate::question::confirm;
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::naming::counted;
use orange_engine::Result;
use orange_engine::git::contained::Landed;
use orange_engine::git::short;
use orange_engine::verbs::resolve;
use orange_engine::views::results::BranchLanding;

/// End a task whose work is in another way: squashed, picked, done by hand, not needed any more (→ done)
#[derive(Debug, Args)]
#[command(
    after_help = "For work that was squashed, picked or merged elsewhere, done by hand, or is not needed any more. The branch stays, and what is not committed is saved.\n\nExamples:\n  orange resolve TASK-001 --message \"squashed into main\"\n  orange resolve TASK-001 --message \"not needed any more\" --yes"
)]
pub(crate) struct ResolveArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// How the work got in
    #[arg(long, value_name = "TEXT")]
    message: String,
    /// Do not ask, although git does not see the work in the target
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(session: &Session, args: &ResolveArgs) -> Result<()> {
    resolve::resolution(&session.call, &args.message)?;
    let place = session.task(args.id.as_deref())?;
    let landing = resolve::landing(&session.call, place.clone())?;
    // What cannot be resolved is refused below, without a question.
    if landing.under_way && !landing.is_seen() {
        confirm(session, args.yes, &question(&landing))?;
    }
    let changed = resolve::resolve(&session.call, place, &args.message, &landing)?;
    let message = format!("{}; {}", moved(&changed), found(&landing));
    finish(session, &changed, &message, Some(&landing))
}

fn question(landing: &BranchLanding) -> String {
    let saved = match landing.uncommitted {
        0 => String::new(),
        count => format!("; {} is saved", not_committed(count)),
    };
    format!("{}{saved}. The branch stays. Done anyway?", found(landing))
}

/// What git sees of the work.
fn found(landing: &BranchLanding) -> String {
    let branch = clean(&landing.branch);
    let target = clean(&landing.target);
    if let Some(beside) = &landing.beside {
        return clean(beside).into_owned();
    }
    if landing.without_work {
        return "it has no commits of its own".to_owned();
    }
    match (&landing.landed, &landing.head) {
        (Some(Landed::Head), Some(head)) => format!("{} is in {target}", short(head)),
        (Some(Landed::Head), None) => format!("its head is in {target}"),
        (Some(Landed::Change(Some(commit))), _) => {
            format!("its change is in {target}, as {}", short(commit))
        }
        (Some(Landed::Change(None)), _) => format!("its change is in {target}"),
        (Some(Landed::No { commits }), _) => {
            let (count, verb) = match commits {
                1 => ("1 commit".to_owned(), "is"),
                count => (format!("{count} commits"), "are"),
            };
            format!("{count} of {branch} {verb} not in {target}")
        }
        (None, Some(_)) => format!("there is no {target} that it could be in"),
        (None, None) => format!("there is no branch {branch} to look for in {target}"),
    }
}

fn not_committed(count: usize) -> String {
    format!("what is not committed ({})", counted(count, "path"))
}
