//! What a slot gets besides the checkout: files of the user's, and the commands that make it ready. Both are
//! read from the commit the work starts from, so that no agent writes its own.

use crate::call::{Call, Caller};
use crate::error::{Error, Result};
use crate::person_environment::PersonEnvironment;
use crate::projects::Project;
use crate::rules::{Commands, Rules, rules_commit};
use crate::store::Place;
use crate::workspaces::commands::{self, Variables};
use crate::workspaces::verify_slot::{CHECK_MARK, VerifySlot};
use crate::workspaces::{self, Lease, consents, files, project_consent};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, text};
use std::path::Path;

/// Refuses commands that nobody agreed to.
pub(crate) fn commands_are_trusted(call: &Call, project: &Project, task: &Task) -> Result<()> {
    match untrusted_for(call, project, task)? {
        Some(refusal) => Err(refusal),
        None => Ok(()),
    }
}

pub(crate) fn untrusted_for(call: &Call, project: &Project, task: &Task) -> Result<Option<Error>> {
    let rules = rules_for(call, project, task)?;
    match consents::untrusted(call, project, &rules)? {
        Some(refusal) => Ok(Some(refusal)),
        None => project_consent::unwanted_project_files(call, project, task),
    }
}

/// The rules of the commit that the task starts from. An existing branch is not asked: it may be an agent's.
fn rules_for(call: &Call, project: &Project, task: &Task) -> Result<Rules> {
    let commit = rules_commit::rules_commit(call, project, task)?;
    let mut rules = consents::repository_rules(call, project, &commit)?;
    // A check is agreed to when it is to run; no workspace waits for that.
    let check = Commands {
        verify: std::mem::take(&mut rules.foreign.verify),
        ..Commands::default()
    };
    if call.caller == Caller::Human && !consents::is_trusted(call, &project.name, &check)? {
        let name = &project.name;
        call.notice(text!(
            "work of project {name} is not verified until you agree to its check: {}",
            Action::trust(name, None)
        ));
    }
    Ok(rules)
}

/// Copies files and runs the setup commands. A slot that was another task's gets fresh copies.
pub(crate) fn set_up(
    call: &Call,
    project: &Project,
    task: &Task,
    place: &Place,
    lease: &Lease,
    folder: &Path,
    fresh: bool,
) -> Result<()> {
    let rules = rules_for(call, project, task)?;
    if let Some(refusal) = consents::untrusted(call, project, &rules)? {
        return Err(refusal);
    }
    let copied = files::copy_into(&project.path, folder, &rules.copy, fresh)?;
    if let Some(first) = copied.skipped.first() {
        call.notice(format!(
            "{} not copied into {}, the first is {}: {}",
            counted(copied.skipped.len(), "file"),
            lease.slot,
            first.path.display(),
            first.why
        ));
    }
    let log = place.path.join("setup.log");
    let env = surroundings(project, task, lease);
    commands::run(folder, &rules.setup, rules.timeout, &env, &log)?;
    Ok(())
}

/// Runs the teardown commands. One that fails is told, but keeps no slot from being given back.
pub(crate) fn tear_down(
    call: &Call,
    project: &Project,
    task: &Task,
    place: &Place,
    lease: &Lease,
    folder: &Path,
) -> Result<()> {
    let slot = workspaces::pool(call)?.workspaces.get(&lease.slot).cloned();
    if slot.is_some_and(|slot| slot.torn_down == lease.epoch) {
        return Ok(());
    }
    let rules = match rules_for(call, project, task) {
        Ok(rules) => rules,
        Err(error) => {
            call.notice(format!("no teardown of {}: {error}", lease.slot));
            return Ok(());
        }
    };
    let rules = if consents::is_trusted(call, &project.name, &rules.foreign)? {
        rules
    } else {
        rules.without_foreign()
    };
    let log = place.path.join("teardown.log");
    let env = surroundings(project, task, lease);
    if let Err(failed) = commands::run(folder, &rules.teardown, rules.timeout, &env, &log) {
        call.notice(format!(
            "teardown of {}: {failed}; all of its output is in {}",
            lease.slot,
            log.display()
        ));
    }
    if rules.teardown.is_empty() {
        return Ok(());
    }
    // A process that dies before the slot is free leaves the rest to the next, but not this.
    workspaces::change_pool(call, |_, pool| {
        if let Some(slot) = pool.workspaces.get_mut(&lease.slot) {
            slot.torn_down = lease.epoch;
        }
        Ok(())
    })
}

/// The same for a check: it is no task's, and the mark leads to whatever it starts.
pub(crate) fn surroundings_of_check(
    project: &Project,
    slot: &VerifySlot,
    person: &PersonEnvironment,
) -> Variables {
    let home = slot.folder.parent().and_then(Path::parent);
    let home = home.unwrap_or(Path::new("/")).display().to_string();
    let more = [
        ("ORANGE_PROJECT", project.name.clone()),
        ("ORANGE_REPOSITORY", project.path.display().to_string()),
        ("ORANGE_WORKSPACE", slot.name.clone()),
        // A setup that names things after its task still finds a name.
        ("ORANGE_TASK_KEY", "verify".to_owned()),
        ("ORANGE_BRANCH", "verify".to_owned()),
        (CHECK_MARK, slot.folder.display().to_string()),
        // Its `orange` knows it by the mark, in this home.
        ("ORANGE_HOME", home),
        // What is checked is what is merged.
        ("GIT_NO_REPLACE_OBJECTS", "1".to_owned()),
    ];
    Variables {
        of_person: Some(person.clone()),
        more: named(more),
    }
}

fn named<const N: usize>(variables: [(&str, String); N]) -> Vec<(String, String)> {
    variables
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
}

/// What a command may want to know. Nothing that makes it look like an agent.
fn surroundings(project: &Project, task: &Task, lease: &Lease) -> Variables {
    let more = [
        ("ORANGE_PROJECT", project.name.clone()),
        ("ORANGE_REPOSITORY", project.path.display().to_string()),
        ("ORANGE_WORKSPACE", lease.slot.clone()),
        ("ORANGE_TASK_KEY", task.label()),
        ("ORANGE_BRANCH", task.branch.clone()),
    ];
    Variables {
        of_person: None,
        more: named(more),
    }
}
