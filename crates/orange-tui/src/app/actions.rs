//! What each action does in each view.

use super::marks::MARKED;
use super::overlays::{Choice, Choose};
use super::rows::{COLUMNS, Narrowed, column, has_several};
use super::{App, Effect, Overlay, Tab, Undo, View};
use crate::draw::layout::screen_back;
use crate::draw::preview_side;
use crate::verbs::Verb;
use orange_core::keys::KeyAction;
use orange_core::workflow::Workflow;
use orange_engine::views::dashboard::OverviewRow;
use std::time::Instant;

impl App {
    pub(super) fn act(&mut self, action: KeyAction, at: Instant) -> Vec<Effect> {
        self.is_warned &= action == KeyAction::Quit;
        let note = self.note_look();
        let mut effects = match self.act_in_changes(action, at) {
            Some(effects) => effects,
            None => self.act_anywhere(action, at),
        };
        effects.extend(note);
        effects
    }

    fn act_anywhere(&mut self, action: KeyAction, at: Instant) -> Vec<Effect> {
        match action {
            KeyAction::NextHunk | KeyAction::PreviousHunk => {
                let text = format!(
                    "`{}` works in the changes of a task",
                    self.keymap.key(action)
                );
                self.refuse(text, None, at);
                Vec::new()
            }
            KeyAction::Down => self.step(1),
            KeyAction::Up => self.step(-1),
            KeyAction::First => self.step(isize::MIN / 2),
            KeyAction::Last => self.step(isize::MAX / 2),
            KeyAction::PageDown => self.scroll_by(10, at),
            KeyAction::PageUp => self.scroll_by(-10, at),
            KeyAction::Fold => self.fold(true, at),
            KeyAction::Unfold => self.fold(false, at),
            KeyAction::NextNeed => self.next_need(false),
            KeyAction::PreviousNeed => self.next_need(true),
            KeyAction::NextView => self.next_view(at),
            KeyAction::View | KeyAction::Diff if self.cursor.is_none() => {
                self.say("no task is selected", at);
                Vec::new()
            }
            KeyAction::View if self.is_among_phases() => self.read_transcript(at),
            KeyAction::View => self.open_task(self.tab_to_open()),
            KeyAction::Diff => self.open_task(Tab::Changes),
            KeyAction::Back => self.back(),
            KeyAction::Quit => self.quit(at),
            KeyAction::Search => {
                if self.view == View::Task {
                    self.end_visit();
                }
                // It narrows the list, so that is what is shown.
                self.view = View::List;
                self.is_searching = true;
                Vec::new()
            }
            KeyAction::Filter => self.choose_filter(at),
            KeyAction::Help => {
                self.overlay = Some(Overlay::Help {
                    typed: String::new(),
                    scroll: 0,
                });
                Vec::new()
            }
            KeyAction::Palette => {
                self.overlay = Some(Overlay::Palette {
                    typed: String::new(),
                    at: 0,
                });
                Vec::new()
            }
            KeyAction::Create => {
                self.open_form(at);
                Vec::new()
            }
            KeyAction::Undo => self.undo(at),
            KeyAction::Mark => self.mark(at),
            KeyAction::Merge | KeyAction::No | KeyAction::Cancel | KeyAction::Delete
                if self.acts_on_marks() =>
            {
                self.act_on_marks(action, at)
            }
            KeyAction::Enter
            | KeyAction::Yes
            | KeyAction::Always
            | KeyAction::No
            | KeyAction::Message
            | KeyAction::Merge
            | KeyAction::Cancel
            | KeyAction::Delete
            | KeyAction::Editor
            | KeyAction::Shell
            | KeyAction::Pause
            | KeyAction::Skip
            | KeyAction::Rewind
            | KeyAction::Rescue
            | KeyAction::Copy => self.act_on_task(action, at),
        }
    }

