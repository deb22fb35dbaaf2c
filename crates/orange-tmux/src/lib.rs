//! The only way to tmux (`call.rs` starts it), and what Orange knows of a server: its version, its panes. Every call
//! has a time limit, an environment that redirects nothing, and targets that are ids.

mod attach;
mod call;
mod clipboard;
mod name;
mod pane;
mod session;

pub use self::attach::{Attach, Inside};
use self::call::{TmuxCall, fields};
pub use self::name::session_name;
pub use self::pane::Scrollback;
use orange_sys::error::{Result, err};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub const PROGRAM: &str = "tmux";

/// The oldest tmux that has everything used here.
pub const OLDEST: (u32, u32) = (3, 2);

/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

const INSTALL: &str = "`apt install tmux` or `brew install tmux` installs it";

/// Which tmux server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// The user's own, `tmux` without options.
    Default,
    /// `tmux -L name`.
    Named(String),
    /// `tmux -S path`; an absolute path, for tmux is started in `/`.
    Socket(PathBuf),
}

impl Server {
    /// As it is written in a setting: nothing or `default`, a name, or a path.
    pub fn from_setting(text: &str) -> Server {
        match text.trim() {
            "" | "default" => Server::Default,
            path if path.contains('/') => Server::Socket(PathBuf::from(path)),
            name => Server::Named(name.to_owned()),
        }
    }
}

/// A tmux server that may or may not be running.
#[derive(Debug, Clone)]
pub struct Tmux {
    server: Server,
    timeout: Duration,
    environment: Option<Arc<[(OsString, OsString)]>>,
}

/// A pane, and the process of the server that gave it these ids: another server gives the same ones to something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pane {
    pub socket: PathBuf,
    pub server_pid: u32,
    /// `$3`.
    pub session: String,
    /// As tmux wrote it when this was recorded.
    pub session_name: String,
    /// `@5`.
    pub window: String,
    /// `%7`.
    pub pane: String,
}

/// A session, and the process of its server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TmuxSession {
    pub socket: PathBuf,
    pub server_pid: u32,
    /// `$3`.
    pub session: String,
    pub session_name: String,
}

impl From<&Pane> for TmuxSession {
    fn from(pane: &Pane) -> TmuxSession {
        TmuxSession {
            socket: pane.socket.clone(),
            server_pid: pane.server_pid,
            session: pane.session.clone(),
            session_name: pane.session_name.clone(),
        }
    }
}

impl From<&TmuxSession> for TmuxSession {
    fn from(session: &TmuxSession) -> TmuxSession {
        session.clone()
    }
}

/// What a new window is to be.
#[derive(Debug, Clone, Copy)]
pub struct NewWindow<'a> {
    /// The window's name.
    pub window: &'a str,
    pub folder: &'a Path,
    /// An argument vector, run without a shell. tmux refuses more than 16 KB.
    pub command: &'a [OsString],
    pub task_id: &'a str,
    pub run_id: &'a str,
    /// Tells the sessions of two homes apart that have a task with the same id, as a copy has.
    pub home_tag: &'a str,
    /// What the status line of the session shows.
    pub title: &'a str,
}

/// A pane as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneInfo {
    pub pane: Pane,
    /// The process that was started in it.
    pub pid: u32,
    /// The process has ended and tmux was told to keep the pane (`remain-on-exit`).
    pub dead: bool,
    /// The task whose session it is in. A pane of the user's own in that session has it too.
    pub task_id: Option<String>,
    /// The run it was made for.
    pub run_id: Option<String>,
    /// The home whose session it is in.
    pub home_tag: Option<String>,
    pub window_name: String,
    /// When something last happened in its window, in seconds since 1970.
    pub activity: i64,
}

impl Tmux {
    pub fn new(server: Server) -> Tmux {
        Tmux {
            server,
            timeout: TIMEOUT,
            environment: None,
        }
    }

    /// The server at a socket that was recorded with a run.
    pub fn at(socket: &Path) -> Tmux {
        Tmux::new(Server::Socket(socket.to_owned()))
    }

    /// Whether it is the server that `tmux` without options talks to.
    pub fn is_default(&self) -> bool {
        self.server == Server::Default
    }

    /// Another time limit for each call.
    pub fn timeout(mut self, timeout: Duration) -> Tmux {
        self.timeout = timeout;
        self
    }

    /// Exactly these variables instead of those of this process.
    pub fn in_environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Tmux {
        self.environment = Some(variables.into_iter().collect());
        self
    }

