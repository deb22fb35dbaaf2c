//! SIGKILL at every named point of every command, then one unrelated command: what must hold afterwards.

use crate::check::{at_rest, task_file, task_folders};
use crate::env::{Env, in_parallel, told};
use crate::points::OF_EVERY_COMMAND;
use crate::scenarios::{
    Scenario, WORK, empty_home, one_of_each_kind, other_commands, transitions, uncovered_rows,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is known of one task: where it lies and what its files say, without times and random ids.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    trashed: bool,
    history: Vec<Value>,
    body: String,
}

/// Every task of a home; one that was not there before is called `new`.
type State = BTreeMap<String, Known>;

fn state(env: &Env, old: Option<&State>) -> State {
    let known = |folder: &std::path::PathBuf| {
        let id = folder.file_name().unwrap().to_string_lossy().into_owned();
        let name = match old {
            Some(old) if !old.contains_key(&id) => "new".to_owned(),
            _ => id,
        };
        let lines = complete_lines(folder);
        let body = fs::read(folder.join("TASK.md")).ok();
        let body = body.and_then(|bytes| crate::check::parse(&bytes).ok());
        let known = Known {
            trashed: folder.starts_with(env.home().join("trash")),
            history: timeless(lines, name == "new"),
            body: body.map(|(_, body)| body).unwrap_or_default(),
        };
        (name, known)
    };
    // A new task exists from the moment its folder has its name.
    let hidden = |folder: &&std::path::PathBuf| {
        folder
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with('.')
    };
    let folders = task_folders(env);
    folders
        .iter()
        .filter(|folder| !hidden(folder))
        .map(known)
        .collect()
}

fn complete_lines(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("history.jsonl")).unwrap_or_default();
    let lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Takes out of the events what differs between two runs of the same command.
fn timeless(mut events: Vec<Value>, new: bool) -> Vec<Value> {
    let mut transitions: Vec<Value> = Vec::new();
    for event in &mut events {
        let map = event.as_object_mut().unwrap();
        map.remove("timestamp");
        map.remove("epoch");
        map.remove("rescue");
        // It covers times and ids.
        map.remove("seal");
        if let Some(id) = map.get_mut("transition") {
            let number = transitions.iter().position(|known| known == id);
            let number = number.unwrap_or_else(|| {
                transitions.push(id.clone());
                transitions.len() - 1
            });
            *id = number.into();
        }
        let mut volatile = vec!["created_at", "updated_at"];
        if new {
            map.remove("task_id");
            volatile.extend(["id", "key"]);
        }
        if let Some(fields) = map.get_mut("fields").and_then(Value::as_object_mut) {
            fields.retain(|name, _| !volatile.contains(&name.as_str()));
        }
    }
    events
}

fn run(scenario: &Scenario, env: &Env, kill_at: Option<usize>) -> Output {
    let words: Vec<&str> = scenario.command.iter().map(String::as_str).collect();
    let mut command = env.command(&words);
    if let Some((task, role)) = &scenario.agent {
        command.env("ORANGE_TASK_ID", task).env("ORANGE_ROLE", role);
    }
    if let Some(hit) = kill_at {
        command.env("ORANGE_CRASH_AT", format!("*:{hit}"));
    }
    command.output().unwrap()
}

/// The point at which a process was killed; None if it came to its end.
pub(crate) fn killed_at(output: &Output) -> Option<String> {
    if output.status.signal() != Some(libc::SIGKILL) {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("killed at "));
    Some(line.expect("the point's name").to_owned())
}

#[derive(Default)]
struct Tally {
    points: Mutex<BTreeSet<String>>,
    cases: AtomicUsize,
}

fn kill_everywhere(scenario: &Scenario, tally: &Tally) {
    let old = state(&scenario.base, None);
    let whole = scenario.base.fork();
    let output = run(scenario, &whole, None);
    assert!(
        output.status.success(),
        "{}: {}",
        scenario.name,
        told(&output)
    );
    at_rest(&whole, &scenario.name);
    let new = state(&whole, Some(&old));
    if !scenario.steps {
        for (name, known) in &old {
            let expected = expected_body(known, &new[name]);
            assert_eq!(new[name].body, expected, "{}", scenario.name);
        }
    }
    for hit in 1.. {
        let env = scenario.base.fork();
        let output = run(scenario, &env, Some(hit));
        let Some(point) = killed_at(&output) else {
            assert!(
                output.status.success(),
                "{}: {}",
                scenario.name,
                told(&output)
            );
            break;
        };
        let label = format!("{}, killed at {point} ({hit})", scenario.name);
        check_after_kill(scenario, &env, &old, &new, &label);
        tally.points.lock().unwrap().insert(point);
        tally.cases.fetch_add(1, Ordering::Relaxed);
    }
}

