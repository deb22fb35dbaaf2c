//! Replaces a file atomically and durably without losing what somebody who takes no lock writes to it at the same time.
//!
//! A plain rename drops whatever a writer puts into the old file after our last look. So the new content is
//! *exchanged* with the old file, which keeps a name until a read lease has shown that nobody has it open for
//! writing and that it still holds what the caller had read. Anything else in it goes back to the caller and
//! stays on disk until the caller says that the merged result is safe.
//!
//! The swapped-out file is called `.<name>.<hash of base>.<hash of new>`, so that after a crash its content
//! alone tells what had happened; two more hashes tell of a merge that was begun. Its name and everything else here
//! assume that the caller holds the task's lock.
//!
//! The new file has the old one's mode and, if we may, its owner, but not its extended attributes. File systems
//! without `RENAME_EXCHANGE`, without leases, or written to from another machine get weaker guarantees.
//!
//! Not covered, because no file system can: somebody who read the old content and opens or renames over the
//! file only after the exchange. That write is in the file itself; the caller sees it by its stale revision.

#[cfg(test)]
#[cfg(debug_assertions)]
mod crash;
mod folder;
mod lease;
mod old;
mod probe;
#[cfg(test)]
mod stress;
#[cfg(test)]
#[cfg(debug_assertions)]
mod tests;

pub(crate) use self::folder::same_file;
use self::folder::{PART, TargetFolder, read_all};
pub use self::lease::is_let_go;
use self::lease::{Deadline, FileClaim};
pub use self::old::Theirs;
pub use self::old::short_hash;
use self::old::{Hashes, SwappedFile};
pub use self::probe::{PROBE, is_exact_in};
use super::{private, temporary};
use orange_sys::crash_points::crash_point;
use rustix::io::Errno;
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long a replacement waits for somebody who has the file open for writing.
const WRITER_TIMEOUT: Duration = Duration::from_millis(100);
/// How often a file may appear and vanish under our hands before we give up.
const SWAP_ATTEMPTS: u32 = 16;

/// What became of a replacement.
#[derive(Debug)]
#[must_use]
pub enum Replacement {
    /// The new content is in place and durable, and nobody wrote anything else meanwhile.
    Done,
    /// Nothing was changed: the file does not hold `base` any more; read it and try again.
    Stale,
    /// The new content is in place and durable, but somebody had written this: merge, replace, then discard it.
    Overtaken(Theirs),
    /// The new content is in place and durable; somebody still has the old file open: see `settle_leftovers` later.
    WriterOpen,
}

/// What earlier, interrupted replacements have left behind.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Writes that nobody has merged yet, oldest first.
    pub written: Vec<Theirs>,
    /// How many swapped-out files somebody still has open for writing.
    pub writer_open: usize,
    /// How many files held nothing new and were removed.
    pub removed: usize,
}

/// A file's content as one moment saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// Somebody kept the file open for writing, so that the bytes may be half of something.
    pub writer_open: bool,
}

/// Puts the new file in the target's place and gives the old one another name; `None` if the file system cannot.
type Swap = fn(&TargetFolder, &str) -> io::Result<Option<Swapped>>;

/// What the target's name stood for when the new file took it.
enum Swapped {
    /// For nothing, or for a file this file system gives no way to look at again.
    Nothing,
    /// For a file that now has this name.
    Old(String),
    /// For something else than the base, which therefore is still in place.
    Stale,
}

/// Reads the file, waiting a little for somebody in the middle of writing it; `None` if there is no file.
pub fn read(target: &Path) -> io::Result<Option<Content>> {
    let folder = TargetFolder::of(target)?;
    let read = read_settled(&folder, &mut Deadline::new(WRITER_TIMEOUT))?;
    Ok(read.map(|(content, _)| content))
}

/// Replaces the content `base` (`None`: no file) by `new`; an error may leave `new` in place, but loses nothing.
///
/// After `Overtaken` the merged content goes on from `new`: `replace(target, Some(new), merged)`, then `discard`.
pub fn replace(target: &Path, base: Option<&[u8]>, new: &[u8]) -> io::Result<Replacement> {
    replace_by(swap_by_exchange, target, base, new)
}

