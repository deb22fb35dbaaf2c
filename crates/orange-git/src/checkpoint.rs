//! Commits of work in progress: everything in a slot is committed on its branch, and refs remember where a phase was.

use super::rescue::nul_separated;
use super::said::phrases;
use super::{Git, Site, commit_of};
use orange_core::work::transcript::{ChangedFileRow, FileAction};
use orange_sys::error::Result;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Below it lie the checkpoints of each task, by its id.
pub const ROOT: &str = "refs/orange/checkpoint";

/// Commits all that is changed or new in a slot and not ignored; None when there is nothing. The repository's hooks do not
/// run, and nothing is signed: nobody is there to type a passphrase. Nested repositories are left out, because a commit would only
/// name them.
pub fn commit_all(slot: &Site, message: &str) -> Result<Option<String>> {
    stage(slot, &["--update"], Vec::new())?;
    let new = untracked(slot)?;
    if !new.is_empty() {
        let from_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        stage(slot, &from_input, nul_separated(new))?;
    }
    let staged = slot
        .git_in_slot()
        .args(["diff", "--cached", "--quiet"])
        .run()?;
    if staged.yes_or_no("git diff")? {
        return Ok(None);
    }
    let commit = |git: Git| {
        git.args([
            "commit",
            "--quiet",
            "--no-verify",
            "--no-gpg-sign",
            "--file=-",
        ])
        .input(message)
        .run()
    };
    let said = commit(slot.git_in_slot())?;
    let said = if said.success || !said.failed_by(phrases::NO_IDENTITY) {
        said
    } else {
        commit(slot.git_in_slot().by_orange("now"))?
    };
    said.checked("git commit")?;
    commit_of(slot, "HEAD")
}

/// Not by the name `add`, which everywhere else writes only to an index of Orange's own.
fn stage(slot: &Site, options: &[&str], paths: Vec<u8>) -> Result<()> {
    let git = slot.git_in_slot().args(["--literal-pathspecs", "stage"]);
    git.args(options).input(paths).done()
}

/// New files that are not ignored. A nested repository is told as a folder, and left out.
fn untracked(slot: &Path) -> Result<Vec<PathBuf>> {
    let status = ["status", "--porcelain=v1", "-z", "--untracked-files=all"];
    let said = Git::in_slot(slot).args(status).checked()?;
    let entries = said.stdout.split(|byte| *byte == 0);
    let new = entries.filter_map(|entry| entry.strip_prefix(b"?? "));
    let files = new.filter(|path| !path.ends_with(b"/"));
    Ok(files
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
        .collect())
}

/// Where a checkpoint of a task is kept.
pub fn reference(task: &str, name: &str) -> String {
    format!("{ROOT}/{task}/{name}")
}

/// The task that a ref is a checkpoint of; None: it is none.
pub fn task_of(reference: &str) -> Option<&str> {
    let below = reference.strip_prefix(ROOT)?.strip_prefix('/')?;
    Some(below.split_once('/')?.0)
}

/// Points a checkpoint at a commit, wherever it was before.
pub fn note(repository: &Site, reference: &str, commit: &str) -> Result<()> {
    let git = repository.git().quiet();
    let said = git.args(["update-ref", reference, commit]).run()?;
    // Git may fail after it has made the ref.
    if commit_of(repository, reference)?.as_deref() == Some(commit) {
        return Ok(());
    }
    said.checked("git update-ref").map(drop)
}

/// The checkpoints of a phase, that of its last iteration first.
pub fn below(repository: &Path, task: &str, name: &str) -> Result<Vec<String>> {
    let mut found = super::rescue::refs::kept_below(repository, &reference(task, name))?;
    let number = |reference: &str| reference.rsplit('/').next()?.parse::<u32>().ok();
    found.sort_by_key(|kept| std::cmp::Reverse(number(&kept.reference)));
    Ok(found.into_iter().map(|kept| kept.commit).collect())
}

/// Deletes every checkpoint of a task.
pub fn forget(repository: &Site, task: &str) -> Result<()> {
    let below = format!("{ROOT}/{task}");
    let found = super::rescue::refs::kept_below(repository, &below)?;
    let refs = found
        .iter()
        .map(|kept| (kept.reference.as_str(), kept.commit.as_str()));
    super::rescue::refs::forget(repository, refs)
}

/// What changed between two commits, file by file.
pub fn changed_files(folder: &Path, from: &str, to: &str) -> Result<Vec<ChangedFileRow>> {
    let options = [
        "diff",
        "--raw",
        "--numstat",
        "-z",
        "--no-renames",
        "--no-ext-diff",
    ];
    let said = Git::at(folder)
        .quiet()
        .args(options)
        .args([from, to])
        .checked()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let mut actions = BTreeMap::new();
    let mut files = Vec::new();
    let mut parts = text.split('\0').filter(|part| !part.is_empty());
    while let Some(part) = parts.next() {
        if part.starts_with(':') {
            // `:100644 000000 abc def D`, then the path.
            let action = match part.chars().next_back() {
                Some('A') => FileAction::Created,
                Some('D') => FileAction::Deleted,
                _ => FileAction::Modified,
            };
            actions.extend(parts.next().map(|path| (path, action)));
            continue;
        }
        let mut columns = part.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) =
            (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let action = actions.get(path).copied().unwrap_or(FileAction::Modified);
        files.push(ChangedFileRow {
            path: path.to_owned(),
            action,
            lines: added.parse().ok().zip(removed.parse().ok()),
        });
    }
    Ok(files)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::site::Behalf;
    use crate::tests::git;
    use std::fs;

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "-b", "main"]);
        git(
            folder.path(),
            &["commit", "-q", "--allow-empty", "-m", "one"],
        );
        folder
    }

    #[test]
    fn everything_but_nested_repositories_and_ignored_files_is_committed() {
        let repository = repository();
        let folder = &Behalf::nobody().at(repository.path());
        fs::write(folder.join(".gitignore"), "ignored\n").unwrap();
        assert!(commit_all(folder, "ignore").unwrap().is_some());
        for name in ["ignored", "a b\tc", "-dash", ":(top)magic"] {
            fs::write(folder.join(name), "x").unwrap();
        }
        fs::create_dir(folder.join("nested")).unwrap();
        git(&folder.join("nested"), &["init", "-q"]);
        fs::write(folder.join("nested/file"), "x").unwrap();
        fs::write(folder.join(".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n").unwrap();
        let commit = commit_all(folder, "[orange] TASK-001: test - iteration 2\n")
            .unwrap()
            .unwrap();
        let files = changed_files(folder, "HEAD~1", &commit).unwrap();
        let mut names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["-dash", ":(top)magic", "a b\tc"]);
        assert_eq!(commit_all(folder, "again").unwrap(), None);
    }

    #[test]
    fn checkpoints_of_a_task_are_forgotten_together() {
        let repository = repository();
        let folder = &Behalf::nobody().at(repository.path());
        let commit = commit_of(folder, "HEAD").unwrap().unwrap();
        for name in ["implement/1", "implement/2"] {
            note(folder, &reference("abc", name), &commit).unwrap();
        }
        note(folder, &reference("other", "implement/1"), &commit).unwrap();
        forget(folder, "abc").unwrap();
        let left = |task: &str| commit_of(folder, &reference(task, "implement/1")).unwrap();
        assert_eq!(left("abc"), None);
        assert_eq!(left("other"), Some(commit));
    }
}
