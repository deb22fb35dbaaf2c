//! Making a task: everything is checked first, then its folder appears whole or not at all.

use crate::call::{self, Call, Caller, hidden_folder};
use crate::effects::{start_agent, with_hint};
use crate::error::{Error, Result, err};
use crate::facts::{self, branch};
use crate::field_checks::{self, check_target, check_words, one_line};
use crate::find;
use crate::index::query::FoundTask;
use crate::projects::Project;
use crate::rules::{Start, rules_commit};
use crate::seal::SealedJournal;
use crate::sessions::programs;
use crate::settings::{self, harness, models};
use crate::store::locks::Lock;
use crate::store::{Place, journal, private, replace};
use crate::tx::commit::Committed;
use crate::tx::write_reconciled::written_fields;
use crate::tx::{self, context_mark, transition_id};
use crate::verbs::phased::{gates, plan, spec};
use crate::verbs::{change, create_from, start};
use crate::views::results::TaskOrigin;
use crate::workspaces::acquire;
use crate::workspaces::base::{self, check_base, existing_commit, starting_point};
use crate::{access, event_log, execution, git, keys, seal_checks, started_by};
use orange_core::config::Permissions;
use orange_core::history::Event;
use orange_core::history::payload::TaskCreated;
use orange_core::id::{ID_ALPHABET, ID_LENGTH, Key, stored_reference};
use orange_core::task::{Category, Field, Priority, Queue, Status, Task, Weight, WorkflowName};
use orange_core::task_file::TaskFile;
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::work::spec::SpecSource;
use orange_core::workflow::{Creation, Hook, HookEntry, Role, Workflow};
use orange_core::{Parameter, artifact, machine, naming, review, testing, text};
use orange_sys::crash_points::crash_point;
use std::fs::{self, File};
use std::path::Path;

/// What a person says of a new task.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    pub project: String,
    pub branch: Option<String>,
    pub summary: String,
    pub context: Option<String>,
    pub status: Option<Status>,
    /// None: as `tasks.workflow` says.
    pub workflow: Option<WorkflowName>,
    /// Who decides about phases of a phased task, as its person says.
    pub gates: Vec<(String, PhaseGateKind)>,
    /// The specification of a phased task: the phase that would write one is left out.
    pub spec: Option<String>,
    pub base: Option<String>,
    pub target_branch: Option<String>,
    pub harness: Option<String>,
    pub review_harness: Option<String>,
    /// What its agents may do without asking.
    pub permissions: Option<Permissions>,
    pub model: Option<String>,
    pub effort: Option<String>,
    pub review_model: Option<String>,
    pub review_effort: Option<String>,
    pub priority: Option<Priority>,
    pub queue: Option<Queue>,
    pub category: Option<Category>,
    pub weight: Option<Weight>,
    pub tags: Vec<String>,
    pub blocked_by: Vec<String>,
    pub related_to: Vec<String>,
    pub parent: Option<String>,
    pub initiative_id: Option<String>,
    /// The task that it starts again from; [`begin_again`] fills it in.
    pub origin: Option<TaskOrigin>,
    /// None: detected from the words.
    pub ui_testing: Option<bool>,
    /// It is to start as soon as it can; in the backlog, once it is moved out of it.
    pub starts: bool,
}

/// A task that was made.
#[derive(Debug, Clone)]
pub struct Created {
    pub done: Committed,
    pub start: Start,
}

/// A branch that Orange named itself may get a number when it is taken; so many are tried.
const MOST_SUFFIXES: u32 = 100;

