//! Which environment a task's checks run in: that of the person who started it, kept in a private file until the task
//! is over.

use crate::call::{Call, Caller};
use crate::database::Database;
use crate::error::{IoContext, Result};
use crate::person_environment::{self, GivenToThread, PersonEnvironment};
use crate::store::private;
use crate::store::replace::{short_hash, write_atomic};
use std::fs;
use std::path::PathBuf;

const KIND: &str = "environment";

fn environment_file(call: &Call, task: &str) -> PathBuf {
    let name = format!("environments/{:016x}", short_hash(task.as_bytes()));
    call.store.home().join(name)
}

/// Notes in which environment a task is started: that of the person whose command this is, or who started
/// the agent's own task. It may hold secrets. What cannot be noted stops nobody: a check then runs in a minimal one.
pub(crate) fn note_started_by(call: &Call, task: &str) {
    if let Some(person) = &call.person
        && let Err(error) = write_environment(call, task, person)
    {
        tracing::warn!(%error, task, "the environment of its checks is not noted");
    }
}

fn write_environment(call: &Call, task: &str, person: &PersonEnvironment) -> Result<()> {
    let content = person.to_bytes();
    let key = call.with_database(Database::seal_key)?;
    let seal = key.of_file(KIND, task, &content);
    let file = environment_file(call, task);
    // A start comes by here more than once.
    if environment_seal(call, task)?.as_deref() == Some(seal.as_str())
        && fs::read(&file).is_ok_and(|there| there == content)
    {
        return Ok(());
    }
    let folder = file.parent().unwrap_or(&file);
    private::make_folders(folder).doing("create", folder)?;
    write_atomic(&file, &content).doing("write", &file)?;
    call.with_database(|database| database.note_environment_seal(task, Some(&seal)))
}

/// The environment of the person who started a task; None if nobody knows it, or if it was not Orange that noted it.
pub(crate) fn environment_of(call: &Call, task: &str) -> Option<PersonEnvironment> {
    let seal = environment_seal(call, task).ok()??;
    let content = fs::read(environment_file(call, task)).ok()?;
    let key = call.with_database(Database::seal_key).ok()?;
    let is_ours = seal == key.of_file(KIND, task, &content);
    is_ours.then(|| PersonEnvironment::from_bytes(&content))
}

fn environment_seal(call: &Call, task: &str) -> Result<Option<String>> {
    let seal = call.with_existing_database(|database| database.environment_seal(task))?;
    Ok(seal.flatten())
}

/// Its secrets are kept no longer than they are needed.
pub(crate) fn forget_environment(call: &Call, task: &str) {
    if !matches!(environment_seal(call, task), Ok(Some(_))) {
        return;
    }
    let _ = fs::remove_file(environment_file(call, task));
    let forgotten = call.with_database(|database| database.note_environment_seal(task, None));
    if let Err(error) = forgotten {
        tracing::warn!(%error, task, "the seal of its environment is left");
    }
}

/// For a process that works for one task alone, an agent's command or an errand: from now on programs are found and started
/// as for the person who started the task, whatever the variables of this process say.
pub fn inherit_here(call: &Call, task: &str) -> Call {
    let Some(person) = person_of(call, task) else {
        return call.clone();
    };
    person.clone().give_to_children();
    on_behalf(call, person)
}

/// The same for this thread, until the second result is dropped: other threads of the process may be at work for somebody
/// else, and so may this one afterwards.
pub(crate) fn inherit_in_thread(call: &Call, task: &str) -> (Call, Option<GivenToThread>) {
    let Some(person) = person_of(call, task) else {
        return (call.clone(), None);
    };
    let given = person.clone().give_to_thread();
    (on_behalf(call, person), Some(given))
}

/// The environment of the person who started a task; None if none was ever noted.
fn person_of(call: &Call, task: &str) -> Option<PersonEnvironment> {
    match environment_of(call, task) {
        None if matches!(environment_seal(call, task), Ok(None)) => None,
        // The recorded environment was removed or changed: a minimal one is used, so that an agent gains nothing by it.
        None => Some(person_environment::minimal(None)),
        known => known,
    }
}

fn on_behalf(call: &Call, person: PersonEnvironment) -> Call {
    let mut this = call.clone();
    let settings = &mut this.settings;
    settings.search_path = person.get("PATH").map(Into::into);
    let home = person.get("HOME").map(PathBuf::from);
    let account = || person_environment::minimal(None);
    settings.user_home = home.or_else(|| account().get("HOME").map(PathBuf::from));
    if matches!(call.caller, Caller::Agent { .. }) {
        // An errand has what its run was started with, which may be newer.
        settings.environment = crate::harness::environment::of_agents(person.readable());
    }
    settings.person = Some(person);
    this
}
