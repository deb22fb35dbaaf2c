//! What programs say of their version, remembered for as long as their file stays the same: asking costs a process at
//! every start, and with some agents a tenth of a second.

use crate::error::Result;
use crate::store::{private, temporary};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder in Orange's home. All of it can be thrown away.
pub const FOLDER: &str = "versions";

/// What `ask` said of this program when it was last asked. Only a good answer is kept.
pub fn remembered(
    home: &Path,
    program: &Path,
    ask: impl FnOnce() -> Result<String>,
) -> Result<String> {
    let Some((file, stamp)) = place(home, program) else {
        return ask();
    };
    let known = fs::read_to_string(&file).unwrap_or_default();
    if let Some(version) = known.strip_prefix(&stamp) {
        return Ok(version.to_owned());
    }
    let version = ask()?;
    let keep = || {
        private::make_folders(&home.join(FOLDER))?;
        temporary::write_unsynced(&file, format!("{stamp}{version}"))
    };
    if let Err(error) = keep() {
        // It is asked again the next time.
        tracing::debug!(%error, "a version is not remembered");
    }
    Ok(version)
}

/// Where it is remembered, and what tells this very file from another one under its name.
pub(crate) fn place(home: &Path, program: &Path) -> Option<(PathBuf, String)> {
    let about = fs::metadata(program).ok()?;
    let name = program.file_name()?.to_str()?;
    let stamp = format!(
        "{} {} {} {}.{}\n",
        program.display(),
        about.ino(),
        about.size(),
        about.ctime(),
        about.ctime_nsec()
    );
    Some((home.join(FOLDER).join(name), stamp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::err;

    #[test]
    fn a_version_is_asked_for_once_until_the_program_changes() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("agent");
        fs::write(&program, "one").unwrap();
        let asked = |answer: Result<String>| remembered(home.path(), &program, || answer);
        let fails = || Err(err!(Failed, "too old"));
        assert!(asked(fails()).is_err());
        assert_eq!(asked(Ok("1.0\nx".into())).unwrap(), "1.0\nx");
        assert_eq!(asked(fails()).unwrap(), "1.0\nx");
        fs::write(&program, "another").unwrap();
        assert!(asked(fails()).is_err());
        assert_eq!(asked(Ok("2.0".into())).unwrap(), "2.0");
        assert_eq!(asked(Ok("3.0".into())).unwrap(), "2.0");
    }
}