/// The body as it was, but for the heading that a transition archives, by the letter of the table.
fn expected_body(old: &Known, new: &Known) -> String {
    let mut body = old.body.clone();
    for event in &new.history[old.history.len()..] {
        let section = match (event["from"].as_str(), event["to"].as_str()) {
            (Some("working"), Some("agent-review")) => "## Review",
            (Some("agent-review" | "reviewing"), Some("working")) => "## Handoff",
            _ => continue,
        };
        let round = body.matches(&format!("{section} (round ")).count() + 1;
        if let Some(at) = body.rfind(&format!("{section}\n")) {
            body.insert_str(at + section.len(), &format!(" (round {round})"));
        }
    }
    body
}

fn check_after_kill(scenario: &Scenario, env: &Env, old: &State, new: &State, label: &str) {
    let at_kill = state(env, Some(old));
    settle_unadopted(scenario, env);
    at_rest(env, label);
    if scenario.has_work {
        work_is_there(env, label);
    }
    let after = state(env, Some(old));
    one_of(scenario, &at_kill, &after, old, new, label);
    if scenario.creates || after == *new {
        return;
    }
    // What did not happen can be done again, with the same result.
    let again = run(scenario, env, None);
    assert!(again.status.success(), "{label}: again: {}", told(&again));
    at_rest(env, label);
    if !scenario.steps {
        assert_eq!(state(env, Some(old)), *new, "{label}: done again");
    }
}

/// What nobody had committed is in the slot or in a rescue, each file whole.
fn work_is_there(env: &Env, label: &str) {
    let slot = env.home().join("workspaces/shop--1");
    let format = "--format=%(refname)";
    let refs = env.git_says(
        env.repository(),
        &["for-each-ref", format, "refs/orange/rescue"],
    );
    for (name, text) in WORK {
        let in_slot = fs::read_to_string(slot.join(name)).is_ok_and(|found| found == *text);
        let saved = |reference: &str| {
            let object = format!("{reference}:{name}");
            env.git_says(env.repository(), &["show", &object]) == *text
        };
        assert!(
            in_slot || refs.lines().any(saved),
            "{label}: {name} is gone; {refs}"
        );
    }
}

/// A task of an older program, or one edited by hand, is left alone by a list: only a command on it writes.
fn settle_unadopted(scenario: &Scenario, env: &Env) {
    if scenario.steps {
        for folder in task_folders(env) {
            let id = folder.file_name().unwrap().to_string_lossy().into_owned();
            env.ok(&["task", "show", &id]);
        }
    }
}

/// Each task is as it was or as it was to be; what was journalled at the kill has happened.
fn one_of(
    scenario: &Scenario,
    at_kill: &State,
    after: &State,
    old: &State,
    new: &State,
    label: &str,
) {
    let whole = after == new;
    if scenario.steps {
        for (name, known) in after {
            let there = known.history.len();
            let journalled = at_kill[name].history.len();
            assert!(there >= journalled, "{label}: {name} lost events");
            assert_eq!(
                known.history[..journalled],
                at_kill[name].history,
                "{label}: {name}"
            );
            let text = [&old[name].body, &new[name].body];
            assert!(
                text.contains(&&known.body),
                "{label}: {name}: {:?}",
                known.body
            );
        }
        return;
    }
    assert!(
        whole || after == old,
        "{label}: neither old nor new\nold {old:#?}\nnew {new:#?}\nafter {after:#?}"
    );
    let journalled = at_kill.iter().any(|(name, known)| {
        let before = old.get(name).map_or(0, |known| known.history.len());
        known.history.len() > before
    });
    assert!(
        whole || !journalled,
        "{label}: journalled, and yet not done"
    );
}

#[test]
fn a_kill_at_any_point_of_any_command_loses_nothing() {
    assert_eq!(
        uncovered_rows(),
        Vec::<String>::new(),
        "rows without a scenario"
    );
    let start = empty_home();
    let mut builds = transitions();
    builds.extend(other_commands());
    let tally = Tally::default();
    in_parallel(&builds, |build| {
        kill_everywhere(&build(start.fork()), &tally)
    });
    let hit = tally.points.into_inner().unwrap();
    let missed: Vec<_> = OF_EVERY_COMMAND
        .iter()
        .filter(|point| !hit.contains(**point))
        .collect();
    assert!(
        missed.is_empty(),
        "crash points that no scenario reaches: {missed:?}"
    );
    println!(
        "{} scenarios, {} kills, {} points",
        builds.len(),
        tally.cases.into_inner(),
        hit.len()
    );
}

