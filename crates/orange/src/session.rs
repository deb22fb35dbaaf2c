//! What every command needs: the engine, where we are, and how to print.

use crate::commands::program::variable;
use crate::output;
use crate::ui::command::{Reader, set_here, spelled, spelled_anywhere};
use crate::ui::{Extent, wrapped};
use crate::{caller, log};
use orange_core::config::{Config, Setting};
use orange_core::{Action, Timestamp, text};
use orange_engine::agent_run::without_fence;
use orange_engine::background::queue;
use orange_engine::call::{Outside, Override};
use orange_engine::find;
use orange_engine::harness::environment::of_agents;
use orange_engine::settings;
use orange_engine::store::Place;
use orange_engine::tmux::Inside;
use orange_engine::views::{TaskView, task};
use orange_engine::{
    Call, Caller, Code, Result, Settings, access, crash_points, err, home_record,
    person_environment, recovery, started_by,
};
use serde::Serialize;
use std::cell::Cell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

pub(crate) struct Session {
    pub(crate) call: Call,
    pub(crate) folder: PathBuf,
    pub(crate) json: bool,
    caller: Caller,
    /// A task gave up what others may wait for.
    made_room: Cell<bool>,
}

/// What a command does with the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Change,
    Read,
    /// Only reads, and reports mistakes in settings in its own way.
    ReadMistakes,
}

impl Session {
    /// Where a command only reads, mistakes in settings are told and do not stop it.
    /// In a home that is a copy of another one, commands that change something are refused.
    pub(crate) fn open(json: bool, settings: &[String], access: Access) -> Result<Session> {
        let only_reads = access == Access::Read;
        let home = home()?;
        // Only debug builds listen to this; it is how the tests kill the program at a chosen step.
        crash_points::arm(std::env::var("ORANGE_CRASH_AT").ok());
        let caller = caller::find(&home)?;
        if let (Caller::Agent { .. }, [_, ..]) = (&caller, settings) {
            return Err(err!(NotAllowed, "an agent may not use --config").hint("leave it out"));
        }
        let mut call = call(home, caller.clone(), flags(settings)?)?;
        if let Caller::Agent { task, .. } = &caller {
            call = started_by::inherit_here(&call, task);
        }
        if only_reads {
            call.only_reads();
        }
        match access {
            Access::Change => recovery::claim_home(&call)?,
            Access::Read | Access::ReadMistakes => home_record::note_copy(&call),
        }
        start_log(&call)?;
        // What an earlier process began is not finished with settings that nobody wanted.
        if !only_reads || !settings::has_lenient_config(&call) {
            recovery::recover(&call);
        }
        let folder = std::env::current_dir().map_err(|error| {
            err!(Usage, "the current folder cannot be read: {error}")
                .hint("change to a folder that exists")
        })?;
        let (quiet, here) = (call.clone(), folder.clone());
        // What cannot be read is told by the command that needs it.
        let reader = match caller {
            Caller::Agent { .. } => Reader::Agent,
            Caller::Human | Caller::Engine => Reader::Person,
        };
        let finder = Box::new(move || find::project_seen_at(&quiet, &here).ok()?);
        set_here(finder, reader);
        Ok(Session {
            call,
            folder,
            json,
            caller,
            made_room: Cell::new(false),
        })
    }

    /// For Orange itself, away from any terminal.
    pub(crate) fn for_errand() -> Result<Session> {
        Session::for_executor(home()?)
    }

    /// The same for a home that is named.
    pub(crate) fn for_executor(home: PathBuf) -> Result<Session> {
        let call = call(home.clone(), Caller::Engine, Vec::new())?;
        home_record::refuse_copy(&call)?;
        start_log(&call)?;
        crash_points::arm(std::env::var("ORANGE_CRASH_AT").ok());
        Ok(Session {
            call,
            folder: home,
            json: false,
            caller: Caller::Engine,
            made_room: Cell::new(false),
        })
    }

    /// An agent has no use for hints where to look.
    pub(crate) fn is_person(&self) -> bool {
        self.caller == Caller::Human
    }

