//! What the window of an executor shows: what its agents say, as it comes, and what it does between their turns. A thread of its
//! own writes, because a terminal may stop taking output (Ctrl-S, a tmux that hangs) and no agent is to wait for that.

use crate::ui::{clean, clean_block, time_of_day};
use orange_core::naming::cut_at;
use orange_core::work::execution::{CriterionResult, Iteration, IterationKind};
use orange_engine::phases::{AgentOutput, Progress};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So much waits for a terminal that takes no output; then the oldest of it is left out.
const MOST_WAITING: usize = 256 * 1024;

/// So much is shown of a text that comes in one piece.
const LONGEST_TEXT: usize = 16 * 1024;

/// How long the terminal may take for what is left at the end.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// The window that this process runs in.
pub(super) struct Window {
    shared: Arc<SharedWindow>,
}

#[derive(Default)]
struct SharedWindow {
    waiting: Mutex<WaitingText>,
    changed: Condvar,
}

/// What is to be written.
#[derive(Default)]
struct WaitingText {
    text: String,
    /// Something is being written.
    is_writing: bool,
    /// What was shown last did not end its line.
    in_line: bool,
}

impl Window {
    /// Writes to standard output from now on.
    pub(super) fn open() -> Window {
        Window::on(std::io::stdout())
    }

    fn on(mut terminal: impl Write + Send + 'static) -> Window {
        let shared = Arc::new(SharedWindow::default());
        let waiting = Arc::clone(&shared);
        let writer = std::thread::Builder::new();
        // Without it nothing is shown, and the work goes on.
        let _ = writer.spawn(move || waiting.write_all(&mut terminal));
        Window { shared }
    }

    pub(super) fn show(&self, progress: Progress<'_>) {
        let mut waiting = self.shared.lock();
        waiting.add(progress);
        self.shared.changed.notify_all();
        if matches!(progress, Progress::Ends(_)) {
            let is_left =
                |waiting: &mut WaitingText| waiting.is_writing || !waiting.text.is_empty();
            drop(
                self.shared
                    .changed
                    .wait_timeout_while(waiting, END_TIMEOUT, is_left),
            );
        }
    }
}

impl SharedWindow {
    fn lock(&self) -> MutexGuard<'_, WaitingText> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what comes, for as long as this process lives. Write errors are ignored: the window may be gone.
    fn write_all(&self, terminal: &mut impl Write) {
        loop {
            let waiting = self.lock();
            let waits = |waiting: &mut WaitingText| waiting.text.is_empty();
            let waiting = self.changed.wait_while(waiting, waits);
            let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
            let text = std::mem::take(&mut waiting.text);
            waiting.is_writing = true;
            drop(waiting);
            let _ = terminal.write_all(text.as_bytes());
            let _ = terminal.flush();
            self.lock().is_writing = false;
            self.changed.notify_all();
        }
    }
}

impl WaitingText {
    fn add(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Began(iteration) => self.line(&format!("\n{}", heading(iteration))),
            Progress::Said(said) => self.said(said),
            Progress::Checking { criterion, clean } => {
                let place = if clean { " in a clean worktree" } else { "" };
                self.own(&format!("checking {criterion}{place}"));
            }
            Progress::Checked(result) => self.own(&checked(result)),
            Progress::Over(complete) => self.own(&format!("phase complete: {complete}")),
            Progress::Waiting { until, why } => {
                let at = time_of_day(until);
                self.own(&format!("the service failed, waiting until {at}: {why}"));
            }
            Progress::Note(text) => self.own(&format!("note: {text}")),
            Progress::Ends(why) => self.own(&format!("the executor ends: {why}")),
        }
    }

    fn said(&mut self, said: AgentOutput<'_>) {
        match said {
            AgentOutput::Text(text) => {
                let shown = cut_at(text, LONGEST_TEXT);
                self.line(&clean_block(shown));
                if shown.len() < text.len() {
                    self.own("the rest of this text is in the transcript");
                }
            }
            AgentOutput::Tool { name, on } => {
                self.line(&format!("> {}", clean(&format!("{name}: {on}"))))
            }
            AgentOutput::Other(text) => self.piece(&clean_block(text)),
            AgentOutput::Used { .. } => {}
        }
    }

    /// A line of the executor's own.
    fn own(&mut self, text: &str) {
        self.line(&format!("-- {}", clean(text)));
    }

    /// Begins a line, and ends it.
    fn line(&mut self, text: &str) {
        if self.in_line {
            self.piece("\n");
        }
        self.piece(text);
        if self.in_line {
            self.piece("\n");
        }
    }

    fn piece(&mut self, text: &str) {
        let Some(last) = text.bytes().last() else {
            return;
        };
        self.in_line = last != b'\n';
        self.text.push_str(text);
        if self.text.len() > MOST_WAITING {
            // Half of it, so that a flood is not moved again with every line of it.
            let before = cut_at(&self.text, self.text.len() - MOST_WAITING / 2).len();
            self.text
                .replace_range(..before, "\n-- what came before is in the transcript\n");
        }
    }
}

