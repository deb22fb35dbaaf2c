//! What lies over a view: a question, a text to write, a list to choose from, the help.

use super::{App, Effect, Form};
use crate::keymap::is_plain;
use crate::verbs::Verb;
use orange_core::keys::{KEYS, KeyAction};
use orange_engine::verbs::create::NewTask;
use orange_engine::verbs::merge::{MergePlan, MergeWish};
use orange_engine::views::results::OpenQuestion;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::TextArea;
use std::time::{Duration, Instant};

/// Keys that were typed before a question could be read are no answer to it.
const UNREAD: Duration = Duration::from_millis(200);

pub enum Overlay {
    Help { typed: String, scroll: usize },
    Confirm(Confirm),
    Compose(Box<Compose>),
    Form(Box<Form>),
    Choose(Choose),
    Palette { typed: String, at: usize },
}

/// Only `y` is a yes.
pub struct Confirm {
    pub title: String,
    /// What is to be known before; true: something speaks against it.
    pub lines: Vec<(bool, String)>,
    pub yes: &'static str,
    pub folder: String,
    pub verb: Verb,
    pub opened: Instant,
}

/// A text for somebody.
pub struct Compose {
    pub title: String,
    pub purpose: ComposeFor,
    pub folder: String,
    pub area: TextArea<'static>,
}

#[derive(Debug, Clone)]
pub enum ComposeFor {
    Message,
    RequestChanges,
    TakeBack,
    Deny(Box<OpenQuestion>),
    Answer(Box<OpenQuestion>),
    Clarify,
}

impl ComposeFor {
    fn name(&self) -> &'static str {
        match self {
            ComposeFor::Message => "message",
            ComposeFor::RequestChanges => "changes",
            ComposeFor::TakeBack => "take back",
            ComposeFor::Deny(_) => "deny",
            ComposeFor::Answer(_) | ComposeFor::Clarify => "answer",
        }
    }

    fn title(&self, label: &str) -> String {
        match self {
            ComposeFor::Message => format!("message to the agent of {label}"),
            ComposeFor::RequestChanges => format!("what should change in {label}"),
            ComposeFor::TakeBack => format!("what the worker of {label} should do"),
            ComposeFor::Deny(_) => format!("deny it; what {label} is told (may be empty)"),
            ComposeFor::Answer(open) => match open.question.asked.first() {
                Some(asked) => format!("answer {label}: {}", asked.question),
                None => format!("answer {label}"),
            },
            ComposeFor::Clarify => format!("answer the questions of {label}"),
        }
    }
}

/// A letter for each of a few things.
pub struct Choose {
    pub title: String,
    pub choices: Vec<(char, String, Choice)>,
}

#[derive(Debug, Clone)]
pub enum Choice {
    Status(Option<String>),
    NeedsMe,
    WithOlder,
    Run(String, Verb),
    Mode(Box<NewTask>, orange_core::config::Permissions),
}

impl App {
    pub(super) fn close_overlay(&mut self) {
        match self.overlay.take() {
            Some(Overlay::Compose(compose)) => {
                let text = compose.area.lines().join("\n");
                let key = (compose.folder.clone(), compose.purpose.name());
                if text.trim().is_empty() {
                    self.drafts.remove(&key);
                } else {
                    self.drafts.insert(key, text);
                }
            }
            Some(Overlay::Form(form)) => {
                self.form_draft = (!form.is_empty()).then_some(*form);
            }
            _ => {}
        }
    }

    pub(super) fn open_composer(&mut self, purpose: ComposeFor, text: Option<&str>) {
        let Some(row) = self.selected() else {
            return;
        };
        let (folder, title) = (row.folder.clone(), purpose.title(&row.label));
        let draft = self.drafts.remove(&(folder.clone(), purpose.name()));
        let mut area = TextArea::from(draft.unwrap_or_default().lines());
        area.move_cursor(ratatui_textarea::CursorMove::End);
        if let Some(text) = text {
            area.insert_str(text);
        }
        self.overlay = Some(Overlay::Compose(Box::new(Compose {
            title,
            purpose,
            folder,
            area,
        })));
    }