    fn step(&mut self, by: isize) -> Vec<Effect> {
        if self.is_among_phases() {
            return self.step_among_phases(by);
        }
        if self.view == View::Task {
            // A screen is shown from its end, and scrolled back.
            let is_screen = self.tab == Tab::Screen;
            let by = if is_screen { by.saturating_neg() } else { by };
            let scrolled = self.scroll.saturating_add_signed(by);
            self.scroll = scrolled.min(self.furthest_line());
            return Vec::new();
        }
        if self.view == View::Inbox {
            let items = self.inbox();
            let Some(last) = items.len().checked_sub(1) else {
                return Vec::new();
            };
            let place = |folder: &String| items.iter().position(|row| row.folder == *folder);
            let from = self.cursor.as_ref().and_then(place);
            let to = from.map_or(0, |from| from.saturating_add_signed(by).min(last));
            let folder = items.get(to).map(|row| row.folder.clone());
            return self.select(folder);
        }
        if self.view == View::Board {
            return self.step_in_column(by);
        }
        let to = self.lines.moved(self.cursor.as_deref(), by);
        self.select(to)
    }

    /// What needs the person and is looked for, in all projects, the longest wait first.
    pub fn inbox(&self) -> Vec<&OverviewRow> {
        let mut rows = self.needing();
        rows.retain(|row| self.narrowed.holds(row));
        rows
    }

    fn needing(&self) -> Vec<&OverviewRow> {
        let rows = self.overview.rows.iter();
        let mut rows: Vec<&OverviewRow> = rows
            .filter(|row| row.needs_me && !self.is_gone(row))
            .collect();
        rows.sort_by_cached_key(|row| (row.since, row.label.clone()));
        rows
    }

    pub(super) fn is_in_inbox(&self, row: &OverviewRow) -> bool {
        row.needs_me && !self.is_gone(row) && self.narrowed.holds(row)
    }

    pub(super) fn place_in_inbox(&self) -> Option<usize> {
        let cursor = self.cursor.as_deref()?;
        let inbox = self.inbox();
        inbox.iter().position(|row| row.folder == cursor)
    }

    /// Puts the cursor on what is at that place of the inbox, or on the last one.
    pub(super) fn go_to_inbox(&mut self, place: usize) {
        let inbox = self.inbox();
        let last = inbox.len().saturating_sub(1);
        let found = inbox.get(place.min(last)).map(|row| row.folder.clone());
        if found.is_some() {
            self.cursor = found;
            self.forget_details();
        }
    }

    /// How far the text of the open tab can be scrolled.
    fn furthest_line(&self) -> usize {
        if self.tab == Tab::Screen {
            return screen_back(self);
        }
        crate::draw::task::furthest(self)
    }

    fn scroll_by(&mut self, by: isize, at: Instant) -> Vec<Effect> {
        if self.view == View::Task {
            return self.step(by);
        }
        if self.view != View::List || preview_side(self.size).is_none() {
            self.say("there is no preview to scroll here", at);
            return Vec::new();
        }
        if self.cursor.is_none() {
            self.say("no task is selected", at);
            return Vec::new();
        }
        let back = self.scroll.saturating_add_signed(by.saturating_neg());
        self.scroll = back.min(screen_back(self));
        Vec::new()
    }

    fn fold(&mut self, fold: bool, at: Instant) -> Vec<Effect> {
        if self.view == View::Task {
            let place = Tab::ALL.iter().position(|(tab, _)| *tab == self.tab);
            let place = place.unwrap_or(0);
            let count = Tab::ALL.len();
            let next = if fold { place + count - 1 } else { place + 1 } % count;
            return self.open_tab(Tab::ALL[next].0);
        }
        if self.view == View::Board {
            return self.change_column(fold);
        }
        let listed = self.overview.rows.iter().filter(|row| !row.is_elsewhere);
        let why_not = if self.view == View::Inbox {
            Some("projects are folded in the list")
        } else if !has_several(listed) {
            Some("there is only one project here: nothing to fold")
        } else if !fold && self.folded.is_empty() {
            Some("no project is folded")
        } else {
            None
        };
        if let Some(why_not) = why_not {
            self.say(why_not, at);
            return Vec::new();
        }
        if fold {
            let Some(project) = self.selected().map(|row| row.project.clone()) else {
                return Vec::new();
            };
            self.folded.insert(project);
        } else {
            self.folded.clear();
        }
        self.rebuild();
        self.focus_effects()
    }

