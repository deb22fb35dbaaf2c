//! Sessions and windows: made with their tags in one call, found by their tags, ended by their ids.

use super::call::{ServerGuard, TmuxCall, TmuxOutput, fields, session_gone};
use super::name::{session_name, unexpanded, window_name};
use super::{NewWindow, Pane, Tmux, TmuxSession};
use orange_core::display::clean;
use orange_sys::error::{Result, err};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What tmux prints of a pane that it has made. Only the path of the socket may have a colon.
const MADE: &str =
    "made:#{session_id}:#{window_id}:#{pane_id}:#{pid}:#{session_name}:#{socket_path}";
/// And of the one that got the tag of the run.
const TAGGED: &str = "tagged:#{pane_id}";

/// How long a server may take to exit, and how long to wait before asking again.
const EXITING: Duration = Duration::from_secs(3);
const NAP: Duration = Duration::from_millis(10);

/// The size of a terminal that nobody looks at.
const WIDTH: &str = "200";
const HEIGHT: &str = "50";

impl Tmux {
    /// A session of the task's own with one window. None: the name is taken, by whomever.
    ///
    /// The session and its tags come from one list of commands, so that a kill of Orange never leaves a session
    /// that nobody knows.
    pub fn new_session(&self, new: &NewWindow<'_>, name: &str) -> Result<Option<Pane>> {
        new.check()?;
        let name = session_name(name);
        // Exactly this session: a name that tmux has accepted is a name that no other session has.
        let target = format!("={name}:");
        let make = || {
            let call = TmuxCall::to(self)
                .args(["new-session", "-d", "-P", "-F", MADE])
                .args(["-x", WIDTH, "-y", HEIGHT, "-s"])
                .arg(unexpanded(&name));
            new.tag(new.complete(call).and(), &target, &target)
                .and()
                .args(["display-message", "-p", "-t", &target, TAGGED])
                .run()
        };
        let said = while_server_exits(make)?;
        let Some(pane) = made(&said.stdout) else {
            return if said.stderr.contains("duplicate session") {
                Ok(None)
            } else {
                Err(said.error(&format!("make tmux session {name}")))
            };
        };
        self.tag_exactly(&pane, tagged(&said.stdout), new)?;
        Ok(Some(pane))
    }

    /// One more window, behind the others; a user who looks at the session stays where they are.
    pub fn new_window(&self, session: impl Into<TmuxSession>, new: &NewWindow<'_>) -> Result<Pane> {
        let session = session.into();
        let what = format!("make window {}", new.window);
        new.check()?;
        if !self.has_session(&session)? {
            return Err(session_gone(&session, &what));
        }
        let server = self.of_session(&session)?;
        let last = format!("{}:{{end}}", session.session);
        let call =
            TmuxCall::to(&server).args(["new-window", "-d", "-a", "-t", &last, "-P", "-F", MADE]);
        let said = new
            .complete(call)
            .and()
            .args(["set-option", "-p", "-t", &last, "@orange_run", new.run_id])
            .and()
            .args(["display-message", "-p", "-t", &last, TAGGED])
            .run()?;
        let Some(pane) = made(&said.stdout) else {
            said.of_session(&session, &what)?;
            return Err(session_gone(&session, &what));
        };
        // The command line has no room for a condition: whether it was still the same server shows afterwards.
        if pane.server_pid != session.server_pid {
            self.kill_window(&pane)?;
            return Err(session_gone(&session, &what));
        }
        self.tag_exactly(&pane, tagged(&said.stdout), new)?;
        Ok(pane)
    }

