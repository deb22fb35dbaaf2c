//! What the pool asks of git: worktrees, the branch in each, and a clean state to park in.

use super::locks::linked;
use super::parking::parked_at;
use super::said::phrases;
use super::state::{self, Head, git_folder};
use super::worktree_lock::WorktreeLock;
use super::{Git, Site, layout};
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use orange_sys::error::{IoContext, Result, err};
use orange_sys::listing;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One entry of git's own list of worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    /// None: HEAD is detached, or the entry is the bare repository itself.
    pub branch: Option<String>,
}

/// All worktrees of a repository, its main one first.
pub fn list(repository: &Path) -> Result<Vec<Worktree>> {
    match layout::worktrees(repository) {
        Some(all) => Ok(all),
        None => list_of_git(repository),
    }
}

pub(super) fn list_of_git(repository: &Path) -> Result<Vec<Worktree>> {
    let said = WorktreeLock::past_half_made(repository, || {
        Git::at(repository).args(["worktree", "list", "--porcelain", "-z"])
    })?;
    let mut all: Vec<Worktree> = Vec::new();
    for line in said.parts() {
        let bytes = line.as_bytes();
        if let Some(path) = bytes.strip_prefix(b"worktree ") {
            all.push(Worktree {
                path: PathBuf::from(OsStr::from_bytes(path)),
                branch: None,
            });
        } else if let (Some(branch), Some(last)) =
            (bytes.strip_prefix(b"branch refs/heads/"), all.last_mut())
        {
            last.branch = Some(String::from_utf8_lossy(branch).into_owned());
        }
    }
    if let Some(main) = all.first_mut()
        && main.branch.is_some()
        && !main.path.join(".git").exists()
        && let Some(top) = main_checkout(repository)?
    {
        main.path = top;
    }
    Ok(all)
}

/// The files of a repository that keeps its own data elsewhere (a submodule, `--separate-git-dir`): git lists that
/// place instead of them. None where only another worktree is known.
fn main_checkout(repository: &Path) -> Result<Option<PathBuf>> {
    let answer = Git::at(repository)
        .args(["rev-parse", "--path-format=absolute", "--git-dir"])
        .args(["--git-common-dir", "--show-toplevel"])
        .ask_leniently()?
        .unwrap_or_default();
    let mut lines = answer.lines();
    let (own, common, top) = (lines.next(), lines.next(), lines.next());
    Ok(top.filter(|_| own == common).map(PathBuf::from))
}

/// Makes a worktree with a detached HEAD. One that git remembers but that is not there any more is made anew.
pub fn add(repository: &Site, slot: &Path, commit: &str) -> Result<()> {
    let lock = WorktreeLock::take(repository)?;
    lock.hand_to(repository.git().quiet())?
        // Twice: also where one that was half made is remembered as locked.
        .args(["worktree", "add", "--quiet", "--force", "--force"])
        .args(["--detach", "--"])
        .arg(slot)
        .arg(commit)
        .done()
}

/// Was git stopped while it made this worktree? It keeps it locked until it is whole.
pub fn is_half_made(slot: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(slot.join(".git")) else {
        return false;
    };
    let Some(folder) = text.trim_end().strip_prefix("gitdir: ") else {
        // Git writes this file first. With anything beside it, it is a whole one that was damaged.
        return text.is_empty() && std::fs::read_dir(slot).is_ok_and(|all| all.count() == 1);
    };
    let lock = std::fs::read_to_string(Path::new(folder).join("locked"));
    lock.is_ok_and(|reason| reason.trim_end() == "initializing")
}

/// Brings a worktree back whose folder, or what was in it, or only its `.git` was deleted: git still has its HEAD, its index and
/// where both have been, which may be all that holds some commits. False if git does not remember it.
/// The files are checked out at `aside` first: half of them would be taken for the deletion of the others.
pub fn revive(repository: &Site, slot: &Path, aside: &Path) -> Result<bool> {
    // An empty folder is as good as none: the other one takes its place.
    if std::fs::symlink_metadata(slot).is_ok() && !listing::is_empty(slot) {
        return put_link_back(repository, slot, aside);
    }
    if common_dir_of(repository)?.is_none() {
        return Ok(false);
    }
    let lock = WorktreeLock::take(repository)?;
    let Some(folder) = remembered(repository, slot)? else {
        return Ok(false);
    };
    std::fs::create_dir_all(aside).doing("create", aside)?;
    let checkout = lock
        .hand_to(repository.beside(aside).git_in_slot())?
        .env("GIT_DIR", &folder)
        .env("GIT_WORK_TREE", aside)
        .args(["checkout-index", "--all", "--force", "--quiet"]);
    // What is in conflict is not checked out; the rest is.
    let said = checkout.run()?;
    if let Err(error) = said.yes_or_no("git checkout-index") {
        std::fs::remove_dir_all(aside).doing("remove", aside)?;
        return Err(error);
    }
    crash_point("revive.checked-out");
    let text = format!("gitdir: {}\n", folder.display());
    std::fs::write(aside.join(".git"), text)
        .and_then(|()| std::fs::rename(aside, slot))
        .doing("create", aside)?;
    Ok(true)
}

