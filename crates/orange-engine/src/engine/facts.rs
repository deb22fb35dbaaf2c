//! Finding out what a transition's conditions ask for, and nothing more: git only when a row needs it.

use super::Engine;
use crate::error::{Code, Error, Result};
use crate::git;
use crate::runs::Source;
use crate::tx::review_mark;
use crate::workspaces::Slot;
use orange_core::evidence::Evidence;
use orange_core::history::payload::StatusMoved;
use orange_core::history::{Event, History};
use orange_core::id::{Key, read_stored};
use orange_core::machine::{Facts, Linked, Slots};
use orange_core::naming::counted;
use orange_core::review::{self, Left};
use orange_core::runs::{self, Run};
use orange_core::task::Task;
use orange_core::workflow::{Condition, Role};
use orange_core::{Action, text};
use std::path::Path;

impl Engine {
    pub(crate) fn facts(&self, task: &Task, conditions: &[Condition]) -> Result<Facts> {
        let mut facts = Facts::default();
        for condition in conditions {
            match condition {
                Condition::DependenciesOver | Condition::DependenciesOpen => {
                    facts.blockers = self.blockers(task)?;
                }
                Condition::SlotFree => facts.slots = self.slots(task)?,
                Condition::ChildrenOpen | Condition::ChildrenOver => {
                    facts.children = self.children(task)?;
                }
                Condition::WorktreeClean => facts.worktree = self.worktree(task)?,
                Condition::Merged => facts.merged = Some(self.merged(task)?),
                Condition::OwnCommits | Condition::NoOwnCommits => {
                    facts.own_commits = self.own_commits(task)?;
                }
                Condition::VerifyOver => facts.verifying = self.check_of(task)?,
                Condition::CheckReturns => facts.check_returns = self.check_returns(task)?,
                // It needs the body: whoever has that asks ([`Engine::review_problem`]).
                Condition::ReviewersOwn
                | Condition::SummaryGiven
                | Condition::SummaryMissing
                | Condition::CrashLimit
                | Condition::RoundBelowMax
                | Condition::RoundAtMax
                | Condition::WeightKnown
                | Condition::WeightUnknown
                | Condition::Asked => {}
                // Of the phased workflow, which no task has yet.
                Condition::AgentFree
                | Condition::BudgetFree
                | Condition::PhasesOver
                | Condition::DecisionStored
                | Condition::RetriesLeft
                | Condition::RetriesSpent
                | Condition::MergeNotBegun => {}
            }
        }
        Ok(facts)
    }

    /// The check that the task's review waits for.
    fn check_of(&self, task: &Task) -> Result<Option<String>> {
        let found = self.index()?.by_id_prefix(&task.id)?;
        let Some(found) = found.first() else {
            return Ok(None);
        };
        let place = self.store.place(&found.folder);
        let history = self.history_at(&place.path)?;
        self.check_to_wait_for(task, &place, &history)
    }

    pub(crate) fn blockers(&self, task: &Task) -> Result<Vec<Linked>> {
        task.blocked_by
            .iter()
            .map(|reference| self.linked(&task.project, reference))
            .collect()
    }

    pub(crate) fn linked(&self, project: &str, reference: &str) -> Result<Linked> {
        let status = match read_stored(project, reference) {
            Some((project, key)) => self.status_of(&project, key)?,
            None => None,
        };
        Ok(Linked {
            reference: reference.to_owned(),
            status,
        })
    }

    /// The status as the task's own files have it: the index only says where they are.
    fn status_of(&self, project: &str, key: Key) -> Result<Option<orange_core::task::Status>> {
        let mut found = self.index()?.by_key(project, key)?;
        if found.is_none() {
            found = self.fresh_index()?.by_key(project, key)?;
        }
        Ok(match found {
            Some(found) => Some(self.store.survey(&found.folder).task.status),
            None => self.over_in_trash(project, key),
        })
    }

    pub(crate) fn children(&self, task: &Task) -> Result<Vec<Linked>> {
        let Some(key) = task.key else {
            return Ok(Vec::new());
        };
        let found = self.index()?.children_of(&task.project, key)?;
        Ok(found
            .into_iter()
            .map(|child| Linked {
                reference: match child.key {
                    Some(key) => {
                        orange_core::id::stored_reference(&task.project, &child.project, key)
                    }
                    None => child.id.clone(),
                },
                status: Some(self.store.survey(&child.folder).task.status),
            })
            .collect())
    }