    /// The session that is tagged as this task's, with a tag of its home that `is_ours` accepts. A session that merely has
    /// its name is the user's own.
    pub fn session_of(
        &self,
        task_id: &str,
        is_ours: impl Fn(Option<&str>) -> bool,
    ) -> Result<Option<TmuxSession>> {
        let said = TmuxCall::to(self)
            .args(["list-sessions", "-F"])
            .arg("#{session_id}:#{pid}:#{@orange_task}:#{@orange_home}:#{session_name}:#{socket_path}")
            .run()?;
        if said.no_server() {
            return Ok(None);
        }
        if !said.success {
            return Err(said.error("list the sessions of tmux"));
        }
        let session = |line: &str| {
            let [session, pid, task, home, name, socket] = fields(line)?;
            let is_it = task == task_id && is_ours(Some(home).filter(|home| !home.is_empty()));
            is_it.then_some(TmuxSession {
                session: session.to_owned(),
                server_pid: pid.parse().ok()?,
                session_name: name.to_owned(),
                socket: PathBuf::from(socket),
            })
        };
        Ok(said.stdout.lines().find_map(session))
    }

    /// Whether the session is still there.
    pub fn has_session(&self, session: impl Into<TmuxSession>) -> Result<bool> {
        let session = session.into();
        let ask = format!("has-session -t '{}'", session.session);
        self.on_server(&session, &ask, "ask tmux for a session")
    }

    /// Gives it another name; false if that is taken.
    pub fn rename_session(&self, session: impl Into<TmuxSession>, name: &str) -> Result<bool> {
        let session = session.into();
        let what = format!("rename tmux session {}", session.session_name);
        if !self.has_session(&session)? {
            return Err(session_gone(&session, &what));
        }
        let said = TmuxCall::to(&self.of_session(&session)?)
            .args(["rename-session", "-t", &session.session, "--"])
            .arg(unexpanded(session_name(name)))
            .run()?;
        if !said.success && said.stderr.contains("duplicate session") {
            return Ok(false);
        }
        said.of_session(&session, &what).map(|_| true)
    }

    /// Ends a window with all its panes, and the run's own pane should somebody have moved it elsewhere. One that is
    /// gone is fine.
    pub fn kill_window(&self, pane: &Pane) -> Result<()> {
        let guard = ServerGuard::same_server(pane.server_pid);
        // Two conditions, because a list ends with its first failure.
        let said = TmuxCall::to(&self.of_pane(pane)?)
            .only_if(&guard, &format!("kill-window -t {}", pane.window))
            .and()
            .only_if(&guard, &format!("kill-pane -t {}", pane.pane))
            .run()?;
        said.unless_gone(&format!("end window {}", pane.window))
            .map(drop)
    }

    /// Ends one pane, and its window if no other pane is in it: a person may have split it. One that is gone is fine.
    pub fn kill_pane(&self, pane: &Pane) -> Result<()> {
        self.of_pane(pane)?;
        let kill = format!("kill-pane -t {}", pane.pane);
        self.on_server(&pane.into(), &kill, &format!("end pane {}", pane.pane))
            .map(drop)
    }

    /// Ends a session with all its windows. One that is gone is fine.
    pub fn kill_session(&self, session: impl Into<TmuxSession>) -> Result<()> {
        let session = session.into();
        let kill = format!("kill-session -t '{}'", session.session);
        let what = format!("end tmux session {}", session.session_name);
        self.on_server(&session, &kill, &what).map(drop)
    }

    /// Carries out a command if it is still the server that gave the ids; false where its target is gone.
    fn on_server(&self, session: &TmuxSession, command: &str, what: &str) -> Result<bool> {
        let guard = ServerGuard::same_server(session.server_pid);
        let call = TmuxCall::to(&self.of_session(session)?).only_if(&guard, command);
        call.run()?.unless_gone(what)
    }

