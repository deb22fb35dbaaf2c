//! Reports to Orange, as the hooks of a real harness make them.

use super::super::program::{self, RunningProgram};
use super::SimAgent;
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// How long `orange signal` may take; agents wait for their hooks, but not for ever.
const LIMIT: Duration = Duration::from_secs(60);
/// As much of a line as goes on a command line.
const LONGEST: usize = 4000;

impl SimAgent {
    /// Tells Orange, as the hooks of a real agent do.
    pub(crate) fn signal(&self, kind: &str, text: &str) {
        self.signal_with(kind, text, &[]);
    }

    /// The same with more options.
    pub(super) fn signal_with(&self, kind: &str, text: &str, options: &[String]) {
        if self.run_id.is_none() {
            return;
        }
        self.note_signal(kind, self.send_signal(kind, text, options));
    }

    fn note_signal(&self, kind: &str, sent: Result<(), String>) {
        let about = json!({"signal": kind, "ok": sent.is_ok(), "reason": sent.err()});
        self.events.write("signalled", &about);
    }

    fn send_signal(&self, kind: &str, text: &str, options: &[String]) -> Result<(), String> {
        // A prompt may be longer than a command line.
        let file = match kind {
            "prompt-taken" => Some(file_with(text).map_err(|error| error.to_string())?),
            _ => None,
        };
        let argument = match &file {
            Some(file) => format!("--text-file={}", file.path().display()),
            None => text_argument(text),
        };
        let mut arguments = vec!["signal".to_owned(), kind.to_owned(), argument];
        arguments.extend_from_slice(options);
        wait_for_hook(&arguments)
    }

    /// Asks through Orange too. The hook waits for an answer, as long as the agent does.
    pub(crate) fn ask_outside(&self, question: &str) -> Option<RunningProgram> {
        self.run_id.as_ref()?;
        let text = text_argument(question);
        let hook = program::orange(["signal", "permission-asked", "--wait", &text]).start();
        let about = json!({"signal": "permission-asked", "ok": hook.is_ok()});
        self.events.write("signalled", &about);
        hook.ok()
    }

    /// The hook does not wait any more: it was answered here, or the turn is over.
    pub(crate) fn question_is_over(&self, answered: bool) {
        let kind = if answered { "working" } else { "interrupted" };
        let words = ["signal", kind, "--answered"].map(str::to_owned);
        self.note_signal(kind, wait_for_hook(&words));
    }
}

/// Gone when it is dropped, and never called like one that a killed agent left.
fn file_with(text: &str) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::with_prefix("orange-sim-")?;
    file.write_all(text.replace('\0', "").as_bytes())?;
    Ok(file)
}

fn text_argument(text: &str) -> String {
    let text = text.chars().filter(|letter| *letter != '\0');
    format!("--text={}", text.take(LONGEST).collect::<String>())
}

/// The answer that came through Orange, if its hook has ended with one.
pub(crate) fn outside_answer(hook: &mut Option<RunningProgram>) -> Option<bool> {
    let ended = hook.as_mut()?.ended().ok()??;
    *hook = None;
    let answer: Value = serde_json::from_str(ended.output.trim()).ok()?;
    answer.get("allow")?.as_bool()
}

fn wait_for_hook(arguments: &[String]) -> Result<(), String> {
    let started = program::orange(arguments).start();
    let mut running = started.map_err(|error| error.to_string())?;
    let begun = Instant::now();
    loop {
        match running.ended().map_err(|error| error.to_string())? {
            Some(ended) if ended.code() == Some(0) => return Ok(()),
            Some(ended) => return Err(format!("{}: {}", ended.how(), ended.output.trim())),
            None if begun.elapsed() > LIMIT => {
                running.kill();
                return Err("took too long".into());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
