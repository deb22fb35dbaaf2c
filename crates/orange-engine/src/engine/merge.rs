//! Merging a task: the concerns to confirm first, the merge itself, and the end of one that was cut short.
//! What is about to happen is journalled before any branch moves; so whoever comes after a process that died finds
//! out whether it happened, and finishes it.

mod allowed;
mod concerns;
mod landing;
mod link_concerns;
mod moving;
mod remote_branch;
mod slot_concerns;
mod target;
mod words;

pub use concerns::Concern;

use super::Engine;
use super::change::destination;
use crate::error::{Code, Error, Result};
use crate::git::{self, fast_forward_checkout, worktree};
use crate::projects::Project;
use crate::store::Place;
use crate::store::locks::{Lock, LockFile, about_to_wait};
use crate::tx::{Committed, TaskTx};
use allowed::{has_a_target, has_use_for_message, has_work, mergeable};
use landing::{Landing, Task as Work};
use orange_core::history::payload::{MergeAttempt, TaskMerged};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::machine::Move;
use orange_core::merge::Strategy;
use orange_core::task::Task;
use orange_core::why::Conflicts;
use orange_core::workflow::{Actor, Intent};
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a merge waits for another one of its project: long enough for a push.
const TURN: Duration = Duration::from_secs(900);
/// So long nobody wonders what is going on.
const QUIET: Duration = Duration::from_secs(1);
/// How long the remote may take to say whether it has a merge that was cut short.
const ASKING: Duration = Duration::from_secs(5);

/// What a person wants of a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeWish {
    /// None: as the settings say.
    pub strategy: Option<Strategy>,
    /// The commit's message, instead of one made from the task.
    pub message: Option<String>,
    /// None: as the settings say.
    pub push: Option<bool>,
    /// Whatever speaks against it, apart from git.
    pub force: bool,
    /// The head for which a person has heard what speaks against it, and agreed.
    pub agreed: Option<String>,
}

/// What a merge would be, and what a person should know before it.
#[derive(Debug, Clone)]
pub struct MergePlan {
    pub task: Task,
    pub target: String,
    pub strategy: Strategy,
    pub head: Option<String>,
    pub concerns: Vec<Concern>,
}

/// A merge that has happened.
#[derive(Debug, Clone, Serialize)]
pub struct Merged {
    #[serde(skip)]
    pub done: Committed,
    /// What is in the target now.
    pub commit: String,
    pub target: String,
    pub strategy: Strategy,
    pub head: Option<String>,
    pub commits: usize,
    pub pushed: bool,
    /// A checkout that was brought forward.
    pub fast_forwarded: Option<PathBuf>,
    /// It was in already, by an earlier merge or by other ways.
    pub already: bool,
}

impl Engine {
    /// What a merge would be, without doing anything.
    pub fn merge_plan(&self, place: Place, wish: &MergeWish) -> Result<MergePlan> {
        self.people_only("merge a task")?;
        self.is_whole(&place)?;
        let view = self.view(place)?;
        let project = self.registered(&view.task.project)?;
        self.ensure_exclude_lines(&project)?;
        let head = self.head_of(&view.task);
        let concerns = match view.task.status.is_terminal() {
            true => Vec::new(),
            false => {
                let beside = self.work_beside_branch(&view.task, &project)?;
                let (task, history) = (&view.task, &view.history);
                has_work(task, history, &project, head.as_deref(), beside.as_deref())?;
                self.merge_concerns(&view.task, &view.history, &project, head.as_deref())?
            }
        };
        Ok(MergePlan {
            target: view.task.target(&project.default_branch).to_owned(),
            strategy: match wish.strategy {
                Some(strategy) => strategy,
                None => self.config_for(&view.task)?.merge.strategy,
            },
            head,
            concerns,
            task: view.task,
        })
    }

