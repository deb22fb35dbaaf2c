//! What must hold when every task is over: nothing wrong, nothing left, nothing lost.

use crate::phased;
use crate::state::{State, field};
use crate::world::{PROJECTS, World};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// Crashes in one status after which a task is stuck, and rounds after which a review that fails makes it so.
const CRASH_LIMIT: u64 = 2;
const MAX_ROUNDS: u64 = 2;

/// Everything that does not hold.
pub(crate) fn all(world: &World, tasks: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let folders = world.tasks();
    if folders.len() != tasks {
        wrong.push(format!(
            "{} tasks are there instead of {tasks}",
            folders.len()
        ));
    }
    for folder in &folders {
        let found = task(folder).into_iter();
        for problem in found.chain(phased::wrong(world, folder)) {
            wrong.push(format!("{}: {problem}", label(folder)));
        }
    }
    leftovers(world, &mut wrong);
    for project in PROJECTS {
        commits(world, project, &mut wrong);
        merges(world, project, &mut wrong);
    }
    files(world, &mut wrong);
    let doctor = world.orange(&["doctor", "--json"], None);
    if doctor.code != Some(0) {
        wrong.push(format!("doctor: {}{}", doctor.stdout, doctor.stderr));
    }
    wrong
}

fn label(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("TASK.md")).unwrap_or_default();
    let branch = field(&text, "branch").unwrap_or_default();
    format!("{branch} ({})", folder.display())
}

fn task(folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let state = State::read(folder);
    let text = fs::read_to_string(folder.join("TASK.md")).unwrap_or_default();
    if !state.is_terminal() {
        wrong.push(format!("it is {}", state.status));
    }
    // The fold of the journal, written once more: the last word on each field.
    let mut fold: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut revision = 0;
    for event in &state.events {
        let Some(next) = event["revision"].as_u64() else {
            continue;
        };
        if next <= revision {
            wrong.push(format!("revision {next} follows {revision}"));
        }
        revision = next;
        for (name, value) in event["fields"].as_object().into_iter().flatten() {
            fold.insert(name, value);
        }
        fold.insert("updated_at", &event["timestamp"]);
        fold.insert("revision", &event["revision"]);
    }
    for (name, value) in &fold {
        let journalled = match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            Value::Array(_) | Value::Object(_) => continue,
        };
        let written = field(&text, name);
        let default = written.is_none() && journalled.as_deref().is_some_and(is_default);
        if written != journalled && !default {
            wrong.push(format!(
                "{name} is {written:?}, in the journal {journalled:?}"
            ));
        }
    }
    if field(&text, "workspace").is_some() || field(&text, "tmux_session").is_some() {
        wrong.push("it has a workspace or a session still".into());
    }
    runs(&state, &mut wrong);
    messages(&state, &mut wrong);
    limits(&state, &mut wrong);
    if let Some(transition) = state
        .events
        .iter()
        .rev()
        .find_map(|event| event["transition"].as_str())
    {
        let of_it = |event: &&Value| event["transition"] == transition;
        let finished = state.events.iter().filter(of_it);
        let mut kinds = finished.map(|event| event["type"].as_str().unwrap_or_default());
        if !kinds.any(|kind| kind == "transition.finished" || kind == "transition.completed") {
            wrong.push("its last transition is not finished".into());
        }
    }
    if state.failed_hooks() {
        wrong.push("a hook of its last transition failed".into());
    }
    wrong
}

/// What a field that is not written stands for.
fn is_default(value: &str) -> bool {
    matches!(
        value,
        "0" | "false" | "interactive" | "active" | "normal" | "feature"
    )
}

/// Every start has its own run, once, and every run has one end.
fn runs(state: &State, wrong: &mut Vec<String>) {
    let mut open = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut ended: BTreeMap<&str, &str> = BTreeMap::new();
    for event in &state.events {
        let (Some(run), Some(kind)) = (event["run"].as_str(), event["type"].as_str()) else {
            continue;
        };
        match kind {
            "agent.spawned" => {
                if !seen.insert(run) {
                    wrong.push(format!("run {run} is said to have started twice"));
                }
                open.insert(run);
            }
            "agent.exited" | "agent.crashed" | "agent.stopped" => {
                // One that left a plan and no handoff has done the first and crashed in the second.
                let both = kind == "agent.crashed" && ended.get(run) == Some(&"agent.exited");
                if !open.remove(run) && !both {
                    wrong.push(format!("run {run} ended twice, or before it began"));
                }
                ended.insert(run, kind);
            }
            _ => {}
        }
    }
    if !open.is_empty() {
        wrong.push(format!("nobody knows how {open:?} ended"));
    }
}

fn messages(state: &State, wrong: &mut Vec<String>) {
    let of = |kinds: &[&str]| -> BTreeSet<String> {
        let told = |event: &&Value| kinds.iter().any(|kind| event["type"] == **kind);
        let ids = state.events.iter().filter(told);
        ids.filter_map(|event| Some(event["message"].as_str()?.to_owned()))
            .collect()
    };
    let known = of(&["message.delivered", "message.failed"]);
    for id in of(&["message"]).difference(&known) {
        wrong.push(format!("nobody knows what became of message {id}"));
    }
}

