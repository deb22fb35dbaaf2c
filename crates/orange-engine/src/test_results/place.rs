//! Moves a staged import to its place. Each step finds out whether it was done, so that it can be done again after a kill; the
//! report comes last, so that it never names what is not there.

use super::beneath::{FoundBeneath, made_folder, open_beneath, open_folder};
use super::{ORIGINAL, REPORT, STAGED, staging};
use crate::error::{IoContext, Result, err};
use crate::store::private;
use orange_core::work::test_results::names::numbered;
use orange_core::work::test_results::{FOLDER, PAGE, SCREENSHOTS, TRACES};
use rustix::fs::{AtFlags, renameat, statat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// What has to be known besides the files; it lies with them.
#[derive(Serialize, Deserialize)]
pub(super) struct PlacementPlan {
    /// Files that an earlier import brought: they are replaced. Others of the same name are kept.
    pub(super) owned: BTreeSet<String>,
    /// The report in our place is Playwright's own, and is kept.
    pub(super) keeps_original: bool,
}

const PLAN: &str = "import.json";
/// As many names as there may be files.
const LONGEST_PLAN: u64 = 16 * 1024 * 1024;

impl PlacementPlan {
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(PLAN);
        let bytes = serde_json::to_vec(self)
            .map_err(io::Error::from)
            .doing("write", &path)?;
        private::write(&path, bytes).doing("write", &path)?;
        let file = File::open(&path).doing("read", &path)?;
        file.sync_all().doing("sync", &path)
    }

    /// None where there is none.
    fn read(folder: &Path) -> Result<Option<PlacementPlan>> {
        let path = folder.join(PLAN);
        let found = open_folder(folder).and_then(|folder| open_beneath(folder, &[PLAN]));
        let file = match found.doing("read", &path)? {
            FoundBeneath::File(file) => file,
            FoundBeneath::Nothing => return Ok(None),
            // An agent could put it there: it is neither followed nor waited for.
            FoundBeneath::Other(what) => {
                let path = path.display();
                return Err(err!(Storage, "{path} is {what}").hint("delete it"));
            }
        };
        let plan = serde_json::from_reader(file.take(LONGEST_PLAN)).map_err(io::Error::from);
        plan.map(Some).doing("read", &path)
    }
}

/// Whether files of an import wait to be moved.
pub(crate) fn is_staged(task: &Path, import: &str) -> bool {
    staging(task, import).is_dir()
}

/// Moves what an import staged to its place; nothing where that was done.
pub(crate) fn place(task: &Path, import: &str) -> Result<()> {
    let staged = staging(task, import);
    if !staged.is_dir() {
        return Ok(());
    }
    let Some(plan) = PlacementPlan::read(&staged)? else {
        // All of it was moved, and what is left was being removed.
        return fs::remove_dir_all(&staged).doing("remove", &staged);
    };
    let results = task.join(FOLDER);
    let parent = open_folder(task).doing("open", task)?;
    let to = made_folder(&parent, FOLDER).map_err(|error| no_folder(&results, &error))?;
    let from = open_folder(&staged).doing("open", &staged)?;
    for kind in [SCREENSHOTS, TRACES] {
        let folder = staged.join(kind);
        let entries = private::unless_gone(fs::read_dir(&folder)).doing("read", &folder)?;
        let entries = entries.into_iter().flatten();
        let names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        if names.is_empty() {
            continue;
        }
        let target = results.join(kind);
        let to = made_folder(&to, kind).map_err(|error| no_folder(&target, &error))?;
        let from = open_folder(&folder).doing("open", &folder)?;
        for name in names {
            let is_owned = plan.owned.contains(&format!("{kind}/{name}"));
            move_in(from.as_fd(), to.as_fd(), &name, is_owned)
                .doing("move", &target.join(&name))?;
        }
        rustix::fs::fsync(&to)
            .map_err(io::Error::from)
            .doing("sync", &target)?;
    }
    let page = results.join(PAGE);
    if is_there(from.as_fd(), PAGE).doing("read", &page)? {
        move_in(from.as_fd(), to.as_fd(), PAGE, true).doing("move", &page)?;
    }
    let report = results.join(REPORT);
    if is_there(from.as_fd(), REPORT).doing("read", &report)? {
        if plan.keeps_original && is_there(to.as_fd(), REPORT).doing("read", &report)? {
            renamed(to.as_fd(), REPORT, to.as_fd(), ORIGINAL).doing("move", &report)?;
        }
        renamed(from.as_fd(), REPORT, to.as_fd(), REPORT).doing("move", &report)?;
    }
    rustix::fs::fsync(&to)
        .map_err(io::Error::from)
        .doing("sync", &results)?;
    fs::remove_dir_all(&staged).doing("remove", &staged)
}

fn no_folder(path: &Path, error: &io::Error) -> crate::error::Error {
    err!(
        Storage,
        "{} cannot be used as a folder: {error}",
        path.display()
    )
    .hint("move what is there away; the next command on the task goes on with the import")
}

/// Moves a file; one of the same name that is somebody else's gets another name.
fn move_in(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &str, is_owned: bool) -> io::Result<()> {
    if is_there(to, name)? {
        if is_same(from, to, name)? {
            return Ok(unlinkat(from, name, AtFlags::empty())?);
        }
        if !is_owned {
            let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "png"));
            let earlier = format!("{stem}-earlier.{ending}");
            let mut free = earlier.clone();
            let mut number = 2;
            while is_there(to, &free)? {
                free = numbered(&earlier, number);
                number += 1;
            }
            renamed(to, name, to, &free)?;
        }
    }
    renamed(from, name, to, name)
}

fn renamed(from: BorrowedFd<'_>, name: &str, to: BorrowedFd<'_>, new: &str) -> io::Result<()> {
    Ok(renameat(from, name, to, new)?)
}

fn is_there(folder: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn is_same(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
    let (FoundBeneath::File(mut new), FoundBeneath::File(mut known)) =
        (open_beneath(from, &[name])?, open_beneath(to, &[name])?)
    else {
        return Ok(false);
    };
    if new.metadata()?.len() != known.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = ([0; 16 * 1024], [0; 16 * 1024]);
    loop {
        let read = new.read(&mut one)?;
        let one = one.get(..read).unwrap_or_default();
        let other = other.get_mut(..read).unwrap_or_default();
        if read == 0 {
            return Ok(true);
        }
        known.read_exact(other)?;
        if one != other {
            return Ok(false);
        }
    }
}

/// Folders of imports that died before anything named them. Only whoever has the task's lock knows that no import is at work.
pub(crate) fn leftovers(task: &Path, but: Option<&str>) -> Vec<PathBuf> {
    let entries = fs::read_dir(task).into_iter().flatten().flatten();
    let is_left = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        let import = name.and_then(|name| name.strip_prefix(STAGED));
        import.is_some() && import != but
    };
    entries.map(|entry| entry.path()).filter(is_left).collect()
}
