//! Conflicts in words: what `git merge-tree` reports, file by file, with the lines that both sides changed.

use crate::Git;
use orange_sys::error::Result;
use std::collections::BTreeMap;
use std::path::Path;

/// A larger file is named, its lines are not.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// A file that both sides changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub path: String,
    /// What kind of conflict, in git's word: `contents`, `modify/delete`, `binary`, …
    pub kind: String,
    /// Whether each side still has it: the target, the branch.
    pub there: (bool, bool),
    /// Neither side had it when they parted.
    pub new: bool,
    /// The lines in question, for text.
    pub hunks: Vec<Hunk>,
}

/// Lines that each side has in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Where in the target's version, counted from 1.
    pub line: usize,
    pub ours: Vec<String>,
    pub theirs: Vec<String>,
}

/// A file in conflict, as far as its versions tell.
#[derive(Default)]
struct Versions {
    before: bool,
    there: (bool, bool),
    /// What git calls it in the tree that it made, where that is not its name.
    stored: String,
}

/// Reads what git says about a merge of these two commits that did not work out; None if it says nothing of conflicts.
pub(super) fn read(
    repository: &Path,
    output: &[u8],
    sides: [&str; 2],
) -> Result<Option<Vec<Conflict>>> {
    let text = String::from_utf8_lossy(output);
    let mut parts = text.split('\0');
    let Some(tree) = parts.next().map(str::trim).filter(|tree| !tree.is_empty()) else {
        return Ok(None);
    };
    // One entry for each version of each file in conflict; an empty part ends them.
    let mut files: BTreeMap<&str, Versions> = BTreeMap::new();
    for entry in parts.by_ref().take_while(|entry| !entry.is_empty()) {
        let Some((version, path)) = entry.split_once('\t') else {
            continue;
        };
        let known = files.entry(own_name(path, sides)).or_default();
        path.clone_into(&mut known.stored);
        known.before |= version.ends_with(" 1");
        known.there.0 |= version.ends_with(" 2");
        known.there.1 |= version.ends_with(" 3");
    }
    let kinds = kinds(parts, sides, &files);
    let mut conflicts = Vec::new();
    // Some kinds have messages, and no entries of their own.
    let others = kinds.keys().map(String::as_str);
    let others = others.filter(|path| !files.contains_key(path));
    for path in files.keys().copied().chain(others) {
        let versions = files.get(path);
        let kind = kinds.get(path).map_or("contents", String::as_str);
        conflicts.push(Conflict {
            path: path.to_owned(),
            kind: kind.to_owned(),
            there: versions.map_or((true, true), |versions| versions.there),
            new: versions.is_some_and(|versions| !versions.before),
            hunks: match versions {
                Some(versions) if kind == "contents" => {
                    hunks_of(repository, tree, &versions.stored)?
                }
                _ => Vec::new(),
            },
        });
    }
    Ok((!conflicts.is_empty()).then_some(conflicts))
}

/// Git puts a file that a folder is in the way of beside it, as `name~commit`.
fn own_name<'p>(path: &'p str, sides: [&str; 2]) -> &'p str {
    let sides = sides.iter();
    let mut names = sides.filter_map(|side| path.split_once(&format!("~{side}")));
    names.next().map_or(path, |(name, _)| name)
}

/// What git calls each file's conflict: number of paths, the paths, kind, message; and so on. A message may name
/// files besides that are in no conflict any more, such as the old name of a renamed one.
fn kinds<'a>(
    mut parts: impl Iterator<Item = &'a str>,
    sides: [&str; 2],
    files: &BTreeMap<&str, Versions>,
) -> BTreeMap<String, String> {
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    while let Some(count) = parts.next() {
        let Ok(count) = count.trim().parse::<usize>() else {
            break;
        };
        let mut paths: Vec<&str> = parts.by_ref().take(count).collect();
        let (Some(kind), Some(_)) = (parts.next(), parts.next()) else {
            break;
        };
        let Some(kind) = kind
            .strip_prefix("CONFLICT (")
            .and_then(|kind| kind.strip_suffix(')'))
        else {
            continue;
        };
        for path in &mut paths {
            *path = own_name(path, sides);
        }
        if paths.iter().any(|path| files.contains_key(path)) {
            paths.retain(|path| files.contains_key(path));
        }
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
    let mut found: Vec<Hunk> = Vec::new();
    let mut lines = text.lines();
    let mut line = 1;
    while let Some(text) = lines.next() {
        if !text.starts_with("<<<<<<< ") {
            line += 1;
            continue;
        }
        let mut side = |end: fn(&str) -> bool| -> Vec<String> {
            let side = lines.by_ref().take_while(|text| !end(text));
            side.map(str::to_owned).collect()
        };
        let hunk = Hunk {
            line,
            ours: side(|text| text == "======="),
            theirs: side(|text| text.starts_with(">>>>>>> ")),
        };
        line += hunk.ours.len();
        found.push(hunk);
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
        let message = "1\0bin\0CONFLICT (binary)\0warning\n\x001\0bin\0Auto-merging\0m\n\x001\0bin\0CONFLICT (contents)\0m\n\x001\0del\0CONFLICT (modify/delete)\0m\n\x002\0new\0old\0CONFLICT (rename/delete)\0m\n\0";
        let files = BTreeMap::from([("bin", Versions::default()), ("new", Versions::default())]);
        let sides = ["1111", "2222"];
        let kinds = kinds(message.split('\0'), sides, &files);
        assert_eq!(kinds["bin"], "binary");
        assert_eq!(kinds["del"], "modify/delete");
        assert_eq!(kinds["new"], "rename/delete");
        assert_eq!(kinds.get("old"), None);
        assert_eq!(own_name("a/b~2222", sides), "a/b");
        assert_eq!(own_name("a~b", sides), "a~b");
    }
}
