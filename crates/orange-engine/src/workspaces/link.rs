//! TASK.md in a worktree: a link to the task's own file, kept out of git's sight, and put back when an editor
//! replaced it by a file.

use crate::error::{IoContext, Result};
use crate::git::worktree;
use crate::rules::{self, LINK};
pub(crate) use crate::runs::LINK_NAMES;
use crate::store::private::unless_gone;
use crate::store::replace;
use std::path::{Path, PathBuf};
use std::{fs, io};

const OTHER_LINK: &str = LINK_NAMES[0];

/// Where a file that replaced the link waits until its text is taken over.
const REPLACED: &str = ".orange-TASK.md";

/// Stands before our lines in `info/exclude`.
const NOTE: &str = "# orange: links to task files; `orange project remove` takes these lines away";

/// Which name the link gets in a worktree, by what is checked out there.
pub(crate) fn name_for(slot: &Path) -> Result<&'static str> {
    is_known(slot, LINK).map(unless_taken)
}

/// Which name it gets in a worktree of a commit.
pub(crate) fn name_at(repository: &Path, commit: &str) -> Result<&'static str> {
    has_path(repository, commit, LINK).map(unless_taken)
}

fn unless_taken(is_taken: bool) -> &'static str {
    if is_taken { OTHER_LINK } else { LINK }
}

/// Is a path of the commit that is checked out, or about to be committed?
fn is_known(slot: &Path, path: &str) -> Result<bool> {
    let committed = match worktree::head(slot)? {
        Some(commit) => has_path(slot, &commit, path)?,
        None => false,
    };
    Ok(committed || worktree::is_tracked(slot, path)?)
}

fn has_path(repository: &Path, commit: &str, path: &str) -> Result<bool> {
    let found = rules::base_files(repository, commit, &[path])?;
    Ok(found.paths().next().is_some())
}

/// What the link is called, or was before something replaced it, in a slot of which nobody knows it any more.
pub(crate) fn name_in(slot: &Path) -> Result<Option<&'static str>> {
    let mut names = [LINK, OTHER_LINK].into_iter();
    match names.find(|name| slot.join(name).is_symlink()) {
        Some(name) => Ok(Some(name)),
        None => Ok(strays(slot)?.into_iter().find(|name| *name != REPLACED)),
    }
}

/// Is there a link of one of the names?
pub(crate) fn is_in(slot: &Path) -> bool {
    LINK_NAMES.iter().any(|name| slot.join(name).is_symlink())
}

/// Makes the link. Whatever untracked thing has its name was saved before, or is taken over by [`replaced`].
pub(crate) fn make(slot: &Path, name: &str, task_file: &Path) -> Result<()> {
    let link = slot.join(name);
    if fs::read_link(&link).is_ok_and(|target| target == task_file) {
        return Ok(());
    }
    let make = || -> io::Result<()> {
        if link.is_symlink() {
            fs::remove_file(&link)?;
        }
        std::os::unix::fs::symlink(task_file, &link)
    };
    make().doing("link", &link)
}

/// Takes the link away; anything else of its name stays.
pub(crate) fn remove(slot: &Path, name: &str) -> Result<()> {
    let link = slot.join(name);
    if link.is_symlink() {
        fs::remove_file(&link).doing("remove", &link)?;
    }
    Ok(())
}

/// Files with a name of the link's that no commit has: an editor put one there, of this task or of one before.
pub(crate) fn strays(slot: &Path) -> Result<Vec<&'static str>> {
    let mut found = Vec::new();
    for name in [LINK, OTHER_LINK, REPLACED] {
        let path = slot.join(name);
        let is_stray = fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_symlink());
        if is_stray && !is_known(slot, name)? {
            found.push(name);
        }
    }
    Ok(found)
}

/// Does a file stand where the link was?
pub(crate) fn is_replaced(slot: &Path, name: &str) -> bool {
    fs::symlink_metadata(slot.join(name)).is_ok_and(|meta| meta.is_file())
}

/// A file that somebody put in the link's place, moved out of the way. None as long as the link is a link.
/// A process that dies before [`forget`] leaves it to be found here again.
pub(crate) fn replaced(slot: &Path, name: &str) -> Result<Option<PathBuf>> {
    let waiting = slot.join(REPLACED);
    if is_replaced(slot, REPLACED) {
        return Ok(Some(waiting));
    }
    if !is_replaced(slot, name) {
        return Ok(None);
    }
    let link = slot.join(name);
    fs::rename(&link, &waiting).doing("move", &link)?;
    Ok(Some(waiting))
}

pub(crate) fn forget(waiting: &Path) -> Result<()> {
    fs::remove_file(waiting).doing("remove", waiting)
}

/// Puts the link back where a file was.
pub(crate) fn put_back(slot: &Path, name: &str, task_file: &Path) -> Result<()> {
    match fs::symlink_metadata(slot.join(name)) {
        // Somebody was quick; the next command looks again. A link that leads elsewhere is of a home that moved.
        Ok(meta) if !meta.is_symlink() => Ok(()),
        Ok(_) | Err(_) => make(slot, name, task_file),
    }
}

fn exclude_file(repository: &Path) -> Result<Option<PathBuf>> {
    let common = worktree::common_dir_of(repository)?;
    Ok(common.map(|common| common.join("info/exclude")))
}

/// Keeps the links out of `git status` in every worktree. Only the shared file is read by git. Returns whether lines were
/// missing.
pub(crate) fn exclude(repository: &Path) -> Result<bool> {
    let Some(path) = exclude_file(repository)? else {
        return Ok(false);
    };
    let text = unless_gone(fs::read(&path)).doing("read", &path)?;
    let text = text.unwrap_or_default();
    let has = |line: &String| {
        text.split(|byte| *byte == b'\n')
            .any(|have| have == line.as_bytes())
    };
    let missing: Vec<String> = lines().into_iter().filter(|line| !has(line)).collect();
    if missing.is_empty() {
        return Ok(false);
    }
    let mut new = text.clone();
    if !new.is_empty() && !new.ends_with(b"\n") {
        new.push(b'\n');
    }
    new.extend_from_slice(missing.join("\n").as_bytes());
    new.push(b'\n');
    write(&path, &new).map(|()| true)
}

/// Takes our lines out again.
pub(crate) fn unexclude(repository: &Path) -> Result<()> {
    let Some(path) = exclude_file(repository)? else {
        return Ok(());
    };
    let Ok(text) = fs::read(&path) else {
        return Ok(());
    };
    let ours = lines();
    let is_ours = |line: &[u8]| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        ours.iter().any(|own| own.as_bytes() == line)
    };
    let kept: Vec<&[u8]> = text
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !is_ours(line))
        .collect();
    match kept.concat() {
        kept if kept == text => Ok(()),
        kept => write(&path, &kept),
    }
}

fn lines() -> Vec<String> {
    let mut lines = vec![NOTE.to_owned()];
    lines.extend([LINK, OTHER_LINK, REPLACED].map(|name| format!("/{name}")));
    lines
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        replace::write_atomic_for_all(path, text)
    };
    write().doing("write", path)
}