fn limits(state: &State, wrong: &mut Vec<String>) {
    let again = state.count("stuck>working") as u64;
    for event in &state.events {
        let number = |name: &str| event["fields"][name].as_u64().unwrap_or(0);
        if number("crash_count") > CRASH_LIMIT {
            wrong.push(format!("crash_count {}", number("crash_count")));
        }
        if number("review_round") > MAX_ROUNDS + again {
            wrong.push(format!("review_round {}", number("review_round")));
        }
    }
}

fn leftovers(world: &World, wrong: &mut Vec<String>) {
    let home = world.home();
    for folder in ["runs", "in-flight"] {
        for name in names(&home.join(folder)) {
            wrong.push(format!("{folder}/{name} is left"));
        }
    }
    let windows = world.tmux(&["list-windows", "-a"]);
    for line in windows.stdout.lines() {
        wrong.push(format!("a window is left: {line}"));
    }
    for (pid, line) in world.processes() {
        wrong.push(format!("a process is left: {pid} {line}"));
    }
    let pool = world.json("workspaces/.pool.json");
    for (slot, entry) in pool["workspaces"].as_object().into_iter().flatten() {
        if entry["status"] != "available" {
            wrong.push(format!("{slot} is not free: {entry}"));
        }
    }
    for path in in_the_making(&home) {
        wrong.push(format!("{} is left", path.display()));
    }
    if ["queue.wanted", "queue.taken"]
        .iter()
        .any(|name| home.join(name).exists())
    {
        wrong.push("nobody has looked at the queue".into());
    }
    for lock in locks(&home) {
        let held = File::open(&lock)
            .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
        if held {
            wrong.push(format!("{} is held", lock.display()));
        }
    }
}

/// Files anywhere in the home, worktrees aside, that have the name of one in the making.
fn in_the_making(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !folder.ends_with("workspaces") {
            found.extend(in_the_making(&entry.path()));
        }
        let is_named_so = ["orange-", ".part", ".probe-"].iter();
        if name.starts_with('.') && is_named_so.into_iter().any(|mark| name.contains(mark)) {
            found.push(entry.path());
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Every file that is there to be locked.
fn locks(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(locks(&entry.path()));
        } else if name == "lock" || name.ends_with(".lock") {
            found.push(entry.path());
        }
    }
    found
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// No commit that an agent made is out of reach.
fn commits(world: &World, project: &str, wrong: &mut Vec<String>) {
    let repository = world.repository(project);
    let listed = world.git(&repository, &["rev-list", "--all"]);
    let reachable: BTreeSet<&str> = listed.lines().collect();
    let others: Vec<&str> = PROJECTS
        .into_iter()
        .filter(|name| *name != project)
        .collect();
    for commit in lines(&world.commits()) {
        let elsewhere = others.iter().any(|other| has(world, other, &commit));
        if !reachable.contains(commit.as_str()) && !elsewhere {
            wrong.push(format!("commit {commit} is lost"));
        }
    }
}

/// What was merged is on main, once, and the user's checkout of main shows nothing else.
fn merges(world: &World, project: &str, wrong: &mut Vec<String>) {
    let repository = world.repository(project);
    let main = world.git(&repository, &["rev-list", "main"]);
    let main: BTreeSet<&str> = main.lines().collect();
    let words = world.git(&repository, &["log", "--format=%B", "main"]);
    for folder in world.tasks() {
        let state = State::read(&folder);
        let merged: Vec<&Value> = state
            .events
            .iter()
            .filter(|event| event["type"] == "task.merged")
            .collect();
        if !folder.starts_with(folder.parent().unwrap().with_file_name(project))
            || merged.is_empty()
        {
            continue;
        }
        let key = field(&fs::read_to_string(folder.join("TASK.md")).unwrap(), "key").unwrap();
        let trailer = format!("Task: {project}:{key}");
        let times = words.lines().filter(|line| *line == trailer).count();
        let commit = merged[0]["commit"].as_str().unwrap();
        if merged.len() != 1 || times > 1 || !main.contains(commit) {
            wrong.push(format!(
                "{}: merged {} times, {times} on main",
                label(&folder),
                merged.len()
            ));
        }
    }
    let status = world.git(&repository, &["status", "--porcelain"]);
    if !status.is_empty() {
        wrong.push(format!("{project}: the user's checkout shows {status:?}"));
    }
}

fn has(world: &World, project: &str, commit: &str) -> bool {
    let object = format!("{commit}^{{commit}}");
    let mut command = world.command("git");
    command
        .arg("-C")
        .arg(world.repository(project))
        .args(["cat-file", "-e", &object]);
    command.output().unwrap().status.success()
}

/// What was not committed is on a branch by now, or in a rescue.
fn files(world: &World, wrong: &mut Vec<String>) {
    let mut kept = BTreeSet::new();
    for project in PROJECTS {
        let repository = world.repository(project);
        let refs = world.git(&repository, &["for-each-ref", "--format=%(objectname)"]);
        for commit in refs.lines() {
            let tree = world.git(&repository, &["ls-tree", "-r", "--name-only", commit]);
            kept.extend(tree.lines().map(str::to_owned));
        }
    }
    for file in lines(&world.left_files()) {
        if !kept.contains(&file) {
            wrong.push(format!("{file} was not committed, and is lost"));
        }
    }
}
