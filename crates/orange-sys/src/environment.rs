//! The environment that the programs get which this process starts: its own, or that of the person who started a task.

use crate::time_limit::LimitOfThread;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::marker::PhantomData;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;
use std::sync::{Arc, PoisonError, RwLock};

/// Variables by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonEnvironment(BTreeMap<OsString, OsString>);

/// Orange's own variables: they say who somebody is, which home is meant and which settings hold.
pub const OWN_PREFIX: &[u8] = b"ORANGE_";

/// What the programs that this process starts get instead of its own environment.
static FOR_CHILDREN: RwLock<Option<Arc<PersonEnvironment>>> = RwLock::new(None);

thread_local! {
    /// What those get that this thread starts, where that is something else again.
    static FOR_THREAD: RefCell<Option<Arc<PersonEnvironment>>> = const { RefCell::new(None) };
}

/// As long as it is there, the programs that this thread starts get the variables that it was made from.
#[must_use]
pub struct GivenToThread {
    before: Option<Arc<PersonEnvironment>>,
    /// It belongs to its thread.
    stays: PhantomData<*const ()>,
}

impl GivenToThread {
    fn new(given: Option<Arc<PersonEnvironment>>) -> GivenToThread {
        GivenToThread {
            before: FOR_THREAD.replace(given),
            stays: PhantomData,
        }
    }
}

impl Drop for GivenToThread {
    fn drop(&mut self) {
        FOR_THREAD.set(self.before.take());
    }
}

impl FromIterator<(OsString, OsString)> for PersonEnvironment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> PersonEnvironment {
        PersonEnvironment(variables.into_iter().collect())
    }
}

impl PersonEnvironment {
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
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, value) in &self.0 {
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(b'=');
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> PersonEnvironment {
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
    pub fn give_to(&self, command: &mut Command) {
        command.env_clear().envs(&self.0);
    }

    /// Every program that this process starts from now on gets these variables.
    pub fn give_to_children(self) {
        *FOR_CHILDREN.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(self));
    }

    /// The same for programs that this thread starts, until what this returns is dropped: other threads of the process
    /// may be at work for somebody else.
    pub fn give_to_thread(self) -> GivenToThread {
        GivenToThread::new(Some(Arc::new(self)))
    }
}

/// Work that another thread does for this one: programs that it starts get what those of this thread get, and have its limit.
pub fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let given = FOR_THREAD.with_borrow(Clone::clone);
    let limit = LimitOfThread::now();
    move || {
        let _given = GivenToThread::new(given);
        let _limit = LimitOfThread::set(limit);
        work()
    }
}

fn for_children() -> Option<Arc<PersonEnvironment>> {
    let of_process = || {
        let given = FOR_CHILDREN.read();
        given.unwrap_or_else(PoisonError::into_inner).clone()
    };
    FOR_THREAD.with_borrow(Clone::clone).or_else(of_process)
}

/// Gives a program what this process's children are to get: its own environment, unless something else was said.
/// Orange's own variables go along; whoever starts the program takes out what it must not have.
pub fn inherit(command: &mut Command) {
    if let Some(environment) = for_children() {
        environment.give_to(command);
        let own = std::env::vars_os();
        command.envs(own.filter(|(name, _)| name.as_bytes().starts_with(OWN_PREFIX)));
    }
}

/// A variable as this process's children get it.
pub fn inherited(name: &str) -> Option<OsString> {
    match for_children() {
        Some(environment) => environment.get(name).map(OsStr::to_owned),
        None => std::env::var_os(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_gets_its_own_and_those_who_help_it_the_same() {
        let person = |name: &str| PersonEnvironment::from_iter([("WHO".into(), name.into())]);
        let who = || inherited("WHO").map(|who| who.into_string().unwrap());
        let outer = person("anna").give_to_thread();
        let inner = person("ben").give_to_thread();
        assert_eq!(who().as_deref(), Some("ben"));
        std::thread::scope(|scope| {
            let helper = scope.spawn(carried(who));
            let other = scope.spawn(who);
            assert_eq!(helper.join().unwrap().as_deref(), Some("ben"));
            assert_eq!(other.join().unwrap(), None);
        });
        drop(inner);
        assert_eq!(who().as_deref(), Some("anna"));
        drop(outer);
        assert_eq!(who(), None);
    }

    #[test]
    fn a_limit_holds_for_one_thread_and_for_those_who_help_it() {
        let limit = std::time::Duration::from_secs(7);
        let set = LimitOfThread::set(Some(limit));
        std::thread::scope(|scope| {
            let helper = scope.spawn(carried(LimitOfThread::now));
            let other = scope.spawn(LimitOfThread::now);
            assert_eq!(helper.join().unwrap(), Some(limit));
            assert_eq!(other.join().unwrap(), None);
        });
        drop(set);
        assert_eq!(LimitOfThread::now(), None);
    }

    #[test]
    fn it_survives_its_file() {
        let odd = OsString::from_vec(vec![b'a', 0xff, b'=', b'\n']);
        let person = PersonEnvironment::from_iter([
            (OsString::from("ODD"), odd),
            (OsString::from("EMPTY"), OsString::new()),
        ]);
        assert_eq!(PersonEnvironment::from_bytes(&person.to_bytes()), person);
        assert_eq!(
            PersonEnvironment::from_bytes(b"\0nonsense\0=x\0"),
            PersonEnvironment::default()
        );
    }
}
