//! Editors take no lock: they write in place or rename over TASK.md while commands rewrite its frontmatter.
//!
//! What no file system can save is a text that an editor puts over a newer one it has never seen. So an editor
//! here starts only when the line before its own has settled: then every line must be there in the end.

use crate::check::{at_rest, events, names, task_file};
use crate::env::{Env, told};
use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const LINES: usize = 40;

/// Opens once, reads, truncates, and writes everything anew in pieces.
fn edit_in_place(file: &Path, line: &str) {
    let mut open = OpenOptions::new()
        .read(true)
        .write(true)
        .open(file)
        .unwrap();
    let mut text = String::new();
    open.read_to_string(&mut text).unwrap();
    open.set_len(0).unwrap();
    open.rewind().unwrap();
    write_in_pieces(&mut open, &(text + line));
}

/// Reads, then truncates on opening, as most programs save.
fn edit_by_truncating(file: &Path, line: &str) {
    let text = fs::read_to_string(file).unwrap();
    write_in_pieces(&mut fs::File::create(file).unwrap(), &(text + line));
}

/// Writes another file and renames it over.
fn edit_by_renaming(file: &Path, line: &str) {
    let text = fs::read_to_string(file).unwrap();
    let other = file.with_file_name("TASK.md~editor");
    fs::write(&other, text + line).unwrap();
    fs::rename(&other, file).unwrap();
}

fn write_in_pieces(file: &mut fs::File, text: &str) {
    for piece in text.as_bytes().chunks(text.len() / 6 + 1) {
        file.write_all(piece).unwrap();
        // Only to make the writes overlap the commands more often.
        thread::sleep(Duration::from_micros(500));
    }
}

type Edit = fn(&Path, &str);

const WAYS: [(&str, Edit); 3] = [
    ("in place", edit_in_place),
    ("truncating", edit_by_truncating),
    ("renaming", edit_by_renaming),
];

#[test]
fn racing_editors_lose_no_line() {
    // On a disk, where a command takes long enough for an editor to come between its steps.
    let env = Env::within(&std::env::temp_dir());
    let key = env.create(&["edited", "Edited"]);
    env.append_to_body(&key, "\n## Notes\n\n");
    let folder = env.folder_of(&key);
    let file = folder.join("TASK.md");
    let (started, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let done = AtomicBool::new(false);
    // A command that began after the call has come to its end.
    let settled = || {
        let begun = started.load(Ordering::SeqCst);
        while finished.load(Ordering::SeqCst) <= begun && !done.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    };
    thread::scope(|scope| {
        let updates = scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let number = started.fetch_add(1, Ordering::SeqCst);
                env.update(&key, &["--target-branch", &format!("u{number}")]);
                finished.fetch_add(1, Ordering::SeqCst);
            }
        });
        let editor = scope.spawn(|| {
            for number in 0..LINES {
                for (nth, (way, edit)) in WAYS.into_iter().enumerate() {
                    // Only to begin at another moment of a command each time.
                    let later = (number * WAYS.len() + nth) * 7 % 30;
                    thread::sleep(Duration::from_micros(500 * later as u64));
                    edit(&file, &format!("{way} {number};\n"));
                    settled();
                }
            }
        });
        let edited = loop {
            if editor.is_finished() || updates.is_finished() {
                done.store(true, Ordering::SeqCst);
                break editor.join();
            }
            thread::sleep(Duration::from_millis(1));
        };
        updates.join().unwrap();
        edited.unwrap();
    });
    at_rest(&env, "after the race");
    let (fields, body) = task_file(&folder);
    let mut expected = String::from("\n## Notes\n\n");
    for number in 0..LINES {
        expected.extend(WAYS.iter().map(|(way, _)| format!("{way} {number};\n")));
    }
    assert_eq!(
        body,
        expected,
        "conflicts: {:?}",
        names(&folder, |name| name.contains("conflict"))
    );
    let updates = finished.into_inner();
    let journal = events(&folder);
    let mut told: Vec<&str> = journal
        .iter()
        .filter(|event| event["by"] == "human")
        .filter_map(|event| event["fields"]["target_branch"].as_str())
        .collect();
    told.sort_unstable();
    let mut all: Vec<String> = (0..updates).map(|number| format!("u{number}")).collect();
    all.sort_unstable();
    assert_eq!(told, all, "one event for each update");
    assert_eq!(
        fields["target_branch"],
        format!("u{}", updates - 1),
        "an old frontmatter came back"
    );
    println!("{} lines, {updates} updates", LINES * WAYS.len());
}

