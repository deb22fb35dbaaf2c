//! One event in words, without who did it: `moved planning → working`, `started: claude`.

use super::{cut, fields, hooks, plain, text};
use crate::Timestamp;
use crate::history::{Event, EventType};
use crate::naming::counted;
use crate::reconcile::begins_anew;
use crate::task::{FieldMap, Status};
use serde_json::Value;

/// How much of a message a line shows, and how much of a reason: there the end often matters.
const MESSAGE: usize = 100;
const REASON: usize = 300;
const VALUE: usize = 60;
/// More fields than these are counted instead of told.
const FIELDS: usize = 4;

pub fn words(event: &Event, local_time: fn(Timestamp) -> String) -> String {
    with_time(event, None, local_time)
}

/// `claude`, or with what was asked of it `claude (model opus, effort high)`.
fn agent(event: &Event) -> String {
    let harness = text(event, "harness").unwrap_or("?");
    let asked = ["model", "effort"]
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", plain(text(event, name)?))));
    match asked.collect::<Vec<_>>().as_slice() {
        [] => harness.to_owned(),
        asked => format!("{harness} ({})", asked.join(", ")),
    }
}

/// The same with how long a run was, where the event ends one.
pub(super) fn with_time(
    event: &Event,
    lasted: Option<&str>,
    local_time: fn(Timestamp) -> String,
) -> String {
    let reason = event.reason.as_deref().map(|text| cut(text, REASON));
    let reason = reason.filter(|reason| !reason.is_empty());
    let because = |what: &str| match &reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    let ended = |how: &str| match lasted {
        Some(lasted) => because(&format!("{how} {lasted}")),
        None => because(how),
    };
    let hook = event.hook.as_deref().unwrap_or("a hook");
    let known = |name: &str| text(event, name).unwrap_or("?");
    match &event.kind {
        EventType::TaskCreated => "created the task".into(),
        EventType::TaskAdopted => "took the task over as it was found".into(),
        EventType::TaskUpdated => because(&updated(event)),
        EventType::TaskDeleted => "deleted the task".into(),
        EventType::TaskRestored => "brought the task back from the trash".into(),
        EventType::StatusChanged => moved(event, reason.as_deref()),
        EventType::StatusDeferred => because("wants to move on"),
        EventType::HookCompleted => match (&reason, text(event, "slot")) {
            (None, Some(slot)) => format!("{}: {slot}", hooks::done(hook)),
            (_, _) => because(&hooks::done(hook)),
        },
        EventType::HookFailed => because(&hooks::failed(hook)),
        EventType::HookSkipped => because(&format!("did not {}", hooks::aim(hook))),
        EventType::TransitionFinished => "finished what goes with the move".into(),
        EventType::FieldsRestored => because(&put_back(event)),
        EventType::JournalRecovered => because(match begins_anew(event) {
            true => "took TASK.md for right",
            false => "took TASK.md for right, the journal lost events",
        }),
        EventType::FrontmatterRebuilt => because("rebuilt the frontmatter of TASK.md"),
        EventType::ContextChanged => match event.details.get("gone") {
            Some(Value::Bool(true)) => because("lost the Context"),
            _ => because("changed the Context"),
        },
        EventType::AgentSpawned => match event.details.get("resumed") {
            Some(Value::Bool(true)) => format!("resumed: {}", agent(event)),
            _ => format!("started: {}", agent(event)),
        },
        EventType::AgentExited => ended("ended"),
        EventType::AgentCrashed => ended("crashed"),
        EventType::AgentStopped => ended("stopped"),
        EventType::AgentNudged => because("nudged"),
        EventType::AgentState => state(event, reason.as_deref(), local_time),
        EventType::AgentAnswered => because(&format!("answered the {}", known("role"))),
        EventType::MessageSent => format!(
            "told the {}: {}",
            text(event, "role").unwrap_or("agent"),
            quoted(text(event, "text").unwrap_or_default())
        ),
        EventType::MessageDelivered => because("message delivered"),
        EventType::MessageFailed => because("message not delivered"),
        EventType::AttentionRaised => because("needs attention"),
        EventType::AttentionCleared => because("needs no attention any more"),
        EventType::MergeStarted => format!(
            "began to merge into {} ({})",
            known("target"),
            known("strategy")
        ),
        EventType::MergeStopped => because("merge stopped"),
        EventType::TaskMerged => merged(event),
        EventType::VerifyStarted => match text(event, "command") {
            None | Some("") => "check started".into(),
            Some(command) => format!("check started: {}", cut(command, VALUE)),
        },
        EventType::TaskVerified => because("check"),
        EventType::Other(word) => other(word, event, reason.as_deref()),
    }
}

