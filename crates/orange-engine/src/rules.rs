//! What a repository and its user want a workspace to get. A repository speaks through a commit, never through
//! a checkout: an agent can edit the files around it, but not what was committed before it came.

pub mod rules_commit;

use crate::call::Call;
use crate::error::{Code, Error, Result, err, plain};
use crate::git::committed::{CommittedFiles, UnreadableFile, text_of};
use crate::git::{self, Git};
use crate::projects::Project;
use crate::runs::LINK_NAMES;
use orange_core::config::{ConfigError, DEFAULT_TIMEOUT, Layer, Rejected, WorkspaceConfig};
use orange_core::{Action, Parameter, text};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

pub(crate) const CONFIG: &str = ".orange/config.yaml";

pub(crate) const INCLUDE: &str = ".worktreeinclude";

/// No rules of a person are longer.
const MAX_BYTES: u64 = 1024 * 1024;

/// Patterns travel as arguments of git, for which systems have limits.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// Commands that come with a repository, and run only if its user agreed.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Commands {
    pub setup: Vec<String>,
    pub teardown: Vec<String>,
    /// What checks a commit that was handed over.
    pub verify: Vec<String>,
    /// What looks for lint errors, and what measures coverage.
    pub lint: Vec<String>,
    pub coverage: Vec<String>,
    /// Criteria and MCP servers of the repository's plans.
    pub plans: Vec<String>,
}

impl Commands {
    pub fn is_empty(&self) -> bool {
        self.kinds().all(|(_, commands)| commands.is_empty())
    }

    /// The lists, with the words for them.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        let Commands {
            setup,
            teardown,
            verify,
            lint,
            coverage,
            plans,
        } = self;
        [
            ("setup", setup),
            ("teardown", teardown),
            ("verify", verify),
            ("lint", lint),
            ("coverage", coverage),
            ("plan", plans),
        ]
        .into_iter()
    }

    /// Those that make a workspace ready and clear it.
    pub fn of_workspace(&self) -> Commands {
        Commands {
            setup: self.setup.clone(),
            teardown: self.teardown.clone(),
            ..Commands::default()
        }
    }

    /// What is agreed to separately: a check that was added takes no workspace away from anybody.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Commands> {
        let none = Commands::default;
        let parts = [
            self.of_workspace(),
            Commands {
                verify: self.verify.clone(),
                ..none()
            },
            Commands {
                lint: self.lint.clone(),
                ..none()
            },
            Commands {
                coverage: self.coverage.clone(),
                ..none()
            },
            Commands {
                plans: self.plans.clone(),
                ..none()
            },
        ];
        parts.into_iter().filter(|part| !part.is_empty())
    }

    /// What a consent is bound to: the exact commands, which of them are for setup, and their order.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        // Counts and lengths in front, so that no two lists give the same bytes.
        let kinds = [
            (b's', &self.setup),
            (b't', &self.teardown),
            (b'v', &self.verify),
            (b'l', &self.lint),
            (b'c', &self.coverage),
            (b'p', &self.plans),
        ];
        for (kind, commands) in kinds {
            // What was agreed to before there was such a kind stays agreed to.
            if !matches!(kind, b's' | b't') && commands.is_empty() {
                continue;
            }
            hash.update([kind]);
            hash.update((commands.len() as u64).to_be_bytes());
            for command in commands {
                hash.update((command.len() as u64).to_be_bytes());
                hash.update(command.as_bytes());
            }
        }
        let digest = hash.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a workspace gets, the repository's wishes and the user's own together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The commit that the repository's part was read from.
    pub commit: String,
    /// Patterns of ignored files to copy.
    pub copy: Vec<String>,
    /// All commands in the order they run: the repository's, then the user's.
    pub setup: Vec<String>,
    pub teardown: Vec<String>,
    /// For each command.
    pub timeout: Duration,
    /// The check of a commit that was handed over: the repository's commands, then the user's.
    pub verify: Vec<String>,
    /// What looks for lint errors, and what measures coverage; in the same order.
    pub lint: Vec<String>,
    pub coverage: Vec<String>,
    /// For each of these.
    pub verify_timeout: Duration,
    /// The part of the commands that came with the repository.
    pub foreign: Commands,
    /// Settings in the repository's file that do not count.
    pub ignored: Vec<Rejected>,
}

