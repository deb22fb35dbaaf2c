//! A whole task with scripted agents, against a shell script that gives the same commands without an engine.

use super::stage::{Stage, until};
use crate::fixture::key;
use crate::measure::{in_turns, run};
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use std::fs;
use std::time::Instant;

/// What git and tmux have to do for one task, and the waiting in between. The agents are the same.
const SCRIPT: &str = r#"
set -eu
name=$1 slot=$2 orange=$3 script=$4 done=$5 socket=$6
rm -f "$done/worker" "$done/reviewer"
git -C "$slot" switch --quiet -c "$name"
printf -- '---\nstatus: planning\n---\n' > "$slot/TASK.md"
tmux -S "$socket" new-session -d -s "$name" -n worker -c "$slot" "$orange" sim --script "$script" --role worker -- "Do it"
until [ -e "$done/worker" ]; do sleep 0.005; done
tmux -S "$socket" new-window -d -t "$name" -n review-1 -c "$slot" "$orange" sim --script "$script" --role reviewer -- "Review it"
until [ -e "$done/reviewer" ]; do sleep 0.005; done
tmux -S "$socket" kill-window -t "$name:review-1"
"#;

/// `call` is what an agent does to tell of a step: a command of Orange, or a file.
fn script(plan: &str, worker: &str, reviewer: &str) -> String {
    format!(
        "worker:\n  - plan: \"APPROACH: quickly\"\n{plan}  - write: work.md\n    text: \"{{branch}}\"\n  - commit: work\n  - handoff: \"DONE: all\"\n  - {worker}\n\nreviewer:\n  - run: git log --oneline -5\n    ignore: true\n  - review: PASS\n    text: fine\n  - {reviewer}\n"
    )
}

pub(super) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    const ROUNDS: usize = 12;
    note("whole tasks …");
    let stage = Stage::new(scratch, "lifecycle", 1, "true")?;
    let ours = stage.root.join("ours.yaml");
    fs::write(
        &ours,
        script("  - status: working\n", "complete", "status: reviewing"),
    )?;
    let theirs = stage.root.join("theirs.yaml");
    let done = stage.root.join("done");
    fs::create_dir_all(&done)?;
    let touch = |role: &str| format!("run: touch {}/{role}", done.display());
    fs::write(&theirs, script("", &touch("worker"), &touch("reviewer")))?;
    let harness = format!("sim:{}", ours.display());
    let worktree = stage.root.join("peer");
    let path = worktree.display().to_string();
    stage.git(&["worktree", "add", "--quiet", "--detach", &path])?;
    let shell = stage.root.join("lifecycle.sh");
    fs::write(&shell, SCRIPT)?;
    let [call, script] = in_turns(
        ROUNDS,
        [
            Box::new(|round| {
                let key = key(round + 1);
                let start = Instant::now();
                stage.orange(&[
                    "task",
                    "create",
                    "Do it",
                    "--harness",
                    &harness,
                    "--review-harness",
                    &harness,
                ])?;
                let task = stage.newest(&key)?;
                until("reviewing", || {
                    let text = fs::read_to_string(task.join("history.jsonl")).unwrap_or_default();
                    let last = text.lines().last().unwrap_or_default();
                    text.contains("\"to\":\"reviewing\"") && last.contains("transition.finished")
                })?;
                let took = start.elapsed();
                stage.orange(&["task", "cancel", &key, "--yes"])?;
                Ok(took)
            }),
            Box::new(|round| {
                let name = format!("peer-{round}");
                let start = Instant::now();
                let mut sh = stage.program("sh", &stage.root);
                sh.arg(&shell)
                    .arg(&name)
                    .arg(&worktree)
                    .arg(&scratch.orange);
                sh.arg(&theirs).arg(&done).arg(stage.socket());
                run(&mut sh)?;
                let took = start.elapsed();
                run(&mut stage.tmux(&["kill-session", "-t", &name]))?;
                fs::remove_file(worktree.join("TASK.md"))?;
                run(stage
                    .program("git", &worktree)
                    .args(["switch", "--quiet", "--detach", "main"]))?;
                Ok(took)
            }),
        ],
    )?;
    Ok(vec![Row::at_most(
        "a task from creation to `reviewing`",
        "a shell script with the same agents",
        call.best(),
        script.best(),
        Some(2.5),
    )])
}
