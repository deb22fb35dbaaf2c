//! A merge computed from commits alone: no checkout is looked at, no ref is moved. What comes of it are a commit
//! that nobody sees yet, or the conflicts.

mod conflict;

use super::Git;
use super::contained::stand_in;
use super::questions::tree_of;
use super::said::phrases;
pub use conflict::{Conflict, Hunk};
use orange_core::merge::{Author, Strategy, co_authors, credits};
use orange_core::{Action, text};
use orange_sys::environment::carried;
use orange_sys::error::{Code, Error, Result, err};
use std::panic::resume_unwind;
use std::path::Path;
use std::time::Duration;

/// How long a program that signs commits may think, or wait for a passphrase.
const SIGNING: Duration = Duration::from_secs(120);

/// One of the commits that are to be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    tree: String,
    parents: Vec<String>,
    author: Author,
    /// As git stores it: seconds and the offset from UTC.
    date: String,
    pub message: String,
}

impl Commit {
    /// Does it only join two lines of work?
    pub fn joins(&self) -> bool {
        self.parents.len() > 1
    }

    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// What a merge comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Computed {
    Commit(String),
    /// The target has all of it, by whatever way it came there.
    NothingNew,
    Conflicts(Vec<Conflict>),
    /// It cannot be done this way, and why.
    Impossible(String),
}

/// What a branch has on top of its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Oldest first.
    pub commits: Vec<Commit>,
    /// The files of the target.
    onto_tree: String,
}

/// The commits of a branch that its target has not.
fn work(repository: &Path, onto: &str, head: &str) -> Result<Work> {
    // The target's own commit comes along, for its tree.
    let mut commits = log(repository, &[head, onto, "--not", &format!("{onto}^@")])?;
    let target = commits
        .iter()
        .position(|commit| commit.id == onto)
        .map(|at| commits.remove(at));
    let target =
        target.ok_or_else(|| err!(Failed, "git log: {onto} is not among what it was asked for"))?;
    Ok(Work {
        commits,
        onto_tree: target.tree,
    })
}

/// The commits of a branch that none of these has, oldest first.
pub fn commits(repository: &Path, head: &str, known: &[String]) -> Result<Vec<Commit>> {
    let mut words = vec![head, "--not"];
    words.extend(known.iter().map(String::as_str));
    log(repository, &words)
}

fn log(repository: &Path, range: &[&str]) -> Result<Vec<Commit>> {
    let said = Git::at(repository)
        .args(["log", "-z", "--reverse", "--topo-order", "--no-color"])
        .args(["--no-show-signature", "--no-notes", "--encoding=UTF-8"])
        .args(["--no-mailmap", "--date=raw"])
        .arg("--format=%H%n%T%n%P%n%an%n%ae%n%ad%n%B")
        .args(range)
        .arg("--")
        .checked()?;
    let text = String::from_utf8_lossy(&said.stdout);
    let records = text.split('\0').filter(|record| !record.trim().is_empty());
    Ok(records.filter_map(as_commit).collect())
}

fn as_commit(record: &str) -> Option<Commit> {
    let mut parts = record.trim_start_matches('\n').splitn(7, '\n');
    let mut next = || parts.next().map(str::to_owned);
    Some(Commit {
        id: next()?,
        tree: next()?,
        parents: next()?.split_whitespace().map(str::to_owned).collect(),
        author: Author {
            name: next()?,
            email: next()?,
        },
        date: next()?,
        message: next().unwrap_or_default(),
    })
}

/// A merge to be computed.
pub struct Merge<'a> {
    repository: &'a Path,
    /// The commit of the target that it is made on top of.
    onto: &'a str,
    head: &'a str,
    strategy: Strategy,
    work: Work,
    /// Of a strategy that makes one commit of all.
    joined: Option<Joined>,
}

/// What one commit of all is made from, each as git answered.
struct Joined {
    tree: Result<MergedTree>,
    signs: Result<bool>,
}

/// A tree with the files of two commits together, or their conflicts.
type MergedTree = std::result::Result<String, Vec<Conflict>>;

