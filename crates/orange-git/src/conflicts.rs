//! Whether branches could be merged into their targets. One process computes all merges, and nothing of them stays in
//! the repository.

use super::diff_stat::within;
use super::{Git, layout, refs};
use orange_sys::error::{Error, Result, err};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a merge of two commits would come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// The files in conflict; none: it merges cleanly.
    Files(Vec<String>),
    /// Git failed or took too long at this one.
    Failed,
    /// Git did not come to it.
    NotReached,
}

/// Stands for a conflict for which git names no file.
const UNNAMED: &str = "(no file named)";

/// Tries to merge each pair (target, branch), in their order. The trees that git writes go into `scratch`, an empty folder:
/// in the repository they would pile up until its next `git gc`. How a file is merged, `.gitattributes` of the target say, as at
/// the real merge (git 2.41 and newer); a merge driver of its own is not started, and its files count as any text.
pub fn trial_merges(
    repository: &Path,
    pairs: &[(&str, &str)],
    scratch: &Path,
    until: Instant,
) -> Result<Vec<Trial>> {
    let words = pairs.iter().flat_map(|(onto, head)| [onto, head]);
    if let Some(word) = words.clone().find(|id| !refs::is_id(id)) {
        return Err(err!(Failed, "{word:?} is no commit"));
    }
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let objects = objects_of(repository)?;
    make_repository(scratch, pairs)?;
    keep_shallow(&objects, scratch)?;
    let mut trials = Vec::new();
    // Attributes are read from one commit for a whole process. Branches of a repository seldom have several targets.
    for pairs in pairs.chunk_by(|one, other| one.0 == other.0) {
        trials.extend(of_one_target(pairs, scratch, &objects, until)?);
        if trials.last() == Some(&Trial::NotReached) {
            break;
        }
    }
    trials.resize(pairs.len(), Trial::NotReached);
    Ok(trials)
}

fn of_one_target(
    pairs: &[(&str, &str)],
    scratch: &Path,
    objects: &Path,
    until: Instant,
) -> Result<Vec<Trial>> {
    let input: String = pairs
        .iter()
        .map(|(onto, head)| format!("{onto} {head}\n"))
        .collect();
    let target = pairs.first().map_or("", |(onto, _)| onto);
    let git = Git::found_from(scratch).quiet().without_terminal();
    let said = within(git.setting("core.attributesFile=/dev/null"), Some(until))
        .env("GIT_DIR", scratch)
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_ATTR_SOURCE", target)
        // A merge driver would be named there.
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(objects))
        .args(["merge-tree", "--write-tree", "--name-only", "--no-messages"])
        .arg("--stdin")
        .input(input)
        .run()?;
    let mut trials = read(&said.stdout);
    if trials.len() < pairs.len() {
        trials.push(Trial::Failed);
    }
    trials.resize(pairs.len(), Trial::NotReached);
    Ok(trials)
}

/// Makes an empty repository: the settings and attributes of the real one may name programs, which a look at a list must not
/// start.
fn make_repository(folder: &Path, pairs: &[(&str, &str)]) -> Result<()> {
    let format = match pairs.first() {
        Some((id, _)) if id.len() == 64 => "1\n[extensions]\n\tobjectFormat = sha256",
        _ => "0",
    };
    let config = format!("[core]\n\tbare = true\n\trepositoryFormatVersion = {format}\n");
    let made = ["objects", "refs"]
        .iter()
        .try_for_each(|name| fs::create_dir(folder.join(name)))
        .and_then(|()| fs::write(folder.join("config"), config))
        .and_then(|()| fs::write(folder.join("HEAD"), "ref: refs/heads/none\n"));
    made.map_err(|error| Error::io("prepare", folder, &error))
}

