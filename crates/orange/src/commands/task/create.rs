//! `orange task create`.

mod naming;

use super::fields::{FieldArgs, given};
use super::permissions::choose_once;
use super::{create_from, status, word};
use crate::commands::project::registered;
use crate::completion::{Wanted, branches, files, projects, statuses, tasks, words};
use crate::input;
use crate::output;
use crate::session::Session;
use crate::ui::{Palette, clean};
use clap::Args;
use naming::Words;
use orange_core::history::Event;
use orange_core::naming::counted;
use orange_core::task::{Queue, Status, Task, WorkflowName};
use orange_core::{Action, text};
use orange_engine::rules::Start;
use orange_engine::verbs::create::{self, Created, NewTask};
use orange_engine::verbs::project::{self, AddProject};
use orange_engine::verbs::start::{self, StartOutcome};
use orange_engine::views::TaskResult;
use orange_engine::views::results::Origin;
use orange_engine::workspaces::{Acquired, base};
use orange_engine::{Error, Result, err, git, settings, verbs};
use std::fmt::Write;
use std::path::Path;

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
    #[command(flatten)]
    words: Words,
    /// Start again from a task that is done or cancelled: its summary, context and settings, where you give no others
    #[arg(long, value_name = "TASK", add = tasks(Wanted::Over))]
    from: Option<String>,
    /// Go on with the work of that task: its commits, and what was saved of what it had not committed
    #[arg(long, requires = "from", conflicts_with_all = ["base", "status"])]
    with_work: bool,
    /// The project (default: the one you are in)
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
    /// Requirements and constraints for the agent: a file, or - for standard input
    #[arg(long, value_name = "FILE", add = files())]
    context: Option<String>,
    /// Create it as agent-review or reviewing, for a branch that has work on it
    #[arg(long, value_parser = status, add = statuses())]
    status: Option<Status>,
    /// Which workflow it goes through (default: interactive)
    #[arg(long, value_parser = word::<WorkflowName>, add = words(WorkflowName::WORDS))]
    workflow: Option<WorkflowName>,
    /// Where the branch starts: a branch, tag or commit
    #[arg(long, value_name = "REF", add = branches())]
    base: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
    /// A tag; may be given more than once
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A task that must be over first; may be given more than once
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = tasks(Wanted::Open))]
    blocked_by: Vec<String>,
    /// A task that has to do with it; may be given more than once
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = tasks(Wanted::Open))]
    related_to: Vec<String>,
    /// The task this one is a part of
    #[arg(long, value_name = "TASK", add = tasks(Wanted::Open))]
    parent: Option<String>,
    /// Leave it pending; `orange task spawn` or `orange run --ready` starts it
    #[arg(long)]
    no_spawn: bool,
}

