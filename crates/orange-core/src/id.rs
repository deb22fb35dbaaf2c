//! Names of tasks: the random id, the counted key, and the ways a person may refer to one.

mod prefix;

pub use prefix::{BadPrefix, Prefix};
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

/// `TASK-001`: a number that is counted per project and never used twice, after the prefix that the project had when it was
/// given. Within a project the number alone tells which task is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub number: u32,
    pub prefix: Prefix,
}

impl Key {
    /// With the prefix that projects have unless they say otherwise.
    pub const fn numbered(number: u32) -> Key {
        Key {
            number,
            prefix: Prefix::TASK,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_none() && f.precision().is_none() {
            return write!(f, "{}-{:03}", self.prefix.as_str(), self.number);
        }
        f.pad(&format!("{}-{:03}", self.prefix, self.number))
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
        Ok(Key {
            number: number(digits).ok_or_else(bad)?,
            prefix: prefix.parse().map_err(|_| bad())?,
        })
    }
}

/// The number of a task, written with digits only.
fn number(digits: &str) -> Option<u32> {
    let is_one = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|number| *number > 0);
    number.filter(|_| is_one)
}

/// What a person typed to name a task, taken apart but not yet looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// `TASK-007`, in the current project. A branch may look like that, too.
    Key(Key),
    /// `shop:TASK-007`.
    ProjectKey(String, Key),
    /// `shop:7`.
    ProjectNumber(String, u32),
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
            let project = || project.to_owned();
            if let Ok(key) = key.parse() {
                return Reference::ProjectKey(project(), key);
            }
            if let Some(number) = number(key) {
                return Reference::ProjectNumber(project(), number);
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

/// A task as another one's `blocked_by` names it. Project and number tell which one is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredReference {
    pub project: String,
    /// 0 where the text is no key; then `project` is all of it.
    pub number: u32,
    /// None for `shop:7`, which says nothing of it.
    pub prefix: Option<Prefix>,
}

impl StoredReference {
    /// Names no task, because none has the number 0.
    pub fn unreadable(text: &str) -> StoredReference {
        StoredReference {
            project: text.to_owned(),
            number: 0,
            prefix: None,
        }
    }

    /// As a task of that project writes it.
    pub fn written_in(&self, from_project: &str) -> String {
        let (project, number) = (&self.project, self.number);
        match self.prefix {
            _ if number == 0 => project.clone(),
            Some(prefix) => stored_reference(from_project, project, Key { number, prefix }),
            None => format!("{project}:{number}"),
        }
    }

    /// Could a task with that key be the one that is meant?
    pub fn fits(&self, key: Key) -> bool {
        self.number == key.number && self.prefix.is_none_or(|prefix| prefix == key.prefix)
    }
}

