//! Names of tasks: the random id, the counted key, and the ways a person may refer to one.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Letters of an id: safe as a folder name, a command-line argument and a git ref component.
pub const ID_ALPHABET: [char; 62] = [
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I',
    'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b',
    'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u',
    'v', 'w', 'x', 'y', 'z',
];

/// Length of the ids Orange makes. Adopted tasks keep ids of any shape.
pub const ID_LENGTH: usize = 21;

/// `TASK-001`: counted per project, never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u32);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_none() && f.precision().is_none() {
            return write!(f, "TASK-{:03}", self.0);
        }
        f.pad(&format!("TASK-{:03}", self.0))
    }
}

impl Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a task key; a key looks like TASK-001")]
pub struct BadKey(pub String);

impl FromStr for Key {
    type Err = BadKey;

    /// Any letter case and any number of zeros are accepted: people type `task-7`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadKey(text.to_owned());
        let (prefix, digits) = text.split_once('-').ok_or_else(bad)?;
        if !prefix.eq_ignore_ascii_case("task")
            || digits.is_empty()
            || !digits.bytes().all(|b| b.is_ascii_digit())
        {
            return Err(bad());
        }
        match digits.parse() {
            Ok(0) | Err(_) => Err(bad()),
            Ok(number) => Ok(Key(number)),
        }
    }
}

/// What a person typed to name a task, taken apart but not yet looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// `TASK-007`, in the current project.
    Key(Key),
    /// `shop:TASK-007`.
    ProjectKey(String, Key),
    /// An id or the beginning of one.
    IdPrefix(String),
    /// `shop/add-login`: everything after the first slash is the branch.
    Branch(String, String),
}

impl Reference {
    pub fn parse(text: &str) -> Reference {
        if let Ok(key) = text.parse() {
            return Reference::Key(key);
        }
        if let Some((project, key)) = text.rsplit_once(':') {
            // `shop:7` is what people type for shop:TASK-007.
            let number = || key.parse().map(Key);
            if let Ok(key) = key.parse().or_else(|_| number()) {
                return Reference::ProjectKey(project.to_owned(), key);
            }
        }
        match text.split_once('/') {
            Some((project, branch)) => Reference::Branch(project.to_owned(), branch.to_owned()),
            None => Reference::IdPrefix(text.to_owned()),
        }
    }
}

/// How a task is written down in another task's `blocked_by`: a key, or `project:KEY` across projects.
pub fn stored_reference(from_project: &str, project: &str, key: Key) -> String {
    if from_project == project {
        key.to_string()
    } else {
        format!("{project}:{key}")
    }
}

/// Reads a stored reference back into its project and key.
pub fn read_stored(from_project: &str, text: &str) -> Option<(String, Key)> {
    match Reference::parse(text.trim()) {
        Reference::Key(key) => Some((from_project.to_owned(), key)),
        Reference::ProjectKey(project, key) => Some((project, key)),
        Reference::IdPrefix(_) | Reference::Branch(..) => None,
    }
}

/// Project names become folder and session names, so their letters are limited.
pub fn valid_project_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && !name.starts_with(['.', '-'])
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_padded_and_read_tolerantly() {
        assert_eq!(Key(7).to_string(), "TASK-007");
        assert_eq!(Key(12345).to_string(), "TASK-12345");
        assert_eq!("task-7".parse(), Ok(Key(7)));
        for bad in [
            "TASK-",
            "TASK-0",
            "TASK-1x",
            "TASK1",
            "-1",
            "TASK-99999999999999999999",
        ] {
            assert!(bad.parse::<Key>().is_err(), "{bad}");
        }
    }

    #[test]
    fn references_are_told_apart() {
        assert_eq!(Reference::parse("TASK-3"), Reference::Key(Key(3)));
        assert_eq!(
            Reference::parse("my:shop:TASK-3"),
            Reference::ProjectKey("my:shop".into(), Key(3))
        );
        assert_eq!(
            Reference::parse("shop/fix/deep"),
            Reference::Branch("shop".into(), "fix/deep".into())
        );
        assert_eq!(Reference::parse("abC1"), Reference::IdPrefix("abC1".into()));
    }

    #[test]
    fn stored_references_name_the_project_only_when_it_differs() {
        assert_eq!(stored_reference("a", "a", Key(1)), "TASK-001");
        assert_eq!(stored_reference("a", "b", Key(1)), "b:TASK-001");
        assert_eq!(read_stored("a", "b:TASK-001"), Some(("b".into(), Key(1))));
        assert_eq!(read_stored("a", "TASK-001"), Some(("a".into(), Key(1))));
        assert_eq!(read_stored("a", "nonsense"), None);
    }

    #[test]
    fn project_names_stay_inside_one_folder() {
        for good in ["orange", "web-shop", "café", "a.b_c"] {
            assert!(valid_project_name(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a b", "-x", "a:b", "x\n"] {
            assert!(!valid_project_name(bad), "{bad:?}");
        }
    }
}
