//! Bringing a user's terminal to a pane: which command does it from where they are, and how they get back.

use super::call::{ServerGuard, TmuxCall, command, literal, server_arguments};
use super::name::shown;
use super::session::BACK;
use super::{Pane, Tmux, is_id};
use orange_core::naming::shell_word;
use orange_sys::error::{Error, Result, err};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tmux that a user's terminal is inside of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    pub socket: PathBuf,
    pub server_pid: u32,
    pub pane: Option<String>,
}

impl Inside {
    /// From the values of TMUX (`socket,pid,session`) and TMUX_PANE. None: they say nothing.
    pub fn parse(tmux: &str, pane: Option<&str>) -> Option<Inside> {
        // From the end, because the path may have commas.
        let mut fields = tmux.rsplitn(3, ',');
        let _session = fields.next()?;
        let server_pid = fields.next()?.parse().ok()?;
        let socket = fields.next().filter(|path| !path.is_empty())?;
        Some(Inside {
            socket: PathBuf::from(socket),
            server_pid,
            pane: pane.filter(|pane| is_id('%', pane)).map(str::to_owned),
        })
    }

    fn same_server(&self, pane: &Pane) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.server_pid == pane.server_pid && real(&self.socket) == real(&pane.socket)
    }
}

/// What brings the user there.
#[derive(Debug, Clone)]
pub struct Attach {
    tmux: Tmux,
    /// Arguments of `tmux`.
    pub arguments: Vec<OsString>,
    /// The command returns at once and another session shows (inside tmux); otherwise it goes on until the user
    /// detaches.
    pub switches: bool,
    /// How to come back, in words. tmux shows them too.
    pub way_back: String,
    /// Inside tmux: the terminal that switches, and the pane that it comes from.
    from: Option<(String, String)>,
}

impl Attach {
    /// To be executed on the user's terminal.
    pub fn command(&self) -> Command {
        let mut command = command(&self.tmux);
        command.args(&self.arguments);
        command
    }

    /// Whether the terminal that switched shows the pane's session again. None: that cannot be said, or never will be so.
    pub fn is_back(&self) -> Option<bool> {
        let (client, pane) = self.from.as_ref()?;
        let ask = ["list-clients", "-F", "#{client_name}", "-t", pane];
        let said = TmuxCall::to(&self.tmux).args(ask).run().ok()?;
        Some(said.stdout.lines().any(|name| name == client))
    }
}

impl Tmux {
    /// How the user's terminal gets to the pane, from inside a tmux or not. Nothing has happened yet.
    pub fn attach(&self, pane: &Pane, from: Option<&Inside>) -> Result<Attach> {
        let server = self.of_pane(pane)?;
        // Where it is now; the user may have moved it.
        let ask = format!(
            "display-message -p -t {} '#{{session_id}}:#{{window_id}}.#{{pane_id}}'",
            pane.pane
        );
        let target = server.on_pane(pane, &ServerGuard::there(pane), &ask, "attach")?;
        let target = target.trim();
        let Some(inside) = from else {
            let way_back = server.way_back("to come back", "detach-client");
            return Ok(server.going(
                target,
                &["attach-session", "-t", target],
                &[],
                way_back,
                None,
            ));
        };
        if !inside.same_server(pane) {
            return Err(nested(pane));
        }
        let client = server.client_of(inside)?;
        let way_back = server.way_back("to go back", "switch-client -l");
        let switch = ["switch-client", "-c", &client, "-t", target];
        let from = Some((client.clone(), inside.pane.clone()));
        Ok(server.going(target, &switch, &["-c", &client], way_back, from))
    }

    /// Goes there, and then shows how to come back.
    fn going(
        &self,
        target: &str,
        go: &[&str],
        to_client: &[&str],
        way_back: String,
        switched: Option<(String, Option<String>)>,
    ) -> Attach {
        let message = shown(&way_back);
        let show = ["display-message", "-d", "5000"].iter().chain(to_client);
        let show = show.map(OsStr::new).chain([message.as_os_str()]);
        let mut arguments = server_arguments(&self.server);
        // The message is gone after some seconds; the status line keeps it.
        let keep = ["set-option", "-t", target, BACK, &way_back];
        arguments.extend(keep.iter().map(|word| literal(OsStr::new(word))));
        arguments.push(";".into());
        arguments.extend(go.iter().map(|word| literal(OsStr::new(word))));
        arguments.push(";".into());
        arguments.extend(show.map(literal));
        Attach {
            tmux: self.clone(),
            arguments,
            switches: switched.is_some(),
            way_back,
            from: switched.and_then(|(client, pane)| Some((client, pane?))),
        }
    }

