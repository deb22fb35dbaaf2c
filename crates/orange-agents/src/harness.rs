//! Harnesses: the agent CLIs that Orange can start. Each has a folder below `harness/` with all that only it needs, behind
//! the trait in `kind.rs`, which is the file to read first; `list.rs` names them.

mod claude;
mod codex;
pub mod environment;
mod gemini;
pub mod instructions;
mod kind;
mod list;
pub mod model;
mod opencode;
mod pi;
mod plain;
pub mod probe;
pub mod project_files;
mod sim;
pub mod supports;
pub mod watch;
pub mod words;

use crate::error::{Error, IoContext, Result, err};
use crate::runs::Conversation;
pub use kind::{Adapter, HarnessFacts, HarnessKind};
use model::ModelChoice;
use orange_core::config::{Config, CustomHarness, HarnessChange, Permissions, SIM};
pub use orange_core::config::{NONE, REVIEWER};
use orange_core::suggest::meant;
use orange_core::{Parameter, text};
use orange_sys::programs::located;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How an agent is started, and how it behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harness {
    pub name: String,
    /// The program as it is typed.
    pub program: String,
    /// Its arguments; `{prompt}`, `{prompt_file}`, `{round}` and `{attempt}` stand for what is known at the start.
    pub arguments: Vec<String>,
    /// It works once through and ends; it takes no messages.
    pub one_shot: bool,
    pub adapter: Adapter,
    pub interrupt: String,
    /// How to get it, where that is known.
    pub install: Option<&'static str>,
}

/// What is known of a run before it starts.
pub struct Occasion<'a> {
    pub run: &'a str,
    /// The run's own folder.
    pub folder: &'a Path,
    /// What all runs share.
    pub shared: &'a Path,
    /// Where TASK.md really is.
    pub task_folder: &'a Path,
    pub worktree: &'a Path,
    /// This program.
    pub orange: &'a Path,
    pub permissions: Permissions,
    pub choice: &'a ModelChoice,
    pub conversation: &'a Conversation,
    /// What the agent gets of the environment of whoever starts it.
    pub environment: &'a BTreeMap<String, String>,
    /// The home of the person who started the task.
    pub user_home: Option<&'a Path>,
    /// Whether it goes on by itself after a usage limit.
    pub go_on: bool,
    /// Whether it loads the repository's own files for it, which the user agreed to.
    pub project_settings: bool,
    /// The repository's instructions, for a harness that does not read them by itself.
    pub instructions: Option<&'a str>,
}

/// The folder for what all runs share, in Orange's home.
pub const SHARED: &str = "harness";

/// Writes what is not there, or not as it should be: another version's, or somebody's own.
pub fn share(folder: &Path, files: &[(&str, &str)]) -> Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        crate::store::private::make_folders(folder)
            .and_then(|()| crate::store::replace::write_atomic(&path, text.as_bytes()))
            .doing("write", &path)?;
    }
    Ok(())
}

