//! `orange status`: one line for a shell prompt or the tmux status line. It is run again and again, so it opens no
//! session: nothing is recovered, no program is started, and trouble is no reason to write into a prompt.

mod format;

use crate::error::{CommandError, Result};
use crate::output;
use crate::session::home;
use clap::Args;
use format::Format;
use orange_core::task::{Status, WorkflowName};
use orange_core::workflow::{Kind, WaitsFor, Workflow};
use orange_engine::index::counts::{DAMAGED, QUEUED};
use orange_engine::views::Standing;
use orange_engine::{Code, Engine, Settings};
use serde_json::{Map, Value, json};

/// Tell in one line how things stand, for a shell prompt or tmux
#[derive(Debug, Args)]
#[command(after_help = "\
Of all projects unless one is named. Prints nothing where there is nothing to tell: no task needs you, is under way or \
queued, or there is no home. It looks at no TASK.md, so that it is fast: one that was added or edited by hand counts once another command, such as \
`orange ls`, has seen it.

Placeholders of --format, each a number:
  {needs_me}   tasks that wait for you: stuck, clarification, reviewing,
               damaged, or with something to look at
  {open}       all that are not over
  {agents}     agents that are running
  {queued}     pending tasks that start as soon as they can
  {pending} {planning} {clarification} {working} {agent_review} {reviewing}
  {stuck} {delegated} {done} {cancelled} {damaged}

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
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

pub(crate) fn run(args: &StatusArgs, json: bool) -> Result<()> {
    let format = Format::parse(args.format.as_deref().unwrap_or("{line}"))
        .map_err(|problem| CommandError::usage(problem.message, problem.hint))?;
    let standing = match standing(args.project.as_deref()) {
        Ok(standing) => standing,
        // A name that is wrong stays wrong; everything else is said by the next command that is not a prompt.
        Err(error) if json || error.0.code == Code::NotFound => return Err(error),
        Err(_) => return Ok(()),
    };
    let numbers = Numbers::of(&standing);
    if json {
        output::print_json(&json!({"status": numbers.as_json()}));
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
    let engine = Engine::new(Settings::at(home));
    let standing = engine.standing(project)?;
    if let Some(project) = project
        && exists
        && standing.counts.kinds.is_empty()
    {
        engine.knows_project(project)?;
    }
    Ok(standing)
}

/// What placeholders stand for.
struct Numbers {
    named: Vec<(String, usize)>,
    line: String,
}

/// What a task can count as, with the name of its placeholder. What has not been started can be queued as well.
fn kinds() -> impl Iterator<Item = (String, &'static str)> {
    let workflow = Workflow::named(WorkflowName::Interactive);
    let kinds = workflow.statuses.iter().flat_map(|info| {
        let queued = (info.kind == Kind::Waiting).then_some(QUEUED);
        std::iter::once(info.status.as_str()).chain(queued)
    });
    let named = |kind: &'static str| (kind.replace('-', "_"), kind);
    kinds.chain([DAMAGED]).map(named)
}

/// Of which the line tells, besides those that need a person.
fn told() -> impl Iterator<Item = &'static str> {
    let workflow = Workflow::named(WorkflowName::Interactive);
    let statuses = workflow
        .statuses
        .iter()
        .filter(|info| info.kind == Kind::Active && info.waits_for != WaitsFor::Person);
    let words = statuses.map(|info| info.status.as_str());
    words.chain([QUEUED])
}

impl Numbers {
    fn of(standing: &Standing) -> Numbers {
        let kinds = &standing.counts.kinds;
        let count = |kind: &str| kinds.get(kind).copied().unwrap_or_default();
        let needs_me: usize = kinds.values().map(|count| count.need_me).sum();
        let is = |kind: &str, wanted: fn(Status) -> bool| kind.parse().is_ok_and(wanted);
        let open = kinds
            .iter()
            .filter(|(kind, _)| !is(kind, Status::is_terminal));
        let mut named = vec![
            ("needs_me".to_owned(), needs_me),
            ("open".to_owned(), open.map(|(_, count)| count.tasks).sum()),
            ("agents".to_owned(), standing.agents),
        ];
        named.extend(self::kinds().map(|(name, kind)| {
            let queued = match is(kind, Status::has_started) || kind.parse::<Status>().is_err() {
                true => 0,
                false => count(QUEUED).tasks,
            };
            (name, count(kind).tasks + queued)
        }));
        let mut parts = Vec::new();
        match needs_me {
            0 => {}
            1 => parts.push("1 needs you".to_owned()),
            many => parts.push(format!("{many} need you")),
        }
        for kind in told() {
            let count = count(kind);
            let others = count.tasks.saturating_sub(count.need_me);
            if others > 0 {
                parts.push(format!("{others} {kind}"));
            }
        }
        Numbers {
            named,
            line: parts.join(" · "),
        }
    }

    fn as_json(&self) -> Value {
        let numbers = self.named.iter();
        let numbers = numbers.map(|(name, number)| (name.clone(), json!(number)));
        let mut all: Map<String, Value> = numbers.collect();
        all.insert("line".into(), json!(self.line));
        Value::Object(all)
    }
}
