//! Real processes write to the file in their own ways, without a lock, while it is being replaced all the time (`#[cfg(test)]`).
//!
//! What must hold: every write that was finished has been seen by the replacer. In its file it stays, unless a
//! writer that had read an older content puts that over it, which the caller is to notice by the revision.

use super::*;
use crate::lock::TaskLock;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const TARGET: &str = "ORANGE_TEST_STRESS";
const WRITER: &str = "ORANGE_TEST_WRITER";
const ROUNDS: &str = "ORANGE_TEST_ROUNDS";
const WAYS: [&str; 3] = ["in-place", "truncate", "rename"];

/// How often each process writes; more for measuring.
fn rounds() -> usize {
    std::env::var(ROUNDS).map_or(40, |rounds| rounds.parse().unwrap())
}

/// Opens once, reads, and writes everything anew through the same descriptor.
fn write_in_place(target: &Path, line: &str) {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(target)
        .unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_whole(&text);
    file.set_len(0).unwrap();
    file.rewind().unwrap();
    write_slowly(&mut file, &(text + line));
}

/// Reads, then opens again and truncates, as most programs do.
fn truncate_and_write(target: &Path, line: &str) {
    let text = fs::read_to_string(target).unwrap();
    assert_whole(&text);
    write_slowly(&mut fs::File::create(target).unwrap(), &(text + line));
}

fn rename_over(target: &Path, line: &str) {
    let text = fs::read_to_string(target).unwrap();
    assert_whole(&text);
    let temp = target.with_file_name("editor~");
    fs::write(&temp, text + line).unwrap();
    fs::rename(&temp, target).unwrap();
}

fn write_slowly(file: &mut fs::File, text: &str) {
    for piece in text.as_bytes().chunks(text.len() / 5 + 1) {
        file.write_all(piece).unwrap();
        // Only to make the writes overlap the replacements more often.
        std::thread::sleep(Duration::from_micros(300));
    }
}

/// Writers exclude each other, so half a file could only come from the replacer.
fn assert_whole(text: &str) {
    assert!(
        text.starts_with("revision ") && text.ends_with(";\n"),
        "{text:?}"
    );
}

/// Not a test by itself: one writing process.
#[test]
fn child_writing() {
    let (Some(target), Ok(writer)) = (std::env::var_os(TARGET), std::env::var(WRITER)) else {
        return;
    };
    let target = Path::new(&target);
    let way = match writer.split_once(' ').unwrap().0 {
        "in-place" => write_in_place,
        "truncate" => truncate_and_write,
        _ => rename_over,
    };
    for round in 0..rounds() {
        let _turn =
            TaskLock::acquire(&target.with_file_name("turn"), Duration::from_secs(60)).unwrap();
        way(target, &format!("{writer} {round};\n"));
    }
}

fn start_writer(target: &Path, writer: &str) -> Child {
    let module = module_path!().split_once("::").unwrap().1;
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::child_writing")])
        .env(TARGET, target)
        .env(WRITER, writer)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[derive(Default)]
struct Replacer {
    seen: BTreeSet<String>,
    revision: usize,
    to_discard: Vec<Theirs>,
    /// Done, stale, overtaken, writer open.
    outcomes: [usize; 4],
    leftovers: usize,
}

impl Replacer {
    fn see(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with(";\n"));
        self.seen.extend(lines.map(str::to_owned));
    }

    /// The next content: everything ever seen under a new revision.
    fn merged(&mut self) -> Vec<u8> {
        self.revision += 1;
        let lines: String = self.seen.iter().map(String::as_str).collect();
        format!("revision {}\n{lines}", self.revision).into_bytes()
    }

    fn look_at_leftovers(&mut self, target: &Path) {
        let found = settle_leftovers(target).unwrap();
        self.leftovers += found.written.len();
        for theirs in found.written {
            self.see(theirs.bytes());
            self.to_discard.push(theirs);
        }
    }

    fn step(&mut self, target: &Path, swap: Swap) {
        self.look_at_leftovers(target);
        let base = read(target).unwrap().unwrap().bytes;
        self.see(&base);
        let new = self.merged();
        match replace_by(swap, target, Some(&base), &new).unwrap() {
            Replacement::Stale => {
                self.outcomes[1] += 1;
                self.to_discard.clear();
                return;
            }
            Replacement::Done => self.outcomes[0] += 1,
            Replacement::Overtaken(theirs) => {
                self.outcomes[2] += 1;
                // Left for the next step to find: what a crash here would mean.
                self.see(theirs.bytes());
            }
            Replacement::WriterOpen => self.outcomes[3] += 1,
        }
        for theirs in std::mem::take(&mut self.to_discard) {
            if let Replacement::Overtaken(again) = theirs.discard().unwrap() {
                self.see(again.bytes());
            }
        }
    }
}

