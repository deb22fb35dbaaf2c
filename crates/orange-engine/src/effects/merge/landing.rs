//! Getting a computed merge into its target: pushed first, so that what the remote refuses changes nothing here; then
//! moved here. A merge that was overtaken is computed again.

use crate::call::Call;
use crate::effects::merge::conflict_text;
use crate::effects::merge::moving::{self, Forward, could_land, hold};
use crate::effects::merge::target::{self, Target};
use crate::error::{Error, Result, err};
use crate::git::landing::{self, Checkout, Pushed};
use crate::git::merge::{Commit, Computed, Merge};
use crate::git::{self, worktree};
use crate::tx::TaskTx;
use crate::{facts, rules, sessions};
use orange_core::history::payload::MergeAttempt;
use orange_core::history::{Event, Payload};
use orange_core::merge::{Strategy, message};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::workflow::{Obstacle, Role};
use orange_core::{Action, Parameter, text};
use orange_sys::crash_points::crash_point;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a target that moves meanwhile is followed.
const ATTEMPTS: usize = 60;

/// After this many attempts, the checkout's index lock is held, and other commits there wait.
const POLITE: usize = 2;

/// After this many refusals by a remote that shows nothing new, the refusal is reported.
const SAME: usize = 10;

/// How long the remote may take for what it has and we do not know.
const FETCH: Duration = Duration::from_secs(60);

/// What is to be merged, and how.
#[derive(Debug, Clone)]
pub(crate) struct MergeWork {
    pub(crate) repository: PathBuf,
    pub(crate) target: String,
    pub(crate) head: Option<String>,
    pub(crate) strategy: Strategy,
    pub(crate) message: Option<String>,
    pub(crate) push: bool,
    /// A person wants it without the review that the table asks for.
    pub(crate) force: bool,
}

impl MergeWork {
    /// As it was when its merge was begun.
    pub(crate) fn of(started: &MergeAttempt<'_>, repository: PathBuf) -> MergeWork {
        MergeWork {
            repository,
            target: started.target.unwrap_or_default().to_owned(),
            head: started.head.map(str::to_owned),
            strategy: started.strategy.unwrap_or(Strategy::Merge),
            message: None,
            push: started.push == Some(true),
            force: started.force == Some(true),
        }
    }

    /// Is a commit in the target, here or on the remote?
    pub(crate) fn is_in_target(&self, commit: &str) -> Result<bool> {
        rules::is_in_branch(&self.repository, commit, &self.target)
    }

    pub(crate) fn local(&self) -> String {
        format!("refs/heads/{}", self.target)
    }

    pub(crate) fn remote(&self) -> String {
        format!("refs/remotes/origin/{}", self.target)
    }
}

/// Where the work is now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Landing {
    pub(crate) commit: String,
    /// The target's commit before it.
    pub(crate) onto: String,
    pub(crate) commits: usize,
    pub(crate) pushed: bool,
    pub(crate) fast_forwarded: Option<PathBuf>,
    pub(crate) already: bool,
    /// It came in by other commits, so only its content tells.
    pub(crate) by_content: bool,
}

