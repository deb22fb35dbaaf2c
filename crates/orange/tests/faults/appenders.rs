//! Shells that append to TASK.md with `>>` while commands rewrite its frontmatter.
//!
//! An append never puts an older text over a newer one, so every line must be in TASK.md in the end, once, and no
//! conflict file may be left.

use crate::check::{at_rest, names, task_file};
use crate::env::Env;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const APPENDERS: usize = 4;
const UPDATES: usize = 40;

/// A shell that opens TASK.md anew for every line, until it is told to stop; then it says how many it wrote.
fn appender(file: &Path, stop: &Path, name: usize) -> Child {
    let script = r#"n=0; while [ ! -e "$1" ]; do n=$((n+1)); echo "appender $2 line $n;" >> "$0"; sleep 0.0$2; done; echo $n"#;
    Command::new("sh")
        .args(["-c", script])
        .args([file, stop])
        .arg(name.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// How often each line is in a body.
fn counts(body: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in body.lines().filter(|line| line.starts_with("appender ")) {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

#[track_caller]
fn no_conflict(folder: &Path) {
    let kept = names(folder, |name| name.contains("conflict"));
    assert_eq!(kept, Vec::<String>::new());
}

#[test]
fn every_line_of_racing_appenders_arrives_once() {
    // On a disk, where a command takes long enough for an appender to come between its steps.
    let env = Env::within(&std::env::temp_dir());
    let key = env.create(&["appended", "Appended"]);
    env.append_to_body(&key, "\n## Notes\n\n");
    let folder = env.folder_of(&key);
    let file = folder.join("TASK.md");
    let stop = env.folder().join("stop");
    let appenders: Vec<Child> = (1..=APPENDERS)
        .map(|name| appender(&file, &stop, name))
        .collect();
    for number in 0..UPDATES {
        env.update(&key, &["--target-branch", &format!("u{number}")]);
    }
    fs::write(&stop, "").unwrap();
    let wrote = appenders.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.trim().parse::<usize>().unwrap()
    });
    let wrote: Vec<usize> = wrote.collect();
    // What a slow appender wrote last is found by the next command.
    env.update(&key, &["--target-branch", "last"]);
    at_rest(&env, "after the race");
    no_conflict(&folder);
    let (fields, body) = task_file(&folder);
    assert_eq!(fields["target_branch"], "last");
    let found = counts(&body);
    for (name, lines) in (1..).zip(&wrote) {
        for number in 1..=*lines {
            let line = format!("appender {name} line {number};");
            assert_eq!(found.get(&line), Some(&1), "{line}");
        }
    }
    assert_eq!(found.len(), wrote.iter().sum::<usize>());
    println!("{} lines, {UPDATES} updates", found.len());
}

/// An appender has the file open for longer than a command waits, while others go on with the new one.
#[test]
fn an_appender_that_keeps_the_file_open_is_merged_when_it_lets_go() {
    let env = Env::new();
    let key = env.create(&["slow", "Slow"]);
    env.append_to_body(&key, "\n## Notes\n\nbefore\n");
    let folder = env.folder_of(&key);
    let file = folder.join("TASK.md");
    let mut slow = OpenOptions::new().append(true).open(&file).unwrap();
    slow.write_all(b"slow 1\n").unwrap();
    env.update(&key, &["--target-branch", "one"]);
    let mut quick = OpenOptions::new().append(true).open(&file).unwrap();
    quick.write_all(b"same\n").unwrap();
    drop(quick);
    slow.write_all(b"slow 2\nsame\n").unwrap();
    env.update(&key, &["--target-branch", "two"]);
    env.append_to_body(&key, "quick 2\n");
    slow.write_all(b"slow 3\n").unwrap();
    drop(slow);
    env.update(&key, &["--target-branch", "three"]);
    at_rest(&env, "after both");
    no_conflict(&folder);
    let (fields, body) = task_file(&folder);
    assert_eq!(fields["target_branch"], "three");
    let mut lines: Vec<&str> = body.lines().skip(3).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "before", "quick 2", "same", "same", "slow 1", "slow 2", "slow 3"
        ]
    );
    let text = fs::read_to_string(&file).unwrap();
    let at = |line: &str| text.find(line).unwrap();
    assert!(at("slow 1") < at("slow 2") && at("slow 2") < at("slow 3"));
}

/// A process dies at each step of taking over what an appender wrote: the next one takes over what is missing, once.
#[test]
fn a_kill_on_the_way_takes_no_line_over_twice() {
    for hit in 1.. {
        let env = Env::new();
        let key = env.create(&["killed", "Killed"]);
        env.append_to_body(&key, "\n## Notes\n\nbefore\n");
        let folder = env.folder_of(&key);
        let file = folder.join("TASK.md");
        let mut slow = OpenOptions::new().append(true).open(&file).unwrap();
        env.update(&key, &["--target-branch", "one"]);
        env.append_to_body(&key, "same\nquick\n");
        slow.write_all(b"same\nslow\n").unwrap();
        drop(slow);
        let mut killed = env.command(&["task", "update", &key, "--target-branch", "two"]);
        killed.env("ORANGE_CRASH_AT", format!("*:{hit}"));
        let over = killed.output().unwrap().status.success();
        env.update(&key, &["--target-branch", "three"]);
        at_rest(&env, &format!("killed at point {hit}"));
        no_conflict(&folder);
        let (_, body) = task_file(&folder);
        let mut lines: Vec<&str> = body.lines().skip(3).collect();
        lines.sort_unstable();
        assert_eq!(lines, ["before", "quick", "same", "same", "slow"], "{hit}");
        if over {
            assert!(hit > 5, "{hit} points only");
            break;
        }
    }
}
