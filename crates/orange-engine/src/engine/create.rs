//! Making a task: everything is checked first, then its folder appears whole or not at all.

use super::base::{Start, check_base, existing_commit, starting_point};
use super::{Caller, Engine, Origin};
use crate::effects::with_hint;
use crate::error::{Code, Error, Result};
use crate::event_log;
use crate::git;
use crate::projects::Project;
use crate::seal::SealedJournal;
use crate::store::locks::{Lock, LockFile};
use crate::store::{Place, journal, private, replace};
use crate::tx::{Committed, context_mark, transition_id, written_fields};
use orange_core::config::Permissions;
use orange_core::history::Event;
use orange_core::history::payload::TaskCreated;
use orange_core::id::{ID_ALPHABET, ID_LENGTH, Key, stored_reference};
use orange_core::machine;
use orange_core::task::{Category, Field, Priority, Queue, Status, Task, Weight, WorkflowName};
use orange_core::task_file::TaskFile;
use orange_core::text;
use orange_core::workflow::{Creation, Hook, HookEntry, Role, Workflow};
use orange_core::{artifact, naming, testing};
use orange_sys::crash_points::crash_point;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What a person says of a new task.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    pub project: String,
    pub branch: Option<String>,
    pub summary: String,
    pub context: Option<String>,
    pub status: Option<Status>,
    pub workflow: Option<WorkflowName>,
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
    /// The task that it starts again from; [`Engine::begin_again`] fills it in.
    pub origin: Option<Origin>,
    /// None: detected from the words.
    pub ui_testing: Option<bool>,
    /// It is to start as soon as it can.
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

impl Engine {
    pub fn create(&self, new: &NewTask) -> Result<Created> {
        git::must_be_there(self.search_path.as_deref())?;
        let project = self.registered(&new.project)?;
        let mut task = self.draft(new, &project)?;
        let workflow = Workflow::named(task.workflow);
        let row = workflow.creation(task.status).ok_or_else(|| {
            let words: Vec<&str> = workflow
                .creations
                .iter()
                .map(|row| row.status.as_str())
                .collect();
            Error::new(
                Code::IllegalTransition,
                format!("a task cannot be created as {}", task.status),
            )
            .hint(format!("allowed: {}", words.join(", ")))
        })?;
        if let Some(branch) = &new.branch {
            if branch == task.target(&project.default_branch) {
                return Err(Error::new(
                    Code::Conflict,
                    format!(
                        "{branch} is the branch the work goes to, so it cannot be the task's own"
                    ),
                )
                .hint("choose another branch, or let Orange name one after the summary"));
            }
            check_existing(row, &project, branch)?;
        } else if row.existing_branch {
            return Err(Error::new(
                Code::Usage,
                format!(
                    "--status {} needs the branch whose work it is about",
                    task.status
                ),
            )
            .hint("name the branch before the summary"));
        }
        self.could_begin(new, &task, row)?;
        let fetched = self.fetch_for(&project)?;
        if let Some(base) = &new.base {
            check_base(&project, base)?;
        }
        let mut start = starting_point(&project, new.base.as_deref(), new.branch.as_deref())?;
        start.fetched = fetched && start.is_remote();
        // A branch that is not there yet is no base; when the work starts, it may be, or another one.
        let is_base = !start.existing && start.commit.is_some();
        task.base = is_base.then(|| start.reference.clone());
        let upon = match (&task.base, &start.commit) {
            (Some(base), Some(commit)) => self.built_upon(&project, base, commit)?,
            _ => None,
        };
        let origin = new.origin.as_ref();
        if let Some(work) = origin.and_then(|origin| origin.work.as_ref()) {
            start = start.going_on_with(work)?;
        }
        self.store.ensure_home()?;
        let _project = self.lock_project(&project.name)?;
        // Before a key is counted: a refused command uses none up.
        if let Some(branch) = &new.branch {
            self.branch_is_free(&project.name, branch, None)?;
        }
        let acquires = |entry: &HookEntry| entry.hook == Hook::AcquireWorkspace;
        if row.hooks.iter().any(acquires) {
            self.could_acquire(&project, &task)?;
        }
        let key = self.next_key(&project.name)?;
        task.key = Some(key);
        task.branch = self.branch_for(new, &project, &task, key)?;
        if new.branch.is_none() {
            self.branch_is_free(&project.name, &task.branch, None)?;
        }
        let place = self.write_new(task, new.context.as_deref(), origin, upon)?;
        // Puts it into the index and runs what its creation asks for.
        let tx = self.lock_marked(place)?;
        if let Some(origin) = origin {
            self.tell_who_waited(origin, &tx.task)?;
        }
        Ok(Created {
            done: tx.commit(Vec::new())?,
            start,
        })
    }

