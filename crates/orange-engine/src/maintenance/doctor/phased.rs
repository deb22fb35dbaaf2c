//! Phased tasks: plans that are lost or cannot be read, claims of executors that are gone, transcripts without a task.

use crate::call::Call;
use crate::database::Journal;
use crate::effects::executor::hostname;
use crate::error::Result;
use crate::execution;
use crate::maintenance::doctor::databases;
use crate::maintenance::every_task;
use crate::sessions;
use crate::store::{Place, TRANSCRIPTS as FOLDER, history_in};
use crate::views::doctor::DoctorReport;
use crate::views::phased;
use crate::{seal_checks, trash};
use orange_core::history::{Event, EventType};
use orange_core::task::Task;
use orange_sys::listing;

/// Every task that is executed by a plan, with what a finding calls it.
fn phased_tasks(call: &Call) -> Result<Vec<(String, Place, Task)>> {
    let rows = every_task(call)?.into_iter();
    let tasks = rows.map(|row| {
        let found = call.store.survey(&row.folder);
        let task = match found.damaged {
            None => found.task,
            // As far as its row in the index tells.
            Some(_) => phased::task_of(&row),
        };
        let subject = format!("{}:{}", row.project, task.label());
        (subject, call.store.place(&row.folder), task)
    });
    Ok(tasks.filter(|(_, _, task)| task.has_plan()).collect())
}

pub(crate) fn check_plans(call: &Call, report: &mut DoctorReport) -> Result<()> {
    // A database that cannot be read is one problem, not one of each task.
    if report.is_open(databases::SUBJECT) {
        return Ok(());
    }
    for (subject, _, task) in phased_tasks(call)? {
        if let Err(error) = execution::plan(call, &task) {
            report.add_error(subject, error);
        }
    }
    Ok(())
}

/// What the journals of phased tasks say, those in the trash included.
pub(crate) fn journals(call: &Call) -> Result<Vec<Journal>> {
    let tasks = phased_tasks(call)?.into_iter();
    let trashed = trash::trashed(call).into_iter();
    let trashed = trashed.filter(|(_, task)| task.has_plan());
    let trashed = trashed.map(|(place, task)| (trash::trash_place(call, &place), task));
    let all = tasks
        .map(|(_, place, task)| (place.path, task))
        .chain(trashed);
    Ok(all
        .map(|(folder, task)| {
            // One that cannot be read is taken for newer than anything.
            let history = history_in(&folder).unwrap_or_default();
            let spec = |event: &&Event| event.kind == EventType::SpecSaved;
            Journal {
                is_over: task.status.is_terminal(),
                last: history.events.iter().map(|event| event.timestamp).max(),
                spec: history
                    .events
                    .iter()
                    .rev()
                    .find(spec)
                    .map(|event| event.timestamp),
                moved: seal_checks::remembered(&history.events),
                turns: history.turns(),
                task: task.id,
            }
        })
        .collect())
}

pub(crate) fn check_claims(call: &Call, report: &mut DoctorReport) -> Result<()> {
    if report.is_open(databases::SUBJECT) {
        return Ok(());
    }
    for (subject, _, task) in phased_tasks(call)? {
        let claim = call.with_existing_database(|database| database.claim_of(&task.id))?;
        let Some(claim) = claim.flatten() else {
            continue;
        };
        let is_here = claim.hostname == hostname();
        if is_here && sessions::run_folder(call, &claim.run).is_alive() {
            continue;
        }
        if !is_here && !claim.is_silent(call.now()) {
            continue;
        }
        let problem = format!(
            "an executor that is gone (process {} on {}) still has it in orange.db",
            claim.pid, claim.hostname
        );
        let how = "takes that back; the task goes on from where it is when it is resumed";
        report.repair(subject, problem, how, || {
            call.with_database(|database| database.release_claim(&task.id, &claim.run))?;
            Ok("taken back")
        });
    }
    Ok(())
}

/// An executor may write for a moment after its task's folder was moved away.
pub(crate) fn check_transcripts(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let projects = listing::folders(call.store.tasks()).into_iter();
    for folder in projects.flat_map(|project| listing::folders(&project)) {
        let is_task = folder.join("TASK.md").exists() || folder.join("history.jsonl").exists();
        if is_task || !folder.join(FOLDER).is_dir() {
            continue;
        }
        report.by_hand(
            folder.display().to_string(),
            "has transcripts and no task",
            "read what you want to keep of them, then delete that folder",
        );
    }
    Ok(())
}
