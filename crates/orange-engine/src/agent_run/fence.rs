//! The fence around an agent: no push, no post. A `git` and a `gh` of ours stand first on its PATH and hand on everything
//! else; and git is told of a place for pushes that leads nowhere. It stops accidents, not malice.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const FOLDER: &str = "fence";

const PROGRAMS: [(&str, &str); 2] = [
    ("git", include_str!("fence/git.sh")),
    ("gh", include_str!("fence/gh.sh")),
];

const COUNT: &str = "GIT_CONFIG_COUNT";

/// For every push that has no place of its own. A shell that an agent starts may have forgotten its PATH.
const KEY: &str = "url./dev/null/agents-of-orange-do-not-push/.pushInsteadOf";

/// Puts it up for one run. Gives the PATH with it in front.
pub(crate) fn put_up(run: &Path, search_path: &OsStr) -> io::Result<OsString> {
    let folder = run.join(FOLDER);
    fs::create_dir_all(&folder)?;
    for (name, text) in PROGRAMS {
        let program = folder.join(name);
        // Somebody may be running it.
        if fs::read(&program).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        fs::write(&program, text)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    }
    let rest = without(search_path);
    let folders = std::iter::once(folder).chain(std::env::split_paths(&rest));
    std::env::join_paths(folders).map_err(io::Error::other)
}

/// A PATH without any run's fence: Orange itself is not fenced in, and a fence ends with its run.
pub fn without(search_path: &OsStr) -> OsString {
    let is_fence = |folder: &Path| {
        let mut names = folder.iter().rev();
        names.next() == Some(OsStr::new(FOLDER)) && names.nth(1) == Some(OsStr::new("runs"))
    };
    let folders = std::env::split_paths(search_path).filter(|folder| !is_fence(folder));
    std::env::join_paths(folders).unwrap_or_else(|_| search_path.to_owned())
}

/// What git is told by variables, after what the user tells it that way.
pub(crate) fn git_settings(known: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let count = count(&known);
    if own(&known).is_some() {
        return Vec::new();
    }
    vec![
        (COUNT.to_owned(), (count + 1).to_string()),
        (key(count), KEY.to_owned()),
        (value(count), String::new()),
    ]
}

/// The variables as they were before. It was the last that was added, unless somebody added to it.
pub(crate) fn taken_back(known: impl Fn(&str) -> Option<String>) -> Vec<(String, Option<String>)> {
    let count = count(&known);
    match own(&known) {
        Some(at) if at + 1 == count => vec![
            (COUNT.to_owned(), (at > 0).then(|| at.to_string())),
            (key(at), None),
            (value(at), None),
        ],
        Some(_) | None => Vec::new(),
    }
}

fn own(known: impl Fn(&str) -> Option<String>) -> Option<usize> {
    (0..count(&known)).find(|at| known(&key(*at)).as_deref() == Some(KEY))
}

fn count(known: impl Fn(&str) -> Option<String>) -> usize {
    let count = known(COUNT).and_then(|count| count.trim().parse().ok());
    count.unwrap_or_default()
}

fn key(number: usize) -> String {
    format!("GIT_CONFIG_KEY_{number}")
}

fn value(number: usize) -> String {
    format!("GIT_CONFIG_VALUE_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_the_user_tells_git_by_variables_stays() {
        let mut known = BTreeMap::from([
            (COUNT.to_owned(), "1".to_owned()),
            (key(0), "user.name".to_owned()),
        ]);
        let added = git_settings(|name| known.get(name).cloned());
        known.extend(added);
        assert_eq!(known[COUNT], "2");
        assert_eq!(known[&key(0)], "user.name");
        assert_eq!(known[&key(1)], KEY);
        let again = git_settings(|name| known.get(name).cloned());
        assert_eq!(again, Vec::new());
        let back = taken_back(|name| known.get(name).cloned());
        assert_eq!(back[0], (COUNT.to_owned(), Some("1".to_owned())));
    }

    #[test]
    fn only_fences_leave_the_path() {
        let path = OsStr::new("/home/x/runs/abc-w1/fence:/usr/bin:/opt/fence");
        assert_eq!(without(path), "/usr/bin:/opt/fence");
    }
}