    /// The first task of the next column of the board that has one.
    fn change_column(&mut self, backwards: bool) -> Vec<Effect> {
        let Some(from) = self.selected().map(column) else {
            return Vec::new();
        };
        let count = COLUMNS.len();
        let next = (1..count).find_map(|step| {
            let to = if backwards {
                from.checked_sub(step)?
            } else {
                from + step
            };
            self.narrowed_rows().find(|row| column(row) == to)
        });
        let folder = next.map(|row| row.folder.clone());
        self.select(folder)
    }

    /// Up and down within a column of the board.
    fn step_in_column(&mut self, by: isize) -> Vec<Effect> {
        let Some(at) = self.selected().map(column) else {
            return Vec::new();
        };
        let rows: Vec<&String> = self
            .narrowed_rows()
            .filter(|row| column(row) == at)
            .map(|row| &row.folder)
            .collect();
        let place = rows
            .iter()
            .position(|folder| self.cursor.as_ref() == Some(folder));
        let last = rows.len().saturating_sub(1);
        let to = place.map_or(0, |place| place.saturating_add_signed(by).min(last));
        let folder = rows.get(to).map(|folder| (*folder).clone());
        self.select(folder)
    }

    fn next_need(&mut self, backwards: bool) -> Vec<Effect> {
        let is_of_inbox =
            self.view == View::Inbox || (self.view == View::Task && self.from == View::Inbox);
        let mut needing = self.needing();
        if is_of_inbox {
            needing.retain(|row| self.narrowed.holds(row));
        } else {
            needing.retain(|row| !row.is_elsewhere);
        }
        let items: Vec<String> = needing.iter().map(|row| row.folder.clone()).collect();
        let count = items.len();
        if count == 0 {
            self.say("nothing needs you", Instant::now());
            return Vec::new();
        }
        let place = |folder: &String| items.iter().position(|known| known == folder);
        let next = match (self.cursor.as_ref().and_then(place), backwards) {
            (Some(place), false) => (place + 1) % count,
            (Some(place), true) => (place + count - 1) % count,
            (None, _) => 0,
        };
        self.select(items.get(next).cloned())
    }

    fn next_view(&mut self, at: Instant) -> Vec<Effect> {
        self.view = match self.view {
            View::List => View::Inbox,
            View::Inbox => View::Board,
            View::Board => View::List,
            View::Task => return self.fold(false, at),
        };
        self.unhide();
        if self.view == View::Inbox {
            let needed: Vec<String> = self.inbox().iter().map(|row| row.folder.clone()).collect();
            let is_there = self
                .cursor
                .as_ref()
                .is_some_and(|cursor| needed.contains(cursor));
            if !is_there {
                return self.select(needed.first().cloned());
            }
        }
        self.focus_effects()
    }

    pub(super) fn open_task(&mut self, tab: Tab) -> Vec<Effect> {
        if self.at_hand().is_none() {
            return Vec::new();
        }
        if self.view == View::Task {
            if tab == Tab::Changes && self.tab == Tab::Changes {
                self.next_part();
            }
            return self.open_tab(tab);
        }
        self.from = self.view;
        self.view = View::Task;
        (self.tab, self.scroll) = (tab, 0);
        self.focus_effects()
    }

    pub(super) fn open_tab(&mut self, tab: Tab) -> Vec<Effect> {
        self.tab = tab;
        self.scroll = 0;
        self.focus_effects()
    }

    /// One step back; never out of the program.
    fn back(&mut self) -> Vec<Effect> {
        if self.view == View::Task {
            self.view = self.from;
            self.scroll = 0;
            self.end_visit();
            self.unhide();
            return self.focus_effects();
        }
        if self.narrowed != Narrowed::default() {
            let reloads = self.narrowed.with_older;
            if self.narrowed.words.is_empty() {
                self.narrowed = Narrowed::default();
            } else {
                self.narrowed.clear_words();
            }
            self.rebuild();
            return if reloads {
                vec![Effect::LoadOverview]
            } else {
                self.focus_effects()
            };
        }
        if !self.marked.is_empty() {
            self.marked.clear();
            return Vec::new();
        }
        self.view = View::List;
        self.focus_effects()
    }

