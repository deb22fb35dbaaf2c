//! Lock files of git: waiting for another git that is at work in the same repository, and telling its locks from those
//! that a killed git left behind.

use super::calls::{CallNote, Need};
use super::layout::link_of;
use super::site::Behalf;
use super::worktree::same_folder;
use super::{Git, GitOutput, rescue, state};
use orange_core::naming::counted;
use orange_core::{Action, Text, text};
use orange_sys::error::Result;
use orange_sys::listing;
use orange_sys::process::{ProcessId, pids};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

const PAUSE: Duration = Duration::from_millis(20);

/// No git holds a lock on a ref for longer than this.
pub const MOMENT: Duration = Duration::from_secs(60);

/// Times of files come from a clock that ticks more slowly than the system's own.
const TICK: Duration = Duration::from_millis(50);

/// How long the lock of another git is waited for, whichever lock it is.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A wait is reported after this time.
const UNREPORTED: Duration = Duration::from_secs(1);

/// Settings with which git gives up on a lock soon, so that the wait for it is ours to report and to limit.
const SHORT_LOCK_TIMEOUTS: [&str; 2] =
    ["core.filesRefLockTimeout=300", "core.packedRefsTimeout=300"];

/// A wait for the lock of another git.
pub struct Wait<'a> {
    behalf: &'a Behalf,
    began: Instant,
    reported: bool,
}

impl Wait<'_> {
    pub fn begin(behalf: &Behalf) -> Wait<'_> {
        Wait {
            behalf,
            began: Instant::now(),
            reported: false,
        }
    }

    /// Returns false when the time is over. Reports the lock once, after a second.
    pub fn goes_on(&mut self, lock: &Path) -> bool {
        let waited = self.began.elapsed();
        if waited >= UNREPORTED && !self.reported {
            self.reported = true;
            let lock = lock.display();
            let report = format!("waits for another git to release {lock}");
            self.behalf.say(&report);
        }
        waited < LONGEST_WAIT
    }
}

impl Git {
    /// For calls that [`past_locks`] repeats.
    pub fn with_short_lock_timeouts(self) -> Git {
        self.settings(&SHORT_LOCK_TIMEOUTS)
    }
}

