//! Runs on disk: `runs/<run id>/` holds what a run was started with, what its agent signalled, what is to be
//! told to it, and how it ended. Whether it is alive is told by a lock that dies with its `run-agent`.

mod above;
mod inbox;
mod process;
mod questions;
mod requests;
mod review;
mod signals;
mod speaker;

use crate::database::Database;
use crate::error::{Error, IoContext, Result};
use crate::harness::Adapter;
use crate::seal;
use crate::store::{make_folder, private, temporary};
use crate::tmux::Pane;
pub use above::{Ancestors, RUN_AGENT, RUN_PHASES, RunAbove, Unattended};
pub use inbox::{Delivery, Message};
use orange_core::Timestamp;
use orange_core::config::Permissions;
use orange_core::workflow::Role;
pub use orange_sys::process::{ProcessId, own_group, own_session};
pub use process::{carrying, descendants, end_marked, is_of_home};
pub use process::{end_strays, end_tagged, end_tree, tagged, tagged_in};
pub use questions::open_asks;
pub use questions::{Asked, IN_ITS_WINDOW, Question, QuestionAnswer};
pub use requests::Subject;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
pub use signals::state_after;
pub use signals::{Doing, Due, DueFor, Signal, SignalKind, State, StateSource};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What the link to TASK.md in a worktree may be called; where a worktree has both, the first is the link.
pub const LINK_NAMES: [&str; 2] = ["ORANGE_TASK.md", "TASK.md"];

/// What a run is started with. Written once; an older `run-agent` may read what a newer Orange wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSpec {
    pub run: String,
    /// The task's id.
    pub task: String,
    /// Where the task lies, relative to `tasks/`.
    pub folder: String,
    pub role: Role,
    /// The name of the prompt.
    #[serde(default)]
    pub prompt: String,
    pub harness: String,
    /// The argument vector, `{prompt}` and `{prompt_file}` still in it.
    pub command: Vec<String>,
    pub worktree: PathBuf,
    /// The PATH that the agent gets, without Orange's own folder.
    #[serde(default)]
    pub search_path: Option<String>,
    #[serde(default)]
    pub one_shot: bool,
    #[serde(default)]
    pub adapter: Adapter,
    /// The conversation it begins or goes on with.
    #[serde(default)]
    pub conversation: Conversation,
    #[serde(default)]
    pub permissions: Permissions,
    /// The model that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hard it was asked to think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Variables that it does not get.
    #[serde(default)]
    pub withheld: Vec<String>,
    #[serde(default)]
    pub interrupt: Option<String>,
    /// The mark of the Review section before a reviewer starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_before: Option<String>,
}

/// A conversation, by the name that its harness knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conversation {
    /// The harness's own business.
    #[default]
    Unknown,
    New(String),
    Resumed(String),
}

impl Conversation {
    /// A new one, where a harness can be told its name.
    pub fn begin(adapter: Adapter) -> Conversation {
        if adapter.supports().resume {
            Conversation::resumed_or_new(None)
        } else {
            Conversation::Unknown
        }
    }

    pub fn resumed_or_new(id: Option<String>) -> Conversation {
        let new = || Conversation::New(uuid::Uuid::new_v4().to_string());
        id.map_or_else(new, Conversation::Resumed)
    }

    /// As an option of a CLI.
    pub fn arguments(&self, new: &str, resumed: &str) -> Vec<String> {
        let option = match self {
            Conversation::New(_) => new,
            Conversation::Resumed(_) => resumed,
            Conversation::Unknown => return Vec::new(),
        };
        let id = self.id().unwrap_or_default();
        vec![option.to_owned(), id.to_owned()]
    }

    pub fn id(&self) -> Option<&str> {
        match self {
            Conversation::Unknown => None,
            Conversation::New(id) | Conversation::Resumed(id) => Some(id),
        }
    }
}

/// The `run-agent` of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub process: ProcessId,
    pub at: Timestamp,
}

/// How the agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub at: Timestamp,
    /// In words: `exit code 1`.
    pub how: String,
    /// None for an end by signal, or where nobody saw it.
    #[serde(default)]
    pub code: Option<i32>,
    /// Orange asked for it.
    #[serde(default)]
    pub stopped: bool,
    /// What its screen showed last, where that may say why it ended.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
    /// The mark of the Review section when a reviewer was gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// Says that `run-agent` wrote this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// A shell, or a program that catches a signal, ends with 128 and the number of the signal.
const SIGNAL_CODES: std::ops::RangeInclusive<i32> = 129..=192;

