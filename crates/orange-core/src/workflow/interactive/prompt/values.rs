//! The variables of a prompt and what they stand for.

use crate::choice;
use crate::task::{Status, Task};

choice! {
    /// What a prompt may say in braces.
    pub enum Variable ("variable") {
        Summary = "summary",
        Project = "project",
        Branch = "branch",
        ReviewRound = "review_round",
        Status = "status",
        Id = "id",
        Key = "key",
        BaseBranch = "base_branch",
        TargetBranch = "target_branch",
        MaxRounds = "max_rounds",
        Message = "message",
        Missing = "missing",
        TaskFile = "task_file",
        NextStatusOnFail = "next_status_on_fail",
    }
}

impl Variable {
    /// For the docs.
    pub fn meaning(self) -> &'static str {
        match self {
            Variable::Summary => "the task in one line",
            Variable::Project => "the project's name",
            Variable::Branch => "the task's branch",
            Variable::ReviewRound => {
                "the review round the task is in; 0 before the first, and from 1 again after a request for changes"
            }
            Variable::Status => "the task's status",
            Variable::Id => "the task's id",
            Variable::Key => "the task's key, such as TASK-001; the id of a task that has none yet",
            Variable::BaseBranch => {
                "what the branch started from, fit for `git diff`; a commit if the name has \
                                     characters that mean something to a shell"
            }
            Variable::TargetBranch => "the branch the work goes to",
            Variable::MaxRounds => "failed reviews before a task is stuck (`review.max_rounds`)",
            Variable::Message => {
                "what a person wrote (the changes asked for, the answer), or what a failed check printed; often empty"
            }
            Variable::Missing => "what the gate misses and which command to run; only in `nudge`",
            Variable::TaskFile => {
                "the task's file in the worktree: TASK.md, or ORANGE_TASK.md where the repository \
                                   has a TASK.md of its own"
            }
            Variable::NextStatusOnFail => {
                "where a failed review takes the task: working, or stuck in the last round"
            }
        }
    }

    /// `{summary}, {project}, …` for messages.
    pub(super) fn listed() -> String {
        let all: Vec<String> = Variable::WORDS
            .iter()
            .map(|word| format!("{{{word}}}"))
            .collect();
        all.join(", ")
    }
}

/// A value for every variable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    pub summary: String,
    pub project: String,
    pub branch: String,
    pub review_round: String,
    pub status: String,
    pub id: String,
    pub key: String,
    pub base_branch: String,
    pub target_branch: String,
    pub max_rounds: String,
    pub message: String,
    pub missing: String,
    pub task_file: String,
    pub next_status_on_fail: String,
}

impl Values {
    /// What the task itself tells. Branches and files outside of it, and words of people, are the caller's.
    pub fn of(task: &Task, max_rounds: u32) -> Values {
        Values {
            summary: task.summary.clone(),
            project: task.project.clone(),
            branch: task.branch.clone(),
            review_round: task.review_round.to_string(),
            status: task.status.to_string(),
            id: task.id.clone(),
            key: task
                .key
                .map_or_else(|| task.id.clone(), |key| key.to_string()),
            max_rounds: max_rounds.to_string(),
            next_status_on_fail: next_status_on_fail(task, max_rounds).to_string(),
            ..Values::default()
        }
    }

    pub fn get(&self, variable: Variable) -> &str {
        match variable {
            Variable::Summary => &self.summary,
            Variable::Project => &self.project,
            Variable::Branch => &self.branch,
            Variable::ReviewRound => &self.review_round,
            Variable::Status => &self.status,
            Variable::Id => &self.id,
            Variable::Key => &self.key,
            Variable::BaseBranch => &self.base_branch,
            Variable::TargetBranch => &self.target_branch,
            Variable::MaxRounds => &self.max_rounds,
            Variable::Message => &self.message,
            Variable::Missing => &self.missing,
            Variable::TaskFile => &self.task_file,
            Variable::NextStatusOnFail => &self.next_status_on_fail,
        }
    }
}

/// As the table's conditions on the round have it.
pub(super) fn next_status_on_fail(task: &Task, max_rounds: u32) -> Status {
    if task.review_round < max_rounds {
        Status::Working
    } else {
        Status::Stuck
    }
}