/// Makes a folder a worktree again whose `.git` was deleted, as `git worktree repair` does; its files stay as they are. False if it has
/// one, whatever that leads to, or if git does not remember the worktree.
fn put_link_back(repository: &Path, slot: &Path, aside: &Path) -> Result<bool> {
    let link = slot.join(".git");
    let is_missing = || slot.is_dir() && std::fs::symlink_metadata(&link).is_err();
    if !is_missing() || common_dir_of(repository)?.is_none() {
        return Ok(false);
    }
    let _lock = WorktreeLock::take(repository)?;
    let Some(folder) = remembered(repository, slot)?.filter(|_| is_missing()) else {
        return Ok(false);
    };
    // Renamed into place: a killed process leaves no half of it.
    std::fs::create_dir_all(aside).doing("create", aside)?;
    let new = aside.join(".git");
    std::fs::write(&new, format!("gitdir: {}\n", folder.display()))
        .and_then(|()| std::fs::rename(&new, &link))
        .and_then(|()| std::fs::remove_dir(aside))
        .doing("create", &link)?;
    Ok(true)
}

/// The folder with what git knows of a worktree that should be there.
fn remembered(repository: &Path, slot: &Path) -> Result<Option<PathBuf>> {
    let link = slot.join(".git");
    let remembers = |folder: &PathBuf| {
        layout::link_of(folder).is_some_and(|noted| leads_to(&noted, &link))
            && !folder.join("locked").exists()
    };
    Ok(common_dir_of(repository)?.and_then(|common| linked(&common).find(remembers)))
}

/// Whether a path that git noted, absolute or with `..` in it, is this file of a folder that may be gone.
fn leads_to(noted: &Path, link: &Path) -> bool {
    if noted == link {
        return true;
    }
    let slots = |path: &Path| path.parent()?.parent()?.canonicalize().ok();
    let names = |path: &Path| path.parent()?.file_name().map(OsStr::to_owned);
    slots(noted).is_some() && slots(noted) == slots(link) && names(noted) == names(link)
}

/// Takes a worktree away, with whatever is in it. The caller has saved that.
pub fn remove(repository: &Site, slot: &Path) -> Result<()> {
    let lock = WorktreeLock::take(repository)?;
    lock.hand_to(repository.git().quiet())?
        .args(["worktree", "remove", "--force", "--force", "--"])
        .arg(slot)
        .done()
}

/// Worktrees of the pool that git remembers and whose folders are gone. Others may lie on a disk that is not there
/// right now.
pub fn gone(repository: &Path, workspaces: &Path) -> Result<Vec<PathBuf>> {
    let all = list(repository)?.into_iter().map(|worktree| worktree.path);
    Ok(all.filter(|path| is_gone(path, workspaces)).collect())
}

/// Do both names lead to one folder that is there?
pub fn same_folder(one: &Path, other: &Path) -> bool {
    let other = other.canonicalize();
    one.canonicalize()
        .is_ok_and(|one| other.is_ok_and(|other| one == other))
}

/// Was this a folder of the pool?
pub fn is_gone(path: &Path, workspaces: &Path) -> bool {
    let ours = |folder: &Path| folder == workspaces || same_folder(folder, workspaces);
    path.parent().is_some_and(ours) && std::fs::symlink_metadata(path).is_err()
}

/// The folder that all worktrees of a repository share.
pub fn common_dir_of(repository: &Path) -> Result<Option<PathBuf>> {
    common_dir(repository, Git::at)
}

/// The same for the repository that is found from any folder.
pub fn common_dir_around(folder: &Path) -> Result<Option<PathBuf>> {
    common_dir(folder, Git::found_from)
}

