//! What git keeps for one worktree alone: settings, a sparse checkout, refs and the state of operations. A slot that is given
//! back keeps none of it, or the next task would work with it.

use super::rescue::common_dir;
use super::rescue::content::is_sparse;
use super::rescue::lost::OWN_REFS;
use super::{Git, Site, hidden, worktree};
use orange_sys::error::{IoContext, Result};
use orange_sys::listing;
use orange_sys::private::unless_gone;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const SETTINGS: &str = "config.worktree";
const PATTERNS: &str = "info/sparse-checkout";

/// Settings about where the files are: git itself does not copy them to a new worktree.
const PLACE: [&str; 2] = ["core.bare", "core.worktree"];

/// Settings of a sparse checkout.
const SPARSE: [&str; 3] = [
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "index.sparse",
];

/// What a parked worktree has in its git directory.
const KEPT: &[&str] = &[
    "HEAD",
    "ORIG_HEAD",
    "commondir",
    "gitdir",
    "index",
    "locked",
    "logs",
    "modules",
    "reftable",
    "refs",
    SETTINGS,
    "info",
];

/// Files that tell of what was done and that no later command of git acts on.
const HARMLESS: &[&str] = &["COMMIT_EDITMSG", "FETCH_HEAD", "AUTO_MERGE"];

/// The settings of a worktree, compared with those that a new worktree of its repository would get.
struct Own {
    folder: PathBuf,
    common: PathBuf,
    has_settings: bool,
    has_patterns: bool,
}

impl Own {
    /// None: the worktree has no settings of its own, like nearly every one.
    fn of(slot: &Path) -> Result<Option<Own>> {
        let folder = worktree::git_dir(slot)?;
        let own = Own {
            common: common_dir(&folder),
            has_settings: folder.join(SETTINGS).exists(),
            has_patterns: folder.join(PATTERNS).exists(),
            folder,
        };
        Ok((own.has_settings || own.has_patterns).then_some(own))
    }

    /// Settings that are not those of the repository's main worktree: `name NEWLINE value`.
    fn strange(&self) -> Result<BTreeSet<String>> {
        let main = listed(&self.common.join(SETTINGS))?;
        let own = listed(&self.folder.join(SETTINGS))?;
        Ok(own.symmetric_difference(&main).cloned().collect())
    }

    fn main_is_sparse(&self) -> Result<bool> {
        let git = Git::anywhere().env("GIT_DIR", &self.common);
        Ok(self.common.join(PATTERNS).exists() && git.ask_bool("core.sparseCheckout")?)
    }

    /// From the main worktree, in its settings or its patterns.
    fn differs(&self) -> Result<bool> {
        let read = |folder: &Path| fs::read(folder.join(PATTERNS)).ok();
        Ok(read(&self.folder) != read(&self.common) || !self.strange()?.is_empty())
    }
}

/// The settings in a file, without those about places; none if there is no such file.
fn listed(file: &Path) -> Result<BTreeSet<String>> {
    if !file.exists() {
        return Ok(BTreeSet::new());
    }
    let said = settings_in(file).args(["--list", "-z"]).run()?;
    if !said.success {
        // Whatever is in it, it is no file that git wrote.
        return Ok(BTreeSet::from(["unreadable".to_owned()]));
    }
    let all = said.parts().map(|part| part.to_string_lossy().into_owned());
    Ok(all.filter(|setting| !is_among(setting, &PLACE)).collect())
}

/// Is a setting, `name NEWLINE value`, one of these?
fn is_among(setting: &str, names: &[&str]) -> bool {
    setting
        .split('\n')
        .next()
        .is_some_and(|name| names.contains(&name))
}

fn is_about_sparse(setting: &&String) -> bool {
    is_among(setting, &SPARSE)
}

fn settings_in(file: &Path) -> Git {
    Git::anywhere().args(["config", "--file"]).arg(file)
}

/// Does a worktree have settings of its own?
pub fn has_settings(slot: &Path) -> bool {
    worktree::git_dir(slot).is_ok_and(|folder| folder.join(SETTINGS).exists())
}

/// Takes settings away that can hide work or lead git elsewhere, before anything is asked about the worktree. Only whether
/// it is a sparse checkout stays: what that leaves out is not deleted. Returns where the settings are kept from now on.
pub fn neutralise(slot: &Path, keep_as: &Path) -> Result<Option<PathBuf>> {
    let Some(own) = Own::of(slot)?.filter(|own| own.has_settings) else {
        return Ok(None);
    };
    let file = own.folder.join(SETTINGS);
    let leads_elsewhere = raw_has_place(&file)?;
    if !leads_elsewhere
        && own
            .strange()?
            .iter()
            .all(|setting| is_about_sparse(&setting))
    {
        return Ok(None);
    }
    let own_settings = listed(&file)?;
    if let Some(parent) = keep_as.parent() {
        orange_sys::private::make_durable_folder(parent).doing("move", &file)?;
    }
    fs::copy(&file, keep_as).doing("move", &file)?;
    let main = listed(&own.common.join(SETTINGS))?;
    let sparse = own_settings.iter().filter(is_about_sparse);
    let main = main.iter().filter(|setting| !is_about_sparse(setting));
    write_settings(&file, main.chain(sparse))?;
    Ok(Some(keep_as.to_owned()))
}

