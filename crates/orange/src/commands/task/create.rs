//! `orange task create`.

use super::permissions::choose_once;
use super::{again, as_json, status, word};
use crate::commands::project::described;
use crate::error::{CommandError, Result};
use crate::output;
use crate::session::Session;
use crate::ui::{Palette, clean};
use clap::Args;
use orange_core::config::Permissions;
use orange_core::history::Event;
use orange_core::naming::{counted, is_sentence};
use orange_core::task::{Category, Priority, Queue, Status, Task, Weight, WorkflowName};
use orange_engine::engine::{AddProject, Created, NewTask, Origin, Start, StartOutcome};
use orange_engine::error::plain;
use orange_engine::{Code, git};
use serde_json::json;
use std::fmt::Write;
use std::io::Read;

/// Create a task
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange task create \"Add a login form\"            its branch is named after it
  orange task create add-login \"Add a login form\"  a branch of your own
  orange task create \"Fix the menu\" --priority high --category bug --tag ui
  orange task create \"Log out\" --blocked-by TASK-001 --context notes.md
  echo \"Only Chrome\" | orange task create \"Fix hover\" --context -
  orange task create their-branch \"Look at this\" --status agent-review
  orange task create --from TASK-001               once more, if it is over
  orange task create --from TASK-001 --with-work \"Finish the login form\"")]
pub(crate) struct CreateArgs {
    /// The branch; a single quoted sentence is the summary instead
    #[arg(value_name = "BRANCH")]
    branch: Option<String>,
    /// What is to be done, in one line
    #[arg(value_name = "SUMMARY")]
    summary: Vec<String>,
    /// The branch, whatever it looks like; then all words are the summary
    #[arg(long = "branch", value_name = "NAME")]
    named_branch: Option<String>,
    /// Start again from a task that is done or cancelled: its summary, context and settings, unless given here
    #[arg(long, value_name = "TASK")]
    from: Option<String>,
    /// Go on with the work of that task: its commits, and what was saved of what it had not committed
    #[arg(long, requires = "from", conflicts_with_all = ["base", "status"])]
    with_work: bool,
    /// The project; the one you are in unless given
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Requirements and constraints for the agent: a file, or - for standard input
    #[arg(long, value_name = "FILE")]
    context: Option<String>,
    /// Create it as agent-review or reviewing, for a branch that has work on it
    #[arg(long, value_parser = status)]
    status: Option<Status>,
    /// Which workflow it goes through; interactive unless given
    #[arg(long, value_parser = word::<WorkflowName>)]
    workflow: Option<WorkflowName>,
    /// Where the branch starts: a branch, tag or commit
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Where the work goes; the project's default branch unless given
    #[arg(long, value_name = "BRANCH")]
    target_branch: Option<String>,
    /// critical, high, normal or low
    #[arg(long, value_parser = word::<Priority>)]
    priority: Option<Priority>,
    /// active or backlog
    #[arg(long, value_parser = word::<Queue>)]
    queue: Option<Queue>,
    /// feature, bug, refactor, chore, docs or test
    #[arg(long, value_parser = word::<Category>)]
    category: Option<Category>,
    /// trivial, small, medium, large or greenfield
    #[arg(long, value_parser = word::<Weight>)]
    weight: Option<Weight>,
    /// A tag; may be given more than once
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A task that must be over first; may be given more than once
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    blocked_by: Vec<String>,
    /// A task that has to do with it; may be given more than once
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    related_to: Vec<String>,
    /// The task this one is a part of
    #[arg(long, value_name = "TASK")]
    parent: Option<String>,
    /// The agent CLI that works on it
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// The agent CLI that reviews it
    #[arg(long, value_name = "NAME")]
    review_harness: Option<String>,
    /// What its agents may do without asking: full, edits or ask
    #[arg(long, value_name = "MODE", value_parser = word::<Permissions>)]
    permissions: Option<Permissions>,
    /// How hard the worker should think, in the harness's own words
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// How hard the reviewer should think
    #[arg(long, value_name = "LEVEL")]
    review_effort: Option<String>,
    /// Leave it pending; `orange task spawn` or `orange run --ready` starts it
    #[arg(long)]
    no_spawn: bool,
    /// Whether it needs UI tests; detected from the words unless given
    #[arg(long, value_name = "BOOL")]
    ui_testing: Option<bool>,
}

