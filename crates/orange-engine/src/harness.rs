//! Harnesses: the agent CLIs that Orange can start, as a table. A new one is a row, or an entry in config.yaml; what
//! only one of them needs is in a file of its own below `harness/`.

pub mod catalogue;
pub mod claude;
pub mod environment;
pub mod inquiry;
pub mod model;
pub mod pi;
pub(crate) mod project_code;

use crate::error::{Code, Error, Result};
use crate::runs::Conversation;
use model::ModelChoice;
use orange_core::choice;
use orange_core::config::{Config, CustomHarness, Permissions};
use orange_core::suggest::meant;
use orange_sys::programs::located;
use project_code::ProjectCode;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use orange_core::config::{NONE, SIM};

/// The reviewer's harness unless somebody says otherwise.
pub(crate) const REVIEWER: &str = "claude";

choice! {
    /// How Orange and an agent hear of each other.
    #[derive(Default)]
    pub enum Adapter ("adapter") {
        /// What is to be told is typed, and whether it arrived is read from the screen.
        #[default]
        Screen = "screen",
        /// The agent runs `orange signal`; what is to be told is typed.
        Signals = "signals",
        /// Hooks from a settings file of the run's own.
        Claude = "claude",
        /// An extension of the run's own, which also takes messages.
        Pi = "pi",
    }
}

impl Adapter {
    /// Does the agent say what it does?
    pub fn gives_signals(self) -> bool {
        self != Adapter::Screen
    }

    /// Does Orange decide what it may do without asking?
    fn has_modes(self) -> bool {
        matches!(self, Adapter::Claude | Adapter::Pi)
    }

    /// Does it fetch its messages itself? Otherwise they are typed.
    pub fn fetches_messages(self) -> bool {
        self == Adapter::Pi
    }

    /// Text as it must be typed, or given as the prompt, to be taken as words: some agents have commands.
    pub fn as_words(self, text: &str) -> String {
        match self {
            Adapter::Claude => claude::as_words(text),
            Adapter::Pi | Adapter::Signals | Adapter::Screen => text.to_owned(),
        }
    }

    /// Does it take a message in the middle of a turn at once, and begin with it when that turn is interrupted?
    pub fn queues_messages(self) -> bool {
        self == Adapter::Claude
    }
}

/// One row of the table.
struct Row {
    name: &'static str,
    program: &'static str,
    adapter: Adapter,
    /// The arguments of an interactive start, where no adapter knows them.
    arguments: &'static [&'static str],
    /// The key that interrupts a turn.
    interrupt: &'static str,
    package: &'static str,
    /// How the repository's own configuration is switched off, where no adapter does it.
    project_code: ProjectCode,
}

const TABLE: &[Row] = &[
    Row {
        name: "claude",
        program: "claude",
        adapter: Adapter::Claude,
        arguments: &[],
        interrupt: "Escape",
        package: "npm install -g @anthropic-ai/claude-code",
        project_code: ProjectCode::Elsewhere,
    },
    Row {
        name: "codex",
        program: "codex",
        adapter: Adapter::Screen,
        arguments: &[
            "--no-daemon",
            "--dangerously-bypass-approvals-and-sandbox",
            "--",
            "{prompt}",
        ],
        interrupt: "Escape",
        package: "npm install -g @openai/codex",
        project_code: ProjectCode::Codex,
    },
    Row {
        name: "opencode",
        program: "opencode",
        adapter: Adapter::Screen,
        arguments: &["--prompt", "{prompt}"],
        interrupt: "Escape",
        package: "npm install -g opencode-ai",
        project_code: ProjectCode::Opencode,
    },
    Row {
        name: "pi",
        program: "pi",
        adapter: Adapter::Pi,
        arguments: &[],
        interrupt: "Escape",
        package: "npm install -g @earendil-works/pi-coding-agent",
        project_code: ProjectCode::Elsewhere,
    },
    Row {
        name: "gemini",
        program: "gemini",
        adapter: Adapter::Screen,
        arguments: &["--yolo", "--skip-trust", "-i", "{prompt}"],
        interrupt: "Escape",
        package: "npm install -g @google/gemini-cli",
        project_code: ProjectCode::Gemini,
    },
];

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
    /// Its own permission questions are switched off, and nothing takes their place.
    only_full: bool,
    /// How to get it.
    install: Option<&'static str>,
    pub(crate) project_code: ProjectCode,
}

