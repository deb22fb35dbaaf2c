//! What each action does with the selected task: going to its agent, answering, deciding.

use super::offered::{self, Go, is_at_gate};
use super::overlays::{Choice, Choose, ComposeFor, Confirm, UNREAD};
use super::{App, Effect, Overlay};
use crate::verbs::Verb;
use orange_core::allow_rule::Scope;
use orange_core::exit::role_of;
use orange_core::keys::KeyAction;
use orange_core::workflow::{Intent, Role};
use orange_engine::views::dashboard::OverviewRow;
use orange_engine::views::results::OpenQuestion;
use std::time::Instant;

impl App {
    pub(super) fn act_on_task(&mut self, action: KeyAction, at: Instant) -> Vec<Effect> {
        if let Some(row) = self.selected().filter(|row| self.is_deleted(row)) {
            let text = format!("{} is gone, so nothing can be done with it", row.label);
            self.refuse(text, None, at);
            return Vec::new();
        }
        let Some(row) = self.at_hand().cloned() else {
            self.say("no task is selected", at);
            return Vec::new();
        };
        if self.is_moved && !self.was_seen(&row, at) {
            let text = format!(
                "the cursor is on {} now, so that key did nothing",
                row.label
            );
            self.refuse(text, None, at);
            return Vec::new();
        }
        if action == KeyAction::Copy {
            let name = row.name.seen_from(None).to_owned();
            self.say(format!("copied {name}"), at);
            return vec![Effect::Copy(name)];
        }
        if action == KeyAction::Rescue {
            return self.run(row.folder, Verb::ListRescues);
        }
        let offered = offered::offered(&row, self.focused());
        if !offered.iter().any(|(known, _)| *known == action) {
            let decides = matches!(
                action,
                KeyAction::Yes | KeyAction::Always | KeyAction::No | KeyAction::Merge
            );
            if decides && self.focused().is_none() {
                let text = match &self.focus_problem {
                    Some(problem) => format!("{} cannot be read: {problem}", row.label),
                    None => format!("{} is still being read; try again in a moment", row.label),
                };
                self.refuse(text, None, at);
                return Vec::new();
            }
            let (label, what, word) = (&row.label, action.row().label, &row.word);
            let text = format!("{what} does nothing with {label}: it is {word}");
            self.refuse(text, None, at);
            return Vec::new();
        }
        let folder = row.folder.clone();
        match action {
            KeyAction::Enter => self.go(&row, at),
            KeyAction::Yes if self.focused().is_some_and(|focus| is_at_gate(&row, focus)) => {
                self.approve(&row, at)
            }
            KeyAction::Yes => self.yes(&row, at),
            KeyAction::Always => self.always(&row, at),
            KeyAction::No => self.no(),
            KeyAction::Message => {
                self.open_composer(ComposeFor::Message(self.shown_role()), None);
                Vec::new()
            }
            KeyAction::Merge => self.run(folder, Verb::PlanMerge),
            KeyAction::Cancel => {
                self.confirm(Confirm {
                    title: format!("cancel {} \"{}\"?", row.label, row.summary),
                    lines: vec![(
                        false,
                        "its agents end, its workspace is given back; its branch stays, and what is not committed is saved"
                            .to_owned(),
                    )],
                    yes: "cancel it",
                    folder,
                    verb: Verb::Cancel,
                    opened: at,
                    scroll: 0,
                });
                Vec::new()
            }
            KeyAction::Delete => {
                self.confirm(Confirm {
                    title: format!("delete {} \"{}\"?", row.label, row.summary),
                    lines: vec![(false, "it can be restored for some time".to_owned())],
                    yes: "delete it",
                    folder,
                    verb: Verb::Delete,
                    opened: at,
                    scroll: 0,
                });
                Vec::new()
            }
            KeyAction::Editor => self.hand_over(&row, "open"),
            KeyAction::Shell => self.hand_over(&row, "shell"),
            KeyAction::Pause => match offered::pause(&row) {
                Some((verb, _)) => self.run(folder, verb),
                None => Vec::new(),
            },
            KeyAction::Skip => self.skip(at),
            KeyAction::Rewind => self.rewind(&row, at),
            _ => Vec::new(),
        }
    }

    fn hand_over(&mut self, row: &OverviewRow, verb: &str) -> Vec<Effect> {
        self.leave_for(row);
        let name = row.name.seen_from(None).to_owned();
        vec![Effect::HandOver {
            folder: row.folder.clone(),
            words: vec!["task".to_owned(), verb.to_owned(), name],
        }]
    }