#[test]
fn a_kill_during_the_recovery_from_a_kill_loses_nothing() {
    let start = empty_home();
    let cases = AtomicUsize::new(0);
    in_parallel(&one_of_each_kind(), |build| {
        let scenario = build(start.fork());
        let old = state(&scenario.base, None);
        let whole = scenario.base.fork();
        assert!(run(&scenario, &whole, None).status.success());
        let new = state(&whole, Some(&old));
        for first in 1.. {
            let once = scenario.base.fork();
            if killed_at(&run(&scenario, &once, Some(first))).is_none() {
                break;
            }
            for second in 1.. {
                let twice = once.fork();
                let mut list = twice.command(&["task", "list"]);
                let output = list
                    .env("ORANGE_CRASH_AT", format!("*:{second}"))
                    .output()
                    .unwrap();
                let Some(point) = killed_at(&output) else {
                    break;
                };
                let label = format!(
                    "{}, killed ({first}), then at {point} ({second})",
                    scenario.name
                );
                check_after_kill(&scenario, &twice, &old, &new, &label);
                cases.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert!(cases.load(Ordering::Relaxed) > 20, "{cases:?}");
    println!("{} double kills", cases.into_inner());
}

/// A small generator of numbers, so that a seed always means the same run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// Status and file of a task that is not in the trash, read without any command.
fn living(env: &Env, key: &str) -> Option<(String, std::path::PathBuf)> {
    let folders = task_folders(env);
    let mut alive = folders
        .iter()
        .filter(|folder| folder.starts_with(env.tasks()));
    alive.find_map(|folder| {
        let file = folder.join("TASK.md");
        let (fields, _) = crate::check::parse(&fs::read(&file).ok()?).ok()?;
        (fields["key"] == key).then(|| (fields["status"].clone(), file))
    })
}

/// Where a task may go from here, and the section that lets it.
fn next_move(status: &str, dice: &mut Dice) -> (&'static str, &'static str) {
    const PLAN: &str = "Plan\n\nAPPROACH: x";
    const HANDOFF: &str = "Handoff\n\nDONE: x";
    const PASS: &str = "Review\n\nVerdict: PASS\n";
    const FAIL: &str = "Review\n\nVerdict: FAIL\n";
    let ways: &[(&str, &str)] = match status {
        "pending" => &[("planning", "")],
        "planning" => &[("working", PLAN), ("clarification", "")],
        "clarification" => &[("working", PLAN), ("planning", "")],
        "working" => &[
            ("agent-review", HANDOFF),
            ("stuck", ""),
            ("clarification", ""),
        ],
        "agent-review" => &[("reviewing", PASS), ("working", FAIL)],
        "reviewing" | "stuck" => &[("working", "")],
        other => panic!("{other}"),
    };
    ways[dice.below(ways.len())]
}

const SOAK_COMMANDS: usize = 200;

#[test]
fn two_hundred_random_commands_with_random_kills_lose_nothing() {
    let seed = std::env::var("ORANGE_TEST_SEED").map_or(20_260_731, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let env = empty_home();
    let mut keys = Vec::new();
    for number in 0..5 {
        env.git(&["branch", &format!("soak-{number}")]);
        keys.push(env.create(&[&format!("soak-{number}"), "Soak"]));
    }
    let mut confirmed: Vec<(String, String)> = Vec::new();
    let mut lines: Vec<(String, String)> = Vec::new();
    let (mut kills, mut refusals) = (0, 0);
    for step in 0..SOAK_COMMANDS {
        let key = keys[dice.below(keys.len())].clone();
        let tag = format!("t{step}");
        let mut next = "planning";
        if let Some((status, file)) = living(&env, &key) {
            let section;
            (next, section) = next_move(&status, &mut dice);
            if !section.is_empty() {
                let line = format!("line {step};");
                let text = fs::read_to_string(&file).unwrap();
                fs::write(&file, format!("{text}\n## {section}\n{line}\n")).unwrap();
                lines.push((key.clone(), line));
            }
        }
        let arguments: Vec<&str> = match dice.below(10) {
            0 => vec!["task", "delete", &key, "--yes"],
            1 => vec!["task", "restore", &key],
            2 | 3 => vec!["task", "update", &key, "--add-tag", &tag],
            _ => vec!["task", "update", &key, "--status", next, "--add-tag", &tag],
        };
        let mut command = env.command(&arguments);
        if dice.below(2) == 0 {
            command.env("ORANGE_CRASH_AT", format!("*:{}", 1 + dice.below(24)));
        }
        let output = command.output().unwrap();
        if output.status.success() && arguments.contains(&"--add-tag") {
            confirmed.push((key, tag));
        } else if killed_at(&output).is_some() {
            kills += 1;
        } else if !output.status.success() {
            let code = output.status.code();
            assert!(
                matches!(code, Some(3 | 4)),
                "seed {seed}, {arguments:?}: {}",
                told(&output)
            );
            refusals += 1;
        }
    }
    let label = format!("seed {seed}");
    env.ok(&["task", "list"]);
    for key in &keys {
        // Some may lie in the trash.
        let _ = env.run(&["task", "restore", key]);
        env.ok(&["task", "show", key]);
    }
    at_rest(&env, &label);
    for (key, tag) in &confirmed {
        let (fields, _) = task_file(&env.folder_of(key));
        assert!(
            fields["tags"].contains(&format!("\"{tag}\"")),
            "{label}: {key} lost {tag}"
        );
    }
    for (key, line) in &lines {
        let (_, body) = task_file(&env.folder_of(key));
        assert!(body.contains(line.as_str()), "{label}: {key} lost {line}");
    }
    println!(
        "{kills} kills, {refusals} refusals, {} confirmed tags, {} lines",
        confirmed.len(),
        lines.len()
    );
    assert!(kills > 20 && confirmed.len() > 20, "too little happened");
}
