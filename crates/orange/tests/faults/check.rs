//! What must hold in every home at rest, checked with a fold of the journal written for these tests alone.

use crate::env::{Env, PROJECT, told};
use orange_core::task::Field;
use orange_core::task_file::TaskFile;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Field by field, as plain text; what is empty or not written is left out.
pub(crate) type Fields = BTreeMap<String, String>;

/// What a field is when neither a file nor an event says so.
const DEFAULTS: &[(&str, &str)] = &[
    ("workflow", "interactive"),
    ("queue", "active"),
    ("priority", "normal"),
    ("category", "feature"),
    ("review_round", "0"),
    ("crash_count", "0"),
    ("requires_ui_testing", "false"),
    (
        "testing_requirements",
        r#"{"e2e":"false","unit":"false","visual":"false"}"#,
    ),
];

/// The events of a journal; every line must be whole.
pub(crate) fn events(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("history.jsonl")).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "{folder:?} torn");
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    text.lines().map(line).collect()
}

/// Our own part of a journal: from the last adoption, else from the beginning.
fn own(events: &[Value]) -> &[Value] {
    let adopted = |event: &Value| event["type"] == "task.adopted" && event["revision"].is_u64();
    match events.iter().rposition(adopted) {
        Some(start) => &events[start..],
        None => events,
    }
}

/// The states a journal goes through, by revision.
pub(crate) fn states(events: &[Value]) -> BTreeMap<u64, Fields> {
    let mut fields = Map::new();
    let mut states = BTreeMap::new();
    for event in own(events) {
        let Some(revision) = event["revision"].as_u64() else {
            continue;
        };
        fields.insert("updated_at".into(), event["timestamp"].clone());
        for (name, value) in event["fields"].as_object().into_iter().flatten() {
            fields.insert(name.clone(), value.clone());
        }
        fields.insert("revision".into(), revision.into());
        states.insert(revision, plain_fields(&fields));
    }
    states
}

pub(crate) fn fold(events: &[Value]) -> Fields {
    let last = states(events).pop_last();
    last.map(|(_, fields)| fields).unwrap_or_default()
}

/// The frontmatter and the body of a TASK.md; half a file is an error.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Fields, String), String> {
    let file = TaskFile::parse(bytes).map_err(|damage| damage.to_string())?;
    let known = file
        .entries()
        .filter(|(name, ..)| Field::from_name(name).is_some());
    let fields = known.map(|(name, node, _)| (name.to_owned(), node.to_json()));
    Ok((plain_fields(&fields.collect()), file.body().to_owned()))
}

#[track_caller]
pub(crate) fn task_file(folder: &Path) -> (Fields, String) {
    let bytes = fs::read(folder.join("TASK.md")).unwrap();
    parse(&bytes).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&bytes)))
}

fn plain_fields(fields: &Map<String, Value>) -> Fields {
    let mut plain_ones: Fields = DEFAULTS
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    for (name, value) in fields {
        match plain(value) {
            Some(text) => plain_ones.insert(name.clone(), text),
            None => plain_ones.remove(name),
        };
    }
    plain_ones
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().map(|item| json!(plain(item))).collect();
            (!items.is_empty()).then(|| json!(items).to_string())
        }
        Value::Object(map) => {
            let sorted: BTreeMap<&String, Option<String>> = map
                .iter()
                .map(|(name, value)| (name, plain(value)))
                .collect();
            (!map.is_empty()).then(|| json!(sorted).to_string())
        }
    }
}

/// Every folder that is a task, in tasks/ and in trash/.
pub(crate) fn task_folders(env: &Env) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for parent in ["tasks", "trash"] {
        let Ok(entries) = fs::read_dir(env.home().join(parent).join(PROJECT)) else {
            continue;
        };
        found.extend(
            entries
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_dir()),
        );
    }
    found.sort();
    found
}

