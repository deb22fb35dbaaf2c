//! The rows that compare one thing with one floor or peer.

use crate::fixture::{Home, key};
use crate::floor::{self, Writes};
use crate::measure::{Times, in_turns, run, timed};
use crate::peers::{Taskwarrior, installed};
use crate::report::{Row, milliseconds};
use crate::scratch::Scratch;
use crate::{Result, note};
use orange_core::task::Status;
use orange_engine::store::Place;
use orange_engine::verbs::change::Change;
use orange_engine::{Call, Settings, verbs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LARGEST_BINARY: u64 = 25_000_000;

/// A process of this program that does only what a floor does.
pub(crate) fn floor_command(scratch: &Scratch, words: &[&str]) -> Command {
    let mut command = Command::new(&scratch.itself);
    command.arg("floor").args(words);
    command
}

pub(crate) fn start(scratch: &Scratch) -> Result<Vec<Row>> {
    note("start and size …");
    const GOAL: Duration = Duration::from_millis(3);
    let [ours, nothing] = in_turns(
        100,
        [
            Box::new(|_| run(Command::new(&scratch.orange).arg("--version"))),
            Box::new(|_| run(&mut Command::new("/bin/true"))),
        ],
    )?;
    let more = ours.best().saturating_sub(nothing.best());
    let bytes = fs::metadata(&scratch.orange)?.len();
    Ok(vec![
        Row {
            what: "start: `orange --version`".into(),
            against: "`/bin/true`".into(),
            measured: milliseconds(ours.best()),
            floor: milliseconds(nothing.best()),
            ratio: format!("+ {}", milliseconds(more)),
            goal: format!("≤ + {} ms", GOAL.as_millis()),
            met: Some(more <= GOAL),
        },
        Row {
            what: "binary, stripped".into(),
            against: "–".into(),
            measured: format!("{:.1} MB", bytes as f64 / 1e6),
            floor: "–".into(),
            ratio: "–".into(),
            goal: format!("≤ {} MB", LARGEST_BINARY / 1_000_000),
            met: Some(bytes <= LARGEST_BINARY),
        },
    ])
}

pub(crate) fn list(scratch: &Scratch) -> Result<Vec<Row>> {
    const TASKS: usize = 10_000;
    const WHAT: &str = "`task list`, 10,000 tasks";
    note("list of 10,000 tasks …");
    let home = scratch.home(TASKS)?;
    let tasks = home.tasks_folder().display().to_string();
    let [ours, stat] = in_turns(
        40,
        [
            Box::new(|_| run(&mut home.orange(scratch, &["task", "list"]))),
            Box::new(|_| run(&mut floor_command(scratch, &["stat", &tasks]))),
        ],
    )?;
    let mut rows = vec![Row::at_most(
        WHAT,
        "stat of the 10,000 files",
        ours.best(),
        stat.best(),
        Some(2.0),
    )];
    rows.push(if installed("task") {
        let peer = Taskwarrior::with(&scratch.memory, TASKS)?;
        let [ours, theirs] = in_turns(
            5,
            [
                Box::new(|_| run(&mut home.orange(scratch, &["task", "list"]))),
                Box::new(|_| run(&mut peer.list())),
            ],
        )?;
        Row::faster(
            WHAT,
            "taskwarrior, `task list`",
            ours.best(),
            theirs.best(),
            4.0,
        )
    } else {
        Row::not_measured(WHAT, "taskwarrior", "not installed")
    });
    for (peer, program) in [("pueue", "pueue"), ("backlog.md", "backlog")] {
        let why = if installed(program) {
            "installed, not measured yet"
        } else {
            "not installed"
        };
        rows.push(Row::not_measured(WHAT, peer, why));
    }
    Ok(rows)
}

/// What is over is not looked at again.
pub(crate) fn live(scratch: &Scratch) -> Result<Vec<Row>> {
    const LIVE: usize = 50;
    note("list of 50 live tasks among 100,000 …");
    let few = scratch.home(LIVE)?;
    let many = Home::with_live(&scratch.memory.join("live"), 100_000, LIVE)?;
    many.settle(scratch)?;
    let mut rows = Vec::new();
    for command in ["ls", "inbox"] {
        let list = |home: &Home| run(&mut home.orange(scratch, &[command]));
        let [ours, alone] = in_turns(40, [Box::new(|_| list(&many)), Box::new(|_| list(&few))])?;
        rows.push(Row::at_most(
            &format!("`orange {command}`, 100,000 tasks, 50 live"),
            "the same with 50 tasks",
            ours.best(),
            alone.best(),
            Some(2.0),
        ));
    }
    Ok(rows)
}

pub(crate) fn show(scratch: &Scratch) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (tasks, name) in [(10, "10"), (100_000, "100,000")] {
        note(&format!("show among {name} tasks …"));
        let home = scratch.home(tasks)?;
        let name = format!("`task show`, {name} tasks");
        let [ours, version] = in_turns(
            60,
            [
                Box::new(|round| {
                    let key = key(home.planning(round));
                    run(&mut home.orange(scratch, &["task", "show", &key]))
                }),
                Box::new(|_| run(Command::new(&scratch.orange).arg("--version"))),
            ],
        )?;
        rows.push(Row::at_most(
            &name,
            "`orange --version`",
            ours.best(),
            version.best(),
            Some(3.0),
        ));
    }
    Ok(rows)
}

