//! Live run and replay: the fold of a journal is the frontmatter, whatever the order of changes, hand edits
//! and losses.

#![allow(clippy::unwrap_used, reason = "tests")]

use orange_core::Timestamp;
use orange_core::history::{Event, EventType, History};
use orange_core::machine::{self, Facts, Move, PoolSlots, Situation};
use orange_core::reconcile::{
    Broken, Reconciled, TaskFolder, differing_fields, last_resort, reconcile,
};
use orange_core::task::{Field, FieldMap, Guard, Status, Task, WorkflowName};
use orange_core::task_file::TaskFile;
use orange_core::workflow::{Actor, Role, Workflow};
use proptest::prelude::*;
use serde_json::{Value, json};

const BODY: &str =
    "\n## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: y\n\n## Review\n\nVerdict: FAIL\n";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

/// A task with its two files, in memory.
#[derive(Clone)]
struct Files {
    task: Task,
    journal: Vec<u8>,
    file: TaskFile,
    clock: i64,
}

impl Files {
    fn new() -> Files {
        let task = Task {
            id: "abc".into(),
            project: "shop".into(),
            branch: "b".into(),
            key: "TASK-001".parse().ok(),
            summary: "s".into(),
            ..Task::default()
        };
        let workflow = Workflow::named(WorkflowName::Interactive);
        let event = machine::create(workflow, task, Actor::Human, at(0))
            .unwrap()
            .event;
        let task = machine::fold(std::slice::from_ref(&event), u64::MAX).unwrap();
        let fields: Vec<(&str, Value)> = Field::ALL
            .iter()
            .map(|field| (field.name(), task.get(*field)))
            .collect();
        let mut files = Files {
            file: TaskFile::create(&fields, BODY),
            task,
            journal: Vec::new(),
            clock: 0,
        };
        files.append(&event);
        files
    }

    fn append(&mut self, event: &Event) {
        self.journal.extend_from_slice(event.to_line().as_bytes());
        self.journal.push(b'\n');
    }

    fn history(&self) -> History {
        History::parse(&self.journal)
    }

    fn commit(&mut self, event: &Event) {
        self.append(event);
        machine::apply(&mut self.task, event).unwrap();
        self.write();
    }

    fn write(&mut self) {
        let changes: Vec<(&str, Option<Value>)> = differing_fields(&self.file, &self.task)
            .into_iter()
            .map(|field| (field.name(), Some(self.task.get(field))))
            .collect();
        self.file.edit(&changes).unwrap();
    }

    fn reconcile(&self, shrunk: bool) -> Result<Reconciled, Broken> {
        let folder = TaskFolder {
            name: "abc",
            project: "shop",
            modified: at(0),
            journal_shrunk: &|| Some(shrunk),
        };
        reconcile(
            Ok(&self.file),
            &self.history(),
            folder,
            at(self.clock),
            &mut |_, _| None,
        )
    }

    /// What a command does before anything else.
    fn settle(&mut self, shrunk: bool) -> Reconciled {
        let truth = self.reconcile(shrunk).unwrap();
        for event in &truth.events {
            self.append(event);
        }
        self.task = truth.task.clone();
        self.write();
        truth
    }

    fn hand_edit(&mut self, key: &str, value: Value) {
        self.file.edit(&[(key, Some(value))]).unwrap();
    }

