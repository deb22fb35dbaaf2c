//! What lies over a view: a question, a text to write, a list to choose from, the help.

use super::{App, CreateForm, Effect, View};
use crate::draw::overlay::{confirm_lines, confirm_room, text_room};
use crate::keymap::is_plain;
use crate::verbs::{PhaseAtGate, Verb};
use orange_core::keys::{KEYS, KeyAction};
use orange_core::workflow::Role;
use orange_engine::verbs::merge::{MergePlan, MergeWish};
use orange_engine::views::results::OpenQuestion;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::TextArea;
use std::time::{Duration, Instant};

/// Keys that were typed before a question could be read are no answer to it.
pub(super) const UNREAD: Duration = Duration::from_millis(200);

pub enum Overlay {
    Help {
        typed: String,
        scroll: usize,
    },
    Confirm(Confirm),
    Compose(Box<Compose>),
    Form(Box<CreateForm>),
    Choose(Choose),
    Palette {
        typed: String,
        at: usize,
    },
    /// To be read; scrolled so far that this line is the last one.
    Text {
        title: String,
        lines: Vec<String>,
        scroll: usize,
    },
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
    pub scroll: usize,
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
    /// To the agent whose screen is shown.
    Message(Role),
    RequestChanges,
    TakeBack,
    Deny(Box<OpenQuestion>),
    Answer(Box<OpenQuestion>),
    /// With the questions that were shown.
    Clarify(String),
    /// Why a phase does not count.
    Reject(PhaseAtGate),
    /// Why a phase is left out.
    Skip(String),
    /// The same words for each of these.
    ChangesOfMarked(Vec<String>),
}

/// A draft belongs to a task and a purpose, and an answer to its question.
fn draft_key(folder: &str, purpose: &ComposeFor) -> (String, &'static str) {
    let question = match purpose {
        ComposeFor::Deny(open) | ComposeFor::Answer(open) => open.question.id.as_str(),
        ComposeFor::Clarify(asked) => asked,
        ComposeFor::Reject(gate) => gate.phase.as_str(),
        ComposeFor::Skip(phase) => phase,
        ComposeFor::Message(_)
        | ComposeFor::RequestChanges
        | ComposeFor::ChangesOfMarked(_)
        | ComposeFor::TakeBack => "",
    };
    (format!("{folder} {question}"), purpose.name())
}

impl Compose {
    fn draft_key(&self) -> (String, &'static str) {
        draft_key(&self.folder, &self.purpose)
    }
}

impl ComposeFor {
    fn name(&self) -> &'static str {
        match self {
            ComposeFor::Message(_) => "message",
            ComposeFor::RequestChanges | ComposeFor::ChangesOfMarked(_) => "changes",
            ComposeFor::TakeBack => "take back",
            ComposeFor::Deny(_) => "deny",
            ComposeFor::Reject(_) => "reject",
            ComposeFor::Skip(_) => "skip",
            ComposeFor::Answer(_) | ComposeFor::Clarify(_) => "answer",
        }
    }

    fn title(&self, label: &str) -> String {
        match self {
            ComposeFor::Message(role) => format!("message to the {role} of {label}"),
            ComposeFor::RequestChanges | ComposeFor::ChangesOfMarked(_) => {
                format!("what should change in {label}")
            }
            ComposeFor::TakeBack => format!("what the worker of {label} should do"),
            ComposeFor::Deny(_) => format!("deny it; what {label} is told (may be empty)"),
            ComposeFor::Answer(open) => match open.question.asked.first() {
                Some(asked) => format!("answer {label}: {}", asked.question),
                None => format!("answer {label}"),
            },
            ComposeFor::Clarify(asked) => {
                let mut lines = asked.lines().filter(|line| !line.trim().is_empty());
                match (lines.next(), lines.next()) {
                    (None, _) => format!("answer {label}"),
                    (Some(one), None) => format!("answer {label}: {}", one.trim()),
                    (Some(_), Some(_)) => format!("answer the questions of {label}"),
                }
            }
            ComposeFor::Reject(gate) => {
                format!(
                    "what has to be different in phase {} of {label}",
                    gate.phase
                )
            }
            ComposeFor::Skip(phase) => {
                format!("why phase {phase} of {label} is left out (may be empty)")
            }
        }
    }
}

/// A letter for each of a few things.
pub struct Choose {
    pub opened: Instant,
    pub title: String,
    pub choices: Vec<(char, String, Choice)>,
}

#[derive(Debug, Clone)]
pub enum Choice {
    Status(Option<String>),
    NeedsMe,
    WithOlder,
    Run(String, Verb),
}

/// What is said of a merge that is pushed.
pub(super) fn pushed(plan: &MergePlan) -> &'static str {
    if plan.push { " and push to origin" } else { "" }
}