impl Rules {
    /// Reads the rules of a repository as committed, and adds the user's own.
    pub fn read(repository: &Path, commit: &str, own: &WorkspaceConfig) -> Result<Rules> {
        let (layer, tree) = layer_at(repository, commit)?;
        let theirs = WorkspaceConfig::of(&layer);
        let include = match tree.file(INCLUDE)? {
            Some(text) => Some(text),
            None => own_include(repository)?,
        };
        let mut copy = patterns(include.as_deref().unwrap_or_default());
        for pattern in theirs.copy.iter().chain(&own.copy) {
            copy.extend(patterns(pattern));
        }
        if copy.iter().map(String::len).sum::<usize>() > MAX_PATTERN_BYTES {
            return Err(err!(
                Usage,
                "there are too many patterns of files to copy into a workspace of {}",
                repository.display()
            )
            .hint(format!(
                "shorten {INCLUDE} or workspace.copy; a pattern can stand for a whole folder"
            )));
        }
        let both = |theirs: &[String], own: &[String]| [theirs, own].concat();
        Ok(Rules {
            commit: commit.to_owned(),
            copy,
            setup: both(&theirs.setup, &own.setup),
            teardown: both(&theirs.teardown, &own.teardown),
            timeout: own.timeout.or(theirs.timeout).unwrap_or(DEFAULT_TIMEOUT),
            verify: both(&theirs.verify, &own.verify),
            lint: both(&theirs.lint, &own.lint),
            coverage: both(&theirs.coverage, &own.coverage),
            verify_timeout: own
                .verify_timeout
                .or(theirs.verify_timeout)
                .unwrap_or(DEFAULT_TIMEOUT),
            foreign: Commands {
                setup: theirs.setup,
                teardown: theirs.teardown,
                verify: theirs.verify,
                lint: theirs.lint,
                coverage: theirs.coverage,
                plans: layer.commands_of_plans(),
            },
            ignored: layer.ignored,
        })
    }

    /// The rules without the commands that came with the repository.
    pub fn without_foreign(mut self) -> Rules {
        self.setup.drain(..self.foreign.setup.len());
        self.teardown.drain(..self.foreign.teardown.len());
        self.verify.drain(..self.foreign.verify.len());
        self.lint.drain(..self.foreign.lint.len());
        self.coverage.drain(..self.foreign.coverage.len());
        self.foreign = Commands::default();
        self
    }
}

/// What a repository says in its settings, as committed; and its other files.
pub(crate) fn layer_at<'a>(
    repository: &'a Path,
    commit: &'a str,
) -> Result<(Layer, RulesTree<'a>)> {
    let tree = RulesTree::at(repository, commit)?;
    let Some(text) = tree.file(CONFIG)? else {
        return Ok((Layer::default(), tree));
    };
    let layer = Layer::of_repository(&text).map_err(ConfigError::from);
    match layer.and_then(Layer::usable) {
        Ok(layer) => Ok((layer, tree)),
        Err(error) => Err(tree.broken(|file| error.told_of(&file), CONFIG)),
    }
}

/// The rules' files in one commit.
pub(crate) struct RulesTree<'a> {
    repository: &'a Path,
    commit: &'a str,
    files: CommittedFiles<'a>,
}

