//! What is on main when the play is over, and whether it is what should be there.

use super::actor::Actor;
use super::project::COMMITS;

/// The branch that the tasks were merged into, and the user's checkout of it.
#[derive(Default)]
pub(super) struct Main {
    /// Newest first: ids and subjects.
    pub(super) log: Vec<(String, String)>,
    /// Files of the user's checkout that are not as in its commit.
    changed: usize,
}

impl Main {
    /// From what `git log --format="%H %s"` and `git status --porcelain` say.
    pub(super) fn read(log: &str, status: &str) -> Main {
        let commits = log.lines().filter_map(|line| line.split_once(' '));
        Main {
            log: commits
                .map(|(id, subject)| (id.to_owned(), subject.to_owned()))
                .collect(),
            changed: status.lines().count(),
        }
    }

    /// Why it is not what it should be: every task's commit once, nothing else, and a checkout that shows just that.
    pub(super) fn missing(&self, cast: &[Actor]) -> Option<String> {
        for actor in cast {
            let commit = actor.merged.as_ref().map(|merge| merge.commit.as_str());
            let times = self
                .log
                .iter()
                .filter(|(id, _)| Some(id.as_str()) == commit);
            let times = times.count();
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
