//! Runs as the journal knows them: which agent processes a task has had, and how each ended.

use crate::history::payload::{AgentEnded, AgentSpawned};
use crate::history::{Event, EventType, History};
use crate::usage::Usage;
use crate::workflow::Role;
use crate::{Timestamp, choice};
use serde::Serialize;

/// One agent process.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub id: String,
    pub role: Role,
    pub harness: String,
    /// What was asked for, where it was.
    pub model: Option<String>,
    pub started: Timestamp,
    pub end: Option<RunEnd>,
    /// What the harness calls the conversation, by which it can be resumed.
    pub conversation: Option<String>,
    /// Where the harness keeps it.
    pub transcript: Option<String>,
    /// The slot it ran in: most harnesses resume a conversation only in the same folder.
    pub workspace: Option<String>,
    /// What the conversation had used when the run ended.
    pub usage: Option<Usage>,
    /// The marks of the Review section when a reviewer started and when it ended ([`crate::review`]).
    pub review_before: Option<String>,
    pub review: Option<String>,
    /// Its `run-agent` seals how it ended.
    pub seals_end: bool,
}

choice! {
    /// What an agent is doing, by its own account.
    pub enum State ("state of an agent") {
        Starting = "starting",
        Working = "working",
        AsksPermission = "asks permission",
        WaitsForInput = "waits for input",
        /// Its turn is over, and something is owed.
        Idle = "idle",
        /// Its turn is over, and so is its part in the task for now.
        Finished = "finished",
        Failed = "failed",
        /// For the end of a usage limit.
        Waiting = "waiting",
        /// It does not say what it does.
        Running = "running",
    }
}

/// How a run ended, as it was journalled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunEnd {
    pub how: Ending,
    /// What there is to say of it.
    pub reason: String,
    pub at: Timestamp,
}

choice! {
    /// How an agent process ended.
    pub enum Ending ("ending of a run") {
        /// By itself, and nothing was missing.
        Exited = "ended",
        /// By itself, without what its status asks for.
        Crashed = "crashed",
        /// Orange ended it.
        Stopped = "stopped",
    }
}

impl Ending {
    /// None for an event that ends no run.
    pub fn of(kind: &EventType) -> Option<Ending> {
        match kind {
            EventType::AgentExited => Some(Ending::Exited),
            EventType::AgentCrashed => Some(Ending::Crashed),
            EventType::AgentStopped => Some(Ending::Stopped),
            _ => None,
        }
    }
}

/// All runs of a task, in the order in which they started.
pub fn runs(history: &History) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    for event in &history.events {
        if let Some(start) = AgentSpawned::of(event) {
            if found.iter().all(|run| Some(run.id.as_str()) != start.run) {
                found.extend(spawned(&start, event.timestamp));
            }
        } else if let Some(how) = Ending::of(&event.kind)
            && let Some(end) = AgentEnded::of(event)
            && let Some(run) = found
                .iter_mut()
                .find(|run| Some(run.id.as_str()) == end.run && run.end.is_none())
        {
            run.end = Some(RunEnd {
                how,
                at: event.timestamp,
                reason: event.reason.clone().unwrap_or_default(),
            });
            // A person may have begun another conversation in the window.
            let known = end.conversation.map(str::to_owned);
            run.conversation = known.or_else(|| run.conversation.take());
            run.transcript = end.transcript.map(str::to_owned);
            run.usage = end.usage;
            run.review = end.review.map(str::to_owned);
        }
    }
    found
}

/// The runs whose end is not journalled.
pub fn open_runs(history: &History) -> Vec<Run> {
    let mut all = runs(history);
    all.retain(|run| run.end.is_none());
    all
}

/// The newest run of a role.
pub fn last_run(history: &History, role: Role) -> Option<Run> {
    runs(history).into_iter().rev().find(|run| run.role == role)
}

/// How many runs a role has had since the task entered its status; since the beginning for a worker, whose
/// run lasts through all of them.
pub fn attempts(history: &History, role: Role) -> u32 {
    let counts = |event: &&Event| role != Role::Reviewer || !event.is_move();
    let newest_first = history.events.iter().rev().take_while(counts);
    let spawned =
        |event: &&Event| event.kind == EventType::AgentSpawned && event.role() == Some(role);
    let count = newest_first.filter(spawned).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The name of the run that follows all runs of a role so far, where no transition gives it one. Two processes
/// that begin it, one after the other's death, mean the same run.
pub fn next_run_id(history: &History, task_id: &str, role: Role) -> String {
    let count = runs(history).iter().filter(|run| run.role == role).count();
    format!("{task_id}-{}{}", letter(role), count + 1)
}

/// What a role is called in the name of a run.
pub fn letter(role: Role) -> &'static str {
    match role {
        Role::Worker => "w",
        Role::Reviewer => "r",
        Role::Executor => "e",
    }
}

fn spawned(start: &AgentSpawned<'_>, at: Timestamp) -> Option<Run> {
    Some(Run {
        id: start.run?.to_owned(),
        role: start.role?,
        harness: start.harness.unwrap_or_default().to_owned(),
        model: start.model.map(str::to_owned),
        started: at,
        end: None,
        conversation: start.conversation.map(str::to_owned),
        transcript: None,
        workspace: start.workspace.map(str::to_owned),
        usage: None,
        review_before: start.review_before.map(str::to_owned),
        review: None,
        seals_end: start.seals_end == Some(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(lines: &[&str]) -> History {
        let text: String = lines
            .iter()
            .enumerate()
            .map(|(second, rest)| {
                format!("{{\"timestamp\":\"2026-01-01T00:00:{second:02}Z\",{rest}}}\n")
            })
            .collect();
        let history = History::parse(text.as_bytes());
        assert_eq!(history.bad_lines, []);
        history
    }

    #[test]
    fn a_run_ends_once_and_a_spawn_counts_once() {
        let history = history(&[
            r#""type":"agent.spawned","run":"a","role":"worker","harness":"sim""#,
            r#""type":"agent.spawned","run":"a","role":"worker","harness":"sim""#,
            r#""type":"agent.crashed","run":"a","reason":"exit code 1""#,
            r#""type":"agent.exited","run":"a","reason":"later""#,
            r#""type":"agent.spawned","run":"b","role":"worker","harness":"sim""#,
        ]);
        let all = runs(&history);
        assert_eq!(all.len(), 2);
        let end = all[0]
            .end
            .as_ref()
            .map(|end| (end.how, end.reason.as_str()));
        assert_eq!(end, Some((Ending::Crashed, "exit code 1")));
        let open: Vec<String> = open_runs(&history).into_iter().map(|run| run.id).collect();
        assert_eq!(open, ["b"]);
        assert_eq!(
            last_run(&history, Role::Worker).map(|run| run.id),
            Some("b".into())
        );
        assert_eq!(last_run(&history, Role::Reviewer), None);
    }

    #[test]
    fn events_of_the_older_program_are_no_runs() {
        let history = history(&[r#""type":"agent.spawned","session":"shop/x""#]);
        assert_eq!(runs(&history), []);
    }

    #[test]
    fn a_reviewer_is_counted_anew_after_every_status_change() {
        let history = history(&[
            r#""type":"agent.spawned","run":"a","role":"reviewer""#,
            r#""type":"status.changed","from":"working","to":"agent-review""#,
            r#""type":"agent.spawned","run":"b","role":"reviewer""#,
            r#""type":"agent.spawned","run":"c","role":"worker""#,
        ]);
        assert_eq!(attempts(&history, Role::Reviewer), 1);
        assert_eq!(attempts(&history, Role::Worker), 1);
    }
}