/// A clone that is not whole says at which commits it ends; without that git looks for commits that are not there.
fn keep_shallow(objects: &Path, scratch: &Path) -> Result<()> {
    let ends = objects.with_file_name("shallow");
    match fs::copy(&ends, scratch.join("shallow")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("read", &ends, &error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Where the repository keeps its objects; read from the disk where that is enough.
fn objects_of(repository: &Path) -> Result<PathBuf> {
    if let Some(objects) = layout::objects(repository) {
        return Ok(objects);
    }
    let said = Git::at(repository)
        .args(["rev-parse", "--path-format=absolute", "--git-path"])
        .arg("objects")
        .checked()?;
    Ok(OsStr::from_bytes(said.stdout.trim_ascii_end()).into())
}

/// The variable is a list with colons in between; a name in quotes may hold anything.
fn quoted(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

/// For each merge: 1 or 0 for clean or not, the tree, the files in conflict, an empty part. The last one may be cut short.
fn read(output: &[u8]) -> Vec<Trial> {
    let text = String::from_utf8_lossy(output);
    let mut trials = Vec::new();
    let mut parts = text.split_terminator('\0');
    while let (Some(verdict), Some(_tree)) = (parts.next(), parts.next()) {
        let mut files: Vec<String> = Vec::new();
        let is_whole = loop {
            match parts.next() {
                None => break false,
                Some("") => break true,
                Some(file) if files.last().is_some_and(|last| last == file) => {}
                Some(file) => files.push(file.to_owned()),
            }
        };
        if !is_whole {
            break;
        }
        if verdict == "0" && files.is_empty() {
            files.push(UNNAMED.to_owned());
        }
        trials.push(Trial::Files(files));
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::git;
    use std::time::Duration;

    fn commit(folder: &Path, files: &[(&str, &str)]) -> String {
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", "change"]);
        git(folder, &["rev-parse", "HEAD"])
    }

    fn count_objects(folder: &Path) -> String {
        git(folder, &["count-objects"])
    }

    #[test]
    fn conflicts_are_found_and_nothing_is_left_in_the_repository() {
        let place = tempfile::tempdir().unwrap();
        // Each of these letters means something in git's list of folders.
        let folder = &place.path().join("a:b \"c\\d");
        fs::create_dir(folder).unwrap();
        git(folder, &["init", "-q", "-b", "main"]);
        let root = commit(folder, &[("a", "1\n"), ("b", "1\n"), ("gone", "1\n")]);
        git(folder, &["checkout", "-q", "-b", "both"]);
        let both = commit(folder, &[("a", "2\n"), ("b", "2\n")]);
        git(folder, &["checkout", "-q", "-b", "apart", &root]);
        let apart = commit(folder, &[("c", "1\n")]);
        git(folder, &["checkout", "-q", "-b", "kept", &root]);
        let kept = commit(folder, &[("gone", "2\n")]);
        git(folder, &["checkout", "-q", "main"]);
        git(folder, &["rm", "-q", "gone"]);
        let main = commit(folder, &[("a", "3\n"), ("b", "3\n")]);
        let before = count_objects(folder);
        let scratch = tempfile::tempdir().unwrap();
        let until = Instant::now() + Duration::from_secs(600);
        let pairs = [&both, &apart, &kept, &root].map(|head| (main.as_str(), head.as_str()));
        let trials = trial_merges(folder, &pairs, scratch.path(), until).unwrap();
        let files = |names: &[&str]| Trial::Files(names.iter().map(|&name| name.into()).collect());
        assert_eq!(
            trials,
            [files(&["a", "b"]), files(&[]), files(&["gone"]), files(&[])]
        );
        assert_eq!(count_objects(folder), before);
        // A driver that the repository names is not started.
        let ran = place.path().join("ran");
        let driver = format!("touch '{}'; false", ran.display());
        git(folder, &["config", "merge.x.driver", &driver]);
        fs::create_dir_all(folder.join(".git/info")).unwrap();
        fs::write(folder.join(".git/info/attributes"), "* merge=x\n").unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let pairs = [(main.as_str(), both.as_str())];
        let trials = trial_merges(folder, &pairs, scratch.path(), until).unwrap();
        assert_eq!(trials, [files(&["a", "b"])]);
        assert!(!ran.exists());
        let scratch = tempfile::tempdir().unwrap();
        // One that git does not find ends it; what it said before counts.
        let nowhere = "1".repeat(40);
        let pairs = [&both, &nowhere, &apart].map(|head| (main.as_str(), head.as_str()));
        let trials = trial_merges(folder, &pairs, scratch.path(), until).unwrap();
        assert_eq!(
            trials,
            [files(&["a", "b"]), Trial::Failed, Trial::NotReached]
        );
        assert!(trial_merges(folder, &[("--all", &both)], scratch.path(), until).is_err());
    }

    #[test]
    fn attributes_of_the_target_count_and_a_shallow_clone_is_no_trouble() {
        let place = tempfile::tempdir().unwrap();
        let folder = &place.path().join("whole");
        fs::create_dir(folder).unwrap();
        git(folder, &["init", "-q", "-b", "main"]);
        commit(folder, &[("x", "1\n")]);
        let attributes = "CHANGES merge=union\n";
        let root = commit(
            folder,
            &[(".gitattributes", attributes), ("CHANGES", "0\n")],
        );
        git(folder, &["checkout", "-q", "-b", "work"]);
        let work = commit(folder, &[("CHANGES", "0\nmine\n"), ("x", "mine\n")]);
        git(folder, &["checkout", "-q", "-b", "other", &root]);
        let other = commit(folder, &[("CHANGES", "0\nother\n")]);
        git(folder, &["checkout", "-q", "main"]);
        let main = commit(folder, &[("CHANGES", "0\nyours\n"), ("x", "yours\n")]);
        let url = format!("file://{}", folder.display());
        git(
            place.path(),
            &[
                "clone",
                "-q",
                "--depth",
                "2",
                "--no-single-branch",
                &url,
                "shallow",
            ],
        );
        let until = Instant::now() + Duration::from_secs(600);
        for folder in [folder, &place.path().join("shallow")] {
            let scratch = tempfile::tempdir().unwrap();
            let pairs = [
                (main.as_str(), other.as_str()),
                (&main, &work),
                (&other, &work),
            ];
            let trials = trial_merges(folder, &pairs, scratch.path(), until).unwrap();
            let files =
                |names: &[&str]| Trial::Files(names.iter().map(|&name| name.into()).collect());
            assert_eq!(
                trials,
                [files(&[]), files(&["x"]), files(&[])],
                "{}",
                folder.display()
            );
        }
    }

    #[test]
    fn what_is_cut_short_does_not_count() {
        let files = |names: &[&str]| Trial::Files(names.iter().map(|&name| name.into()).collect());
        let whole = b"0\0tree\0a\0a\0b\0\x001\0tree\0\x000\0tree\0\0";
        let wanted = [files(&["a", "b"]), files(&[]), files(&[UNNAMED])];
        assert_eq!(read(whole), wanted);
        for end in 0..whole.len() {
            let read = read(&whole[..end]);
            assert_eq!(read, wanted[..read.len()], "{end}");
        }
    }
}
