//! What slots of a large repository cost: taking one that waits, and saving one that was left dirty.

use crate::fixture::{Home, PROJECT, git, key};
use crate::measure::{Times, in_turns, run, timed};
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use orange_core::Timestamp;
use orange_engine::git::site::Behalf;
use orange_engine::rescue;
use orange_engine::rescue::Save;
use orange_engine::workspaces::slot_name;
use std::cell::Cell;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const FILES: usize = 50_000;
const SIZE: &str = "50,000 files";
/// What somebody left in a slot.
const MODIFIED: usize = 20;
const STAGED: usize = 5;
const UNTRACKED: usize = 20;

pub(crate) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    note("workspaces of a repository with 50,000 files …");
    let home = Home::create(&scratch.memory.join("workspaces"), 0)?;
    fill(&home.repository)?;
    home.settle(scratch)?;
    run(&mut home.orange(scratch, &["workspace", "init", "1"]))?;
    let pool = Pool {
        scratch,
        slot: home.path.join("workspaces").join(slot_name(PROJECT, 1)),
        home,
        tasks: Cell::new(0),
    };
    let mut rows = vec![pool.acquire()?];
    rows.extend(pool.rescue()?);
    Ok(rows)
}

/// A home whose project has one slot, parked at the tip of `main`.
struct Pool<'a> {
    scratch: &'a Scratch,
    home: Home,
    slot: PathBuf,
    /// How many there are so far.
    tasks: Cell<usize>,
}

impl Pool<'_> {
    fn acquire(&self) -> Result<Row> {
        const ROUNDS: usize = 7;
        let peer = self.home.path.with_file_name("peer");
        let [ours, theirs] = in_turns(
            ROUNDS,
            [
                Box::new(|_| {
                    let key = self.create()?;
                    let took = self.start(&key)?;
                    self.cancel(&key)?;
                    Ok(took)
                }),
                Box::new(|round| {
                    let branch = format!("peer-{round}");
                    let mut add = git(&self.home.repository);
                    add.args(["worktree", "add", "-b", &branch])
                        .arg(&peer)
                        .arg("main");
                    let took = run(&mut add)?;
                    let mut remove = git(&self.home.repository);
                    run(remove.args(["worktree", "remove", "--force"]).arg(&peer))?;
                    Ok(took)
                }),
            ],
        )?;
        Ok(Row::faster(
            &format!("acquire a warm slot, {SIZE}"),
            "`git worktree add` with a branch",
            ours.best(),
            theirs.best(),
            5.0,
        ))
    }

    fn rescue(&self) -> Result<Vec<Row>> {
        const ROUNDS: usize = 10;
        let slot = &self.slot;
        let status = || run(git(slot).arg("status"));
        let task = self.create()?;
        self.start(&task)?;
        let [saves, looks] = in_turns(
            ROUNDS,
            [
                Box::new(|round| {
                    make_dirty(slot, round)?;
                    timed(|| self.save(round))
                }),
                Box::new(|_| status()),
            ],
        )?;
        self.cancel(&task)?;
        // Ends with the same state as it began, so both sides of a round are rounds of their own.
        let released = |round: usize| {
            let task = self.create()?;
            self.start(&task)?;
            make_dirty(slot, 100 + round)?;
            let look = status()?;
            Ok::<_, Box<dyn std::error::Error>>((look, self.cancel(&task)?))
        };
        let [releases, looks_before] = in_turns(
            ROUNDS / 2,
            [
                Box::new(|round| Ok(released(2 * round)?.1)),
                Box::new(|round| Ok(released(2 * round + 1)?.0)),
            ],
        )?;
        let row = |what: &str, ours: &Times, look: &Times, goal| {
            let what = format!("{what}, {SIZE}");
            Row::at_most(&what, "`git status` of it", ours.best(), look.best(), goal)
        };
        Ok(vec![
            row("rescue of a dirty slot", &saves, &looks, Some(3.0)),
            row(
                "`task cancel`, dirty slot",
                &releases,
                &looks_before,
                Some(4.0),
            ),
        ])
    }

    fn save(&self, round: usize) -> Result<()> {
        let saved = rescue::save(&Save {
            slot: &Behalf::nobody().at(&self.slot),
            task_id: "bench",
            raw_folder: &self.home.path.join("raw"),
            branch: None,
            reason: "measured",
            now: Timestamp::from_second(1_760_000_000 + round as i64)?,
        })?;
        match saved.map(|saved| saved.note.files) {
            Some(files) if files == MODIFIED + STAGED + UNTRACKED => Ok(()),
            other => Err(format!("the rescue holds {other:?} files").into()),
        }
    }

    fn create(&self) -> Result<String> {
        self.tasks.set(self.tasks.get() + 1);
        self.orange(&["task", "create", "Work in a large repository"])?;
        Ok(key(self.tasks.get()))
    }

    fn start(&self, key: &str) -> Result<Duration> {
        let took = self.orange(&["task", "update", key, "--status", "planning"])?;
        let head = fs::read_to_string(self.slot.join(".git"))?;
        let head = Path::new(head.trim_start_matches("gitdir:").trim()).join("HEAD");
        if fs::read_to_string(&head)?.starts_with("ref: ") {
            Ok(took)
        } else {
            Err(format!("{key} did not get the slot").into())
        }
    }

    fn cancel(&self, key: &str) -> Result<Duration> {
        self.orange(&["task", "cancel", key, "--yes"])
    }

    fn orange(&self, words: &[&str]) -> Result<Duration> {
        run(&mut self.home.orange(self.scratch, words))
    }
}

