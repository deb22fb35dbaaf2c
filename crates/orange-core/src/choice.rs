//! Closed sets of words (priorities, statuses, …): one macro gives each its spelling, parser and list.

use crate::suggest::meant;

/// A value that is not one of the allowed words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not a {what}; {}allowed: {}", meant(value, allowed.iter().copied()), allowed.join(", "))]
pub struct NotAllowed {
    pub what: &'static str,
    pub value: String,
    pub allowed: Vec<&'static str>,
}

/// Declares an enum whose variants are words in files, on the command line and in JSON.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident ($what:literal) { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        $vis enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::choice::NotAllowed;
            fn from_str(word: &str) -> std::result::Result<Self, Self::Err> {
                match word {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::choice::NotAllowed {
                        what: $what,
                        value: word.to_owned(),
                        allowed: Self::WORDS.to_vec(),
                    }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::task::FieldValue for $name {
            const SHAPE: $crate::task::ValueShape = $crate::task::ValueShape::Text;
            fn read_text(text: Option<&str>) -> std::result::Result<Self, String> {
                let word = text.unwrap_or_default().parse();
                word.map_err(|error: $crate::choice::NotAllowed| error.to_string())
            }
        }
    };
}
