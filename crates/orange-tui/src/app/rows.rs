//! The lines of the list: which tasks, in which order, under which project, and which part of them is on the screen.

use orange_core::workflow::BoardColumn;
use orange_engine::views::dashboard::{Overview, OverviewRow};
use std::collections::BTreeSet;

/// What the list is narrowed to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowed {
    /// Every one of these words stands in the key, the summary, the branch or the project.
    pub words: String,
    /// Tasks in which these words were found elsewhere, each by its project and id.
    pub found: BTreeSet<(String, String)>,
    pub status: Option<String>,
    pub needs_me: bool,
    /// Tasks too that have been over for long.
    pub with_older: bool,
}

impl Narrowed {
    pub fn holds(&self, row: &OverviewRow) -> bool {
        let is_wanted = self
            .status
            .as_ref()
            .is_none_or(|status| row.word == *status);
        if !is_wanted || (self.needs_me && !row.needs_me) {
            return false;
        }
        if self.words.trim().is_empty() {
            return true;
        }
        let text = format!(
            "{} {} {} {}",
            row.label, row.summary, row.branch, row.project
        );
        let text = text.to_lowercase();
        let words = self.words.to_lowercase();
        words.split_whitespace().all(|word| text.contains(word)) || self.is_found(row)
    }

    /// Whether the list and the board have the row. What needs the person in another project stands in the inbox alone.
    pub fn lists(&self, row: &OverviewRow) -> bool {
        !row.is_elsewhere && self.holds(row)
    }

    /// A task's folder has its id for a name.
    fn is_found(&self, row: &OverviewRow) -> bool {
        let id = row.folder.rsplit('/').next().unwrap_or_default();
        !self.found.is_empty() && self.found.contains(&(row.project.clone(), id.to_owned()))
    }

    pub fn clear_words(&mut self) {
        self.words.clear();
        self.found.clear();
    }

    /// What it is, for the header; empty if everything is shown.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        if self.needs_me {
            parts.push("needs you".to_owned());
        }
        parts.extend(self.status.clone());
        if self.with_older {
            parts.push("with all that is over".to_owned());
        }
        if !self.words.is_empty() {
            parts.push(format!("/{}", self.words));
        }
        parts.join(" ")
    }
}

/// The project that the person is in comes first, then the others by their names; within each, what needs the person. Rows that
/// are in this order already cost one look each.
pub fn sort(rows: &mut [OverviewRow], here: Option<&str>) {
    let is_elsewhere = |row: &OverviewRow| here != Some(row.project.as_str());
    rows.sort_by(|one, other| {
        let by_project = || one.project.cmp(&other.project);
        let by_need = || one.order().cmp(&other.order());
        let by_label = || one.label.cmp(&other.label);
        (is_elsewhere(one).cmp(&is_elsewhere(other)))
            .then_with(by_project)
            .then_with(by_need)
            .then_with(by_label)
    });
}

/// Whether these are of several projects.
pub fn has_several<'r>(rows: impl IntoIterator<Item = &'r OverviewRow>) -> bool {
    let mut projects = rows.into_iter().map(|row| &row.project);
    let first = projects.next();
    projects.any(|project| Some(project) != first)
}

/// The columns of the board.
pub const COLUMNS: &[BoardColumn] = BoardColumn::ALL;

/// The column of the board in which a task stands.
pub fn column(row: &OverviewRow) -> usize {
    row.column as usize
}

/// How many tasks of a project are listed, by whose turn it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProjectCounts {
    pub need: usize,
    pub at_work: usize,
    pub wait: usize,
    pub over: usize,
}

impl ProjectCounts {
    fn of<'r>(rows: impl Iterator<Item = &'r OverviewRow>) -> ProjectCounts {
        let mut counts = ProjectCounts::default();
        for row in rows {
            let count = match row.column {
                _ if row.needs_me => &mut counts.need,
                BoardColumn::Queue => &mut counts.wait,
                BoardColumn::Done => &mut counts.over,
                BoardColumn::Working | BoardColumn::NeedsYou | BoardColumn::Review => {
                    &mut counts.at_work
                }
            };
            *count += 1;
        }
        counts
    }
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListLine {
    Project {
        name: String,
        is_folded: bool,
        counts: ProjectCounts,
    },
    /// By its place in the overview.
    Task(usize),
    /// What is to be said of the task above.
    Note(usize),
}

