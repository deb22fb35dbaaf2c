//! What `git ls-files -v -s -z` tells of an index, read without copying it.

use super::super::LINK;
use crate::Git;
use orange_sys::error::Result;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub struct Entries {
    bytes: Vec<u8>,
    /// Where those lie that need a look: of many thousand hardly any. Plain files are passed over once.
    special: Vec<Range<usize>>,
}

pub(super) struct StageEntry<'a> {
    /// `H` as usual, `S` left out of the worktree, `M` unmerged; small letters: assumed unchanged.
    tag: u8,
    pub mode: &'a [u8],
    pub id: &'a [u8],
    pub stage: u8,
    pub path: &'a Path,
}

impl StageEntry<'_> {
    fn is_plain(&self) -> bool {
        self.tag == b'H' && self.stage == 0 && self.mode != LINK.as_bytes()
    }
}

impl Entries {
    /// What lists them.
    pub const LISTED: [&str; 4] = ["ls-files", "-v", "-s", "-z"];

    /// Those of the index that this git has.
    pub fn of(git: Git) -> Result<Entries> {
        let said = git.args(Entries::LISTED).checked()?;
        Ok(Entries::new(said.stdout))
    }

    pub fn new(bytes: Vec<u8>) -> Entries {
        let mut special = Vec::new();
        let mut start = 0;
        for record in bytes.split(|byte| *byte == 0) {
            let end = start + record.len();
            if read(record).is_some_and(|entry| !entry.is_plain()) {
                special.push(start..end);
            }
            start = end + 1;
        }
        Entries { bytes, special }
    }

    fn iter(&self) -> impl Iterator<Item = StageEntry<'_>> {
        self.bytes.split(|byte| *byte == 0).filter_map(read)
    }

    fn special(&self) -> impl Iterator<Item = StageEntry<'_>> {
        let records = self.special.iter().cloned();
        records.filter_map(|range| read(self.bytes.get(range)?))
    }

    fn paths(&self, which: impl Fn(&StageEntry<'_>) -> bool) -> impl Iterator<Item = &Path> {
        self.special().filter(which).map(|entry| entry.path)
    }

    pub fn assumed_unchanged(&self) -> impl Iterator<Item = &Path> {
        self.paths(|entry| entry.tag.is_ascii_lowercase())
    }

    /// Not in the worktree on purpose (sparse checkout).
    pub fn left_out(&self) -> impl Iterator<Item = &Path> {
        self.paths(|entry| entry.tag.eq_ignore_ascii_case(&b's'))
    }

    pub fn is_unmerged(&self) -> bool {
        self.special().any(|entry| entry.stage > 0)
    }

    /// Submodules, and nested repositories that were added.
    pub fn links(&self) -> impl Iterator<Item = &Path> {
        self.paths(|entry| entry.mode == LINK.as_bytes())
    }

    /// An unmerged index cannot be written as a tree. The same with every side of a conflict as a file of its
    /// own, in the form `update-index --index-info` reads.
    pub fn with_conflicts_as_files(&self) -> Vec<u8> {
        let taken: HashSet<&[u8]> = self
            .iter()
            .filter(|entry| entry.stage == 0)
            .map(|entry| entry.path.as_os_str().as_bytes())
            .collect();
        let mut lines = Vec::new();
        for entry in self.iter() {
            let mut path = entry.path.as_os_str().as_bytes().to_vec();
            match entry.stage {
                0 => {}
                1 => path.extend_from_slice(b".base"),
                2 => path.extend_from_slice(b".ours"),
                3.. => path.extend_from_slice(b".theirs"),
            }
            while entry.stage > 0 && taken.contains(path.as_slice()) {
                path.push(b'~');
            }
            push_line(&mut lines, entry.mode, entry.id, &path);
        }
        lines
    }
}

/// `mode id 0 TAB path NUL`: a line for `update-index -z --index-info`.
pub(super) fn push_line(lines: &mut Vec<u8>, mode: &[u8], id: &[u8], path: &[u8]) {
    for part in [mode, b" ", id, b" 0\t", path, b"\0"] {
        lines.extend_from_slice(part);
    }
}

/// `H 100644 <id> 0 TAB path`
fn read(record: &[u8]) -> Option<StageEntry<'_>> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let (what, path) = record.split_at_checked(tab)?;
    let mut words = what.split(|byte| *byte == b' ');
    let tag = *words.next()?.first()?;
    let (mode, id, stage) = (words.next()?, words.next()?, words.next()?);
    Some(StageEntry {
        tag,
        mode,
        id,
        stage: stage.first()?.checked_sub(b'0')?,
        path: Path::new(OsStr::from_bytes(path.get(1..)?)),
    })
}
