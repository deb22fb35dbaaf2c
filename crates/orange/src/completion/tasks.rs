//! Tasks that can be named: those that the command is for first, the newest of them before the others.

use super::values::{Offers, TypedLine, begins, described, offering};
use clap_complete::engine::ArgValueCompleter;
use orange_core::task::{BlockedReason, Status, Task};
use orange_core::workflow::{Intent, Trigger, Workflow};
use orange_engine::index::list::ListedTask;
use orange_engine::views::quick_reads;
use std::cmp::Reverse;

/// Which tasks a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Any; those that are over come last.
    Any,
    /// One that is not over.
    Open,
    /// One that is over.
    Over,
    /// One that has not been started.
    Pending,
    /// One whose work a person decides about.
    Reviewing,
    /// One whose work can be merged: the reviewed ones first, the others with --force.
    Mergeable,
    /// One with a session; other open ones come later.
    InSession,
    /// One that can be run: those that a run starts or goes on with.
    Runnable,
    /// One that is executed by a plan.
    Phased,
    /// One of those where a person can say this.
    Said(Trigger),
}

impl Wanted {
    /// The smaller the better; None: only where its name has been begun and no other fits.
    fn rank(self, task: &ListedTask) -> Option<u8> {
        // Tasks with an unknown status are offered.
        let status = task.status.parse::<Status>().ok();
        let has_started = status.is_none_or(Status::has_started);
        let is_reviewed = status.is_some_and(|status| {
            let task = Task {
                status,
                ..Task::default()
            };
            task.offers(Intent::Merge)
        });
        let is_over = status.is_some_and(Status::is_terminal);
        match self {
            Wanted::Any => Some(u8::from(is_over)),
            Wanted::Over => is_over.then_some(0),
            _ if is_over => None,
            Wanted::Open => Some(0),
            Wanted::Pending => (!has_started).then_some(0),
            Wanted::Reviewing => is_reviewed.then_some(0),
            Wanted::Mergeable if !has_started => None,
            Wanted::Mergeable => Some(u8::from(!is_reviewed)),
            Wanted::InSession => Some(u8::from(!task.has_session)),
            Wanted::Phased => status.is_some_and(is_phased).then_some(0),
            Wanted::Said(trigger) => status.is_some_and(|at| can_say(at, trigger)).then_some(0),
            Wanted::Runnable if status.is_some_and(|at| can_say(at, Trigger::RUN)) => Some(0),
            Wanted::Runnable => {
                let is_phased = status.is_some_and(is_phased);
                (!has_started).then_some(u8::from(!is_phased))
            }
        }
    }
}

/// Whether tasks with a plan have this status.
fn is_phased(status: Status) -> bool {
    let mut statuses = with_plans().flat_map(|workflow| workflow.statuses);
    statuses.any(|info| info.status == status)
}

/// Whether a person can say this of a phased task with this status, for whatever reason it has it.
fn can_say(status: Status, trigger: Trigger) -> bool {
    let reasons = BlockedReason::ALL.iter().copied().map(Some).chain([None]);
    let mut rows = with_plans().flat_map(|workflow| {
        let reasons = reasons.clone();
        reasons.flat_map(move |reason| workflow.rows_from(status, reason))
    });
    rows.any(|row| row.who.iter().any(|by| by.when == Some(trigger)))
}

fn with_plans() -> impl Iterator<Item = &'static Workflow> {
    Workflow::in_use().filter(|workflow| workflow.has_plans)
}

pub(crate) fn tasks(wanted: Wanted) -> ArgValueCompleter {
    offering(move |line, begun| line.tasks(begun, wanted))
}

impl TypedLine {
    fn tasks(&self, begun: &str, wanted: Wanted) -> Offers {
        let call = self.call()?;
        let here = self.project(&call);
        let tasks = quick_reads::quick_tasks(&call);
        let named = tasks.iter().filter_map(|task| {
            let name = name_of(task, here.as_deref(), begun)?;
            Some((name, task))
        });
        let mut found: Vec<(String, &ListedTask)> = named.collect();
        if found.is_empty() && is_number(begun) {
            // `4` is TASK-004, never the beginning of somebody else's id.
            let is_it = |task: &&ListedTask| {
                here.as_deref() == Some(task.project.as_str())
                    && task.key.is_some_and(|key| Ok(key.number) == begun.parse())
            };
            let by_number = tasks.iter().filter(is_it);
            found.extend(by_number.map(|task| (begun.to_owned(), task)));
        } else if found.is_empty() && !begun.is_empty() {
            let by_id = tasks.iter().filter(|task| task.id.starts_with(begun));
            found.extend(by_id.map(|task| (task.id.clone(), task)));
            found.extend(by_key_elsewhere(&tasks, here.as_deref(), begun));
        }
        let is_elsewhere = |task: &ListedTask| here.as_deref() != Some(task.project.as_str());
        found.sort_by_cached_key(|(_, task)| {
            let rank = wanted.rank(task).unwrap_or(u8::MAX);
            let project = is_elsewhere(task).then(|| task.project.clone());
            (rank, project, Reverse(task.key))
        });
        // Whoever has begun to type another one means it.
        let any_fits = found.iter().any(|(_, task)| wanted.rank(task).is_some());
        found.retain(|(_, task)| wanted.rank(task).is_some() || !begun.is_empty());
        let offers = found.into_iter().map(|(name, task)| {
            let what = match task.summary.as_str() {
                "" => task.status.clone(),
                summary => format!("{}: {summary}", task.status),
            };
            described(name, &what).hide(any_fits && wanted.rank(task).is_none())
        });
        Some(offers.collect())
    }
}

/// Tasks of other projects by keys that tell the project: none that begins as those of most do, or that two of them have.
fn by_key_elsewhere<'t>(
    tasks: &'t [ListedTask],
    here: Option<&str>,
    begun: &str,
) -> Vec<(String, &'t ListedTask)> {
    let elsewhere = |task: &&ListedTask| here != Some(task.project.as_str());
    let keyed = tasks.iter().filter(elsewhere);
    let mut found: Vec<(String, &ListedTask)> = keyed
        .filter_map(|task| {
            let key = task.key.filter(|key| !key.prefix.is_default())?;
            Some((key.to_string(), task))
        })
        .filter(|(key, _)| begins(key, begun))
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    let alone = found.chunk_by(|(one, _), (other, _)| one == other);
    let alone = alone.filter(|same| same.len() == 1);
    alone.flatten().cloned().collect()
}

/// How a task can be called by somebody who has typed this much. None: not at all.
pub(super) fn name_of(task: &ListedTask, here: Option<&str>, begun: &str) -> Option<String> {
    let is_here = here == Some(task.project.as_str());
    let (project, branch) = (&task.project, &task.branch);
    let key = task.key.map(|key| key.to_string());
    if is_here
        && let Some(key) = &key
        && begins(key, begun)
    {
        return Some(key.clone());
    }
    // Those of other projects only where one of theirs is being typed, or where there is no project.
    if begun.is_empty() && here.is_some() {
        return None;
    }
    let by_branch = [format!("{project}/{branch}"), branch.clone()];
    let by_branch = by_branch.into_iter().take(if is_here { 2 } else { 1 });
    let by_key = key.map(|key| format!("{project}:{key}"));
    by_key
        .into_iter()
        .chain(by_branch)
        .find(|name| begins(name, begun))
}

fn is_number(begun: &str) -> bool {
    !begun.is_empty() && begun.bytes().all(|byte| byte.is_ascii_digit())
}