impl Ended {
    /// What the seal covers.
    pub fn unsealed(&self) -> Vec<u8> {
        let plain = Ended {
            seal: None,
            ..self.clone()
        };
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Did it end in another way than by itself?
    pub fn was_by_signal(&self) -> bool {
        self.code.is_none_or(|code| SIGNAL_CODES.contains(&code))
    }
}

/// What a run is started with besides its description.
#[derive(Debug, Default)]
pub struct Extras {
    /// Variables for the agent.
    pub environment: BTreeMap<String, String>,
    /// Files in the run's folder, for its harness.
    pub files: Vec<(&'static str, String)>,
}

const ENVIRONMENT: &str = "environment.json";

/// A file that is put in the place of another one has another inode, or another time.
pub type SpecStamp = (u64, i64, i64);

/// One run's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// All runs that are not settled yet.
pub fn all(home: &Path) -> Vec<RunFolder> {
    let entries = fs::read_dir(home.join("runs"));
    let folders = entries.into_iter().flatten().flatten();
    folders
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| RunFolder { path: entry.path() })
        .collect()
}

impl RunFolder {
    pub fn new(home: &Path, run: &str) -> RunFolder {
        RunFolder {
            path: home.join("runs").join(run),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn id(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    pub fn prompt_file(&self) -> PathBuf {
        self.path.join("prompt.md")
    }

    /// Writes the folder anew; an earlier attempt that came to nothing is overwritten.
    pub fn write(&self, spec: &RunSpec, prompt: &str, extras: &Extras) -> Result<()> {
        let failed = |error: io::Error| Error::io("write", &self.path, &error);
        make_folder(&self.path).map_err(failed)?;
        make_folder(&self.path.join("inbox")).map_err(failed)?;
        private::write(&self.prompt_file(), prompt).map_err(failed)?;
        for (name, text) in &extras.files {
            private::write(&self.path.join(name), text).map_err(failed)?;
        }
        if !extras.environment.is_empty() {
            self.put(ENVIRONMENT, &extras.environment)?;
        }
        self.put("run.json", spec)
    }

    /// The agent's own variables. There may be secrets among them: nothing is left of it.
    pub fn take_environment(&self) -> BTreeMap<String, String> {
        let variables = self.get(ENVIRONMENT).unwrap_or_default();
        let _ = fs::remove_file(self.path.join(ENVIRONMENT));
        variables
    }

    pub fn spec(&self) -> Option<RunSpec> {
        self.get("run.json")
    }

    /// Which writing of its description this is. Two that are equal say the same.
    pub fn spec_stamp(&self) -> Option<SpecStamp> {
        let file = fs::metadata(self.path.join("run.json")).ok()?;
        Some((file.ino(), file.ctime(), file.ctime_nsec()))
    }

    pub fn started(&self) -> Option<Started> {
        self.get("started.json")
    }

    pub fn note_started(&self, started: &Started) -> Result<()> {
        self.put("started.json", started)
    }

    pub fn ended(&self) -> Option<Ended> {
        self.get("ended.json")
    }

    pub fn note_ended(&self, ended: &Ended) -> Result<()> {
        self.put("ended.json", ended)
    }

    pub fn pane(&self) -> Option<Pane> {
        self.get("pane.json")
    }

    pub fn note_pane(&self, pane: &Pane) -> Result<()> {
        self.put("pane.json", pane)
    }

    /// Has somebody asked this run to end?
    pub fn is_to_stop(&self) -> bool {
        self.path.join("stop").exists()
    }

    pub fn ask_to_stop(&self) -> Result<()> {
        let path = self.path.join("stop");
        let asked = private::unless_gone(private::write(&path, b"")).map(drop);
        asked.doing("write", &path)
    }

    /// Is its `run-agent` alive, and with it the agent?
    pub fn is_alive(&self) -> bool {
        match File::open(self.lock_file()) {
            Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            Err(_) => false,
        }
    }

    /// Whether this process holds the lock, by the system's own list.
    pub fn is_locked_by(&self, pid: u32) -> bool {
        let Ok(file) = fs::metadata(self.lock_file()) else {
            return false;
        };
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let inode = file.ino().to_string();
        // `1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF`
        locks.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let holder = words.get(4).and_then(|word| word.parse().ok());
            let of_file = words.get(5).and_then(|word| word.rsplit(':').next());
            holder == Some(pid) && of_file == Some(&inode)
        })
    }

    /// The lock that says so. None when another process has it.
    pub fn lock(&self) -> io::Result<Option<File>> {
        let file = private::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.lock_file())?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Forgets the run: everything there is to know of it is journalled.
    pub fn remove(&self) -> Result<()> {
        // Its description goes last: what a process leaves that is killed over this still says whose it was.
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_name() != "run.json" && fs::remove_file(&path).is_err() {
                let _ = fs::remove_dir_all(&path);
            }
        }
        let removed = private::unless_gone(fs::remove_dir_all(&self.path)).map(drop);
        removed.doing("remove", &self.path)
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.path.join(name)).ok()?).ok()
    }

    /// Whole or not at all, but not synced: no run outlives a loss of power.
    fn put<T: Serialize>(&self, name: &str, value: &T) -> Result<()> {
        let path = self.path.join(name);
        let text = serde_json::to_vec(value).unwrap_or_default();
        temporary::write_unsynced(&path, text).doing("write", &path)
    }
}
/// The seal of how a run ended; None where orange.db cannot be used.
pub fn seal_of_end(home: &Path, run: &str, ended: &Ended) -> Option<String> {
    let key = Database::open(home).and_then(|mut database| database.seal_key());
    match key {
        Ok(key) => Some(key.of_file(seal::END, run, &ended.unsealed())),
        Err(error) => {
            tracing::warn!(%error, run, "the end of a run is not sealed");
            None
        }
    }
}
