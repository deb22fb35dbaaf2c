//! The order of durable writes, as strace sees it. A kill never loses the page cache, a power cut does: only
//! what was synced, in the right order, survives one.

use crate::env::{Env, PROJECT, told};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::process::Command;

const CALLS: &str = "trace=open,openat,creat,write,pwrite64,writev,pwritev,ftruncate,truncate,fsync,fdatasync,\
                     rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir";

/// What git makes in a slot can be made again at any time.
const SLOT: &str = "/workspaces/shop--";

/// What a process did to the home; paths are relative to it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Did {
    Opened {
        path: String,
        for_writing: bool,
    },
    Wrote {
        path: String,
        start: String,
    },
    Synced(String),
    Renamed(String, String),
    Exchanged(String, String),
    Removed(String),
    MadeFolder(String),
    /// Told the user.
    Printed,
}

/// Runs a command under strace and gives what it did, in order.
fn traced(env: &Env, arguments: &[&str]) -> Vec<Did> {
    let log = env.home().with_file_name("strace");
    let mut command = Command::new("strace");
    command
        .args([
            "-f",
            "-y",
            "-qq",
            "-s",
            "64",
            "-e",
            "signal=none",
            "-e",
            CALLS,
            "-o",
        ])
        .arg(&log)
        .arg(env.command(&[]).get_program())
        .args(arguments)
        .current_dir(env.repository());
    env.isolate(&mut command);
    let output = command
        .output()
        .expect("strace is needed for this test: scripts/install-deps test installs it");
    let text = fs::read_to_string(&log).unwrap_or_default();
    assert!(
        output.status.success() && text.contains("openat("),
        "strace could not trace the program (is ptrace forbidden here? see /proc/sys/kernel/yama/ptrace_scope, \
         or the container's seccomp profile); this test cannot be skipped: {}",
        told(&output)
    );
    parse(&text, &env.home())
}

/// Joins the halves of calls that another process's calls came between.
fn whole_calls(text: &str) -> Vec<(&str, String)> {
    let mut open: BTreeMap<&str, String> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(head) = rest.strip_suffix(" <unfinished ...>") {
            open.insert(pid, head.to_owned());
        } else if let Some(resumed) = rest.strip_prefix("<... ") {
            let head = open.remove(pid).unwrap_or_default();
            let tail = resumed.split_once("resumed>").map_or("", |(_, tail)| tail);
            calls.push((pid, head + tail));
        } else {
            calls.push((pid, rest.to_owned()));
        }
    }
    calls
}

fn parse(text: &str, home: &Path) -> Vec<Did> {
    let calls = whole_calls(text);
    let orange = calls.first().map(|(pid, _)| *pid);
    let parsed = |(pid, call): &(&str, String)| {
        let did = parse_call(call, &home.display().to_string())?;
        // What git tells orange is not what orange tells the user.
        (did != Did::Printed || Some(*pid) == orange).then_some(did)
    };
    calls.iter().filter_map(parsed).collect()
}

fn parse_call(call: &str, home: &str) -> Option<Did> {
    let (name, rest) = call.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    let words = arguments.trim_end().strip_suffix(')')?;
    let parts = split_arguments(words);
    let inside = |path: &str| {
        let rest = path.strip_prefix(home)?;
        let ours = (rest.is_empty() || rest.starts_with('/')) && !rest.starts_with(SLOT);
        ours.then(|| rest.trim_start_matches('/').to_owned())
    };
    let fd = |index: usize| inside(path_of(parts.get(index)?)?);
    // A name in a folder that a descriptor stands for, or a whole path.
    let at = |index: usize| {
        let name = unquoted(parts.get(index + 1)?)?;
        if name.starts_with('/') {
            inside(&name)
        } else {
            Some(format!("{}/{name}", fd(index)?))
        }
    };
    match name {
        "write" | "pwrite64" | "writev" | "pwritev" | "ftruncate" => {
            if words.starts_with("1<") {
                return Some(Did::Printed);
            }
            let start = parts.get(1).cloned().unwrap_or_default();
            Some(Did::Wrote {
                path: fd(0)?,
                start,
            })
        }
        "fsync" | "fdatasync" => Some(Did::Synced(fd(0)?)),
        "openat" => Some(Did::Opened {
            path: inside(path_of(result)?)?,
            for_writing: ["O_WRONLY", "O_RDWR", "O_TRUNC"]
                .iter()
                .any(|flag| words.contains(flag)),
        }),
        "rename" => Some(Did::Renamed(
            inside(&unquoted(&parts[0])?)?,
            inside(&unquoted(&parts[1])?)?,
        )),
        "renameat" => Some(Did::Renamed(at(0)?, at(2)?)),
        "renameat2" if words.contains("RENAME_EXCHANGE") => Some(Did::Exchanged(at(0)?, at(2)?)),
        "renameat2" => Some(Did::Renamed(at(0)?, at(2)?)),
        "unlink" | "rmdir" => Some(Did::Removed(inside(&unquoted(&parts[0])?)?)),
        "unlinkat" => Some(Did::Removed(at(0)?)),
        "mkdir" => Some(Did::MadeFolder(inside(&unquoted(&parts[0])?)?)),
        "mkdirat" => Some(Did::MadeFolder(at(0)?)),
        other => panic!("unexpected call {other}: {call}"),
    }
}

