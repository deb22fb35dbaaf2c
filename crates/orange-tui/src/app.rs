//! What the dashboard knows and how it changes: inputs go in, effects come out. Nothing here draws, waits or touches a
//! terminal, so that every key can be tested.

mod actions;
pub mod changes;
mod create;
mod inputs;
mod keys;
pub(crate) mod marks;
mod news;
pub mod offered;
mod overlays;
mod overview;
mod phases;
mod rescues;
mod results;
pub mod rows;
mod task_actions;

use changes::ChangesTab;
pub use create::{CreateForm, FIELDS};
pub use inputs::{Effect, Input, OutcomeMessage, Undo};
pub use overlays::{Choice, Choose, Compose, ComposeFor, Confirm, Overlay, found_actions};

use crate::draw::layout::ScreenLayout;
use crate::draw::texts::Texts;
use crate::keymap::Keymap;
use crate::theme::Theme;
use crate::verbs::VerbOutcome;
use marks::MARKED;
use orange_core::keys::KeyAction;
use orange_core::task::Status;
use orange_core::text::TextPart;
use orange_core::{Action, Text, Timestamp};
use orange_engine::views::dashboard::{Focus, Overview, OverviewRow};
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use rows::{ListLines, Narrowed};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// How long a result stays in the status line.
const SHOWN_FOR: Duration = Duration::from_secs(6);
/// A screen that stays as it is is looked at every so many seconds and one.
const LONGEST_PAUSE: u32 = 2;
/// Two clicks on the same line within this time are one double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

/// The word of a task that was deleted while the cursor was on it.
const GONE: &str = "gone";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    List,
    Inbox,
    Board,
    Task,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Timeline,
    Changes,
    Screen,
    File,
    Agents,
    Phases,
}

