//! What processes that were killed left in the home: half-made folders, marks of changes, files in the making.

use crate::call::{self, Call};
use crate::checks::request;
use crate::error::{IoContext, Result, err};
use crate::recovery;
use crate::store::Place;
use crate::store::lock::TaskLock;
use crate::store::replace::PROBE;
use crate::store::temporary;
use crate::test_results::{leftovers, leftovers_of};
use crate::trash::GONE;
use crate::views::doctor::DoctorReport;
use orange_sys::listing;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn check_leftovers(call: &Call, report: &mut DoctorReport) -> Result<()> {
    check_half_made(call, report);
    check_marks(call, report);
    check_staged_imports(call, report);
    for path in abandoned(call) {
        let problem = "was left by a process that was killed";
        remove(&path, problem, "removes it; nothing reads it", report);
    }
    Ok(())
}

fn remove(path: &Path, problem: &str, how: &str, report: &mut DoctorReport) {
    report.repair(path.display().to_string(), problem, how, || {
        let gone = if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        };
        gone.map(|()| "removed").doing("remove", path)
    });
}

/// Changes that no process is at and that the start of this command could not finish either.
fn check_marks(call: &Call, report: &mut DoctorReport) {
    for place in call.store.marked() {
        // Whoever creates a task holds the project's lock, also in the moment before it takes that of the new folder.
        let Some(project) = call::try_lock_project(call, &place.project).ok().flatten() else {
            continue;
        };
        let task = TaskLock::try_acquire(&place.path).ok().flatten();
        let is_free = task.is_some() || !place.path.is_dir();
        // Under the lock: without it another process may have begun the next change.
        if !is_free || !call.store.marked().contains(&place) {
            continue;
        }
        drop((task, project));
        let problem = "a change of it is not finished";
        let how = "goes on with it; the log says what was in the way";
        report.repair(place.folder(), problem, how, || {
            recovery::recover(call);
            if call.store.marked().contains(&place) {
                Err(err!(Failed, "it could not be finished"))
            } else {
                Ok("finished")
            }
        });
    }
}

/// Test results that a killed import copied into the folder of a task. An import that is under way has the lock.
fn check_staged_imports(call: &Call, report: &mut DoctorReport) {
    let projects = listing::folders(call.store.tasks()).into_iter();
    for folder in projects.flat_map(|project| listing::folders(&project)) {
        if leftovers(&folder, None).is_empty() {
            continue;
        }
        let Some(place) = place_at(call, &folder) else {
            continue;
        };
        let Some(_lock) = TaskLock::try_acquire(&folder).ok().flatten() else {
            continue;
        };
        let found = call.store.survey(&place.folder());
        let left = match found.damaged {
            None => leftovers_of(call, &found.task.id, &folder).unwrap_or_default(),
            // Whose they are is known once it is repaired.
            Some(_) => Vec::new(),
        };
        for path in left {
            let problem = "was left by an import of test results that was killed";
            remove(&path, problem, "removes it; no task names it", report);
        }
    }
}

fn place_at(call: &Call, folder: &Path) -> Option<Place> {
    let inside = folder.strip_prefix(call.store.tasks()).ok()?;
    Some(call.store.place(inside.to_str()?))
}

/// Files and folders that have a name of a moment, and whose process is gone.
fn abandoned(call: &Call) -> Vec<PathBuf> {
    let home = call.store.home().to_owned();
    let folders = [home, call.store.workspaces(), request::folder(&call.store)];
    let files = folders.iter().flat_map(|folder| listing::files(folder));
    let mut found: Vec<PathBuf> = files.filter(|path| is_abandoned(path)).collect();
    let gone = call.store.trash().join(GONE);
    found.extend(Some(gone).filter(|folder| folder.is_dir()));
    found.sort();
    found
}

/// Task folders whose making was interrupted.
fn check_half_made(call: &Call, report: &mut DoctorReport) {
    let projects = listing::folders(call.store.tasks()).into_iter();
    for folder in projects.flat_map(|project| listing::folders(&project)) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let is_marked = |place: &Place| name.ends_with(&place.name);
        if name.starts_with(".new-")
            && holds_a_beginning(&folder)
            && !call.store.marked().iter().any(is_marked)
        {
            let how = "removes it; nothing was reported as created";
            remove(&folder, "a task whose making was interrupted", how, report);
        }
    }
}

