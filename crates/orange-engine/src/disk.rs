//! How much disk a folder takes.

use orange_core::Timestamp;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The size of a block as `stat` counts them, whatever the file system's own is.
const BLOCK: u64 = 512;

/// What a folder takes on disk, in bytes, as `du -x` counts: blocks in use, a file with several names once,
/// links not followed, other mounts not entered. What cannot be read counts as nothing.
pub fn used(folder: &Path) -> u64 {
    let Ok(top) = fs::symlink_metadata(folder) else {
        return 0;
    };
    let mut bytes = top.blocks() * BLOCK;
    let mut seen = HashSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop().filter(|_| top.is_dir()) {
        let Ok(entries) = fs::read_dir(&next) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else {
                continue;
            };
            let another_name =
                !about.is_dir() && about.nlink() > 1 && !seen.insert((about.dev(), about.ino()));
            if about.dev() != top.dev() || another_name {
                continue;
            }
            bytes += about.blocks() * BLOCK;
            if about.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

/// When a file was last written; None for links, folders and what cannot be looked at.
pub(crate) fn written(path: &Path) -> Option<Timestamp> {
    let about = fs::symlink_metadata(path).ok()?;
    let time = about.is_file().then(|| about.modified().ok())??;
    Timestamp::try_from(time).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn it_counts_what_du_counts() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("slot");
        fs::create_dir_all(folder.join("a/b/c")).unwrap();
        fs::write(folder.join("a/big"), vec![7; 300_000]).unwrap();
        fs::write(folder.join("a/b/small"), "x").unwrap();
        fs::hard_link(folder.join("a/big"), folder.join("a/b/c/again")).unwrap();
        fs::write(root.path().join("outside"), vec![7; 900_000]).unwrap();
        std::os::unix::fs::symlink(root.path(), folder.join("a/link")).unwrap();
        let output = Command::new("du")
            .args(["-sx", "--block-size=1"])
            .arg(&folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let expected: u64 = text.split('\t').next().unwrap().parse().unwrap();
        assert_eq!(used(&folder), expected);
        assert!(expected > 300_000 && expected < 600_000, "{expected}");
    }

    #[test]
    fn a_folder_that_is_not_there_takes_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(used(&root.path().join("gone")), 0);
    }
}