    /// Whether its agent could be started is found out before there is a task. One that has to wait anyway is made
    /// anyway, and what is missing is reported at once.
    fn could_begin(&self, new: &NewTask, task: &Task, row: &Creation) -> Result<()> {
        let spawns = |entry: &HookEntry| matches!(entry.hook, Hook::SpawnAgent(_));
        let starts = new.starts && task.queue == Queue::Active && !task.status.has_started();
        if !starts && !row.hooks.iter().any(spawns) {
            return Ok(());
        }
        if let Some(missing) = self.missing_reviewer(task)? {
            self.notice(text!("its reviewer cannot start: {}", with_hint(&missing)));
        }
        let Err(missing) = self.could_spawn(task) else {
            return Ok(());
        };
        if starts && self.why_not_now(task)?.is_some() {
            self.notice(text!(
                "when its turn comes it cannot start: {}",
                with_hint(&missing)
            ));
            return Ok(());
        }
        let hint = missing.hint.clone();
        let hint = hint.unwrap_or_else(|| "see to that".into());
        Err(missing.hint(match starts {
            true => text!(
                "{}; nothing was created, --no-spawn creates it for later",
                hint
            ),
            false => text!("{}; nothing was created", hint),
        }))
    }

    /// What keeps the reviewer from starting that somebody asked for by name; there is time to see to it.
    fn missing_reviewer(&self, task: &Task) -> Result<Option<Error>> {
        let named = task.review_harness.is_some() || self.config()?.agents.review_harness.is_some();
        if !named {
            return Ok(None);
        }
        let harness = self.harness_for(task, Role::Reviewer)?;
        Ok(harness.and_then(|harness| self.fit_program(&harness).err()))
    }

    /// Is there such a branch, here or on the remote?
    pub fn has_branch(&self, project: &str, branch: &str) -> Result<bool> {
        let project = self.registered(project)?;
        Ok(existing_commit(&project.path, branch)?.is_some())
    }

    /// The fields that do not depend on the key.
    fn draft(&self, new: &NewTask, project: &Project) -> Result<Task> {
        let config = self.config()?.clone();
        for name in [&new.harness, &new.review_harness].into_iter().flatten() {
            let harness = crate::harness::find(name, &config, &self.orange)?;
            if let (Some(harness), Some(mode)) = (harness, new.permissions) {
                harness.check_mode(mode)?;
            }
        }
        let mut task = Task {
            id: nanoid::nanoid!(ID_LENGTH, &ID_ALPHABET),
            project: project.name.clone(),
            summary: one_line(&new.summary)?,
            status: new.status.unwrap_or_default(),
            workflow: new.workflow.unwrap_or(WorkflowName::Interactive),
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
            created_by: self.user.clone(),
            ..Task::default()
        };
        self.check_models(&task)?;
        if let Some(target) = &new.target_branch {
            check_target(target)?;
        }
        self.set_parent(&mut task, new)?;
        for reference in &new.blocked_by {
            let stored = self.dependency(&project.name, None, Field::BlockedBy, reference)?;
            if !task.blocked_by.contains(&stored) {
                task.blocked_by.push(stored);
            }
        }
        for reference in &new.related_to {
            let stored = self.dependency(&project.name, None, Field::RelatedTo, reference)?;
            if !task.related_to.contains(&stored) {
                task.related_to.push(stored);
            }
        }
        let context = new.context.as_deref().unwrap_or_default();
        let detected = testing::requires_ui_testing(&task.summary, context);
        task.requires_ui_testing = new.ui_testing.unwrap_or(detected);
        task.testing_requirements = testing::testing_requirements(
            task.requires_ui_testing,
            is_frontend(&project.path),
            task.weight == Some(Weight::Trivial),
            &task.summary,
            context,
        );
        Ok(task)
    }

