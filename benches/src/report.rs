//! The table, for the terminal and for docs/contributing/benchmarks.md.

use crate::measure::Times;
use crate::scratch::{Scratch, file_system};
use jiff::Timestamp;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

/// One comparison.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) against: String,
    pub(crate) measured: String,
    pub(crate) floor: String,
    pub(crate) ratio: String,
    pub(crate) goal: String,
    /// None: there is no goal, or nothing to measure here.
    pub(crate) met: Option<bool>,
}

impl Row {
    /// At most so many times the floor; without a goal, for information.
    pub(crate) fn at_most(
        what: &str,
        against: &str,
        measured: Duration,
        floor: Duration,
        times: Option<f64>,
    ) -> Row {
        let ratio = measured.as_secs_f64() / floor.as_secs_f64();
        Row {
            measured: milliseconds(measured),
            floor: milliseconds(floor),
            ..Row::of_ratio(what, against, ratio, times)
        }
    }

    /// The same with a ratio that was taken round by round.
    pub(crate) fn at_most_usually(
        what: &str,
        against: &str,
        measured: &Times,
        floor: &Times,
        times: Option<f64>,
    ) -> Row {
        Row {
            measured: milliseconds(measured.median()),
            floor: milliseconds(floor.median()),
            ..Row::of_ratio(what, against, measured.ratio_to(floor), times)
        }
    }

    fn of_ratio(what: &str, against: &str, ratio: f64, times: Option<f64>) -> Row {
        Row {
            what: what.into(),
            against: against.into(),
            measured: String::new(),
            floor: String::new(),
            ratio: format!("{ratio:.2} ×"),
            goal: times.map_or("–".into(), |times| format!("≤ {times} ×")),
            met: times.map(|times| ratio <= times),
        }
    }

    /// So many times faster than the peer, or more.
    pub(crate) fn faster(
        what: &str,
        peer: &str,
        measured: Duration,
        theirs: Duration,
        times: f64,
    ) -> Row {
        let ratio = theirs.as_secs_f64() / measured.as_secs_f64();
        Row {
            what: what.into(),
            against: peer.into(),
            measured: milliseconds(measured),
            floor: milliseconds(theirs),
            ratio: format!("{ratio:.1} × faster"),
            goal: format!("≥ {times} × faster"),
            met: Some(ratio >= times),
        }
    }

    pub(crate) fn not_measured(what: &str, peer: &str, why: &str) -> Row {
        Row {
            what: what.into(),
            against: format!("{peer} ({why})"),
            measured: "–".into(),
            floor: "–".into(),
            ratio: "–".into(),
            goal: "–".into(),
            met: None,
        }
    }

    fn cells(&self) -> [&str; 7] {
        let met = match self.met {
            Some(true) => "yes",
            Some(false) => "no",
            None => "–",
        };
        [
            &self.what,
            &self.against,
            &self.measured,
            &self.floor,
            &self.ratio,
            &self.goal,
            met,
        ]
    }
}

pub(crate) fn milliseconds(time: Duration) -> String {
    let value = time.as_secs_f64() * 1000.0;
    match value {
        value if value >= 100.0 => format!("{value:.0} ms"),
        value if value >= 10.0 => format!("{value:.1} ms"),
        value => format!("{value:.2} ms"),
    }
}

pub(crate) struct Report {
    rows: Vec<Row>,
    facts: Vec<String>,
}

