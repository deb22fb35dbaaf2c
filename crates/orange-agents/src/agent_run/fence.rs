//! The fence around an agent: no push, no post. A `git` and a `gh` of ours stand first on its PATH and hand on everything
//! else. For a git that is called another way, variables lead pushes nowhere and hooks to a folder of ours, whose
//! `pre-push` refuses. It stops accidents, not malice.

mod settings;

use crate::git::state::hooks_folder;
use crate::store::private;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const FOLDER: &str = "fence";
const HOOKS: &str = "hooks";

/// Hands a hook on to the repository's own; the names of hooks are links to it.
const HOOK: &str = "hooks/orange-hook";

const PROGRAMS: [(&str, &str); 4] = [
    ("git", include_str!("fence/git.sh")),
    ("gh", include_str!("fence/gh.sh")),
    ("hooks/pre-push", include_str!("fence/pre-push.sh")),
    (HOOK, include_str!("fence/hook.sh")),
];

/// Hooks that a repository may get while an agent is at work. Those that run with every change of a ref or of the index
/// are not among them: they are handed on only if they are there when the agent starts.
const USUAL: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-rebase",
    "prepare-commit-msg",
];

/// A fence that was put up.
pub struct Fence {
    folder: PathBuf,
}

/// Puts it up for one run that works in `worktree`.
pub fn put_up(run: &Path, worktree: &Path) -> io::Result<Fence> {
    let folder = run.join(FOLDER);
    private::make_folders(&folder.join(HOOKS))?;
    for (name, text) in PROGRAMS {
        let program = folder.join(name);
        // Somebody may be running it.
        if fs::read(&program).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        private::write(&program, text)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700))?;
    }
    let usual = USUAL.iter().map(OsString::from);
    for name in usual.chain(hooks_at(worktree)) {
        let Some(target) = Path::new(HOOK).file_name() else {
            continue;
        };
        match symlink(target, folder.join(HOOKS).join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(Fence { folder })
}

/// The names of the hooks that git would run in a folder.
fn hooks_at(worktree: &Path) -> Vec<OsString> {
    let folder = hooks_folder(worktree).unwrap_or_default();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let hooks = entries.filter(|entry| {
        let about = fs::metadata(entry.path());
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    });
    let names = hooks.map(|entry| entry.file_name());
    names
        .filter(|name| Path::new(name).extension() != Some(OsStr::new("sample")))
        .collect()
}

impl Fence {
    /// The PATH with the fence in front, and no other fence.
    pub fn search_path(&self, search_path: &OsStr) -> io::Result<OsString> {
        let rest = without(search_path);
        let folders = std::iter::once(self.folder.clone()).chain(std::env::split_paths(&rest));
        std::env::join_paths(folders).map_err(io::Error::other)
    }

    /// What git is told by variables, after what the user tells it that way.
    pub fn git_settings(&self, known: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        settings::added(&self.folder.join(HOOKS), known)
    }
}

/// A PATH without any run's fence: Orange itself is not fenced in, and a fence ends with its run.
pub fn without(search_path: &OsStr) -> OsString {
    let folders = std::env::split_paths(search_path).filter(|folder| !is_fence(folder));
    std::env::join_paths(folders).unwrap_or_else(|_| search_path.to_owned())
}

/// The variables of an environment that are others without a fence, as they are then.
pub fn undone(
    known: impl Fn(&str) -> Option<OsString>,
) -> impl Iterator<Item = (String, Option<OsString>)> {
    let path = known("PATH").map(|path| ("PATH".to_owned(), Some(without(&path))));
    let settings = settings::taken_back(|name| known(name)?.into_string().ok());
    let settings = settings.into_iter();
    path.into_iter()
        .chain(settings.map(|(name, value)| (name, value.map(OsString::from))))
}

/// `…/runs/RUN/fence`
fn is_fence(folder: &Path) -> bool {
    let mut names = folder.iter().rev();
    names.next() == Some(OsStr::new(FOLDER)) && names.nth(1) == Some(OsStr::new("runs"))
}

/// `…/runs/RUN/fence/hooks`
fn is_hooks_of_fence(folder: &Path) -> bool {
    folder.ends_with(HOOKS) && folder.parent().is_some_and(is_fence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fences_leave_the_path() {
        let path = OsStr::new("/home/x/runs/abc-w1/fence:/usr/bin:/opt/fence");
        assert_eq!(without(path), "/usr/bin:/opt/fence");
    }
}