    /// An agent may make children of its own task, and nothing else.
    fn set_parent(&self, task: &mut Task, new: &NewTask) -> Result<()> {
        let Some(reference) = &new.parent else {
            return match &self.caller {
                Caller::Human | Caller::Engine => Ok(()),
                Caller::Agent { task: own, .. } => Err(Error::new(
                    Code::NotAllowed,
                    "an agent may only create children of its own task",
                )
                .hint(format!("add --parent {own}"))),
            };
        };
        let place = self.find(reference, Some(&task.project))?;
        let parent = self.lock_task(place)?.task;
        self.own_task_only(&parent, "create children of")?;
        if parent.status.is_terminal() {
            return Err(Error::new(
                Code::ConditionUnmet,
                format!(
                    "{} is {} and cannot get children",
                    parent.label(),
                    parent.status
                ),
            )
            .hint("create a task of its own instead"));
        }
        if new.priority.is_none() {
            task.priority = parent.priority;
        }
        if let (Caller::Agent { role, .. }, Some(_)) = (&self.caller, new.permissions) {
            return Err(Error::new(
                Code::NotAllowed,
                format!("{role} agents may not choose what agents may do"),
            )
            .hint("leave --permissions out: a child has those of its parent"));
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
        &self,
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
        let template = self.config_of(project)?.git.branch_template;
        let slug = naming::slug(&task.summary);
        let wanted = naming::branch_from_template(
            &template,
            &key.to_string(),
            &slug,
            &task.id,
            &project.name,
        )
        .map_err(|error| {
            Error::new(Code::Usage, format!("git.branch_template: {error}"))
                .hint("correct config.yaml")
        })?;
        for number in 1..=MOST_SUFFIXES {
            let name = match number {
                1 => wanted.clone(),
                number => format!("{wanted}-{number}"),
            };
            let taken = self.index()?.by_branch(&project.name, &name)?;
            let live = |status: &str| !status.parse().is_ok_and(Status::is_terminal);
            if !taken.iter().any(|other| live(&other.status))
                && existing_commit(&project.path, &name)?.is_none()
            {
                return Ok(name);
            }
        }
        Ok(wanted)
    }

    /// Writes the folder under a hidden name and renames it: nobody ever sees half a task.
    fn write_new(
        &self,
        task: Task,
        context: Option<&str>,
        origin: Option<&Origin>,
        upon: Option<String>,
    ) -> Result<Place> {
        let place = self.store.place(&format!("{}/{}", task.project, task.id));
        let parent = self.store.tasks().join(&task.project);
        let hidden = hidden_folder(&place);
        let body = match context.map(str::trim) {
            Some(text) if !text.is_empty() => format!("\n{}", artifact::context_section(text)),
            Some(_) | None => String::new(),
        };
        let workflow = Workflow::named(task.workflow);
        let decision = machine::create(workflow, task, self.caller.actor(), self.now())
            .map_err(|_| Error::new(Code::IllegalTransition, "a task cannot be created so"))?;
        let mut event = decision.event.with(TaskCreated {
            context: Some(&context_mark(&body)),
            work: origin.and_then(|origin| origin.work.clone()),
            upon: upon.as_deref(),
            ..TaskCreated::default()
        });
        event.from = origin.map(|origin| origin.id.clone());
        event.transition = Some(transition_id());
        let task = machine::fold(std::slice::from_ref(&event), u64::MAX)
            .map_err(super::change::bad_value)?;
        if task.status.has_started() {
            self.note_started_by(&task.id);
            event = self.with_head(&task, event);
        }
        self.seal(
            &task.id,
            &mut SealedJournal::default(),
            std::slice::from_mut(&mut event),
        )?;
        let file = TaskFile::create(&written_fields(&task), &body);
        self.store.mark(&place)?;
        crash_point("create.marked");
        let result = write_folder(&hidden, &place.path, &parent, &event, &file);
        if let Err(error) = result {
            let _ = fs::remove_dir_all(&hidden);
            self.store.unmark(&place);
            return Err(Error::io("create", &place.path, &error));
        }
        event_log::tell(&task, std::slice::from_ref(&event));
        crash_point("create.renamed");
        Ok(place)
    }

    /// Serialises what must be unique in a project: branches and new folders.
    pub(crate) fn lock_project(&self, project: &str) -> Result<LockFile> {
        self.store.lock(Lock::Project(project))
    }

    /// None when another process has it.
    pub(crate) fn try_lock_project(&self, project: &str) -> Result<Option<LockFile>> {
        self.store.try_lock(Lock::Project(project))
    }
}

/// Where a task's folder is written before it gets its name.
pub(crate) fn hidden_folder(place: &Place) -> PathBuf {
    place.path.with_file_name(format!(".new-{}", place.name))
}

fn write_folder(
    hidden: &Path,
    path: &Path,
    parent: &Path,
    event: &Event,
    file: &TaskFile,
) -> std::io::Result<()> {
    private::make_folders(hidden)?;
    journal::append(&hidden.join("history.jsonl"), &[event.to_line()])?;
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

/// Summaries stand in lists, branches and pull requests: one line, and not a book.
pub(super) fn one_line(summary: &str) -> Result<String> {
    const LONGEST: usize = 2000;
    let line = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > LONGEST {
        return Err(Error::new(
            Code::Usage,
            format!(
                "the summary has {} characters, at most {LONGEST} fit",
                line.chars().count()
            ),
        )
        .hint("put the details into --context FILE"));
    }
    if line.contains('\0') {
        return Err(Error::new(Code::Usage, "the summary has a NUL character"));
    }
    Ok(line)
}

/// The target must be a name that can be a branch; it need not exist yet.
pub(super) fn check_target(target: &str) -> Result<()> {
    if git::valid_branch_name(target)? {
        return Ok(());
    }
    Err(Error::new(
        Code::Usage,
        format!("git does not accept {target:?} as a branch name"),
    )
    .hint("give --target-branch the name of a branch"))
}

fn check_existing(row: &Creation, project: &Project, branch: &str) -> Result<()> {
    if !row.existing_branch || existing_commit(&project.path, branch)?.is_some() {
        return Ok(());
    }
    Err(Error::new(
        Code::NotFound,
        format!("there is no branch {branch} in {}", project.path.display()),
    )
    .hint(format!(
        "--status {} is for work that is there already; fetch the branch first",
        row.status
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
    let Ok(text) = fs::read(repository.join("package.json")) else {
        return false;
    };
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(&text) else {
        return false;
    };
    ["dependencies", "devDependencies"].iter().any(|section| {
        package
            .get(section)
            .and_then(serde_json::Value::as_object)
            .is_some_and(|entries| FRAMEWORKS.iter().any(|name| entries.contains_key(*name)))
    })
}