pub(crate) fn run(session: &Session, args: CreateArgs) -> Result<()> {
    let words = args.words;
    let context = args.context.as_deref().map(read).transpose()?;
    let has_context = context.as_ref().is_some_and(|text| !text.trim().is_empty());
    if words.say_nothing() && !has_context && args.from.is_none() {
        return Err(err!(Usage, "no summary given")
            .hint("describe the task in one line: `orange new \"Add a login form\"`"));
    }
    let named = args.project.as_deref();
    let earlier = args.from.as_deref();
    let earlier = earlier
        .map(|id| create_from::earlier(session, id, named))
        .transpose()?;
    let project = match &earlier {
        Some(earlier) => earlier.task.project.clone(),
        None => chosen_project(session, named)?,
    };
    // A sentence without its quotes begins with a capital; hardly any branch does.
    if let (Some(first), true, None) = (&words.first, words.rest.len() > 1, &words.branch)
        && first.chars().next().is_some_and(char::is_uppercase)
        && first.chars().all(char::is_alphabetic)
    {
        output::note(&format!(
            "{first:?} is taken as the branch; quote the whole sentence to make it the summary"
        ));
    }
    let naming = words.meaning(|word| create::has_branch(&session.call, &project, word))?;
    let lasting =
        |base: String| base::lasting_base(&session.call, &project, &session.folder, &base);
    let base = args.base.map(lasting).transpose()?;
    let fields = args.fields;
    let mut new = NewTask {
        project,
        branch: naming.branch.clone(),
        summary: naming.summary.clone(),
        context,
        status: args.status,
        workflow: args.workflow,
        base,
        target_branch: fields.target_branch,
        harness: fields.harness,
        review_harness: fields.review_harness,
        permissions: given(fields.permissions),
        model: fields.model,
        review_model: fields.review_model,
        effort: fields.effort,
        review_effort: fields.review_effort,
        priority: given(fields.priority),
        queue: given(fields.queue),
        category: given(fields.category),
        weight: given(fields.weight),
        tags: args.tags,
        blocked_by: args.blocked_by,
        related_to: args.related_to,
        parent: args.parent,
        ui_testing: fields.ui_testing,
        ..NewTask::default()
    };
    if let Some(earlier) = &earlier {
        new = verbs::create_from::create_from(&session.call, new, earlier, args.with_work)?;
    }
    new.starts = !args.no_spawn && settings::config(&session.call)?.agents.spawn_on_create;
    if new.starts {
        let harness = new.harness.as_deref();
        choose_once(session, &new.project, harness, new.permissions)?;
    }
    let created = create::create(&session.call, &new)?;
    let origin = new.origin.as_ref();
    let beginning = if new.starts {
        begin(session, &created, new.status.is_some())
    } else {
        Ok(None)
    };
    let (mut created, waits, others) = with_start(created, beginning.as_ref().ok());
    let spawned = std::mem::take(&mut created.done.spawned);
    let verb = match created.done.acquired {
        Some(_) => "starts",
        None if created.done.task.status.has_started() => "starts",
        None => "(not made yet)",
    };
    let start = started(&created.start, verb);
    // One JSON value: what went wrong is it then, and it names the task.
    let is_fine = beginning.is_ok() && created.done.failed.is_empty();
    if !session.json || is_fine {
        let message = format!("created {}, {start}", created.done.task.label());
        let result = TaskResult {
            path: Some(created.done.place.task_file()),
            queued: Some(waits.as_deref()),
            agents: Some(&spawned),
            started: &others,
            from: origin,
            ..TaskResult::new(&created.done.task, &message)
        };
        session.finish(result, || {
            let mut text = described_task(&created, origin, &start, waits.as_deref(), &spawned);
            for other in &others {
                let _ = writeln!(text, "{}", super::start::after_waiting(other));
            }
            if is_fine {
                text.push_str(&next(&created.done.task, &spawned));
            }
            text
        })?;
        let is_new = !created.start.existing && earlier.is_none();
        if let Some(note) = naming.taken_for(&created.done.task, is_new) {
            output::note(&note);
        }
    }
    beginning.map_err(|error| not_started(&created.done.task, error))?;
    super::update::failure(&created.done.task, &created.done.failed)
}

/// What became of its start, and of those that had been waiting.
type Beginning = Option<(StartOutcome, Vec<Task>)>;

/// A new task starts at once, unless it is for later.
fn begin(session: &Session, created: &Created, has_status: bool) -> Result<Beginning> {
    let task = &created.done.task;
    if task.status.has_started() && !has_status {
        return Ok(StartOutcome::by_another(task).map(|outcome| (outcome, Vec::new())));
    }
    if task.status.has_started() || task.queue == Queue::Backlog {
        return Ok(None);
    }
    Ok(Some(start::start_in_turn(
        &session.call,
        created.done.place.clone(),
    )?))
}

