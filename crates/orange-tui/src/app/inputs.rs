//! What happens to the dashboard, and what follows from it.

use crate::verbs::{Verb, VerbOutcome};
use orange_core::Text;
use orange_engine::Error;
use orange_engine::git::diff::FileChange;
use orange_engine::tmux::Attach;
use orange_engine::views::changes::{Changes, Visit};
use orange_engine::views::dashboard::{Focus, Overview};
use orange_engine::views::diff::{Comparison, DiffOf};
use orange_engine::views::patch::FilePatch;
use ratatui::crossterm::event::{Event, KeyEvent, MouseEvent};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// What happened.
pub enum Input {
    Key(KeyEvent),
    Paste(String),
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// What came from the terminal; its events are handed on one by one.
    Terminal(std::io::Result<Vec<Event>>),
    /// A second or so has passed.
    Tick,
    Overview(Box<Result<Overview, Error>>),
    Focus(String, Box<Result<Focus, Error>>),
    /// What a task's agent shows, with its colours; None: nothing can be seen.
    Screen(String, Option<String>),
    Changes {
        folder: String,
        of: DiffOf,
        loaded: Box<Result<Changes, Error>>,
    },
    /// The lines of a file that were asked for under this number.
    Patch {
        ticket: u64,
        patch: Box<Result<FilePatch, Error>>,
    },
    Done {
        folder: String,
        what: &'static str,
        outcome: Box<VerbOutcome>,
    },
    /// The terminal is ours again.
    Back {
        folder: Option<String>,
    },
    /// Words that came back from an editor.
    Edited(String),
    /// Something that the engine has to say.
    Said(String),
    /// Who watches over the agents.
    Monitor(&'static str),
    /// Something could not be done.
    Refused {
        text: String,
        hint: Option<Text>,
    },
    /// In which tasks words were found, each by its project and id.
    Found {
        words: String,
        tasks: BTreeSet<(String, String)>,
    },
    /// Something changed in the home.
    News,
}

/// What is to be done about it.
#[derive(Debug)]
pub enum Effect {
    Quit,
    LoadOverview,
    LoadFocus(String),
    LoadScreen(String),
    /// Looks for words in all that is known of tasks.
    Search(String),
    LoadChanges {
        folder: String,
        of: DiffOf,
        visit: Visit,
    },
    LoadPatch {
        ticket: u64,
        comparison: Arc<Comparison>,
        file: Box<FileChange>,
    },
    /// The person is shown this.
    NoteLook {
        folder: String,
        comparison: Arc<Comparison>,
    },
    /// The person has viewed a file with this content; None: they take that back.
    MarkViewed {
        folder: String,
        path: String,
        content: Option<String>,
    },
    Run {
        folder: String,
        verb: Verb,
    },
    /// Goes to a task's window.
    Attach {
        folder: String,
        attach: Box<Attach>,
    },
    /// Hands the terminal to a command of `orange`.
    HandOver {
        folder: String,
        words: Vec<String>,
    },
    Edit(String),
    Copy(String),
    Bell,
}

/// A line about what was done.
#[derive(Debug, Clone)]
pub struct OutcomeMessage {
    pub text: String,
    pub hint: Option<String>,
    pub is_error: bool,
    pub(super) at: Instant,
}

/// What `u` takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// A deleted task, by its name.
    Restore(String),
    /// A cancelled one.
    CreateFrom(String),
}
