//! Every setting with its value, where each value comes from, and what is wrong with it.

use crate::call::{Call, Outside, Override};
use crate::error::Result;
use crate::git::short;
use crate::harness;
use crate::projects;
use crate::rules::{self, newest_base};
use crate::settings::{self, outside, told_of};
use orange_core::config::{
    Config, Layer, Mistake, RepositoryWord, SaidSetting, Setting, SettingKind,
};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// A setting as it counts.
#[derive(Debug, Clone)]
pub struct SettingView {
    pub setting: &'static Setting,
    /// As it is asked for: `harness.mine`.
    pub key: String,
    pub value: Value,
    /// Several where values are put together; the repository's comes first.
    pub sources: Vec<ValueSource>,
    /// What is used where nothing is set, if that depends on this machine.
    pub chosen: Option<String>,
    /// Why the value cannot be used; then it is as somebody wrote it.
    pub mistake: Option<Mistake>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    Default,
    /// The user's file, as a person finds it.
    User {
        file: String,
        line: usize,
    },
    Repository {
        commit: String,
        line: usize,
    },
    Variable(String),
    CommandLine,
}

/// All settings, and what was said in vain.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SettingsView {
    pub settings: Vec<SettingView>,
    /// The project whose repository was asked.
    pub project: Option<String>,
    pub unknown: Vec<UnknownSetting>,
    /// What does not count in the repository's.
    pub ignored: Vec<String>,
    /// What became of lines with names of older files.
    pub read_as: Vec<String>,
    /// All that is wrong with the user's file.
    #[serde(skip)]
    pub mistakes: Vec<Mistake>,
}

/// What in the user's file means nothing.
#[derive(Debug, Clone, Serialize)]
pub struct UnknownSetting {
    pub key: String,
    pub value: Value,
    #[serde(serialize_with = "place")]
    pub source: ValueSource,
    #[serde(serialize_with = "reason")]
    pub mistake: Mistake,
}

fn place<S: Serializer>(source: &ValueSource, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(source)
}

fn reason<S: Serializer>(mistake: &Mistake, to: S) -> std::result::Result<S::Ok, S::Error> {
    mistake.reason.serialize(to)
}

/// A place that a person finds: `~/orange/config.yaml:7`.
impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueSource::Default => f.write_str("default"),
            ValueSource::User { file, line } => write!(f, "{file}:{line}"),
            ValueSource::Repository { commit, line } => {
                write!(f, ".orange/config.yaml@{}:{line}", short(commit))
            }
            ValueSource::Variable(name) => f.write_str(name),
            ValueSource::CommandLine => f.write_str("--config"),
        }
    }
}

impl Serialize for SettingView {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SettingKeys<'a> {
            key: &'a str,
            value: &'a Value,
            source: String,
            is_default: bool,
            default: Value,
            #[serde(skip_serializing_if = "Option::is_none")]
            chosen: Option<&'a str>,
            about: &'static str,
            mistake: Option<&'a str>,
        }
        let sources: Vec<String> = self.sources.iter().map(ValueSource::to_string).collect();
        let keys = SettingKeys {
            key: &self.key,
            value: &self.value,
            source: sources.join(", "),
            is_default: self.sources == [ValueSource::Default],
            default: self.setting.default_of(&self.key),
            chosen: self.chosen.as_deref(),
            about: self.setting.about,
            mistake: self.mistake.as_ref().map(|mistake| mistake.reason.as_str()),
        };
        keys.serialize(to)
    }
}

/// The user's file after somebody edited it.
#[derive(Debug, Serialize)]
pub struct EditedSettings<'a> {
    pub file: &'a Path,
    pub changed: bool,
}

/// What the layers say, from which a value is made.
struct Layers<'a> {
    user: &'a Layer,
    /// The name of the user's file.
    file: &'a str,
    repository: &'a Layer,
    commit: &'a str,
    overrides: &'a [Override],
    /// Keys of the repository's that do not count beside the user's settings.
    refused: &'a [&'a str],
}

