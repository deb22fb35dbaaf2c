//! `cancel`: ends a task without a merge, with its children if asked.

use crate::access;
use crate::call::Call;
use crate::error::{Result, err};
use crate::store::Place;
use crate::tx::commit::Committed;
use crate::verbs::change::{self, Change};
use crate::views::task;
use orange_core::task::Task;
use orange_core::workflow::Intent;
use orange_core::{Action, Parameter, text};

/// What to do with open children of a cancelled task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelChildren {
    Ask,
    Too,
    Keep,
}

#[derive(Debug, Clone)]
pub struct Cancelled {
    pub done: Committed,
    pub children: Vec<Committed>,
}

impl Cancelled {
    /// Whether one of them gave up what other tasks may wait for.
    pub fn made_room(&self) -> bool {
        self.done.made_room() || self.children.iter().any(Committed::made_room)
    }
}

/// Cancels a task; with open children the caller must say what becomes of them.
pub fn cancel(call: &Call, place: Place, children: CancelChildren) -> Result<Cancelled> {
    let mut ended = Vec::new();
    let task = task::view(call, place.clone())?.task;
    access::own_task_only(call, &task, "cancel")?;
    if children == CancelChildren::Too && !task.status.is_terminal() {
        for (_, child) in open_children(call, &task)? {
            ended.push(cancel_one(call, child, true)?);
        }
    }
    let keep = children != CancelChildren::Ask;
    Ok(Cancelled {
        done: cancel_one(call, place, keep)?,
        children: ended,
    })
}

/// Whether a task could be cancelled, before a person is asked. `named` are those that are cancelled with it.
pub fn check_cancel(
    call: &Call,
    task: &Task,
    children: CancelChildren,
    named: &[Place],
) -> Result<()> {
    access::own_task_only(call, task, "cancel")?;
    match children {
        CancelChildren::Ask => no_open_children(call, task, named),
        CancelChildren::Too | CancelChildren::Keep => Ok(()),
    }
}

fn cancel_one(call: &Call, place: Place, keep_children: bool) -> Result<Committed> {
    let change = Change {
        intent: Some(Intent::Cancel),
        keep_children,
        ..Change::default()
    };
    Ok(change::change(call, place, &change)?.done)
}

/// Refuses to leave children behind without a word, but for those that are `named` too.
pub(crate) fn no_open_children(call: &Call, task: &Task, named: &[Place]) -> Result<()> {
    let mut open = open_children(call, task)?;
    open.retain(|(_, child)| !named.contains(child));
    if open.is_empty() || task.status.is_terminal() {
        return Ok(());
    }
    let names: Vec<&str> = open.iter().map(|(name, _)| name.as_str()).collect();
    let label = task.label();
    Err(err!(
        ConditionUnmet,
        "{label} has open children: {}",
        names.join(", ")
    )
    .hint(text!(
        "{} cancels them too, {} leaves them",
        Action::cancel(task.name(), true),
        Parameter::KeepChildren
    )))
}

/// Open children, and theirs: the deepest first.
fn open_children(call: &Call, task: &Task) -> Result<Vec<(String, Place)>> {
    let mut all = Vec::new();
    let mut seen = vec![task.id.clone()];
    let own = task.key.map(|key| (task.project.clone(), key.number));
    let mut next = Vec::from_iter(own);
    while let Some((project, number)) = next.pop() {
        for child in call.index()?.children_of(&project, number)? {
            if seen.contains(&child.id) {
                continue;
            }
            seen.push(child.id.clone());
            next.extend(child.key.map(|key| (child.project.clone(), key.number)));
            if child.is_live() {
                all.push((child.label(), call.store.place(&child.folder)));
            }
        }
    }
    all.reverse();
    Ok(all)
}

/// Puts tasks before those whose open children they are.
pub fn children_first(call: &Call, mut places: Vec<Place>) -> Result<Vec<Place>> {
    let mut below = Vec::new();
    for place in &places {
        let task = call.store.survey(&place.folder()).task;
        let children = open_children(call, &task)?.into_iter();
        below.extend(children.map(|(_, child)| child));
    }
    let depth = |place: &Place| below.iter().filter(|child| *child == place).count();
    places.sort_by_key(|place| std::cmp::Reverse(depth(place)));
    Ok(places)
}