/// What an adapter adds to a start.
#[derive(Debug, Default)]
pub struct Prepared {
    pub arguments: Vec<String>,
    /// Arguments that have to stand in front of the prompt where the harness's own arguments have it.
    pub before_prompt: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// Variables that the agent does not get.
    pub withheld: Vec<String>,
    /// Files in the run's folder.
    pub files: Vec<(&'static str, String)>,
    /// Files in the folder that all runs share.
    pub shared: Vec<(&'static str, &'static str)>,
}

/// The names that mean something here, the user's own first.
pub fn names(config: &Config) -> Vec<String> {
    let own = config.harnesses.keys().cloned();
    let built_in = list::ALL.iter().map(|kind| kind.name().to_owned());
    let mut names: Vec<String> = own.chain(built_in).collect();
    names.push(NONE.to_owned());
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The first harness of the list that is installed. Orange's own is no agent that anybody installs.
pub fn first_installed(
    config: &Config,
    orange: &Path,
    search_path: Option<&OsStr>,
) -> Option<Harness> {
    let others = list::ALL.iter().filter(|kind| !kind.is_own());
    let mut found = others.filter_map(|kind| find(kind.name(), config, orange).ok().flatten());
    found.find(|harness| harness.is_installed(search_path))
}

/// The error for a machine on which no harness is installed.
pub fn none_installed() -> Error {
    let others = || list::ALL.iter().filter(|kind| !kind.is_own());
    let names: Vec<&str> = others().map(|kind| kind.name()).collect();
    let ways: Vec<String> = others()
        .filter_map(|kind| Some(format!("{} ({})", kind.name(), kind.install()?)))
        .collect();
    err!(
        Failed,
        "no agent is installed: none of {} was found",
        names.join(", ")
    )
    .hint(text!(
        "install one of {}; `{}` starts no agent, `{}` a scripted one",
        ways.join(", "),
        Parameter::Harness.given(NONE),
        Parameter::Harness.given(SIM)
    ))
}

/// Those that load files of a repository by themselves.
pub fn loading_project_files() -> impl Iterator<Item = Adapter> {
    let all = list::ALL.iter().copied();
    all.filter(|kind| kind.loads_project_files())
}

/// What the harnesses of the table are started as.
pub fn programs() -> impl Iterator<Item = &'static str> {
    list::ALL.iter().map(|kind| kind.program())
}

/// Whether a command line of this program is an agent.
pub fn is_own_agent(command: &[String]) -> bool {
    sim::is_agent(command)
}

/// The harness of that name; None for [`NONE`]. `orange` is this program's own path.
pub fn find(name: &str, config: &Config, orange: &Path) -> Result<Option<Harness>> {
    if name == NONE {
        return Ok(None);
    }
    if let Some(own) = config.harnesses.get(name) {
        return Ok(Some(custom(name, own)));
    }
    if let Some(kind) = list::named(name).filter(|kind| !kind.is_own()) {
        let changed = config.harness_changes.get(name);
        return Ok(Some(built_in(kind, changed)));
    }
    sim::named(name, orange).map(Some).ok_or_else(|| {
        err!(Usage, "there is no harness {name:?}").hint(format!(
            "{}known: {}; another one can be set up in config.yaml, as `harness.{name}`",
            meant(name, names(config).iter().map(String::as_str)),
            names(config).join(", ")
        ))
    })
}

/// As Orange knows it, perhaps with another program.
fn built_in(kind: Adapter, changed: Option<&HarnessChange>) -> Harness {
    let words = changed.map(|change| change.command.as_slice());
    let (program, first) = words
        .and_then(<[String]>::split_first)
        .map_or((kind.program(), [].as_slice()), |(program, first)| {
            (program.as_str(), first)
        });
    let arguments = kind.arguments().unwrap_or_default().iter();
    let arguments = arguments.map(|&word| word.to_owned());
    let is_usual = program == kind.program();
    Harness {
        name: kind.name().to_owned(),
        program: program.to_owned(),
        arguments: first.iter().cloned().chain(arguments).collect(),
        one_shot: false,
        adapter: kind,
        interrupt: "Escape".into(),
        install: kind.install().filter(|_| is_usual),
    }
}

fn custom(name: &str, own: &CustomHarness) -> Harness {
    let mut words = own.command.iter().cloned();
    let program = words.next().unwrap_or_default();
    let mut arguments: Vec<String> = words.collect();
    let adapter = match own.like.as_deref().and_then(list::named) {
        Some(kind) => kind,
        None if own.signals => list::SIGNALLING,
        None => list::TYPED,
    };
    if adapter.arguments().is_some() && !arguments.iter().any(|word| mentions_prompt(word)) {
        arguments.push("{prompt}".into());
    }
    Harness {
        name: name.to_owned(),
        program,
        arguments,
        one_shot: own.one_shot,
        adapter,
        interrupt: own.interrupt.clone().unwrap_or_else(|| "Escape".into()),
        install: None,
    }
}

/// The harnesses that keep to a permission mode, for a sentence: `claude or pi`.
fn with_modes() -> String {
    names_of(|kind| kind.has_modes()).join(" or ")
}

/// The same for those that take turns without a terminal; nobody needs to be told of the scripted agent.
pub fn without_terminal() -> String {
    names_of(|kind| kind.supports().headless && !kind.is_own()).join(" and ")
}

fn names_of(which: impl Fn(&Adapter) -> bool) -> Vec<&'static str> {
    let kinds = list::ALL.iter().filter(|kind| which(kind));
    kinds.map(|kind| kind.name()).collect()
}

