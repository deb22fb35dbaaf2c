//! One task as it is shown: its fields, its text, its journal and what hangs on it.

use crate::call::Call;
use crate::effects::delegation;
use crate::error::{Code, IoContext, Result};
use crate::index::query::FoundTask;
use crate::sessions::lost_workspace::{self, LostWorkspace};
use crate::store::{Place, journal, lock};
use crate::tx::racing::kept_texts;
use crate::views::{as_text, why};
use crate::{facts, home_record, sessions, trash, tx};
use orange_core::attention::{attention, unmerged};
use orange_core::history::{Event, EventType, History, HookOutcome, HookState};
use orange_core::machine::Linked;
use orange_core::reconcile::Broken;
use orange_core::runs::{Run, open_runs};
use orange_core::task::{Status, Task};
use orange_core::why::AgentPresence;
use serde::Serialize;
use std::path::PathBuf;

/// All that `task show` tells.
#[derive(Debug, Clone, Serialize)]
pub struct TaskView {
    #[serde(flatten)]
    pub task: Task,
    pub blocks: Vec<Linked>,
    pub referenced_by: Vec<Linked>,
    pub children: Vec<Linked>,
    #[serde(rename = "waits_for")]
    pub blockers: Vec<Linked>,
    #[serde(skip)]
    pub related: Vec<Linked>,
    #[serde(serialize_with = "as_text")]
    pub damaged: Option<Broken>,
    pub attention: Option<String>,
    /// Its workspace was deleted; `attention` says so too.
    #[serde(skip)]
    pub lost_workspace: Option<LostWorkspace>,
    /// Texts beside TASK.md that could not be merged into it.
    pub unmerged: Vec<PathBuf>,
    /// The Context is not what it was when the task was made.
    pub context_changed: bool,
    /// How its last status change went.
    pub hooks: Option<LastTransition>,
    /// Its TASK.md.
    pub path: PathBuf,
    pub body: String,
    #[serde(skip)]
    pub place: Place,
    #[serde(skip)]
    pub history: History,
}

/// A status change and its hooks.
#[derive(Debug, Clone, Serialize)]
pub struct LastTransition {
    pub from: Option<String>,
    pub to: Option<String>,
    pub hooks: Vec<HookView>,
}

#[derive(Debug, Clone, Serialize)]
pub struct HookView {
    pub hook: String,
    pub outcome: &'static str,
    pub reason: Option<String>,
}