pub(crate) fn run(session: &mut Session, args: CreateArgs) -> Result<()> {
    let context = args
        .context
        .as_deref()
        .map(|source| read(session, source))
        .transpose()?;
    let earlier = match &args.from {
        Some(id) => Some(again::earlier(session, id, args.project.as_deref())?),
        None => None,
    };
    let project = match &earlier {
        Some(earlier) => earlier.task.project.clone(),
        None => chosen_project(session, args.project.as_deref())?,
    };
    // A sentence without its quotes begins with a capital; hardly any branch does.
    if let (Some(first), true, None) = (&args.branch, args.summary.len() > 1, &args.named_branch)
        && first.chars().next().is_some_and(char::is_uppercase)
        && first.chars().all(char::is_alphabetic)
    {
        output::note(&format!(
            "{first:?} is taken as the branch; quote the whole sentence to make it the summary"
        ));
    }
    let (branch, summary) = match args.named_branch {
        Some(branch) => {
            let words: Vec<String> = args.branch.into_iter().chain(args.summary).collect();
            (Some(branch), words.join(" "))
        }
        None => branch_and_summary(args.branch, args.summary),
    };
    let mut new = NewTask {
        project,
        branch,
        summary,
        context,
        status: args.status,
        workflow: args.workflow,
        base: args.base,
        target_branch: args.target_branch,
        harness: args.harness,
        review_harness: args.review_harness,
        permissions: args.permissions,
        effort: args.effort,
        review_effort: args.review_effort,
        priority: args.priority,
        queue: args.queue,
        category: args.category,
        weight: args.weight,
        tags: args.tags,
        blocked_by: args.blocked_by,
        related_to: args.related_to,
        parent: args.parent,
        ui_testing: args.ui_testing,
        ..NewTask::default()
    };
    if let Some(earlier) = &earlier {
        new = session.engine.begin_again(new, earlier, args.with_work)?;
    }
    if !args.no_spawn && session.engine.config()?.agents.spawn_on_create {
        let harness = new.harness.as_deref();
        choose_once(session, &new.project, harness, new.permissions)?;
    }
    let created = session.engine.create(&new)?;
    let origin = new.origin.as_ref();
    let beginning = match args.no_spawn {
        true => Ok(None),
        false => begin(session, &created),
    };
    let (created, waits) = with_start(created, beginning.as_ref().ok().and_then(Option::as_ref));
    let spawned = session.engine.take_spawned();
    let verb = match created.acquired {
        Some(_) => "starts",
        None => "(not made yet)",
    };
    let start = started(&created.start, verb);
    // One JSON value: what went wrong is it then, and it names the task.
    if !session.json || (beginning.is_ok() && created.failed.is_empty()) {
        session.finish(
            || {
                let mut value = json!({
                    "task": as_json(&created.task),
                    "message": format!("created {}, {start}", created.task.label()),
                    "path": created.place.task_file(),
                    "queued": waits,
                    "agents": super::start::as_values(&spawned),
                });
                if let Some(origin) = origin {
                    value["from"] = again::as_json(origin);
                }
                value
            },
            || described_task(&created, origin, &start, waits.as_deref(), &spawned),
        );
    }
    beginning.map_err(|error| not_started(&created.task, error))?;
    super::update::failure(&created.task, &created.failed)
}

/// A new task starts at once, unless it is for later or the user said otherwise.
fn begin(session: &mut Session, created: &Created) -> Result<Option<StartOutcome>> {
    let task = &created.task;
    let at_once = session.engine.config()?.agents.spawn_on_create;
    if !at_once || task.status != Status::Pending || task.queue == Queue::Backlog {
        return Ok(None);
    }
    Ok(Some(session.engine.start(created.place.clone(), false)?))
}

/// The task as it is after its start; the second value is what it waits for.
fn with_start(mut created: Created, outcome: Option<&StartOutcome>) -> (Created, Option<String>) {
    match outcome {
        Some(StartOutcome::Started(changed)) => {
            created.task = changed.task.clone();
            created.acquired.clone_from(&changed.acquired);
            created.failed.clone_from(&changed.failed);
            (created, None)
        }
        Some(StartOutcome::Queued(task, why)) => {
            created.task = (**task).clone();
            (created, Some(why.clone()))
        }
        None => (created, None),
    }
}

/// The task is there; only its agent is not.
fn not_started(task: &Task, error: CommandError) -> CommandError {
    let CommandError(mut error) = error;
    let label = task.label();
    error.message = format!("{label} was created but not started: {}", error.message);
    let hint = error.hint.unwrap_or_else(|| "see to that".to_owned());
    error.hint = Some(format!("{hint}; then `orange task spawn {label}`"));
    CommandError(error)
}