pub(crate) fn land(tx: &mut TaskTx<'_>, task: &MergeWork) -> Result<Landing> {
    let call = tx.call;
    if let Some(landing) = landed_before(tx, task)? {
        return Ok(landing);
    }
    let Some(head) = task.head.as_deref() else {
        // A branch is often deleted once it is merged.
        return match facts::in_target(call, &tx.task, &task.repository, &task.target)? {
            Some(commit) => Ok(already(call, task, commit.clone(), commit)),
            None => Err(no_branch(&tx.task, &task.repository)),
        };
    };
    let of = tx.task.clone();
    for attempt in 0..ATTEMPTS {
        let mut target = target::target(&of, task)?;
        let checkout = match landing::checkout_of(&task.repository, &task.target)? {
            Checkout::Busy(why) => return Err(refused(&why)),
            Checkout::At(path) => Some(path),
            Checkout::Nowhere => None,
        };
        let held = match &checkout {
            Some(path) if attempt > POLITE && !task.push => Some(hold(call, path, &of.id)?),
            Some(_) | None => None,
        };
        if held.is_some() {
            // Nobody moves it any more, so what was read before may be old.
            target = target::target(&of, task)?;
        }
        let merge = Merge::of(&task.repository, &target.onto, head, task.strategy)?;
        let work = merge.work();
        let counts = |commit: &&Commit| task.strategy != Strategy::Rebase || !commit.joins();
        let commits = work.commits.iter().filter(counts).count();
        if work.commits.is_empty() {
            return Ok(already(call, task, head.to_owned(), target.onto));
        }
        let words = |others: &[_]| match &task.message {
            Some(own) => format!("{}\n", own.trim_end()),
            None => message(&tx.task, &tx.body, task.strategy, others),
        };
        let commit = match merge.compute(words)? {
            Computed::Commit(commit) => commit,
            Computed::NothingNew => {
                let landing = already(call, task, target.onto.clone(), target.onto);
                return Ok(Landing {
                    by_content: true,
                    ..landing
                });
            }
            Computed::Conflicts(conflicts) => {
                let attempt = MergeAttempt {
                    target: Some(&task.target),
                    onto: Some(&target.onto),
                    head: Some(head),
                    strategy: Some(task.strategy),
                    files: Some(conflicts.len()),
                    conflicts: Some(conflict_text::notes(&conflicts)),
                    ..MergeAttempt::default()
                };
                let event = Event::of(Payload::MergeStopped(attempt), call.now())
                    .by("human")
                    .because(format!("conflicts with {}", task.target));
                tx.note(vec![event])?;
                let bring = if target.local.as_ref() == Some(&target.onto) {
                    task.target.clone()
                } else {
                    format!("origin/{}", task.target)
                };
                let worker = sessions::live_run(call, tx.history(), Role::Worker);
                let worker = worker.is_some_and(|run| !sessions::is_one_shot(call, &run));
                return Err(conflict_text::conflict(
                    &of,
                    &task.target,
                    &bring,
                    task.strategy,
                    &conflicts,
                    worker,
                ));
            }
            Computed::Impossible(why) => return Err(impossible(task.strategy, &why)),
        };
        crash_point("merge.computed");
        let started = MergeAttempt {
            target: Some(&task.target),
            onto: Some(&target.onto),
            commit: Some(&commit),
            head: Some(head),
            strategy: Some(task.strategy),
            commits: Some(commits),
            push: Some(task.push),
            force: Some(task.force),
            ..MergeAttempt::default()
        };
        let started = Event::of(Payload::MergeStarted(started), call.now());
        tx.note(vec![started.by("human")])?;
        crash_point("merge.started");
        if !could_land(call, &of, task, &target, checkout.as_deref(), &commit)? {
            continue;
        }
        if task.push && !push_merge(call, &of, attempt, task, &target, &commit)? {
            continue;
        }
        crash_point("merge.pushed");
        let landing = Landing {
            commit,
            onto: target.onto.clone(),
            commits,
            pushed: task.push,
            ..Landing::default()
        };
        let place = Forward {
            target: &target,
            checkout,
            held,
        };
        if let Some(landing) = moving::bring_forward(call, &of, task, place, landing)? {
            crash_point("merge.moved");
            return Ok(landing);
        }
    }
    Err(err!(
        Conflict,
        "{} moves faster than this can be merged",
        task.target
    )
    .hint("try again when less is going on there"))
}

/// A merge of it that Orange made earlier, and that is in the target.
fn landed_before(tx: &TaskTx<'_>, task: &MergeWork) -> Result<Option<Landing>> {
    let head = task
        .head
        .clone()
        .or_else(|| facts::noted_head(tx.call, &tx.task));
    for commit in facts::own_merges(tx.call, &tx.task, head.as_deref()) {
        if !task.is_in_target(&commit)? {
            continue;
        }
        let newest_first = tx.history().events.iter().rev();
        let mut attempts = newest_first.filter_map(MergeAttempt::of);
        let started = attempts.find(|attempt| attempt.commit == Some(&commit));
        let onto = started.and_then(|attempt| attempt.onto);
        let onto = onto.unwrap_or(&commit).to_owned();
        return Ok(Some(already(tx.call, task, commit, onto)));
    }
    Ok(None)
}

/// All of it came into the target by other ways.
fn already(call: &Call, task: &MergeWork, commit: String, onto: String) -> Landing {
    call.notice(format!(
        "{} has its work already; nothing was added",
        task.target
    ));
    Landing {
        commit,
        onto,
        already: true,
        ..Landing::default()
    }
}

