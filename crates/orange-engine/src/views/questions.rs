//! What agents ask a person: in their windows, and in TASK.md.

use crate::call::Call;
use crate::sessions;
use crate::views::results::OpenQuestion;
use crate::views::task::TaskView;
use orange_core::artifact::section;
use orange_core::history::History;
use orange_core::runs::open_runs;
use orange_core::task::Task;
use orange_core::workflow::Intent;
use serde::Serialize;

/// What a task asks: questions of agents, or words of its TASK.md.
#[derive(Debug, Serialize)]
pub struct Questions<'a, Q> {
    pub task: &'a Task,
    pub questions: &'a [Q],
}

/// What the agents of a task ask and can be answered from here.
pub fn open_questions(call: &Call, history: &History) -> Vec<OpenQuestion> {
    let mut found = Vec::new();
    for run in open_runs(history) {
        let folder = sessions::run_folder(call, &run.id);
        if !folder.is_alive() {
            continue;
        }
        let questions = folder.questions().into_iter();
        found.extend(questions.map(|question| OpenQuestion {
            run: run.clone(),
            question,
        }));
    }
    found
}

/// Whether the task is stuck: a person's words bring it back to its worker, but there is nothing to decide about.
pub fn is_help_wanted(task: &Task) -> bool {
    !task.has_plan() && task.offers(Intent::RequestChanges) && !task.offers(Intent::Merge)
}

/// The questions of a task that waits for a person's words, as its TASK.md has them, or what it is stuck with, or what the
/// agent of a phase asked; None for any other task.
pub fn questions_in_file(view: &TaskView) -> Option<String> {
    let is_asked = view.task.has_plan() && view.task.offers(Intent::Answer);
    if is_asked || is_help_wanted(&view.task) {
        let here = Some(view.task.status.as_str());
        let mut events = view.history.events.iter();
        let came = events.rfind(|event| event.to.as_deref() == here);
        return Some(
            came.and_then(|event| event.reason.clone())
                .unwrap_or_default(),
        );
    }
    if !view.task.offers(Intent::Answer) {
        return None;
    }
    let asked = section(&view.body, "Questions");
    let asked = asked.and_then(|section| view.body.get(section.content));
    Some(asked.unwrap_or_default().trim().to_owned())
}