/// Everything that must hold once an unrelated command, a list, has come by and no other is running.
#[track_caller]
pub(crate) fn at_rest(env: &Env, label: &str) {
    at_rest_with(env, label, Heads::OnTheirBranch);
}

/// Where the worktrees of slots that tasks hold may be.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Heads {
    OnTheirBranch,
    /// Somebody worked there without a branch, or renamed it.
    AsTheWorkLeftThem,
}

#[track_caller]
pub(crate) fn at_rest_with(env: &Env, label: &str, heads: Heads) {
    let listed = env.run(&["task", "list", "--all", "--json"]);
    assert!(listed.status.success(), "{label}: {}", told(&listed));
    let marks: Vec<_> = fs::read_dir(env.home().join("in-flight"))
        .map(|entries| entries.map(|entry| entry.unwrap().file_name()).collect())
        .unwrap_or_default();
    assert!(marks.is_empty(), "{label}: still in flight: {marks:?}");
    for folder in task_folders(env) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            !name.starts_with('.'),
            "{label}: half a task is left: {name}"
        );
        task_at_rest(&folder, label);
        no_leftovers(&folder, label);
    }
    let left = in_the_making(&env.home());
    assert!(left.is_empty(), "{label}: left by the kill: {left:?}");
    the_index_agrees(env, &listed.stdout, label);
    the_pool_agrees(env, label, heads);
}

/// Files anywhere in the home that a process was preparing which is gone. Worktrees are left out: they hold the user's
/// files.
fn in_the_making(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_worktree = folder.ends_with("workspaces");
        if is_folder && !is_worktree {
            found.extend(in_the_making(&path));
        }
        let process = name.rsplit_once(".orange-").or(name.rsplit_once("-"));
        let process = process.and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
        let is_ours = ["orange-", ".part", ".probe-"]
            .iter()
            .any(|mark| name.contains(mark));
        let is_alive = process.is_some_and(|pid| Path::new(&format!("/proc/{pid}")).exists());
        if is_ours && name.starts_with('.') && !is_alive {
            found.push(path);
        }
    }
    found
}

/// A slot is held by the task that says so, and by no other; its worktree is on that task's branch, and what
/// nobody holds is parked and clean.
#[track_caller]
fn the_pool_agrees(env: &Env, label: &str, heads: Heads) {
    let text = fs::read_to_string(env.home().join("workspaces/.pool.json")).unwrap_or_default();
    let pool: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut held = Vec::new();
    for (slot, entry) in pool["workspaces"].as_object().into_iter().flatten() {
        let folder = env.home().join("workspaces").join(slot);
        let status = env.git_says(&folder, &["status", "--porcelain=v2", "--branch"]);
        if entry["status"] == "bound" {
            let id = entry["task_id"].as_str().unwrap().to_owned();
            held.push((id, slot.clone()));
            let task = entry["task"]
                .as_str()
                .unwrap()
                .strip_prefix("shop/")
                .unwrap();
            let on = format!("# branch.head {task}\n");
            assert!(
                status.contains(&on) || heads == Heads::AsTheWorkLeftThem,
                "{label}: {slot}: {status}"
            );
            let link = fs::read_link(folder.join("TASK.md"));
            assert!(
                link.is_ok_and(|link| link.is_file()),
                "{label}: {slot}: no link"
            );
        } else if folder.exists() {
            assert!(
                status.contains("# branch.head (detached)\n"),
                "{label}: {slot}: {status}"
            );
            let dirty = status.lines().find(|line| !line.starts_with('#'));
            assert_eq!(dirty, None, "{label}: {slot}");
        }
    }
    let mut says: Vec<(String, String)> = task_folders(env)
        .iter()
        .filter_map(|folder| {
            let (fields, _) = task_file(folder);
            let slot = fields
                .get("workspace")
                .filter(|slot| slot.as_str() != "null")?;
            Some((fields.get("id")?.clone(), slot.clone()))
        })
        .collect();
    says.sort();
    held.sort();
    assert_eq!(held, says, "{label}: the pool and the tasks");
}

