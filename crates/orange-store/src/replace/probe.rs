//! What a file system can do for those who edit a file while Orange does.

use super::lease;
use crate::private;
use orange_sys::process::unique_name;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// How files begin that are made for a moment to find out.
pub const PROBE: &str = ".probe-";

/// Can files be exchanged in one step, and writers be noticed by a lease, in this folder?
pub fn is_exact_in(folder: &Path) -> io::Result<bool> {
    let unique = unique_name();
    let name = |which: char| folder.join(format!("{PROBE}{unique}-{which}"));
    let (one, other) = (name('a'), name('b'));
    let probe = || {
        private::write(&one, "")?;
        private::write(&other, "")?;
        let exchanged = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).is_ok();
        Ok(exchanged && lease::is_given(&File::open(&one)?))
    };
    let found = probe();
    for path in [one, other] {
        let _ = fs::remove_file(path);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let _ = is_exact_in(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(is_exact_in(&folder.path().join("gone")).is_err());
    }
}
