//! One call of tmux: its arguments, its environment, its time limit, and what it said.

use super::{INSTALL, PROGRAM, Pane, Server, Tmux, TmuxSession};
use orange_core::{Action, text};
use orange_sys::environment;
use orange_sys::error::{Error, Result, copied, err, plain};
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Fails with words of its own: no server ever counts that far.
pub(super) const NEVER: &str = "has-session -t '$4294967295'";

pub(super) struct TmuxCall {
    command: Command,
    input: Option<Vec<u8>>,
    timeout: Duration,
    about: String,
}

/// What tmux said.
pub(super) struct TmuxOutput {
    pub(super) success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl TmuxCall {
    /// A call about no server.
    pub(super) fn bare(tmux: &Tmux) -> TmuxCall {
        TmuxCall {
            command: command(tmux),
            input: None,
            timeout: tmux.timeout,
            about: match &tmux.server {
                Server::Default => "the tmux server".to_owned(),
                Server::Named(name) => format!("the tmux server `{name}`"),
                Server::Socket(path) => format!("the tmux server at {}", path.display()),
            },
        }
    }

    /// A call to the server. `-u`: what it says is UTF-8, whatever the locale; setting a locale instead would give
    /// it to every program of a server that this call happens to start.
    pub(super) fn to(tmux: &Tmux) -> TmuxCall {
        let mut call = TmuxCall::bare(tmux);
        call.command.arg("-u").args(server_arguments(&tmux.server));
        call
    }

    pub(super) fn arg(mut self, argument: impl AsRef<OsStr>) -> TmuxCall {
        self.command.arg(literal(argument.as_ref()));
        self
    }

    pub(super) fn args(self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> TmuxCall {
        arguments.into_iter().fold(self, TmuxCall::arg)
    }

    /// Another command; the server carries out all of them as one list, and stops at the first that fails.
    pub(super) fn and(mut self) -> TmuxCall {
        self.command.arg(";");
        self
    }

    /// Commands that are carried out only if the condition holds. They are text that tmux parses: nothing but ids and
    /// names of our own belongs there.
    pub(super) fn only_if(self, guard: &ServerGuard, commands: &str) -> TmuxCall {
        self.otherwise(guard, commands, NEVER)
    }

    pub(super) fn otherwise(
        self,
        guard: &ServerGuard,
        commands: &str,
        otherwise: &str,
    ) -> TmuxCall {
        let call = self.args(["if-shell", "-F"]);
        let call = match &guard.pane {
            Some(pane) => call.args(["-t", pane]),
            None => call,
        };
        call.args([&guard.condition, commands, otherwise])
    }

    pub(super) fn input(mut self, bytes: impl Into<Vec<u8>>) -> TmuxCall {
        self.input = Some(bytes.into());
        self
    }

    /// Runs it, whatever it answers.
    pub(super) fn run(mut self) -> Result<TmuxOutput> {
        let stdin = match self.input {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        };
        self.command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| cannot_start(&error))?;
        if let Some((bytes, pipe)) = self.input.zip(child.stdin.take()) {
            // tmux may stop reading early; what it answers says whether that is bad.
            std::thread::spawn(move || { pipe }.write_all(&bytes));
        }
        match hear(&mut child, self.timeout) {
            Some((stdout, stderr)) => {
                let status = child.wait().map_err(|error| cannot_start(&error))?;
                Ok(TmuxOutput {
                    success: status.success(),
                    stdout,
                    stderr,
                })
            }
            None => {
                let _ = child.kill();
                let _ = child.wait();
                Err(no_answer(&self.about, self.timeout))
            }
        }
    }
}

/// Everything it says, or None when that takes too long. tmux hands its own files on to the server: one that hangs
/// keeps them open after tmux was killed, so no thread that reads or writes them is waited for.
fn hear(child: &mut Child, timeout: Duration) -> Option<(String, String)> {
    let deadline = Instant::now().checked_add(timeout);
    let stdout = child.stdout.take().map(listen);
    let stderr = child.stderr.take().map(listen);
    let heard = |words: Option<Receiver<String>>| {
        let left = deadline?.saturating_duration_since(Instant::now());
        words?.recv_timeout(left).ok()
    };
    Some((heard(stdout)?, heard(stderr)?))
}

fn listen(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (all, heard) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is all there is to know.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = all.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    heard
}

/// tmux with an environment of ours.
pub(super) fn command(tmux: &Tmux) -> Command {
    let mut command = Command::new(PROGRAM);
    environment::inherit(&mut command);
    if let Some(variables) = &tmux.environment {
        command
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)));
    }
    // The environment of whoever starts a server becomes that of all its sessions: what says "you are this agent"
    // must not get there. Names only are looked at, and only to leave them out.
    let inherited = std::env::vars_os().map(|(name, _)| name);
    let given = tmux.environment.iter().flat_map(|all| all.iter());
    for name in inherited.chain(given.map(|(name, _)| name.clone())) {
        if name.as_bytes().starts_with(b"ORANGE_") {
            command.env_remove(name);
        }
    }
    command
        // Being inside another server redirects nothing.
        .env_remove("TMUX")
        .env_remove("TMUX_PANE")
        // A server stays where it was started: in a slot, it would occupy it for ever.
        .current_dir("/");
    command
}

