//! A task whose file is known to be in order, straight from its text. A lost index means to read every task there
//! is: a frontmatter as this program writes it is read line by line, without a tree in between.

use super::read_fields;
use crate::task::{Field, Task, ValueShape};
use crate::task_file::{TaskFile, split};
use crate::testing::TestingRequirements;
use crate::workflow::Workflow;
use crate::workflow::interactive::former_status;
use crate::yaml::simple;
use std::ops::Range;

/// A task as its file says, and where in the text things stand.
#[derive(Debug, PartialEq)]
pub struct Filed {
    pub task: Task,
    /// What stands between the two `---` lines.
    pub front: Range<usize>,
    /// Where the body starts.
    pub body: usize,
}

impl Filed {
    /// Reads a TASK.md of a project; None if anything in it cannot be used.
    pub fn read(text: &str, project: &str) -> Option<Filed> {
        let (front, body) = split(text).ok()?;
        let task =
            simple_task(&text[front.clone()], project).or_else(|| any_task(text, project))?;
        Some(Filed { task, front, body })
    }
}

fn any_task(text: &str, project: &str) -> Option<Task> {
    let file = TaskFile::parse(text.as_bytes()).ok()?;
    let (task, problems) = read_fields(&file, project);
    problems.is_empty().then_some(task)
}

/// None: not that simple, or not in order.
fn simple_task(front: &str, project: &str) -> Option<Task> {
    if front.len() > simple::LONGEST || !front.ends_with('\n') {
        return None;
    }
    let mut task = Task::default();
    let mut found = [false; Field::ALL.len()];
    let mut lines = front.split_terminator('\n').peekable();
    while let Some(line) = lines.next() {
        let (key, value) = simple::split(line)?;
        let field = Field::from_name(key)?;
        if std::mem::replace(&mut found[field as usize], true) {
            return None;
        }
        match (field, field.shape()) {
            // What an older program called it is for the other way to know.
            (Field::Status, _) if former_status(value).is_some() => return None,
            (Field::TestingRequirements, _) if value.is_empty() => {
                let mut nested = || lines.next_if(|line| line.starts_with("  "));
                task.testing_requirements = testing(std::iter::from_fn(&mut nested))?;
            }
            (_, ValueShape::TextList) => {
                let items = simple::list_items(value)?;
                let texts = items.map(|item| simple::scalar_text(item, true));
                let texts = texts.map(|text| text.map(|(text, plain)| not_null(text, plain)));
                let texts = texts.map(|text| text.map(|text| text.unwrap_or_default().to_owned()));
                let list = texts.collect::<Option<Vec<String>>>()?;
                task.set(field, list.into()).ok()?;
            }
            (_, ValueShape::Object) if value == "{}" => {}
            (_, ValueShape::Object) => return None,
            (_, ValueShape::Text | ValueShape::Number | ValueShape::Flag) => {
                let (text, plain) = simple::scalar_text(value, false)?;
                task.set_text(field, not_null(text, plain)).ok()?;
            }
        }
    }
    if task.project.is_empty() {
        task.project = project.to_owned();
    }
    Workflow::named(task.workflow)
        .has(task.status)
        .then_some(task)
}

fn not_null(text: &str, plain: bool) -> Option<&str> {
    (!plain || !matches!(text, "" | "~" | "null")).then_some(text)
}

/// The indented lines below `testing_requirements:`, of which there must be one.
fn testing<'t>(lines: impl Iterator<Item = &'t str>) -> Option<TestingRequirements> {
    let mut wanted = [None; 3];
    for line in lines {
        let (key, value) = simple::split(line.strip_prefix("  ")?)?;
        let place = ["unit", "e2e", "visual"]
            .iter()
            .position(|name| *name == key)?;
        let flag = match value {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        if wanted[place].replace(flag).is_some() {
            return None;
        }
    }
    let [unit, e2e, visual] = wanted;
    wanted
        .iter()
        .any(Option::is_some)
        .then(|| TestingRequirements {
            unit: unit.unwrap_or_default(),
            e2e: e2e.unwrap_or_default(),
            visual: visual.unwrap_or_default(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fully(front: &str) -> Option<Task> {
        any_task(&format!("---\n{front}---\n"), "shop")
    }

    #[test]
    fn what_this_program_writes_is_simple() {
        let task = Task {
            id: "000PMYy2JIiO1roOJjYlM".into(),
            key: Some(crate::id::Key::numbered(7)),
            tags: vec!["api".into(), "1.10".into()],
            weight: Some(crate::task::Weight::Large),
            ..Task::default()
        };
        let set = |field: &&Field| !task.same(&Task::default(), **field);
        let always = [
            Field::TestingRequirements,
            Field::Metadata,
            Field::CreatedAt,
        ];
        let fields = Field::ALL
            .iter()
            .filter(|field| set(field) || always.contains(field));
        let values: Vec<_> = fields
            .map(|field| (field.name(), task.get(*field)))
            .collect();
        let file = TaskFile::create(&values, "");
        let read = simple_task(file.front(), "shop").unwrap();
        assert_eq!(
            read,
            Task {
                project: "shop".into(),
                ..task
            }
        );
        assert_eq!(fully(file.front()), Some(read));
    }

    #[test]
    fn the_body_and_what_is_not_simple_are_found_too() {
        let text = "---\nid: 'a'\nstatus: needs_human\nown: [1, {a: b}]\n---\n## Context\n";
        let filed = Filed::read(text, "shop").unwrap();
        assert_eq!(filed.task.status, crate::task::Status::Reviewing);
        assert_eq!(&text[filed.body..], "## Context\n");
        assert_eq!(text.find("---\n## "), Some(filed.front.end));
        assert_eq!(Filed::read("---\nstatus: lost\n---\n", "shop"), None);
        assert_eq!(Filed::read("---\nstatus: running\n---\n", "shop"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn whatever_it_reads_the_long_way_reads_alike(
            lines in prop::collection::vec(
                "(  )?(id|key|revision|status|summary|tags|weight|requires_ui_testing|testing_requirements|unit|e2e|\
                 metadata|created_at|crash_count|own):( (true|false|null|~|\\[\\]|\\{\\}|0?[0-9]{1,3}|-0|TASK-00[0-2]|[a-zA-Z]{0,3}[0-9]?-0[0-2]|\
                 pending|failed|large|\"\"|\"null\"|\"true\"|\"?2026-01-31T09:30:00Z\"?|\\[(a|null|\"1\")(, b)?\\]|a b))?",
                0..5,
            )
        ) {
            let front: String = lines.iter().map(|line| format!("{line}\n")).collect();
            if let Some(task) = simple_task(&front, "shop") {
                prop_assert_eq!(Some(task), fully(&front), "{:?}", front);
            }
        }
    }
}
