//! What is on main when the play is over, and whether it is what should be there.

use super::actor::DemoActor;
use super::project::COMMITS;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct LandedCommit {
    pub(super) commit: String,
    pub(super) subject: String,
}

/// The branch that the tasks were merged into, and the user's checkout of it.
#[derive(Default)]
pub(super) struct Main {
    /// Newest first.
    pub(super) log: Vec<LandedCommit>,
    /// Files of the user's checkout that are not as in its commit.
    changed: usize,
}

impl Main {
    /// From what `git log --format="%H %s"` and `git status --porcelain` say.
    pub(super) fn read(log: &str, status: &str) -> Main {
        let commits = log.lines().filter_map(|line| line.split_once(' '));
        Main {
            log: commits
                .map(|(commit, subject)| LandedCommit {
                    commit: commit.to_owned(),
                    subject: subject.to_owned(),
                })
                .collect(),
            changed: status.lines().count(),
        }
    }

    /// Why it is not what it should be: every task's commit once, nothing else, and a checkout that shows just that.
    pub(super) fn missing(&self, cast: &[DemoActor]) -> Option<String> {
        for actor in cast {
            let merged = actor.merged.as_ref().map(|merge| &merge.commit);
            let log = self.log.iter();
            let times = log.filter(|it| Some(&it.commit) == merged).count();
            if times != 1 {
                return Some(format!("{} is on main {times} times", actor.key));
            }
        }
        let wanted = COMMITS.len() + cast.len();
        if self.log.len() != wanted {
            return Some(format!("it has {} commits, not {wanted}", self.log.len()));
        }
        (self.changed > 0).then(|| format!("its checkout shows {} changes", self.changed))
    }
}