pub fn create(call: &Call, new: &NewTask) -> Result<Created> {
    git::must_be_there(call.search_path.as_deref())?;
    let project = call::registered(call, &new.project)?;
    let mut task = draft(call, new, &project)?;
    check_plan(call, new, &mut task)?;
    let workflow = Workflow::named(task.workflow);
    let row = workflow.creation(task.status).ok_or_else(|| {
        let rows = workflow.creations.iter();
        let words: Vec<&str> = rows.map(|row| row.status.as_str()).collect();
        err!(
            IllegalTransition,
            "a task cannot be created as {}",
            task.status
        )
        .hint(format!("allowed: {}", words.join(", ")))
    })?;
    if let Some(branch) = &new.branch {
        if branch == task.target(&project.default_branch) {
            return Err(err!(
                Conflict,
                "{branch} is the branch the work goes to, so it cannot be the task's own"
            )
            .hint("choose another branch, or let Orange name one after the summary"));
        }
        check_existing(row, &project, branch)?;
    } else if row.existing_branch {
        return Err(err!(
            Usage,
            "a task that begins as {} needs the branch whose work it is about",
            task.status
        )
        .hint(text!("name it with {}", Parameter::Branch)));
    }
    check_can_start(call, new, &task, row)?;
    let fetched = base::fetch_for(call, &project)?;
    if let Some(base) = &new.base {
        check_base(&project, base)?;
    }
    let mut start = starting_point(&project, new.base.as_deref(), new.branch.as_deref())?;
    start.fetched = fetched && start.is_remote();
    // A branch that is not there yet is no base; when the work starts, it may be, or another one.
    let is_base = !start.existing && start.commit.is_some();
    task.base = is_base.then(|| start.reference.clone());
    let upon = match (&task.base, &start.commit) {
        (Some(base), Some(commit)) => rules_commit::built_upon(call, &project, base, commit)?,
        _ => None,
    };
    let origin = new.origin.as_ref();
    if let Some(work) = origin.and_then(|origin| origin.work.as_ref()) {
        start = start.going_on_with(work)?;
    }
    call.store.ensure_home()?;
    let _project = call.store.lock(Lock::Project(&project.name))?;
    // Before a key is counted: a refused command uses none up.
    if let Some(branch) = &new.branch {
        branch::branch_is_free(call, &project.name, branch, None)?;
    }
    let acquires = |entry: &HookEntry| entry.hook == Hook::AcquireWorkspace;
    if row.hooks.iter().any(acquires) {
        acquire::check_can_acquire(call, &project, &task)?;
    }
    let key = keys::next_key(call, &project.name)?;
    task.key = Some(key);
    // With its first event, so that nobody who dies before the start leaves it waiting for ever.
    let starts = new.starts && !task.has_plan();
    task.queued_at = (starts && !task.has_started()).then(|| call.now());
    task.branch = branch_for(call, new, &project, &task, key)?;
    if new.branch.is_none() {
        branch::branch_is_free(call, &project.name, &task.branch, None)?;
    }
    let id = task.id.clone();
    if let Some(content) = &new.spec {
        // Before its task: whoever sees the task sees it with its specification.
        execution::spec::save(call, &id, content, SpecSource::Cli, None)?;
    }
    let written = write_new(call, task, new.context.as_deref(), origin, upon);
    if written.is_err() && new.spec.is_some() {
        let forgotten = call.with_database(|database| database.forget_phased(&id));
        if let Err(error) = forgotten {
            tracing::warn!(%error, "the specification of a task that was not made is still there");
        }
    }
    let place = written?;
    // Puts it into the index and runs what its creation asks for.
    let tx = tx::lock_marked(call, place)?;
    if let Some(origin) = origin {
        create_from::note_dependents(call, origin, &tx.task)?;
    }
    let mut done = tx.commit(Vec::new())?;
    if done.task.has_plan() && done.task.weight.is_some() {
        plan_at_once(call, &mut done);
    }
    Ok(Created { done, start })
}

/// Writes the plan of a task whose weight its person has named. The task is there, whatever becomes of it.
fn plan_at_once(call: &Call, done: &mut Committed) {
    match start::brought_forward(call, &done.place, done.task.clone()) {
        Ok(task) => done.task = task,
        Err(error) => call.notice(text!(
            "{} has no plan yet: {}",
            done.task.label(),
            with_hint(&error)
        )),
    }
}

