//! Tasks that are marked, and what is done with all of them at once: asked once, told once.

use super::overlays::{ComposeFor, Confirm, pushed};
use super::{App, Effect, View, offered};
use crate::verbs::{Planned, Verb};
use orange_core::keys::KeyAction;
use orange_core::naming::counted;
use orange_engine::verbs::merge::MergeWish;
use orange_engine::views::dashboard::OverviewRow;
use std::time::Instant;

/// Stands for the marked tasks among what runs.
pub(crate) const MARKED: &str = "marked";

impl App {
    /// Whether keys act on what is marked, not on the task at the cursor.
    pub fn acts_on_marks(&self) -> bool {
        !self.marked.is_empty() && matches!(self.view, View::List | View::Board)
    }

    pub fn marked_count(&self) -> usize {
        self.marked.len()
    }

    pub fn is_marked(&self, row: &OverviewRow) -> bool {
        self.marked.contains(&row.folder)
    }

    /// Marks the task at the cursor, or takes its mark away, and goes to the next.
    pub(super) fn mark(&mut self, at: Instant) -> Vec<Effect> {
        if !matches!(self.view, View::List | View::Board) {
            self.say("tasks are marked in the list and on the board", at);
            return Vec::new();
        }
        let Some(folder) = self.cursor.clone() else {
            self.say("no task is selected", at);
            return Vec::new();
        };
        if !self.marked.remove(&folder) {
            self.marked.insert(folder);
        }
        self.act(KeyAction::Down, at)
    }

    /// An answer is never given for several tasks at once: `a` and `A` are not among these.
    pub(super) fn act_on_marks(&mut self, action: KeyAction, at: Instant) -> Vec<Effect> {
        let rows = self.overview.rows.iter();
        let marked: Vec<OverviewRow> = rows.filter(|row| self.is_marked(row)).cloned().collect();
        let is_free = |row: &OverviewRow| {
            let is_offered = || {
                let offered = offered::offered(row, None);
                offered.iter().any(|(known, _)| *known == action)
            };
            let decides = matches!(action, KeyAction::Merge | KeyAction::No);
            !self.busy.contains_key(&row.folder) && (decides || is_offered())
        };
        let (these, others): (Vec<_>, Vec<_>) = marked.into_iter().partition(is_free);
        let why = |row: &OverviewRow| match self.busy.get(&row.folder) {
            Some(what) => format!("left out: {}: {what} is still running", row.label),
            None => format!("left out: {} is {}", row.label, row.word),
        };
        let left_out: Vec<String> = others.iter().map(why).collect();
        if these.is_empty() {
            let what = action.row().label;
            let text = format!("{what} does nothing here; {}", left_out.join("; "));
            self.refuse(text, None, at);
            return Vec::new();
        }
        let folders: Vec<String> = these.iter().map(|row| row.folder.clone()).collect();
        let (verb, what) = match action {
            KeyAction::Merge => return self.run(MARKED.to_owned(), Verb::PlanMerges(folders)),
            KeyAction::No => {
                self.compose_for_marked(folders);
                return Vec::new();
            }
            KeyAction::Delete => (Verb::Delete, "delete"),
            _ => (Verb::Cancel, "cancel"),
        };
        let named = these.iter();
        let mut lines: Vec<(bool, String)> = named
            .map(|row| (false, format!("{} {}", row.label, row.summary)))
            .collect();
        lines.extend(left_out.into_iter().map(|why| (true, why)));
        let verbs = folders.into_iter().map(|folder| (folder, verb.clone()));
        self.confirm(Confirm {
            title: format!("{what} {}?", counted(these.len(), "task")),
            lines,
            yes: "do it",
            folder: MARKED.to_owned(),
            verb: Verb::Each(verbs.collect()),
            opened: at,
            scroll: 0,
        });
        Vec::new()
    }

    fn compose_for_marked(&mut self, folders: Vec<String>) {
        let label = counted(folders.len(), "task");
        self.open_composer_of(MARKED, &label, ComposeFor::ChangesOfMarked(folders), None);
    }

    /// Merges what nothing speaks against; the rest is left out, and it is told why.
    pub(super) fn confirm_merges(&mut self, planned: Vec<Planned>, at: Instant) {
        if self.overlay.is_some() {
            let key = self.keymap.key(KeyAction::Merge);
            self.say(format!("the merges can be decided on: `{key}` again"), at);
            return;
        }
        let (mut lines, mut left_out, mut verbs) = (Vec::new(), Vec::new(), Vec::new());
        for one in planned {
            let plan = match one.plan {
                Ok(plan) => plan,
                Err(why) => {
                    left_out.push((true, format!("left out: {why}")));
                    continue;
                }
            };
            let label = plan.task.label();
            let concerns: Vec<&str> = plan.concerns.iter().map(|one| one.what.as_str()).collect();
            if !concerns.is_empty() {
                left_out.push((true, format!("left out: {label}: {}", concerns.join("; "))));
                continue;
            }
            let head = plan.head.as_deref().unwrap_or_default();
            let head = head.get(..7).unwrap_or(head);
            let (branch, target, strategy) = (&plan.task.branch, &plan.target, plan.strategy);
            let how = strategy.as_str();
            lines.push((
                false,
                format!(
                    "{how} {label}: {branch} at {head} into {target}{}",
                    pushed(&plan)
                ),
            ));
            let wish = MergeWish {
                strategy: Some(strategy),
                expected: plan.head.clone(),
                push: Some(plan.push),
                ..MergeWish::default()
            };
            verbs.push((one.folder, Verb::Merge(Box::new(wish))));
        }
        if verbs.is_empty() {
            let why: Vec<&str> = left_out.iter().map(|(_, why)| why.as_str()).collect();
            let text = format!("nothing is merged; {}", why.join("; "));
            self.refuse(text, None, at);
            return;
        }
        lines.extend(left_out);
        self.confirm(Confirm {
            title: format!("merge {}?", counted(verbs.len(), "task")),
            lines,
            yes: "merge",
            folder: MARKED.to_owned(),
            verb: Verb::Each(verbs),
            opened: at,
            scroll: 0,
        });
    }

    /// The keys that act on what is marked, for the footer.
    pub(crate) fn offered_for_marks() -> Vec<(KeyAction, &'static str)> {
        vec![
            (KeyAction::Merge, "merge"),
            (KeyAction::No, "changes"),
            (KeyAction::Cancel, "cancel"),
            (KeyAction::Delete, "delete"),
            (KeyAction::Mark, "mark"),
            (KeyAction::Back, "unmark"),
        ]
    }
}
