//! config.yaml: the user's settings, with their defaults. A repository's `.orange/config.yaml` is read the same way.

mod agents;
mod edit;
mod harnesses;
mod layer;
mod mistake;
mod reference;
mod schema;
mod setting;
mod table;
mod values;

#[cfg(test)]
mod tests;

use crate::choice;
use crate::merge::{RemoteBranches, Strategy};
pub use agents::{
    AgentsConfig, CustomHarness, CustomHarnesses, Effort, Permissions, check_model, no_harness,
};
pub use edit::{EditError, edited};
pub use harnesses::{HARNESSES, NONE, SIM, USUAL};
pub use layer::{Bad, Ignored, Layer, Said, Why, about};
pub use mistake::{ConfigError, Mistake};
pub use reference::{reference, template};
pub use schema::schema;
pub use setting::{Kind, Repository, Setting};
use std::time::Duration;
pub use values::time_span;

/// What a setup or teardown command may take unless somebody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// Settings. A missing file, or a missing key, means the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub review: ReviewConfig,
    pub git: GitConfig,
    pub workspace: WorkspaceConfig,
    pub verify: VerifyConfig,
    pub rescue: RescueConfig,
    pub trash: TrashConfig,
    pub screens: ScreensConfig,
    pub list: ListConfig,
    pub log: LogConfig,
    pub agents: AgentsConfig,
    pub tmux: TmuxConfig,
    pub notify: NotifyConfig,
    pub monitor: MonitorConfig,
    pub merge: MergeConfig,
    pub harnesses: CustomHarnesses,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TmuxConfig {
    /// The name of a server, or the path of its socket. None: the user's default server.
    pub server: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifyConfig {
    /// Run with `sh -c` for each thing that needs a person.
    pub command: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorConfig {
    /// How often runs are looked at that may have ended without a word.
    pub interval: Duration,
}

/// How finished work gets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConfig {
    pub strategy: Strategy,
    /// Whether the target is pushed where there is a remote.
    pub push: bool,
    pub delete_remote_branch: RemoteBranches,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewConfig {
    /// Failed reviews before a task is stuck.
    pub max_rounds: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitConfig {
    /// How a branch is named after a summary.
    pub branch_template: String,
    /// When the remote is asked for news.
    pub fetch: Fetch,
}

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

/// What a workspace gets besides the checkout. A repository may say this too, in `.orange/config.yaml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceConfig {
    /// Patterns, as in .gitignore, of ignored files that are copied from the user's checkout.
    pub copy: Vec<String>,
    /// Commands that make a workspace ready.
    pub setup: Vec<String>,
    /// Commands that run before it is given back.
    pub teardown: Vec<String>,
    /// How long each command may take, if said.
    pub timeout: Option<Duration>,
    /// Commands that check a commit which was handed over.
    pub verify: Vec<String>,
    /// How long each of these may take, if said.
    pub verify_timeout: Option<Duration>,
}

/// What follows from a check of handed-over work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyConfig {
    pub on_failure: OnFailure,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RescueConfig {
    /// How long rescued work is kept.
    pub keep_days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashConfig {
    /// How long deleted tasks can be restored.
    pub keep_days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreensConfig {
    /// How long the last screens of agents are kept.
    pub keep_days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListConfig {
    /// How long a task that is over stays in the list.
    pub keep_days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// What is written to orange.log.
    pub level: LogLevel,
    /// How long that is kept.
    pub keep_days: u32,
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

impl Default for Config {
    fn default() -> Self {
        Config {
            review: ReviewConfig { max_rounds: 2 },
            git: GitConfig {
                branch_template: "orange/{key}-{slug}".into(),
                fetch: Fetch::Create,
            },
            workspace: WorkspaceConfig::default(),
            verify: VerifyConfig {
                on_failure: OnFailure::Return,
            },
            rescue: RescueConfig { keep_days: 30 },
            trash: TrashConfig { keep_days: 30 },
            screens: ScreensConfig { keep_days: 30 },
            list: ListConfig { keep_days: 7 },
            log: LogConfig {
                level: LogLevel::Info,
                keep_days: 30,
            },
            agents: AgentsConfig::default(),
            tmux: TmuxConfig::default(),
            notify: NotifyConfig::default(),
            monitor: MonitorConfig {
                interval: Duration::from_secs(30),
            },
            merge: MergeConfig {
                strategy: Strategy::Squash,
                push: true,
                delete_remote_branch: RemoteBranches::Own,
            },
            harnesses: CustomHarnesses::new(),
        }
    }
}

impl Config {
    /// Reads settings; the second value lists those that mean nothing here (a newer program may know them).
    pub fn parse(text: &str) -> Result<(Config, Vec<Ignored>), ConfigError> {
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

    /// The variable that overrides a setting: `ORANGE_AGENTS_HARNESS` for `agents.harness`.
    pub fn variable(key: &str) -> String {
        format!("ORANGE_{}", key.to_uppercase().replace(['.', '-'], "_"))
    }

    /// Sets one setting from outside the files; an error is a sentence about why it cannot be.
    pub fn override_with(&mut self, key: &str, value: &str) -> Result<(), String> {
        let Some(setting) = Setting::of(key) else {
            return Err(unknown(key));
        };
        let node = setting.node(value);
        let outcome = node.and_then(|node| (setting.set)(self, key, &node));
        outcome.map_err(|problem| about(key, &problem))
    }

    /// That a harness is named which there is not, by a setting from outside the files. Known only when all is put
    /// together: the harness may be one of the user's own.
    pub fn unknown_harness(&self, key: &str, value: &str) -> Option<String> {
        let setting = Setting::of(key).filter(|setting| setting.kind == Kind::Harness);
        let own = self.harnesses.keys().map(String::as_str);
        let problem = setting.and_then(|_| no_harness(value.trim(), own))?;
        Some(about(key, &problem))
    }
}

/// That a key means nothing, with the one that may have been meant.
pub fn unknown(key: &str) -> String {
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
