//! config.yaml: the user's settings, with their defaults. A repository's `.orange/config.yaml` is read the same way.

mod agents;
mod values;

#[cfg(test)]
mod tests;

use crate::choice;
use crate::merge::{RemoteBranches, Strategy};
use crate::yaml::{self, Node};
use std::time::Duration;

pub use agents::{AgentsConfig, CustomHarness, CustomHarnesses, Permissions};
pub use values::time_span;
use values::{
    above_zero, days, flag, leaves, lines_of_text, must_be, one_of, scalar, several_commands, text,
    time_of,
};

/// What a setup or teardown command may take unless somebody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// Settings. A missing file, or a missing key, means the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub review: ReviewConfig,
    pub git: GitConfig,
    pub workspace: WorkspaceConfig,
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

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("config.yaml{}: {reason}", line.map_or(String::new(), |line| format!(", line {line}")))]
pub struct ConfigError {
    pub line: Option<usize>,
    pub reason: String,
}

/// The names that mean something, for the message about one that does not.
const KNOWN: &[&str] = &[
    "review.max_rounds",
    "git.branch_template",
    "git.fetch",
    "workspace.copy",
    "workspace.setup",
    "workspace.teardown",
    "workspace.timeout",
    "rescue.keep_days",
    "trash.keep_days",
    "screens.keep_days",
    "list.keep_days",
    "log.level",
    "log.keep_days",
    "agents.harness",
    "agents.review_harness",
    "agents.limit",
    "agents.spawn_on_create",
    "agents.permissions",
    "agents.go_on",
    "agents.retry_delay",
    "agents.start_patience",
    "harness.NAME",
    "tmux.server",
    "notify.command",
    "monitor.interval",
    "merge.strategy",
    "merge.push",
    "merge.delete_remote_branch",
    "verify.command",
    "verify.timeout",
];

impl Config {
    /// Reads settings; the second value lists keys that mean nothing here (a newer program may know them).
    pub fn parse(text: &str) -> Result<(Config, Vec<String>), ConfigError> {
        let mut config = Config::default();
        let unknown = each_setting(text, |path, node| config.set(path, node))?;
        Ok((config, unknown))
    }

    pub fn known_keys() -> &'static [&'static str] {
        KNOWN
    }

    /// The variable that overrides a setting: `ORANGE_AGENTS_HARNESS` for `agents.harness`.
    pub fn variable(key: &str) -> String {
        format!("ORANGE_{}", key.to_uppercase().replace('.', "_"))
    }

    /// Sets one setting from outside the file; an error says what the value must be.
    pub fn override_with(&mut self, key: &str, value: &str) -> Result<(), String> {
        let node = Node::Scalar {
            text: value.to_owned(),
            plain: true,
            span: 0..0,
        };
        self.set(key, &node).map(|_| ())
    }

    /// False if the setting means nothing; an error is why its value cannot be used.
    fn set(&mut self, path: &str, node: &Node) -> Result<bool, String> {
        match path {
            "review.max_rounds" => self.review.max_rounds = above_zero(node)?,
            "rescue.keep_days" => self.rescue.keep_days = days(node)?,
            "trash.keep_days" => self.trash.keep_days = days(node)?,
            "screens.keep_days" => self.screens.keep_days = days(node)?,
            "list.keep_days" => self.list.keep_days = days(node)?,
            "log.keep_days" => self.log.keep_days = days(node)?,
            "log.level" => self.log.level = one_of(node)?,
            "git.branch_template" => {
                let template = scalar(node).ok_or("must be text")?;
                // Tried here, so that a mistake is found when it is made.
                crate::naming::branch_from_template(template, "TASK-001", "slug", "id", "project")
                    .map_err(|error| format!(": {error}"))?;
                self.git.branch_template = template.to_owned();
            }
            "git.fetch" => self.git.fetch = one_of(node)?,
            "tmux.server" => self.tmux.server = text(node)?,
            "notify.command" => self.notify.command = text(node)?,
            "merge.strategy" => {
                let word = scalar(node).unwrap_or_default();
                self.merge.strategy = crate::merge::strategy(word).map_err(must_be)?;
            }
            "merge.push" => self.merge.push = flag(node)?,
            "merge.delete_remote_branch" => self.merge.delete_remote_branch = one_of(node)?,
            "monitor.interval" => self.monitor.interval = time_of(node)?,
            _ => {
                if let Some(name) = path.strip_prefix("harness.") {
                    self.harnesses
                        .insert(name.to_owned(), agents::custom(node)?);
                    return Ok(true);
                }
                return Ok(self.agents.set(path, node)? || self.workspace.set(path, node)?);
            }
        }
        Ok(true)
    }
}

impl WorkspaceConfig {
    /// Reads a repository's own settings. Whatever is not about workspaces is listed as meaning nothing.
    pub fn parse(text: &str) -> Result<(WorkspaceConfig, Vec<String>), ConfigError> {
        let mut config = WorkspaceConfig::default();
        let unknown = each_setting(text, |path, node| config.set(path, node))?;
        Ok((config, unknown))
    }

    pub fn known_keys() -> impl Iterator<Item = &'static str> {
        let about_workspaces =
            |key: &&str| key.starts_with("workspace.") || key.starts_with("verify.");
        KNOWN.iter().copied().filter(about_workspaces)
    }

    fn set(&mut self, path: &str, node: &Node) -> Result<bool, String> {
        match path {
            "workspace.copy" => self.copy = lines_of_text(node)?,
            "workspace.setup" => self.setup = several_commands(node)?,
            "workspace.teardown" => self.teardown = several_commands(node)?,
            "workspace.timeout" => self.timeout = Some(time_of(node)?),
            "verify.command" => self.verify = several_commands(node)?,
            "verify.timeout" => self.verify_timeout = Some(time_of(node)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Gives every setting of a text to `set`; lists those it does not know.
fn each_setting(
    text: &str,
    mut set: impl FnMut(&str, &Node) -> Result<bool, String>,
) -> Result<Vec<String>, ConfigError> {
    let mut unknown = Vec::new();
    let root = yaml::read(text, 0..text.len()).map_err(|error| ConfigError {
        line: None,
        reason: error.to_string(),
    })?;
    let Some(root) = root else {
        return Ok(unknown);
    };
    for (path, node) in leaves(&root)? {
        let known = set(&path, node).map_err(|problem| ConfigError {
            line: Some(yaml::line_of(text, node.span().start)),
            reason: match problem.strip_prefix(':') {
                Some(detail) => format!("{path}:{detail}"),
                None => format!("{path} {problem}"),
            },
        })?;
        if !known {
            unknown.push(path);
        }
    }
    Ok(unknown)
}
