//! Starting an agent: its run is written down, a window is opened, and the start is waited for.

use crate::call::{self, Call, Caller};
use crate::effects::stop_agent;
use crate::error::{Result, err};
use crate::harness::instructions::{INSTRUCTIONS, MAX_INSTRUCTIONS};
use crate::harness::{self, Harness, Occasion};
use crate::prompt;
use crate::rules::{self, rules_commit};
use crate::runs::{
    Conversation, Due, DueFor, Extras, RUN_AGENT, RUN_PHASES, RunFolder, RunSpec, descendants,
};
use crate::sessions::{self, adopted, permissions, programs};
use crate::settings::{self, models};
use crate::tmux::{NewWindow, Pane, PaneInfo, Tmux};
use crate::tx::{TaskTx, review_mark};
use crate::workspaces::{self, acquire, project_consent, ready_slot, release};
use crate::{home_record, started_by};
use orange_core::history::payload::AgentSpawned;
use orange_core::history::{Event, Payload};
use orange_core::prompt::PromptName;
use orange_core::task::{Field, Task};
use orange_core::workflow::Role;
use orange_core::{Action, Timestamp, machine, runs, text};
use orange_sys::crash_points::crash_point;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// A session name that is somebody else's gets a number; so many are tried.
const MOST_NAMES: u32 = 50;

/// How long a window may take until its `run-agent` reports. A machine under load is slow.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Between two looks whether it has reported; it takes a few milliseconds.
const LOOK: Duration = Duration::from_micros(250);

/// An agent that is to be started.
pub(crate) struct Begin {
    pub(crate) role: Role,
    pub(crate) prompt: PromptName,
    /// The same one again starts nothing new.
    pub(crate) run: String,
    /// A person's words, for the prompt.
    pub(crate) message: Option<String>,
}

/// What came of it.
pub(crate) enum Begun {
    /// To be journalled.
    Started(Box<Event>),
    /// It runs already.
    Running,
    /// No agent is wanted; why.
    Nobody(String),
}

pub(crate) fn begin(tx: &TaskTx<'_>, begin: &Begin) -> Result<Begun> {
    let call = tx.call;
    let task = &tx.task;
    if let Some(run) = sessions::live_run(call, tx.history(), begin.role)
        && run.id != begin.run
    {
        return Ok(Begun::Running);
    }
    let folder = sessions::run_folder(call, &begin.run);
    if folder.started().is_some() {
        return started(tx, &begin.run);
    }
    let Some(harness) = settings::harness::harness_for(call, task, begin.role)? else {
        return Ok(Begun::Nobody(format!(
            "harness {}: no agent is started, the work is yours",
            harness::NONE
        )));
    };
    adopted::refuse_second_agent(call, task, tx.history(), begin.role)?;
    acquire::slot_is_ready(call, task)?;
    if call.caller == Caller::Human {
        started_by::note_started_by(call, &task.id);
    }
    ready_slot::ensure_slot_is_ready(call, task, &tx.place.task_file())?;
    let (spec, extras) = run_spec(tx, begin, &harness)?;
    let message = begin.message.as_deref().unwrap_or_default();
    let prompt = prompt::prompt_with_message(call, task, begin.prompt, message)?;
    open(tx, &spec, &prompt, &extras)
}

/// Opens the window of a run, and waits until its process has reported.
pub(crate) fn open(
    tx: &TaskTx<'_>,
    spec: &RunSpec,
    prompt: &str,
    extras: &Extras,
) -> Result<Begun> {
    let call = tx.call;
    let folder = sessions::run_folder(call, &spec.run);
    let tmux = sessions::usable_tmux(call)?;
    if !begins_by_itself(tx, &tmux, &folder)? {
        folder.write(spec, prompt, extras)?;
        if spec.role != Role::Executor {
            // An executor has nothing on its terminal that could wait for somebody.
            let timeout = settings::config(call)?.agents.start_timeout;
            folder.note_due(Due {
                at: Timestamp::now() + timeout,
                reason: DueFor::Start,
            })?;
        }
        crash_point("spawn.written");
        release::unlock_slot(&spec.worktree)?;
        let pane = open_window(&tmux, tx, spec)?;
        folder.note_pane(&pane)?;
        crash_point("spawn.opened");
        if let Err(error) = wait_for_start(&tx.task, &folder, &tmux, &pane) {
            abandon(call, &tmux, &pane, &spec.run)?;
            return Err(error);
        }
    }
    if let Err(error) = clear_old_windows(tx, spec) {
        tracing::warn!(%error, run = spec.run, "a window of an earlier run is left");
    }
    crash_point("spawn.started");
    started(tx, &spec.run)
}

