//! The specification of a task as a person gives it: the phase that would write one is left out.

use crate::access;
use crate::call::Call;
use crate::error::{Error, Result, err};
use crate::execution;
use crate::store::Place;
use crate::tx;
use crate::tx::commit::Committed;
use crate::verbs::phased::{is_phased, nobody_is_at_it};
use orange_core::task::{Task, WorkflowName};
use orange_core::work::execution::Execution;
use orange_core::work::plan::Plan;
use orange_core::work::spec::{self, BadSpec, SpecOutline, SpecSource};
use orange_core::workflow::PhaseStatus;

use orange_core::{Parameter, text};

/// What became of a specification that was given.
#[derive(Debug)]
pub struct SavedSpec {
    pub done: Committed,
    /// False: the task had this one.
    pub is_new: bool,
    /// The phases that are left out because of it.
    pub skipped: Vec<String>,
    /// What it lacks of an outline, which nobody checks where it was given; nothing for a whole one.
    pub lacks: String,
}

/// Gives a task a specification, or another one. Not while it is executed or stands at a gate.
pub fn set(call: &Call, place: Place, content: &str) -> Result<SavedSpec> {
    access::people_only(call, "give specifications")?;
    check(content)?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    nobody_is_at_it(call, &tx.task, "change the specification of")?;
    // One in a file that cannot be used is replaced.
    let known = execution::spec::spec(call, &tx.place, &tx.task).unwrap_or_default();
    let is_new = known.is_none_or(|known| known.content != content || !known.source.is_given());
    let before = execution::execution(call, &tx.task)?;
    let (after, skipped) = match execution::plan(call, &tx.task)? {
        Some(plan) => {
            let after = before.clone().with_given_spec(&plan);
            let skipped = newly_skipped(&plan, &before, &after);
            (Some(after), skipped)
        }
        None => (None, Vec::new()),
    };
    if is_new || !skipped.is_empty() {
        tx.mark()?;
        execution::spec::save(call, &tx.task.id, content, SpecSource::Cli, after.as_ref())?;
        tx.journal_execution()?;
        // Nobody has to answer any more what the agent of that phase asked.
        tx.follow_person()?;
    }
    Ok(SavedSpec {
        done: tx.commit(Vec::new())?,
        is_new,
        skipped,
        lacks: SpecOutline::of(content).lacks(),
    })
}

fn newly_skipped(plan: &Plan, before: &Execution, after: &Execution) -> Vec<String> {
    let is_new = |name: &&str| {
        after.status(name) == PhaseStatus::Skipped && before.status(name) != PhaseStatus::Skipped
    };
    let names = plan.names().into_iter().filter(is_new);
    names.map(str::to_owned).collect()
}

/// Refuses what cannot be the specification of a new task; gives what it lacks of an outline.
pub(crate) fn check_new(call: &Call, task: &Task, content: &str) -> Result<String> {
    access::people_only(call, "give specifications")?;
    if !task.has_plan() {
        return Err(err!(
            Usage,
            "a specification is for phased tasks, and this one would have the {} workflow",
            task.workflow
        )
        .hint(text!(
            "give the text as {}, or add {}",
            Parameter::Context,
            Parameter::Workflow.given(WorkflowName::Phased.as_str())
        )));
    }
    check(content)?;
    Ok(SpecOutline::of(content).lacks())
}

fn check(content: &str) -> Result<()> {
    spec::check_text(content).map_err(refused)
}

fn refused(bad: BadSpec) -> Error {
    let hint = match bad {
        BadSpec::Empty => "say what is to be done, in Markdown; nothing was changed",
        BadSpec::TooLong => {
            "put the long parts into files of the repository and name those; nothing was changed"
        }
        BadSpec::Nul => "remove that character; nothing was changed",
    };
    err!(Usage, "{bad}").hint(hint)
}
