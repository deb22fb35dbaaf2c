//! The hooks of phased tasks: the plan is written, an executor started and stopped, what it left is committed.

use crate::call::{self, Call};
use crate::effects::start_agent::{self, Begun};
use crate::effects::take_back::{take_back_turn, to_be_taken_back};
use crate::effects::{agents, completed, skipped, spoken, stop_agent};
use crate::error::{Error, Result, err};
use crate::git::state::{self, Head};
use crate::harness::Harness;
use crate::headless;
use crate::runs::{Conversation, Extras, RunSpec};
use crate::sessions::{self, permissions, programs};
use crate::settings::{self, harness, models};
use crate::store::replace::short_hash;
use crate::tx::TaskTx;
use crate::workspaces::{self, acquire, ready_slot, tidy};
use crate::{errand, execution, git, started_by};
use orange_core::history::Event;
use orange_core::runs::letter;
use orange_core::task::Task;
use orange_core::workflow::{Hook, Role};
use orange_core::{Action, text};
use std::path::Path;

/// What becomes of the files in a slot that is on another branch.
const SAVED: &str = ", and what it left is saved with its rescues";

/// Has the weight of the task found out, away from its lock: an agent is asked.
pub(crate) fn classify(tx: &TaskTx<'_>) -> Result<Vec<Event>> {
    send_classifier(tx.call, &tx.place.folder())?;
    Ok(vec![completed(tx.call)])
}

/// Has an errand find the weight of a task. Two of them are one: `phases/classify.rs`.
pub(crate) fn send_classifier(call: &Call, folder: &str) -> Result<()> {
    let words = ["classify", folder];
    errand::start(&call.orange, call.store.home(), &words).map(drop)
}

/// The lock of such an errand, by the task.
pub(crate) fn classify_lock(folder: &str) -> String {
    format!("{:016x}", short_hash(folder.as_bytes()))
}

pub(crate) fn write_plan(tx: &TaskTx<'_>) -> Result<Vec<Event>> {
    let call = tx.call;
    let weight = tx
        .task
        .weight
        .ok_or_else(|| err!(Failed, "the task has no weight"))?;
    execution::write_plan(call, &tx.place, &tx.task, weight)?;
    Ok(vec![completed(call)])
}

/// Refuses early what would fail after the task has begun to run.
pub(crate) fn check_can_execute(call: &Call, task: &Task) -> Result<()> {
    let harness = harness_of_turns(call, task)?;
    programs::fit_program(call, &harness)?;
    harness.check_mode(permissions::permissions(call, task)?.0)?;
    models::check_model(task, Role::Executor, Some(&harness))?;
    sessions::usable_tmux(call).map(drop)
}

/// The harness whose agents take the turns of a task.
pub(crate) fn harness_of_turns(call: &Call, task: &Task) -> Result<Harness> {
    let name = harness::worker_of(call, task)?;
    harness::find_harness(call, &name)?
        .filter(|found| found.adapter.supports().headless)
        .ok_or_else(|| headless::cannot(&name))
}

/// The harness that judges the phases of a task, and the role whose model it gets: that of its reviewers, or else its own.
pub(crate) fn harness_of_judge(call: &Call, task: &Task) -> Result<(Harness, Role)> {
    let reviewer = harness::harness_for(call, task, Role::Reviewer)?;
    let reviewer = reviewer.filter(|found| {
        found.adapter.supports().headless && found.is_installed(call.search_path.as_deref())
    });
    match reviewer {
        Some(reviewer) => Ok((reviewer, Role::Reviewer)),
        None => Ok((harness_of_turns(call, task)?, Role::Executor)),
    }
}

/// Starts the executor, or takes note of one that runs.
pub(crate) fn start(tx: &mut TaskTx<'_>) -> Result<Vec<Event>> {
    let call = tx.call;
    let mut failed = tx.failed_hooks().into_iter();
    if let Some(hook) = failed.find(|hook| hook.name == Hook::AcquireWorkspace.name()) {
        let failure = hook.failure;
        let error = err!(Failed, "its workspace is not ready: {}", failure.why);
        return Err(error.with_obstacle(failure.obstacle));
    }
    let run = format!("{}-{}", agents::transition_id(tx), letter(Role::Executor));
    if let Some(alive) = sessions::live_run(call, tx.history(), Role::Executor)
        && alive.id != run
    {
        return Ok(vec![completed(call)]);
    }
    let begun = if sessions::run_folder(call, &run).started().is_some() {
        start_agent::started(tx, &run)?
    } else {
        let (spec, extras) = spec(tx, run)?;
        start_agent::open(tx, &spec, "", &extras)?
    };
    Ok(match begun {
        Begun::Started(event) => {
            vec![*event, completed(call)]
        }
        Begun::Running => vec![completed(call)],
        Begun::Nobody(why) => vec![skipped(call, &why)],
    })
}