    /// Refuses an agent where only a person decides.
    pub(crate) fn people_only(&self, what: &str) -> Result<()> {
        access::people_only(&self.call, what)
    }

    /// The project that was named, the one we are in, or that of the agent's task.
    pub(crate) fn project(&self, named: Option<&str>) -> Result<Option<String>> {
        match self.known_project(named) {
            // A list must not break because the registry did; whoever needs the registry says so.
            Err(error) if error.code == Code::Damaged => {
                output::note(&error.message);
                Ok(None)
            }
            found => found,
        }
    }

    /// The same for who cannot do without the registry.
    pub(crate) fn known_project(&self, named: Option<&str>) -> Result<Option<String>> {
        if let Some(name) = named {
            return Ok(Some(name.to_owned()));
        }
        let here = find::project_at(&self.call, &self.folder)?;
        Ok(here.or_else(|| Some(self.own_task()?.project)))
    }

    /// The agent's own task, wherever it has gone meanwhile.
    fn own_task(&self) -> Option<Place> {
        let Caller::Agent { task, .. } = &self.caller else {
            return None;
        };
        find::find(&self.call, task, None).ok()
    }

    /// The same for a command that needs one.
    pub(crate) fn required_project(&self, named: Option<&str>) -> Result<String> {
        let name = self.known_project(named)?.ok_or_else(|| {
            err!(Usage, "no project given, and this directory is in none")
                .hint("name it with --project; `orange project list` shows them")
        })?;
        let registry = self.call.projects()?;
        orange_engine::projects::named(&registry, &name)?;
        Ok(name)
    }

    /// The task that was named, the agent's own, or the one we are in.
    pub(crate) fn task(&self, named: Option<&str>) -> Result<Place> {
        if let Some(name) = named {
            let project = self.project(None)?;
            return find::find(&self.call, name, project.as_deref());
        }
        if let Caller::Agent { task, .. } = &self.caller {
            return find::find(&self.call, task, None);
        }
        find::task_at(&self.call, &self.folder)?.ok_or_else(|| {
            err!(
                Usage,
                "no task given, and this directory is not a task's workspace"
            )
            .hint("name it: a key like TASK-001, an id, or project/branch")
        })
    }

    /// The same with everything that is known of it.
    pub(crate) fn view(&self, named: Option<&str>) -> Result<TaskView> {
        task::view(&self.call, self.task(named)?)
    }

    /// Notes that a task gave up what others may wait for.
    pub(crate) fn note_room(&self) {
        self.made_room.set(true);
    }

    /// Prints the result: text for a person, one JSON value for a program.
    pub(crate) fn finish(&self, view: impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        self.finish_as_it_is(view, || wrapped(&text(), Extent::stdout()).into_owned())
    }

    /// The same for a text that is somebody else's, whose lines are left as they are.
    pub(crate) fn finish_as_it_is(
        &self,
        view: impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        let notices = self.call.take_notices();
        if self.json {
            output::write_json(&output::as_json(&view)?)?;
        } else {
            output::write(text().as_bytes())?;
        }
        output::notices(&notices);
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        output::notices(&self.call.take_notices());
        if let Some(news) = queue::queue_news(&self.call, self.made_room.get()) {
            output::note(&spelled(&news));
        }
        if self.caller != Caller::Engine {
            queue::leave_queue_to_errand(&self.call);
        }
    }
}

fn call(home: PathBuf, caller: Caller, flags: Vec<Override>) -> Result<Call> {
    let pane = std::env::var("TMUX_PANE").ok();
    let inside = std::env::var("TMUX").ok();
    let mut heard = variables();
    if matches!(caller, Caller::Agent { .. }) {
        heard.retain(|said| Config::may_be_an_agents(&said.key));
    }
    let person =
        (caller == Caller::Human).then(|| person_environment::from_variables(std::env::vars_os()));
    Ok(Call::new(Settings {
        person,
        home,
        caller,
        user: std::env::var("USER").ok().filter(|user| !user.is_empty()),
        clock: Timestamp::now,

        say: output::note,
        spell: spelled_anywhere,
        orange: own_program()?,
        search_path: std::env::var_os("PATH").map(|path| without_fence(&path)),
        user_home: std::env::home_dir(),
        environment: of_agents(readable_variables()),
        overrides: heard.into_iter().chain(flags).collect(),
        inside: inside.and_then(|tmux| Inside::parse(&tmux, pane.as_deref())),
    }))
}