impl Tab {
    pub const ALL: [(Tab, &'static str); 6] = [
        (Tab::Timeline, "Timeline"),
        (Tab::Changes, "Changes"),
        (Tab::Screen, "Screen"),
        (Tab::File, "TASK.md"),
        (Tab::Agents, "Agents"),
        (Tab::Phases, "Phases"),
    ];
}

/// The key that does what a text advises.
fn key_of(action: &Action) -> Option<KeyAction> {
    Some(match action {
        Action::AnswerQuestion { .. } | Action::AnswerInWords { .. } | Action::Approve { .. } => {
            KeyAction::Yes
        }
        Action::Attach { .. }
        | Action::Spawn { .. }
        | Action::Respawn { .. }
        | Action::Run { force: false, .. } => KeyAction::Enter,
        Action::Cancel {
            children: false, ..
        } => KeyAction::Cancel,
        Action::Delete { .. } => KeyAction::Delete,
        Action::Diff { .. } => KeyAction::Diff,
        Action::Explain { .. } | Action::Show { .. } => KeyAction::View,
        // With force too: what speaks against it is shown, and `y` merges anyway.
        Action::Merge {
            strategy: None,
            push: None,
            message: None,
            ..
        } => KeyAction::Merge,
        Action::RequestChanges { .. } | Action::Reject { .. } => KeyAction::No,
        Action::Pause { .. } | Action::Resume { force: false, .. } | Action::Retry { .. } => {
            KeyAction::Pause
        }
        Action::Rewind { .. } => KeyAction::Rewind,
        Action::Send { role: None, .. } => KeyAction::Message,
        Action::Shell { .. } => KeyAction::Shell,
        _ => return None,
    })
}

/// What stood on the screen last, and since when: a person can decide only about what they could read.
#[derive(Debug, Default)]
struct Drawn {
    cursor: Option<(String, Instant)>,
    /// A question of which nothing was cut off, by its task and its id.
    question: Option<((String, String), Instant)>,
}

/// What was drawn before keeps the time since when it is.
fn since<T: PartialEq>(
    before: Option<(T, Instant)>,
    now: Option<T>,
    at: Instant,
) -> Option<(T, Instant)> {
    match (before, now) {
        (Some((before, since)), Some(now)) if before == now => Some((now, since)),
        (_, now) => now.map(|now| (now, at)),
    }
}

/// A task, or a question of it, and what is written.
type DraftKey = (String, &'static str);

pub struct App {
    pub theme: Theme,
    pub keymap: Keymap,
    spell: fn(&Text) -> String,
    /// The project that the person is in.
    pub here: Option<String>,
    /// Projects that are shown; all, if none is named.
    pub projects: Vec<String>,
    /// Projects in which a task can be created.
    pub known_projects: Vec<String>,
    pub exit_on_attach: bool,
    pub overview: Overview,
    pub loaded: bool,
    pub lines: ListLines,
    pub narrowed: Narrowed,
    pub is_searching: bool,
    folded: BTreeSet<String>,
    pub view: View,
    /// Where `Esc` leads from a task.
    from: View,
    pub tab: Tab,
    /// The folder of the selected task.
    pub cursor: Option<String>,
    pub focus: Option<Focus>,
    pub focus_problem: Option<String>,
    pub screen: Option<String>,
    /// So many ticks are left out between two looks at the screen, and how many went by since the last one.
    pause: u32,
    ticks: u32,
    pub changes: ChangesTab,
    pub(crate) texts: Texts,
    /// How far a text is scrolled.
    pub scroll: usize,
    /// The phase that is selected among those of the task; None: the one that it is in.
    phase: Option<String>,
    pub overlay: Option<Overlay>,
    pub message: Option<OutcomeMessage>,
    /// What runs on tasks, by their folders.
    pub busy: BTreeMap<String, &'static str>,
    pub monitor: &'static str,
    /// Tasks that keys act on together, by their folders.
    marked: BTreeSet<String>,
    /// On which of them something runs now.
    together: Vec<String>,
    undo: Option<Undo>,
    /// What is being taken back: if that fails, it can be tried again.
    undoing: Option<Undo>,
    drafts: HashMap<DraftKey, String>,
    /// The task that the person went to, and what it was then; after that, of which task it is told that they are back.
    away: Option<(String, String)>,
    /// What was sent and has not been heard of, with the draft that it was.
    sent: HashMap<DraftKey, (DraftKey, String)>,
    /// Forms that were begun and not sent, the last one at the end.
    forms: Vec<CreateForm>,
    /// Forms that were sent and have not been heard of, by the key under which their verb runs.
    submitted: HashMap<String, CreateForm>,
    /// How many forms were sent.
    sent_forms: usize,
    compared: news::Compared,
    /// The person knows that quitting drops what they wrote.
    is_warned: bool,
    /// What stood on the screen last.
    drawn: Drawn,
    /// The cursor went to another task by itself, and nobody has seen it there yet.
    is_moved: bool,
    /// A task at the cursor that is listed no more.
    gone: Option<String>,
    needed: Option<usize>,
    pub now: Timestamp,
    pub size: (u16, u16),
    /// How far below the top of the list the cursor was when the size began to change.
    offset: Option<usize>,
    clicked: Option<(Instant, u16)>,
}

/// What the dashboard is started with.
pub struct Setup {
    pub theme: Theme,
    pub spell: fn(&Text) -> String,
    pub here: Option<String>,
    pub projects: Vec<String>,
    pub known_projects: Vec<String>,
    pub exit_on_attach: bool,
}

impl App {
    pub fn new(setup: Setup, size: (u16, u16)) -> App {
        App {
            theme: setup.theme,
            keymap: Keymap::default(),
            spell: setup.spell,
            here: setup.here,
            projects: setup.projects,
            known_projects: setup.known_projects,
            exit_on_attach: setup.exit_on_attach,
            overview: Overview::default(),
            loaded: false,
            lines: ListLines::default(),
            narrowed: Narrowed::default(),
            is_searching: false,
            folded: BTreeSet::new(),
            view: View::List,
            from: View::List,
            tab: Tab::Timeline,
            cursor: None,
            focus: None,
            focus_problem: None,
            screen: None,
            pause: 0,
            ticks: 0,
            changes: ChangesTab::default(),
            texts: Texts::default(),
            scroll: 0,
            phase: None,
            overlay: None,
            message: None,
            busy: BTreeMap::new(),
            monitor: "monitor starts",
            marked: BTreeSet::new(),
            together: Vec::new(),
            undo: None,
            undoing: None,
            drafts: HashMap::new(),
            away: None,
            sent: HashMap::new(),
            forms: Vec::new(),
            submitted: HashMap::new(),
            sent_forms: 0,
            compared: news::Compared::default(),
            is_warned: false,
            drawn: Drawn::default(),
            is_moved: false,
            gone: None,
            needed: None,
            now: Timestamp::now(),
            size,
            offset: None,
            clicked: None,
        }
    }

    /// A text for a person at the dashboard: an action that has a key is named by it, another one by its command; a parameter in
    /// words.
    pub fn spelled(&self, text: &Text) -> String {
        text.spelled(|part| match part {
            TextPart::Action(action) => match key_of(action) {
                Some(key) => format!("`{}`", self.keymap.key(key)),
                None => (self.spell)(&action.clone().into()),
            },
            TextPart::Parameter { parameter, value } => match value {
                Some(value) => format!("{} {value}", parameter.label()),
                None => format!("\"{}\"", parameter.label()),
            },
            TextPart::Words(words) => words.clone(),
            TextPart::Time(time) => (self.spell)(&(*time).into()),
        })
    }

    /// The row of the selected task.
    pub fn selected(&self) -> Option<&OverviewRow> {
        let cursor = self.cursor.as_deref()?;
        self.overview.rows.iter().find(|row| row.folder == cursor)
    }

    /// The selected task where it is drawn: keys act on no other.
    pub fn at_hand(&self) -> Option<&OverviewRow> {
        let is_drawn = |row: &&OverviewRow| {
            (self.view != View::Inbox || self.is_in_inbox(row)) && !self.is_deleted(row)
        };
        self.selected().filter(is_drawn)
    }

    /// Tasks that the search and the filter let through, and the one at the cursor.
    pub fn narrowed_rows(&self) -> impl Iterator<Item = &OverviewRow> {
        let rows = self.overview.rows.iter();
        rows.filter(|row| {
            self.narrowed.lists(row) || self.cursor.as_deref() == Some(row.folder.as_str())
        })
    }

    /// Whether a task is listed no more and stays only until the cursor leaves it.
    pub fn is_gone(&self, row: &OverviewRow) -> bool {
        self.gone.as_deref() == Some(row.folder.as_str())
    }

    /// A task that is gone for another reason than that it has been over for long.
    pub fn is_deleted(&self, row: &OverviewRow) -> bool {
        self.is_gone(row) && row.word == GONE
    }

    /// A frame was drawn: what is on the screen now can be read.
    pub fn was_drawn(&mut self, at: Instant) {
        let cursor = self.at_hand().map(|row| row.folder.clone());
        self.drawn.cursor = since(self.drawn.cursor.take(), cursor.clone(), at);
        let open = crate::draw::layout::whole_question(self);
        let question = open.and_then(|open| Some((cursor?, open.question.id.clone())));
        self.drawn.question = since(self.drawn.question.take(), question, at);
    }

    /// The details of the selected task, once they are there.
    pub fn focused(&self) -> Option<&Focus> {
        let cursor = self.cursor.as_deref()?;
        self.focus.as_ref().filter(|focus| focus.folder == cursor)
    }

    /// The folders of tasks that are not over.
    pub fn open_folders(&self) -> Vec<String> {
        let is_over = |row: &OverviewRow| row.status.is_some_and(Status::is_over);
        let rows = self.overview.rows.iter();
        let rows = rows.filter(|row| !is_over(row) && !self.is_gone(row));
        rows.map(|row| row.folder.clone()).collect()
    }

    pub fn update(&mut self, input: Input, at: Instant) -> Vec<Effect> {
        let effects = self.updated(input, at);
        // A message or a question takes lines from the list.
        self.keep_visible();
        effects
    }

    fn updated(&mut self, input: Input, at: Instant) -> Vec<Effect> {
        match input {
            Input::Key(key) if key.kind != KeyEventKind::Release => {
                self.offset = None;
                self.key(key, at)
            }
            Input::Key(_) => Vec::new(),
            Input::Paste(text) => self.paste(&text),
            Input::Mouse(mouse) => self.mouse(mouse, at),
            Input::Resize(columns, rows) => {
                self.resize((columns, rows));
                Vec::new()
            }
            Input::Terminal(_) => Vec::new(),
            Input::Tick => self.tick(at),
            Input::Overview(loaded) => self.take_overview(*loaded, at),
            Input::Focus(folder, loaded) => {
                if self.cursor.as_ref() == Some(&folder) {
                    match *loaded {
                        Ok(focus) => {
                            self.focus_problem = None;
                            self.focus = Some(focus);
                            self.texts.forget();
                        }
                        Err(error) => {
                            self.focus_problem = Some(error.message);
                            self.focus = None;
                        }
                    }
                }
                Vec::new()
            }
            Input::Screen(folder, screen) => {
                if self.cursor.as_ref() == Some(&folder) {
                    self.pause = if self.screen == screen {
                        (self.pause + 1).min(LONGEST_PAUSE)
                    } else {
                        0
                    };
                    self.screen = screen;
                }
                Vec::new()
            }
            Input::Changes { folder, of, loaded } => self.take_changes(&folder, of, *loaded),
            Input::Patch { ticket, patch } => {
                self.take_patch(ticket, *patch);
                Vec::new()
            }
            Input::Done {
                folder,
                what,
                outcome,
            } => self.done(folder, what, *outcome, at),
            Input::Back { folder } => self.back_again(folder, at),
            Input::Edited(text) => {
                if let Some(Overlay::Form(form)) = &mut self.overlay {
                    form.set_context(&text);
                }
                Vec::new()
            }
            Input::Said(text) => {
                if !self
                    .message
                    .as_ref()
                    .is_some_and(|message| message.is_error)
                {
                    self.say(text, at);
                }
                Vec::new()
            }
            Input::Monitor(state) => {
                self.monitor = state;
                Vec::new()
            }
            Input::Refused { text, hint } => {
                self.refuse(text, hint, at);
                Vec::new()
            }
            Input::Found { words, tasks } => {
                if self.narrowed.words.trim() != words {
                    return Vec::new();
                }
                self.narrowed.found = tasks;
                self.rebuild();
                self.focus_effects()
            }
            Input::News => vec![Effect::LoadOverview],
        }
    }

    fn tick(&mut self, at: Instant) -> Vec<Effect> {
        self.now = Timestamp::now();
        let is_over = |message: &OutcomeMessage| {
            !message.is_error && at.saturating_duration_since(message.at) >= SHOWN_FOR
        };
        if self.message.as_ref().is_some_and(is_over) {
            self.message = None;
        }
        // A window in which nothing happens is looked at less often.
        let mut effects = self.late_changes(at);
        self.ticks += 1;
        if self.ticks > self.pause {
            effects.extend(self.screen_effect());
        }
        effects
    }

    /// The screen is looked at only where it is drawn.
    fn screen_effect(&mut self) -> Vec<Effect> {
        self.ticks = 0;
        let is_drawn = match self.view {
            View::Task => self.tab == Tab::Screen,
            View::List => crate::draw::preview_side(self.size).is_some(),
            View::Inbox | View::Board => false,
        };
        let cursor = self.cursor.clone().filter(|_| is_drawn);
        cursor.map(Effect::LoadScreen).into_iter().collect()
    }

    /// Says something until something else happens, or for a while.
    fn say(&mut self, text: impl Into<String>, at: Instant) {
        self.message = Some(OutcomeMessage {
            text: text.into(),
            hint: None,
            is_error: false,
            at,
        });
    }

    fn refuse(&mut self, text: impl Into<String>, hint: Option<Text>, at: Instant) {
        let hint = hint.map(|hint| self.spelled(&hint));
        self.message = Some(OutcomeMessage {
            text: text.into(),
            hint,
            is_error: true,
            at,
        });
    }

    /// The cursor keeps its place on the screen as far as there is room: a list that was larger for a moment looks as before.
    fn resize(&mut self, size: (u16, u16)) {
        let place = self.lines.place_of(self.cursor.as_deref());
        if let Some(place) = place {
            let offset = place.saturating_sub(self.lines.top);
            let offset = *self.offset.get_or_insert(offset);
            self.lines.top = place.saturating_sub(offset);
        }
        self.size = size;
        self.keep_visible();
    }

    fn keep_visible(&mut self) {
        let layout = ScreenLayout::of(self, self.size);
        self.lines.show(self.cursor.as_deref(), layout.page);
    }

    fn forget_details(&mut self) {
        (self.focus, self.screen) = (None, None);
        self.texts.forget();
        self.forget_changes();
        self.pause = 0;
        self.focus_problem = None;
        self.scroll = 0;
        self.phase = None;
    }

    fn select(&mut self, folder: Option<String>) -> Vec<Effect> {
        if folder.is_none() || folder == self.cursor {
            return Vec::new();
        }
        self.cursor = folder;
        self.is_moved = false;
        self.forget_details();
        if self.view == View::Inbox && self.place_in_inbox().is_none() {
            self.view = View::List;
        }
        // A row that the filter holds no more, or that is gone, stays only as long as the cursor is on it.
        if self.lines.has_stray() || self.gone.is_some() {
            self.rebuild();
        }
        self.unhide();
        self.keep_visible();
        self.focus_effects()
    }

    /// What is selected is drawn, whatever is folded or filtered.
    fn unhide(&mut self) {
        if self.lines.place_of(self.cursor.as_deref()).is_some() {
            return;
        }
        if let Some(project) = self.selected().map(|row| row.project.clone()) {
            self.folded.remove(&project);
            self.rebuild();
        }
    }

    fn focus_effects(&mut self) -> Vec<Effect> {
        let Some(cursor) = self.cursor.clone() else {
            return Vec::new();
        };
        let mut effects = vec![Effect::LoadFocus(cursor.clone())];
        effects.extend(self.screen_effect());
        if self.shows_changes() {
            effects.push(self.compare(cursor, Instant::now()));
        }
        effects
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
