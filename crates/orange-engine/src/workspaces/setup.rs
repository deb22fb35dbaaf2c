//! What a slot gets besides the checkout: files of the user's, and the commands that make it ready. Both are
//! read from the commit the work starts from, so that no agent writes its own.

use crate::call::{Call, Caller};
use crate::error::{Error, Result};
use crate::person_environment::PersonEnvironment;
use crate::projects::Project;
use crate::rules::{Commands, Rules, rules_commit};
use crate::workspaces::commands::{self, CommandFailed, Variables};
use crate::workspaces::verify_slot::CHECK_MARK;
use crate::workspaces::{self, TaskSlot, consents, files, project_consent};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, text};
use std::path::Path;
use std::time::Duration;

/// Refuses commands that nobody agreed to.
pub(crate) fn commands_are_trusted(call: &Call, project: &Project, task: &Task) -> Result<()> {
    untrusted_for(call, project, task)?.map_or(Ok(()), Err)
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

impl TaskSlot<'_> {
    /// Copies files and runs the setup commands. A slot that was another task's gets fresh copies.
    pub(super) fn set_up(&self, fresh: bool) -> Result<()> {
        let (call, project, slot) = (self.call, self.project, &self.lease.slot);
        let rules = rules_for(call, project, self.task)?;
        consents::untrusted(call, project, &rules)?.map_or(Ok(()), Err)?;
        let copied = files::copy_into(&project.path, self.folder, &rules.copy, fresh)?;
        if let Some(first) = copied.skipped.first() {
            let count = counted(copied.skipped.len(), "file");
            let (path, why) = (first.path.display(), &first.why);
            call.notice(format!(
                "{count} not copied into {slot}, the first is {path}: {why}"
            ));
        }
        self.run(&rules.setup, rules.timeout, "setup.log")?;
        Ok(())
    }

    /// Runs the teardown commands. One that fails is told, but keeps no slot from being given back.
    pub(super) fn tear_down(&self) -> Result<()> {
        let (call, lease) = (self.call, self.lease);
        let slot = workspaces::pool(call)?.workspaces.remove(&lease.slot);
        if slot.is_some_and(|slot| slot.torn_down == lease.epoch) {
            return Ok(());
        }
        let mut rules = match rules_for(call, self.project, self.task) {
            Ok(rules) => rules,
            Err(error) => {
                call.notice(format!("no teardown of {}: {error}", lease.slot));
                return Ok(());
            }
        };
        let wanted = rules.foreign.of_workspace();
        if !consents::is_trusted(call, &self.project.name, &wanted)? {
            rules = rules.without_foreign();
        }
        if let Err(failed) = self.run(&rules.teardown, rules.timeout, "teardown.log") {
            call.notice(format!(
                "teardown of {}: {failed}; all of its output is in {}",
                lease.slot,
                failed.log.display()
            ));
        }
        if rules.teardown.is_empty() {
            return Ok(());
        }
        // A process that dies before the slot is free leaves the rest to the next, but not this.
        workspaces::change_slot(call, &lease.slot, |slot| slot.torn_down = lease.epoch)
    }

    /// Runs commands with what they may want to know, and nothing that makes them look like an agent.
    fn run(
        &self,
        commands: &[String],
        timeout: Duration,
        log: &str,
    ) -> std::result::Result<(), CommandFailed> {
        let more = [
            ("ORANGE_PROJECT", self.project.name.clone()),
            ("ORANGE_REPOSITORY", self.project.path.display().to_string()),
            ("ORANGE_WORKSPACE", self.lease.slot.clone()),
            ("ORANGE_TASK_KEY", self.task.label()),
            ("ORANGE_BRANCH", self.task.branch.clone()),
        ];
        let env = Variables {
            of_person: None,
            more: named(more),
        };
        let log = self.place.path.join(log);
        commands::run(self.folder, commands, timeout, &env, &log)
    }
}

/// What the commands of a check find: it is no task's, and the mark leads to whatever it starts.
pub(crate) fn surroundings_of_check(
    project: &Project,
    (slot, folder): (&str, &Path),
    person: &PersonEnvironment,
) -> Variables {
    let home = folder.parent().and_then(Path::parent);
    let home = home.unwrap_or(Path::new("/")).display().to_string();
    let more = [
        ("ORANGE_PROJECT", project.name.clone()),
        ("ORANGE_REPOSITORY", project.path.display().to_string()),
        ("ORANGE_WORKSPACE", slot.to_owned()),
        // A setup that names things after its task still finds a name.
        ("ORANGE_TASK_KEY", "verify".to_owned()),
        ("ORANGE_BRANCH", "verify".to_owned()),
        (CHECK_MARK, folder.display().to_string()),
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