/// Starts the log of a process that has no session.
pub(crate) fn start_log_at(home: PathBuf) -> Result<()> {
    start_log(&Call::new(Settings {
        overrides: variables(),
        ..Settings::at(home)
    }))
}

fn start_log(call: &Call) -> Result<()> {
    let level = settings::log_level(call)?;
    log::init(call.store().home(), level).map_err(|message| err!(Failed, "{message}"))?;
    tracing::debug!(target: "command", "{}", crate::error::typed());
    Ok(())
}

fn readable_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn variables() -> Vec<Override> {
    let all = std::env::vars_os();
    let own = all.filter(|(name, _)| name.as_bytes().starts_with(Config::VARIABLES.as_bytes()));
    let own: Vec<(OsString, OsString)> = own.collect();
    // No variable has room for a name.
    let plain = Setting::all()
        .iter()
        .filter(|setting| !setting.is_of_names());
    let said = plain.filter_map(|setting| {
        // There are many settings and few variables: names are only made for those that can be meant.
        let length = Config::VARIABLES.len() + setting.key.len();
        let mut named = own.iter().filter(|(name, _)| name.len() == length);
        let (_, value) = named.find(|(name, _)| *name == *Config::variable(setting.key))?;
        let value = value.clone().into_string().ok()?;
        // It was a variable before it was a setting: loud or quiet letters, and empty as if it were unset.
        let value = match setting.key {
            "log.level" if value.trim().is_empty() => return None,
            "log.level" => value.trim().to_ascii_lowercase(),
            _ => value,
        };
        Some(Override {
            key: setting.key.to_owned(),
            value,
            from: Outside::Environment,
        })
    });
    said.collect()
}

/// Settings that the command line gives: whatever the command needs, a mistake is told.
fn flags(settings: &[String]) -> Result<Vec<Override>> {
    let hint = text!(
        "write it as KEY=VALUE, such as `--config merge.strategy=rebase`; {} lists the keys",
        Action::list_settings()
    );
    let read = |setting: &String| {
        let wrong = |problem: &str| err!(Usage, "--config: {problem}").hint(hint.clone());
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| wrong(&format!("{setting:?} has no value")))?;
        Config::default()
            .override_with(key, value)
            .map_err(|problem| wrong(&problem))?;
        Ok(Override {
            key: key.to_owned(),
            value: value.to_owned(),
            from: Outside::CommandLine,
        })
    };
    settings.iter().map(read).collect()
}

/// This program as a path that a later version may take the place of.
pub(crate) fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| {
        err!(Usage, "this program cannot be found: {error}").hint("start it by its full path")
    })
}

/// A home that is not there yet is made by the first command that writes.
pub(crate) fn home() -> Result<PathBuf> {
    let named = variable("ORANGE_HOME").map(PathBuf::from);
    let of_user = || Some(std::env::home_dir()?.join("orange"));
    let is_named = named.is_some();
    let home = named
        .or_else(of_user)
        .filter(|home| is_named || home.is_absolute())
        .ok_or_else(|| err!(Usage, "there is no home folder").hint("set HOME or ORANGE_HOME"))?;
    let shown = home.display();
    if !home.is_absolute() {
        return Err(err!(
            Usage,
            "ORANGE_HOME is {shown}, which is another folder wherever you are"
        )
        .hint("set it to a path that begins with /"));
    }
    if home.to_str().is_none() {
        // Settings, links, git and agents are told of it as text.
        return Err(err!(Usage, "the home is {shown}, which is not UTF-8")
            .hint("set ORANGE_HOME to a path in UTF-8"));
    }
    if std::fs::metadata(&home).is_ok_and(|found| !found.is_dir()) {
        return Err(err!(
            Storage,
            "{shown} is a file, and orange keeps its state in a folder of that name"
        )
        .hint("move it away, or set ORANGE_HOME to another folder"));
    }
    Ok(home)
}
