//! What it costs to tell how much tasks change: when all their branches moved, and when none did.

use crate::fixture::Home;
use crate::measure::{in_turns, run};
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Three of ten tasks of a home are active.
const TASKS: usize = 340;
const ACTIVE: usize = 100;
/// Of the repository, and those that a commit changes.
const FILES: usize = 2000;
const CHANGED: usize = 5;

pub(crate) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    note("how much 100 tasks change …");
    let home = Home::create(&scratch.memory.join("diff"), TASKS)?;
    // The same without branches, of which there is nothing to tell.
    let plain = Home::create(&scratch.memory.join("plain"), TASKS)?;
    let files: Vec<usize> = (0..FILES).collect();
    import(&home.repository, &[Commit::new("main", "main", 0, &files)])?;
    let branches = active_branches(scratch, &home)?;
    for round in 1..=2 {
        move_all(&home, &branches, round)?;
    }
    home.settle(scratch)?;
    plain.settle(scratch)?;
    let list = |home: &Home| run(&mut home.orange(scratch, &["task", "list"]));
    let [unmoved, without] = in_turns(20, [Box::new(|_| list(&home)), Box::new(|_| list(&plain))])?;
    let calls = gits_of_a_list(scratch, &home)?;
    let [moved, floor] = in_turns(
        10,
        [
            Box::new(|round| {
                move_all(&home, &branches, round + 3)?;
                list(&home)
            }),
            Box::new(|_| {
                let each = |branch: &String| run(&mut shortstat(&home, branch));
                branches.iter().map(each).sum()
            }),
        ],
    )?;
    check(scratch, &home, &branches)?;
    let mut nothing_moved = Row::at_most(
        "`task list`, 340 tasks, no branch moved",
        "the same list without branches",
        unmoved.best(),
        without.best(),
        None,
    );
    nothing_moved.ratio.push_str(&format!(", {calls} × git"));
    nothing_moved.goal = "0 × git".into();
    nothing_moved.met = Some(calls == 0);
    Ok(vec![
        Row::at_most(
            "`task list`, 100 branches moved",
            "`git diff --shortstat` of each",
            moved.best(),
            floor.best(),
            Some(1.5),
        ),
        nothing_moved,
    ])
}

/// The branches of the tasks whose changes are listed.
fn active_branches(scratch: &Scratch, home: &Home) -> Result<Vec<String>> {
    let rows = listed(scratch, home)?;
    let active = rows.iter().filter(|row| row["status"] != "pending");
    let branches = active.filter_map(|row| row["branch"].as_str().map(str::to_owned));
    let branches: Vec<String> = branches.take(ACTIVE).collect();
    match branches.len() {
        ACTIVE => Ok(branches),
        fewer => Err(format!("only {fewer} tasks are active").into()),
    }
}

fn listed(scratch: &Scratch, home: &Home) -> Result<Vec<serde_json::Value>> {
    let output = home.orange(scratch, &["task", "list", "--json"]).output()?;
    let mut value: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    match value["tasks"].take() {
        serde_json::Value::Array(rows) => Ok(rows),
        other => Err(format!("no list of tasks: {other}").into()),
    }
}

/// Did the list tell what git tells?
fn check(scratch: &Scratch, home: &Home, branches: &[String]) -> Result<()> {
    let rows = listed(scratch, home)?;
    for branch in branches {
        let row = rows.iter().find(|row| row["branch"] == branch.as_str());
        let told = row.map(|row| row["diff"].clone()).unwrap_or_default();
        let output = shortstat(home, branch).output()?;
        let text = String::from_utf8(output.stdout)?;
        let words = format!(
            "{} files changed, {} insertions(+), {} deletions(-)",
            told["files"], told["added"], told["deleted"]
        );
        if text.trim() != words {
            return Err(format!("{branch}: {words}, but git says {text}").into());
        }
    }
    Ok(())
}

fn shortstat(home: &Home, branch: &str) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(&home.repository).args([
        "diff",
        "--shortstat",
        &format!("main...{branch}"),
    ]);
    command
}

/// How often a list starts git: counted by a `git` that comes first on the PATH.
fn gits_of_a_list(scratch: &Scratch, home: &Home) -> Result<usize> {
    let folder = home.path.with_file_name("bin");
    fs::create_dir_all(&folder)?;
    let (wrapper, noted) = (folder.join("git"), folder.join("noted"));
    fs::write(&noted, "")?;
    let text = format!("#!/bin/sh\necho \"$*\" >> '{}'\nexit 1\n", noted.display());
    fs::write(&wrapper, text)?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(all)?;
    run(home.orange(scratch, &["task", "list"]).env("PATH", path))?;
    Ok(fs::read_to_string(&noted)?.lines().count())
}

/// One more commit on every branch, with a content that no round before had.
fn move_all(home: &Home, branches: &[String], round: usize) -> Result<Duration> {
    let commits: Vec<Commit> = branches
        .iter()
        .enumerate()
        .map(|(number, branch)| {
            let files: Vec<usize> = (0..CHANGED)
                .map(|n| (number * 7 + n * 131) % FILES)
                .collect();
            let from = if round == 1 { "main" } else { branch };
            Commit::new(branch, from, round, &files)
        })
        .collect();
    import(&home.repository, &commits).map(|()| Duration::ZERO)
}

struct Commit {
    branch: String,
    from: String,
    files: Vec<(usize, String)>,
}

impl Commit {
    fn new(branch: &str, from: &str, version: usize, files: &[usize]) -> Commit {
        let text = |number: &usize| {
            let line = |line: usize| match line {
                3 => format!("line {line} of {number}, version {version}\n"),
                _ => format!("line {line} of {number}\n"),
            };
            (*number, (0..40).map(line).collect())
        };
        Commit {
            branch: branch.to_owned(),
            from: from.to_owned(),
            files: files.iter().map(text).collect(),
        }
    }
}

fn import(repository: &Path, commits: &[Commit]) -> Result<()> {
    let mut import = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()?;
    let stdin = import.stdin.take().ok_or("git has no input")?;
    let mut stream = BufWriter::new(stdin);
    for commit in commits {
        let who = "bench <bench@example.invalid> 1760000000 +0000";
        let Commit { branch, from, .. } = commit;
        write!(
            stream,
            "commit refs/heads/{branch}\ncommitter {who}\ndata 4\nwork\nfrom refs/heads/{from}^0\n"
        )?;
        for (number, text) in &commit.files {
            let path = format!("part_{}/file_{number}.txt", number / 50);
            write!(
                stream,
                "M 100644 inline {path}\ndata {}\n{text}\n",
                text.len()
            )?;
        }
    }
    drop(stream);
    if import.wait()?.success() {
        Ok(())
    } else {
        Err("git fast-import failed".into())
    }
}
