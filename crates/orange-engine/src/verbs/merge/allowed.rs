//! What is not merged, whatever git says: tasks without work, without a target, and wishes without an effect.

use crate::call::Call;
use crate::error::{Result, err};
use crate::facts::is_without_work;
use crate::projects::Project;
use crate::store::Place;
use crate::tx::refusal::undecided;
use crate::verbs::merge::MergeWish;
use orange_core::history::History;
use orange_core::merge::Strategy;
use orange_core::task::Task;
use orange_core::{Action, Parameter, text};

/// What a merge would say of a damaged task may not be what people wrote: its repair comes first.
pub(crate) fn refuse_damaged(call: &Call, place: &Place) -> Result<()> {
    let found = call.store.survey_thoroughly(&place.folder());
    let Some(damage) = found.damaged else {
        return Ok(());
    };
    Err(err!(
        ConditionUnmet,
        "{} is damaged, so it is not merged: {damage}",
        found.task.label()
    )
    .hint(text!(
        "{} mends it; look at it, then merge it",
        Action::repair()
    )))
}

/// A message that would stand nowhere is not passed over in silence.
pub(crate) fn has_use_for_message(wish: &MergeWish, default: Strategy) -> Result<()> {
    let strategy = wish.strategy.unwrap_or(default);
    match strategy {
        Strategy::Rebase | Strategy::Ff if wish.message.is_some() => Err(err!(
            Usage,
            "a message has no place with the strategy {strategy}: commits keep their own messages"
        )
        .hint(text!(
            "leave it out, or use {} or {}",
            Parameter::Strategy.given(Strategy::Squash.as_str()),
            Strategy::Merge.as_str()
        ))),
        Strategy::Squash | Strategy::Merge | Strategy::Rebase | Strategy::Ff => Ok(()),
    }
}

/// A branch has always all of its own work; that would end the task with nothing merged.
pub(crate) fn has_a_target(task: &Task, project: &Project) -> Result<()> {
    if task.target(&project.default_branch) != task.branch {
        return Ok(());
    }
    let label = task.label();
    Err(err!(
        ConditionUnmet,
        "{label} works on {}, which is its target too",
        task.branch
    )
    .hint(text!(
        "choose where it goes: {}",
        Action::set_target(task.name())
    )))
}

/// A phase that waits for a person's decision comes first.
pub(crate) fn decided(task: &Task) -> Result<()> {
    if task.is_at_phase_gate() {
        return Err(undecided(task, &format!("cannot merge {}", task.label())));
    }
    Ok(())
}

/// What is not to be merged, whatever git says.
pub(crate) fn mergeable(task: &Task) -> Result<()> {
    decided(task)?;
    let label = task.label();
    match task.status {
        status if status.is_over() => Err(err!(IllegalTransition, "{label} is {status} already")
            .hint(text!("{} says how", Action::show(task.name(), true)))),
        status if status.is_given_up() => Err(err!(
            IllegalTransition,
            "{label} was cancelled, so it is not merged"
        )
        .hint(text!(
            "start again from it: {}",
            Action::create_from(task.name(), true, None)
        ))),
        status if !status.has_started() => Err(err!(
            IllegalTransition,
            "{label} is {status}: there is no work to merge yet"
        )
        .hint(text!("start it: {}", crate::execution::how_to_start(task)))),
        _ => Ok(()),
    }
}

/// Refuses a branch on which nothing was ever committed. `beside`: commits that are checked out in its workspace instead.
pub(crate) fn has_work(
    task: &Task,
    history: &History,
    project: &Project,
    head: Option<&str>,
    beside: Option<&str>,
) -> Result<()> {
    if !is_without_work(task, history, project, head)? {
        return Ok(());
    }
    let label = task.label();
    if let Some(beside) = beside {
        return Err(err!(
            ConditionUnmet,
            "{label} has no commits on its branch: {beside}"
        )
        .hint(text!(
            "put them on its branch: in {}, {}",
            Action::shell(task.name()),
            Action::switch(&task.branch, true)
        )));
    }
    Err(err!(
        ConditionUnmet,
        "{label} has no commits of its own, so there is nothing to merge"
    )
    .hint(text!(
        "if nothing had to be done: {}; if work is not committed yet: {}",
        Action::resolve(task.name()),
        Action::shell(task.name())
    )))
}