/// What to journal of a run whose process has reported.
pub(crate) fn started(tx: &TaskTx<'_>, run: &str) -> Result<Begun> {
    Ok(match begun(tx, run)? {
        Some(event) => Begun::Started(Box::new(event)),
        None => Begun::Running,
    })
}

/// A process that died may have opened the window before: its agent is on its way. True once that has begun.
fn begins_by_itself(tx: &TaskTx<'_>, tmux: &Tmux, folder: &RunFolder) -> Result<bool> {
    let call = tx.call;
    if folder.spec().is_none() {
        return Ok(false);
    }
    let run = folder.id();
    let of_run = |info: &PaneInfo| info.run_id.as_deref() == Some(&run);
    let home = home_record::home_paths(call);
    let mut panes = tmux.panes()?;
    panes.retain(|info| home.has_tagged(info.home_tag.as_deref()));
    let Some(window) = panes.into_iter().find(of_run) else {
        return Ok(false);
    };
    match wait_for_start(&tx.task, folder, tmux, &window.pane) {
        Ok(()) => folder.note_pane(&window.pane).map(|()| true),
        Err(_) => abandon(call, tmux, &window.pane, &run).map(|()| false),
    }
}

/// Nothing is left of a start that came to nothing.
fn abandon(call: &Call, tmux: &Tmux, pane: &Pane, run: &str) -> Result<()> {
    stop_agent::stop(call, run)?;
    tmux.kill_window(pane)
}

/// The event that says that a run has begun; None if it has not, or if that is journalled.
pub(crate) fn begun(tx: &TaskTx<'_>, run: &str) -> Result<Option<Event>> {
    let folder = sessions::run_folder(tx.call, run);
    let Some(spec) = folder.spec() else {
        return Ok(None);
    };
    if folder.started().is_none() {
        return Ok(None);
    }
    let known = runs::runs(tx.history());
    if known.iter().any(|known| known.id == run) {
        return Ok(None);
    }
    let pane = sessions::pane_of(tx.call, run)?;
    if let Some(pane) = &pane {
        folder.note_pane(pane)?;
    }
    let conversation = spec.conversation.id();
    let resumed = matches!(spec.conversation, Conversation::Resumed(_));
    let start = AgentSpawned {
        run: Some(run),
        role: Some(spec.role),
        harness: Some(&spec.harness),
        prompt: Some(&spec.prompt),
        model: spec.model.as_deref(),
        effort: spec.effort.as_deref(),
        seals_end: Some(true),
        conversation,
        resumed: conversation.map(|_| resumed),
        permissions: conversation.map(|_| spec.permissions),
        workspace: tx.task.workspace.as_deref(),
        review_before: spec.review_before.as_deref(),
        tmux_session: pane.as_ref().map(|pane| pane.session_name.as_str()),
        session: None,
        pane: pane.as_ref().map(|pane| pane.pane.as_str()),
        adopted: None,
    };
    let mut event = Event::of(Payload::AgentSpawned(start), tx.call.now()).by("engine");
    // Nobody had chosen: the task keeps the one that it began with.
    if spec.role == Role::Worker && settings::harness::to_be_kept(tx.call, &tx.task)?.is_some() {
        event.set(Field::Harness, spec.harness.as_str());
        event = machine::number(event, &tx.task);
    }
    if let Some(pane) = pane {
        let name = Value::from(pane.session_name);
        if tx.task.get(Field::TmuxSession) != name {
            event.fields.insert(Field::TmuxSession.name().into(), name);
            event = machine::number(event, &tx.task);
        }
    }
    Ok(Some(event))
}

/// Refuses early what would fail after the status has changed: no tmux, no such harness, or one too old.
pub(crate) fn check_can_spawn(call: &Call, task: &Task) -> Result<()> {
    let Some(harness) = settings::harness::harness_for(call, task, Role::Worker)? else {
        return Ok(());
    };
    programs::fit_program(call, &harness)?;
    harness.check_mode(permissions::permissions(call, task)?.0)?;
    models::check_model(task, Role::Worker, Some(&harness))?;
    sessions::usable_tmux(call).map(drop)
}

/// Whether somebody is logged in to the harness of a task's agent, as far as it tells.
pub(crate) fn check_login(call: &Call, task: &Task, role: Role) -> Result<()> {
    let Some(harness) = settings::harness::harness_for(call, task, role)? else {
        return Ok(());
    };
    let path = harness.located(call.search_path.as_deref())?;
    let agents = &settings::config(call)?.agents;
    let by_setting = match role {
        Role::Reviewer => &agents.review_model,
        Role::Worker | Role::Executor => &agents.model,
    };
    let has_model = by_setting.is_some() || models::of_task(task, role).model.is_some();
    programs::check_login(call, &harness, &path, has_model)
}

