//! Which environment a task's checks run in: that of the person who started it, kept in a private file until the task
//! is over.

use super::{Caller, Engine};
use crate::database::Database;
use crate::error::{Error, Result};
use crate::person_environment::{self, PersonEnvironment};
use crate::store::private;
use crate::store::replace::{short_hash, write_atomic};
use std::fs;
use std::path::PathBuf;

const KIND: &str = "environment";

impl Engine {
    fn environments(&self) -> PathBuf {
        self.store.home().join("environments")
    }

    fn environment_file(&self, task: &str) -> PathBuf {
        let name = format!("{:016x}", short_hash(task.as_bytes()));
        self.environments().join(name)
    }

    /// Notes in which environment a task is started: that of the person whose command this is, or who started
    /// the agent's own task. It may hold secrets. What cannot be noted stops nobody: a check then runs in a minimal one.
    pub(crate) fn note_started_by(&self, task: &str) {
        let Some(person) = self.person.clone() else {
            return;
        };
        if let Err(error) = self.write_environment(task, &person) {
            tracing::warn!(%error, task, "the environment of its checks is not noted");
        }
    }

    fn write_environment(&self, task: &str, person: &PersonEnvironment) -> Result<()> {
        let content = person.to_bytes();
        let key = self.with_database(Database::seal_key)?;
        let seal = key.of_file(KIND, task, &content);
        let folder = self.environments();
        private::make_folders(&folder).map_err(|error| Error::io("create", &folder, &error))?;
        let file = self.environment_file(task);
        write_atomic(&file, &content).map_err(|error| Error::io("write", &file, &error))?;
        self.with_database(|database| database.note_environment_seal(task, Some(&seal)))
    }

    /// The environment of the person who started a task; None if nobody knows it, or if it was not Orange that noted it.
    pub(crate) fn environment_of(&self, task: &str) -> Option<PersonEnvironment> {
        let seal = self.environment_seal(task)?;
        let content = fs::read(self.environment_file(task)).ok()?;
        let key = self.with_database(Database::seal_key).ok()?;
        let is_ours = seal == key.of_file(KIND, task, &content);
        is_ours.then(|| PersonEnvironment::from_bytes(&content))
    }

    fn environment_seal(&self, task: &str) -> Option<String> {
        if !Database::path_in(self.store.home()).exists() {
            return None;
        }
        self.with_database(|database| database.environment_seal(task))
            .ok()?
    }

    /// Whether the environment of a task was noted; true also where nobody can tell.
    fn may_have_environment(&self, task: &str) -> bool {
        if !Database::path_in(self.store.home()).exists() {
            return false;
        }
        let seal = self.with_database(|database| database.environment_seal(task));
        !matches!(seal, Ok(None))
    }

    /// Its secrets are kept no longer than they are needed.
    pub(crate) fn forget_environment(&self, task: &str) {
        if self.environment_seal(task).is_none() {
            return;
        }
        let _ = fs::remove_file(self.environment_file(task));
        let forgotten = self.with_database(|database| database.note_environment_seal(task, None));
        if let Err(error) = forgotten {
            tracing::warn!(%error, task, "the seal of its environment is left");
        }
    }

    /// For a command of an agent, and for an errand about a task: programs are found and started as for the person who
    /// started the task, whatever the variables of this process say.
    pub fn as_started(&self, task: &str) -> Engine {
        let mut this = self.clone();
        let person = match self.environment_of(task) {
            Some(person) => person,
            // It was noted, and somebody removed or changed it: an agent does not get its own way by that.
            None if self.may_have_environment(task) => person_environment::minimal(None),
            None => return this,
        };
        this.search_path = person.get("PATH").map(Into::into);
        this.user_home = person.get("HOME").map(PathBuf::from);
        if matches!(self.caller, Caller::Agent { .. }) {
            // An errand has what its run was started with, which may be newer.
            this.environment = crate::harness::environment::of_agents(person.readable());
        }
        person.clone().give_to_children();
        this.person = Some(person);
        this
    }
}
