//! Ending a task on a person's word, for work that landed another way: what git can see of it is found out first.

use super::Engine;
use super::change::{Change, Changed, Edit};
use crate::error::{Code, Error, Result};
use crate::git;
use crate::git::contained::{Landed, contained};
use crate::store::Place;
use orange_core::task::Task;
use orange_core::workflow::Intent;
use serde::{Serialize, Serializer};

/// What git sees of a task's work in the branch that it is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    pub branch: String,
    pub target: String,
    /// Where the work ends; None when there is nothing to look for.
    pub head: Option<String>,
    /// None: nothing could be compared.
    pub landed: Option<Landed>,
    /// Nothing was ever committed for it: that its branch begins in the target says nothing.
    pub without_work: bool,
    /// Commits that are checked out in the task's workspace and are not on its branch, in words.
    pub beside: Option<String>,
    /// Paths in the task's worktree that are in no commit.
    pub uncommitted: usize,
    /// The task can be resolved at all: it is under way.
    pub under_way: bool,
}

impl Serialize for Landing {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<'a> {
            seen: &'static str,
            commit: Option<&'a str>,
            head: &'a Option<String>,
            branch: &'a str,
            target: &'a str,
            uncommitted: usize,
        }
        let (seen, commit) = match &self.landed {
            _ if self.without_work => ("nothing", None),
            Some(Landed::Head) => ("head", None),
            Some(Landed::Change(commit)) => ("change", commit.as_deref()),
            Some(Landed::No { .. }) => ("no", None),
            None => ("unknown", None),
        };
        let keys = Keys {
            seen,
            commit,
            head: &self.head,
            branch: &self.branch,
            target: &self.target,
            uncommitted: self.uncommitted,
        };
        keys.serialize(to)
    }
}

impl Landing {
    /// Does git see the work in the target?
    pub fn is_seen(&self) -> bool {
        !self.without_work
            && self.beside.is_none()
            && matches!(self.landed, Some(Landed::Head | Landed::Change(_)))
    }
}

impl Engine {
    /// Refuses agents, and a word that says nothing. Gives the word as it is kept.
    pub fn resolution(&self, message: &str) -> Result<String> {
        self.people_only("resolve a task")?;
        let how = "say how the work got in: --message \"squashed into main\"";
        let message = super::create::one_line(message).map_err(|_| {
            Error::new(Code::Usage, "the message is too long, or is not text").hint(how)
        })?;
        match message.is_empty() {
            true => Err(Error::new(Code::Usage, "a resolution needs a message").hint(how)),
            false => Ok(message),
        }
    }

    /// Looks for the task's work in its target. What is not seen here may have landed at the remote, which is asked
    /// for news then.
    pub fn landing(&self, place: Place) -> Result<Landing> {
        let view = self.view(place)?;
        let task = view.task;
        let mut landing = self.landing_of(&task)?;
        landing.without_work = self.is_without_work(&task, &view.history);
        if landing.is_seen() || landing.without_work || !landing.under_way {
            return Ok(landing);
        }
        let project = self.registered(&task.project)?;
        match self.fetch_for(&project)? {
            true => self.landing_of(&task),
            false => Ok(landing),
        }
    }

    /// The same with what is known here.
    pub(super) fn landing_of(&self, task: &Task) -> Result<Landing> {
        let mut landing = Landing {
            branch: task.branch.clone(),
            target: task.target("its target").to_owned(),
            head: None,
            landed: None,
            without_work: false,
            beside: None,
            uncommitted: self.uncommitted(task),
            under_way: task.status.is_active(),
        };
        let Some(project) = self.project_of(&task.project) else {
            return Ok(landing);
        };
        if self.head_of(task).is_some() {
            landing.beside = self.work_beside_branch(task, &project)?;
        }
        let repository = &project.path;
        landing.target = task.target(&project.default_branch).to_owned();
        landing.head = match self.head_of(task) {
            Some(head) => Some(head),
            // Deleted after it was merged, most often; where it ended was noted.
            None => match self.noted_head(task) {
                Some(head) => git::commit_of(repository, &head)?,
                None => None,
            },
        };
        let Some(head) = &landing.head else {
            return Ok(landing);
        };
        for place in ["heads", "remotes/origin"] {
            let target = format!("refs/{place}/{}", landing.target);
            if git::commit_of(repository, &target)?.is_none() {
                continue;
            }
            let found = contained(repository, head, &target)?;
            // Either place may be ahead of the other; the one that has more of the work counts.
            let better = match (&landing.landed, &found) {
                (None, _) | (Some(_), Landed::Head) => true,
                (Some(Landed::No { .. }), Landed::Change(_)) => true,
                (Some(_), Landed::Change(_) | Landed::No { .. }) => false,
            };
            if better {
                landing.landed = Some(found);
            }
        }
        Ok(landing)
    }

    /// What git calls changed in the task's worktree; nothing where it cannot say.
    fn uncommitted(&self, task: &Task) -> usize {
        let folder = self.workspace_folder(task);
        let changes = folder.and_then(|folder| git::uncommitted(&folder));
        changes.map_or(0, |changes| changes.len())
    }

    /// Ends a task: its work is in, by a squash, by hand, or is not needed. The branch stays; what is not
    /// committed is saved when the slot is given back.
    pub fn resolve(&self, place: Place, message: &str, landing: &Landing) -> Result<Changed> {
        let message = self.resolution(message)?;
        let mut noted = vec![
            Edit::Note("resolved", "true".to_owned()),
            Edit::Note("resolved_at", self.now().to_string()),
            Edit::Note("resolution_message", message.clone()),
        ];
        // Which work it was that somebody vouched for.
        noted.extend(
            landing
                .head
                .clone()
                .map(|head| Edit::Note("resolved_head", head)),
        );
        self.change(
            place,
            &Change {
                edits: noted,
                intent: Some(Intent::Merge),
                force: true,
                reason: Some(message.clone()),
                resolution: Some(message),
                ..Change::default()
            },
        )
    }
}