/// What only phased tasks have: gates behind phases, and a weight that decides about a plan.
fn check_plan(call: &Call, new: &NewTask, task: &mut Task) -> Result<()> {
    if !new.gates.is_empty() {
        access::people_only(call, "choose who decides about phases")?;
    }
    for (phase, kind) in &new.gates {
        task.gates = gates::with_gate(call, task, phase, Some(*kind))?;
    }
    if new.weight.is_some() && new.origin.is_none() && task.has_plan() {
        plan::check_override(call, task)?;
    }
    if let Some(content) = &new.spec {
        let lacks = spec::check_new(call, task, content)?;
        if !lacks.is_empty() {
            call.notice(format!(
                "the specification is taken as it is, although {lacks}"
            ));
        }
    }
    Ok(())
}

/// Whether its agent could be started is found out before there is a task. One that has to wait anyway is made
/// anyway, and what is missing is reported at once.
fn check_can_start(call: &Call, new: &NewTask, task: &Task, row: &Creation) -> Result<()> {
    let spawns = |entry: &HookEntry| matches!(entry.hook, Hook::SpawnAgent(_));
    let waits_for_run = task.has_plan();
    let starts = new.starts && !waits_for_run && task.queue == Queue::Active && !task.has_started();
    if !starts && !row.hooks.iter().any(spawns) {
        return Ok(());
    }
    if let Some(missing) = missing_reviewer(call, task)? {
        call.notice(text!("its reviewer cannot start: {}", with_hint(&missing)));
    }
    let logged_in = || match starts {
        true => start_agent::check_login(call, task, Role::Worker),
        false => Ok(()),
    };
    let Err(missing) = start_agent::check_can_spawn(call, task).and_then(|()| logged_in()) else {
        return Ok(());
    };
    if starts && start::why_not_now(call, task)?.is_some() {
        call.notice(text!(
            "when its turn comes it cannot start: {}",
            with_hint(&missing)
        ));
        return Ok(());
    }
    let hint = missing.hint.clone();
    let hint = hint.unwrap_or_else(|| "see to that".into());
    Err(missing.hint(if starts {
        text!(
            "{}; nothing was created, {} creates it for later",
            hint,
            Parameter::NoSpawn
        )
    } else {
        text!("{}; nothing was created", hint)
    }))
}

/// What keeps the reviewer from starting that somebody asked for by name; there is time to see to it.
fn missing_reviewer(call: &Call, task: &Task) -> Result<Option<Error>> {
    let named =
        task.review_harness.is_some() || settings::config(call)?.agents.review_harness.is_some();
    if !named {
        return Ok(None);
    }
    let Some(harness) = harness::harness_for(call, task, Role::Reviewer)? else {
        return Ok(None);
    };
    let fit = programs::fit_program(call, &harness).map(drop);
    let fit = fit.and_then(|()| start_agent::check_login(call, task, Role::Reviewer));
    Ok(fit.err())
}

/// Is there such a branch, here or on the remote?
pub fn has_branch(call: &Call, project: &str, branch: &str) -> Result<bool> {
    let project = call::registered(call, project)?;
    Ok(existing_commit(&project.path, branch)?.is_some())
}

