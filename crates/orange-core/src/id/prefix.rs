//! The letters before the number of a key: `TASK`, or what a project chose.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most characters that a prefix has.
const LONGEST: usize = 10;

/// Upper-case letters and digits; `TASK` unless the project says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix([u8; LONGEST]);

/// Ids of other things begin so.
const RESERVED: &[(&str, &str)] = &[
    ("INIT", "initiatives"),
    ("DEC", "decisions"),
    ("TC", "comments on tasks"),
    ("RC", "comments of reviews"),
];

/// Why a text cannot be a prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPrefix {
    #[error(
        "{0:?} cannot be a prefix of keys: it takes 2 to {LONGEST} letters and digits, a letter first, such as API"
    )]
    Shape(String),
    #[error("{0} cannot be a prefix of keys: it is reserved for the ids of {1}")]
    Reserved(&'static str, &'static str),
}

impl Prefix {
    pub const TASK: Prefix = Prefix(*b"TASK\0\0\0\0\0\0");

    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0);
        let letters = self.0.get(..length.unwrap_or(LONGEST));
        str::from_utf8(letters.unwrap_or_default()).unwrap_or_default()
    }

    pub fn is_default(&self) -> bool {
        *self == Prefix::TASK
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Prefix::TASK
    }
}

impl FromStr for Prefix {
    type Err = BadPrefix;

    /// Any letter case is accepted: people type `api`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_one = (2..=LONGEST).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_one {
            return Err(BadPrefix::Shape(text.to_owned()));
        }
        let reserved = |(name, _): &&(&str, &str)| name.eq_ignore_ascii_case(text);
        if let Some((name, of)) = RESERVED.iter().find(reserved) {
            return Err(BadPrefix::Reserved(name, of));
        }
        let mut letters = [0; LONGEST];
        for (letter, byte) in letters.iter_mut().zip(text.bytes()) {
            *letter = byte.to_ascii_uppercase();
        }
        Ok(Prefix(letters))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Prefix {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, BadPrefix> {
        text.parse().map(|prefix: Prefix| prefix.to_string())
    }

    #[test]
    fn a_prefix_is_a_few_letters_and_digits_in_upper_case() {
        for (typed, kept) in [
            ("API", "API"),
            ("api", "API"),
            ("Web2", "WEB2"),
            ("ab", "AB"),
            ("ABCDEFGHIJ", "ABCDEFGHIJ"),
            ("task", "TASK"),
            ("INITS", "INITS"),
        ] {
            assert_eq!(shown(typed).as_deref(), Ok(kept));
        }
        for bad in [
            "",
            "A",
            "ABCDEFGHIJK",
            "2WEB",
            "A-B",
            "A B",
            "ÄPI",
            "AP\0",
            "API\n",
            "API:",
        ] {
            assert_eq!(shown(bad), Err(BadPrefix::Shape(bad.to_owned())));
        }
    }

    #[test]
    fn ids_of_other_things_are_not_taken() {
        for name in ["INIT", "init", "Dec", "tc", "RC"] {
            let refused = shown(name).unwrap_err();
            assert!(matches!(refused, BadPrefix::Reserved(..)), "{name}");
            assert!(refused.to_string().contains("reserved for"), "{refused}");
        }
    }

    #[test]
    fn the_default_is_written_as_any_other() {
        assert_eq!(Prefix::default().as_str(), "TASK");
        assert_eq!("task".parse(), Ok(Prefix::TASK));
        assert_eq!(format!("{:<6}|", Prefix::TASK), "TASK  |");
        let json = serde_json::to_string(&Prefix::TASK).unwrap();
        assert_eq!(json, r#""TASK""#);
        assert_eq!(
            serde_json::from_str::<Prefix>(r#""web""#).unwrap().as_str(),
            "WEB"
        );
        assert!(serde_json::from_str::<Prefix>(r#""INIT""#).is_err());
    }
}