fn common_dir(folder: &Path, git: fn(&Path) -> Git) -> Result<Option<PathBuf>> {
    let usual = folder.join(".git");
    // As git itself would: a folder of this name that is not a worktree's own.
    if usual.is_dir() && usual.join("objects").is_dir() && !usual.join("commondir").exists() {
        return Ok(usual.canonicalize().ok());
    }
    let said = git(folder)
        .args(["rev-parse", "--path-format=absolute", "--git-common-dir"])
        .run()?;
    Ok(said
        .unless_no_repository("git rev-parse")?
        .map(|said| PathBuf::from(said.text())))
}

/// Is this folder the top of a worktree of that repository, other than its main one? Git must never be let loose in one
/// that is not: it would look for a repository further up, and find the user's.
pub fn belongs(slot: &Path, repository: &Path) -> Result<bool> {
    if is_led_astray(slot) {
        return Ok(false);
    }
    let common = common_dir_of(repository)?;
    if let Some(belongs) = common.and_then(|common| layout::belongs(slot, &common)) {
        return Ok(belongs);
    }
    let said = Git::in_slot(slot)
        .args(["rev-parse", "--path-format=absolute"])
        .args(["--show-toplevel", "--git-common-dir", "--git-dir"])
        .run()?;
    if said.failed_by(phrases::NO_WORK_TREE) {
        return Ok(false);
    }
    let answer = said.unless_no_repository("git rev-parse")?;
    let answer = answer.map(|said| said.text()).unwrap_or_default();
    let mut lines = answer.lines();
    let (Some(top), Some(common), Some(own)) = (lines.next(), lines.next(), lines.next()) else {
        return Ok(false);
    };
    // What is parked is reset and cleaned: never the checkout that the user works in.
    Ok(!same_folder(Path::new(own), Path::new(common))
        && same_folder(Path::new(top), slot)
        && common_dir_of(repository)?.is_some_and(|theirs| same_folder(Path::new(common), &theirs)))
}

/// Where a worktree keeps what is its own.
pub(super) fn git_dir(slot: &Path) -> Result<PathBuf> {
    git_folder(slot).map_err(|why| err!(Failed, "{}: {why}", slot.display()))
}

/// The commit that is checked out; None when HEAD is on a branch that has no commit yet. Git also says no when it cannot
/// read a ref or a commit, so no counts only for a branch that is not there.
pub fn head(slot: &Path) -> Result<Option<String>> {
    let head = Git::in_slot(slot)
        .args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        .ask()?;
    if head.is_some() || is_unborn(slot)? {
        return Ok(head);
    }
    Err(err!(Failed, "HEAD of {} cannot be read", slot.display())
        .hint("have git check the repository: it names the objects that are missing"))
}

/// Is HEAD on a branch that has no commit yet?
pub fn is_unborn(slot: &Path) -> Result<bool> {
    let branch = Git::in_slot(slot)
        .args(["symbolic-ref", "--quiet", "HEAD"])
        .ask()?;
    let Some(branch) = branch else {
        return Ok(false);
    };
    let refs = Git::in_slot(slot)
        .args(["for-each-ref", "--format=%(refname)", &branch])
        .text()?;
    // Git passes over a ref that it cannot read.
    let common = super::rescue::common_dir(&git_dir(slot)?);
    let in_file = std::fs::symlink_metadata(common.join(&branch)).is_ok_and(|meta| !meta.is_dir());
    Ok(!in_file && !refs.lines().any(|name| name == branch))
}

/// Does some ref lead to the commit that is checked out? One that a branch is known to be at needs no search.
pub fn head_is_kept(slot: &Path, kept: &str) -> Result<bool> {
    if state::head(slot) == Head::Detached(kept.to_owned()) {
        return Ok(true);
    }
    let missing = Git::in_slot(slot)
        .args(["rev-list", "--max-count=1", "HEAD", "--not"])
        .args(["--glob=refs/*", "--"]);
    Ok(missing.text()?.is_empty())
}

/// Leaves the branch where it is and the files as they are. Works in the middle of a merge too.
pub fn detach(slot: &Site) -> Result<()> {
    let Some(head) = head(slot)? else {
        return Ok(());
    };
    let said = super::past_locks(slot.behalf(), || parked_at(slot, &head).run())?;
    // Git may fail after it has done so; what HEAD is now counts.
    match state::head(slot) {
        Head::Detached(now) if now == head => Ok(()),
        Head::Branch(_) | Head::Detached(_) | Head::Missing(_) => Err(said.error("git update-ref")),
    }
}

