//! Tokens of a model under the names that plans, transcripts and exports of phased tasks have for them.

use crate::usage::Usage;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// Tokens of an iteration, a phase or a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Not from a cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
}

impl Tokens {
    pub fn total_tokens(&self) -> u64 {
        self.effective_input().saturating_add(self.output_tokens)
    }

    /// Everything that the model read, from wherever.
    pub fn effective_input(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
    }
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Tokens {
        Tokens {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_creation_input_tokens: usage.cache_write,
            cache_read_input_tokens: usage.cache_read,
        }
    }
}

/// With their sum, `total_tokens`, which is never read: it follows from the others.
impl Serialize for Tokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Tokens", 5)?;
        json.serialize_field("input_tokens", &self.input_tokens)?;
        json.serialize_field("output_tokens", &self.output_tokens)?;
        json.serialize_field(
            "cache_creation_input_tokens",
            &self.cache_creation_input_tokens,
        )?;
        json.serialize_field("cache_read_input_tokens", &self.cache_read_input_tokens)?;
        json.serialize_field("total_tokens", &self.total_tokens())?;
        json.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_the_names_of_their_export() {
        let tokens = Tokens::from(Usage {
            input: 45_000,
            output: 12_000,
            cache_read: 8_000,
            cache_write: 1_000,
            ..Usage::default()
        });
        assert_eq!(
            (tokens.effective_input(), tokens.total_tokens()),
            (54_000, 66_000)
        );
        let json = serde_json::to_string(&tokens).unwrap();
        assert_eq!(
            json,
            r#"{"input_tokens":45000,"output_tokens":12000,"cache_creation_input_tokens":1000,"cache_read_input_tokens":8000,"total_tokens":66000}"#
        );
        assert_eq!(serde_json::from_str::<Tokens>(&json).unwrap(), tokens);
        assert_eq!(
            serde_json::from_str::<Tokens>(r#"{"input_tokens":1}"#)
                .unwrap()
                .total_tokens(),
            1
        );
    }
}
