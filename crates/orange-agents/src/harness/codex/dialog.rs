//! The dialog with which codex begins in a folder that it does not trust. Its first choice, "Open restricted", is what
//! Orange asked for, so it is taken; any other dialog is left to a person.

use crate::harness::watch::{HarnessWatch, WindowLookup};
use std::time::{Duration, Instant};

/// Between two looks at the screen. Codex loses an Enter that comes too early, so it is pressed again.
const LOOK: Duration = Duration::from_millis(500);

/// The dialog is shown at the start or not at all.
const LONGEST: Duration = Duration::from_secs(60);

pub(super) struct CodexDialog {
    /// None once there is nothing more to look for.
    next: Option<Instant>,
    until: Instant,
    answered: bool,
}

impl CodexDialog {
    pub(super) fn new() -> CodexDialog {
        let now = Instant::now();
        CodexDialog {
            next: Some(now),
            until: now + LONGEST,
            answered: false,
        }
    }
}

impl HarnessWatch for CodexDialog {
    /// Presses Enter while the dialog is there.
    fn look(&mut self, now: Instant, _transcript: Option<&str>, window: WindowLookup<'_>) {
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = (now < self.until).then_some(now + LOOK);
        let Some((tmux, pane)) = window() else {
            return;
        };
        let screen = tmux.capture(&pane, None).unwrap_or_default();
        if is_shown(&screen) {
            self.answered = true;
            if let Err(error) = tmux.press(&pane, "Enter") {
                tracing::warn!(%error, "codex asks about its folder, and is not answered");
            }
        } else if self.answered {
            self.next = None;
        }
    }
}

/// All of it: an agent may print any one of these.
fn is_shown(screen: &str) -> bool {
    let has = |begin: &str| screen.lines().any(|line| line.trim().starts_with(begin));
    has("Folder access") && has("› 1. Open restricted") && has("enter continue")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_dialog_with_its_first_choice_is_answered() {
        let dialog = "\n  Folder access\n  /slot\n\n› 1. Open restricted\n  2. Quit\n\n  enter continue · esc quit\n";
        assert!(is_shown(dialog));
        assert!(!is_shown(
            &dialog.replace("› 1.", "  1.").replace("  2.", "› 2.")
        ));
        assert!(!is_shown(
            &dialog.replace("Folder access", "Hooks need review")
        ));
        assert!(!is_shown("› 1. Open restricted\n"));
    }
}
