//! What agents are told: a repository's own prompt as the base commit has it, else the one that comes with Orange.
//! A prompt that cannot be used keeps no task from starting; it is said, and Orange's own takes its place.

pub(crate) mod judge;
pub(crate) mod phase;
pub(crate) mod ui;
pub mod values;

use crate::call::{self, Call};
use crate::error::{Result, err};
use crate::git::committed::{CommittedFiles, UnreadableFile};
use crate::git::short;
use crate::rules::{self, rules_commit};
use crate::settings;
use orange_core::prompt::{PromptName, Template, Values};
use orange_core::task::Task;
use serde::{Serialize, Serializer};
use std::fmt;

/// No prompt of a person is longer.
const MAX_BYTES: u64 = 256 * 1024;

/// Where a prompt comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptOrigin {
    BuiltIn,
    File { commit: String, path: String },
}

/// A prompt before its variables are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSource {
    pub name: PromptName,
    pub text: String,
    pub origin: PromptOrigin,
    /// The repository has one, which had to be passed over.
    pub unusable: Option<Unusable>,
    template: Template,
}

/// A file that is no prompt, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    pub commit: String,
    pub path: String,
    pub line: Option<usize>,
    pub reason: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at commit {}", self.path, short(&self.commit))?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl Serialize for PromptSource {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct PromptKeys<'a> {
            name: PromptName,
            when: &'static str,
            origin: &'static str,
            commit: Option<&'a str>,
            path: Option<&'a str>,
            problem: Option<String>,
        }
        let (origin, commit, path) = match &self.origin {
            PromptOrigin::BuiltIn => ("built-in", None, None),
            PromptOrigin::File { commit, path } => ("file", Some(commit), Some(path)),
        };
        let keys = PromptKeys {
            name: self.name,
            when: self.name.when(),
            origin,
            commit: commit.map(String::as_str),
            path: path.map(String::as_str),
            problem: self.unusable.as_ref().map(Unusable::to_string),
        };
        keys.serialize(to)
    }
}

/// All prompts of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompts {
    /// The commit that was asked; none without a project, or for one without a commit.
    #[serde(skip)]
    pub commit: Option<String>,
    #[serde(rename = "prompts")]
    pub sources: Vec<PromptSource>,
    /// Files beside the prompts that have the name of none.
    #[serde(rename = "unknown_files")]
    pub unknown: Vec<String>,
}

/// What an agent is told, with where it comes from.
#[derive(Debug, Serialize)]
pub struct PromptText<'a> {
    #[serde(flatten)]
    pub source: &'a PromptSource,
    /// The task for which the variables are filled in.
    pub task: Option<&'a str>,
    pub text: &'a str,
}

/// The prompt of a task, as the commit has it that its rules come from.
pub fn prompt_source(call: &Call, task: &Task, name: PromptName) -> Result<PromptSource> {
    source_of(call, task, name, None)
}

/// `template`: the prompt that a plan names.
fn source_of(
    call: &Call,
    task: &Task,
    name: PromptName,
    template: Option<&str>,
) -> Result<PromptSource> {
    let project = call::registered(call, &task.project)?;
    let commit = rules_commit::rules_commit(call, &project, task)?;
    let folder = settings::prompts_folder(call, &project, &commit)?;
    let paths = name.paths(&folder, template);
    let files = rules::base_files(&project.path, &commit, &paths)?;
    source_in(&files, &commit, name, &paths)
}

/// Exactly what an agent of the task is told. `message`: a person's words; `missing`: what the agent still owes
/// ([`orange_core::prompt::missing`]).
pub fn prompt_for(
    call: &Call,
    task: &Task,
    name: PromptName,
    message: &str,
    missing: &str,
) -> Result<String> {
    let source = prompt_source(call, task, name)?;
    if let Some(unusable) = &source.unusable {
        call.notice(format!("{unusable}; Orange's own prompt is used instead"));
    }
    let values = Values {
        message: message.to_owned(),
        missing: missing.to_owned(),
        ..values::prompt_values(call, task)?
    };
    Ok(source.template.render(&values))
}

/// What the agent of a phase is told. A plan may name another prompt than that of the phase's type.
pub(crate) fn prompt_of_phase(
    call: &Call,
    task: &Task,
    name: PromptName,
    template: Option<&str>,
    fill: impl FnOnce(Values) -> Values,
) -> Result<String> {
    let source = source_of(call, task, name, template)?;
    if let Some(unusable) = &source.unusable {
        call.notice(format!("{unusable}; Orange's own prompt is used instead"));
    }
    let values = fill(values::prompt_values(call, task)?);
    Ok(source.template.render(&values))
}

/// The same with a person's words even where a repository's own prompt has no place for them.
pub(crate) fn prompt_with_message(
    call: &Call,
    task: &Task,
    name: PromptName,
    message: &str,
) -> Result<String> {
    let prompt = prompt_for(call, task, name, message, "")?;
    Ok(if prompt.contains(message.trim()) {
        prompt
    } else {
        format!("{prompt}\n\nA message from a person:\n\n{message}\n")
    })
}

/// The repository's own, the first of these files that is there, if it can be used.
pub(crate) fn source_in(
    files: &CommittedFiles<'_>,
    commit: &str,
    name: PromptName,
    paths: &[String],
) -> Result<PromptSource> {
    let is_there = |path: &&String| files.paths().any(|there| there == path.as_str());
    let Some(path) = paths.iter().find(is_there).cloned() else {
        return built_in(name, None);
    };
    let unusable = |line: Option<usize>, reason: String| {
        let unusable = Unusable {
            commit: commit.to_owned(),
            path: path.clone(),
            line,
            reason,
        };
        built_in(name, Some(unusable))
    };
    let text = match files.file(&path, MAX_BYTES)? {
        None => return built_in(name, None),
        Some(Err(UnreadableFile { line, reason })) => return unusable(line, reason),
        Some(Ok(text)) => text,
    };
    if text.trim().is_empty() {
        return unusable(None, "it is empty".into());
    }
    // No program can be given one as an argument.
    if text.contains('\0') {
        return unusable(None, "it has a NUL character".into());
    }
    match Template::parse(name, &text) {
        Ok(template) => Ok(PromptSource {
            name,
            text,
            origin: PromptOrigin::File {
                commit: commit.to_owned(),
                path,
            },
            unusable: None,
            template,
        }),
        Err(error) => unusable(Some(error.line), error.reason()),
    }
}

pub(crate) fn built_in(name: PromptName, unusable: Option<Unusable>) -> Result<PromptSource> {
    let text = name.built_in().to_owned();
    // Cannot happen: the tests read every one of them.
    let template = Template::parse(name, &text).map_err(|error| err!(Failed, "{error}"))?;
    Ok(PromptSource {
        name,
        text,
        origin: PromptOrigin::BuiltIn,
        unusable,
        template,
    })
}
