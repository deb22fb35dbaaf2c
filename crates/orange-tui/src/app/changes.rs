//! The Changes tab: which part of a task's changes is shown, which file of it, and how far its lines are scrolled. All files
//! follow one another: past the end of one the next begins.

use super::{App, Effect, Tab, View};
use crate::draw;
use orange_core::keys::KeyAction;
use orange_engine::git::diff::FileStatus;
use orange_engine::views::changes::{ChangedFile, Changes, Visit};
use orange_engine::views::diff::DiffOf;
use orange_engine::views::patch::FilePatch;
use orange_engine::{Error, Result};
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

/// The parts, in the order in which the key goes through them: with their names, and those for a narrow screen.
pub const PARTS: [(DiffOf, &str, &str); 5] = [
    (DiffOf::Work, "all", "all"),
    (DiffOf::SinceSeen, "since I last looked", "since I looked"),
    (DiffOf::LastTurn, "last turn", "last turn"),
    (DiffOf::SinceReview, "since the review", "since review"),
    (DiffOf::Uncommitted, "uncommitted", "uncommitted"),
];

/// What the tab shows, and of which task it was asked.
#[derive(Default)]
pub struct ChangesTab {
    /// Where it stands among the parts.
    part: usize,
    visit: Visit,
    /// None: it is being read. An error says why there is nothing.
    pub shown: Option<std::result::Result<Changes, String>>,
    pub at: usize,
    /// Of the file at `at`.
    pub patch: Option<std::result::Result<FilePatch, String>>,
    /// The first line that is shown, and the hunk that keys are about.
    pub top: usize,
    pub hunk: usize,
    unfolded: BTreeSet<String>,
    /// What was marked during this visit: path and content. A list that was read before does not know of it.
    marks: HashMap<(String, String), bool>,
    /// The head that was noted as seen.
    noted: Option<String>,
    /// The last patch that was asked for; others come too late.
    ticket: u64,
    /// It was come to from the file after it.
    from_end: bool,
}

impl ChangesTab {
    pub fn of(&self) -> DiffOf {
        PARTS[self.part].0
    }

    pub fn files(&self) -> &[ChangedFile] {
        match &self.shown {
            Some(Ok(changes)) => &changes.files,
            _ => &[],
        }
    }

    pub fn file(&self) -> Option<&ChangedFile> {
        self.files().get(self.at)
    }

    pub fn is_folded(&self, file: &ChangedFile) -> bool {
        file.is_lock_file && !self.unfolded.contains(&file.path)
    }

    pub fn is_viewed(&self, file: &ChangedFile) -> bool {
        let Some(content) = &file.content else {
            return false;
        };
        let marked = self.marks.get(&(file.path.clone(), content.clone()));
        marked.copied().unwrap_or(file.is_viewed)
    }

    /// How many lines the selected file takes, a word about what is cut included.
    pub fn length(&self) -> usize {
        let Some(Ok(patch)) = &self.patch else {
            return 1;
        };
        (patch.lines.len() + usize::from(patch.is_cut)).max(1)
    }

    fn forget_file(&mut self) {
        (self.patch, self.top, self.hunk, self.from_end) = (None, 0, 0, false);
    }
}

impl App {
    pub(super) fn load_changes(&self, folder: String) -> Effect {
        Effect::LoadChanges {
            folder,
            of: self.changes.of(),
            visit: self.changes.visit.clone(),
        }
    }

    /// The next part.
    pub(super) fn next_part(&mut self) {
        let tab = &mut self.changes;
        tab.part = (tab.part + 1) % PARTS.len();
        tab.shown = None;
        tab.at = 0;
        tab.forget_file();
    }

    /// The person turns to something else: what they have seen, they have seen before next time.
    pub(super) fn end_visit(&mut self) {
        self.changes = ChangesTab {
            part: self.changes.part,
            ticket: self.changes.ticket,
            ..ChangesTab::default()
        };
    }

    /// Another task begins with all that it changed.
    pub(super) fn forget_changes(&mut self) {
        self.end_visit();
        self.changes.part = 0;
    }

