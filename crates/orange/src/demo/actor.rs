//! One task as the demo sees it: its journal read as it grows, each event in a few words.

use super::demo_task::DemoTask;
use crate::commands::watch;
use orange_core::artifact;
use orange_core::gate::Gate;
use orange_core::history::payload::TaskMerged;
use orange_core::history::{Event, EventType, History};
use orange_core::task::{Status, Task};
use orange_core::timeline::{self, EventWeight};
use orange_core::workflow::{Intent, Role, Workflow};
use orange_engine::git;
use std::path::PathBuf;

pub(super) struct DemoActor {
    pub(super) demo_task: &'static DemoTask,
    pub(super) key: String,
    pub(super) branch: String,
    folder: PathBuf,
    /// How much of the journal was read.
    read: usize,
    pub(super) status: Status,
    /// Whether the hooks of its last transition are done.
    pub(super) settled: bool,
    /// What happens right now.
    pub(super) now: String,
    pub(super) workers: usize,
    pub(super) reviewers: usize,
    pub(super) questions: usize,
    pub(super) crashes: usize,
    /// What it came to on main.
    pub(super) merged: Option<DemoMerge>,
}

/// A merge as the journal tells of it.
pub(super) struct DemoMerge {
    pub(super) commit: String,
    /// How many commits of the branch are in it.
    pub(super) commits: usize,
}

/// What an event asks the user to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserAction {
    Answer,
    Respawn,
    Merge,
}

pub(super) struct DemoNews {
    /// None for what only machines need to know.
    pub(super) text: Option<String>,
    pub(super) action: Option<UserAction>,
}

impl DemoActor {
    pub(super) fn new(
        demo_task: &'static DemoTask,
        key: &str,
        branch: &str,
        folder: PathBuf,
    ) -> DemoActor {
        DemoActor {
            demo_task,
            key: key.to_owned(),
            branch: branch.to_owned(),
            folder,
            read: 0,
            status: Status::default(),
            settled: false,
            now: "created".into(),
            workers: 0,
            reviewers: 0,
            questions: 0,
            crashes: 0,
            merged: None,
        }
    }

    pub(super) fn look(&mut self) -> Vec<DemoNews> {
        let bytes = std::fs::read(self.folder.join("history.jsonl")).unwrap_or_default();
        // A line that is being written is read the next time.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        let new = bytes.get(self.read..whole).unwrap_or_default();
        self.read = whole;
        let events = History::parse(new).events;
        events.iter().map(|event| self.take(event)).collect()
    }

    fn take(&mut self, event: &Event) -> DemoNews {
        let mut action = None;
        let waited = self.waits();
        match event.kind {
            EventType::StatusChanged | EventType::AutoAdvanced => {
                let to = event.to.as_deref().and_then(|word| word.parse().ok());
                self.status = to.unwrap_or(self.status);
                self.settled = event.hooks.is_empty();
                if self.offers(Intent::Answer) {
                    self.questions += 1;
                    action = Some(UserAction::Answer);
                }
            }
            EventType::TransitionFinished => self.settled = true,
            EventType::AgentSpawned if event.role() == Some(Role::Reviewer) => self.reviewers += 1,
            EventType::AgentSpawned => self.workers += 1,
            EventType::AgentCrashed => {
                self.crashes += 1;
                action = Some(UserAction::Respawn);
            }
            EventType::TaskMerged => self.merged = merge(event),
            _ => {}
        }
        if self.waits() && !waited {
            action = Some(UserAction::Merge);
        }
        let text = self.describe(event);
        if let Some(text) = &text {
            self.now.clone_from(text);
        }
        DemoNews { text, action }
    }

    /// Whether it waits for the user's decision, with nothing on its way any more.
    fn waits(&self) -> bool {
        self.offers(Intent::Merge) && self.settled
    }

    fn offers(&self, intent: Intent) -> bool {
        let task = Task {
            status: self.status,
            workflow: self.demo_task.workflow(),
            ..Task::default()
        };
        task.offers(intent)
    }

    /// Whether its work is in and everything it had is given back.
    pub(super) fn over(&self) -> bool {
        self.status.is_over() && self.settled
    }

    /// None for what only machines need to know.
    fn describe(&self, event: &Event) -> Option<String> {
        let role = event.role().map_or("agent", Role::as_str);
        match event.kind {
            EventType::StatusChanged | EventType::AutoAdvanced => self.moved(event),
            EventType::AgentSpawned => Some(match role {
                "executor" => "executor started in tmux, in a worktree of its own".into(),
                "reviewer" => format!("reviewer started, round {}", self.reviewers),
                _ if self.workers > 1 => "worker started again, in the same worktree".into(),
                _ => "worker started in tmux, in a worktree of its own".into(),
            }),
            EventType::AgentCrashed => {
                let reason = event.reason.as_deref().unwrap_or_default();
                let how = reason.split(';').next().unwrap_or_default();
                let how = how.trim_start_matches("ended by ");
                Some(format!("{role} crashed ({how}); its work is still there"))
            }
            EventType::Message => (event.by.as_deref() == Some("engine"))
                .then(|| "worker is told what the review says".into()),
            EventType::AgentExited | EventType::AgentNudged | EventType::IterationEnded => {
                watch::told(event)
            }
            // The rest goes without saying, unless something is wrong.
            _ if timeline::weight(event) == EventWeight::Trouble => watch::told(event),
            _ => None,
        }
    }

    fn moved(&self, event: &Event) -> Option<String> {
        let said = |section: &str, field: &str| self.said(section, field).unwrap_or_default();
        let (from, to): (Status, Status) = (
            event.from.as_deref()?.parse().ok()?,
            event.to.as_deref()?.parse().ok()?,
        );
        let mut rows = Workflow::in_use().flat_map(|table| table.rows_from(from, None));
        let row = rows.find(|row| row.to == to)?;
        Some(match (row.intent, row.gate) {
            _ if self.offers(Intent::Answer) => format!("worker asks: {}", said("Questions", "")),
            (Some(Intent::Start), _) => return None,
            _ if !to.has_started() => return None,
            (_, Some(Gate::Plan)) => format!("plan: {}", said("Plan", "APPROACH:")),
            (_, Some(Gate::Handoff)) => format!("handoff: {}", said("Handoff", "DONE:")),
            (_, Some(Gate::ReviewFail)) => {
                format!("reviewer: FAIL, {}", said("Review", "Verdict: FAIL"))
            }
            (_, Some(Gate::ReviewPass)) => {
                format!("reviewer: PASS, {}", said("Review", "Verdict: PASS"))
            }
            _ if to.is_over() => match &self.merged {
                Some(merge) => format!("merged: on main as {}", git::short(&merge.commit)),
                None => format!("{to}, without a merge"),
            },
            _ => format!("{from} → {to}"),
        })
    }

    /// What an artifact says: after a field on its line, or else on the first line below.
    fn said(&self, section: &str, field: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.folder.join("TASK.md")).ok()?;
        let body = text.split_once("\n---\n").map_or("", |(_, body)| body);
        let found = artifact::section(body, section)?;
        let mut lines = body.get(found.content)?.lines().map(str::trim);
        let below = lines.by_ref().find_map(|line| line.strip_prefix(field));
        let below = below.filter(|line| !line.trim().is_empty());
        let line = below.or_else(|| lines.find(|line| !line.is_empty()))?;
        Some(line.trim().to_owned())
    }
}

fn merge(event: &Event) -> Option<DemoMerge> {
    let merge = TaskMerged::of(event)?;
    Some(DemoMerge {
        commit: merge.commit?.to_owned(),
        commits: merge.commits?,
    })
}
