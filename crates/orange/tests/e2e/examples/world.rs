//! A machine on which examples are typed: a shell in a folder, with `orange` and what people have beside it.

use crate::agents::Agents;
use crate::run::program;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Generous: only an example that hangs is given so long.
const CEILING: Duration = Duration::from_secs(90);

/// Programs that examples name and not every machine has. Agents without a terminal answer one turn as theirs would; the
/// others do as little as can be done.
const PROGRAMS: &[(&str, &str)] = &[
    ("claude", CLAUDE),
    (
        "pi",
        r#"cat >/dev/null; echo '{"type":"session","id":"1"}'
echo '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"none"}]}}'
echo '{"type":"agent_settled"}'"#,
    ),
    ("saved", SAVED),
    ("asking", ASKING),
    ("code", "test -d \"$2\""),
    ("jq", "grep -q ."),
    ("notify-send", "test -n \"$1\""),
];

/// Saves a file of a task's worktree at a chosen time, as giving the slot back does: `saved TASK-001 DAY TIME FILE`.
const SAVED: &str = r#"set -e
id=$(basename "$(orange path "$1" --task)")
cd "$(orange path "$1")"
echo work >"$4"
git add "$4"
commit=$(git commit-tree "$(git write-tree)" -p HEAD -m "rescue: release

Orange-Reason: the slot was given back
Orange-Task: $id
Orange-Time: $2T$3Z
Orange-Files: 1
Orange-Commits: 0
Orange-Head: $(git rev-parse HEAD)")
name=$(echo "$2T$3.000Z" | tr -d :-)
git update-ref "refs/orange/rescue/$id/$name" "$commit"
git reset -q --hard"#;

/// An agent like claude that asks for commands, its own arguments, and then waits.
const ASKING: &str = r#"orange signal prompt-taken --text x
for command; do
  case $command in -*) break ;; esac
  printf '{"hook_event_name":"PermissionRequest","session_id":"1","cwd":"%s","tool_name":"Bash","tool_input":{"command":"%s"}}' "$PWD" "$command" |
    orange signal --from claude >/dev/null
done
exec cat"#;

/// Claude Code, played by the scripted agent. In a mode in which the real one would ask, its worker first asks for a command, in
/// claude's own words. A script `claude.yaml` beside it says what it does, else the built-in one.
const CLAUDE: &str = r#"case "$*" in
--version) echo '2.1.325 (Claude Code)'; exit ;;
'auth status'*) echo '{"loggedIn":true,"authMethod":"claude.ai"}'; exit ;;
-p\ * | *\ -p\ *)
  cat >/dev/null
  echo '{"type":"result","subtype":"success","is_error":false,"session_id":"1","result":"none"}'
  exit ;;
esac
script=$(dirname "$0")/claude.yaml
for prompt; do :; done
orange signal prompt-taken --text "$prompt"
case "$ORANGE_ROLE $*" in
worker*--permission-mode*)
  printf '{"hook_event_name":"PermissionRequest","session_id":"1","cwd":"%s","tool_name":"Bash","tool_input":{"command":"npm install"}}' "$PWD" |
    orange signal --from claude >/dev/null ;;
esac
if [ -e "$script" ]; then exec orange sim --script "$script" -- "$prompt"; fi
exec orange sim -- "$prompt""#;

/// How a line is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Until it ends by itself.
    Plain,
    /// At a terminal of 100 columns, until it ends by itself.
    Terminal,
    /// Until it has printed something; then Ctrl-C.
    Interrupted,
    /// At a terminal, until tmux shows a session there; then its client is detached.
    Attached,
}

/// What came of a line.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) text: String,
}

pub(crate) struct World {
    pub(crate) agents: Agents,
    /// Where the shell is.
    pub(crate) folder: PathBuf,
}

impl World {
    /// In the repository `shop`, which is registered; agents are scripted.
    pub(crate) fn new() -> World {
        let agents = Agents::new();
        let folder = agents.shop();
        World::around(agents, folder)
    }

    /// In an empty home.
    pub(crate) fn bare() -> World {
        let agents = Agents::bare();
        let folder = agents.root().join("home");
        World::around(agents, folder)
    }

