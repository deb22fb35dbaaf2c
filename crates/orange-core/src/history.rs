//! history.jsonl: one event a line. What an event is, and how lines are read, old ones included.

#![warn(clippy::wildcard_enum_match_arm)]

mod execution;
pub mod payload;
mod sealed;

use crate::Timestamp;
use crate::task::{Field, FieldMap, Status};
use crate::workflow::Obstacle;
use payload::HookEnded;
pub use payload::{EventType, Payload};
use serde::de::{Error as _, MapAccess};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Written into a task's first event; a later format will read this one by its number.
pub const FORMAT: u32 = 1;

/// More than anybody ever counts to, with room for counting on; what JSON and SQLite hold exactly.
pub const HIGHEST_REVISION: u64 = 1 << 53;

/// A change to the body that goes with an event; applied in the same write as the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveSection {
    pub section: String,
    pub round: u32,
    /// A review that gave no verdict: numbered by itself, because its round goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_verdict: bool,
}

impl ArchiveSection {
    /// What the heading says in brackets: `round 1`, `no verdict 1`.
    pub fn note(&self) -> String {
        let word = if self.no_verdict {
            "no verdict"
        } else {
            "round"
        };
        format!("{word} {}", self.round)
    }

    pub fn heading(&self) -> String {
        format!("{} ({})", self.section, self.note())
    }
}

/// A section that goes with an event, added at the end of the body in the same write as the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendSection {
    pub section: String,
    pub text: String,
}

/// Declares an event from its members: what each is called in Rust and as a [`Member`], its type, and when it is not written.
macro_rules! event {
    ($($(#[$about:meta])* $member:ident $name:ident: $type:ty, not $empty:literal;)+) => {
        /// One line of the journal. A flat record, because that is what stands in the file.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct Event {
            #[serde(rename = "type")]
            pub kind: EventType,
            pub timestamp: Timestamp,
            $($(#[$about])* #[serde(skip_serializing_if = $empty)] pub $member: $type,)+
            /// What this type of event carries besides, read and written as [`Payload`].
            #[serde(flatten)]
            details: Map<String, Value>,
        }

        /// The names of an event's members; what we do not know is a detail.
        #[derive(Deserialize)]
        #[serde(field_identifier, rename_all = "snake_case")]
        enum Member {
            Type,
            #[serde(alias = "at")]
            Timestamp,
            $($name,)+
            Other(String),
        }

        impl<'de> serde::de::Visitor<'de> for EventVisitor {
            type Value = Event;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an event")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
                let (mut kind, mut timestamp) = (None, None);
                $(let mut $member = None;)+
                let mut details = Map::new();
                while let Some(member) = map.next_key()? {
                    match member {
                        Member::Type => once(&mut kind, "type", &mut map)?,
                        Member::Timestamp => once(&mut timestamp, "timestamp", &mut map)?,
                        $(Member::$name => once(&mut $member, stringify!($member), &mut map)?,)+
                        Member::Other(name) => {
                            details.insert(name, map.next_value()?);
                        }
                    }
                }
                Ok(Event {
                    kind: kind.ok_or_else(|| A::Error::missing_field("type"))?,
                    timestamp: timestamp.ok_or_else(|| A::Error::missing_field("timestamp"))?,
                    $($member: $member.unwrap_or_default(),)+
                    details,
                })
            }
        }

        impl Event {
            pub fn new(kind: EventType, timestamp: Timestamp) -> Event {
                Event { kind, timestamp, $($member: Default::default(),)+ details: Map::new() }
            }
        }
    };
}

event! {
    /// Present on every event that changes a field; counts them from 1.
    revision Revision: Option<u64>, not "Option::is_none";
    by By: Option<String>, not "Option::is_none";
    /// Ties a status change to what is journalled of its hooks.
    transition Transition: Option<String>, not "Option::is_none";
    from From: Option<String>, not "Option::is_none";
    to To: Option<String>, not "Option::is_none";
    hook Hook: Option<String>, not "Option::is_none";
    reason Reason: Option<String>, not "Option::is_none";
    /// The hooks that have to be carried out after a status change, in order.
    hooks Hooks: Vec<String>, not "Vec::is_empty";
    archive Archive: Vec<ArchiveSection>, not "Vec::is_empty";
    append Append: Vec<AppendSection>, not "Vec::is_empty";
    /// The new value of every field this event changes.
    fields Fields: FieldMap, not "Map::is_empty";
    /// A keyed digest of the event, made by the Orange that journalled it. See [`crate::evidence::is_sealed`].
    seal Seal: Option<String>, not "Option::is_none";
}

/// By hand: a derived reader of a flattened struct copies every line once more, and all journals are read when
/// the index is lost.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let event = deserializer.deserialize_map(EventVisitor)?;
        if let Some(number) = event.revision.filter(|number| *number > HIGHEST_REVISION) {
            let problem = format_args!("revision {number} cannot be counted to");
            return Err(D::Error::custom(problem));
        }
        Ok(event)
    }
}

