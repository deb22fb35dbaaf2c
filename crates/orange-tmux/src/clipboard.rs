//! The clipboard of a terminal in which tmux runs: a program inside reaches it only through tmux.

use super::attach::Inside;
use super::call::TmuxCall;
use super::{Server, Tmux};
use orange_sys::error::{Result, err};

impl Inside {
    /// Makes a text tmux's newest buffer and, where tmux may set it, the terminal's clipboard.
    pub fn copy(&self, text: &str) -> Result<()> {
        let tmux = Tmux::new(Server::Socket(self.socket.clone()));
        let load = TmuxCall::to(&tmux).args(["load-buffer", "-w", "-"]);
        let said = load.input(text).run()?;
        if said.success {
            Ok(())
        } else {
            Err(err!(Failed, "tmux took no text: {}", said.stderr.trim()))
        }
    }
}
