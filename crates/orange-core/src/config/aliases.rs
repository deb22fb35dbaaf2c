//! Names that settings have in older files: what each of them is read as.

use super::values::{flag, scalar};
use crate::yaml::Node;

/// A key that another one has taken the place of.
#[derive(Debug)]
pub struct Alias {
    /// As it is written: `claude.path`.
    pub name: &'static str,
    /// The key it is read as; None: it only says what is so anyway.
    pub key: Option<&'static str>,
    /// What its values are, for documents.
    pub about: &'static str,
    /// The value of the key; None: it changes nothing.
    pub(super) read: fn(&Node) -> Result<Option<Node>, String>,
}

const ALIASES: &[Alias] = &[
    Alias {
        name: "version",
        key: None,
        about: "Of the form of this file: 1.",
        read: |node| match scalar(node) {
            Some("1") => Ok(None),
            _ => Err(
                "must be 1: a file with another version may mean something else by the same names"
                    .into(),
            ),
        },
    },
    Alias {
        name: "claude.path",
        key: Some("harness.claude.command"),
        about: "The value `claude` changes nothing.",
        read: |node| Ok(Some(node.clone()).filter(|node| scalar(node) != Some("claude"))),
    },
    Alias {
        name: "claude.model",
        key: Some("harness.claude.model"),
        about: "",
        read: same,
    },
    Alias {
        name: "claude.timeout",
        key: Some("phases.turn_timeout"),
        about: "In seconds.",
        read: same,
    },
    Alias {
        name: "claude.max_tokens",
        key: Some("phases.max_tokens"),
        about: "",
        read: same,
    },
    Alias {
        name: "git.branch_prefix",
        key: Some("git.branch_template"),
        about: "`x/` means `x/{key}`.",
        read: |node| {
            let prefix = scalar(node).ok_or("must be text")?;
            Ok(Some(replaced(node, format!("{prefix}{{key}}"))))
        },
    },
    Alias {
        name: "git.merge_strategy",
        key: Some("merge.strategy"),
        about: "`preserve` means `merge`.",
        read: |node| match scalar(node) {
            Some("preserve") => Ok(Some(replaced(node, "merge".into()))),
            _ => same(node),
        },
    },
    Alias {
        name: "git.cleanup_on_complete",
        key: Some("merge.delete_branch"),
        about: "",
        read: same,
    },
    Alias {
        name: "git.worktrees",
        key: None,
        about: "Only `true`.",
        read: |node| {
            if flag(node)? {
                Ok(None)
            } else {
                Err("cannot be false: every task works in a worktree of its own, so that your checkout stays as it is".into())
            }
        },
    },
];

fn same(node: &Node) -> Result<Option<Node>, String> {
    Ok(Some(node.clone()))
}

/// Another text in the same place.
fn replaced(node: &Node, text: String) -> Node {
    Node::Scalar {
        text,
        plain: false,
        span: node.span().clone(),
    }
}

impl Alias {
    pub fn all() -> &'static [Alias] {
        ALIASES
    }

    pub fn of(name: &str) -> Option<&'static Alias> {
        ALIASES.iter().find(|alias| alias.name == name)
    }

    /// Whether there is one below this word: `claude`.
    pub(super) fn is_section(word: &str) -> bool {
        let mut names = ALIASES.iter().map(|alias| alias.name);
        names.any(|name| {
            name.split_once('.')
                .is_some_and(|(section, _)| section == word)
        })
    }
}