/// Looks at what interrupted replacements of this file left: removes what holds nothing new, returns the rest.
pub fn settle_leftovers(target: &Path) -> io::Result<Leftovers> {
    let folder = TargetFolder::of(target)?;
    let prefix = format!(".{}.", folder.target);
    let mut found = Leftovers::default();
    for name in folder.names()? {
        if temporary::is_abandoned(&name) {
            folder.unlink(&name)?;
            found.removed += 1;
            continue;
        }
        let Some(rest) = name.strip_prefix(&prefix) else {
            continue;
        };
        if rest.ends_with(PART) {
            folder.unlink(&name)?;
            found.removed += 1;
        } else if let Some(hashes) = Hashes::parse(rest) {
            match settle_leftover(&folder, &name, hashes)? {
                Replacement::Done => found.removed += 1,
                Replacement::Overtaken(theirs) => found.written.push(theirs),
                Replacement::WriterOpen => found.writer_open += 1,
                Replacement::Stale => {}
            }
        }
    }
    found.written.sort_by_key(Theirs::modified);
    Ok(found)
}

/// Writes a private file that nobody else edits: readers see the old content or the new, also after a crash.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with_mode(path, bytes, private::FILE)
}

/// The same for a file that is not Orange's own: a new one gets the mode that the user's umask leaves.
pub fn write_atomic_for_all(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with_mode(path, bytes, 0o666)
}

fn write_with_mode(path: &Path, bytes: &[u8], new_mode: u32) -> io::Result<()> {
    let mut folder = TargetFolder::of(path)?;
    folder.new_mode = new_mode;
    let old = folder
        .open(&folder.target)?
        .map(|file| file.metadata())
        .transpose()?;
    let stem = temporary::name_of(&folder.target);
    let temp = folder.write_temp(&stem, bytes, old.as_ref())?;
    crash_point("write.prepared");
    folder.rename(temp.name(), &folder.target)?;
    temp.placed();
    folder.sync()
}

/// `Stale` stands for a name with nothing of ours behind it.
fn settle_leftover(folder: &TargetFolder, name: &str, hashes: Hashes) -> io::Result<Replacement> {
    let file = match folder.open(name) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(Replacement::Stale),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            // Not ours, whatever it is called; it must not stop the task's work.
            tracing::warn!(%error, name, "ignoring something that is named like a swapped-out file");
            return Ok(Replacement::Stale);
        }
        Err(error) => return Err(error),
    };
    let target = folder.open(&folder.target)?;
    if let Some(target) = target
        && same_file(&target.metadata()?, &file.metadata()?)
    {
        // Only a second name, given before a rename that never came.
        folder.unlink(name)?;
        return Ok(Replacement::Done);
    }
    let old = SwappedFile {
        folder,
        name,
        hashes,
        file: &file,
    };
    // No waiting: every command comes by here, and the next one looks again.
    old.settle(
        &|bytes| hashes.know(bytes),
        &mut Deadline::new(Duration::ZERO),
    )
}

fn replace_by(
    swap: Swap,
    target: &Path,
    base: Option<&[u8]>,
    new: &[u8],
) -> io::Result<Replacement> {
    let folder = TargetFolder::of(target)?;
    let mut deadline = Deadline::new(WRITER_TIMEOUT);
    let old = read_settled(&folder, &mut deadline)?;
    if !goes_on_from(old.as_ref().map(|(content, _)| content), base) {
        return Ok(Replacement::Stale);
    }
    let hashes = Hashes::of(base, new);
    let stem = hashes.stem(&folder.target);
    let temp = folder.write_temp(&stem, new, old.as_ref().map(|(_, meta)| meta))?;
    crash_point("replace.temp_written");
    let swapped = match swap(&folder, temp.name())? {
        Some(swapped) => swapped,
        None => swap_by_link(&folder, temp.name(), &stem, base)?,
    };
    if matches!(swapped, Swapped::Stale) {
        return Ok(Replacement::Stale);
    }
    temp.placed();
    crash_point("replace.exchanged");
    folder.sync()?;
    let outcome = match swapped {
        Swapped::Old(name) => look_at_old(&folder, &name, hashes, base, new, &mut deadline)?,
        Swapped::Nothing | Swapped::Stale => Replacement::Done,
    };
    crash_point("replace.done");
    Ok(outcome)
}

