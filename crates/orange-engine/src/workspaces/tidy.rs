//! Parking a slot. What is in it is saved; then exactly that is removed, and the files of a commit are put in its place.
//! What somebody writes meanwhile is saved again, a few times; after that the slot stays as it is.

use crate::call::Call;
use crate::error::{Code, Error, IoContext, Result};
use crate::git::parking::{self, MissingFiles, MovedFile};
use crate::git::rescue::{Difference, LINK, differences, submodule};
use crate::git::state::{self, Head};
use crate::git::{Site, own_state, worktree};
use crate::occupants;
use crate::rescue::{SavedContent, raw};
use crate::workspaces::quarantine::{PathKind, Quarantine};
use crate::workspaces::{link, release, special_files};
use orange_sys::crash_points::crash_point;
use orange_sys::listing;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How often what is in a slot is saved before the slot is kept as it is.
const ROUNDS: usize = 3;

/// A commit that somebody made since is on no branch, and a branch that was checked out must not be moved.
const HEAD_MOVED: &str = "something was committed or checked out while it was cleaned";

/// The mode of a link in a tree.
const SYMBOLIC: &str = "120000";

/// What became of a slot.
#[derive(Debug)]
pub(crate) struct Tidied {
    /// The first rescue of what was in it.
    pub(crate) saved: Option<String>,
    /// Why it is not clean; None: it is.
    pub(crate) kept: Option<String>,
}

/// How one attempt to empty a slot ended.
enum Attempt {
    Clean,
    /// Something is in it that is not saved.
    Again(String),
    Kept(String),
}

/// What is removed from a slot.
struct Removal<'a> {
    folder: &'a Path,
    content: &'a SavedContent,
    quarantine: &'a Quarantine,
    files: Vec<(&'a Difference, PathKind)>,
    /// With the git directories of those that are submodules.
    folders: Vec<(PathBuf, Option<PathBuf>)>,
}

/// Saves what is in a slot and parks it at a commit. The slot's lock must be held.
pub(crate) fn tidy(
    call: &Call,
    task_id: &str,
    folder: &Path,
    park: &str,
    reason: &str,
) -> Result<Tidied> {
    worktree::inside(&call.store.workspaces(), folder)?;
    let folder = &call.site(folder);
    if release::occupant(folder).is_none() {
        release::unlock(folder)?;
    }
    neutralise_settings(call, task_id, folder)?;
    finish_interrupted(folder)?;
    let (saved, mut content) = release::save_and_detach(call, task_id, folder, reason)?;
    parking::leave_unborn(folder, park)?;
    worktree::quit_unfinished(folder)?;
    let mut tidied = Tidied { saved, kept: None };
    let mut rounds = 1..ROUNDS;
    loop {
        match (
            replace_files(call, task_id, folder, &content, park)?,
            rounds.next(),
        ) {
            (Attempt::Clean, _) => break,
            (Attempt::Kept(why), _) | (Attempt::Again(why), None) => {
                tidied.kept = Some(why);
                return Ok(tidied);
            }
            (Attempt::Again(_), Some(_)) => {}
        }
        // Ignored by the branch and not by the base, or written while the slot was emptied.
        let saved;
        (saved, content) =
            release::save_and_detach(call, task_id, folder, "found when the slot was cleaned")?;
        tidied.saved = tidied.saved.or(saved);
    }
    worktree::forget_moves(folder)?;
    Ok(tidied)
}

/// Is this folder a worktree of the repository? Settings of its own that say otherwise are taken away first.
pub(crate) fn is_worktree_of(
    call: &Call,
    repository: &Path,
    folder: &Path,
    owner: &str,
) -> Result<bool> {
    if folder.is_dir() && worktree::inside(&call.store.workspaces(), folder).is_ok() {
        neutralise_settings(call, owner, folder)?;
    }
    worktree::belongs(folder, repository)
}

fn neutralise_settings(call: &Call, task_id: &str, folder: &Path) -> Result<()> {
    if !own_state::has_settings(folder) {
        return Ok(());
    }
    let stamp = call.file_stamp();
    let keep_as = release::raw_folder(call, task_id).join(format!("config.worktree-{stamp}"));
    if let Some(kept) = own_state::neutralise(folder, &keep_as)? {
        call.notice(format!(
            "{} had git settings of its own; they are kept as {}",
            folder.display(),
            kept.display()
        ));
    }
    Ok(())
}

