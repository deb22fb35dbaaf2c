//! One call on a home: on whose behalf, with which settings, and what every verb and view starts from.

use crate::database::Database;
use crate::error::{IoContext, Result, err};
use crate::git::Site;
use crate::git::site::Behalf;
use crate::home::Home;
use crate::index::Index;
use crate::person_environment::PersonEnvironment;
use crate::projects::{self, Project};
use crate::store::locks::{Lock, LockFile};
use crate::store::{Place, Store, private};
use crate::tmux::Inside;
use orange_core::config::{Config, Layer, Setting, SettingKind};
use orange_core::id::Prefix;
use orange_core::workflow::{Actor, Role};
use orange_core::{Action, Text, Timestamp, text};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Deref;
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
    /// A text as this front end shows it, for a journal, a log or a message, which keep words only.
    pub spell: fn(&Text) -> String,
    /// This program, for windows and errands.
    pub orange: PathBuf,
    /// Where agents are looked for.
    pub search_path: Option<OsString>,
    /// Where agents have the user's settings.
    pub user_home: Option<PathBuf>,
    /// What agents get of the caller's environment.
    pub environment: BTreeMap<String, String>,
    /// All of the environment of the person on whose behalf this process works, where that is known.
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
            spell: |text| format!("{text:?}"),
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
pub struct Call {
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) loaded: Arc<OnceLock<Loaded>>,
    /// Mistakes in settings keep nobody from looking.
    pub(crate) only_reads: bool,
    pub(crate) home: Home,
    pub(crate) notices: Arc<Mutex<Vec<Text>>>,
    /// The home of which this one is a copy, once that was looked up.
    pub(crate) copied_from: Arc<OnceLock<Option<PathBuf>>>,
}

/// What a call was told is read as its own: `call.caller`.
impl Deref for Call {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks what must be unique in a project: branches and new folders. None when another process has it.
pub(crate) fn try_lock_project(call: &Call, project: &str) -> Result<Option<LockFile>> {
    call.store.try_lock(Lock::Project(project))
}

/// Where a task's folder is written before it gets its name.
pub(crate) fn hidden_folder(place: &Place) -> PathBuf {
    place.path.with_file_name(format!(".new-{}", place.name))
}

/// The user's settings, read once.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) user: Layer,
    pub(crate) config: Config,
    /// Defaults stand in for what somebody wrote wrongly.
    pub(crate) lenient: bool,
}

/// A setting from outside the files, which overrides them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    pub key: String,
    pub value: String,
    pub from: Outside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    Environment,
    CommandLine,
}

impl Override {
    /// What a person would have to change.
    pub fn place(&self) -> String {
        match self.from {
            Outside::Environment => Config::variable(&self.key),
            Outside::CommandLine => "--config".to_owned(),
        }
    }

    /// Sets it, or says why that cannot be.
    pub(crate) fn problem(&self, config: &mut Config) -> Option<String> {
        let mut tried = config.clone();
        let outcome = tried.override_with(&self.key, &self.value).err();
        let problem = outcome.or_else(|| config.unknown_harness(&self.key, &self.value));
        if problem.is_none() {
            *config = tried;
        }
        problem.map(|problem| format!("{}: {problem}", self.place()))
    }

    pub(crate) fn names_a_harness(&self) -> bool {
        Setting::of(&self.key).is_some_and(|setting| setting.kind == SettingKind::Harness)
    }
}

/// Says that somebody should look whether a task of the queue can start.
pub(crate) const WANTED: &str = "queue.wanted";
/// What it is called while somebody looks. It stays where they die over it.
pub(crate) const TAKEN: &str = "queue.taken";

/// Asks for a look at the queue once this command is done.
pub(crate) fn request_queue_run(call: &Call) -> Result<()> {
    let path = call.store.home().join(WANTED);
    private::create(&path).map(drop).doing("create", &path)
}

/// A project whose repository is where it is said to be.
pub(crate) fn registered(call: &Call, name: &str) -> Result<Project> {
    let registry = call.projects()?;
    let project = projects::named(&registry, name)?.clone();
    if project.path.is_dir() {
        return Ok(project);
    }
    let path = project.path.display();
    Err(err!(
        NotFound,
        "the repository of project {name} is not at {path} any more"
    )
    .hint(text!("say where it is: {}", Action::move_project(name))))
}

impl Call {
    /// Ready to work; files are opened when something needs them.
    pub fn new(settings: Settings) -> Call {
        let home = Home::at(settings.home.clone());
        Call::on(home, settings)
    }

    /// A call on a home that others may be using too.
    pub fn on(home: Home, settings: Settings) -> Call {
        Call {
            store: home.store().clone(),
            home,
            settings,
            loaded: Arc::default(),
            only_reads: false,
            notices: Arc::default(),
            copied_from: Arc::default(),
        }
    }

    /// Another call on the same home and on the same behalf, with notices and settings of its own.
    pub fn anew(&self) -> Call {
        Call {
            loaded: Arc::default(),
            notices: Arc::default(),
            ..self.clone()
        }
    }

    /// The same call for a front end that says things in its own way.
    pub fn saying(&self, say: fn(&str)) -> Call {
        let settings = Settings {
            say,
            ..self.settings.clone()
        };
        Call::on(self.home.clone(), settings)
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A repository or a worktree in which git may change something on behalf of this call.
    pub(crate) fn site(&self, folder: impl Into<PathBuf>) -> Site {
        Behalf::new(self.store.home(), self.say).at(folder)
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
    pub(crate) fn as_engine(&self) -> Call {
        let mut call = self.clone();
        call.settings.caller = Caller::Engine;
        call
    }

    /// Something the person should know, besides the result.
    pub(crate) fn notice(&self, text: impl Into<Text>) {
        let text = text.into();
        tracing::info!("{}", (self.spell)(&text));
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

    /// As [`Call::with_database`], but None where there never was an orange.db, which is not made then.
    pub(crate) fn with_existing_database<T>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T>,
    ) -> Result<Option<T>> {
        let home = self.store.home();
        if !Database::path_in(home).exists() && !Database::backup_in(home).exists() {
            return Ok(None);
        }
        self.with_database(work).map(Some)
    }

    pub fn projects(&self) -> Result<Vec<Project>> {
        projects::read(&self.store)
    }

    /// The project of a task, if it is still registered.
    pub(crate) fn project_of(&self, name: &str) -> Option<Project> {
        let mut known = self.projects().ok()?.into_iter();
        known.find(|project| project.name == name)
    }

    /// How the keys of a project's new tasks begin.
    pub(crate) fn prefix_of(&self, project: &str) -> Prefix {
        let project = self.project_of(project);
        project.map_or(Prefix::TASK, |project| project.prefix)
    }

    /// Do keys of the project begin so, or those that were given before it had another prefix?
    pub(crate) fn owns_prefix(&self, project: &str, prefix: Prefix) -> Result<bool> {
        Ok(self.prefix_of(project) == prefix || self.index()?.has_prefix(project, prefix)?)
    }

    /// From now on nothing is changed or started here: where a setting cannot be used, its default counts.
    pub fn only_reads(&mut self) {
        self.only_reads = true;
        self.loaded = Arc::default();
    }
}
