//! Why a task is where it is, as data, and the English of it.

use super::why::Conflicts;
use crate::gate::Gate;
use crate::merge::Strategy;
use crate::task::Status;
use crate::workflow::Role;
use crate::workflow::phased::reason as phased;
use crate::{Action, Parameter, TaskName, Text, text};

/// What a task waits for, or what brought it where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Of the phased workflow.
    Phased(phased::PhasedReason),
    Unregistered(String),
    /// `refused`: what keeps it from being started again.
    AgentGone {
        role: Role,
        how: String,
        refused: Option<String>,
    },
    AgentAtWork {
        role: Role,
        doing: Text,
        owes: Owed,
    },
    AsksInFile,
    AskedInFile {
        how: String,
        refused: Option<String>,
    },
    Written(Gate),
    Unwritten {
        gate: Gate,
        problem: String,
        failed_check: Option<String>,
    },
    /// With the check that the task waits for, if one runs.
    ReviewPassed(Option<String>),
    /// With the round, if no other one is left.
    ReviewFailed(Option<Round>),
    VerdictMissing(Round),
    Conflicts {
        target: String,
        conflicts: Conflicts,
    },
    NothingToMerge,
    Decision {
        branch: String,
        target: String,
        concerns: Vec<String>,
        /// What the agent of its last turn did without.
        without: Option<String>,
    },
    Stuck(Stuck),
    Children(Vec<String>),
    /// With what was said then.
    Merged(Option<String>),
    Cancelled,
    NotOfThisWorkflow {
        status: Status,
        workflow: String,
    },
    BlockerCancelled(String),
    BlockerMissing(String),
    Blockers(String),
    NoSlot(String),
    NoCommit(String),
    NoBase {
        base: String,
        repository: String,
    },
    BranchElsewhere {
        branch: String,
        checkout: String,
    },
    Untrusted(String),
    /// No agent can execute it, and why.
    NoAgent(String),
    Limit(String),
    /// A budget that is spent.
    Budget(String),
    Queued,
    /// It starts only if a person starts it. `adopted`: another program made it. `besides`: what would be in its way.
    NotStarted {
        adopted: bool,
        besides: Option<Box<Reason>>,
    },
    /// `starts`: by itself, once it is moved out of it.
    Backlog {
        starts: bool,
    },
    /// `by_hand`: a person wrote the value that cannot be used.
    Damaged {
        damage: String,
        by_hand: bool,
    },
    LostWorkspace {
        what: String,
    },
    /// The agent that the task waits for asks something.
    AgentAsks {
        what: String,
    },
    /// Something else needs attention.
    Attention {
        besides: Box<Reason>,
        what: String,
    },
}

/// What an agent has to write before its task moves on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owed {
    /// `failed_check`: what the last check of the work came to.
    Artifact {
        gate: Gate,
        failed_check: Option<String>,
    },
    Verdict {
        round: Round,
    },
}

/// A round of reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// Since a person asked for changes.
    pub counted: u32,
    pub max: u32,
    /// Over all counts.
    pub all: u32,
}

/// What made a task stuck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stuck {
    LastReviewFailed { round: u32 },
    Said(String),
    Crashed { times: u32 },
    NotPassed { round: u32 },
    GaveUp,
}

