//! What a person should hear before a task is merged: no review, commits since the review, a check that failed,
//! work that is not committed.

pub mod link;
mod phased;
pub mod slot;

use crate::call::Call;
use crate::effects::merge::conflict_text;
use crate::error::{Code, Error, Result};
use crate::facts::{self, is_without_work};
use crate::git::{self, merge};
use crate::projects::Project;
use crate::seal_checks::{self, SealCheck};
use crate::settings;
use crate::views::concerns::link::committed_links;
use crate::views::diff_stat;
use crate::{checks, rules};
use orange_core::evidence::{FILE, ReviewVerdict};
use orange_core::history::payload::MergeAttempt;
use orange_core::history::{Event, EventType, History};
use orange_core::merge::Strategy;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::verification::{CheckOutcome, Verified, deferred, unanswered};
use orange_core::why::Conflicts;
use orange_core::workflow::Intent;
use orange_core::{Action, Text, text};

/// How many commits are named.
const NAMED: usize = 10;

/// Something that speaks against a merge, until a person says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    pub what: String,
    pub details: Vec<String>,
    /// What a person can do about it.
    pub remedy: Option<Text>,
    /// A check of the work as it is now would answer it.
    pub unchecked: bool,
}

impl Concern {
    pub(crate) fn plain(what: impl Into<String>) -> Concern {
        Concern {
            what: what.into(),
            details: Vec::new(),
            remedy: None,
            unchecked: false,
        }
    }

    fn unchecked(what: impl Into<String>) -> Concern {
        Concern {
            unchecked: true,
            ..Concern::plain(what)
        }
    }
}

pub(crate) fn merge_concerns(
    call: &Call,
    task: &Task,
    history: &History,
    project: &Project,
    head: Option<&str>,
) -> Result<Vec<Concern>> {
    // A merge is decided without lines of somebody else, but a person hears that there are some.
    let written = facts::written_history(call, task).unwrap_or_else(|| history.clone());
    let as_written = seal_checks::check_seals(call, &task.id, &written);
    let mut concerns = Vec::from_iter(unconfirmed(&as_written, &written));
    let sealed = seal_checks::check_seals(call, &task.id, history);
    let evidence = sealed.evidence(history);
    let reviewed = match &evidence.review {
        // Its phases say what was reviewed.
        _ if task.has_plan() => None,
        None if task.offers(Intent::Merge) => {
            let moved = evidence.reviewing.as_ref();
            let by_person = moved.is_some_and(|said| said.by == "human");
            Some(Concern::plain(if by_person {
                "a person took it over when it was stuck, and no review of it has passed"
            } else {
                "no review of it has passed"
            }))
        }
        None if deferred(&sealed.without_forged(history)).is_some() => Some(Concern::plain(
            "its review passed, but its check is not over",
        )),
        None => Some(Concern::plain(format!(
            "it is {}: no review of it has passed",
            task.status
        ))),
        Some(review) => match (&review.head, head) {
            (Some(reviewed), Some(head)) if reviewed != head => {
                Some(since_review(project, task, reviewed, head)?)
            }
            (None, Some(_)) if review.by == FILE => Some(Concern::plain(
                "its review passed before Orange had the task: TASK.md says so, and nobody noted which commit was reviewed",
            )),
            (None, Some(_)) => Some(Concern::plain(
                "nobody noted which commit was reviewed, so there may be others since",
            )),
            (Some(_) | None, Some(_) | None) => None,
        },
    };
    concerns.extend(reviewed);
    if task.has_plan() {
        concerns.extend(phased::phased_concerns(call, task, project, head)?);
    }
    let reviewed = evidence.review.and_then(|review| review.head);
    if let Some(verified) = &evidence.verify {
        let not_run = verified.result.outcome == CheckOutcome::NotRun;
        concerns.extend(if not_run && checks::should_be_checked(call, task) {
            Some(Concern::unchecked(verified.words()))
        } else {
            check_concern(verified, head, reviewed.as_deref())
        });
    }
    if let Some(verdict) = &evidence.verdict {
        concerns.extend(review_concern(verdict));
    }
    concerns.extend(lost_events(history));
    concerns.extend(slot::slot_concerns(call, task, project, head)?);
    concerns.extend(committed_links(task, project, head)?);
    concerns.extend(without_result(&sealed.without_forged(history)));
    if let Some(Err(detail)) = facts::worktree(call, task)? {
        concerns.push(Concern::plain(format!(
                "what is not committed is not part of it, and is saved before its slot is given back: {detail}"
            )));
    }
    Ok(concerns)
}

