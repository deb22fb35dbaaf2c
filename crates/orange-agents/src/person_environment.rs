//! The environment of the person who started a task. Checks run in it, and so does what Orange starts on behalf of an
//! agent: no variable of an agent decides which git, which shell or which agent is found.

use crate::agent_run::fence;
use crate::git::REDIRECTING;
use orange_sys::environment::OWN_PREFIX;
pub use orange_sys::environment::{GivenToThread, PersonEnvironment, inherit, inherited};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Variables that speak of one shell or one window, and say nothing about programs.
const PASSING: &[&str] = &["_", "OLDPWD", "PWD", "SHLVL", "TMUX", "TMUX_PANE"];

/// Where programs are looked for when nobody's PATH is known.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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
    let undone: Vec<_> = fence::undone(|name| all.get(OsStr::new(name)).cloned()).collect();
    for (name, value) in undone {
        match value {
            Some(value) => all.insert(name.into(), value),
            None => all.remove(OsStr::new(&name)),
        };
    }
    all.into_iter().collect()
}

/// When nobody knows who started a task: the account's own home and shell, and the usual folders for programs.
pub fn minimal(home: Option<&Path>) -> PersonEnvironment {
    let [name, own_home, shell] = account().unwrap_or_default();
    let home = own_home.or_else(|| Some(home?.as_os_str().to_owned()));
    let named = [
        ("HOME", home),
        ("LANG", Some("C.UTF-8".into())),
        ("LOGNAME", name.clone()),
        ("PATH", Some(USUAL_PATH.into())),
        ("SHELL", shell.or_else(|| Some("/bin/sh".into()))),
        ("USER", name),
    ];
    let known = named
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)));
    known.collect()
}

/// Name, home and shell of this user, as /etc/passwd says.
fn account() -> Option<[Option<OsString>; 3]> {
    let user = fs::metadata("/proc/self").ok()?.uid().to_string();
    let text = fs::read_to_string("/etc/passwd").ok()?;
    let mut accounts = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let fields = accounts.find(|fields| fields.get(2) == Some(&user.as_str()))?;
    let field = |at: usize| fields.get(at).filter(|text| !text.is_empty());
    Some([0, 5, 6].map(|at| field(at).map(OsString::from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> PersonEnvironment {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        from_variables(pairs)
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
    fn the_minimal_one_has_a_home_and_the_usual_path() {
        let minimal = minimal(Some(Path::new("/somewhere")));
        assert_eq!(minimal.get("PATH"), Some(OsStr::new(USUAL_PATH)));
        assert!(minimal.get("HOME").is_some() && minimal.get("SHELL").is_some());
    }
}
