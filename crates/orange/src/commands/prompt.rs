//! `orange prompt …`: what agents are told, and where each text comes from.

use super::task::word;
use crate::completion::{Wanted, projects, prompts, tasks};
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::{Cell, Column, Extent, Style, Table, clean_block};
use clap::{Args, Subcommand};
use orange_core::prompt::PromptName;
use orange_engine::git::short;
use orange_engine::prompt::{self, PromptOrigin, PromptSource, PromptText, Prompts};
use orange_engine::views::prompts;
use orange_engine::{Result, err};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PromptCommand {
    /// List the prompts: when each is used, and whether the repository has its own
    #[command(
        after_help = "A repository's own prompt is `.orange/prompts/<name>.md`, committed where new work starts from.\n\nExamples:\n  orange prompt list\n  orange prompt list --project shop --json"
    )]
    List {
        /// The project (default: the one you are in)
        #[arg(long, value_name = "NAME", add = projects())]
        project: Option<String>,
    },
    /// Show a prompt: its text, or what an agent of a task would get
    #[command(
        after_help = "Examples:\n  orange prompt show worker                      the text with its variables\n  orange prompt show reviewer --task TASK-001    what its reviewer would get\n  mkdir -p .orange/prompts\n  orange prompt show worker > .orange/prompts/worker.md"
    )]
    Show(PromptShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PromptShowArgs {
    /// Which prompt; `orange prompt list` shows them
    #[arg(value_parser = word::<PromptName>, add = prompts())]
    name: PromptName,
    /// Fill it in for this task
    #[arg(long, value_name = "ID", add = tasks(Wanted::Open))]
    task: Option<String>,
    /// The text before it is filled in, as without --task
    #[arg(long)]
    template: bool,
    /// The project (default: the one you are in)
    #[arg(long, value_name = "NAME", conflicts_with = "task", add = projects())]
    project: Option<String>,
}

pub(crate) fn run(session: &Session, command: &PromptCommand) -> Result<()> {
    match command {
        PromptCommand::List { project } => list(session, project.as_deref()),
        PromptCommand::Show(args) => show(session, args),
    }
}

fn list(session: &Session, project: Option<&str>) -> Result<()> {
    let prompts = prompts_of(session, project)?;
    session.finish(&prompts, || list_as_text(&prompts))?;
    for source in &prompts.sources {
        if let Some(unusable) = &source.unusable {
            output::note(&format!("{unusable}; Orange's own prompt is used instead"));
        }
    }
    for path in &prompts.unknown {
        output::note(&format!(
            "{path} has the name of no prompt; there are {}",
            PromptName::WORDS.join(", ")
        ));
    }
    Ok(())
}

fn prompts_of(session: &Session, named: Option<&str>) -> Result<Prompts> {
    let project = match named {
        Some(name) => Some(session.required_project(Some(name))?),
        None => session.project(None)?,
    };
    prompts::prompts(&session.call, project.as_deref())
}

fn show(session: &Session, args: &PromptShowArgs) -> Result<()> {
    let name = args.name;
    let Some(id) = &args.task else {
        let prompts = prompts_of(session, args.project.as_deref())?;
        let found = prompts
            .sources
            .into_iter()
            .find(|source| source.name == name);
        let source = found.ok_or_else(|| err!(Usage, "no prompt {name}").hint(""))?;
        return show_template(session, &source, None);
    };
    let view = session.view(Some(id))?;
    let source = prompt::prompt_source(&session.call, &view.task, name)?;
    let label = view.task.label();
    if args.template {
        return show_template(session, &source, Some(&label));
    }
    let text = prompts::prompt_preview(&session.call, &view, name)?;
    print(session, &source, Some(&label), &text)
}

/// Whoever looks at a text that cannot be used is told why instead of being shown another one.
fn show_template(session: &Session, source: &PromptSource, task: Option<&str>) -> Result<()> {
    if let Some(unusable) = &source.unusable {
        let remedy = "correct it and commit that on the branch tasks start from; until then agents get \
                      Orange's own prompt";
        return Err(err!(ConditionUnmet, "{unusable}").hint(remedy));
    }
    print(session, source, task, &source.text)
}

fn print(session: &Session, source: &PromptSource, task: Option<&str>, text: &str) -> Result<()> {
    let shown = PromptText { source, task, text };
    session.finish_as_it_is(named("prompt", shown), || {
        let text = text.trim_end_matches('\n');
        match Extent::stdout() {
            // A program may read it: exactly what an agent gets.
            Extent::Unlimited => format!("{text}\n"),
            Extent::Columns(_) => format!("{}\n", clean_block(text)),
        }
    })
}

const COLUMNS: &[Column] = &[
    Column::new("NAME"),
    Column::new("FROM").min(12).priority(60),
    Column::new("WHEN").flexible(),
];

fn list_as_text(prompts: &Prompts) -> String {
    let mut table = Table::new(COLUMNS);
    for source in &prompts.sources {
        let from = match (&source.origin, &source.unusable) {
            (PromptOrigin::File { commit, path }, _) => {
                Cell::from(format!("{path}@{}", short(commit)))
            }
            (PromptOrigin::BuiltIn, Some(_)) => {
                Cell::new("built-in, own is unusable", Style::Yellow)
            }
            (PromptOrigin::BuiltIn, None) => Cell::new("built-in", Style::Dim),
        };
        table.row([
            Cell::from(source.name.as_str()),
            from,
            Cell::from(source.name.when()),
        ]);
    }
    table.to_text()
}