    pub(super) fn take_changes(
        &mut self,
        folder: &str,
        of: DiffOf,
        loaded: Result<Changes>,
    ) -> Vec<Effect> {
        if self.cursor.as_deref() != Some(folder) || of != self.changes.of() {
            return Vec::new();
        }
        let changes = match loaded {
            Ok(changes) => changes,
            Err(error) => {
                self.changes.shown = Some(Err(self.said(&error)));
                self.changes.forget_file();
                return Vec::new();
            }
        };
        let tab = &mut self.changes;
        tab.visit = Visit::Since(changes.before.clone());
        let path = tab.file().map(|file| file.path.clone());
        let is_asked = tab.shown.is_none();
        let before = match tab.shown.take() {
            Some(Ok(before)) => Some(before.comparison),
            _ => None,
        };
        let is_same =
            before.is_some_and(|before| before == changes.comparison) && of != DiffOf::Uncommitted;
        let place = path.and_then(|path| changes.files.iter().position(|file| file.path == path));
        let keeps_file = place.is_some();
        tab.at = place.unwrap_or(0);
        tab.shown = Some(Ok(changes));
        let mut effects = Vec::new();
        if is_asked {
            // The frame that shows it follows.
            effects.extend(self.note_look());
        }
        if !(is_same && keeps_file) {
            if !keeps_file {
                self.changes.forget_file();
            }
            effects.extend(self.load_patch());
        }
        effects
    }

    /// What is on the screen counts as seen once a key was pressed: a screen that changes by itself may be looked at by nobody.
    pub(super) fn note_look(&mut self) -> Option<Effect> {
        if self.view != View::Task || self.tab != Tab::Changes {
            return None;
        }
        let Some(Ok(changes)) = &self.changes.shown else {
            return None;
        };
        let comparison = changes.comparison.clone();
        let is_news = comparison.is_rest && self.changes.noted != comparison.head;
        if !is_news || comparison.nothing.is_some() {
            return None;
        }
        self.changes.noted.clone_from(&comparison.head);
        let folder = self.cursor.clone()?;
        Some(Effect::NoteLook { folder, comparison })
    }

    /// Why something is not shown, with what to do about it.
    fn said(&self, error: &Error) -> String {
        match &error.hint {
            Some(hint) => format!("{}; {}", error.message, self.spelled(hint)),
            None => error.message.clone(),
        }
    }

    /// The lines of the selected file. Those that are there stay until others come.
    fn load_patch(&mut self) -> Option<Effect> {
        let tab = &mut self.changes;
        let Some(Ok(changes)) = &tab.shown else {
            return None;
        };
        let file = changes.files.get(tab.at)?;
        if file.is_lock_file && !tab.unfolded.contains(&file.path) {
            return None;
        }
        tab.ticket += 1;
        Some(Effect::LoadPatch {
            ticket: tab.ticket,
            comparison: changes.comparison.clone(),
            file: Box::new(file.change.clone()),
        })
    }

    pub(super) fn take_patch(&mut self, ticket: u64, patch: Result<FilePatch>) {
        if ticket != self.changes.ticket {
            return;
        }
        let patch = patch.map_err(|error| self.said(&error));
        self.changes.patch = Some(patch);
        if std::mem::take(&mut self.changes.from_end) {
            self.changes.top = self.furthest();
            self.changes.hunk = self.hunks().len().saturating_sub(1);
        }
        self.changes.top = self.changes.top.min(self.furthest());
        let last = self.hunks().len().saturating_sub(1);
        self.changes.hunk = self.changes.hunk.min(last);
    }

    fn hunks(&self) -> &[usize] {
        match &self.changes.patch {
            Some(Ok(patch)) => &patch.hunks,
            _ => &[],
        }
    }

    /// The first line with which the end of the file is on the screen.
    fn furthest(&self) -> usize {
        let height = draw::changes::height(self);
        self.changes.length().saturating_sub(height)
    }

    /// What a key does here, if something else than elsewhere.
    pub(super) fn act_in_changes(&mut self, action: KeyAction, at: Instant) -> Option<Vec<Effect>> {
        if self.view != View::Task || self.tab != Tab::Changes {
            return None;
        }
        let page = draw::changes::height(self).saturating_sub(1).max(1);
        let page = isize::try_from(page).unwrap_or(1);
        let last = self.changes.files().len().saturating_sub(1);
        Some(match action {
            KeyAction::Down => self.scroll_changes(1),
            KeyAction::Up => self.scroll_changes(-1),
            KeyAction::PageDown => self.scroll_changes(page),
            KeyAction::PageUp => self.scroll_changes(-page),
            KeyAction::First => self.go_to_file(0, false),
            KeyAction::Last => self.go_to_file(last, true),
            KeyAction::NextHunk => self.next_hunk(at),
            KeyAction::PreviousHunk => self.previous_hunk(at),
            KeyAction::Unfold => self.unfold_file(),
            KeyAction::Fold => self.fold_file(),
            KeyAction::Mark => self.mark_file(at),
            KeyAction::Editor => return self.edit_hunk(at),
            _ => return None,
        })
    }