/// The same for `task why`; what cannot be found out is said by the merge.
pub(crate) fn concerns_for_why(call: &Call, task: &Task, history: &History) -> Vec<Concern> {
    let Some(project) = call.project_of(&task.project) else {
        return Vec::new();
    };
    let head = facts::head_of(call, task);
    let concerns = merge_concerns(call, task, history, &project, head.as_deref());
    concerns.unwrap_or_default()
}

/// Was nothing ever committed on the task's branch?
pub(crate) fn has_no_work(call: &Call, task: &Task, history: &History) -> bool {
    let Some(project) = call.project_of(&task.project) else {
        return false;
    };
    let head = facts::head_of(call, task);
    is_without_work(task, history, &project, head.as_deref()).unwrap_or(false)
        && matches!(slot::work_beside_branch(call, task, &project), Ok(None))
}

/// A check that failed, or that has not seen the commit that would be merged.
fn check_concern(
    verified: &Verified,
    head: Option<&str>,
    reviewed: Option<&str>,
) -> Option<Concern> {
    if verified.result.failed() {
        return Some(Concern::plain(verified.words()));
    }
    let checked = verified.said.head.as_deref();
    // Commits since the review are named anyway, and they are those since the check.
    if !verified.result.passed() || checked == head || checked == reviewed {
        return None;
    }
    Some(Concern::unchecked(format!(
        "its check has not seen {}: {}",
        git::short(head?),
        verified.words()
    )))
}

/// The reviewer may have looked at other code than was handed over.
fn review_concern(verdict: &ReviewVerdict) -> Option<Concern> {
    let branch = verdict.branch_at.as_ref()?;
    Some(Concern::plain(format!(
        "when it was reviewed its branch was at {}, which is not what was handed over",
        git::short(branch)
    )))
}

/// A journal that lost events says what TASK.md said then, and anybody can write that.
fn lost_events(history: &History) -> Option<Concern> {
    let mut newest_first = history.events.iter().rev();
    let lost = newest_first.find(|event| event.kind == EventType::JournalRecovered)?;
    let date = lost.timestamp.to_zoned(jiff::tz::TimeZone::UTC).date();
    Some(Concern::plain(format!(
        "its journal lost events on {date}, and its fields are what TASK.md said then: look at them"
    )))
}

/// What the journal says although Orange did not write it, and what it lacks although Orange wrote it.
fn unconfirmed(sealed: &SealCheck, history: &History) -> Option<Concern> {
    let claims = sealed.doubts(history);
    let what = match (claims.as_slice(), sealed.incomplete) {
        ([], false) => return None,
        ([], true) => {
            "history.jsonl lacks lines about its status and checks that Orange wrote".to_owned()
        }
        (claims, _) => format!(
            "Orange cannot confirm what history.jsonl says: {}",
            claims.join("; ")
        ),
    };
    let why = match &sealed.unreadable {
        Some(why) => why.clone(),
        None => "an older Orange wrote it, or orange.db was replaced, or an agent wrote it: look for yourself".to_owned(),
    };
    Some(Concern {
        details: vec![why],
        ..Concern::plain(what)
    })
}

/// A check that was begun: it still runs, or its request was removed.
fn without_result(history: &History) -> Option<Concern> {
    let begun = unanswered(history).filter(|_| deferred(history).is_none())?;
    let head = begun.head.unwrap_or_default();
    let (command, head) = (begun.command, git::short(&head));
    Some(Concern::unchecked(format!(
        "`{command}` was begun at {head} and has no result"
    )))
}

fn since_review(project: &Project, task: &Task, reviewed: &str, head: &str) -> Result<Concern> {
    if !git::is_ancestor(&project.path, reviewed, head)? {
        return Ok(Concern::plain(format!(
            "its branch was rewritten since the review: reviewed was {}, now it is at {}",
            git::short(reviewed),
            git::short(head)
        )));
    }
    let (count, details) = newest(project, task, reviewed, head)?;
    Ok(Concern {
        details,
        ..Concern::plain(format!("{} since review", counted(count, "commit")))
    })
}

