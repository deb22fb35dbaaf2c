//! `orange new` and `orange task create`.

mod context;
mod edit;
mod naming;
mod told;

use super::fields::{FieldArgs, given};
use super::permissions::choose_once;
use super::spec::MEGABYTES;
use super::{create_from, status, word};
use crate::commands::project::registered;
use crate::completion::{Wanted, branches, files, projects, statuses, tasks, words};
use crate::input;
use crate::output;
use crate::session::Session;
use clap::Args;
use naming::{CreateWords, Naming, SummaryWords};
use orange_core::task::{Queue, Status, Task, WorkflowName};
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::{Action, text};
use orange_engine::verbs::create::{self, Created, NewTask};
use orange_engine::verbs::phased::plan;
use orange_engine::verbs::project::{self, AddProject};
use orange_engine::verbs::start::{self, StartOutcome};
use orange_engine::views::TaskResult;
use orange_engine::workspaces::base;
use orange_engine::{Error, Result, err, git, settings, verbs};
use std::fmt::Write;
use std::path::{Path, PathBuf};
pub(super) use told::{branch, slot, started};
use told::{described_task, next};

/// Create a task; all words together say what is to be done
#[derive(Debug, Args)]
#[command(after_help = "\
The branch is named after the summary, or by --branch. `orange create` takes the branch as its first word.

Examples:
  orange new Add a login form
  orange new \"Don't lose the cart\" --priority high --tag ui
  orange new Fix the menu --branch fix-menu --context notes.md
  orange new Log out --blocked-by TASK-001 --context \"only on the start page\"
  orange new Rename the menu --workflow phased --weight small
  orange new Write the manual --workflow phased --spec spec.md
  echo \"Only Chrome\" | orange new Fix hover --context -
  orange new --edit                      write summary and context in an editor")]
pub(crate) struct NewArgs {
    #[command(flatten)]
    words: SummaryWords,
    #[command(flatten)]
    options: CreateOptions,
}

/// Create a task; the first word is its branch
#[derive(Debug, Args)]
#[command(after_help = "\
Without a branch and a summary, its agent asks you what is to be done.

Examples:
  orange create \"Add a login form\"            its branch is named after it
  orange create add-login \"Add a login form\"  a branch of your own
  orange create                               its agent asks you
  orange create \"Fix the menu\" --priority high --category bug --tag ui
  orange create \"Log out\" --blocked-by TASK-001 --context notes.md
  orange create their-branch \"Look at this\" --status agent-review
  orange create --from TASK-001               once more, if it is over
  orange create --from TASK-001 --with-work \"Finish the login form\"")]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    words: CreateWords,
    #[command(flatten)]
    options: CreateOptions,
}

/// What can be said besides summary and branch.
#[derive(Debug, Args)]
struct CreateOptions {
    /// Start again from a task that is done or cancelled: its summary, context and settings, where you give no others
    #[arg(long, value_name = "TASK", add = tasks(Wanted::Over))]
    from: Option<String>,
    /// Go on with the work of that task: its commits, and what was saved of what it had not committed
    #[arg(long, requires = "from", conflicts_with_all = ["base", "status"])]
    with_work: bool,
    /// The project (default: the one you are in)
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
    /// Requirements and constraints for the agent: a text, the path of a file, or - for standard input
    #[arg(long, value_name = "TEXT|FILE", allow_hyphen_values = true, add = files())]
    context: Option<String>,
    /// Write summary and context in your editor
    #[arg(long)]
    edit: bool,
    /// Create it as agent-review or reviewing, for a branch that has work on it
    #[arg(long, value_parser = status, add = statuses())]
    status: Option<Status>,
    /// Which workflow it goes through: interactive, in tmux, or phased, by a plan (default: what `tasks.workflow` says)
    #[arg(long, value_parser = word::<WorkflowName>, add = words(WorkflowName::WORDS))]
    workflow: Option<WorkflowName>,
    /// The specification of a phased task: a file, or - for standard input; the phase that would write one is left out
    #[arg(long, value_name = "FILE", add = files())]
    spec: Option<PathBuf>,
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
    /// A related task; may be given more than once
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = tasks(Wanted::Open))]
    related_to: Vec<String>,
    /// The task this one is a part of
    #[arg(long, value_name = "TASK", add = tasks(Wanted::Open))]
    parent: Option<String>,
    /// Leave it pending; `orange spawn` or `orange run --ready` starts it
    #[arg(long)]
    no_spawn: bool,
}

pub(crate) fn run_new(session: &Session, args: NewArgs) -> Result<()> {
    let NewArgs { words, options } = args;
    let context = options.context.as_deref().map(context::read).transpose()?;
    if words.say_nothing() && !options.says_more(context.as_deref()) {
        return Err(err!(Usage, "the summary is missing").hint(
            "say what is to be done: `orange new Add a login form`; `orange new --edit` opens an editor for it; with `orange create` alone, the agent asks you",
        ));
    }
    run_with(session, options, context, |_| words.meaning())
}

pub(crate) fn run(session: &Session, args: CreateArgs) -> Result<()> {
    let CreateArgs { words, options } = args;
    let context = options.context.as_deref().map(context::read).transpose()?;
    // Nothing at all is a task whose agent asks; an empty text is a mistake, perhaps of a script.
    let is_blank = words.are_given() || context.is_some();
    if is_blank && words.say_nothing() && !options.says_more(context.as_deref()) {
        return Err(err!(Usage, "the text is empty").hint(
            "describe the task in one line: `orange create \"Add a login form\"`; without any text its agent asks you what is to be done",
        ));
    }
    run_with(session, options, context, |project| {
        words.note_capital();
        words.meaning(|word| create::has_branch(&session.call, project, word))
    })
}

