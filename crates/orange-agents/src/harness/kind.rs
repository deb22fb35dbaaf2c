//! What Orange asks of an agent CLI: the trait that each has in its own folder, and the handle by which it is stored.
//! Every method has an answer for a CLI of which nothing is known but how to type into its window.

use super::model::efforts;
use super::probe::{Login, Probe, Version};
use super::project_files::LoadedFiles;
use super::supports::{Supports, TYPED};
use super::watch::{HarnessWatch, Watched};
use super::{Occasion, Prepared, list};
use crate::error::Result;
use crate::headless::{HeadlessStart, TurnRequest};
use crate::runs::{RunFolder, Subject};
use orange_core::choice::NotAllowed;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Declares what is fixed of an agent CLI, each with the value of one of which nothing is known but how to type into its
/// window.
macro_rules! facts {
    ($($(#[$about:meta])+ $fact:ident: $type:ty = $typed:expr,)+) => {
        #[derive(Debug)]
        pub struct HarnessFacts {
            $($(#[$about])+ pub $fact: $type,)+
        }

        impl HarnessFacts {
            pub(super) const TYPED: HarnessFacts = HarnessFacts { $($fact: $typed,)+ };
        }

        impl dyn HarnessKind {
            $($(#[$about])+ pub fn $fact(&self) -> $type { self.facts().$fact })+
        }
    };
}

facts! {
    /// As people name it.
    name: &'static str = "screen",
    /// The program as it is typed.
    program: &'static str = "",
    /// How to get it, where that is known.
    install: Option<&'static str> = None,
    /// How Orange and the agent hear of each other, in a word for lists and for the files of a run.
    adapter: &'static str = "screen",
    /// What Orange can do with it.
    supports: Supports = TYPED,
    /// Does it belong to Orange itself? Then there is nothing to install and nobody to log in.
    is_own: bool = false,
    /// The arguments of an interactive start; `{prompt}` stands for the prompt. None: [`HarnessKind::prepare`] gives all.
    arguments: Option<&'static [&'static str]> = Some(&["{prompt}"]),
    /// Does it leave out the repository's instructions together with its configuration, so that they must be handed to it?
    drops_instructions: bool = false,
    /// Which files of a repository it loads by itself, where the user agrees to them (`agents.project_settings`); None: none.
    project_files: Option<&'static LoadedFiles> = None,
    /// Are its own permission questions switched off, with nothing in their place?
    asks_nothing: bool = false,
    /// Does it fetch its messages itself? Otherwise they are typed.
    fetches_messages: bool = false,
    /// Does it take a message in the middle of a turn at once, and begin with it when that turn is interrupted?
    queues_messages: bool = false,
    /// Does its account depend on the model, so that its login tells nothing where one was chosen?
    login_by_model: bool = false,
    /// Can a turn without a terminal be given MCP servers of its own?
    takes_mcp_servers: bool = false,
    /// The oldest version that has all that Orange uses, and what that is.
    oldest: Option<(Version, &'static str)> = None,
    /// Beginnings of the names of variables that lead to its model and account: its agents get them.
    variables: &'static [&'static str] = &[],
    /// Variables of an agent around Orange that would make a new one take itself for a part of it.
    cleared: &'static [&'static str] = &[],
}

/// One agent CLI.
pub trait HarnessKind: Sync {
    fn facts(&self) -> &'static HarnessFacts;

    // Start.

    /// What one run gets besides, `own` being the harness's own arguments: with the repository's configuration off.
    fn prepare(&self, _occasion: &Occasion<'_>, _own: &[String]) -> Result<Prepared> {
        Ok(Prepared::default())
    }

    // Signals and messages.

    /// The keys that put a person's draft aside before a message is typed.
    fn stash_keys(&self, _screen: &str) -> &'static [&'static str] {
        &[]
    }

    /// Text as it must be typed, or given as the prompt, to be taken as words: some agents have commands.
    fn as_words(&self, text: &str) -> String {
        text.to_owned()
    }

    /// Takes the report of one of its hooks, which has these variables; gives what the hook is to print.
    fn take_report(
        &self,
        _folder: &RunFolder,
        _report: &Value,
        _variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<String>> {
        Ok(None)
    }

    /// What a tool would be used on; None where its questions do not say it, so that no rule can be compared with them.
    fn subject<'v>(&self, _tool: &str, _input: &'v Value) -> Option<Subject<'v>> {
        None
    }

    /// The program that the hooks of a run start.
    fn hooks_program(&self, _run: &Path) -> Option<String> {
        None
    }

    /// What is watched beside a run of this kind.
    fn watch(&self, _run: &Watched<'_>) -> Option<Box<dyn HarnessWatch>> {
        None
    }

    // Without a terminal.

    /// How it takes a turn without a terminal; None if it cannot.
    fn headless(
        &self,
        _request: &TurnRequest,
        _world: &Probe<'_>,
    ) -> Option<Result<HeadlessStart>> {
        None
    }

    // Questions to it.

    /// Whether it has an account to work with, asked now.
    fn login(&self, _probe: &Probe<'_>, _program: &Path) -> Login {
        Login::Unknown("not asked".into())
    }

    /// The files that its login depends on, whether they are there or not; None: it does not tell whether somebody is
    /// logged in.
    fn credentials(&self, _probe: &Probe<'_>) -> Option<Vec<PathBuf>> {
        None
    }

    /// What a person should know of its settings.
    fn note(&self, _probe: &Probe<'_>) -> Option<String> {
        None
    }
}

impl dyn HarnessKind {
    /// Does the agent say what it does?
    pub fn gives_signals(&self) -> bool {
        self.supports().signals.is_some()
    }

    /// Does Orange decide what it may do without asking?
    pub fn has_modes(&self) -> bool {
        self.supports().permissions.is_some()
    }

    pub fn loads_project_files(&self) -> bool {
        self.project_files().is_some()
    }

    /// The words for effort that it accepts.
    pub fn efforts(&self) -> Vec<&'static str> {
        efforts(self.supports().effort)
    }
}

/// A kind, as it is stored in the files of a run: by the word for how Orange hears of it.
#[derive(Clone, Copy)]
pub struct Adapter(pub(super) &'static dyn HarnessKind);

impl Deref for Adapter {
    type Target = dyn HarnessKind;
    fn deref(&self) -> &(dyn HarnessKind + 'static) {
        self.0
    }
}

impl PartialEq for Adapter {
    fn eq(&self, other: &Adapter) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Adapter {}

impl Default for Adapter {
    fn default() -> Adapter {
        list::TYPED
    }
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Adapter {
    type Err = NotAllowed;
    fn from_str(word: &str) -> std::result::Result<Adapter, NotAllowed> {
        let found = list::stored().find(|kind| kind.adapter() == word);
        found.ok_or_else(|| NotAllowed {
            what: "adapter",
            value: word.to_owned(),
            allowed: list::stored_names(),
        })
    }
}

impl Serialize for Adapter {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.adapter())
    }
}

impl<'de> Deserialize<'de> for Adapter {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Adapter, D::Error> {
        let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}
