//! What agents may do without asking again: the rules in orange.db, and what a task's journal says of them. A person's answer
//! makes one (`verbs/answer.rs`); Orange alone looks them up, and nothing of them reaches an agent's own settings.

use crate::call::Call;
use crate::database::StoredRule;
use crate::error::Result;
use orange_core::allow_rule::{PermissionRequest, Scope};
use orange_core::history::payload::PermissionNote;
use orange_core::history::{Event, History, Payload};
use orange_core::task::Task;

/// Which rules count for a task: its own, and those of its project. None for a task that is over, or where orange.db cannot be
/// read: then everything is asked.
pub fn rules_for(call: &Call, task: &Task) -> Vec<StoredRule> {
    if task.status.is_terminal() {
        return Vec::new();
    }
    let found = call.with_existing_database(|database| {
        database.rules_for(&task.project, Some(task.id.as_str()))
    });
    read_or_none(found)
}

/// The rule that allows a request, if there is one.
pub(crate) fn allowing(
    call: &Call,
    task: &Task,
    harness: &str,
    tool: &str,
    request: &PermissionRequest,
) -> Option<StoredRule> {
    let mut rules = rules_for(call, task).into_iter();
    rules.find(|stored| stored.rule.allows(harness, tool, request))
}

/// What a process that died has not journalled of a task's rules.
pub(crate) fn unjournalled(call: &Call, task: &str) -> Vec<StoredRule> {
    read_or_none(call.with_existing_database(|database| database.unjournalled_rules(task)))
}

fn read_or_none(found: Result<Option<Vec<StoredRule>>>) -> Vec<StoredRule> {
    match found {
        Ok(found) => found.unwrap_or_default(),
        Err(error) => {
            tracing::warn!(%error, "rules for agents cannot be read, so none counts");
            Vec::new()
        }
    }
}

/// The event that tells of a rule: that it was added, or removed.
pub(crate) fn event(stored: &StoredRule) -> Event {
    let rule = &stored.rule;
    let note = PermissionNote {
        rule: Some(stored.number),
        scope: Some(scope(stored)),
        harness: Some(&rule.harness),
        tool: Some(&rule.tool),
        kind: Some(rule.kind),
        pattern: Some(&rule.pattern),
        folder: Some(rule.folder.as_str()).filter(|folder| !folder.is_empty()),
    };
    let event = match stored.removed_at {
        None => Event::of(Payload::PermissionAdded(note), stored.added_at),
        Some(removed) => Event::of(Payload::PermissionRemoved(note), removed),
    };
    event.by("human").because(rule.words())
}

/// Whether a journal has that event. Numbers may come again where orange.db was put back, times do not.
pub(crate) fn is_journalled(history: &History, stored: &StoredRule) -> bool {
    let event = event(stored);
    let is_same = |known: &&Event| {
        let number = |event: &Event| PermissionNote::of(event).and_then(|note| note.rule);
        known.kind == event.kind
            && known.timestamp == event.timestamp
            && number(known) == Some(stored.number)
    };
    history.events.iter().any(|known| is_same(&known))
}

/// The journal has it: the mark goes, and with it the row of a rule that was removed.
pub(crate) fn note_journalled(call: &Call, stored: &StoredRule) -> Result<()> {
    call.with_database(|database| match stored.removed_at {
        None => database.note_rule_journalled(stored.number),
        Some(_) => database.delete_rule(stored.number).map(drop),
    })
}

pub(crate) fn scope(stored: &StoredRule) -> Scope {
    if stored.task.is_some() {
        Scope::Task
    } else {
        Scope::Project
    }
}
