//! The verbs every front end calls. One file per group of verbs; this one holds what they share.

mod agents;
mod base;
mod branch;
mod change;
mod create;
mod create_from;
mod delegation;
mod facts;
mod failures;
mod handover;
pub mod harnesses;
pub(crate) mod lost_workspace;
mod merge;
pub(crate) mod messages;
mod models;
mod permissions;
mod project;
mod questions;
mod queue;
mod refusal;
pub(crate) mod rescue;
mod resolve;
pub(crate) mod settings;
mod start;
mod started_by;
mod testimony;
pub(crate) mod trash;
mod trust;

pub use agents::Screen;
pub use base::Start;
pub(crate) use change::bad_value;
pub use change::{Change, Changed, Edit};
pub use create::{Created, NewTask};
pub use create_from::{Earlier, Origin, Work};
pub use lost_workspace::LostWorkspace;
pub use merge::{Concern, MergePlan, MergeWish, Merged};
pub use messages::Sent;
pub(crate) use messages::{Whose, undelivered};
pub use permissions::SaidBy;
pub use project::{AddProject, Added, UpdateProject};
pub use questions::OpenQuestion;
pub use rescue::{RescueOwner, RescueRestored, RestoredTo};
pub use resolve::Landing;
use settings::Loaded;
pub use settings::{Outside, Override, SettingChanged};
pub use start::StartOutcome;
pub(crate) use testimony::Sealing;
pub use testimony::Testimony;
pub use trash::{CancelChildren, Cancelled};
pub use trust::Offer;
pub(crate) use trust::newest_base;

use crate::database::Database;
use crate::error::Result;
use crate::home::Home;
use crate::index::Index;
use crate::person_environment::PersonEnvironment;
use crate::projects::{self, Project};
use crate::store::{Place, Store};
use crate::tmux::Inside;
use orange_core::id::{Key, read_stored};
use orange_core::task::{Field, Task};
use orange_core::workflow::{Actor, Role};
use orange_core::{Text, Timestamp};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Who runs the command, as the front end found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    Human,
    Agent {
        task: String,
        role: Role,
        /// The run that it is part of, where that is known.
        run: Option<String>,
    },
    /// Orange itself: an errand, the monitor.
    Engine,
}

impl Caller {
    pub fn actor(&self) -> Actor {
        match self {
            Caller::Human => Actor::Human,
            Caller::Agent { role, .. } => Actor::Agent(*role),
            Caller::Engine => Actor::Engine,
        }
    }
}

/// What the engine is handed; it looks for nothing by itself.
#[derive(Debug, Clone)]
pub struct Settings {
    pub home: PathBuf,
    pub caller: Caller,
    /// The user's name, for `created_by`.
    pub user: Option<String>,
    pub clock: fn() -> Timestamp,
    /// Tells the person something at once: this process may not live to say it at its end.
    pub say: fn(&str),
    /// This program, for windows and errands.
    pub orange: PathBuf,
    /// Where agents are looked for.
    pub search_path: Option<OsString>,
    /// Where agents have the user's settings.
    pub user_home: Option<PathBuf>,
    /// What agents get of the caller's environment.
    pub environment: BTreeMap<String, String>,
    /// All of the environment of a person whose command it is.
    pub person: Option<PersonEnvironment>,
    /// The tmux window that the caller sits in.
    pub inside: Option<Inside>,
    /// Settings from outside the files, which outdo them; later ones win.
    pub overrides: Vec<Override>,
}

impl Settings {
    /// A person at a home, and nothing else known: for what starts no agents.
    pub fn at(home: PathBuf) -> Settings {
        Settings {
            home,
            caller: Caller::Human,
            user: None,
            clock: Timestamp::now,
            say: |_| {},
            orange: PathBuf::from("orange"),
            search_path: None,
            user_home: None,
            environment: BTreeMap::new(),
            person: None,
            inside: None,
            overrides: Vec::new(),
        }
    }
}

