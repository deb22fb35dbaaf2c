//! The values themselves: projects, branches and whatever else has a name, with a word of what it is.

use crate::cli;
use crate::help::{is_shown, topics};
use crate::session;
use crate::ui::clean;
use clap::Command;
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCompleter, PathCompleter};
use orange_core::prompt::PromptName;
use orange_core::task::Task;
use orange_core::workflow::Workflow;
use orange_engine::store::Place;
use orange_engine::views::quick_reads;
use orange_engine::{Call, Settings, find, harness, settings, trash};
use std::ffi::OsStr;
use std::path::PathBuf;

pub(super) struct TypedLine {
    pub(super) words: Vec<String>,
    pub(super) folder: Option<PathBuf>,
}

/// What can be offered; None where nothing can be found out.
pub(super) type Offers = Option<Vec<CompletionCandidate>>;

/// A completer: of these values those that go on from what has been typed.
pub(super) fn offering<F>(values: F) -> ArgValueCompleter
where
    F: Fn(&TypedLine, &str) -> Offers + Send + Sync + 'static,
{
    ArgValueCompleter::new(move |begun: &OsStr| {
        let begun = begun.to_str();
        let offers = begun.and_then(|begun| Some((begun, values(&TypedLine::typed(), begun)?)));
        let Some((begun, mut offers)) = offers else {
            return Vec::new();
        };
        offers.retain(|offer| begins(&offer.get_value().to_string_lossy(), begun));
        offers
    })
}

impl TypedLine {
    fn typed() -> TypedLine {
        let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
        TypedLine {
            words: words
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            folder: std::env::current_dir().ok(),
        }
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

    pub(super) fn harnesses(&self) -> Vec<String> {
        let call = self.call();
        let config = call.as_ref().and_then(|call| settings::config(call).ok());
        harness::names(&config.cloned().unwrap_or_default())
    }
}

pub(crate) fn words(words: &'static [&'static str]) -> ArgValueCompleter {
    offering(|_, _| Some(words.iter().map(CompletionCandidate::new).collect()))
}

/// Files, and `-` for standard input.
pub(crate) fn files() -> ArgValueCompleter {
    ArgValueCompleter::new(PathCompleter::any().stdio())
}

pub(crate) fn deleted_tasks() -> ArgValueCompleter {
    offering(|line, _| {
        let call = line.call()?;
        let here = line.project(&call);
        let offer = |(_, task): &(Place, Task)| {
            let name = match task.key {
                Some(key) if here.as_ref() == Some(&task.project) => key.to_string(),
                Some(key) => format!("{}:{key}", task.project),
                None => task.id.clone(),
            };
            described(name, &format!("deleted: {}", task.summary))
        };
        Some(trash::trashed(&call).iter().map(offer).collect())
    })
}

pub(crate) fn projects() -> ArgValueCompleter {
    offering(|line, _| {
        let projects = line.call()?.projects().ok()?.into_iter();
        let offers =
            projects.map(|project| described(project.name, &project.path.display().to_string()));
        Some(offers.collect())
    })
}

pub(crate) fn branches() -> ArgValueCompleter {
    offering(|line, _| {
        let call = line.call()?;
        let branches = quick_reads::quick_branches(&call, &line.project(&call)?);
        Some(branches.into_iter().map(CompletionCandidate::new).collect())
    })
}

pub(crate) fn harnesses() -> ArgValueCompleter {
    offering(|line, _| {
        let names = line.harnesses().into_iter();
        Some(names.map(CompletionCandidate::new).collect())
    })
}

pub(crate) fn statuses() -> ArgValueCompleter {
    offering(|_, _| {
        let statuses = Workflow::statuses_in_use();
        let offers = statuses
            .into_iter()
            .map(|info| described(info.status.to_string(), info.meaning));
        Some(offers.collect())
    })
}

pub(crate) fn prompts() -> ArgValueCompleter {
    offering(|_, _| {
        let prompts = PromptName::ALL.iter();
        let offers = prompts.map(|name| described(name.to_string(), name.when()));
        Some(offers.collect())
    })
}

/// The commands below the words that stand there, and topics where none does.
pub(crate) fn commands() -> ArgValueCompleter {
    offering(|line, _| {
        let mut command: &Command = &cli::command();
        let before = line.words.len().saturating_sub(1);
        for word in line.words.get(2..before).unwrap_or_default() {
            command = command.find_subcommand(word)?;
        }
        let mut offers = Vec::new();
        if before == 2 && line.words.get(1).is_some_and(|word| word == "help") {
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
        Some(offers)
    })
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
