//! The numbers of tasks: counted per project, never given twice.

use crate::call::Call;
use crate::database::Database;
use crate::error::Result;
use crate::trash;
use orange_core::id::Key;
use orange_core::task::Task;
use std::collections::BTreeSet;

/// The next key of a project, after making sure that the counter knows what is on disk.
pub(crate) fn next_key(call: &Call, project: &str) -> Result<Key> {
    heal_counter(call, project)?;
    let mut key = call.with_database(|database| database.next_key(project))?;
    // A restored backup of orange.db may be behind the folders.
    while call.index()?.by_key(project, key)?.is_some() {
        let highest = call.index()?.highest_key(project)?;
        key = call.with_database(|database| {
            database.heal_counter(project, highest, &[])?;
            database.next_key(project)
        })?;
    }
    Ok(key)
}

/// The key of a task that another program made: promised by age, else the next one.
pub(crate) fn key_for_adopted(call: &Call, task: &Task) -> Result<Key> {
    heal_counter(call, &task.project)?;
    let reserved = |database: &mut Database| database.reserved_key(&task.project, &task.id);
    match call.with_database(reserved)? {
        Some(key) => Ok(key),
        None => next_key(call, &task.project),
    }
}

fn heal_counter(call: &Call, project: &str) -> Result<()> {
    match call.with_database(|database| database.last_key(project))? {
        Some(_) => Ok(()),
        None => raise_counter(call, project),
    }
}

/// Makes sure that the counter is beyond every key on disk, in the trash too.
fn raise_counter(call: &Call, project: &str) -> Result<()> {
    let index = call.fresh_index()?;
    let highest = index.highest_key(project)?;
    let keyless = index.keyless(project)?.into_iter().map(|task| task.id);
    let keyless: Vec<String> = keyless.collect();
    let highest = highest.max(trash::highest_in_trash(call, project));
    call.with_database(|database| database.heal_counter(project, highest, &keyless))
}

/// Raises every counter: after orange.db was put back from a backup, which may be behind.
pub(crate) fn raise_counters(call: &Call) -> Result<()> {
    call.home.close_database();
    let trashed = trash::trashed(call).into_iter();
    let mut projects = BTreeSet::from_iter(call.fresh_index()?.project_names()?);
    projects.extend(trashed.map(|(place, _)| place.project));
    let mut projects = projects.iter();
    projects.try_for_each(|project| raise_counter(call, project))
}
