//! The swapped-out file: finds out whether it holds something new, deletes it only if not, hands it over otherwise.

use super::folder::{TargetFolder, read_all};
use super::lease::{Deadline, FileClaim};
use super::{Replacement, WRITER_TIMEOUT};
use orange_sys::crash_points::crash_point;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime};

/// How long to wait for a writer that slipped in while the file was being deleted.
const RESCUE_TIMEOUT: Duration = Duration::from_secs(2);
/// Stands for the hash of a base that did not exist.
const ABSENT: u64 = 0;

/// What somebody else wrote into a file we had swapped out; it stays on disk until `discard`.
#[derive(Debug)]
pub struct Theirs {
    folder: TargetFolder,
    name: String,
    bytes: Vec<u8>,
    modified: SystemTime,
    hashes: Hashes,
}

impl Theirs {
    /// The content they wrote.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether `candidate` is what the replacement put in place.
    pub fn was_replaced_by(&self, candidate: &[u8]) -> bool {
        self.hashes.new == short_hash(candidate)
    }

    /// How much of the beginning is in `current` already: what had been read before, or what was merged by a process
    /// that died before it could discard this file. None if they changed more than the end.
    pub fn known_part(&self, current: &[u8]) -> Option<usize> {
        if let Some(merge) = self.hashes.merge
            && find_prefix(by_lines(current), merge.into).is_some()
        {
            return prefix_with_hash(&self.bytes, merge.text);
        }
        match self.hashes.base {
            ABSENT => None,
            base => prefix_with_hash(&self.bytes, base),
        }
    }

    /// Notes on disk that `merged`, which is about to be put in place, holds this text. A process that dies before
    /// `discard` leaves it to the next one to see by that whether it was put in place.
    pub fn note_merge(&mut self, merged: &[u8]) -> io::Result<()> {
        let merge = BegunMerge {
            text: short_hash(&self.bytes),
            into: short_hash(merged),
        };
        self.rename(Hashes {
            merge: Some(merge),
            ..self.hashes
        })
    }

    fn rename(&mut self, hashes: Hashes) -> io::Result<()> {
        let name = self.folder.free_name(&hashes.stem(&self.folder.target))?;
        match self.folder.rename(&self.name, &name) {
            Ok(()) => {
                self.name = name;
                self.hashes = hashes;
                Ok(())
            }
            // Somebody removed it; its text is still here.
            Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// When they wrote it.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Deletes it once the merged result is durable; hands it over again if it was written to since (never `Stale`).
    pub fn discard(mut self) -> io::Result<Replacement> {
        // From here on only what is written behind the merged text is new.
        self.rename(Hashes {
            base: short_hash(&self.bytes),
            new: self.hashes.new,
            merge: None,
        })?;
        let Some(file) = self.folder.open(&self.name)? else {
            return Ok(Replacement::Done);
        };
        let old = SwappedFile {
            folder: &self.folder,
            name: &self.name,
            hashes: self.hashes,
            file: &file,
        };
        let merged = |bytes: &[u8]| bytes == self.bytes;
        let outcome = old.settle(&merged, &mut Deadline::new(WRITER_TIMEOUT))?;
        // Otherwise a power loss could bring it back, to be merged a second time.
        self.folder.sync()?;
        Ok(outcome)
    }
}

/// The short hashes in a swapped-out file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hashes {
    base: u64,
    new: u64,
    merge: Option<BegunMerge>,
}

/// A merge of a swapped-out text that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BegunMerge {
    /// The whole swapped-out file as it was merged.
    text: u64,
    /// The content that holds it.
    into: u64,
}

impl Hashes {
    pub(super) fn of(base: Option<&[u8]>, new: &[u8]) -> Self {
        Self {
            base: base.map_or(ABSENT, short_hash),
            new: short_hash(new),
            merge: None,
        }
    }

    /// The swapped-out file's name, perhaps still to be followed by a number.
    pub(super) fn stem(self, target: &str) -> String {
        let stem = format!(".{target}.{:016x}.{:016x}", self.base, self.new);
        match self.merge {
            Some(BegunMerge { text, into }) => format!("{stem}.{text:016x}.{into:016x}"),
            None => stem,
        }
    }

    /// Understands what follows `.<target>.` in such a name.
    pub(super) fn parse(rest: &str) -> Option<Self> {
        let parts: Vec<&str> = rest.split('.').collect();
        let hashes: Vec<u64> = parts.iter().map_while(|part| parse_hash(part)).collect();
        let (base, new, merge) = match hashes[..] {
            [base, new] => (base, new, None),
            [base, new, text, into] => (base, new, Some(BegunMerge { text, into })),
            _ => return None,
        };
        let is_number = |part: &&str| part.parse::<u32>().is_ok();
        let rest = parts.get(hashes.len()..)?;
        (rest.len() <= 1 && rest.iter().all(is_number)).then_some(Self { base, new, merge })
    }

