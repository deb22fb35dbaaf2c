//! Finding out what a transition's conditions ask for, and nothing more: git only when a row needs it.

pub(crate) mod branch;

use crate::call::Call;
use crate::error::{Result, err};
use crate::execution::PlanProgress;
use crate::index::query::FoundTask;
use crate::projects::{DEFAULT_POOL_SIZE, Project};
use crate::runs::StateSource;
use crate::store::Place;
use crate::store::locks::STARTING;
use crate::workspaces::pool_file::Slot;
use crate::{checks, execution, git, rules, seal_checks, sessions, settings, trash, workspaces};
use orange_agents::marks::review_mark;
use orange_core::evidence::Evidence;
use orange_core::history::payload::{HookEnded, MergeAttempt, StatusMoved, TaskMerged};
use orange_core::history::{Event, EventType, History};
use orange_core::id::read_stored;
use orange_core::machine::{self, Facts, Linked, PoolSlots, Situation};
use orange_core::naming::counted;
use orange_core::review::{self, ReviewerEnd};
use orange_core::runs::{self, Run};
use orange_core::task::{Status, Task};
use orange_core::workflow::{Condition, Intent, Role};
use orange_core::{Action, text};
use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::Path;

/// What the table is asked about: a task, and these facts.
pub(crate) fn situation<'a>(
    call: &Call,
    task: &'a Task,
    body: &'a str,
    facts: &'a Facts,
) -> Result<Situation<'a>> {
    Ok(Situation {
        task,
        body,
        facts,
        max_rounds: settings::max_rounds(call, task)?,
        now: call.now(),
    })
}

/// Where the index says that a task is.
pub(crate) fn place_of(call: &Call, task: &Task) -> Result<Option<Place>> {
    let found = call.index()?.by_id_prefix(&task.id)?;
    Ok(found.first().map(|found| call.store.place(&found.folder)))
}

pub(crate) fn facts(call: &Call, task: &Task, conditions: &[Condition]) -> Result<Facts> {
    facts_beside(call, task, conditions, None)
}

/// The same beside rows of its execution that need not be read.
pub(crate) fn facts_beside(
    call: &Call,
    task: &Task,
    conditions: &[Condition],
    progress: Option<PlanProgress<'_>>,
) -> Result<Facts> {
    let mut facts = Facts::default();
    for condition in conditions {
        match condition {
            Condition::DependenciesOver | Condition::DependenciesOpen => {
                facts.blockers = linked_all(call, task, &task.blocked_by)?;
            }
            Condition::SlotFree => facts.slots = slots(call, task)?,
            Condition::ChildrenOpen | Condition::ChildrenOver => {
                facts.children = children(call, task)?;
            }
            Condition::WorktreeClean => facts.worktree = worktree(call, task)?,
            Condition::Merged => facts.merged = Some(merged(call, task)?),
            Condition::OwnCommits | Condition::NoOwnCommits => {
                facts.own_commits = own_commits(call, task)?;
            }
            Condition::VerifyOver => facts.verifying = check_of(call, task)?,
            Condition::CheckReturns => facts.check_returns = checks::check_returns(call, task)?,
            // The task itself says it; of a review, whoever has the body asks ([`review_problem`]).
            _ => {}
        }
    }
    match progress {
        Some(progress) => execution::facts_of(call, progress, conditions, &mut facts)?,
        None => execution::facts(call, task, conditions, &mut facts)?,
    }
    if task.has_plan() && conditions.contains(&Condition::AgentFree) {
        let met = limit_reached_beside(call, task)?.map_or(Ok(()), Err);
        facts.execution.push((Condition::AgentFree, met));
    }
    Ok(facts)
}

/// The check that the task's review waits for.
fn check_of(call: &Call, task: &Task) -> Result<Option<String>> {
    let Some(place) = place_of(call, task)? else {
        return Ok(None);
    };
    let history = place.history()?;
    checks::check_to_wait_for(call, task, &place, &history)
}

/// The tasks that a field of a task names.
pub(crate) fn linked_all(call: &Call, task: &Task, references: &[String]) -> Result<Vec<Linked>> {
    let linked = |reference: &String| linked(call, &task.project, reference);
    references.iter().map(linked).collect()
}

pub(crate) fn linked(call: &Call, project: &str, reference: &str) -> Result<Linked> {
    let status = match read_stored(project, reference) {
        Some(named) => status_of(call, &named.project, named.number)?,
        None => None,
    };
    Ok(Linked {
        reference: reference.to_owned(),
        status,
    })
}

