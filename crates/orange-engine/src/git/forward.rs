//! Bringing a checkout of the user's forward to a later commit of its branch. Git itself would write the files and the
//! index first and the branch last; somebody who commits in between would find the new files in a commit of their own,
//! or changes that nobody made. So their index is kept locked until the branch has moved, and git works on a copy.

use super::Git;
use super::landing::{Moved, ready};
use super::state::git_folder;
use crate::error::{Code, Error, Result};
use crate::store::faults::crash_point;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another git in that checkout is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// By these words a lock is known as ours; the task whose merge it is, and where to, follow.
const OURS: &str = "orange brings this checkout forward:";

/// A checkout whose index nobody else changes now. Dropped, it is as it was.
pub(crate) struct Held {
    checkout: PathBuf,
    owner: String,
    lock: PathBuf,
    index: PathBuf,
    copy: PathBuf,
}

impl Held {
    /// Waits until no other git is at work there; Err says in words that one still is.
    pub(crate) fn take(checkout: &Path, owner: &str) -> Result<std::result::Result<Held, String>> {
        let folder = git_folder(checkout)
            .map_err(|why| Error::new(Code::Failed, format!("{}: {why}", checkout.display())))?;
        let lock = folder.join("index.lock");
        let deadline = Instant::now() + PATIENCE;
        loop {
            match place(&lock, owner, "", true) {
                Ok(()) => return Ok(Ok(Held::of(checkout, &folder, owner))),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(Error::io("lock", &lock, &error));
                }
                Err(_) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(_) => {
                    return Ok(Err(format!(
                        "another git is at work in {}; if there is none, one that was stopped left {} behind",
                        checkout.display(),
                        lock.display()
                    )));
                }
            }
        }
    }

    fn of(checkout: &Path, folder: &Path, owner: &str) -> Held {
        Held {
            checkout: checkout.to_owned(),
            owner: owner.to_owned(),
            lock: folder.join("index.lock"),
            index: folder.join("index"),
            copy: folder.join("index.orange"),
        }
    }

    /// Brings it forward. What is edited there stays; where that is impossible, all stays.
    pub(crate) fn forward(self, branch: &str, to: &str) -> Result<Moved> {
        place(&self.lock, &self.owner, to, false)
            .map_err(|error| Error::io("write", &self.lock, &error))?;
        crash_point("forward.locked");
        if super::current_branch(&self.checkout)?.as_deref() != Some(branch) {
            // Somebody switched branches in this moment.
            return Ok(Moved::Overtaken);
        }
        let from = super::commit_of(&self.checkout, "HEAD")?;
        match fs::copy(&self.index, &self.copy) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("copy", &self.index, &error)),
        }
        let said = self
            .git()
            .args(["merge", "--ff-only", "--quiet", "--no-autostash"])
            // Whatever the branch's own settings add to a merge.
            .args(["--commit", "--no-squash"])
            // A file of the user's that git does not track must not be overwritten, ignored or not.
            .args(["--no-overwrite-ignore", "--no-stat", to])
            .run()?;
        crash_point("forward.merged");
        if said.success {
            fs::rename(&self.copy, &self.index)
                .map_err(|error| Error::io("write", &self.index, &error))?;
            crash_point("forward.written");
            return Ok(Moved::Yes);
        }
        let says = |signs: &[&str]| signs.iter().any(|sign| said.stderr.contains(sign));
        if says(PASSED_BY) {
            return Ok(Moved::Overtaken);
        }
        if let Some(from) = from.filter(|_| says(BRANCH_STAYED)) {
            self.put_back(to, &from)?;
            if super::commit_of(&self.checkout, "HEAD")?.as_ref() != Some(&from) {
                return Ok(Moved::Overtaken);
            }
        }
        Ok(Moved::Refused(ready::in_the_way(
            &self.checkout,
            &said.stderr,
        )))
    }

    fn git(&self) -> Git {
        Git::at(&self.checkout).env("GIT_INDEX_FILE", &self.copy)
    }

    /// The branch was moved by somebody else after git had written the files.
    fn put_back(&self, to: &str, from: &str) -> Result<()> {
        let said = self.git().args(["read-tree", "-m", "-u", to, from]).run()?;
        match said.success {
            true => Ok(()),
            // It had not written any.
            false => restore(&self.checkout, from, to),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.copy);
        let _ = fs::remove_file(&self.lock);
    }
}