    fn around(mut agents: Agents, folder: PathBuf) -> World {
        for (name, text) in PROGRAMS {
            let path = agents.write(&format!("bin/{name}"), format!("#!/bin/sh\n{text}\n"));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let bin = agents.root().join("bin");
        symlink(program(), bin.join("orange")).unwrap();
        agents.put_first_in_path(&bin);
        let temporary = agents.root().join("t");
        fs::create_dir(&temporary).unwrap();
        agents.set("TMPDIR", temporary);
        for (name, value) in [
            ("EDITOR", "true"),
            ("SHELL", "/bin/sh"),
            ("TERM", "xterm-256color"),
            ("COLUMNS", "200"),
        ] {
            agents.set(name, value);
        }
        // What is exported in there, every line knows.
        let variables = agents.write("variables", "");
        agents.set("BASH_ENV", variables);
        World { agents, folder }
    }

    /// Runs lines that must succeed.
    #[track_caller]
    pub(crate) fn prepare(&mut self, lines: &str) {
        let said = self.run(&format!("set -e\n{lines}"), How::Plain);
        assert_eq!(
            said.code,
            0,
            "{lines}\n{}\n{}",
            said.text,
            self.agents.dump()
        );
    }

    /// Runs a line of shell; a `cd` in it lasts.
    pub(crate) fn run(&mut self, line: &str, how: How) -> Said {
        let said = self.agents.root().join("said");
        let file = File::create(&said).unwrap();
        let place = self.agents.root().join("place");
        let script = format!("trap 'pwd -P >\"{}\"' EXIT\n{line}\n", place.display());
        let mut command = match how {
            How::Plain => self.shell(&["-c", &script]),
            How::Interrupted => self.shell(&["-c", &format!("exec {line}")]),
            How::Attached => self.terminal(line),
            How::Terminal => self.terminal(&format!("stty cols 100 rows 40; {line}")),
        };
        // A terminal whose input ends would type an end of file to the agent.
        let input = match how {
            How::Attached | How::Terminal => Stdio::piped(),
            How::Plain | How::Interrupted => Stdio::null(),
        };
        let mut child = command
            .current_dir(&self.folder)
            .stdin(input)
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .process_group(0)
            .spawn()
            .unwrap();
        let deadline = Instant::now() + CEILING;
        let mut asked = false;
        let mut looks = 0;
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                // As a shell tells it.
                let signal = status.signal().unwrap_or_default();
                break status.code().unwrap_or(128 + signal);
            }
            if Instant::now() > deadline {
                signal(&child, Signal::KILL);
                child.wait().unwrap();
                let text = fs::read_to_string(&said).unwrap_or_default();
                panic!("{line} does not end:\n{text}\n{}", self.agents.dump());
            }
            match how {
                How::Interrupted if !asked => {
                    asked = self.interrupt(&child, &said, looks);
                    looks += 1;
                }
                How::Attached => self.detach(),
                How::Plain | How::Interrupted | How::Terminal => {}
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        if let Ok(text) = fs::read_to_string(place) {
            self.folder = PathBuf::from(text.trim_end());
        }
        let text = fs::read(&said).unwrap();
        Said {
            code,
            text: String::from_utf8_lossy(&text).replace('\r', ""),
        }
    }

    fn shell(&self, arguments: &[&str]) -> Command {
        let mut command = self.agents.foreign("bash");
        command.args(arguments);
        command
    }

    fn terminal(&self, line: &str) -> Command {
        let mut command = self.agents.foreign("script");
        command.args(["-qec", line, "/dev/null"]);
        command.env("NO_COLOR", "1");
        command
    }

    /// Once it has printed something; if it has nothing to tell, something happens that it might.
    fn interrupt(&self, child: &Child, said: &PathBuf, looks: usize) -> bool {
        if fs::metadata(said).unwrap().len() == 0 {
            if looks % 200 != 199 {
                return false;
            }
            let mut something = self.shell(&["-c", "orange create 'Something new' --no-spawn"]);
            let done = something.current_dir(&self.folder).output().unwrap();
            assert!(done.status.success(), "{done:?}");
            return false;
        }
        signal(child, Signal::INT);
        true
    }

    fn detach(&self) {
        let clients = self.agents.tmux(&["list-clients", "-F", "#{client_name}"]);
        for client in String::from_utf8_lossy(&clients.stdout).lines() {
            self.agents.tmux(&["detach-client", "-t", client]);
        }
    }

    /// What an example may have changed: as long as it is the same, the next one can be typed here too.
    pub(crate) fn condition(&self) -> String {
        let script = "\
cd \"$ORANGE_HOME\"
cat projects.json config.yaml workspaces/.pool.json tasks/*/*/TASK.md tasks/*/*/history.jsonl 2>&1
ls -d tasks/*/* trash/* workspaces/* runs/* 2>&1
for slot in workspaces/*/; do git -C \"$slot\" status --porcelain; done";
        let output = self.shell(&["-c", script]).output().unwrap();
        let refs = self.agents.git(&self.agents.shop(), &["for-each-ref"]);
        let home = String::from_utf8_lossy(&output.stdout);
        format!("{home}\n{refs}\n{}", self.folder.display())
    }
}

fn signal(child: &Child, signal: Signal) {
    let group = Pid::from_child(child);
    let _ = kill_process_group(group, signal);
}