/// Runs git again while another git holds a lock that it wants, for five seconds at most. A lock that nobody can be holding
/// is not waited for.
pub fn past_locks(behalf: &Behalf, run: impl Fn() -> Result<GitOutput>) -> Result<GitOutput> {
    let mut wait = Wait::begin(behalf);
    let mut cleared_up = false;
    loop {
        let said = run()?;
        let Some(lock) = &said.lock else {
            return Ok(said);
        };
        if !cleared_up {
            if let Some(home) = behalf.home() {
                super::calls::clear_up(home, Need::Now);
            }
            cleared_up = true;
        } else if !wait.goes_on(lock) || is_abandoned(lock) {
            return Ok(said);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The lock that git says is there already.
pub fn named_in(stderr: &str, folder: Option<&Path>) -> Option<PathBuf> {
    let end = stderr.find(".lock': File exists");
    let lock = end.and_then(|end| {
        let until = stderr.get(..end)?;
        Some(format!("{}.lock", until.rsplit_once('\'')?.1))
    });
    let of_config = || {
        let rest = stderr.split("could not lock config file ").nth(1)?;
        Some(format!("{}.lock", rest.split_once(": File exists")?.0))
    };
    let lock = PathBuf::from(lock.or_else(of_config)?);
    match folder {
        Some(folder) if lock.is_relative() => Some(folder.join(lock)),
        Some(_) | None => Some(lock),
    }
}

/// What there is to say of a lock that is in the way.
pub fn in_words(lock: &Path) -> String {
    let path = lock.display();
    let old = match age_of(lock) {
        Some(age) => format!(", {} old", age_in_words(age)),
        None => String::new(),
    };
    if is_abandoned(lock) {
        format!("a git that was killed left {path} behind{old}")
    } else {
        format!("another git is at work, or one that was killed left {path} behind{old}")
    }
}

/// What a person can do about it.
pub fn way_out(lock: &Path, then: &str) -> Text {
    let remove = Action::remove_file(lock.display().to_string());
    text!("if no git is at work there, {}, then {then}", remove)
}

/// Old, and no git is at work in its repository.
pub fn is_abandoned(lock: &Path) -> bool {
    // The age first: to look at all processes takes its time.
    if age_of(lock).is_none_or(|age| age <= MOMENT) {
        return false;
    }
    let common = lock
        .ancestors()
        .find(|above| above.join("objects").is_dir());
    common.is_some_and(|common| live_gits(common).is_empty())
}

pub fn age_of(file: &Path) -> Option<Duration> {
    let time = fs::symlink_metadata(file).and_then(|about| about.modified());
    time.ok()?.elapsed().ok()
}

/// `3 hours`.
pub fn age_in_words(age: Duration) -> String {
    let seconds = usize::try_from(age.as_secs()).unwrap_or(usize::MAX);
    match seconds {
        0..60 => counted(seconds.max(1), "second"),
        60..3600 => counted(seconds / 60, "minute"),
        3600..172_800 => counted(seconds / 3600, "hour"),
        _ => counted(seconds / 86_400, "day"),
    }
}

/// The locks that there are in a repository.
pub fn all_in(common: &Path) -> Vec<PathBuf> {
    let linked = linked(common);
    in_git_dirs(std::iter::once(common.to_owned()).chain(linked))
}

/// The git directories of the linked worktrees.
pub(super) fn linked(common: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = listing::checked(&common.join("worktrees")).unwrap_or_default();
    entries.into_iter().map(|entry| entry.path())
}

fn in_git_dirs(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        collect(&folder, false, &mut found);
        for inner in ["refs", "logs"] {
            collect(&folder.join(inner), true, &mut found);
        }
    }
    found.sort();
    found
}

fn without_index(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found = in_git_dirs(folders);
    found.retain(|lock| lock.file_name() != Some(OsStr::new("index.lock")));
    found
}

fn collect(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    for entry in listing::checked(folder).unwrap_or_default() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && deep => collect(&path, deep, found),
            Ok(kind) if kind.is_file() && path.extension() == Some(OsStr::new("lock")) => {
                found.push(path);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// A git that was killed, and where it could have left locks.
pub(super) struct Killed<'a> {
    pub(super) note: &'a CallNote,
    /// The folder with the worktrees of the pool: a git that adds or removes one locks files there.
    pub(super) workspaces: PathBuf,
    pub(super) need: Need,
}

impl Killed<'_> {
    /// No git locks anything in a worktree that it does not run in and that it does not make or remove, so the other
    /// worktrees of the user are left out. The index of a checkout of the user's is locked by Orange itself, not by its gits,
    /// and such a lock tells what a merge that was cut short has done (see `forward`).
    fn locks(&self) -> Vec<PathBuf> {
        let is_of_pool = |folder: &PathBuf| {
            let link = link_of(folder).unwrap_or_default();
            let mut above = link.ancestors().skip(2);
            above
                .next()
                .is_some_and(|parent| same_folder(parent, &self.workspaces))
        };
        let note = self.note;
        if note.is_program {
            return self.locks_of_program();
        }
        let fixed = [&note.common].into_iter().chain(&note.own);
        let mut found = without_index(fixed.cloned());
        found.extend(in_git_dirs(linked(&note.common).filter(is_of_pool)));
        found.sort();
        found.dedup();
        found
    }

    /// A program may have lived for days, in which others were killed too. So only what is certainly its own counts at once:
    /// the locks in its worktree and those of the branch there. Of the rest, what is older than any git holds a lock.
    fn locks_of_program(&self) -> Vec<PathBuf> {
        let CallNote { common, own, .. } = self.note;
        let mut found = in_git_dirs(own.iter().cloned());
        let head = own
            .as_ref()
            .and_then(|own| fs::read_to_string(own.join("HEAD")).ok());
        let branch = head.as_deref().and_then(|head| head.strip_prefix("ref: "));
        let of_branch = branch.map(|branch| format!("{}.lock", branch.trim_end()));
        found.extend(self.shared().into_iter().filter(|lock| {
            let inside = lock.strip_prefix(common).unwrap_or(lock);
            let inside = inside.strip_prefix("logs").unwrap_or(inside);
            let is_of_branch = of_branch
                .as_deref()
                .is_some_and(|name| inside == Path::new(name));
            is_of_branch || age_of(lock).is_some_and(|age| age > MOMENT)
        }));
        found
    }

    /// The locks that all worktrees share, and so not that of the main worktree's index.
    fn shared(&self) -> Vec<PathBuf> {
        without_index([self.note.common.clone()].into_iter())
    }

    /// Whether others of its locks may show later.
    fn may_leave_more(&self) -> bool {
        let mut shared = self.shared().into_iter();
        self.note.is_program && shared.any(|lock| is_since(&lock, self.note.started))
    }
}

/// Whether a lock was made after this time.
fn is_since(lock: &Path, time: SystemTime) -> bool {
    let made = fs::symlink_metadata(lock).and_then(|about| about.modified());
    made.is_ok_and(|made| made + TICK >= time)
}

/// Removes the locks that a git left which was started then and is dead. Another git may have made its own since: one that
/// is alive is waited for, and only what stays as it is when all of them are gone was left. Returns false if it cannot be
/// told yet which these are: some are there that may be another git's.
pub(super) fn remove_left(killed: &Killed<'_>) -> bool {
    const STEADY: Duration = Duration::from_millis(200);
    let CallNote {
        common, started, ..
    } = killed.note;
    let longest = match killed.need {
        Need::Now => Duration::from_secs(2),
        Need::Later => Duration::ZERO,
    };
    let identity = |about: &Metadata| (about.ino(), about.mtime(), about.mtime_nsec());
    let look = |lock: &Path| fs::symlink_metadata(lock).ok().as_ref().map(identity);
    let ours = |lock: &PathBuf| is_since(lock, *started);
    let mut found: Vec<(PathBuf, _)> = killed
        .locks()
        .into_iter()
        .filter(ours)
        .filter_map(|lock| look(&lock).map(|seen| (lock, seen)))
        .collect();
    if found.is_empty() {
        return !killed.may_leave_more();
    }
    let began = Instant::now();
    // One process at a time, of whichever home: another one could remove a lock that a live git has just made in the place
    // of a dead one's.
    let guard = File::open(common.join("objects"));
    while guard.as_ref().is_ok_and(|guard| guard.try_lock().is_err()) {
        if began.elapsed() >= longest {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    let mut alive = live_gits(common);
    let began = Instant::now();
    loop {
        std::thread::sleep(PAUSE);
        found.retain(|(lock, seen)| look(lock).as_ref() == Some(seen));
        alive.retain(ProcessId::is_alive);
        if found.is_empty() {
            return true;
        }
        if alive.is_empty() && began.elapsed() >= STEADY {
            break;
        }
        if !alive.is_empty() && began.elapsed() >= longest {
            return false;
        }
    }
    for (lock, _) in found {
        if fs::remove_file(&lock).is_ok() {
            let (lock, words) = (lock.display(), &killed.note.words);
            tracing::warn!(%lock, words, "removed the lock that a killed git left");
        }
    }
    !killed.may_leave_more()
}

/// The gits that are at work in a repository, as far as they may be looked at.
fn live_gits(common: &Path) -> Vec<ProcessId> {
    let common = common.canonicalize().unwrap_or_else(|_| common.to_owned());
    pids()
        .filter(|pid| is_git_in(*pid, &common))
        .filter_map(ProcessId::of)
        .filter(ProcessId::is_alive)
        .collect()
}

fn is_git_in(pid: u32, common: &Path) -> bool {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    if !name.starts_with(b"git") {
        return false;
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let wanted = common.as_os_str().as_bytes();
    if line.windows(wanted.len().max(1)).any(|part| part == wanted) {
        return true;
    }
    let (Ok(folder), Ok(environment)) = (
        fs::read_link(format!("/proc/{pid}/cwd")),
        fs::read(format!("/proc/{pid}/environ")),
    ) else {
        // Another user's: it may be at work here.
        return true;
    };
    // Git also takes the repository from its arguments and its environment, as a path from where it stands.
    let words = line.split(|byte| *byte == 0);
    let places = words.chain(environment.split(|byte| *byte == 0));
    let named = places.filter_map(|word| {
        let names = ["--git-dir=", "GIT_DIR=", "GIT_COMMON_DIR="];
        let mut names = names.iter();
        let place = names.find_map(|name| word.strip_prefix(name.as_bytes()))?;
        folder.join(OsStr::from_bytes(place)).canonicalize().ok()
    });
    let around = folder.ancestors();
    let around = around.filter_map(|above| state::git_folder(above).ok());
    let mut shared = named.chain(around).map(|own| rescue::common_dir(&own));
    folder.starts_with(common)
        || shared.any(|shared| shared.canonicalize().is_ok_and(|shared| shared == common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_found_in_what_git_says() {
        let folder = Some(Path::new("/shop"));
        for (stderr, lock) in [
            (
                "fatal: update_ref failed for ref 'HEAD': cannot lock ref 'HEAD': Unable to create '/shop/.git/HEAD.lock': File exists.\n\nAnother git process",
                Some("/shop/.git/HEAD.lock"),
            ),
            (
                "fatal: Unable to create '.git/index.lock': File exists.",
                Some("/shop/.git/index.lock"),
            ),
            (
                "error: could not lock config file .git/config: File exists",
                Some("/shop/.git/config.lock"),
            ),
            (
                "fatal: Unable to create '/shop/.git/index.lock': No space left",
                None,
            ),
        ] {
            assert_eq!(
                named_in(stderr, folder),
                lock.map(PathBuf::from),
                "{stderr}"
            );
        }
    }
}
