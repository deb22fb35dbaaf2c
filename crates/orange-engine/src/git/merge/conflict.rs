//! Conflicts in words: what `git merge-tree` reports, file by file, with the lines that both sides changed.

use crate::error::Result;
use crate::git::Git;
use std::collections::BTreeMap;
use std::path::Path;

/// A larger file is named, its lines are not.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// A file that both sides changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) path: String,
    /// What kind of conflict, in git's word: `contents`, `modify/delete`, `binary`, …
    pub(crate) kind: String,
    /// Whether each side still has it: the target, the branch.
    pub(crate) there: (bool, bool),
    /// The lines in question, for text.
    pub(crate) hunks: Vec<Hunk>,
}

/// Lines that each side has in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Where in the target's version, counted from 1.
    pub(crate) line: usize,
    pub(crate) ours: Vec<String>,
    pub(crate) theirs: Vec<String>,
}

/// Reads what git says about a merge that did not work out; None if it says nothing of conflicts.
pub(super) fn read(repository: &Path, output: &[u8]) -> Result<Option<Vec<Conflict>>> {
    let text = String::from_utf8_lossy(output);
    let mut parts = text.split('\0');
    let Some(tree) = parts.next().map(str::trim).filter(|tree| !tree.is_empty()) else {
        return Ok(None);
    };
    // One entry for each version of each file in conflict; an empty part ends them.
    let mut paths: Vec<(&str, (bool, bool))> = Vec::new();
    for entry in parts.by_ref().take_while(|entry| !entry.is_empty()) {
        let Some((version, path)) = entry.split_once('\t') else {
            continue;
        };
        let at = match paths.iter().position(|(known, _)| *known == path) {
            Some(at) => at,
            None => {
                paths.push((path, (false, false)));
                paths.len() - 1
            }
        };
        if let Some((_, there)) = paths.get_mut(at) {
            there.0 |= version.ends_with(" 2");
            there.1 |= version.ends_with(" 3");
        }
    }
    let mut kinds = kinds(parts);
    let mut conflicts = Vec::new();
    for (path, there) in paths {
        let kind = kinds.remove(path).unwrap_or_else(|| "contents".to_owned());
        let hunks = match kind == "contents" {
            true => hunks_of(repository, tree, path)?,
            false => Vec::new(),
        };
        conflicts.push(Conflict {
            path: path.to_owned(),
            kind,
            there,
            hunks,
        });
    }
    // Some kinds (a folder in a file's way) have messages, and no entries of their own.
    conflicts.extend(kinds.into_iter().map(|(path, kind)| Conflict {
        path,
        kind,
        there: (true, true),
        hunks: Vec::new(),
    }));
    Ok((!conflicts.is_empty()).then_some(conflicts))
}

/// What git calls each file's conflict: number of paths, the paths, kind, message; and so on.
fn kinds<'a>(mut parts: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    while let Some(count) = parts.next() {
        let Ok(count) = count.trim().parse::<usize>() else {
            break;
        };
        let paths: Vec<&str> = parts.by_ref().take(count).collect();
        let (Some(kind), Some(_)) = (parts.next(), parts.next()) else {
            break;
        };
        let Some(kind) = kind
            .strip_prefix("CONFLICT (")
            .and_then(|kind| kind.strip_suffix(')'))
        else {
            continue;
        };
        for path in paths {
            let known = kinds.entry(path.to_owned()).or_default();
            // "binary" says more than the "contents" that follows it.
            if known.is_empty() {
                kind.clone_into(known);
            }
        }
    }
    kinds
}

fn hunks_of(repository: &Path, tree: &str, path: &str) -> Result<Vec<Hunk>> {
    let said = Git::at(repository)
        .args(["cat-file", "blob"])
        .arg(format!("{tree}:{path}"))
        .run()?;
    if !said.success || said.stdout.len() > MAX_BYTES || said.stdout.contains(&0) {
        return Ok(Vec::new());
    }
    Ok(hunks(&String::from_utf8_lossy(&said.stdout)))
}

/// The places that git marked in a file.
fn hunks(text: &str) -> Vec<Hunk> {
    enum Side {
        Both,
        Ours,
        Theirs,
    }
    let mut found: Vec<Hunk> = Vec::new();
    let mut side = Side::Both;
    let mut line = 1;
    for text in text.lines() {
        match side {
            Side::Both if text.starts_with("<<<<<<< ") => {
                found.push(Hunk {
                    line,
                    ours: Vec::new(),
                    theirs: Vec::new(),
                });
                side = Side::Ours;
            }
            Side::Ours if text == "=======" => side = Side::Theirs,
            Side::Theirs if text.starts_with(">>>>>>> ") => side = Side::Both,
            Side::Both => line += 1,
            Side::Ours => {
                line += 1;
                if let Some(hunk) = found.last_mut() {
                    hunk.ours.push(text.to_owned());
                }
            }
            Side::Theirs => {
                if let Some(hunk) = found.last_mut() {
                    hunk.theirs.push(text.to_owned());
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_places_are_found_with_their_line_in_the_target() {
        let text =
            "a\n<<<<<<< x\nb\nc\n=======\nB\n>>>>>>> y\nd\n<<<<<<< x\n=======\nE\n>>>>>>> y\n";
        let found = hunks(text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].ours.len()), (2, 2));
        assert_eq!(found[0].theirs, ["B"]);
        assert_eq!((found[1].line, found[1].ours.len()), (5, 0));
    }

    #[test]
    fn what_git_says_is_told_apart_by_file() {
        let message = "1\0bin\0CONFLICT (binary)\0warning\n\x001\0bin\0Auto-merging\0m\n\x001\0bin\0CONFLICT (contents)\0m\n\x001\0del\0CONFLICT (modify/delete)\0m\n\0";
        let kinds = kinds(message.split('\0'));
        assert_eq!(kinds["bin"], "binary");
        assert_eq!(kinds["del"], "modify/delete");
    }
}
