//! A shell in a window of its own, as a person has it: what is typed there, what it shows, and whether its terminal is as a
//! shell expects it.

use crate::agents::Agents;
use std::process::Output;

/// The shell.
pub(crate) struct Looker<'e> {
    env: &'e Agents,
}

impl Looker<'_> {
    pub(crate) fn begin(env: &Agents) -> Looker<'_> {
        let variables = env.variables().iter();
        let variables: Vec<String> = variables
            .map(|(name, value)| format!("{name}='{}'", value.display()))
            .collect();
        Looker::with_shell(env, &format!("env -i {} TERM=screen", variables.join(" ")))
    }

    /// In a tmux that a person sits at, as those have it who live in one; `screen` shows that person's terminal.
    pub(crate) fn inside_tmux(env: &Agents) -> Looker<'_> {
        let variables = env.variables().iter();
        let variables: Vec<String> = variables
            .map(|(name, value)| format!("{name}='{}'", value.display()))
            .collect();
        let looker = Looker::with_shell(env, &format!("env {}", variables.join(" ")));
        let attach = format!(
            "exec env -u TMUX TERM=screen tmux -S {} attach-session -t looker",
            env.socket().display()
        );
        let made = looker.outer(&["new-session", "-d", "-x", "100", "-y", "30", &attach]);
        assert!(made.status.success(), "{made:?}");
        env.until("a terminal shows it", || {
            !looker
                .asked(&["list-clients", "-F", "#{client_name}"])
                .is_empty()
        });
        looker
    }

    fn with_shell<'e>(env: &'e Agents, environment: &str) -> Looker<'e> {
        // Without an editor for its line, so that the terminal's modes are those of programs.
        let shell = format!("exec {environment} PS1='$ ' bash --norc --noprofile --noediting -i");
        let new = ["new-session", "-d", "-s", "looker", "-x", "80", "-y", "24"];
        let made = env.tmux(&[&new[..], &[&shell]].concat());
        assert!(made.status.success(), "{made:?}");
        Looker { env }
    }

    /// The tmux server of the terminal that the person sits at.
    fn outer(&self, arguments: &[&str]) -> Output {
        let mut command = self.env.foreign("tmux");
        let socket = self.env.root().join("outer");
        command.arg("-S").arg(socket).args(["-f", "/dev/null"]);
        command.args(arguments).output().unwrap()
    }

    /// Keys at that terminal: tmux takes its own before a program sees them.
    pub(crate) fn press_outside(&self, keys: &[&str]) {
        let pressed = self.outer(&[&["send-keys"], keys].concat());
        assert!(pressed.status.success(), "{pressed:?}");
    }

    /// What that terminal shows.
    pub(crate) fn screen(&self) -> String {
        let shown = self.outer(&["capture-pane", "-p"]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    pub(crate) fn resize(&self, columns: u32, rows: u32) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["resize-window", "-t", "looker", "-x", &columns, "-y", &rows];
        assert!(self.env.tmux(&size).status.success());
    }

    /// A text from elsewhere, as a terminal hands it to a program that knows of pasting.
    pub(crate) fn paste(&self, text: &str) {
        assert!(self.env.tmux(&["set-buffer", text]).status.success());
        let paste = ["paste-buffer", "-p", "-t", "looker"];
        assert!(self.env.tmux(&paste).status.success());
    }

    pub(crate) fn type_line(&self, line: &str) {
        self.press(&["-l", line]);
        self.press(&["Enter"]);
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        let arguments = [&["send-keys", "-t", "looker"], keys].concat();
        assert!(self.env.tmux(&arguments).status.success());
    }

    fn asked(&self, arguments: &[&str]) -> String {
        let said = self.env.tmux(arguments);
        String::from_utf8_lossy(&said.stdout).trim_end().to_owned()
    }

    pub(crate) fn shows(&self) -> String {
        self.asked(&["capture-pane", "-p", "-t", "looker"])
    }

    /// The line of the list that is marked.
    pub(crate) fn selected(&self) -> String {
        let shows = self.shows();
        let mut lines = shows.lines();
        // With --ascii it is another sign.
        let marked = lines.find(|line| line.starts_with(['▌', '>']));
        marked.unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn until_selected(&self, task: &str) {
        self.env
            .until(&format!("▌ {task}"), || self.selected().contains(task));
    }

    #[track_caller]
    pub(crate) fn until_gone(&self, text: &str) {
        self.env
            .until(&format!("no {text}"), || !self.shows().contains(text));
    }

    #[track_caller]
    pub(crate) fn until_shown(&self, text: &str) {
        self.env.until(text, || self.shows().contains(text));
    }

    /// Waits until the dashboard takes a key for an answer: what is typed sooner does not count there.
    pub(crate) fn until_question_is_read(&self) {
        std::thread::sleep(std::time::Duration::from_millis(250));
    }

    /// The other screen, the cursor, echo and whole lines: as a shell expects it, or as a view has it.
    #[track_caller]
    pub(crate) fn until_given_back(&self, given_back: bool) {
        let format = "#{alternate_on} #{cursor_flag} #{pane_tty}";
        let expected = if given_back {
            "0 1 echo icanon"
        } else {
            "1 0 -echo -icanon"
        };
        self.env.until(expected, || {
            let state = self.asked(&["display-message", "-p", "-t", "looker", format]);
            let (screen, terminal) = state.rsplit_once(' ').unwrap();
            let mut stty = self.env.foreign("stty");
            let said = stty.args(["-F", terminal, "-a"]).output().unwrap();
            let said = String::from_utf8_lossy(&said.stdout).replace(';', " ");
            let mode = |name: &str| {
                let is_on = said.split_whitespace().any(|word| word == name);
                format!("{}{name}", if is_on { "" } else { "-" })
            };
            format!("{screen} {} {}", mode("echo"), mode("icanon")) == expected
        });
    }
}