/// False when the remote has moved meanwhile, and is known now.
fn push_merge(
    call: &Call,
    of: &Task,
    attempt: usize,
    task: &MergeWork,
    target: &Target,
    commit: &str,
) -> Result<bool> {
    let expected = target.remote.as_deref();
    let repository = call.site(&task.repository);
    let alive = moving::landing_lock(call, &of.project)?;
    let said = landing::push(&repository, commit, &task.target, expected, &alive)?;
    drop(alive);
    match said {
        Pushed::Yes | Pushed::NotEverywhere(_) => {
            if let Pushed::NotEverywhere(why) = said {
                call.notice(format!("origin has it, but git complains: {why}"));
            }
            if target.unpushed > 0 {
                call.notice(format!(
                    "pushed with it: {} of {} that origin did not have",
                    counted(target.unpushed.try_into().unwrap_or(usize::MAX), "commit"),
                    task.target
                ));
            }
            if git::commit_of(&task.repository, &task.remote())?.as_deref() != Some(commit) {
                // A remote whose branches are not followed by themselves. It has the merge, whatever comes of this.
                if let Err(error) = worktree::fetch(&repository, FETCH) {
                    call.notice(format!("origin has it, but: {error}"));
                }
            }
            Ok(true)
        }
        Pushed::Behind(why) => {
            if expected.is_some() && landing::remote_head(&task.repository, &task.target)?.is_none()
            {
                return Err(err!(Conflict, "nothing was merged: origin has no branch {} any more", task.target)
                    .hint(text!(
                        "choose another target ({}), push that branch again, or merge here alone with {}",
                        Action::set_target(of.name()),
                        Parameter::NoPush
                    )));
            }
            worktree::fetch(&repository, FETCH)?;
            let now = git::commit_of(&task.repository, &task.remote())?;
            // One of several places that origin pushes to was behind; the one that is fetched from has it.
            if let Some(now) = &now
                && git::is_ancestor(&task.repository, commit, now)?
            {
                call.notice(format!("origin has it, but git complains: {why}"));
                return Ok(true);
            }
            if now == target.remote {
                // Somebody else's push may be on its way; what stays so is a refusal.
                if attempt > SAME {
                    return Err(push_refused(task, &why));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            Ok(false)
        }
        Pushed::Refused(why) => Err(push_refused(task, &why)),
    }
}

fn no_branch(of: &Task, repository: &Path) -> Error {
    err!(
        NotFound,
        "there is no branch {} in {}",
        of.branch,
        repository.display()
    )
    .hint(text!(
        "if its work got in another way: {}",
        Action::resolve(of.name())
    ))
}

/// Something of the user's is in the way.
pub(crate) fn refused(why: &str) -> Error {
    not_merged(
        why,
        "commit, stash, move away or finish what is there, then merge again",
    )
}

/// Git itself failed: nothing is in the way that could be moved.
pub(crate) fn failed(why: &str) -> Error {
    let hint = match git::obstacle(why) {
        Some(Obstacle::NotWritable) => "make the repository writable for you, then merge again",
        Some(Obstacle::DiskFull) => "free some disk space, then merge again",
        Some(Obstacle::GitLock) | None => "see to what git says, then merge again",
    };
    not_merged(why, hint)
}

fn not_merged(why: &str, otherwise: &str) -> Error {
    let error = err!(ConditionUnmet, "nothing was merged: {why}");
    error.hint(match git::locks::named_in(why, None) {
        Some(lock) => text!(
            "{}: {}",
            git::locks::in_words(&lock),
            git::locks::way_out(&lock, "merge again")
        ),
        None => otherwise.into(),
    })
}

fn impossible(strategy: Strategy, why: &str) -> Error {
    let others: Vec<&str> = [Strategy::Squash, Strategy::Merge, Strategy::Rebase]
        .into_iter()
        .filter(|other| *other != strategy)
        .map(Strategy::as_str)
        .collect();
    err!(ConditionUnmet, "nothing was merged: {why}").hint(text!(
        "use another {}: {}",
        Parameter::Strategy,
        others.join(" or ")
    ))
}

fn push_refused(task: &MergeWork, why: &str) -> Error {
    err!(
        Failed,
        "nothing was merged: origin did not take {}: {why}",
        task.target
    )
    .hint(text!(
        "see to that and merge again; {} merges here alone",
        Parameter::NoPush
    ))
}

#[cfg(test)]
mod tests {
    use crate::effects::merge::landing::*;

    #[test]
    fn the_advice_fits_what_git_says() {
        let denied =
            "git cannot move main in /shop: Unable to create '/shop/.git/refs/heads/main.lock'";
        for (why, advice) in [
            (format!("{denied}: Permission denied"), "writable"),
            (format!("{denied}: Read-only file system"), "writable"),
            (format!("{denied}: No space left on device"), "disk space"),
            (format!("{denied}: File exists"), "RemoveFile"),
            ("ref updates aborted by hook".to_owned(), "what git says"),
        ] {
            let hint = format!("{:?}", failed(&why).hint.unwrap_or_default());
            assert!(hint.contains(advice), "{why}: {hint}");
            assert!(!hint.contains("stash"), "{why}: {hint}");
        }
    }
}