impl<'a> Merge<'a> {
    /// Compares the branch with its target. The git calls that joining them needs run at the same time.
    pub fn of(
        repository: &'a Path,
        onto: &'a str,
        head: &'a str,
        strategy: Strategy,
    ) -> Result<Merge<'a>> {
        let joins = matches!(strategy, Strategy::Squash | Strategy::Merge);
        let (work, joined) = std::thread::scope(|scope| {
            let tree = joins.then(|| scope.spawn(carried(|| merged_tree(repository, onto, head))));
            let signs = joins.then(|| scope.spawn(carried(|| signs(repository))));
            let work = work(repository, onto, head);
            let joined = tree.zip(signs).map(|(tree, signs)| Joined {
                tree: tree.join().unwrap_or_else(|panic| resume_unwind(panic)),
                signs: signs.join().unwrap_or_else(|panic| resume_unwind(panic)),
            });
            (work, joined)
        });
        Ok(Merge {
            repository,
            onto,
            head,
            strategy,
            work: work?,
            joined,
        })
    }

    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Computes it. `message` makes the words of a new commit, given those who helped.
    pub fn compute(mut self, message: impl Fn(&[Author]) -> String) -> Result<Computed> {
        match self.strategy {
            Strategy::Ff => self.fast_forward(),
            Strategy::Rebase => self.rebase(),
            Strategy::Squash | Strategy::Merge => match self.joined.take() {
                Some(joined) => self.join(joined, message),
                None => Err(err!(Failed, "git merge-tree was not run")),
            },
        }
    }

    fn fast_forward(&self) -> Result<Computed> {
        if super::is_ancestor(self.repository, self.onto, self.head)? {
            return Ok(Computed::Commit(self.head.to_owned()));
        }
        Ok(Computed::Impossible(
            "the target has commits that the branch has not, so it cannot be fast-forwarded".into(),
        ))
    }

    fn join(&self, joined: Joined, message: impl Fn(&[Author]) -> String) -> Result<Computed> {
        let tree = match joined.tree? {
            Ok(tree) if tree == self.work.onto_tree => return Ok(Computed::NothingNew),
            Ok(tree) => tree,
            Err(conflicts) => return Ok(Computed::Conflicts(conflicts)),
        };
        let commits = &self.work.commits;
        let authors: Vec<Author> = commits.iter().map(|one| one.author.clone()).collect();
        let named: Vec<Author> = commits
            .iter()
            .flat_map(|one| co_authors(&one.message))
            .collect();
        let (author, others) = credits(&authors, &named).unzip();
        let others = others.unwrap_or_default();
        let squash = self.strategy == Strategy::Squash;
        let parents = if squash {
            vec![self.onto]
        } else {
            vec![self.onto, self.head]
        };
        let new = NewCommit {
            tree: &tree,
            parents: &parents,
            // The author of a merge commit is the caller; the merged commits keep their authors.
            author: author.filter(|_| squash),
            date: None,
            message: &message(if squash { &others } else { &[] }),
        };
        new.write(self.repository, joined.signs?)
            .map(Computed::Commit)
    }

    /// Each commit on top of the one before. Those that join lines are left out, as git does it.
    fn rebase(&self) -> Result<Computed> {
        if super::is_ancestor(self.repository, self.onto, self.head)?
            && self.work.commits.iter().all(|one| one.parents.len() == 1)
        {
            return Ok(Computed::Commit(self.head.to_owned()));
        }
        let signs = signs(self.repository)?;
        let mut tip = self.onto.to_owned();
        let mut tree = self.work.onto_tree.clone();
        for commit in &self.work.commits {
            let [parent] = commit.parents.as_slice() else {
                if commit.parents.is_empty() {
                    return Ok(Computed::Impossible(unrelated()));
                }
                continue;
            };
            // Git finds the base of a merge by itself; a commit with the tip's files and this one's parent makes it
            // the parent.
            let stand_in = stand_in(self.repository, parent, &tree)?;
            let next = match merged_tree(self.repository, &stand_in, &commit.id)? {
                Ok(tree) => tree,
                Err(conflicts) => return Ok(Computed::Conflicts(conflicts)),
            };
            // What the target has already is left out; what was empty on purpose stays.
            if next == tree && commit.tree != tree_of(self.repository, parent)? {
                continue;
            }
            let new = NewCommit {
                tree: &next,
                parents: &[tip.as_str()],
                author: Some(commit.author.clone()),
                date: Some(&commit.date),
                message: &commit.message,
            };
            tip = new.write(self.repository, signs)?;
            tree = next;
        }
        // A merge inside the branch may have said more than its parents do; that must not get lost.
        let whole = merged_tree(self.repository, self.onto, self.head)?;
        Ok(match whole {
            Ok(whole) if whole != tree => Computed::Impossible(
                "its commits one by one do not give what the branch has: a merge in it changed something itself".into(),
            ),
            _ if tip == self.onto => Computed::NothingNew,
            _ => Computed::Commit(tip),
        })
    }
}

