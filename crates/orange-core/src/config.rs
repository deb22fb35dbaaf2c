//! config.yaml: the user's settings, with their defaults.

use crate::yaml::{self, Node};

/// Settings. A missing file, or a missing key, means the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub review: ReviewConfig,
    pub git: GitConfig,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewConfig {
    /// Failed reviews before a task is stuck.
    pub max_rounds: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitConfig {
    /// How a branch is named after a summary.
    pub branch_template: String,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            review: ReviewConfig { max_rounds: 2 },
            git: GitConfig {
                branch_template: "orange/{key}-{slug}".into(),
            },
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("config.yaml{}: {reason}", line.map_or(String::new(), |line| format!(", line {line}")))]
pub struct ConfigError {
    pub line: Option<usize>,
    pub reason: String,
}

/// The names that mean something, for the message about one that does not.
const KNOWN: &[&str] = &["review.max_rounds", "git.branch_template"];

impl Config {
    /// Reads settings; the second value lists keys that mean nothing here (a newer program may know them).
    pub fn parse(text: &str) -> Result<(Config, Vec<String>), ConfigError> {
        let mut config = Config::default();
        let mut unknown = Vec::new();
        let root = yaml::read(text, 0..text.len()).map_err(|error| ConfigError {
            line: None,
            reason: error.to_string(),
        })?;
        let Some(root) = root else {
            return Ok((config, unknown));
        };
        for (path, node) in leaves(&root)? {
            let line = Some(yaml::line_of(text, node.span().start));
            match path.as_str() {
                "review.max_rounds" => {
                    config.review.max_rounds = whole_number(node)
                        .filter(|rounds| *rounds > 0)
                        .ok_or_else(|| ConfigError {
                            line,
                            reason: format!("{path} must be a whole number above 0"),
                        })?;
                }
                "git.branch_template" => {
                    let template = scalar(node).ok_or_else(|| ConfigError {
                        line,
                        reason: format!("{path} must be text"),
                    })?;
                    // Tried here, so that a mistake is found when it is made.
                    crate::naming::branch_from_template(
                        template, "TASK-001", "slug", "id", "project",
                    )
                    .map_err(|error| ConfigError {
                        line,
                        reason: format!("{path}: {error}"),
                    })?;
                    config.git.branch_template = template.to_owned();
                }
                _ => unknown.push(path),
            }
        }
        Ok((config, unknown))
    }

    pub fn known_keys() -> &'static [&'static str] {
        KNOWN
    }
}

/// `section.key` and its value, for every entry of every section.
fn leaves(root: &Node) -> Result<Vec<(String, &Node)>, ConfigError> {
    let sections = match root {
        Node::Mapping { entries, .. } => entries,
        Node::Scalar { .. } | Node::Sequence { .. } => {
            return Err(ConfigError {
                line: None,
                reason: "expected sections like `review:` with settings below them".into(),
            });
        }
    };
    let mut found = Vec::new();
    for section in sections {
        match &section.value {
            Node::Mapping { entries, .. } => found.extend(
                entries
                    .iter()
                    .map(|entry| (format!("{}.{}", section.key, entry.key), &entry.value)),
            ),
            Node::Scalar { .. } | Node::Sequence { .. } => {
                found.push((section.key.clone(), &section.value));
            }
        }
    }
    Ok(found)
}

fn scalar(node: &Node) -> Option<&str> {
    match node {
        Node::Scalar { text, .. } => Some(text),
        Node::Sequence { .. } | Node::Mapping { .. } => None,
    }
}

fn whole_number(node: &Node) -> Option<u32> {
    scalar(node)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_the_defaults() {
        assert_eq!(Config::parse("").unwrap(), (Config::default(), vec![]));
        assert_eq!(Config::parse("# nothing\n").unwrap().0, Config::default());
    }

    #[test]
    fn settings_are_read_and_strange_ones_listed() {
        let (config, unknown) = Config::parse(
            "review:\n  max_rounds: 3\ngit:\n  branch_template: work/{slug}\n  colour: red\nhats: 1\n",
        )
        .unwrap();
        assert_eq!(config.review.max_rounds, 3);
        assert_eq!(config.git.branch_template, "work/{slug}");
        assert_eq!(unknown, ["git.colour", "hats"]);
    }

    #[test]
    fn a_bad_value_is_named_with_its_line() {
        let error = Config::parse("review:\n  max_rounds: many\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "config.yaml, line 2: review.max_rounds must be a whole number above 0"
        );
        let error = Config::parse("git:\n  branch_template: x/{nme}\n").unwrap_err();
        assert!(error.to_string().contains("nme"), "{error}");
    }
}
