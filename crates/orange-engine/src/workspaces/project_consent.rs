//! Consent to the files of a repository that claude loads (`agents.project_settings`): asked for before a task starts, and
//! compared with the worktree at every start of an agent.

use crate::call::{self, Call};
use crate::error::{Error, Result, err};
use crate::harness::claude::project_files::ProjectFiles;
use crate::projects::Project;
use crate::rules::{newest_base, rules_commit};
use crate::workspaces::consents::first_of;
use crate::{git, harness, settings, workspaces};
use orange_core::exit::role_of;
use orange_core::task::Task;
use orange_core::why::StartRefused;
use orange_core::{Action, text};
use std::path::Path;

/// Did the user agree to exactly these files? Nobody need agree to none.
pub(crate) fn agreed_to_files(call: &Call, project: &str, files: &ProjectFiles) -> Result<bool> {
    let hash = files.hash();
    Ok(files.is_empty() || call.with_database(|database| database.has_consent(project, &hash))?)
}

/// Why no agent of a task can be started yet: the base has files for claude that nobody agreed to.
pub(crate) fn unwanted_project_files(
    call: &Call,
    project: &Project,
    task: &Task,
) -> Result<Option<Error>> {
    if !settings::config(call)?.agents.project_settings || !would_load_files(call, task)? {
        return Ok(None);
    }
    let commit = rules_commit::rules_commit(call, project, task)?;
    let files = match ProjectFiles::at_commit(&project.path, &commit) {
        Ok(files) => files,
        Err(refusal) => return Ok(Some(refusal)),
    };
    if agreed_to_files(call, &project.name, &files)? {
        Ok(None)
    } else {
        Ok(Some(not_agreed(project, &commit, &files)))
    }
}

/// Refuses a claude in a worktree with other files than those that the user agreed to, whoever changed them.
pub(crate) fn check_project_files(call: &Call, task: &Task, worktree: &Path) -> Result<()> {
    let project = call::registered(call, &task.project)?;
    let commit = rules_commit::rules_commit(call, &project, task)?;
    let base = ProjectFiles::at_commit(&project.path, &commit)?;
    let here = ProjectFiles::in_worktree(worktree)?;
    let Some((path, how)) = here.difference(&base) else {
        return if agreed_to_files(call, &project.name, &here)? {
            Ok(())
        } else {
            Err(not_agreed(&project, &commit, &here))
        };
    };
    // A branch of its own may have been agreed to as well.
    if !here.is_empty() && agreed_to_files(call, &project.name, &here)? {
        return Ok(());
    }
    let (label, name) = (task.label(), &project.name);
    let (shown, branch) = (worktree.join(path), &task.branch);
    let shown = shown.display();
    let undo = if base.contains(path) {
        format!("put it back as it is at commit {}", git::short(&commit))
    } else {
        "delete it".to_owned()
    };
    Err(err!(ConditionUnmet, "cannot start claude for {label}: {path} {how} in its workspace, and you have not agreed to that")
        .hint(text!(
            "look at {shown}, then {undo}; or commit it on {branch} and agree: {}",
            Action::trust(name, branch.clone())
        )))
}

/// What would keep an agent of the task from being started again in its workspace, and what helps.
pub fn start_refused(call: &Call, task: &Task) -> Option<StartRefused> {
    let slot = task.workspace.as_ref()?;
    let worktree = workspaces::slot_folder(call, slot);
    let harness = settings::harness::harness_for(call, task, role_of(task.status)).ok()??;
    let wanted = settings::config(call).ok()?.agents.project_settings;
    if !harness.adapter.loads_project_files() || !wanted {
        return None;
    }
    let refusal = check_project_files(call, task, &worktree).err()?;
    let project = call::registered(call, &task.project).ok()?;
    let here = ProjectFiles::in_worktree(&worktree).ok()?;
    let head = git::commit_of(&worktree, "HEAD").ok()??;
    let committed = ProjectFiles::at_commit(&project.path, &head).ok()?;
    let next = match here.difference(&committed) {
        // Kept in the stash: whoever changed it may want it back.
        Some((path, _)) => Action::stash_file(worktree.display().to_string(), path),
        None => Action::trust(project.name, task.branch.clone()),
    };
    Some(StartRefused {
        why: refusal.message,
        next,
    })
}

/// Whether an agent of the task loads a project's files.
fn would_load_files(call: &Call, task: &Task) -> Result<bool> {
    let config = settings::config(call)?.clone();
    let worker = settings::harness::worker_of(call, task).ok();
    let reviewer = task.review_harness.as_ref();
    let reviewer = reviewer.or(config.agents.review_harness.as_ref());
    let reviewer = reviewer.map_or(harness::REVIEWER, String::as_str);
    let loads = |name: &str| {
        let found = harness::find(name, &config, &call.orange).ok().flatten();
        found.is_some_and(|found| {
            found.adapter.loads_project_files() && found.is_installed(call.search_path.as_deref())
        })
    };
    Ok(worker.is_some_and(|worker| loads(&worker)) || loads(reviewer))
}

fn not_agreed(project: &Project, commit: &str, files: &ProjectFiles) -> Error {
    // Without more words the user is asked about the newest commit; this one may have other files.
    let newest =
        newest_base(project).and_then(|newest| ProjectFiles::at_commit(&project.path, &newest));
    let same = newest.is_ok_and(|newest| newest.difference(files).is_none());
    let at = (!same).then(|| git::short(commit).to_owned());
    let named = first_of(files.paths().map(str::to_owned).collect(), "more file");
    let name = &project.name;
    err!(
        ConditionUnmet,
        "project {name} comes with files for claude that you have not agreed to: {named}"
    )
    .hint(text!(
        "look at them and agree: {}; or set `agents.project_settings` to false",
        Action::trust(name, at)
    ))
}