pub(crate) fn status(scratch: &Scratch) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (tasks, name) in [(10, "10"), (100_000, "100,000")] {
        note(&format!("status of {name} tasks …"));
        let home = scratch.home(tasks)?;
        let [ours, version] = in_turns(
            60,
            [
                Box::new(|_| run(&mut home.orange(scratch, &["status"]))),
                Box::new(|_| run(Command::new(&scratch.orange).arg("--version"))),
            ],
        )?;
        rows.push(Row::at_most(
            &format!("`orange status`, {name} tasks"),
            "`orange --version`",
            ours.best(),
            version.best(),
            Some(3.0),
        ));
    }
    Ok(rows)
}

pub(crate) fn rebuild(scratch: &Scratch) -> Result<Vec<Row>> {
    let home = scratch.home(100_000)?;
    note("rebuild of the index, 100,000 tasks …");
    let tasks = home.tasks_folder().display().to_string();
    let read = |threads: &'static str| {
        let command = ["read", &tasks, threads];
        run(&mut floor_command(scratch, &command))
    };
    let [ours, reading, both] = in_turns(
        3,
        [
            Box::new(|_| rebuild_once(scratch, &home)),
            Box::new(|_| read("1")),
            Box::new(|_| read("2")),
        ],
    )?;
    let row = |floor, reading: &Times, goal| {
        let what = "index rebuild, 100,000 tasks";
        Row::at_most(what, floor, ours.best(), reading.best(), goal)
    };
    Ok(vec![
        row("reading the files", &reading, Some(3.0)),
        row("reading them in two threads", &both, None),
    ])
}

/// A list of one that finds no index.
pub(crate) fn rebuild_once(scratch: &Scratch, home: &Home) -> Result<Duration> {
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(home.path.join(name));
    }
    run(&mut home.orange(scratch, &["task", "list", "--limit", "1"]))
}

