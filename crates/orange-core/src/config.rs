//! config.yaml: the user's settings, with their defaults. A repository's `.orange/config.yaml` is read the same way.

mod agents;
mod aliases;
mod edit;
mod gates;
mod harnesses;
mod layer;
mod mistake;
mod names;
mod plans;
mod prices;
mod reference;
mod schema;
mod setting;
mod table;
mod values;

#[cfg(test)]
mod phased_tests;
#[cfg(test)]
mod tests;

use crate::choice;
pub use agents::{
    CustomHarness, CustomHarnesses, Effort, HarnessChange, HarnessChanges, Permissions,
    check_model, no_harness,
};
pub use aliases::Alias;
pub use edit::{ConfigEditError, edited};
pub use gates::GatesConfig;
pub use harnesses::{HARNESSES, NONE, REVIEWER, SIM};
pub use layer::{Layer, ReadAs, Rejected, SaidSetting, about};
pub use mistake::{ConfigError, Mistake};
pub use plans::server_in_words;
pub use prices::PRICE_PARTS;
pub use reference::{reference, template};
pub use schema::schema;
pub use setting::{RepositoryWord, Setting, SettingKind};
use std::time::Duration;
pub use table::{
    AgentsConfig, BudgetConfig, Config, PhasesConfig, TasksConfig, WeightsConfig, WorkspaceConfig,
};
pub use values::time_span;

/// What a setup or teardown command may take unless somebody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

choice! {
    /// When the remote is asked for news.
    pub enum Fetch ("time to fetch") {
        /// Before a workspace is made ready; waited for, but not for long.
        Create = "create",
        /// Meanwhile; the workspace starts from what is known.
        Background = "background",
        Never = "never",
    }
}

choice! {
    /// What becomes of a task whose check newly failed.
    pub enum OnFailure ("consequence of a failed check") {
        /// It goes back to its worker, as after a failed review.
        Return = "return",
        /// It moves on, and the merge asks a person.
        Warn = "warn",
    }
}

choice! {
    /// From nothing at all to everything.
    pub enum LogLevel ("log level") {
        Off = "off",
        Error = "error",
        Warn = "warn",
        Info = "info",
        Debug = "debug",
        Trace = "trace",
    }
}

impl Config {
    /// Reads settings; the second value lists those that mean nothing here (a newer program may know them).
    pub fn parse(text: &str) -> Result<(Config, Vec<Rejected>), ConfigError> {
        let layer = Layer::of_user(text)?.usable()?;
        let mut config = Config::default();
        layer.apply(&mut config);
        Ok((config, layer.ignored))
    }

    /// An agent does not set its own rules. What it may choose by a flag, it may choose by a variable; and where its
    /// window is, it has to be told.
    pub fn may_be_an_agents(key: &str) -> bool {
        matches!(
            key,
            "agents.harness"
                | "agents.review_harness"
                | "agents.model"
                | "agents.review_model"
                | "agents.effort"
                | "agents.review_effort"
                | "agents.spawn_on_create"
                | "tmux.server"
                | "log.level"
        )
    }

    pub fn known_keys() -> &'static [&'static str] {
        &table::KEYS
    }

    /// How the variables that override settings begin.
    pub const VARIABLES: &str = "ORANGE_";

    /// The variable that overrides a setting: `ORANGE_AGENTS_HARNESS` for `agents.harness`.
    pub fn variable(key: &str) -> String {
        let key = key.to_uppercase().replace(['.', '-'], "_");
        format!("{}{key}", Config::VARIABLES)
    }

    /// Sets one setting from outside the files; an error is a sentence about why it cannot be.
    pub fn override_with(&mut self, key: &str, value: &str) -> Result<(), String> {
        let Some(setting) = Setting::of(key) else {
            return Err(unknown(key));
        };
        let node = setting.node(value);
        let outcome = node.and_then(|node| (setting.set)(self, key, &node));
        if outcome.is_ok() && setting.repository == RepositoryWord::Stricter {
            self.gates.lift_demand(key);
        }
        outcome.map_err(|problem| about(key, &problem))
    }

    /// That a harness is named which there is not, by a setting from outside the files. Known only when all is put
    /// together: the harness may be one of the user's own.
    pub fn unknown_harness(&self, key: &str, value: &str) -> Option<String> {
        let setting = Setting::of(key).filter(|setting| setting.kind == SettingKind::Harness);
        let own = self.harnesses.keys().map(String::as_str);
        let problem = setting.and_then(|_| no_harness(value.trim(), own))?;
        Some(about(key, &problem))
    }
}

/// That a key means nothing, with the one that may have been meant.
pub fn unknown(key: &str) -> String {
    if let Some(name) = key.strip_prefix(names::KEYS_START) {
        return format!("the dashboard has no action {name:?} whose key can be chosen");
    }
    match Alias::of(key) {
        Some(Alias { key: Some(now), .. }) => return format!("{key} is called {now} here"),
        Some(Alias { about, .. }) => return format!("{key} stands only in files: {about}"),
        None => {}
    }
    match Setting::nearest(key) {
        Some(meant) => format!("there is no setting {key:?}; did you mean {meant}?"),
        None => format!("there is no setting {key:?}"),
    }
}

impl WorkspaceConfig {
    /// What a repository says about its workspaces.
    pub fn of(layer: &Layer) -> WorkspaceConfig {
        let mut config = Config::default();
        layer.apply(&mut config);
        config.workspace
    }
}