/// The task as it is after its start; then what it waits for, and who started before it.
fn with_start(
    mut created: Created,
    beginning: Option<&Beginning>,
) -> (Created, Option<String>, Vec<Task>) {
    let Some((outcome, others)) = beginning.and_then(Option::as_ref) else {
        return (created, None, Vec::new());
    };
    match outcome {
        StartOutcome::Started(changed) => {
            created.done.task = changed.done.task.clone();
            created.done.acquired.clone_from(&changed.done.acquired);
            created.done.failed.clone_from(&changed.done.failed);
            created.done.spawned.clone_from(&changed.done.spawned);
            (created, None, others.clone())
        }
        StartOutcome::Queued(task, why) => {
            created.done.task = (**task).clone();
            (created, Some(why.clone()), others.clone())
        }
    }
}

/// The task is there; only its agent is not.
fn not_started(task: &Task, mut error: Error) -> Error {
    let label = task.label();
    error.message = format!("{label} was created but not started: {}", error.message);
    let hint = error.hint.take().unwrap_or_else(|| "see to that".into());
    error.hint(text!(
        "{}; then {}",
        hint,
        Action::spawn(task.name(), false)
    ))
}

fn read(source: &str) -> Result<String> {
    input::text(Path::new(source), 4).map_err(|mut error| {
        error.message = format!("--context: {}", error.message);
        error
    })
}

/// The project we are in; an unregistered repository is registered, and told.
fn chosen_project(session: &Session, named: Option<&str>) -> Result<String> {
    if let Some(project) = session.known_project(named)? {
        return Ok(project);
    }
    if git::repository_of(&session.folder)?.is_none() {
        return Err(err!(NotFound, "this folder is in no git repository")
            .hint("go into a repository, or name a registered one with --project"));
    }
    let added = project::add_project(
        &session.call,
        &AddProject {
            path: session.folder.clone(),
            ..AddProject::default()
        },
    )?;
    output::note(
        &registered(&added.project, None)
            .trim_end()
            .replace('\n', "; "),
    );
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

pub(super) fn branch(task: &Task, start: &str) -> String {
    format!("  branch   {} {start}\n", clean(&task.branch))
}

pub(super) fn slot(acquired: &Acquired) -> String {
    let folder = acquired.folder.display().to_string();
    format!("  slot     {} {}\n", acquired.lease.slot, clean(&folder))
}

fn described_task(
    created: &Created,
    origin: Option<&Origin>,
    start: &str,
    waits: Option<&str>,
    spawned: &[Event],
) -> String {
    let palette = Palette::stdout();
    let task = &created.done.task;
    let summary = match task.summary.as_str() {
        "" => "(no summary yet)".into(),
        summary => clean(summary),
    };
    let mut text = format!("created {} {summary}\n", palette.bold(&task.label()));
    text.push_str(&branch(task, start));
    if let Some(acquired) = &created.done.acquired {
        text.push_str(&slot(acquired));
    }
    for line in origin
        .map(create_from::line)
        .into_iter()
        .chain(extras(task))
    {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(
        text,
        "  file     {}",
        created.done.place.task_file().display()
    );
    if let Some(why) = waits {
        let word = if task.status.has_started() {
            "started"
        } else {
            "queued "
        };
        let _ = writeln!(text, "  {word}  {}", clean(why));
    }
    text.push_str(&super::start::agents(spawned));
    text
}

fn next(task: &Task, spawned: &[Event]) -> String {
    let waits = !task.blocked_by.is_empty() || task.queued_at.is_some();
    let verb = if !spawned.is_empty() {
        "attach"
    } else if !task.status.has_started() && !waits {
        "spawn"
    } else {
        "why"
    };
    format!("next: orange task {verb} {}\n", task.label())
}

fn extras(task: &Task) -> Vec<String> {
    let mut lines = Vec::new();
    if !task.blocked_by.is_empty() {
        lines.push(format!("waits    for {}", task.blocked_by.join(", ")));
    }
    if task.requires_ui_testing {
        lines.push(format!(
            "testing  UI, by its words; else orange task update {} --ui-testing false",
            task.label()
        ));
    }
    lines
}
