//! Settings in layers: defaults, the user's config.yaml, a repository's, the environment, the command line.

pub mod harness;
pub mod models;
pub(crate) mod outside;

use crate::call::{self, Call, Loaded};
use crate::error::{Code, Error, Result, err};
use crate::git::committed::text_of;
use crate::projects::Project;
use crate::rules::{self, newest_base, rules_commit};
use orange_core::config::{Config, ConfigError, Layer, LogLevel, Mistake, Rejected};
use orange_core::task::Task;
use orange_core::{Action, Text, text};
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// No settings of a person are longer.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;

/// A notice about a line of the user's file that does not count.
pub(crate) fn told_of(ignored: &Rejected) -> String {
    format!("config.yaml, {ignored}")
}

/// The user's settings; a missing file means the defaults. What a repository says is not in them.
pub fn config(call: &Call) -> Result<&Config> {
    Ok(&loaded(call)?.config)
}

pub(crate) fn loaded(call: &Call) -> Result<&Loaded> {
    if let Some(loaded) = call.loaded.get() {
        return Ok(loaded);
    }
    let loaded = load(call)?;
    Ok(call.loaded.get_or_init(|| loaded))
}

/// Whether defaults stand in for what somebody wrote wrongly: not good enough to act upon.
pub fn has_lenient_config(call: &Call) -> bool {
    loaded(call).is_ok_and(|loaded| loaded.lenient)
}

/// For a command that only reads, a mistake is told and does not keep anybody from looking.
fn load(call: &Call) -> Result<Loaded> {
    let (user, trouble) = match user_layer(call) {
        Ok(layer) if call.only_reads && !layer.bad.is_empty() => {
            let mistakes = layer.mistakes();
            let told = ConfigError { mistakes }.to_string();
            let rest = "what cannot be used has its default";
            (layer, Some(joined(&told, rest)))
        }
        Err(error) if call.only_reads => {
            let rest = "all settings have their defaults";
            (Layer::default(), Some(joined(&error.message, rest)))
        }
        layer => {
            let usable = layer?.usable();
            (
                usable.map_err(|error| unusable(call, error.to_string()))?,
                None,
            )
        }
    };
    let mut config = Config::default();
    user.apply(&mut config);
    let unheard = outside::apply_overrides(call, &mut config)?;
    let lenient = trouble.is_some() || !unheard.is_empty();
    match trouble {
        Some(trouble) => call.notice(trouble),
        None => user
            .ignored
            .iter()
            .for_each(|ignored| call.notice(told_of(ignored))),
    }
    for problem in unheard {
        call.notice(format!("{problem}; the variable does not count"));
    }
    Ok(Loaded {
        user,
        config,
        lenient,
    })
}

/// Several mistakes are lines of their own.
fn joined(told: &str, rest: &str) -> Text {
    let between = if told.contains('\n') { "\n" } else { "; " };
    text!(
        "{told}{between}{rest} until you correct it: {}",
        Action::edit_settings()
    )
}

/// The settings for a task: the user's, and what its repository says where its work started from.
pub(crate) fn config_for(call: &Call, task: &Task) -> Result<Config> {
    match call.project_of(&task.project) {
        Some(project) => {
            let commit = rules_commit::rules_commit(call, &project, task);
            config_at(call, &project, commit)
        }
        None => Ok(config(call)?.clone()),
    }
}

/// The same for new work of a project.
pub(crate) fn config_of(call: &Call, project: &Project) -> Result<Config> {
    config_at(call, project, newest_base(project))
}

/// The settings for the phases of a task. What its repository says of gates cannot be left out because nobody can read it: that is an
/// error. A repository without commits says nothing.
pub(crate) fn phased_config_for(call: &Call, task: &Task) -> Result<Config> {
    let project = call::registered(call, &task.project)?;
    match rules_commit::rules_commit(call, &project, task) {
        Ok(commit) => {
            let (layer, _) = rules::layer_at(&project.path, &commit)?;
            with_repository(call, &project, &layer)
        }
        Err(error) if error.code == Code::ConditionUnmet => Ok(config(call)?.clone()),
        Err(error) => Err(error),
    }
}

