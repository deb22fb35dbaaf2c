//! `orange task …`: one file per verb.

pub(crate) mod answer;
mod approve;
mod attach;
mod cancel;
mod complete;
pub(crate) mod create;
mod create_from;
mod delete;
pub(crate) mod deps;
pub(crate) mod diff;
mod dry_run;
mod edited;
mod exec;
pub(crate) mod fields;
pub(crate) mod list;
pub(crate) mod merge;
mod open;
mod path;
mod pause;
pub(crate) mod peek;
mod permissions;
pub(crate) mod plan;
mod reject;
mod request_changes;
pub(crate) mod rescue;
pub(crate) mod resolve;
mod respawn;
mod restore;
mod resume;
mod retry;
mod retry_hooks;
mod rewind;
pub(crate) mod run;
mod send;
mod several;
mod shell;
pub(crate) mod show;
mod skip;
pub(crate) mod spawn;
pub(crate) mod spec;
mod stuck;
pub(crate) mod test_results;
pub(crate) mod transcript;
pub(crate) mod update;
pub(crate) mod verify;
pub(crate) mod wait;
pub(crate) mod why;

use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::task_name;
use clap::Subcommand;
use orange_core::suggest::meant;
use orange_core::task::{Status, Task};
use orange_core::workflow::{StatusInfo, Tone, Workflow};
use orange_engine::Result;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum TaskCommand {
    Create(create::CreateArgs),
    List(list::TaskListArgs),
    Show(show::TaskShowArgs),
    Spawn(spawn::SpawnArgs),
    Attach(attach::AttachArgs),
    Peek(peek::PeekArgs),
    Send(send::SendArgs),
    Answer(answer::AnswerArgs),
    Run(run::RunArgs),
    Pause(pause::PauseArgs),
    Resume(resume::ResumeArgs),
    Retry(retry::RetryArgs),
    Skip(skip::SkipArgs),
    Rewind(rewind::RewindArgs),
    Approve(approve::ApproveArgs),
    Reject(reject::RejectArgs),
    /// Look at the plan of a phased task and change it
    #[command(
        subcommand,
        after_help = "Examples:\n  orange plan show TASK-001\n  orange plan edit TASK-001\n  orange plan reset TASK-001"
    )]
    Plan(plan::PlanCommand),
    /// Look at the specification of a phased task, or give it one
    #[command(
        subcommand,
        after_help = "Examples:\n  orange spec show TASK-001\n  orange spec edit TASK-001\n  orange spec set TASK-001 spec.md"
    )]
    Spec(spec::SpecCommand),
    Transcript(transcript::TranscriptArgs),
    /// Look at what the tests of a task came to, and take in the report of a test run
    #[command(
        subcommand,
        after_help = "Examples:\n  orange test-results show TASK-001\n  orange test-results import TASK-001 report.json"
    )]
    TestResults(test_results::TestResultsCommand),
    Respawn(respawn::RespawnArgs),
    RequestChanges(request_changes::RequestChangesArgs),
    Merge(merge::MergeArgs),
    Wait(wait::WaitArgs),
    Update(update::TaskUpdateArgs),
    Complete(complete::CompleteArgs),
    Stuck(stuck::StuckArgs),
    RetryHooks(retry_hooks::RetryHooksArgs),
    Resolve(resolve::ResolveArgs),
    Why(why::WhyArgs),
    Deps(deps::DepsArgs),
    Diff(diff::DiffArgs),
    Path(path::PathArgs),
    Open(open::OpenArgs),
    Shell(shell::ShellArgs),
    Exec(exec::ExecArgs),
    Cancel(cancel::CancelArgs),
    Delete(delete::DeleteArgs),
    Restore(restore::RestoreArgs),
    Verify(verify::VerifyArgs),
    /// Look at work that was saved before something could destroy it, and bring it back
    #[command(
        subcommand,
        after_help = "Examples:\n  orange rescue list TASK-001\n  orange rescue show TASK-001\n  orange rescue restore TASK-001 latest --to-branch rescued/login"
    )]
    Rescue(rescue::RescueCommand),
}

pub(crate) fn only_reads(command: &TaskCommand) -> bool {
    matches!(
        command,
        TaskCommand::List(_)
            | TaskCommand::Show(_)
            | TaskCommand::Peek(_)
            | TaskCommand::Wait(_)
            | TaskCommand::Why(_)
            | TaskCommand::Deps(_)
            | TaskCommand::Diff(_)
            | TaskCommand::Path(_)
            | TaskCommand::Transcript(_)
            | TaskCommand::Plan(plan::PlanCommand::Show(_))
            | TaskCommand::Spec(spec::SpecCommand::Show(_))
            | TaskCommand::TestResults(test_results::TestResultsCommand::Show(_))
            | TaskCommand::Rescue(
                rescue::RescueCommand::List { .. } | rescue::RescueCommand::Show(_)
            )
    )
}