/// What is known of a run before it starts.
pub(crate) struct Occasion<'a> {
    pub(crate) run: &'a str,
    /// The run's own folder.
    pub(crate) folder: &'a Path,
    /// What all runs share.
    pub(crate) shared: &'a Path,
    /// Where TASK.md really is.
    pub(crate) task_folder: &'a Path,
    pub(crate) worktree: &'a Path,
    /// This program.
    pub(crate) orange: &'a Path,
    pub(crate) permissions: Permissions,
    pub(crate) choice: &'a ModelChoice,
    pub(crate) conversation: &'a Conversation,
    /// What the agent gets of the environment of whoever starts it.
    pub(crate) environment: &'a BTreeMap<String, String>,
    /// Whether it goes on by itself after a usage limit.
    pub(crate) go_on: bool,
    /// Whether claude loads the repository's own `.claude` and `.mcp.json`, which the user agreed to.
    pub(crate) project_settings: bool,
    /// The repository's instructions, for a harness that does not read them by itself.
    pub(crate) instructions: Option<&'a str>,
}

/// The folder for what all runs share, in Orange's home.
pub(crate) const SHARED: &str = "harness";

/// Writes what is not there, or not as it should be: another version's, or somebody's own.
pub(crate) fn share(folder: &Path, files: &[(&str, &str)]) -> Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        crate::store::private::make_folders(folder)
            .and_then(|()| crate::store::replace::write_atomic(&path, text.as_bytes()))
            .map_err(|error| Error::io("write", &path, &error))?;
    }
    Ok(())
}

/// What an adapter adds to a start.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) arguments: Vec<String>,
    /// Arguments that have to stand in front of the prompt where the harness's own arguments have it.
    pub(crate) before_prompt: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Variables that the agent does not get.
    pub(crate) withheld: Vec<String>,
    /// Files in the run's folder.
    pub(crate) files: Vec<(&'static str, String)>,
    /// Files in the folder that all runs share.
    pub(crate) shared: Vec<(&'static str, &'static str)>,
}

/// The names that mean something here, the user's own first.
pub fn names(config: &Config) -> Vec<String> {
    let own = config.harnesses.keys().cloned();
    let built_in = TABLE.iter().map(|row| row.name.to_owned());
    let mut names: Vec<String> = own.chain(built_in).collect();
    names.extend([SIM.to_owned(), NONE.to_owned()]);
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// What the harnesses of the table are started as.
pub(crate) fn programs() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.program).chain(["orange"])
}

/// The harness of that name; None for [`NONE`]. `orange` is this program's own path.
pub fn find(name: &str, config: &Config, orange: &Path) -> Result<Option<Harness>> {
    if name == NONE {
        return Ok(None);
    }
    if let Some(own) = config.harnesses.get(name) {
        return Ok(Some(custom(name, own)));
    }
    if let Some(row) = row(name) {
        return Ok(Some(built_in(row)));
    }
    match name.split_once(':') {
        None if name == SIM => Ok(Some(sim(name, None, orange))),
        Some((SIM, script)) => Ok(Some(sim(name, Some(script), orange))),
        None | Some(_) => Err(
            Error::new(Code::Usage, format!("there is no harness {name:?}")).hint(format!(
                "{}known: {}; another one can be set up in config.yaml, as `harness.{name}`",
                meant(name, names(config).iter().map(String::as_str)),
                names(config).join(", ")
            )),
        ),
    }
}

fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

fn has_only_full(row: &Row) -> bool {
    !row.adapter.has_modes()
}

fn built_in(row: &Row) -> Harness {
    Harness {
        name: row.name.to_owned(),
        program: row.program.to_owned(),
        arguments: row.arguments.iter().map(|&word| word.to_owned()).collect(),
        one_shot: false,
        adapter: row.adapter,
        interrupt: row.interrupt.to_owned(),
        only_full: has_only_full(row),
        install: Some(row.package),
        project_code: row.project_code,
    }
}

fn custom(name: &str, own: &CustomHarness) -> Harness {
    let mut words = own.command.iter().cloned();
    let program = words.next().unwrap_or_default();
    let mut arguments: Vec<String> = words.collect();
    let like = own.like.as_deref().and_then(row);
    let adapter = match like {
        Some(row) => row.adapter,
        None if own.signals => Adapter::Signals,
        None => Adapter::Screen,
    };
    let by_adapter = matches!(adapter, Adapter::Claude | Adapter::Pi);
    if !by_adapter && !arguments.iter().any(|word| mentions_prompt(word)) {
        arguments.push("{prompt}".into());
    }
    Harness {
        name: name.to_owned(),
        program,
        arguments,
        one_shot: own.one_shot,
        adapter,
        interrupt: own.interrupt.clone().unwrap_or_else(|| "Escape".into()),
        only_full: like.is_some_and(has_only_full),
        install: None,
        project_code: like.map(|row| row.project_code).unwrap_or_default(),
    }
}

