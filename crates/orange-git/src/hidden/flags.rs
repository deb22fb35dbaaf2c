//! Whether an index has flags that hide changes, read from the file itself: no process for a question that nearly every
//! worktree answers with no. Whatever is not plain is left to git.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// In the flags of an entry, and in the further ones that `EXTENDED` announces.
const ASSUME_UNCHANGED: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
/// The rest is the length of the name, or this if the name is longer.
const LONG_NAME: usize = 0x0fff;

/// What stands in an entry before its object's id: times, device, owner, size.
const STAT: usize = 40;

/// Lengths of object ids, and of the checksum at the end: SHA-1, SHA-256.
const HASHES: [usize; 2] = [20, 32];

/// The flags that some entry of an index has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Flags {
    /// Assumed unchanged or left out of the worktree.
    hiding: bool,
    /// Announced by `git add -N`.
    announced: bool,
}

/// False: no entry is assumed unchanged or left out of the worktree. True also where only git can tell.
pub(crate) fn may_have_flags(index: &Path) -> bool {
    any_reading(index, |flags| flags.hiding)
}

/// True: no entry has a flag. False also where only git can tell.
pub(super) fn is_plain(index: &Path) -> bool {
    !any_reading(index, |flags| flags.hiding || flags.announced)
}

fn any_reading(index: &Path, has: impl Fn(Flags) -> bool) -> bool {
    match fs::read(index) {
        Ok(bytes) => {
            let mut readings = HASHES.iter().filter_map(|hash| read(&bytes, *hash));
            // Nothing in the file says how long its ids are; one length makes sense.
            readings.next().is_none_or(&has) || readings.any(&has)
        }
        // Nothing was ever staged.
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// None: this is no index with ids of this length, or not all of it is in this file.
fn read(bytes: &[u8], hash: usize) -> Option<Flags> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(bytes, 4)?;
    let entries = number(bytes, 8)?;
    let (mut at, mut name_before, mut found) = (12, 0, Flags::default());
    for _ in 0..entries {
        let start = at;
        at += STAT + hash;
        let flags = short(bytes, at)?;
        at += 2;
        found.hiding |= flags & ASSUME_UNCHANGED != 0;
        if version >= 3 && flags & EXTENDED != 0 {
            let further = short(bytes, at)?;
            found.hiding |= further & SKIP_WORKTREE != 0;
            found.announced |= further & INTENT_TO_ADD != 0;
            at += 2;
        }
        let mut name = usize::from(flags) & LONG_NAME;
        let mut shared = 0;
        if version == 4 {
            let (cut, length) = varint(bytes.get(at..)?)?;
            at += length;
            shared = name_before - cut.min(name_before);
        }
        if name == LONG_NAME {
            let rest = bytes.get(at..)?;
            name = shared + rest.iter().position(|byte| *byte == 0)?;
        }
        at += name.checked_sub(shared)?;
        name_before = name;
        at = match version {
            // Filled up with one to eight NULs.
            2 | 3 => start + ((at - start) / 8 + 1) * 8,
            4 => at + 1,
            _ => return None,
        };
    }
    let end = bytes.len().checked_sub(hash)?;
    while at < end {
        // The rest of a split index is in another file.
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(number(bytes, at + 4)?)?;
    }
    (at == end).then_some(found)
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(u16::from_be_bytes(two))
}

/// How much of the name before does not count, and how many bytes say so.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().take(8).enumerate() {
        let seven = usize::from(byte & 0x7f);
        value = match at {
            0 => seven,
            _ => value.checked_add(1)?.checked_mul(128)?.checked_add(seven)?,
        };
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::git;

    /// Names that share beginnings, one that is longer than its length can be written.
    fn repository(format: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let object_format = format!("--object-format={format}");
        git(root.path(), &["init", "-q", &object_format]);
        let long = vec!["x".repeat(200); 25].join("/");
        // Such a path cannot be in the file system, but in an index it can.
        let id = git(root.path(), &["hash-object", "-w", "--stdin"]);
        for name in ["a", "app/one", "app/one.more", "app/two", "b", &long] {
            let entry = format!("100644,{id},{name}");
            git(
                root.path(),
                &["update-index", "--add", "--cacheinfo", &entry],
            );
        }
        root
    }

    #[test]
    fn both_flags_are_found_in_every_version() {
        for format in ["sha1", "sha256"] {
            for version in ["2", "4"] {
                let root = repository(format);
                let index = root.path().join(".git/index");
                let mark = |flag: &str| git(root.path(), &["update-index", flag, "app/two"]);
                git(root.path(), &["update-index", "--index-version", version]);
                let said = |wanted: bool| {
                    let bytes = fs::read(&index).unwrap();
                    let found: Vec<bool> = HASHES
                        .iter()
                        .filter_map(|hash| read(&bytes, *hash))
                        .map(|flags| flags.hiding)
                        .collect();
                    assert_eq!(found, [wanted], "{format} {version}");
                    assert_eq!(may_have_flags(&index), wanted);
                };
                said(false);
                // Another one of the further flags.
                git(root.path(), &["update-index", "--fsmonitor-valid", "a"]);
                said(false);
                for (on, off) in [
                    ("--assume-unchanged", "--no-assume-unchanged"),
                    ("--skip-worktree", "--no-skip-worktree"),
                ] {
                    mark(on);
                    said(true);
                    mark(off);
                    said(false);
                    assert!(is_plain(&index));
                }
                fs::write(root.path().join("new"), "new").unwrap();
                git(root.path(), &["add", "-N", "new"]);
                said(false);
                assert!(!is_plain(&index));
            }
        }
    }

    #[test]
    fn a_split_index_and_what_is_damaged_are_left_to_git() {
        let root = repository("sha1");
        let index = root.path().join(".git/index");
        let bytes = fs::read(&index).unwrap();
        for length in 0..bytes.len() {
            for hash in HASHES {
                let hiding = read(&bytes[..length], hash).map(|flags| flags.hiding);
                assert_ne!(hiding, Some(false), "{length}");
            }
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            // Any answer, but one.
            for hash in HASHES {
                let _ = read(&damaged, hash);
            }
        }
        git(root.path(), &["update-index", "--split-index"]);
        assert!(may_have_flags(&index));
        fs::write(&index, "no index").unwrap();
        assert!(may_have_flags(&index));
        fs::remove_file(&index).unwrap();
        assert!(!may_have_flags(&index));
    }
}
