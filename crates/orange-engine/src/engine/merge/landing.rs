//! Getting a computed merge into its target: pushed first, so that what the remote refuses changes nothing here;
//! then fast-forwarded where the target is checked out, or swapped where it is not.

use super::target::{Target, target};
use super::{detail, words};
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::git::landing::{self, Checkout, Moved, Pushed};
use crate::git::merge::{Computed, Merge, work};
use crate::git::{self, worktree};
use crate::locked::LockedTask;
use crate::store::faults::crash_point;
use orange_core::history::{Event, EventType};
use orange_core::merge::{Strategy, message};
use orange_core::naming::counted;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a target that moves meanwhile is followed.
const ATTEMPTS: usize = 20;
/// How long the remote may take for what it has and we do not know.
const FETCH: Duration = Duration::from_secs(60);

/// What is to be merged, and how.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) repository: PathBuf,
    pub(super) target: String,
    pub(super) head: Option<String>,
    pub(super) strategy: Strategy,
    pub(super) message: Option<String>,
    pub(super) push: bool,
    /// A person wants it without the review that the table asks for.
    pub(super) force: bool,
}

impl Task {
    /// As it was when its merge was begun.
    pub(super) fn of(started: &Event, repository: PathBuf) -> Task {
        let is = |name: &str| started.details.get(name) == Some(&Value::Bool(true));
        let strategy = detail(started, "strategy").and_then(|word| word.parse().ok());
        Task {
            repository,
            target: detail(started, "target").unwrap_or_default().to_owned(),
            head: detail(started, "head").map(str::to_owned),
            strategy: strategy.unwrap_or(Strategy::Merge),
            message: None,
            push: is("push"),
            force: is("force"),
        }
    }

    pub(super) fn local(&self) -> String {
        format!("refs/heads/{}", self.target)
    }

    pub(super) fn remote(&self) -> String {
        format!("refs/remotes/origin/{}", self.target)
    }
}

/// Where the work is now.
#[derive(Debug, Clone)]
pub(super) struct Landing {
    pub(super) commit: String,
    /// The target's commit before it.
    pub(super) onto: String,
    pub(super) commits: usize,
    pub(super) pushed: bool,
    pub(super) fast_forwarded: Option<PathBuf>,
    pub(super) already: bool,
    /// It came in by other commits, so only its content tells.
    pub(super) by_content: bool,
}

