//! The form that creates a task: only the summary is needed.

use super::{App, Effect, Overlay};
use crate::verbs::Verb;
use orange_core::task::Priority;
use orange_core::{Action, text};
use orange_engine::verbs::create::NewTask;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::TextArea;
use std::time::Instant;

/// Its fields, in their order, with what may be left empty.
pub const FIELDS: [(&str, &str); 9] = [
    ("Summary", "what is to be done"),
    ("Context", "Ctrl-E opens your editor"),
    ("Project", ""),
    ("Harness", "as the settings say"),
    ("Model", "as the settings say"),
    ("Effort", "as the settings say"),
    ("Priority", "normal"),
    ("Blocked by", "keys, such as TASK-003"),
    ("Base", "the default branch"),
];

const CONTEXT: usize = 1;
const PROJECT: usize = 2;

pub struct CreateForm {
    pub fields: Vec<TextArea<'static>>,
    pub at: usize,
}

impl CreateForm {
    pub fn new(project: &str) -> CreateForm {
        let mut fields: Vec<TextArea<'static>> =
            FIELDS.iter().map(|_| TextArea::default()).collect();
        fields[PROJECT].insert_str(project);
        CreateForm { fields, at: 0 }
    }

    pub fn text(&self, field: usize) -> String {
        self.fields[field].lines().join("\n")
    }

    pub fn is_empty(&self) -> bool {
        let mut others = (0..FIELDS.len()).filter(|field| *field != PROJECT);
        others.all(|field| self.text(field).trim().is_empty())
    }

    pub fn set_context(&mut self, text: &str) {
        self.fields[CONTEXT] = TextArea::from(text.trim_end().lines());
    }

    pub fn paste(&mut self, text: &str) {
        let text = if self.at == CONTEXT {
            text.to_owned()
        } else {
            text.replace(['\n', '\r'], " ")
        };
        self.fields[self.at].insert_str(text);
    }

    fn new_task(&self, starts: bool) -> Result<NewTask, String> {
        let given = |field: usize| {
            let text = self.text(field).trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let summary = given(0).ok_or("the summary is empty: say what is to be done")?;
        let project = given(PROJECT).ok_or("no project is named")?;
        let priority = given(6).map(|word| word.parse::<Priority>());
        let blocked_by = given(7).unwrap_or_default();
        Ok(NewTask {
            project,
            summary,
            context: given(CONTEXT),
            harness: given(3),
            model: given(4),
            effort: given(5),
            priority: priority.transpose().map_err(|error| error.to_string())?,
            blocked_by: blocked_by
                .split([',', ' '])
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
            base: given(8),
            starts,
            ..NewTask::default()
        })
    }
}

impl App {
    pub(super) fn open_form(&mut self, at: Instant) {
        let selected = self.selected().map(|row| row.project.clone());
        let project = self.here.clone().or(selected);
        let project = project.or_else(|| self.known_projects.first().cloned());
        let Some(project) = project else {
            let hint = text!("register one: {}", Action::add_project(None, None));
            self.refuse("there is no project yet", Some(hint), at);
            return;
        };
        let form = self.forms.pop();
        let form = form.unwrap_or_else(|| CreateForm::new(&project));
        self.overlay = Some(Overlay::Form(Box::new(form)));
    }

    pub(super) fn key_in_form(&mut self, key: KeyEvent, at: Instant) -> Vec<Effect> {
        let Some(Overlay::Form(form)) = &mut self.overlay else {
            return Vec::new();
        };
        let count = form.fields.len();
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Tab | KeyCode::Down => form.at = (form.at + 1) % count,
            KeyCode::BackTab | KeyCode::Up => form.at = (form.at + count - 1) % count,
            KeyCode::Char('e') if is_control => {
                form.at = CONTEXT;
                return vec![Effect::Edit(form.text(CONTEXT))];
            }
            KeyCode::Enter => {
                let starts = !key.modifiers.contains(KeyModifiers::ALT);
                match form.new_task(starts) {
                    Ok(new) => {
                        // Each runs under a key of its own, and its form is kept until it has succeeded.
                        self.sent_forms += 1;
                        let key = format!("a new task ({})", self.sent_forms);
                        if let Some(Overlay::Form(form)) = self.overlay.take() {
                            self.submitted.insert(key.clone(), *form);
                        }
                        return self.run(key, Verb::Create(Box::new(new)));
                    }
                    Err(problem) => self.refuse(problem, None, at),
                }
            }
            _ => {
                let at = form.at;
                form.fields[at].input(key);
            }
        }
        Vec::new()
    }
}