/// Every setting, for new work of a project if one is named. Mistakes in the user's file do not hide the rest.
pub fn settings(call: &Call, project: Option<&str>) -> Result<SettingsView> {
    let user = settings::user_layer(call)?;
    // Values from outside are checked with the rest.
    let mut config = Config::default();
    user.apply(&mut config);
    outside::apply_overrides(call, &mut config)?;
    // An earlier reader of the file has reported some of them; here all of them are in the answer.
    for ignored in &user.ignored {
        call.forget_notice(told_of(ignored));
    }
    let file = settings_file_name(call);
    let unknown = user.ignored.iter().map(|one| UnknownSetting {
        key: one.key.clone(),
        value: one.value.clone(),
        source: ValueSource::User {
            file: file.clone(),
            line: one.line,
        },
        mistake: one.mistake.clone(),
    });
    let mut view = SettingsView {
        mistakes: user.mistakes(),
        unknown: unknown.collect(),
        ..SettingsView::default()
    };
    let (mut repository, mut commit) = (Layer::default(), String::new());
    if let Some(name) = project {
        let registry = call.projects()?;
        let project = projects::named(&registry, name)?;
        view.project = Some(name.to_owned());
        // Without a commit there is nothing that a repository could say.
        if let Ok(base) = newest_base(project) {
            match rules::layer_at(&project.path, &base) {
                Ok((layer, _)) => repository = layer,
                Err(error) => view.ignored.push(error.message),
            }
            commit = base;
        }
    }
    let said = repository.ignored.iter();
    view.ignored
        .extend(said.map(|ignored| format!(".orange/config.yaml, {ignored}")));
    let read_as = |file: &str, layer: &Layer| {
        let lines = layer.read_as.iter();
        let told = lines.map(|line| format!("{file}, {line}"));
        told.collect::<Vec<_>>()
    };
    view.read_as = [
        read_as("config.yaml", &user),
        read_as(rules::CONFIG, &repository),
    ]
    .concat();
    let mut counting = Config::default();
    user.apply(&mut counting);
    let refused = repository.apply_over_user(&mut counting);
    let told = refused
        .iter()
        .map(|one| format!("{}, {one}", rules::CONFIG));
    view.ignored.extend(told);
    let refused: Vec<&str> = refused.iter().map(|one| one.key.as_str()).collect();
    let layers = Layers {
        refused: &refused,
        user: &user,
        file: &file,
        repository: &repository,
        commit: &commit,
        overrides: &call.overrides,
    };
    view.settings = layers.settings();
    view.ignored.extend(layers.looser());
    for one in &mut view.settings {
        let is_open =
            one.setting.kind == SettingKind::Harness && one.sources == [ValueSource::Default];
        if is_open && one.key == "agents.harness" {
            let first =
                harness::first_installed(&config, &call.orange, call.search_path.as_deref());
            one.chosen = first.map(|first| first.name);
        }
    }
    Ok(view)
}

