//! review.md in the task's folder: what the last review found. It follows from the rows and is written anew whenever they change,
//! so a process that dies before leaves it to the next.

use crate::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::execution::{self, PlanProgress};
use crate::store::{Place, private};
use orange_core::task::Task;
use orange_core::work::plan::{PhaseKind, PlannedPhase};
use orange_core::work::review::review;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The name of the file.
const NAME: &str = "review.md";

/// Writes it if there is a review, and it says something else than it should. A file that cannot be written keeps nobody from
/// going on; it is said in the log.
pub(crate) fn write(call: &Call, place: &Place, task: &Task) {
    let read = || -> Result<()> {
        let plan = execution::plan(call, task)?;
        let execution = execution::execution(call, task)?;
        let progress = PlanProgress {
            plan: plan.as_ref(),
            execution: &execution,
        };
        write_for(call, place, task, progress);
        Ok(())
    };
    if let Err(error) = read() {
        not_written(task, &error);
    }
}

/// The same for rows that need not be read.
pub(crate) fn write_for(call: &Call, place: &Place, task: &Task, progress: PlanProgress<'_>) {
    if let Err(error) = try_write(call, place, task, progress) {
        not_written(task, &error);
    }
}

fn not_written(task: &Task, error: &Error) {
    tracing::error!(%error, task = task.id, "the review is not written");
}

fn try_write(call: &Call, place: &Place, task: &Task, progress: PlanProgress<'_>) -> Result<()> {
    let PlanProgress { plan, execution } = progress;
    let is_review = |phase: &PlannedPhase| phase.kind == PhaseKind::Review;
    let Some(plan) = plan.filter(|plan| plan.phases.iter().any(is_review)) else {
        return Ok(());
    };
    let decisions = call.with_existing_database(|database| database.decisions(&task.id))?;
    let decisions = decisions.unwrap_or_default();
    let Some(text) = review(&task.label(), plan, execution, &decisions) else {
        return Ok(());
    };
    let path = place.path.join(NAME);
    let is_plain = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if is_plain && fs::read(&path).is_ok_and(|known| known == text.as_bytes()) {
        return Ok(());
    }
    replace(&path, &text)
}

/// Whoever reads it finds the whole of one or of the other. A link that somebody laid is replaced, not followed.
fn replace(path: &Path, text: &str) -> Result<()> {
    let next = path.with_extension("md.new");
    let mut file = private::create_anew(&next).doing("create", &next)?;
    file.write_all(text.as_bytes()).doing("write", &next)?;
    fs::rename(&next, path).doing("replace", path)
}