/// The fields that do not depend on the key.
fn draft(call: &Call, new: &NewTask, project: &Project) -> Result<Task> {
    if let Some(context) = &new.context {
        check_words("the context", context)?;
    }
    for name in [&new.harness, &new.review_harness].into_iter().flatten() {
        let harness = harness::find_harness(call, name)?;
        if let (Some(harness), Some(mode)) = (harness, new.permissions) {
            harness.check_mode(mode)?;
        }
    }
    let workflow = match new.workflow {
        Some(workflow) => workflow,
        None => settings::config_of(call, project)?.tasks.workflow,
    };
    let mut task = Task {
        id: nanoid::nanoid!(ID_LENGTH, &ID_ALPHABET),
        project: project.name.clone(),
        summary: one_line(&new.summary)?,
        status: new.status.unwrap_or(Workflow::named(workflow).begins_as()),
        workflow,
        target_branch: new.target_branch.clone(),
        harness: new.harness.clone(),
        review_harness: new.review_harness.clone(),
        permissions: new.permissions,
        model: given(&new.model),
        effort: given(&new.effort),
        review_model: given(&new.review_model),
        review_effort: given(&new.review_effort),
        priority: new.priority.unwrap_or(Priority::Normal),
        queue: new.queue.unwrap_or(Queue::Active),
        category: new.category.unwrap_or(Category::Feature),
        weight: new.weight,
        tags: new.tags.clone(),
        initiative_id: new.initiative_id.clone(),
        created_by: call.user.clone(),
        ..Task::default()
    };
    if let Some(chosen) = harness::to_be_kept(call, &task)? {
        task.harness = Some(chosen);
    }
    models::check_models(call, &task)?;
    if let Some(target) = &new.target_branch {
        check_target(target)?;
    }
    set_parent(call, &mut task, new)?;
    for (field, references, links) in [
        (Field::BlockedBy, &new.blocked_by, &mut task.blocked_by),
        (Field::RelatedTo, &new.related_to, &mut task.related_to),
    ] {
        for reference in references {
            let stored = change::dependency(call, &project.name, None, field, reference)?;
            if !links.contains(&stored) {
                links.push(stored);
            }
        }
    }
    let context = new.context.as_deref().unwrap_or_default();
    let detected = testing::requires_ui_testing(&task.summary, context);
    task.requires_ui_testing = new.ui_testing.unwrap_or(detected);
    task.testing_requirements = testing::testing_requirements(
        new.ui_testing,
        is_frontend(&project.path),
        task.weight == Some(Weight::Trivial),
        &task.summary,
        context,
    );
    Ok(task)
}

/// An agent may make children of its own task, and nothing else.
fn set_parent(call: &Call, task: &mut Task, new: &NewTask) -> Result<()> {
    let Some(reference) = &new.parent else {
        return match &call.caller {
            Caller::Human | Caller::Engine => Ok(()),
            Caller::Agent { task: own, .. } => Err(err!(
                NotAllowed,
                "an agent may only create children of its own task"
            )
            .hint(text!("add {}", Parameter::Parent.given(own)))),
        };
    };
    let place = find::find(call, reference, Some(&task.project))?;
    let parent = tx::lock_task(call, place)?.task;
    access::own_task_only(call, &parent, "create children of")?;
    if parent.status.is_terminal() {
        return Err(err!(
            ConditionUnmet,
            "{} is {} and cannot get children",
            parent.label(),
            parent.status
        )
        .hint("create a task of its own instead"));
    }
    if new.priority.is_none() {
        task.priority = parent.priority;
    }
    if let (Caller::Agent { role, .. }, Some(_)) = (&call.caller, new.permissions) {
        return Err(err!(
            NotAllowed,
            "{role} agents may not choose what agents may do"
        )
        .hint(text!(
            "leave {} out: a child has those of its parent",
            Parameter::Permissions
        )));
    }
    if new.permissions.is_none() {
        task.permissions = parent.permissions;
    }
    task.parent = parent
        .key
        .map(|key| stored_reference(&task.project, &parent.project, key));
    Ok(())
}

fn branch_for(
    call: &Call,
    new: &NewTask,
    project: &Project,
    task: &Task,
    key: Key,
) -> Result<String> {
    if let Some(branch) = &new.branch {
        return Ok(branch.clone());
    }
    if task.summary.is_empty() {
        return Ok(format!("orange-tasks/{}", task.id));
    }
    let template = settings::config_of(call, project)?.git.branch_template;
    let slug = naming::slug(&task.summary);
    let wanted = naming::branch_from_template(
        &template,
        &key.to_string(),
        &slug,
        &task.id,
        &project.name,
    )
    .map_err(|error| err!(Usage, "git.branch_template: {error}").hint("correct config.yaml"))?;
    for number in 1..=MOST_SUFFIXES {
        let name = match number {
            1 => wanted.clone(),
            number => format!("{wanted}-{number}"),
        };
        let taken = call.index()?.by_branch(&project.name, &name)?;
        let is_free = !taken.iter().any(FoundTask::is_live);
        if is_free && existing_commit(&project.path, &name)?.is_none() {
            return Ok(name);
        }
    }
    Ok(wanted)
}

