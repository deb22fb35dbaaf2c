//! `test-results import`: a report of a test run becomes the task's own, with the screenshots and traces that it names. Reports
//! that an agent leaves where its screenshots go are taken in by the executor.

use crate::access;
use crate::call::{Call, Caller};
use crate::database::StoredResults;
use crate::error::{Code, Error, Result, err};
use crate::store::Place;
use crate::test_results::{
    ReportSource, Staged, digest_of_report, is_own_folder, is_staged, stage, stored,
};
use crate::tx::commit::Committed;
use crate::tx::{self, TaskTx};
use orange_core::id::ID_ALPHABET;
use orange_core::work::test_results::{FOLDER, Figures};
use orange_sys::crash_points::crash_point;
use std::path::{Path, PathBuf};

/// Where a report was that nobody named.
const FOUND: &str = "found";

/// What came of an import.
#[derive(Debug)]
pub struct Imported {
    pub committed: Committed,
    pub figures: Figures,
    /// How many screenshots and traces are named that were not there.
    pub missing: usize,
    /// The report that was read.
    pub source: PathBuf,
}

/// Imports a report, or that of a folder.
pub fn import(call: &Call, place: Place, path: &Path) -> Result<Imported> {
    let mut tx = tx::lock_task(call, place)?;
    access::own_task_only(call, &tx.task, "import test results of")?;
    let source = ReportSource::given(path, &tx.place.path)?;
    let told = source.path().display().to_string();
    let staged = bring(&mut tx, &source, &told)?;
    Ok(Imported {
        committed: tx.commit(Vec::new())?,
        figures: staged.figures,
        missing: staged.missing,
        source: source.path().to_owned(),
    })
}

/// Whether there is a report in the task's folder that has not been looked at.
pub(crate) fn has_found(call: &Call, task: &str, folder: &Path) -> Result<bool> {
    let Some(digest) = digest_of_report(folder)? else {
        return Ok(false);
    };
    let known = stored(call, task)?;
    Ok(known.is_none_or(|known| known.seen != digest))
}

/// Takes in the report that a turn left. One that cannot be used is noted once, and harms nothing.
pub(crate) fn take_found(tx: &mut TaskTx<'_>, slot: &Path) -> Result<Option<Error>> {
    let source = ReportSource::found(&tx.place.path, slot)?;
    let known = stored(tx.call, &tx.task.id)?.unwrap_or_default();
    if is_staged(&tx.place.path, &known.import) {
        // Its row must not be replaced by a refusal: its files would belong to nobody.
        return Ok(Some(err!(Storage, "an earlier import is not finished")));
    }
    let error = match bring(tx, &source, FOUND) {
        Ok(_) => return Ok(None),
        Err(error) if error.code == Code::Refused => error,
        Err(error) => return Err(error),
    };
    let call = tx.call;
    let refused = StoredResults {
        import: new_name(),
        at: call.now(),
        by: by(call),
        source: FOUND.to_owned(),
        seen: digest_of_report(&tx.place.path)?.unwrap_or_default(),
        problem: Some(error.message.clone()),
        ..known
    };
    store(tx, &refused)?;
    Ok(Some(error))
}

/// Stages a report, stores what it came to, and has its files moved to their places.
fn bring(tx: &mut TaskTx<'_>, source: &ReportSource, told: &str) -> Result<Staged> {
    let call = tx.call;
    let folder = tx.place.path.clone();
    is_own_folder(&folder.join(FOLDER))?;
    let known = stored(call, &tx.task.id)?.unwrap_or_default();
    let import = new_name();
    let staged = stage(&folder, &import, source, &known)?;
    crash_point("results.staged");
    let results = StoredResults {
        import: import.clone(),
        at: call.now(),
        by: by(call),
        source: told.to_owned(),
        seen: staged.digest.clone(),
        figures: Some(staged.figures.clone()),
        owned: staged.brings.clone(),
        problem: None,
    };
    store(tx, &results)?;
    if is_staged(&folder, &import) {
        return Err(err!(
            Storage,
            "the files of the report could not be moved into {}/{}",
            folder.display(),
            FOLDER
        )
        .hint(
            "see what is in the way there; the next command on the task goes on with the import",
        ));
    }
    Ok(staged)
}

fn store(tx: &mut TaskTx<'_>, results: &StoredResults) -> Result<()> {
    tx.mark()?;
    let task = tx.task.id.clone();
    tx.call
        .with_database(|database| database.store_results(&task, results))?;
    crash_point("results.stored");
    tx.journal_execution()
}

fn new_name() -> String {
    nanoid::nanoid!(12, &ID_ALPHABET)
}

/// Who imports.
fn by(call: &Call) -> String {
    match &call.caller {
        Caller::Human => call.user.clone().unwrap_or_else(|| "human".to_owned()),
        caller => caller.actor().name().to_owned(),
    }
}
