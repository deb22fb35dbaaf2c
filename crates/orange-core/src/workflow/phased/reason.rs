//! Why a phased task is where it is, as data, and the English of it.

use crate::reason as why;
use crate::{Action, TaskName, Text, text};

/// What a phased task waits for beside what holds up every start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhasedReason {
    /// A person has it run. `besides`: what would be in its way.
    NotRun {
        weight_known: bool,
        besides: Option<Box<why::Reason>>,
    },
    /// An agent is asked how large it is.
    Classifying,
    Executing(ExecutionProgress),
    /// Its executor is gone, and nobody has seen to that yet.
    ExecutorGone,
    /// A person decides about a phase.
    Gate {
        phase: String,
        said: Option<String>,
    },
    Input {
        phase: String,
        question: String,
    },
    Paused {
        phase: Option<String>,
        why: Option<String>,
    },
    /// Paused, and a budget is spent.
    OverBudget {
        phase: Option<String>,
        what: String,
        /// Its setting.
        setting: &'static str,
        /// Why it was paused, if not because of that.
        besides: Option<String>,
    },
    Failed {
        phase: Option<String>,
        why: Option<String>,
    },
    Finalizing,
    MergeGate,
}

/// The output of a check that failed is in the transcript.
const MOST_LINES: usize = 4;

/// How far an executor is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutionProgress {
    pub phase: String,
    /// In this attempt of the phase, from 1.
    pub iteration: u32,
    pub max_iterations: u32,
    /// What its agent does, with a verb; None between two turns.
    pub doing: Option<Text>,
    /// Criteria that nobody can check, each with why.
    pub unchecked: Vec<String>,
    /// MCP servers that its agent does without.
    pub without: Option<String>,
}

impl ExecutionProgress {
    /// `iteration 2 of 10 of implement`
    pub fn words(&self) -> String {
        format!(
            "iteration {} of {} of {}",
            self.iteration, self.max_iterations, self.phase
        )
    }
}

impl PhasedReason {
    /// The reason as the end of a sentence about the task.
    pub fn text(&self, task: &TaskName) -> Text {
        let words = match self {
            PhasedReason::NotRun {
                weight_known,
                besides,
            } => {
                let first = if *weight_known {
                    ""
                } else {
                    ", and has an agent find out first how large it is"
                };
                let besides = match besides {
                    Some(reason) => text!("; {}", reason.text(task)),
                    None => Text::default(),
                };
                return text!("it waits for you to run it{first}{}", besides);
            }
            PhasedReason::Classifying => {
                return text!(
                    "an agent is asked how large it is; {} decides it at once",
                    Action::choose_weight(task.clone())
                );
            }
            PhasedReason::Executing(progress) => {
                let unchecked = match progress.unchecked.as_slice() {
                    [] => String::new(),
                    unchecked => format!("; not checked: {}", unchecked.join(", ")),
                };
                let without = progress.without.as_deref();
                let without = without.map_or(String::new(), |without| format!("; {without}"));
                return match progress.doing.clone() {
                    Some(doing) => text!("{}: {}{unchecked}{without}", progress.words(), doing),
                    None => text!("{}{unchecked}{without}", progress.words()),
                };
            }
            PhasedReason::ExecutorGone => {
                "its executor is gone; what it did is kept, and it goes on from there".into()
            }
            PhasedReason::Gate { phase, said } => {
                return text!(
                    "phase {phase} waits for your decision{}; {} says what is to be different",
                    after_colon(said.as_deref()),
                    Action::reject(task.clone())
                );
            }
            PhasedReason::Input { phase, question } => {
                format!("its agent asks in {phase}: {question}")
            }
            PhasedReason::Paused { phase, why } => {
                let place = phase.as_ref();
                let place = place.map_or(String::new(), |phase| format!(" in {phase}"));
                format!("it is paused{place}{}", after_colon(why.as_deref()))
            }
            PhasedReason::OverBudget {
                phase,
                what,
                setting,
                besides,
            } => {
                let place = phase.as_ref();
                let place = place.map_or(String::new(), |phase| format!(" in {phase}"));
                let besides = besides.as_ref();
                let besides = besides.map_or(String::new(), |why| format!(" ({why})"));
                return text!(
                    "it is paused{place}{besides}: {what}; it goes on with a higher {setting} ({}), or although this budget is spent",
                    Action::set_setting(*setting, "USD")
                );
            }
            PhasedReason::Failed { phase, why } => {
                let place = phase.as_deref().unwrap_or("a phase");
                return text!(
                    "{place} failed{}; {} goes back to an earlier phase",
                    after_colon(why.as_deref()),
                    Action::rewind(task.clone())
                );
            }
            PhasedReason::Finalizing => "it is brought up to date, tested and merged".into(),
            PhasedReason::MergeGate => {
                "everything passed, and the merge waits for your decision".into()
            }
        };
        words.into()
    }
}

/// The first lines of what was said, as one: what ends with a colon goes on with the items of its list.
fn after_colon(more: Option<&str>) -> String {
    let lines = more.unwrap_or_default().lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty());
    let mut words = String::new();
    for line in lines.by_ref().take(MOST_LINES) {
        let is_in_list = words.ends_with(':');
        words.push_str(match (words.as_str(), is_in_list) {
            ("", _) => ": ",
            (_, true) => " ",
            (_, false) => "; ",
        });
        words.push_str(line.strip_prefix("- ").unwrap_or(line));
    }
    if lines.next().is_some() {
        words.push_str("; …");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::after_colon;

    #[test]
    fn lines_become_one() {
        let said = "the review has 2 major findings:\n- never good\n- a.rs: lost";
        let wanted = ": the review has 2 major findings: never good; a.rs: lost";
        assert_eq!(after_colon(Some(said)), wanted);
        let more = format!("{said}\n- b\n\n- c");
        assert_eq!(after_colon(Some(&more)), format!("{wanted}; b; …"));
        assert_eq!(after_colon(Some(" a \n\nb")), ": a; b");
        assert_eq!(after_colon(Some(" \n")), "");
        assert_eq!(after_colon(None), "");
    }
}