    /// Merges a task and ends it.
    pub fn merge(&self, place: Place, wish: &MergeWish) -> Result<Merged> {
        self.people_only("merge a task")?;
        self.is_whole(&place)?;
        // Wider than the task's own lock, and taken before it.
        let _turn = self.merge_turn(&place.project)?;
        let mut tx = self.lock_task(place)?;
        if tx.task.status.is_over()
            && let Some(before) = recorded(tx.history(), EventType::TaskMerged)
        {
            // What failed after that merge is tried again: its old error says nothing about now.
            tx.retry_hooks()?;
            return self.merged_before(tx.commit(Vec::new())?, &before);
        }
        mergeable(&tx.task)?;
        let project = self.registered(&tx.task.project)?;
        has_a_target(&tx.task, &project)?;
        self.ensure_exclude_lines(&project)?;
        let head = self.branch_commit(&tx.task)?;
        let beside = self.work_beside_branch(&tx.task, &project)?;
        let (task, history) = (&tx.task, tx.history());
        has_work(task, history, &project, head.as_deref(), beside.as_deref())?;
        let force = self.agreed(&tx, &project, head.as_deref(), wish)?;
        let wanted = Move {
            force,
            ..Move::to(destination(&tx.task, Intent::Merge)?)
        };
        // Whether the table allows it is found out before anything moves.
        let (task, body) = (tx.task.clone(), tx.body.clone());
        self.decide_as(
            Actor::Human,
            &task,
            &body,
            wanted,
            Some("about to be merged"),
        )?;
        let settings = self.config_for(&task)?.merge;
        has_use_for_message(wish, settings.strategy)?;
        let has_remote = worktree::has_remote(&project.path)?;
        if wish.push == Some(true) && !has_remote {
            return Err(Error::new(
                Code::ConditionUnmet,
                format!(
                    "{} has no remote called origin to push to",
                    project.path.display()
                ),
            )
            .hint("leave --push out to merge here alone"));
        }
        let work = Work {
            repository: project.path.clone(),
            target: task.target(&project.default_branch).to_owned(),
            head,
            strategy: wish.strategy.unwrap_or(settings.strategy),
            message: wish.message.clone(),
            push: wish.push.unwrap_or(settings.push) && has_remote,
            force,
        };
        let landing = match self.land(&mut tx, &work) {
            Ok(landing) => landing,
            Err(error) => match self.landed_all_the_same(&tx, &work) {
                Ok(Some(landing)) => {
                    self.notice(format!(
                        "{} has it, but git complains: {}",
                        work.target, error.message
                    ));
                    landing
                }
                Ok(None) => {
                    self.stop_merge(tx, &error.message)?;
                    return Err(error);
                }
                // It stays begun, and the next command finds out.
                Err(unknown) => return Err(left_open(&tx.task, &error, &unknown)),
            },
        };
        let events = self.end_merged(&tx, &work, &landing)?;
        Ok(Merged {
            done: tx.commit(events)?,
            target: work.target,
            strategy: work.strategy,
            commit: landing.commit,
            head: work.head,
            commits: landing.commits,
            pushed: landing.pushed,
            fast_forwarded: landing.fast_forwarded,
            already: landing.already,
        })
    }

    /// Git may fail after it has moved the target, so the target is asked before a merge counts as stopped. None if
    /// nothing of it is there.
    fn landed_all_the_same(&self, tx: &TaskTx<'_>, work: &Work) -> Result<Option<Landing>> {
        let Some(started) = open_merge(tx.history()).cloned() else {
            return Ok(None);
        };
        recover_checkout(work, &tx.task)?;
        let attempt = MergeAttempt::of(&started).unwrap_or_default();
        let commit = attempt.commit.unwrap_or_default();
        match landing::is_in(work, commit)? {
            true => self.catch_up(&tx.task, work, &attempt).map(Some),
            false => Ok(None),
        }
    }