/// Replaces a file of settings as a whole: a killed process leaves the old one or the new one.
fn write_settings<'a>(file: &Path, settings: impl Iterator<Item = &'a String>) -> Result<()> {
    let new = file.with_extension("worktree.orange");
    fs::write(&new, "").doing("write", file)?;
    for setting in settings {
        let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
        settings_in(&new).args(["--add", name, value]).done()?;
    }
    fs::rename(&new, file).doing("write", file)
}

/// Does a file have a setting about where the files are? One that git cannot read may have any.
fn raw_has_place(file: &Path) -> Result<bool> {
    for name in PLACE {
        if settings_in(file).args(["--get", name]).run()?.code != Some(1) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Why a worktree's own settings cannot be made those of a new one.
pub fn is_sparse_in_its_own_way(slot: &Path) -> Result<Option<String>> {
    let Some(own) = Own::of(slot)? else {
        return Ok(None);
    };
    let differs = own.main_is_sparse()? && own.differs()?;
    Ok(differs.then(|| "its sparse checkout is not the one of the repository".to_owned()))
}

/// Makes a worktree's settings those of a new one. True if it was a sparse checkout and is none any more.
pub fn reset_settings(slot: &Path) -> Result<bool> {
    let Some(own) = Own::of(slot)? else {
        return Ok(false);
    };
    if own.main_is_sparse()? {
        return Ok(false);
    }
    let was_sparse = own.has_patterns || is_sparse(slot)?;
    let remove = |file: PathBuf| unless_gone(fs::remove_file(&file)).doing("remove", &file);
    let main = listed(&own.common.join(SETTINGS))?;
    let file = own.folder.join(SETTINGS);
    if main.is_empty() {
        remove(file)?;
    } else if !own.strange()?.is_empty() {
        write_settings(&file, main.iter())?;
    }
    remove(own.folder.join(PATTERNS))?;
    Ok(was_sparse)
}

/// What is left in a worktree's git directory and does not belong to a parked one.
fn leftovers(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in listing::checked(folder).doing("read", folder)? {
        let name = entry.file_name();
        let is_kept = name.to_str().is_some_and(|name| {
            // A lock may be held by a git that is at work.
            KEPT.contains(&name)
                || worktree::LOCKS.contains(&name)
                || name.starts_with(super::rescue::content::PREFIX)
        });
        if !is_kept {
            found.push(entry.path());
        }
    }
    let beside = |folder: PathBuf, kept: &str| {
        let mut others = listing::checked(&folder).unwrap_or_default();
        others.retain(|entry| entry.file_name() != kept);
        others.into_iter().map(|entry| entry.path())
    };
    found.extend(beside(folder.join("logs"), "HEAD"));
    found.extend(beside(folder.join("info"), "sparse-checkout"));
    if !folder.join("reftable").is_dir() {
        found.extend(beside(folder.join("refs"), ""));
    }
    Ok(found)
}

/// Removes refs and the state of operations that only this worktree has. Their commits are saved.
pub fn clear(slot: &Site) -> Result<()> {
    let folder = worktree::git_dir(slot)?;
    for path in leftovers(&folder)? {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
        let removed = if is_folder {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        unless_gone(removed).doing("remove", &path)?;
    }
    // Written by every reset.
    let _ = fs::remove_file(folder.join("ORIG_HEAD"));
    if folder.join("reftable").is_dir() {
        let own = slot
            .git_in_slot()
            .args(["for-each-ref", "--format=delete %(refname)"]);
        let lines = own.args(OWN_REFS).text()?;
        if !lines.is_empty() {
            let delete = slot
                .git_in_slot()
                .args(["update-ref", "--no-deref", "--stdin"]);
            delete.input(format!("{lines}\n")).text()?;
        }
    }
    Ok(())
}

/// What a parked worktree still has of its own, in words; None if nothing.
pub fn found(slot: &Path) -> Result<Option<String>> {
    let folder = worktree::git_dir(slot)?;
    let harmless = |path: &PathBuf| {
        let name = path.strip_prefix(&folder).ok().and_then(Path::to_str);
        name.is_some_and(|name| HARMLESS.contains(&name) || name.starts_with("logs/"))
            || !has_file(path)
    };
    let left = leftovers(&folder)?;
    if let Some(path) = left.iter().find(|path| !harmless(path)) {
        let name = path.strip_prefix(&folder).unwrap_or(path);
        return Ok(Some(format!("git keeps {} for it", name.display())));
    }
    if hidden::has_flags(slot)? {
        return Ok(Some("its index tells git not to look at files".to_owned()));
    }
    let Some(own) = Own::of(slot)? else {
        return Ok(None);
    };
    let differs = if own.main_is_sparse()? {
        own.differs()?
    } else {
        own.has_patterns || !own.strange()?.is_empty()
    };
    Ok(differs.then(|| "it has git settings of its own".to_owned()))
}

/// Is there any file at or below a path?
fn has_file(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| has_file(&entry.path())),
        Err(_) => fs::symlink_metadata(path).is_ok(),
    }
}
