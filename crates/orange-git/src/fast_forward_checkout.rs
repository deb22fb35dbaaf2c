//! Bringing a checkout of the user's forward to a later commit of its branch. Git itself would write the files and the
//! index first and the branch last; somebody who commits in between would find the new files in a commit of their own,
//! or changes that nobody made. So their index is kept locked until the branch has moved, and git works on a copy.

mod restore;

use super::landing::{BranchMove, BranchSwap, ready};
use super::locks::{self, Wait};
use super::site::Behalf;
use super::state::git_folder;
use super::worktree::git_dir;
use super::{Git, Site};
use orange_sys::crash_points::crash_point;
use orange_sys::error::{Error, IoContext, Result, err};
use orange_sys::private::unless_gone;
use orange_sys::process::unique_name;
use restore::restore;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the repository's own hook may take when all is over.
const HOOK: Duration = Duration::from_secs(600);
/// By these words a lock is known as ours; the task whose merge it is, and where to, follow.
const OURS: &str = "orange brings this checkout forward:";

/// A checkout whose index nobody else changes now. Dropped, it is as it was.
pub struct HeldCheckout {
    /// What was begun could not be brought to an end: the lock stays, and `recover` goes on there.
    unfinished: bool,
    checkout: Site,
    owner: String,
    lock: PathBuf,
    index: PathBuf,
    copy: PathBuf,
}

impl HeldCheckout {
    /// Waits until no other git is at work there; Err says in words that one still is.
    pub fn take(checkout: &Site, owner: &str) -> Result<std::result::Result<HeldCheckout, String>> {
        let folder = git_dir(checkout)?;
        let lock = folder.join("index.lock");
        let mut wait = Wait::begin(checkout.behalf());
        loop {
            match place(&lock, owner, "", true) {
                Ok(()) => return Ok(Ok(HeldCheckout::of(checkout, &folder, owner))),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(Error::io("lock", &lock, &error));
                }
                Err(_) if wait.goes_on(&lock) && !locks::is_abandoned(&lock) => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                // In git's own words, by which the lock is recognised.
                Err(_) => {
                    return Ok(Err(format!(
                        "a git is at work in {}: unable to create '{}': File exists",
                        checkout.display(),
                        lock.display()
                    )));
                }
            }
        }
    }

    fn of(checkout: &Site, folder: &Path, owner: &str) -> HeldCheckout {
        HeldCheckout {
            unfinished: false,
            checkout: checkout.clone(),
            owner: owner.to_owned(),
            lock: folder.join("index.lock"),
            index: folder.join("index"),
            copy: folder.join("index.orange"),
        }
    }

    /// Brings it forward. What is edited there stays; where that is impossible, all stays.
    pub fn forward(mut self, branch: &str, to: &str) -> Result<BranchMove> {
        place(&self.lock, &self.owner, to, false).doing("write", &self.lock)?;
        // Whoever finds the lock can tell by this whether somebody is still at it: we, or a git that outlived us.
        let alive = File::open(&self.lock).and_then(|file| file.lock().map(|()| file));
        let alive = alive.doing("lock", &self.lock)?;
        crash_point("forward.locked");
        let from = super::commit_of(&self.checkout, "HEAD")?;
        let on_branch = super::current_branch(&self.checkout)?.as_deref() == Some(branch);
        // Somebody may have switched branches in this moment, or moved this one.
        let Some(from) = from.filter(|_| on_branch) else {
            return Ok(BranchMove::Overtaken);
        };
        if !super::is_ancestor(&self.checkout, &from, to)? {
            return Ok(BranchMove::Overtaken);
        }
        self.copy_index()?;
        let could = ready::could_fast_forward(&self.checkout, || self.git(), to)?;
        if could != BranchMove::Yes {
            return Ok(could);
        }
        // An error from here on says nothing about what git has done. Then all is left as a kill would leave it.
        self.unfinished = true;
        let moved = self.write_files_and_branch(branch, &from, to, &alive)?;
        if moved == BranchMove::Yes {
            crash_point("forward.merged");
            self.put_index_in_place()?;
            crash_point("forward.written");
        }
        self.unfinished = false;
        let checkout = self.checkout.clone();
        drop(self);
        if moved == BranchMove::Yes {
            run_post_merge(&checkout);
        }
        Ok(moved)
    }

    /// What `git merge --ff-only` does, in steps: its post-merge hook would see our index instead of its own
    /// repository's, and the branch's own settings may make a merge something else.
    fn write_files_and_branch(
        &self,
        branch: &str,
        from: &str,
        to: &str,
        alive: &File,
    ) -> Result<BranchMove> {
        let said = self
            .git()
            .args(["read-tree", "-m", "-u", from, to])
            .holding(alive)?
            .run()?;
        if !said.success {
            restore(&self.checkout, from, to)?;
            return Ok(ready::in_the_way(&self.checkout, &said.stderr));
        }
        crash_point("forward.files");
        let swap = BranchSwap {
            branch,
            from,
            to,
            why: "orange: Fast-forward",
        };
        let moved = swap.make(&self.checkout, alive)?;
        if moved != BranchMove::Yes {
            self.put_back(to, from)?;
        }
        Ok(match moved {
            BranchMove::Failed(why) => ready::failed(&self.checkout, &why),
            moved => moved,
        })
    }

    /// The last step: from now on the checkout's own index fits its files and its branch.
    fn put_index_in_place(&self) -> Result<()> {
        fs::rename(&self.copy, &self.index).map_err(|error| {
            Error::io("write", &self.index, &error).hint(format!(
                "the branch has moved already, so {} stays until the index can be written: the next command finishes the merge",
                self.lock.display()
            ))
        })
    }

    fn git(&self) -> Git {
        self.checkout.git().env("GIT_INDEX_FILE", &self.copy)
    }

    fn copy_index(&self) -> Result<()> {
        let copied = unless_gone(fs::copy(&self.index, &self.copy)).map(drop);
        copied.doing("copy", &self.index)
    }

    /// The branch was moved by somebody else after git had written the files.
    fn put_back(&self, to: &str, from: &str) -> Result<()> {
        let said = self.git().args(["read-tree", "-m", "-u", to, from]).run()?;
        if said.success {
            Ok(())
        } else {
            restore(&self.checkout, from, to)
        }
    }
}