    pub(super) fn confirm(&mut self, confirm: Confirm) {
        self.overlay = Some(Overlay::Confirm(confirm));
    }

    /// Shows what a merge would be, and what speaks against it.
    pub(super) fn confirm_merge(&mut self, folder: String, plan: &MergePlan, at: Instant) {
        let mut lines = Vec::new();
        for concern in &plan.concerns {
            lines.push((true, concern.what.clone()));
            let details = concern.details.iter().take(5);
            lines.extend(details.map(|detail| (false, format!("  {detail}"))));
            if let Some(remedy) = &concern.remedy {
                lines.push((false, format!("  {}", self.spelled(remedy))));
            }
        }
        let wish = MergeWish {
            strategy: Some(plan.strategy),
            agreed: plan.head.clone().filter(|_| !plan.concerns.is_empty()),
            ..MergeWish::default()
        };
        self.confirm(Confirm {
            title: format!(
                "{} {} \"{}\" into {}?",
                plan.strategy.as_str(),
                plan.task.label(),
                plan.task.summary,
                plan.target
            ),
            yes: if lines.is_empty() {
                "merge"
            } else {
                "merge anyway"
            },
            lines,
            folder,
            verb: Verb::Merge(Box::new(wish)),
            opened: at,
        });
    }

    /// Before the first agent of a project starts, a person says what agents may do there.
    pub(super) fn choose_mode(&mut self, new: NewTask) {
        use orange_core::config::Permissions;
        let choice = |mode| Choice::Mode(Box::new(new.clone()), mode);
        let choices = vec![
            (
                '1',
                "full: everything".to_owned(),
                choice(Permissions::Full),
            ),
            (
                '2',
                "edits: change files and commit; they ask before other commands".to_owned(),
                choice(Permissions::Edits),
            ),
            (
                '3',
                "ask: read only; they ask before every change and command".to_owned(),
                choice(Permissions::Ask),
            ),
        ];
        self.overlay = Some(Overlay::Choose(Choose {
            title: format!(
                "what may agents of project {} do without asking?",
                new.project
            ),
            choices,
        }));
    }

