//! What is typed, pasted and clicked: which action it means, or which field it goes to.

use super::*;
use crate::draw::{board, inbox};
use ratatui::layout::Position;

impl App {
    /// A paste runs no keys: outside of a field its words go into a message to the agent.
    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        if crate::draw::is_too_small(self.size) {
            return Vec::new();
        }
        match &mut self.overlay {
            Some(Overlay::Compose(compose)) => {
                compose.area.insert_str(text);
            }
            Some(Overlay::Form(form)) => form.paste(text),
            Some(_) => {}
            None if self.is_searching => {
                self.narrowed
                    .words
                    .push_str(&text.replace(['\n', '\r'], " "));
                self.narrow();
                return self.search_effects();
            }
            None if self.cursor.is_some() => {
                self.open_composer(ComposeFor::Message(self.shown_role()), Some(text));
            }
            None => {}
        }
        Vec::new()
    }

    pub(super) fn key(&mut self, key: KeyEvent, at: Instant) -> Vec<Effect> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if crate::draw::is_too_small(self.size) {
            let leaves = match key.code {
                KeyCode::Char('c') => is_control,
                _ if self.keymap.action(key) == Some(KeyAction::Quit) => self.may_quit(),
                _ => false,
            };
            return leaves.then_some(Effect::Quit).into_iter().collect();
        }
        if is_control && key.code == KeyCode::Char('c') {
            if self.overlay.is_some() {
                self.close_overlay();
                return Vec::new();
            }
            return vec![Effect::Quit];
        }
        if self
            .message
            .as_ref()
            .is_some_and(|message| message.is_error)
        {
            self.message = None;
        }
        if self.overlay.is_some() {
            return self.key_in_overlay(key, at);
        }
        if self.is_searching {
            return self.key_in_search(key);
        }
        if let KeyCode::Char(digit @ '1'..='9') = key.code
            && key.modifiers.is_empty()
        {
            return self.digit(digit as usize - '0' as usize, at);
        }
        match self.keymap.action(key) {
            Some(action) => self.act(action, at),
            None => {
                if let KeyCode::Char(letter) = key.code
                    && crate::keymap::is_plain(key.modifiers)
                {
                    let help = self.keymap.key(KeyAction::Help);
                    self.say(
                        format!("`{letter}` does nothing; `{help}` shows every key"),
                        at,
                    );
                }
                Vec::new()
            }
        }
    }

    pub(super) fn key_in_search(&mut self, key: KeyEvent) -> Vec<Effect> {
        match key.code {
            KeyCode::Esc => {
                self.is_searching = false;
                self.narrowed.clear_words();
            }
            KeyCode::Enter => {
                self.is_searching = false;
                return Vec::new();
            }
            KeyCode::Backspace => {
                self.narrowed.words.pop();
                if self.narrowed.words.is_empty() {
                    self.narrowed.clear_words();
                }
            }
            KeyCode::Down => return self.act(KeyAction::Down, Instant::now()),
            KeyCode::Up => return self.act(KeyAction::Up, Instant::now()),
            KeyCode::Char(letter) if crate::keymap::is_plain(key.modifiers) => {
                self.narrowed.words.push(letter);
            }
            _ => return Vec::new(),
        }
        self.narrow();
        self.search_effects()
    }

    /// The rows are narrowed at once by what they show; where else the words are found is asked of the index.
    pub(super) fn search_effects(&mut self) -> Vec<Effect> {
        let mut effects = self.focus_effects();
        let words = self.narrowed.words.trim();
        if !words.is_empty() {
            effects.push(Effect::Search(words.to_owned()));
        }
        effects
    }

    /// A digit is a workspace in a list, and a tab in a task.
    pub(super) fn digit(&mut self, digit: usize, at: Instant) -> Vec<Effect> {
        if self.view == View::Task {
            return match Tab::ALL.get(digit - 1) {
                Some((tab, _)) => self.open_task(*tab),
                None => {
                    self.say(format!("there is no tab {digit}"), at);
                    Vec::new()
                }
            };
        }
        let number = u32::try_from(digit).ok();
        let has_slot = |row: &&OverviewRow| row.slot == number && !row.is_elsewhere;
        let of_here = |row: &&OverviewRow| self.here.as_ref() == Some(&row.project);
        let rows = || self.overview.rows.iter().filter(has_slot);
        let found = rows().find(of_here).or_else(|| rows().next());
        let folder = found.map(|row| row.folder.clone());
        if folder.is_none() {
            self.say(format!("no task is in workspace {digit}"), at);
        }
        self.select(folder)
    }

    pub(super) fn mouse(&mut self, mouse: MouseEvent, at: Instant) -> Vec<Effect> {
        if self.overlay.is_some() || crate::draw::is_too_small(self.size) {
            return Vec::new();
        }
        match mouse.kind {
            MouseEventKind::ScrollDown => self.act(KeyAction::Down, at),
            MouseEventKind::ScrollUp => self.act(KeyAction::Up, at),
            MouseEventKind::Down(MouseButton::Left) if mouse.row + 1 == self.size.1 => {
                match crate::draw::footer_key_at(self, mouse.column) {
                    Some(action) => self.act(action, at),
                    None => Vec::new(),
                }
            }
            MouseEventKind::Down(MouseButton::Left) => {
                let Some(folder) = self.folder_at(Position::new(mouse.column, mouse.row)) else {
                    return Vec::new();
                };
                let again = self.clicked.is_some_and(|(when, row)| {
                    row == mouse.row && at.saturating_duration_since(when) < DOUBLE_CLICK
                });
                self.clicked = Some((at, mouse.row));
                if again && self.cursor.as_ref() == Some(&folder) {
                    return self.act(KeyAction::Enter, at);
                }
                self.select(Some(folder))
            }
            _ => Vec::new(),
        }
    }

    /// The task that is drawn at a place of the screen.
    fn folder_at(&self, place: Position) -> Option<String> {
        let layout = ScreenLayout::of(self, self.size);
        match self.view {
            View::List => {
                let line = layout.line_at(place)? + self.lines.top;
                self.lines.folder_at(line, &self.overview)
            }
            View::Inbox => inbox::folder_at(self, layout.body, place),
            View::Board => board::folder_at(self, layout.body, place),
            View::Task => None,
        }
    }
}