impl<'a> RulesTree<'a> {
    fn at(repository: &'a Path, commit: &'a str) -> Result<RulesTree<'a>> {
        Ok(RulesTree {
            repository,
            commit,
            files: base_files(repository, commit, &[CONFIG, INCLUDE])?,
        })
    }

    /// The text of a file, if the commit has it.
    fn file(&self, path: &str) -> Result<Option<String>> {
        match self.files.file(path, MAX_BYTES)? {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(UnreadableFile { line, reason })) => {
                let line = line.map_or(String::new(), |line| format!(", line {line}"));
                Err(self.broken(|file| format!("{file}{line}: {reason}"), path))
            }
        }
    }

    /// What is told of a file, which is named with its commit.
    fn broken(&self, told: impl FnOnce(String) -> String, path: &str) -> Error {
        let commit = git::short(self.commit);
        let message = told(format!("{path} at commit {commit}"));
        Error::new(Code::Damaged, message).hint(format!(
            "correct it in {} and commit that on the branch the task starts from",
            self.repository.display()
        ))
    }
}

/// An include file in the user's checkout that git does not track: the user's own, for this repository.
fn own_include(repository: &Path) -> Result<Option<String>> {
    let path = repository.join(INCLUDE);
    if !path.is_file() {
        return Ok(None);
    }
    // A tracked one belongs to the branch that happens to be checked out. A bare repository has no checkout.
    let untracked = Git::at(repository)
        .quiet()
        .args(["ls-files", "-z", "--others", "--", INCLUDE])
        .run()?;
    if !untracked.success || untracked.parts().next().is_none() {
        return Ok(None);
    }
    let unusable = |why: &str| {
        err!(Usage, "cannot read {}{why}", path.display()).hint("correct or remove the file")
    };
    let mut bytes = Vec::new();
    std::fs::File::open(&path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unusable(&format!(": {}", plain(&error))))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unusable(": it is larger than 1 MB"));
    }
    text_of(bytes)
        .map(Some)
        .map_err(|line| unusable(&format!(", line {line}: it is not UTF-8")))
}

/// The patterns of a text as in .gitignore: no comments, no empty lines, no blanks at the end unless escaped.
fn patterns(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.contains('\0'))
        .map(|line| {
            let bare = line.trim_end_matches(' ');
            let escapes = bare.len() - bare.trim_end_matches('\\').len();
            if escapes % 2 == 1 && bare.len() < line.len() {
                format!("{bare} ")
            } else {
                bare.to_owned()
            }
        })
        .filter(|pattern| !pattern.is_empty() && pattern != "!")
        .collect()
}

/// Where the branch will start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Start {
    #[serde(rename = "base")]
    pub reference: String,
    #[serde(rename = "base_commit")]
    pub commit: Option<String>,
    /// Commits of the local branch that the remote one does not have.
    #[serde(skip)]
    pub local_ahead: u64,
    /// The branch is there already and is used as it is.
    #[serde(skip)]
    pub existing: bool,
    /// The remote was asked just now.
    pub fetched: bool,
}

impl Start {
    /// A local branch is as fresh as the user keeps it.
    pub(crate) fn is_remote(&self) -> bool {
        self.reference.starts_with("origin/")
    }
}

/// Where a branch is: here, then as the remote has it.
pub(crate) fn tips(repository: &Path, branch: &str) -> Result<Vec<String>> {
    let places = ["heads", "remotes/origin"].map(|place| format!("refs/{place}/{branch}"));
    let commits = git::commits_of(repository, &places)?;
    Ok(commits.into_iter().flatten().collect())
}

/// Is a commit in a branch, here or at the remote?
pub(crate) fn is_in_branch(repository: &Path, commit: &str, branch: &str) -> Result<bool> {
    for tip in tips(repository, branch)? {
        if tip == commit || git::is_ancestor(repository, commit, &tip)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where new work starts from: the default branch as the remote has it, else as it is here.
pub(crate) fn newest_base(project: &Project) -> Result<String> {
    let branch = &project.default_branch;
    let newest = tips(&project.path, branch)?.pop();
    newest.ok_or_else(|| {
        err!(
            ConditionUnmet,
            "project {} has no commit on {branch} yet",
            project.name
        )
        .hint(text!(
            "commit something first, or name a branch with {}",
            Parameter::At
        ))
    })
}

/// Files that decide what is installed in a slot: a slot where they are the same needs no new installation.
pub(crate) const LOCKFILES: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "requirements.txt",
    "Gemfile.lock",
    "composer.lock",
    "go.sum",
    "mix.lock",
    "flake.lock",
];

/// Files of the commit that a task starts from. One start asks for several, so all of them are looked for at once.
pub(crate) fn base_files<'a>(
    repository: &'a Path,
    commit: &str,
    paths: &[impl AsRef<str>],
) -> Result<CommittedFiles<'a>> {
    let rules = [CONFIG, INCLUDE, PROMPTS, LINK];
    let all = rules.into_iter().chain(LOCKFILES.iter().copied());
    CommittedFiles::looking_ahead(repository, commit, paths, all)
}

