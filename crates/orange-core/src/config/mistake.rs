//! What is wrong with a text of settings, all of it at once: nobody wants to hear of one mistake after the other.

use std::fmt;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub line: Option<usize>,
    pub reason: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// Why settings cannot be used: at least one mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.told_of("config.yaml"))]
pub struct ConfigError {
    pub mistakes: Vec<Mistake>,
}

impl From<Mistake> for ConfigError {
    fn from(mistake: Mistake) -> ConfigError {
        ConfigError {
            mistakes: vec![mistake],
        }
    }
}

impl ConfigError {
    /// As a message about that file: one mistake in a line, several below each other.
    pub fn told_of(&self, file: &str) -> String {
        match self.mistakes.as_slice() {
            [one] => format!("{file}, {one}"),
            several => {
                let lines = several.iter().map(|mistake| format!("\n  {mistake}"));
                let lines: String = lines.collect();
                format!("{file} has {} mistakes:{lines}", several.len())
            }
        }
    }
}
