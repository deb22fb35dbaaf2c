//! What follows when a verb has ended, or when the person comes back from a window, an editor or a shell.

use super::*;

impl App {
    /// A verb has ended.
    pub(super) fn done(
        &mut self,
        folder: String,
        what: &'static str,
        outcome: VerbOutcome,
        at: Instant,
    ) -> Vec<Effect> {
        self.busy.remove(&folder);
        let undoing = self.undoing.take_if(|_| folder.is_empty());
        let form = match outcome {
            VerbOutcome::ChooseMode { .. } => None,
            _ => self.submitted.remove(&folder),
        };
        if folder == MARKED {
            for folder in std::mem::take(&mut self.together) {
                self.busy.remove(&folder);
            }
        }
        match outcome {
            VerbOutcome::Said { text, undo } => {
                self.forget_draft(&folder, what);
                let text = self.spelled(&text);
                let key = self.keymap.key(KeyAction::Undo);
                let text = match &undo {
                    Some(Undo::Restore(_)) => format!("{text}; {key} restores it"),
                    Some(Undo::CreateFrom(_)) => {
                        format!("{text}; {key} creates it anew, with its work")
                    }
                    None => text,
                };
                self.undo = undo.or(self.undo.take());
                self.say(text, at);
            }
            VerbOutcome::Created { folder, text } => {
                self.say(self.spelled(&text), at);
                // Whoever is at something else by now stays there.
                if self.view == View::List && self.overlay.is_none() {
                    self.cursor = Some(folder);
                    self.forget_details();
                }
            }
            VerbOutcome::Many {
                text,
                done,
                is_whole,
            } => {
                self.marked.retain(|folder| !done.contains(folder));
                let text = self.spelled(&text);
                if is_whole {
                    self.forget_draft(&folder, what);
                    self.say(text, at);
                } else {
                    self.refuse(text, None, at);
                }
            }
            VerbOutcome::Rescues(rescues) => self.choose_rescue(&folder, rescues, at),
            VerbOutcome::Rescue { name, lines } => self.confirm_rescue(folder, name, lines, at),
            VerbOutcome::Text { title, lines } => {
                self.show_text(title, lines, at);
                return Vec::new();
            }
            VerbOutcome::Plans(planned) => self.confirm_merges(planned, at),
            // Whoever is at something else by now is not taken away from it.
            VerbOutcome::Attach(_) if self.overlay.is_some() => {
                let (label, key) = (self.label_of(&folder), self.keymap.key(KeyAction::Enter));
                let text = format!("the window of {label} can be shown: `{key}` again");
                self.say(text, at);
            }
            VerbOutcome::Attach(attach) => return vec![Effect::Attach { folder, attach }],
            VerbOutcome::Plan(plan) => self.confirm_merge(folder, &plan, at),
            VerbOutcome::ChooseMode { project, verb } => {
                self.choose_mode(&folder, &project, &verb, at)
            }
            VerbOutcome::Failed { text, hint } => {
                let mut text = self.spelled(&text);
                self.undo = self.undo.take().or(undoing);
                if let Some(form) = form {
                    self.forms.push(form);
                    // Whoever writes something else meanwhile finds it with the key that creates.
                    if self.overlay.is_none() {
                        self.open_form(at);
                    } else {
                        let key = self.keymap.key(KeyAction::Create);
                        text.push_str(&format!("; what you wrote is kept: `{key}` opens it"));
                    }
                }
                self.refuse(text, hint, at);
            }
        }
        let mut effects = vec![Effect::LoadOverview];
        effects.extend(self.focus_effects());
        effects
    }

    /// Before a window, an editor or a shell gets the terminal.
    pub(super) fn leave_for(&mut self, row: &OverviewRow) {
        self.away = Some((row.folder.clone(), row.word.clone()));
    }

    /// Back from there. What became of the task meanwhile is told as soon as it is known.
    pub(super) fn back_again(&mut self, folder: Option<String>, at: Instant) -> Vec<Effect> {
        if let Some(text) = folder.and_then(|folder| self.told_of_return(&folder)) {
            self.say(text, at);
        }
        let mut effects = vec![Effect::LoadOverview];
        effects.extend(self.focus_effects());
        effects
    }

    pub(super) fn told_of_return(&self, folder: &str) -> Option<String> {
        let mut rows = self.overview.rows.iter();
        let row = rows.find(|row| row.folder == folder)?;
        let before = self.away.as_ref().filter(|(known, _)| known == folder);
        let moved = before.filter(|(_, before)| *before != row.word);
        let moved = moved.map(|(_, before)| format!(": {before} → {}", row.word));
        Some(format!(
            "back from {}{}",
            row.label,
            moved.unwrap_or_default()
        ))
    }

    /// While it is told that the person is back, the task may move.
    pub(super) fn tell_of_moves(&mut self) {
        let Some(text) = (self.away.as_ref()).and_then(|(folder, _)| self.told_of_return(folder))
        else {
            return;
        };
        let is_told = |message: &&mut OutcomeMessage| message.text.starts_with("back from ");
        if let Some(message) = self.message.as_mut().filter(is_told) {
            message.text = text;
        }
    }
}
