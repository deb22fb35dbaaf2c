//! Answering the questions that an agent wrote into TASK.md or that the agent of a phase asked, or a stuck task's call for
//! help: the words go to the agent, and its task goes on.

use crate::access;
use crate::call::Call;
use crate::error::{Result, err};
use crate::field_checks::check_words;
use crate::store::Place;
use crate::verbs::change::{self, Change, Changed};
use crate::verbs::phased;
use crate::verbs::request_changes::request_changes;
use crate::views::questions::is_help_wanted;
use crate::views::task::TaskView;
use orange_core::workflow::Intent;
use orange_core::{Action, text};

/// Tells the worker, which is started again if it is gone, and lets the task go on.
pub fn answer_clarification(call: &Call, view: &TaskView, words: &str) -> Result<Changed> {
    access::people_only(call, "answer questions")?;
    if words.trim().is_empty() {
        return Err(
            err!(Usage, "an empty answer tells nobody anything").hint(text!(
                "{} shows the question",
                Action::answer_question(view.task.name())
            )),
        );
    }
    check_words("the answer", words)?;
    if view.task.has_plan() {
        let done = phased::gate::answer(call, view.place.clone(), words)?;
        return Ok(Changed::from(done));
    }
    if is_help_wanted(&view.task) {
        return request_changes(call, view.place.clone(), words);
    }
    let change = Change {
        intent: Some(Intent::Answer),
        message: Some(words.trim().to_owned()),
        ..Change::default()
    };
    let place: Place = view.place.clone();
    change::change(call, place, &change)
}