/// The status as the task's own files have it: the index only says where they are.
fn status_of(call: &Call, project: &str, number: u32) -> Result<Option<Status>> {
    let mut found = call.index()?.by_number(project, number)?;
    if found.is_none() {
        found = call.fresh_index()?.by_number(project, number)?;
    }
    Ok(match found {
        Some(found) => Some(call.store.survey(&found.folder).task.status),
        None => trash::over_in_trash(call, project, number),
    })
}

pub(crate) fn children(call: &Call, task: &Task) -> Result<Vec<Linked>> {
    let Some(key) = task.key else {
        return Ok(Vec::new());
    };
    let found = call.index()?.children_of(&task.project, key.number)?;
    let as_link = |child: FoundTask| Linked {
        status: Some(call.store.survey(&child.folder).task.status),
        reference: child.reference_in(&task.project),
    };
    Ok(found.into_iter().map(as_link).collect())
}

fn slots(call: &Call, task: &Task) -> Result<PoolSlots> {
    let project = call.project_of(&task.project);
    let size = project.map_or(DEFAULT_POOL_SIZE, |project| project.pool_size);
    let pool = workspaces::pool(call)?;
    let held = pool.held(&task.project);
    let others = held.filter(|_| pool.lease_of(task).is_none());
    let holders = others.map(|(slot, entry)| holder_name(call, slot, entry));
    Ok(PoolSlots {
        size,
        holders: holders.collect::<Result<_>>()?,
    })
}

/// Who has a slot, as people call it.
pub(crate) fn holder_name(call: &Call, name: &str, slot: &Slot) -> Result<String> {
    let found = match &slot.task_id {
        Some(id) => call.index()?.by_id_prefix(id)?.into_iter().next(),
        None => None,
    };
    let key = found.and_then(|task| task.key).map(|key| key.to_string());
    Ok(key
        .or_else(|| slot.task.clone())
        .unwrap_or_else(|| name.to_owned()))
}

pub(crate) fn worktree(
    call: &Call,
    task: &Task,
) -> Result<Option<std::result::Result<(), String>>> {
    let Some(slot) = &task.workspace else {
        return Ok(None);
    };
    let folder = workspaces::slot_folder(call, slot);
    if !folder.is_dir() {
        return Ok(None);
    }
    let changes = git::uncommitted(&folder)?;
    Ok(Some(match changes.first() {
        None => Ok(()),
        Some(first) => Err(format!(
            "{} in {slot}, the first is {}",
            counted(changes.len(), "uncommitted change"),
            first.trim()
        )),
    }))
}

/// Is the head of the task's branch, or the merge that Orange made of it, in its target?
fn merged(call: &Call, task: &Task) -> Result<std::result::Result<String, String>> {
    let Some(project) = call.project_of(&task.project) else {
        return Ok(Err(format!("project {} is not registered", task.project)));
    };
    let target = task.target(&project.default_branch);
    if let Some(commit) = in_target(call, task, &project.path, target)? {
        return Ok(Ok(format!("{} is in {target}", git::short(&commit))));
    }
    if head_of(call, task)
        .or_else(|| noted_head(call, task))
        .is_none()
    {
        return Ok(Err(format!(
            "there is no branch {} in {}",
            task.branch,
            project.path.display()
        )));
    }
    Ok(Err(format!("{} is not merged into {target}", task.branch)))
}

/// What of the task's work is in the target, here or on the remote: a merge that Orange made, or its head.
pub(crate) fn in_target(
    call: &Call,
    task: &Task,
    repository: &Path,
    target: &str,
) -> Result<Option<String>> {
    // A branch is often deleted once it is merged; the handoff and the review noted its head.
    let head = branch_commit(call, task)?;
    let head = head.or_else(|| noted_head(call, task));
    let mut commits = own_merges(call, task, head.as_deref());
    commits.extend(head);
    let tips = rules::tips(repository, target)?;
    if let Some(found) = commits.iter().find(|commit| tips.contains(commit)) {
        return Ok(Some(found.clone()));
    }
    for commit in commits {
        if rules::is_in_branch(repository, &commit, target)? {
            return Ok(Some(commit));
        }
    }
    Ok(None)
}

/// The head that the last handoff or review spoke of.
pub(crate) fn noted_head(call: &Call, task: &Task) -> Option<String> {
    let history = history_of(call, task)?;
    let mut events = history.events.iter().rev();
    events.find_map(|event| event.head().map(str::to_owned))
}

