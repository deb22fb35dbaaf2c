//! What a merge costs: the whole command, against the three calls of git that it cannot do without.

use crate::fixture::{Home, git, key};
use crate::measure::{in_turns, run};
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;

pub(crate) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    note("merges …");
    let home = Home::create(&scratch.memory.join("merge"), 0)?;
    let repository = home.repository.as_path();
    for (name, value) in [
        ("user.name", "bench"),
        ("user.email", "bench@example.invalid"),
    ] {
        run(git(repository).args(["config", name, value]))?;
    }
    for side in ["ours", "floor"] {
        for round in 0..=ROUNDS {
            branch(repository, side, round)?;
        }
    }
    // The least is done where nobody shows the files of the target.
    run(git(repository).args(["switch", "--quiet", "--create", "elsewhere"]))?;
    home.settle(scratch)?;
    for round in 0..=ROUNDS {
        let branch = format!("ours-{round}");
        let words = [
            "task",
            "create",
            &branch,
            "A merge",
            "--status",
            "reviewing",
        ];
        run(&mut home.orange(scratch, &words))?;
    }
    let [ours, floor] = in_turns(
        ROUNDS,
        [
            Box::new(|round| {
                let key = key(round + 1);
                run(&mut home.orange(scratch, &["task", "merge", &key]))
            }),
            Box::new(|round| by_hand(repository, &format!("floor-{round}"))),
        ],
    )?;
    Ok(vec![Row::at_most(
        "`task merge`, target checked out nowhere",
        "`git merge-tree`, `commit-tree` and `update-ref`",
        ours.best(),
        floor.best(),
        Some(2.5),
    )])
}

/// A branch with a commit of its own.
fn branch(repository: &Path, side: &str, round: usize) -> Result<()> {
    let name = format!("{side}-{round}");
    run(git(repository).args(["switch", "--quiet", "--create", &name, "main"]))?;
    std::fs::write(repository.join(format!("{name}.txt")), "work\n")?;
    run(git(repository).args(["add", "."]))?;
    run(git(repository).args(["commit", "--quiet", "--message=work"]))?;
    run(git(repository).args(["switch", "--quiet", "main"])).map(drop)
}

/// The same by the commands that it takes.
fn by_hand(repository: &Path, branch: &str) -> Result<Duration> {
    let said = |command: &mut Command| -> Result<String> {
        let output = command.output()?;
        if output.status.success() {
            Ok(String::from_utf8(output.stdout)?.trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
        }
    };
    let start = Instant::now();
    let tree = said(git(repository).args(["merge-tree", "--write-tree", "main", branch]))?;
    let words = ["commit-tree", "-p", "main", "-m", "A merge", &tree];
    let commit = said(git(repository).args(words))?;
    said(git(repository).args(["update-ref", "refs/heads/main", &commit]))?;
    Ok(start.elapsed())
}
