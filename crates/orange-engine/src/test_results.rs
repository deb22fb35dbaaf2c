//! The folder `test-results/` of a task. A report that is imported is staged in a folder of its own first (`stage.rs`), with the
//! files that it names, which are opened beneath the imported folder alone (`beneath.rs`); then a row of orange.db names the
//! import, and its files are moved to their places (`place.rs`). Whoever locks the task after a kill finishes that.

mod beneath;
mod place;
mod stage;

use crate::call::Call;
use crate::database::StoredResults;
use crate::error::{IoContext, Result, err};
use crate::store::make_folder;
use beneath::{FoundBeneath, open_beneath, open_folder};
use orange_core::work::test_results::{FOLDER, REPORT, SCREENSHOTS};
pub(crate) use place::{is_staged, leftovers, place};
use sha2::{Digest, Sha256};
use stage::{LONGEST_REPORT, TOO_LONG};
pub(crate) use stage::{ReportSource, Staged, is_own_folder, stage};
use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The report of Playwright itself, when an agent left it in the place of ours.
const ORIGINAL: &str = "playwright.json";

/// Where an import is staged, in the task's folder.
fn staging(task: &Path, import: &str) -> PathBuf {
    task.join(format!("{STAGED}{import}"))
}

const STAGED: &str = ".test-results-";

/// Whether a task has test results, or an import of some that is not finished.
pub(crate) fn has_results(task: &Path) -> bool {
    let names = fs::read_dir(task).into_iter().flatten().flatten();
    names
        .map(|entry| entry.file_name())
        .any(|name| name == FOLDER || name.to_str().is_some_and(|name| name.starts_with(STAGED)))
}

/// What orange.db knows of the results of a task.
pub(crate) fn stored(call: &Call, task: &str) -> Result<Option<StoredResults>> {
    let found = call.with_existing_database(|database| database.results(task))?;
    Ok(found.flatten())
}

/// Folders in which an import of a task was staged that died before a row named it; the task's lock has to be held.
pub(crate) fn leftovers_of(call: &Call, task: &str, folder: &Path) -> Result<Vec<PathBuf>> {
    if leftovers(folder, None).is_empty() {
        return Ok(Vec::new());
    }
    let known = stored(call, task)?;
    Ok(leftovers(
        folder,
        known.as_ref().map(|known| known.import.as_str()),
    ))
}

/// The task's own report.
pub(crate) fn report_of(task: &Path) -> PathBuf {
    task.join(FOLDER).join(REPORT)
}

/// What is there; agents write it, so that it may be anything.
fn own_report(task: &Path) -> Result<FoundBeneath> {
    let found = open_folder(task).and_then(|folder| open_beneath(folder, &[FOLDER, REPORT]));
    found.doing("read", &report_of(task))
}

/// Opens the task's own report, whose length is limited; or tells why it is not read.
pub(crate) fn open_own_report(
    task: &Path,
) -> Result<std::result::Result<Take<File>, &'static str>> {
    let file = match own_report(task)? {
        FoundBeneath::File(file) => file,
        FoundBeneath::Other(why) => return Ok(Err(why)),
        FoundBeneath::Nothing => return Ok(Err("it is not there")),
    };
    let length = file.metadata().doing("read", &report_of(task))?.len();
    Ok(if length > LONGEST_REPORT {
        Err(TOO_LONG)
    } else {
        Ok(file.take(LONGEST_REPORT))
    })
}

/// Where agents put their screenshots. A link there would lead out of the task's folder, and is refused.
pub(crate) fn make_screenshots_folder(task: &Path) -> Result<PathBuf> {
    let results = task.join(FOLDER);
    let screenshots = results.join(SCREENSHOTS);
    for folder in [&results, &screenshots] {
        make_folder(folder).doing("create", folder)?;
        let about = fs::symlink_metadata(folder).doing("read", folder)?;
        if !about.is_dir() {
            return Err(err!(Refused, "{} is not a folder", folder.display())
                .hint("screenshots go into a folder of the task; move what is there away"));
        }
    }
    Ok(screenshots)
}

/// What tells the task's own report from another one; None: there is none. Of one that is no file, or too long to be a report, it is
/// not its text.
pub(crate) fn digest_of_report(task: &Path) -> Result<Option<String>> {
    let path = report_of(task);
    let file = match own_report(task)? {
        FoundBeneath::File(file) => file,
        FoundBeneath::Other(why) => return Ok(Some(why.to_owned())),
        FoundBeneath::Nothing => return Ok(None),
    };
    let about = file.metadata().doing("read", &path)?;
    if about.len() > LONGEST_REPORT {
        return Ok(Some(format!("{} bytes of {}", about.len(), about.mtime())));
    }
    let mut digesting = Digesting::of(file.take(LONGEST_REPORT));
    io::copy(&mut digesting, &mut io::sink()).doing("read", &path)?;
    Ok(Some(digesting.digest()))
}

/// A reader that digests what is read through it.
struct Digesting<R> {
    from: R,
    hash: Sha256,
}

impl<R: Read> Digesting<R> {
    fn of(from: R) -> Digesting<R> {
        Digesting {
            from,
            hash: Sha256::new(),
        }
    }

    /// Of what was read.
    fn digest(self) -> String {
        let bytes = self.hash.finalize();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn something_else_in_the_place_of_the_report_is_seen_and_refused() {
        let task = tempfile::tempdir().unwrap();
        let task = task.path();
        fs::create_dir(task.join(FOLDER)).unwrap();
        assert_eq!(digest_of_report(task).unwrap(), None);
        let report = report_of(task);
        let put: [(&str, &dyn Fn()); 2] = [
            ("symbolic link", &|| {
                symlink("/etc/passwd", &report).unwrap()
            }),
            ("no regular file", &|| {
                assert!(
                    Command::new("mkfifo")
                        .arg(&report)
                        .status()
                        .unwrap()
                        .success()
                );
            }),
        ];
        for (why, put) in put {
            put();
            let digest = digest_of_report(task).unwrap().unwrap();
            assert!(digest.contains(why), "{digest}");
            let source = ReportSource::found(task, task).unwrap();
            let refused = stage(task, "one", &source, &StoredResults::default());
            let message = refused.err().unwrap().message;
            assert!(message.contains(why), "{message}");
            fs::remove_file(&report).unwrap();
        }
    }
}