impl Drop for HeldCheckout {
    fn drop(&mut self) {
        // Left by a git that was killed over the copy.
        let _ = fs::remove_file(self.copy.with_extension("orange.lock"));
        if self.unfinished {
            return;
        }
        let _ = fs::remove_file(&self.copy);
        // Somebody may have taken ours away, and a git made its own since.
        if fs::read_to_string(&self.lock).is_ok_and(|text| text.starts_with(OURS)) {
            let _ = fs::remove_file(&self.lock);
        }
    }
}

/// Writes the lock with what it is for, whole or not at all; a new one only where there is none.
fn place(lock: &Path, owner: &str, to: &str, new: bool) -> io::Result<()> {
    let beside = lock.with_file_name(format!("index.orange.{}", unique_name()));
    fs::write(&beside, format!("{OURS} {owner} {to}\n"))?;
    if !new {
        return fs::rename(&beside, lock);
    }
    let placed = fs::hard_link(&beside, lock);
    let _ = fs::remove_file(&beside);
    placed
}

/// Goes on where a process of Orange died that was bringing a checkout forward for this owner. Other locks are left
/// alone.
pub fn recover(checkout: &Site, owner: &str) -> Result<()> {
    let Ok(folder) = git_folder(checkout) else {
        return Ok(());
    };
    let mut text = String::new();
    let lock = File::open(folder.join("index.lock"));
    let read = lock.and_then(|file| file.take(400).read_to_string(&mut text));
    let words = text.strip_prefix(OURS).unwrap_or_default();
    let mut words = words.split_whitespace();
    if read.is_err() || words.next() != Some(owner) {
        return Ok(());
    }
    if still_at_work(&folder.join("index.lock"), checkout.behalf())? {
        let place = checkout.display();
        let error = err!(Busy, "git is still bringing {place} forward");
        return Err(error.hint("wait until it is through, then try again"));
    }
    let mut held = HeldCheckout::of(checkout, &folder, owner);
    let Some(to) = words.next() else {
        return Ok(());
    };
    held.unfinished = true;
    let _ = fs::remove_file(folder.join("index.orange.lock"));
    let head = super::commit_of(checkout, "HEAD")?;
    let has_moved = super::landing::has_arrived(checkout, "HEAD", to)?;
    if has_moved && held.copy.exists() {
        held.put_index_in_place()?;
        run_post_merge(checkout);
    } else if let Some(head) = head.filter(|_| !has_moved) {
        restore(checkout, &head, to)?;
    }
    held.unfinished = false;
    Ok(())
}

/// The repository's own hook. Its failure changes nothing, as with git itself.
fn run_post_merge(checkout: &Path) {
    let _ = Git::at(checkout)
        .args(["hook", "run", "--ignore-missing", "post-merge", "--", "0"])
        .timeout(HOOK)
        .run();
}

/// A git that outlived its Orange is waited for. True if it takes too long.
fn still_at_work(lock: &Path, behalf: &Behalf) -> Result<bool> {
    let file = File::open(lock).doing("open", lock)?;
    let mut wait = Wait::begin(behalf);
    while file.try_lock().is_err() {
        if !wait.goes_on(lock) {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(false)
}

/// Would it work? Asked before something is pushed that could not be had here afterwards.
pub fn could_forward(checkout: &Site, owner: &str, to: &str) -> Result<BranchMove> {
    let held = match HeldCheckout::take(checkout, owner)? {
        Ok(held) => held,
        Err(why) => return Ok(BranchMove::Refused(why)),
    };
    held.copy_index()?;
    ready::could_fast_forward(checkout, || held.git(), to)
}
