//! The environment of the person who started a task. Checks run in it, and so does what Orange starts on behalf of an
//! agent: no variable of an agent decides which git, which shell or which agent is found.

use crate::agent_run::fence;
use crate::git::REDIRECTING;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::{PoisonError, RwLock};

/// Variables that speak of one shell or one window, and say nothing about programs.
const PASSING: &[&str] = &["_", "OLDPWD", "PWD", "SHLVL", "TMUX", "TMUX_PANE"];

/// Orange's own variables: they say who somebody is, which home is meant and which settings hold.
const OWN_PREFIX: &[u8] = b"ORANGE_";

/// Where programs are looked for when nobody's PATH is known.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonEnvironment(BTreeMap<OsString, OsString>);

/// What the programs that this process starts get instead of its own environment.
static FOR_CHILDREN: RwLock<Option<PersonEnvironment>> = RwLock::new(None);

impl PersonEnvironment {
    /// From the variables of a person's command.
    pub fn from_variables(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> PersonEnvironment {
        let passes = |name: &OsStr| {
            name.as_bytes().starts_with(OWN_PREFIX)
                || PASSING
                    .iter()
                    .chain(REDIRECTING)
                    .any(|known| name == *known)
        };
        let variables = variables.into_iter().filter(|(name, _)| !passes(name));
        let mut all: BTreeMap<OsString, OsString> = variables.collect();
        if let Some(path) = all.get_mut(OsStr::new("PATH")) {
            *path = fence::without(path);
        }
        let known = |name: &str| all.get(OsStr::new(name))?.clone().into_string().ok();
        for (name, value) in fence::taken_back(known) {
            match value {
                Some(value) => all.insert(name.into(), value.into()),
                None => all.remove(OsStr::new(&name)),
            };
        }
        PersonEnvironment(all)
    }

    /// When nobody knows who started a task: the account's own home and shell, and the usual folders for programs.
    pub(crate) fn minimal(home: Option<&Path>) -> PersonEnvironment {
        let account = Account::of_this_user().unwrap_or_default();
        let home = account.home.or_else(|| Some(home?.as_os_str().to_owned()));
        let named = [
            ("HOME", home),
            ("LANG", Some("C.UTF-8".into())),
            ("LOGNAME", account.name.clone()),
            ("PATH", Some(USUAL_PATH.into())),
            ("SHELL", account.shell.or_else(|| Some("/bin/sh".into()))),
            ("USER", account.name),
        ];
        let known = named
            .into_iter()
            .filter_map(|(name, value)| Some((name.into(), value?)));
        PersonEnvironment(known.collect())
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Those that are text.
    pub fn readable(&self) -> impl Iterator<Item = (String, String)> {
        let text = |value: &OsString| value.clone().into_string().ok();
        self.0
            .iter()
            .filter_map(move |(name, value)| Some((text(name)?, text(value)?)))
    }

    /// As /proc has it: each variable ends with a zero byte.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, value) in &self.0 {
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(b'=');
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> PersonEnvironment {
        let entries = bytes.split(|byte| *byte == 0);
        let pairs = entries.filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (entry.get(..at)?, entry.get(at + 1..)?);
            let owned = |part: &[u8]| OsString::from_vec(part.to_vec());
            (!name.is_empty()).then(|| (owned(name), owned(value)))
        });
        PersonEnvironment(pairs.collect())
    }

    /// Gives a program these variables and no others.
    pub(crate) fn give_to(&self, command: &mut Command) {
        command.env_clear().envs(&self.0);
    }

    /// Every program that this process starts from now on gets these variables.
    pub(crate) fn give_to_children(self) {
        *FOR_CHILDREN.write().unwrap_or_else(PoisonError::into_inner) = Some(self);
    }
}

/// Gives a program what this process's children are to get: its own environment, unless something else was said.
/// Orange's own variables go along; whoever starts the program takes out what it must not have.
pub(crate) fn inherit(command: &mut Command) {
    let given = FOR_CHILDREN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = given.as_ref() {
        environment.give_to(command);
        let own = std::env::vars_os();
        command.envs(own.filter(|(name, _)| name.as_bytes().starts_with(OWN_PREFIX)));
    }
}

/// A variable as this process's children get it.
pub(crate) fn inherited(name: &str) -> Option<OsString> {
    let given = FOR_CHILDREN.read().unwrap_or_else(PoisonError::into_inner);
    match given.as_ref() {
        Some(environment) => environment.get(name).map(OsStr::to_owned),
        None => std::env::var_os(name),
    }
}

/// What /etc/passwd says of a user.
#[derive(Debug, Default)]
struct Account {
    name: Option<OsString>,
    home: Option<OsString>,
    shell: Option<OsString>,
}

impl Account {
    fn of_this_user() -> Option<Account> {
        let user = fs::metadata("/proc/self").ok()?.uid().to_string();
        let text = fs::read_to_string("/etc/passwd").ok()?;
        let accounts = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let mut accounts = accounts.filter(|fields| fields.get(2) == Some(&user.as_str()));
        let fields = accounts.next()?;
        let field = |at: usize| fields.get(at).filter(|text| !text.is_empty());
        Some(Account {
            name: field(0).map(OsString::from),
            home: field(5).map(OsString::from),
            shell: field(6).map(OsString::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> PersonEnvironment {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        PersonEnvironment::from_variables(pairs)
    }

    #[test]
    fn what_is_orange_s_or_one_window_s_is_left_out() {
        let person = environment(&[
            ("PATH", "/home/x/runs/abc-w1/fence:/usr/bin"),
            ("ORANGE_TASK_ID", "abc"),
            ("GIT_DIR", "/elsewhere"),
            ("PWD", "/home/x"),
            ("CARGO_HOME", "/cargo"),
        ]);
        let expected = environment(&[("PATH", "/usr/bin"), ("CARGO_HOME", "/cargo")]);
        assert_eq!(person, expected);
    }

    #[test]
    fn it_survives_its_file() {
        let odd = OsString::from_vec(vec![b'a', 0xff, b'=', b'\n']);
        let person = PersonEnvironment::from_variables([
            (OsString::from("ODD"), odd),
            (OsString::from("EMPTY"), OsString::new()),
        ]);
        assert_eq!(PersonEnvironment::from_bytes(&person.to_bytes()), person);
        assert_eq!(
            PersonEnvironment::from_bytes(b"\0nonsense\0=x\0"),
            PersonEnvironment::default()
        );
    }

    #[test]
    fn the_minimal_one_has_a_home_and_the_usual_path() {
        let minimal = PersonEnvironment::minimal(Some(Path::new("/somewhere")));
        assert_eq!(minimal.get("PATH"), Some(OsStr::new(USUAL_PATH)));
        assert!(minimal.get("HOME").is_some() && minimal.get("SHELL").is_some());
    }
}
