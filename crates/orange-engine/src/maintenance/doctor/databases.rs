//! The two databases: whether they are sound, and whether there is a backup of the one that cannot be made anew.

use crate::call::Call;
use crate::database::{self, Database, Repaired};
use crate::error::{Code, Result, err};
use crate::index::Index;
use crate::keys;
use crate::maintenance::doctor::{phased, without_path};
use crate::store::locks::Lock;
use crate::views::doctor::{DoctorReport, RemarkTone};
use orange_core::display::time::ago;
use orange_core::{Action, SignedDuration, Timestamp, text};
use std::fs;
use std::path::Path;

/// What findings about orange.db are about.
pub(crate) const SUBJECT: &str = "orange.db";

/// A backup is made every hour in which Orange is used; opening the database, as here, makes one that is due.
const LATE: SignedDuration = SignedDuration::from_hours(48);

pub(crate) fn check_databases(call: &Call, report: &mut DoctorReport) -> Result<()> {
    check_database(call, report);
    check_index(call, report)
}

fn check_database(call: &Call, report: &mut DoctorReport) {
    let home = call.store.home().to_owned();
    if !Database::path_in(&home).exists() {
        return check_missing_database(call, &home, report);
    }
    let problem = match Database::open(&home) {
        Ok(database) => match database.check() {
            Ok(()) => return report_backup(call, &home, &database, report),
            Err(problem) => problem,
        },
        Err(mut error) => {
            error.message = without_path(&error.message, &Database::path_in(&home));
            if error.code != Code::Damaged {
                return report.add_error(SUBJECT, error);
            }
            error.message
        }
    };
    let how = "sets the file aside, keeps every table of it that is whole, and has the others from the last backup; task keys are counted anew from the folders";
    report.repair(SUBJECT, problem, how, || {
        let repaired = restore(call)?;
        // The backup may be older than the newest tasks, and those may lie in the trash.
        keys::raise_counters(call).map(|()| in_words(&repaired, call.now()))
    });
}

fn restore(call: &Call) -> Result<Repaired> {
    let Some(_alone) = call.store.try_lock(Lock::Repair)? else {
        return Err(err!(Busy, "another repair is at work"));
    };
    let journals = phased::journals(call)?;
    database::repair(call.store.home(), &call.file_stamp(), &journals)
}

/// What a repair came to.
fn in_words(repaired: &Repaired, now: Timestamp) -> String {
    let backup = match repaired.backup {
        Some(made) => format!("the last backup, made {}", ago(now, made)),
        None => "what is on disk, for there is no sound backup".to_owned(),
    };
    let rest = match &repaired.older[..] {
        [] if repaired.whole.is_empty() => "what an earlier repair began is finished".to_owned(),
        [] => "all of its tables are whole, and kept".to_owned(),
        _ if repaired.whole.is_empty() => format!("restored from {backup}"),
        older => format!(
            "its whole tables are kept, the others ({}) restored from {backup}",
            older.join(", ")
        ),
    };
    let outdated = match repaired.outdated.len() {
        0 => String::new(),
        1 => "; 1 task has gone on since, and has neither its plan nor a newer specification"
            .to_owned(),
        many => format!(
            "; {many} tasks have gone on since, and have neither their plans nor newer specifications"
        ),
    };
    match &repaired.aside {
        Some(aside) => format!("set aside as {aside}; {rest}{outdated}"),
        None => rest + &outdated,
    }
}

/// A home that has a backup had a database.
fn check_missing_database(call: &Call, home: &Path, report: &mut DoctorReport) {
    if !Database::backup_in(home).exists() {
        return;
    }
    let how = "restores the last backup; task keys are counted anew from the folders";
    report.repair(SUBJECT, "is missing", how, || {
        let restored = restore(call)?;
        keys::raise_counters(call).map(|()| in_words(&restored, call.now()))
    });
}

fn check_index(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let index = Index::open(&call.store)?;
    let Err(problem) = index.check() else {
        report.fine("index.db is sound");
        return Ok(());
    };
    let path = call.store.home().join("index.db");
    if path.is_dir() {
        report.by_hand("index.db", problem, format!("move {} away", path.display()));
        return Ok(());
    }
    report.repair(
        "index.db",
        problem,
        "rebuilds it from the task folders",
        || {
            let rebuilt = index.rebuild();
            rebuilt.map(|count| format!("rebuilt from {count} task folders"))
        },
    );
    Ok(())
}

fn report_backup(call: &Call, home: &Path, database: &Database, report: &mut DoctorReport) {
    let schema = database.schema();
    let backup = Database::backup_in(home);
    let made = fs::metadata(&backup).and_then(|about| about.modified());
    let Some(made) = made.ok().and_then(|time| Timestamp::try_from(time).ok()) else {
        report.fine(format!(
            "orange.db is sound (schema {schema}); no backup yet, one is made every hour"
        ));
        return;
    };
    let text = format!("orange.db is sound (schema {schema}), backed up");
    let is_late = call.now().duration_since(made) > LATE;
    let tone = if is_late {
        RemarkTone::Note
    } else {
        RemarkTone::Fine
    };
    report.remark(text.into(), Some(made), tone);
    if is_late {
        report.by_hand(
            "orange.db.backup",
            "is more than two days old, although one is made every hour",
            text!(
                "{} says why; is {} writable?",
                Action::log(),
                backup.display().to_string()
            ),
        );
    }
}