/// Why a free slot is not as it should be; None if it is.
pub(crate) fn untidy(folder: &Path) -> Result<Option<String>> {
    if Quarantine::of(folder).is_in_use() {
        return Ok(Some("its cleaning was interrupted".to_owned()));
    }
    if !matches!(state::head(folder), Head::Detached(_)) {
        return Ok(Some("its HEAD is not detached".to_owned()));
    }
    if worktree::is_unfinished(folder)? {
        return Ok(Some("a git operation is not finished in it".to_owned()));
    }
    if let Some(found) = own_state::found(folder)? {
        return Ok(Some(found));
    }
    let (look, walk) = special_files::begin_while(folder, || parking::look(folder))?;
    if let Some(path) = look.changed.first() {
        return Ok(Some(format!("{} is not committed", path.display())));
    }
    let unseen = walk.finish().doing("read", folder)?;
    Ok(unseen
        .special
        .first()
        .map(|path| format!("{} is no file or folder", path.display())))
}

fn replace_files(
    call: &Call,
    task_id: &str,
    folder: &Site,
    content: &SavedContent,
    park: &str,
) -> Result<Attempt> {
    if let Some(why) = own_state::is_sparse_in_its_own_way(folder)? {
        return Ok(Attempt::Kept(why));
    }
    let quarantine = Quarantine::of(folder);
    // Before HEAD moves: whoever goes on after a failure must compare the files with the commit that they belong to.
    quarantine.begin(content.head.as_deref(), park)?;
    if !parking::move_head(folder, content.head.as_deref(), park)? {
        quarantine.put_all_back()?;
        return Ok(Attempt::Again(HEAD_MOVED.to_owned()));
    }
    let differing = differences(folder, park, &content.tree)?;
    let mut removal = Removal {
        folder,
        content,
        quarantine: &quarantine,
        files: Vec::new(),
        folders: Vec::new(),
    };
    if let Err(error) = removal.take_all(&differing) {
        take_back(folder, &quarantine)?;
        return Ok(Attempt::Kept(error.message));
    }
    crash_point("release.moved");
    if let Err(error) = return_unsaved(call, task_id, &removal) {
        take_back(folder, &quarantine)?;
        return Err(error);
    }
    quarantine.confirm()?;
    crash_point("release.confirmed");
    for (difference, _) in &removal.files {
        quarantine.remove_empty_above(&difference.path);
    }
    for (path, _) in &removal.folders {
        quarantine.remove_empty_above(path);
    }
    let missing: Vec<&Path> = differing
        .iter()
        .filter(|difference| difference.status != 'A')
        .map(|difference| difference.path.as_path())
        .collect();
    fill(folder, park, &MissingFiles::These(&missing))?;
    if !removal.folders.is_empty() {
        make_link_folders(folder)?;
    }
    quarantine.end()?;
    if state::head(folder) != Head::Detached(park.to_owned()) {
        return Ok(Attempt::Again(HEAD_MOVED.to_owned()));
    }
    let look = parking::look(folder)?;
    let strays = link::strays(folder)?;
    let stray = strays.first().map(Path::new);
    if let Some(path) = look.changed.first().map(PathBuf::as_path).or(stray) {
        let why = format!("{} was written while it was cleaned", path.display());
        return Ok(Attempt::Again(why));
    }
    remove_unseen(folder, &quarantine, &look.ignored, park)
}

/// Leaves only what is saved in the quarantine.
fn return_unsaved(call: &Call, task_id: &str, removal: &Removal<'_>) -> Result<()> {
    for path in removal.unsaved_files()? {
        removal.quarantine.put_back(&path)?;
    }
    for path in removal.unsaved_folders()? {
        keep_folder(call, task_id, removal.quarantine, &path)?;
    }
    Ok(())
}

/// A folder that cannot be compared with a copy is kept as it is.
fn keep_folder(call: &Call, task_id: &str, from: &Quarantine, path: &Path) -> Result<()> {
    let kept = release::raw_folder(call, task_id).join(format!("late-{}", call.file_stamp()));
    let target = kept.join(path);
    let place = from.files().join(path);
    let parent = target.parent().unwrap_or(&kept);
    crate::store::private::make_folders(parent)
        .and_then(|()| fs::rename(&place, &target))
        .doing("move", &place)?;
    call.notice(format!(
        "{} was written while its slot was cleaned; it is kept as {}",
        path.display(),
        target.display()
    ));
    Ok(())
}

/// Removes pipes, sockets and empty folders.
fn remove_unseen(
    folder: &Path,
    quarantine: &Quarantine,
    ignored: &[PathBuf],
    park: &str,
) -> Result<Attempt> {
    let unseen = special_files::find(folder, ignored).doing("read", folder)?;
    if !unseen.special.is_empty() {
        quarantine.begin(None, park)?;
    }
    for path in &unseen.special {
        let removed = match quarantine.take(path, &[PathKind::Special]) {
            Ok(Some(_)) => quarantine.delete(path),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            quarantine.put_all_back()?;
            return Ok(Attempt::Kept(error.message));
        }
        quarantine.remove_empty_above(path);
    }
    if !unseen.special.is_empty() {
        quarantine.put_all_back()?;
        quarantine.end()?;
    }
    if !unseen.empty.is_empty() {
        let links: BTreeSet<PathBuf> = submodule::links(folder)?.into_iter().collect();
        for path in unseen.empty.iter().filter(|path| !links.contains(*path)) {
            // One in which something was made meanwhile stays.
            if fs::remove_dir(folder.join(path)).is_ok() {
                quarantine.remove_empty_above(path);
            }
        }
    }
    Ok(Attempt::Clean)
}

