//! One agent: how long until it runs, and how long until its end is known.

use super::stage::{Stage, until, until_file};
use crate::fixture::key;
use crate::measure::{Times, in_turns, run};
use crate::peers::Workmux;
use crate::report::{Row, milliseconds};
use crate::scratch::Scratch;
use crate::{Result, note};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// An agent that does nothing, for as long as anybody waits.
const IDLE: &str = "exec sleep 100000";

pub(super) fn spawn(scratch: &Scratch) -> Result<Vec<Row>> {
    const ROUNDS: usize = 30;
    note("starting agents …");
    let stage = Stage::new(scratch, "spawn", 1, IDLE)?;
    let worktree = stage.root.join("peer");
    let path = worktree.display().to_string();
    stage.git(&["worktree", "add", "--quiet", "--detach", &path])?;
    let [ours, floor] = in_turns(
        ROUNDS,
        [
            Box::new(|round| {
                let key = key(round + 1);
                stage.orange(&["task", "create", "Do it", "--no-spawn"])?;
                let took = stage.orange(&["task", "spawn", &key])?;
                stage.orange(&["task", "cancel", &key, "--yes"])?;
                Ok(took)
            }),
            Box::new(|round| {
                let name = format!("peer-{round}");
                let mut switch = stage.program("git", &worktree);
                let mut took = run(switch.args(["switch", "--quiet", "-c", &name]))?;
                took += run(&mut stage.tmux(&[
                    "new-session",
                    "-d",
                    "-s",
                    &name,
                    "-c",
                    &path,
                    "sleep",
                    "100000",
                ]))?;
                run(&mut stage.tmux(&["kill-session", "-t", &name]))?;
                run(stage
                    .program("git", &worktree)
                    .args(["switch", "--quiet", "--detach", "main"]))?;
                Ok(took)
            }),
        ],
    )?;
    Ok(vec![Row::at_most(
        "`task spawn`, small repository",
        "`git switch -c`, `tmux new-session`",
        ours.best(),
        floor.best(),
        Some(3.0),
    )])
}

pub(super) fn create(scratch: &Scratch) -> Result<Vec<Row>> {
    const ROUNDS: usize = 6;
    const WHAT: &str = "`task create` → agent running";
    let Some(workmux) = Workmux::find() else {
        return Ok(vec![Row::not_measured(WHAT, "workmux", "not installed")]);
    };
    note("workmux …");
    let began = scratch.memory.join("began");
    let touch = format!("touch {}; {IDLE}", began.display());
    let stage = Stage::new(scratch, "create", 1, &touch)?;
    fs::write(
        stage.repository.join(".workmux.yaml"),
        format!("panes:\n  - command: {}\n", serde_json::to_string(&touch)?),
    )?;
    let inside = stage.inside()?;
    let [ours, theirs] = in_turns(
        ROUNDS,
        [
            Box::new(|round| {
                let took = until_file(
                    &mut stage.orange_command(&["task", "create", "Do it"]),
                    &began,
                )?;
                stage.orange(&["task", "cancel", &key(round + 1), "--yes"])?;
                fs::remove_file(&began)?;
                Ok(took)
            }),
            Box::new(|round| {
                let branch = format!("peer-{round}");
                let mut add = stage.program(&workmux.program, &stage.repository);
                add.args(["add", &branch, "--background"])
                    .envs(inside.clone());
                let took = until_file(&mut add, &began)?;
                let mut remove = stage.program(&workmux.program, &stage.repository);
                run(remove
                    .args(["remove", "--force", &branch])
                    .envs(inside.clone()))?;
                fs::remove_file(&began)?;
                Ok(took)
            }),
        ],
    )?;
    Ok(vec![Row::faster(
        WHAT,
        &format!("workmux {}, `workmux add`", workmux.version),
        ours.best(),
        theirs.best(),
        4.0,
    )])
}

pub(super) fn exit(scratch: &Scratch) -> Result<Vec<Row>> {
    const SAMPLES: usize = 120;
    const GOAL: Duration = Duration::from_millis(25);
    note("ends of agents …");
    let ended = scratch.memory.join("ended");
    let agent = format!(
        "printf '\\n## Plan\\nAPPROACH: x\\n' >> TASK.md; orange task update --status working >/dev/null; printf '\\n## Handoff\\nDONE: x\\n' >> TASK.md; exec date +%s%N > {}",
        ended.display()
    );
    let stage = Stage::new(scratch, "exit", 1, &agent)?;
    let mut samples = Vec::new();
    for number in 1..=SAMPLES {
        let key = key(number);
        stage.orange(&["task", "create", "Do it"])?;
        let task = stage.newest(&key)?.join("TASK.md");
        until("agent-review", || is_in_review(&task))?;
        let said: i128 = fs::read_to_string(&ended)?.trim().parse()?;
        let status = fs::metadata(&task)?;
        // The exchange of the file for the new one, at which the status shows.
        let changed = i128::from(status.ctime()) * 1_000_000_000 + i128::from(status.ctime_nsec());
        samples.push(Duration::from_nanos(u64::try_from(
            (changed - said).max(0),
        )?));
        stage.orange(&["task", "cancel", &key, "--yes"])?;
    }
    let times = Times::of(samples);
    let p99 = times.percentile(99);
    Ok(vec![Row {
        what: "agent's exit → status advanced, p99".into(),
        against: "the 30 s poll of a monitor".into(),
        measured: format!(
            "{} (p50 {})",
            milliseconds(p99),
            milliseconds(times.median())
        ),
        floor: "30 s".into(),
        ratio: "–".into(),
        goal: format!("≤ {} ms", GOAL.as_millis()),
        met: Some(p99 <= GOAL),
    }])
}

fn is_in_review(task: &Path) -> bool {
    let text = fs::read_to_string(task).unwrap_or_default();
    text.contains("\nstatus: agent-review\n")
}