    fn slots(&self, task: &Task) -> Result<Slots> {
        let size = self
            .project_of(&task.project)
            .map_or(crate::projects::DEFAULT_POOL_SIZE, |project| {
                project.pool_size
            });
        let pool = self.pool()?;
        if pool.lease_of(task).is_some() {
            return Ok(Slots {
                size,
                holders: Vec::new(),
            });
        }
        let mut holders = Vec::new();
        for (slot, entry) in pool.held(&task.project) {
            holders.push(self.holder_name(slot, entry)?);
        }
        Ok(Slots { size, holders })
    }

    /// Who has a slot, as people call it.
    pub(crate) fn holder_name(&self, name: &str, slot: &Slot) -> Result<String> {
        let found = match &slot.task_id {
            Some(id) => self.index()?.by_id_prefix(id)?.into_iter().next(),
            None => None,
        };
        let key = found.and_then(|task| task.key).map(|key| key.to_string());
        Ok(key
            .or_else(|| slot.task.clone())
            .unwrap_or_else(|| name.to_owned()))
    }

    pub(super) fn worktree(&self, task: &Task) -> Result<Option<std::result::Result<(), String>>> {
        let Some(slot) = &task.workspace else {
            return Ok(None);
        };
        let folder = self.slot_folder(slot);
        if !folder.is_dir() {
            return Ok(None);
        }
        let changes = git::uncommitted(&folder)?;
        Ok(Some(match changes.first() {
            None => Ok(()),
            Some(first) => Err(format!(
                "{} in {slot}, the first is {}",
                counted(changes.len(), "uncommitted change"),
                first.trim()
            )),
        }))
    }

    /// Is the head of the task's branch, or the merge that Orange made of it, in its target?
    fn merged(&self, task: &Task) -> Result<std::result::Result<String, String>> {
        let Some(project) = self.project_of(&task.project) else {
            return Ok(Err(format!("project {} is not registered", task.project)));
        };
        let target = task.target(&project.default_branch);
        if let Some(commit) = self.in_target(task, &project.path, target)? {
            return Ok(Ok(format!("{} is in {target}", git::short(&commit))));
        }
        if self
            .head_of(task)
            .or_else(|| self.noted_head(task))
            .is_none()
        {
            return Ok(Err(format!(
                "there is no branch {} in {}",
                task.branch,
                project.path.display()
            )));
        }
        Ok(Err(format!("{} is not merged into {target}", task.branch)))
    }

    /// What of the task's work is in the target, here or on the remote: a merge that Orange made, or its head.
    pub(crate) fn in_target(
        &self,
        task: &Task,
        repository: &Path,
        target: &str,
    ) -> Result<Option<String>> {
        // A branch is often deleted once it is merged; the handoff and the review noted its head.
        let head = self.branch_commit(task)?;
        let head = head.or_else(|| self.noted_head(task));
        let mut commits = self.own_merges(task, head.as_deref());
        commits.extend(head);
        let mut places = Vec::new();
        for place in ["heads", "remotes/origin"] {
            places.extend(git::commit_of(
                repository,
                &format!("refs/{place}/{target}"),
            )?);
        }
        if let Some(found) = commits.iter().find(|commit| places.contains(commit)) {
            return Ok(Some(found.clone()));
        }
        places.dedup();
        for commit in commits {
            for place in &places {
                if git::is_ancestor(repository, &commit, place)? {
                    return Ok(Some(commit));
                }
            }
        }
        Ok(None)
    }

    /// The head that the last handoff or review spoke of.
    pub(super) fn noted_head(&self, task: &Task) -> Option<String> {
        let history = self.history_of(task)?;
        let mut events = history.events.iter().rev();
        events.find_map(|event| event.head().map(str::to_owned))
    }

    /// The journal of a task with everything that stands in it, whoever wrote it.
    pub(super) fn written_history(&self, task: &Task) -> Option<History> {
        let found = self.index().ok()?.by_id_prefix(&task.id).ok()?;
        let place = self.store.place(&found.first()?.folder);
        self.history_at(&place.path).ok()
    }

    /// The journal of a task, as it is on disk. Where it cannot be read, nothing is decided.
    pub(super) fn own_history(&self, task: &Task) -> Result<History> {
        self.history_of(task).ok_or_else(|| {
            Error::new(
                Code::Damaged,
                format!("the journal of {} cannot be read", task.label()),
            )
            .hint(text!("{} says more", Action::check()))
        })
    }

    /// The journal of a task, as it is on disk.
    pub(super) fn history_of(&self, task: &Task) -> Option<History> {
        let found = self.index().ok()?.by_id_prefix(&task.id).ok()?;
        let place = self.store.place(&found.first()?.folder);
        let mut history = self.history_at(&place.path).ok()?;
        self.set_foreign_aside(&mut history);
        Some(history)
    }

