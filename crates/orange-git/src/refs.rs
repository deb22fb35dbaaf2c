//! Branches read from git's own files: a process less for a question that every start asks several times. Whatever
//! is not as plain as a branch in a plain repository is left to git.

use orange_sys::private::unless_gone;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The commit of a branch, by its name or its full name; `Some(None)` where there is no such branch. None: ask git.
pub(super) fn look_up(repository: &Path, revision: &str) -> Option<Option<String>> {
    let git = repository.join(".git");
    // A worktree's or a submodule's `.git` is a file, and a bare repository has none.
    if !is_plain(revision) || !git.join("refs/heads").is_dir() || !uses_files(&git) {
        return None;
    }
    let packed = packed(&git).ok()?;
    let full = match revision.strip_prefix("refs/") {
        Some(_) => revision.to_owned(),
        None => {
            // What git would find before the branch.
            let before = ["", "refs/", "refs/tags/"].map(|above| format!("{above}{revision}"));
            let taken =
                |name: &String| git.join(name).exists() || in_packed(&packed, name).is_some();
            if before.iter().any(taken) {
                return None;
            }
            format!("refs/heads/{revision}")
        }
    };
    let found = match fs::read_to_string(git.join(&full)) {
        Ok(text) => Some(text.trim_end().to_owned()),
        Err(error) if is_absent(&error) => {
            // Git packs before it deletes: read in this order, nothing is missed.
            let packed = fs::read_to_string(git.join("packed-refs")).unwrap_or(packed);
            in_packed(&packed, &full)
        }
        Err(_) => return None,
    };
    // A tag may be of its own kind, and a ref may stand for another one.
    let branch = full.starts_with("refs/heads/") || full.starts_with("refs/remotes/");
    match found {
        Some(id) => (branch && is_id(&id)).then_some(Some(id)),
        // A short name may still be a remote's, or the beginning of an id.
        None => (revision == full).then_some(None),
    }
}

/// Is there no such file?
pub(super) fn is_absent(error: &io::Error) -> bool {
    use ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// No operator of git's, nothing that leads elsewhere, and no name that could be an id.
fn is_plain(revision: &str) -> bool {
    let letter =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.');
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    revision.bytes().all(letter)
        && !revision.starts_with('-')
        && !revision.contains("..")
        && revision.split('/').all(part)
        && revision != "HEAD"
        && !(revision.len() >= 4 && is_hex(revision))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && is_hex(text)
}

/// Other ways to store refs leave nothing in these files.
pub(super) fn uses_files(git: &Path) -> bool {
    !git.join("reftable").exists()
}

fn packed(git: &Path) -> io::Result<String> {
    let packed = unless_gone(fs::read_to_string(git.join("packed-refs")))?;
    Ok(packed.unwrap_or_default())
}

fn in_packed(packed: &str, name: &str) -> Option<String> {
    packed.lines().find_map(|line| {
        let (id, of) = line.split_once(' ')?;
        (of == name && is_id(id)).then(|| id.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::git;
    use crate::{Git, commit_of};

    const NOTHING: Option<Option<String>> = Some(None);
    const UNKNOWN: Option<Option<String>> = None;

    #[test]
    fn the_files_say_what_git_says_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        git(folder, &["init", "-q", "-b", "main"]);
        assert_eq!(look_up(folder, "refs/heads/main"), NOTHING);
        git(folder, &["commit", "-q", "--allow-empty", "-m", "one"]);
        let first = git(folder, &["rev-parse", "HEAD"]).trim().to_owned();
        for name in ["packed", "a/b", "both", "abcd"] {
            git(folder, &["branch", name]);
        }
        git(folder, &["pack-refs", "--all"]);
        git(folder, &["commit", "-q", "--allow-empty", "-m", "two"]);
        git(folder, &["tag", "both", &first]);
        git(
            folder,
            &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
        );
        let second = git(folder, &["rev-parse", "HEAD"]).trim().to_owned();
        let commit = |id: &str| Some(Some(id.to_owned()));
        for (revision, found) in [
            ("main", commit(&second)),
            ("refs/heads/main", commit(&second)),
            ("packed", commit(&first)),
            ("refs/heads/a/b", commit(&first)),
            ("refs/heads/a", NOTHING),
            ("refs/heads/main/x", NOTHING),
            ("refs/heads/none", NOTHING),
            ("none", UNKNOWN),
            ("both", UNKNOWN),
            ("abcd", UNKNOWN),
            ("alias", UNKNOWN),
            ("main~1", UNKNOWN),
            ("HEAD", UNKNOWN),
            ("../main", UNKNOWN),
            ("refs/tags/both", UNKNOWN),
            ("refs/tags/none", NOTHING),
            ("refs/remotes/origin/main", NOTHING),
        ] {
            assert_eq!(look_up(folder, revision), found, "{revision}");
            // With the files or without: the answer is git's.
            let words = [
                "rev-parse",
                "--verify",
                "--quiet",
                &format!("{revision}^{{commit}}"),
            ];
            let said = Git::at(folder).args(words).ask().unwrap();
            assert_eq!(commit_of(folder, revision).unwrap(), said, "{revision}");
        }
    }
}