impl Reason {
    /// The reason as the end of a sentence about the task.
    pub fn text(&self, task: &TaskName) -> Text {
        let words = match self {
            Reason::Phased(reason) => return reason.text(task),
            Reason::Unregistered(project) => format!(
                "its project {project} is not registered, so nothing can be done in its repository"
            ),
            Reason::AgentGone { role, how, refused } => {
                format!("its {role} {how}{}", joined(refused.as_deref()))
            }
            Reason::AgentAtWork { role, doing, owes } => {
                return text!("its {role} {}; {}", doing.clone(), owes.text());
            }
            Reason::AsksInFile => {
                "the agent waits for your answer to its questions in TASK.md".into()
            }
            Reason::AskedInFile { how, refused } => {
                let gone = format!("it asked questions in TASK.md, then its worker {how}");
                match refused {
                    Some(why) => format!("{gone}; {why}"),
                    None => format!("{gone}: your answer starts it again"),
                }
            }
            Reason::Written(gate) => {
                format!("the {} is written", gate.section().to_lowercase())
            }
            Reason::Unwritten {
                gate,
                problem,
                failed_check,
            } => format!(
                "waits for the {}: {problem}{}",
                gate.section().to_lowercase(),
                last_check(failed_check.as_deref())
            ),
            Reason::ReviewPassed(running) => {
                format!("the review passed{}", joined(running.as_deref()))
            }
            Reason::ReviewFailed(None) => "the review failed".into(),
            Reason::ReviewFailed(Some(round)) => {
                format!("the review failed in {}", round.text())
            }
            Reason::VerdictMissing(round) => {
                format!("waits for the verdict of review {}", round.text())
            }
            Reason::Conflicts { target, conflicts } => {
                let Conflicts {
                    files,
                    bring,
                    strategy,
                } = conflicts;
                // Another strategy may have no conflict.
                let (how, what) = match strategy {
                    Strategy::Rebase => (" by rebase", format!("rebase it onto {bring}")),
                    Strategy::Squash | Strategy::Merge | Strategy::Ff => {
                        ("", format!("bring {bring} in"))
                    }
                };
                return text!(
                    "it cannot be merged{how}: it conflicts with {target} in {files}; its agent, or you in {}, must {what} first",
                    Action::shell(task.clone())
                );
            }
            Reason::NothingToMerge => {
                return text!(
                    "it has no commits of its own, so there is nothing to merge: resolve it, or ask for changes with {}",
                    Action::request_changes(task.clone(), None)
                );
            }
            Reason::Decision {
                branch,
                target,
                concerns,
                without,
            } => {
                let without = without.as_deref();
                let without = without.map_or(String::new(), |without| format!("; {without}"));
                return if concerns.is_empty() {
                    text!(
                        "waits for your decision: merge {branch} into {target}, or ask for changes with {}{without}",
                        Action::request_changes(task.clone(), None)
                    )
                } else {
                    text!(
                        "waits for your decision: {}{without}; {} merges {branch} into {target} anyway",
                        concerns.join("; "),
                        Action::merge(task.clone(), true, None, None, None)
                    )
                };
            }
            Reason::Stuck(stuck) => stuck.text(),
            Reason::Children(open) if open.is_empty() => "all its children are over".into(),
            Reason::Children(open) => format!("waits for its children {}", open.join(", ")),
            // What was said then: a task that a person resolved may have got nothing into its target.
            Reason::Merged(said) => said.as_deref().unwrap_or("its work is merged").to_owned(),
            Reason::Cancelled => {
                return text!(
                    "it was cancelled; {} starts the work again",
                    Action::create_from(task.clone(), false, None)
                );
            }
            Reason::NotOfThisWorkflow { status, workflow } => {
                format!("{status} is not a status of the {workflow} workflow")
            }
            Reason::BlockerCancelled(blocker) => {
                format!("it waits for {blocker}, which was cancelled, so it would wait for ever")
            }
            Reason::BlockerMissing(blocker) => {
                return text!(
                    "it waits for {blocker}, which does not exist ({} lists deleted tasks), so it would wait for ever",
                    Action::list_deleted()
                );
            }
            Reason::Blockers(what)
            | Reason::Untrusted(what)
            | Reason::NoAgent(what)
            | Reason::Limit(what)
            | Reason::Budget(what) => what.clone(),
            Reason::NoSlot(holders) => format!("no slot is free: {holders}"),
            Reason::NoCommit(repository) => {
                format!("{repository} has no commit that its branch could start from")
            }
            Reason::NoBase { base, repository } => {
                format!("its base {base} is no commit in {repository} any more")
            }
            Reason::BranchElsewhere { branch, checkout } => {
                format!(
                    "its branch {branch} is checked out at {checkout}, and git checks a branch out only once"
                )
            }
            Reason::Queued => "it is queued and nothing is in its way any more".into(),
            Reason::NotStarted { adopted, besides } => {
                let why = if *adopted {
                    "found in this home, not created here".into()
                } else {
                    text!(
                        "created with {} or `agents.spawn_on_create: false`",
                        Parameter::NoSpawn
                    )
                };
                let besides = match besides {
                    Some(reason) => text!("; {}", reason.text(task)),
                    None => Text::default(),
                };
                return text!("it waits for you to start it ({}){}", why, besides);
            }
            Reason::Backlog { starts: true } => {
                "it is in the backlog, and starts by itself once it is in the active queue".into()
            }
            Reason::Backlog { starts: false } => {
                "it is in the backlog, and waits for you to start it".into()
            }
            Reason::Damaged { damage, by_hand } => {
                let damaged = format!("its TASK.md is damaged: {damage}");
                if *by_hand {
                    return text!(
                        "{damaged}; correct that line, or let {} put back the last good value",
                        Action::repair()
                    );
                } else {
                    damaged
                }
            }
            Reason::LostWorkspace { what } | Reason::AgentAsks { what } => what.clone(),
            // What its agent does is no news beside what went wrong.
            Reason::Attention { besides, what }
                if matches!(**besides, Reason::AgentAtWork { .. }) =>
            {
                what.clone()
            }
            Reason::Attention { besides, what } => {
                let besides = besides.text(task);
                if besides == Text::from(what.clone()) {
                    return besides;
                }
                return text!("{}; needs attention: {what}", besides);
            }
        };
        words.into()
    }
}

fn joined(more: Option<&str>) -> String {
    more.map_or_else(String::new, |more| format!("; {more}"))
}

fn last_check(failed: Option<&str>) -> String {
    failed.map_or_else(String::new, |failed| {
        format!("; its last check failed: {failed}")
    })
}

impl Owed {
    fn text(&self) -> String {
        match self {
            Owed::Artifact { gate, failed_check } => {
                format!(
                    "waits for its {}{}",
                    gate.section().to_lowercase(),
                    last_check(failed_check.as_deref())
                )
            }
            Owed::Verdict { round } => format!("waits for the verdict of review {}", round.text()),
        }
    }
}

impl Round {
    /// `round 1 of 2`; once a person asked for changes, both the round and how many count since then.
    fn text(self) -> String {
        let Round { counted, max, all } = self;
        if all > counted {
            format!("round {all} ({counted} of {max} since changes were requested)")
        } else {
            format!("round {counted} of {max}")
        }
    }
}

impl Stuck {
    fn text(&self) -> String {
        match self {
            Stuck::LastReviewFailed { round } => {
                format!("the review failed in round {round}, the last one")
            }
            Stuck::Said(reason) => reason.clone(),
            Stuck::Crashed { times } => format!("its agent crashed {times} times"),
            Stuck::NotPassed { round } => format!("it did not pass review after round {round}"),
            Stuck::GaveUp => "its agent gave up and asks for help".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_says_what_the_last_turn_did_without() {
        let task = TaskName::new("shop", None, "abc");
        let without = "MCP server playwright: it did not start";
        for concerns in [vec![], vec!["nobody has reviewed it".to_owned()]] {
            let reason = Reason::Decision {
                branch: "orange/x".to_owned(),
                target: "main".to_owned(),
                concerns,
                without: Some(without.to_owned()),
            };
            let text = format!("{:?}", reason.text(&task));
            assert!(text.contains(without), "{text}");
        }
    }
}
