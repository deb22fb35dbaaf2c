//! A script as values: what the agent does, for which role and which of its runs. Read by `reader.rs`.

mod reader;
#[cfg(test)]
mod tests;
mod values;

use super::text::ScriptText;
use orange_core::workflow::Role;
use serde::Deserialize;
use serde_json::{Map, Value};
pub(super) use values::{
    ByteSize, Count, Dollars, ExitCode, Ignored, InPlace, LineLength, MessageTexts, NotEmpty,
    OneCondition, ShellLine, SignalName, Statuses, Time, Times, TokenCount, Word,
};

/// What is played where no script is named.
pub const BUILT_IN: &str = include_str!("default.yaml");

/// How the name of a list for judges begins, and the phase of a turn in which one is asked: `judge spec`.
pub(super) const JUDGE: &str = "judge";

/// All step lists of a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Script {
    lists: Vec<StepList>,
}

/// A list of steps and the runs it is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StepList {
    /// As it stands in the script: `reviewer round 2`.
    pub(super) key: String,
    role: Role,
    /// It is for the judge of a phase, not for the agent that works in it.
    judges: bool,
    /// Of a plan; only an executor asks for turns in phases.
    phase: Option<String>,
    round: Option<u32>,
    iteration: Option<u32>,
    attempt: Option<u32>,
    pub(super) steps: Vec<ScriptStep>,
}

/// Which run this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WhichRun {
    pub(super) role: Role,
    pub(super) round: u32,
    pub(super) attempt: u32,
    /// It judges the phase.
    pub(super) judges: bool,
    /// The phase of a plan that its turn is for.
    pub(super) phase: Option<String>,
    pub(super) iteration: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScriptStep {
    /// The word it is called by in scripts.
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) action: ScriptAction,
}

/// What a step does: one variant per word. A step's own value is the field `value`, the others are its options.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum ScriptAction {
    Say(Only<ScriptText>),
    Pause(Only<Time>),
    Plan(Artifact),
    Handoff(Artifact),
    Questions(Artifact),
    Review {
        value: ScriptVerdict,
        text: Option<ScriptText>,
        how: Option<How>,
    },
    Section {
        value: ScriptText,
        text: ScriptText,
        how: Option<How>,
    },
    /// Fields of TASK.md; `null` removes one.
    Frontmatter {
        value: Map<String, Value>,
        how: Option<InPlace>,
    },
    Status(ScriptCommand<Word>),
    Complete(ScriptCommand<Option<()>>),
    Stuck(ScriptCommand<Option<()>>),
    Write(WrittenFile),
    Append(WrittenFile),
    Fill {
        value: ScriptText,
        size: ByteSize,
    },
    Delete(Only<ScriptText>),
    Commit {
        value: ScriptText,
        #[serde(default)]
        empty: bool,
        expect: Option<ExitCode>,
        ignore: Option<bool>,
    },
    Git(ScriptCommand<Vec<ScriptText>>),
    Run(ScriptCommand<ShellLine>),
    Child(Only<ShellLine>),
    Daemon {
        value: ShellLine,
        #[serde(default)]
        clear_env: bool,
    },
    #[serde(rename = "wait for")]
    WaitFor {
        value: OneCondition,
        timeout: Option<Time>,
    },
    If {
        value: OneCondition,
        #[serde(default)]
        then: Vec<ScriptStep>,
        #[serde(default, rename = "else")]
        otherwise: Vec<ScriptStep>,
    },
    Repeat {
        value: Times,
        steps: NotEmpty,
    },
    #[serde(rename = "end turn")]
    EndTurn {},
    #[serde(rename = "ask permission")]
    AskPermission {
        value: ScriptText,
        #[serde(default)]
        allowed: Vec<ScriptStep>,
        #[serde(default)]
        denied: Vec<ScriptStep>,
    },
    /// The model's service fails, and with it the turn.
    Fail {
        value: ScriptText,
        error: Option<Word>,
        /// So long a usage limit lasts.
        limit: Option<Time>,
    },
    Answer(ScriptAnswer),
    /// Tokens that the turn uses, and what they cost.
    Use(Only<Used>),
    #[serde(rename = "lose enter")]
    LoseEnter(Only<Option<Count>>),
    Flood(Flood),
    Exit(Only<Option<ExitCode>>),
    Crash(Only<Option<SignalName>>),
    Hang {
        ignore: Option<Ignored>,
    },
    Stop {},
}