fn run_spec(tx: &TaskTx<'_>, begin: &Begin, harness: &Harness) -> Result<(RunSpec, Extras)> {
    let call = tx.call;
    let task = &tx.task;
    let label = task.label();
    let slot = task.workspace.as_ref().ok_or_else(|| {
        err!(
            ConditionUnmet,
            "{label} has no workspace to start an agent in"
        )
        .hint(text!("{} gets it one", Action::respawn(task.name(), false)))
    })?;
    let worktree = workspaces::slot_folder(call, slot);
    let is_missing = !worktree.is_dir();
    if is_missing || acquire::is_unready(call, task, slot)? {
        let what = if is_missing {
            format!("its workspace {slot} is gone")
        } else {
            format!("{} is not checked out in {slot}", task.branch)
        };
        return Err(
            err!(ConditionUnmet, "{label}: {what}; no agent is started there")
                .hint(text!("{} checks the branch out again", Action::repair())),
        );
    }
    let program = programs::fit_program(call, harness)?;
    let project_settings =
        harness.adapter.loads_project_files() && settings::config(call)?.agents.project_settings;
    if project_settings {
        project_consent::check_project_files(call, task, harness.adapter, &worktree)?;
    }
    let instructions = instructions_for(call, task, harness)?;
    let attempt = runs::attempts(tx.history(), begin.role) + 1;
    let (round, attempt) = (task.review_round.to_string(), attempt.to_string());
    let filled = |word: &String| {
        word.replace("{round}", &round)
            .replace("{attempt}", &attempt)
    };
    let own: Vec<String> = harness.arguments.iter().map(filled).collect();
    let folder = sessions::run_folder(call, &begin.run);
    let before = last_conversation(tx, begin.role, harness);
    let conversation = match &before {
        // A worker goes on where the last one was, if its conversation is still there.
        Some((id, kept)) if Path::new(kept).is_file() => Conversation::Resumed(id.clone()),
        Some(_) | None => Conversation::begin(harness.adapter),
    };
    if before.is_some() && !matches!(conversation, Conversation::Resumed(_)) {
        call.notice(format!(
            "{} kept no record: its conversation is gone, so it begins a new one",
            harness.name
        ));
    }
    let permissions = permissions::permissions_of_run(call, task, harness)?;
    let asked = models::of_task(task, begin.role);
    let choice = models::with_settings(call, asked, begin.role, harness)?;
    let go_on = settings::config(call)?.agents.go_on;
    let shared = call.store.home().join(harness::SHARED);
    let prepared = harness.prepare(&Occasion {
        run: &begin.run,
        folder: folder.path(),
        shared: &shared,
        task_folder: &tx.place.path,
        orange: &call.orange,
        worktree: &worktree,
        permissions,
        choice: &choice,
        conversation: &conversation,
        environment: &call.environment,
        user_home: call.user_home.as_deref(),
        go_on,
        project_settings,
        instructions: instructions.as_deref(),
    })?;
    harness::share(&shared, &prepared.shared)?;
    let mut command = vec![program.to_string_lossy().into_owned()];
    command.extend(harness.command(&own, &prepared));
    let spec = RunSpec {
        run: begin.run.clone(),
        task: task.id.clone(),
        folder: tx.place.folder(),
        role: begin.role,
        prompt: begin.prompt.as_str().to_owned(),
        harness: harness.name.clone(),
        command,
        worktree,
        search_path: call
            .search_path
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned()),
        one_shot: harness.one_shot,
        adapter: harness.adapter,
        conversation,
        permissions,
        model: choice.model,
        effort: choice.effort,
        withheld: prepared.withheld,
        interrupt: Some(harness.interrupt.clone()),
        review_before: match begin.role {
            Role::Reviewer => review_mark(&tx.body),
            Role::Worker | Role::Executor => None,
        },
    };
    let mut environment = call.environment.clone();
    environment.extend(prepared.environment);
    let extras = Extras {
        environment,
        files: prepared.files,
    };
    Ok((spec, extras))
}

/// What the repository says to agents, for a harness that does not read it once its project code is off. From the
/// base commit: a worker does not write what its reviewer is told.
fn instructions_for(call: &Call, task: &Task, harness: &Harness) -> Result<Option<String>> {
    if !harness.adapter.drops_instructions() {
        return Ok(None);
    }
    let project = call::registered(call, &task.project)?;
    let commit = rules_commit::rules_commit(call, &project, task)?;
    let files = rules::base_files(&project.path, &commit, &[INSTRUCTIONS])?;
    match files.file(INSTRUCTIONS, MAX_INSTRUCTIONS)? {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(unreadable)) => {
            call.notice(format!(
                "{} gets no {INSTRUCTIONS}: {}",
                harness.name, unreadable.reason
            ));
            Ok(None)
        }
    }
}

