//! The numbers of tasks: counted per project, never given twice.

use crate::call::Call;
use crate::database::Database;
use crate::error::Result;
use crate::trash;
use orange_core::id::Key;
use orange_core::task::Task;
use std::collections::BTreeSet;

/// The next key of a project, after making sure that the counter knows what is on disk. Its number is that of no other
/// task, whatever prefix the project had before.
pub(crate) fn next_key(call: &Call, project: &str) -> Result<Key> {
    let number = next_number(call, project)?;
    let prefix = call.prefix_of(project);
    Ok(Key { number, prefix })
}

fn next_number(call: &Call, project: &str) -> Result<u32> {
    heal_counter(call, project)?;
    let mut number = call.with_database(|database| database.next_number(project))?;
    // A restored backup of orange.db may be behind the folders.
    while call.index()?.by_number(project, number)?.is_some() {
        let highest = call.index()?.highest_key(project)?;
        number = call.with_database(|database| {
            database.heal_counter(project, highest, &[])?;
            database.next_number(project)
        })?;
    }
    Ok(number)
}

/// The key of a task that another program made: promised by age, else the next one.
pub(crate) fn key_for_adopted(call: &Call, task: &Task) -> Result<Key> {
    heal_counter(call, &task.project)?;
    let reserved = |database: &mut Database| database.reserved_number(&task.project, &task.id);
    let number = match call.with_database(reserved)? {
        Some(number) => number,
        None => next_number(call, &task.project)?,
    };
    let prefix = call.prefix_of(&task.project);
    Ok(Key { number, prefix })
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
