//! One pane: is it there, what does it show, and typing into it. The pane says which server; ids of a server that was
//! started again are somebody else's.

use super::call::{NEVER, ServerGuard, TmuxCall};
use super::name::is_key;
use super::{Pane, Tmux};
use orange_sys::error::{Result, err};
use std::sync::atomic::{AtomicU64, Ordering};

/// Lines that have left a pane's screen above and are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scrollback {
    pub lines: u32,
    pub limit: u32,
}

impl Scrollback {
    /// Some may have been thrown away: tmux does so with a tenth of them at once.
    pub fn is_full(self) -> bool {
        self.limit > 0 && self.lines >= self.limit - self.limit / 10
    }
}

impl Tmux {
    /// Whether the pane is still there, be its program alive or not.
    pub fn is_there(&self, pane: &Pane) -> Result<bool> {
        let found = format!("display-message -p -t {} there", pane.pane);
        let said = TmuxCall::to(&self.of_pane(pane)?)
            .only_if(&ServerGuard::there(pane), &found)
            .run()?;
        said.unless_gone(&format!("ask for pane {}", pane.pane))
    }

    /// What the pane shows, and that many lines that have left the screen. Lines that were too wide for it are whole
    /// again; blanks at the ends of lines and blank lines at the end are left out.
    pub fn capture(&self, pane: &Pane, lines: Option<u32>) -> Result<String> {
        self.capture_counted(pane, lines).map(|(text, _)| text)
    }

    /// What the pane shows, with its colours as escape sequences.
    pub fn capture_coloured(&self, pane: &Pane) -> Result<String> {
        let capture = format!("capture-pane -p -e -t {}", pane.pane);
        let text = self.on_pane(pane, &ServerGuard::there(pane), &capture, "read the screen")?;
        Ok(text.trim_end().to_owned())
    }

    /// The same with how much has left the screen by then: tmux prints nothing between two commands of one call.
    pub fn capture_counted(&self, pane: &Pane, lines: Option<u32>) -> Result<(String, Scrollback)> {
        /// tmux reads the number as one with a sign.
        const MOST: u32 = i32::MAX as u32;
        let target = &pane.pane;
        let mut capture = format!(
            "display-message -p -t {target} '#{{history_size}} #{{history_limit}}' ; capture-pane -p -J -t {target}"
        );
        if let Some(lines) = lines.filter(|lines| *lines > 0) {
            capture.push_str(&format!(" -S -{}", lines.min(MOST)));
        }
        let text = self.on_pane(pane, &ServerGuard::there(pane), &capture, "read the screen")?;
        let (numbers, text) = text.split_once('\n').unwrap_or((&text, ""));
        let mut numbers = numbers.split_whitespace().map(str::parse);
        let kept = match (numbers.next(), numbers.next()) {
            (Some(Ok(lines)), Some(Ok(limit))) => Scrollback { lines, limit },
            _ => Scrollback::default(),
        };
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        Ok((lines.join("\n").trim_end().to_owned(), kept))
    }

    /// What the pane shows and where its cursor is: another text whenever something was printed.
    pub fn look(&self, pane: &Pane) -> Result<String> {
        let ask = format!(
            "display-message -p -t {} '#{{cursor_x}}:#{{cursor_y}}:#{{history_size}}'",
            pane.pane
        );
        let place = self.on_pane(pane, &ServerGuard::there(pane), &ask, "read the screen")?;
        Ok(format!("{}\n{}", place.trim(), self.capture(pane, None)?))
    }

    /// Pastes text as a user would: copy mode and the like are left, and a program that knows bracketed paste is told
    /// that it is one. Enter is pressed separately, and a moment later: programs lose one that follows at once.
    ///
    /// Control characters other than line ends and tabs are left out, for they would be keys: an Escape interrupts,
    /// and can end the paste in the middle.
    pub fn paste(&self, pane: &Pane, text: &str) -> Result<()> {
        self.insert(pane, text, &[], &[])
    }

    /// Pastes text between keys, all with one command: nothing that a user types meanwhile comes in between.
    pub fn submit(&self, pane: &Pane, before: &[&str], text: &str, after: &[&str]) -> Result<()> {
        for key in before.iter().chain(after) {
            check_key(key)?;
        }
        self.insert(pane, text, before, after)
    }

    fn insert(&self, pane: &Pane, text: &str, before: &[&str], after: &[&str]) -> Result<()> {
        let text = harmless(text);
        let what = "type into the agent's terminal";
        let server = self.of_pane(pane)?;
        let target = &pane.pane;
        if text.is_empty() {
            let nothing = format!("display-message -p -t {target} there");
            let alive = ServerGuard::alive(pane);
            return self.on_pane(pane, &alive, &nothing, what).map(drop);
        }
        // Read first, and only then asked whether the pane is alive: reading takes time in which it could die.
        let buffer = buffer_name();
        let press = |key: &&str| format!("send-keys -t {target} -- {} ; ", quoted(key));
        let before: String = before.iter().map(press).collect();
        let after: String = after.iter().map(press).collect();
        let paste = format!(
            "copy-mode -q -t {target} ; {before}paste-buffer -p -r -d -b {buffer} -t {target} ; {after}"
        );
        let paste = paste.trim_end_matches(" ; ");
        let refuse = format!("delete-buffer -b {buffer} ; {NEVER}");
        let said = TmuxCall::to(&server)
            .args(["load-buffer", "-b", &buffer, "-"])
            .and()
            .otherwise(&ServerGuard::alive(pane), paste, &refuse)
            .input(text)
            .run()?;
        if !said.success && !said.gone() {
            let _ = TmuxCall::to(&server)
                .args(["delete-buffer", "-b", &buffer])
                .run();
        }
        said.of_pane(pane, what).map(drop)
    }

    /// Presses one key by its name: `Enter`, `Escape`, `C-c`. Copy mode, which would swallow it, is left.
    pub fn press(&self, pane: &Pane, key: &str) -> Result<()> {
        check_key(key)?;
        let target = &pane.pane;
        let key = quoted(key);
        let press = format!("copy-mode -q -t {target} ; send-keys -t {target} -- {key}");
        let what = "press a key in the agent's terminal";
        self.on_pane(pane, &ServerGuard::alive(pane), &press, what)
            .map(drop)
    }

    /// What commands on a pane print, if the condition holds.
    pub(super) fn on_pane(
        &self,
        pane: &Pane,
        guard: &ServerGuard,
        commands: &str,
        what: &str,
    ) -> Result<String> {
        let call = TmuxCall::to(&self.of_pane(pane)?).only_if(guard, commands);
        call.run()?.of_pane(pane, what)
    }
}

fn check_key(key: &str) -> Result<()> {
    if is_key(key) {
        Ok(())
    } else {
        Err(err!(Usage, "`{key}` is not the name of a key")
            .hint("names are Enter, Escape, Tab, Up, F1, C-c, M-x and the like"))
    }
}

/// In quotes for tmux's parser; a key is one line.
fn quoted(key: &str) -> String {
    if key.contains('\'') {
        format!("\"{key}\"")
    } else {
        format!("'{key}'")
    }
}

fn harmless(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || !c.is_control())
        .collect()
}

/// No other call has this name, so that two messages at once cannot be mixed up.
fn buffer_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("orange-{}-{count}", std::process::id())
}
