//! The swapped-out file: finds out whether it holds something new, deletes it only if not, hands it over otherwise.

use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::folder::{Folder, read_all};
use super::lease::{Claim, Patience};
use super::{Outcome, WRITER_PATIENCE};
use crate::store::faults::crash_point;

/// How long to wait for a writer that slipped in while the file was being deleted.
const RESCUE_PATIENCE: Duration = Duration::from_secs(2);
/// Stands for the hash of a base that did not exist.
const ABSENT: u64 = 0;

/// What somebody else wrote into a file we had swapped out; it stays on disk until `discard`.
#[derive(Debug)]
pub struct Theirs {
    folder: Folder,
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

    /// When they wrote it.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Deletes it once the merged result is durable; hands it over again if it was written to since (never `Stale`).
    pub fn discard(self) -> io::Result<Outcome> {
        let Some(file) = self.folder.open(&self.name)? else {
            return Ok(Outcome::Done);
        };
        let old = Old {
            folder: &self.folder,
            name: &self.name,
            hashes: self.hashes,
            file: &file,
        };
        let merged = |bytes: &[u8]| bytes == self.bytes;
        let outcome = old.settle(&merged, &mut Patience::new(WRITER_PATIENCE))?;
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
}

impl Hashes {
    pub(super) fn of(base: Option<&[u8]>, new: &[u8]) -> Self {
        Self {
            base: base.map_or(ABSENT, short_hash),
            new: short_hash(new),
        }
    }

    /// The swapped-out file's name, perhaps still to be followed by a number.
    pub(super) fn stem(self, target: &str) -> String {
        format!(".{target}.{:016x}.{:016x}", self.base, self.new)
    }

    /// Understands what follows `.<target>.` in such a name.
    pub(super) fn parse(rest: &str) -> Option<Self> {
        let mut parts = rest.split('.');
        let (base, new) = (parse_hash(parts.next()?)?, parse_hash(parts.next()?)?);
        let number = parts
            .next()
            .is_none_or(|number| number.parse::<u32>().is_ok());
        (number && parts.next().is_none()).then_some(Self { base, new })
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
pub(crate) fn short_hash(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .take(8)
        .fold(0, |hash, &byte| hash << 8 | u64::from(byte))
}

/// A swapped-out file, open for reading.
pub(super) struct Old<'a> {
    pub(super) folder: &'a Folder,
    pub(super) name: &'a str,
    pub(super) hashes: Hashes,
    pub(super) file: &'a File,
}

impl Old<'_> {
    /// Deletes the file if it holds nothing new once nobody is writing to it any more; otherwise hands it over.
    pub(super) fn settle(
        &self,
        nothing_new: &dyn Fn(&[u8]) -> bool,
        patience: &mut Patience,
    ) -> io::Result<Outcome> {
        loop {
            if let Some(claim) = Claim::take(self.file)? {
                let bytes = read_all(self.file)?;
                if !nothing_new(&bytes) {
                    return self.hand_over(self.name.to_owned(), bytes);
                }
                // The claim holds across comparison and deletion: nobody writes to the file in between.
                if claim.intact()? {
                    crash_point("replace.before_unlink");
                    self.folder.unlink(self.name)?;
                    return if claim.intact()? {
                        Ok(Outcome::Done)
                    } else {
                        drop(claim);
                        self.rescue(nothing_new)
                    };
                }
            }
            if !patience.nap() {
                return Ok(Outcome::WriterOpen);
            }
        }
    }

    /// Somebody had looked up the old name before the exchange but opened the file only while we deleted it.
    /// Its open waits for our lease, and counts as a writer while it does: let it write, and save what it writes.
    fn rescue(&self, nothing_new: &dyn Fn(&[u8]) -> bool) -> io::Result<Outcome> {
        let mut patience = Patience::new(RESCUE_PATIENCE);
        while Claim::take(self.file)?.is_none() {
            if !patience.nap() {
                tracing::warn!(name = self.name, "somebody keeps writing to a deleted file");
                break;
            }
        }
        let bytes = read_all(self.file)?;
        if nothing_new(&bytes) {
            Ok(Outcome::Done)
        } else {
            self.save(bytes)
        }
    }

    fn save(&self, bytes: Vec<u8>) -> io::Result<Outcome> {
        let stem = self.hashes.stem(&self.folder.target);
        let meta = self.file.metadata()?;
        let name = self.folder.write_temp(&stem, &bytes, Some(&meta))?.placed();
        self.folder.sync()?;
        self.hand_over(name, bytes)
    }

    fn hand_over(&self, name: String, bytes: Vec<u8>) -> io::Result<Outcome> {
        Ok(Outcome::Overtaken(Theirs {
            folder: self.folder.clone(),
            name,
            bytes,
            modified: self.file.metadata()?.modified()?,
            hashes: self.hashes,
        }))
    }
}
