//! Which commit speaks for the repository about a task: the one its work starts from, as long as no agent could
//! have written it. It is journalled when the task starts and counts from then on, wherever branches point later.

use crate::call::{self, Call, Caller};
use crate::error::{Result, err};
use crate::git;
use crate::projects::Project;
use crate::rules::{self, Start};
use crate::seal_checks;
use crate::store::journal;
use orange_core::history::payload::{HookEnded, TaskCreated};
use orange_core::history::{Event, EventType, History};
use orange_core::task::Task;
use orange_core::workflow::Actor;
use orange_core::{Action, machine, text};
use std::path::{Path, PathBuf};

/// More tasks built one upon the other than anybody has; a circle made by hand ends here too.
const LONGEST_CHAIN: usize = 32;

/// Where the task starts from, never its own branch nor the work of another task: agents write there. Work
/// built upon a task follows that task's rules, whatever has become of it.
pub(crate) fn rules_commit(call: &Call, project: &Project, task: &Task) -> Result<String> {
    let mut made = match folder_of(call, &task.project, &task.id)? {
        Some(folder) => made_as(call, &folder).unwrap_or_default(),
        // Not written yet: it is being made by whoever calls.
        None => MadeAs {
            base: task.base.clone(),
            by_agent: matches!(call.caller, Caller::Agent { .. }),
            ..MadeAs::default()
        },
    };
    // An agent moves branches and remote branches as it likes; what the journal says it cannot move.
    if let Some(commit) = made.settled_rules(project) {
        return Ok(commit.to_owned());
    }
    if made.lacks_lines && made.started {
        return Err(err!(Damaged, "history.jsonl of {} lacks lines that Orange wrote, so nobody knows which commit its rules come from", task.label())
            .hint(text!(
                "put the file back from a backup, or start again: {}",
                Action::create_from(task.name(), false, None)
            )));
    }
    for _ in 0..LONGEST_CHAIN {
        if let Some(upon) = &made.upon {
            match made_as_of(call, &project.name, upon)? {
                Some(below) => made = below,
                None => break,
            }
            continue;
        }
        let Some(base) = made.base.as_deref() else {
            break;
        };
        if let Some(reference) = default_branch(project, base) {
            // By its full name: a tag of that name is anybody's.
            match git::commit_of(&project.path, &reference)? {
                Some(commit) => return Ok(commit),
                None => break,
            }
        }
        // Names can be moved while an agent works; where it started cannot.
        let commit = match &made.base_commit {
            Some(commit) => Some(commit.clone()),
            None => git::commit_of(&project.path, base)?,
        };
        let Some(commit) = commit else { break };
        if is_in_default_branch(project, &commit)? {
            return Ok(commit);
        }
        // An agent makes branches and commits as it likes, so only what is in the default branch counts.
        if made.by_agent {
            break;
        }
        match whose_work(call, project, &commit)? {
            Some((_, below)) => made = below,
            None => return Ok(commit),
        }
    }
    rules::parking_place(call, project)
}

/// The commit to journal as the source of a task's rules when it has got its slot and before its agent starts.
pub(crate) fn rules_at_start(call: &Call, task: &Task, start: &Start) -> Result<String> {
    let project = call::registered(call, &task.project)?;
    let is_default = default_branch(&project, &start.reference).is_some();
    let settled = match folder_of(call, &task.project, &task.id)? {
        Some(folder) => made_as(call, &folder).and_then(|made| made.rules),
        None => None,
    };
    match (settled, &start.commit) {
        (Some(commit), _) => Ok(commit),
        (None, Some(commit)) if is_default && !start.existing => Ok(commit.clone()),
        (None, _) => rules_commit(call, &project, task),
    }
}

/// The task whose work a commit is, for the journal of one that is to be built upon it.
pub(crate) fn built_upon(
    call: &Call,
    project: &Project,
    base: &str,
    commit: &str,
) -> Result<Option<String>> {
    if default_branch(project, base).is_some() || is_in_default_branch(project, commit)? {
        return Ok(None);
    }
    let found = whose_work(call, project, commit)?;
    Ok(found.map(|(id, _)| id))
}

fn is_in_default_branch(project: &Project, commit: &str) -> Result<bool> {
    rules::is_in_branch(&project.path, commit, &project.default_branch)
}

