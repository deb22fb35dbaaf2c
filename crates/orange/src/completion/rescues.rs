//! Rescues that can be named: those of the task that stands before the name.

use super::tasks::name_of;
use super::values::{described, offering};
use clap_complete::engine::ArgValueCompleter;
use orange_core::id::Key;
use orange_engine::views::quick_reads;
use orange_engine::{Call, trash};

pub(crate) fn rescues() -> ArgValueCompleter {
    offering(|line, _| {
        let call = line.call()?;
        let here = line.project(&call);
        let verb = line.words.iter().position(|word| word == "rescue")?;
        let mut after = line.words.get(verb + 2..)?.iter();
        let named = after.find(|word| !word.starts_with('-'))?;
        let (project, id) = owner(&call, here.as_deref(), named)?;
        let rescues = quick_reads::quick_rescues(&call, &project, &id);
        let latest = rescues
            .first()
            .map(|_| ("latest".to_owned(), "the newest one"));
        let named = rescues
            .iter()
            .map(|it| (it.name.clone(), it.note.reason.as_str()));
        let offers = latest.into_iter().chain(named);
        Some(offers.map(|(name, what)| described(name, what)).collect())
    })
}

/// Project and id of the task that commands would take the word for, a deleted one too. None: not just one.
pub(super) fn owner(call: &Call, here: Option<&str>, named: &str) -> Option<(String, String)> {
    let tasks = quick_reads::quick_tasks(call);
    let by_name = |begun: &str| {
        let mut all = tasks.iter();
        all.find(|task| name_of(task, here, begun).is_some_and(|name| name == begun))
    };
    if let Some(task) = by_name(named) {
        return Some((task.project.clone(), task.id.clone()));
    }
    let is_meant = |project: &str, id: &str, key: Option<Key>| {
        let is_here = here.is_none_or(|here| here == project);
        id.starts_with(named) || is_here && key.is_some_and(|key| is_key(key, named))
    };
    let living = tasks
        .iter()
        .map(|task| (task.project.clone(), task.id.clone(), task.key));
    let deleted = trash::trashed(call).into_iter();
    let deleted = deleted.map(|(_, task)| (task.project, task.id, task.key));
    let mut found = living
        .chain(deleted)
        .filter(|(project, id, key)| is_meant(project, id, *key));
    let (project, id, _) = found.next()?;
    found.next().is_none().then_some((project, id))
}

/// `TASK-001`, in any case, or `1`.
fn is_key(key: Key, named: &str) -> bool {
    named.parse() == Ok(key) || named.parse() == Ok(key.number)
}