/// Writes the lock with what it is for, whole or not at all; a new one only where there is none.
fn place(lock: &Path, owner: &str, to: &str, new: bool) -> io::Result<()> {
    let beside = lock.with_file_name(format!("index.orange.{}", std::process::id()));
    fs::write(&beside, format!("{OURS} {owner} {to}\n"))?;
    let placed = match new {
        true => fs::hard_link(&beside, lock),
        false => return fs::rename(&beside, lock),
    };
    let _ = fs::remove_file(&beside);
    placed
}

/// Goes on where a process of Orange died that was bringing a checkout forward for this owner. Other locks are left
/// alone.
pub(crate) fn recover(checkout: &Path, owner: &str) -> Result<()> {
    let Ok(folder) = git_folder(checkout) else {
        return Ok(());
    };
    let mut text = String::new();
    let lock = File::open(folder.join("index.lock"));
    if lock
        .and_then(|file| file.take(400).read_to_string(&mut text))
        .is_err()
    {
        return Ok(());
    }
    let mut words = text
        .strip_prefix(OURS)
        .unwrap_or_default()
        .split_whitespace();
    if words.next() != Some(owner) {
        return Ok(());
    }
    let held = Held::of(checkout, &folder, owner);
    let Some(to) = words.next() else {
        return Ok(());
    };
    // Its git may have outlived it.
    let at_work = folder.join("index.orange.lock");
    let deadline = Instant::now() + PATIENCE;
    while at_work.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = fs::remove_file(&at_work);
    let head = super::commit_of(checkout, "HEAD")?;
    if head.as_deref() == Some(to) {
        if held.copy.exists() {
            fs::rename(&held.copy, &held.index)
                .map_err(|error| Error::io("write", &held.index, &error))?;
        }
        return Ok(());
    }
    match head {
        Some(head) => restore(checkout, &head, to),
        None => Ok(()),
    }
}

/// Puts back what was already as in `to`, and leaves alone what is anything else: the user's.
fn restore(checkout: &Path, from: &str, to: &str) -> Result<()> {
    let said = Git::at(checkout)
        .args([
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
        ])
        .args([from, to])
        .run()?;
    if !said.success {
        return Err(said.error("git diff-tree"));
    }
    let changes = changes(&said.stdout);
    let is_file = |path: &Path| {
        let about = fs::symlink_metadata(checkout.join(path));
        about.is_ok_and(|about| about.is_file())
    };
    // Git reads a name a line; whatever cannot be asked about is taken for the user's.
    let asked: Vec<&Change> = changes
        .iter()
        .filter(|change| {
            is_file(&change.path) && !change.path.as_os_str().as_bytes().contains(&b'\n')
        })
        .collect();
    let mut names = Vec::new();
    for change in &asked {
        names.extend_from_slice(change.path.as_os_str().as_bytes());
        names.push(b'\n');
    }
    let hashes = Git::at(checkout)
        .args(["hash-object", "--stdin-paths"])
        .input(names)
        .text()?;
    let now: BTreeMap<&Path, &str> = asked
        .iter()
        .map(|change| change.path.as_path())
        .zip(hashes.lines())
        .collect();
    let mut back = Vec::new();
    for change in &changes {
        let there = fs::symlink_metadata(checkout.join(&change.path)).is_ok();
        let now = now.get(change.path.as_path()).copied();
        let came = match now {
            Some(now) => {
                change.after.as_deref() == Some(now) && change.before.as_deref() != Some(now)
            }
            None => !there && change.after.is_none(),
        };
        if !came {
            continue;
        }
        if change.before.is_some() {
            back.extend_from_slice(change.path.as_os_str().as_bytes());
            back.push(0);
        } else {
            let file = checkout.join(&change.path);
            fs::remove_file(&file).map_err(|error| Error::io("remove", &file, &error))?;
        }
    }
    Git::at(checkout)
        .args(["checkout-index", "--force", "-z", "--stdin"])
        .input(back)
        .text()
        .map(drop)
}

