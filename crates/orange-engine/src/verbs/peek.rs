//! `peek`: what an agent's window shows.

use crate::access;
use crate::call::Call;
use crate::error::{Code, Result, err};
use crate::execution;
use crate::sessions;
use crate::store::Place;
use crate::tmux::{Scrollback, Tmux};
use crate::views::task;
use crate::views::transcripts::{self, WantedTranscripts};
use orange_core::display::clean_block;
use orange_core::exit::role_of;
use orange_core::history::History;
use orange_core::runs::{Run, last_run, runs};
use orange_core::task::Task;
use orange_core::workflow::Role;
use orange_core::{Action, text};
use orange_sys::file_end::file_end;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// So much of the end of a transcript stands for a screen that nobody kept.
const TRANSCRIPT_END: u64 = 64 * 1024;

/// What an agent's window shows, or showed last.
#[derive(Debug, Clone, Serialize)]
pub struct Screen {
    #[serde(serialize_with = "task_id")]
    pub task: Task,
    /// The id of the agent's run.
    #[serde(skip)]
    pub run: String,
    pub role: Role,
    /// The agent is; a window without it shows a shell.
    pub alive: bool,
    pub text: String,
    /// What has left the screen above, as far as the window keeps it.
    #[serde(skip)]
    pub scrollback: Scrollback,
    /// Set for a screen that was kept when its agent ended, or for the transcript that stands for it.
    pub kept: Option<PathBuf>,
    /// The text is the end of a transcript.
    #[serde(skip)]
    pub is_transcript: bool,
}

fn task_id<S: Serializer>(task: &Task, to: S) -> std::result::Result<S::Ok, S::Error> {
    task.id.serialize(to)
}

/// What an agent's window shows; what it showed last if it is gone.
pub fn peek(call: &Call, place: Place, role: Option<Role>, lines: Option<u32>) -> Result<Screen> {
    access::not_for_a_judge(call, "look at an agent's window")?;
    let view = task::view(call, place)?;
    let role = role.unwrap_or_else(|| role_to_look_at(&view.task, &view.history));
    let label = view.task.label();
    let run = last_run(&view.history, role).ok_or_else(|| {
        if view.task.has_started() {
            err!(NotFound, "{label} has had no {role}").hint(text!(
                "{} tells which agents it had",
                Action::show(view.task.name(), false)
            ))
        } else {
            err!(
                NotFound,
                "{label} has not been started, so it has no {role}"
            )
            .hint(text!("start it: {}", execution::how_to_start(&view.task)))
        }
    })?;
    let alive = run.end.is_none() && sessions::run_folder(call, &run.id).is_alive();
    let pane = sessions::pane_of(call, &run.id);
    let seen = pane.and_then(|pane| {
        let shown = pane.map(|pane| Tmux::at(&pane.socket).capture_counted(&pane, lines));
        shown.transpose()
    });
    let mut is_transcript = false;
    let (text, scrollback, kept) = match seen {
        Ok(Some((text, scrollback))) => (text, scrollback, None),
        // An agent that runs is not gone because tmux cannot be asked.
        Err(error) if alive && error.code != Code::NotFound => return Err(error),
        // What was kept needs no tmux.
        Ok(None) | Err(_) => {
            let name = format!("screens/{role}-{}.txt", run.id);
            let path = view.place.path.join(name);
            let screen = std::fs::read_to_string(&path).ok();
            let screen = screen.map(|text| (text, path));
            let screen = screen.or_else(|| {
                let end = end_of_transcript(call, &view.place, &run)?;
                is_transcript = true;
                Some(end)
            });
            let (text, path) = screen.ok_or_else(|| {
                err!(
                    NotFound,
                    "the {role} of {label} is gone, and no screen of it was kept"
                )
                .hint(text!(
                    "{} says what to do",
                    Action::explain(view.task.name())
                ))
            })?;
            (last_lines(&text, lines), Scrollback::default(), Some(path))
        }
    };
    Ok(Screen {
        run: run.id,
        task: view.task,
        role,
        text,
        scrollback,
        alive,
        kept,
        is_transcript,
    })
}

/// What the window of the agent that a task waits for shows, with its colours as escape sequences.
pub fn coloured(call: &Call, place: Place) -> Result<String> {
    let view = task::view(call, place.clone())?;
    let role = role_to_look_at(&view.task, &view.history);
    let run = last_run(&view.history, role);
    let pane = run.and_then(|run| sessions::pane_of(call, &run.id).ok()?);
    match pane {
        Some(pane) => Tmux::at(&pane.socket).capture_coloured(&pane),
        None => peek(call, place, None, None).map(|screen| screen.text),
    }
}

/// The end of what was said last in a run, where that is kept in transcripts, and their file.
fn end_of_transcript(call: &Call, place: &Place, run: &Run) -> Option<(String, PathBuf)> {
    if run.role != Role::Executor {
        return None;
    }
    let all = transcripts::transcripts(call, place.clone(), &WantedTranscripts::default());
    let path = all.ok()?.1.pop()?.path;
    let text = file_end(&path, TRANSCRIPT_END)?;
    Some((clean_block(&text).into_owned(), path))
}

/// The agent that the status is about, or else the one that was there last.
pub(crate) fn role_to_look_at(task: &Task, history: &History) -> Role {
    if task.has_plan() {
        return Role::Executor;
    }
    let role = role_of(task.status);
    if last_run(history, role).is_some() {
        return role;
    }
    let last = runs(history).pop();
    last.map_or_else(|| default_role(task), |run| run.role)
}

fn default_role(task: &Task) -> Role {
    if task.has_plan() {
        Role::Executor
    } else {
        Role::Worker
    }
}

fn last_lines(text: &str, lines: Option<u32>) -> String {
    let Some(lines) = lines else {
        return text.to_owned();
    };
    let all: Vec<&str> = text.lines().collect();
    let skip = all.len().saturating_sub(lines as usize);
    let mut kept = all.get(skip..).unwrap_or_default().join("\n");
    kept.push('\n');
    kept
}
