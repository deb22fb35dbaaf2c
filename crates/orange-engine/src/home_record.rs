//! Which home this is. `.home.json` records the path of the home, so that a copy of it (a backup) is recognised. A copy is
//! only read: the runs, workspaces, tmux sessions and refs that it speaks of are those of the original.

use crate::call::Call;
use crate::error::{Result, err};
use crate::git::state;
use crate::runs;
pub use orange_agents::home_paths::HomePaths;
use orange_agents::home_paths::{HomeRecord, read, real};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What the record says about the home that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    Own,
    /// No record yet, or one that cannot be read.
    Unrecorded,
    /// The home is not where it was recorded, and no longer there.
    Moved(HomeRecord),
    /// The home from which it was copied is still there.
    Copy {
        original: PathBuf,
    },
}

/// The home of which this one is a copy.
pub fn copied_from(call: &Call) -> Option<&Path> {
    let home = call.store.home();
    let found = call.copied_from.get_or_init(|| match identify(home) {
        Identity::Copy { original } => Some(original),
        Identity::Own | Identity::Unrecorded | Identity::Moved(_) => None,
    });
    found.as_deref()
}

/// Remembers that the home was found to be no copy, so that this call does not look once more.
pub(crate) fn note_original(call: &Call) {
    // Somebody may have looked already; this call goes on with what was found then.
    let _ = call.copied_from.set(None);
}

/// Where the home was recorded last, if it was moved since and no command has recorded that.
pub(crate) fn moved_from(call: &Call) -> Option<PathBuf> {
    match identify(call.store.home()) {
        Identity::Moved(record) => Some(record.path),
        Identity::Own | Identity::Unrecorded | Identity::Copy { .. } => None,
    }
}

/// Tells a person who looks at a copy that it is one.
pub fn note_copy(call: &Call) {
    let home = call.store.home().display().to_string();
    if let Some(original) = copied_from(call) {
        let text = format!(
            "{home} is a copy of {}: it is only shown, nothing is changed from here",
            original.display()
        );
        call.notice(text);
    }
}

pub(crate) fn home_paths(call: &Call) -> HomePaths {
    HomePaths::of(call.store.home())
}

/// Refuses to change anything in a copy.
pub fn refuse_copy(call: &Call) -> Result<()> {
    let home = call.store.home().display().to_string();
    let Some(original) = copied_from(call) else {
        return Ok(());
    };
    let what = if original.exists() {
        "which is still there"
    } else {
        "whose agents still run"
    };
    let original = original.display();
    Err(err!(Refused, "{home} is a copy of {original}, {what}: its agents, workspaces and branches belong to the original, so nothing is changed from here")
        .hint(format!(
            "work in the original: `ORANGE_HOME={original}`; to go on with this copy instead, rename or remove the original first"
        )))
}

pub(crate) fn identify(home: &Path) -> Identity {
    let Some(record) = read(home) else {
        return match original_of(home) {
            Some(original) => Identity::Copy { original },
            None => Identity::Unrecorded,
        };
    };
    if real(home).as_ref() == Some(&record.path) || is_same_folder(home, &record.path) {
        return Identity::Own;
    }
    let is_original = |other: HomeRecord| other.id == record.id && other.path == record.path;
    if read(&record.path).is_some_and(is_original) {
        return Identity::Copy {
            original: record.path,
        };
    }
    match original_of(home) {
        Some(original) => Identity::Copy { original },
        // The original was renamed and nothing has recorded that yet, but its agents still name its path.
        None if !is_renamed(home, &record) && has_agents(&record.path) => Identity::Copy {
            original: record.path,
        },
        None => Identity::Moved(record),
    }
}

/// A folder that was renamed is still the same one.
fn is_renamed(home: &Path, record: &HomeRecord) -> bool {
    fs::metadata(home).is_ok_and(|about| about.ino() == record.inode)
}

/// Whether agents run that were started for a home of this path.
fn has_agents(path: &Path) -> bool {
    !runs::tagged_in(&HomePaths::at(path)).is_empty()
}