    fn own_commits(&self, task: &Task) -> Result<Option<u64>> {
        let Some(project) = self.project_of(&task.project) else {
            return Ok(None);
        };
        let branch = format!("refs/heads/{}", task.branch);
        let target = format!("refs/heads/{}", task.target(&project.default_branch));
        git::commits_ahead(&project.path, &branch, &target)
    }

    /// The commit that the task's branch is at; None if there is no such branch.
    pub(crate) fn branch_commit(&self, task: &Task) -> Result<Option<String>> {
        match self.project_of(&task.project) {
            Some(project) => git::commit_of(&project.path, &format!("refs/heads/{}", task.branch)),
            None => Ok(None),
        }
    }

    /// The same where nothing depends on it; None also when git fails.
    pub(crate) fn head_of(&self, task: &Task) -> Option<String> {
        self.branch_commit(task).ok().flatten()
    }

    /// The same without starting git; None also where only git could tell.
    pub fn branch_head(&self, task: &Task) -> Option<String> {
        let project = self.project_of(&task.project)?;
        git::commit_in_files(&project.path, &task.branch)
    }

    /// Why the Review section of a task gives no verdict. A journal that somebody else has written to says nothing about
    /// reviewers.
    pub(crate) fn review_problem(
        &self,
        task: &Task,
        history: &History,
        body: &str,
        by: Option<&str>,
        left: Option<Left<'_>>,
    ) -> Option<String> {
        let mark = review_mark(body)?;
        let testimony = self.testimony(&task.id, history);
        let tampering = testimony.tampering();
        tampering.or_else(|| review::problem(history, Some(&mark), by, left))
    }

    /// A verdict speaks of the commit that was handed over, whatever has been committed since, and of the review as
    /// it is now.
    pub(crate) fn with_verdict(
        &self,
        task: &Task,
        history: &History,
        body: &str,
        event: Event,
    ) -> Event {
        let testimony = self.testimony(&task.id, history);
        let said = Evidence::of(history).handoff;
        let handoff = match testimony.unreadable {
            None => testimony.evidence(history).handoff,
            Some(_) => said.clone(),
        };
        // A handoff that Orange cannot confirm names no commit, and the merge says so.
        let event = match (handoff.and_then(|handoff| handoff.head), said) {
            (Some(head), _) => event.with_head(&head),
            (None, None) => self.with_head(task, event),
            (None, Some(_)) => event,
        };
        let branch = self.head_of(task);
        let moved_on = event
            .head()
            .is_some_and(|head| branch.as_deref() != Some(head));
        let mark = review_mark(body);
        let trusted = testimony.trusted(history);
        let reviewer = review::reviewer(&trusted);
        let writer = |run: &Run| self.writer_of_review(&trusted, run, mark.as_deref());
        event.with(StatusMoved {
            branch_at: moved_on.then(|| branch.as_deref().unwrap_or_default()),
            run: reviewer.as_ref().map(|run| run.id.as_str()),
            written_by: reviewer.as_ref().map(writer),
            review: mark.as_deref(),
            ..StatusMoved::default()
        })
    }

    /// `reviewer` if every other agent of the task had ended when the reviewer started; `probably reviewer` if their turns
    /// were over, by their own signals, and had left another text; `contested` if one was at work; else `unknown`.
    fn writer_of_review(
        &self,
        history: &History,
        reviewer: &Run,
        mark: Option<&str>,
    ) -> &'static str {
        let began = reviewer.started;
        let had_ended = |run: &Run| run.end.as_ref().is_some_and(|end| end.at <= began);
        let was_quiet =
            |run: &Run| run.end.is_none() && self.run_folder(&run.id).was_quiet_since(began, mark);
        let runs = runs::runs(history);
        let mut others = runs
            .iter()
            .filter(|run| run.id != reviewer.id && !had_ended(run))
            .peekable();
        if others.peek().is_none() {
            return Role::Reviewer.as_str();
        }
        let says_nothing = |run: &Run| {
            let state = self.run_folder(&run.id).state();
            state.is_none_or(|doing| doing.source == Source::Screen)
        };
        let busy: Vec<&Run> = others.filter(|run| !was_quiet(run)).collect();
        match busy.iter().all(|run| says_nothing(run)) {
            true if busy.is_empty() => "probably reviewer",
            true => "unknown",
            false => review::CONTESTED,
        }
    }

    /// An event that speaks of the work as it is now.
    pub(crate) fn with_head(&self, task: &Task, event: Event) -> Event {
        match self.head_of(task) {
            Some(head) => event.with_head(&head),
            None => event,
        }
    }
}
