//! What is read again because something changed in the home.

use super::{App, Effect, Tab, View};
use orange_core::Timestamp;
use orange_engine::index::DiffStat;
use std::time::{Duration, Instant};

/// git compares whole trees: not oftener than this, however much happens.
const APART: Duration = Duration::from_secs(3);
/// What is not committed changes without a word. At the next news after this time it is compared again.
const ANYWAY: Duration = Duration::from_secs(10);

/// How the task looked when its changes were asked for last.
#[derive(Debug, Default)]
pub(super) struct Compared {
    looks: Option<(String, Timestamp, Option<DiffStat>)>,
    at: Option<Instant>,
    /// It looks different by now.
    is_stale: bool,
}

impl App {
    /// What is drawn of the selected task is read again.
    pub(super) fn news_effects(&mut self, at: Instant) -> Vec<Effect> {
        let Some(cursor) = self.cursor.clone().filter(|_| self.shows_changes()) else {
            return self.focus_effects();
        };
        let is_old = self.compared_for(at).is_none_or(|age| age >= ANYWAY);
        self.compared.is_stale |= is_old || self.compared.looks != self.looks();
        let mut effects = vec![Effect::LoadFocus(cursor)];
        effects.extend(self.late_changes(at));
        effects
    }

    /// Changes that were not read at once.
    pub(super) fn late_changes(&mut self, at: Instant) -> Vec<Effect> {
        let is_soon = self.compared_for(at).is_some_and(|age| age < APART);
        if is_soon || !self.compared.is_stale || !self.shows_changes() {
            return Vec::new();
        }
        let folder = self.cursor.clone();
        folder
            .map(|folder| self.compare(folder, at))
            .into_iter()
            .collect()
    }

    pub(super) fn compare(&mut self, folder: String, at: Instant) -> Effect {
        self.compared = Compared {
            looks: self.looks(),
            at: Some(at),
            is_stale: false,
        };
        self.load_changes(folder)
    }

    pub(super) fn shows_changes(&self) -> bool {
        self.view == View::Task && self.tab == Tab::Changes
    }

    fn compared_for(&self, at: Instant) -> Option<Duration> {
        let since = self.compared.at?;
        Some(at.saturating_duration_since(since))
    }

    fn looks(&self) -> Option<(String, Timestamp, Option<DiffStat>)> {
        let row = self.selected()?;
        Some((row.folder.clone(), row.updated, row.diff.clone()))
    }
}