    /// Whether `bytes` are only what we put there ourselves, or what we had read.
    pub(super) fn know(self, bytes: &[u8]) -> bool {
        [self.base, self.new].contains(&short_hash(bytes))
    }
}

fn parse_hash(text: &str) -> Option<u64> {
    let plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// The first bytes of a SHA-256: enough to name a content, short enough for a file name.
pub fn short_hash(bytes: &[u8]) -> u64 {
    first_bytes(Sha256::new_with_prefix(bytes))
}

fn first_bytes(digest: Sha256) -> u64 {
    digest
        .finalize()
        .iter()
        .take(8)
        .fold(0, |hash, &byte| hash << 8 | u64::from(byte))
}

/// The length of the beginning of `bytes` that has this hash. Nearly every text ends with a line, so beginnings that
/// end in the middle of one are tried last, and only in files of ordinary size.
fn prefix_with_hash(bytes: &[u8], hash: u64) -> Option<usize> {
    const LARGEST: usize = 64 * 1024;
    let by_bytes = || bytes.chunks(1).filter(|_| bytes.len() <= LARGEST);
    find_prefix(by_lines(bytes), hash).or_else(|| find_prefix(by_bytes(), hash))
}

fn by_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

fn find_prefix<'b>(pieces: impl Iterator<Item = &'b [u8]>, hash: u64) -> Option<usize> {
    let mut digest = Sha256::new();
    let mut length = 0;
    std::iter::once(&[][..]).chain(pieces).find_map(|piece| {
        digest.update(piece);
        length += piece.len();
        (first_bytes(digest.clone()) == hash).then_some(length)
    })
}

/// A swapped-out file, open for reading.
pub(super) struct SwappedFile<'a> {
    pub(super) folder: &'a TargetFolder,
    pub(super) name: &'a str,
    pub(super) hashes: Hashes,
    pub(super) file: &'a File,
}

impl SwappedFile<'_> {
    /// Deletes the file if it holds nothing new once nobody is writing to it any more; otherwise hands it over.
    pub(super) fn settle(
        &self,
        nothing_new: &dyn Fn(&[u8]) -> bool,
        deadline: &mut Deadline,
    ) -> io::Result<Replacement> {
        loop {
            if let Some(claim) = FileClaim::take(self.file)? {
                let bytes = read_all(self.file)?;
                if !nothing_new(&bytes) {
                    return self.hand_over(self.name.to_owned(), bytes);
                }
                // The claim holds across comparison and deletion: nobody writes to the file in between.
                if claim.intact()? {
                    crash_point("replace.before_unlink");
                    self.folder.unlink(self.name)?;
                    return if claim.intact()? {
                        Ok(Replacement::Done)
                    } else {
                        drop(claim);
                        self.rescue(nothing_new)
                    };
                }
            }
            if !deadline.nap() {
                return Ok(Replacement::WriterOpen);
            }
        }
    }

    /// Somebody had looked up the old name before the exchange but opened the file only while we deleted it.
    /// Its open waits for our lease, and counts as a writer while it does: let it write, and save what it writes.
    fn rescue(&self, nothing_new: &dyn Fn(&[u8]) -> bool) -> io::Result<Replacement> {
        let mut deadline = Deadline::new(RESCUE_TIMEOUT);
        while FileClaim::take(self.file)?.is_none() {
            if !deadline.nap() {
                tracing::warn!(name = self.name, "somebody keeps writing to a deleted file");
                break;
            }
        }
        let bytes = read_all(self.file)?;
        if nothing_new(&bytes) {
            Ok(Replacement::Done)
        } else {
            self.save(bytes)
        }
    }

    fn save(&self, bytes: Vec<u8>) -> io::Result<Replacement> {
        let stem = self.hashes.stem(&self.folder.target);
        let meta = self.file.metadata()?;
        let name = self.folder.write_temp(&stem, &bytes, Some(&meta))?.placed();
        self.folder.sync()?;
        self.hand_over(name, bytes)
    }

    fn hand_over(&self, name: String, bytes: Vec<u8>) -> io::Result<Replacement> {
        Ok(Replacement::Overtaken(Theirs {
            folder: self.folder.clone(),
            name,
            bytes,
            modified: self.file.metadata()?.modified()?,
            hashes: self.hashes,
        }))
    }
}