/// A home that the runs or the workspaces of this one belong to, if that is another one and still there. This recognises a
/// copy that was made before the path was recorded, or whose original was moved afterwards.
fn original_of(home: &Path) -> Option<PathBuf> {
    let of_runs = runs::all(home).into_iter().filter_map(|run| {
        let spec = run.spec()?;
        Some(spec.worktree)
    });
    let slots = fs::read_dir(home.join("workspaces")).into_iter().flatten();
    let of_slots = slots.flatten().filter_map(|entry| {
        let folder = state::git_folder(&entry.path()).ok()?;
        let text = fs::read(folder.join("gitdir")).ok()?;
        let link = folder.join(OsStr::from_bytes(text.trim_ascii_end()));
        let slot = link.parent()?;
        // An agent can lead a workspace to any other one; a copy has the same name.
        (slot.file_name() == Some(&entry.file_name())).then(|| slot.to_owned())
    });
    let homes = of_runs.chain(of_slots).filter_map(|slot| {
        let workspaces = slot.parent()?;
        let is_pool = slot.exists() && workspaces.file_name()? == "workspaces";
        is_pool.then(|| workspaces.parent().map(Path::to_owned))?
    });
    let is_other = |other: &PathBuf| other.join("tasks").is_dir() && !is_same_folder(other, home);
    homes.into_iter().find(is_other)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_agents::home_paths::RECORD;

    fn recorded(home: &Path) {
        let call = Call::new(crate::Settings::at(home.to_owned()));
        crate::recovery::claim_home(&call).unwrap();
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir(to).unwrap();
        fs::copy(from.join(RECORD), to.join(RECORD)).unwrap();
    }

    #[test]
    fn a_copy_is_told_from_a_home_that_was_moved() {
        let root = tempfile::tempdir().unwrap();
        let (home, other) = (root.path().join("home"), root.path().join("other"));
        fs::create_dir(&home).unwrap();
        assert_eq!(identify(&home), Identity::Unrecorded);
        recorded(&home);
        assert_eq!(identify(&home), Identity::Own);

        copy(&home, &other);
        let original = home.canonicalize().unwrap();
        assert_eq!(identify(&other), Identity::Copy { original });
        assert_eq!(identify(&home), Identity::Own);

        // The original is gone: the copy takes its place, and no agent of the old path is its own.
        fs::remove_dir_all(&home).unwrap();
        assert!(matches!(identify(&other), Identity::Moved(_)));
        recorded(&other);
        assert_eq!(identify(&other), Identity::Own);
        assert!(HomePaths::of(&other).former.is_empty());

        // A folder that was renamed keeps its agents.
        fs::rename(&other, &home).unwrap();
        recorded(&home);
        let paths = HomePaths::of(&home);
        assert!(
            paths.include(
                other
                    .canonicalize()
                    .unwrap_or(other.clone())
                    .as_os_str()
                    .as_bytes()
            )
        );
        assert!(paths.has_tagged(None) && paths.has_tagged(Some(&paths.tag())));
        assert!(!paths.has_tagged(Some("0123456789abcdef")));

        // Another home at the old path takes it over.
        fs::create_dir(&other).unwrap();
        assert!(!HomePaths::of(&home).include(other.as_os_str().as_bytes()));
    }

    #[test]
    fn a_home_at_the_recorded_path_that_is_another_one_is_no_original() {
        let root = tempfile::tempdir().unwrap();
        let (home, moved) = (root.path().join("home"), root.path().join("moved"));
        fs::create_dir(&home).unwrap();
        recorded(&home);
        fs::rename(&home, &moved).unwrap();
        fs::create_dir(&home).unwrap();
        recorded(&home);
        assert!(matches!(identify(&moved), Identity::Moved(_)));
        // A link to the home is the home.
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&home, &link).unwrap();
        assert_eq!(identify(&link), Identity::Own);
    }
}
