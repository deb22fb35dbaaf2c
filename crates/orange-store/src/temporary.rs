//! Names of files in the making. Each name holds the number of the process that writes it, so that the next command
//! can remove what a killed process left.

use super::private;
use orange_sys::listing;
use orange_sys::process::unique_name;
use std::fs;
use std::io;
use std::path::Path;

/// Stands between the name of the finished file and the number of the process.
const MARK: &str = ".orange-";

/// A name under which this process prepares a file: `.projects.json.orange-4711.0`. Parts may follow after a dot.
pub fn name_of(target: &str) -> String {
    format!(".{target}{MARK}{}", unique_name())
}

/// Writes a file whole or not at all. It is not synced, so a loss of power may undo it.
pub fn write_unsynced(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let target = path.file_name().and_then(|name| name.to_str());
    let target = target.ok_or(io::ErrorKind::InvalidInput)?;
    let prepared = path.with_file_name(name_of(target));
    private::write(&prepared, content)
        .and_then(|()| fs::rename(&prepared, path))
        .inspect_err(|_| {
            let _ = fs::remove_file(&prepared);
        })
}

/// Removes the files and folders in a folder that processes were preparing when they were killed. Errors are ignored: the next
/// command tries again, and `doctor` reports what stays.
pub fn remove_abandoned(folder: &Path) {
    for entry in listing::checked(folder).unwrap_or_default() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(is_abandoned) {
            continue;
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = if is_folder {
            fs::remove_dir_all(entry.path())
        } else {
            fs::remove_file(entry.path())
        };
        if removed.is_ok() {
            tracing::info!(file = %entry.path().display(), "removed what a killed process left");
        }
    }
}

/// Returns true if a process that has ended was preparing the file of this name.
pub fn is_abandoned(name: &str) -> bool {
    let process = name.strip_prefix('.').and_then(|name| {
        let (_, rest) = name.rsplit_once(MARK)?;
        rest.split('.').next()?.parse().ok()
    });
    process.is_some_and(has_ended)
}

/// Returns true if no process has this number.
pub fn has_ended(process: u32) -> bool {
    /// No system counts its processes further.
    const HIGHEST: u32 = 1 << 22;
    process <= HIGHEST && !Path::new("/proc").join(process.to_string()).exists()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let ended = 1 << 22;
        let abandoned = [
            format!(".pool.json.orange-{ended}"),
            format!(".pool.json.orange-{ended}.part"),
            format!(".config.orange-yaml.orange-{ended}.1.part"),
        ];
        let kept = [
            format!(".pool.json.orange-{own}.part"),
            format!("pool.json.orange-{ended}"),
            format!(".pool.json.{ended}"),
            ".pool.json".to_owned(),
            ".pool.json.orange-20261103".to_owned(),
            ".pool.json.orange-backup".to_owned(),
        ];
        for name in abandoned.iter().chain(&kept) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        remove_abandoned(folder.path());
        let left = fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), kept.len(), "{left:?}");
        assert!(kept.iter().all(|name| folder.path().join(name).exists()));
    }

    #[test]
    fn a_file_is_written_whole_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("version");
        write_unsynced(&path, "1").unwrap();
        write_unsynced(&path, "2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
        fs::create_dir(folder.path().join("taken")).unwrap();
        assert!(write_unsynced(&folder.path().join("taken"), "3").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
