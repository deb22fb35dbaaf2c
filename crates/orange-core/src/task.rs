//! The task: every field of its frontmatter, declared once with its type and who may change it.

mod phased;

use crate::Timestamp;
use crate::choice;
use crate::config::Permissions;
use crate::id::Key;
use crate::testing::TestingRequirements;
use crate::workflow::{StatusInfo, StatusKind, info_for};
use crate::yaml;
use serde::Serialize;
use serde_json::{Map, Value};

choice! {
    /// Who may change a field: the engine alone, or people and agents in the file too, always or only until the task
    /// starts. What decides how a task is worked on, checked and merged is settled at its start.
    pub enum Guard ("kind of field") {
        Guarded = "guarded", Descriptive = "descriptive", UntilStart = "until-start",
    }
}

pub use crate::workflow::{BlockedReason, Status};

choice! {
    /// The workflows that a task can have.
    pub enum WorkflowName ("workflow") { Interactive = "interactive", Phased = "phased" }
}

choice! {
    pub enum Queue ("queue") { Active = "active", Backlog = "backlog" }
}

choice! {
    /// In the order of urgency, so that sorting sorts.
    pub enum Priority ("priority") {
        Critical = "critical", High = "high", Normal = "normal", Low = "low",
    }
}

choice! {
    pub enum Category ("category") {
        Feature = "feature", Bug = "bug", Refactor = "refactor", Chore = "chore",
        Docs = "docs", Test = "test",
    }
}

choice! {
    pub enum Weight ("weight") {
        Trivial = "trivial", Small = "small", Medium = "medium", Large = "large",
        Greenfield = "greenfield",
    }
}

/// How a field's YAML is to be read: `summary: no` is the text "no", not a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueShape {
    Text,
    Number,
    Flag,
    TextList,
    /// A mapping of anything.
    Object,
}

/// A type that can stand in a field: JSON in the journal, YAML in TASK.md.
pub trait FieldValue: Sized + Serialize {
    const SHAPE: ValueShape;

    /// What is text in a file has only `read_text` of its own.
    fn read(value: Value) -> Result<Self, String> {
        Self::read_text(Some(&String::read(value)?))
    }

    /// As `read` of a text, or of null. Types of which there are thousands to read do without the copy.
    fn read_text(text: Option<&str>) -> Result<Self, String> {
        Self::read(text.map_or(Value::Null, Value::from))
    }
}

impl FieldValue for String {
    const SHAPE: ValueShape = ValueShape::Text;
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(text),
            Value::Null => Ok(String::new()),
            Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
            Value::Array(_) | Value::Object(_) => Err("expected text".into()),
        }
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    const SHAPE: ValueShape = T::SHAPE;
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(None),
            Value::String(text) if text.is_empty() => Ok(None),
            value => T::read(value).map(Some),
        }
    }
    fn read_text(text: Option<&str>) -> Result<Self, String> {
        match text {
            None | Some("") => Ok(None),
            text => T::read_text(text).map(Some),
        }
    }
}

macro_rules! number_field {
    ($($ty:ty),+) => {$(
        impl FieldValue for $ty {
            const SHAPE: ValueShape = ValueShape::Number;
            fn read(value: Value) -> Result<Self, String> {
                let text = match value {
                    Value::Null => return Ok(0),
                    Value::String(text) => text,
                    value => value.to_string(),
                };
                Self::read_text(Some(&text))
            }
            fn read_text(text: Option<&str>) -> Result<Self, String> {
                let text = text.unwrap_or("0");
                text.parse().map_err(|_| format!("{text:?} is not a whole number"))
            }
        }
    )+};
}
number_field!(u32, u64);

impl FieldValue for bool {
    const SHAPE: ValueShape = ValueShape::Flag;
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Bool(flag) => Ok(flag),
            Value::Null => Ok(false),
            Value::String(word) if word == "true" => Ok(true),
            Value::String(word) if word == "false" => Ok(false),
            other => Err(format!("{other} is neither true nor false")),
        }
    }
}