/// Somebody has the file open and half written for longer than a command waits.
#[test]
fn a_slow_writer_loses_nothing_and_its_half_text_is_not_taken_for_damage() {
    let env = Env::new();
    let key = env.create(&["slow", "Slow"]);
    env.append_to_body(&key, "\n## Notes\n\nbefore\n");
    let folder = env.folder_of(&key);
    let file = folder.join("TASK.md");
    for part in ["nothing", "half a frontmatter", "no body", "half a body"] {
        let text = fs::read_to_string(&file).unwrap();
        let line = format!("after {part}\n");
        let whole = format!("{text}{line}");
        let body = whole.rfind("---\n").unwrap() + 4;
        let cut = match part {
            "nothing" => 0,
            "half a frontmatter" => body / 2,
            "no body" => body,
            _ => body + 6,
        };
        let mut open = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&file)
            .unwrap();
        open.write_all(&whole.as_bytes()[..cut]).unwrap();
        // Two commands, so that what the first swapped out is not what the second finds in place.
        for effort in ["one", "two"] {
            let output = env.run(&["task", "update", &key, "--target-branch", effort]);
            if cut >= body {
                assert!(output.status.success(), "{part}: {}", told(&output));
                continue;
            }
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{part}: {text}");
            assert!(
                text.contains("is being written by another program") && text.contains("hint: "),
                "{text}"
            );
        }
        open.write_all(&whole.as_bytes()[cut..]).unwrap();
        drop(open);
        let target = part.replace(' ', "-");
        env.update(&key, &["--target-branch", &target]);
        at_rest(&env, part);
        let (fields, found) = task_file(&folder);
        assert_eq!(
            (found.as_str(), fields["target_branch"].as_str()),
            (&whole[body..], target.as_str())
        );
        let others = names(&folder, |name| name.starts_with("TASK.md."));
        assert_eq!(others, Vec::<String>::new(), "{part}");
    }
}

#[test]
fn an_old_frontmatter_saved_over_a_newer_one_keeps_what_the_person_meant() {
    let env = Env::new();
    for (way, save) in [("in place", false), ("renaming", true)] {
        let key = env.create(&[&format!("stale-{save}"), "Stale"]);
        let folder = env.folder_of(&key);
        let file = folder.join("TASK.md");
        let old = fs::read_to_string(&file).unwrap();
        env.update(&key, &["--priority", "high", "--add-tag", "theirs"]);
        env.update(&key, &["--status", "planning"]);
        let mine = old
            .replace("summary: Stale", "summary: Mine")
            .replace("category: feature", "category: bug")
            .replace("status: pending", "status: done")
            + "\n## Notes\n\nmy text\n";
        if save {
            let other = folder.join("TASK.md.tmp");
            fs::write(&other, &mine).unwrap();
            fs::rename(&other, &file).unwrap();
        } else {
            fs::write(&file, &mine).unwrap();
        }
        let shown = env.ok(&["task", "show", &key]);
        assert_eq!(shown["task"]["status"], "planning", "{way}");
        at_rest(&env, way);
        let (fields, body) = task_file(&folder);
        let found =
            ["status", "priority", "tags", "summary", "category"].map(|name| fields[name].as_str());
        assert_eq!(
            found,
            ["planning", "high", "[\"theirs\"]", "Mine", "bug"],
            "{way}"
        );
        assert_eq!(body, "\n## Notes\n\nmy text\n", "{way}");
        let journal = events(&folder);
        let restored = journal
            .iter()
            .filter(|event| event["type"] == "fields.restored");
        let found: Vec<_> = restored.map(|event| &event["found"]).collect();
        assert_eq!(found.len(), 1, "{way}: {journal:#?}");
        assert_eq!(found[0]["status"], "done", "{way}");
    }
}