impl App {
    pub(super) fn close_overlay(&mut self) {
        match self.overlay.take() {
            Some(Overlay::Compose(compose)) => {
                let text = compose.area.lines().join("\n");
                let key = compose.draft_key();
                if text.trim().is_empty() {
                    self.drafts.remove(&key);
                } else {
                    self.drafts.insert(key, text);
                }
            }
            Some(Overlay::Form(form)) if !form.is_empty() => self.forms.push(*form),
            // Whoever does not say what agents may do has not created the task, and keeps what they wrote.
            Some(Overlay::Choose(choose)) => {
                for (_, _, choice) in choose.choices {
                    if let Choice::Run(folder, _) = choice {
                        self.forms.extend(self.submitted.remove(&folder));
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn open_composer(&mut self, purpose: ComposeFor, text: Option<&str>) {
        let Some(row) = self.selected() else {
            return;
        };
        let (folder, label) = (row.folder.clone(), row.label.clone());
        self.open_composer_of(&folder, &label, purpose, text);
    }

    pub(super) fn open_composer_of(
        &mut self,
        folder: &str,
        label: &str,
        purpose: ComposeFor,
        text: Option<&str>,
    ) {
        let (folder, title) = (folder.to_owned(), purpose.title(label));
        let draft = self.drafts.remove(&draft_key(&folder, &purpose));
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
        let label = plan.task.label();
        if self.overlay.is_some() {
            // What somebody is writing is not taken away, and what they type next is no answer.
            let key = self.keymap.key(KeyAction::Merge);
            let text = format!("the merge of {label} can be decided on: `{key}` again");
            self.say(text, at);
            return;
        }
        let head = plan.head.as_deref().unwrap_or_default();
        let head = head.get(..7).unwrap_or(head);
        let (branch, target) = (&plan.task.branch, &plan.target);
        let mut lines = vec![(false, format!("{branch} at {head} into {target}"))];
        for concern in &plan.concerns {
            lines.push((true, concern.what.clone()));
            let details = concern.details.iter();
            lines.extend(details.map(|detail| (false, format!("  {detail}"))));
            if let Some(remedy) = &concern.remedy {
                lines.push((false, format!("  {}", self.spelled(remedy))));
            }
        }
        let has_concerns = !plan.concerns.is_empty();
        let wish = MergeWish {
            strategy: Some(plan.strategy),
            expected: plan.head.clone(),
            agreed: plan.head.clone().filter(|_| has_concerns),
            // What is agreed to is what is done, whatever the settings say by then.
            push: Some(plan.push),
            ..MergeWish::default()
        };
        let strategy = plan.strategy.as_str();
        let pushed = pushed(plan);
        self.confirm(Confirm {
            title: format!(
                "{strategy} {label} into {target}{pushed}? {}",
                plan.task.summary
            ),
            yes: if has_concerns {
                "merge anyway"
            } else {
                "merge"
            },
            lines,
            folder,
            verb: Verb::Merge(Box::new(wish)),
            opened: at,
            scroll: 0,
        });
    }

    /// Before the first agent of a project starts, a person says what agents may do there.
    pub(super) fn choose_mode(&mut self, folder: &str, project: &str, verb: &Verb, at: Instant) {
        use orange_core::config::Permissions;
        if self.overlay.is_some() {
            self.forms.extend(self.submitted.remove(folder));
            let text =
                format!("nobody has said yet what agents of {project} may do: start it again");
            self.refuse(text, None, at);
            return;
        }
        let choice = |mode| {
            let verb = Verb::WithMode(project.to_owned(), mode, Box::new(verb.clone()));
            Choice::Run(folder.to_owned(), verb)
        };
        let modes = [
            ('1', "full: everything", Permissions::Full),
            (
                '2',
                "edits: change files and commit; they ask before other commands",
                Permissions::Edits,
            ),
            (
                '3',
                "ask: read only; they ask before every change and command",
                Permissions::Ask,
            ),
        ];
        let choices = modes.into_iter();
        let choices = choices.map(|(key, text, mode)| (key, text.to_owned(), choice(mode)));
        self.overlay = Some(Overlay::Choose(Choose {
            opened: at,
            title: format!("what may agents of project {project} do without asking?"),
            choices: choices.collect(),
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
                let lines = confirm_lines(self.size, confirm).len();
                let room = confirm_room(self.size);
                let is_read = confirm.scroll + room >= lines;
                match key.code {
                    KeyCode::Down | KeyCode::PageDown => {
                        let last = lines.saturating_sub(room);
                        confirm.scroll = (confirm.scroll + room.min(5)).min(last);
                        Vec::new()
                    }
                    KeyCode::Up | KeyCode::PageUp => {
                        confirm.scroll = confirm.scroll.saturating_sub(room.min(5));
                        Vec::new()
                    }
                    // Nobody agrees to what they have not seen.
                    KeyCode::Char('y') if is_plain(key.modifiers) && !is_read => Vec::new(),
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
                if at.saturating_duration_since(choose.opened) < UNREAD {
                    return Vec::new();
                }
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
            Some(Overlay::Text { lines, scroll, .. }) => {
                let page = text_room(self.size);
                let least = page.min(lines.len());
                let to = match key.code {
                    KeyCode::Down | KeyCode::Char('j') => scroll.saturating_add(1),
                    KeyCode::Up | KeyCode::Char('k') => scroll.saturating_sub(1),
                    KeyCode::PageDown | KeyCode::Char('J' | ' ') => scroll.saturating_add(page),
                    KeyCode::PageUp | KeyCode::Char('K') => scroll.saturating_sub(page),
                    KeyCode::Home | KeyCode::Char('g') => least,
                    KeyCode::End | KeyCode::Char('G') => lines.len(),
                    KeyCode::Char('q' | 'v') | KeyCode::Enter => {
                        self.overlay = None;
                        return Vec::new();
                    }
                    _ => return Vec::new(),
                };
                *scroll = to.clamp(least, lines.len());
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
        if !matches!(choice, Choice::Run(..)) {
            // A filter narrows the list, so that is what is shown.
            self.view = View::List;
        }
        match choice {
            Choice::Status(status) => {
                let with_older = self.narrowed.with_older;
                self.narrowed.status = status;
                self.narrowed.needs_me = false;
                if self.narrowed.status.is_none() {
                    self.narrowed.with_older = false;
                }
                self.narrow();
                let mut effects = self.focus_effects();
                if with_older != self.narrowed.with_older {
                    effects.push(Effect::LoadOverview);
                }
                effects
            }
            Choice::NeedsMe => {
                (self.narrowed.needs_me, self.narrowed.status) = (true, None);
                self.narrow();
                self.focus_effects()
            }
            Choice::WithOlder => {
                self.narrowed.with_older = true;
                vec![Effect::LoadOverview]
            }
            Choice::Run(folder, verb) => self.run(folder, verb),
        }
    }

    fn send_composed(&mut self, at: Instant) -> Vec<Effect> {
        let is_empty = |compose: &Compose| {
            let text = compose.area.lines().join("");
            let may_be_empty = matches!(compose.purpose, ComposeFor::Deny(_) | ComposeFor::Skip(_));
            text.trim().is_empty() && !may_be_empty
        };
        match &self.overlay {
            // It stays open: what is typed next must not be taken for keys.
            Some(Overlay::Compose(compose)) if is_empty(compose) => {
                self.say("write something first; Esc closes it", at);
                return Vec::new();
            }
            // Of one text only is known whether it has arrived, so the second one waits where it is written.
            Some(Overlay::Compose(compose)) if self.busy.contains_key(&compose.folder) => {
                let folder = compose.folder.clone();
                self.refuse_busy(&folder, at);
                return Vec::new();
            }
            _ => {}
        }
        let Some(Overlay::Compose(compose)) = self.overlay.take() else {
            return Vec::new();
        };
        let text = compose.area.lines().join("\n");
        // It is kept until it has arrived.
        let key = compose.draft_key();
        self.drafts.insert(key.clone(), text.clone());
        self.sent.insert(
            (compose.folder.clone(), compose.purpose.name()),
            (key, text.clone()),
        );
        let verb = match compose.purpose {
            ComposeFor::Message(role) => Verb::Send(role, text),
            ComposeFor::RequestChanges => Verb::RequestChanges(text),
            ComposeFor::TakeBack => Verb::TakeBack(text),
            ComposeFor::Deny(open) => Verb::Deny(open, text),
            ComposeFor::Answer(open) => Verb::Answer(open, text),
            ComposeFor::Clarify(asked) => Verb::Clarify(asked, text),
            ComposeFor::Reject(gate) => Verb::Reject(gate, text),
            ComposeFor::Skip(phase) => Verb::Skip(phase, text),
            ComposeFor::ChangesOfMarked(folders) => {
                let verb = Verb::RequestChanges(text);
                let verbs = folders.into_iter().map(|folder| (folder, verb.clone()));
                Verb::Each(verbs.collect())
            }
        };
        self.run(compose.folder, verb)
    }

    /// What was sent is no draft any more; what was written since is.
    pub(super) fn forget_draft(&mut self, folder: &str, what: &'static str) {
        if let Some((key, text)) = self.sent.remove(&(folder.to_owned(), what))
            && self.drafts.get(&key) == Some(&text)
        {
            self.drafts.remove(&key);
        }
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