/// Whether an argument stands for the prompt.
fn mentions_prompt(word: &str) -> bool {
    word.contains("{prompt}") || word.contains("{prompt_file}")
}

impl Harness {
    /// Where its program is, searched as a shell would.
    pub fn located(&self, search_path: Option<&OsStr>) -> Result<PathBuf> {
        located(&self.program, search_path).ok_or_else(|| {
            let hint = match self.install {
                Some(install) => format!("install it ({install}), or choose another harness"),
                None => "correct `command` in config.yaml, or choose another harness".to_owned(),
            };
            let there = self.program.contains('/') && Path::new(&self.program).exists();
            let what = if there {
                format!("cannot be started: {:?} is not executable", self.program)
            } else {
                format!("is not installed: there is no program {:?}", self.program)
            };
            err!(Failed, "harness {} {what}", self.name).hint(text!(
                "{hint}: {}, or `agents.harness` in config.yaml",
                Parameter::Harness
            ))
        })
    }

    /// What the run gets besides the harness's own arguments.
    pub fn prepare(&self, occasion: &Occasion<'_>) -> Result<Prepared> {
        self.adapter.prepare(occasion, &self.arguments)
    }

    /// The harness's own arguments, with what a run adds to them at the place where the CLI takes it.
    pub fn command(&self, own: &[String], prepared: &Prepared) -> Vec<String> {
        let prompt = own
            .iter()
            .position(|word| word == "--" || mentions_prompt(word))
            .unwrap_or(own.len());
        // An option whose value is the prompt stays with it.
        let before = prompt.checked_sub(1).and_then(|at| own.get(at));
        let is_option = |word: &String| word.starts_with('-');
        let is_its_value = own.get(prompt).is_some_and(|word| word != "--");
        let at = if is_its_value && before.is_some_and(is_option) {
            prompt.saturating_sub(1)
        } else {
            prompt
        };
        let (front, back) = own.split_at(at);
        [front, &prepared.before_prompt, back, &prepared.arguments].concat()
    }

    /// Does a permission mode mean anything to it? The scripted agent and commands of the user's own ask as they like.
    pub fn has_modes(&self) -> bool {
        self.adapter.has_modes() || self.adapter.asks_nothing()
    }

    /// Refuses a mode that it would not keep to.
    pub fn check_mode(&self, mode: Permissions) -> Result<()> {
        if !self.adapter.asks_nothing() || mode == Permissions::Full {
            return Ok(());
        }
        Err(err!(
            Failed,
            "harness {} asks for nothing: it cannot be started with permissions {mode}",
            self.name
        )
        .hint(text!(
            "choose {}, or let it do everything: {}",
            with_modes(),
            Parameter::Permissions.given(Permissions::Full.as_str())
        )))
    }

    pub fn is_installed(&self, search_path: Option<&OsStr>) -> bool {
        located(&self.program, search_path).is_some()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn found(name: &str, config: &str) -> Result<Option<Harness>> {
        let (config, _) = Config::parse(config).unwrap();
        find(name, &config, Path::new("/bin/orange"))
    }

    pub fn occasion(environment: &BTreeMap<String, String>) -> Occasion<'_> {
        Occasion {
            run: "r",
            folder: Path::new("/runs/r"),
            shared: Path::new("/harness"),
            task_folder: Path::new("/tasks/t"),
            worktree: Path::new("/worktree"),
            orange: Path::new("/bin/orange"),
            permissions: Permissions::Full,
            choice: &ModelChoice {
                model: None,
                effort: None,
            },
            conversation: &Conversation::Unknown,
            environment,
            user_home: None,
            go_on: true,
            project_settings: false,
            instructions: None,
        }
    }

