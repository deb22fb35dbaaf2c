//! One task as the demo sees it: its journal read as it grows, each event in a few words.

use super::demo_task::Plot;
use crate::commands::watch;
use orange_core::artifact;
use orange_core::gate::Gate;
use orange_core::history::payload::TaskMerged;
use orange_core::history::{Event, EventType, History};
use orange_core::task::{Status, Task, WorkflowName};
use orange_core::timeline::{self, Weight};
use orange_core::workflow::{Intent, Role, Workflow};
use std::path::PathBuf;

pub(super) struct Actor {
    pub(super) plot: &'static Plot,
    pub(super) key: String,
    pub(super) branch: String,
    folder: PathBuf,
    /// The size of the journal when it was read, and the events told of it.
    length: u64,
    told: usize,
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
    pub(super) merged: Option<Merge>,
}

/// A merge as the journal tells of it.
pub(super) struct Merge {
    pub(super) commit: String,
    /// How many commits of the branch are in it.
    pub(super) commits: usize,
}

/// What an event asks the user to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    Answer,
    Respawn,
    Merge,
}

/// Something that happened.
pub(super) struct News {
    /// None for what only machines need to know.
    pub(super) text: Option<String>,
    pub(super) cue: Option<Cue>,
}

impl Actor {
    pub(super) fn new(plot: &'static Plot, key: &str, branch: &str, folder: PathBuf) -> Actor {
        Actor {
            plot,
            key: key.to_owned(),
            branch: branch.to_owned(),
            folder,
            length: 0,
            told: 0,
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

    /// What is new in its journal.
    pub(super) fn look(&mut self) -> Vec<News> {
        let journal = self.folder.join("history.jsonl");
        let length = std::fs::metadata(&journal).map_or(0, |found| found.len());
        if length == self.length {
            return Vec::new();
        }
        self.length = length;
        let mut bytes = std::fs::read(&journal).unwrap_or_default();
        // A line that is being written is read the next time.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.map_or(0, |end| end + 1));
        let events = History::parse(&bytes).events;
        let new: Vec<&Event> = events.iter().skip(self.told).collect();
        self.told = events.len();
        new.into_iter().map(|event| self.take(event)).collect()
    }

    fn take(&mut self, event: &Event) -> News {
        let mut cue = None;
        let waited = self.waits();
        if event.kind == EventType::StatusChanged {
            let to = event.to.as_deref().and_then(|word| word.parse().ok());
            self.status = to.unwrap_or(self.status);
            self.settled = event.hooks.is_empty();
            if self.offers(Intent::Answer) {
                self.questions += 1;
                cue = Some(Cue::Answer);
            }
        } else if event.kind == EventType::TransitionFinished {
            self.settled = true;
        } else if event.kind == EventType::AgentSpawned {
            match event.role() {
                Some(Role::Reviewer) => self.reviewers += 1,
                _ => self.workers += 1,
            }
        } else if event.kind == EventType::AgentCrashed {
            self.crashes += 1;
            cue = Some(Cue::Respawn);
        }
        if event.kind == EventType::TaskMerged {
            self.merged = merge(event);
        }
        if self.waits() && !waited {
            cue = Some(Cue::Merge);
        }
        let text = self.words(event);
        if let Some(text) = &text {
            self.now.clone_from(text);
        }
        News { text, cue }
    }

    /// Whether it waits for the user's decision, with nothing on its way any more.
    fn waits(&self) -> bool {
        self.offers(Intent::Merge) && self.settled
    }

    fn offers(&self, intent: Intent) -> bool {
        let task = Task {
            status: self.status,
            ..Task::default()
        };
        task.offers(intent)
    }

    /// Commits of its branch that were merged.
    pub(super) fn commits(&self) -> usize {
        self.merged.as_ref().map_or(0, |merge| merge.commits)
    }

    /// Whether its work is in and everything it had is given back.
    pub(super) fn over(&self) -> bool {
        self.status.is_over() && self.settled
    }

    /// None for what only machines need to know.
    fn words(&self, event: &Event) -> Option<String> {
        let role = event.role().map_or("agent", Role::as_str);
        let by_engine = event.by.as_deref() == Some("engine");
        if event.kind == EventType::StatusChanged {
            return self.moved(event);
        }
        if event.kind == EventType::AgentSpawned {
            return Some(match role {
                "reviewer" => format!("reviewer started, round {}", self.reviewers),
                _ if self.workers > 1 => "worker started again, in the same worktree".into(),
                _ => "worker started in tmux, in a worktree of its own".into(),
            });
        }
        if event.kind == EventType::AgentCrashed {
            let reason = event.reason.as_deref().unwrap_or_default();
            let how = reason.split(';').next().unwrap_or_default();
            let how = how.trim_start_matches("ended by ");
            return Some(format!("{role} crashed ({how}); its work is still there"));
        }
        if event.kind == EventType::MessageSent {
            return by_engine.then(|| "worker is told what the review says".into());
        }
        // The rest goes without saying, unless something is wrong.
        let told = timeline::weight(event) == Weight::Trouble
            || matches!(event.kind, EventType::AgentExited | EventType::AgentNudged);
        told.then(|| watch::told(event)).flatten()
    }

    fn moved(&self, event: &Event) -> Option<String> {
        let said = |section: &str, field: &str| self.said(section, field).unwrap_or_default();
        let (from, to): (Status, Status) = (
            event.from.as_deref()?.parse().ok()?,
            event.to.as_deref()?.parse().ok()?,
        );
        let workflow = Workflow::named(WorkflowName::Interactive);
        let row = workflow.rows_from(from, None).find(|row| row.to == to)?;
        Some(match (row.intent, row.gate) {
            _ if self.offers(Intent::Answer) => format!("worker asks: {}", said("Questions", "")),
            (Some(Intent::Start), _) => return None,
            (_, Some(Gate::Plan)) => format!("plan: {}", said("Plan", "APPROACH:")),
            (_, Some(Gate::Handoff)) => format!("handoff: {}", said("Handoff", "DONE:")),
            (_, Some(Gate::ReviewFail)) => {
                format!("reviewer: FAIL, {}", said("Review", "Verdict: FAIL"))
            }
            (_, Some(Gate::ReviewPass)) => {
                format!("reviewer: PASS, {}", said("Review", "Verdict: PASS"))
            }
            _ if to.is_over() => match &self.merged {
                Some(merge) => format!("merged: on main as {}", merge.short()),
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

impl Merge {
    pub(super) fn short(&self) -> &str {
        self.commit.get(..7).unwrap_or(&self.commit)
    }
}

fn merge(event: &Event) -> Option<Merge> {
    let merge = TaskMerged::of(event)?;
    Some(Merge {
        commit: merge.commit?.to_owned(),
        commits: merge.commits?,
    })
}