pub(super) fn server_arguments(server: &Server) -> Vec<OsString> {
    match server {
        Server::Default => Vec::new(),
        Server::Named(name) => vec!["-L".into(), name.into()],
        Server::Socket(path) => vec!["-S".into(), path.into()],
    }
}

/// An argument that ends with `;` would end the command; tmux takes back a backslash before it.
pub(super) fn literal(argument: &OsStr) -> OsString {
    let mut bytes = argument.as_bytes().to_owned();
    if bytes.last() == Some(&b';') {
        bytes.insert(bytes.len() - 1, b'\\');
    }
    OsString::from_vec(bytes)
}

/// What must hold of the server, and of a pane, for a command to be carried out. Asked in the same call, so that
/// nothing can change in between.
pub(super) struct ServerGuard {
    pane: Option<String>,
    condition: String,
}

impl ServerGuard {
    /// The server is the process that gave the ids.
    pub(super) fn same_server(pid: u32) -> ServerGuard {
        ServerGuard {
            pane: None,
            condition: format!("#{{==:#{{pid}},{pid}}}"),
        }
    }

    /// And the pane is there.
    pub(super) fn there(pane: &Pane) -> ServerGuard {
        let ServerGuard { condition, .. } = ServerGuard::same_server(pane.server_pid);
        ServerGuard {
            pane: Some(pane.pane.clone()),
            condition: format!("#{{&&:{condition},#{{==:#{{pane_id}},{}}}}}", pane.pane),
        }
    }

    /// And its program is running. Pasting into a pane whose program has ended (`remain-on-exit`) crashes the server
    /// of tmux 3.3a, and with it everything the user has there.
    pub(super) fn alive(pane: &Pane) -> ServerGuard {
        let ServerGuard { pane, condition } = ServerGuard::there(pane);
        ServerGuard {
            pane,
            condition: format!("#{{&&:{condition},#{{==:#{{pane_dead}},0}}}}"),
        }
    }
}

impl TmuxOutput {
    /// There is no server, or none with anything on it.
    pub(super) fn no_server(&self) -> bool {
        let gone = [
            "no server running",
            "server exited",
            "lost server",
            // A server without any session; one that is about to exit, for instance.
            "no current target",
            "no current client",
            "no sessions",
        ];
        let no_socket = ["No such file", "Connection refused"];
        !self.success
            && (gone.iter().any(|words| self.stderr.contains(words))
                || (self.stderr.contains("error connecting")
                    && no_socket.iter().any(|words| self.stderr.contains(words))))
    }

    /// The target, or the server it was on, is not there any more.
    pub(super) fn gone(&self) -> bool {
        self.no_server() || (!self.success && self.stderr.contains("can't find "))
    }

    /// An error with tmux's own words.
    pub(super) fn error(&self, what: &str) -> Error {
        let mut lines = self.stderr.lines().map(str::trim);
        let said = lines.find(|line| !line.is_empty());
        let said = said.unwrap_or("tmux said nothing");
        err!(Failed, "cannot {what}: {said}")
    }

    pub(super) fn unexpected(&self) -> Error {
        let first = self.stdout.lines().next().unwrap_or_default();
        err!(
            Failed,
            "tmux answered with something else than asked for: `{first}`"
        )
    }

    /// Whether it was done; false where the target is gone.
    pub(super) fn unless_gone(&self, what: &str) -> Result<bool> {
        if self.success || self.gone() {
            Ok(self.success)
        } else {
            Err(self.error(what))
        }
    }

    /// What it printed, or why not.
    pub(super) fn of_pane(self, pane: &Pane, what: &str) -> Result<String> {
        let done = self.unless_gone(what)?;
        done.then_some(self.stdout)
            .ok_or_else(|| pane_gone(pane, what))
    }

    /// The same for what is done to a session.
    pub(super) fn of_session(self, session: &TmuxSession, what: &str) -> Result<String> {
        let done = self.unless_gone(what)?;
        done.then_some(self.stdout)
            .ok_or_else(|| session_gone(session, what))
    }
}

/// The fields of a line that colons separate; the last may have more of them.
pub(super) fn fields<const COUNT: usize>(line: &str) -> Option<[&str; COUNT]> {
    let fields: Vec<&str> = line.splitn(COUNT, ':').collect();
    fields.try_into().ok()
}

fn pane_gone(pane: &Pane, what: &str) -> Error {
    err!(
        NotFound,
        "cannot {what}: pane {} of tmux session {} is gone, or its program has ended",
        pane.pane,
        pane.session_name
    )
}

pub(super) fn session_gone(session: &TmuxSession, what: &str) -> Error {
    err!(
        NotFound,
        "cannot {what}: tmux session {} ({}) is gone",
        session.session_name,
        session.session
    )
}

fn no_answer(about: &str, timeout: Duration) -> Error {
    err!(
        Failed,
        "{about} did not answer within {} s",
        timeout.as_secs_f64()
    )
    .hint(text!(
        "it may be stopped or very busy; {} shows whether it answers again",
        Action::list_sessions()
    ))
}

fn cannot_start(error: &std::io::Error) -> Error {
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "it is not installed, or not on PATH".to_owned(),
        _ => plain(error),
    };
    err!(Failed, "cannot start tmux: {why}")
        .because(copied(error))
        .hint(INSTALL)
}