    /// What `tmux -V` says. A version without a number, such as that of OpenBSD, counts as the oldest that will do.
    pub fn version(&self) -> Result<String> {
        let said = TmuxCall::bare(self).arg("-V").run()?;
        let text = said.stdout.trim();
        if !said.success {
            return Err(said.error("ask tmux for its version"));
        }
        let version = name::version(text).unwrap_or(OLDEST);
        if version < OLDEST {
            let (major, minor) = OLDEST;
            return Err(err!(
                Failed,
                "{text} is too old: {major}.{minor} or newer is needed"
            )
            .hint(INSTALL));
        }
        Ok(text.strip_prefix("tmux ").unwrap_or(text).to_owned())
    }

    /// Every pane of the server, by one call. No server: none.
    pub fn panes(&self) -> Result<Vec<PaneInfo>> {
        let said = TmuxCall::to(self)
            .args(["display-message", "-p", "server:#{pid}:#{socket_path}"])
            .and()
            .args(["list-panes", "-a", "-F", PANES])
            .run()?;
        if said.no_server() {
            return Ok(Vec::new());
        }
        if !said.success {
            return Err(said.error("list the panes of tmux"));
        }
        let mut lines = said.stdout.lines();
        let server = lines.find_map(|line| line.strip_prefix("server:"));
        let (pid, socket) = server
            .and_then(|line| line.split_once(':'))
            .ok_or_else(|| said.unexpected())?;
        let pid = pid.parse().map_err(|_| said.unexpected())?;
        let mut panes: Vec<PaneInfo> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for found in lines.filter_map(|line| pane_info(line, Path::new(socket), pid)) {
            // A window in two sessions is listed twice; the session of a task says more.
            let place = *places.entry(found.pane.pane.clone()).or_insert(panes.len());
            match panes.get_mut(place) {
                Some(known) if known.task_id.is_none() => *known = found,
                Some(_) => {}
                None => panes.push(found),
            }
        }
        Ok(panes)
    }

    /// The key that tmux commands begin with, such as `C-b`. None: there is no server, or it has no such key.
    pub fn prefix_key(&self) -> Option<String> {
        let said = TmuxCall::to(self)
            .args(["show-options", "-gv", "prefix"])
            .run()
            .ok()?;
        let key = said.stdout.trim();
        (said.success && !key.is_empty() && key != "None").then(|| key.to_owned())
    }

    /// The server that a pane is on. Ids become part of commands, so they are looked at.
    fn of_pane(&self, pane: &Pane) -> Result<Tmux> {
        check_id('@', &pane.window)?;
        check_id('%', &pane.pane)?;
        self.of_session(&pane.into())
    }

    fn of_session(&self, session: &TmuxSession) -> Result<Tmux> {
        check_id('$', &session.session)?;
        Ok(Tmux {
            server: Server::Socket(session.socket.clone()),
            ..self.clone()
        })
    }
}

fn is_id(sigil: char, id: &str) -> bool {
    let number = id.strip_prefix(sigil).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn check_id(sigil: char, id: &str) -> Result<()> {
    let not_one = || err!(Damaged, "the recorded tmux id `{id}` is invalid");
    is_id(sigil, id).then_some(()).ok_or_else(not_one)
}

/// Colons separate: ids, numbers and names of sessions have none, and the window's name comes last.
const PANES: &str = "#{session_id}:#{window_id}:#{pane_id}:#{pane_pid}:#{pane_dead}:#{window_activity}:\
    #{@orange_task}:#{@orange_run}:#{@orange_home}:#{session_name}:#{window_name}";

fn pane_info(line: &str, socket: &Path, server_pid: u32) -> Option<PaneInfo> {
    let line = line.starts_with('$').then_some(line)?;
    let [
        session,
        window,
        pane,
        pid,
        dead,
        activity,
        task,
        run,
        home,
        name,
        window_name,
    ] = fields(line)?;
    let tag = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Some(PaneInfo {
        pane: Pane {
            socket: socket.to_owned(),
            server_pid,
            session: session.to_owned(),
            session_name: name.to_owned(),
            window: window.to_owned(),
            pane: pane.to_owned(),
        },
        pid: pid.parse().ok()?,
        dead: dead != "0",
        task_id: tag(task),
        run_id: tag(run),
        home_tag: tag(home),
        window_name: window_name.to_owned(),
        activity: activity.parse().unwrap_or_default(),
    })
}