fn run(title: &str, mut step: impl FnMut(&mut Replacer, &Path)) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("TASK.md");
    fs::create_dir(dir.path().join("turn")).unwrap();
    fs::write(&target, "revision 0\nfirst;\n").unwrap();
    let writers: Vec<String> = WAYS
        .iter()
        .flat_map(|way| [format!("{way} 1"), format!("{way} 2")])
        .collect();
    let mut children: Vec<Child> = writers
        .iter()
        .map(|writer| start_writer(&target, writer))
        .collect();
    let mut replacer = Replacer::default();
    replacer.see(b"first;\n");
    let start = Instant::now();
    while children
        .iter_mut()
        .any(|child| child.try_wait().unwrap().is_none())
    {
        step(&mut replacer, &target);
    }
    assert!(
        children
            .iter_mut()
            .all(|child| child.wait().unwrap().success())
    );
    let each = start.elapsed() / u32::try_from(replacer.outcomes.iter().sum::<usize>()).unwrap();
    // Until a last look finds nothing new any more.
    step(&mut replacer, &target);
    step(&mut replacer, &target);
    let last = fs::read_to_string(&target).unwrap();
    let mut lost = 0;
    for way in WAYS {
        let all = writers.iter().filter(|writer| writer.starts_with(way));
        let mut lines =
            all.flat_map(|writer| (0..rounds()).map(move |round| format!("\n{writer} {round};\n")));
        let missing = lines
            .by_ref()
            .filter(|line| !last.contains(line.as_str()))
            .count();
        println!("{title}: {way}: {missing} of {} lost", 2 * rounds());
        lost += missing;
    }
    let [done, stale, overtaken, open] = replacer.outcomes;
    println!(
        "{title}: {done} done, {stale} stale, {overtaken} overtaken, {open} writer open, {} leftovers; {each:?} each",
        replacer.leftovers
    );
    let names = fs::read_dir(dir.path()).unwrap().count();
    assert!(names == 2 || lost > 0, "something was left behind");
    lost
}

#[test]
fn nothing_is_lost() {
    let lost = run("exchange", |replacer, target| {
        replacer.step(target, swap_by_exchange)
    });
    assert_eq!(lost, 0);
}

#[test]
fn readers_see_whole_files_only() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("TASK.md");
    let content = |number: usize| format!("{number} {} {number}", "x".repeat(9000)).into_bytes();
    write_atomic(&target, &content(0)).unwrap();
    let start = Instant::now();
    let (reads, replaced) = std::thread::scope(|scope| {
        let replacer = scope.spawn(|| {
            for number in 0..200 {
                let outcome =
                    replace(&target, Some(&content(number)), &content(number + 1)).unwrap();
                assert!(matches!(outcome, Replacement::Done));
            }
        });
        let mut reads = 0;
        while !replacer.is_finished() {
            let text = fs::read_to_string(&target).unwrap();
            let (first, last) = (text.split(' ').next(), text.split(' ').next_back());
            assert!(first == last && text.len() > 9000);
            reads += 1;
        }
        (reads, replacer.join())
    });
    replaced.unwrap();
    println!(
        "{reads} whole reads during 200 replacements, {:?} each",
        start.elapsed() / 200
    );
}