/// Reads a stored reference back.
pub fn read_stored(from_project: &str, text: &str) -> Option<StoredReference> {
    let (project, number, prefix) = match Reference::parse(text.trim()) {
        Reference::Key(key) => (from_project.to_owned(), key.number, Some(key.prefix)),
        Reference::ProjectKey(project, key) => (project, key.number, Some(key.prefix)),
        Reference::ProjectNumber(project, number) => (project, number, None),
        Reference::IdPrefix(_) | Reference::Branch(..) => return None,
    };
    Some(StoredReference {
        project,
        number,
        prefix,
    })
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
    use proptest::prelude::*;

    fn key(prefix: &str, number: u32) -> Key {
        let prefix = prefix.parse().unwrap();
        Key { number, prefix }
    }

    #[test]
    fn keys_are_padded_and_read_tolerantly() {
        assert_eq!(Key::numbered(7).to_string(), "TASK-007");
        assert_eq!(Key::numbered(12345).to_string(), "TASK-12345");
        assert_eq!(format!("{:<10}|", key("API", 7)), "API-007   |");
        assert_eq!("task-7".parse(), Ok(Key::numbered(7)));
        assert_eq!("web2-0007".parse(), Ok(key("WEB2", 7)));
        for bad in [
            "TASK-",
            "TASK-0",
            "TASK-+1",
            "TASK-1x",
            "TASK1",
            "-1",
            "A-1",
            "2WEB-1",
            "INIT-001",
            "fix-login-1",
            "TASK-99999999999999999999",
        ] {
            assert!(bad.parse::<Key>().is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_are_ordered_by_their_numbers() {
        let mut keys = [key("API", 3), key("TASK", 1), key("WEB", 2), key("AAA", 20)];
        keys.sort();
        let shown = keys.map(|key| key.to_string());
        assert_eq!(shown, ["TASK-001", "WEB-002", "API-003", "AAA-020"]);
    }

    #[test]
    fn references_are_told_apart() {
        assert_eq!(Reference::parse("TASK-3"), Reference::Key(Key::numbered(3)));
        assert_eq!(Reference::parse("api-3"), Reference::Key(key("API", 3)));
        assert_eq!(
            Reference::parse("my:shop:TASK-3"),
            Reference::ProjectKey("my:shop".into(), Key::numbered(3))
        );
        assert_eq!(
            Reference::parse("shop:007"),
            Reference::ProjectNumber("shop".into(), 7)
        );
        assert_eq!(
            Reference::parse("shop/fix/deep"),
            Reference::Branch("shop".into(), "fix/deep".into())
        );
        for id in ["abC1", "3", "INIT-003", "fix-login-3", "shop:0", "shop:+7"] {
            assert_eq!(Reference::parse(id), Reference::IdPrefix(id.into()));
        }
    }

    #[test]
    fn stored_references_name_the_project_only_when_it_differs() {
        let one = key("API", 1);
        assert_eq!(stored_reference("a", "a", one), "API-001");
        assert_eq!(stored_reference("a", "b", one), "b:API-001");
        for (text, project, number, prefix) in [
            ("b:TASK-001", "b", 1, Some(Prefix::TASK)),
            (" task-1 ", "a", 1, Some(Prefix::TASK)),
            ("API-002", "a", 2, Some(one.prefix)),
            ("b:7", "b", 7, None),
        ] {
            let project = project.to_owned();
            let expected = StoredReference {
                project,
                number,
                prefix,
            };
            assert_eq!(read_stored("a", text), Some(expected));
        }
        assert_eq!(read_stored("a", "nonsense"), None);
        assert_eq!(read_stored("a", "7"), None);
        assert_eq!(StoredReference::unreadable("x y").written_in("a"), "x y");
    }

    #[test]
    fn a_reference_fits_the_key_that_it_was_written_as() {
        let fits = |text: &str, key: Key| read_stored("a", text).unwrap().fits(key);
        assert!(fits("API-003", key("API", 3)));
        assert!(fits("a:3", key("API", 3)));
        assert!(!fits("API-003", key("TASK", 3)));
        assert!(!fits("a:4", key("API", 3)));
    }

    proptest! {
        /// Whatever a project may have chosen, what is written down is read again as what was meant.
        #[test]
        fn what_is_written_is_read(
            prefix in "[A-Za-z][A-Za-z0-9]{1,9}",
            number in 1_u32..,
            from in "[a-z]{1,5}",
            project in "[a-z:.]{1,5}",
        ) {
            prop_assume!(prefix.parse::<Prefix>().is_ok());
            let key = key(&prefix, number);
            prop_assert_eq!(key.to_string().parse(), Ok(key));
            prop_assert_eq!(key.to_string().to_lowercase().parse(), Ok(key));
            let text = stored_reference(&from, &project, key);
            let read = read_stored(&from, &text).unwrap();
            prop_assert!(read.fits(key));
            prop_assert_eq!(&read.project, &project);
            prop_assert_eq!(read.written_in(&from), text);
        }

        #[test]
        fn any_text_is_some_reference(text in "(\\PC{0,12}|[A-Za-z0-9]{0,12}[-:/][A-Za-z0-9:/-]{0,12})") {
            match Reference::parse(&text) {
                Reference::Key(key) => {
                    prop_assert_eq!(key.to_string().parse(), Ok(key));
                    prop_assert!(text.to_uppercase().starts_with(key.prefix.as_str()));
                }
                Reference::ProjectKey(project, _) | Reference::ProjectNumber(project, _) => {
                    let rest = text.strip_prefix(&project);
                    prop_assert!(rest.is_some_and(|rest| rest.starts_with(':')));
                }
                Reference::Branch(project, branch) => {
                    prop_assert_eq!(format!("{project}/{branch}"), text);
                }
                Reference::IdPrefix(id) => prop_assert_eq!(id, text),
            }
        }
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