/// A repository that is gone or empty says nothing.
fn config_at(call: &Call, project: &Project, commit: Result<String>) -> Result<Config> {
    let Ok(commit) = commit else {
        return Ok(config(call)?.clone());
    };
    match rules::layer_at(&project.path, &commit) {
        Ok((layer, _)) => return with_repository(call, project, &layer),
        Err(error) if error.code == Code::Damaged => call.notice(format!(
            "project {}: {}; your own settings count",
            project.name, error.message
        )),
        // Callers that need git report its error.
        Err(error) => tracing::warn!(%error, "what the repository says is not known"),
    }
    Ok(config(call)?.clone())
}

/// The user's settings with those of a repository around them.
fn with_repository(call: &Call, project: &Project, layer: &Layer) -> Result<Config> {
    let user = &loaded(call)?.user;
    let mut config = Config::default();
    layer.apply_under_user(&mut config);
    user.apply(&mut config);
    for ignored in layer.apply_over_user(&mut config) {
        tracing::warn!(project = project.name, "{}, {ignored}", rules::CONFIG);
    }
    outside::apply_overrides(call, &mut config)?;
    Ok(config)
}

/// Where a commit of a project has its prompts. What is wrong with settings is said by those who need more of them.
pub(crate) fn prompts_folder(call: &Call, project: &Project, commit: &str) -> Result<String> {
    let mut config = config(call).cloned().unwrap_or_default();
    if let Ok((layer, _)) = rules::layer_at(&project.path, commit) {
        layer.apply_over_user(&mut config);
        outside::apply_overrides(call, &mut config)?;
    }
    Ok(config.prompts.directory)
}

/// Failed reviews before the task is stuck. Nobody asks before there is a review, and git need not be asked.
pub(crate) fn max_rounds(call: &Call, task: &Task) -> Result<u32> {
    match task.review_round {
        0 => Ok(config(call)?.review.max_rounds),
        _ => Ok(config_for(call, task)?.review.max_rounds),
    }
}

/// How much goes into the log. A config.yaml that cannot be read is named by whoever needs more of it.
pub fn log_level(call: &Call) -> Result<LogLevel> {
    if call.only_reads {
        return Ok(config(call)?.log.level);
    }
    if let Some(said) = call.overrides.iter().rfind(|said| said.key == "log.level") {
        let mut config = Config::default();
        if said.problem(&mut config).is_none() {
            return Ok(config.log.level);
        }
        // Whatever else is wrong out there is named with it.
        if let Ok(user) = user_layer(call) {
            user.apply(&mut config);
        }
        outside::apply_overrides(call, &mut config)?;
    }
    let level = config(call).map(|config| config.log.level);
    Ok(level.unwrap_or(Config::default().log.level))
}

pub fn settings_file(call: &Call) -> PathBuf {
    call.store.home().join("config.yaml")
}

/// What the user's file says; it may have mistakes, but can be read.
pub(crate) fn user_layer(call: &Call) -> Result<Layer> {
    let Some(bytes) = settings_bytes(call)? else {
        return Ok(Layer::default());
    };
    let text = text_of(bytes)
        .map_err(|line| unusable(call, format!("config.yaml, line {line}: it is not UTF-8")))?;
    Layer::of_user(&text).map_err(|mistake| unusable(call, format!("config.yaml, {mistake}")))
}

fn unusable(call: &Call, message: String) -> Error {
    let path = settings_file(call);
    Error::new(Code::Usage, message).hint(text!(
        "{}{} opens it",
        format!("correct {}: ", path.display()),
        Action::edit_settings()
    ))
}

/// What is wrong with the user's file: why it cannot be read, or what in it cannot be used or does not count.
pub(crate) fn settings_problems(call: &Call) -> Vec<String> {
    match user_layer(call) {
        Ok(layer) => layer.mistakes().iter().map(Mistake::to_string).collect(),
        Err(error) => vec![error.message.trim_start_matches("config.yaml, ").to_owned()],
    }
}

/// What is in the file, whatever it is; None: there is no file.
pub fn settings_bytes(call: &Call) -> Result<Option<Vec<u8>>> {
    let path = settings_file(call);
    let failed = |error: std::io::Error| Error::io("read", &path, &error);
    // A pipe would be waited for.
    if std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
        let error = err!(Usage, "{} is not a file", path.display());
        return Err(error.hint(text!(
            "move it away; {} makes a new one",
            Action::edit_settings()
        )));
    }
    let file = match std::fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        Err(err!(Usage, "{} is larger than 1 MB", path.display())
            .hint("these are no settings; move it away"))
    } else {
        Ok(Some(bytes))
    }
}
