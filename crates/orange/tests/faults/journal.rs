//! A journal that lost its end, at every byte: TASK.md is right then, it is said once, and work goes on.

use crate::check::{Fields, at_rest, events, names, task_at_rest, task_file};
use crate::env::{Env, PROJECT, in_parallel, told};
use orange_core::task::Field;
use orange_engine::index::list::TaskFilter;
use orange_engine::verbs::change;
use orange_engine::verbs::change::{Change, Edit};
use orange_engine::views::{list, task};
use orange_engine::{Call, Settings, recovery};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A task with a history of every kind of event, as it lies on disk.
struct Prepared {
    env: Env,
    key: String,
    name: String,
    task: Vec<u8>,
    journal: Vec<u8>,
    lock: Vec<u8>,
    fields: Fields,
    body: String,
    events: Vec<Value>,
}

fn prepared() -> Prepared {
    let env = Env::new();
    let key = env.create(&["cut", "Cut"]);
    env.update(&key, &["--status", "planning"]);
    env.append_to_body(&key, "\n## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: ä€\n");
    env.update(&key, &["--status", "working", "--summary", "Cut – ä€"]);
    env.update(&key, &["--status", "agent-review"]);
    env.append_to_body(&key, "\n## Review\n\nVerdict: FAIL\n");
    env.update(&key, &["--status", "working"]);
    env.update(&key, &["--priority", "high"]);
    let folder = env.folder_of(&key);
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let (fields, body) = task_file(&folder);
    assert!(body.contains("## Handoff (round 1)"), "{body}");
    Prepared {
        name: folder.file_name().unwrap().to_string_lossy().into_owned(),
        task: read("TASK.md"),
        journal: read("history.jsonl"),
        lock: read(".lock"),
        events: events(&folder),
        env,
        key,
        fields,
        body,
    }
}

impl Prepared {
    /// Puts the task back as it was, but for the end of its journal.
    fn cut(&self, env: &Env, length: usize) -> PathBuf {
        let folder = env.tasks().join(&self.name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("TASK.md"), &self.task).unwrap();
        fs::write(folder.join(".lock"), &self.lock).unwrap();
        fs::write(folder.join("history.jsonl"), &self.journal[..length]).unwrap();
        folder
    }

    /// What the journal tells, once it is in order again.
    fn check(&self, folder: &Path, length: usize, label: &str) {
        task_at_rest(folder, label);
        let (mut fields, body) = task_file(folder);
        assert_eq!(body, self.body, "{label}");
        let mut expected = self.fields.clone();
        for volatile in ["revision", "updated_at", "weight"] {
            expected.remove(volatile);
            fields.remove(volatile);
        }
        assert_eq!(fields, expected, "{label}: TASK.md was right");
        let (whole, torn) = self.split(length);
        let journal = events(folder);
        let count = |kind: &str| journal.iter().filter(|event| event["type"] == kind).count();
        let lost = self.events[whole..]
            .iter()
            .any(|event| event["revision"].is_u64());
        let expected = (0, usize::from(lost));
        let found = (count("task.adopted"), count("journal.recovered"));
        assert_eq!(found, expected, "{label}: {journal:#?}");
        assert_eq!(
            journal[..whole],
            self.events[..whole],
            "{label}: whole lines stay"
        );
        let aside = names(folder, |name| name.starts_with("history.torn-"));
        let kept: Vec<u8> = aside
            .iter()
            .flat_map(|name| fs::read(folder.join(name)).unwrap())
            .collect();
        assert_eq!(kept, torn, "{label}: the torn tail is set aside");
    }

    /// How many lines are whole in a cut journal, and what follows them.
    fn split(&self, length: usize) -> (usize, &[u8]) {
        let text = &self.journal[..length];
        let end = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let lines = text[..end].iter().filter(|byte| **byte == b'\n').count();
        (lines, &text[end..])
    }

    /// Is this cut at the end of a line, or one byte beside it?
    fn near_an_end(&self, length: usize) -> bool {
        let near = length.saturating_sub(2)..(length + 1).min(self.journal.len());
        length < 2 || self.journal[near].contains(&b'\n')
    }
}

fn call(env: &Env) -> Call {
    Call::new(Settings::at(env.home()))
}

/// Everything that reads works; then updates do, at least at every ninth byte. In this process, for speed.
fn use_it(prepared: &Prepared, env: &Env, call: &Call, length: usize) {
    let label = format!("cut to {length} of {}", prepared.journal.len());
    let folder = prepared.cut(env, length);
    let all = TaskFilter {
        all: true,
        ..TaskFilter::default()
    };
    recovery::recover(call);
    let rows = list::list(call, &all).unwrap_or_else(|e| panic!("{label}: {e}"));
    assert_eq!(rows.len(), 1, "{label}");
    assert_eq!(
        (rows[0].damaged.as_ref(), rows[0].status.as_str()),
        (None, "working"),
        "{label}"
    );
    let place = call.store().place(&format!("{PROJECT}/{}", prepared.name));
    let view = task::view(call, place.clone()).unwrap_or_else(|e| panic!("{label}: {e}"));
    assert_eq!(view.task.status.as_str(), "working", "{label}");
    let near = prepared.near_an_end(length);
    let weights: &[&str] = if near || length.is_multiple_of(9) {
        &["small", "large"]
    } else {
        &[]
    };
    for weight in weights {
        let change = Change {
            edits: vec![Edit::Set(Field::Weight, (*weight).into())],
            ..Change::default()
        };
        let changed =
            change::change(call, place.clone(), &change).unwrap_or_else(|e| panic!("{label}: {e}"));
        assert_eq!(
            changed.done.task.weight.map(|found| found.as_str()),
            Some(*weight),
            "{label}"
        );
        assert_eq!(task_file(&folder).0["weight"], *weight, "{label}");
    }
    prepared.check(&folder, length, &label);
}

#[test]
fn a_journal_cut_at_every_byte_recovers() {
    let prepared = prepared();
    let length = prepared.journal.len();
    assert!(prepared.events.len() >= 12, "{:#?}", prepared.events);
    let parts: Vec<usize> = (0..3).collect();
    in_parallel(&parts, |part| {
        let env = prepared.env.fork();
        let call = call(&env);
        for cut in (*part..=length).step_by(parts.len()) {
            use_it(&prepared, &env, &call, cut);
        }
    });
    println!("{} events, {} cuts", prepared.events.len(), length + 1);
}

/// The same with real commands, at and around the end of every line.
#[test]
fn commands_work_with_a_cut_journal() {
    let prepared = prepared();
    let cuts: Vec<usize> = (0..=prepared.journal.len())
        .filter(|cut| prepared.near_an_end(*cut))
        .collect();
    in_parallel(&cuts, |cut| {
        let env = prepared.env.fork();
        let folder = prepared.cut(&env, *cut);
        let label = format!("cut to {cut}");
        for command in [
            ["task", "list", "--json"].as_slice(),
            &["task", "show", &prepared.key, "--json"],
        ] {
            let output = env.run(command);
            assert!(output.status.success(), "{label}: {}", told(&output));
        }
        for weight in ["small", "large"] {
            env.update(&prepared.key, &["--weight", weight]);
        }
        at_rest(&env, &label);
        prepared.check(&folder, *cut, &label);
    });
}