/// `== implement, iteration 2 (claude)`
fn heading(iteration: &Iteration) -> String {
    let what = match iteration.kind {
        IterationKind::Turn => String::new(),
        other => format!("{other} of "),
    };
    let (phase, number) = (&iteration.phase, iteration.iteration);
    let harness = clean(&iteration.harness).into_owned();
    format!("== {what}{phase}, iteration {number} ({harness})\n")
}

fn checked(result: &CriterionResult) -> String {
    let criterion = &result.criterion;
    let detail = result.detail.trim();
    let last = detail.lines().next_back().unwrap_or_default();
    let told = match result.passed {
        Some(true) => "passed",
        Some(false) => "failed",
        None => "not checked",
    };
    match last {
        "" => format!("{criterion}: {told}"),
        last => format!("{criterion}: {told}: {last}"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    fn said(text: &str) -> Progress<'_> {
        Progress::Said(AgentOutput::Text(text))
    }

    #[test]
    fn nothing_that_is_said_acts_on_the_terminal_and_lines_stay_apart() {
        let mut waiting = WaitingText::default();
        waiting.add(Progress::Said(AgentOutput::Other("half a li\u{1b}[2J")));
        waiting.add(Progress::Said(AgentOutput::Tool {
            name: "Bash",
            on: "make\u{7} test",
        }));
        waiting.add(said("one\ntwo"));
        waiting.add(Progress::Ends("phase test\nis over"));
        assert_eq!(
            waiting.text,
            "half a li␛[2J\n> Bash: make␇ test\none\ntwo\n-- the executor ends: phase test⏎is over\n"
        );
    }

    #[test]
    fn of_a_long_text_the_beginning_is_shown() {
        let mut waiting = WaitingText::default();
        waiting.add(said(&"é".repeat(LONGEST_TEXT)));
        assert!(waiting.text.len() < LONGEST_TEXT + 100);
        assert!(
            waiting
                .text
                .ends_with("é\n-- the rest of this text is in the transcript\n")
        );
    }

    /// A terminal that takes nothing before it is told to.
    struct Stopped(Receiver<()>, Sender<Vec<u8>>);

    impl Write for Stopped {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.recv().map_err(std::io::Error::other)?;
            self.1.send(bytes.to_vec()).map_err(std::io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_that_takes_nothing_holds_nobody_up_and_sees_the_newest() {
        let (go, stopped) = channel();
        let (wrote, written) = channel();
        let window = Window::on(Stopped(stopped, wrote));
        window.show(said("first"));
        // Before what follows, or it would be written with it.
        while !window.shared.lock().is_writing {
            std::thread::yield_now();
        }
        let line = "x".repeat(1000);
        for _ in 0..10_000 {
            window.show(said(&line));
        }
        assert!(window.shared.lock().text.len() <= MOST_WAITING);
        window.show(said("last"));
        go.send(()).unwrap();
        go.send(()).unwrap();
        assert_eq!(written.recv().unwrap(), b"first\n");
        let rest = String::from_utf8(written.recv().unwrap()).unwrap();
        assert!(rest.starts_with("\n-- what came before is in the transcript\n"));
        assert!(rest.ends_with("\nlast\n"));
    }
}