/// The files of crates, modules and functions, small ones, in one commit and one pack: as a clone has them.
fn fill(repository: &Path) -> Result<()> {
    let mut import = git(repository)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()?;
    let stdin = import.stdin.take().ok_or("git has no input")?;
    let mut stream = BufWriter::new(stdin);
    let who = "bench <bench@example.invalid> 1760000000 +0000";
    write!(
        stream,
        "commit refs/heads/main\ncommitter {who}\ndata 5\nfiles\nfrom refs/heads/main^0\n"
    )?;
    for number in 0..FILES {
        let (path, text) = (path(number), text(number, 0));
        write!(
            stream,
            "M 100644 inline {path}\ndata {}\n{text}\n",
            text.len()
        )?;
    }
    drop(stream);
    if !import.wait()?.success() {
        return Err("git fast-import failed".into());
    }
    run(git(repository).args(["reset", "--quiet", "--hard"])).map(drop)
}

fn path(number: usize) -> String {
    format!(
        "crates/part-{}/src/module_{}/file_{number}.rs",
        number / 2500,
        number / 50 % 50
    )
}

/// A few hundred bytes; another text for every version.
fn text(number: usize, version: usize) -> String {
    let mut text = format!("//! Module {number}, version {version}.\n");
    for step in 0..=number % 6 {
        text.push_str(&format!(
            "\npub fn step_{step}(value: u64) -> u64 {{\n    value.wrapping_mul({number}) + {version}\n}}\n"
        ));
    }
    text
}

/// Changes, new files and staged ones, all over the worktree, with a content that no round before had.
fn make_dirty(slot: &Path, round: usize) -> Result<()> {
    let version = round + 1;
    let changed = MODIFIED + STAGED;
    let numbers = (0..changed).map(|n| n * (FILES / changed));
    let mut staged = git(slot);
    staged.args(["add", "--"]);
    for (n, number) in numbers.enumerate() {
        let path = path(number);
        fs::write(slot.join(&path), text(number, version))?;
        if n % (changed / STAGED) == 0 {
            staged.arg(path);
        }
    }
    for n in 0..UNTRACKED {
        let path = path(n * (FILES / UNTRACKED)).replace("file_", "new_");
        fs::write(slot.join(path), text(n, version))?;
    }
    run(&mut staged).map(drop)
}