impl<'a> Removal<'a> {
    /// Moves everything out of the slot that the rescue holds and the commit does not have in the same form.
    fn take_all(&mut self, differing: &'a [Difference]) -> Result<()> {
        for difference in differing.iter().filter(|found| found.status != 'D') {
            if difference.new_mode == LINK {
                continue;
            }
            let taken = self
                .quarantine
                .take(&difference.path, &[PathKind::File, PathKind::Link])?;
            self.files.extend(taken.map(|kind| (difference, kind)));
        }
        let links = differing.iter().filter(|found| found.new_mode == LINK);
        let links = links.map(|found| found.path.as_path());
        let copied = self.content.copied.iter().map(PathBuf::as_path);
        let mut folders: Vec<&Path> = links.chain(copied).collect();
        folders.sort_unstable();
        folders.dedup();
        for path in folders {
            // Asked now: a submodule that was moved does not find its repository.
            let place = self.folder.join(path);
            let git_dir = match self.content.copied.iter().any(|copied| copied == path) {
                true => None,
                false if place.is_dir() => submodule::git_dir(&place)?,
                false => None,
            };
            if self
                .quarantine
                .take(path, &[PathKind::Folder, PathKind::File])?
                .is_some()
            {
                self.folders.push((path.to_owned(), git_dir));
            }
        }
        Ok(())
    }

    /// Files that changed after they were saved, or that somebody has open for writing.
    fn unsaved_files(&self) -> Result<Vec<PathBuf>> {
        let files = self.quarantine.files();
        let mut unsaved = Vec::new();
        let mut quiet = Vec::new();
        if self.files.is_empty() {
            return Ok(unsaved);
        }
        // Some file systems cannot tell whether a file is open for writing: then the list of open files does.
        let open = occupants::open_for_writing(&files);
        for (difference, kind) in &self.files {
            let is_link = *kind == PathKind::Link;
            let as_saved =
                is_link == (difference.new_mode == SYMBOLIC) && !open.contains(&difference.path);
            if !as_saved || !(is_link || self.quarantine.is_let_go(&difference.path)) {
                unsaved.push(difference.path.clone());
                continue;
            }
            quiet.push(MovedFile {
                path: &difference.path,
                place: files.join(&difference.path),
                id: &difference.new_id,
                is_link,
            });
        }
        let changed = parking::unsaved(self.folder, &self.content.tree, &files, &quiet)?;
        unsaved.extend(changed.into_iter().map(Path::to_owned));
        Ok(unsaved)
    }

    /// Folders that differ from their copies, or changed since nothing was found in them that needed a copy.
    fn unsaved_folders(&self) -> Result<Vec<PathBuf>> {
        let mut unsaved = Vec::new();
        if self.folders.is_empty() {
            return Ok(unsaved);
        }
        let open = occupants::open_for_writing(&self.quarantine.files());
        for (path, git_dir) in &self.folders {
            let place = self.quarantine.files().join(path);
            let is_copied = self.content.copied.contains(path);
            let is_saved = match (is_copied, &self.content.raw) {
                (true, Some(raw)) => {
                    self.is_quiet(path, &place) && raw::is_same(&place, &raw.join(path))?
                }
                (true, None) => false,
                (false, _) => {
                    let git_dir = git_dir.as_ref().map(|git_dir| {
                        let inside = git_dir.strip_prefix(self.folder.join(path));
                        inside.map_or_else(|_| git_dir.clone(), |inside| place.join(inside))
                    });
                    self.is_quiet(path, &place) && is_plain_submodule(&place, git_dir)?
                }
            };
            if !is_saved || open.iter().any(|file| file.starts_with(path)) {
                unsaved.push(path.clone());
            }
        }
        Ok(unsaved)
    }

    fn is_quiet(&self, path: &Path, place: &Path) -> bool {
        if place.is_dir() {
            self.quarantine.is_folder_let_go(path)
        } else {
            self.quarantine.is_let_go(path)
        }
    }
}

/// Is it a submodule, moved here, that holds nothing of its own, or one that was never checked out?
fn is_plain_submodule(place: &Path, git_dir: Option<PathBuf>) -> Result<bool> {
    match git_dir {
        _ if listing::is_empty(place) => Ok(true),
        Some(git_dir) => parking::is_unchanged_submodule(&git_dir, place),
        None => Ok(false),
    }
}