/// A sentence alone is a summary; a word alone is a branch.
fn branch_and_summary(first: Option<String>, rest: Vec<String>) -> (Option<String>, String) {
    match first {
        Some(first) if is_sentence(&first) || first.is_empty() => {
            let mut words = vec![first];
            words.extend(rest);
            (None, words.join(" "))
        }
        first => (first, rest.join(" ")),
    }
}

fn read(session: &Session, source: &str) -> Result<String> {
    const LARGEST: u64 = 4 * 1024 * 1024;
    let mut bytes = Vec::new();
    let outcome = if source == "-" {
        std::io::stdin().take(LARGEST + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(session.folder.join(source))
            .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
    };
    let name = if source == "-" {
        "standard input"
    } else {
        source
    };
    if let Err(error) = outcome {
        return Err(CommandError::usage(
            format!("--context: cannot read {name}: {}", plain(&error)),
            "give a text file, or - for standard input",
        ));
    }
    if bytes.len() as u64 > LARGEST {
        return Err(CommandError::usage(
            format!("--context: {name} is larger than 4 MB"),
            "name the file in the context instead of including it",
        ));
    }
    String::from_utf8(bytes).map_err(|_| {
        CommandError::usage(
            format!("--context: {name} is not UTF-8 text"),
            "convert it first, for instance with iconv",
        )
    })
}

/// The project we are in; an unregistered repository is registered, and told.
fn chosen_project(session: &mut Session, named: Option<&str>) -> Result<String> {
    if let Some(project) = session.project(named)? {
        return Ok(project);
    }
    if git::repository_of(&session.folder)?.is_none() {
        return Err(CommandError(
            orange_engine::Error::new(Code::NotFound, "this folder is in no git repository")
                .hint("go into a repository, or name a registered one with --project"),
        ));
    }
    let added = session.engine.add_project(&AddProject {
        path: session.folder.clone(),
        ..AddProject::default()
    })?;
    output::note(described(&added.project, "registered").trim_end());
    Ok(added.project.name)
}

/// Where a branch starts; `verb` says whether it is there yet.
pub(crate) fn started(start: &Start, verb: &str) -> String {
    let at = match &start.commit {
        Some(commit) => format!("{}@{}", start.reference, git::short(commit)),
        None => format!("{} (no commits yet)", start.reference),
    };
    if start.existing {
        return format!("on the existing branch {at}");
    }
    let mut text = format!("{verb} from {at}");
    if start.fetched {
        text.push_str(", fetched now");
    }
    if start.local_ahead > 0 {
        let local = start.reference.trim_start_matches("origin/");
        let _ = write!(
            text,
            "; your local {local} has {} that {} not in it",
            counted(start.local_ahead as usize, "commit"),
            if start.local_ahead == 1 { "is" } else { "are" }
        );
    }
    text
}

fn described_task(
    created: &Created,
    origin: Option<&Origin>,
    start: &str,
    waits: Option<&str>,
    spawned: &[Event],
) -> String {
    let palette = Palette::stdout();
    let task = &created.task;
    let summary = match task.summary.as_str() {
        "" => "(no summary yet)".into(),
        summary => clean(summary),
    };
    let mut text = format!("created {} {summary}\n", palette.bold(&task.label()));
    let _ = writeln!(text, "  branch   {} {start}", clean(&task.branch));
    if let Some(acquired) = &created.acquired {
        let folder = acquired.folder.display();
        let _ = writeln!(text, "  slot     {} {folder}", acquired.lease.slot);
    }
    for line in origin.map(again::line).into_iter().chain(extras(task)) {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(text, "  file     {}", created.place.task_file().display());
    if let Some(why) = waits {
        let _ = writeln!(text, "  queued   {}", clean(why));
    }
    if !spawned.is_empty() {
        text.push_str(&super::start::lines(task, spawned));
    } else if !task.blocked_by.is_empty() || waits.is_some() {
        let _ = writeln!(text, "next: orange task why {}", task.label());
    } else if task.status == Status::Pending {
        let _ = writeln!(text, "next: orange task spawn {}", task.label());
    } else {
        let _ = writeln!(text, "next: orange task why {}", task.label());
    }
    text
}

fn extras(task: &Task) -> Vec<String> {
    let mut lines = Vec::new();
    if !task.blocked_by.is_empty() {
        lines.push(format!("waits    for {}", task.blocked_by.join(", ")));
    }
    if task.requires_ui_testing {
        lines.push("testing  UI tests, from its words (--ui-testing false to change)".into());
    }
    lines
}
