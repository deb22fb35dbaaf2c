//! Everything about one task: what `task show` tells.

use crate::allow_rules;
use crate::call::Call;
use crate::error::Result;
use crate::index::DiffStat;
use crate::sessions::permissions::{self, SaidBy};
use crate::sessions::{SessionState, adopted};
use crate::views::agents::{self, AgentView};
use crate::views::diff_stat;
use crate::views::evidence::{self, EvidenceView};
use crate::views::phased::{self, PhasedDetail};
use crate::views::task::TaskView;
use crate::views::test_results::{self, TestResultsView};
use crate::views::workspace_state::{self, WorkspaceState};
use orange_core::config::Permissions;
use orange_core::history::payload::MessageNote;
use orange_core::history::{Event, EventType, History};
use orange_core::timeline::{self, EventWeight};
use orange_core::usage::Usage;
use orange_core::{Text, Timestamp};
use serde::Serialize;
use std::num::NonZeroUsize;

/// A task, and its worktree if it has one.
#[derive(Debug, Serialize)]
pub struct TaskDetail {
    pub task: TaskFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_state: Option<WorkspaceState>,
}

#[derive(Debug, Serialize)]
pub struct TaskFacts {
    #[serde(flatten)]
    pub view: TaskView,
    #[serde(rename = "history", skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Event>>,
    pub session: SessionState,
    pub permission_mode: PermissionMode,
    /// How many rules say what its agents need not ask, those of its project too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_rules: Option<NonZeroUsize>,
    pub agents: Vec<AgentView>,
    pub usage: Option<Usage>,
    /// How far its plan is; none for a task that has no phases by its workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<PhasedDetail>,
    /// What its tests came to, where a report was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_results: Option<TestResultsView>,
    pub diff: Option<DiffAgainst>,
    pub evidence: EvidenceView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Vec<TimelineEntry>>,
    pub messages: Vec<OpenMessage>,
}

/// What the task's agents may do without asking, and who chose that.
#[derive(Debug, Serialize)]
pub struct PermissionMode {
    pub mode: Permissions,
    pub said_by: SaidBy,
    /// The harness of the worker, if neither it nor the reviewer has modes.
    #[serde(skip)]
    pub without_modes: Option<String>,
}

/// How much the task's branch changes.
#[derive(Debug, Serialize)]
pub struct DiffAgainst {
    #[serde(flatten)]
    pub stat: DiffStat,
    #[serde(skip)]
    pub target: String,
}

/// One line of the task's history.
#[derive(Debug, Serialize)]
pub struct TimelineEntry {
    pub at: Timestamp,
    #[serde(rename = "type")]
    pub kind: EventType,
    pub who: String,
    pub words: Text,
    #[serde(skip)]
    pub weight: EventWeight,
}

/// A message that is not known to have arrived.
#[derive(Debug, Serialize)]
pub struct OpenMessage {
    pub message: Option<String>,
    pub text: Option<String>,
    pub by: Option<String>,
    pub state: MessageState,
}

orange_core::choice! {
    /// What became of a message that has not arrived.
    pub enum MessageState ("state of a message") {
        Waiting = "waiting", NotDelivered = "not delivered",
    }
}

/// All that is known of a task. With its whole history if asked for; `measure` finds out what its worktree takes on
/// disk, which reads every folder in it.
pub fn detail(
    call: &Call,
    view: TaskView,
    with_history: bool,
    measure: bool,
) -> Result<TaskDetail> {
    let (task, history) = (&view.task, &view.history);
    let agents = agents::agents(call, task, history);
    let alive =
        agents.iter().any(|agent| agent.alive) || adopted::has_adopted_session(call, history);
    let (mode, said_by) = permissions::permissions(call, task)?;
    let diff = diff_stat::diff_stat(call, task, history);
    Ok(TaskDetail {
        workspace_state: workspace_state::workspace_state(call, task, measure),
        task: TaskFacts {
            session: SessionState::of(alive, Some(task.status), task.tmux_session.is_some()),
            permission_mode: PermissionMode {
                mode,
                said_by,
                without_modes: permissions::worker_without_modes(call, task)?,
            },
            permission_rules: NonZeroUsize::new(allow_rules::rules_for(call, task).len()),
            usage: agents::usage(call, task, history),
            execution: phased::phased(call, task)?,
            test_results: test_results::of_folder(call, task, &view.place.path)?,
            diff: diff.map(|(stat, target)| DiffAgainst { stat, target }),
            evidence: evidence::evidence_view(call, &view),
            events: with_history.then(|| history.events.clone()),
            timeline: with_history.then(|| timeline(history)),
            messages: open_messages(history),
            agents,
            view,
        },
    })
}

pub(crate) fn timeline(history: &History) -> Vec<TimelineEntry> {
    let entries = timeline::timeline(history).into_iter();
    entries
        .map(|entry| TimelineEntry {
            at: entry.event.timestamp,
            kind: entry.event.kind.clone(),
            who: entry.who.to_owned(),
            words: entry.words,
            weight: entry.weight,
        })
        .collect()
}

fn open_messages(history: &History) -> Vec<OpenMessage> {
    let fate = |sent: &Event| {
        let of_it = |event: &&Event| {
            matches!(
                event.kind,
                EventType::MessageDelivered | EventType::MessageFailed
            ) && event.message() == sent.message()
        };
        history
            .events
            .iter()
            .rev()
            .find(of_it)
            .map(|event| &event.kind)
    };
    let sent = |event: &&Event| event.kind.is_message();
    let open = history.events.iter().filter(sent).filter_map(|event| {
        let note = MessageNote::of(event).unwrap_or_default();
        Some(OpenMessage {
            message: note.message.map(str::to_owned),
            text: note.words().map(str::to_owned),
            by: event.by.clone(),
            state: match fate(event) {
                None => MessageState::Waiting,
                Some(EventType::MessageFailed) => MessageState::NotDelivered,
                Some(_) => return None,
            },
        })
    });
    open.collect()
}