/// All lines, and from where on they are shown.
#[derive(Debug, Clone, Default)]
pub struct ListLines {
    pub all: Vec<ListLine>,
    pub top: usize,
    /// Folders by line, so that a cursor is found without a look at every row.
    folders: Vec<(String, usize)>,
    has_stray: bool,
}

impl ListLines {
    /// Sorts the rows and puts the lines together. The task at the cursor stays, whatever is filtered.
    pub fn fill(
        &mut self,
        overview: &mut Overview,
        narrowed: &Narrowed,
        folded: &BTreeSet<String>,
        here: Option<&str>,
        cursor: Option<&str>,
    ) {
        sort(&mut overview.rows, here);
        let rows = &overview.rows;
        let several = has_several(
            rows.iter()
                .filter(|row| !row.is_elsewhere || cursor == Some(row.folder.as_str())),
        );
        self.all.clear();
        self.folders.clear();
        self.has_stray = false;
        let mut from = 0;
        while let Some(first) = rows.get(from) {
            let of_project = rows[from..].iter();
            let count = of_project
                .take_while(|row| row.project == first.project)
                .count();
            let places = from..from + count;
            from += count;
            let shown: Vec<usize> = places
                .filter(|place| {
                    let row = &rows[*place];
                    let holds = narrowed.lists(row);
                    let is_stray = !holds && cursor == Some(row.folder.as_str());
                    self.has_stray |= is_stray;
                    holds || is_stray
                })
                .collect();
            if shown.is_empty() {
                continue;
            }
            let is_folded = several && folded.contains(&first.project);
            if several {
                self.all.push(ListLine::Project {
                    name: first.project.clone(),
                    is_folded,
                    counts: ProjectCounts::of(shown.iter().map(|place| &rows[*place])),
                });
            }
            if is_folded {
                continue;
            }
            for place in shown {
                self.folders
                    .push((rows[place].folder.clone(), self.all.len()));
                self.all.push(ListLine::Task(place));
                if rows[place].note.is_some() {
                    self.all.push(ListLine::Note(place));
                }
            }
        }
    }

    pub fn has_stray(&self) -> bool {
        self.has_stray
    }

    /// The line of a task.
    pub fn place_of(&self, folder: Option<&str>) -> Option<usize> {
        let folder = folder?;
        let mut folders = self.folders.iter();
        folders
            .find(|(known, _)| known == folder)
            .map(|(_, line)| *line)
    }

    /// The task at a line, or the one that its note is about.
    pub fn folder_at(&self, line: usize, overview: &Overview) -> Option<String> {
        match self.all.get(line)? {
            ListLine::Task(row) | ListLine::Note(row) => {
                Some(overview.rows.get(*row)?.folder.clone())
            }
            ListLine::Project { .. } => None,
        }
    }

    /// The task at a line or after it, else the last one.
    pub fn nearest(&self, line: usize, overview: &Overview) -> Option<String> {
        let tasks =
            |from: usize| (from..self.all.len()).find_map(|at| self.folder_at(at, overview));
        tasks(line).or_else(|| self.folders.last().map(|(folder, _)| folder.clone()))
    }

    /// The task so many tasks further on; the first or the last one at the ends.
    pub fn moved(&self, cursor: Option<&str>, by: isize) -> Option<String> {
        let at = |folder: &str| self.folders.iter().position(|(known, _)| known == folder);
        let from = cursor.and_then(at);
        let last = self.folders.len().checked_sub(1)?;
        let to = match from {
            Some(from) => from.saturating_add_signed(by).min(last),
            None => 0,
        };
        Some(self.folders[to].0.clone())
    }

    /// Scrolls so that the task and its note are on a screen of that height.
    pub fn show(&mut self, cursor: Option<&str>, height: usize) {
        let Some(line) = self.place_of(cursor) else {
            self.top = self.top.min(self.all.len().saturating_sub(height));
            return;
        };
        let has_note = matches!(self.all.get(line + 1), Some(ListLine::Note(_)));
        let last = line + usize::from(has_note && height > 1);
        // The heading of its project is shown with the first task.
        let first = if line > 0 && matches!(self.all.get(line - 1), Some(ListLine::Project { .. }))
        {
            line - 1
        } else {
            line
        };
        self.top = self.top.min(first);
        if last >= self.top + height {
            self.top = last + 1 - height;
        }
        self.top = self.top.min(self.all.len().saturating_sub(height));
    }
}