impl FieldValue for Vec<String> {
    const SHAPE: ValueShape = ValueShape::TextList;
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => items.into_iter().map(String::read).collect(),
            // `tags: auth` is what people write for a list of one.
            Value::String(text) if text.is_empty() => Ok(Vec::new()),
            Value::String(text) => Ok(vec![text]),
            other => Err(format!("expected a list, found {other}")),
        }
    }
}

impl FieldValue for Map<String, Value> {
    const SHAPE: ValueShape = ValueShape::Object;
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Map::new()),
            // Only a journal can have it: TASK.md could not hold it.
            value if !yaml::fits(&value) => Err("is nested too deeply".to_owned()),
            Value::Object(map) => Ok(map),
            other => Err(format!("expected a mapping, found {other}")),
        }
    }
}

impl FieldValue for TestingRequirements {
    const SHAPE: ValueShape = ValueShape::Object;
    fn read(value: Value) -> Result<Self, String> {
        if value.is_null() {
            return Ok(TestingRequirements::default());
        }
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

impl FieldValue for Timestamp {
    const SHAPE: ValueShape = ValueShape::Text;
    fn read_text(text: Option<&str>) -> Result<Self, String> {
        let text = text.unwrap_or_default();
        let time = text.parse().ok().or_else(|| start_of_day(text));
        time.ok_or_else(|| format!("{text:?} is not a time like 2026-01-31T09:30:00Z"))
    }
}

/// A date without a time, as people write it: the beginning of that day, UTC.
fn start_of_day(text: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = text.parse().ok().filter(|_| text.len() == 10)?;
    let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(start.timestamp())
}

impl FieldValue for Key {
    const SHAPE: ValueShape = ValueShape::Text;
    fn read_text(text: Option<&str>) -> Result<Self, String> {
        let key = text.unwrap_or_default().parse();
        key.map_err(|error: crate::id::BadKey| error.to_string())
    }
}

/// A field whose value cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", field.name())]
pub struct BadValue {
    pub field: Field,
    pub reason: String,
}

macro_rules! task_fields {
    ($($variant:ident $name:ident : $ty:ty = $default:expr, $guard:ident;)+) => {
        /// One task. Field order is the order in which a new TASK.md is written.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct Task { $(pub $name: $ty),+ }

        /// The name of a field, for code that treats all of them alike.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Field { $($variant),+ }

        impl Field {
            pub const ALL: &'static [Field] = &[$(Field::$variant),+];

            pub const fn name(self) -> &'static str {
                match self { $(Field::$variant => stringify!($name)),+ }
            }

            pub fn from_name(name: &str) -> Option<Field> {
                match name { $(stringify!($name) => Some(Field::$variant),)+ _ => None }
            }

            pub const fn guard(self) -> Guard {
                match self { $(Field::$variant => Guard::$guard),+ }
            }

            /// Whether an edit in TASK.md counts while the task has this status.
            pub fn is_editable(self, status: Status) -> bool {
                match self.guard() {
                    Guard::Guarded => false,
                    Guard::Descriptive => true,
                    Guard::UntilStart => !status.has_started(),
                }
            }

            pub const fn shape(self) -> ValueShape {
                match self { $(Field::$variant => <$ty as FieldValue>::SHAPE),+ }
            }
        }

        impl Task {
            pub fn get(&self, field: Field) -> Value {
                let value = match field { $(Field::$variant => serde_json::to_value(&self.$name)),+ };
                // Texts, numbers, lists and mappings of them have JSON.
                value.unwrap_or_default()
            }

            pub fn set(&mut self, field: Field, value: Value) -> Result<(), BadValue> {
                match field {
                    $(Field::$variant => {
                        self.$name = FieldValue::read(value)
                            .map_err(|reason| BadValue { field, reason })?;
                    })+
                }
                Ok(())
            }

            /// As `set` with a text, or with null.
            pub(crate) fn set_text(&mut self, field: Field, text: Option<&str>) -> Result<(), BadValue> {
                match field {
                    $(Field::$variant => {
                        self.$name = FieldValue::read_text(text)
                            .map_err(|reason| BadValue { field, reason })?;
                    })+
                }
                Ok(())
            }

            /// Appends what `get` gives as JSON.
            pub fn write_json(&self, field: Field, out: &mut Vec<u8>) {
                let written = match field { $(Field::$variant => serde_json::to_writer(out, &self.$name)),+ };
                // Writing to memory cannot fail.
                drop(written);
            }

            /// Compares one field without going through JSON.
            pub fn same(&self, other: &Task, field: Field) -> bool {
                match field { $(Field::$variant => self.$name == other.$name),+ }
            }
        }

        impl Default for Task {
            fn default() -> Task {
                Task { $($name: $default),+ }
            }
        }
    };
}

task_fields! {
    Id id: String = String::new(), Guarded;
    Key key: Option<Key> = None, Guarded;
    Revision revision: u64 = 0, Guarded;
    Project project: String = String::new(), Guarded;
    Workflow workflow: WorkflowName = WorkflowName::Interactive, Guarded;
    Status status: Status = Status::default(), Guarded;
    BlockedReason blocked_reason: Option<BlockedReason> = None, Guarded;
    Summary summary: String = String::new(), Descriptive;
    Branch branch: String = String::new(), Guarded;
    Base base: Option<String> = None, Guarded;
    TargetBranch target_branch: Option<String> = None, UntilStart;
    Harness harness: Option<String> = None, UntilStart;
    Model model: Option<String> = None, UntilStart;
    Effort effort: Option<String> = None, UntilStart;
    ReviewHarness review_harness: Option<String> = None, UntilStart;
    ReviewModel review_model: Option<String> = None, UntilStart;
    ReviewEffort review_effort: Option<String> = None, UntilStart;
    Permissions permissions: Option<Permissions> = None, Guarded;
    ReviewRound review_round: u32 = 0, Guarded;
    CrashCount crash_count: u32 = 0, Guarded;
    Queue queue: Queue = Queue::Active, Descriptive;
    QueuedAt queued_at: Option<Timestamp> = None, Guarded;
    Priority priority: Priority = Priority::Normal, Descriptive;
    Category category: Category = Category::Feature, Descriptive;
    Weight weight: Option<Weight> = None, UntilStart;
    Tags tags: Vec<String> = Vec::new(), UntilStart;
    InitiativeId initiative_id: Option<String> = None, UntilStart;
    Parent parent: Option<String> = None, Guarded;
    BlockedBy blocked_by: Vec<String> = Vec::new(), UntilStart;
    RelatedTo related_to: Vec<String> = Vec::new(), Descriptive;
    RequiresUiTesting requires_ui_testing: bool = false, UntilStart;
    TestingRequirements testing_requirements: TestingRequirements = TestingRequirements::default(), UntilStart;
    CurrentPhase current_phase: Option<String> = None, Guarded;
    Gates gates: Map<String, Value> = Map::new(), Guarded;
    Workspace workspace: Option<String> = None, Guarded;
    TmuxSession tmux_session: Option<String> = None, Guarded;
    PrUrl pr_url: Option<String> = None, Guarded;
    Pr pr: Map<String, Value> = Map::new(), Guarded;
    Metadata metadata: Map<String, Value> = Map::new(), UntilStart;
    CreatedAt created_at: Timestamp = Timestamp::UNIX_EPOCH, Guarded;
    CreatedBy created_by: Option<String> = None, Guarded;
    UpdatedAt updated_at: Timestamp = Timestamp::UNIX_EPOCH, Guarded;
}

/// Fields by name, as they stand in an event.
pub type FieldMap = Map<String, Value>;

impl Task {
    /// All fields, for the first event of a task.
    pub fn to_fields(&self) -> FieldMap {
        Field::ALL
            .iter()
            .map(|field| (field.name().to_owned(), self.get(*field)))
            .collect()
    }