    fn go_to_file(&mut self, to: usize, at_end: bool) -> Vec<Effect> {
        if to >= self.changes.files().len() {
            return Vec::new();
        }
        if to != self.changes.at {
            self.changes.at = to;
            self.changes.forget_file();
            self.changes.from_end = at_end;
            return self.load_patch().into_iter().collect();
        }
        self.changes.top = if at_end { self.furthest() } else { 0 };
        self.changes.hunk = if at_end {
            self.hunks().len().saturating_sub(1)
        } else {
            0
        };
        Vec::new()
    }

    fn scroll_changes(&mut self, by: isize) -> Vec<Effect> {
        let (top, furthest) = (self.changes.top, self.furthest());
        if by > 0 && top >= furthest {
            return self.go_to_file(self.changes.at + 1, false);
        }
        if by < 0 && top == 0 {
            return match self.changes.at.checked_sub(1) {
                Some(before) => self.go_to_file(before, true),
                None => Vec::new(),
            };
        }
        let top = top.saturating_add_signed(by).min(furthest);
        let above = self.hunks().iter().filter(|start| **start <= top).count();
        self.changes.hunk = above.saturating_sub(1);
        self.changes.top = top;
        Vec::new()
    }

    fn next_hunk(&mut self, at: Instant) -> Vec<Effect> {
        let next = self.changes.hunk + 1;
        if let Some(start) = self.hunks().get(next).copied() {
            self.changes.hunk = next;
            self.changes.top = start.min(self.furthest());
            return Vec::new();
        }
        if self.changes.at + 1 >= self.changes.files().len() {
            self.say("this is the last change", at);
        }
        self.go_to_file(self.changes.at + 1, false)
    }

    fn previous_hunk(&mut self, at: Instant) -> Vec<Effect> {
        if let Some(before) = self.changes.hunk.checked_sub(1) {
            self.changes.hunk = before;
            let start = self.hunks().get(before).copied().unwrap_or(0);
            self.changes.top = start.min(self.furthest());
            return Vec::new();
        }
        let Some(before) = self.changes.at.checked_sub(1) else {
            self.say("this is the first change", at);
            return Vec::new();
        };
        self.go_to_file(before, true)
    }

    /// Into a folded file, else to the next one.
    fn unfold_file(&mut self) -> Vec<Effect> {
        let folded = self.changes.file();
        let folded = folded.filter(|file| self.changes.is_folded(file));
        let Some(path) = folded.map(|file| file.path.clone()) else {
            return self.go_to_file(self.changes.at + 1, false);
        };
        self.changes.unfolded.insert(path);
        self.load_patch().into_iter().collect()
    }

    /// Folds a file that was unfolded, else goes to the one before.
    fn fold_file(&mut self) -> Vec<Effect> {
        let path = self.changes.file().map(|file| file.path.clone());
        if path.is_some_and(|path| self.changes.unfolded.remove(&path)) {
            self.changes.forget_file();
            return Vec::new();
        }
        match self.changes.at.checked_sub(1) {
            Some(before) => self.go_to_file(before, false),
            None => Vec::new(),
        }
    }

    fn mark_file(&mut self, at: Instant) -> Vec<Effect> {
        let (Some(file), Some(folder)) = (self.changes.file(), self.cursor.clone()) else {
            return Vec::new();
        };
        let path = file.path.clone();
        let Some(content) = file.content.clone() else {
            let text = "what is not committed cannot be marked as viewed: it may change unnoticed";
            self.refuse(text, None, at);
            return Vec::new();
        };
        let is_viewed = !self.changes.is_viewed(file);
        let key = (path.clone(), content.clone());
        self.changes.marks.insert(key, is_viewed);
        vec![Effect::MarkViewed {
            folder,
            path,
            content: is_viewed.then_some(content),
        }]
    }

    /// Opens the editor where the current hunk is. None: as elsewhere.
    fn edit_hunk(&mut self, at: Instant) -> Option<Vec<Effect>> {
        let row = self.selected().filter(|row| row.slot.is_some())?.clone();
        let file = self.changes.file()?;
        if file.change.status == FileStatus::Deleted {
            self.refuse("the file is deleted: there is nothing to open", None, at);
            return Some(Vec::new());
        }
        let Some(path) = file.change.path.to_str() else {
            let text = "the name of the file is no UTF-8: open it from the workspace";
            self.refuse(text, None, at);
            return Some(Vec::new());
        };
        let mut words = vec![
            "task".to_owned(),
            "open".to_owned(),
            row.name.seen_from(None).to_owned(),
            format!("--file={path}"),
        ];
        if let Some(Ok(patch)) = &self.changes.patch
            && let Some(line) = patch.line_of(self.changes.hunk)
        {
            words.push(format!("--line={line}"));
        }
        self.leave_for(&row);
        Some(vec![Effect::HandOver {
            folder: row.folder,
            words,
        }])
    }
}
