//! Branches read from git's own files: a process less for a question that every start asks several times. Whatever
//! is not as plain as a branch in a plain repository is left to git.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What the files say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Commit(String),
    /// There is no such branch.
    Nothing,
    /// Ask git.
    Unknown,
}

/// The commit of a branch, by its name or its full name.
pub(super) fn look_up(repository: &Path, revision: &str) -> Found {
    let git = repository.join(".git");
    // A worktree's or a submodule's `.git` is a file, and a bare repository has none.
    if !is_plain(revision) || !git.join("refs/heads").is_dir() || !uses_files(&git) {
        return Found::Unknown;
    }
    let Ok(packed) = packed(&git) else {
        return Found::Unknown;
    };
    let full = match revision.strip_prefix("refs/") {
        Some(_) => revision.to_owned(),
        None => {
            // What git would find before the branch.
            let before = ["", "refs/", "refs/tags/"].map(|above| format!("{above}{revision}"));
            let taken =
                |name: &String| git.join(name).exists() || in_packed(&packed, name).is_some();
            if before.iter().any(taken) {
                return Found::Unknown;
            }
            format!("refs/heads/{revision}")
        }
    };
    let found = match fs::read_to_string(git.join(&full)) {
        Ok(text) => Some(text.trim_end().to_owned()),
        Err(error) if is_absent(error.kind()) => {
            // Git packs before it deletes: read in this order, nothing is missed.
            let packed = fs::read_to_string(git.join("packed-refs")).unwrap_or(packed);
            in_packed(&packed, &full)
        }
        Err(_) => return Found::Unknown,
    };
    // A tag may be of its own kind, and a ref may stand for another one.
    let branch = full.starts_with("refs/heads/") || full.starts_with("refs/remotes/");
    match found {
        Some(id) if branch && is_id(&id) => Found::Commit(id),
        Some(_) => Found::Unknown,
        // A short name may still be a remote's, or the beginning of an id.
        None if revision != full => Found::Unknown,
        None => Found::Nothing,
    }
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory
    )
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

fn packed(git: &Path) -> std::io::Result<String> {
    match fs::read_to_string(git.join("packed-refs")) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        other => other,
    }
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

    #[test]
    fn the_files_say_what_git_says_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        git(folder, &["init", "-q", "-b", "main"]);
        assert_eq!(look_up(folder, "refs/heads/main"), Found::Nothing);
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
        let commit = |id: &str| Found::Commit(id.to_owned());
        for (revision, found) in [
            ("main", commit(&second)),
            ("refs/heads/main", commit(&second)),
            ("packed", commit(&first)),
            ("refs/heads/a/b", commit(&first)),
            ("refs/heads/a", Found::Nothing),
            ("refs/heads/main/x", Found::Nothing),
            ("refs/heads/none", Found::Nothing),
            ("none", Found::Unknown),
            ("both", Found::Unknown),
            ("abcd", Found::Unknown),
            ("alias", Found::Unknown),
            ("main~1", Found::Unknown),
            ("HEAD", Found::Unknown),
            ("../main", Found::Unknown),
            ("refs/tags/both", Found::Unknown),
            ("refs/tags/none", Found::Nothing),
            ("refs/remotes/origin/main", Found::Nothing),
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