/// Is a commit in the target, here or on the remote?
pub(super) fn is_in(task: &Task, commit: &str) -> Result<bool> {
    for place in [task.local(), task.remote()] {
        let Some(at) = git::commit_of(&task.repository, &place)? else {
            continue;
        };
        if at == commit || git::is_ancestor(&task.repository, commit, &at)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Engine {
    pub(super) fn land(&mut self, locked: &mut LockedTask, task: &Task) -> Result<Landing> {
        if let Some(landing) = self.landed_before(locked, task)? {
            return Ok(landing);
        }
        let Some(head) = task.head.as_deref() else {
            return Err(no_branch(&locked.task, &task.repository));
        };
        for _ in 0..ATTEMPTS {
            let target = target(&locked.task, task)?;
            let checkout = match landing::checkout_of(&task.repository, &task.target)? {
                Checkout::Busy(why) => return Err(refused(&why)),
                Checkout::At(path) => Some(path),
                Checkout::Nowhere => None,
            };
            let work = work(&task.repository, &target.onto, head)?;
            let commits = work.commits.len();
            let merge = Merge {
                repository: &task.repository,
                onto: &target.onto,
                head,
                work: &work,
                strategy: task.strategy,
            };
            let words = |others: &[_]| match &task.message {
                Some(own) => format!("{}\n", own.trim_end()),
                None => message(&locked.task, &locked.body, task.strategy, others),
            };
            let commit = match merge.compute(words)? {
                Computed::Commit(commit) => commit,
                Computed::NothingNew => {
                    self.notice(format!(
                        "{} has all of it already; nothing was added",
                        task.target
                    ));
                    return Ok(Landing {
                        commit: target.onto.clone(),
                        onto: target.onto,
                        commits,
                        pushed: false,
                        fast_forwarded: None,
                        already: true,
                        by_content: true,
                    });
                }
                Computed::Conflicts(conflicts) => {
                    let event = Event::new(EventType::MergeStopped, self.now())
                        .by("human")
                        .because(format!("conflicts with {}", task.target))
                        .detail("target", task.target.as_str())
                        .detail("onto", target.onto.as_str())
                        .detail("head", head)
                        .detail("files", conflicts.len())
                        .detail("conflicts", words::to_json(&conflicts));
                    locked.remark(self, vec![event])?;
                    return Err(words::conflict(&locked.task, &task.target, &conflicts));
                }
                Computed::Impossible(why) => return Err(impossible(&why)),
            };
            crash_point("merge.computed");
            let started = Event::new(EventType::MergeStarted, self.now())
                .by("human")
                .detail("target", task.target.as_str())
                .detail("onto", target.onto.as_str())
                .detail("commit", commit.as_str())
                .detail("head", head)
                .detail("strategy", task.strategy.as_str())
                .detail("commits", commits)
                .detail("push", task.push)
                .detail("force", task.force);
            locked.remark(self, vec![started])?;
            crash_point("merge.started");
            if !could_land(task, &target, checkout.as_deref(), &commit)? {
                continue;
            }
            if task.push && !self.push_merge(&locked.task, task, &target, &commit)? {
                continue;
            }
            crash_point("merge.pushed");
            let landing = Landing {
                commit,
                onto: target.onto.clone(),
                commits,
                pushed: task.push,
                fast_forwarded: None,
                already: false,
                by_content: false,
            };
            if let Some(landing) =
                self.bring_forward(&locked.task, task, &target, checkout, landing)?
            {
                crash_point("merge.moved");
                return Ok(landing);
            }
        }
        Err(Error::new(
            Code::Conflict,
            format!("{} moves faster than this can be merged", task.target),
        )
        .hint("try again when less is going on there"))
    }

    /// What is in the target already: by an earlier merge that was cut short, or by hand.
    fn landed_before(&mut self, locked: &LockedTask, task: &Task) -> Result<Option<Landing>> {
        let Some(commit) = self.in_target(&locked.task, &task.repository, &task.target)? else {
            return Ok(None);
        };
        let events = &locked.history().events;
        let started_at = events.iter().find_map(|event| detail(event, "base_commit"));
        if task.head.is_some() && started_at == task.head.as_deref() {
            let label = locked.task.label();
            return Err(Error::new(
                Code::ConditionUnmet,
                format!("{label} has no commits of its own, so there is nothing to merge"),
            )
            .hint(format!(
                "if nothing had to be done: `orange task resolve {label} --message TEXT`; if work is not committed yet: `orange task shell {label}`"
            )));
        }
        self.notice(format!(
            "{} has its work already; nothing was added",
            task.target
        ));
        let started = events.iter().rev().find(|event| {
            event.kind == EventType::MergeStarted && detail(event, "commit") == Some(&commit)
        });
        Ok(Some(Landing {
            onto: started
                .and_then(|event| detail(event, "onto"))
                .unwrap_or(&commit)
                .to_owned(),
            commits: 0,
            pushed: false,
            fast_forwarded: None,
            already: true,
            by_content: false,
            commit,
        }))
    }

    /// False when the remote has moved meanwhile, and is known now.
    fn push_merge(
        &mut self,
        of: &orange_core::task::Task,
        task: &Task,
        target: &Target,
        commit: &str,
    ) -> Result<bool> {
        let expected = target.remote.as_deref();
        match landing::push(&task.repository, commit, &task.target, expected)? {
            Pushed::Yes => {
                if target.unpushed > 0 {
                    self.notice(format!(
                        "pushed with it: {} of {} that origin did not have",
                        counted(target.unpushed.try_into().unwrap_or(usize::MAX), "commit"),
                        task.target
                    ));
                }
                if git::commit_of(&task.repository, &task.remote())?.as_deref() != Some(commit) {
                    // A remote whose branches are not followed by themselves. It has the merge, whatever comes of this.
                    if let Err(error) = worktree::fetch(&task.repository, FETCH) {
                        self.notice(format!("origin has it, but: {error}"));
                    }
                }
                Ok(true)
            }
            Pushed::Behind => {
                if expected.is_some()
                    && landing::remote_head(&task.repository, &task.target)?.is_none()
                {
                    return Err(Error::new(
                        Code::Conflict,
                        format!("nothing was merged: origin has no branch {} any more", task.target),
                    )
                    .hint(format!(
                        "choose another target (`orange task update {} --target-branch BRANCH`), push that branch again, or merge here alone with --no-push",
                        of.label()
                    )));
                }
                worktree::fetch(&task.repository, FETCH)?;
                let now = git::commit_of(&task.repository, &task.remote())?;
                // One of several places that origin pushes to was behind; the one that is fetched from has it.
                if let Some(now) = &now
                    && git::is_ancestor(&task.repository, commit, now)?
                {
                    return Ok(true);
                }
                match now == target.remote {
                    true => Err(push_refused(
                        task,
                        "it says that it has newer commits, and shows none",
                    )),
                    false => Ok(false),
                }
            }
            Pushed::Refused(why) => Err(push_refused(task, &why)),
        }
    }

    /// Moves the target here. None when somebody was quicker and nothing has happened yet.
    fn bring_forward(
        &mut self,
        of: &orange_core::task::Task,
        task: &Task,
        target: &Target,
        checkout: Option<PathBuf>,
        mut landing: Landing,
    ) -> Result<Option<Landing>> {
        let Some(local) = &target.local else {
            return Ok(Some(landing));
        };
        let moved = match &checkout {
            Some(checkout) => {
                landing::fast_forward(checkout, &task.target, local, &landing.commit)?
            }
            None => {
                let why = format!("orange: {} merged", of.label());
                landing::swap(&task.repository, &task.target, &landing.commit, local, &why)?
            }
        };
        match moved {
            Moved::Yes => {
                landing.fast_forwarded = checkout;
                Ok(Some(landing))
            }
            Moved::Overtaken if !landing.pushed => Ok(None),
            Moved::Refused(why) if !landing.pushed => Err(refused(&why)),
            Moved::Overtaken => {
                self.notice(format!(
                    "origin has it; {} here has changed meanwhile and was left as it is: `git pull` brings them together",
                    task.target
                ));
                Ok(Some(landing))
            }
            Moved::Refused(why) => {
                self.notice(format!(
                    "origin has it; {} here was left as it is: {why}; `git pull` brings it forward",
                    task.target
                ));
                Ok(Some(landing))
            }
        }
    }

    /// Goes on with a merge that is in the target somewhere, and whose process is gone.
    pub(super) fn catch_up(
        &mut self,
        of: &orange_core::task::Task,
        task: &Task,
        commit: &str,
        started: &Event,
    ) -> Result<Landing> {
        let commits = started.details.get("commits").and_then(Value::as_u64);
        let landing = Landing {
            commit: commit.to_owned(),
            onto: detail(started, "onto").unwrap_or_default().to_owned(),
            commits: commits.and_then(|n| n.try_into().ok()).unwrap_or(0),
            pushed: task.push,
            fast_forwarded: None,
            already: false,
            by_content: false,
        };
        let local = git::commit_of(&task.repository, &task.local())?;
        let behind = match &local {
            Some(local) => git::is_ancestor(&task.repository, local, commit)? && local != commit,
            None => false,
        };
        let checkout = landing::checkout_of(&task.repository, &task.target)?;
        let (true, Some(_), false) = (behind, &local, matches!(checkout, Checkout::Busy(_))) else {
            return Ok(landing);
        };
        let target = Target {
            onto: landing.onto.clone(),
            local,
            remote: None,
            unpushed: 0,
        };
        let checkout = match checkout {
            Checkout::At(path) => Some(path),
            Checkout::Nowhere | Checkout::Busy(_) => None,
        };
        let moved = self.bring_forward(of, task, &target, checkout, landing.clone())?;
        Ok(moved.unwrap_or(landing))
    }
}

/// Could the target be moved here? Found out before the remote has what could not be had here afterwards, and before
/// files change. False when somebody else has moved it meanwhile.
fn could_land(task: &Task, target: &Target, checkout: Option<&Path>, commit: &str) -> Result<bool> {
    let Some(local) = &target.local else {
        return Ok(true);
    };
    let mut answers = Vec::new();
    if task.push || checkout.is_some() {
        let name = &task.target;
        let moved = landing::could_move(&task.repository, name, local, commit, task.push)?;
        answers.push(moved);
    }
    if let Some(checkout) = checkout.filter(|_| task.push) {
        answers.push(landing::could_fast_forward(checkout, commit)?);
    }
    for answer in answers {
        match answer {
            Moved::Yes => {}
            Moved::Overtaken => return Ok(false),
            Moved::Refused(why) => return Err(refused(&why)),
        }
    }
    Ok(true)
}

fn no_branch(of: &orange_core::task::Task, repository: &Path) -> Error {
    Error::new(
        Code::NotFound,
        format!(
            "there is no branch {} in {}",
            of.branch,
            repository.display()
        ),
    )
    .hint(format!(
        "if its work got in another way: `orange task resolve {} --message TEXT`",
        of.label()
    ))
}

fn refused(why: &str) -> Error {
    Error::new(Code::ConditionUnmet, format!("nothing was merged: {why}"))
        .hint("commit, stash, move away or finish what is there, then merge again")
}

fn impossible(why: &str) -> Error {
    Error::new(Code::ConditionUnmet, format!("nothing was merged: {why}"))
        .hint("use another --strategy: squash, merge, rebase or ff")
}

fn push_refused(task: &Task, why: &str) -> Error {
    Error::new(
        Code::Failed,
        format!(
            "nothing was merged: origin did not take {}: {why}",
            task.target
        ),
    )
    .hint("see to that and merge again; --no-push merges here alone")
}
