//! A new overview is taken in: rows that came and went, the lines that show them, and the cursor among them.

use super::{App, Effect, GONE, View, rows};
use orange_core::Timestamp;
use orange_core::task::Status;
use orange_engine::Error;
use orange_engine::sessions::SessionState;
use orange_engine::views::dashboard::{Overview, OverviewRow};
use std::collections::BTreeSet;
use std::time::Instant;

impl App {
    pub(super) fn take_overview(
        &mut self,
        loaded: Result<Overview, Error>,
        at: Instant,
    ) -> Vec<Effect> {
        let overview = match loaded {
            Ok(overview) => overview,
            Err(error) => {
                self.refuse(error.message, error.hint, at);
                return Vec::new();
            }
        };
        self.loaded = true;
        self.known_projects.clone_from(&overview.projects);
        let needed = overview.needs_me + overview.need_elsewhere;
        let before = self.needed.replace(needed);
        let more_need = before.is_some_and(|before| needed > before);
        let cursor = self.cursor.clone();
        let in_inbox = self.place_in_inbox();
        let gone = self.gone_row(&overview);
        self.gone = gone.as_ref().map(|row| row.folder.clone());
        self.overview = overview;
        if !self.marked.is_empty() {
            let rows = self.overview.rows.iter();
            let known: BTreeSet<&String> = rows.map(|row| &row.folder).collect();
            self.marked.retain(|folder| known.contains(folder));
        }
        if let Some(gone) = gone {
            self.overview.rows.push(gone);
            rows::sort(&mut self.overview.rows, self.here.as_deref());
        }
        self.now = Timestamp::now();
        self.rebuild();
        self.tell_of_moves();
        if self.view == View::Inbox && self.place_in_inbox().is_none() {
            self.go_to_inbox(in_inbox.unwrap_or(0));
        }
        self.is_moved |= cursor.is_some() && self.cursor != cursor;
        let mut effects: Vec<Effect> = more_need.then_some(Effect::Bell).into_iter().collect();
        effects.extend(self.news_effects(at));
        effects
    }

    /// The row of the task at the cursor that new rows do not have. It stays, and no other one comes under the person's fingers.
    fn gone_row(&self, new: &Overview) -> Option<OverviewRow> {
        let row = self.selected()?;
        if new.rows.iter().any(|known| known.folder == row.folder) {
            return None;
        }
        let mut row = row.clone();
        // What decides on its place stays as it was.
        (row.session, row.slot) = (SessionState::None, None);
        if !row.status.is_some_and(Status::is_terminal) {
            row.word = GONE.to_owned();
            row.note = row.note.map(|_| "it is listed no more".into());
        }
        Some(row)
    }

    /// Puts the lines together anew. The cursor keeps its task and its place on the screen.
    pub(super) fn rebuild(&mut self) {
        if let Some(gone) = self.gone.take_if(|gone| self.cursor.as_ref() != Some(gone)) {
            self.overview.rows.retain(|row| row.folder != gone);
        }
        let place = self.lines.place_of(self.cursor.as_deref());
        let offset = place.map(|place| place.saturating_sub(self.lines.top));
        self.lines.fill(
            &mut self.overview,
            &self.narrowed,
            &self.folded,
            self.here.as_deref(),
            self.cursor.as_deref(),
        );
        match (self.lines.place_of(self.cursor.as_deref()), offset) {
            (Some(place), Some(offset)) => self.lines.top = place.saturating_sub(offset),
            (Some(_), None) => {}
            // A task that is open and gone is told to be gone: no other one takes its place under the person's fingers.
            (None, _) if self.view == View::Task => {}
            (None, _) => {
                self.cursor = self.lines.nearest(place.unwrap_or(0), &self.overview);
                self.forget_details();
            }
        }
        self.keep_visible();
    }

    /// After the person narrowed the list, the cursor is on something that is in it.
    pub(super) fn narrow(&mut self) {
        let holds = self.selected().is_some_and(|row| self.narrowed.lists(row));
        if !holds && self.view != View::Task {
            self.cursor = None;
            self.forget_details();
        }
        self.rebuild();
        if self.view == View::Inbox && self.place_in_inbox().is_none() {
            self.go_to_inbox(0);
        }
    }
}
