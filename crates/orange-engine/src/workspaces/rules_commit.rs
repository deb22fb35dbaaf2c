//! Which commit speaks for the repository about a task: the one its work starts from, as long as no agent could
//! have written it.

use crate::engine::{Caller, Engine};
use crate::error::Result;
use crate::git;
use crate::projects::Project;
use orange_core::machine;
use orange_core::task::Task;
use orange_core::workflow::Actor;

/// More tasks built one upon the other than anybody has; a circle made by hand ends here too.
const LONGEST_CHAIN: usize = 32;

impl Engine {
    /// Where the task starts from, never its own branch nor that of another task: agents write there. Work built
    /// upon a task's branch follows that task's rules.
    pub(crate) fn rules_commit(&mut self, project: &Project, task: &Task) -> Result<String> {
        let mut base = task.base.clone();
        let mut by_agent = None;
        for _ in 0..LONGEST_CHAIN {
            let Some(name) = base.as_deref() else { break };
            let Some(commit) = git::commit_of(&project.path, name)? else {
                break;
            };
            let branch = branch_in(name);
            if branch == project.default_branch {
                return Ok(commit);
            }
            if let Some(below) = self.made_as(&project.name, branch)? {
                base = below.base;
                by_agent = Some(below.by_agent);
                continue;
            }
            let by_agent = match by_agent {
                Some(known) => known,
                None => self.is_an_agents(task)?,
            };
            // An agent makes branches and commits as it likes, so only what is in the default branch counts.
            if by_agent && !self.is_in_default_branch(project, &commit)? {
                break;
            }
            return Ok(commit);
        }
        self.parking_place(project)
    }

    fn is_in_default_branch(&self, project: &Project, commit: &str) -> Result<bool> {
        let default = self.parking_place(project)?;
        git::is_ancestor(&project.path, commit, &default)
    }

    /// A task that is not written yet is being made by whoever calls.
    fn is_an_agents(&mut self, task: &Task) -> Result<bool> {
        let known = self.made_as_at(&format!("{}/{}", task.project, task.id));
        Ok(
            known.map_or(matches!(self.caller, Caller::Agent { .. }), |made| {
                made.by_agent
            }),
        )
    }

    /// How the task that has this branch was made.
    fn made_as(&mut self, project: &str, branch: &str) -> Result<Option<MadeAs>> {
        let owners = self.index()?.by_branch(project, branch)?;
        Ok(owners.first().map(|owner| {
            // Whoever cannot be asked vouches for nothing.
            self.made_as_at(&owner.folder).unwrap_or(MadeAs {
                base: None,
                by_agent: true,
            })
        }))
    }

    fn made_as_at(&self, folder: &str) -> Option<MadeAs> {
        let events = self.events_since(&self.store.place(folder), 0).ok()?;
        let by = events.first()?.by.as_deref().unwrap_or_default();
        Some(MadeAs {
            by_agent: ![Actor::Human, Actor::Engine]
                .iter()
                .any(|actor| actor.name() == by),
            base: machine::fold(&events, u64::MAX).ok()?.base,
        })
    }
}

/// What the first event of a task tells.
struct MadeAs {
    base: Option<String>,
    by_agent: bool,
}

/// The branch that a revision starts with, here or at the remote: `refs/heads/a~2` and `origin/a` name `a`.
fn branch_in(revision: &str) -> &str {
    let name = revision.split(['~', '^', ':']).next().unwrap_or(revision);
    let name = name.split("@{").next().unwrap_or(name);
    let name = name.strip_prefix("refs/").unwrap_or(name);
    ["heads/", "remotes/origin/", "origin/"]
        .iter()
        .find_map(|place| name.strip_prefix(place))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_tells_its_branch() {
        for (revision, branch) in [
            ("main", "main"),
            ("origin/main", "main"),
            ("refs/heads/orange/a", "orange/a"),
            ("heads/orange/a^2~3", "orange/a"),
            ("refs/remotes/origin/x@{1 hour ago}", "x"),
            ("orange/a^{commit}", "orange/a"),
            ("0a1b2c3", "0a1b2c3"),
        ] {
            assert_eq!(branch_in(revision), branch, "{revision}");
        }
    }
}