pub(crate) fn change(scratch: &Scratch) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (folder, place) in [(&scratch.disk, "disk"), (&scratch.memory, "memory")] {
        note(&format!("status changes, {place} …"));
        let root = folder.join("changes");
        let home = Home::create(&root, 400)?;
        home.settle(scratch)?;
        let floor = FloorTask::copy_of(&root, &home)?;
        let recipe = recipe(&home)?;
        let call = call(&home);
        let rounds = if place == "disk" { 25 } else { 60 };
        let [ours, loop_of_writes] = in_turns(
            rounds,
            [
                Box::new(|round| {
                    timed(|| there_and_back(&call, &home.place(home.planning(round))))
                }),
                Box::new(|_| {
                    timed(|| {
                        recipe.iter().try_for_each(|writes| {
                            floor::change(&floor.folder, &floor.in_flight, writes)
                        })
                    })
                }),
            ],
        )?;
        let [command, process] = in_turns(
            rounds,
            [
                Box::new(|round| {
                    let key = key(home.planning(round));
                    let to = |status| {
                        run(&mut home
                            .orange(scratch, &["task", "update", &key, "--status", status]))
                    };
                    Ok(to("clarification")? + to("planning")?)
                }),
                Box::new(|_| {
                    recipe
                        .iter()
                        .map(|writes| run(&mut floor.command(scratch, writes)))
                        .sum()
                }),
            ],
        )?;
        let name = |what: &str| {
            format!(
                "two status changes, {what}{}",
                if place == "disk" { "" } else { ", in memory" }
            )
        };
        let goals = if place == "disk" {
            (Some(3.0), Some(2.0))
        } else {
            (None, None)
        };
        rows.push(Row::at_most_usually(
            &name("in process"),
            "the same writes in a loop",
            &ours,
            &loop_of_writes,
            goals.0,
        ));
        rows.push(Row::at_most_usually(
            &name("as a command"),
            "a process with the same writes",
            &command,
            &process,
            goals.1,
        ));
    }
    Ok(rows)
}

fn call(home: &Home) -> Call {
    Call::new(Settings::at(home.path.clone()))
}

/// There and back again, so that every round finds the same.
fn there_and_back(call: &Call, place: &Place) -> Result<()> {
    to(call, place, Status::Clarification)?;
    to(call, place, Status::Planning)
}

pub(crate) fn to(call: &Call, place: &Place, status: Status) -> Result<()> {
    let change = Change {
        status: Some(status),
        ..Change::default()
    };
    Ok(verbs::change::change(call, place.clone(), &change).map(drop)?)
}

/// What one pair of changes writes, by doing it once.
fn recipe(home: &Home) -> Result<[Writes; 2]> {
    let number = home.planning(39);
    let place = home.place(number);
    let call = call(home);
    let mut before = fs::read(place.journal())?.len();
    let mut writes = |status, blocks: usize| -> Result<Writes> {
        let change = Change {
            status: Some(status),
            ..Change::default()
        };
        verbs::change::change(&call, place.clone(), &change)?;
        let journal = fs::read(place.journal())?;
        let added = journal.get(before..).unwrap_or_default();
        before = journal.len();
        // The first line is the change itself; what its hooks came to follows in one block.
        let first = added
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(added.len(), |at| at + 1);
        let appends: Vec<usize> = [first, added.len() - first]
            .into_iter()
            .filter(|bytes| *bytes > 0)
            .collect();
        if appends.len() != blocks {
            return Err("a status change writes its journal otherwise than the floor".into());
        }
        Ok(Writes {
            file: fs::read(place.task_file())?.len(),
            appends,
        })
    };
    Ok([
        writes(Status::Clarification, 1)?,
        writes(Status::Planning, 2)?,
    ])
}

/// A copy of a task's folder that only the floor writes to.
struct FloorTask {
    folder: PathBuf,
    in_flight: PathBuf,
}

impl FloorTask {
    fn copy_of(root: &Path, home: &Home) -> Result<FloorTask> {
        let floor = FloorTask {
            folder: root.join("floor/task"),
            in_flight: root.join("floor/in-flight"),
        };
        fs::create_dir_all(&floor.folder)?;
        fs::create_dir_all(&floor.in_flight)?;
        let place = home.place(home.planning(0));
        fs::copy(place.task_file(), floor.folder.join("TASK.md"))?;
        fs::copy(place.journal(), floor.folder.join("history.jsonl"))?;
        Ok(floor)
    }

    fn command(&self, scratch: &Scratch, writes: &Writes) -> Command {
        let mut command = floor_command(scratch, &["change"]);
        command
            .arg(&self.folder)
            .arg(&self.in_flight)
            .arg(writes.file.to_string());
        command.args(writes.appends.iter().map(usize::to_string));
        command
    }
}
