//! Why a task is where it is, for programs: in the words of the front end that prints it.

use crate::views::Spelling;
use crate::views::why::Explanation;
use orange_core::task::Status;
use serde::Serialize;

/// An explanation with its reason and its action spelled out.
#[derive(Debug, Serialize)]
pub struct WhyView<'a> {
    task: &'a str,
    status: Status,
    because: String,
    next: Option<String>,
    too_early: bool,
    needs_human: bool,
}

impl<'a> WhyView<'a> {
    pub fn of(answer: &'a Explanation, spelling: Spelling) -> WhyView<'a> {
        WhyView {
            task: &answer.task,
            status: answer.status,
            because: (spelling.text)(&answer.reason.text(&answer.name)),
            next: answer.next.as_ref().map(spelling.action),
            too_early: answer.too_early,
            needs_human: answer.needs_human,
        }
    }
}
