//! The specification of a task as it is shown.

use crate::call::Call;
use crate::error::{Result, err};
use crate::execution::{self, is_phased};
use crate::facts;
use crate::store::Place;
use crate::views::task;
use orange_core::task::Task;
use orange_core::work::spec::{Spec, SpecSource};
use orange_core::{Action, Timestamp, text};
use serde::Serialize;

/// A specification without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpecView {
    pub source: SpecSource,
    pub bytes: u64,
    pub updated_at: Timestamp,
    /// It is in the `spec.md` of an older home.
    #[serde(skip)]
    pub is_file: bool,
}

impl SpecView {
    /// Where it comes from, as a sentence goes on.
    pub fn origin(&self) -> &'static str {
        match self.is_file {
            true => "in spec.md, from an older home",
            false => self.source.words(),
        }
    }
}

/// The specification of a task for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskSpec {
    /// The task's key.
    pub task_id: String,
    #[serde(flatten)]
    pub spec: Spec,
}

/// The specification of a task; None: it has none.
pub fn spec(call: &Call, place: Place) -> Result<(Task, Option<TaskSpec>)> {
    let view = task::view(call, place)?;
    is_phased(&view.task)?;
    let found = execution::spec::spec(call, &view.place, &view.task)?;
    let task_id = view.task.label();
    let found = found.map(|spec| TaskSpec { task_id, spec });
    Ok((view.task, found))
}

/// The same for somebody who wants to read it.
pub fn required_spec(call: &Call, place: Place) -> Result<TaskSpec> {
    let (task, found) = spec(call, place)?;
    found.ok_or_else(|| {
        err!(NotFound, "{} has no specification", task.label()).hint(text!(
            "the phase spec of a plan writes one, or you give it: {}",
            Action::set_spec(task.name())
        ))
    })
}

/// What there is to say of it in a line. What cannot be read is not told of here.
pub(crate) fn spec_view(call: &Call, task: &Task) -> Option<SpecView> {
    let place = facts::place_of(call, task).ok()??;
    let (head, is_file) = execution::spec::head(call, &place, task).ok()??;
    Some(SpecView {
        source: head.source,
        bytes: head.bytes,
        updated_at: head.updated_at,
        is_file,
    })
}