/// Gives a worktree settings, HEAD, index and missing files as a new one at the commit has them. Removes no file.
fn fill(folder: &Site, park: &str, missing: &MissingFiles<'_>) -> Result<()> {
    let was_sparse = own_state::reset_settings(folder)?;
    parking::reset_index(folder, park)?;
    crash_point("release.reset");
    if state::head(folder) == Head::Detached(park.to_owned()) {
        own_state::clear(folder)?;
    }
    let failed = if was_sparse {
        parking::check_out(folder, &MissingFiles::All)?
    } else {
        parking::check_out(folder, missing)?
    };
    let Some(said) = failed else {
        return Ok(());
    };
    // Something in the way is saved and moved by the next attempt. A full disk or a filter that fails is not: the
    // quarantine stays, so that what is missing is not taken for deleted.
    let changed = parking::look(folder)?.changed;
    let is_there = |path: &PathBuf| fs::symlink_metadata(folder.join(path)).is_ok();
    if changed.iter().any(is_there) {
        Ok(())
    } else {
        Err(Error::new(Code::Failed, said))
    }
}

/// A submodule that is not checked out is an empty folder.
fn make_link_folders(folder: &Path) -> Result<()> {
    for path in submodule::links(folder)? {
        let place = folder.join(path);
        if fs::symlink_metadata(&place).is_err() {
            fs::create_dir_all(&place).doing("create", &place)?;
        }
    }
    Ok(())
}

/// Gives a slot back the files that were taken from it, and HEAD the commit that they were saved at.
fn take_back(folder: &Site, quarantine: &Quarantine) -> Result<()> {
    if let Some((head, park)) = quarantine.unconfirmed() {
        parking::move_head(folder, Some(&park), &head)?;
    }
    quarantine.put_all_back()
}

/// Goes on where a killed process stopped.
fn finish_interrupted(folder: &Site) -> Result<()> {
    let quarantine = Quarantine::of(folder);
    if !quarantine.is_in_use() {
        return Ok(());
    }
    take_back(folder, &quarantine)?;
    if let Some(park) = quarantine.confirmed() {
        // All that is missing was saved: without this it would be taken for deleted.
        parking::leave_unborn(folder, &park)?;
        fill(folder, &park, &MissingFiles::All)?;
        make_link_folders(folder)?;
    }
    quarantine.end()
}

/// Puts a slot back into its place that a killed process was about to remove.
pub(crate) fn restore_whole(folder: &Path) -> Result<()> {
    Quarantine::of(folder).finish_whole()
}

/// Brings back a slot whose folder, or the `.git` in it, was deleted; false if git does not remember it. A folder that somebody put
/// in its place has no link to a task, and is not touched.
pub(crate) fn revive(repository: &Site, folder: &Path) -> Result<bool> {
    let is_there = fs::symlink_metadata(folder).is_ok() && !listing::is_empty(folder);
    if is_there && !link::is_in(folder) {
        return Ok(false);
    }
    worktree::revive(repository, folder, &Quarantine::of(folder).revived)
}

/// What somebody wrote, or writes, into a parked slot that was moved. Who was about to open a file when it was moved may open it
/// after the first look, and have closed it before the second.
fn written_meanwhile(moved: &Path) -> Result<Option<String>> {
    for _ in 0..2 {
        if let Some(path) = parking::look(moved)?.changed.first() {
            return Ok(Some(format!("{} was written meanwhile", path.display())));
        }
        if let Some(path) = occupants::open_for_writing(moved).first() {
            return Ok(Some(format!("{} is open for writing", path.display())));
        }
    }
    Ok(None)
}

/// Removes a parked slot, unless somebody wrote into it meanwhile: why it is still there.
pub(crate) fn remove_parked(repository: &Site, folder: &Path) -> Result<Option<String>> {
    let quarantine = Quarantine::of(folder);
    quarantine.take_whole()?;
    crash_point("remove.moved");
    let written = written_meanwhile(&quarantine.whole);
    if !matches!(written, Ok(None)) {
        quarantine.put_whole_back()?;
        return written;
    }
    if let Some(who) = release::occupant(&quarantine.whole) {
        quarantine.put_whole_back()?;
        return Ok(Some(format!("{who} lives in it")));
    }
    quarantine.confirm_whole()?;
    crash_point("remove.checked");
    if let Err(error) = worktree::remove(repository, folder)
        && !quarantine.is_forgotten()
    {
        // Git still knows it. Left away from its place it would be taken for one that somebody deleted.
        quarantine.put_whole_back()?;
        return Err(error);
    }
    crash_point("remove.forgotten");
    quarantine.delete_checked()?;
    Ok(None)
}