fn merged_tree(repository: &Path, onto: &str, head: &str) -> Result<MergedTree> {
    let said = Git::at(repository)
        .setting("merge.conflictStyle=merge")
        .args(["merge-tree", "--write-tree", "-z", "--messages", onto, head])
        .run()?;
    if said.success {
        let tree = said.parts().next().unwrap_or_default();
        return Ok(Ok(tree.to_string_lossy().trim().to_owned()));
    }
    match conflict::read(repository, &said.stdout, [onto, head])? {
        Some(conflicts) => Ok(Err(conflicts)),
        None if said.failed_by(phrases::NO_COMMON_COMMIT) => {
            Err(Error::new(Code::ConditionUnmet, unrelated()).hint(text!(
                "fetch what is missing ({}), or bring the work over by hand and resolve the task",
                Action::fetch_all()
            )))
        }
        None => Err(said.error("git merge-tree")),
    }
}

fn unrelated() -> String {
    "the branch and its target have no commit in common".to_owned()
}

/// Does the user want commits signed? `commit-tree` itself does not look.
fn signs(repository: &Path) -> Result<bool> {
    Git::at(repository).ask_bool("commit.gpgSign")
}

struct NewCommit<'a> {
    tree: &'a str,
    parents: &'a [&'a str],
    /// None: the user, as git knows them.
    author: Option<Author>,
    date: Option<&'a str>,
    message: &'a str,
}

impl NewCommit<'_> {
    fn write(&self, repository: &Path, sign: bool) -> Result<String> {
        let mut git = Git::at(repository)
            .setting("i18n.commitEncoding=UTF-8")
            .arg("commit-tree");
        if sign {
            git = git.arg("-S").timeout(SIGNING);
        }
        for parent in self.parents {
            git = git.args(["-p", parent]);
        }
        if let Some(author) = &self.author {
            // Git takes no author without a name, though it shows commits that have none.
            let names = [author.name.trim(), author.email.trim()];
            let name = names.into_iter().find(|name| !name.is_empty());
            let name = name.unwrap_or("unknown");
            git = git
                .env("GIT_AUTHOR_NAME", name)
                .env("GIT_AUTHOR_EMAIL", &author.email);
        }
        if let Some(date) = self.date {
            git = git.env("GIT_AUTHOR_DATE", format!("@{date}"));
        }
        let said = git
            .args(["-F", "-", self.tree])
            .input(self.message.as_bytes())
            .run()?;
        if said.success {
            return Ok(said.text());
        }
        Err(if said.failed_by(phrases::NO_IDENTITY) {
            err!(
                Failed,
                "git does not know who you are, so it makes no commit"
            )
            .hint("set user.name and user.email in your git settings")
        } else if sign {
            err!(Failed, "the commit could not be signed: {}", said.last_words()).hint(
                "your settings ask for signed commits (commit.gpgSign); see to the key, then merge again: nothing was changed",
            )
        } else {
            said.error("git commit-tree")
        })
    }
}
