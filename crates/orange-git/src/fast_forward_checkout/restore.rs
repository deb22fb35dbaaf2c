//! Taking back a fast-forward that was cut short: git had written some of the files, and one of them perhaps half.

use crate::hashes::{is_line, link_hash};
use crate::rescue::{Difference, LINK as SUBMODULE, differences, nul_separated};
use crate::{Git, Site};
use orange_sys::error::{IoContext, Result};
use orange_sys::private::unless_gone;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const NOTHING: &str = "000000";
const LINK: &str = "120000";

/// Puts back what git had made of `from` on its way to `to`, and leaves alone what is anything else: the user's.
pub(super) fn restore(checkout: &Site, from: &str, to: &str) -> Result<()> {
    let (new, old): (Vec<Difference>, Vec<Difference>) = differences(checkout, from, to)?
        .into_iter()
        .filter(|change| change.old_mode != SUBMODULE && change.new_mode != SUBMODULE)
        .partition(|change| change.old_mode == NOTHING);
    let now = contents(checkout, new.iter().chain(&old))?;
    // What came goes first: it may stand where something else was.
    for change in &new {
        if is_ours(checkout, change, &now)? {
            remove(checkout, &change.path)?;
        }
    }
    let mut ours = Vec::new();
    for change in &old {
        if is_ours(checkout, change, &now)? {
            ours.push(&change.path);
        }
    }
    if ours.is_empty() {
        return Ok(());
    }
    checkout
        .git()
        .args(["checkout-index", "--force", "-z", "--stdin"])
        .input(nul_separated(ours))
        .done()
}

/// What the files hold now, by one call of git however many they are. It reads a name a line: one with a line end in it
/// is taken for the user's.
fn contents<'a>(
    checkout: &Path,
    changes: impl Iterator<Item = &'a Difference>,
) -> Result<BTreeMap<&'a Path, String>> {
    let is_file = |path: &&Path| {
        let about = fs::symlink_metadata(checkout.join(path));
        about.is_ok_and(|about| about.is_file()) && is_line(path)
    };
    let paths: Vec<&Path> = changes
        .map(|change| change.path.as_path())
        .filter(is_file)
        .collect();
    let hashes = Git::at(checkout).arg("hash-object").hashes(&paths)?;
    Ok(paths.into_iter().zip(hashes).collect())
}

/// Did git leave it so? It takes the old file away before it writes the new one.
fn is_ours(checkout: &Path, change: &Difference, now: &BTreeMap<&Path, String>) -> Result<bool> {
    let file = checkout.join(&change.path);
    let Ok(about) = fs::symlink_metadata(&file) else {
        return Ok(change.old_mode != NOTHING);
    };
    if change.new_mode == NOTHING || about.is_dir() {
        return Ok(false);
    }
    if about.is_symlink() {
        return Ok(change.new_mode == LINK && link_hash(Git::at(checkout), &file)? == change.new_id);
    }
    if change.new_mode == LINK || !about.is_file() {
        return Ok(false);
    }
    let Some(now) = now.get(change.path.as_path()) else {
        return Ok(false);
    };
    let is_after = *now == change.new_id;
    if !is_after && *now == change.old_id {
        return Ok(false);
    }
    if is_after && change.old_id == change.new_id && change.old_mode != LINK {
        let runs = about.permissions().mode() & 0o100 != 0;
        return Ok(runs == change.new_mode.ends_with("755"));
    }
    Ok(is_after || is_begun(checkout, &file, change)?)
}

/// Is it the beginning of the new file, and no more?
fn is_begun(checkout: &Path, file: &Path, change: &Difference) -> Result<bool> {
    let mut path = OsString::from("--path=");
    path.push(&change.path);
    let whole = Git::at(checkout)
        .args(["cat-file", "--filters"])
        .arg(path)
        .arg(&change.new_id)
        .run()?;
    let here = fs::read(file).doing("read", file)?;
    Ok(whole.success && here.len() < whole.stdout.len() && whole.stdout.starts_with(&here))
}

/// With the folders that came for it.
fn remove(checkout: &Path, path: &Path) -> Result<()> {
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
    use crate::site::Behalf;
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
        restore(&Behalf::nobody().at(folder), &from, &to).unwrap();
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
