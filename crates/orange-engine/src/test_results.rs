//! The folder `test-results/` of a task. A report that is imported is staged in a folder of its own first (`stage.rs`), with the
//! files that it names, which are opened beneath the imported folder alone (`beneath.rs`); then a row of orange.db names the
//! import, and its files are moved to their places (`place.rs`). Whoever locks the task after a kill finishes that.

mod beneath;
mod place;
mod stage;

use crate::error::{IoContext, Result, err};
use crate::store::make_folder;
use orange_core::work::test_results::{FOLDER, REPORT, SCREENSHOTS};
pub(crate) use place::{drop_leftovers, is_staged, place};
use sha2::{Digest, Sha256};
pub(crate) use stage::{Source, Staged, stage};
use std::fs::{self, File};
use std::io::{self, Read};
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

/// The task's own report.
pub(crate) fn report_of(task: &Path) -> PathBuf {
    task.join(FOLDER).join(REPORT)
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

/// The digest of the task's own report; None: there is none, or it is no file.
pub(crate) fn digest_of_report(task: &Path) -> Result<Option<String>> {
    let path = report_of(task);
    match fs::symlink_metadata(&path) {
        Ok(about) if about.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).doing("read", &path),
    }
    let file = File::open(&path).doing("read", &path)?;
    let mut digesting = Digesting::of(file);
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