    /// The terminal that the user sits at: of those that show the session they are in, the one used last.
    fn client_of(&self, inside: &Inside) -> Result<String> {
        let mut call = TmuxCall::to(self).args(["list-clients", "-F"]);
        call = call.arg("#{client_activity}:#{client_name}");
        if let Some(pane) = &inside.pane {
            call = call.args(["-t", pane]);
        }
        let said = call.run()?;
        let activity = |line: &&str| {
            let (time, _) = line.split_once(':').unwrap_or_default();
            time.parse::<i64>().unwrap_or_default()
        };
        let latest = said.stdout.lines().max_by_key(activity);
        let name = latest.and_then(|line| line.split_once(':'));
        name.map(|(_, name)| name.to_owned()).ok_or_else(|| {
            err!(
                NotFound,
                "cannot attach: no terminal shows the tmux session this command was started in"
            )
        })
    }

    /// With the user's own keys; a command where they have bound none.
    fn way_back(&self, why: &str, command: &str) -> String {
        match (self.prefix_key(), self.key_for(command)) {
            (Some(prefix), Some(key)) => format!("{why}: {prefix} {key}"),
            _ => format!("{why}: tmux {command}"),
        }
    }

    /// The key that does this after the prefix.
    fn key_for(&self, command: &str) -> Option<String> {
        let said = TmuxCall::to(self)
            .args(["list-keys", "-T", "prefix"])
            .run()
            .ok()?;
        let keys: Vec<&str> = said
            .stdout
            .lines()
            .filter_map(|line| bound_key(line, command))
            .collect();
        // The one that everybody knows, should it be among them.
        let usual = |key: &&&str| matches!(**key, "L" | "d");
        let key = keys.iter().find(usual).or(keys.first())?;
        Some(unescaped(key))
    }
}

/// `bind-key [-r] -T prefix KEY command`: the key, if it is bound to exactly this command.
fn bound_key<'a>(line: &'a str, command: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.by_ref().find(|word| *word == "-T")?;
    let (_table, key) = (words.next()?, words.next()?);
    words.eq(command.split(' ')).then_some(key)
}

/// tmux writes `\"` for the key `"`.
fn unescaped(key: &str) -> String {
    match key.strip_prefix('\\') {
        Some(bare) if !bare.is_empty() => bare.to_owned(),
        _ => key.to_owned(),
    }
}

fn nested(pane: &Pane) -> Error {
    let socket = shell_word(&pane.socket.display().to_string());
    err!(
        Refused,
        "cannot attach to tmux session {}: this terminal is inside another tmux server",
        pane.session_name
    )
    .hint(format!(
        "detach first, or nest them: `TMUX= tmux -S {socket} attach -t '{}'`",
        pane.session
    ))
}

#[cfg(test)]
mod tests {
    use super::{Inside, bound_key, unescaped};
    use std::path::PathBuf;

    #[test]
    fn the_variables_of_tmux_say_where_one_is() {
        let inside = Inside::parse("/tmp/a,b/default,4711,3", Some("%12")).unwrap();
        assert_eq!(inside.socket, PathBuf::from("/tmp/a,b/default"));
        assert_eq!(inside.server_pid, 4711);
        assert_eq!(inside.pane.as_deref(), Some("%12"));
        let odd = Inside::parse("/tmp/x,1,0", Some("-t")).unwrap();
        assert_eq!(odd.pane, None);
        for nothing in ["", "x", "/tmp/x,notanumber,0", ",1,0", "/tmp/x,1"] {
            assert_eq!(Inside::parse(nothing, None), None, "{nothing}");
        }
    }

    #[test]
    fn a_key_is_found_by_its_whole_command() {
        let line = "bind-key    -T prefix L       switch-client -l";
        assert_eq!(bound_key(line, "switch-client -l"), Some("L"));
        assert_eq!(bound_key(line, "switch-client"), None);
        let line = "bind-key -r -T prefix \\\"       detach-client";
        assert_eq!(
            bound_key(line, "detach-client").map(unescaped),
            Some("\"".to_owned())
        );
    }
}