    /// One merge of a project at a time: the second then sees what the first one did, instead of losing a race.
    fn merge_turn(&self, project: &str) -> Result<LockFile> {
        about_to_wait(Lock::Merge(project).rank());
        let began = Instant::now();
        let deadline = began + TURN;
        let mut said = false;
        loop {
            if let Some(file) = self.store.try_lock(Lock::Merge(project))? {
                return Ok(file);
            }
            if Instant::now() >= deadline {
                return Err(Error::new(
                    Code::Busy,
                    format!("another merge of project {project} has not ended yet"),
                )
                .hint("try again when it has"));
            }
            if !said && began.elapsed() > QUIET {
                (self.say)(&format!("waits until another merge of {project} is over"));
                said = true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether a person has been heard about everything that speaks against it; an error says what they have not.
    fn agreed(
        &self,
        tx: &TaskTx<'_>,
        project: &Project,
        head: Option<&str>,
        wish: &MergeWish,
    ) -> Result<bool> {
        if wish.force {
            return Ok(true);
        }
        let concerns = self.merge_concerns(&tx.task, tx.history(), project, head)?;
        if concerns.is_empty() {
            return Ok(false);
        }
        if wish.agreed.is_some() && wish.agreed.as_deref() == head {
            return Ok(true);
        }
        Err(concerns::refusal(&tx.task, &concerns))
    }

    /// The merge is in: the journal says so, the task ends, and what it had is cleared away.
    fn end_merged(&self, tx: &TaskTx<'_>, work: &Work, landing: &Landing) -> Result<Vec<Event>> {
        let merged = TaskMerged {
            commit: Some(&landing.commit),
            onto: Some(&landing.onto),
            target: Some(&work.target),
            strategy: Some(work.strategy),
            commits: Some(landing.commits),
            pushed: Some(landing.pushed),
            head: work.head.as_deref(),
        };
        let merged = Event::of(Payload::TaskMerged(merged), self.now()).by("human");
        let wanted = Move {
            force: work.force,
            ..Move::to(destination(&tx.task, Intent::Merge)?)
        };
        // The condition of that row is git's word that the work is in the target: its commits, or that merging them
        // changes nothing.
        let (task, body) = (tx.task.clone(), tx.body.clone());
        let is_in = landing.by_content || landing::is_in(work, &landing.commit)?;
        let same = is_in.then_some("its changes are in the target");
        self.tell_of_later_work(&task, work);
        let done = self
            .decide_as(Actor::Human, &task, &body, wanted, same)?
            .because(format!("merged into {}", work.target));
        crash_point("merge.verified");
        Ok(vec![merged, done])
    }

    /// Commits that came while it was merged are on its branch and nowhere else.
    fn tell_of_later_work(&self, task: &Task, work: &Work) {
        let (Some(merged), Some(now)) = (&work.head, self.head_of(task)) else {
            return;
        };
        if *merged != now {
            self.notice(format!(
                "{}: merged was {}; its branch {} is at {} by now, and what came since is on that branch alone",
                task.label(),
                git::short(merged),
                task.branch,
                git::short(&now)
            ));
        }
    }

    fn merged_before(&self, done: Committed, before: &Event) -> Result<Merged> {
        let before = TaskMerged::of(before).unwrap_or_default();
        Ok(Merged {
            target: before.target.unwrap_or_default().to_owned(),
            strategy: before.strategy.unwrap_or(Strategy::Merge),
            commit: before.commit.unwrap_or_default().to_owned(),
            head: before.head.map(str::to_owned),
            commits: before.commits.unwrap_or(0),
            pushed: before.pushed == Some(true),
            fast_forwarded: None,
            already: true,
            done,
        })
    }

    /// A merge that came to nothing is journalled as over.
    fn stop_merge(&self, mut tx: TaskTx<'_>, why: &str) -> Result<()> {
        if open_merge(tx.history()).is_some() {
            let event = Event::new(EventType::MergeStopped, self.now()).because(first_line(why));
            tx.note(vec![event])?;
        }
        tx.commit(Vec::new()).map(drop)
    }
}

impl TaskTx<'_> {
    /// Finds out what became of a merge whose process is gone: what is in the target ends the task, anything
    /// else was never begun as far as anybody can see. Returns whether it ended the task.
    pub(crate) fn finish_merge(&mut self) -> Result<bool> {
        let Some(started) = open_merge(self.history()).cloned() else {
            return Ok(false);
        };
        if self.task.status.is_terminal() {
            return Ok(false);
        }
        let Some(project) = self.engine.project_of(&self.task.project) else {
            return Ok(false);
        };
        let attempt = MergeAttempt::of(&started).unwrap_or_default();
        let work = Work::of(&attempt, project.path);
        recover_checkout(&work, &self.task)?;
        let over = self.engine.when_git_is_over(&self.task.project, ASKING)?;
        if over.is_none() {
            self.engine.notice(format!(
                "{}: a merge was cut short, and its git is still at work",
                self.task.label()
            ));
            return Ok(false);
        }
        drop(over);
        let commit = attempt.commit.unwrap_or_default();
        let mut found = landing::is_in(&work, commit)?;
        if !found && work.push {
            if let Err(error) = worktree::fetch(&work.repository, ASKING) {
                self.engine.notice(format!(
                    "{}: a merge was cut short, and whether {} on origin has it cannot be told: {error}",
                    self.task.label(),
                    work.target
                ));
                return Ok(false);
            }
            found = landing::is_in(&work, commit)?;
        }
        if !found {
            let event = Event::new(EventType::MergeStopped, self.engine.now())
                .because("it was cut short before anything was merged");
            self.note(vec![event])?;
            return Ok(false);
        }
        let landing = self.engine.catch_up(&self.task, &work, &attempt)?;
        self.engine.notice(format!(
            "{}: its merge into {} was cut short; it is finished now",
            self.task.label(),
            work.target
        ));
        let events = self.engine.end_merged(self, &work, &landing)?;
        self.write(events)?;
        Ok(true)
    }
}

/// Goes on in the checkout of the target where a merge of this task was cut short.
fn recover_checkout(work: &Work, task: &Task) -> Result<()> {
    match worktree::checked_out_at(&work.repository, &work.target)? {
        Some(checkout) => fast_forward_checkout::recover(&checkout, &task.id),
        None => Ok(()),
    }
}

/// Neither merged nor stopped, as far as anybody can tell now.
fn left_open(task: &Task, error: &Error, unknown: &Error) -> Error {
    let why = match error.message == unknown.message {
        true => error.message.clone(),
        false => format!("{}; {}", error.message, unknown.message),
    };
    Error::new(
        error.code,
        format!("the merge of {} was cut short: {why}", task.label()),
    )
    .hint(unknown.hint.clone().unwrap_or_else(|| {
        text!(
            "the next command finds out what was done and finishes it, as {}",
            Action::show(task.label(), false)
        )
    }))
}

/// The merge that was begun last, unless it is known how it ended.
fn open_merge(history: &History) -> Option<&Event> {
    let ends = |event: &&Event| {
        matches!(
            event.kind,
            EventType::MergeStarted | EventType::MergeStopped | EventType::TaskMerged
        ) || event.kind == EventType::StatusChanged
    };
    let last = history.events.iter().rev().find(ends)?;
    (last.kind == EventType::MergeStarted).then_some(last)
}

/// The last event of a kind.
fn recorded(history: &History, kind: EventType) -> Option<Event> {
    let mut events = history.events.iter().rev();
    events.find(|event| event.kind == kind).cloned()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

impl Engine {
    /// Merges that Orange made of this task's work as it ends now, whether or not it lived to say so. Those of an
    /// earlier head have not all of it.
    pub(super) fn own_merges(&self, task: &Task, head: Option<&str>) -> Vec<String> {
        let history = self.history_of(task).unwrap_or_default();
        let mut commits: Vec<String> = Vec::new();
        for event in history.events.iter().rev() {
            let merged = match event.kind {
                EventType::MergeStarted => MergeAttempt::of(event).and_then(|it| it.commit),
                EventType::TaskMerged => TaskMerged::of(event).and_then(|it| it.commit),
                _ => None,
            };
            if let Some(commit) = merged
                && event.head() == head
                && !commits.iter().any(|known| known == commit)
            {
                commits.push(commit.to_owned());
            }
        }
        commits
    }

    /// Why the last attempt to merge came to nothing, as long as neither side has moved since.
    pub(crate) fn merge_trouble(&self, task: &Task, history: &History) -> Option<Conflicts> {
        let ends = |event: &&Event| {
            matches!(
                event.kind,
                EventType::MergeStopped | EventType::MergeStarted | EventType::StatusChanged
            )
        };
        let last = history.events.iter().rev().find(ends)?;
        if last.kind != EventType::MergeStopped {
            return None;
        }
        let last = MergeAttempt::of(last)?;
        let conflicts = last.conflicts?;
        let project = self.project_of(&task.project)?;
        let (target, onto) = (last.target?, last.onto?);
        let same_head = self.head_of(task).as_deref() == last.head;
        let at = |reference: String| git::commit_of(&project.path, &reference).ok().flatten();
        let places = [
            format!("refs/heads/{target}"),
            format!("refs/remotes/origin/{target}"),
        ];
        let at_onto = |place: &String| at(place.clone()).as_deref() == Some(onto);
        let same_target = places.iter().position(at_onto)?;
        let paths: Vec<&str> = conflicts.iter().map(|one| one.path.as_str()).collect();
        let all = last.files.unwrap_or(paths.len());
        same_head.then(|| Conflicts {
            files: words::listed(&paths, all),
            bring: match same_target {
                0 => target.to_owned(),
                _ => format!("origin/{target}"),
            },
        })
    }
}