    pub(super) fn key_in_overlay(&mut self, key: KeyEvent, at: Instant) -> Vec<Effect> {
        if key.code == KeyCode::Esc {
            self.close_overlay();
            return Vec::new();
        }
        match &mut self.overlay {
            Some(Overlay::Confirm(confirm)) => {
                if at.saturating_duration_since(confirm.opened) < UNREAD {
                    return Vec::new();
                }
                match key.code {
                    KeyCode::Char('y') if is_plain(key.modifiers) => self.confirmed(),
                    KeyCode::Enter | KeyCode::Char(_) => {
                        self.overlay = None;
                        self.say("nothing was done", at);
                        Vec::new()
                    }
                    _ => Vec::new(),
                }
            }
            Some(Overlay::Compose(compose)) => {
                let is_new_line = key
                    .modifiers
                    .intersects(KeyModifiers::ALT | KeyModifiers::SHIFT)
                    && key.code == KeyCode::Enter
                    || key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char('j');
                if is_new_line {
                    compose.area.insert_newline();
                } else if key.code == KeyCode::Enter {
                    return self.send_composed(at);
                } else {
                    compose.area.input(key);
                }
                Vec::new()
            }
            Some(Overlay::Form(_)) => self.key_in_form(key, at),
            Some(Overlay::Choose(choose)) => {
                let KeyCode::Char(letter) = key.code else {
                    return Vec::new();
                };
                let mut choices = choose.choices.iter();
                let found = choices.find(|(known, ..)| *known == letter);
                let Some((_, _, choice)) = found else {
                    return Vec::new();
                };
                let choice = choice.clone();
                self.overlay = None;
                self.choose(choice)
            }
            Some(Overlay::Help { typed, scroll }) => {
                match key.code {
                    KeyCode::Down => *scroll += 1,
                    KeyCode::Up => *scroll = scroll.saturating_sub(1),
                    KeyCode::Backspace => {
                        typed.pop();
                    }
                    KeyCode::Char('q' | '?') if typed.is_empty() => self.overlay = None,
                    KeyCode::Char(letter) => {
                        typed.push(letter);
                        *scroll = 0;
                    }
                    _ => {}
                }
                Vec::new()
            }
            Some(Overlay::Palette { typed, at: place }) => {
                match key.code {
                    KeyCode::Down => *place += 1,
                    KeyCode::Up => *place = place.saturating_sub(1),
                    KeyCode::Backspace => {
                        typed.pop();
                        *place = 0;
                    }
                    KeyCode::Char(letter) if is_plain(key.modifiers) => {
                        typed.push(letter);
                        *place = 0;
                    }
                    KeyCode::Enter => {
                        let found = found_actions(typed);
                        let action = found.get((*place).min(found.len().saturating_sub(1)));
                        let action = action.copied();
                        self.overlay = None;
                        return action.map_or_else(Vec::new, |action| self.act(action, at));
                    }
                    _ => {}
                }
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn confirmed(&mut self) -> Vec<Effect> {
        match self.overlay.take() {
            Some(Overlay::Confirm(confirm)) => self.run(confirm.folder, confirm.verb),
            other => {
                self.overlay = other;
                Vec::new()
            }
        }
    }

    fn choose(&mut self, choice: Choice) -> Vec<Effect> {
        match choice {
            Choice::Status(status) => {
                let with_older = self.narrowed.with_older;
                self.narrowed.status = status;
                self.narrowed.needs_me = false;
                if self.narrowed.status.is_none() {
                    self.narrowed.with_older = false;
                }
                self.rebuild();
                let mut effects = self.focus_effects();
                if with_older != self.narrowed.with_older {
                    effects.push(Effect::LoadOverview);
                }
                effects
            }
            Choice::NeedsMe => {
                (self.narrowed.needs_me, self.narrowed.status) = (true, None);
                self.rebuild();
                self.focus_effects()
            }
            Choice::WithOlder => {
                self.narrowed.with_older = true;
                vec![Effect::LoadOverview]
            }
            Choice::Run(folder, verb) => self.run(folder, verb),
            Choice::Mode(new, mode) => {
                let folder = String::new();
                self.run(folder, Verb::CreateWith(new, mode))
            }
        }
    }

    fn send_composed(&mut self, at: Instant) -> Vec<Effect> {
        let Some(Overlay::Compose(compose)) = self.overlay.take() else {
            return Vec::new();
        };
        let text = compose.area.lines().join("\n");
        let may_be_empty = matches!(compose.purpose, ComposeFor::Deny(_));
        if text.trim().is_empty() && !may_be_empty {
            self.say("nothing was written, and nothing was sent", at);
            return Vec::new();
        }
        // It is kept until it has arrived.
        self.drafts.insert(
            (compose.folder.clone(), compose.purpose.name()),
            text.clone(),
        );
        let verb = match compose.purpose {
            ComposeFor::Message => Verb::Send(text),
            ComposeFor::RequestChanges => Verb::RequestChanges(text),
            ComposeFor::TakeBack => Verb::TakeBack(text),
            ComposeFor::Deny(open) => Verb::Deny(open, text),
            ComposeFor::Answer(open) => Verb::Answer(open, text),
            ComposeFor::Clarify => Verb::Clarify(text),
        };
        self.run(compose.folder, verb)
    }

    /// What was sent is no draft any more.
    pub(super) fn forget_draft(&mut self, folder: &str, what: &'static str) {
        self.drafts.remove(&(folder.to_owned(), what));
    }
}

/// The actions whose words hold what was typed.
pub fn found_actions(typed: &str) -> Vec<KeyAction> {
    let typed = typed.to_lowercase();
    let holds = |row: &&orange_core::keys::KeyRow| {
        let text = format!("{} {} {}", row.name, row.label, row.about).to_lowercase();
        typed.split_whitespace().all(|word| text.contains(word))
    };
    let is_verb = |row: &&orange_core::keys::KeyRow| {
        !matches!(
            row.action,
            KeyAction::Up | KeyAction::Down | KeyAction::Palette | KeyAction::Back
        )
    };
    let rows = KEYS.iter().filter(is_verb).filter(holds);
    rows.map(|row| row.action).collect()
}
