//! What a task's agents may do without asking: the task's own word, its project's, the user's setting. Where nobody has
//! chosen, the person is told once what that means.

use crate::call::{Call, Caller};
use crate::error::Result;
use crate::harness::{self, Harness};
use crate::settings::harness::{find_harness, usual_worker, worker_of};
use crate::{projects, settings};
use orange_core::config::Permissions;
use orange_core::task::Task;
use orange_core::{Action, choice, text};

choice! {
    /// Who said what agents may do.
    pub enum SaidBy ("source") {
        Task = "task",
        Project = "project",
        Setting = "setting",
        /// Nobody: it is full.
        Nobody = "nobody",
    }
}

/// The mode that counts for a task, and who chose it.
pub fn permissions(call: &Call, task: &Task) -> Result<(Permissions, SaidBy)> {
    let setting = settings::config(call)?.agents.permissions;
    let project = call.project_of(&task.project);
    let chosen = [
        (task.permissions, SaidBy::Task),
        (
            project.and_then(|project| project.permissions),
            SaidBy::Project,
        ),
        (setting, SaidBy::Setting),
    ];
    let mut chosen = chosen.into_iter();
    let found = chosen.find_map(|(mode, by)| Some((mode?, by)));
    Ok(found.unwrap_or((Permissions::Full, SaidBy::Nobody)))
}

/// The worker's harness, where a mode means nothing to it nor to the reviewer's.
pub fn worker_without_modes(call: &Call, task: &Task) -> Result<Option<String>> {
    let agents = &settings::config(call)?.agents;
    // A name that nobody knows any more is no reason to show nothing.
    let find = |name: &str| find_harness(call, name).ok().flatten();
    let is_mute =
        |name: &str| name == harness::NONE || find(name).is_some_and(|it| !it.has_modes());
    let Ok(worker) = worker_of(call, task) else {
        return Ok(None);
    };
    let reviewer = task.review_harness.as_ref();
    let reviewer_is_mute = match reviewer.or(agents.review_harness.as_ref()) {
        Some(named) => is_mute(named),
        // Else the worker's reviews.
        None => find(harness::REVIEWER)
            .is_none_or(|usual| !usual.is_installed(call.search_path.as_deref())),
    };
    Ok((is_mute(&worker) && reviewer_is_mute).then_some(worker))
}

/// Must a person still choose before agents of this harness work on a project?
pub fn is_mode_open(call: &Call, project: &str, harness: Option<&str>) -> Result<bool> {
    let agents = &settings::config(call)?.agents;
    let usual = || usual_worker(call).ok();
    // Where nothing is installed, that is what a person hears of.
    let Some(name) = harness.map(str::to_owned).or_else(usual) else {
        return Ok(false);
    };
    let asks = find_harness(call, &name)?;
    let open = call
        .project_of(project)
        .is_some_and(|known| known.permissions.is_none() && !known.permissions_stated);
    let is_known = agents.permissions.is_some();
    Ok(open && !is_known && asks.is_some_and(|harness| harness.has_modes()))
}

/// The mode of a run that is about to start; refused where its harness would not keep to it.
pub(crate) fn permissions_of_run(
    call: &Call,
    task: &Task,
    harness: &Harness,
) -> Result<Permissions> {
    let (mode, by) = permissions(call, task)?;
    if harness.has_modes() && by == SaidBy::Nobody {
        note_modes_once(call, task, harness)?;
    }
    harness.check_mode(mode).map(|()| mode)
}

fn note_modes_once(call: &Call, task: &Task, harness: &Harness) -> Result<()> {
    // Nobody reads what an errand says: the next command of a person says it.
    if call.caller == Caller::Engine || !is_mode_open(call, &task.project, Some(&harness.name))? {
        return Ok(());
    }
    projects::change(&call.store, |all| {
        for project in all.iter_mut().filter(|known| known.name == task.project) {
            project.permissions_stated = true;
        }
        Ok(())
    })?;
    let name = &task.project;
    call.notice(text!(
            "agents of {name} do everything without asking (permissions full); pushing and posting to GitHub are refused. To change: {}, or ask",
            Action::set_permissions(name, "edits".to_owned())
        ));
    Ok(())
}
