//! Consent to the files of a repository that an agent CLI loads by itself (`agents.project_settings`): asked for before a task starts, and
//! compared with the worktree at every start of an agent.

use crate::call::{self, Call};
use crate::error::{Error, Result, err};
use crate::harness::Adapter;
use crate::harness::project_files::ProjectFiles;
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

/// Why no agent of a task can be started yet: the base has files for it that nobody agreed to.
pub(crate) fn unwanted_project_files(
    call: &Call,
    project: &Project,
    task: &Task,
) -> Result<Option<Error>> {
    if !settings::config(call)?.agents.project_settings {
        return Ok(None);
    }
    let kinds = that_would_load(call, task)?;
    if kinds.is_empty() {
        return Ok(None);
    }
    let commit = rules_commit::rules_commit(call, project, task)?;
    for kind in kinds {
        let files = match ProjectFiles::at_commit(kind, &project.path, &commit) {
            Ok(files) => files,
            Err(refusal) => return Ok(Some(refusal)),
        };
        if !agreed_to_files(call, &project.name, &files)? {
            return Ok(Some(not_agreed(project, &commit, &files)));
        }
    }
    Ok(None)
}

/// Refuses an agent in a worktree with other files for it than those that the user agreed to, whoever changed them.
pub(crate) fn check_project_files(
    call: &Call,
    task: &Task,
    kind: Adapter,
    worktree: &Path,
) -> Result<()> {
    let project = call::registered(call, &task.project)?;
    let commit = rules_commit::rules_commit(call, &project, task)?;
    let base = ProjectFiles::at_commit(kind, &project.path, &commit)?;
    let here = ProjectFiles::in_worktree(kind, worktree)?;
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
    Err(err!(ConditionUnmet, "cannot start {} for {label}: {path} {how} in its workspace, and you have not agreed to that", kind.name())
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
    let kind = harness.adapter;
    if !kind.loads_project_files() || !wanted {
        return None;
    }
    let refusal = check_project_files(call, task, kind, &worktree).err()?;
    let project = call::registered(call, &task.project).ok()?;
    let here = ProjectFiles::in_worktree(kind, &worktree).ok()?;
    let head = git::commit_of(&worktree, "HEAD").ok()??;
    let committed = ProjectFiles::at_commit(kind, &project.path, &head).ok()?;
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

/// Which agents of the task load a project's files.
fn that_would_load(call: &Call, task: &Task) -> Result<Vec<Adapter>> {
    let config = settings::config(call)?.clone();
    let worker = settings::harness::worker_of(call, task).ok();
    let reviewer = task.review_harness.as_ref();
    let reviewer = reviewer.or(config.agents.review_harness.as_ref());
    let reviewer = reviewer.map_or(harness::REVIEWER, String::as_str);
    let kind = |name: &str| {
        let found = harness::find(name, &config, &call.orange).ok().flatten()?;
        let loads =
            found.adapter.loads_project_files() && found.is_installed(call.search_path.as_deref());
        loads.then_some(found.adapter)
    };
    let names = worker.as_deref().into_iter().chain([reviewer]);
    let mut kinds: Vec<Adapter> = names.filter_map(kind).collect();
    kinds.dedup();
    Ok(kinds)
}

fn not_agreed(project: &Project, commit: &str, files: &ProjectFiles) -> Error {
    // Without more words the user is asked about the newest commit; this one may have other files.
    let kind = files.kind();
    let at = |commit: &str| ProjectFiles::at_commit(kind, &project.path, commit);
    let newest = newest_base(project).and_then(|newest| at(&newest));
    let same = newest.is_ok_and(|newest| newest.difference(files).is_none());
    let at = (!same).then(|| git::short(commit).to_owned());
    let named = first_of(files.paths().map(str::to_owned).collect(), "more file");
    let name = &project.name;
    err!(
        ConditionUnmet,
        "project {name} comes with files for {} that you have not agreed to: {named}",
        kind.name()
    )
    .hint(text!(
        "look at them and agree: {}; or set `agents.project_settings` to false",
        Action::trust(name, at)
    ))
}