    fn quit(&mut self, at: Instant) -> Vec<Effect> {
        if self.view == View::Task {
            return self.back();
        }
        if let Some((folder, what)) = self.busy.iter().next() {
            let label = self.label_of(folder);
            self.say(
                format!("{label}: {what} still runs; Ctrl-C quits at once"),
                at,
            );
            return Vec::new();
        }
        if self.has_unsent() && !self.is_warned {
            self.is_warned = true;
            let key = self.keymap.key(KeyAction::Quit);
            let text = format!("what you wrote was not sent: `{key}` again quits without it");
            self.say(text, at);
            return Vec::new();
        }
        vec![Effect::Quit]
    }

    /// Whether a text or a form was begun and not sent.
    fn has_unsent(&self) -> bool {
        let is_open = match &self.overlay {
            Some(Overlay::Compose(compose)) => !compose.area.is_empty(),
            Some(Overlay::Form(form)) => !form.is_empty(),
            _ => false,
        };
        is_open || !self.drafts.is_empty() || !self.forms.is_empty()
    }

    /// Whether quitting loses nothing and leaves nothing half done.
    pub fn may_quit(&self) -> bool {
        self.busy.is_empty() && !self.has_unsent()
    }

    pub(super) fn label_of(&self, folder: &str) -> String {
        let mut rows = self.overview.rows.iter();
        let row = rows.find(|row| row.folder == folder);
        match row {
            Some(row) => row.label.clone(),
            None if folder == MARKED => "the marked tasks".to_owned(),
            None => "a new task".to_owned(),
        }
    }

    fn choose_filter(&mut self, at: Instant) -> Vec<Effect> {
        let mut choices = vec![
            ('a', "all".to_owned(), Choice::Status(None)),
            ('n', "needs you".to_owned(), Choice::NeedsMe),
            ('o', "with all that is over".to_owned(), Choice::WithOlder),
        ];
        for info in Workflow::statuses_in_use() {
            let word = info.status.as_str();
            let is_free = |letter: &char| !choices.iter().any(|(known, ..)| known == letter);
            // One of its own letters, else any.
            let others = ('x'..='z').chain('a'..='w');
            if let Some(letter) = word.chars().chain(others).find(is_free) {
                choices.push((
                    letter,
                    word.to_owned(),
                    Choice::Status(Some(word.to_owned())),
                ));
            }
        }
        self.overlay = Some(Overlay::Choose(Choose {
            opened: at,
            title: "show only".to_owned(),
            choices,
        }));
        Vec::new()
    }

    fn undo(&mut self, at: Instant) -> Vec<Effect> {
        if let Some(what) = self.busy.get("") {
            self.refuse(format!("{what} is still running"), None, at);
            return Vec::new();
        }
        let Some(undo) = self.undo.take() else {
            self.say("nothing to undo", at);
            return Vec::new();
        };
        self.undoing = Some(undo.clone());
        match undo {
            Undo::Restore(name) => self.run(String::new(), Verb::Restore(name)),
            Undo::CreateFrom(name) => self.run(String::new(), Verb::CreateFrom(name)),
        }
    }

    /// Starts a verb, unless one runs on the task already.
    pub(super) fn run(&mut self, folder: String, verb: Verb) -> Vec<Effect> {
        if self.busy.contains_key(&folder) {
            self.refuse_busy(&folder, Instant::now());
            return Vec::new();
        }
        if let Verb::Each(verbs) = &verb {
            for (folder, verb) in verbs {
                self.busy.insert(folder.clone(), verb.name());
                self.together.push(folder.clone());
            }
        }
        self.busy.insert(folder.clone(), verb.name());
        vec![Effect::Run { folder, verb }]
    }

    /// Says that something else runs on the task.
    pub(super) fn refuse_busy(&mut self, folder: &str, at: Instant) {
        let what = self.busy.get(folder).copied().unwrap_or_default();
        let text = format!("{}: {what} is still running", self.label_of(folder));
        self.refuse(text, None, at);
    }
}