struct EventVisitor;

/// A line that says one thing twice is not one of ours.
fn once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}

impl Event {
    pub fn by(mut self, who: &str) -> Event {
        self.by = Some(who.to_owned());
        self
    }

    pub fn because(mut self, reason: impl Into<String>) -> Event {
        self.reason = Some(reason.into());
        self
    }

    pub fn moved(mut self, from: Status, to: Status) -> Event {
        self.from = Some(from.to_string());
        self.to = Some(to.to_string());
        self
    }

    pub fn set(&mut self, field: Field, value: impl Into<Value>) {
        self.fields.insert(field.name().into(), value.into());
    }

    /// The status that the task has after it, where it says so.
    pub fn new_status(&self) -> Option<Status> {
        let field = || self.fields.get(Field::Status.name())?.as_str();
        self.to.as_deref().or_else(field)?.parse().ok()
    }

    /// What the event is about, besides the task.
    pub fn run_or_hook(&self) -> &str {
        self.run().or(self.hook.as_deref()).unwrap_or_default()
    }

    pub fn to_line(&self) -> String {
        // Serialising strings, numbers and maps with string keys cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Carries every field, so that nothing before it is needed to know the task.
    pub fn is_whole(&self) -> bool {
        matches!(
            self.kind,
            EventType::TaskCreated | EventType::TaskAdopted | EventType::JournalRecovered
        ) && self.revision.is_some()
            && !self.fields.is_empty()
    }
}

/// A line that is no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    pub line: usize,
    pub reason: String,
}

/// A journal as read: its events, and what could not be used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    pub events: Vec<Event>,
    pub bad_lines: Vec<BadLine>,
}

impl History {
    /// Reads complete lines. Damage in the middle is reported and stepped over, never fatal.
    pub fn parse(text: &[u8]) -> History {
        let mut history = History::default();
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(event) => history.events.push(event),
                Err(error) => history.bad_lines.push(BadLine {
                    line: index + 1,
                    reason: error.to_string(),
                }),
            }
        }
        history
    }

    /// The part of the journal that counts: from the last event that carries every field. What an older
    /// program wrote before an adoption, or what is left of a damaged journal, does not.
    pub fn own(&self) -> &[Event] {
        match self.events.iter().rposition(Event::is_whole) {
            Some(start) => self.events.get(start..).unwrap_or_default(),
            None => &[],
        }
    }

    /// The last status change, or the event with every field that came after it, and what follows.
    pub(crate) fn since_move(&self) -> Option<(&Event, &[Event])> {
        let moved = |event: &Event| event.is_move() || event.is_whole();
        let at = self.events.iter().rposition(moved)?;
        self.events.get(at..)?.split_first()
    }

    /// Where the folder of the task belongs, as the journal has it.
    pub fn is_deleted(&self) -> bool {
        let moves =
            |kind: &&EventType| matches!(kind, EventType::TaskDeleted | EventType::TaskRestored);
        let mut newest_first = self.events.iter().rev().map(|event| &event.kind);
        newest_first.find(moves) == Some(&EventType::TaskDeleted)
    }

    /// The last status change and how far its hooks got.
    pub fn last_transition(&self) -> Option<TransitionState<'_>> {
        // Not only what counts for the fields: a journal that lost its end may have lost outcomes of hooks.
        let events = &self.events;
        let start = events
            .iter()
            .rposition(|event| event.transition.is_some() && !event.hooks.is_empty())?;
        let (opening, later) = events.get(start..)?.split_first()?;
        let id = opening.transition.as_deref()?;
        let of_this = |event: &&Event| event.transition.as_deref() == Some(id);
        let mut hooks: Vec<HookState> = opening
            .hooks
            .iter()
            .map(|name| HookState {
                name: name.clone(),
                outcome: HookOutcome::Open,
            })
            .collect();
        for event in later.iter().filter(of_this) {
            let reason = || event.reason.clone().unwrap_or_default();
            let outcome = if event.kind == EventType::HookCompleted {
                HookOutcome::Completed
            } else if event.kind == EventType::HookFailed {
                let obstacle = HookEnded::of(event).and_then(|ended| ended.obstacle);
                HookOutcome::Failed(HookFailure {
                    why: reason(),
                    obstacle,
                })
            } else if event.kind == EventType::HookSkipped {
                HookOutcome::Skipped(reason())
            } else {
                continue;
            };
            if let Some(state) = hooks
                .iter_mut()
                .find(|state| Some(&state.name) == event.hook.as_ref())
            {
                state.outcome = outcome;
            }
        }
        let finished = later
            .iter()
            .filter(of_this)
            .any(|event| event.kind == EventType::TransitionFinished);
        Some(TransitionState {
            opening,
            hooks,
            finished,
            superseded: later.iter().any(Event::is_whole),
        })
    }
}