/// The value of a step without options.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Only<T> {
    pub(super) value: T,
}

/// The text of a section that has a step of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Artifact {
    #[serde(rename = "value")]
    pub(super) text: ScriptText,
    pub(super) how: Option<How>,
}

/// What is written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFile {
    #[serde(rename = "value")]
    pub(super) file: ScriptText,
    pub(super) text: ScriptText,
}

/// A command, and how it is expected to end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptCommand<T> {
    pub(super) value: T,
    pub(super) expect: Option<ExitCode>,
    /// Any end will do.
    pub(super) ignore: Option<bool>,
}

/// The expected exit code; `None`: any.
pub(super) fn expected(expect: Option<&ExitCode>, ignore: Option<bool>) -> Option<i32> {
    (ignore != Some(true)).then(|| expect.map_or(0, |code| i32::from(code.0)))
}

impl<T> ScriptCommand<T> {
    pub(super) fn expected(&self) -> Option<i32> {
        expected(self.expect.as_ref(), self.ignore)
    }
}

/// How TASK.md is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum How {
    /// Added at the end; nothing else is touched.
    Append,
    /// Emptied, then written anew.
    Truncate,
    /// A new file renamed over it, as many editors do: what was a link is a file then.
    Rename,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum ScriptVerdict {
    Pass,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WaitCondition {
    File(ScriptText),
    Message(MessageTexts),
    Status(Statuses),
    Command(ShellLine),
}

/// What an executor is answered at the end of a turn. Its status may be any word: wrong ones are rehearsed too.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptAnswer {
    #[serde(rename = "value")]
    pub(super) status: Word,
    pub(super) summary: Option<ScriptText>,
    pub(super) reason: Option<ScriptText>,
    pub(super) question: Option<ScriptText>,
    pub(super) artifact: Option<ScriptText>,
    #[serde(default)]
    pub(super) touching: Vec<ScriptText>,
    /// As they stand in the script.
    #[serde(default)]
    pub(super) findings: Vec<Value>,
    #[serde(default, rename = "as")]
    pub(super) form: AnswerForm,
    /// So long the answer is at least, all of it on one line.
    pub(super) size: Option<ByteSize>,
}

/// In which form an answer comes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AnswerForm {
    /// Nothing but the object.
    #[default]
    Plain,
    /// With sentences before and after it.
    Prose,
    /// In a code fence.
    Fence,
    /// After another one that does not count.
    Twice,
    /// Cut in the middle.
    Broken,
    /// With bytes that are no UTF-8.
    Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Used {
    #[serde(default)]
    pub(super) input: TokenCount,
    #[serde(default)]
    pub(super) output: TokenCount,
    #[serde(default)]
    pub(super) cache_read: TokenCount,
    #[serde(default)]
    pub(super) cache_write: TokenCount,
    /// None: not told.
    pub(super) cost: Option<Dollars>,
    pub(super) model: Option<Word>,
}

/// A lot of output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flood {
    #[serde(rename = "value")]
    pub(super) bytes: ByteSize,
    pub(super) line: Option<LineLength>,
    #[serde(default)]
    pub(super) kind: FloodKind,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FloodKind {
    #[default]
    Text,
    /// Bytes that are no UTF-8.
    Bytes,
    /// Colours, titles, cursor movements.
    Escapes,
}

impl Script {
    /// The list for this run: of those that fit, the one that says most about it. A phase says more than an iteration, that
    /// more than a round, and a round more than an attempt.
    pub(super) fn select(self, run: &WhichRun) -> Option<StepList> {
        let fits = |list: &StepList| {
            list.role == run.role
                && list.judges == run.judges
                && (list.phase.is_none() || list.phase == run.phase)
                && list
                    .iteration
                    .is_none_or(|iteration| iteration == run.iteration)
                && list.round.is_none_or(|round| round == run.round)
                && list.attempt.is_none_or(|attempt| attempt == run.attempt)
        };
        let says = |list: &StepList| {
            [
                list.phase.is_some(),
                list.iteration.is_some(),
                list.round.is_some(),
                list.attempt.is_some(),
            ]
        };
        self.lists.into_iter().filter(fits).max_by_key(says)
    }
}