/// What is in the folder of prompts.
const PROMPTS: &str = ".orange/prompts/";

/// Where free slots wait: at the freshest default branch.
pub(crate) fn parking_place(_call: &Call, project: &Project) -> Result<String> {
    let newest = tips(&project.path, &project.default_branch)?.pop();
    let found = match newest {
        Some(commit) => Some(commit),
        None => git::commit_of(&project.path, "HEAD")?,
    };
    found.ok_or_else(|| no_commits(project))
}

pub(crate) fn no_commits(project: &Project) -> Error {
    if let Ok(Some(_)) = git::commit_of(&project.path, "HEAD") {
        return err!(
            ConditionUnmet,
            "{} has no branch {}, from which the work of project {} starts",
            project.path.display(),
            project.default_branch,
            project.name
        )
        .hint(text!(
            "name the one that is: {}",
            Action::set_default_branch(&project.name)
        ));
    }
    err!(
        ConditionUnmet,
        "{} has no commit that a branch could start from",
        project.path.display()
    )
    .hint("make a first commit there; it may be empty")
}

/// What the link is called, unless the repository has a file of that name.
pub(crate) const LINK: &str = LINK_NAMES[1];

#[cfg(test)]
mod tests {
    use crate::rules::*;

    fn commands(setup: &[&str], teardown: &[&str]) -> Commands {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Commands {
            setup: owned(setup),
            teardown: owned(teardown),
            ..Commands::default()
        }
    }

    #[test]
    fn a_hash_tells_every_two_sets_of_commands_apart() {
        let sets = [
            commands(&[], &[]),
            commands(&["a"], &[]),
            commands(&[], &["a"]),
            commands(&["a", "b"], &[]),
            commands(&["b", "a"], &[]),
            commands(&["a"], &["b"]),
            commands(&["ab"], &[]),
            commands(&["a\nb"], &[]),
            commands(&["a "], &[]),
            commands(&["", "a"], &[]),
            Commands {
                verify: vec!["a".into()],
                ..Commands::default()
            },
            Commands {
                lint: vec!["a".into()],
                ..Commands::default()
            },
            Commands {
                coverage: vec!["a".into()],
                ..Commands::default()
            },
            Commands {
                plans: vec!["a".into()],
                ..Commands::default()
            },
        ];
        let hashes: std::collections::BTreeSet<String> = sets.iter().map(Commands::hash).collect();
        assert_eq!(hashes.len(), sets.len());
        assert!(hashes.iter().all(|hash| hash.len() == 64));
        assert_eq!(sets[5].hash(), sets[5].clone().hash());
        // A consent of an earlier version is found again: this is what it was bound to.
        assert_eq!(
            sets[5].hash(),
            "bf7ed5b38f2280e2fe3d5be10a189338aa00bfdc339ab6ec5ca22ec13feece09"
        );
    }

    #[test]
    fn patterns_are_read_as_git_reads_them() {
        let text = "\u{feff}# comment\n.env\r\n\n\\#odd\n!keep  \nblank\\  \nback\\\\  \n  lead\n";
        assert_eq!(
            patterns(text),
            [".env", "\\#odd", "!keep", "blank\\ ", "back\\\\", "  lead"]
        );
    }
}
