//! The program that the user reads long texts with: the only file that starts it.

use crate::output;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What git sets for a pager, unless the user did.
const DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// Exit codes of a shell that found no such program, or could not start it.
const NOT_STARTED: [i32; 2] = [126, 127];

pub(crate) struct Pager {
    line: String,
    child: Child,
    interrupted: Arc<AtomicBool>,
}

impl Pager {
    /// From a line of shell, as git has it. None if there is not even a shell: then the text is shown without.
    pub(crate) fn start(line: &str) -> Option<Pager> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).stdin(Stdio::piped());
        for (name, value) in DEFAULTS {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        // Ctrl-C is for the pager, which stops reading by it. A handler, because whom we start would inherit that we
        // ignore it.
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGINT, flag) {
            tracing::debug!(%error, "Ctrl-C ends the program too");
        }
        match command.spawn() {
            Ok(child) => Some(Pager {
                line: line.to_owned(),
                child,
                interrupted,
            }),
            Err(error) => {
                output::note(&format!("the pager cannot be started: {error}"));
                None
            }
        }
    }

    /// False once it has closed its ears.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        let written = self.child.stdin.as_mut().map(|pipe| pipe.write_all(bytes));
        matches!(written, Some(Ok(())))
    }

    /// Somebody typed Ctrl-C, which ends whoever fills the pager.
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Waits until the user is done reading. False: there is no such program, and nothing was read.
    pub(crate) fn end(mut self) -> bool {
        drop(self.child.stdin.take());
        let code = self.child.wait().ok().and_then(|status| status.code());
        let started = !code.is_some_and(|code| NOT_STARTED.contains(&code));
        if !started {
            output::note(&format!(
                "the pager `{}` cannot be started, so this is shown without; core.pager, GIT_PAGER or PAGER name another",
                self.line
            ));
        }
        started
    }
}