/// A commit that is on a task's branch, and was not there when that task began.
fn whose_work(call: &Call, project: &Project, commit: &str) -> Result<Option<(String, MadeAs)>> {
    for branch in git::branches_with(&project.path, commit)? {
        for owner in call.index()?.by_branch(&project.name, &branch)? {
            // An owner whose journal cannot be read does not count.
            let made = made_as(call, &call.store.place(&owner.folder).path).unwrap_or_default();
            let was_there = match &made.base_commit {
                Some(began) => git::is_ancestor(&project.path, commit, began)?,
                None => !made.started,
            };
            if !was_there {
                return Ok(Some((owner.id, made)));
            }
        }
    }
    Ok(None)
}

/// How a task was made, also one that was deleted.
fn made_as_of(call: &Call, project: &str, id: &str) -> Result<Option<MadeAs>> {
    let folder = match folder_of(call, project, id)? {
        Some(folder) => folder,
        None => call.store.trash().join(project).join(id),
    };
    Ok(made_as(call, &folder))
}

fn made_as(call: &Call, folder: &Path) -> Option<MadeAs> {
    let bytes = journal::read(&folder.join("history.jsonl")).ok()?;
    let mut history = History::parse(&bytes.text);
    let sealed = seal_checks::drop_unsealed(call, &mut history);
    made_as_told(&history.events, sealed.incomplete)
}

/// A folder that somebody made by hand need not be called like its task.
fn folder_of(call: &Call, project: &str, id: &str) -> Result<Option<PathBuf>> {
    let usual = call.store.place(&format!("{project}/{id}")).path;
    if usual.is_dir() {
        return Ok(Some(usual));
    }
    let found = call.index()?.by_id_prefix(id)?;
    let found = found.into_iter().find(|task| task.id == id);
    Ok(found.map(|task| call.store.place(&task.folder).path))
}

/// What the journal of a task tells of its beginning. Without one: nobody knows who made it.
#[derive(Debug)]
struct MadeAs {
    base: Option<String>,
    by_agent: bool,
    /// The task whose work it was built upon.
    upon: Option<String>,
    /// Where it began, once it had begun, and what that was called.
    base_commit: Option<String>,
    base_reference: Option<String>,
    started: bool,
    /// Where its rules come from, once it had begun.
    rules: Option<String>,
    /// Somebody took out lines that Orange had written.
    lacks_lines: bool,
}

impl MadeAs {
    /// The commit that was settled when the task started. A task of an earlier version has no note of it, but where
    /// its branch started from says the same if that was the default branch.
    fn settled_rules(&self, project: &Project) -> Option<&str> {
        let began = self.base_reference.as_deref();
        let from_default = began.is_some_and(|name| default_branch(project, name).is_some());
        let began = self.base_commit.as_deref().filter(|_| from_default);
        self.rules.as_deref().or(began)
    }
}

impl Default for MadeAs {
    fn default() -> MadeAs {
        MadeAs {
            base: None,
            by_agent: true,
            upon: None,
            base_commit: None,
            base_reference: None,
            started: true,
            rules: None,
            lacks_lines: false,
        }
    }
}

/// What a journal tells, without what somebody else wrote into it.
fn made_as_told(events: &[Event], lacks_lines: bool) -> Option<MadeAs> {
    let first = events.first()?;
    let by = first.by.as_deref().unwrap_or_default();
    let by_us = [Actor::Human, Actor::Engine]
        .iter()
        .any(|actor| actor.name() == by);
    let mut hooks = events.iter().filter_map(HookEnded::of);
    let began = hooks.find(|hook| hook.base_commit.is_some());
    let began = began.unwrap_or_default();
    let rules = events
        .iter()
        .find_map(|event| HookEnded::of(event)?.rules_commit);
    let upon = events.iter().find_map(|event| TaskCreated::of(event)?.upon);
    Some(MadeAs {
        base_reference: began.base.map(str::to_owned),
        rules: rules.map(str::to_owned),
        lacks_lines,
        base: machine::fold(events, u64::MAX).ok()?.base,
        // One that was found and taken over may be anybody's.
        by_agent: !(by_us && first.kind == EventType::TaskCreated),
        upon: upon.map(str::to_owned),
        base_commit: began.base_commit.map(str::to_owned),
        started: events
            .iter()
            .any(|event| event.kind == EventType::AgentSpawned),
    })
}

/// The full name of the default branch, here or at the remote, if that is what the base says.
fn default_branch(project: &Project, base: &str) -> Option<String> {
    let name = base.strip_prefix("refs/").unwrap_or(base);
    let place = name.strip_suffix(project.default_branch.as_str())?;
    let full = match place {
        "" | "heads/" => "refs/heads/",
        "origin/" | "remotes/origin/" => "refs/remotes/origin/",
        _ => return None,
    };
    Some(format!("{full}{}", project.default_branch))
}