/// How many commits of the task's own came after one, and the newest of them by name.
fn newest(project: &Project, task: &Task, after: &str, head: &str) -> Result<(usize, Vec<String>)> {
    // What came with the target is not the task's own.
    let target = task.target(&project.default_branch);
    let mut known = rules::tips(&project.path, target)?;
    known.push(after.to_owned());
    let commits = merge::commits(&project.path, head, &known)?;
    let newest = commits.iter().rev().take(NAMED);
    let mut details: Vec<String> = newest
        .map(|commit| format!("{} {}", git::short(&commit.id), commit.subject()))
        .collect();
    if commits.len() > NAMED {
        details.push(format!("and {} more", commits.len() - NAMED));
    }
    Ok((commits.len(), details))
}

/// The same for somebody who cannot be asked, with what merges it nevertheless.
pub(crate) fn refusal(task: &Task, concerns: &[Concern], anyway: Action) -> Error {
    let label = task.label();
    let mut text = format!("{label} is not merged without your word");
    for concern in concerns {
        text.push_str(&format!("\n  {}", concern.what));
        for detail in &concern.details {
            text.push_str(&format!("\n    {detail}"));
        }
    }
    let remedies = concerns.iter().filter_map(|one| one.remedy.clone());
    let first = remedies.fold(Text::default(), |all, one| text!("{}{}; ", all, one));
    Error::new(Code::ConditionUnmet, text).hint(text!("{}{} merges it anyway", first, anyway))
}

/// The conflicts that a merge would meet, as far as that is known.
pub(crate) fn coming_conflicts(call: &Call, task: &Task, history: &History) -> Option<Conflicts> {
    let (stat, target) = diff_stat::diff_stat(call, task, history)?;
    let files = stat.conflicts.filter(|files| !files.is_empty())?;
    let project = call.project_of(&task.project)?;
    let here = git::commit_of(&project.path, &format!("refs/heads/{target}"));
    let is_here = here.ok().flatten() == stat.conflicts_with;
    let paths: Vec<&str> = files.iter().map(String::as_str).collect();
    Some(Conflicts {
        files: conflict_text::listed(&paths, paths.len()),
        bring: if is_here {
            target
        } else {
            format!("origin/{target}")
        },
        strategy: configured_strategy(call, task),
    })
}

/// How a merge that names no strategy is done; as the default says while a setting cannot be read.
fn configured_strategy(call: &Call, task: &Task) -> Strategy {
    let config = settings::config_for(call, task).unwrap_or_default();
    config.merge.strategy
}

/// Why the last attempt to merge came to nothing, as long as neither side has moved since.
pub(crate) fn merge_trouble(call: &Call, task: &Task, history: &History) -> Option<Conflicts> {
    let ends = |event: &&Event| {
        let is_merge = matches!(
            event.kind,
            EventType::MergeStopped | EventType::MergeStarted
        );
        is_merge || event.is_move()
    };
    let last = history.events.iter().rev().find(ends)?;
    if last.kind != EventType::MergeStopped {
        return None;
    }
    let last = MergeAttempt::of(last)?;
    let conflicts = last.conflicts?;
    let project = call.project_of(&task.project)?;
    let (target, onto) = (last.target?, last.onto?);
    let same_head = facts::head_of(call, task).as_deref() == last.head;
    let at = |reference: String| git::commit_of(&project.path, &reference).ok().flatten();
    let is_here = at(format!("refs/heads/{target}")).as_deref() == Some(onto);
    if !is_here && at(format!("refs/remotes/origin/{target}")).as_deref() != Some(onto) {
        return None;
    }
    let paths: Vec<&str> = conflicts.iter().map(|one| one.path.as_str()).collect();
    let all = last.files.unwrap_or(paths.len());
    same_head.then(|| Conflicts {
        files: conflict_text::listed(&paths, all),
        bring: if is_here {
            target.to_owned()
        } else {
            format!("origin/{target}")
        },
        strategy: (last.strategy).unwrap_or_else(|| configured_strategy(call, task)),
    })
}
