//! Writers that come one after the other in the middle of a command's own write (`#[cfg(test)]`).

use super::*;
use crate::Settings;
use crate::store::replace::{Replacement, replace};
use crate::tx::racing::kept_texts;
use crate::verbs::change::{self, Change, Edit};
use orange_core::task::Field;
use orange_sys::crash_points::hook;
use std::fs;
use std::path::{Path, PathBuf};

const BODY: &str = "\n## Notes\n\nbefore\n";

struct Home {
    _folder: tempfile::TempDir,
    call: Call,
    place: Place,
}

impl Home {
    /// One task of an older program, adopted.
    fn new() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let call = Call::new(Settings::at(folder.path().to_owned()));
        call.store.ensure_home().unwrap();
        let place = call.store.place("shop/one");
        fs::create_dir_all(&place.path).unwrap();
        let text = format!("---\nid: one\nstatus: pending\nbranch: b\nsummary: s\n---\n{BODY}");
        fs::write(place.task_file(), text).unwrap();
        drop(lock_task(&call, place.clone()).unwrap());
        Home {
            _folder: folder,
            call,
            place,
        }
    }

    fn update(&mut self, effort: &str) {
        let change = Change {
            edits: vec![Edit::Set(Field::Model, effort.into())],
            ..Change::default()
        };
        change::change(&self.call, self.place.clone(), &change).unwrap();
    }

    /// All texts a person can find in the task's folder.
    fn texts(&self) -> String {
        let entries = fs::read_dir(&self.place.path).unwrap();
        let paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        let seen = |path: &&PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("TASK.md")
        };
        let texts = paths.iter().filter(seen);
        texts
            .map(|path| fs::read_to_string(path).unwrap())
            .collect()
    }
}

fn append_in_place(file: &Path, line: &str) {
    let text = fs::read_to_string(file).unwrap();
    fs::write(file, text + line).unwrap();
}

fn rename_over(file: &Path, line: &str) {
    let text = fs::read_to_string(file).unwrap();
    let other = file.with_file_name("other");
    fs::write(&other, text + line).unwrap();
    fs::rename(&other, file).unwrap();
}

/// The first writer's text is swapped out; before it is back, a second one writes who has not seen it.
#[test]
fn a_second_writer_does_not_undo_the_first() {
    for point in ["replace.temp_written", "replace.exchanged", "replace.done"] {
        for second in [append_in_place, rename_over] {
            let mut home = Home::new();
            let file = home.place.task_file();
            let again = file.clone();
            hook::at("replace.temp_written", move || {
                append_in_place(&file, "first\n");
                // The next replacement is the one that is to bring the first text back.
                hook::at("replace.done", move || {
                    hook::at(point, move || second(&again, "second\n"));
                });
            });
            home.update("high");
            home.update("low");
            let texts = home.texts();
            for line in ["before", "first", "second"] {
                let found = texts.lines().filter(|found| *found == line).count();
                assert_eq!(found, 1, "{point}: {line} in {texts}");
            }
            assert_eq!(
                kept_texts(&home.place.path),
                Vec::<String>::new(),
                "{point}"
            );
            let task = lock_task(&home.call, home.place.clone()).unwrap().task;
            assert_eq!(task.model.as_deref(), Some("low"));
        }
    }
}

/// A process dies when it has put a merged text in place of what an editor saved meanwhile: neither text is lost.
#[test]
fn a_text_in_place_of_an_editors_outlives_a_kill() {
    let mut home = Home::new();
    let file = home.place.task_file();
    let base = fs::read_to_string(&file).unwrap();
    let merged = format!("{base}merged\n");
    let (edited, saved) = (base.replace("before", "edited"), file.clone());
    hook::at("replace.temp_written", move || {
        fs::write(&saved, edited).unwrap();
    });
    // Dropped as by a kill: what the editor saved stays beside the file.
    let outcome = replace(&file, Some(base.as_bytes()), merged.as_bytes()).unwrap();
    assert!(matches!(outcome, Replacement::Overtaken(_)), "{outcome:?}");
    drop(outcome);
    home.update("low");
    let texts = home.texts();
    for line in ["merged", "edited"] {
        assert!(texts.lines().any(|found| found == line), "{line}: {texts}");
    }
    assert_eq!(kept_texts(&home.place.path).len(), 1);
}