/// Writes the folder under a hidden name and renames it: nobody ever sees half a task.
fn write_new(
    call: &Call,
    task: Task,
    context: Option<&str>,
    origin: Option<&TaskOrigin>,
    upon: Option<String>,
) -> Result<Place> {
    let place = call.store.place(&format!("{}/{}", task.project, task.id));
    let parent = call.store.tasks().join(&task.project);
    let hidden = hidden_folder(&place);
    let body = match context.map(str::trim) {
        Some(text) if !text.is_empty() => format!("\n{}", artifact::context_section(text)),
        Some(_) | None => String::new(),
    };
    let workflow = Workflow::named(task.workflow);
    let decision = machine::create(workflow, task, call.caller.actor(), call.now())
        .map_err(|_| err!(IllegalTransition, "a task cannot be created so"))?;
    let mut event = decision.event.with(TaskCreated {
        context: Some(&context_mark(&body)),
        work: origin.and_then(|origin| origin.work.clone()),
        upon: upon.as_deref(),
        ..TaskCreated::default()
    });
    event.from = origin.map(|origin| origin.id.clone());
    event.transition = Some(transition_id());
    let task =
        machine::fold(std::slice::from_ref(&event), u64::MAX).map_err(field_checks::bad_value)?;
    if task.has_started() {
        started_by::note_started_by(call, &task.id);
        event = facts::with_head(call, &task, event);
    }
    let mut events = vec![event];
    let review = events
        .first()
        .and_then(|event| review::noted_beside(event, &task));
    events.extend(review);
    seal_checks::seal(call, &task.id, &mut SealedJournal::default(), &mut events)?;
    let file = TaskFile::create(&written_fields(&task), &body);
    call.store.mark(&place)?;
    crash_point("create.marked");
    let result = write_folder(&hidden, &place.path, &parent, &events, &file);
    if let Err(error) = result {
        let _ = fs::remove_dir_all(&hidden);
        call.store.unmark(&place);
        return Err(Error::io("create", &place.path, &error));
    }
    event_log::tell(call.spell, &task, &events);
    crash_point("create.renamed");
    Ok(place)
}

fn write_folder(
    hidden: &Path,
    path: &Path,
    parent: &Path,
    events: &[Event],
    file: &TaskFile,
) -> std::io::Result<()> {
    private::make_folders(hidden)?;
    let lines: Vec<String> = events.iter().map(Event::to_line).collect();
    journal::append(&hidden.join("history.jsonl"), &lines)?;
    crash_point("create.journalled");
    replace::write_atomic(&hidden.join("TASK.md"), file.text().as_bytes())?;
    crash_point("create.written");
    fs::rename(hidden, path)?;
    File::open(parent)?.sync_all()
}

/// An empty option says nothing; with `--from` it keeps the earlier task's value out.
fn given(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

fn check_existing(row: &Creation, project: &Project, branch: &str) -> Result<()> {
    if !row.existing_branch || existing_commit(&project.path, branch)?.is_some() {
        return Ok(());
    }
    Err(err!(
        NotFound,
        "there is no branch {branch} in {}",
        project.path.display()
    )
    .hint(text!(
        "{} is for work that is there already; fetch the branch first",
        Parameter::Status.given(row.status.as_str())
    )))
}

/// A web project, by what its package.json depends on.
fn is_frontend(repository: &Path) -> bool {
    const FRAMEWORKS: &[&str] = &[
        "react",
        "vue",
        "svelte",
        "next",
        "nuxt",
        "preact",
        "solid-js",
        "astro",
        "vite",
        "@angular/core",
        "lit",
    ];
    let text = fs::read(repository.join("package.json")).unwrap_or_default();
    let package: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let mut sections = ["dependencies", "devDependencies"].into_iter();
    sections.any(|section| {
        FRAMEWORKS
            .iter()
            .any(|name| package[section].get(name).is_some())
    })
}
