//! A kind of event in a word or two, for a place where something was found: `message`, `agent's end`.

use super::plain;
use crate::history::EventType;

pub fn title(kind: &str) -> String {
    match EventType::from_word(kind) {
        EventType::TaskCreated => "creation",
        EventType::TaskAdopted => "adoption",
        EventType::TaskUpdated => "change",
        EventType::TaskDeleted => "deletion",
        EventType::TaskRestored => "return from the trash",
        EventType::StatusChanged => "status change",
        EventType::StatusDeferred => "status change to come",
        EventType::HookCompleted | EventType::HookFailed | EventType::HookSkipped => "hook",
        EventType::TransitionFinished => "end of a status change",
        EventType::FieldsRestored => "fields put back",
        EventType::JournalRecovered => "history made whole",
        EventType::FrontmatterRebuilt => "TASK.md rebuilt",
        EventType::ContextChanged => "changed context",
        EventType::AgentSpawned => "agent's start",
        EventType::AgentExited | EventType::AgentStopped => "agent's end",
        EventType::AgentCrashed => "crash",
        EventType::AgentNudged => "nudge",
        EventType::AgentState => "agent",
        EventType::AgentAnswered => "answer",
        EventType::MessageSent | EventType::MessageDelivered => "message",
        EventType::MessageFailed => "message not delivered",
        EventType::AttentionRaised => "needs attention",
        EventType::MergeStarted | EventType::TaskMerged => "merge",
        EventType::MergeStopped => "stopped merge",
        EventType::VerifyStarted | EventType::TaskVerified => "check",
        EventType::Other(word) => return plain(&word),
    }
    .to_owned()
}