/// `moved agent-review → working, review failed`; what a person asked for goes with it.
fn moved(event: &Event, reason: Option<&str>) -> String {
    let mut words = match (&event.from, &event.to) {
        (Some(from), Some(to)) => format!("moved {from} → {to}"),
        (None, Some(to)) => format!("moved to {to}"),
        (_, None) => "moved".to_owned(),
    };
    match text(event, "verdict") {
        Some("pass") => words.push_str(", review passed"),
        Some("fail") => words.push_str(", review failed"),
        Some(_) | None => {}
    }
    let to: Option<Status> = event.to.as_deref().and_then(|word| word.parse().ok());
    if to.is_some_and(Status::is_in_review)
        && let Some(commit) = text(event, "head")
    {
        words.push_str(&format!(", handed off at {}", short(commit)));
    }
    if let Some(reason) = reason {
        words.push_str(&format!(" ({reason})"));
    }
    for section in &event.append {
        words.push_str(&format!(": {}", quoted(&section.text)));
    }
    words
}

fn updated(event: &Event) -> String {
    let by_hand = text(event, "source") == Some("file");
    match (by_hand, event.fields.is_empty()) {
        (_, true) => "changed nothing".into(),
        (true, false) => format!("was edited: {}", changed(&event.fields)),
        (false, false) => changed(&event.fields),
    }
}

fn changed(values: &FieldMap) -> String {
    if values.len() > FIELDS {
        return format!("changed {}", counted(values.len(), "field"));
    }
    let told = values
        .iter()
        .map(|(name, value)| fields::change(name, value));
    told.collect::<Vec<_>>().join(", ")
}

fn put_back(event: &Event) -> String {
    let Some(Value::Object(found)) = event.details.get("found") else {
        return "put back what was edited by hand".into();
    };
    let told = |(name, was): (&String, &Value)| {
        let shown = |value: &Value| match fields::said(value) {
            nothing if nothing.is_empty() => "nothing".to_owned(),
            said => said,
        };
        let (noun, was) = (fields::noun(name), shown(was));
        match event.fields.get(name) {
            Some(right) => format!("{noun} ({was} → {})", shown(right)),
            None => format!("{noun} ({was})"),
        }
    };
    let told: Vec<String> = found.iter().map(told).collect();
    format!("put back what was edited by hand: {}", told.join(", "))
}

fn state(event: &Event, reason: Option<&str>, local_time: fn(Timestamp) -> String) -> String {
    let time = |name: &str| {
        let time = text(event, name)?.parse().ok()?;
        Some(local_time(time))
    };
    let state = text(event, "state").unwrap_or("is in an unknown state");
    let what = match (state, time("until"), time("again")) {
        ("waiting", Some(until), _) => return format!("waiting until {until} (usage limit)"),
        ("failed", _, Some(again)) => format!("failed, goes on at {again}"),
        ("working", ..) => return "goes on".into(),
        ("finished" | "idle", ..) => "ended its turn".into(),
        (state, ..) => plain(state),
    };
    match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what,
    }
}

fn merged(event: &Event) -> String {
    let commit = text(event, "commit").unwrap_or_default();
    let target = text(event, "target").unwrap_or("the target");
    let strategy = text(event, "strategy").unwrap_or_default();
    let commits = event.details.get("commits").and_then(Value::as_u64);
    let commits = commits.and_then(|number| usize::try_from(number).ok());
    let mut words = format!("merged into {target} as {}", short(commit));
    let of = commits.map_or_else(String::new, |number| counted(number, "commit"));
    let how = [of.as_str(), strategy].join(", ");
    let how = how.trim_matches([',', ' ']);
    if !how.is_empty() {
        words.push_str(&format!(" ({how})"));
    }
    if event.details.get("pushed") == Some(&Value::Bool(true)) {
        words.push_str(", pushed");
    }
    words
}

/// What this version has no words for is told by its type, with what it says.
fn other(word: &str, event: &Event, reason: Option<&str>) -> String {
    if word == "rescue.restored" {
        let place = text(event, "branch").or(text(event, "workspace"));
        let rescue = text(event, "rescue").unwrap_or("?");
        return match place {
            Some(place) => format!("restored the rescue {rescue} to {place}"),
            None => format!("restored the rescue {rescue}"),
        };
    }
    let mut words = cut(&plain(word), VALUE);
    if let (Some(from), Some(to)) = (&event.from, &event.to) {
        words.push_str(&format!(" {from} → {to}"));
    }
    let texts = ["message", "text", "summary", "content"];
    let said = texts.iter().find_map(|name| text(event, name));
    if let Some(said) = said {
        words.push_str(&format!(": {}", quoted(said)));
    }
    if let Some(reason) = reason {
        words.push_str(&format!(" ({reason})"));
    }
    words
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text, MESSAGE))
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