    /// The whole argument vector and the variables of a start.
    pub fn start(
        name: &str,
        config: &str,
        instructions: Option<&str>,
        given: &BTreeMap<String, String>,
    ) -> (Vec<String>, Prepared) {
        let harness = found(name, config).unwrap().unwrap();
        let mut occasion = occasion(given);
        occasion.instructions = instructions;
        let prepared = harness.prepare(&occasion).unwrap();
        (harness.command(&harness.arguments, &prepared), prepared)
    }

    #[test]
    fn settings_know_every_row() {
        let names: Vec<&str> = list::ALL.iter().map(|kind| kind.name()).collect();
        let known = orange_core::config::HARNESSES.iter().copied();
        assert_eq!(names, known.chain([SIM]).collect::<Vec<_>>());
    }

    #[test]
    fn every_row_gives_the_prompt_as_one_argument() {
        for kind in list::ALL {
            let harness = found(kind.name(), "").unwrap().unwrap();
            let none = BTreeMap::new();
            let prepared = harness.prepare(&occasion(&none)).unwrap();
            let all = harness.command(&harness.arguments, &prepared);
            let prompts = all.iter().filter(|word| *word == "{prompt}");
            assert_eq!(prompts.count(), 1, "{}", kind.name());
        }
    }

    #[test]
    fn the_scripted_agent_is_this_program() {
        let harness = found("sim:/x/a.yaml", "").unwrap().unwrap();
        assert_eq!(harness.program, "/bin/orange");
        let (words, _) = start("sim:/x/a.yaml", "", None, &BTreeMap::new());
        let words = words.join(" ");
        assert!(words.starts_with("sim "), "{words}");
        assert!(words.ends_with("--script /x/a.yaml -- {prompt}"), "{words}");
        assert!(found("none", "").unwrap().is_none());
    }

    #[test]
    fn the_users_own_come_first_and_get_the_prompt() {
        let own = found("claude", "harness:\n  claude: my-claude -x\n");
        let own = own.unwrap().unwrap();
        assert_eq!(
            (own.program.as_str(), own.arguments.join(" ")),
            ("my-claude", "-x {prompt}".into())
        );
        let file = found("m", "harness:\n  m: [m, '--file={prompt_file}']\n");
        assert_eq!(file.unwrap().unwrap().arguments, ["--file={prompt_file}"]);
    }

    #[test]
    fn the_program_of_a_known_one_may_be_another() {
        let text = "harness:\n  claude: {model: opus, command: [/opt/node, cli.js]}\n";
        let changed = found("claude", text).unwrap().unwrap();
        let usual = found("claude", "").unwrap().unwrap();
        assert_eq!(changed.program, "/opt/node");
        assert_eq!(
            (changed.adapter, &changed.name),
            (usual.adapter, &usual.name)
        );
        let (words, _) = start("claude", text, None, &BTreeMap::new());
        let (usual, _) = start("claude", "", None, &BTreeMap::new());
        assert_eq!(words, [vec!["cli.js".to_owned()], usual].concat());
        let codex = "harness:\n  codex:\n    command: my-codex\n";
        let (words, _) = start("codex", codex, None, &BTreeMap::new());
        assert_eq!(words.iter().filter(|word| *word == "{prompt}").count(), 1);
        assert_eq!(found("codex", codex).unwrap().unwrap().program, "my-codex");
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = found("cluade", "").unwrap_err();
        let hint = error.hint.unwrap().words().unwrap();
        assert!(hint.starts_with("did you mean claude? known: "), "{hint}");
        assert!(hint.contains("claude, codex"), "{hint}");
        let missing = found("m", "harness:\n  m: no-such-program-here\n")
            .unwrap()
            .unwrap();
        let error = missing.located(Some(OsStr::new("/bin"))).unwrap_err();
        assert!(error.message.contains("no-such-program-here"));
    }
}
