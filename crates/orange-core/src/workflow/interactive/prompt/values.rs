//! The variables of a prompt and what they stand for.

use crate::task::{Status, Task};

/// Declares the variables: the name as a type and in a prompt, and what it stands for.
macro_rules! variables {
    ($($variable:ident $name:ident = $meaning:literal;)+) => {
        /// What a prompt may say in braces.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Variable { $($variable),+ }

        impl Variable {
            pub const ALL: &[Variable] = &[$(Variable::$variable),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Variable::$variable => stringify!($name)),+ }
            }

            /// For the docs.
            pub fn meaning(self) -> &'static str {
                match self { $(Variable::$variable => $meaning),+ }
            }
        }

        /// A value for every variable.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Values { $(pub $name: String),+ }

        impl Values {
            pub fn get(&self, variable: Variable) -> &str {
                match variable { $(Variable::$variable => &self.$name),+ }
            }
        }
    };
}

variables! {
    Summary summary = "the task in one line";
    Project project = "the project's name";
    Branch branch = "the task's branch";
    ReviewRound review_round =
        "the review round the task is in; 0 before the first, and from 1 again after a request for \
         changes";
    Status status = "the task's status";
    Id id = "the task's id";
    Key key = "the task's key, such as TASK-001; the id of a task that has none yet";
    BaseBranch base_branch =
        "what the branch started from, fit for `git diff`; a commit if the name has characters that mean \
         something to a shell";
    TargetBranch target_branch = "the branch the work goes to";
    MaxRounds max_rounds = "failed reviews before a task is stuck (`review.max_rounds`)";
    Message message =
        "what a person wrote (the changes asked for, the answer), or what a failed check printed; often \
         empty";
    Missing missing = "what the gate misses and which command to run; only in `nudge`";
    TaskFile task_file =
        "the task's file in the worktree: TASK.md, or ORANGE_TASK.md where the repository has a TASK.md of \
         its own";
    Phase phase = "the phase that the plan is in; only in prompts of phases, as the next ones";
    Iteration iteration = "which iteration of the phase this is";
    MaxIterations max_iterations = "how many the plan allows";
    Context context = "what the task's file says under `## Context`";
    Spec spec = "the task's specification, if there is one; `{{SPEC_CONTENT}}` is read as the same";
    Earlier earlier = "what earlier phases came to";
    Asked asked =
        "what a person asked for on the task: changes, why a phase was rejected, answers; not what `{retry}` has";
    Retry retry = "what failed, and has to be done differently this time";
    Ui ui =
        "what to test of a user interface, and where screenshots go; only in phases of the kinds implement, test and \
         validate";
    Criteria criteria = "what has to hold before the phase is over";
    Answer answer = "how the final answer has to look";
    Files files = "the repository's files; only in `classify`";
    Output output = "what the phase came to: its summary, findings and artifact, and its criteria; only in `judge`";
    Diff diff = "what the task changed, from where it began; only in `judge`";
    NextStatusOnFail next_status_on_fail = "where a failed review takes the task: working, or stuck in the last round";
}

impl Variable {
    /// `{summary}, {project}, …` for messages.
    pub(super) fn listed() -> String {
        let all: Vec<String> = Variable::ALL
            .iter()
            .map(|variable| format!("{{{}}}", variable.as_str()))
            .collect();
        all.join(", ")
    }
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
}

/// As the table's conditions on the round have it.
pub(super) fn next_status_on_fail(task: &Task, max_rounds: u32) -> Status {
    if task.review_round < max_rounds {
        Status::Working
    } else {
        Status::Stuck
    }
}