/// Files and journal of one task tell the same, and every transition is whole.
#[track_caller]
pub(crate) fn task_at_rest(folder: &Path, label: &str) {
    let events = events(folder);
    let (found, _) = task_file(folder);
    let folded = fold(&events);
    assert_eq!(found, folded, "{label}: TASK.md is not its journal's fold");
    consecutive(&events, label);
    hooks_are_settled(&events, label);
}

#[track_caller]
fn consecutive(events: &[Value], label: &str) {
    let numbers: Vec<u64> = own(events)
        .iter()
        .filter_map(|event| event["revision"].as_u64())
        .collect();
    let mut before = None;
    for event in own(events) {
        let Some(revision) = event["revision"].as_u64() else {
            continue;
        };
        let expected = before.map_or(revision, |before: u64| before + 1);
        // Only the event that says that others were lost may leave a gap before it.
        let fits = if event["type"] == "journal.recovered" {
            revision >= expected
        } else {
            revision == expected
        };
        assert!(fits, "{label}: revisions {numbers:?}");
        before = Some(revision);
    }
}

/// Each hook a transition asked for has one outcome, and the transition one end.
#[track_caller]
fn hooks_are_settled(events: &[Value], label: &str) {
    for opening in own(events) {
        let hooks: Vec<&Value> = opening["hooks"].as_array().into_iter().flatten().collect();
        let Some(transition) = opening["transition"].as_str().filter(|_| !hooks.is_empty()) else {
            continue;
        };
        let of_this: Vec<&Value> = events
            .iter()
            .filter(|event| event["transition"] == transition && event["hooks"].is_null())
            .collect();
        let outcomes: Vec<&Value> = of_this
            .iter()
            .filter(|event| {
                event["type"]
                    .as_str()
                    .is_some_and(|kind| kind.starts_with("hook."))
            })
            .map(|event| &event["hook"])
            .collect();
        // What failed may be tried again; it has its place in the order from the first time.
        let mut outcomes = outcomes;
        let mut seen = Vec::new();
        outcomes.retain(|hook| {
            !seen.contains(hook) && {
                seen.push(*hook);
                true
            }
        });
        assert_eq!(outcomes, hooks, "{label}: hooks of {transition}");
        let ends = of_this
            .iter()
            .filter(|event| event["type"] == "transition.finished");
        assert_eq!(ends.count(), 1, "{label}: ends of {transition}");
    }
}

/// No temporary or swapped-out file is left beside TASK.md.
#[track_caller]
pub(crate) fn no_leftovers(folder: &Path, label: &str) {
    let left = names(folder, |name| {
        name.starts_with(".TASK.md") || name.ends_with(".part")
    });
    assert!(left.is_empty(), "{label}: left over: {left:?}");
}

pub(crate) fn names(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| wanted(name)).collect()
}

/// A list, which comes from the index, shows every task as its file has it, and no other.
#[track_caller]
fn the_index_agrees(env: &Env, listed: &[u8], label: &str) {
    let listed: Value = serde_json::from_slice(listed).unwrap();
    let mut rows: BTreeMap<String, Fields> = listed["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let mut fields = row.as_object().unwrap().clone();
            assert!(row["damaged"].is_null(), "{label}: {row}");
            let beside = [
                "damaged",
                "attention",
                "checks_failed",
                "needs_me",
                "waits_for",
                "session",
                "agents",
                "diff",
            ];
            fields.retain(|name, _| !beside.contains(&name.as_str()));
            (
                row["id"].as_str().unwrap().to_owned(),
                plain_fields(&fields),
            )
        })
        .collect();
    for folder in task_folders(env) {
        if folder.starts_with(env.home().join("trash")) {
            continue;
        }
        let (fields, _) = task_file(&folder);
        assert_eq!(
            rows.remove(&fields["id"]),
            Some(fields),
            "{label}: the index differs"
        );
    }
    assert!(rows.is_empty(), "{label}: the index has more: {rows:?}");
}