    /// A hook of the user's that splits every new window has its turn before our tags are set, and then another pane
    /// is the active one. The tag goes to the pane that was made for the run, by its id.
    fn tag_exactly(&self, pane: &Pane, tagged: Option<&str>, new: &NewWindow<'_>) -> Result<()> {
        if tagged == Some(&pane.pane) {
            return Ok(());
        }
        let session = format!("{}:", pane.session);
        let mut call = TmuxCall::to(&self.of_pane(pane)?);
        if let Some(wrong) = tagged {
            call = call.args(["set-option", "-p", "-u", "-t", wrong, "@orange_run"]);
            call = call.and();
        }
        let said = new.tag(call, &session, &pane.pane).run()?;
        // A program that has ended at once took its pane along; whoever looks for it will find out.
        let tagged = said.unless_gone("tag a tmux session");
        if tagged.is_err() {
            self.kill_window(pane)?;
        }
        tagged.map(drop)
    }
}

/// A server that has lost its last session takes a moment to exit, and a call in that moment is lost with it; the next
/// one starts a new server.
fn while_server_exits(make: impl Fn() -> Result<TmuxOutput>) -> Result<TmuxOutput> {
    let start = Instant::now();
    loop {
        let said = make()?;
        if !said.no_server() || made(&said.stdout).is_some() || start.elapsed() > EXITING {
            return Ok(said);
        }
        std::thread::sleep(NAP);
    }
}

/// Options of a session that its status line shows: whose it is, and how to leave it. tmux does not expand the value of
/// an option that a format names.
pub(super) const TITLE: &str = "@orange_title";
pub(super) const BACK: &str = "@orange_back";

/// Without what would be a style in a status line, or turn what stands beside it around.
fn title(text: &str) -> String {
    clean(text).replace('#', "")
}

impl NewWindow<'_> {
    /// tmux would silently start in the home folder instead.
    fn check(&self) -> Result<()> {
        if self.folder.is_dir() {
            return Ok(());
        }
        Err(err!(
            NotFound,
            "cannot start an agent in {}: there is no such folder",
            self.folder.display()
        ))
    }

    /// Says whose session and pane they are.
    fn tag(&self, call: TmuxCall, session: &str, pane: &str) -> TmuxCall {
        call.args(["set-option", "-t", session, "@orange_task", self.task_id])
            .and()
            .args(["set-option", "-t", session, "@orange_home", self.home_tag])
            .and()
            .args(["set-option", "-t", session, "destroy-unattached", "off"])
            .and()
            .args(["set-option", "-p", "-t", pane, "@orange_run", self.run_id])
            .and()
            .args(["set-option", "-t", session, TITLE, &title(self.title)])
            .and()
            .args([
                "set-option",
                "-t",
                session,
                "status-left",
                "#{@orange_title} ",
            ])
            .and()
            .args(["set-option", "-t", session, "status-left-length", "60"])
            .and()
            .args([
                "set-option",
                "-t",
                session,
                "status-right",
                "#{@orange_back}",
            ])
    }

    fn complete(&self, call: TmuxCall) -> TmuxCall {
        let call = call
            .arg("-n")
            .arg(unexpanded(window_name(self.window)))
            .arg("-c")
            .arg(unexpanded(self.folder))
            .arg("--");
        match self.command {
            // tmux gives a single word to the user's shell to take apart.
            [word] => call
                .args(["sh", "-c", "exec \"$0\""])
                .arg(OsString::as_os_str(word)),
            words => call.args(words.iter().map(OsStr::new)),
        }
    }
}

fn made(stdout: &str) -> Option<Pane> {
    let line = stdout.lines().find_map(|line| line.strip_prefix("made:"))?;
    let [session, window, pane, pid, name, socket] = fields(line)?;
    Some(Pane {
        session: session.to_owned(),
        window: window.to_owned(),
        pane: pane.to_owned(),
        server_pid: pid.parse().ok()?,
        session_name: name.to_owned(),
        socket: PathBuf::from(socket),
    })
}

fn tagged(stdout: &str) -> Option<&str> {
    let mut lines = stdout.lines();
    let pane = lines.find_map(|line| line.strip_prefix("tagged:"))?;
    pane.starts_with('%').then_some(pane)
}
