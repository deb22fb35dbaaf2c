//! Which live processes live in a folder. A slot that somebody still lives in is not reset or given away.

#[cfg(test)]
mod tests;

use crate::screen_tail::shortened;
use orange_sys::process::{Stat, about, pids};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A process that lives in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occupant {
    pub pid: u32,
    /// Its command line, made fit for one line of a message.
    pub name: String,
}

/// The processes whose current folder, root or executable lies in `folder`, but for these, by pid.
///
/// Only what may be looked at counts: processes of other users are passed over. On systems other than Linux
/// nobody is ever found (they have no /proc; untested there).
pub fn others_in_folder(folder: &Path, except: &[u32]) -> Vec<Occupant> {
    let folder = real(folder);
    let mut found: Vec<Occupant> = pids()
        .filter(|pid| !except.contains(pid) && lives_in(*pid, &folder))
        .map(|pid| Occupant {
            pid,
            name: name_of(pid),
        })
        .collect();
    found.sort();
    found
}

/// The files in a folder that some process has open for writing, by their paths in it. Processes of other users are passed
/// over.
pub fn open_for_writing(folder: &Path) -> BTreeSet<PathBuf> {
    let folder = real(folder);
    let mut found = BTreeSet::new();
    for pid in pids() {
        // A shell gives a file that it has opened another number: while one is looked for, it is at neither.
        for _ in 0..MOST_LOOKS {
            if note_written(pid, &folder, &mut found) {
                break;
            }
        }
    }
    found
}

/// So often a process is looked at whose files change meanwhile.
const MOST_LOOKS: usize = 100;

/// Adds the files in a folder that a process has open for writing; false if it closed one while they were looked at.
fn note_written(pid: u32, folder: &Path, found: &mut BTreeSet<PathBuf>) -> bool {
    let mut is_whole = true;
    let files = fs::read_dir(format!("/proc/{pid}/fd"));
    for file in files.into_iter().flatten().flatten() {
        let Ok(target) = fs::read_link(file.path()) else {
            is_whole = false;
            continue;
        };
        let Ok(inside) = target.strip_prefix(folder) else {
            continue;
        };
        match is_written(&file.path()) {
            Some(true) => drop(found.insert(inside.to_owned())),
            Some(false) => {}
            None => is_whole = false,
        }
    }
    is_whole
}

/// This process and those it descends from: the shell somebody typed the command in is no stranger.
pub fn own_line() -> Vec<u32> {
    // An agent must not get out of sight behind many shells.
    const LONGEST: usize = 65_536;
    let mut line = vec![std::process::id()];
    while let Some(parent) = line
        .last()
        .and_then(|pid| Stat::of(*pid))
        .map(|stat| stat.parent)
    {
        if parent == 0 || line.len() >= LONGEST || line.contains(&parent) {
            break;
        }
        line.push(parent);
    }
    line
}

/// The words that a process was started with; none if it is gone or may not be looked at.
pub fn command_line(pid: u32) -> Vec<String> {
    let line = about(pid, "cmdline").unwrap_or_default();
    let words = line.split(|byte| *byte == 0);
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// `file`: an entry of /proc/PID/fd; None: it was closed meanwhile.
fn is_written(file: &Path) -> Option<bool> {
    let name = file.file_name().unwrap_or_default();
    let about = file.parent()?.parent()?.join("fdinfo").join(name);
    let text = fs::read_to_string(about).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    let flags = i32::from_str_radix(line.trim(), 8).ok()?;
    Some(flags & libc::O_ACCMODE != libc::O_RDONLY)
}

/// The kernel names folders by their real path. One that is gone has the real path of what is left above it.
fn real(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    for above in folder.ancestors() {
        if let Ok(real) = above.canonicalize() {
            return match folder.strip_prefix(above) {
                // Joining nothing would add a slash.
                Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                Ok(_) | Err(_) => real,
            };
        }
    }
    folder
}

fn lives_in(pid: u32, folder: &Path) -> bool {
    let target = |link: &str| fs::read_link(format!("/proc/{pid}/{link}")).ok();
    // Without an executable it is a thread of the kernel, of which there are many, or it has ended.
    let Some(program) = target("exe") else {
        return false;
    };
    let places = ["cwd", "root"].into_iter().filter_map(target);
    std::iter::once(program)
        .chain(places)
        .any(|place| is_inside(&place, folder))
}

/// A folder or program that was removed meanwhile is named with this at its end.
fn is_inside(target: &Path, folder: &Path) -> bool {
    if target.starts_with(folder) {
        return true;
    }
    target
        .as_os_str()
        .as_bytes()
        .strip_suffix(b" (deleted)")
        .is_some_and(|removed| Path::new(OsStr::from_bytes(removed)).starts_with(folder))
}

fn name_of(pid: u32) -> String {
    let line = about(pid, "cmdline").unwrap_or_default();
    let name = one_line(&line);
    if !name.is_empty() {
        return name;
    }
    one_line(&fs::read(format!("/proc/{pid}/comm")).unwrap_or_default())
}

/// Words that NUL separates as one short line, without anything a terminal would obey.
fn one_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_control() || letter.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect();
    shortened(&words.join(" "), 80)
}
