//! Where the work of a task starts from: its own branch, the base that was asked for, or the freshest default branch.

use crate::call::{self, Call};
use crate::error::{Error, Result, err};
use crate::git::{self, Git, worktree};
use crate::projects::Project;
use crate::rules::Start;
use crate::settings;
use orange_core::config::Fetch;
use orange_core::task::Task;
use std::path::Path;
use std::time::Duration;

/// Nobody wants to wait longer for a network that may be gone.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// A branch or a tag stays what it is called, so that work starts where it is by then. `HEAD` and its like are
/// meant where they were typed and when: they become the commit.
pub fn lasting_base(call: &Call, project: &str, folder: &Path, base: &str) -> Result<String> {
    if !is_fleeting(base) {
        return Ok(base.to_owned());
    }
    let repository = call::registered(call, project)?.path;
    let ours = worktree::common_dir_of(&repository)?;
    // A folder without git is not in any repository.
    let here = worktree::common_dir_around(folder).ok().flatten();
    let commit = if here.is_some() && here == ours {
        Git::found_from(folder)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{base}^{{commit}}"))
            .ask()?
    } else {
        git::commit_of(&repository, base)?
    };
    // What names nothing is told by whoever makes the task.
    Ok(commit.unwrap_or_else(|| base.to_owned()))
}

/// Where the branch of a task starts, or started. With `fetch` the remote is asked first.
pub(crate) fn start_of(call: &Call, project: &Project, task: &Task, fetch: bool) -> Result<Start> {
    let fetched = fetch && fetch_for(call, project)?;
    let mut start = starting_point(project, task.base.as_deref(), Some(&task.branch))?;
    start.fetched = fetched && start.is_remote();
    Ok(start)
}

/// Asks the remote for news if the settings say so. A network that is gone is no reason to stop.
pub(crate) fn fetch_for(call: &Call, project: &Project) -> Result<bool> {
    if !worktree::has_remote(&project.path)? {
        return Ok(false);
    }
    match settings::config_of(call, project)?.git.fetch {
        Fetch::Create => {}
        Fetch::Background => {
            worktree::fetch_in_background(&project.path)?;
            return Ok(false);
        }
        Fetch::Never => return Ok(false),
    }
    match worktree::fetch(&call.site(&project.path), FETCH_TIMEOUT) {
        Ok(()) => Ok(true),
        Err(error) => {
            call.notice(format!(
                "origin could not be asked for news ({error}); what was fetched before is used"
            ));
            Ok(false)
        }
    }
}

pub(crate) fn existing_commit(repository: &Path, branch: &str) -> Result<Option<String>> {
    let found = git::commits_of(repository, &places_of(branch))?;
    Ok(found.into_iter().flatten().next())
}

/// Where a branch may be: here, or at the remote.
fn places_of(branch: &str) -> [String; 2] {
    ["heads", "remotes/origin"].map(|place| format!("refs/{place}/{branch}"))
}

pub(crate) fn check_base(project: &Project, base: &str) -> Result<()> {
    match git::commit_of(&project.path, base)? {
        Some(_) => Ok(()),
        None => Err(no_base(project, base)),
    }
}

fn no_base(project: &Project, base: &str) -> Error {
    err!(
        NotFound,
        "the base {base:?} is no commit in {}",
        project.path.display()
    )
    .hint("give a branch, a tag or a commit of that repository")
}

/// Where the branch starts: its own head, the base that was asked for, or the freshest default branch.
pub(crate) fn starting_point(
    project: &Project,
    base: Option<&str>,
    branch: Option<&str>,
) -> Result<Start> {
    let repository = &project.path;
    let start = |reference: &str, commit: Option<String>| Start {
        reference: reference.to_owned(),
        commit,
        local_ahead: 0,
        existing: false,
        fetched: false,
    };
    let default = &project.default_branch;
    let remote = format!("origin/{default}");
    let base = base.filter(|base| *base != remote);
    // Whatever may be needed is asked at once: a call of git costs more than its answers.
    let mut places = vec![
        match base {
            // A tag of that name is not what is meant.
            Some(base) if base == default => format!("refs/heads/{default}"),
            Some(base) => base.to_owned(),
            None => format!("refs/remotes/{remote}"),
        },
        format!("refs/heads/{default}"),
    ];
    places.extend(branch.iter().flat_map(|branch| places_of(branch)));
    let mut found = git::commits_of(repository, &places)?.into_iter();
    let (wanted, local) = (found.next().flatten(), found.next().flatten());
    if let Some(branch) = branch
        && let Some(commit) = found.flatten().next()
    {
        return Ok(Start {
            existing: true,
            ..start(branch, Some(commit))
        });
    }
    if let Some(base) = base {
        let commit = wanted.ok_or_else(|| no_base(project, base))?;
        return Ok(start(base, Some(commit)));
    }
    if let Some(commit) = wanted {
        let local_ahead = git::commits_ahead(
            repository,
            &format!("refs/heads/{default}"),
            &format!("refs/remotes/{remote}"),
        )?;
        return Ok(Start {
            local_ahead: local_ahead.unwrap_or(0),
            ..start(&remote, Some(commit))
        });
    }
    Ok(start(default, local))
}

/// Does it mean something else tomorrow, or in another worktree?
fn is_fleeting(base: &str) -> bool {
    let is_head = |name: &str| {
        name.ends_with("HEAD") && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    };
    base == "@" || is_head(base) || base.contains(['~', '^', ':']) || base.contains("@{")
}

#[cfg(test)]
mod tests {
    use crate::workspaces::base::*;

    #[test]
    fn names_last_and_ways_to_a_commit_do_not() {
        for lasting in [
            "main",
            "origin/main",
            "v1.0",
            "AHEAD/x",
            "feature/HEADER",
            "a@b",
        ] {
            assert!(!is_fleeting(lasting), "{lasting}");
        }
        for fleeting in [
            "HEAD",
            "@",
            "ORIG_HEAD",
            "main~1",
            "HEAD^",
            "main@{1}",
            ":/fix",
        ] {
            assert!(is_fleeting(fleeting), "{fleeting}");
        }
    }
}