impl CreateOptions {
    /// Whether something besides the words tells what is to be done, or will.
    fn says_more(&self, context: Option<&str>) -> bool {
        let has_context = context.is_some_and(|text| !text.trim().is_empty());
        has_context || self.from.is_some() || self.edit
    }
}

fn run_with(
    session: &Session,
    options: CreateOptions,
    context: Option<String>,
    naming: impl FnOnce(&str) -> Result<Naming>,
) -> Result<()> {
    if options.edit {
        edit::check_terminal(session)?;
    }
    let named = options.project.as_deref();
    let earlier = options.from.as_deref();
    let earlier = earlier
        .map(|id| create_from::earlier(session, id, named))
        .transpose()?;
    let project = match &earlier {
        Some(earlier) => earlier.task.project.clone(),
        None => chosen_project(session, named)?,
    };
    let naming = naming(&project)?;
    let lasting =
        |base: String| base::lasting_base(&session.call, &project, &session.folder, &base);
    let base = options.base.map(lasting).transpose()?;
    let spec = options.spec.as_deref();
    let spec = spec.map(spec_text).transpose()?;
    let fields = options.fields;
    let mut new = NewTask {
        project,
        branch: naming.branch.clone(),
        summary: naming.summary.clone(),
        context,
        status: options.status,
        workflow: options.workflow,
        gates: chosen_gates(fields.gates),
        spec,
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
        tags: options.tags,
        blocked_by: options.blocked_by,
        related_to: options.related_to,
        parent: options.parent,
        ui_testing: fields.ui_testing,
        ..NewTask::default()
    };
    let written = if options.edit {
        Some(edit::write(&mut new, earlier.as_ref())?)
    } else {
        None
    };
    new.starts = !options.no_spawn && settings::config(&session.call)?.agents.spawn_on_create;
    let made = || {
        if let Some(earlier) = &earlier {
            new = verbs::create_from::create_from(&session.call, new, earlier, options.with_work)?;
        }
        if new.starts {
            let harness = new.harness.as_deref();
            choose_once(session, &new.project, harness, new.permissions)?;
        }
        Ok((create::create(&session.call, &new)?, new))
    };
    let (created, new) = match written {
        Some(written) => made().map_err(|error| written.kept(error))?,
        None => made()?,
    };
    finish(session, created, &new, &naming, earlier.is_none())
}

/// A specification that is given for a new task.
fn spec_text(file: &Path) -> Result<String> {
    input::text(file, MEGABYTES).map_err(|mut error| {
        error.message = format!("--spec: {}", error.message);
        error
    })
}

/// On a new task there is nothing to take back.
fn chosen_gates(gates: Vec<(String, Option<PhaseGateKind>)>) -> Vec<(String, PhaseGateKind)> {
    let gates = gates.into_iter();
    gates
        .filter_map(|(phase, kind)| Some((phase, kind?)))
        .collect()
}

/// Starts the new task, unless it is for later, and tells of it.
fn finish(
    session: &Session,
    created: Created,
    new: &NewTask,
    naming: &Naming,
    is_first: bool,
) -> Result<()> {
    let origin = new.origin.as_ref();
    let beginning = if new.starts {
        begin(session, &created, new.status.is_some())
    } else {
        Ok(None)
    };
    let (created, waits, others) = with_start(created, beginning.as_ref().ok());
    let spawned = created.done.spawned();
    let failed = created.done.failed();
    let verb = match created.done.acquired {
        Some(_) => "starts",
        None if created.done.task.has_started() => "starts",
        None => "(not made yet)",
    };
    let start = started(&created.start, verb);
    // One JSON value: what went wrong is it then, and it names the task.
    let is_fine = beginning.is_ok() && failed.is_empty();
    if !session.json || is_fine {
        let asks = told::asks(&created.done.task, &spawned);
        let message = format!("created {}, {start}", created.done.task.label());
        let message = match asks {
            Some(asks) => format!("{message}; {asks}"),
            None => message,
        };
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
                let _ = writeln!(text, "{}", super::spawn::after_waiting(other));
            }
            if is_fine {
                text.push_str(&plan_of(session, &created));
                text.push_str(&next(&created.done.task, &spawned));
            }
            text
        })?;
        let is_new = !created.start.existing && is_first;
        if let Some(note) = naming.taken_for(&created.done.task, is_new) {
            output::note(&note);
        }
    }
    beginning.map_err(|error| not_started(&created.done.task, error))?;
    super::update::failure(&created.done.task, &failed)
}

/// The phases of a phased task, as far as they are known.
fn plan_of(session: &Session, created: &Created) -> String {
    let done = &created.done;
    if !done.task.has_plan() {
        return String::new();
    }
    match plan::show(&session.call, done.place.clone()) {
        Ok(shown) => told::phases(&shown.plan),
        Err(_) => told::no_plan_yet().to_owned(),
    }
}

/// What became of its start, and of those that had been waiting.
type Beginning = Option<(StartOutcome, Vec<Task>)>;

/// A new task starts at once, unless it is for later.
fn begin(session: &Session, created: &Created, has_status: bool) -> Result<Beginning> {
    let task = &created.done.task;
    if task.has_started() && !has_status && !task.has_plan() {
        return Ok(StartOutcome::by_another(task).map(|outcome| (outcome, Vec::new())));
    }
    // Phases are executed when a person asks for it.
    let waits_for_run = task.has_plan();
    if task.has_started() || waits_for_run || task.queue == Queue::Backlog {
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
            created.done = created.done.followed_by(&changed.done);
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