/// Why a hook failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFailure {
    pub why: String,
    pub obstacle: Option<Obstacle>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookOutcome {
    Open,
    Completed,
    Failed(HookFailure),
    Skipped(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookState {
    pub name: String,
    pub outcome: HookOutcome,
}

/// A status change that asked for hooks, and what became of them.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionState<'a> {
    pub opening: &'a Event,
    pub hooks: Vec<HookState>,
    pub finished: bool,
    /// The journal lost its end after it: nobody knows how far the task has come since.
    pub superseded: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_programs_keys_are_read() {
        let text = br#"{"type":"task.created","at":"2024-01-15T10:00:00Z","by":"orchestrator"}
{"type":"agent.spawned","at":"2024-01-15T10:00:05Z","workspace":"orange--1","session":"orange/dark-mode"}
{"type":"message","at":"2024-01-15T10:01:00Z","role":"agent","content":"Reading"}
"#;
        let history = History::parse(text);
        assert_eq!(history.events.len(), 3);
        assert!(history.bad_lines.is_empty());
        assert_eq!(history.events[1].kind, EventType::AgentSpawned);
        assert_eq!(history.events[2].kind, EventType::Message);
        let start = payload::AgentSpawned::of(&history.events[1]).unwrap();
        assert_eq!(start.in_session(), Some("orange/dark-mode"));
        let said = payload::MessageNote::of(&history.events[2]).unwrap();
        assert_eq!((said.words(), said.role), (Some("Reading"), None));
        // Not ours: no revision, no fields. The task is to be adopted.
        assert!(history.own().is_empty());
    }

    #[test]
    fn a_line_keeps_what_it_does_not_understand() {
        let line = r#"{"type":"future.thing","timestamp":"2026-01-01T00:00:00Z","revision":3,"fields":{"mood":"good"},"extra":[1,2]}"#;
        let history = History::parse(line.as_bytes());
        assert_eq!(history.events[0].to_line(), line);
    }

    #[test]
    fn the_sealed_bytes_are_the_same_after_the_line_was_read_again() {
        let line = r#"{"type":"task.verified","timestamp":"1970-01-01T00:00:00Z","by":"engine","result":{"seconds":0.1,"b":[{"z":1,"a":null}],"a":-0.0},"head":"a1"}"#;
        let mut event = History::parse(line.as_bytes()).events.remove(0);
        let bytes = event.unsealed_bytes();
        event.seal = Some("00".into());
        assert_eq!(event.unsealed_bytes(), bytes);
        let read = History::parse(event.to_line().as_bytes());
        assert_eq!(read.events[0].seal.as_deref(), Some("00"));
        assert_eq!(read.events[0].unsealed_bytes(), bytes);
        // The order of members in the line says nothing.
        let other = r#"{"head":"a1","result":{"a":-0.0,"b":[{"a":null,"z":1}],"seconds":0.1},"by":"engine","timestamp":"1970-01-01T00:00:00Z","type":"task.verified"}"#;
        let other = History::parse(other.as_bytes());
        assert_eq!(other.events[0].unsealed_bytes(), bytes);
    }

    #[test]
    fn damage_in_the_middle_is_stepped_over() {
        let history = History::parse(b"{\"type\":\"a\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n{oops\n\n{\"type\":\"b\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n");
        assert_eq!(history.events.len(), 2);
        assert_eq!(history.bad_lines[0].line, 2);
    }

    #[test]
    fn a_revision_that_leaves_no_room_to_count_on_is_damage() {
        let line = |revision: u64| {
            format!(r#"{{"type":"a","timestamp":"2026-01-01T00:00:00Z","revision":{revision}}}"#)
        };
        let history = History::parse(line(u64::MAX).as_bytes());
        let reason = &history.bad_lines[0].reason;
        assert!(
            reason.starts_with("revision 18446744073709551615"),
            "{reason}"
        );
        let history = History::parse(line(HIGHEST_REVISION).as_bytes());
        assert_eq!(history.events[0].revision, Some(HIGHEST_REVISION));
    }

    #[test]
    fn a_line_that_says_one_thing_twice_is_damaged() {
        let line = |rest: &str| {
            format!("{{\"type\":\"a\",\"timestamp\":\"2026-01-01T00:00:00Z\",{rest}}}")
        };
        for twice in [
            "\"by\":\"x\",\"by\":\"y\"",
            "\"at\":\"2026-01-02T00:00:00Z\"",
        ] {
            let history = History::parse(line(twice).as_bytes());
            assert_eq!(history.bad_lines.len(), 1, "{twice}");
        }
        assert_eq!(
            History::parse(line("\"x\":1").as_bytes()).bad_lines.len(),
            0
        );
    }
}