    /// `TASK-007`, or the beginning of the id for a task that has no key yet.
    pub fn label(&self) -> String {
        match self.key {
            Some(key) => key.to_string(),
            None => self.id.chars().take(8).collect(),
        }
    }

    /// Whether it starts by itself as soon as it can. `queued_at` alone says whether it is meant to; in the backlog it keeps that
    /// for later.
    pub fn is_queued(&self) -> bool {
        !self.has_started() && self.queued_at.is_some() && self.queue == Queue::Active
    }

    /// The columns of its status.
    pub fn status_info(&self) -> &'static StatusInfo {
        info_for(self.status, self.blocked_reason)
    }

    /// Where it stands, as a sentence goes on after its name.
    pub fn phrase(&self) -> String {
        self.status_info().phrase_of(self.status)
    }

    /// An agent, a reviewer or a person has, or had, the task.
    pub fn has_started(&self) -> bool {
        self.status_info().kind != StatusKind::Waiting
    }

    /// The branch the work goes to; the caller knows the project's default.
    pub fn target<'a>(&'a self, default_branch: &'a str) -> &'a str {
        self.target_branch.as_deref().unwrap_or(default_branch)
    }

    /// `pr_url` and `pr.url` are one thing under two names.
    pub fn align_pr(&mut self) {
        match (&self.pr_url, self.pr.get("url")) {
            (Some(url), _) => {
                self.pr.insert("url".into(), Value::String(url.clone()));
            }
            (None, Some(Value::String(url))) => self.pr_url = Some(url.clone()),
            (None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_survives_its_own_json() {
        let mut task = Task {
            id: "abc".into(),
            key: "API-004".parse().ok(),
            summary: "no".into(),
            weight: Some(Weight::Large),
            tags: vec!["1.10".into()],
            ..Task::default()
        };
        task.metadata.insert("n".into(), Value::from(3));
        let mut copy = Task::default();
        for field in Field::ALL {
            assert_eq!(Field::from_name(field.name()), Some(*field));
            copy.set(*field, task.get(*field)).unwrap();
            assert!(copy.same(&task, *field), "{field:?}");
            let mut json = Vec::new();
            task.write_json(*field, &mut json);
            assert_eq!(json, task.get(*field).to_string().into_bytes(), "{field:?}");
        }
        assert_eq!(copy, task);
    }

    #[test]
    fn a_value_outside_its_words_names_the_allowed_ones() {
        let error = Task::default()
            .set(Field::Priority, Value::from("urgent"))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "priority: \"urgent\" is not a priority; allowed: critical, high, normal, low"
        );
    }

    #[test]
    fn a_date_without_a_time_is_the_beginning_of_that_day() {
        let mut task = Task::default();
        task.set(Field::CreatedAt, "2026-11-03".into()).unwrap();
        assert_eq!(task.created_at.to_string(), "2026-11-03T00:00:00Z");
        for text in [
            "2026-11-33",
            "20261103",
            "2026-11-03[UTC]",
            "+002026-11-03",
            "",
        ] {
            assert!(task.set(Field::CreatedAt, text.into()).is_err(), "{text}");
        }
    }

    #[test]
    fn pr_url_and_pr_agree() {
        let mut task = Task {
            pr_url: Some("https://x/1".into()),
            ..Task::default()
        };
        task.align_pr();
        assert_eq!(task.pr["url"], "https://x/1");
        let mut task = Task::default();
        task.pr.insert("url".into(), "https://x/2".into());
        task.align_pr();
        assert_eq!(task.pr_url.as_deref(), Some("https://x/2"));
    }
}