/// The user's file, as a person finds it: `~/orange/config.yaml`.
pub fn settings_file_name(call: &Call) -> String {
    let path = settings::settings_file(call);
    let below = (call.user_home.as_ref()).and_then(|home| path.strip_prefix(home).ok());
    match below {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

impl Layers<'_> {
    /// The repository's lines about gates that are stricter anyway.
    fn looser(&self) -> Vec<String> {
        let said = self.repository.said().iter();
        let gates = said.filter(|said| said.setting.repository == RepositoryWord::Stricter);
        let looser = gates.filter_map(|said| {
            let (value, _) = self.counted(said.setting, &said.key);
            let (_, is_stricter) = said.setting.stricter(said.value(), value.clone());
            let value = value.as_str().unwrap_or_default();
            is_stricter.then(|| {
                let (file, line, key) = (rules::CONFIG, said.line, &said.key);
                format!("{file}, line {line}: {key} does not count here: it is {value}, which is stricter")
            })
        });
        looser.collect()
    }

    fn settings(&self) -> Vec<SettingView> {
        let mut all = Vec::new();
        for setting in Setting::all() {
            let mut keys = vec![setting.key.to_owned()];
            if setting.is_of_names() {
                let own = self.user.said().iter().map(|said| &said.key);
                let own = own.chain(self.user.bad.iter().map(|bad| &bad.key));
                let own = own.chain(self.overrides.iter().map(|said| &said.key));
                let own = own.chain(self.repository.said().iter().map(|said| &said.key));
                let of_row =
                    |key: &&String| Setting::of(key).is_some_and(|found| found.key == setting.key);
                let mut named: BTreeSet<String> = own.filter(of_row).cloned().collect();
                named.extend(setting.usual_keys());
                if !named.is_empty() {
                    keys = named.into_iter().collect();
                }
            }
            all.extend(keys.into_iter().map(|key| self.setting(setting, key)));
        }
        all
    }

    fn setting(&self, setting: &'static Setting, key: String) -> SettingView {
        let bad = self.user.bad.iter().find(|bad| bad.key == key);
        let (value, sources) = match bad {
            Some(bad) => (bad.value.clone(), vec![self.in_file(bad.line)]),
            None => self.counted(setting, &key),
        };
        SettingView {
            setting,
            key,
            value: setting.shown(value),
            sources,
            chosen: None,
            mistake: bad.map(|bad| bad.mistake.clone()),
        }
    }

    /// The value that counts, and where it comes from.
    fn counted(&self, setting: &Setting, key: &str) -> (Value, Vec<ValueSource>) {
        let mut said: Vec<(Value, ValueSource)> = Vec::new();
        let theirs = self.repository.get(key).map(|said| self.theirs(said));
        let own = self.overridden(setting, key).or_else(|| {
            let said = self.user.get(key)?;
            Some((said.value(), self.in_file(said.line)))
        });
        let outside = own.as_ref().is_some_and(|(_, source)| {
            matches!(source, ValueSource::Variable(_) | ValueSource::CommandLine)
        });
        match (setting.repository, theirs, own) {
            (RepositoryWord::Adds, theirs, own) => said.extend(theirs.into_iter().chain(own)),
            (RepositoryWord::Says | RepositoryWord::Tightens(_), Some(theirs), _) if !outside => {
                said.push(theirs)
            }
            (RepositoryWord::Limited, Some(theirs), _)
                if !outside && !self.refused.contains(&key) =>
            {
                said.push(theirs)
            }
            (RepositoryWord::Limited, _, own) => said.extend(own),
            (RepositoryWord::Stricter, Some((theirs, place)), own) if !outside => {
                let default = setting.default_of(key);
                let usual = own.as_ref().map_or(default, |(value, _)| value.clone());
                match setting.stricter(usual, theirs) {
                    (theirs, true) => said.push((theirs, place)),
                    (_, false) => said.extend(own),
                }
            }
            (_, _, Some(own)) => said.push(own),
            (_, Some(theirs), None) => said.push(theirs),
            (_, None, None) => {}
        }
        let mut sources = Vec::new();
        let mut value = setting.default_of(key);
        for (more, source) in said {
            value = match (value, more) {
                (Value::Array(mut so_far), Value::Array(more)) => {
                    so_far.extend(more);
                    Value::Array(so_far)
                }
                (_, more) => more,
            };
            sources.push(source);
        }
        if sources.is_empty() {
            sources.push(ValueSource::Default);
        }
        (value, sources)
    }

    fn in_file(&self, line: usize) -> ValueSource {
        let file = self.file.to_owned();
        ValueSource::User { file, line }
    }

    fn theirs(&self, said: &SaidSetting) -> (Value, ValueSource) {
        let commit = self.commit.to_owned();
        let line = said.line;
        (said.value(), ValueSource::Repository { commit, line })
    }

    fn overridden(&self, setting: &Setting, key: &str) -> Option<(Value, ValueSource)> {
        let said = self.overrides.iter().rfind(|said| said.key == key)?;
        let value = setting.value(&setting.node(&said.value).ok()?);
        let source = match said.from {
            Outside::Environment => ValueSource::Variable(said.place()),
            Outside::CommandLine => ValueSource::CommandLine,
        };
        Some((value, source))
    }
}
