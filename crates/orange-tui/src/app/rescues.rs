//! Work that was saved before something could destroy it: which rescues a task has, what is in one, bringing it back.

use super::overlays::{Choice, Choose, Confirm};
use super::{App, Overlay};
use crate::verbs::Verb;
use orange_core::keys::KeyAction;
use std::time::Instant;

impl App {
    /// A letter for each rescue, the newest first.
    pub(super) fn choose_rescue(
        &mut self,
        folder: &str,
        rescues: Vec<(String, String)>,
        at: Instant,
    ) {
        let label = self.label_of(folder);
        if rescues.is_empty() {
            self.say(
                format!("{label} has no rescues: nothing of it had to be saved"),
                at,
            );
            return;
        }
        if self.is_taken("the rescues can be looked at", at) {
            return;
        }
        let letters = 'a'..='z';
        let (count, most) = (rescues.len(), letters.clone().count());
        let choices = letters.zip(rescues).map(|(letter, (name, text))| {
            let verb = Verb::ShowRescue(name);
            (letter, text, Choice::Run(folder.to_owned(), verb))
        });
        let newest = if count > most {
            format!(" (the newest {most} of {count})")
        } else {
            String::new()
        };
        self.overlay = Some(Overlay::Choose(Choose {
            opened: at,
            title: format!("rescues of {label}{newest}"),
            choices: choices.collect(),
        }));
    }

    /// Shows what is in one, and asks.
    pub(super) fn confirm_rescue(
        &mut self,
        folder: String,
        name: String,
        lines: Vec<String>,
        at: Instant,
    ) {
        if self.is_taken("the rescue can be looked at", at) {
            return;
        }
        let lines = lines.into_iter().map(|line| (false, line));
        self.confirm(Confirm {
            title: format!("bring back {name} of {}?", self.label_of(&folder)),
            lines: lines.collect(),
            yes: "bring it back",
            folder,
            verb: Verb::RestoreRescue(name),
            opened: at,
            scroll: 0,
        });
    }

    /// Whether the person is at something else by now, which is not taken away.
    fn is_taken(&mut self, what: &str, at: Instant) -> bool {
        if self.overlay.is_none() {
            return false;
        }
        let key = self.keymap.key(KeyAction::Rescue);
        self.say(format!("{what}: `{key}` again"), at);
        true
    }
}
