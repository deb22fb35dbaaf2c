//! What became of a task with which somebody did something.

use crate::git::contained::Landed;
use crate::runs::{Asked, Question};
use crate::views::permissions::PermissionRow;
use crate::workspaces::acquire::Acquired;
use orange_core::Timestamp;
use orange_core::history::Event;
use orange_core::history::payload::EarlierWork;
use orange_core::runs::Run;
use orange_core::task::{Status, Task};
use orange_core::verification::Verified;
use orange_core::workflow::Role;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::path::PathBuf;

/// The task as it is now, what is to be said of it, and what else came of it.
#[derive(Debug, Serialize)]
pub struct TaskResult<'a> {
    pub task: &'a Task,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<&'a Verified>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<&'a OpenQuestion>,
    /// What agents need not ask again since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<&'a PermissionRow>,
    pub message: &'a str,
    /// The TASK.md of a new task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landing: Option<&'a BranchLanding>,
    /// The check that its move waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<&'a Acquired>,
    /// Why it does not start yet; null for a new task that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<Option<&'a str>>,
    /// Those that were started.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "details")]
    pub agents: Option<&'a [Event]>,
    /// What became of a message or a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'a str>,
    /// Tasks that had been waiting and were started too.
    #[serde(skip_serializing_if = "<[Task]>::is_empty")]
    pub started: &'a [Task],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<&'a TaskOrigin>,
}

impl<'a> TaskResult<'a> {
    pub fn new(task: &'a Task, message: &'a str) -> TaskResult<'a> {
        TaskResult {
            task,
            verify: None,
            question: None,
            permission: None,
            message,
            path: None,
            landing: None,
            waits_for: None,
            workspace: None,
            queued: None,
            agents: None,
            state: None,
            started: &[],
            from: None,
        }
    }
}

fn details<S: Serializer>(spawned: &Option<&[Event]>, to: S) -> Result<S::Ok, S::Error> {
    let spawned = spawned.iter().copied().flatten();
    to.collect_seq(spawned.map(|event| event.details()))
}

/// What a rewind came to.
#[derive(Debug, Serialize)]
pub struct RewindResult<'a> {
    #[serde(flatten)]
    pub result: TaskResult<'a>,
    pub phase: &'a str,
    /// Where the branch is now.
    pub commit: Option<&'a str>,
    /// What it held since then.
    pub rescue: Option<&'a str>,
}

/// Where a new task comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskOrigin {
    pub id: String,
    #[serde(rename = "task")]
    pub label: String,
    pub status: Status,
    /// What it goes on with; None: it starts from its base like any other.
    #[serde(flatten, serialize_with = "work_keys")]
    pub work: Option<EarlierWork>,
}

fn work_keys<S: Serializer>(work: &Option<EarlierWork>, to: S) -> Result<S::Ok, S::Error> {
    let work = work.as_ref();
    to.collect_map([
        ("head", work.map(|work| &work.head)),
        ("rescue", work.and_then(|work| work.rescue.as_ref())),
    ])
}

/// A question, and whose it is.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    pub run: Run,
    pub question: Question,
}

impl Serialize for OpenQuestion {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct QuestionKeys<'a> {
            id: &'a str,
            run: &'a str,
            role: Role,
            harness: &'a str,
            at: Timestamp,
            text: &'a str,
            tool: &'a str,
            input: &'a Value,
            asked: &'a [Asked],
        }
        let (run, question) = (&self.run, &self.question);
        let keys = QuestionKeys {
            id: &question.id,
            run: &run.id,
            role: run.role,
            harness: &run.harness,
            at: question.at,
            text: &question.text,
            tool: &question.tool,
            input: &question.input,
            asked: &question.asked,
        };
        keys.serialize(to)
    }
}

/// What git sees of a task's work in the branch that it is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchLanding {
    pub branch: String,
    pub target: String,
    /// Where the work ends; None when there is nothing to look for.
    pub head: Option<String>,
    /// None: nothing could be compared.
    pub landed: Option<Landed>,
    /// Nothing was ever committed for it: that its branch begins in the target says nothing.
    pub without_work: bool,
    /// Commits that are checked out in the task's workspace and are not on its branch, in words.
    pub beside: Option<String>,
    /// Paths in the task's worktree that are in no commit.
    pub uncommitted: usize,
    /// The task can be resolved at all: it is under way.
    pub under_way: bool,
}

impl Serialize for BranchLanding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct LandingKeys<'a> {
            seen: &'static str,
            commit: Option<&'a str>,
            head: &'a Option<String>,
            branch: &'a str,
            target: &'a str,
            uncommitted: usize,
        }
        let (seen, commit) = match &self.landed {
            _ if self.without_work => ("nothing", None),
            Some(Landed::Head) => ("head", None),
            Some(Landed::Change(commit)) => ("change", commit.as_deref()),
            Some(Landed::No { .. }) => ("no", None),
            None => ("unknown", None),
        };
        let keys = LandingKeys {
            seen,
            commit,
            head: &self.head,
            branch: &self.branch,
            target: &self.target,
            uncommitted: self.uncommitted,
        };
        keys.serialize(to)
    }
}

impl BranchLanding {
    /// Does git see the work in the target?
    pub fn is_seen(&self) -> bool {
        !self.without_work
            && self.beside.is_none()
            && matches!(self.landed, Some(Landed::Head | Landed::Change(_)))
    }
}