/// The journal of a task with everything that stands in it, whoever wrote it.
pub(crate) fn written_history(call: &Call, task: &Task) -> Option<History> {
    let place = place_of(call, task).ok()??;
    place.history().ok()
}

/// The journal of a task, as it is on disk. Where it cannot be read, nothing is decided.
pub(crate) fn own_history(call: &Call, task: &Task) -> Result<History> {
    history_of(call, task).ok_or_else(|| {
        err!(Damaged, "the journal of {} cannot be read", task.label())
            .hint(text!("{} says more", Action::check()))
    })
}

/// The journal of a task, as it is on disk.
pub(crate) fn history_of(call: &Call, task: &Task) -> Option<History> {
    let mut history = written_history(call, task)?;
    seal_checks::drop_unsealed(call, &mut history);
    Some(history)
}

fn own_commits(call: &Call, task: &Task) -> Result<Option<u64>> {
    let Some(project) = call.project_of(&task.project) else {
        return Ok(None);
    };
    let branch = format!("refs/heads/{}", task.branch);
    let target = format!("refs/heads/{}", task.target(&project.default_branch));
    git::commits_ahead(&project.path, &branch, &target)
}

/// The commit that the task's branch is at; None if there is no such branch.
pub(crate) fn branch_commit(call: &Call, task: &Task) -> Result<Option<String>> {
    match call.project_of(&task.project) {
        Some(project) => git::commit_of(&project.path, &format!("refs/heads/{}", task.branch)),
        None => Ok(None),
    }
}

/// The same where nothing depends on it; None also when git fails.
pub(crate) fn head_of(call: &Call, task: &Task) -> Option<String> {
    branch_commit(call, task).ok().flatten()
}

/// The same without starting git; None also where only git could tell.
pub fn branch_head(call: &Call, task: &Task) -> Option<String> {
    let project = call.project_of(&task.project)?;
    git::commit_in_files(&project.path, &task.branch)
}

/// Why the Review section of a task gives no verdict. A journal that somebody else has written to says nothing about
/// reviewers.
pub(crate) fn review_problem(
    call: &Call,
    task: &Task,
    history: &History,
    body: &str,
    by: Option<&str>,
    left: Option<ReviewerEnd<'_>>,
) -> Option<String> {
    let mark = review_mark(body)?;
    let sealed = seal_checks::check_seals(call, &task.id, history);
    let tampering = sealed.tampering();
    tampering.or_else(|| review::problem(history, Some(&mark), by, left))
}

/// A verdict speaks of the commit that was handed over, whatever has been committed since, and of the review as
/// it is now.
pub(crate) fn with_verdict(
    call: &Call,
    task: &Task,
    history: &History,
    body: &str,
    event: Event,
) -> Event {
    let sealed = seal_checks::check_seals(call, &task.id, history);
    let said = Evidence::of(history).handoff;
    let handoff = match sealed.unreadable {
        None => sealed.evidence(history).handoff,
        Some(_) => said.clone(),
    };
    // A handoff that Orange cannot confirm names no commit, and the merge says so.
    let event = match (handoff.and_then(|handoff| handoff.head), said) {
        (Some(head), _) => event.with_head(&head),
        (None, None) => with_head(call, task, event),
        (None, Some(_)) => event,
    };
    let branch = head_of(call, task);
    let moved_on = event
        .head()
        .is_some_and(|head| branch.as_deref() != Some(head));
    let mark = review_mark(body);
    let trusted = sealed.trusted(history);
    let reviewer = review::reviewer(&trusted);
    let writer = |run: &Run| writer_of_review(call, &trusted, run, mark.as_deref());
    event.with(StatusMoved {
        branch_at: moved_on.then(|| branch.as_deref().unwrap_or_default()),
        run: reviewer.as_ref().map(|run| run.id.as_str()),
        written_by: reviewer.as_ref().map(writer),
        review: mark.as_deref(),
        ..StatusMoved::default()
    })
}

