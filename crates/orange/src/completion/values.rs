//! The values themselves: projects, branches and whatever else has a name, with a word of what it is.

use super::tasks::Wanted;
use crate::cli;
use crate::help::{is_shown, topics};
use crate::session;
use crate::ui::clean;
use clap::Command;
use clap_complete::CompletionCandidate;
use orange_core::prompt::PromptName;
use orange_core::task::WorkflowName;
use orange_core::workflow::Workflow;
use orange_engine::views::{find, quick_reads};
use orange_engine::{Call, Settings, harness, settings, trash};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

/// What an argument names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Values {
    Task(Wanted),
    Deleted,
    Project,
    Branch,
    Harness,
    Status,
    Prompt,
    Rescue,
    /// A command or a topic.
    Help,
    File,
    Folder,
    /// The key of a setting.
    Key,
    /// One that config.yaml says.
    KeyInFile,
    /// What the setting before it may be.
    SettingValue,
    /// A key, an equals sign and a value.
    Assignment,
    Words(&'static [&'static str]),
}

/// The line that is being typed, and where.
pub(super) struct Line {
    pub(super) words: Vec<String>,
    folder: Option<PathBuf>,
}

impl Line {
    pub(super) fn new(words: &[OsString], folder: Option<PathBuf>) -> Arc<Line> {
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        Arc::new(Line {
            words: words.collect(),
            folder,
        })
    }

    /// What can stand where this word has been begun.
    pub(super) fn offers(&self, values: Values, begun: &OsStr) -> Vec<CompletionCandidate> {
        let Some(begun) = begun.to_str() else {
            return Vec::new();
        };
        let mut offers = match values {
            Values::Words(words) => words.iter().map(CompletionCandidate::new).collect(),
            Values::Help => self.help(),
            Values::File | Values::Folder => Vec::new(),
            Values::Task(wanted) => self.tasks(begun, wanted),
            Values::Key => self.keys(false),
            Values::KeyInFile => self.keys(true),
            Values::SettingValue => self.setting_values(),
            Values::Assignment => self.assignments(begun),
            Values::Deleted => self.deleted(),
            Values::Project => self.projects(),
            Values::Branch => self.branches(),
            Values::Harness => self.harnesses(),
            Values::Status => statuses(),
            Values::Prompt => prompts(),
            Values::Rescue => self.rescues(),
        };
        offers.retain(|offer| begins(&offer.get_value().to_string_lossy(), begun));
        offers
    }

    pub(super) fn call(&self) -> Option<Call> {
        Some(Call::new(Settings::at(session::home().ok()?)))
    }

    /// The project that the line names, or the one that the user is in.
    pub(super) fn project(&self, call: &Call) -> Option<String> {
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix("--project") {
                Some("") => return words.next().cloned(),
                Some(value) => return value.strip_prefix('=').map(str::to_owned),
                None => {}
            }
        }
        find::project_at(call, self.folder.as_ref()?).ok().flatten()
    }

    fn deleted(&self) -> Vec<CompletionCandidate> {
        let Some(call) = self.call() else {
            return Vec::new();
        };
        let here = self.project(&call);
        let tasks = trash::trashed(&call);
        let offer = |task: &orange_core::task::Task| {
            let name = match task.key {
                Some(key) if here.as_ref() == Some(&task.project) => key.to_string(),
                Some(key) => format!("{}:{key}", task.project),
                None => task.id.clone(),
            };
            described(name, &format!("deleted: {}", task.summary))
        };
        tasks.iter().map(|(_, task)| offer(task)).collect()
    }

    fn projects(&self) -> Vec<CompletionCandidate> {
        let projects = self.call().and_then(|call| call.projects().ok());
        let projects = projects.unwrap_or_default().into_iter();
        projects
            .map(|project| described(project.name, &project.path.display().to_string()))
            .collect()
    }

    fn branches(&self) -> Vec<CompletionCandidate> {
        let Some(call) = self.call() else {
            return Vec::new();
        };
        let project = self.project(&call);
        let branches = project.map(|project| quick_reads::quick_branches(&call, &project));
        let branches = branches.unwrap_or_default().into_iter();
        branches.map(CompletionCandidate::new).collect()
    }

    pub(super) fn harnesses(&self) -> Vec<CompletionCandidate> {
        let mut call = self.call();
        let config = call.as_mut().and_then(|call| settings::config(call).ok());
        let names = harness::names(&config.cloned().unwrap_or_default());
        names.into_iter().map(CompletionCandidate::new).collect()
    }

    /// The commands below the words that stand there, and topics where none does.
    fn help(&self) -> Vec<CompletionCandidate> {
        let mut command: &Command = &cli::command();
        let before = self.words.len().saturating_sub(1);
        for word in self.words.get(2..before).unwrap_or_default() {
            match command.find_subcommand(word) {
                Some(below) => command = below,
                None => return Vec::new(),
            }
        }
        let mut offers = Vec::new();
        if before == 2 && self.words.get(1).is_some_and(|word| word == "help") {
            let topics = topics::ALL.iter();
            offers.extend(topics.map(|topic| described(topic.name.to_owned(), topic.about)));
        }
        for below in command.get_subcommands().filter(is_shown) {
            let about = below.get_about().map(ToString::to_string);
            let name = below.get_name().to_owned();
            if offers.iter().all(|offer| *offer.get_value() != *name) {
                offers.push(described(name, &about.unwrap_or_default()));
            }
        }
        offers
    }
}

fn statuses() -> Vec<CompletionCandidate> {
    let statuses = Workflow::named(WorkflowName::Interactive).statuses.iter();
    statuses
        .map(|info| described(info.status.to_string(), info.meaning))
        .collect()
}

fn prompts() -> Vec<CompletionCandidate> {
    let prompts = PromptName::ALL.iter();
    prompts
        .map(|name| described(name.to_string(), name.when()))
        .collect()
}

/// Keys are typed in small letters too.
pub(super) fn begins(name: &str, begun: &str) -> bool {
    let start = name.as_bytes().get(..begun.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(begun.as_bytes()))
}

pub(super) fn described(name: String, what: &str) -> CompletionCandidate {
    let what = what.lines().next().unwrap_or_default();
    CompletionCandidate::new(name).help(Some(clean(what).into_owned().into()))
}