fn spec(tx: &TaskTx<'_>, run: String) -> Result<(RunSpec, Extras)> {
    let (call, task) = (tx.call, &tx.task);
    let harness = harness_of_turns(call, task)?;
    let program = programs::fit_program(call, &harness)?;
    start_agent::check_login(call, task, Role::Executor)?;
    acquire::slot_is_ready(call, task)?;
    if call.caller == call::Caller::Human {
        started_by::note_started_by(call, &task.id);
    }
    ready_slot::ensure_slot_is_ready(call, task, &tx.place.task_file())?;
    let slot = task.workspace.as_ref().ok_or_else(|| no_workspace(task))?;
    let worktree = workspaces::slot_folder(call, slot);
    if !worktree.is_dir() || acquire::is_unready(call, task, slot)? {
        return Err(no_workspace(task));
    }
    let asked = models::of_task(task, Role::Executor);
    let choice = models::with_settings(call, asked, Role::Executor, &harness)?;
    let search_path = call.search_path.as_ref();
    let spec = RunSpec {
        run,
        task: task.id.clone(),
        folder: tx.place.folder(),
        role: Role::Executor,
        prompt: String::new(),
        harness: harness.name.clone(),
        command: vec![program.to_string_lossy().into_owned()],
        worktree,
        search_path: search_path.map(|path| path.to_string_lossy().into_owned()),
        one_shot: true,
        adapter: harness.adapter,
        conversation: Conversation::Unknown,
        permissions: permissions::permissions_of_run(call, task, &harness)?,
        model: choice.model,
        effort: choice.effort,
        withheld: Vec::new(),
        interrupt: None,
        review_before: None,
    };
    let extras = Extras {
        environment: call.environment.clone(),
        files: Vec::new(),
    };
    Ok((spec, extras))
}

fn no_workspace(task: &Task) -> Error {
    let label = task.label();
    err!(ConditionUnmet, "{label} has no workspace to run in")
        .hint(text!("{} gets it one", Action::run(task.name(), false)))
}

/// Ends the executor with everything that its turn started, and closes its window.
pub(crate) fn stop(tx: &mut TaskTx<'_>) -> Result<Vec<Event>> {
    let ended = agents::end(tx, &[Role::Executor], |tx| {
        stop_agent::close_windows(tx, Role::Executor)
    })?;
    close_rows(tx)?;
    Ok(ended)
}

/// Ends what an executor left open in orange.db that is gone: nothing writes its rows any more.
pub(crate) fn close_rows(tx: &mut TaskTx<'_>) -> Result<()> {
    if !tx.task.has_plan() {
        return Ok(());
    }
    release_claim(tx.call, &tx.task)?;
    execution::pause_open(tx.call, &tx.task)?;
    // After a gate or an answer it goes on as a person let it.
    if tx.task.blocked_reason.is_none() {
        execution::force_budget(tx.call, &tx.task, false)?;
    }
    tx.journal_execution()
}

/// Commits what the last turn left in the slot, which is given back next.
pub(crate) fn commit_wip(tx: &TaskTx<'_>) -> Result<Vec<Event>> {
    let (call, task) = (tx.call, &tx.task);
    let done = vec![completed(call)];
    let Some(slot) = &task.workspace else {
        return Ok(done);
    };
    let folder = workspaces::slot_folder(call, slot);
    if !folder.is_dir() || acquire::is_unready(call, task, slot)? {
        return Ok(done);
    }
    if let Some(mut turn) = to_be_taken_back(call, task)? {
        take_back_turn(call, task, &slot.to_string(), &mut turn)?;
        call.with_database(|database| database.spend(&task.id, &turn))?;
        return Ok(done);
    }
    if let Some(why) = off_its_branch(call, task, &folder)? {
        // What is there is rescued when the slot is given back.
        execution::fail_uncommitted(call, task, &why)?;
        return Ok(done);
    }
    // Settings that cannot be read must not keep the work from being saved.
    let config = settings::config_for(call, task).unwrap_or_default();
    let prefix = &config.git.checkpoint_prefix;
    let phase = task.current_phase.as_deref().unwrap_or("work");
    let message = format!("{prefix} {}: {phase} - in progress\n", task.label());
    if let Err(error) = git::checkpoint::commit_all(&call.site(folder), &message) {
        execution::fail_uncommitted(call, task, &spoken(call, &error))?;
        return Err(error);
    }
    Ok(done)
}

/// Why nothing can be committed on a task's branch in its slot: an agent switched to another one, which is not the task's to
/// change, or put another repository in its place. None: it is there.
pub(crate) fn off_its_branch(call: &Call, task: &Task, slot: &Path) -> Result<Option<String>> {
    let own = &task.branch;
    let (place, left) = match state::head(slot) {
        Head::Branch(current) if current == *own => {
            let project = call::registered(call, &task.project)?;
            // Another repository may have a branch of that name; its filters would run, and the commit would be nowhere else.
            if tidy::is_worktree_of(call, &project.path, slot, &task.id)? {
                return Ok(None);
            }
            let place = format!("it is no worktree of {} any more", project.name);
            (place, "")
        }
        Head::Branch(current) => (format!("it is on {current}"), SAVED),
        Head::Detached(_) => ("it is on no branch".to_owned(), SAVED),
        Head::Missing(why) => (why, SAVED),
    };
    Ok(Some(format!(
        "its agent left the branch {own} in its workspace: {place}; nothing was committed there{left}"
    )))
}

/// Whether an executor on another machine says that it is at work; on this one its run tells.
pub(crate) fn is_at_work_elsewhere(call: &Call, task: &Task) -> Result<bool> {
    let claim = call.with_existing_database(|database| database.claim_of(&task.id))?;
    let claim = claim.flatten();
    Ok(claim.is_some_and(|claim| claim.hostname != hostname() && !claim.is_silent(call.now())))
}

/// Takes back what an executor says in orange.db that did not live to do so itself.
fn release_claim(call: &Call, task: &Task) -> Result<()> {
    if is_at_work_elsewhere(call, task)? {
        return Ok(());
    }
    let claim = call.with_existing_database(|database| database.claim_of(&task.id))?;
    match claim.flatten() {
        Some(claim) => call
            .with_database(|database| database.release_claim(&task.id, &claim.run))
            .map(drop),
        None => Ok(()),
    }
}

/// The name of this machine.
pub(crate) fn hostname() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
