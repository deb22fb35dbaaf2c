//! Settings that can be named, and what each of them may be.

use super::values::{TypedLine, described, offering};
use clap_complete::CompletionCandidate;
use clap_complete::engine::ArgValueCompleter;
use orange_core::config::{Setting, SettingKind};
use orange_core::yaml::to_yaml_inline;
use orange_engine::views::{SettingView, ValueSource, settings};
use serde_json::Value;

pub(crate) fn keys() -> ArgValueCompleter {
    offering(|line, _| Some(line.keys(false)))
}

pub(crate) fn keys_in_file() -> ArgValueCompleter {
    offering(|line, _| Some(line.keys(true)))
}

/// What `config set KEY` can be given.
pub(crate) fn setting_values() -> ArgValueCompleter {
    offering(|line, _| {
        let mut command = line.words.windows(2);
        let at = command.position(|two| two == ["config", "set"])?;
        let after = line.words.get(at + 2..line.words.len().saturating_sub(1))?;
        let mut typed = after.iter().filter(|word| !word.starts_with('-'));
        let key = typed.next()?;
        let setting = Setting::of(key)?;
        let takes_more = typed.next().is_none() || setting.kind.is_list();
        takes_more.then(|| line.values_of(setting, key))
    })
}

/// `KEY=VALUE`, as `--config` takes it.
pub(crate) fn assignments() -> ArgValueCompleter {
    offering(|line, begun| {
        let Some((key, _)) = begun.split_once('=') else {
            let with_sign = |key: CompletionCandidate| {
                let name = format!("{}=", key.get_value().to_string_lossy());
                CompletionCandidate::new(name).help(key.get_help().cloned())
            };
            return Some(line.keys(false).into_iter().map(with_sign).collect());
        };
        let values = line.values_of(Setting::of(key)?, key).into_iter();
        let offers = values.map(|value| value.add_prefix(format!("{key}=")));
        Some(offers.collect())
    })
}

impl TypedLine {
    /// The keys in order; only those in config.yaml where there are any, if only they are asked for.
    fn keys(&self, in_file: bool) -> Vec<CompletionCandidate> {
        let offer = |one: &SettingView| {
            let is_in_file = matches!(one.sources.as_slice(), [ValueSource::User { .. }]);
            described(one.key.clone(), one.setting.about).hide(in_file && !is_in_file)
        };
        let mut keys: Vec<CompletionCandidate> = match self.settings() {
            Some(settings) => settings.iter().map(offer).collect(),
            None => {
                let all = Setting::all().iter();
                all.map(|setting| described(setting.key.to_owned(), setting.about))
                    .collect()
            }
        };
        // Names are the user's to choose.
        let is_row_of_names = |key: &CompletionCandidate| {
            let mut rows = Setting::all().iter().filter(|row| row.is_of_names());
            rows.any(|row| key.get_value() == row.key)
        };
        keys.retain(|key| !is_row_of_names(key));
        keys.sort_by(|one, other| one.get_value().cmp(other.get_value()));
        keys
    }

    /// The words that it may be; for what has no such list the value that it has, and the default.
    fn values_of(&self, setting: &'static Setting, key: &str) -> Vec<CompletionCandidate> {
        let settings = self.settings().unwrap_or_default();
        let now = settings.iter().find(|one| one.key == key);
        let now = now.and_then(|one| typed(&one.value));
        let default = typed(&setting.default_value());
        let what = |value: &str| match Some(value) {
            value if value == now.as_deref() => "as it is now",
            value if value == default.as_deref() => "the default",
            _ => "",
        };
        let words: Vec<String> = match setting.kind {
            SettingKind::Flag => ["true", "false"].map(str::to_owned).to_vec(),
            SettingKind::OneOf(words) => words.iter().map(|&word| word.to_owned()).collect(),
            SettingKind::Harness => self.harnesses(),
            SettingKind::Secret => Vec::new(),
            _ => {
                let mut known: Vec<String> =
                    [&now, &default].into_iter().flatten().cloned().collect();
                known.dedup();
                if known.is_empty() {
                    let example = setting.example.to_owned();
                    return vec![described(example, "for example")];
                }
                known
            }
        };
        let offer = |word: String| match what(&word) {
            "" => CompletionCandidate::new(word),
            what => described(word.clone(), what),
        };
        words.into_iter().map(offer).collect()
    }

    fn settings(&self) -> Option<Vec<SettingView>> {
        let view = settings::settings(&self.call()?, None).ok()?;
        Some(view.settings)
    }
}

/// A value as it is typed; None for none.
fn typed(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        other => to_yaml_inline(other),
    }
}