impl LastTransition {
    fn of(history: &History) -> Option<LastTransition> {
        let transition = history.last_transition()?;
        let hook = |hook: &HookState| {
            let (outcome, reason) = match &hook.outcome {
                HookOutcome::Open => ("open", None),
                HookOutcome::Completed => ("completed", None),
                HookOutcome::Failed(failure) => ("failed", Some(failure.why.clone())),
                HookOutcome::Skipped(reason) => ("not carried out", Some(reason.clone())),
            };
            let hook = hook.name.clone();
            HookView {
                hook,
                outcome,
                reason,
            }
        };
        Some(LastTransition {
            from: transition.opening.from.clone(),
            to: transition.opening.to.clone(),
            hooks: transition.hooks.iter().map(hook).collect(),
        })
    }
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

/// One task. Its files are put in order first, if need be and possible.
pub fn view(call: &Call, place: Place) -> Result<TaskView> {
    let snapshot = call.store.read(&place)?;
    let witness = || lock::read_witness(&place.path);
    let truth = snapshot.reconcile(&place, &witness, call.now(), &mut |_, _| None);
    let needs_order = truth
        .as_ref()
        .is_ok_and(|truth| truth.rewrite && truth.broken.is_none())
        || snapshot
            .history
            .last_transition()
            .is_some_and(|transition| !transition.finished)
        || kept_texts(&place.path) != sorted(unmerged(&snapshot.history));
    if home_record::copied_from(call).is_some() {
        return view_as_is(call, place);
    }
    if let Ok(truth) = &truth
        && truth.task.waits_for_children()
        && let Some(key) = truth.task.key
        && let Err(error) = delegation::advance_delegated(call, &place.project, key.number)
    {
        tracing::warn!(%error, "a delegated task was not looked at");
    }
    if needs_order {
        match tx::lock_task(call, place.clone()) {
            Ok(_) => {}
            Err(error) if error.code == Code::Storage || error.code == Code::Busy => {
                call.notice(format!("shown as it will be; not written: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    view_as_is(call, place)
}

/// As [`view`], after the exit rules were applied to agents that are gone: by this process, or by the one that
/// is at it. Advice about the task would else be outdated by the very next command.
pub fn view_judged(call: &Call, place: Place) -> Result<TaskView> {
    let view = view(call, place.clone())?;
    let is_gone = |run: &Run| !sessions::run_folder(call, &run.id).is_alive();
    let unjudged = open_runs(&view.history).iter().any(is_gone);
    // A reviewer that crashed may be on its way back.
    let waits = view.task.status.is_in_review()
        && matches!(why::agent_of(call, &view), AgentPresence::Gone { .. });
    if view.damaged.is_some() || !(unjudged || waits) {
        return Ok(view);
    }
    match tx::lock_task(call, place.clone()) {
        Ok(tx) => drop(tx),
        Err(error) => tracing::warn!(%error, "an agent that is gone was not judged"),
    }
    view_as_is(call, place)
}

pub(crate) fn view_as_is(call: &Call, place: Place) -> Result<TaskView> {
    let snapshot = call.store.read(&place)?;
    let witness = || lock::read_witness(&place.path);
    let truth = snapshot
        .reconcile(&place, &witness, call.now(), &mut |_, _| None)
        .map_err(|broken| {
            let gone = (!place.path.exists()).then(|| trash::explain_gone(call, &place));
            gone.flatten()
                .unwrap_or_else(|| tx::damaged_for_good(&place, &broken))
        })?;
    let task = truth.task;
    let blockers = facts::linked_all(call, &task, &task.blocked_by)?;
    let related = facts::linked_all(call, &task, &task.related_to)?;
    let (mut blocks, mut referenced_by) = (Vec::new(), Vec::new());
    if let Some(key) = task.key {
        let index = call.index()?;
        let as_links = |found: Vec<FoundTask>| -> Vec<Linked> {
            let as_link = |found: FoundTask| Linked {
                reference: found.reference_in(&task.project),
                status: found.status.parse().ok(),
            };
            found.into_iter().map(as_link).collect()
        };
        blocks = as_links(index.waiting_for(&task.project, key.number)?);
        referenced_by = as_links(index.mentioning(&task.project, key)?);
    }
    let children = facts::children(call, &task)?;
    let lost_workspace = lost_workspace::lost_workspace(call, &task, &snapshot.history);
    let lost = lost_workspace.as_ref().map(|lost| lost.what.clone());
    Ok(TaskView {
        body: snapshot.body().to_owned(),
        attention: lost
            .or_else(|| attention(&snapshot.history))
            .or_else(|| cancelled_link(&blockers, &children)),
        lost_workspace,
        unmerged: kept_texts(&place.path)
            .into_iter()
            .map(|name| place.path.join(name))
            .collect(),
        hooks: LastTransition::of(&snapshot.history),
        path: place.task_file(),
        context_changed: snapshot
            .history
            .own()
            .iter()
            .any(|event| event.kind == EventType::ContextChanged),
        damaged: truth.broken,
        history: snapshot.history,
        task,
        place,
        blockers,
        blocks,
        related,
        referenced_by,
        children,
    })
}

/// The events of a journal from a byte on, and how far it was read; a line that is cut short is left for the next time.
pub fn events_since(place: &Place, from: usize) -> Result<(Vec<Event>, usize)> {
    let path = place.journal();
    let bytes = journal::read(&path).doing("read", &path)?;
    let later = bytes.text.get(from..).unwrap_or_default();
    Ok((History::parse(later).events, bytes.text.len()))
}

/// A cancelled blocker or child never gets over: a person has to decide.
fn cancelled_link(blockers: &[Linked], children: &[Linked]) -> Option<String> {
    let cancelled = |links: &[Linked]| {
        links
            .iter()
            .find(|link| link.status.is_some_and(Status::is_given_up))
            .map(|link| link.reference.clone())
    };
    match (cancelled(blockers), cancelled(children)) {
        (Some(blocker), _) => Some(format!("{blocker}, which it waits for, was cancelled")),
        (None, Some(child)) => Some(format!("its child {child} was cancelled")),
        (None, None) => None,
    }
}