    fn go(&mut self, row: &OverviewRow, at: Instant) -> Vec<Effect> {
        match offered::go(row) {
            Some(Go::Start) => self.run(row.folder.clone(), Verb::Start),
            Some(Go::Attach) => {
                self.leave_for(row);
                self.run(row.folder.clone(), Verb::Attach)
            }
            Some(Go::Respawn) => {
                self.confirm(Confirm {
                    title: format!("start the agent of {} again?", row.label),
                    lines: vec![(
                        false,
                        "in the same workspace, with its work as it is".to_owned(),
                    )],
                    yes: "start it",
                    folder: row.folder.clone(),
                    verb: Verb::Respawn,
                    opened: at,
                    scroll: 0,
                });
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// The agent whose screen is shown.
    pub(super) fn shown_role(&self) -> Role {
        let status = self.selected().and_then(|row| row.status);
        let role = status.map_or(Role::Worker, role_of);
        let agents = self.focused().map_or(&[][..], |focus| &focus.agents);
        let has_one = agents.iter().any(|agent| agent.role == role && agent.alive);
        if has_one { role } else { Role::Worker }
    }

    /// Whether the task was at the cursor for long enough to be noticed.
    fn was_seen(&self, row: &OverviewRow, at: Instant) -> bool {
        let drawn = self.drawn.cursor.as_ref();
        drawn.is_some_and(|(folder, since)| {
            *folder == row.folder && at.saturating_duration_since(*since) >= UNREAD
        })
    }

    /// Whether a question was on the screen, all of it, long enough to be read.
    fn has_been_read(&self, row: &OverviewRow, open: &OpenQuestion, at: Instant) -> bool {
        let drawn = self.drawn.question.as_ref();
        drawn.is_some_and(|((folder, question), since)| {
            (folder, question) == (&row.folder, &open.question.id)
                && at.saturating_duration_since(*since) >= UNREAD
        })
    }

    /// Allows what is asked if all of it could be read, else shows all of it first.
    fn yes(&mut self, row: &OverviewRow, at: Instant) -> Vec<Effect> {
        let folder = row.folder.clone();
        let Some(focus) = self.focused() else {
            return Vec::new();
        };
        let asked = focus.asked_in_file.clone().unwrap_or_default();
        match focus.questions.first().cloned() {
            Some(open) if open.question.asked.is_empty() => {
                let text = open.question.text.clone();
                if self.has_been_read(row, &open, at) {
                    return self.run(folder, Verb::Allow(Box::new(open)));
                }
                self.confirm(Confirm {
                    title: format!("allow what the {} of {} asks?", open.run.role, row.label),
                    lines: vec![(false, text)],
                    yes: "allow",
                    folder,
                    verb: Verb::Allow(Box::new(open)),
                    opened: at,
                    scroll: 0,
                });
                Vec::new()
            }
            Some(open) => {
                self.open_composer(ComposeFor::Answer(Box::new(open)), None);
                Vec::new()
            }
            None => {
                self.open_composer(ComposeFor::Clarify(asked), None);
                Vec::new()
            }
        }
    }

    fn always(&mut self, row: &OverviewRow, at: Instant) -> Vec<Effect> {
        let folder = row.folder.clone();
        let Some(open) = self
            .focused()
            .and_then(|focus| focus.questions.first().cloned())
        else {
            return Vec::new();
        };
        if !self.has_been_read(row, &open, at) {
            let key = self.keymap.key(KeyAction::Yes);
            let text = format!(
                "the question is not shown whole: `{key}` shows all of it and allows it once"
            );
            self.refuse(text, None, at);
            return Vec::new();
        }
        let choice = |scope| {
            let verb = Verb::AllowAlways(Box::new(open.clone()), scope);
            Choice::Run(folder.clone(), verb)
        };
        self.overlay = Some(Overlay::Choose(Choose {
            opened: at,
            title: format!("always allow: {}", open.question.text),
            choices: vec![
                ('t', "for this task".to_owned(), choice(Scope::Task)),
                (
                    'p',
                    "for all tasks of its project".to_owned(),
                    choice(Scope::Project),
                ),
            ],
        }));
        Vec::new()
    }

    fn no(&mut self) -> Vec<Effect> {
        let Some(focus) = self.focused() else {
            return Vec::new();
        };
        let gate = self.selected().filter(|row| is_at_gate(row, focus));
        let gate = gate.and(super::phases::gate_of(focus));
        let purpose = match (focus.questions.first(), gate) {
            (Some(open), _) => ComposeFor::Deny(Box::new(open.clone())),
            (None, Some(gate)) => ComposeFor::Reject(gate),
            (None, None) if focus.task.offers(Intent::RequestChanges) => ComposeFor::RequestChanges,
            (None, None) => ComposeFor::TakeBack,
        };
        self.open_composer(purpose, None);
        Vec::new()
    }
}