/// `reviewer` if every other agent of the task had ended when the reviewer started; `probably reviewer` if their turns
/// were over, by their own signals, and had left another text; `contested` if one was at work; else `unknown`.
fn writer_of_review(
    call: &Call,
    history: &History,
    reviewer: &Run,
    mark: Option<&str>,
) -> &'static str {
    let began = reviewer.started;
    let had_ended = |run: &Run| run.end.as_ref().is_some_and(|end| end.at <= began);
    let was_quiet = |run: &Run| {
        run.end.is_none() && sessions::run_folder(call, &run.id).was_quiet_since(began, mark)
    };
    let runs = runs::runs(history);
    let mut others = runs
        .iter()
        .filter(|run| run.id != reviewer.id && !had_ended(run))
        .peekable();
    if others.peek().is_none() {
        return Role::Reviewer.as_str();
    }
    let says_nothing = |run: &Run| {
        let state = sessions::run_folder(call, &run.id).state();
        state.is_none_or(|doing| doing.source == StateSource::Screen)
    };
    let busy: Vec<&Run> = others.filter(|run| !was_quiet(run)).collect();
    match busy.iter().all(|run| says_nothing(run)) {
        true if busy.is_empty() => "probably reviewer",
        true => "unknown",
        false => review::CONTESTED,
    }
}

/// An event that speaks of the work as it is now.
pub(crate) fn with_head(call: &Call, task: &Task, event: Event) -> Event {
    match head_of(call, task) {
        Some(head) => event.with_head(&head),
        None => event,
    }
}

/// The status that an intent leads to, by the table of the task's workflow.
pub(crate) fn destination(task: &Task, intent: Intent) -> Result<Status> {
    machine::destination(task, intent).ok_or_else(|| {
        err!(
            IllegalTransition,
            "the {} workflow has no step to {intent}",
            task.workflow
        )
    })
}

/// Merges that Orange made of the branch's current head, including those that were begun and not journalled as done. Merges of
/// an earlier head lack later commits.
pub(crate) fn own_merges(call: &Call, task: &Task, head: Option<&str>) -> Vec<String> {
    let history = history_of(call, task).unwrap_or_default();
    let mut commits: Vec<String> = Vec::new();
    for event in history.events.iter().rev() {
        let merged = match event.kind {
            EventType::MergeStarted => MergeAttempt::of(event).and_then(|it| it.commit),
            EventType::TaskMerged => TaskMerged::of(event).and_then(|it| it.commit),
            _ => None,
        };
        if let Some(commit) = merged
            && event.head() == head
            && !commits.iter().any(|known| known == commit)
        {
            commits.push(commit.to_owned());
        }
    }
    commits
}

/// Is the branch where it began, and in its target? One that was there before the task may have had its commits then.
pub(crate) fn is_without_work(
    task: &Task,
    history: &History,
    project: &Project,
    head: Option<&str>,
) -> Result<bool> {
    let mut events = history.events.iter();
    let base = events.find_map(|event| HookEnded::of(event)?.base_commit);
    let Some(head) = head.filter(|head| base == Some(*head)) else {
        return Ok(false);
    };
    rules::is_in_branch(&project.path, head, task.target(&project.default_branch))
}

/// Why no agent more may run.
pub(crate) fn limit_reached(call: &Call) -> Result<Option<String>> {
    limit_reached_by(call, at_work(call).len())
}

/// The same for a task that may be among them.
pub(crate) fn limit_reached_beside(call: &Call, task: &Task) -> Result<Option<String>> {
    let mut others = at_work(call);
    if let Some(place) = place_of(call, task)? {
        others.remove(&place.name);
    }
    limit_reached_by(call, others.len())
}

fn limit_reached_by(call: &Call, running: usize) -> Result<Option<String>> {
    let limit = settings::config(call)?.agents.limit as usize;
    Ok((running >= limit)
        .then(|| format!("{running} agents are running, and `agents.limit` allows {limit}")))
}

/// Workers and executors alive or about to be, over all projects.
pub fn running_workers(call: &Call) -> usize {
    at_work(call).len()
}

/// The names of the folders of their tasks.
fn at_work(call: &Call) -> HashSet<String> {
    let workers = crate::runs::all(call.store.home())
        .into_iter()
        .filter_map(|run| {
            let spec = run.spec().filter(|spec| spec.role != Role::Reviewer)?;
            run.is_alive().then(|| call.store.place(&spec.folder).name)
        });
    workers.chain(starting(call, true)).collect()
}

/// Tasks that a process is starting right now; or those whose process has ended.
pub(crate) fn starting(call: &Call, now: bool) -> Vec<String> {
    let entries = fs::read_dir(call.store.home().join(STARTING));
    let entries = entries.into_iter().flatten().flatten();
    let held = |path: &Path| {
        let file = File::open(path).ok()?;
        Some(matches!(
            file.try_lock_shared(),
            Err(TryLockError::WouldBlock)
        ))
    };
    entries
        .filter(|entry| held(&entry.path()) == Some(now))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