/// A window of the task's session, which is made if there is none.
fn open_window(tmux: &Tmux, tx: &TaskTx<'_>, spec: &RunSpec) -> Result<Pane> {
    let task = &tx.task;
    let window = window_name(task, spec.role);
    let verb = match spec.role {
        Role::Executor => RUN_PHASES,
        Role::Worker | Role::Reviewer => RUN_AGENT,
    };
    let command: Vec<OsString> = [
        tx.call.orange.clone().into_os_string(),
        verb.into(),
        "--home".into(),
        tx.call.store.home().into(),
        "--task".into(),
        task.id.as_str().into(),
        "--role".into(),
        spec.role.as_str().into(),
        "--run".into(),
        spec.run.as_str().into(),
    ]
    .to_vec();
    let home = home_record::home_paths(tx.call);
    let new = NewWindow {
        window: &window,
        folder: &spec.worktree,
        command: &command,
        task_id: &task.id,
        run_id: &spec.run,
        home_tag: &home.tag(),
        title: &format!("{} {}", task.label(), task.summary),
    };
    // A task whose first agent this is has no session yet.
    let is_first = task.tmux_session.is_none() && runs::runs(tx.history()).is_empty();
    if !is_first && let Some(session) = tmux.session_of(&task.id, |tag| home.has_tagged(tag))? {
        return tmux.new_window(session, &new);
    }
    let wanted = format!("{}/{}", task.project, task.branch);
    for number in 1..=MOST_NAMES {
        let name = match number {
            1 => wanted.clone(),
            number => format!("{wanted}-{number}"),
        };
        if let Some(pane) = tmux.new_session(&new, &name)? {
            if number > 1 {
                tx.call.notice(format!(
                    "a session {wanted} of your own is there already; this one is called {}",
                    pane.session_name
                ));
            }
            return Ok(pane);
        }
    }
    Err(
        err!(Conflict, "no name like {wanted} is free for a tmux session")
            .hint("rename or end tmux sessions of that name"),
    )
}

/// Windows in which only the shell of an earlier run of that role is left are closed. Only now, when there is a
/// new one: the last window takes the session with it, and whoever looks at it.
fn clear_old_windows(tx: &TaskTx<'_>, spec: &RunSpec) -> Result<()> {
    let known = runs::runs(tx.history()).into_iter();
    let of_role = known.filter(|run| run.role == spec.role);
    let old: Vec<String> = of_role.map(|run| run.id).collect();
    if old.is_empty() {
        return Ok(());
    }
    for window in sessions::windows_of(tx.call, &tx.task)? {
        let run = window.run_id.filter(|run| *run != spec.run);
        let is_old = run.is_some_and(|run| old.contains(&run));
        if is_old && descendants(window.pid).is_empty() {
            Tmux::at(&window.pane.socket).kill_pane(&window.pane)?;
        }
    }
    Ok(())
}

/// What the last worker called its conversation, and where it was kept. Another harness cannot go on with it, nor can
/// this one in another folder; a reviewer looks with fresh eyes.
fn last_conversation(tx: &TaskTx<'_>, role: Role, harness: &Harness) -> Option<(String, String)> {
    let slot = tx.task.workspace.as_ref().map(ToString::to_string);
    let last = runs::last_run(tx.history(), role)?;
    let fits = role == Role::Worker && last.harness == harness.name && last.workspace == slot;
    fits.then_some(last.conversation?).zip(last.transcript)
}

fn window_name(task: &Task, role: Role) -> String {
    match role {
        Role::Reviewer => format!("review-{}", task.review_round),
        Role::Worker | Role::Executor => role.as_str().to_owned(),
    }
}

fn wait_for_start(task: &Task, folder: &RunFolder, tmux: &Tmux, pane: &Pane) -> Result<()> {
    let failed = |what: &str| {
        let retry = Action::retry_hooks(task.name());
        err!(Failed, "{what}").hint(text!("{} tries once more", retry))
    };
    let deadline = Instant::now() + START_TIMEOUT;
    let mut look = Instant::now() + Duration::from_millis(200);
    while folder.started().is_none() {
        let now = Instant::now();
        if now >= look {
            look = now + Duration::from_millis(200);
            // Asked before: it may have started and ended in between.
            let there = tmux.is_there(pane)?;
            if !there && folder.started().is_none() {
                return Err(failed("its window closed before the agent began"));
            }
        }
        if now >= deadline {
            return Err(failed("the agent's window did not report"));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}
