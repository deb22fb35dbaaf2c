//! What processes that were killed left in the home: half-made folders, marks of changes, files in the making.

use crate::call::{self, Call};
use crate::checks::request;
use crate::error::{IoContext, Result, err};
use crate::maintenance::doctor::folders_in;
use crate::recovery;
use crate::store::lock::TaskLock;
use crate::store::replace::PROBE;
use crate::store::temporary;
use crate::trash::GONE;
use crate::views::doctor::Report;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn check_leftovers(call: &Call, report: &mut Report, repair: bool) -> Result<()> {
    check_half_made(call, report, repair);
    check_marks(call, report, repair);
    for path in abandoned(call) {
        let finding = report.add(
            path.display().to_string(),
            "was left by a process that was killed",
        );
        finding.repair("removes it; nothing reads it");
        if repair {
            let gone = if path.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            let gone = gone.map(|()| "removed".to_owned());
            finding.done(gone.doing("remove", &path));
        }
    }
    Ok(())
}

/// Changes that no process is at and that the start of this command could not finish either.
fn check_marks(call: &Call, report: &mut Report, repair: bool) {
    for place in call.store.marked() {
        // Whoever creates a task holds the project's lock, also in the moment before it takes that of the new folder.
        let Some(project) = call::try_lock_project(call, &place.project).ok().flatten() else {
            continue;
        };
        let task = if place.path.is_dir() {
            TaskLock::try_acquire(&place.path).ok().flatten()
        } else {
            None
        };
        let is_free = task.is_some() || !place.path.is_dir();
        // Under the lock: without it another process may have begun the next change.
        if !is_free || !call.store.marked().contains(&place) {
            continue;
        }
        drop((task, project));
        let finding = report.add(place.folder(), "a change of it is not finished");
        finding.repair("goes on with it; the log says what was in the way");
        if repair {
            recovery::recover(call);
            finding.done(if call.store.marked().contains(&place) {
                Err(err!(Failed, "it could not be finished"))
            } else {
                Ok("finished".to_owned())
            });
        }
    }
}

/// Files and folders that have a name of a moment, and whose process is gone.
fn abandoned(call: &Call) -> Vec<PathBuf> {
    let home = call.store.home();
    let mut found = Vec::new();
    for folder in [
        home.to_owned(),
        call.store.workspaces(),
        request::folder(&call.store),
    ] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        found.extend(
            files
                .map(|entry| entry.path())
                .filter(|path| is_abandoned(path)),
        );
    }
    let gone = call.store.trash().join(GONE);
    found.extend(Some(gone).filter(|folder| folder.is_dir()));
    found.sort();
    found
}

/// Task folders whose making was interrupted.
fn check_half_made(call: &Call, report: &mut Report, repair: bool) {
    let is_link = |path: &PathBuf| path.is_symlink();
    let mut projects = folders_in(call.store.tasks());
    projects.retain(|project| !is_link(project));
    for project in projects {
        for folder in folders_in(&project) {
            let name = folder
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let Some(name) = name.filter(|name| name.starts_with(".new-")) else {
                continue;
            };
            if is_link(&folder) || !holds_a_beginning(&folder) {
                continue;
            }
            if call
                .store
                .marked()
                .iter()
                .any(|place| name.ends_with(&place.name))
            {
                continue;
            }
            let finding = report.add(
                folder.display().to_string(),
                "a task whose making was interrupted",
            );
            finding.repair("removes it; nothing was reported as created");
            if repair {
                let outcome = fs::remove_dir_all(&folder)
                    .map(|()| "removed".to_owned())
                    .doing("remove", &folder);
                finding.done(outcome);
            }
        }
    }
}

/// Nothing but what Orange writes into the folder of a task that is being made.
fn holds_a_beginning(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().all(|entry| {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && matches!(name.to_str(), Some("TASK.md" | "history.jsonl" | ".lock"))
    })
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
            let mut report = Report::default();
            check_leftovers(&call, &mut report, false).unwrap();
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