impl Report {
    pub(crate) fn new(rows: Vec<Row>, scratch: &Scratch) -> Report {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let kernel = Command::new("uname").arg("-srm").output();
        let kernel = kernel.map_or_else(
            |_| "unknown".into(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        );
        let facts = vec![
            format!("date: {}", Timestamp::now().strftime("%Y-%m-%d")),
            format!("cores: {cores}"),
            format!("kernel: {kernel}"),
            format!(
                "file systems: {} for homes, {} for what waits for fsync",
                file_system(&scratch.memory),
                file_system(&scratch.disk)
            ),
        ];
        Report { rows, facts }
    }

    /// Markdown, with columns that also line up on a terminal.
    pub(crate) fn table(&self) -> String {
        let header = [
            "what",
            "compared with",
            "measured",
            "floor or peer",
            "ratio",
            "goal",
            "met",
        ];
        let mut widths = header.map(|cell| cell.chars().count());
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row.cells()) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = String::new();
        let mut line = |cells: [&str; 7]| {
            for (width, cell) in widths.iter().zip(cells) {
                let _ = write!(text, "| {cell:<width$} ");
            }
            text.push_str("|\n");
        };
        line(header);
        let rules = widths.map(|width| "-".repeat(width));
        line(rules.each_ref().map(String::as_str));
        for row in &self.rows {
            line(row.cells());
        }
        text
    }

    pub(crate) fn document(&self) -> String {
        let missed = self
            .rows
            .iter()
            .filter(|row| row.met == Some(false))
            .count();
        let measured = self.rows.iter().filter(|row| row.met.is_some()).count();
        format!(
            "# Benchmarks\n\n\
             Written by `make bench`, which runs `cargo build --release --locked` and then\n\
             `cargo run --release --locked -p orange-bench -- --write docs/contributing/benchmarks.md`. The goals are ratios,\n\
             because machines differ: each row was measured in the same run as what it is compared with, in turns.\n\
             {met} of {measured} goals are met. Lists and rebuilds use two cores, so a busy machine makes them look worse.\n\n{facts}\n\n{table}\n{notes}",
            met = measured - missed,
            facts = self
                .facts
                .iter()
                .map(|fact| format!("- {fact}"))
                .collect::<Vec<_>>()
                .join("\n"),
            table = self.table(),
            notes = NOTES,
        )
    }
}

const NOTES: &str = "\
## How it is measured

- Times are the fastest of all rounds. A disk has no undisturbed time: status changes have the median, and the median
  of the ratios round by round. One round before them warms the caches and does not count. A command's output goes
  to a file.
- A task has a frontmatter of 25 lines, a body of 1 kB with Context and Plan, and a journal of about five events.
  The index is up to date, except where its rebuild is measured.
- *stat*: a process that reads the folders' names and stats each TASK.md, in one thread.
- *reading the files*: a process that reads each TASK.md and history.jsonl into memory, in one
  thread; the row below shows the same in two, which is what a rebuild uses.
- *the same writes*: mark and fsync of its folder, journal line and fdatasync, new TASK.md and fsync, both renames,
  fsync of the task's folder, and a second journal write and fdatasync for hooks. Nothing is read or checked.
  A change stands for two: planning → clarification (one journal write) and back (two).
- *acquire a warm slot*: `orange task update --status planning` of a new task, from its start to its end; the slot was
  parked at the base before, by `orange workspace init` or by the task of the round before. The peer is
  `git worktree add -b BRANCH PATH main` in the same repository. Slot and worktree are given back outside of the
  measured time. The repository has 50,000 files of a few hundred bytes in 1,000 folders, one pack and no remote.
- *rescue of a dirty slot*: what saves a slot before it is cleaned, in process, with 20 modified, 5 staged and 20
  untracked files that no round before had. The peer is a plain `git status` in the same slot. `task cancel` does
  the same as a command, and then parks the slot clean.
- *`task spawn`*: the command from its start to its end, with a slot that is parked and a tmux server that runs; it
  ends when the agent's window has reported. The floor is one `git switch -c` in a worktree and one
  `tmux new-session -d`, which waits for nothing. The repository has 20 files and no remote, `git.fetch` is `never`.
- *agent running*: from the start of the command until a file is there that the agent's first act is to create.
  workmux opens its window in the background of the same server, with the same command, and makes its worktree anew.
- *model's first request*: from the start of `task create` until the first request of the real agent arrives at a listener
  on loopback, which stands for the model. By hand is `tmux new-session -d` with the same CLI, with every dialog
  answered in its settings, in the repository itself: no branch, no worktree, no task. `make bench` installs the CLIs.