/// Nothing but what Orange writes into the folder of a task that is being made.
fn holds_a_beginning(folder: &Path) -> bool {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        matches!(name, Some("TASK.md" | "history.jsonl" | ".lock"))
    };
    let files = listing::files(folder);
    files.iter().all(is_ours) && files.len() == listing::entries(folder).len()
}

/// Files that are replaced whole, with those that a check asks for.
fn is_replaced(file: &str) -> bool {
    matches!(file, "projects.json" | "config.yaml" | ".pool.json") || file.ends_with(".json")
}

/// Returns true for what a process left that is gone: `.projects.json.orange-4711.0`, `.probe-4711.0-a`, and
/// `.projects.json.4711-2.part`, as older versions named it. A name that only looks similar belongs to somebody else.
fn is_abandoned(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    if temporary::is_abandoned(name) {
        return true;
    }
    let process = match name.strip_prefix(PROBE) {
        Some(rest) => rest.split(['-', '.']).next(),
        None => name.strip_prefix('.').and_then(|rest| {
            let rest = rest.strip_suffix(".part").unwrap_or(rest);
            let (file, last) = rest.rsplit_once('.')?;
            let (process, nth) = last.split_once('-').unwrap_or((last, "0"));
            let is_ours = is_replaced(file) && nth.parse::<u32>().is_ok();
            is_ours.then_some(process)
        }),
    };
    let process = process.and_then(|process| process.parse().ok());
    process.is_some_and(temporary::has_ended)
}

#[cfg(test)]
mod tests {
    use crate::maintenance::doctor::leftovers::*;
    use crate::store::locks::Lock;
    use crate::{Home, Settings};

    /// Whoever creates a task marks it, makes its folder and then takes that folder's lock, all under the project's lock.
    #[test]
    fn a_marked_task_is_unfinished_only_when_nobody_creates_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        let settings = Settings::at(home.store().home().to_owned());
        let call = Call::on(home.clone(), settings);
        let found = || {
            let mut report = DoctorReport::default();
            check_leftovers(&call, &mut report).unwrap();
            let findings = report.findings.into_iter();
            let words = findings.map(|finding| format!("{} {}", finding.subject, finding.problem));
            words.collect::<Vec<String>>()
        };
        let place = home.store().place("shop/new");
        fs::create_dir_all(place.path.parent().unwrap()).unwrap();
        let creating = home.store().lock(Lock::Project("shop")).unwrap();
        home.store().mark(&place).unwrap();
        assert_eq!(found(), Vec::<String>::new(), "marked");
        fs::create_dir(&place.path).unwrap();
        assert_eq!(found(), Vec::<String>::new(), "its folder is made");
        let changing = TaskLock::try_acquire(&place.path).unwrap();
        assert!(changing.is_some());
        drop(creating);
        assert_eq!(found(), Vec::<String>::new(), "its folder is locked");
        drop(changing);
        assert_eq!(found(), ["shop/new a change of it is not finished"]);
    }

    /// No process has this number.
    const ENDED: u32 = 1 << 22;

    #[test]
    fn only_what_names_a_process_that_is_gone_is_abandoned() {
        let own = std::process::id();
        let gone = |name: String| is_abandoned(Path::new(&name));
        assert!(gone(format!(".projects.json.{ENDED}")));
        assert!(gone(format!(".projects.json.{ENDED}-2.part")));
        assert!(gone(format!(".projects.json.orange-{ENDED}")));
        assert!(gone(format!("{PROBE}{ENDED}-a")));
        assert!(gone(format!("{PROBE}{ENDED}.3-a")));
        for name in [
            format!(".projects.json.{own}"),
            format!("{PROBE}{own}-a"),
            ".log.lock".into(),
            ".pool.json.damaged-1763200000000-12-1".into(),
            "orange.log.1".into(),
            "projects.json".into(),
            ".pool.json".into(),
            ".notes.2019".into(),
            ".config.yaml.20240101".into(),
            format!(".backup.{ENDED}-old.part"),
        ] {
            assert!(!gone(name.clone()), "{name}");
        }
    }
}