/// Splits at commas that stand in no quotes.
fn split_arguments(text: &str) -> Vec<String> {
    let (mut parts, mut quoted, mut escaped) = (vec![String::new()], false, false);
    for letter in text.chars() {
        if letter == ',' && !quoted {
            parts.push(String::new());
            continue;
        }
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        parts.last_mut().unwrap().push(letter);
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// `/a/b` of `7</a/b>`.
fn path_of(descriptor: &str) -> Option<&str> {
    let (_, rest) = descriptor.split_once('<')?;
    Some(rest.rsplit_once('>')?.0.trim_end_matches(" (deleted)"))
}

fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    Some(inner.rsplit_once('"')?.0.to_owned())
}

#[test]
fn strace_lines_are_understood() {
    let text = "\
7 openat(AT_FDCWD</r>, \"/h/in-flight/a%2Fb\", O_WRONLY|O_CREAT, 0666) = 11</h/in-flight/a%2Fb>
7 openat(AT_FDCWD</r>, \"/h/none\", O_RDONLY) = -1 ENOENT (No such file or directory)
7 write(1<pipe:[4]>, \"a, (\\\"b\", 7) = 7
7 fsync(12</h/in-flight> <unfinished ...>
8 write(1<pipe:[4]>, \"c\", 1) = 1
7 <... fsync resumed>)      = 0
7 renameat2(7</h/t>, \".x\", 7</h/t>, \"TASK.md\", RENAME_EXCHANGE) = 0
7 unlinkat(7</h/t>, \".x\", 0) = 0
7 write(9</hh/t>, \"x\", 1) = 1
";
    let folder = "in-flight".to_owned();
    let expected = [
        Did::Opened {
            path: "in-flight/a%2Fb".into(),
            for_writing: true,
        },
        Did::Printed,
        Did::Synced(folder),
        Did::Exchanged("t/.x".into(), "t/TASK.md".into()),
        Did::Removed("t/.x".into()),
    ];
    assert_eq!(parse(text, Path::new("/h")), expected);
}

/// What a step is called, and how to tell that it was done.
type Step<'a> = (&'a str, &'a dyn Fn(&Did) -> bool);

/// Finds the steps one after the other and gives where each was.
#[track_caller]
fn in_order(done: &[Did], steps: &[Step<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    for (name, is_it) in steps {
        let Some(at) = done[from..].iter().position(is_it) else {
            panic!("no {name:?} from step {from} of {}", listed(done));
        };
        found.push(from + at);
        from += at + 1;
    }
    found
}

fn listed(done: &[Did]) -> String {
    let told = |did: &Did| {
        !matches!(
            did,
            Did::Opened {
                for_writing: false,
                ..
            }
        ) && !is_index_write(did)
    };
    let lines = done.iter().enumerate().filter(|(_, did)| told(did));
    lines.map(|(at, did)| format!("\n{at:3} {did:?}")).collect()
}

fn wrote<'a>(file: &'a str, start: &'a str) -> impl Fn(&Did) -> bool + 'a {
    move |did| matches!(did, Did::Wrote { path, start: text } if path.ends_with(file) && text.contains(start))
}

fn synced(file: &str) -> impl Fn(&Did) -> bool + '_ {
    move |did| matches!(did, Did::Synced(path) if path == file)
}

fn is_index_write(did: &Did) -> bool {
    matches!(did, Did::Wrote { path, .. } if path.starts_with("index.db") && !path.ends_with("-shm"))
}

fn printed(did: &Did) -> bool {
    *did == Did::Printed
}

fn is_mark_removal(did: &Did) -> bool {
    matches!(did, Did::Removed(path) if path.starts_with("in-flight/"))
}

/// Rules for every command: what is renamed was synced, every change of names is synced before the user is
/// told, and so is every journal line; TASK.md itself is never opened for writing.
#[track_caller]
fn is_durable(done: &[Did]) {
    let told = done
        .iter()
        .position(printed)
        .expect("the command said something");
    let synced_within = |path: &str, from: usize, to: usize| {
        done[from..to]
            .iter()
            .any(|did| matches!(did, Did::Synced(synced) if synced == path))
    };
    let ours = |path: &str| {
        !path.starts_with("orange.db")
            && !path.starts_with("index.db")
            && !path.starts_with("orange.log")
    };
    // A file's other names, so that a write is found under the name it had then.
    let mut earlier: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (at, did) in done.iter().enumerate() {
        match did {
            Did::Opened {
                path,
                for_writing: true,
            } => {
                assert!(
                    !path.ends_with("/TASK.md"),
                    "opened for writing: {path}{}",
                    listed(done)
                );
            }
            Did::Wrote { path, .. }
                if path.ends_with("history.jsonl") || path.ends_with(".part") =>
            {
                assert!(
                    synced_within(path, at, told),
                    "{at}: {path} is not synced{}",
                    listed(done)
                );
            }
            Did::Renamed(from, to) | Did::Exchanged(from, to) if ours(to) => {
                let mut names = earlier.get(from.as_str()).cloned().unwrap_or_default();
                names.push(from);
                let written = done[..at].iter().rposition(
                    |did| matches!(did, Did::Wrote { path, .. } if names.contains(&path.as_str())),
                );
                if let Some(written) = written {
                    let safe = names.iter().any(|name| synced_within(name, written, at));
                    assert!(
                        safe,
                        "{at}: {from} is renamed before it is synced{}",
                        listed(done)
                    );
                }
                earlier.insert(to, names);
                let last = done[at..told]
                    .iter()
                    .any(|did| matches!(did, Did::Synced(path) if path == parent(to)));
                assert!(
                    last,
                    "{at}: the folder of {to} is not synced{}",
                    listed(done)
                );
            }
            // Notes of running processes say nothing after a power cut: none of these processes is left then.
            Did::MadeFolder(path) if !path.contains("/.new-") && path != ".git-calls" => {
                assert!(
                    synced_within(parent(path), at, told),
                    "{at}: {path} is not durable{}",
                    listed(done)
                );
            }
            _ => {}
        }
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// A home on a real disk.
fn on_disk() -> Env {
    Env::within(&std::env::temp_dir())
}

#[test]
fn a_status_change_is_written_in_the_promised_order() {
    let env = on_disk();
    let key = env.create(&["busy", "Busy"]);
    let name = env
        .folder_of(&key)
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let folder = format!("tasks/{PROJECT}/{name}");
    let done = traced(&env, &["task", "update", &key, "--status", "planning"]);
    let journal = format!("{folder}/history.jsonl");
    let task = format!("{folder}/TASK.md");
    let part = |did: &Did| matches!(did, Did::Wrote { path, .. } if path.contains("/.TASK.md.") && path.ends_with(".part"));
    let part_synced = |did: &Did| matches!(did, Did::Synced(path) if path.contains("/.TASK.md.") && path.ends_with(".part"));
    let at = in_order(
        &done,
        &[
            (
                "mark",
                &|did| matches!(did, Did::Opened { path, for_writing: true } if path.starts_with("in-flight/")),
            ),
            ("list synced", &synced("in-flight")),
            ("journal", &wrote(&journal, "status.changed")),
            ("journal synced", &synced(&journal)),
            ("new TASK.md", &part),
            ("new TASK.md synced", &part_synced),
            (
                "exchange",
                &|did| matches!(did, Did::Exchanged(_, to) if *to == task),
            ),
            ("folder synced", &synced(&folder)),
            ("slot", &wrote(&journal, "hook.completed")),
            ("slot synced", &synced(&journal)),
            ("hooks", &wrote(&journal, "hook.skipped")),
            ("hooks synced", &synced(&journal)),
            ("index", &is_index_write),
            ("mark removed", &is_mark_removal),
            ("told", &printed),
        ],
    );
    let (mark, settled, unmark) = (at[0], at[11], at[13]);
    let early = done[mark..settled]
        .iter()
        .find(|did| is_index_write(did) || is_mark_removal(did));
    assert_eq!(early, None, "too early{}", listed(&done));
    assert!(!done[settled..unmark].iter().any(is_mark_removal));
    let other = |did: &&Did| matches!(did, Did::Renamed(_, to) if *to == task);
    assert_eq!(done.iter().find(other), None, "TASK.md was renamed over");
    // The seal that is remembered of the journal may be an earlier one: nothing waits for it.
    // The random name of a temporary file may begin with "db".
    let databases = ["orange.db", "index.db"];
    let database = |did: &&Did| matches!(did, Did::Synced(path) if databases.iter().any(|name| path.starts_with(name)));
    let journalled = &done[at[2]..];
    assert_eq!(journalled.iter().find(database), None, "{}", listed(&done));
    is_durable(&done);
}

#[test]
fn a_create_is_durable_before_it_is_told() {
    let env = on_disk();
    let done = traced(
        &env,
        &["task", "create", "first", "The first of its project"],
    );
    let parent = format!("tasks/{PROJECT}");
    let hidden = |end: &'static str| {
        let start = format!("{parent}/.new-");
        move |path: &str| path.starts_with(&start) && path.ends_with(end)
    };
    let (journal, part) = (hidden("/history.jsonl"), hidden(".part"));
    in_order(
        &done,
        &[
            ("list synced", &synced("in-flight")),
            (
                "journal",
                &|did| matches!(did, Did::Wrote { path, .. } if journal(path)),
            ),
            (
                "journal synced",
                &|did| matches!(did, Did::Synced(path) if journal(path)),
            ),
            (
                "TASK.md",
                &|did| matches!(did, Did::Wrote { path, .. } if part(path)),
            ),
            (
                "TASK.md synced",
                &|did| matches!(did, Did::Synced(path) if part(path)),
            ),
            (
                "TASK.md in place",
                &|did| matches!(did, Did::Renamed(_, to) if to.ends_with("/TASK.md")),
            ),
            (
                "new folder synced",
                &|did| matches!(did, Did::Synced(path) if path.contains("/.new-") && !path.contains(".jsonl")),
            ),
            (
                "folder in place",
                &|did| matches!(did, Did::Renamed(from, to) if from.contains("/.new-") && !to.contains("/.new-")),
            ),
            ("parent synced", &synced(&parent)),
            ("index", &is_index_write),
            ("mark removed", &is_mark_removal),
            ("told", &printed),
        ],
    );
    is_durable(&done);
}

#[test]
fn every_other_command_is_durable_before_it_is_told() {
    let env = on_disk();
    let key = env.create(&["busy", "Busy"]);
    let second = env.repository().join("second");
    fs::create_dir(&second).unwrap();
    env.git(&["init", "--quiet", second.to_str().unwrap()]);
    let commands: &[&[&str]] = &[
        &["task", "update", &key, "--priority", "high"],
        &["task", "cancel", &key, "--yes"],
        &["task", "delete", &key, "--yes"],
        &["task", "restore", &key],
        &["project", "add", second.to_str().unwrap()],
        &[
            "task",
            "create",
            "--project",
            "second",
            "main-2",
            "In a new folder",
        ],
    ];
    for command in commands {
        let done = traced(&env, command);
        is_durable(&done);
        let writes =
            |did: &&Did| matches!(did, Did::Wrote { path, .. } if path.ends_with("history.jsonl"));
        assert!(
            command[0] == "project" || done.iter().any(|did| writes(&did)),
            "{command:?}{}",
            listed(&done)
        );
    }
    // A task edited by hand: what is put back goes through the journal too.
    let file = env.folder_of(&key).join("TASK.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("status: cancelled", "status: done")).unwrap();
    let done = traced(&env, &["task", "show", &key]);
    in_order(
        &done,
        &[
            ("journal", &wrote("history.jsonl", "fields.restored")),
            (
                "journal synced",
                &|did| matches!(did, Did::Synced(path) if path.ends_with("history.jsonl")),
            ),
            ("exchange", &|did| matches!(did, Did::Exchanged(..))),
            ("told", &printed),
        ],
    );
    is_durable(&done);
}