pub(crate) fn run(session: &Session, command: TaskCommand) -> Result<()> {
    match command {
        TaskCommand::Create(args) => create::run(session, args),
        TaskCommand::List(args) => list::run(session, &args),
        TaskCommand::Show(args) => show::run(session, &args),
        TaskCommand::Spawn(args) => spawn::run(session, &args),
        TaskCommand::Attach(args) => attach::run(session, &args),
        TaskCommand::Peek(args) => peek::run(session, &args),
        TaskCommand::Send(args) => send::run(session, &args),
        TaskCommand::Answer(args) => answer::run(session, &args),
        TaskCommand::Run(args) => run::run(session, &args),
        TaskCommand::Pause(args) => pause::run(session, &args),
        TaskCommand::Resume(args) => resume::run(session, &args),
        TaskCommand::Retry(args) => retry::run(session, &args),
        TaskCommand::Skip(args) => skip::run(session, &args),
        TaskCommand::Rewind(args) => rewind::run(session, &args),
        TaskCommand::Approve(args) => approve::run(session, &args),
        TaskCommand::Reject(args) => reject::run(session, &args),
        TaskCommand::Plan(command) => plan::run(session, &command),
        TaskCommand::Spec(command) => spec::run(session, &command),
        TaskCommand::Transcript(args) => transcript::run(session, &args),
        TaskCommand::TestResults(command) => test_results::run(session, &command),
        TaskCommand::Respawn(args) => respawn::run(session, &args),
        TaskCommand::RequestChanges(args) => request_changes::run(session, &args),
        TaskCommand::Merge(args) => merge::run(session, &args),
        TaskCommand::Wait(args) => wait::run(session, &args),
        TaskCommand::Update(args) => update::run(session, args),
        TaskCommand::Complete(args) => complete::run(session, &args),
        TaskCommand::Stuck(args) => stuck::run(session, &args),
        TaskCommand::RetryHooks(args) => retry_hooks::run(session, &args),
        TaskCommand::Resolve(args) => resolve::run(session, &args),
        TaskCommand::Why(args) => why::run(session, &args),
        TaskCommand::Deps(args) => deps::run(session, &args),
        TaskCommand::Diff(args) => diff::run(session, &args),
        TaskCommand::Path(args) => path::run(session, &args),
        TaskCommand::Open(args) => open::run(session, &args),
        TaskCommand::Shell(args) => shell::run(session, &args),
        TaskCommand::Exec(args) => exec::run(session, &args),
        TaskCommand::Cancel(args) => cancel::run(session, &args),
        TaskCommand::Delete(args) => delete::run(session, &args),
        TaskCommand::Restore(args) => restore::run(session, &args),
        TaskCommand::Verify(args) => verify::run(session, &args),
        TaskCommand::Rescue(command) => rescue::run(session, &command),
    }
}

/// A task by its key and its summary, if it has one.
pub(crate) fn titled(task: &Task) -> String {
    match task.summary.as_str() {
        "" => task_name(&task.name()),
        summary => format!("{} \"{}\"", task_name(&task.name()), clean(summary)),
    }
}

/// For clap: a word of a closed set, with the allowed ones in the message.
pub(crate) fn word<T: std::str::FromStr<Err = orange_core::choice::NotAllowed>>(
    text: &str,
) -> std::result::Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// For clap: a status that a task can be in today.
pub(crate) fn status(text: &str) -> std::result::Result<Status, String> {
    match text.parse() {
        Ok(status) if Workflow::is_in_use(status) => Ok(status),
        Ok(_) | Err(_) => {
            let statuses = Workflow::statuses_in_use().into_iter();
            let words: Vec<&str> = statuses.map(|info| info.status.as_str()).collect();
            let allowed = words.join(", ");
            Err(format!(
                "{text:?} is not a status; {}allowed: {allowed}",
                meant(text, words)
            ))
        }
    }
}

pub(crate) fn style(status: Status) -> crate::ui::Style {
    style_of(status.info())
}

/// The same where it is known why a task is blocked.
pub(crate) fn style_of(info: &StatusInfo) -> crate::ui::Style {
    use crate::ui::Style;
    match info.tone {
        Tone::Plain => Style::Plain,
        Tone::Progress => Style::Cyan,
        Tone::Work => Style::Blue,
        Tone::Question => Style::Magenta,
        Tone::Decision => Style::Yellow,
        Tone::Trouble => Style::Red,
        Tone::Success => Style::Green,
        Tone::Faded => Style::Dim,
    }
}