/// One call on a home: what a front end can do there, and on whose behalf. It has no state of its own but what it was told
/// and has looked up, so a call on behalf of somebody else is a changed copy.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) caller: Caller,
    pub(crate) user: Option<String>,
    clock: fn() -> Timestamp,
    pub(crate) say: fn(&str),
    loaded: Arc<OnceLock<Loaded>>,
    /// Mistakes in settings keep nobody from looking.
    only_reads: bool,
    pub(crate) home: Home,
    notices: Arc<Mutex<Vec<Text>>>,
    /// The home of which this one is a copy, once that was looked up.
    pub(crate) copied_from: Arc<OnceLock<Option<PathBuf>>>,
    pub(crate) orange: PathBuf,
    pub(crate) search_path: Option<OsString>,
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) environment: BTreeMap<String, String>,
    /// The environment of the person on whose behalf this process works, where that is known.
    pub(crate) person: Option<PersonEnvironment>,
    pub(crate) inside: Option<Inside>,
    pub(crate) overrides: Vec<Override>,
}

impl Engine {
    /// Ready to work; files are opened when something needs them.
    pub fn new(settings: Settings) -> Engine {
        let home = Home::at(settings.home.clone());
        Engine::on(home, settings)
    }

    /// A call on a home that others may be using too.
    pub fn on(home: Home, settings: Settings) -> Engine {
        crate::git::calls::keep_notes_in(&settings.home);
        crate::git::locks::report_waits_to(settings.say);
        Engine {
            store: home.store().clone(),
            home,
            caller: settings.caller,
            user: settings.user,
            clock: settings.clock,
            say: settings.say,
            loaded: Arc::default(),
            only_reads: false,
            notices: Arc::default(),
            copied_from: Arc::default(),
            orange: settings.orange,
            search_path: settings.search_path,
            user_home: settings.user_home,
            environment: settings.environment,
            person: settings.person,
            inside: settings.inside,
            overrides: settings.overrides,
        }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The time in the precision that is written down.
    pub(crate) fn now(&self) -> Timestamp {
        let now = (self.clock)();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    /// A part of a file name that no other file of this process gets.
    pub(crate) fn file_stamp(&self) -> String {
        let time = self.now().as_millisecond();
        format!("{time}-{}-{}", std::process::id(), self.home.next_stamp())
    }

    /// The same call on Orange's own behalf.
    pub(crate) fn as_engine(&self) -> Engine {
        Engine {
            caller: Caller::Engine,
            ..self.clone()
        }
    }

    /// Something the person should know, besides the result.
    pub(crate) fn notice(&self, text: impl Into<Text>) {
        let text = text.into();
        tracing::info!("{text:?}");
        let mut notices = locked(&self.notices);
        if !notices.contains(&text) {
            notices.push(text);
        }
    }

    /// Something that is not so any more.
    pub(crate) fn forget_notice(&self, text: impl Into<Text>) {
        let text = text.into();
        locked(&self.notices).retain(|notice| *notice != text);
    }

    /// What there is to say, once.
    pub fn take_notices(&self) -> Vec<Text> {
        std::mem::take(&mut locked(&self.notices))
    }

    pub(crate) fn caller_name(&self) -> String {
        self.caller.actor().name().to_owned()
    }

    pub(crate) fn index(&self) -> Result<&Index> {
        self.home.index()
    }

    /// The index after a look at every TASK.md.
    pub(crate) fn fresh_index(&self) -> Result<&Index> {
        let index = self.index()?;
        index.freshen()?;
        Ok(index)
    }

    pub(crate) fn with_database<T>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T>,
    ) -> Result<T> {
        self.home.with_database(work)
    }

    pub fn projects(&self) -> Result<Vec<Project>> {
        projects::read(&self.store)
    }

    /// The project of a task, if it is still registered.
    pub(crate) fn project_of(&self, name: &str) -> Option<Project> {
        self.projects()
            .ok()?
            .into_iter()
            .find(|project| project.name == name)
    }

    /// The next key of a project, after making sure that the counter knows what is on disk.
    pub(crate) fn next_key(&self, project: &str) -> Result<Key> {
        self.heal_counter(project)?;
        let mut key = self.with_database(|database| database.next_key(project))?;
        // A restored backup of orange.db may be behind the folders.
        while self.index()?.by_key(project, key)?.is_some() {
            let highest = self.index()?.highest_key(project)?;
            key = self.with_database(|database| {
                database.heal_counter(project, highest, &[])?;
                database.next_key(project)
            })?;
        }
        Ok(key)
    }

    /// The key of a task that another program made: promised by age, else the next one.
    pub(crate) fn key_for_adopted(&self, task: &Task) -> Result<Key> {
        self.heal_counter(&task.project)?;
        let id = task.id.clone();
        let reserved = self.with_database(|database| database.reserved_key(&task.project, &id));
        match reserved? {
            Some(key) => Ok(key),
            None => self.next_key(&task.project),
        }
    }

    fn heal_counter(&self, project: &str) -> Result<()> {
        if self
            .with_database(|database| database.last_key(project))?
            .is_some()
        {
            return Ok(());
        }
        self.raise_counter(project)
    }

    /// Makes sure that the counter is beyond every key on disk, in the trash too.
    fn raise_counter(&self, project: &str) -> Result<()> {
        let index = self.fresh_index()?;
        let highest = index.highest_key(project)?;
        let keyless: Vec<String> = index
            .keyless(project)?
            .into_iter()
            .map(|task| task.id)
            .collect();
        let highest = highest.max(self.highest_in_trash(project));
        self.with_database(|database| database.heal_counter(project, highest, &keyless))
    }

    /// Raises every counter: after orange.db was put back from a backup, which may be behind.
    pub(crate) fn raise_counters(&self) -> Result<()> {
        self.home.close_database();
        let mut projects = self.fresh_index()?.project_names()?;
        projects.extend(self.trashed().into_iter().map(|(place, _)| place.project));
        projects.sort();
        projects.dedup();
        projects
            .iter()
            .try_for_each(|project| self.raise_counter(project))
    }

    /// Reasons outside the file for not taking over what somebody wrote into it.
    pub(crate) fn refuses(&self, place: &Place, field: Field, task: &Task) -> Option<String> {
        match field {
            Field::Summary => create::one_line(&task.summary)
                .err()
                .map(|error| error.message),
            Field::TargetBranch => {
                let target = task.target_branch.as_deref()?;
                create::check_target(target)
                    .err()
                    .map(|error| error.message)
            }
            Field::BlockedBy => self.refuses_blockers(place, task),
            _ => None,
        }
    }

    fn refuses_blockers(&self, place: &Place, task: &Task) -> Option<String> {
        let key = task.key?;
        for reference in &task.blocked_by {
            let stored = read_stored(&place.project, reference);
            let known = stored.as_ref().is_some_and(|(project, blocker)| {
                let index = self.index();
                index.is_ok_and(|index| {
                    index
                        .by_key(project, *blocker)
                        .is_ok_and(|row| row.is_some())
                })
            });
            if !known {
                self.notice(format!(
                    "{key}: it waits for {reference}, which does not exist"
                ));
            }
            let Some((project, blocker)) = stored else {
                continue;
            };
            match self.cycle_through(&place.project, key, &project, blocker) {
                Ok(Some(cycle)) => return Some(format!("a cycle: {}", cycle.join(" → "))),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "dependencies were not checked"),
            }
        }
        None
    }

    /// Would waiting for `blocker` make this task wait for itself? Spelled out if so.
    pub(crate) fn cycle_through(
        &self,
        project: &str,
        key: Key,
        blocker_project: &str,
        blocker: Key,
    ) -> Result<Option<Vec<String>>> {
        let full = |project: &str, key: Key| format!("{project}:{key}");
        let start = full(project, key);
        let first = full(blocker_project, blocker);
        let mut trouble = None;
        let index = self.index()?;
        let cycle = orange_core::graph::find_cycle(&start, |node| {
            if node == start {
                return vec![first.clone()];
            }
            let Some((project, key)) = read_stored("", node) else {
                return Vec::new();
            };
            match index.blockers_of(&project, key) {
                Ok(links) => links
                    .into_iter()
                    .map(|(project, key)| full(&project, key))
                    .collect(),
                Err(error) => {
                    trouble.get_or_insert(error);
                    Vec::new()
                }
            }
        });
        if let Some(error) = trouble {
            return Err(error);
        }
        let own = format!("{project}:");
        Ok(cycle.map(|nodes| {
            nodes
                .into_iter()
                .map(|node| node.strip_prefix(&own).map_or(node.clone(), str::to_owned))
                .collect()
        }))
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
