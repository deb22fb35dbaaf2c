//! A merge that was begun: how it ends in the journal, and how one that was cut short is finished.

pub(crate) mod conflict_text;
pub(crate) mod landing;
pub(crate) mod moving;
pub(crate) mod target;

use crate::call::Call;
use crate::effects::merge::landing::{Landing, MergeWork};
use crate::error::Result;
use crate::facts;
use crate::git::{self, fast_forward_checkout, worktree};
use crate::tx::TaskTx;
use orange_core::history::payload::{MergeAttempt, TaskMerged};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::task::Task;
use orange_sys::crash_points::crash_point;
use std::time::Duration;

/// How long the remote may take to say whether it has a merge that was cut short.
const ASKING: Duration = Duration::from_secs(5);

/// The merge is in: the journal says so, the task ends, and what it had is cleared away.
pub(crate) fn end_merged(
    tx: &TaskTx<'_>,
    work: &MergeWork,
    landing: &Landing,
) -> Result<Vec<Event>> {
    let merged = TaskMerged {
        commit: Some(&landing.commit),
        onto: Some(&landing.onto),
        target: Some(&work.target),
        strategy: Some(work.strategy),
        commits: Some(landing.commits),
        pushed: Some(landing.pushed),
        head: work.head.as_deref(),
    };
    let merged = Event::of(Payload::TaskMerged(merged), tx.call.now()).by("human");
    // The condition of that row is git's word that the work is in the target: its commits, or that merging them
    // changes nothing.
    let is_in = landing.by_content || work.is_in_target(&landing.commit)?;
    let same = is_in.then_some("its changes are in the target");
    note_later_work(tx.call, &tx.task, work);
    let done = if tx.task.is_at_phase_gate() {
        // Begun by a version that allowed it there. The work is in, so there is nothing left to decide.
        tx.decide_landed(same)?
    } else {
        tx.decide_merge(work.force, same)?
    };
    let done = done.because(format!("merged into {}", work.target));
    crash_point("merge.verified");
    Ok(vec![merged, done])
}

/// Commits that came while it was merged are on its branch and nowhere else.
fn note_later_work(call: &Call, task: &Task, work: &MergeWork) {
    let (Some(merged), Some(now)) = (&work.head, facts::head_of(call, task)) else {
        return;
    };
    if *merged != now {
        call.notice(format!(
                "{}: merged was {}; its branch {} is at {} by now, and what came since is on that branch alone",
                task.label(),
                git::short(merged),
                task.branch,
                git::short(&now)
            ));
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
        let Some(project) = self.call.project_of(&self.task.project) else {
            return Ok(false);
        };
        let attempt = MergeAttempt::of(&started).unwrap_or_default();
        let work = MergeWork::of(&attempt, project.path);
        recover_checkout(self.call, &work, &self.task)?;
        let over = moving::when_git_is_over(self.call, &self.task.project, ASKING)?;
        if over.is_none() {
            self.call.notice(format!(
                "{}: a merge was cut short, and its git is still at work",
                self.task.label()
            ));
            return Ok(false);
        }
        drop(over);
        let commit = attempt.commit.unwrap_or_default();
        let mut found = work.is_in_target(commit)?;
        if !found && work.push {
            if let Err(error) = worktree::fetch(&self.call.site(&work.repository), ASKING) {
                let (label, target) = (self.task.label(), &work.target);
                self.call.notice(format!(
                    "{label}: a merge was cut short, and whether {target} on origin has it cannot be told: {error}"
                ));
                return Ok(false);
            }
            found = work.is_in_target(commit)?;
        }
        if !found {
            let event = Event::new(EventType::MergeStopped, self.call.now())
                .because("it was cut short before anything was merged");
            self.note(vec![event])?;
            return Ok(false);
        }
        let landing = moving::catch_up(self.call, &self.task, &work, &attempt)?;
        let (label, target) = (self.task.label(), &work.target);
        self.call.notice(format!(
            "{label}: its merge into {target} was cut short; it is finished now"
        ));
        let events = end_merged(self, &work, &landing)?;
        self.write(events)?;
        Ok(true)
    }
}

/// Goes on in the checkout of the target where a merge of this task was cut short.
pub(crate) fn recover_checkout(call: &Call, work: &MergeWork, task: &Task) -> Result<()> {
    match worktree::checked_out_at(&work.repository, &work.target)? {
        Some(checkout) => fast_forward_checkout::recover(&call.site(checkout), &task.id),
        None => Ok(()),
    }
}

/// The merge that was begun last, unless it is known how it ended.
pub(crate) fn open_merge(history: &History) -> Option<&Event> {
    let ends = |event: &&Event| {
        matches!(
            event.kind,
            EventType::MergeStarted | EventType::MergeStopped | EventType::TaskMerged
        ) || event.is_move()
    };
    let last = history.events.iter().rev().find(ends)?;
    (last.kind == EventType::MergeStarted).then_some(last)
}

/// The last event of a kind.
pub(crate) fn recorded(history: &History, kind: EventType) -> Option<Event> {
    let mut events = history.events.iter().rev();
    events.find(|event| event.kind == kind).cloned()
}
