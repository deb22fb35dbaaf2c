//! Taking back a fast-forward that was cut short: git had written some of the files, and one of them perhaps half.

use super::super::Git;
use orange_sys::error::{IoContext, Result};
use orange_sys::private::unless_gone;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A file as a commit has it.
#[derive(PartialEq)]
struct Version<'a> {
    mode: &'a str,
    blob: &'a str,
}

/// One that differs between the two commits.
struct Changed<'a> {
    path: &'a OsStr,
    before: Version<'a>,
    after: Version<'a>,
}

const NOTHING: &str = "000000";
const LINK: &str = "120000";
const SUBMODULE: &str = "160000";

/// Puts back what git had made of `from` on its way to `to`, and leaves alone what is anything else: the user's.
pub(super) fn restore(checkout: &Path, from: &str, to: &str) -> Result<()> {
    let said = Git::at(checkout)
        .args(["diff-tree", "-r", "-z", "--raw", "--no-abbrev"])
        .args(["--no-renames", from, to])
        .run()?
        .checked("git diff-tree")?;
    let parts: Vec<&OsStr> = said.parts().collect();
    let changes = parts
        .chunks_exact(2)
        .filter_map(|pair| read(pair[0], pair[1]));
    let (new, old): (Vec<Changed<'_>>, Vec<Changed<'_>>) = changes
        .filter(|change| ![change.before.mode, change.after.mode].contains(&SUBMODULE))
        .partition(|change| change.before.mode == NOTHING);
    let now = contents(checkout, new.iter().chain(&old))?;
    // What came goes first: it may stand where something else was.
    for change in &new {
        if is_ours(checkout, change, &now)? {
            remove(checkout, change.path)?;
        }
    }
    let mut input = Vec::new();
    for change in &old {
        if is_ours(checkout, change, &now)? {
            input.extend(change.path.as_bytes());
            input.push(0);
        }
    }
    if !input.is_empty() {
        Git::at(checkout)
            .args(["checkout-index", "--force", "-z", "--stdin"])
            .input(input)
            .text()?;
    }
    Ok(())
}

/// What the files hold now, by one call of git however many they are. It reads a name a line: one with a line end in it
/// is taken for the user's.
fn contents<'a>(
    checkout: &Path,
    changes: impl Iterator<Item = &'a Changed<'a>>,
) -> Result<BTreeMap<&'a OsStr, String>> {
    let is_file = |path: &OsStr| {
        let about = fs::symlink_metadata(checkout.join(path));
        about.is_ok_and(|about| about.is_file()) && !path.as_bytes().contains(&b'\n')
    };
    let paths: Vec<&OsStr> = changes
        .map(|change| change.path)
        .filter(|path| is_file(path))
        .collect();
    let mut names = Vec::new();
    for path in &paths {
        names.extend_from_slice(path.as_bytes());
        names.push(b'\n');
    }
    let hashes = Git::at(checkout)
        .args(["hash-object", "--stdin-paths"])
        .input(names)
        .text()?;
    let hashes = hashes.lines().map(str::to_owned);
    Ok(paths.into_iter().zip(hashes).collect())
}

/// `:100644 100755 BLOB BLOB M`
fn read<'a>(about: &'a OsStr, path: &'a OsStr) -> Option<Changed<'a>> {
    let mut words = about.to_str()?.strip_prefix(':')?.split(' ');
    let modes = (words.next()?, words.next()?);
    let blobs = (words.next()?, words.next()?);
    Some(Changed {
        path,
        before: Version {
            mode: modes.0,
            blob: blobs.0,
        },
        after: Version {
            mode: modes.1,
            blob: blobs.1,
        },
    })
}

/// Did git leave it so? It takes the old file away before it writes the new one.
fn is_ours(checkout: &Path, change: &Changed<'_>, now: &BTreeMap<&OsStr, String>) -> Result<bool> {
    let file = checkout.join(change.path);
    let Ok(about) = fs::symlink_metadata(&file) else {
        return Ok(change.before.mode != NOTHING);
    };
    let (before, after) = (&change.before, &change.after);
    if after.mode == NOTHING || about.is_dir() {
        return Ok(false);
    }
    if about.is_symlink() {
        let target = fs::read_link(&file).doing("read", &file)?;
        return Ok(after.mode == LINK && {
            let hash = Git::at(checkout).args(["hash-object", "--stdin"]);
            hash.input(target.as_os_str().as_bytes()).text()? == after.blob
        });
    }
    if after.mode == LINK || !about.is_file() {
        return Ok(false);
    }
    let Some(now) = now.get(change.path) else {
        return Ok(false);
    };
    let is_after = now == after.blob;
    if !is_after && now == before.blob {
        return Ok(false);
    }
    if is_after && before.blob == after.blob && before.mode != LINK {
        let runs = about.permissions().mode() & 0o100 != 0;
        return Ok(runs == after.mode.ends_with("755"));
    }
    Ok(is_after || is_begun(checkout, &file, change)?)
}

/// Is it the beginning of the new file, and no more?
fn is_begun(checkout: &Path, file: &Path, change: &Changed<'_>) -> Result<bool> {
    let mut path = OsString::from("--path=");
    path.push(change.path);
    let whole = Git::at(checkout)
        .args(["cat-file", "--filters"])
        .arg(path)
        .arg(change.after.blob)
        .run()?;
    let here = fs::read(file).doing("read", file)?;
    Ok(whole.success && here.len() < whole.stdout.len() && whole.stdout.starts_with(&here))
}

/// With the folders that came for it.
fn remove(checkout: &Path, path: &OsStr) -> Result<()> {
    let file = checkout.join(path);
    unless_gone(fs::remove_file(&file)).doing("remove", &file)?;
    let above = file.ancestors().skip(1);
    for folder in above.take_while(|folder| *folder != checkout) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::git;

    #[test]
    fn files_that_were_written_half_way_are_put_back_and_the_users_stay() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        git(folder, &["init", "-q", "-b", "main"]);
        for name in ["changed", "deleted", "edited", "not reached"] {
            write(name, "old\n");
        }
        git(folder, &["add", "."]);
        git(folder, &["commit", "-qm", "one"]);
        let from = git(folder, &["rev-parse", "HEAD"]);
        let new = [
            "changed",
            "edited",
            "not reached",
            "added",
            "added and edited",
        ];
        for name in new {
            write(name, "new\n");
        }
        git(folder, &["rm", "-q", "deleted"]);
        git(folder, &["add", "."]);
        git(folder, &["commit", "-qm", "two"]);
        let to = git(folder, &["rev-parse", "HEAD"]);
        git(folder, &["reset", "-q", "--hard", &from]);
        // As far as a git came that was killed, and what the user did meanwhile.
        for name in ["changed", "added"] {
            write(name, "new\n");
        }
        for name in ["edited", "added and edited"] {
            write(name, "the user's\n");
        }
        fs::remove_file(folder.join("deleted")).unwrap();
        restore(folder, &from, &to).unwrap();
        let status = git(folder, &["status", "--porcelain"]);
        assert_eq!(status, " M edited\n?? \"added and edited\"");
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(text("edited"), "the user's\n");
        assert_eq!(
            (text("changed"), text("deleted")),
            ("old\n".into(), "old\n".into())
        );
    }
}