/// A file that differs between two commits: its content in each, None where it is not.
struct Change {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

/// `:100644 100644 OLD NEW M`, then the path; and so on.
fn changes(raw: &[u8]) -> Vec<Change> {
    let mut parts = raw.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(about), Some(path)) = (parts.next(), parts.next()) {
        let about = String::from_utf8_lossy(about);
        let mut words = about.split(' ').skip(2);
        let mut id = || {
            let word = words.next().unwrap_or_default();
            word.bytes()
                .any(|byte| byte != b'0')
                .then(|| word.to_owned())
        };
        found.push(Change {
            before: id(),
            after: id(),
            path: PathBuf::from(OsStr::from_bytes(path)),
        });
    }
    found
}

/// Would it work? Asked before something is pushed that could not be had here afterwards.
pub(crate) fn could_forward(checkout: &Path, owner: &str, to: &str) -> Result<Moved> {
    let held = match Held::take(checkout, owner)? {
        Ok(held) => held,
        Err(why) => return Ok(Moved::Refused(why)),
    };
    fs::copy(&held.index, &held.copy).map_err(|error| Error::io("copy", &held.index, &error))?;
    ready::could_fast_forward(checkout, || held.git(), to)
}

/// The branch has commits by now that the new one has not. Git has not changed anything then.
const PASSED_BY: &[&str] = &["Not possible to fast-forward", "Diverging branches"];
/// Git has changed the files by then, and the branch did not follow: somebody committed in this very moment, or a
/// hook of the repository said no.
const BRANCH_STAYED: &[&str] = &[
    "cannot lock ref",
    "aborted by hook",
    "update_ref failed",
    "unable to update ref",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, words: &[&str]) -> String {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
        Git::at(folder).args(identity).args(words).text().unwrap()
    }

    #[test]
    fn files_that_were_written_half_way_are_put_back_and_the_users_stay() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        git(folder, &["init", "-q", "-b", "main"]);
        for name in ["changed", "deleted", "edited", "not reached"] {
            write(name, "old\n");
        }
        git(folder, &["add", "."]);
        git(folder, &["commit", "-qm", "one"]);
        let from = git(folder, &["rev-parse", "HEAD"]);
        for name in [
            "changed",
            "edited",
            "not reached",
            "added",
            "added and edited",
        ] {
            write(name, "new\n");
        }
        git(folder, &["rm", "-q", "deleted"]);
        git(folder, &["add", "."]);
        git(folder, &["commit", "-qm", "two"]);
        let to = git(folder, &["rev-parse", "HEAD"]);
        git(folder, &["reset", "-q", "--hard", &from]);
        // As far as a git came that was killed, and what the user did meanwhile.
        for name in ["changed", "added"] {
            write(name, "new\n");
        }
        for name in ["edited", "added and edited"] {
            write(name, "the user's\n");
        }
        fs::remove_file(folder.join("deleted")).unwrap();
        restore(folder, &from, &to).unwrap();
        let status = git(folder, &["status", "--porcelain"]);
        assert_eq!(status, " M edited\n?? \"added and edited\"");
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(text("edited"), "the user's\n");
        assert_eq!(
            (text("changed"), text("deleted")),
            ("old\n".into(), "old\n".into())
        );
    }
}