/// Whether the caller's work still fits what is there. A writer that does not finish must not stop us forever:
/// its file is swapped out as it is. A file deleted by hand comes back.
fn goes_on_from(there: Option<&Content>, base: Option<&[u8]>) -> bool {
    match (there, base) {
        (None, _) => true,
        (Some(content), _) if content.writer_open => true,
        (Some(content), base) => base == Some(&content.bytes),
    }
}

fn read_settled(
    folder: &TargetFolder,
    deadline: &mut Deadline,
) -> io::Result<Option<(Content, Metadata)>> {
    loop {
        let Some(file) = folder.open(&folder.target)? else {
            return Ok(None);
        };
        let claim = FileClaim::take(&file)?;
        if claim.is_some() || !deadline.nap() {
            let content = Content {
                bytes: read_all(&file)?,
                writer_open: claim.is_none(),
            };
            return Ok(Some((content, file.metadata()?)));
        }
    }
}

/// Lets the new file and the target change names; `None` if this file system cannot do that.
fn swap_by_exchange(folder: &TargetFolder, temp: &str) -> io::Result<Option<Swapped>> {
    for _ in 0..SWAP_ATTEMPTS {
        match folder.exchange(temp, &folder.target) {
            Ok(()) => return Ok(Some(Swapped::Old(temp.to_owned()))),
            Err(Errno::NOENT) => {}
            Err(error) if is_unsupported(error) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        // Not a plain rename: an editor that moved the file away may be creating it again right now.
        match folder.rename_to_free(temp, &folder.target) {
            Ok(()) => return Ok(Some(Swapped::Nothing)),
            Err(Errno::EXIST) => {}
            Err(error) if is_unsupported(error) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("the file keeps appearing and vanishing"))
}

/// The weaker way: gives the old file a second name, compares, renames over. What is renamed over the target
/// between the last two steps is lost; what is written in place is not. Without hard links, that is lost too.
fn swap_by_link(
    folder: &TargetFolder,
    temp: &str,
    stem: &str,
    base: Option<&[u8]>,
) -> io::Result<Swapped> {
    let kept = folder.free_name(stem)?;
    let swapped = match folder.link(&folder.target, &kept) {
        Ok(()) => Swapped::Old(kept.clone()),
        Err(Errno::NOENT) => Swapped::Nothing,
        Err(error) if is_unsupported(error) => Swapped::Nothing,
        Err(error) => return Err(error.into()),
    };
    let again = read_settled(folder, &mut Deadline::new(Duration::ZERO))
        .map(|read| read.map(|(content, _)| content));
    let fits = again.map(|content| goes_on_from(content.as_ref(), base));
    if !matches!(fits, Ok(true)) {
        if matches!(swapped, Swapped::Old(_)) {
            folder.unlink(&kept)?;
        }
        return fits.map(|_| Swapped::Stale);
    }
    folder.rename(temp, &folder.target)?;
    Ok(swapped)
}

fn is_unsupported(error: Errno) -> bool {
    [
        Errno::INVAL,
        Errno::NOSYS,
        Errno::OPNOTSUPP,
        Errno::NOTSUP,
        Errno::PERM,
    ]
    .contains(&error)
}

fn look_at_old(
    folder: &TargetFolder,
    name: &str,
    hashes: Hashes,
    base: Option<&[u8]>,
    new: &[u8],
    deadline: &mut Deadline,
) -> io::Result<Replacement> {
    let file = match folder.open(name) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(Replacement::Done),
        Err(error) => {
            put_back(folder, name, new)?;
            return Err(error);
        }
    };
    let old = SwappedFile {
        folder,
        name,
        hashes,
        file: &file,
    };
    old.settle(&|bytes| base == Some(bytes) || bytes == new, deadline)
}

/// Undoes an exchange that swapped out a folder, a link or a file we cannot read.
fn put_back(folder: &TargetFolder, name: &str, new: &[u8]) -> io::Result<()> {
    folder.exchange(name, &folder.target)?;
    // Unless somebody replaced our file in that moment it is ours that has the temporary name again.
    if let Some(file) = folder.open(name)?
        && read_all(&file)? == new
    {
        folder.unlink(name)?;
    }
    folder.sync()
}