- *agent's exit → status advanced*: 120 agents whose last act is `exec date +%s%N`; from that time until TASK.md,
  which then says `agent-review`, was exchanged for the new one (its ctime).
- *a task from creation to `reviewing`*: `task create`, a scripted worker that plans, commits and hands over, a scripted
  reviewer that passes it. The script does `git switch -c`, `tmux new-session`, waits for the worker's last step, opens
  the reviewer's window, waits, closes it; its agents take the same steps, but touch a file where ours call `orange`.
- *an executor's iteration*: 40 iterations with the scripted agent, from the beginning of one to that of the next, in the median, without
  what the same turn takes by itself (`orange headless`, less the start of a program). Its work: the seven git commands that commit what a
  turn left, read it and list it, as processes, and seven transactions of one row in a database that is opened as orange.db is.
- *a decision at a gate*: a person's approval of a phase, without the start of the next one or its place in the queue, against
  clarification → planning of another task. Both have hooks.
- *monitor's tick*: in process, with 500 tasks whose agents (`sleep`, each beside a real `run-agent`) are alive in 500
  sessions, after the look that each new run gets some seconds after its start. Calls of tmux are counted in an `orange watch --once` with a `tmux` of our own first on the PATH.
- *dashboard*: a key and its frame are measured in process, drawn into memory; the rest on a terminal of its own, which
  `script` makes, without the time that this takes. *From its start to a frame with tasks*: until a row of a task was written.
  *Key to frame*: from the key until the frame that has the mark at another place was written, 200 keys, 15 ms apart. *Idle*: the
  processor time of the dashboard and of all that it started, over 40 s, with the preview of an agent's window beside the list.
- *growth* of a list or a rebuild is the time per task; of a command on one task, the time.
- Both programs are copied before anything is measured, as an installation does: what the linker wrote takes a tenth of a
  millisecond longer to start, and a small command a fifth longer.
- `orange` and the floors are processes, started and waited for by the benchmark, except for the rescue
  and for the status change *in process*, where both sides are loops.

## What a command does that its floor does not

- *A status change* (2.5 × its floor, the goal is 2 ×): 6 million instructions and some 680 system calls (callgrind and
  strace, November 2026), and as many waits for the disk as its floor: four, and a fifth for hooks. 1.1 million instructions and
  77 calls are the start of any command, 1.2 million are SQLite reading the tables of index.db and of orange.db, without which no
  list is right and a line in a journal could be anybody's. A quarter of its time are page faults, most of them of the program itself.
  In process, where nothing is opened anew, the same change is 1.9 × its floor.
- *A decision at a gate* (1.1 × a status change with hooks, the goal is 1 ×): it waits for the disk as often, five times. One of
  them is for orange.db, without which a decision would not outlive a reboot; the hook that asks for a look at the queue has none.
  What is left is reading the plan and its rows, and writing them. `orange approve` then looks whether the next phase may start
  now, as `orange run` does.
- *`task cancel`* of a dirty slot (4.2 ×, the goal is 4 ×): the rescue, which is 1.8 × a `git status` by itself, then detach, reset
  and clean, each of which looks at the 50,000 files once more. None of them is left out, because what each finds is what the
  next one relies on.
- *A task from creation to `reviewing`* (2.8 ×, the goal is 2.5 ×): the agents call `orange` for every move and every signal, and
  each of the four moves waits for the disk as a status change does. The script only starts the same agents and windows.
- *A merge* (3.1 ×, the goal is 2.5 ×): seven calls of git in four steps (those of a step run at once), against three. The rules of the repository and
  links that somebody committed are looked up before anything moves, and the commits are read for their authors; then the
  merge, its commit and the move of the branch as in the floor.
- *`task spawn`*: three calls of git and one of tmux, against one of each. `ls-tree` reads the repository's rules from the base
  commit and `status` makes sure that the slot is clean; all processes are asked whether they live in the slot. The command
  ends when the agent's window has reported, while `tmux new-session -d` waits for nothing.
";
