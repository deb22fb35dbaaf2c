//! The terminal as the dashboard has it, and as everybody else left it: whatever ends the dashboard puts it back.

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, Stdout, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is ours: a panic puts back only what was taken.
static TAKEN: AtomicBool = AtomicBool::new(false);

pub(crate) type CrosstermTerminal = Terminal<CrosstermBackend<Stdout>>;

/// Gives the terminal back when it is dropped.
pub(crate) struct TakenTerminal {
    pub(crate) screen: CrosstermTerminal,
    mouse: bool,
}

impl TakenTerminal {
    pub(crate) fn take(mouse: bool) -> io::Result<TakenTerminal> {
        let before = std::panic::take_hook();
        let drawing = std::thread::current().id();
        std::panic::set_hook(Box::new(move |panic| {
            // Another thread's fault is told by the dashboard, which goes on.
            if std::thread::current().id() == drawing {
                give_back();
                before(panic);
            } else {
                tracing::error!("{panic}");
            }
        }));
        let screen = enter(mouse).and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        if screen.is_err() {
            give_back();
        }
        Ok(TakenTerminal {
            screen: screen?,
            mouse,
        })
    }

    /// Lets somebody else have the terminal for a while.
    pub(crate) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let done = work();
        enter(self.mouse)?;
        self.screen.clear()?;
        Ok(done)
    }
}

impl Drop for TakenTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter(mouse: bool) -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    if mouse {
        execute!(stdout(), EnableMouseCapture)?;
    }
    Ok(())
}

/// Write errors are ignored: the terminal may be gone.
pub(crate) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(
            stdout(),
            DisableMouseCapture,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Show
        );
        let _ = disable_raw_mode();
    }
}