/// Files that tell of something begun and not ended, and how git is told to forget it.
const UNFINISHED: &[(&str, &[&str])] = &[
    ("rebase-merge", &["rebase", "--quit"]),
    ("rebase-apply/applying", &["am", "--quit"]),
    ("rebase-apply", &["rebase", "--quit"]),
    ("CHERRY_PICK_HEAD", &["cherry-pick", "--quit"]),
    ("REVERT_HEAD", &["revert", "--quit"]),
    ("sequencer", &["cherry-pick", "--quit"]),
    ("BISECT_LOG", &["bisect", "reset", "HEAD"]),
];

/// Is a merge, a rebase or the like under way?
pub fn is_unfinished(slot: &Path) -> Result<bool> {
    let folder = git_dir(slot)?;
    let mut begun = UNFINISHED
        .iter()
        .map(|(name, _)| name)
        .chain(&["MERGE_HEAD"]);
    Ok(begun.any(|name| folder.join(name).exists()))
}

pub(super) const LOCKS: [&str; 2] = ["index.lock", "HEAD.lock"];

/// Is a git at work on the slot's index or HEAD, or was it killed over it?
pub fn is_locked(slot: &Path) -> Result<bool> {
    let folder = git_dir(slot)?;
    Ok(LOCKS.iter().any(|name| folder.join(name).exists()))
}

/// Removes the locks that a killed git left on the slot's index and HEAD. Only while nobody lives in the slot.
pub fn unlock(slot: &Path) -> Result<bool> {
    let folder = git_dir(slot)?;
    let locks = LOCKS.map(|name| std::fs::remove_file(folder.join(name)));
    Ok(locks.iter().any(std::result::Result::is_ok))
}

/// Forgets an unfinished rebase, merge or the like; HEAD and files stay.
pub fn quit_unfinished(slot: &Site) -> Result<()> {
    let folder = git_dir(slot)?;
    // What an agent had put aside is saved with the rest; git would put it on the user's list of stashes.
    for name in [
        "rebase-merge/autostash",
        "rebase-apply/autostash",
        "MERGE_AUTOSTASH",
    ] {
        let _ = std::fs::remove_file(folder.join(name));
    }
    for (name, command) in UNFINISHED {
        if folder.join(name).exists() {
            // What cannot be quit is seen by the reset that follows.
            super::past_locks(slot.behalf(), || {
                slot.git_in_slot()
                    .with_short_lock_timeouts()
                    .args(*command)
                    .run()
            })?;
        }
    }
    Ok(())
}

/// Makes index and files those of a commit. Refuses while a branch with commits is checked out: this would move it.
pub fn reset(slot: &Site, commit: &str) -> Result<()> {
    let on_branch = !matches!(state::head(slot), Head::Detached(_));
    if on_branch && !is_unborn(slot)? {
        return Err(err!(
            Refused,
            "{} is not reset: a branch is checked out there",
            slot.display()
        )
        .hint("nothing was lost; try again"));
    }
    let reset = slot
        .git_in_slot()
        .args(["reset", "--quiet", "--hard", commit]);
    reset.done()
}

/// Removes what is neither tracked nor ignored, nested repositories too.
pub fn clean(slot: &Site) -> Result<()> {
    slot.git_in_slot().args(["clean", "--quiet", "-ffd"]).done()
}

/// Forgets where the slot's HEAD has been. What was only there is saved by then, and must not be taken for the
/// next task's.
pub fn forget_moves(slot: &Site) -> Result<()> {
    let expire = slot
        .git_in_slot()
        .args(["reflog", "expire", "--expire=all", "HEAD"]);
    expire.run().map(drop)
}

/// Tells a repository that was moved where its worktrees are, and them where it is.
pub fn repair(repository: &Site, slots: &[PathBuf]) -> Result<()> {
    let lock = WorktreeLock::take(repository)?;
    let git = lock.hand_to(repository.git().quiet())?;
    git.args(["worktree", "repair"]).args(slots).done()
}

/// Checks out a branch that is there.
pub fn switch(slot: &Site, branch: &str) -> Result<()> {
    switched(slot, &["--no-guess", branch])
}

/// Makes a branch at a commit and checks it out. When the slot is parked there already, no file is looked at.
pub fn switch_to_new(slot: &Site, branch: &str, commit: &str, parked_there: bool) -> Result<()> {
    // Without a commit, git knows that the files stay as they are.
    if parked_there {
        switched(slot, &["--no-track", "-c", branch])
    } else {
        switched(slot, &["--no-track", "-c", branch, commit])
    }
}