fn sim(name: &str, script: Option<&str>, orange: &Path) -> Harness {
    let mut arguments: Vec<String> = ["sim", "--round", "{round}", "--attempt", "{attempt}"]
        .map(str::to_owned)
        .to_vec();
    if let Some(script) = script {
        arguments.extend(["--script".to_owned(), script.to_owned()]);
    }
    arguments.extend(["--".to_owned(), "{prompt}".to_owned()]);
    Harness {
        name: name.to_owned(),
        program: orange.to_string_lossy().into_owned(),
        arguments,
        one_shot: false,
        adapter: Adapter::Signals,
        interrupt: "Escape".into(),
        only_full: false,
        install: None,
        project_code: ProjectCode::Elsewhere,
    }
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
            let what = match there {
                true => format!("cannot be started: {:?} is not executable", self.program),
                false => format!("is not installed: there is no program {:?}", self.program),
            };
            Error::new(Code::Failed, format!("harness {} {what}", self.name)).hint(format!(
                "{hint}: --harness NAME, or `agents.harness` in config.yaml"
            ))
        })
    }

    /// What the run gets besides the harness's own arguments.
    pub(crate) fn prepare(&self, occasion: &Occasion<'_>) -> Result<Prepared> {
        match self.adapter {
            Adapter::Claude => Ok(claude::prepare(occasion)),
            Adapter::Pi => Ok(pi::prepare(occasion)),
            Adapter::Signals | Adapter::Screen => self.project_code.off(occasion, &self.arguments),
        }
    }

    /// The harness's own arguments, with what a run adds to them at the place where the CLI takes it.
    pub(crate) fn command(&self, own: &[String], prepared: &Prepared) -> Vec<String> {
        let prompt = own
            .iter()
            .position(|word| word == "--" || mentions_prompt(word))
            .unwrap_or(own.len());
        // An option whose value is the prompt stays with it.
        let before = prompt.checked_sub(1).and_then(|at| own.get(at));
        let is_option = |word: &String| word.starts_with('-');
        let is_its_value = own.get(prompt).is_some_and(|word| word != "--");
        let at = match is_its_value && before.is_some_and(is_option) {
            true => prompt.saturating_sub(1),
            false => prompt,
        };
        let (front, back) = own.split_at(at);
        [front, &prepared.before_prompt, back, &prepared.arguments].concat()
    }

    /// Does a permission mode mean anything to it? The scripted agent and commands of the user's own ask as they like.
    pub fn has_modes(&self) -> bool {
        self.adapter.has_modes() || self.only_full
    }

    /// Refuses a mode that it would not keep to.
    pub(crate) fn check_mode(&self, mode: Permissions) -> Result<()> {
        if !self.only_full || mode == Permissions::Full {
            return Ok(());
        }
        Err(Error::new(
            Code::Failed,
            format!(
                "harness {} asks for nothing: it cannot be started with permissions {mode}",
                self.name
            ),
        )
        .hint("choose claude or pi, or let it do everything: --permissions full"))
    }

    pub fn is_installed(&self, search_path: Option<&OsStr>) -> bool {
        located(&self.program, search_path).is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn found(name: &str, config: &str) -> Result<Option<Harness>> {
        let (config, _) = Config::parse(config).unwrap();
        find(name, &config, Path::new("/bin/orange"))
    }

    pub(crate) fn occasion(environment: &BTreeMap<String, String>) -> Occasion<'_> {
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
            go_on: true,
            project_settings: false,
            instructions: None,
        }
    }

    #[test]
    fn settings_know_every_row() {
        let rows: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(rows, orange_core::config::HARNESSES);
    }

    #[test]
    fn every_row_gives_the_prompt_as_one_argument() {
        for row in TABLE {
            let harness = found(row.name, "").unwrap().unwrap();
            let none = BTreeMap::new();
            let prepared = harness.prepare(&occasion(&none)).unwrap();
            let all = harness.command(&harness.arguments, &prepared);
            let prompts = all.iter().filter(|word| *word == "{prompt}");
            assert_eq!(prompts.count(), 1, "{}", row.name);
        }
    }

    #[test]
    fn the_scripted_agent_is_this_program() {
        let harness = found("sim:/x/a.yaml", "").unwrap().unwrap();
        assert_eq!(harness.program, "/bin/orange");
        let words = harness.arguments.join(" ");
        assert!(words.starts_with("sim "), "{words}");
        assert!(words.contains("--script /x/a.yaml -- {prompt}"), "{words}");
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
    fn an_unknown_name_is_told_the_known_ones() {
        let error = found("cluade", "").unwrap_err();
        let hint = error.hint.unwrap();
        assert!(hint.starts_with("did you mean claude? known: "), "{hint}");
        assert!(hint.contains("claude, codex"), "{hint}");
        let missing = found("m", "harness:\n  m: no-such-program-here\n")
            .unwrap()
            .unwrap();
        let error = missing.located(Some(OsStr::new("/bin"))).unwrap_err();
        assert!(error.message.contains("no-such-program-here"));
    }
}