    /// The property itself: both files say the same, and nothing is left to put right.
    fn agree(&self) {
        let folded = machine::fold(self.history().own(), u64::MAX).unwrap();
        assert_eq!(folded, self.task, "fold(history) == task");
        assert_eq!(
            differing_fields(&self.file, &folded),
            [],
            "frontmatter == fold(history)"
        );
        let again = self.reconcile(false).unwrap();
        assert!(again.events.is_empty() && !again.rewrite, "{again:?}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Move(Status, usize),
    Update(&'static str, Value),
    EditByHand(&'static str, Value),
}

fn step() -> impl Strategy<Value = Step> {
    let statuses = prop::sample::select(Status::ALL.to_vec());
    let texts = prop::sample::select(vec![
        "no",
        "1.10",
        "2024-01-01",
        "",
        "ü 漢",
        "a: b # c",
        "x\ny",
    ]);
    let words = prop::sample::select(vec!["critical", "high", "normal", "low"]);
    prop_oneof![
        4 => (statuses.clone(), 0usize..4).prop_map(|(to, actor)| Step::Move(to, actor)),
        1 => texts.clone().prop_map(|text| Step::Update("summary", json!(text))),
        1 => words.clone().prop_map(|word| Step::Update("priority", json!(word))),
        1 => prop::collection::vec(texts.clone(), 0..3).prop_map(|tags| Step::Update("tags", json!(tags))),
        1 => words.prop_map(|word| Step::EditByHand("priority", json!(word))),
        1 => texts.clone().prop_map(|text| Step::EditByHand("summary", json!(text))),
        1 => texts.clone().prop_map(|text| Step::EditByHand("branch", json!(text))),
        1 => prop::sample::select(vec!["harness", "review_harness", "target_branch", "weight", "blocked_by"])
            .prop_flat_map(move |name| texts.clone().prop_map(move |text| Step::EditByHand(name, json!(text)))),
        1 => statuses.prop_map(|status| Step::EditByHand("status", json!(status.as_str()))),
        1 => (0u64..40).prop_map(|revision| Step::EditByHand("revision", json!(revision))),
    ]
}

fn play(files: &mut Files, steps: Vec<Step>) {
    let facts = Facts {
        slots: PoolSlots {
            size: 1,
            holders: vec![],
        },
        merged: Some(Ok("yes".into())),
        ..Facts::default()
    };
    let actors = [
        Actor::Human,
        Actor::Engine,
        Actor::Agent(Role::Worker),
        Actor::Agent(Role::Reviewer),
    ];
    for step in steps {
        files.clock += 1;
        match step {
            Step::Move(to, actor) => {
                files.settle(false);
                let situation = Situation {
                    task: &files.task,
                    body: files.file.body(),
                    facts: &facts,
                    max_rounds: 2,
                    now: at(files.clock),
                };
                let workflow = Workflow::named(WorkflowName::Interactive);
                if let Ok(decision) =
                    machine::decide(workflow, situation, actors[actor], Move::to(to))
                {
                    files.commit(&decision.event);
                }
            }
            Step::Update(name, value) => {
                files.settle(false);
                let changes = FieldMap::from_iter([(name.to_owned(), value)]);
                if let Some(event) =
                    machine::update(&files.task, changes, Actor::Human, at(files.clock)).unwrap()
                {
                    files.commit(&event);
                }
            }
            Step::EditByHand(name, value) => files.hand_edit(name, value),
        }
    }
    files.clock += 1;
    files.settle(false);
}

proptest! {
    #[test]
    fn the_fold_of_the_journal_is_the_frontmatter(steps in prop::collection::vec(step(), 0..25)) {
        let mut files = Files::new();
        play(&mut files, steps);
        files.agree();
        prop_assert_eq!(files.file.body(), BODY);
    }

    /// No sequence of hand edits moves a guarded field: only journalled moves do.
    #[test]
    fn hand_edits_never_move_a_guarded_field(edits in prop::collection::vec(step(), 1..10)) {
        let mut files = Files::new();
        let before = files.task.clone();
        let by_hand: Vec<Step> = edits.into_iter().filter(|s| matches!(s, Step::EditByHand(..))).collect();
        play(&mut files, by_hand);
        for field in Field::ALL.iter().filter(|field| field.guard() == Guard::Guarded) {
            if ![Field::Revision, Field::UpdatedAt].contains(field) {
                prop_assert!(files.task.same(&before, *field), "{:?}", field);
            }
        }
        files.agree();
    }

    /// Once a task has started, no hand edit changes what decides how it is worked on, checked and merged.
    #[test]
    fn hand_edits_after_the_start_change_no_rule(edits in prop::collection::vec(step(), 1..10)) {
        let mut files = Files::new();
        play(&mut files, vec![Step::Move(Status::Planning, 0)]);
        prop_assert_eq!(files.task.status, Status::Planning);
        let before = files.task.clone();
        let by_hand: Vec<Step> = edits.into_iter().filter(|s| matches!(s, Step::EditByHand(..))).collect();
        play(&mut files, by_hand);
        for field in Field::ALL.iter().filter(|field| field.guard() == Guard::UntilStart) {
            prop_assert!(files.task.same(&before, *field), "{:?}", field);
        }
        files.agree();
    }

    /// A journal cut at any byte: the frontmatter, which is ahead then, is right; nothing is lost.
    #[test]
    fn a_truncated_journal_recovers(steps in prop::collection::vec(step(), 0..12), cut in 0.0f64..1.0) {
        let mut files = Files::new();
        play(&mut files, steps);
        let before = files.task.clone();
        let length = (files.journal.len() as f64 * cut) as usize;
        files.journal.truncate(length);
        // The reader hands complete lines only; the torn rest is set aside by the store.
        let whole = files.journal.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        files.journal.truncate(whole);
        files.clock += 1;
        files.settle(true);
        for field in Field::ALL {
            if ![Field::Revision, Field::UpdatedAt].contains(field) {
                prop_assert!(files.task.same(&before, *field), "{:?}", field);
            }
        }
        files.agree();
    }

    /// An editor that saves an old frontmatter over a newer one: its own edits are kept, the rest is current.
    #[test]
    fn a_stale_save_is_merged(steps in prop::collection::vec(step(), 1..12), summary in "[a-z ]{1,12}") {
        let mut files = Files::new();
        let mut old = files.file.clone();
        let steps = steps.into_iter().filter(|s| matches!(s, Step::Move(..) | Step::Update("priority" | "tags", _)));
        play(&mut files, steps.collect());
        let current = files.task.clone();
        old.edit(&[("summary", Some(json!(summary)))]).unwrap();
        files.file = old;
        files.clock += 1;
        files.settle(false);
        prop_assert_eq!(&files.task.summary, &summary);
        prop_assert_eq!(files.task.status, current.status);
        prop_assert_eq!(files.task.priority, current.priority);
        prop_assert_eq!(&files.task.tags, &current.tags);
        files.agree();
    }
}

#[test]
fn a_forged_revision_is_put_back_unless_the_journal_has_shrunk() {
    let mut files = Files::new();
    files.hand_edit("status", json!("done"));
    files.hand_edit("revision", json!(9));
    let mut forged = files.clone();
    forged.settle(false);
    assert_eq!(forged.task.status, Status::Pending);
    forged.agree();
    let truth = files.settle(true);
    assert_eq!(truth.events[0].kind, EventType::JournalRecovered);
    assert_eq!(files.task.status, Status::Done);
    files.agree();
}

#[test]
fn a_revision_nobody_can_have_counted_to_is_not_believed() {
    let mut files = Files::new();
    files.hand_edit("revision", json!(u64::MAX));
    let truth = files.settle(true);
    assert_eq!(truth.events[0].kind, EventType::FieldsRestored);
    files.agree();
    // Without a journal the count begins anew.
    files.journal.clear();
    files.hand_edit("revision", json!(u64::MAX));
    let truth = files.settle(true);
    assert_eq!(truth.events[0].kind, EventType::JournalRecovered);
    assert_eq!(truth.events[0].revision, Some(1));
    files.agree();
}

#[test]
fn a_number_with_many_digits_is_the_same_in_both_files() {
    let mut files = Files::new();
    files.hand_edit("metadata", json!({"x": 1.844674407370956e34}));
    files.settle(false);
    files.agree();
}

#[test]
fn a_journal_with_more_levels_than_a_task_file_can_have_is_damaged() {
    let mut files = Files::new();
    let mut deep = json!(1);
    for _ in 0..70 {
        deep = json!({"a": deep});
    }
    let mut event = Event::new(EventType::TaskUpdated, at(1));
    event.revision = Some(2);
    event.fields.insert("metadata".into(), deep);
    files.append(&event);
    let broken = files.reconcile(false).unwrap_err();
    assert_eq!(
        broken.to_string(),
        "history.jsonl: metadata: is nested too deeply"
    );
}

#[test]
fn a_status_of_another_workflow_is_never_taken_over() {
    let mut files = Files::new();
    let mut event = Event::new(EventType::TaskUpdated, at(1));
    event.revision = Some(2);
    event.fields.insert("status".into(), json!("running"));
    files.append(&event);
    let broken = files.reconcile(false).unwrap_err().to_string();
    assert!(
        broken.starts_with("history.jsonl: status: \"running\" is not"),
        "{broken}"
    );

    let folder = TaskFolder {
        name: "abc",
        project: "shop",
        modified: at(0),
        journal_shrunk: &|| None,
    };
    let left = b"---\nstatus: working\nbranch: b\nno colon";
    let truth = last_resort(left, Broken::Missing, folder, at(2)).unwrap();
    assert_eq!(truth.task.status, Status::Working);
    // A status of another workflow is none, and no other one is made up.
    let left = b"---\nstatus: running\nbranch: b\nno colon";
    let unknown = last_resort(left, Broken::Missing, folder, at(2)).unwrap_err();
    assert_eq!(unknown.missing.len(), 1, "{unknown:?}");
}

#[test]
fn a_journal_without_a_project_is_damaged() {
    let mut files = Files::new();
    let mut event = Event::new(EventType::TaskUpdated, at(1));
    event.revision = Some(2);
    event.fields.insert("project".into(), json!(""));
    files.append(&event);
    let broken = files.reconcile(false).unwrap_err();
    assert_eq!(broken.to_string(), "history.jsonl: project: is missing");
}

#[test]
fn an_event_missing_in_the_middle_is_noticed() {
    let mut files = Files::new();
    for (second, word) in ["high", "low", "critical"].iter().enumerate() {
        let changes = FieldMap::from_iter([("priority".to_owned(), json!(word))]);
        let event = machine::update(&files.task, changes, Actor::Human, at(second as i64)).unwrap();
        files.commit(&event.unwrap());
    }
    let text = String::from_utf8(files.journal.clone()).unwrap();
    let kept: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(n, _)| *n != 2)
        .map(|(_, l)| l)
        .collect();
    files.journal = format!("{}\n", kept.join("\n")).into_bytes();
    let truth = files.settle(false);
    assert_eq!(truth.events[0].kind, EventType::JournalRecovered);
    files.agree();
}

#[test]
fn a_value_that_cannot_be_used_is_named_with_its_line() {
    let mut files = Files::new();
    files.hand_edit("priority", json!("urgent"));
    let truth = files.reconcile(false).unwrap();
    let broken = truth.broken.unwrap().to_string();
    assert!(
        broken.starts_with("line ") && broken.contains("\"urgent\""),
        "{broken}"
    );
    assert!(broken.contains("critical, high, normal, low"), "{broken}");
    assert!(truth.events.is_empty());
}

#[test]
fn archived_headings_follow_a_file_that_was_saved_from_before() {
    let mut files = Files::new();
    let old = files.file.clone();
    let mut event = Event::new(EventType::StatusChanged, at(1));
    event.revision = Some(2);
    event.archive = vec![orange_core::history::ArchiveSection {
        section: "Handoff".into(),
        round: 1,
        no_verdict: false,
    }];
    files.append(&event);
    files.file = old;
    let truth = files.reconcile(false).unwrap();
    assert_eq!(truth.archive.len(), 1);
    assert!(truth.rewrite);
}
