//! Commits that would be lost with a worktree: those of an operation under way, a detached HEAD, and what only
//! a reflog still names.

use super::WorktreeHead;
use crate::refs;
use orange_sys::error::{IoContext, Result};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

/// An operation under way, and the files in which it notes its commits.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("merge", &["MERGE_HEAD", "MERGE_AUTOSTASH"]),
    ("cherry-pick", &["CHERRY_PICK_HEAD"]),
    ("revert", &["REVERT_HEAD"]),
    (
        "rebase",
        &[
            "REBASE_HEAD",
            "rebase-merge/orig-head",
            "rebase-merge/stopped-sha",
            "rebase-merge/autostash",
            "rebase-apply/orig-head",
            "rebase-apply/original-commit",
            "rebase-apply/autostash",
        ],
    ),
];

/// Commits that are worth keeping only where nothing else does.
const NOTED: &[&str] = &[
    "ORIG_HEAD",
    "sequencer/head",
    "rebase-merge/onto",
    "BISECT_HEAD",
];

/// Refs that belong to one worktree and go with it.
pub const OWN_REFS: &[&str] = &["refs/bisect", "refs/worktree", "refs/rewritten"];

/// What a rescue has to hold besides HEAD.
#[derive(Debug, Default)]
pub struct Lost {
    /// Of an operation under way; on a branch or not.
    pub operation: Vec<String>,
    pub operation_name: Option<&'static str>,
    /// The ends of the histories that no ref reaches.
    pub tips: Vec<String>,
    /// How many commits that is in all.
    pub commits: usize,
}

impl WorktreeHead {
    pub fn lost(&self, branch: Option<&str>) -> Result<Lost> {
        let mut lost = Lost::default();
        for (name, files) in OPERATIONS {
            let mut named = Vec::new();
            for file in *files {
                named.extend(self.ids_in(file)?);
            }
            // A cherry-pick within a rebase is part of it: the last one names the whole.
            if !named.is_empty() {
                lost.operation_name = Some(name);
                lost.operation.extend(named);
            }
        }
        lost.operation = self.existing(&lost.operation)?;
        let mut current: Vec<String> = lost.operation.clone();
        current.extend(self.own_refs()?);
        let detached = self.head.as_ref().filter(|_| self.head_ref.is_none());
        current.extend(detached.map(|head| head.commit.clone()));
        // What an older rescue keeps is kept for its time only; the state of now begins a new one.
        let now = self.unreached(&current, &[], true)?;
        let mut known = now.tips.clone();
        known.extend(self.head.as_ref().map(|head| head.commit.clone()));
        let mut noted = self.reflogs(branch)?;
        for file in NOTED {
            noted.extend(self.ids_in(file)?);
        }
        let before = self.unreached(&noted, &known, false)?;
        lost.commits = now.commits + before.commits;
        lost.tips = now.tips;
        lost.tips.extend(before.tips);
        Ok(lost)
    }

    /// Which histories of these commits no ref holds (and none of `known`).
    fn unreached(&self, commits: &[String], known: &[String], fresh: bool) -> Result<Unreached> {
        if commits.is_empty() {
            return Ok(Unreached::default());
        }
        let mut input = commits.join("\n");
        for commit in known {
            input.push_str(&format!("\n^{commit}"));
        }
        input.push('\n');
        let rescues = fresh.then_some(&super::refs::ROOT);
        let left_out = OWN_REFS.iter().chain(rescues);
        let text = self
            .git()
            .args(["rev-list", "--parents", "--ignore-missing", "--stdin"])
            .arg("--not")
            .args(left_out.map(|refs| format!("--exclude={refs}/*")))
            .arg("--glob=refs/*")
            .input(input)
            .text()?;
        let mut all = Vec::new();
        let mut parents = HashSet::new();
        for line in text.lines() {
            let mut ids = line.split(' ');
            all.extend(ids.next());
            parents.extend(ids);
        }
        let commits = all.len();
        let tips = all.into_iter().filter(|id| !parents.contains(id));
        Ok(Unreached {
            commits,
            tips: tips.map(str::to_owned).collect(),
        })
    }

    /// Those of the commits that are there.
    fn existing(&self, commits: &[String]) -> Result<Vec<String>> {
        let unique: BTreeSet<&String> = commits.iter().collect();
        if unique.is_empty() {
            return Ok(Vec::new());
        }
        let lines: String = unique.iter().map(|id| format!("{id}\n")).collect();
        let text = self
            .git()
            .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
            .input(lines)
            .text()?;
        let found = text.lines().filter_map(|line| line.strip_suffix(" commit"));
        Ok(found.map(str::to_owned).collect())
    }

    fn own_refs(&self) -> Result<Vec<String>> {
        let any = OWN_REFS.iter().any(|own| self.git_dir.join(own).is_dir());
        if !any && !self.has_reftable() {
            return Ok(Vec::new());
        }
        let git = self.git().args(["for-each-ref", "--format=%(objectname)"]);
        git.args(OWN_REFS).lines()
    }

    /// Every commit that HEAD, or the branch, ever was at.
    fn reflogs(&self, branch: Option<&str>) -> Result<Vec<String>> {
        let branch = branch.map(|branch| format!("refs/heads/{branch}"));
        let refs: BTreeSet<&str> = [branch.as_deref(), self.head_ref.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let mut found = BTreeSet::new();
        if self.has_reftable() {
            for name in refs.into_iter().chain(["HEAD"]) {
                let git = self.git().args(["reflog", "show", "--format=%H", name]);
                let text = git.arg("--").ask_about_unknown()?.unwrap_or_default();
                found.extend(text.lines().map(str::to_owned));
            }
        } else {
            found.extend(first_ids(&self.git_dir.join("logs/HEAD"), IN_REFLOG)?);
            for name in refs {
                let log = self.common_dir.join("logs").join(name);
                found.extend(first_ids(&log, IN_REFLOG)?);
            }
        }
        Ok(found.into_iter().collect())
    }

    fn has_reftable(&self) -> bool {
        self.common_dir.join("reftable").is_dir()
    }

    fn ids_in(&self, file: &str) -> Result<Vec<String>> {
        first_ids(&self.git_dir.join(file), 1)
    }
}

#[derive(Debug, Default)]
struct Unreached {
    tips: Vec<String>,
    commits: usize,
}

/// A line of a reflog: `old new who when TAB what`; in the words there may be anything.
const IN_REFLOG: usize = 2;

/// The ids among the first words of a file's lines.
fn first_ids(path: &Path, words: usize) -> Result<Vec<String>> {
    let bytes = bytes_of(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let words = text
        .lines()
        .flat_map(|line| line.split_whitespace().take(words));
    let ids = words.filter(|word| is_id(word));
    Ok(ids.map(str::to_owned).collect())
}

/// The content of a file; nothing where there is none. One that cannot be read may name the only trace of a commit, so
/// that is an error.
fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if refs::is_absent(&error) => Ok(Vec::new()),
        read => read.doing("read", path),
    }
}

/// A full object id that is not the one of nothing.
pub(super) fn is_id(word: &str) -> bool {
    refs::is_id(word) && word.bytes().any(|byte| byte != b'0')
}