/// Makes a branch that follows one of the remote, and checks it out.
pub fn switch_to_remote(slot: &Site, branch: &str) -> Result<()> {
    let remote = format!("refs/remotes/origin/{branch}");
    switched(slot, &["--track", "-c", branch, &remote])
}

fn switched(slot: &Site, words: &[&str]) -> Result<()> {
    let git = || slot.git_in_slot().args(["switch", "--quiet"]).args(words);
    WorktreeLock::past_half_made(slot, git).map(drop)
}

/// Renames a branch, wherever it is checked out.
pub fn rename_branch(repository: &Site, from: &str, to: &str) -> Result<()> {
    let words = ["branch", "--move", "--", from, to];
    let git = || repository.git().quiet().args(words);
    WorktreeLock::past_half_made(repository, git).map(drop)
}

pub fn has_remote(repository: &Path) -> Result<bool> {
    if let Some(has) = layout::has_origin(repository) {
        return Ok(has);
    }
    let url = Git::at(repository).args(["config", "--get", "remote.origin.url"]);
    Ok(url.ask()?.is_some_and(|url| !url.is_empty()))
}

/// Only what follows the remote's branches is written, whatever the user's settings for a fetch are: a mirror's
/// would overwrite the branches of tasks and prune what was saved of them.
const FETCH: &[&str] = &[
    "fetch",
    "--quiet",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-prune",
    "--no-tags",
    "--refmap=",
    "origin",
    "+refs/heads/*:refs/remotes/origin/*",
];

/// Asks the remote for news; gives up after a while, because nobody wants to wait for a network that is gone.
pub fn fetch(repository: &Site, timeout: Duration) -> Result<()> {
    let git = repository.git().quiet().args(FETCH);
    git.timeout(timeout).done()
}

/// The same without waiting for it: the next command finds what came.
pub fn fetch_in_background(repository: &Path) -> Result<()> {
    Git::at(repository).quiet().args(FETCH).leave()
}

/// Is a path in the slot's index?
pub fn is_tracked(slot: &Path, path: &str) -> Result<bool> {
    let listed = Git::in_slot(slot).args(["ls-files", "--error-unmatch", "--", path]);
    Ok(listed.ask()?.is_some())
}

/// A branch that somebody has checked out elsewhere.
pub fn checked_out_at(repository: &Path, branch: &str) -> Result<Option<PathBuf>> {
    let mut all = list(repository)?.into_iter();
    let found = all.find(|worktree| worktree.branch.as_deref() == Some(branch));
    Ok(found.map(|worktree| worktree.path))
}

/// Refuses what is not a folder of the pool, whatever it was asked to do there.
pub fn inside(workspaces: &Path, slot: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let above = slot.parent().and_then(real);
    let named = slot.file_name().is_some_and(|name| name != "..");
    let is_link = std::fs::symlink_metadata(slot).is_ok_and(|meta| meta.is_symlink());
    let refused = |what: &str| {
        err!(Refused, "{} {what}", slot.display()).hint(text!(
            "nothing was touched; {} says what is wrong with the pool",
            Action::check()
        ))
    };
    if !named || is_link || above.is_none() || above != real(workspaces) {
        return Err(refused("is no folder of the pool"));
    }
    if is_led_astray(slot) {
        Err(refused(&astray(slot)))
    } else {
        Ok(())
    }
}

/// What is said of a slot whose `.git` leads elsewhere: a copy of another slot, or a file that was changed.
pub fn astray(slot: &Path) -> String {
    let folder = git_folder(slot).ok();
    let link = folder.and_then(|folder| layout::link_of(&folder));
    let owner = link.as_deref().and_then(Path::parent);
    let whose = owner.map(|owner| format!(": that of {}", owner.display()));
    format!(
        "has a .git that leads to another checkout{}",
        whose.unwrap_or_default()
    )
}

/// Whoever works in a slot can make its `.git` lead to the user's own checkout, or to another slot: what is done here
/// would be done to that one. A worktree's own folder says whose it is.
pub fn is_led_astray(slot: &Path) -> bool {
    let link = slot.join(".git");
    let Ok(about) = std::fs::symlink_metadata(&link) else {
        return false;
    };
    if !about.is_file() {
        return about.is_symlink();
    }
    let Ok(folder) = git_folder(slot) else {
        return false;
    };
    let Some(owner) = layout::link_of(&folder) else {
        return true;
    };
    // One that is not there: the whole pool was moved.
    let owner = owner.canonicalize().ok();
    owner.is_some_and(|owner| link.canonicalize().ok() != Some(owner))
}
