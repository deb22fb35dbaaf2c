//! `request-changes`: a person's text to the worker, and the task goes back to it.

use crate::access;
use crate::call::Call;
use crate::error::{Code, Error, Result, err};
use crate::field_checks::check_words;
use crate::sessions::{self, lost_workspace};
use crate::store::Place;
use crate::verbs::change::{self, Change, Changed};
use crate::verbs::phased;
use orange_core::workflow::{Intent, Role};
use orange_core::{Action, TaskName, Text, text};

/// A person is not content: the words go into TASK.md and to the worker.
pub fn request_changes(call: &Call, place: Place, message: &str) -> Result<Changed> {
    access::people_only(call, "ask for changes")?;
    if message.trim().is_empty() {
        return Err(err!(Usage, "what should be changed?").hint(text!(
            "say it: {}",
            Action::request_changes(
                TaskName::placeholder(),
                "the button is too small".to_owned()
            )
        )));
    }
    check_words("the request", message)?;
    let task = call.store.survey(&place.folder()).task;
    if task.has_plan() {
        return phased::changes::request_changes(call, place, message).map(Changed::from);
    }
    let change = Change {
        intent: Some(Intent::RequestChanges),
        message: Some(message.trim().to_owned()),
        ..Change::default()
    };
    let history = place.history()?;
    if lost_workspace::runs_in_deleted_folder(call, &history, Role::Worker) {
        return Err(err!(
            ConditionUnmet,
            "the worker of {} runs in a workspace that was deleted, so it cannot change anything",
            task.label()
        )
        .hint(text!(
            "{} checks the branch out again; quit the worker ({}), then ask again: {}",
            Action::repair(),
            Action::attach(task.name()),
            Action::request_changes(task.name(), message.trim().to_owned())
        )));
    }
    let changed = change::change(call, place.clone(), &change);
    changed.map_err(|error| advice_with_text(call, error, &place, message.trim()))
}

/// A refused request for changes, with a command that still delivers the text.
fn advice_with_text(call: &Call, error: Error, place: &Place, text: &str) -> Error {
    let refusals = [
        Code::IllegalTransition,
        Code::GateUnmet,
        Code::ConditionUnmet,
    ];
    if !refusals.contains(&error.code) {
        return error;
    }
    let Ok(history) = place.history() else {
        return error;
    };
    let task = call.store.survey(&place.folder()).task;
    let text = text.to_owned();
    let way = match task.status {
        status if !status.has_started() => text!(
            "it has not been started; put your text into `## Context` of {}: {text}",
            place.task_file().display().to_string()
        ),
        status if status.is_terminal() => text!(
            "it is over; new work from it: {}",
            Action::create_from(task.name(), false, text)
        ),
        _ if sessions::live_run(call, &history, Role::Worker).is_some() => text!(
            "its worker gets your text with {}",
            Action::send(task.name(), None, text)
        ),
        _ if sessions::live_run(call, &history, Role::Reviewer).is_some() => text!(
            "its reviewer gets your text with {}",
            Action::send(task.name(), Role::Reviewer, text)
        ),
        _ => text!(
            "a worker is started with your text by {}",
            Action::respawn_with(task.name(), text)
        ),
    };
    // A review that has no verdict yet can also be given one.
    let other = error.hint.clone().filter(|_| error.code == Code::GateUnmet);
    let other = other.map_or_else(Text::default, |hint| text!("; or: {}", hint));
    error.hint(text!("{}{}", way, other))
}
